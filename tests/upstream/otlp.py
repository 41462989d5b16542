"""A receiver of OTLP over HTTP that takes JSON and is strict about its shape.

What is not known by name is refused: a member that OTLP has not, a number of 64 bits that is no
text, an id of the wrong length. With opentelemetry-proto installed `parse()` also reads the bytes
by the official definitions (`make test-otel`)."""
import http.server
import json
import re
import socketserver
import threading

try:
    from google.protobuf import json_format
    from opentelemetry.proto.collector.metrics.v1 import metrics_service_pb2
    from opentelemetry.proto.collector.trace.v1 import trace_service_pb2
    PROTO = {'/v1/traces': trace_service_pb2.ExportTraceServiceRequest,
             '/v1/metrics': metrics_service_pb2.ExportMetricsServiceRequest}
except ImportError:
    PROTO = None

INT = re.compile(r'-?[0-9]{1,20}$')
NANO = re.compile(r'[0-9]{16,20}$')


class Wrong(Exception):
    pass


def want(what, is_so):
    if not is_so:
        raise Wrong(what)


def members(value, where, /, **kinds):
    """`value` is an object with these members and no others; a kind ending in '?' may lack."""
    want(f'{where} is an object', isinstance(value, dict))
    for name in value:
        want(f'{where} has no member {name}', name in kinds)
    for name, kind in kinds.items():
        optional = isinstance(kind, tuple)
        kind = kind[0] if optional else kind
        want(f'{where} has {name}', name in value or optional)
        if name in value:
            kind(value[name], f'{where}.{name}')


def text(value, where):
    want(f'{where} is a text', isinstance(value, str))


def whole(value, where):
    want(f'{where} is a whole number', isinstance(value, int) and not isinstance(value, bool))


def number(value, where):
    want(f'{where} is a number', isinstance(value, (int, float)) and not isinstance(value, bool))


def truth(value, where):
    want(f'{where} is a bool', isinstance(value, bool))


def int_text(value, where):
    want(f'{where} is a whole number as text', isinstance(value, str) and INT.match(value))


def nano(value, where):
    want(f'{where} is nanoseconds as text', isinstance(value, str) and NANO.match(value))


def hex_id(digits):
    def check(value, where):
        want(f'{where} is {digits} hex digits',
             isinstance(value, str) and re.fullmatch('[0-9a-f]{%d}' % digits, value) and
             value.strip('0'))
    return check


def each(kind):
    def check(value, where):
        want(f'{where} is a list', isinstance(value, list))
        for i, item in enumerate(value):
            kind(item, f'{where}[{i}]')
    return check


def any_value(value, where):
    want(f'{where} is one value', isinstance(value, dict) and len(value) == 1)
    members(value, where, stringValue=(text,), intValue=(int_text,), doubleValue=(number,),
            boolValue=(truth,), arrayValue=(lambda v, w: members(v, w, values=each(any_value)),))


def attributes(value, where):
    each(lambda v, w: members(v, w, key=text, value=any_value))(value, where)
    keys = [item['key'] for item in value]
    want(f'{where} has each key once: {keys}', len(keys) == len(set(keys)))


def status(value, where):
    members(value, where, code=(whole,), message=(text,))


def span(value, where):
    members(value, where, traceId=hex_id(32), spanId=hex_id(16), parentSpanId=(hex_id(16),),
            name=text, kind=whole, startTimeUnixNano=nano, endTimeUnixNano=nano,
            attributes=attributes, status=(status,))
    want(f'{where} ends after it begins',
         int(value['startTimeUnixNano']) <= int(value['endTimeUnixNano']))


def point(value, where, /, **more):
    members(value, where, attributes=attributes, startTimeUnixNano=nano, timeUnixNano=nano, **more)


def histogram_point(value, where):
    point(value, where, count=int_text, sum=number, bucketCounts=each(int_text),
          explicitBounds=each(number))
    counts, bounds = value['bucketCounts'], value['explicitBounds']
    want(f'{where} has one bucket more than bounds', len(counts) == len(bounds) + 1)
    want(f'{where} has bounds that rise', bounds == sorted(set(bounds)))
    want(f'{where} counts what its buckets do',
         sum(map(int, counts)) == int(value['count']))


def sum_point(value, where):
    point(value, where, asInt=(int_text,), asDouble=(number,))
    want(f'{where} is one number', ('asInt' in value) != ('asDouble' in value))


def metric(value, where):
    def histogram(v, w):
        members(v, w, aggregationTemporality=whole, dataPoints=each(histogram_point))

    def sum_(v, w):
        members(v, w, aggregationTemporality=whole, isMonotonic=truth, dataPoints=each(sum_point))
    members(value, where, name=text, unit=text, histogram=(histogram,), sum=(sum_,))
    want(f'{where} is of one kind', ('histogram' in value) != ('sum' in value))


def scope(value, where):
    members(value, where, name=text, version=text)


def resource(value, where):
    members(value, where, attributes=attributes)


def traces(value, where='traces'):
    members(value, where, resourceSpans=each(lambda v, w: members(
        v, w, resource=resource, scopeSpans=each(lambda s, x: members(
            s, x, scope=scope, spans=each(span))))))


def metrics(value, where='metrics'):
    members(value, where, resourceMetrics=each(lambda v, w: members(
        v, w, resource=resource, scopeMetrics=each(lambda s, x: members(
            s, x, scope=scope, metrics=each(metric))))))
    names = [m['name'] for m in metrics_of(value)]
    want(f'{where} has each metric once: {names}', len(names) == len(set(names)))


CHECKS = {'/v1/traces': traces, '/v1/metrics': metrics}


def spans_of(value):
    return [s for r in value['resourceSpans'] for p in r['scopeSpans'] for s in p['spans']]


def metrics_of(value):
    return [m for r in value['resourceMetrics'] for p in r['scopeMetrics'] for m in p['metrics']]


def plain(attributes_list):
    """Attributes as a dict of Python values."""
    def value_of(value):
        (kind, got), = value.items()
        if kind == 'arrayValue':
            return [value_of(item) for item in got['values']]
        return int(got) if kind == 'intValue' else got
    return {item['key']: value_of(item['value']) for item in attributes_list}


class Receiver:
    """Keeps what came. `answers` says what to answer, (status, headers, body), the first first;
    then 200."""

    def __init__(self):
        self.lock = threading.Lock()
        self.came = []  # (path, headers, value)
        self.wrong = []
        self.answers = []
        self.holds = threading.Event()  # cleared: answers wait
        self.holds.set()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):
                body = self.rfile.read(int(self.headers['Content-Length']))
                names = {name.lower(): value for name, value in self.headers.items()}
                code, headers, said = receiver.take(self.path, names, body)
                receiver.holds.wait()
                try:
                    self.send_response(code)
                    for name, value in headers.items():
                        self.send_header(name, value)
                    self.send_header('Content-Length', str(len(said)))
                    self.end_headers()
                    self.wfile.write(said)
                except OSError:
                    pass

            def log_message(self, *_):
                pass

        class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
            daemon_threads = True

        self.server = Server(('127.0.0.1', 0), Handler)
        self.url = f'http://127.0.0.1:{self.server.server_address[1]}'
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self, path, headers, body):
        with self.lock:
            try:
                want(f'{path} is known', path in CHECKS)
                want('the body is JSON by its type',
                     headers.get('content-type') == 'application/json')
                value = json.loads(body)
                CHECKS[path](value)
                if PROTO:
                    json_format.Parse(body, PROTO[path]())
                self.came.append((path, headers, value))
            except (Wrong, ValueError) as error:
                self.wrong.append(f'{type(error).__name__}: {error}')
            except Exception as error:  # pylint: disable=broad-except
                self.wrong.append(repr(error))
            return self.answers.pop(0) if self.answers else (200, {}, b'{}')

    def spans(self):
        with self.lock:
            return [s for path, _, value in self.came if path == '/v1/traces'
                    for s in spans_of(value)]

    def last_metrics(self):
        """Of the last export of every process: name to its points."""
        with self.lock:
            last = [value for path, _, value in self.came if path == '/v1/metrics'][-1:]
            return {m['name']: m.get('histogram', m.get('sum'))['dataPoints']
                    for value in last for m in metrics_of(value)}

    def close(self):
        self.server.shutdown()
        self.server.server_close()

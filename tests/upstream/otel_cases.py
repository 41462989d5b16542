#!/usr/bin/env python3
"""What a receiver of OTLP hears of requests, and what becomes of them when it hears nothing.

    otel_cases.py [--proto]     --proto: fails where opentelemetry-proto is not installed
"""
import json
import os
import signal
import subprocess
import sys

import otlp
from harness import PATIENCE_SECONDS, Folder, Upstream, Weir, wait_for
from raw import Raw
from sessions import ANTHROPIC, CHECK, chat_session, ok

PARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
SECRET = 'zebra-crossing-4711'


def start(folder, upstream, receiver, more='', env=None):
    base = f'http://127.0.0.1:{upstream.port}/v1'
    config = (f'listen: 127.0.0.1:0\nupstreams: {{openai: {{base_url: "{base}"}}, '
              f'anthropic: {{base_url: "{base}"}}}}\n{more}')
    if receiver and not env:
        config += f'otel: {{endpoint: "{receiver.url}", interval: 1, headers: {{x-key: abc}}}}\n'
    return Weir(folder, config=config, env=env)


def ask(weir, words='hello', headers=None, **more):
    body = {**chat_session(0, words=words), **more}
    return weir.post('/v1/chat/completions', body, {'x-weir-session': 'one', **(headers or {})})[0]


def a_span_a_request(folder, upstream):
    receiver = otlp.Receiver()
    weir = start(folder, upstream, receiver)
    ok('it says where telemetry goes', receiver.url in weir.first_line)
    ok('a request with a parent', ask(weir, SECRET, {'traceparent': PARENT}), 200)
    ok('the parent is passed on', upstream.last_headers().get('traceparent'), PARENT)
    wait_for(lambda: receiver.spans() or receiver.wrong)
    span = (receiver.spans() or [{}])[0]
    said = otlp.plain(span.get('attributes', []))
    ok('its span is of that trace and below that parent',
       (span.get('traceId'), span.get('parentSpanId')), (PARENT[3:35], PARENT[36:52]))
    ok('it is named by operation and model, and a client\'s',
       (span.get('name'), span.get('kind'), span.get('status')), ('chat gpt-4o-mini', 3, {}))
    line = weir.log()[0]
    ok('it says what the log says', [said.get(key) for key in (
        'gen_ai.operation.name', 'gen_ai.provider.name', 'gen_ai.request.model',
        'gen_ai.conversation.id', 'gen_ai.usage.input_tokens', 'gen_ai.usage.output_tokens',
        'gen_ai.usage.cache_read.input_tokens', 'http.response.status_code', 'server.address',
        'weir.policy', 'weir.upstream')],
       ['chat', 'openai', 'gpt-4o-mini', line['session'], line['usage_input_tokens'],
        line['usage_output_tokens'], line['usage_cache_read_tokens'], 200, '127.0.0.1', 'auto',
        'openai'])
    ok('and what it cost', said.get('weir.cost.usd', 0) > 0)
    ask(weir, SECRET)
    ask(weir, SECRET, {'traceparent': PARENT[:-1] + '0'})
    weir.post('/v1/messages', {'model': 'claude-opus-5', 'max_tokens': 9, 'messages': [
        {'role': 'user', 'content': SECRET}]}, {**ANTHROPIC, 'x-test-status': '529'})
    weir.get('/v1/models')
    wait_for(lambda: len(receiver.spans()) >= 3 or receiver.wrong)
    spans = receiver.spans()
    ok('one that is in no trace has one of its own',
       len(spans) > 1 and 'parentSpanId' not in spans[1] and spans[1]['traceId'] != PARENT[3:35])
    failed = otlp.plain(spans[2]['attributes']) if len(spans) > 2 else {}
    ok('a refusal is an error, by its kind',
       (spans[2].get('status') if len(spans) > 2 else None, failed.get('gen_ai.provider.name'),
        failed.get('http.response.status_code'), bool(failed.get('error.type'))),
       ({'code': 2}, 'anthropic', 529, True))
    weir.stop()
    ok('what nobody records, and what asks no model, is no span', len(receiver.spans()), 3)
    ok('nothing is said of what was said', SECRET not in json.dumps(
        [value for _, _, value in receiver.came]))
    ok('headers are sent along', all(h.get('x-key') == 'abc' for _, h, _ in receiver.came))
    ok('the receiver finds nothing wrong', receiver.wrong, [])
    receiver.close()


def metrics_are_sums(folder, upstream):
    receiver = otlp.Receiver()
    weir = start(folder, upstream, receiver)
    for _ in range(3):
        ask(weir)
    weir.post('/v1/chat/completions', {**chat_session(0), 'stream': True, 'stream_options': {
        'include_usage': True}}, {})
    cost = sum(otlp.plain(s['attributes']).get('weir.cost.usd', 0)
               for s in wait_for(lambda: len(receiver.spans()) >= 4 and receiver.spans()) or [])

    def usage(kind):
        points = receiver.last_metrics().get('gen_ai.client.token.usage', [])
        return [p for p in points
                if otlp.plain(p['attributes']).get('gen_ai.token.type') == kind]

    wait_for(lambda: usage('input') and int(usage('input')[0]['count']) == 4)
    inputs = [line['usage_input_tokens'] for line in weir.log(4)]
    ok('input tokens are counted and summed',
       [(p['count'], p['sum']) for p in usage('input')], [('4', sum(inputs))])
    said = receiver.last_metrics()
    ok('every metric is there', sorted(said), sorted([
        'gen_ai.client.token.usage', 'gen_ai.client.operation.duration',
        'gen_ai.client.operation.time_to_first_chunk', 'weir.request.added', 'weir.cost',
        'weir.prompt.tokens', 'weir.cache.tokens', 'weir.requests.changed', 'weir.steps']))
    ok('money is the spans\' money', abs(said['weir.cost'][0]['asDouble'] - cost) < 0.000005)
    ok('only what streams has a first chunk',
       [p['count'] for p in said['gen_ai.client.operation.time_to_first_chunk']], ['1'])
    ok('requests are told apart by model and provider',
       otlp.plain(said['weir.cost'][0]['attributes']),
       {'gen_ai.operation.name': 'chat', 'gen_ai.provider.name': 'openai',
        'gen_ai.request.model': 'gpt-4o-mini'})
    weir.stop()
    ok('the receiver finds nothing wrong with metrics', receiver.wrong, [])
    receiver.close()


def the_environment_turns_it_on(folder, upstream):
    receiver = otlp.Receiver()
    weir = start(folder, upstream, receiver, env={
        'OTEL_EXPORTER_OTLP_ENDPOINT': receiver.url, 'OTEL_METRIC_EXPORT_INTERVAL': '1000',
        'OTEL_EXPORTER_OTLP_HEADERS': 'authorization=Bearer%20xyz', 'OTEL_SERVICE_NAME': 'gate',
        'OTEL_RESOURCE_ATTRIBUTES': 'deployment.environment.name=test'})
    ask(weir)
    weir.stop()
    ok('a stop sends what waits', len(receiver.spans()), 1)
    _, headers, value = next(came for came in receiver.came if came[0] == '/v1/traces')
    resource = otlp.plain(value['resourceSpans'][0]['resource']['attributes'])
    ok('the variables are obeyed',
       (headers.get('authorization'), resource.get('service.name'),
        resource.get('deployment.environment.name')), ('Bearer xyz', 'gate', 'test'))
    receiver.close()
    config = os.path.join(folder, 'plain.yaml')
    with open(config, 'w', encoding='ascii') as file:
        file.write('listen: 127.0.0.1:0\n')
    done = subprocess.run(
        [os.environ.get('WEIR', 'build/weir'), 'serve', '--store', os.path.join(folder, 'no'),
         '--config', config], capture_output=True, text=True, check=False,
        timeout=PATIENCE_SECONDS, env={**os.environ, 'OTEL_EXPORTER_OTLP_PROTOCOL': 'grpc',
                                       'OTEL_EXPORTER_OTLP_ENDPOINT': 'http://127.0.0.1:4317'})
    ok('a protocol that it does not speak is refused',
       (done.returncode, 'http/json' in done.stderr, done.stderr.count('\n')), (2, True, 1))


def a_receiver_in_trouble(folder, upstream):
    receiver = otlp.Receiver()
    weir = start(folder, upstream, receiver)
    receiver.answers = [(503, {'Retry-After': '1'}, b''), (429, {}, b'')]
    receiver.holds.clear()
    ask(weir)
    wait_for(lambda: receiver.came)
    ok('requests go on while the receiver says nothing', [ask(weir) for _ in range(3)], [200] * 3)
    receiver.holds.set()

    def arrived():
        return weir.metric('weir_otel_spans_total') or 0
    wait_for(lambda: arrived() >= 4)
    ids = {s['spanId'] for s in receiver.spans()}
    ok('what it refuses for now is sent again, and arrives', (arrived(), len(ids)), (4, 4))
    ok('which is counted', (weir.metric('weir_otel_exports_failed_total') or 0) >= 1)
    ok('and nothing is lost', weir.metric('weir_otel_spans_dropped_total'), 0)
    receiver.answers = [(400, {}, b'')] * 2
    ask(weir)
    wait_for(lambda: weir.metric('weir_otel_spans_dropped_total') or 0)
    ok('what it refuses for good is dropped and counted',
       weir.metric('weir_otel_spans_dropped_total'), 1)
    receiver.close()
    ok('without a receiver requests go on', ask(weir), 200)
    ok('and it stops in time', weir.stop(), 0)


def a_part_is_rejected(folder, upstream):
    receiver = otlp.Receiver()
    weir = start(folder, upstream, receiver)
    receiver.answers = [(200, {}, b'{"partialSuccess": {"rejectedSpans": "1"}}')] * 2
    ask(weir)
    wait_for(lambda: weir.metric('weir_otel_spans_dropped_total') or 0)
    ok('a span that the receiver leaves out is counted',
       (weir.metric('weir_otel_spans_dropped_total'), weir.metric('weir_otel_spans_total')), (1, 0))
    weir.stop()
    receiver.close()


def a_place_that_is_left(folder, upstream):
    """The span names who answered, not who was asked first."""
    receiver, full = otlp.Receiver(), Raw(lambda sock, head: sock.sendall(
        b'HTTP/1.1 529 Full\r\nContent-Length: 0\r\n\r\n') is None)
    weir = Weir(folder, config='listen: 127.0.0.1:0\nupstreams:\n  openai:\n'
                f'    base_url: http://127.0.0.1:{full.port}/v1\n'
                f'    places: [{{base_url: "http://127.0.0.1:{upstream.port}/v1", name: spare}}]\n'
                f'otel: {{endpoint: "{receiver.url}", interval: 1}}\n')
    ok('the next place answers', ask(weir), 200)
    wait_for(lambda: receiver.spans() or receiver.wrong)
    said = otlp.plain((receiver.spans() or [{}])[0].get('attributes', []))
    ok('and is the server of the span', said.get('server.port'), upstream.port)
    weir.stop()
    receiver.close()
    full.stop()


def a_reload_changes_the_receiver(folder, upstream):
    one, two = otlp.Receiver(), otlp.Receiver()
    weir = start(folder, upstream, one)
    with open(weir.config_path, encoding='utf-8') as file:
        text = file.read()
    ask(weir)
    wait_for(one.spans)
    weir.write_config(text.replace(one.url, two.url))
    weir.process.send_signal(signal.SIGHUP)
    wait_for(lambda: 'is read again' in weir.stderr())
    ask(weir)
    weir.stop()
    ok('a reload names another receiver', (len(one.spans()), len(two.spans())), (1, 1))
    one.close()
    two.close()


def main():
    if '--proto' in sys.argv and not otlp.PROTO:
        print('opentelemetry-proto is not installed')
        return 1
    with Folder() as folder:
        upstream = Upstream(folder)
        for case in (a_span_a_request, metrics_are_sums, the_environment_turns_it_on,
                     a_receiver_in_trouble, a_part_is_rejected, a_place_that_is_left,
                     a_reload_changes_the_receiver):
            case(folder, upstream)
        upstream.stop()
    return CHECK.end()


sys.exit(main())

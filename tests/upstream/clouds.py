"""Clouds as strict as they are: their paths, whose credential they take, how their answers stream.

door(path) gives the door of a cloud that a path leads to, or None. A door refuses what the cloud
would refuse (in the cloud's own words), turns the body into one that laws.py knows, and says how
the answer comes. Bedrock's frames are written here with Python's own checksums, and AWS' signatures
are computed by this file's own reading of the rules.
"""
import base64
import hashlib
import hmac
import json
import re
import struct
import urllib.parse
import zlib

import converse

DATED = re.compile(r'20\d\d-\d\d-\d\d')  # a version of Anthropic's API, which newer SDKs send
AWS_ACCESS, AWS_SECRET, AWS_REGION = 'AKIDTEST', 'secret/of+the/test', 'us-east-1'


class Refused(Exception):
    def __init__(self, status, body, headers=None):
        super().__init__(str(body))
        self.status, self.body, self.headers = status, body, headers or {}


# ---- AWS ----

def frame(name, payload, kind='event'):
    key = b':event-type' if kind == 'event' else b':exception-type'
    head = b''.join(bytes([len(k)]) + k + b'\x07' + struct.pack('>H', len(v)) + v for k, v in (
        (key, name.encode()), (b':content-type', b'application/json'),
        (b':message-type', kind.encode())))
    start = struct.pack('>II', len(head) + len(payload) + 16, len(head))
    start += struct.pack('>I', zlib.crc32(start))
    whole = start + head + payload
    return whole + struct.pack('>I', zlib.crc32(whole))


def chunk(event):
    """As Bedrock sends an event of Anthropic's: in base64, with letters that hide its length."""
    raw = json.dumps(event).encode()
    return frame('chunk', json.dumps({'bytes': base64.b64encode(raw).decode(),
                                      'p': 'abcdefghijklmnop'[:len(raw) % 16]}).encode())


def frames_in(data):
    """(kind, name, payload) of each frame; raises where one is spoilt."""
    while data:
        size, head_size, total = struct.unpack('>III', data[:12])
        if zlib.crc32(data[:8]) != total or len(data) < size:
            raise ValueError('a spoilt frame')
        if zlib.crc32(data[:size - 4]) != struct.unpack('>I', data[size - 4:size])[0]:
            raise ValueError('a spoilt payload')
        head, found = data[12:12 + head_size], {}
        while head:
            name, head = head[1:1 + head[0]], head[1 + head[0]:]
            bytes_count = struct.unpack('>H', head[1:3])[0]
            found[name], head = head[3:3 + bytes_count], head[3 + bytes_count:]
        yield (found[b':message-type'].decode(),
               (found.get(b':event-type') or found[b':exception-type']).decode(),
               data[12 + head_size:size - 4])
        data = data[size:]


def named_events_in(data):
    """(name, payload) of Converse's frames."""
    return [(name if kind == 'event' else 'exception', json.loads(payload))
            for kind, name, payload in frames_in(data)]


def events_in(data):
    """What Anthropic's events say, out of Bedrock's frames."""
    return [json.loads(base64.b64decode(json.loads(payload)['bytes'])) if kind == 'event' else
            {'type': 'exception', 'name': name, **json.loads(payload)}
            for kind, name, payload in frames_in(data)]


def signature(method, target, headers, body, signed, date, scope, secret=AWS_SECRET):
    path, _, query = target.partition('?')
    pairs = sorted((p.partition('=')[0], p.partition('=')[2]) for p in query.split('&') if p)
    canonical = '\n'.join([
        method, urllib.parse.quote(path, safe='/~'), '&'.join(f'{k}={v}' for k, v in pairs),
        ''.join(f'{name}:{headers[name].strip()}\n' for name in signed), ';'.join(signed),
        hashlib.sha256(body).hexdigest()])
    text = '\n'.join(['AWS4-HMAC-SHA256', date, '/'.join(scope),
                      hashlib.sha256(canonical.encode()).hexdigest()])
    key = ('AWS4' + secret).encode()
    for part in scope:
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def sign(method, target, headers, body, date='20260101T000000Z'):
    """The headers that a client of AWS adds."""
    all_headers = {'host': headers['host'], 'x-amz-date': date}
    scope = [date[:8], AWS_REGION, 'bedrock', 'aws4_request']
    code = signature(method, target, all_headers, body, sorted(all_headers), date, scope)
    return {'X-Amz-Date': date, 'Authorization':
            f'AWS4-HMAC-SHA256 Credential={AWS_ACCESS}/{"/".join(scope)}, '
            f'SignedHeaders={";".join(sorted(all_headers))}, Signature={code}'}


def check_signature(method, target, headers, body, host=None):
    found = re.fullmatch(r'AWS4-HMAC-SHA256 Credential=([^/]+)/([^,]+), SignedHeaders=([^,]+), '
                         r'Signature=(\w+)', headers['authorization'])
    if not found or found.group(1) != AWS_ACCESS:
        raise Refused(403, {'message': 'The security token included in the request is invalid.'})
    signed = found.group(3).split(';')
    if 'host' not in signed or 'x-amz-date' not in signed:
        raise Refused(403, {'message': "'Host' or ':authority' must be a 'SignedHeader'"})
    given = {**headers, 'host': host or headers['host']}
    wanted = signature(method, target, given, body, signed, headers['x-amz-date'],
                       found.group(2).split('/'))
    if wanted != found.group(4):
        raise Refused(403, {'message': 'The request signature we calculated does not match the '
                            'signature you provided.'})


# ---- doors ----

class Door:
    stream_type = None

    def __init__(self, found):
        self.found, self.model = found, urllib.parse.unquote(found.groupdict().get('model') or '')
        self.is_stream = self.is_count = False

    def refusal(self, refusal, api):
        return refusal.status, refusal.body(api), {}

    def whole(self, answer):
        return answer

    def frames(self, events):
        """Each event in a frame, where answers stream so."""
        return (chunk(data) for _, data in events)


class Azure(Door):
    pattern = re.compile(r'/openai/deployments/(?P<model>[^/]+)/chat/completions|'
                         r'/openai/v1/(?P<call>chat/completions|responses)')

    def __init__(self, found):
        super().__init__(found)
        self.api = 'responses' if found.groupdict().get('call') == 'responses' else 'chat'

    def enter(self, method, target, headers, raw):
        query = urllib.parse.parse_qs(target.partition('?')[2])
        key, login = headers.get('api-key'), headers.get('authorization', '')
        if key != 'azure-key' and not login.startswith('Bearer eyJ'):
            raise Refused(401, {'error': {'code': '401', 'message': 'Access denied due to invalid '
                                          'subscription key or wrong API endpoint.'}})
        if self.model and 'api-version' not in query:
            raise Refused(404, {'error': {'code': '404', 'message': 'Resource not found'}})

    def body(self, raw):
        body = json.loads(raw)
        return {**body, 'model': self.model} if self.model else body


class Vertex(Door):
    pattern = re.compile(r'/v1/projects/[^/]+/locations/[^/]+/publishers/anthropic/models/'
                         r'(?P<model>[^/:]+):(?P<call>rawPredict|streamRawPredict)')
    api = 'messages'

    def __init__(self, found):
        super().__init__(found)
        self.is_stream = found.group('call') == 'streamRawPredict'
        self.is_count = self.model == 'count-tokens'

    def enter(self, method, target, headers, raw):
        body = json.loads(raw)
        if not headers.get('authorization', '').startswith('Bearer ya29.'):
            raise Refused(401, {'error': {'code': 401, 'status': 'UNAUTHENTICATED', 'message':
                                          'Request had invalid authentication credentials.'}})
        version = str(body.get('anthropic_version'))
        if not (version == 'vertex-2023-10-16' or DATED.fullmatch(version)) or (
                'model' in body) != self.is_count:
            raise Refused(400, {'type': 'error', 'error': {
                'type': 'invalid_request_error', 'message': 'model: Extra inputs are not permitted'
            }})
        if bool(body.get('stream')) != self.is_stream:
            raise Refused(400, {'type': 'error', 'error': {
                'type': 'invalid_request_error', 'message': 'stream: does not fit the method'}})

    def body(self, raw):
        body = {'model': self.model, **json.loads(raw)}
        del body['anthropic_version']
        return body


class VertexGoogle(Door):
    # A key of Vertex's own stands for the project.
    pattern = re.compile(r'/v1(?:beta1)?(?:/projects/[^/]+/locations/[^/]+)?/publishers/google/'
                         r'models/(?P<model>[^/:]+):(?P<call>\w+)')
    api = 'gemini'

    def __init__(self, found):
        super().__init__(found)
        self.is_stream = found.group('call') == 'streamGenerateContent'
        self.is_count = found.group('call') == 'countTokens'

    def enter(self, method, target, headers, raw):
        if not headers.get('authorization', '').startswith('Bearer ya29.') and (
                'x-goog-api-key' not in headers):
            raise Refused(401, {'error': {'code': 401, 'status': 'UNAUTHENTICATED', 'message':
                                          'Request had invalid authentication credentials.'}})

    def body(self, raw):
        return json.loads(raw)


class Bedrock(Door):
    pattern = re.compile(r'/model/(?P<model>[^/]+)/(?P<call>invoke|invoke-with-response-stream)')
    api = 'messages'
    signed_host = None  # what a client that signs itself took for the host

    def __init__(self, found):
        super().__init__(found)
        self.is_stream = found.group('call') != 'invoke'
        self.stream_type = 'application/vnd.amazon.eventstream'

    def check_login(self, method, target, headers, raw):
        login = headers.get('authorization', '')
        if login.startswith('AWS4-'):
            check_signature(method, target, headers, raw, headers.get('x-test-host'))
        elif not login.startswith('Bearer ABSK'):
            raise Refused(403, {'message': 'Authentication failed: Please make sure your API Key is'
                                ' valid.'})

    def claude(self):
        return re.sub(r'^(?:[a-z]+\.)?anthropic\.|-v\d+:\d+$', '', self.model)

    def enter(self, method, target, headers, raw):
        self.check_login(method, target, headers, raw)
        body = json.loads(raw)
        version = str(body.get('anthropic_version'))
        if version != 'bedrock-2023-05-31' and not DATED.fullmatch(version):
            raise Refused(400, {'message': 'Malformed input request: #: required key '
                                '[anthropic_version] not found, please reformat your input and try '
                                'again.'}, {'x-amzn-ErrorType': 'ValidationException'})
        if 'model' in body or 'stream' in body:
            raise Refused(400, {'message': 'Malformed input request: #: extraneous key is not '
                                'permitted, please reformat your input and try again.'},
                          {'x-amzn-ErrorType': 'ValidationException'})

    def body(self, raw):
        body = {'model': self.claude(), **json.loads(raw)}
        del body['anthropic_version']
        return body

    def refusal(self, refusal, api):
        message = refusal.message
        if 'prompt is too long' in message:
            message = 'Input is too long for requested model.'
        return refusal.status, {'message': message}, {'x-amzn-ErrorType': 'ValidationException'}


class Converse(Bedrock):
    pattern = re.compile(r'/model/(?P<model>[^/]+)/(?P<call>converse|converse-stream)')

    def __init__(self, found):
        super().__init__(found)
        self.is_stream = found.group('call') != 'converse'

    def enter(self, method, target, headers, raw):
        self.check_login(method, target, headers, raw)
        try:
            converse.check(json.loads(raw))
        except converse.Invalid as invalid:
            raise Refused(400, {'message': str(invalid)},
                          {'x-amzn-ErrorType': 'ValidationException'}) from None

    def body(self, raw):
        return converse.as_messages(json.loads(raw), self.claude())

    def whole(self, answer):
        return converse.whole(answer)

    def frames(self, events):
        return (frame(name, json.dumps({**data, 'p': 'abcdefg'[:len(name) % 7]}).encode())
                for name, data in converse.events(events))


def door(path):
    for kind in (Azure, Vertex, VertexGoogle, Bedrock, Converse):
        found = kind.pattern.fullmatch(path)
        if found:
            return kind(found)
    return None

#!/usr/bin/env python3
"""Sixteen kinds of credential against six configurations: none is ever seen by a host that is not
its own, nor Weir's own token by any.

A recorder stands in for the whole world: every upstream is asked by way of it as a proxy, so that
it sees the true host, the path and every header of all that leaves. Each credential has a secret of
its own in it; where that turns up is held against the hosts that may see it.
"""
import base64
import http.client
import http.server
import json
import os
import re
import sys
import threading

from harness import Folder, Weir
from sessions import CHECK, ok

TOKEN = 'weir-token-of-a-tenant'


def web_token(issuer, secret):
    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip('=')
    return f'{part({"alg": "RS256"})}.{part({"iss": issuer, "aud": "x"})}.{secret}'


def bearer(text):
    return {'Authorization': 'Bearer ' + text}


# name: (headers, parameter, hosts that may see it)
AZURE = r'.*\.openai\.azure\.com'
GOOGLE = r'generativelanguage\.googleapis\.com|aiplatform\.googleapis\.com|' \
    r'cloudcode-pa\.googleapis\.com'
AWS = r'bedrock-runtime\.us-east-1\.amazonaws\.com'
CREDENTIALS = {
    'openai key': (bearer('sk-proj-SECRET01'), '', r'api\.openai\.com'),
    'anthropic key': ({'x-api-key': 'sk-ant-api03-SECRET02'}, '', r'api\.anthropic\.com'),
    'anthropic login': (bearer('sk-ant-oat01-SECRET03'), '', r'api\.anthropic\.com'),
    'chatgpt login': ({**bearer(web_token('https://auth.openai.com', 'SECRET04')),
                       'chatgpt-account-id': 'SECRET04'}, '', r'chatgpt\.com|api\.openai\.com'),
    'azure key': ({'api-key': 'SECRET05'}, '', AZURE),
    'entra login': (bearer(web_token('https://sts.windows.net/t/', 'SECRET06')), '', AZURE),
    'gemini key': ({'x-goog-api-key': 'SECRET07'}, '', GOOGLE),
    'gemini parameter': ({}, 'key=SECRET08', GOOGLE),
    'google login': (bearer('ya29.SECRET09'), '', GOOGLE),
    'aws signature': ({'Authorization': 'AWS4-HMAC-SHA256 Credential=SECRET10',
                       'x-amz-security-token': 'SECRET10'}, '', AWS),
    'bedrock key': (bearer('ABSKSECRET11'), '', AWS),
    'openrouter key': (bearer('sk-or-v1-SECRET12'), '', r'openrouter\.ai'),
    'groq key': (bearer('gsk_SECRET13'), '', r'api\.groq\.com'),
    'xai key': (bearer('xai-SECRET14'), '', r'api\.x\.ai'),
    'hugging face key': (bearer('hf_SECRET15'), '', r'router\.huggingface\.co'),
    'github login': (bearer('gho_SECRET16'), '', r'models\.github\.ai'),
}
HOSTS = {'openai': 'api.openai.com/v1', 'anthropic': 'api.anthropic.com/v1',
         'chatgpt': 'chatgpt.com/backend-api/codex',
         'gemini': 'generativelanguage.googleapis.com',
         'codeassist': 'cloudcode-pa.googleapis.com', 'vertex': 'aiplatform.googleapis.com/v1',
         'azure': 'mine.openai.azure.com', 'bedrock': 'bedrock-runtime.us-east-1.amazonaws.com',
         'openrouter': 'openrouter.ai/api/v1', 'groq': 'api.groq.com/openai/v1',
         'xai': 'api.x.ai/v1', 'huggingface': 'router.huggingface.co/v1',
         'github': 'models.github.ai/inference'}
PATHS = ['/v1/chat/completions', '/v1/responses', '/v1/messages', '/v1/files',
         '/v1beta/models/m:generateContent', '/v1internal:generateContent',
         '/openai/v1/responses', '/openai/deployments/d/chat/completions?api-version=1',
         '/anthropic/v1/messages', '/model/m/invoke', '/backend-api/codex/responses',
         '/v1/projects/p/locations/l/publishers/anthropic/models/m:rawPredict']
BODY = json.dumps({'model': 'm', 'max_tokens': 1, 'messages': [{'role': 'user', 'content': 'x'}]})


class World(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self):
        super().__init__(('127.0.0.1', 0), Host)
        self.lock, self.seen = threading.Lock(), []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f'http://127.0.0.1:{self.server_address[1]}'

    def take(self):
        with self.lock:
            seen, self.seen = self.seen, []
        return seen


class Host(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    wbufsize = 65536  # head and body at once, so that nobody waits for the second

    def log_message(self, *args):
        pass

    def handle(self):
        try:
            super().handle()
        except OSError:  # whoever asked has gone
            pass

    def record(self):
        self.rfile.read(int(self.headers.get('Content-Length') or 0))
        host = re.sub(r'^\w+://', '', self.path).partition('/')[0].partition(':')[0]
        text = self.path + '\n' + str(self.headers)
        with self.server.lock:
            self.server.seen.append((host, text))

    def answer(self, status):
        self.send_response(status)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', '2')
        self.end_headers()
        self.wfile.write(b'{}')

    def do_POST(self):
        self.record()
        self.answer(200)

    do_GET = do_POST

    def do_CONNECT(self):  # all that is to be known of TLS: which host is asked
        self.record()
        self.answer(502)


def ask_all(weir, names, more=None):
    """Every credential to every path; gives the errors that were Weir's own."""
    connection = http.client.HTTPConnection('127.0.0.1', weir.port, timeout=60)
    own = []
    for headers, parameter, _ in CREDENTIALS.values():
        for path in PATHS + [f'/p/{name}/v1/x' for name in names]:
            if parameter:
                path += ('&' if '?' in path else '?') + parameter
            connection.request('POST', path, BODY, {
                'Content-Type': 'application/json', **headers, **(more or {})})
            answer = connection.getresponse()
            data = answer.read()
            if answer.status in (400, 401, 403, 404, 413):
                own.append((answer.status, data.decode()))
    connection.close()
    return own


def judge(name, seen, own, may_see_all=None):
    """Nothing at a wrong host, and every refusal of ours says what to do."""
    leaks = [(kind, host) for host, text in seen
             for kind, (_, _, houses) in CREDENTIALS.items()
             if f'SECRET{list(CREDENTIALS).index(kind) + 1:02}' in text
             and not re.fullmatch(houses, host) and not (may_see_all and host in may_see_all)]
    ok(f'{name}: no credential at a host that is not its own', leaks[:5], [])
    ok(f'{name}: nor Weir\'s token at any', [h for h, text in seen if TOKEN in text][:5], [])
    ok(f'{name}: each refusal says what to set', [
        text for _, text in own
        if not re.search(r'/p/\w+/ instead|weir\.yaml|--upstream', text)][:3], [])
    ok(f'{name}: and shows no secret', [t for _, t in own if 'SECRET' in t or TOKEN in t][:3], [])
    return {kind for _, text in seen for kind in CREDENTIALS
            if f'SECRET{list(CREDENTIALS).index(kind) + 1:02}' in text}


def upstreams(world, names, key=None):
    rows = ''.join(
        f'  {name}: {{base_url: "http://{HOSTS[name]}", proxy: "{world.url}"'
        + (f', key: {{env: KEY_{name}}}' if key and name in key else '') + '}\n' for name in names)
    return 'listen: 127.0.0.1:0\nmode: off\nupstreams:\n' + rows


def unless_told(folder, world):
    """The upstreams that Weir has; only who is asked can be seen, for it is TLS."""
    weir = Weir(folder, config='listen: 127.0.0.1:0\nmode: off\n',
                env={'HTTPS_PROXY': world.url, 'https_proxy': world.url, 'NO_PROXY': '',
                     'no_proxy': ''})
    asked = 0
    for kind, (headers, parameter, houses) in CREDENTIALS.items():
        for path in PATHS:
            weir.post(path + (('&' if '?' in path else '?') + parameter if parameter else ''),
                      BODY.encode(), headers)
            for host, _ in world.take():
                asked += 1
                ok(f'unless told: {kind} at {path}', bool(re.fullmatch(houses, host)), True)
    ok('unless told: some were asked', asked > 20, True)
    weir.stop()


def all_at_their_hosts(folder, world):
    weir = Weir(folder, config=upstreams(world, HOSTS))
    own = ask_all(weir, HOSTS)
    seen = judge('all', world.take(), own)
    ok('all: each went to its own', seen, set(CREDENTIALS))
    weir.stop()


def a_gateway_in_their_place(folder, world):
    config = upstreams(world, ['gemini', 'azure']) + ''.join(
        f'  {name}: {{base_url: "http://gateway.example/v1", proxy: "{world.url}"}}\n'
        for name in ('openai', 'anthropic'))
    weir = Weir(folder, config=config)
    own = ask_all(weir, ['openai', 'anthropic', 'gemini', 'azure'])
    judge('a gateway', world.take(), own, {'gateway.example'})
    weir.stop()


def one_behind_all(folder, world):
    weir = Weir(folder, '--upstream', 'http://api.openai.com/v1',
                config='listen: 127.0.0.1:0\nmode: off\n',
                env={'http_proxy': world.url, 'NO_PROXY': '', 'no_proxy': ''})
    own = ask_all(weir, [])
    seen = judge('one', world.take(), own)
    ok('one: only what is its own came', seen, {'openai key', 'chatgpt login'})
    weir.stop()


def keys_of_weirs(folder, world):
    env = {f'KEY_{name}': f'KEY-OF-{name}' for name in HOSTS}
    weir = Weir(folder, config=upstreams(world, HOSTS, HOSTS), env=env)
    own = ask_all(weir, HOSTS)
    seen = world.take()
    ok('keys of Weir\'s: no credential of the client\'s leaves', judge('keys', seen, own), set())
    wrong = [host for host, text in seen for name, place in HOSTS.items()
             if f'KEY-OF-{name}\r' in text + '\r' and host != place.partition('/')[0]]
    ok('keys of Weir\'s: each is seen by its own host alone', wrong, [])
    shown = {name for _, text in seen for name in HOSTS if re.search(
        rf'KEY-OF-{name}$', text, re.M)}
    ok('keys of Weir\'s: and was shown there', shown, set(HOSTS))
    weir.lines()
    for place in (os.path.join(weir.store, 'requests.jsonl'), weir.errors.name):
        with open(place, encoding='utf-8') as file:
            ok(f'keys of Weir\'s: none is in {os.path.basename(place)}',
               re.findall(r'KEY-OF-\w+|SECRET\d+', file.read()), [])
    weir.stop()


def tokens_in_the_keys_place(folder, world):
    names = ['openai', 'anthropic', 'gemini', 'azure']
    env = {f'KEY_{name}': f'KEY-OF-{name}' for name in HOSTS}
    weir = Weir(folder, config=upstreams(world, names, ('openai', 'azure')) +
                f'tokens: [{TOKEN}]\n', env=env)
    own = ask_all(weir, names)
    ok('tokens: without one nothing leaves', world.take(), [])
    ok('tokens: and it is said what is missing', {status for status, _ in own}, {401})
    judge('tokens', ask_all(weir, names, {'x-weir-token': TOKEN}) and world.take(), [])
    for headers, parameter in ((bearer(TOKEN), ''), ({'x-api-key': TOKEN}, ''),
                               ({'api-key': TOKEN}, ''), ({'x-goog-api-key': TOKEN}, ''),
                               ({}, '?key=' + TOKEN)):
        for path, statuses, host in (('/p/openai/v1/responses', (200,), 'api.openai.com'),
                                     ('/p/anthropic/v1/messages', (401, 404), None)):
            got, data, _ = weir.post(path + parameter, BODY.encode(), headers)
            seen = world.take()
            ok(f'tokens: {list(headers)}{parameter[:5]} at {path}',
               (got in statuses, [h for h, _ in seen]), (True, [host] if host else []))
            judge('tokens', seen, [(got, data.decode())] if got != 200 else [])
    both = {**bearer('sk-ant-api03-SECRET02'), 'api-key': TOKEN, 'x-weir-token': TOKEN}
    weir.post('/v1/messages', BODY.encode(), both)
    ok('tokens: one that is sent twice stays too',
       [TOKEN in text for _, text in world.take()] in ([], [False]), True)
    weir.stop()


def main():
    world = World()
    with Folder() as folder:
        for case in (unless_told, all_at_their_hosts, a_gateway_in_their_place, one_behind_all,
                     keys_of_weirs, tokens_in_the_keys_place):
            world.take()
            case(folder, world)
    return CHECK.end()


sys.exit(main())

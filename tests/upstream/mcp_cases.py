#!/usr/bin/env python3
"""The MCP server on stdio and at /mcp, and the way back through it, with clients made here.

    mcp_cases.py [CASE...]
"""
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading

from harness import PATIENCE_SECONDS, STARTED, Folder, Upstream, Weir, wait_for
from sessions import ANTHROPIC, CHECK, chat_session, file_text, ok, play, serve

META = {'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities': {}}
HELLO = {'protocolVersion': '2025-11-25', 'capabilities': {},
         'clientInfo': {'name': 'test', 'version': '1'}}
JSON = {'Content-Type': 'application/json', 'Accept': 'application/json, text/event-stream'}
TOKENS = ('token-of-the-first-one', 'token-of-the-second-one')


def request(method, params=None, number=1):
    message = {'jsonrpc': '2.0', 'id': number, 'method': method}
    return message if params is None else {**message, 'params': params}


def text_of(answer):
    return answer['result']['content'][0]['text']


class Stdio:
    """`weir mcp` as an agent starts it."""

    def __init__(self, store, **env):
        command = [os.environ.get('WEIR', 'build/weir'), 'mcp', '--store', store]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, env={**os.environ, **env})
        STARTED.append(self.process)

    def send(self, message):
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(line + b'\n')
        self.process.stdin.flush()

    def ask(self, message):
        self.send(message)
        return json.loads(self.process.stdout.readline())

    def hello(self):
        answer = self.ask(request('initialize', HELLO, 0))
        self.send({'jsonrpc': '2.0', 'method': 'notifications/initialized'})
        return answer

    def recall(self, **arguments):
        return self.ask(request('tools/call', {'name': 'weir_recall', 'arguments': arguments}))

    def end(self):
        """Closes its input; gives its exit status, what it still wrote, and its errors."""
        self.process.stdin.close()
        rest, errors = self.process.stdout.read(), self.process.stderr.read()
        self.process.wait(PATIENCE_SECONDS)
        self.process.stdout.close()
        self.process.stderr.close()
        return self.process.returncode, rest, errors


class Http:
    """/mcp of the proxy, in the modern way."""

    def __init__(self, weir, front='', **headers):
        self.weir, self.path, self.headers = weir, front + '/mcp', headers

    def post(self, message, **headers):
        return self.weir.request('POST', self.path, message,
                                 {**JSON, **self.headers,
                                  **{k.replace('_', '-'): v for k, v in headers.items()}})

    def call(self, name, arguments):
        message = request('tools/call', {'name': name, 'arguments': arguments, '_meta': META})
        status, body, _ = self.post(message, MCP_Protocol_Version='2026-07-28',
                                    Mcp_Method='tools/call', Mcp_Name=name)
        return json.loads(body) if status == 200 else {'status': status, 'body': body}

    def recall(self, **arguments):
        return self.call('weir_recall', arguments)


# ---- a session whose results were taken out ----

TURNS = 4


def fill(weir, upstream, tool='weir_recall', headers=None):
    """Plays a session through the proxy; gives the handles by the number of the file."""
    session = chat_session(TURNS)
    session['tools'][1]['function']['name'] = tool
    ok('the session is accepted', play(weir, session, headers or {}), 200)
    sent = json.loads(upstream.last_body())['messages']
    handles = {}
    for n in range(TURNS):
        match = re.search(r'\[weir (wr_[0-9a-f]{20}): .*; (\S+) \{"handle":"\1"\}\]$',
                          sent[3 + 2 * n]['content'])
        ok(f'result {n} was taken out, and its line spells the tool as the request does',
           match and match.group(2), tool)
        handles[n] = match.group(1) if match else ''
    return handles


def lines_of(text, first, last):
    return ''.join(text.splitlines(keepends=True)[first - 1:last])


def what_was_taken_out_comes_back(weir, upstream):
    handles = fill(weir, upstream)
    stdio, http = Stdio(weir.store), Http(weir)
    stdio.hello()
    for name, client in (('stdio', stdio), ('http', http)):
        for n, handle in handles.items():
            ok(f'{name}: whole, byte for byte', text_of(client.recall(handle=handle)), file_text(n))
        ok(f'{name}: by a range of lines', text_of(client.recall(handle=handles[1], lines='41-60')),
           lines_of(file_text(1), 41, 60))
        ok(f'{name}: by two', text_of(client.recall(handle=handles[1], lines='2,119-')),
           lines_of(file_text(1), 2, 2) + '--\n' + lines_of(file_text(1), 119, 120))
        ok(f'{name}: by a pattern', text_of(client.recall(handle=handles[2], grep='_2_7[01]')),
           ''.join(f'{i + 1}:def function_2_{i}(value):  # line {i} of file 2\n'
                   for i in (70, 71)))
        ok(f'{name}: as the line that names it',
           text_of(client.recall(handle=f'[weir {handles[3].upper()}: left out]', head=1)),
           lines_of(file_text(3), 1, 1))
        answer = client.recall(handle='wr_' + '0' * 20)
        ok(f'{name}: never stored', (answer['result']['isError'],
                                     'never stored' in text_of(answer)), (True, True))
    ok('the server ends with its input, and wrote nothing else', stdio.end(), (0, b'', b''))


def take_out(weir, upstream, text):
    """Sends one result through the proxy; gives its handle."""
    body = chat_session(1)
    body['messages'][3]['content'] = text
    weir.post('/v1/chat/completions', body)
    sent = json.loads(upstream.last_body())['messages'][3]['content']
    return re.search(r'\[weir (wr_[0-9a-f]{20}): ', sent).group(1)


def long_texts_come_in_pages(weir, upstream):
    text = file_text(7, 4000)
    handle = take_out(weir, upstream, text)
    whole, lines, pages = '', '1-', 0
    http = Http(weir)
    while lines and pages < 100:
        page = text_of(http.recall(handle=handle, lines=lines))
        more = re.search(r'\n\[weir: 4000 lines in all; next page: lines (\d+-\d+)\]\n$', page)
        whole += page[:more.start() + 1] if more else page
        lines = more.group(1) if more else ''
        pages += 1
    ok('the pages together are the text', whole, text)
    ok('there were several', pages > 5)


def what_is_gone_is_explained(weir, upstream):
    other = serve(weir.folder, upstream)
    handles = fill(other, upstream)
    other.stop()
    client = Stdio(other.store)
    client.hello()
    ok('it is there', text_of(client.recall(handle=handles[0])), file_text(0))
    db = sqlite3.connect(os.path.join(other.store, 'store.db'), isolation_level=None,
                         timeout=PATIENCE_SECONDS)
    db.execute('UPDATE artifact SET data = zeroblob(length(data)) WHERE handle = ?',
               (bytes.fromhex(handles[0][3:]),))
    answer = client.recall(handle=handles[0])
    ok('corrupt', (answer['result']['isError'], 'is corrupt' in text_of(answer)), (True, True))
    ok('others are not', text_of(client.recall(handle=handles[1])), file_text(1))
    db.execute('UPDATE session SET used_ms = 1')
    db.close()
    subprocess.run([os.environ.get('WEIR', 'build/weir'), 'store', 'gc', '--days', '1', '--store',
                    other.store], check=True, capture_output=True)
    answer = client.recall(handle=handles[1])
    ok('expired', (answer['result']['isError'], 'has expired' in text_of(answer)), (True, True))
    client.end()


def the_window_is_shown(weir, upstream):
    other = serve(weir.folder, upstream)
    fill(other, upstream, headers={'x-weir-session': 'the-one'})
    http = Http(other)

    def shown():
        return text_of(http.call('weir_context', {'session': 'the-one'}))
    head = 'session weir:the-one, model gpt-4o-mini, 5 requests\n'
    ok('what fills the window of a session', bool(wait_for(lambda: shown().startswith(head))))
    text = shown()
    ok('by category, with the policy', [word in text for word in (
        'window 128000 tokens', '  results  ', '  free  ', 'policy short')], [True] * 4)
    ok('the most recent without a name', text_of(http.call('weir_context', {})), text)
    answer = http.call('weir_context', {'session': 'nothing-like-it'})
    ok('one that is not there', answer['result']['isError'])
    other.stop()


# ---- the stream ----

def stdio_speaks_both_eras(weir, upstream):
    client = Stdio(weir.store)
    answer = client.ask(request('server/discover', {'_meta': META}, 'probe'))
    ok('a probe is answered', (answer['id'], answer['result']['resultType'],
                               answer['result']['supportedVersions'][0]),
       ('probe', 'complete', '2026-07-28'))
    answer = client.ask(request('tools/list'))
    ok('without a handshake _meta is needed', answer['error']['code'], -32602)
    modern = client.ask(request('tools/list', {'_meta': META}))['result']
    ok('with it none is', (modern['resultType'], modern['cacheScope']), ('complete', 'public'))
    ok('the version that was asked for', client.hello()['result']['protocolVersion'], '2025-11-25')
    legacy = client.ask(request('tools/list'))['result']
    ok('the same tools in both', legacy['tools'], modern['tools'])
    ok('and nothing else in the old way', list(legacy), ['tools'])
    ok('they are three', [t['name'] for t in legacy['tools']],
       ['weir_recall', 'weir_context', 'weir_steer'])
    ok('ping', client.ask(request('ping', {}, 'p')), {'jsonrpc': '2.0', 'id': 'p', 'result': {}})
    ok('an unknown method', client.ask(request('prompts/list'))['error']['code'], -32601)
    answer = client.ask(request('tools/call', {'name': 'weir_context'}))
    ok('what fills the window', (answer['result']['isError'], bool(text_of(answer))), (False, True))
    client.end()


def stdio_is_a_stream_of_lines(weir, upstream):
    client = Stdio(weir.store)
    client.send(b'\n  \n' + json.dumps(request('ping', None, 1)).encode() + b'\r\n'
                + json.dumps(request('ping', None, 2)).encode())
    ids = [json.loads(client.process.stdout.readline())['id'] for _ in range(2)]
    ok('several in one write, blank lines between', ids, [1, 2])
    ok('no JSON', client.ask(b'{"jsonrpc":')['error']['code'], -32700)
    ok('no UTF-8', client.ask(b'\xff\xfe')['error']['code'], -32700)
    ok('deep', client.ask(b'[' * 100000)['error']['code'] in (-32600, -32700))
    part = json.dumps(request('ping', None, 3)).encode()
    for byte in part:
        client.process.stdin.write(bytes([byte]))
        client.process.stdin.flush()
    client.send(b'')
    ok('byte by byte', json.loads(client.process.stdout.readline())['id'], 3)
    client.process.stdin.write(json.dumps(request('ping', None, 4)).encode())
    status, rest, errors = client.end()
    ok('the last line needs no end', (status, json.loads(rest)['id'], errors), (0, 4, b''))


def a_line_has_a_cap(weir, upstream):
    client = Stdio(weir.store)
    megabyte = b'x' * (1024 * 1024)
    for _ in range(65):
        client.process.stdin.write(megabyte)
    ok('a line over the cap is refused', client.ask(b'')['error']['code'], -32600)
    ok('and the next is read', client.ask(request('ping', None, 7))['id'], 7)
    client.end()


def wrong_calls_are_said(weir, upstream):
    for sentence, arguments, status, words in (
            ('one word too many', ['x'], 2, b"weir mcp: 'x' is one word too many"),
            ('an option that is not known', ['--port', '1'], 2, b'weir mcp: '),
            ('help', ['--help'], 0, b'')):
        result = subprocess.run([os.environ.get('WEIR', 'build/weir'), 'mcp', *arguments],
                                stdin=subprocess.DEVNULL, capture_output=True, check=False)
        ok(sentence, (result.returncode, result.stderr.startswith(words),
                      b'example: ' in result.stdout), (status, True, status == 0))


def nobody_listens(weir, upstream):
    client = Stdio(weir.store)
    client.process.stdout.close()
    try:
        for n in range(100):
            client.send(request('ping', None, n))
    except BrokenPipeError:
        pass
    ok('it ends when nobody listens', client.process.wait(PATIENCE_SECONDS), 0)
    try:
        client.process.stdin.close()
    except BrokenPipeError:
        pass
    ok('and says nothing', client.process.stderr.read(), b'')
    client.process.stderr.close()


def the_store_may_come_later(weir, upstream):
    folder = os.path.join(weir.folder, 'later')
    client = Stdio(folder)
    client.hello()
    answer = client.recall(handle='wr_' + '1' * 20)
    ok('without a store', (answer['result']['isError'],
                           'Nothing has been stored' in text_of(answer)), (True, True))
    ok('none is made', os.path.exists(os.path.join(folder, 'store.db')), False)
    other = serve(weir.folder, upstream, store=mkdir(folder))
    handles = fill(other, upstream)
    ok('one that was made since is read', text_of(client.recall(handle=handles[0])), file_text(0))
    other.stop()
    shutil.rmtree(folder)
    other = serve(weir.folder, upstream, store=mkdir(folder))
    handle = take_out(other, upstream, file_text(11))
    ok('one that was made anew, too', text_of(client.recall(handle=handle)), file_text(11))
    other.stop()
    client.end()


def mkdir(path):
    os.makedirs(path, exist_ok=True)
    return path


def it_reads_while_the_server_writes(weir, upstream):
    handle = fill(weir, upstream)[0]
    client = Stdio(weir.store)
    client.hello()
    stop = threading.Event()

    def write():
        n = 0
        while not stop.is_set():
            n += 1
            weir.post('/v1/chat/completions', chat_session(2, f'Find bug {n}.'))
    writer = threading.Thread(target=write)
    writer.start()
    texts = {text_of(client.recall(handle=handle, lines='1-120')) for _ in range(200)}
    stop.set()
    writer.join()
    ok('200 recalls beside a writer', texts, {file_text(0)})
    client.end()


# ---- HTTP ----

def http_speaks_both_eras(weir, upstream):
    http = Http(weir)
    status, body, headers = http.post(request('initialize', HELLO))
    ok('initialize', (status, json.loads(body)['result']['protocolVersion']), (200, '2025-11-25'))
    ok('as JSON, without a session', (headers['content-type'], 'mcp-session-id' in headers),
       ('application/json', False))
    status, body, _ = http.post({'jsonrpc': '2.0', 'method': 'notifications/initialized'},
                                MCP_Protocol_Version='2025-11-25')
    ok('a notification', (status, body), (202, b''))
    status, body, _ = http.post(request('tools/list'), MCP_Protocol_Version='2025-11-25')
    ok('tools in the old way', (status, len(json.loads(body)['result']['tools'])), (200, 3))
    status, body, _ = http.post(request('x/y'), MCP_Protocol_Version='2025-11-25')
    ok('an unknown method in the old way', (status, json.loads(body)['error']['code']),
       (200, -32601))
    for sentence, method, more, wanted in (
            ('tools', 'tools/list', {}, (200, None)),
            ('no method in the headers', 'tools/list', {'Mcp_Method': ''}, (400, -32020)),
            ('another method', 'tools/list', {'Mcp_Method': 'x'}, (400, -32020)),
            ('another version', 'tools/list', {'MCP_Protocol_Version': '2025-11-25'},
             (400, -32020)),
            ('an unknown method', 'x/y', {}, (404, -32601)),
            ('no ping', 'ping', {}, (404, -32601))):
        status, body, _ = http.post(request(method, {'_meta': META}), **{
            'MCP_Protocol_Version': '2026-07-28', 'Mcp_Method': method, **more})
        ok('modern: ' + sentence, (status, json.loads(body).get('error', {}).get('code')), wanted)
    old = {**META, 'io.modelcontextprotocol/protocolVersion': '1900-01-01'}
    status, body, _ = http.post(request('tools/list', {'_meta': old}), Mcp_Method='tools/list',
                                MCP_Protocol_Version='1900-01-01')
    error = json.loads(body)['error']
    ok('modern: an unknown version', (status, error['code'], error['data']['requested'],
                                      error['data']['supported'][0]),
       (400, -32022, '1900-01-01', '2026-07-28'))


def http_is_strict_about_its_clients(weir, upstream):
    http, ping = Http(weir), request('ping')
    for method in ('GET', 'DELETE', 'PUT'):
        status, _, headers = weir.request(method, '/mcp', headers=JSON)
        ok(f'{method} is not allowed', (status, headers.get('allow')), (405, 'POST'))
    for origin, wanted in (('http://localhost:3000', 200), ('http://127.0.0.1', 200),
                           ('http://[::1]:9', 200), ('https://evil.example', 403),
                           ('http://localhost.evil.example', 403), ('null', 403)):
        ok(f'the origin {origin}', http.post(ping, Origin=origin)[0], wanted)
    ok('another Host', http.post(ping, Host='evil.example')[0], 421)
    for accept, wanted in (('application/json', 'application/json'), ('*/*', 'application/json'),
                           ('text/event-stream', 'text/event-stream')):
        status, body, headers = http.post(ping, Accept=accept)
        ok(f'Accept: {accept}', (status, headers['content-type']), (200, wanted))
    ok('as an event', body, b'event: message\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n')
    ok('neither', http.post(ping, Accept='text/html')[0], 406)
    ok('another type', http.post(ping, Content_Type='text/plain')[0], 415)
    ok('a type with parameters', http.post(ping, Content_Type='application/json; charset=utf-8')[0],
       200)
    ok('compressed', http.post(ping, Content_Encoding='gzip')[0], 415)
    ok('no JSON', http.post(b'{')[0], 400)
    ok('a batch', http.post([ping])[0], 400)
    ok('nothing', http.post(b'')[0], 400)
    big = b'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n'
    answer = weir.raw(big + b'Content-Length: 2000000\r\n\r\n{')
    ok('too long, and said so', answer.startswith(b'HTTP/1.1 413 '))
    chunks = b'10000\r\n' + b' ' * 65536 + b'\r\n'
    answer = weir.raw(big + b'Transfer-Encoding: chunked\r\n\r\n' + chunks * 17)
    ok('too long, and not said', answer.startswith(b'HTTP/1.1 413 '))
    body = json.dumps(ping).encode()
    pieces = [b'%x\r\n%s\r\n' % (len(body[at:at + 9]), body[at:at + 9])
              for at in range(0, len(body), 9)]
    answer = weir.raw([big + b'Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n', *pieces,
                       b'0\r\n\r\n'])
    ok('in chunks', answer.startswith(b'HTTP/1.1 200 ') and b'"result":{}' in answer)
    twice = (big + b'Content-Length: %d\r\n\r\n' % len(body) + body) * 2
    answer = weir.raw(twice + b'GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n'
                      b'\r\n')
    ok('requests on one connection, in order',
       (answer.count(b'"result":{}'), b'weir_' in answer.rpartition(b'"result":{}')[2]), (2, True))


def clients_may_leave(weir, upstream):
    body = json.dumps(request('ping')).encode()
    for _ in range(50):
        with weir.connect() as sock:
            sock.sendall(b'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json'
                         b'\r\nContent-Length: %d\r\n\r\n' % len(body) + body)
    ok('it still answers', bool(wait_for(lambda: Http(weir).post(request('ping'))[0] == 200)))


def a_token_is_a_tenant(weir, upstream):
    config = (f'listen: 127.0.0.1:0\npolicies: {weir.folder}/policies.yaml\npolicy: short\n'
              f'tokens: [{TOKENS[0]}, {TOKENS[1]}]\n')
    shared = Weir(weir.folder, '--upstream', f'http://127.0.0.1:{upstream.port}/v1', config=config)
    handle = fill(shared, upstream, headers={'x-weir-token': TOKENS[0]})[0]
    ok('without a token', Http(shared).recall(handle=handle)['status'], 401)
    for sentence, http, wanted in (
            ('its own, by a header', Http(shared, **{'x-weir-token': TOKENS[0]}), False),
            ('its own, by the path', Http(shared, '/k/' + TOKENS[0]), False),
            ('another\'s, by a header', Http(shared, **{'x-weir-token': TOKENS[1]}), True),
            ('another\'s, by the path', Http(shared, '/k/' + TOKENS[1]), True)):
        answer = http.recall(handle=handle)
        ok(sentence, answer['result']['isError'], wanted)
        ok(sentence + ': the text', text_of(answer) == file_text(0), not wanted)
    for sentence, env, wanted in (('stdio with the token', {'WEIR_TOKEN': TOKENS[0]}, False),
                                  ('with another', {'WEIR_TOKEN': TOKENS[1]}, True),
                                  ('with none', {}, True)):
        client = Stdio(shared.store, **env)
        client.hello()
        ok(sentence, client.recall(handle=handle)['result']['isError'], wanted)
        client.end()
    shared.stop()


def it_stops_with_calls_open(weir, upstream):
    other = serve(weir.folder, upstream)
    http = Http(other)
    handle = fill(other, upstream)[0]
    threads = [threading.Thread(target=lambda: answers.append(http.recall(handle=handle)))
               for _ in range(8)]
    answers = []
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ok('calls at once', [text_of(a) == file_text(0) for a in answers], [True] * 8)
    ok('it stops', other.stop(signal.SIGTERM), 0)


# ---- tools as agents spell them ----

# What MCP servers' tools are called in requests, where the server is called weir.
SPELLINGS = {
    'Claude Code': 'mcp__weir__weir_recall', 'Codex': 'weir__weir_recall',
    'opencode': 'weir_weir_recall', 'gemini-cli': 'mcp_weir_weir_recall', 'pi': 'weir_recall',
    'Cline': 'weir.weir_recall', 'an SDK': 'weir_recall',
}


def the_line_spells_the_tool_as_the_request_does(weir, upstream):
    for agent, tool in SPELLINGS.items():
        del agent
        fill(weir, upstream, tool)


def recalled_text_passes_whole(weir, upstream):
    """A long result of the recall tool, as an MCP client puts it in: in each dialect."""
    text = file_text(9, 400)
    tool = 'mcp__weir__weir_recall'
    arguments = json.dumps({'handle': 'wr_' + '5' * 20})
    schema = {'type': 'object'}
    bodies = {
        '/v1/chat/completions': ({'model': 'gpt-4o-mini', 'tools': [
            {'type': 'function', 'function': {'name': tool, 'parameters': schema}}], 'messages': [
            {'role': 'user', 'content': 'Go.'},
            {'role': 'assistant', 'content': None, 'tool_calls': [
                {'id': 'c', 'type': 'function', 'function': {'name': tool,
                                                             'arguments': arguments}}]},
            {'role': 'tool', 'tool_call_id': 'c', 'content': text}]},
            lambda body: body['messages'][2]['content']),
        '/v1/responses': ({'model': 'gpt-4o-mini', 'tools': [
            {'type': 'namespace', 'name': 'mcp__weir', 'tools': [
                {'type': 'function', 'name': 'weir_recall', 'parameters': schema}]}], 'input': [
            {'role': 'user', 'content': 'Go.'},
            {'type': 'function_call', 'call_id': 'c', 'namespace': 'mcp__weir',
             'name': 'weir_recall', 'arguments': arguments},
            {'type': 'function_call_output', 'call_id': 'c', 'output': text}]},
            lambda body: body['input'][2]['output']),
        '/v1/messages': ({'model': 'claude-opus-5', 'max_tokens': 9, 'tools': [
            {'name': tool, 'input_schema': schema, 'defer_loading': True}], 'messages': [
            {'role': 'user', 'content': 'Go.'},
            {'role': 'assistant', 'content': [{'type': 'tool_use', 'id': 'c', 'name': tool,
                                               'input': json.loads(arguments)}]},
            {'role': 'user', 'content': [{'type': 'tool_result', 'tool_use_id': 'c', 'content': [
                {'type': 'text', 'text': text}]}]}]},
            lambda body: body['messages'][2]['content'][0]['content'][0]['text']),
    }
    for path, (body, result) in bodies.items():
        ok(f'{path}: accepted', weir.post(path, body, ANTHROPIC)[0], 200)
        ok(f'{path}: recalled text is not condensed on arrival',
           result(json.loads(upstream.last_body())), text)
        other = json.loads(json.dumps(body).replace('weir_recall"', 'frobnicate"'))
        recall = {'/v1/chat/completions': {'type': 'function', 'function': {
            'name': tool, 'parameters': schema}}, '/v1/responses': {
            'type': 'function', 'name': tool, 'parameters': schema}, '/v1/messages': {
            'name': tool, 'input_schema': schema}}[path]
        other['tools'].append(recall)
        weir.post(path, other, ANTHROPIC)
        ok(f'{path}: the same of another tool is', tool + ' {"handle":"wr_' in
           result(json.loads(upstream.last_body())))


def a_namespace_is_part_of_the_name(weir, upstream):
    call = {'call_id': 'c', 'name': 'frobnicate', 'arguments': '{}'}
    weir.post('/v1/responses', {'model': 'gpt-4o-mini', 'input': [
        {'role': 'user', 'content': 'Go.'}, {'type': 'function_call', **call},
        {'type': 'function_call_output', 'call_id': 'c', 'output': file_text(9, 400)}],
        'tools': [{'type': 'namespace', 'name': 'mcp__weir__', 'description': 'recalls', 'tools': [
            {'type': 'function', 'name': 'weir_recall', 'parameters': {'type': 'object'},
             'defer_loading': True}]}]})
    ok('a tool in a namespace is spelt with it', '; mcp__weir__weir_recall {"handle":"wr_' in
       json.loads(upstream.last_body())['input'][2]['output'])


def calls_are_in_the_log_and_the_metrics(weir, upstream):
    http = Http(weir)
    handle = fill(weir, upstream)[1]
    series = ['weir_mcp_requests_total'] + [
        f'weir_mcp_calls_total{{tool="{tool}",result="{result}"}}'
        for tool in ('weir_recall', 'weir_context', 'weir_steer')
        for result in ('done', 'missed', 'refused')] + [
        f'weir_mcp_misses_total{{reason="{reason}"}}'
        for reason in ('never_stored', 'expired', 'corrupt', 'unreadable')]
    before = [weir.metric(name) for name in series]

    def newest():
        return [line for line in weir.log_lines() if line['api'] == 'mcp'][-6:]
    http.recall(handle=handle, lines='3-4')
    http.recall(handle='wr_0123456789abcdef0123')
    http.recall(handle='secret words')
    http.call('weir_context', {})
    http.post(request('no/such'))
    http.post(request('tools/call', {'name': 'secret_tool', 'arguments': {}}))
    ok('each call is counted, each miss by its reason',
       [int(weir.metric(name) - number) for name, number in zip(series, before)],
       [6, 1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0])
    wanted = [
        ('tools/call', 'weir_recall', 'done', None, '/mcp', 'local', 'done'),
        ('tools/call', 'weir_recall', 'missed', 'never_stored', '/mcp', 'local', 'done'),
        ('tools/call', 'weir_recall', 'refused', None, '/mcp', 'local', 'done'),
        ('tools/call', 'weir_context', 'done', None, '/mcp', 'local', 'done'),
        ('other', None, 'refused', None, '/mcp', 'local', 'done'),
        ('tools/call', None, 'refused', None, '/mcp', 'local', 'done')]

    def facts():
        return [tuple(line.get(key) for key in (
            'mcp_method', 'mcp_tool', 'mcp_result', 'mcp_miss', 'path', 'tenant', 'end'))
            for line in newest()]
    wait_for(lambda: facts() == wanted)
    told = newest()
    ok('each is a line of the log', facts(), wanted)
    ok('with sizes and times', all(line['body_bytes_received'] > 20 and line['answer_bytes'] > 20
                                   and line['total_us'] >= 0 and line['status'] for line in told))
    words = json.dumps(told)
    ok('and no word of anybody\'s', [word for word in (
        handle, 'wr_0123', 'secret', 'no/such', 'function_') if word in words], [])


CASES = [what_was_taken_out_comes_back, long_texts_come_in_pages, what_is_gone_is_explained,
         the_window_is_shown, stdio_speaks_both_eras,
         stdio_is_a_stream_of_lines, a_line_has_a_cap, wrong_calls_are_said, nobody_listens,
         the_store_may_come_later,
         it_reads_while_the_server_writes, http_speaks_both_eras, http_is_strict_about_its_clients,
         clients_may_leave, a_token_is_a_tenant, it_stops_with_calls_open,
         the_line_spells_the_tool_as_the_request_does, recalled_text_passes_whole,
         a_namespace_is_part_of_the_name, calls_are_in_the_log_and_the_metrics]


def main():
    wanted = sys.argv[1:]
    with Folder() as folder:
        upstream = Upstream(folder)
        weir = serve(folder, upstream)
        for case in CASES:
            if not wanted or case.__name__ in wanted:
                case(weir, upstream)
        ok('the proxy ends well', weir.stop(), 0)
        upstream.stop()
    return CHECK.end()


if __name__ == '__main__':
    sys.exit(main())

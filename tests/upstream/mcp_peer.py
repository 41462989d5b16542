#!/usr/bin/env python3
"""An MCP server for tests, as well-behaved as it is told to be: over stdio, or HTTP with --http."""
import http.server
import json
import os
import sys
import time

TOOLS = [{'name': name, 'description': f'{name} it', 'inputSchema': {
    'type': 'object', 'properties': {'text': {'type': 'string'}}}}
    for name in ('echo', 'big', 'die', 'hang', 'noise', 'ask', 'image', 'fail', 'env', 'a b/ü',
                 'loud', 'rude')]


def content(text, **more):
    return {'content': [{'type': 'text', 'text': text}], **more}


def call(name, arguments):
    if name == 'echo':
        return content(f'echo: {arguments.get("text")}')
    if name == 'big':
        return content('\n'.join(f'row {n}' for n in range(20000)))
    if name == 'die':
        print('out of luck', file=sys.stderr)
        os._exit(3)
    if name == 'hang':
        time.sleep(600)
    if name == 'loud':  # how much of what it logs is kept
        os.write(2, b'so loud\n' * 500000)
        time.sleep(0.5)
        return content(str(os.fstat(2).st_size))
    if name == 'image':
        return {'content': [{'type': 'image', 'mimeType': 'image/png', 'data': 'QUJD'}]}
    if name == 'env':
        return content(json.dumps(dict(os.environ)))
    if name == 'fail':
        return content('this went wrong', isError=True)
    return content(f'{name}: done')


def answer(message, session):
    """The answers to a message; the last is the one that is waited for."""
    method, number = message.get('method'), message.get('id')
    if number is None or method is None:
        return []
    if method == 'initialize':
        return [{'id': number, 'result': {
            'protocolVersion': message['params']['protocolVersion'] if
            session.get('version') is None else session['version'],
            'capabilities': {'tools': {}}, 'serverInfo': {'name': 'peer', 'version': '1'}}}]
    if method == 'tools/list':  # two pages
        at = int(message['params'].get('cursor', 0))
        more = {'nextCursor': str(at + 5)} if at + 5 < len(TOOLS) else {}
        return [{'id': number, 'result': {'tools': TOOLS[at:at + 5], **more}}]
    name, arguments = message['params']['name'], message['params'].get('arguments', {})
    before = []
    if name == 'ask':
        before = [{'id': 'q1', 'method': 'sampling/createMessage', 'params': {}},
                  {'id': 'q2', 'method': 'ping'},
                  {'id': 424242, 'result': {}},
                  {'method': 'notifications/message', 'params': {'data': 'x'}}]
    if name == 'rude':
        return [{'id': number, 'error': {'code': 1, 'message': '\x1b]0;mine\x07\n' + 'é' * 300}}]
    return before + [{'id': number, 'result': call(name, arguments)}]


def line_of(message):
    return json.dumps({'jsonrpc': '2.0', **message})


def serve_stdio(version):
    with open(os.environ['PEER_LOG'] + '.pids', 'a', encoding='ascii') as log:
        log.write(f'{os.getpid()}\n')
    with open(os.environ['PEER_LOG'], 'a', encoding='utf-8') as log:
        for line in sys.stdin:
            log.write(line)
            log.flush()
            message = json.loads(line)
            if message.get('params', {}).get('name') == 'noise':
                print('Listening on stdio ... \x1b[31mready', flush=True)
            for said in answer(message, {'version': version}):
                print(line_of(said), flush=True)
    if '--stay' in sys.argv:
        time.sleep(600)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    sessions = set()

    def log_message(self, *args):
        pass

    def reply(self, status, body, kind='application/json', **headers):
        self.send_response(status)
        self.send_header('Content-Type', kind)
        self.send_header('Content-Length', str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace('_', '-'), value)
        self.end_headers()
        self.wfile.write(body)

    def hold(self, name, number):
        """A stream of events without an end: of others, or none at all behind the first."""
        self.send_response(200)
        self.send_header('Content-Type', 'text/event-stream')
        self.end_headers()
        said = line_of({'id': number + 1000, 'result': {}})
        try:
            while True:
                self.wfile.write(f'data: {said}\n\n'.encode() * (1 if name == 'hang' else 100))
                if name == 'hang':
                    time.sleep(600)
                elif name == 'image':  # it breaks off
                    self.close_connection = True
                    return self.wfile.write(b'data: {"jsonrpc":"2.0","id"')
        except OSError:
            self.close_connection = True

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers['Content-Length'])))
        session = self.headers.get('Mcp-Session-Id')
        if self.headers.get('X-Key') != 'open sesame':
            return self.reply(401, b'{"error":"who are you?"}')
        if message.get('method') == 'initialize':
            self.sessions.add(f's{len(self.sessions)}')
            said = answer(message, {})
            return self.reply(200, line_of(said[0]).encode(),
                              Mcp_Session_Id=f's{len(self.sessions) - 1}')
        if session not in self.sessions or not self.headers.get('Mcp-Protocol-Version'):
            return self.reply(404, b'{"error":"no such session"}')
        if 'id' not in message or 'method' not in message:
            return self.reply(202, b'')
        if message.get('params', {}).get('name') == 'die':
            self.sessions.clear()
            return self.reply(404, b'{"error":"no such session"}')
        if message.get('params', {}).get('name') in ('hang', 'noise', 'image'):
            return self.hold(message['params']['name'], message['id'])
        if message.get('params', {}).get('name') == 'loud':
            return self.reply(200, b'x' * (65 << 20))
        said = answer(message, {})
        body = ''.join(f'event: message\ndata: {line_of(m)}\n\n' for m in said)
        return self.reply(200, body.encode(), 'text/event-stream')


def main():
    if '--http' in sys.argv:
        server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        print(server.server_address[1], flush=True)
        server.serve_forever()
    if '--silent' in sys.argv:
        time.sleep(600)
    if '--garbage' in sys.argv:
        sys.stdout.buffer.write(bytes(range(256)) * 40 + b'\n{"jsonrpc":')
        sys.exit(1)
    serve_stdio('1999-01-01' if '--old' in sys.argv else None)


main()

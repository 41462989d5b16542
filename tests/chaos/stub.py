"""The upstream: it answers each request as its `x-chaos-answer` says, and keeps what came."""
import base64
import functools
import http.server
import json
import random
import re
import socket
import struct
import threading
import time

import own

TEXT_BYTES = 17 * 1024 * 1024
HANDLE = re.compile(rb'wr_[0-9a-f]{20}')


@functools.lru_cache(maxsize=1)
def text():
    """Letters that no answer has twice at one place: any piece of it may stand in JSON."""
    return base64.b64encode(random.Random('answers').randbytes(TEXT_BYTES * 3 // 4))


def piece(spec):
    return text()[spec['from']:spec['from'] + spec['bytes']]


def whole_chat(spec):
    return b'{"id":"chatcmpl_%s","object":"chat.completion","model":"gpt-5","choices":[{"index":' \
        b'0,"message":{"role":"assistant","content":"%s"},"finish_reason":"stop"}],"usage":' \
        b'{"prompt_tokens":9,"completion_tokens":9,"total_tokens":18}}' % (
            spec['id'].encode(), piece(spec))


def events(spec):
    words, step = piece(spec), spec['event_bytes']
    parts = [b'data: {"id":"chatcmpl_%s","choices":[{"index":0,"delta":{"content":"%s"}}]}\n\n' % (
        spec['id'].encode(), words[at:at + step]) for at in range(0, len(words), step)]
    return b''.join(parts) + b'data: [DONE]\n\n'


@functools.lru_cache(maxsize=8)
def body_of(frozen):
    spec = json.loads(frozen)
    return {'raw': piece, 'json': whole_chat, 'events': events}[spec['shape']](spec)


TYPES = {'raw': 'application/octet-stream', 'json': 'application/json',
         'events': 'text/event-stream; charset=utf-8'}


class Arrival:
    """A request as it came to the upstream, or as much of it as did."""

    def __init__(self, number, name, raw, is_whole):
        self.number, self.name, self.raw, self.is_whole = number, name, raw, is_whole
        self.handles = set(HANDLE.findall(raw))


class Stub:
    def __init__(self):
        self.lock = threading.Lock()
        self.arrivals = []
        stub = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def log_message(self, *args):
                pass

            def handle(self):
                try:
                    super().handle()
                except (OSError, ValueError):
                    self.close_connection = True

            def do_GET(self):
                stub.serve(self, b'')

            def do_POST(self):
                wanted = int(self.headers.get('Content-Length') or 0)
                raw = self.rfile.read(wanted)
                if not stub.keep(self.headers, raw, len(raw) == wanted):
                    self.close_connection = True
                    return
                stub.serve(self, raw)

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 256
            daemon_threads = True

        self.server = Server(('127.0.0.1', 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def keep(self, headers, raw, is_whole):
        name = json.loads(headers.get('x-chaos-answer') or '{}').get('id', '')
        with self.lock:
            self.arrivals.append(Arrival(len(self.arrivals), name, raw, is_whole))
        return is_whole

    def serve(self, handler, raw):
        frozen = handler.headers.get('x-chaos-answer')
        if not frozen:
            handler.send_response(404)
            handler.send_header('Content-Length', '0')
            handler.end_headers()
            return
        spec = json.loads(frozen)
        if 'own' in spec:
            leg = own.leg_of(spec, raw)
            body = own.answer(spec, leg, raw)
            if leg != spec['cut_leg']:
                spec.pop('cut', None)
        else:
            body = body_of(frozen)
        handler.send_response(200)
        handler.send_header('Content-Type', TYPES[spec['shape']])
        if spec['framing'] == 'length':
            handler.send_header('Content-Length', str(len(body)))
        elif spec['framing'] == 'chunked':
            handler.send_header('Transfer-Encoding', 'chunked')
        else:
            handler.send_header('Connection', 'close')
            handler.close_connection = True
        handler.end_headers()
        self.send(handler, spec, body)

    def send(self, handler, spec, body):
        """In pieces, with pauses where it is to be slow; cut off where it is to break."""
        is_cut = spec.get('cut') is not None
        until = int(len(body) * spec['cut']) if is_cut else len(body)
        step = max(1, spec['piece_bytes'])
        pause = spec['pause_ms'] / 1000
        pauses_left = 20
        for at in range(0, until, step):
            part = body[at:min(at + step, until)]
            if spec['framing'] == 'chunked':
                part = b'%x\r\n%s\r\n' % (len(part), part)
            handler.wfile.write(part)
            if pause and pauses_left:
                pauses_left -= 1
                time.sleep(pause)
        if is_cut:
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                          struct.pack('ii', spec['resets'], 0))
            handler.close_connection = True
        elif spec['framing'] == 'chunked':
            handler.wfile.write(b'0\r\n\r\n')

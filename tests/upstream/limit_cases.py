"""The proxy at its limits: too many connections, clients that stall, connections that died, bodies
in codings, workers that are killed."""
import hashlib
import json
import os
import signal
import socket
import threading
import time
from contextlib import suppress

from codings import brotli, zstd
from harness import PATIENCE_SECONDS, Weir, read_all, read_until, wait_for
from sessions import chat_session, ok, play, serve, write_policies

GET = b'GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n'


def limited(folder, upstream, limits, **more):
    path = write_policies(folder)
    return Weir(folder, '--upstream', f'http://127.0.0.1:{upstream.port}/v1', config=(
        f'listen: 127.0.0.1:0\npolicies: {path}\npolicy: short\nlimits: {limits}\n'), **more)


def ask(sock):
    """Gives all of the answer: what is left over would be taken for the next one."""
    sock.sendall(GET)
    return read_until(sock, b'}')


def connections_have_a_cap(folder, upstream):
    weir = limited(folder, upstream, '{connections: 8}')
    held = []
    for _ in range(8):
        held.append(weir.connect())
        ok('a connection below the cap is served', ask(held[-1])[:12], b'HTTP/1.1 200')
    with weir.connect() as more:
        ok('one more is told so, and closed', read_all(more)[:12], b'HTTP/1.1 503')
    ok('the others go on', ask(held[0])[:12], b'HTTP/1.1 200')
    held.pop().close()

    def is_served():
        with weir.connect() as sock, suppress(ConnectionError):  # refused before it has asked
            return ask(sock)[:12] == b'HTTP/1.1 200'
    ok('where one leaves another may come', bool(wait_for(is_served)))
    for sock in held:
        sock.close()
    weir.stop()


def stalled_clients_are_cut(folder, upstream):
    weir = limited(folder, upstream, '{head_ms: 300, body_idle_ms: 300, keep_ms: 600}')
    head = b'POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n'
    before = upstream.stats()['requests']
    for what, data in (('a head that does not end', GET[:30]), ('a body that does not', head),
                       ('one that stops in the middle', head + b'{"model":'),
                       ('a connection that asks nothing', b''), ('nor a second time', GET)):
        with weir.connect() as sock:
            with suppress(ConnectionError):  # cut before it was sent, where this is slow
                if data == GET:
                    ask(sock)
                else:
                    sock.sendall(data)
            ok(f'{what} is cut', read_all(sock), b'')
    ok('nothing of it reached the upstream', upstream.stats()['requests'], before)
    ok('none is open', wait_for(lambda: weir.metric('weir_exchanges') == 0))
    weir.stop()


def endless_framing_is_refused(folder, upstream):
    """Chunk extensions, trailers and zeros that do not end: they are not read for ever."""
    weir = limited(folder, upstream, '{body_idle_ms: 60000}')
    head = b'POST /v1/files HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n'
    for what, data, more in (('extensions', b'1;', b'x'), ('values of them', b'1;a="', b'x'),
                             ('trailers', b'1\r\na\r\n0\r\n', b'X-Some: y\r\n'),
                             ('blanks in one', b'0\r\nX:', b' '), ('zeros', b'', b'0'),
                             ('chunks of extensions', b'', b'1;' + b'x' * 999 + b'\r\na\r\n')):
        answer = weir.raw([head, data, *[more * (65536 // len(more))] * 30], pause_seconds=0)
        ok(f'{what} without end are refused', answer[:12], b'HTTP/1.1 431')
        ok('and the connection is closed', b'Connection: close' in answer)
    ok('none is open', wait_for(lambda: weir.metric('weir_exchanges') == 0))
    weir.stop()


def slow_clients_are_not(folder, upstream):
    """A body that takes longer than the pause that is allowed within it. The pauses of a machine
    that is busy elsewhere can be as long: then it is tried again."""
    weir = limited(folder, upstream, '{body_idle_ms: 1000}')
    pieces = [b'POST /v1/files HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n'
              b'Content-Length: 60\r\n\r\n'] + [b'x'] * 60
    ok('one that is slow but goes on is served',
       bool(wait_for(lambda: b'"bytes": 60' in weir.raw(pieces))))
    weir.stop()


def unread_answers_are_cut(folder, upstream):
    """A client that takes no byte of its answer: after a while the upstream is let go."""
    listener = socket.create_server(('127.0.0.1', 0))
    gone = threading.Event()

    def flood():
        sock, _ = listener.accept()
        sock.recv(65536)
        try:
            sock.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n')
            while True:
                sock.sendall(b'x' * 65536)
        except OSError:
            gone.set()
    threading.Thread(target=flood, daemon=True).start()
    weir = Weir(folder, '--upstream', f'http://127.0.0.1:{listener.getsockname()[1]}', config=(
        'listen: 127.0.0.1:0\npolicy: tiered\nlimits: {write_idle_ms: 500}\n'))
    with weir.connect() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        sock.sendall(b'GET /big HTTP/1.1\r\nHost: localhost\r\n\r\n')
        ok('an answer that nobody takes ends', gone.wait(PATIENCE_SECONDS))
        ok('and is in the log', weir.log(1)[-1]['end'], 'client_gone')
    weir.stop()


def coded_bodies(folder, upstream):
    weir = serve(folder, upstream)
    session = chat_session(20)
    raw = json.dumps(session).encode()
    play(weir, session, {'x-weir-session': 'coded'})
    plain = upstream.last_body()
    ok('it is changed', plain != raw)
    small = b'{"model":"gpt-5","messages":[{"role":"user","content":"hi"}]}'
    for name, pack in (('zstd', zstd), ('br', brotli)):
        headers = {'x-weir-session': 'coded', 'Content-Encoding': name}
        status, _, _ = weir.post('/v1/chat/completions', pack(raw), headers)
        ok(f'{name}: a changed body leaves unpacked, with the same bytes',
           (status, upstream.last_body() == plain,
            upstream.last_headers().get('content-encoding')), (200, True, None))
        ok(f'{name}: and its own length', upstream.last_headers().get('content-length'),
           str(len(plain)))
        weir.post('/v1/chat/completions', pack(small), {'Content-Encoding': name})
        ok(f'{name}: one that is not changed keeps its bytes and its coding',
           (upstream.last_body(), upstream.last_headers().get('content-encoding')),
           (pack(small), name))
        status, _, _ = weir.post('/v1/chat/completions', pack(raw), {
            **headers, 'x-weir-mode': 'exact'})
        ok(f'{name}: so does one that is to be exact', upstream.last_body() == pack(raw))
        before = weir.lines()
        weir.post('/v1/chat/completions', pack(raw)[:-9], headers)
        ok(f'{name}: one that is cut off goes as it came', upstream.last_body(), pack(raw)[:-9])
        ok('which the log tells', weir.log(before + 1)[-1]['not_read'], 'not_decoded')
    weir.stop()


def dead_connections_are_replaced(folder):
    """An upstream that closes each connection when a second request begins to arrive on it."""
    listener = socket.create_server(('127.0.0.1', 0))
    bodies = []

    def serve_one(sock):
        stream = sock.makefile('rb')
        first = True
        while True:
            head = b''
            while not head.endswith(b'\r\n\r\n'):
                line = stream.readline()
                if not line:
                    return
                head += line
            if not first:
                # With bytes left unread this is a reset: no answer, in the middle of the body.
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b'\1\0\0\0\0\0\0\0')
                stream.close()
                sock.close()
                return
            first = False
            length = int(head.lower().partition(b'content-length: ')[2].partition(b'\r\n')[0] or 0)
            body = stream.read(length)
            if body:  # a question about a loaded window has none
                bodies.append(body)
            sock.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')

    def accept():
        while True:
            threading.Thread(target=serve_one, args=listener.accept()[:1], daemon=True).start()
    threading.Thread(target=accept, daemon=True).start()
    weir = Weir(folder, '--upstream', f'http://127.0.0.1:{listener.getsockname()[1]}', '--policy',
                'tiered')
    big = json.dumps(chat_session(200)).encode()
    for what, path, body in (('a small one', '/v1/files', b'x' * 500),
                             ('one that is streamed', '/v1/files', os.urandom(900000)),
                             ('a longer one', '/v1/files', os.urandom(6000000)),
                             ('one that is read', '/v1/chat/completions', big)):
        for _ in range(2):  # the first leaves a connection behind
            status, answer, _ = weir.post(path, body, {'x-weir-mode': 'exact'})
            ok(f'{what} is answered though the connection died', (status, answer), (200, b'ok'))
            ok('whole', bodies[-1] == body)
    weir.stop()


def slow_upstreams_take_long_bodies(folder):
    """An upstream that takes a body more slowly than it comes, and more of it than Weir may keep.
    It begins late, when odd pieces have filled what may wait for it: from then on there is never a
    moment when nothing waits."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
    listener.bind(('127.0.0.1', 0))
    listener.listen()
    body = os.urandom(1 << 20) * 36
    taken = hashlib.sha256()

    def take():
        sock, _ = listener.accept()
        first = read_until(sock, b'\r\n\r\n').partition(b'\r\n\r\n')[2]
        taken.update(first)
        count = len(first)
        time.sleep(1)
        while count < len(body) and (piece := sock.recv(65536)):
            taken.update(piece)
            count += len(piece)
        sock.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    threading.Thread(target=take, daemon=True).start()
    weir = Weir(folder, '--upstream', f'http://127.0.0.1:{listener.getsockname()[1]}')
    head = b'POST /v1/files HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n' \
           b'Content-Length: %d\r\n\r\n' % len(body)
    odd = [body[at:at + 10007] for at in range(0, 30 * 10007, 10007)]
    answer = weir.raw([head, *odd, body[30 * 10007:]], pause_seconds=0.005)
    ok('a long body waits for its upstream', (answer[:12], answer[-2:]), (b'HTTP/1.1 200', b'ok'))
    ok('and comes whole', taken.digest() == hashlib.sha256(body).digest())
    weir.stop()


def has_ended(sock):
    """Its process is gone: the system has closed what it held."""
    sock.setblocking(False)
    try:
        while sock.recv(65536):
            pass
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True


def open_requests_of_the_dead_are_not_counted(folder, upstream):
    write_policies(folder)
    weir = Weir(folder, config=f'''listen: 127.0.0.1:0
workers: 2
policy: tiered
upstreams:
  openai: {{base_url: "http://127.0.0.1:{upstream.port}/v1"}}
''')
    body = json.dumps({'model': 'gpt-5', 'stream': True, 'messages': [
        {'role': 'user', 'content': 'hi'}]}).encode()
    head = b'POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nx-test-event-ms: 999000\r\n' \
           b'Content-Length: %d\r\n\r\n' % len(body)
    sockets = []
    for _ in range(12):
        sock = weir.connect()
        sock.sendall(head + body)
        ok('it is open', read_until(sock, b'data: ')[:12], b'HTTP/1.1 200')
        sockets.append(sock)
    ok('all are counted', weir.metric('weir_exchanges'), 12.0)
    before = weir.workers()
    os.kill(before[0], signal.SIGKILL)
    wait_for(lambda: len(weir.workers()) == 2 and before[0] not in weir.workers())
    dead = 0
    for sock in sockets:
        dead += has_ended(sock)
    ok('those of the dead worker are not', weir.metric('weir_exchanges'), 12.0 - dead)
    for sock in sockets:
        sock.close()
    ok('and in the end there is none', wait_for(lambda: weir.metric('weir_exchanges') == 0.0))
    weir.stop()


def killed_under_load(folder, upstream):
    """kill -9 of everything in the middle of work, twice: what was answered was whole, the store
    opens, and each session goes on with the bytes that it had."""
    weir = limited(folder, upstream, '{project_ms: 60000, new_ms: 60000}')
    store = weir.store
    sessions = {f'k{n}': chat_session(14, f'Session {n}.') for n in range(5)}
    done = {name: 0 for name in sessions}  # how many turns were answered
    sent = {}  # the body that the upstream had for the newest of them
    broken = []

    def run(name, session, proxy):
        while 2 + 2 * done[name] <= len(session['messages']):
            turns = done[name]
            key = f'{name}-{turns}'
            body = {**session, 'messages': session['messages'][:2 + 2 * turns]}
            try:
                status, answer, _ = proxy.post('/v1/chat/completions', body, {
                    'x-weir-session': name, 'x-test-key': key})
            except Exception:  # killed
                return
            if status != 200 or not answer.endswith(b'}'):
                broken.append((status, answer[-80:]))
                return
            done[name], sent[name] = turns + 1, key

    for _ in range(2):
        threads = [threading.Thread(target=run, args=(name, session, weir))
                   for name, session in sessions.items()]
        before = sum(done.values())
        for thread in threads:
            thread.start()
        wait_for(lambda start=before: sum(done.values()) >= start + 12)
        for pid in weir.workers() + [weir.process.pid]:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for thread in threads:
            thread.join()
        weir.stop()
        weir = limited(folder, upstream, '{project_ms: 60000, new_ms: 60000}', store=store)
    ok('every answer was whole', broken, [])
    ok('there was work', sum(done.values()) >= 24)
    changed = 0
    for name, session in sessions.items():
        if not done[name]:
            continue
        body = {**session, 'messages': session['messages'][:2 * done[name]]}
        weir.post('/v1/chat/completions', body, {'x-weir-session': name})
        ok('a session has the bytes that it had', upstream.last_body() == upstream.kept(sent[name]))
        changed += upstream.last_body() != json.dumps(body).encode()
    ok('which were changed ones', changed > 0)
    verify = os.popen(f'{os.environ.get("WEIR", "build/weir")} store verify --store {store}')
    verify.read()
    ok('the store is well', verify.close(), None)
    weir.stop()

"""Answers on their way to the client: large ones to fast, slow and bursty readers while the machine
is busy, odd ones, and ones that break off."""
import os
import random
import signal
import socket
import sys
import threading
import time
import zlib
from contextlib import suppress

from harness import PATIENCE_SECONDS, Checks, Folder, Weir, wait_for
from raw import Raw, read_head

CHECK = Checks()
ok = CHECK.ok
LARGE_BYTES = 16 << 20
LARGE_COUNT = 500 if os.environ.get('WEIR_LONG') else 60
READERS = 4  # at a time


# ---- large answers ----

def send_large(sock, head):
    """All of the answer, with a length or in chunks of odd sizes, as the path says."""
    if b' /counted' in head:
        sock.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n' % LARGE_BYTES)
        sock.sendall(LARGE)
        return
    sock.sendall(b'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n'
                 b'Transfer-Encoding: chunked\r\n\r\n')
    at, odd = 0, random.Random(7)
    while at < LARGE_BYTES:
        piece = memoryview(LARGE)[at:at + odd.randrange(1, 200000)]
        sock.sendall(b'%x\r\n' % len(piece) + piece + b'\r\n')
        at += len(piece)
    sock.sendall(b'0\r\n\r\n')


def make_large():
    """Bytes in which no place looks like another, as lines of a stream of events."""
    words = random.Random(5).randbytes(1 << 16).hex()
    lines = (f'data: {i} {words[i % 60000:i % 60000 + 900]}\n\n' for i in range(LARGE_BYTES // 900))
    return ''.join(lines).encode()[:LARGE_BYTES]


LARGE = make_large()


def take(sock, read, rest=b''):
    """Counts and sums what comes until the end of a body; `read` is how this client reads."""
    got, summed = len(rest), zlib.crc32(rest)
    while got < LARGE_BYTES and (piece := read(sock)):
        got += len(piece)
        summed = zlib.crc32(piece, summed)
    return got, summed


def read_fast(sock):
    return sock.recv(1 << 17)


def read_slowly(sock):
    time.sleep(0.001)
    return sock.recv(48 * 1024)


class Bursts:
    """Nothing for a while, then all that there is, and again: queues run empty and full."""

    def __init__(self, number):
        self.random = random.Random(number)
        self.left = 0

    def __call__(self, sock):
        if self.left <= 0:
            time.sleep(self.random.choice((0.001, 0.005, 0.02)))
            self.left = self.random.randrange(1, 900000)
        piece = sock.recv(min(self.left, 1 << 17))
        self.left -= len(piece)
        return piece


class Halts:
    """Halts a process for moments, as a machine does that is busy elsewhere: what happens to its
    sockets meanwhile, it then sees all at once."""

    def __init__(self, pid):
        self.pid, self.is_over = pid, threading.Event()
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        odd = random.Random(3)
        while not self.is_over.wait(odd.choice((0.0005, 0.001, 0.005))):
            os.kill(self.pid, signal.SIGSTOP)
            time.sleep(odd.choice((0.0005, 0.001, 0.005)))
            os.kill(self.pid, signal.SIGCONT)

    def stop(self):
        self.is_over.set()
        self.thread.join()


class Chunks:
    """The body of a chunked answer, out of what `read` gives."""

    def __init__(self, read, rest):
        self.read, self.rest, self.left = read, rest, 0

    def __call__(self, sock):
        while True:
            if self.left and self.rest:
                piece, self.rest = self.rest[:self.left], self.rest[self.left:]
                self.left -= len(piece)
                return piece
            line, end, after = self.rest.lstrip(b'\r\n').partition(b'\r\n')
            if end:
                self.left, self.rest = int(line, 16), after
                if not self.left:
                    return b''
            else:
                more = self.read(sock)
                if not more:
                    return b''
                self.rest += more


def fetch_large(weir, number):
    """One answer by one of the ways to read; what went wrong with it, or None."""
    path = ('/chunked', '/counted', '/chunked', '/chunked', '/v1/chat/completions')[number % 5]
    read = (read_fast, read_fast, read_fast, Bursts(number), read_fast, read_slowly)[number % 6]
    room_bytes = (1 << 20, 65536, 0)[number % 7 % 3]  # of the client's system; 0: what it likes
    body = b'{"model":"gpt-5","stream":true,"messages":[{"role":"user","content":"hi"}]}'
    request = b'POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n' % (
        path.encode(), len(body)) + body
    with weir.connect() as sock:
        if room_bytes:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room_bytes)
        sock.sendall(request)
        data = b''
        try:
            while b'\r\n\r\n' not in data:
                data += sock.recv(65536)
            head, _, rest = data.partition(b'\r\n\r\n')
            if b'chunked' in head:
                got = take(sock, Chunks(read, rest))
            else:
                got = take(sock, read, rest)
        except TimeoutError:
            return f'answer {number} ({path}) stands still'
    return None if got == (LARGE_BYTES, LARGE_SUM) else f'answer {number} ({path}): {got[0]} bytes'


LARGE_SUM = zlib.crc32(LARGE)


def large_answers_all_end(folder):
    """None stands still: a read waits PATIENCE_SECONDS for a byte, which none needs that moves."""
    upstream = Raw(send_large)
    weir = Weir(folder, '--upstream', f'http://127.0.0.1:{upstream.port}', '--policy', 'tiered')
    numbers, lock, wrong = iter(range(LARGE_COUNT)), threading.Lock(), []

    def work():
        while True:
            with lock:
                number = next(numbers, None)
            if number is None or len(wrong) > 3:
                return
            if problem := fetch_large(weir, number):
                wrong.append(problem)
    halts = Halts(weir.worker())
    began = time.monotonic()
    threads = [threading.Thread(target=work) for _ in range(READERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    halts.stop()
    print(f'note: {LARGE_COUNT} answers of 16 MB took {time.monotonic() - began:.1f} s')
    ok('every large answer comes whole', wrong, [])
    ok('and none is open', weir.metric('weir_exchanges'), 0.0)
    ok('it ends when told', weir.stop(), 0)
    upstream.stop()


# ---- odd answers ----

OK = b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
ODD = {
    b'/fine': OK,
    b'/switched': b'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n'
                  b'Connection: Upgrade\r\n\r\n' + b'frames of another protocol',
    b'/hinted': b'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n' + OK,
    b'/empty': b'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n',
    b'/unchanged': b'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\nETag: "a"\r\n\r\n',
    b'/said-twice': b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok',
    b'/said-otherwise': b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok!',
    b'/both': b'HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n'
              b'2\r\nok\r\n0\r\n\r\n',
    b'/too-long': OK + b' and more',
    b'/head': b'HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n',
    b'/head-open': b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
    b'/no-head': b'this is no answer at all\r\n\r\n',
    b'/huge-head': b'HTTP/1.1 200 OK\r\nX: ' + b'x' * 70000 + b'\r\nContent-Length: 0\r\n\r\n',
}
# What breaks off: the connection ends behind it.
BROKEN = {
    b'/short': b'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nshort',
    b'/unended': b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n',
    b'/mid-chunk': b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n99\r\nshort',
}


def send_odd(sock, head):
    path = head.split(b' ')[1]
    sock.sendall({**ODD, **BROKEN}[path])
    return path not in BROKEN


def read_answer(stream, has_body=True):
    """Status, headers, body of one answer; the body None where it breaks off; status 0 for what is
    no answer, or does not come."""
    try:
        return parse_answer(stream, has_body)
    except (OSError, ValueError):
        return 0, {}, None


def parse_answer(stream, has_body):
    head = read_head(stream).decode('latin-1').split('\r\n')
    status = int(head[0].split(' ')[1]) if head[0].startswith('HTTP/1.1 ') else 0
    headers = {name.lower(): value
               for name, _, value in (line.partition(': ') for line in head[1:])}
    if not has_body:
        return status, headers, b''
    if 'content-length' in headers:
        length = int(headers['content-length'])
        body = stream.read(length)
        return status, headers, body if len(body) == length else None
    if 'transfer-encoding' not in headers:
        return status, headers, b''
    body = b''
    while line := stream.readline():
        length = int(line, 16)
        piece = stream.read(length)
        body += piece
        if stream.readline() != b'\r\n' or len(piece) < length:
            return status, headers, None
        if not length:
            return status, headers, body
    return status, headers, None


def odd_answers_are_well_formed(folder):
    """Each, and behind it another request on the same connection."""
    upstream = Raw(send_odd)
    weir = Weir(folder, '--upstream', f'http://127.0.0.1:{upstream.port}', '--policy', 'tiered')
    for path, method, status, length, body in (
            ('/switched', 'GET', 502, None, None), ('/hinted', 'GET', 200, '2', b'ok'),
            ('/empty', 'GET', 204, None, b''), ('/unchanged', 'GET', 304, '5', b''),
            ('/said-twice', 'GET', 200, '2', b'ok'), ('/said-otherwise', 'GET', 502, None, None),
            ('/both', 'GET', 200, None, b'ok'), ('/too-long', 'GET', 200, '2', b'ok'),
            ('/head', 'HEAD', 200, '1234', b''), ('/head-open', 'HEAD', 200, None, b''),
            ('/empty', 'HEAD', 204, None, b''),
            ('/no-head', 'GET', 502, None, None), ('/huge-head', 'GET', 502, None, None)):
        with weir.connect() as sock, sock.makefile('rb') as stream:
            for at, then in ((path, method), ('/fine', 'GET')):
                sock.sendall(f'{then} {at} HTTP/1.1\r\nHost: localhost\r\n\r\n'.encode())
            got, headers, data = read_answer(
                stream, method != 'HEAD' and status not in (204, 304))
            if status == 502:
                ok(f'{method} {path} is a 502 that says why',
                   (got, b'"message":"weir: ' in (data or b'')), (502, True))
            else:
                ok(f'{method} {path} is well formed',
                   (got, headers.get('content-length'), data), (status, length, body))
            ok(f'what follows {method} {path} is too', read_answer(stream)[::2], (200, b'ok'))
    ok('the log knows what an unfit answer is', [line['end'] for line in weir.log(2)[:2]],
       ['upstream_unfit', 'done'])
    ok('it ends when told', weir.stop(), 0)
    upstream.stop()


def broken_answers_are_seen_to_be(folder):
    upstream = Raw(send_odd)
    weir = Weir(folder, '--upstream', f'http://127.0.0.1:{upstream.port}', '--policy', 'tiered')
    for path in BROKEN:
        with weir.connect() as sock, sock.makefile('rb') as stream:
            sock.sendall(b'GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n' % path)
            ok(f'{path.decode()} has no end', read_answer(stream)[::2], (200, None))
        is_reset, data = False, b''
        with weir.connect() as sock:
            sock.sendall(b'GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n' % path)
            try:
                while piece := sock.recv(65536):
                    data += piece
            except ConnectionResetError:
                is_reset = True
        ok(f'{path.decode()} is not whole for a client of HTTP/1.0',
           is_reset or b'Content-Length: 99' in data)
        ok('others go on', weir.get('/fine')[:2], (200, b'ok'))
    ok('it ends when told', weir.stop(), 0)
    upstream.stop()


# ---- clients that do not read ----

def leaving_while_paused_lets_the_upstream_go(folder):
    gone = threading.Event()

    def flood(sock, _):
        try:
            sock.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n')
            while True:
                sock.sendall(b'x' * 65536)
                sent.append(65536)
        except OSError:
            gone.set()
        return False
    sent = []
    upstream = Raw(flood)
    weir = Weir(folder, '--upstream', f'http://127.0.0.1:{upstream.port}', '--policy', 'tiered')

    def stands():
        before = len(sent)
        time.sleep(0.5)
        return before and len(sent) == before
    with weir.connect() as sock:
        sock.sendall(b'GET /flood HTTP/1.1\r\nHost: localhost\r\n\r\n')
        wait_for(stands)
    ok('a client that leaves while its upstream waits frees it', gone.wait(PATIENCE_SECONDS))
    ok('and nothing is open', wait_for(lambda: weir.metric('weir_exchanges') == 0.0))
    ok('it ends when told', weir.stop(), 0)
    upstream.stop()


def answers_to_requests_sent_ahead(folder):
    """The bytes of one answer still wait when the next begins. The client reads late, in pieces."""
    upstream = Raw(lambda sock, _: sock.sendall(
        b'HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n' % len(part) + part))
    part = LARGE[:3 << 20]
    weir = Weir(folder, '--upstream', f'http://127.0.0.1:{upstream.port}', '--policy', 'tiered')
    request = b'GET /part HTTP/1.1\r\nHost: localhost\r\n\r\n'
    with weir.connect() as sock, sock.makefile('rb', 4096) as stream:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        sock.sendall(request * 8)
        time.sleep(0.3)  # for queues to fill; nothing depends on it
        for _ in range(8):
            ok('each comes whole', read_answer(stream)[2] == part)
    ok('it ends when told', weir.stop(), 0)
    upstream.stop()


# ---- no more descriptors ----

def each_is_answered_where_files_run_out(folder):
    """More clients at once than there are descriptors, each of which makes the proxy open another:
    all have an answer, and those that are refused hear when to come again."""
    is_open = threading.Event()

    def wait_and_answer(sock, head):
        if b' /held' in head:
            is_open.wait(PATIENCE_SECONDS)
        sock.sendall(OK)
    upstream = Raw(wait_and_answer)
    weir = Weir(folder, '--upstream', f'http://127.0.0.1:{upstream.port}', '--policy', 'tiered',
                files_max=64)
    clients = [weir.connect() for _ in range(80)]
    answers = []

    def ask(sock):
        with sock, sock.makefile('rb') as stream:
            with suppress(ConnectionError):  # it may have been turned away already
                sock.sendall(b'GET /held HTTP/1.1\r\nHost: localhost\r\n\r\n')
            answers.append(read_answer(stream))
        if len(answers) > 50:  # those that are served wait for these to be turned away
            is_open.set()
    threads = [threading.Thread(target=ask, args=(sock,)) for sock in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ok('each is answered', {status for status, _, _ in answers} <= {200, 503}, True)
    ok('whole', [body for _, _, body in answers if not body], [])
    ok('some are served', sum(status == 200 for status, _, _ in answers) > 0)
    ok('the others hear when to come again',
       {headers.get('retry-after') for status, headers, _ in answers if status == 503}, {'1'})
    ok('then there is room again', bool(wait_for(lambda: weir.get('/fine')[0] == 200)))
    ok('and the worker is the same', weir.metric('weir_worker_restarts_total'), 0.0)
    ok('it ends when told', weir.stop(), 0)
    upstream.stop()


def main():
    with Folder() as folder:
        for case in (odd_answers_are_well_formed, broken_answers_are_seen_to_be,
                     leaving_while_paused_lets_the_upstream_go, answers_to_requests_sent_ahead,
                     each_is_answered_where_files_run_out,
                     large_answers_all_end):
            if len(sys.argv) < 2 or case.__name__ in sys.argv[1:]:
                case(folder)
    return CHECK.end()


sys.exit(main())

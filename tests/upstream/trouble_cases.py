"""The proxy in trouble: upstreams that fail, clients that stall, workers that die, wrong calls."""
import http.server
import json
import os
import resource
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import time

from harness import PATIENCE_SECONDS, Weir, deaf_port, free_port, wait_for
from sessions import ANTHROPIC, chat_session, ok, play, serve


def slow_readers_hold_the_upstream(folder):
    """A client that does not read: the proxy takes no more from the upstream than its cap."""
    class Endless(http.server.BaseHTTPRequestHandler):
        protocol_version = 'HTTP/1.1'
        sent = 0

        def log_message(self, *args):
            pass

        def do_POST(self):
            self.rfile.read(int(self.headers['Content-Length']))
            self.send_response(204)
            self.end_headers()

        def do_GET(self):
            self.send_response(200)
            self.send_header('Content-Length', str(200 * 1024 * 1024))
            self.end_headers()
            piece = b'x' * 65536
            try:
                for _ in range(200 * 16):
                    self.wfile.write(piece)
                    Endless.sent += len(piece)
            except OSError:
                pass

    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Endless)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    weir = Weir(folder, '--upstream', f'http://127.0.0.1:{server.server_address[1]}', '--policy',
                'tiered')
    weir.post('/v1/chat/completions', {'model': 'gpt-5', 'messages': []})
    wait_for(lambda: is_idle(weir.worker()))  # its tables are read in the background
    before = rss_kb(weir.worker())
    # A sanitizer keeps what is freed for a while.
    limit = 32 * 1024 if 'asan' not in os.environ.get('WEIR', '') else 600 * 1024
    with socket.create_connection(('127.0.0.1', weir.port)) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        sock.sendall(b'GET /big HTTP/1.1\r\nHost: localhost\r\n\r\n')
        wait_for(lambda: Endless.sent and not grows(lambda: Endless.sent))
        ok('the upstream is not read on', Endless.sent < 30 * 1024 * 1024)
        grown = rss_kb(weir.worker()) - before
        ok('and memory does not grow', grown if grown > limit else 0, 0)
        got = 0
        while got < 200 * 1024 * 1024:
            piece = sock.recv(1 << 20)
            if not piece:
                break
            got += len(piece)
        ok('read on, it all comes', got >= 200 * 1024 * 1024)
    grown = rss_kb(weir.worker()) - before
    ok('with no more memory than before', grown if grown > limit else 0, 0)
    weir.stop()
    server.shutdown()


def rss_kb(pid):
    with open(f'/proc/{pid}/status', encoding='ascii') as file:
        return next(int(line.split()[1]) for line in file if line.startswith('VmRSS'))


def grows(number):
    before = number()
    time.sleep(0.5)
    return number() > before


def is_idle(pid):
    """No thread of it runs or would like to."""
    def ticks():
        total = 0
        for task in os.listdir(f'/proc/{pid}/task'):
            with open(f'/proc/{pid}/task/{task}/stat', encoding='ascii') as file:
                fields = file.read().rpartition(')')[2].split()
            total += int(fields[11]) + int(fields[12]) + (fields[0] == 'R')
        return total
    return not grows(ticks)


def crashing_body_is_left_alone(folder, upstream):
    """A worker killed while it projects, twice with one body, passes that body on unread.

    It must be killed at the right moment, which is a matter of luck: make test-long tries it.
    """
    if not os.environ.get('WEIR_LONG'):
        return
    weir = serve(folder, upstream)
    big = json.dumps(chat_session(1200, 'Kill me.')).encode()

    def send():
        try:
            weir.post('/v1/chat/completions', big, {'x-weir-session': 'crash'})
        except Exception:  # the connection dies with the worker
            pass
    # How long reading and projecting take is not known; somewhere in between is in time.
    for delay in (0.1, 0.05, 0.2, 0.03, 0.4, 0.07, 0.8, 0.15):
        worker = weir.worker()
        thread = threading.Thread(target=send)
        thread.start()
        time.sleep(delay)
        os.kill(worker, signal.SIGKILL)
        thread.join()
        wait_for(lambda old=worker: weir.worker() not in (0, old))
        if weir.stderr().count('1 request in its hands') >= 2:
            break
    suspected = weir.stderr().count('1 request in its hands')
    if suspected < 2:
        print('note: the worker was not killed in time; a body under suspicion was not tried')
    else:
        status, _, _ = weir.post('/v1/chat/completions', big, {'x-weir-session': 'crash'})
        ok('a body of two crashes goes as it came', (status, upstream.last_body() == big),
           (200, True))
        ok('and that is in the log', weir.log(1)[-1]['not_read'], 'suspected_of_crashes')
    weir.stop()


def upstream_is_not_there(folder):
    with deaf_port() as deaf:
        weir = Weir(folder, '--upstream', f'http://127.0.0.1:{deaf.getsockname()[1]}/v1',
                    '--policy', 'tiered')
        status, body, _ = weir.post('/v1/messages', {'model': 'm', 'messages': []}, ANTHROPIC)
        ok('an upstream that is not there is a 502', (status, json.loads(body)['type']),
           (502, 'error'))
        status, body, _ = weir.post('/v1/chat/completions', {'model': 'm', 'messages': []})
        ok('in the words of the API', 'message' in json.loads(body)['error'])
        weir.stop()


def tls_is_verified(folder):
    """An upstream with a certificate of its own making, asked directly and through a proxy."""
    if not shutil.which('openssl'):
        print('note: openssl is not installed; TLS was not tried')
        return
    certificate, key = os.path.join(folder, 'cert.pem'), os.path.join(folder, 'key.pem')
    made = subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2',
                           '-keyout', key, '-out', certificate, '-subj', '/CN=localhost',
                           '-addext', 'subjectAltName=DNS:localhost,DNS:far.example'],
                          capture_output=True, check=False)
    if made.returncode:
        print('note: openssl makes no certificate here; TLS was not tried')
        return

    class Hello(http.server.BaseHTTPRequestHandler):
        protocol_version = 'HTTP/1.1'

        def log_message(self, *args):
            pass

        def do_GET(self):
            self.send_response(200)
            self.send_header('Content-Length', '5')
            self.end_headers()
            self.wfile.write(b'hello')

    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Hello)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f'https://localhost:{server.server_address[1]}'
    proxied = []
    proxy_port = connect_proxy(proxied)
    trusted = {'SSL_CERT_FILE': certificate}
    proxy = {'NO_PROXY': '', 'no_proxy': '', 'HTTPS_PROXY': f'http://127.0.0.1:{proxy_port}'}
    far = url.replace('localhost', 'far.example')  # who is asked by the proxy, and by it alone
    for sentence, asked, env, wanted_status in (
            ('a certificate nobody vouches for is refused', url, {}, 502),
            ('one that SSL_CERT_FILE vouches for is not', url, trusted, 200),
            ('who is near is not asked by HTTPS_PROXY', url, {**trusted, **proxy}, 200),
            ('HTTPS_PROXY is asked', far, {**trusted, **proxy}, 200)):
        weir = Weir(folder, '--upstream', asked, '--policy', 'tiered', env=env)
        ok(sentence, weir.get('/x')[0], wanted_status)
        weir.stop()
    ok('for that host', proxied, [f'far.example:{server.server_address[1]}'])
    server.shutdown()


def near_upstreams_are_asked_directly(folder, upstream):
    """A proxy of the environment sees nothing of what a model near by is asked."""
    seen = []

    class Proxy(http.server.BaseHTTPRequestHandler):
        protocol_version = 'HTTP/1.1'

        def log_message(self, *args):
            pass

        def do_POST(self):
            seen.append(self.path)
            self.rfile.read(int(self.headers['Content-Length']))
            self.send_response(200)
            self.send_header('Content-Length', '2')
            self.end_headers()
            self.wfile.write(b'{}')

    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Proxy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    proxy = f'http://127.0.0.1:{server.server_address[1]}'
    env = {'no_proxy': '', 'NO_PROXY': '', 'http_proxy': proxy, 'ALL_PROXY': proxy,
           'all_proxy': proxy}
    base = f'http://127.0.0.1:{upstream.port}/v1'
    weir = Weir(folder, env=env, config=f'''listen: 127.0.0.1:0
upstreams:
  near: {{base_url: "{base}"}}
  named: {{base_url: "{base.replace('127.0.0.1', 'localhost')}"}}
  told: {{base_url: "{base}", proxy: "{proxy}"}}
  far: {{base_url: "http://far.example/v1"}}
''')
    body = {'model': 'gpt-5', 'messages': [{'role': 'user', 'content': 'Hello.'}]}
    before = upstream.stats()['requests']
    for name in ('near', 'named'):
        ok(f'{name} is asked', weir.post(f'/p/{name}/chat/completions', body)[0], 200)
    ok('itself, and not by a proxy', (upstream.stats()['requests'] - before, seen), (2, []))
    weir.post('/p/told/chat/completions', body)
    ok('but where it is told to', seen, [f'{base}/chat/completions'])
    weir.post('/p/far/chat/completions', body)
    ok('who is far is asked by it', seen[1:], ['http://far.example/v1/chat/completions'])
    weir.stop()
    weir = Weir(folder, '--upstream', base, env=env)
    ok('the one upstream behind all is asked directly too',
       (weir.post('/v1/chat/completions', body)[0], len(seen)), (200, 2))
    weir.stop()
    server.shutdown()


def connect_proxy(asked):
    """A proxy that knows CONNECT; gives its port."""
    listener = socket.create_server(('127.0.0.1', 0))

    def pump(source, target):
        try:
            while True:
                data = source.recv(65536)
                if not data:
                    break
                target.sendall(data)
        except OSError:
            pass

    def serve_one():
        while True:
            client, _ = listener.accept()
            head = b''
            while b'\r\n\r\n' not in head:
                head += client.recv(65536)
            host = head.split(b' ')[1].decode()
            asked.append(host)
            target = socket.create_connection(('127.0.0.1', int(host.rpartition(':')[2])))
            client.sendall(b'HTTP/1.1 200 OK\r\n\r\n')
            for pair in ((client, target), (target, client)):
                threading.Thread(target=pump, args=pair, daemon=True).start()
    threading.Thread(target=serve_one, daemon=True).start()
    return listener.getsockname()[1]


def workers_share_a_socket(folder, upstream):
    text = f'''listen: 127.0.0.1:0
workers: 2
policy: tiered
upstreams:
  openai: {{base_url: "http://127.0.0.1:{upstream.port}/v1"}}
'''
    weir = Weir(folder, config=text)
    for _ in range(40):
        weir.get('/v1/models')
    wait_for(lambda: weir.metric('weir_exchanges') == 0)
    counts = {weir.metric('weir_requests_total{api="other",status="2xx"}') for _ in range(6)}
    ok('all workers count together', counts, {40.0})
    ok('and end together', weir.stop(), 0)


def worker_dies(folder, upstream):
    weir = serve(folder, upstream)
    session = chat_session(20)
    raw = json.dumps(session).encode()
    play(weir, session, {'x-weir-session': 'k'})
    before = upstream.last_body()
    worker = weir.worker()
    answered, wrong, stop = [], [], threading.Event()

    def load():
        while not stop.is_set():
            try:
                status, body, _ = weir.post('/v1/chat/completions', raw, {'x-weir-session': 'k'})
                answered.append(status)
                if status == 200 and not body.endswith(b'}'):
                    wrong.append(body)
            except OSError:
                pass
            except Exception as error:  # a connection that was cut is no answer
                if 'IncompleteRead' not in repr(error) and 'Disconnected' not in repr(error) and (
                        'BadStatusLine' not in repr(error)):
                    wrong.append(error)
    threads = [threading.Thread(target=load) for _ in range(4)]
    for thread in threads:
        thread.start()
    wait_for(lambda: len(answered) > 3)
    os.kill(worker, signal.SIGKILL)
    died = time.monotonic()
    health = wait_for(lambda: weir.worker() not in (0, worker) and
                      weir.get('/weir/v1/health')[0] == 200)
    took = time.monotonic() - died
    before_it = len(answered)
    wait_for(lambda: len(answered) > before_it + 4)
    stop.set()
    for thread in threads:
        thread.join()
    ok('a dead worker is replaced', bool(health))
    print(f'note: a dead worker was replaced after {took:.2f} s')
    ok('every answer was whole', wrong, [])
    ok('and there were some, of both', before_it > 3 and len(answered) > before_it + 4)
    weir.post('/v1/chat/completions', raw, {'x-weir-session': 'k'})
    ok('the session goes on with the same bytes', upstream.last_body() == before)
    ok('the restart is counted', weir.metric('weir_worker_restarts_total'), 1.0)
    ok('it ends when told', weir.stop(), 0)


def worker_that_cannot_begin_is_tried_again(folder, upstream):
    """One that takes a dead one's place may find no descriptors; that is no reason to end."""
    weir = serve(folder, upstream)
    old, limit = weir.worker(), resource.RLIMIT_NOFILE
    allowed = resource.prlimit(weir.process.pid, limit)
    resource.prlimit(weir.process.pid, limit, (3, allowed[1]))
    os.kill(old, signal.SIGKILL)
    wait_for(lambda: 'ended with status' in weir.stderr() or weir.process.poll() is not None)
    ok('a worker that cannot begin ends nobody else', weir.process.poll(), None)
    if weir.process.poll() is None:
        resource.prlimit(weir.process.pid, limit, allowed)
        wait_for(lambda: weir.get('/weir/v1/health')[0] == 200)
        ok('once it can, it serves', weir.post('/v1/chat/completions', chat_session(1))[0], 200)
    weir.stop()


def is_running(pid):
    try:
        with open(f'/proc/{pid}/stat', encoding='ascii') as file:
            return file.read().rpartition(')')[2].split()[0] != 'Z'
    except OSError:
        return False


def killed_supervisor_leaves_its_port(folder, upstream):
    """Whoever starts the next server at once has the port; what was open is finished."""
    base, port = f'http://127.0.0.1:{upstream.port}/v1', free_port()
    arguments = ('--upstream', base, '--listen', f'127.0.0.1:{port}')
    weir, answers, next_ones = Weir(folder, *arguments), [], []
    thread = threading.Thread(target=lambda: answers.append(weir.post(
        '/v1/chat/completions', {'model': 'gpt-5', 'stream': True, 'messages': [
            {'role': 'user', 'content': 'hi'}]}, {'x-test-event-ms': '150'})))
    before = upstream.stats()['requests']
    thread.start()
    wait_for(lambda: upstream.stats()['requests'] > before)
    worker = weir.worker()
    os.kill(worker, signal.SIGSTOP)  # so that it cannot let go of the port before it is asked for
    weir.process.kill()
    weir.process.wait()
    starting = threading.Thread(target=lambda: next_ones.append(Weir(folder, *arguments)))
    starting.start()
    time.sleep(0.3)
    os.kill(worker, signal.SIGCONT)
    starting.join()
    thread.join()
    ok('the next server has the port', [n.get('/weir/v1/health')[0] for n in next_ones], [200])
    ok('what was open is finished', b'[DONE]' in answers[0][1])
    ok('and the old worker ends', bool(wait_for(lambda: not is_running(worker))))
    for server in next_ones:
        server.stop()
    weir.stop()


def clients_leave_before_their_turn(folder, upstream):
    """What is left of a client that has gone is only what its request still needs."""
    weir = serve(folder, upstream)
    long = json.dumps(chat_session(400)).encode()
    body = json.dumps(chat_session(1)).encode()
    head = ('POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nX-Weir-Session: q\r\n'
            'X-Weir-Mode: exact\r\nX-Weir-Policy: short\r\nContent-Length: ')
    first = threading.Thread(target=weir.post, args=('/v1/chat/completions', long,
                                                     {'x-weir-session': 'q'}))
    first.start()
    for _ in range(20):  # they wait in the line of their session
        with weir.connect() as sock:
            sock.sendall(f'{head}{len(body)}\r\n\r\n'.encode() + body)
    first.join()
    gone = wait_for(lambda: weir.metric('weir_clients_gone_total') or 0)
    ok('clients leave', gone > 0)
    status, _, _ = weir.post('/v1/chat/completions', body, {'x-weir-session': 'q'})
    ok('the next one is answered', (status, weir.metric('weir_worker_restarts_total')), (200, 0))
    weir.stop()


def drains(folder, upstream):
    weir = Weir(folder, '--upstream', f'http://127.0.0.1:{upstream.port}/v1', '--policy', 'tiered')
    answers = []
    thread = threading.Thread(target=lambda: answers.append(weir.post(
        '/v1/chat/completions', {'model': 'gpt-5', 'stream': True, 'messages': [
            {'role': 'user', 'content': 'hi'}]}, {'x-test-event-ms': '150'})))
    before = upstream.stats()['requests']
    thread.start()
    wait_for(lambda: upstream.stats()['requests'] > before)
    weir.process.send_signal(signal.SIGTERM)
    thread.join()
    ok('told to stop, it finishes what is open', b'[DONE]' in answers[0][1])
    ok('and ends', weir.stop(), 0)


def wrong_calls(folder):
    weir = os.environ.get('WEIR', 'build/weir')
    bad = os.path.join(folder, 'bad.yaml')
    with open(bad, 'w', encoding='ascii') as file:
        file.write('listen: 127.0.0.1:0\nmode: wild\n')
    far = os.path.join(folder, 'far.yaml')
    with open(far, 'w', encoding='ascii') as file:
        file.write('mode: active\nlisten: 127.0.0.1:99999\n')
    taken = socket.create_server(('127.0.0.1', 0))
    for sentence, arguments, words in (
            ('a port that another has', ['--listen', f'127.0.0.1:{taken.getsockname()[1]}'],
             'Address already in use; `--listen 127.0.0.1:0` takes'),
            ('a mode that is none', ['--mode', 'wild'], 'a mode is off, meter'),
            ('a policy that is none', ['--policy', 'nope'], "no policy is called 'nope'"),
            ('an upstream that is no address', ['--upstream', 'ftp://x'], 'an upstream is http'),
            ('an address without a port', ['--listen', 'localhost'], 'HOST:PORT'),
            ('a port that is none', ['--listen', '127.0.0.1:99999'], 'from 0 (any that is free)'),
            ('an empty port', ['--listen', '127.0.0.1:'], 'HOST:PORT'),
            ('a port below none', ['--listen', '127.0.0.1:-1'], 'HOST:PORT'),
            ('a port with a letter', ['--listen', '127.0.0.1:80x'], 'HOST:PORT'),
            ('a port that is none, in a file', ['--config', far], 'far.yaml: line 2, column 9'),
            ('the world without a token', ['--listen', '0.0.0.0:0'], 'not loopback'),
            ('a file that is wrong', ['--config', bad], 'line 2, column 7'),
            ('a file that is not there', ['--config', bad + 'x'], 'No such file'),
            ('a word too many', ['now'], "'now' is one word too many")):
        result = subprocess.run([weir, 'serve', '--store', folder, *arguments], text=True,
                                timeout=PATIENCE_SECONDS, capture_output=True, check=False)
        ok(f'{sentence} is refused', (result.returncode, words in result.stderr,
                                      result.stdout), (2, True, ''))
    taken.close()

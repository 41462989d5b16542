"""Starting the proxy and its upstream, talking to them, counting what holds."""
import atexit
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE_SECONDS = 120  # for what must come, however slow the machine: its end is a failure

# Moves the clock of a program, where it is installed: the variables that do so, without the time.
FAKETIME = next(({'LD_PRELOAD': path, 'FAKETIME_DONT_FAKE_MONOTONIC': '1',
                  'ASAN_OPTIONS': 'verify_asan_link_order=0'}
                 for path in ('/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1',
                              '/usr/lib/aarch64-linux-gnu/faketime/libfaketime.so.1')
                 if os.path.exists(path)), None)

STARTED = []  # processes that must not outlive this one


@atexit.register
def end_started():
    for process in STARTED:
        if process.poll() is None:
            process.kill()


def forget_surroundings():
    """What people have set for their own use must not reach what is tested."""
    kept = ('WEIR', 'WEIR_LONG', 'WEIR_PAGE', 'WEIR_TEST_POSTGRES')
    for name in list(os.environ):
        if name not in kept and name.startswith(
                ('WEIR_', 'OPENAI_', 'ANTHROPIC_', 'GOOGLE_', 'GEMINI_', 'XDG_', 'OTEL_')):
            del os.environ[name]
    os.environ['no_proxy'] = os.environ['NO_PROXY'] = '127.0.0.1,localhost'


forget_surroundings()


class Checks:
    def __init__(self):
        self.passed = self.failed = 0

    def ok(self, sentence, got, wanted=True):
        if got == wanted:
            self.passed += 1
            return
        self.failed += 1
        print(f'FAILED: {sentence}\n  wanted: {str(wanted)[:600]}\n  got:    {str(got)[:600]}')

    def end(self):
        print(f'{self.passed} passed, {self.failed} failed')
        return 1 if self.failed else 0


def wait_for(what, seconds=PATIENCE_SECONDS):
    """Asks until the answer is true; gives it, or the last one."""
    until = time.monotonic() + seconds
    while True:
        answer = what()
        if answer or time.monotonic() > until:
            return answer
        time.sleep(0.02)


def whole_lines(path):
    """What a log's lines say, as far as they are there whole; none where there is no file. It is
    read once and cut behind its last line end: reading on behind half a line, which the server is
    just writing, would give the other half as a line of its own."""
    try:
        with open(path, 'rb') as file:
            whole = file.read().rpartition(b'\n')[0]
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in whole.splitlines()]


def command_lines():
    """Of every process that there is: the words that it was called with."""
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{pid}/cmdline', encoding='utf-8', errors='replace') as file:
                yield file.read().split('\0')[:-1]
        except OSError:  # it has ended meanwhile
            continue


def lives(command):
    """Whether a process with this command line is there, its words with blanks between."""
    return command.split(' ') in command_lines()


def free_port():
    """A port to listen on later, which nobody is given meanwhile who asks for any: it is below
    those that the system hands out."""
    with open('/proc/sys/net/ipv4/ip_local_port_range', encoding='ascii') as file:
        first = int(file.read().split()[0])
    while True:
        port = random.randrange(min(first, 32768) // 2, first)
        with socket.socket() as sock:
            try:
                sock.bind(('127.0.0.1', port))
                return port
            except OSError:
                continue


def deaf_port():
    """A socket whose port refuses connections for as long as it is open."""
    sock = socket.socket()
    sock.bind(('127.0.0.1', 0))
    return sock


def read_until(sock, end):
    """What comes, until `end` is in it or nothing more does."""
    data = b''
    while end not in data:
        piece = sock.recv(65536)
        if not piece:
            break
        data += piece
    return data


def read_all(sock):
    """What comes until the end, which may be a reset."""
    data = b''
    try:
        while piece := sock.recv(65536):
            data += piece
    except ConnectionError:
        pass
    return data


class Upstream:
    def __init__(self, folder, *arguments):
        port_file = os.path.join(folder, f'port-{time.time_ns()}')
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(HERE, 'server.py'), port_file, *arguments])
        STARTED.append(self.process)
        if not wait_for(lambda: os.path.exists(port_file)):
            raise RuntimeError('the upstream does not start')
        with open(port_file, encoding='ascii') as file:
            self.port = int(file.read())

    def get(self, path):
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=PATIENCE_SECONDS)
        connection.request('GET', path)
        data = connection.getresponse().read()
        connection.close()
        return data

    def last_body(self):
        return self.get('/__last')

    def kept(self, key):
        """The last body that came with `x-test-key: KEY`."""
        return self.get('/__kept/' + key)

    def last_headers(self):
        head = json.loads(self.get('/__last_head'))
        return {name.lower(): value for name, value in head['headers']}

    def last_path(self):
        return json.loads(self.get('/__last_head'))['path']

    def stats(self):
        return json.loads(self.get('/__stats'))

    def stop(self):
        self.process.kill()
        self.process.wait()


# A machine that is slow or busy elsewhere must not turn into a request that goes as it came.
PATIENT = 'limits: {project_ms: %d, new_ms: %d}\n' % ((PATIENCE_SECONDS * 1000,) * 2)


class Weir:
    """`weir serve` on a free port, with a store of its own: a folder, or the address of a database,
    for which the folder has the rest."""
    tls = None  # an ssl.SSLContext: it is asked by https

    def __init__(self, folder, *arguments, config=None, env=None, store=None, files_max=0,
                 database=None, tls=None):
        self.folder = folder
        self.tls = tls
        self.store = store or tempfile.mkdtemp(dir=folder)
        command = [os.environ.get('WEIR', 'build/weir'), 'serve', '--store', database or self.store]
        if database:
            config = re.sub(r'(?m)^log: .*\n', '', config or 'listen: 127.0.0.1:0\n')
            config += f'log: {self.store}/requests.jsonl\n'
        self.config_path = os.path.join(self.store, 'weir.yaml')
        self.write_config(config or 'listen: 127.0.0.1:0\n')
        command += ['--config', self.config_path]
        if files_max:  # that it may have open at once
            command = ['sh', '-c', f'ulimit -n {files_max}; exec "$@"', 'sh', *command]
        self.lines_before = self.request_lines()
        self.errors = open(os.path.join(self.store, 'stderr'), 'w+', encoding='utf-8')
        self.process = subprocess.Popen(command + list(arguments), stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True,
                                        env={**os.environ, **(env or {})})
        STARTED.append(self.process)
        self.first_line = self.process.stdout.readline()
        if ', mode ' not in self.first_line:
            raise RuntimeError('weir does not start: ' + self.first_line + self.stderr())
        address = self.first_line.partition('://')[2].partition(',')[0]
        self.port = int(address.rpartition(':')[2])
        wait_for(lambda: self.get('/weir/v1/health')[0])  # whatever it says, without a token

    def write_config(self, text):
        with open(self.config_path, 'w', encoding='utf-8') as file:
            file.write(text if 'limits:' in text else text + PATIENT)

    def stderr(self):
        self.errors.flush()
        with open(self.errors.name, encoding='utf-8') as file:
            return file.read()

    def workers(self):
        path = f'/proc/{self.process.pid}/task/{self.process.pid}/children'
        with open(path, encoding='ascii') as file:
            return [int(pid) for pid in file.read().split()]

    def worker(self):
        pids = self.workers()
        return pids[0] if pids else 0

    def request(self, method, path, body=None, headers=None, timeout=PATIENCE_SECONDS):
        connection = http.client.HTTPSConnection(
            '127.0.0.1', self.port, timeout=timeout, context=self.tls) if self.tls else \
            http.client.HTTPConnection('127.0.0.1', self.port, timeout=timeout)
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer.status, data, {k.lower(): v for k, v in answer.getheaders()}

    def get(self, path, headers=None):
        try:
            return self.request('GET', path, None, headers)
        except OSError:
            return 0, b'', {}

    def post(self, path, body, headers=None, timeout=PATIENCE_SECONDS):
        return self.request('POST', path, body, {'Content-Type': 'application/json',
                                                 **(headers or {})}, timeout)

    def connect(self):
        return socket.create_connection(('127.0.0.1', self.port), timeout=PATIENCE_SECONDS)

    def raw(self, data, pause_seconds=0.02):
        """Sends bytes as they are, a list of them in pieces; gives all that comes back until the
        end. Whoever is refused may be so before all is sent."""
        with self.connect() as sock:
            try:
                for piece in data if isinstance(data, list) else [data]:
                    sock.sendall(piece)
                    if isinstance(data, list):
                        time.sleep(pause_seconds)
            except ConnectionError:
                pass
            return read_all(sock)

    def requests_counted(self):
        """How many requests have ended, by the metrics; None: some have not."""
        page = self.get('/metrics')[1].decode().splitlines()
        if 'weir_exchanges 0' not in page:
            return None
        return sum(int(line.rpartition(' ')[2]) for line in page
                   if line.startswith('weir_requests_total'))

    def lines(self):
        """How many lines the log has, once those of earlier requests have all come. Calls of /mcp
        have lines too, and are no requests."""
        wait_for(lambda: (count := self.requests_counted()) is not None and
                 self.request_lines() >= self.lines_before + count)
        return len(self.log_lines())

    def request_lines(self):
        return sum(line.get('api') != 'mcp' for line in self.log_lines())

    def log_lines(self):
        return whole_lines(os.path.join(self.store, 'requests.jsonl'))

    def log(self, count=1):
        """The lines of the log, once there are `count` of them."""
        return wait_for(lambda: len(lines := self.log_lines()) >= count and lines) or []

    def metric(self, name):
        for line in self.get('/metrics')[1].decode().splitlines():
            if line.startswith(name + ' '):
                return float(line.rpartition(' ')[2])
        return None

    def stop(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            self.process.wait(PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.errors.close()
        return self.process.returncode


class Folder:
    def __enter__(self):
        self.path = tempfile.mkdtemp(prefix='weir-proxy-')
        return self.path

    def __exit__(self, *error):
        shutil.rmtree(self.path, ignore_errors=True)

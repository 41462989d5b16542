"""Starting the proxy and its upstream, talking to them, counting what holds."""
import atexit
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))


STARTED = []  # processes that must not outlive this one


@atexit.register
def end_started():
    for process in STARTED:
        if process.poll() is None:
            process.kill()


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


def wait_for(what, seconds=10.0):
    """Asks until the answer is true; gives it, or the last one."""
    until = time.time() + seconds
    while True:
        answer = what()
        if answer or time.time() > until:
            return answer
        time.sleep(0.02)


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
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=10)
        connection.request('GET', path)
        return connection.getresponse().read()

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


class Weir:
    """`weir serve` on a free port, with a store of its own."""

    def __init__(self, folder, *arguments, config=None, env=None, store=None):
        self.folder = folder
        self.store = store or tempfile.mkdtemp(dir=folder)
        command = [os.environ.get('WEIR', 'build/weir'), 'serve', '--store', self.store]
        if config is None:
            command += ['--listen', '127.0.0.1:0']
        else:
            self.config_path = os.path.join(self.store, 'weir.yaml')
            self.write_config(config)
            command += ['--config', self.config_path]
        self.errors = open(os.path.join(self.store, 'stderr'), 'w+', encoding='utf-8')
        self.process = subprocess.Popen(command + list(arguments), stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True,
                                        env={**os.environ, **(env or {})})
        STARTED.append(self.process)
        self.first_line = self.process.stdout.readline()
        if ', mode ' not in self.first_line:
            raise RuntimeError('weir does not start: ' + self.first_line + self.stderr())
        address = self.first_line.partition('http://')[2].partition(',')[0]
        self.port = int(address.rpartition(':')[2])
        wait_for(lambda: self.get('/weir/v1/health')[0] == 200)

    def write_config(self, text):
        with open(self.config_path, 'w', encoding='utf-8') as file:
            file.write(text)

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

    def request(self, method, path, body=None, headers=None, timeout=20):
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=timeout)
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

    def post(self, path, body, headers=None, timeout=20):
        return self.request('POST', path, body, {'Content-Type': 'application/json',
                                                 **(headers or {})}, timeout)

    def raw(self, data, seconds=5.0, half_close=False):
        """Sends bytes as they are; gives all that comes back until the end, or time is over."""
        with socket.create_connection(('127.0.0.1', self.port), timeout=seconds) as sock:
            for piece in data if isinstance(data, list) else [data]:
                sock.sendall(piece)
                if isinstance(data, list):
                    time.sleep(0.02)
            if half_close:
                sock.shutdown(socket.SHUT_WR)
            answer = b''
            try:
                while True:
                    piece = sock.recv(65536)
                    if not piece:
                        break
                    answer += piece
            except (TimeoutError, ConnectionError):
                pass
            return answer

    def lines(self):
        """How many lines the log has, once those of earlier requests have all come."""
        count = -1
        while count != len(self.log(0)):
            count = len(self.log(0))
            time.sleep(0.4)  # a line is written when its answer has long been read
        return count

    def log(self, count=1):
        """The newest lines of the log, once there are `count` of them."""
        path = os.path.join(self.store, 'requests.jsonl')

        def read():
            if not os.path.exists(path):
                return None
            with open(path, encoding='utf-8') as file:
                lines = [json.loads(line) for line in file]
            return lines if len(lines) >= count else None
        return wait_for(read, 5) or []

    def metric(self, name):
        for line in self.get('/metrics')[1].decode().splitlines():
            if line.startswith(name + ' '):
                return float(line.rpartition(' ')[2])
        return None

    def stop(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            self.process.wait(40)
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

"""`weir serve` under the library that makes its calls fail, and what the driver does to it."""
import http.client
import mmap
import os
import resource
import shutil
import signal
import struct
import subprocess
import tempfile
import time

import weather
from fleet_cases import Database, Relay
from harness import PATIENT, STARTED, free_port, wait_for

PAGE_BYTES, KINDS_AT, KIND_BYTES = 4096, 16, 32
POLICIES = """policies:
  short:
    what: results are cut on arrival
    stages:
      - {stage: cap, max_tokens: 300, keep: head}
"""


NO_ROOM = ("CREATE OR REPLACE FUNCTION full_1() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE"
           " EXCEPTION USING ERRCODE = '53100', MESSAGE = 'no space left'; END $$; CREATE TRIGGER"
           " no_room BEFORE INSERT ON weir.mark EXECUTE FUNCTION full_1()")


class Page:
    """Shared with the library: the switch, the clock, and the counts of what was done."""

    def __init__(self, path):
        self.path = path
        with open(path, 'w+b') as file:
            file.truncate(PAGE_BYTES)
            self.map = mmap.mmap(file.fileno(), PAGE_BYTES)

    def switch(self, is_on):
        self.map[0:4] = struct.pack('I', is_on)

    def move_clock(self, seconds):
        before = struct.unpack('q', self.map[8:16])[0]
        self.map[8:16] = struct.pack('q', before + int(seconds * 1e9))

    def counts(self):
        made = {}
        for at in range(KINDS_AT, PAGE_BYTES - KIND_BYTES, KIND_BYTES):
            name, count = struct.unpack('24sQ', self.map[at:at + KIND_BYTES])
            if name[0] and count:
                made[name.rstrip(b'\0').decode()] = count
        return made


class Proxy:
    def __init__(self, folder, library, scenario, upstream_port):
        self.folder, self.library, self.scenario = folder, library, scenario
        self.store = os.path.join(folder, 'store')
        self.log_path = os.path.join(folder, 'requests.jsonl')
        self.error_path = os.path.join(folder, 'stderr')
        self.page = Page(os.path.join(folder, 'page'))
        self.port = free_port()
        self.kills = []  # when the driver killed something: [from, to]
        self.restarts = []  # those of kills that were of all processes at once
        self.destroyed = 0.0  # when it last took the store away
        self.allowed_deaths = 0
        os.mkdir(self.store)
        self.where = self.store  # or the address of a database
        self.database = self.relay = None
        if weather.DATABASE in scenario.families:
            self.start_database()
        self.write_config(upstream_port)
        self.process = None
        self.is_restarting = False
        self.start()

    def write_config(self, upstream_port):
        policies = os.path.join(self.folder, 'policies.yaml')
        with open(policies, 'w', encoding='ascii') as file:
            file.write(POLICIES)
        with open(os.path.join(self.folder, 'weir.yaml'), 'w', encoding='ascii') as file:
            file.write(f'listen: 127.0.0.1:{self.port}\nlog: {self.log_path}\n'
                       f'policies: {policies}\npolicy: {self.scenario.policy}\n'
                       f'workers: {self.scenario.workers}\nupstreams:\n'
                       f'  openai: {{base_url: "http://127.0.0.1:{upstream_port}/v1"}}\n'
                       f'  anthropic: {{base_url: "http://127.0.0.1:{upstream_port}/v1"}}\n'
                       + PATIENT)

    # ---- a database in the place of files ----

    def start_database(self):
        """In a folder that who runs the server may reach. Nodes reach it as a role that may be
        refused."""
        self.database_folder = tempfile.mkdtemp(prefix='weir-chaos-')
        os.chmod(self.database_folder, 0o755)
        self.database = Database(self.database_folder)
        self.database.ask('CREATE ROLE app LOGIN')
        self.database.ask('CREATE DATABASE chaos OWNER app')
        self.relay = Relay(self.database)
        self.where = self.relay.url('chaos').replace('weir@', 'app@')

    def ask_database(self, sql):
        self.database.ask(sql, self.database.url.replace('/postgres?', '/chaos?'))

    def do_pg(self, _, what):
        if what in ('restart', 'kill'):
            self.database.do('stop', 'fast' if what == 'restart' else 'immediate')
            time.sleep(0.3)
            self.database.run()
        elif what == 'cut':
            self.relay.cut()
        elif what == 'end':
            self.end_connections()
        elif what == 'full':
            self.ask_database(NO_ROOM)
            time.sleep(1)
            self.ask_database('DROP TRIGGER no_room ON weir.mark')
        elif what == 'connections':
            self.database.ask('ALTER ROLE app CONNECTION LIMIT 0')
            self.end_connections()
            time.sleep(1)
            self.database.ask('ALTER ROLE app CONNECTION LIMIT -1')
        else:
            self.relay.mode = what
            if what == 'refuse':
                self.relay.cut()
            time.sleep(2.5 if what == 'stall' else 1)
            self.relay.mode = 'pass'

    def end_connections(self):
        self.database.ask("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                          " WHERE usename = 'app'")

    def remove_database(self):
        if self.database:
            self.database.do('remove')
            shutil.rmtree(self.database_folder, ignore_errors=True)

    # ---- starting, asking, stopping ----

    def start(self):
        """Faults are off while it starts. One that was killed may hold the port for a moment."""
        env = {**os.environ, 'LD_PRELOAD': self.library, 'WEIR_CHAOS_PAGE': self.page.path,
               'WEIR_CHAOS_SEED': str(self.scenario.seed), 'WEIR_CHAOS_STORE': self.store + '/',
               'WEIR_CHAOS_PLAN': self.scenario.plan_text()}
        self.page.switch(False)

        def try_once():
            with open(self.error_path, 'a', encoding='utf-8') as errors:
                self.process = subprocess.Popen(
                    [os.environ.get('WEIR', 'build/weir'), 'serve', '--store', self.where,
                     '--config', os.path.join(self.folder, 'weir.yaml')],
                    stdout=subprocess.PIPE, stderr=errors, text=True, env=env)
            STARTED.append(self.process)
            if ', mode ' in self.process.stdout.readline():
                return True
            self.process.wait()
            time.sleep(0.2)
            return False

        if not wait_for(try_once) or not wait_for(lambda: self.get('/weir/v1/health')[0] == 200):
            raise RuntimeError('weir does not start: ' + self.errors())
        self.is_restarting = False
        self.page.switch(True)

    def get(self, path):
        connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=20)
        try:
            connection.request('GET', path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except OSError:
            return 0, ''
        except http.client.HTTPException:
            return 0, ''
        finally:
            connection.close()

    def is_gone(self):
        """Whether it has ended, and not because the driver is about to start it anew."""
        return not self.is_restarting and self.process.poll() is not None

    def errors(self):
        with open(self.error_path, encoding='utf-8', errors='replace') as file:
            return file.read()

    def workers(self):
        path = f'/proc/{self.process.pid}/task/{self.process.pid}/children'
        try:
            with open(path, encoding='ascii') as file:
                return [int(pid) for pid in file.read().split()]
        except OSError:
            return []

    def stop(self):
        """By SIGTERM; gives the exit status, None where it did not end."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            status = None
        self.process.stdout.close()
        return status

    # ---- acts ----

    def do(self, act):
        name, _, what = act.partition('_')
        {'clock': self.do_clock, 'signal': self.do_signal, 'kill': self.do_kill,
         'usr1': self.do_kill, 'restart': self.do_restart, 'limit': self.do_limit,
         'unlink': self.do_store, 'rename': self.do_store, 'remove': self.do_store,
         'blink': self.do_store, 'pg': self.do_pg}[name](name, what)

    def do_clock(self, _, what):
        self.page.move_clock(-7200 if what == 'back' else 1000)

    def do_signal(self, _, what):
        number = getattr(signal, 'SIG' + what.upper())
        for pid in [self.process.pid] + self.workers():
            send_signal(pid, number)

    def do_kill(self, name, what):
        kill = self.begin_kill()
        if what == 'supervisor':
            workers = self.workers()
            self.restarts.append(kill)
            self.is_restarting = True
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            for pid in workers:  # they would finish what is open first; this is not about that
                send_signal(pid, signal.SIGKILL)
            self.start()
        else:
            workers = self.workers()
            if workers:
                self.allowed_deaths += 1
                send_signal(workers[0], signal.SIGUSR1 if name == 'usr1' else signal.SIGKILL)
                wait_for(lambda: self.workers() and workers[0] not in self.workers(), 10)
        kill[1] = time.monotonic()

    def begin_kill(self):
        """While it lasts it has no end."""
        self.kills.append([time.monotonic(), float('inf')])
        return self.kills[-1]

    def do_restart(self, *_):
        """As an operator does: what is open is finished first."""
        kill = self.begin_kill()
        self.restarts.append(kill)
        self.is_restarting = True
        self.stop()
        self.start()
        kill[1] = time.monotonic()

    def do_limit(self, *_):
        """From now on no file may grow beyond what the store has by now."""
        size = max((os.path.getsize(os.path.join(self.store, name))
                    for name in os.listdir(self.store)), default=0)
        self.limit_files(max(size, 4096))

    def limit_files(self, size):
        for pid in [self.process.pid] + self.workers():
            try:
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
            except OSError:
                pass

    def do_store(self, name, _):
        """Takes the store away under it: what left before is gone by the driver's own act."""
        away = f'{self.store}.away{time.monotonic_ns()}'
        if name == 'unlink':
            for file in ('store.db', 'store.db-wal', 'store.db-shm'):
                if os.path.exists(os.path.join(self.store, file)):
                    os.unlink(os.path.join(self.store, file))
        elif name == 'remove':
            shutil.rmtree(self.store, ignore_errors=True)
        elif os.path.exists(self.store):
            os.rename(self.store, away)
            if name == 'blink':
                try:
                    os.rename(away, self.store)
                    return
                except OSError:
                    pass  # somebody has made a new one meanwhile
        self.destroyed = time.monotonic()


def send_signal(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass

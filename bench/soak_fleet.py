#!/usr/bin/env python3
"""Three nodes on one PostgreSQL for a while, and every minute one is killed and the database too.

    WEIR=build/weir bench/soak_fleet.py [SECONDS [CLIENTS]]      (3600 seconds, 4 clients)

Each client plays sessions of a coding agent whose every request goes to another node, as any load
balancer would: a connection that ends before the first byte of an answer goes to the next node.
Once a minute a node is killed (SIGKILL, all its processes) and started again, and half a minute
later the database is stopped without a word to anybody and started again.

Exit 1: a request failed by us, or a handle that left in a request is not in the database, whole.
A request whose beginning is not what was sent before is counted, with whether its node was held up
by the database at that time: law L6 lets it go as it came.
"""
import collections
import hashlib
import http.client
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../tests/upstream'))
from fleet_cases import Database  # noqa: E402
from harness import PATIENCE_SECONDS, Folder, Upstream  # noqa: E402
from sessions import chat_session, serve  # noqa: E402

NODES, TURNS, PERIOD_SECONDS, THINKS_SECONDS = 3, 12, 60, 0.05
HANDLE = re.compile(r'wr_[0-9a-f]{20}')
WEIR = os.environ.get('WEIR', 'build/weir')


class Fleet:
    def __init__(self, folder, upstream, database):
        self.folder, self.upstream, self.database = folder, upstream, database
        self.url = database.make('soak')
        self.nodes = [self.start() for _ in range(NODES)]
        self.away = []  # when the database was: [from, to]
        self.acts = collections.Counter()

    def start(self):
        return serve(self.folder, self.upstream, '--policy', 'short', database=self.url)

    def kill_node(self, number):
        node = self.nodes[number]
        workers = node.workers()
        node.process.kill()
        for pid in workers:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        node.stop(signal.SIGKILL)
        self.nodes[number] = self.start()
        self.acts['node killed'] += 1

    def kill_database(self):
        self.away.append([time.monotonic(), float('inf')])
        self.database.kill()
        self.database.run()
        self.away[-1][1] = time.monotonic() + 5  # until all have found it again
        self.acts['database killed'] += 1

    def was_away(self, since):
        return any(since < to and time.monotonic() > begun for begun, to in self.away)


class Client(threading.Thread):
    def __init__(self, fleet, number, until):
        super().__init__(daemon=True)
        self.fleet, self.number, self.until = fleet, number, until
        self.counts = collections.Counter()
        self.handles, self.worst, self.failures = set(), 0.0, []

    def run(self):
        played = 0
        while time.monotonic() < self.until:
            try:
                self.play(f'soak-{self.number}-{played}')
            except Exception as why:  # whatever it is, it is a failure and not a thread that ends
                self.failures.append((f'soak-{self.number}-{played}', repr(why)))
            played += 1

    def play(self, name):
        body = chat_session(TURNS, name)
        for n, message in enumerate(body['messages']):
            if message['role'] == 'tool':
                message['content'] = f'# {name} {n}\n' + message['content']
        before, before_began = [], 0.0
        for count in range(2, len(body['messages']) + 1, 2):
            if time.monotonic() > self.until:
                return
            key, began = f'{name}-{count}', time.monotonic()
            self.ask({**body, 'messages': body['messages'][:count]}, name, key, count // 2)
            sent = json.loads(self.fleet.upstream.kept(key))['messages']
            self.worst = max(self.worst, time.monotonic() - began)
            self.handles |= set(HANDLE.findall(json.dumps(sent)))
            if sent[:len(before)] != before:
                is_away = self.fleet.was_away(min(began, before_began) - 5)
                self.counts['changed, database away' if is_away else 'changed'] += 1
            before, before_began = sent, began
            time.sleep(THINKS_SECONDS)

    def ask(self, body, name, key, hop):
        self.counts['requests'] += 1
        for attempt in range(100):
            node = self.fleet.nodes[(hop + attempt) % NODES]
            connection = http.client.HTTPConnection('127.0.0.1', node.port,
                                                    timeout=PATIENCE_SECONDS)
            try:
                connection.request('POST', '/v1/chat/completions', json.dumps(body), {
                    'Content-Type': 'application/json', 'x-weir-session': name, 'x-test-key': key})
                answer = connection.getresponse()
                answer.read()
                if answer.status != 200:
                    self.failures.append((key, answer.status))
                return
            except (OSError, http.client.HTTPException):
                self.counts['sent to another node'] += 1
                time.sleep(0.05 if attempt > NODES else 0)
            finally:
                connection.close()
        self.failures.append((key, 'no node'))


def lost_handles(fleet, handles):
    """Those that are not in the database; and what a hundred of them give back, in processes of
    their own."""
    there = set(fleet.database.ask("SELECT 'wr_' || encode(handle, 'hex') FROM weir.artifact",
                                   fleet.url).split())
    lost = sorted(handles - there)
    for handle in random.Random(1).sample(sorted(handles), min(100, len(handles))):
        found = subprocess.run([WEIR, 'recall', handle, '--store', fleet.url], capture_output=True,
                               timeout=PATIENCE_SECONDS, check=False)
        if not hashlib.sha256(found.stdout).hexdigest().startswith(handle[3:]):
            lost.append(handle)
    verified = subprocess.run([WEIR, 'store', 'verify', '--store', fleet.url],
                              stdout=subprocess.PIPE, text=True, check=False)
    print(verified.stdout.strip().replace('\n', '; '))
    return lost if not verified.returncode else lost + ['store verify']


def act(fleet, clients, until):
    """Half a period between a node's death and the database's; what was so far, every period."""
    turn, began = 0, time.monotonic()
    while time.monotonic() + PERIOD_SECONDS / 2 < until:
        time.sleep(PERIOD_SECONDS / 2)
        if turn % 2:
            fleet.kill_database()
        else:
            fleet.kill_node(turn // 2 % NODES)
            requests = sum(c.counts['requests'] for c in clients)
            failed = [failure for c in clients for failure in c.failures]
            print(f'{time.monotonic() - began:.0f} s: requests {requests}, failed by us '
                  f'{len(failed)} {failed[-1:] or ""}', flush=True)
        turn += 1


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 3600
    clients_count = int(sys.argv[2]) if len(sys.argv) > 2 else 4
    with Folder() as folder:
        os.chmod(folder, 0o755)
        database = Database(folder, 'fsync=on', 'full_page_writes=on')
        upstream = Upstream(folder)
        fleet = Fleet(folder, upstream, database)
        until = time.monotonic() + seconds
        clients = [Client(fleet, n, until) for n in range(clients_count)]
        try:
            for client in clients:
                client.start()
            act(fleet, clients, until)
            for client in clients:
                client.join()
            counts = sum((c.counts for c in clients), collections.Counter())
            failures = [failure for c in clients for failure in c.failures]
            handles = set().union(*(c.handles for c in clients))
            lost = lost_handles(fleet, handles)
            rows = int(fleet.database.ask('SELECT count(*) FROM weir.request', fleet.url))
        finally:
            for node in fleet.nodes:
                node.stop()
            database.do('remove')
            upstream.stop()
    print(f'{seconds:.0f} s, {NODES} nodes: ' +
          ', '.join(f'{name} {n}' for name, n in sorted((fleet.acts + counts).items())))
    print(f'rows in the ledger {rows}; slowest request {max(c.worst for c in clients):.1f} s')
    print(f'requests failed by us: {len(failures)} {failures[:3] or ""}')
    print(f'handles that left: {len(handles)}, lost: {len(lost)} {lost[:3] or ""}')
    return 1 if failures or lost else 0


if __name__ == '__main__':
    sys.exit(main())

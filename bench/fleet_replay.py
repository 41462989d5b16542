#!/usr/bin/env python3
"""Replays recorded sessions through nodes on one PostgreSQL, many at once, and prints what each
component costs a session, and at a million sessions a day.

    WEIR=build/weir bench/fleet_replay.py [--at-once N] [--sessions N] [--nodes N] [--policy P]
                                          [--requests N] [--keep originals|transcript]

Sessions are those of ../shared/traces/normalized, a Chat Completions message a line, else ones made
here. Each play has a name and a text of its own in its results, so that nothing is shared between
plays that would not be between users. Every request goes to the next node. Of each session at most
--requests (40) are played, spread over its length.

Processor time is that of the processes (/proc), not the driver's; bytes are of the tables with
their indexes behind a checkpoint, and of the write-ahead log.
"""
import argparse
import collections
import glob
import http.client
import http.server
import json
import os
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '../tests/upstream'))
from fleet_cases import Database  # noqa: E402
from harness import PATIENCE_SECONDS, Folder, Weir  # noqa: E402
from sessions import chat_session, chat_tools  # noqa: E402

TRACES = os.path.join(HERE, '../../shared/traces/normalized/*.jsonl')
TICK = os.sysconf('SC_CLK_TCK')
DAY_SESSIONS = 1_000_000
ANSWER = json.dumps({'id': 'x', 'object': 'chat.completion', 'model': 'gpt-5', 'choices': [
    {'index': 0, 'finish_reason': 'stop', 'message': {'role': 'assistant', 'content': 'Done.'}}],
    'usage': {'prompt_tokens': 10, 'completion_tokens': 1, 'total_tokens': 11}}).encode()


class Upstream(http.server.ThreadingHTTPServer):
    """Takes everything, and says the same."""
    daemon_threads = True
    request_queue_size = 128

    def __init__(self):
        super().__init__(('127.0.0.1', 0), Handler)
        self.port = self.server_address[1]
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    disable_nagle_algorithm = True

    def do_POST(self):
        self.rfile.read(int(self.headers['content-length']))
        self.send_response(200)
        self.send_header('Content-Type', 'application/json')
        self.send_header('Content-Length', str(len(ANSWER)))
        self.end_headers()
        self.wfile.write(ANSWER)

    def log_message(self, *_):
        pass


# ---- sessions ----

def recorded():
    """Lists of messages; made ones where there are no recorded ones."""
    paths = sorted(glob.glob(TRACES))
    if not paths:
        return [chat_session(30, 'Find the bug.')['messages']]
    found = []
    for path in paths:
        with open(path, encoding='utf-8') as file:
            found.append([json.loads(line) for line in file])
    return found


def requests_of(messages, requests_max):
    """Where each request ends: before an answer."""
    ends = [n for n, m in enumerate(messages) if m['role'] == 'assistant' and n]
    step = max(1, len(ends) // requests_max)
    return ends[::step][:requests_max]


def make_own(messages, name):
    """With the play's name in each result, which is then nobody else's."""
    return [{**m, 'content': f'{name}\n{m["content"]}'} if m['role'] in ('tool', 'user') and
            isinstance(m.get('content'), str) else m for m in messages]


# ---- processes ----

def ticks_of(pid):
    """Of the process and of those that it has waited for."""
    try:
        with open(f'/proc/{pid}/stat', encoding='ascii', errors='replace') as file:
            fields = file.read().rpartition(')')[2].split()
        return sum(int(x) for x in fields[11:13])
    except OSError:
        return 0


def children_of(pid):
    found = []
    for path in glob.glob(f'/proc/{pid}/task/*/children'):
        with open(path, encoding='ascii') as file:
            found += [int(x) for x in file.read().split()]
    return found


def kind_of(pid):
    """What PostgreSQL calls its process."""
    with open(f'/proc/{pid}/cmdline', encoding='utf-8', errors='replace') as file:
        words = file.read().replace('\0', ' ').split('postgres: ')[-1]
    for kind in ('checkpointer', 'background writer', 'walwriter', 'autovacuum'):
        if words.startswith(kind):
            return f'PostgreSQL {kind}'
    return 'PostgreSQL backends'


def processor_ticks(nodes, database):
    ticks = collections.Counter()
    for node in nodes:
        ticks['nodes'] += sum(ticks_of(pid) for pid in [node.process.pid] + node.workers())
    with open(os.path.join(database.dir, 'data/postmaster.pid'), encoding='ascii') as file:
        postmaster = int(file.readline())
    for pid in children_of(postmaster):
        try:
            ticks[kind_of(pid)] += ticks_of(pid)
        except OSError:
            continue
    return ticks


# ---- playing ----

class Player(threading.Thread):
    def __init__(self, work, nodes, options):
        super().__init__(daemon=True)
        self.work, self.nodes, self.options = work, nodes, options
        self.counts, self.times = collections.Counter(), []

    def run(self):
        connections = [http.client.HTTPConnection('127.0.0.1', node.port, timeout=PATIENCE_SECONDS)
                       for node in self.nodes]
        while self.work:
            number, messages = self.work.popleft()
            name = f'replay-{number}'
            messages = make_own(messages, name)
            for turn, end in enumerate(requests_of(messages, self.options.requests)):
                body = json.dumps({'model': 'gpt-5', 'messages': messages[:end],
                                   'tools': chat_tools()}).encode()
                began = time.perf_counter()
                connection = connections[turn % len(connections)]
                connection.request('POST', '/v1/chat/completions', body, {
                    'Content-Type': 'application/json', 'x-weir-session': name})
                answer = connection.getresponse()
                answer.read()
                self.times.append(time.perf_counter() - began)
                self.counts['requests'] += 1
                self.counts['failed'] += answer.status != 200
                self.counts['bytes'] += len(body)
            self.counts['sessions'] += 1


TABLES = ("SELECT CASE WHEN relname LIKE 'request%' THEN 'request' ELSE relname END,"
          " sum(pg_total_relation_size(c.oid))::bigint, sum(greatest(reltuples, 0))::bigint"
          " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE nspname = 'weir'"
          " AND relkind = 'r' GROUP BY 1 HAVING sum(greatest(reltuples, 0)) > 0 ORDER BY 2 DESC")


def print_costs(options, counts, seconds, ticks, database, url, wal_bytes):
    sessions, requests = counts['sessions'], counts['requests']
    day = DAY_SESSIONS / sessions
    print(f'{sessions} sessions, {requests} requests, {counts["bytes"] / 1e6:.0f} MB of bodies, '
          f'{options.at_once} at once, {options.nodes} nodes, {seconds:.1f} s: '
          f'{requests / seconds:.0f} requests a second; failed {counts["failed"]}')
    print(f'\n{"processor":28}{"ms a session":>14}{"ms a request":>14}{"cores at 1M a day":>19}')
    for name, number in ticks.most_common():
        each = number / TICK * 1000
        print(f'{name:28}{each / sessions:14.2f}{each / requests:14.3f}'
              f'{number / TICK * day / 86400:19.1f}')
    print(f'\n{"bytes":28}{"rows a session":>14}{"bytes a session":>16}{"GB at 1M a day":>17}')
    for line in database.ask(TABLES, url).split('\n'):
        name, size, rows = line.split('|')
        print(f'{name:28}{int(rows) / sessions:14.1f}{int(size) / sessions:16.0f}'
              f'{int(size) * day / 1e9:17.1f}')
    print(f'{"write-ahead log":28}{"":14}{wal_bytes / sessions:16.0f}{wal_bytes * day / 1e9:17.1f}')
    print(f'\nat 1M sessions a day: {requests * day / 86400:.0f} requests a second on average')


def read_options():
    parser = argparse.ArgumentParser()
    parser.add_argument('--at-once', type=int, default=8)
    parser.add_argument('--sessions', type=int, default=110)
    parser.add_argument('--nodes', type=int, default=3)
    parser.add_argument('--requests', type=int, default=40)
    parser.add_argument('--policy', default='auto')
    parser.add_argument('--keep', default='originals', choices=('originals', 'transcript'))
    return parser.parse_args()


def main():
    options = read_options()
    with Folder() as folder:
        os.chmod(folder, 0o755)
        database = Database(folder, 'fsync=on', 'full_page_writes=on', 'shared_buffers=256MB',
                            'max_wal_size=4GB')
        upstream, url = Upstream(), database.make('replay')
        config = f'listen: 127.0.0.1:0\nkeep: {options.keep}\n'
        nodes = [Weir(folder, '--upstream', f'http://127.0.0.1:{upstream.port}/v1', '--policy',
                      options.policy, config=config, database=url) for _ in range(options.nodes)]
        try:
            found = recorded()
            work = collections.deque((n, found[n % len(found)]) for n in range(options.sessions))
            before, began = processor_ticks(nodes, database), time.monotonic()
            wal = database.ask('SELECT pg_current_wal_insert_lsn()')
            players = [Player(work, nodes, options) for _ in range(options.at_once)]
            for player in players:
                player.start()
            for player in players:
                player.join()
            seconds = time.monotonic() - began
            time.sleep(1)  # rows of the last requests
            ticks = processor_ticks(nodes, database) - before
            wal_bytes = int(database.ask(f"SELECT (pg_current_wal_insert_lsn() - '{wal}')::bigint"))
            database.ask('ANALYZE', url)
            counts = sum((p.counts for p in players), collections.Counter())
            print_costs(options, counts, seconds, ticks, database, url, wal_bytes)
        finally:
            for node in nodes:
                node.stop()
            database.do('remove')
    return 1 if counts['failed'] else 0


if __name__ == '__main__':
    sys.exit(main())

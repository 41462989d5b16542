#!/usr/bin/env python3
"""Several nodes on one PostgreSQL: a conversation may go to any of them.

    fleet_cases.py [CASE...]

Laws L2, L3 and L6 across nodes, and while the database restarts, dies or is silent.
"""
import collections
import http.client
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time

from harness import FAKETIME, PATIENCE_SECONDS, STARTED, Folder, Upstream, free_port, wait_for
from sessions import CHECK, chat_session, ok, serve
import store_cases
from store_cases import WEIR, Talk

KILLS = 24 if os.environ.get('WEIR_LONG') else 6
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Database:
    """A server of our own."""

    def __init__(self, folder, *settings, name='pg', follows=None):
        self.dir = os.path.join(folder, name)
        self.settings = settings
        if follows:
            self.do('replica', follows.dir, *settings)
        else:
            self.url = self.do('start', *settings).strip()

    def do(self, what, *words):
        done = subprocess.run([os.path.join(TOP, 'tests', 'postgres'), what, self.dir, *words],
                              stdout=subprocess.PIPE, text=True, timeout=PATIENCE_SECONDS,
                              check=False)
        if done.returncode == 77:
            sys.exit(77)
        if done.returncode:
            raise RuntimeError(f'tests/postgres {what} failed')
        return done.stdout

    def kill(self):
        self.do('stop', 'immediate')

    def run(self):
        self.do('run', *self.settings)

    def ask(self, sql, url=None):
        return subprocess.run(['psql', '-qAtX', '-d', url or self.url, '-c', sql],
                              stdout=subprocess.PIPE, text=True, timeout=PATIENCE_SECONDS,
                              check=True).stdout.strip()

    def make(self, name):
        """A database with nothing in it."""
        self.ask(f'CREATE DATABASE {name}')
        return self.url.replace('/postgres?', f'/{name}?')


class Relay:
    """The network between the nodes and the database: passes, is slow, stalls, or ends all that
    is there and refuses what comes."""

    def __init__(self, database):
        self.target = os.path.join(database.dir, '.s.PGSQL.5432')
        self.mode = 'pass'
        self.pairs = []
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def url(self, name):
        return f'postgresql://weir@127.0.0.1:{self.port}/{name}'

    def accept(self):
        while True:
            client = self.listener.accept()[0]
            if self.mode == 'refuse':
                client.close()
                continue
            server = socket.socket(socket.AF_UNIX)
            try:
                server.connect(self.target)
            except OSError:  # there is no server at the moment
                server.close()
                client.close()
                continue
            self.pairs.append((client, server))
            threading.Thread(target=self.carry, args=(client, server), daemon=True).start()

    def carry(self, client, server):
        try:
            while True:
                for sock in select.select([client, server], [], [], 0.05)[0]:
                    while self.mode == 'stall':
                        time.sleep(0.02)
                    if self.mode == 'slow':
                        time.sleep(0.05)
                    data = sock.recv(65536)
                    if not data:
                        raise OSError
                    (server if sock is client else client).sendall(data)
        except (OSError, ValueError):
            client.close()
            server.close()

    def cut(self):
        """Ends all connections, by a reset."""
        for client, server in self.pairs:
            try:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b'\1\0\0\0\0\0\0\0')
                client.shutdown(socket.SHUT_RDWR)
                server.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self.pairs = []


class Listener(Relay):
    """Knows which connections commit. The answer of the next commit is lost on its way: the
    database has committed, and its node is told nothing (`loses`: the connection ends then;
    `hides`: it stays and is silent). While it is `late`, a connection takes its time to be made."""
    LATE_SECONDS = 0.3

    def carry(self, client, server):
        commits, hides = False, False
        try:
            if self.mode == 'late':
                time.sleep(self.LATE_SECONDS)
            while True:
                for sock in select.select([client, server], [], [])[0]:
                    data = sock.recv(65536)
                    if not data:
                        raise OSError
                    commits = commits or sock is client and b'weir.commit_' in data
                    if sock is server and commits and self.mode in ('loses', 'hides'):
                        hides, self.mode = self.mode == 'hides', 'pass'
                        if not hides:
                            raise OSError
                    if not (hides and sock is server):
                        (server if sock is client else client).sendall(data)
        except (OSError, ValueError):
            client.close()
            server.close()


class Counter(Relay):
    """Counts round trips: times that a node speaks after the database did. What writes rows and
    notes behind the answers has a connection of its own and is left out."""

    def __init__(self, database):
        super().__init__(database)
        self.heard = {}  # by connection: its trips, whether the node spoke last, all that it said

    def carry(self, client, server):
        heard = self.heard[client] = [0, False, b'']
        try:
            while True:
                for sock in select.select([client, server], [], [])[0]:
                    data = sock.recv(65536)
                    if not data:
                        raise OSError
                    if sock is client:
                        heard[0] += not heard[1]
                        heard[2] += data
                    heard[1] = sock is client
                    (server if sock is client else client).sendall(data)
        except (OSError, ValueError):
            client.close()
            server.close()

    def trips(self):
        """Of connections that commit, so far."""
        return sum(trips for trips, _, said in list(self.heard.values()) if b'weir.commit_' in said)


TALLY = {}  # by the kind of trouble, which is the session's name


class Hopping(Talk):
    """A session whose requests go to one node after the other."""

    def __init__(self, nodes, *rest):
        super().__init__(nodes[0], *rest)
        self.nodes = nodes
        self.tally = TALLY.setdefault(self.name, collections.Counter())

    def go_on(self):
        self.weir = self.nodes[self.turns % len(self.nodes)]
        status, stays = super().go_on()
        self.tally.update(requests=1, refused=status != 200, changed=not stays)
        return status, stays


def unknown_handles(talk, store):
    unknown = store_cases.unknown_handles(talk, store)
    talk.tally.update(handles=talk.shortened(), lost=len(unknown))
    return unknown


def is_shortened_again(talk):
    """A thread that found the database away gives it a tenth of a second until another has written,
    so on a busy machine the first requests behind its return may go as they came."""
    before = talk.shortened()
    return bool(wait_for(lambda: talk.go_on() != (200, True) or talk.shortened() > before)) and \
        talk.shortened() > before


def stop_all(nodes):
    for node in nodes:
        node.stop()


def a_fleet(folder, upstream, url, count=3):
    return [serve(folder, upstream, '--policy', 'short', database=url) for _ in range(count)]


def any_node_same_bytes(folder, upstream, database):
    """A conversation that hops at every request is sent as one that stays, on a node with files."""
    url = database.make('hop')
    nodes = a_fleet(folder, upstream, url)
    alone = serve(folder, upstream, '--policy', 'short')
    hops, stays = Hopping(nodes, upstream, 'hops'), Talk(alone, upstream, 'stays')
    for _ in range(9):
        ok('a request that hops is answered, and what was sent stays', hops.go_on(), (200, True))
        stays.go_on()
    texts = [json.dumps(talk.sent).replace(talk.name, 'NAME') for talk in (hops, stays)]
    ok('both are sent the same', texts[0], texts[1])
    ok('something was shortened', hops.shortened() > 4)
    ok('every handle is found', unknown_handles(hops, url), [])
    stop_all(nodes + [alone])


def requests_are_one_trip_or_two(folder, upstream, database):
    """Before a request leaves its node has asked the database once where it made the session's last
    commit, and twice where another did."""
    database.make('trips')
    relay = Counter(database)
    nodes = a_fleet(folder, upstream, relay.url('trips'), 2)
    talk = Hopping(nodes, upstream, 'trips')
    seen = []
    for number in [0, 1] * 2 + [0, 1, 0, 1, 1, 1, 0, 0, 1]:  # the first ones begin, at either
        talk.nodes, before = [nodes[number]], relay.trips()
        ok('it is kept as ever', talk.go_on(), (200, True))
        seen.append(relay.trips() - before)
    ok('two where another was, one where it was this', seen[4:], [2, 2, 2, 2, 1, 1, 2, 1, 2])
    ok('something was shortened', talk.shortened() > 4)
    stop_all(nodes)


def rows_add_up(folder, upstream, database):
    """Rows of requests are in the database, from whichever node; `weir report` reads them."""
    url = database.make('adds')
    nodes = a_fleet(folder, upstream, url, 2)
    talk = Hopping(nodes, upstream, 'rows')
    for _ in range(6):
        talk.go_on()
    ok('each node counts its own requests', [wait_for(node.requests_counted) for node in nodes],
       [3, 3])
    stop_all(nodes)
    stats = json.loads(subprocess.run([WEIR, 'store', 'stats', '--json', '--store', url],
                                      stdout=subprocess.PIPE, timeout=PATIENCE_SECONDS,
                                      check=True).stdout)
    ok('a row a request', (stats['requests'], stats['sessions'] >= 1), (6, True))
    report = subprocess.run([WEIR, 'report', '--json', '--store', url], stdout=subprocess.PIPE,
                            timeout=PATIENCE_SECONDS, check=True).stdout
    ok('the report has those of all nodes', [part['requests'] for part in
                                             json.loads(report)['models']], [6])
    listed = subprocess.run([WEIR, 'sessions', '--store', url], stdout=subprocess.PIPE, text=True,
                            timeout=PATIENCE_SECONDS, check=False)
    ok('the session is listed', 'rows' in listed.stdout)


def is_ready(node):
    return node.get('/readyz')[0] == 200


def database_restarts(folder, upstream, database):
    """Killed and started again: requests pass meanwhile, and go on as they were."""
    url = database.make('restarts')
    nodes = a_fleet(folder, upstream, url, 2)
    talk = Hopping(nodes, upstream, 'restarts')
    for _ in range(4):
        talk.go_on()
    database.kill()
    ok('nodes say that they are not ready', all(wait_for(lambda n=n: not is_ready(n))
                                                for n in nodes))
    ok('a node lives', nodes[0].get('/healthz')[0], 200)
    status = talk.go_on()[0]
    ok('a request passes without the database', status, 200)
    database.run()
    ok('and ready again', all(wait_for(lambda n=n: is_ready(n)) for n in nodes))
    talk.go_on()
    for _ in range(4):
        ok('what was sent stays', talk.go_on(), (200, True))
    ok('every handle is found', unknown_handles(talk, url), [])
    stop_all(nodes)


def dead_connections_are_opened_again(folder, upstream, database):
    """Connections that the server ends cost nothing but a new one."""
    url = database.make('cut')
    nodes = a_fleet(folder, upstream, url, 2)
    talk = Hopping(nodes, upstream, 'cut')
    talk.go_on()
    for _ in range(5):
        database.ask("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                     " WHERE datname = 'cut'")
        ok('a request passes, and is shortened', is_shortened_again(talk))
    ok('every handle is found', unknown_handles(talk, url), [])
    stop_all(nodes)


def nodes_race(folder, upstream, database):
    """The same request at two nodes at once: one form is kept, and both go on with it."""
    url = database.make('race')
    nodes = a_fleet(folder, upstream, url, 2)
    talk = Hopping(nodes, upstream, 'race')
    for _ in range(6):
        talk.go_on()
        body = chat_session(talk.turns + 1, talk.name)
        keys = [f'race-{talk.turns}-{n}' for n in range(2)]
        threads = [threading.Thread(target=node.post, args=('/v1/chat/completions', body, {
            'x-weir-session': talk.name, 'x-test-key': key})) for node, key in zip(nodes, keys)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        sent = [json.loads(upstream.kept(key))['messages'] for key in keys]
        ok('both send the same', sent[0], sent[1])
        ok('what was sent before stays', sent[0][:len(talk.sent)], talk.sent)
    ok('and so does what comes behind', talk.go_on(), (200, True))
    ok('every handle is found', unknown_handles(talk, url), [])
    stop_all(nodes)


def network_fails(folder, upstream, database):
    """Slow, stalled, reset and refused: requests pass; what was sent stays while it can."""
    database.make('net')
    relay = Relay(database)
    nodes = a_fleet(folder, upstream, relay.url('net'), 1)
    talk = Hopping(nodes, upstream, 'net')
    for _ in range(3):
        talk.go_on()
    relay.mode = 'slow'
    ok('over a slow network it is kept as ever', talk.go_on(), (200, True))
    relay.mode = 'pass'
    relay.cut()
    ok('over a new connection too, and shortened', is_shortened_again(talk))
    relay.mode = 'stall'
    began = time.monotonic()
    ok('a silent database holds nothing up for long', talk.go_on(), (200, True))
    ok('that is for some seconds', time.monotonic() - began < PATIENCE_SECONDS)
    ok('it says that it is not ready', wait_for(lambda: not is_ready(nodes[0])))
    ok('what was sent stays without it', talk.go_on(), (200, True))
    relay.mode = 'refuse'
    relay.cut()
    ok('and where nobody answers', talk.go_on(), (200, True))
    relay.mode = 'pass'
    ok('ready again', wait_for(lambda: is_ready(nodes[0])))
    ok('all goes on, and is shortened again', is_shortened_again(talk))
    ok('every handle is found', unknown_handles(talk, relay.url('net')), [])
    stop_all(nodes)


def last_row(node, talk):
    """What the node says of the talk's last request."""
    asked = len(json.dumps(chat_session(talk.turns, talk.name)))
    return wait_for(lambda: next((line for line in node.log_lines()
                                  if line['body_bytes_received'] == asked), None))


def an_answer_to_a_commit_is_lost(folder, upstream, database):
    """The connection ends behind the commit and before its answer: it is asked for again on a new
    one, and what was committed is what leaves. Where the answer never comes, the new turn leaves
    whole and the marks say otherwise: the next request declares what it changes."""
    url = database.make('lost_answer')
    relay = Listener(database)
    nodes = a_fleet(folder, upstream, relay.url('lost_answer'), 2)
    talk = Hopping(nodes, upstream, 'answer-lost')
    for _ in range(3):
        talk.go_on()
    for _ in range(4):
        relay.mode, before = 'loses', talk.shortened()
        ok('it is kept as ever', talk.go_on(), (200, True))
        ok('the answer was lost', relay.mode, 'pass')
        ok('it is shortened', talk.shortened() > before)
        ok('and so the next', talk.go_on(), (200, True))
    for there in (0, 1):  # the next request: at the same node, and at another
        talk.nodes, relay.mode, before = [nodes[0]], 'hides', talk.shortened()
        ok('without an answer it passes', talk.go_on(), (200, True))
        ok('the answer was hidden', relay.mode, 'pass')
        ok('the new turn is whole', talk.shortened(), before)
        ok('its row says why', last_row(nodes[0], talk)['held_back'],
           'the database does not answer')
        talk.nodes = [nodes[there]]
        wait_for(lambda: int(database.ask('SELECT count(*) FROM weir.request', url)) == talk.turns)
        ok('the next is as the marks say', talk.go_on(), (200, False))
        row = last_row(nodes[there], talk)
        ok('and declares that', (row['step'], row['step_reason']), (True, 'back'))
        ok('and what it lost', (row['cache_bust_cause'], row['cache_bust_at'].partition(': ')[2]),
           ('weir', 'back'))
    ok('every handle is found', unknown_handles(talk, url), [])
    stop_all(nodes)


def who_was_away_is_back_at_once(folder, upstream, database):
    """A thread that found the database away waits for it as ever, once another has written: with a
    tenth of a second for a new connection its first request would go as it came."""
    database.make('back')
    relay = Listener(database)
    nodes = a_fleet(folder, upstream, relay.url('back'), 1)
    talk = Hopping(nodes, upstream, 'back')
    for _ in range(3):
        ok('it is kept as ever', talk.go_on(), (200, True))
    for _ in range(2):
        relay.mode = 'refuse'
        relay.cut()
        ok('without the database it passes', talk.go_on(), (200, True))
        ok('it says that it is not ready', wait_for(lambda: not is_ready(nodes[0])))
        relay.mode, before = 'late', talk.shortened()
        ok('ready again', wait_for(lambda: is_ready(nodes[0])))
        talk.go_on()
        ok('the first request behind that is shortened', talk.shortened() > before)
    ok('every handle is found', unknown_handles(talk, relay.url('back')), [])
    stop_all(nodes)


def database_refuses(folder, upstream, database):
    """No connection left, no room on its disk, and read only as a replica is: each passes, and
    ends."""
    database.ask('CREATE ROLE app LOGIN')
    database.ask('CREATE DATABASE refuses OWNER app')
    url = database.url.replace('weir@', 'app@').replace('/postgres?', '/refuses?')
    admin = database.url.replace('/postgres?', '/refuses?')
    nodes = a_fleet(folder, upstream, url, 1)
    talk = Hopping(nodes, upstream, 'refuses')
    end_all = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = 'app'"
    full = ("CREATE FUNCTION full_1() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION"
            " USING ERRCODE = '53100', MESSAGE = 'no space left'; END $$; CREATE TRIGGER no_room"
            " BEFORE INSERT ON weir.mark EXECUTE FUNCTION full_1()")
    for name, begin, end in (
            ('connections', 'ALTER ROLE app CONNECTION LIMIT 0',
             'ALTER ROLE app CONNECTION LIMIT -1'),
            ('room', full, 'DROP TRIGGER no_room ON weir.mark'),
            ('writing', 'ALTER DATABASE refuses SET default_transaction_read_only = on',
             'ALTER DATABASE refuses SET default_transaction_read_only = off')):
        talk.go_on()
        talk.go_on()
        database.ask(begin, admin)
        database.ask(end_all)
        ok(f'{name}: a request passes, and what was sent stays', talk.go_on(), (200, True))
        database.ask(end, 'options=-cdefault_transaction_read_only=off ' +
                     f'host={database.dir} user=weir dbname=refuses')
        database.ask(end_all)
        ok(f'{name}: ready again', wait_for(lambda: is_ready(nodes[0])))
        ok(f'{name}: all goes on, and is shortened again', is_shortened_again(talk))
    ok('every handle is found', unknown_handles(talk, url), [])
    stop_all(nodes)


def a_node_is_killed(folder, upstream, database):
    """Killed behind any request: another goes on with its sessions."""
    url = database.make('killed')
    nodes = a_fleet(folder, upstream, url, 2)
    talk = Hopping(nodes, upstream, 'killed')
    for n in range(3):
        talk.go_on()
        talk.go_on()
        nodes[n % 2].stop(9)
        nodes[n % 2] = a_fleet(folder, upstream, url, 1)[0]
        ok('what was sent stays', talk.go_on(), (200, True))
    ok('every handle is found', unknown_handles(talk, url), [])
    stop_all(nodes)


def kill_all(node):
    """At once, and nothing of it finishes what it has begun."""
    pids = [node.process.pid] + node.workers()
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    node.stop(signal.SIGKILL)


def a_node_is_killed_anywhere(folder, upstream, database):
    """In the middle of a request, a little later each time: whoever sends it again elsewhere gets
    what fits to what was sent before."""
    url = database.make('killed_anywhere')
    nodes = a_fleet(folder, upstream, url, 2)
    talk = Hopping(nodes, upstream, 'killed-in-a-request')
    talk.go_on()
    for n in range(KILLS):
        body, key = chat_session(talk.turns + 1, talk.name), f'killed-{n}'
        headers = {'x-weir-session': talk.name, 'x-test-key': key}

        def ask(node=nodes[0], body=body, headers=headers):
            try:
                node.post('/v1/chat/completions', body, headers)
            except OSError:
                pass
            except http.client.HTTPException:
                pass
        thread = threading.Thread(target=ask)
        thread.start()
        time.sleep(n * 0.03 / KILLS)
        kill_all(nodes[0])
        thread.join()
        arrived = upstream.kept(key)
        if arrived:  # it came so far
            sent = json.loads(arrived)['messages']
            ok('what it sent before it died fits', sent[:len(talk.sent)], talk.sent)
            talk.sent = sent
            talk.tally['arrived before'] += 1
        talk.nodes = [nodes[1]]
        ok('another goes on with it', talk.go_on(), (200, True))
        nodes = [nodes[1], a_fleet(folder, upstream, url, 1)[0]]
    ok('every handle is found', unknown_handles(talk, url), [])
    stop_all(nodes)


def a_replica_is_promoted(folder, upstream, database):
    """The first server dies, and the one that followed it takes its place: with a commit that waits
    for the replica nothing is missing there."""
    first = Database(folder, name='first')
    second = Database(folder, name='second', follows=first)
    try:
        first.ask("ALTER SYSTEM SET synchronous_standby_names = '*'")
        first.ask("ALTER SYSTEM SET synchronous_commit = 'remote_apply'")
        first.ask('SELECT pg_reload_conf()')
        ok('the replica follows', wait_for(lambda: first.ask(
            'SELECT sync_state FROM pg_stat_replication') == 'sync'))
        url = (f'postgresql://weir@/promoted?host={first.dir},{second.dir}'
               '&target_session_attrs=read-write')
        first.make('promoted')
        nodes = a_fleet(folder, upstream, url, 2)
        talk = Hopping(nodes, upstream, 'promoted')
        for _ in range(5):
            ok('it is kept as ever', talk.go_on(), (200, True))
        first.kill()
        status = talk.go_on()[0]
        ok('a request passes without a database', status, 200)
        second.ask("ALTER SYSTEM SET synchronous_standby_names = ''", second_url(second))
        second.do('promote')
        ok('nodes find the other one', all(wait_for(lambda n=n: is_ready(n)) for n in nodes))
        talk.go_on()
        ok('what was sent stays, and is shortened again', is_shortened_again(talk))
        ok('and so on', talk.go_on(), (200, True))
        ok('every handle is found', unknown_handles(talk, url), [])
        stop_all(nodes)
    finally:
        first.do('remove')
        second.do('remove')


def second_url(server):
    return f'postgresql://weir@/postgres?host={server.dir}'


def a_store_moves(folder, upstream, database):
    """From files into the database while nothing serves, and back: sessions go on as they were."""
    url = database.make('moves')
    alone = serve(folder, upstream, '--policy', 'short')
    talk = Hopping([alone], upstream, 'moved')
    for _ in range(4):
        talk.go_on()
    alone.stop()
    for source, target in ((alone.store, url), (url, os.path.join(folder, 'moved-back'))):
        done = subprocess.run([WEIR, 'store', 'copy', source, target, '--json'],
                              capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
        ok('it is copied whole', (done.returncode, done.stderr), (0, ''))
        ok('its session, rows and hashes', [json.loads(done.stdout)[key] for key in (
            'differ', 'damaged', 'corrupt')], [0, 0, 0])
    talk.nodes = a_fleet(folder, upstream, url, 2)
    for _ in range(3):
        ok('what was sent stays', talk.go_on(), (200, True))
    ok('every handle is found', unknown_handles(talk, url), [])
    stop_all(talk.nodes)


def clocks_are_apart(folder, upstream, database):
    """Nodes whose clocks differ by minutes send the same."""
    if not FAKETIME:
        print('skipped: clocks apart (libfaketime is not installed)')
        return
    url = database.make('clocks')
    nodes = [serve(folder, upstream, '--policy', 'short', database=url, env=env)
             for env in ({**FAKETIME, 'FAKETIME': '+7m'}, {}, {**FAKETIME, 'FAKETIME': '-7m'})]
    talk = Hopping(nodes, upstream, 'clocks')
    talk.go_on()
    for _ in range(6):
        ok('what was sent stays', talk.go_on(), (200, True))
    ok('something is shortened', talk.shortened() > 3)
    ok('every handle is found', unknown_handles(talk, url), [])
    stop_all(nodes)


def behind_a_pooler(folder, upstream, database):
    """pgbouncer in transaction mode, with fewer connections than there are clients."""
    if not os.path.exists('/usr/sbin/pgbouncer'):
        print('skipped: pgbouncer is not installed')
        return
    database.make('pooled')
    port, path = free_port(), os.path.join(folder, 'pgbouncer.ini')
    with open(path, 'w', encoding='ascii') as file:
        file.write(f'[databases]\npooled = host={database.dir} dbname=pooled user=weir\n'
                   f'[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n'
                   'auth_type = any\npool_mode = transaction\ndefault_pool_size = 2\n'
                   'unix_socket_dir =\n')
    command = ['/usr/sbin/pgbouncer', '-q', path]
    if not os.getuid():
        command = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups', *command]
    pooler = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    STARTED.append(pooler)

    def answers():
        try:
            socket.create_connection(('127.0.0.1', port)).close()
            return True
        except OSError:
            return pooler.poll() is not None

    wait_for(answers)
    url = f'postgresql://weir@127.0.0.1:{port}/pooled'
    nodes = a_fleet(folder, upstream, url, 2)
    talk = Hopping(nodes, upstream, 'pooled')
    talk.go_on()
    for _ in range(5):
        ok('what was sent stays', talk.go_on(), (200, True))
    ok('something is shortened', talk.shortened() > 3)
    ok('every handle is found', unknown_handles(talk, url), [])
    stop_all(nodes)
    pooler.terminate()
    pooler.wait()


def nodes_start_together(folder, upstream, database):
    """Many make the tables at once."""
    url = database.make('together')
    results = []

    def start():
        done = subprocess.run([WEIR, 'store', 'gc', '--store', url], capture_output=True, text=True,
                              timeout=PATIENCE_SECONDS, check=False)
        results.append((done.returncode, done.stderr))

    node = serve(folder, upstream, database=url)
    threads = [threading.Thread(target=start) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ok('all of them can use it', [r for r in results if r[0]], [])
    node.stop()


def print_tally():
    print(f'{"":22}requests  refused  changed  handles  lost')
    for name, t in TALLY.items():
        print(f'{name:22}{t["requests"]:8}{t["refused"]:9}{t["changed"]:9}{t["handles"]:9}'
              f'{t["lost"]:6}')


CASES = [any_node_same_bytes, requests_are_one_trip_or_two, nodes_race,
         a_node_is_killed_anywhere, a_replica_is_promoted, a_store_moves, rows_add_up,
         dead_connections_are_opened_again, nodes_start_together, network_fails,
         an_answer_to_a_commit_is_lost, who_was_away_is_back_at_once, database_refuses,
         a_node_is_killed, clocks_are_apart, behind_a_pooler, database_restarts]


def main():
    wanted = sys.argv[1:]
    with Folder() as folder:
        os.chmod(folder, 0o755)
        database = Database(folder)
        upstream = Upstream(folder)
        try:
            for case in CASES:
                if not wanted or case.__name__ in wanted:
                    case(folder, upstream, database)
        finally:
            database.do('remove')
            upstream.stop()
    print_tally()
    return CHECK.end()


if __name__ == '__main__':
    sys.exit(main())

"""Many users of a gateway on two nodes that share a PostgreSQL, while nodes are killed.

gateway_cases.py plays a few of them, bench/soak_gateway.py fifty for as long as it is told. What is
checked is the same: budgets to the request, money against what the clients were told, and that no
user gets at anything of another's by any door.
"""
import collections
import hashlib
import http.client
import json
import os
import re
import signal
import threading
import time

from harness import PATIENCE_SECONDS, Weir
from mcp_cases import Http
from sessions import POLICIES, chat_session, write_policies

ENV = {'PROVIDER_KEY': 'sk-key-of-the-provider'}
OPERATOR = 'token-of-the-operator'
PRICES = (1.25, 0.125, 10)  # gpt-5, USD for a million: input, read from the cache, output
ANSWER_TOKENS = 1000
HANDLE = re.compile(r'wr_[0-9a-f]{20}')


def hash_of(token):
    return hashlib.sha256(token.encode()).hexdigest()


def token_of(name):
    return f'weir-token-of-{name}'


def cost_of(usage):
    """In micro-dollars, rounded as the program does."""
    cached = (usage.get('prompt_tokens_details') or {}).get('cached_tokens', 0)
    pico = round((usage['prompt_tokens'] - cached) * PRICES[0] * 1000 +
                 cached * PRICES[1] * 1000 + usage['completion_tokens'] * PRICES[2] * 1000)
    return (pico + 500) // 1000


def session_of(name):
    """What a user's agent says: nobody else says the same."""
    session = chat_session(4)
    session.update(model='gpt-5', max_completion_tokens=ANSWER_TOKENS)
    session['messages'][0]['content'] += f' secret-words-of-{name}'
    for message in session['messages']:
        if message['role'] == 'tool':  # what two users have alike has one handle for both
            message['content'] += f'\nlast line of {name}\n'
    return session


def most_of(session):
    """Micro-dollars that a request of this session costs at most: no token is shorter than three
    bytes here, nothing was in the cache, and the answer is as long as it may be."""
    return int(len(json.dumps(session)) / 3 * PRICES[0] + ANSWER_TOKENS * PRICES[2]) + 1


class Load:
    """`users` people in teams of five; each may ask `limit` times, and a team `team_limit`."""

    def __init__(self, folder, database, upstream, users, limit, team_limit):
        self.folder, self.database, self.upstream = folder, database, upstream
        self.limit, self.team_limit = limit, team_limit
        self.users = {f'user{i:02d}': f'team{i // 5}' for i in range(users)}
        self.config = self.make_config()
        self.nodes = [self.start(), self.start()]
        self.lock = threading.Lock()
        self.answers = {name: collections.Counter() for name in self.users}
        self.money = collections.Counter()  # that the clients were told
        self.waits = []                     # seconds, of refusals
        self.kills, self.stops, self.delay_ms = 0, False, 0
        self.untold = self.untold_money = 0  # let in, and the client got no answer

    def make_config(self):
        lines = [f'listen: 127.0.0.1:0\nmetrics_token: {OPERATOR}\nkeep: transcript',
                 f'policies: {write_policies(self.folder, POLICIES)}\npolicy: short',
                 f'upstreams:\n  openai: {{base_url: "http://127.0.0.1:{self.upstream.port}/v1",'
                 ' key: {env: PROVIDER_KEY}}', 'users:']
        for name, team in self.users.items():
            lines.append(f'  {name}: {{team: {team}, tokens: [{{sha256: '
                         f'{hash_of(token_of(name))}}}]}}')
        lines.append('budgets:\n'
                     f'  - {{user: "*", per: month, requests: {self.limit}, usd: 100}}\n'
                     f'  - {{team: "*", per: month, requests: {self.team_limit}}}')
        return '\n'.join(lines) + '\n'

    def start(self):
        return Weir(self.folder, env=ENV, config=self.config, database=self.database.url)

    def kill(self, number):
        """kill -9, of all processes of a node; another takes its place."""
        node = self.nodes[number]
        for pid in [node.process.pid, *node.workers()]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        node.process.wait()
        self.nodes[number] = self.start()
        self.kills += 1

    # ---- asking ----

    def ask(self, name, number, body, headers=None):
        """The status of an answer that came whole; 0: the node died over it; -1: nobody listened,
        so that no node can have seen it."""
        began = time.monotonic()
        try:
            status, data, _ = self.nodes[number % 2].post(
                '/v1/chat/completions', body,
                {'Authorization': 'Bearer ' + token_of(name),
                 'x-weir-session': f'secret-session-of-{name}', **(headers or {})})
            answer = json.loads(data)
        except ConnectionRefusedError:
            status, answer = -1, {}
        except (OSError, http.client.HTTPException, ValueError):
            status, answer = 0, {}
        with self.lock:
            self.answers[name][status] += 1
            if status == 200:
                self.money[name] += cost_of(answer['usage'])
            elif status == 429:
                self.waits.append(time.monotonic() - began)
        return status

    def play(self, name, attempts, pause_seconds, until):
        """A user's agent: a session that grows, again and again, on either node; so often at least,
        and until then."""
        session = session_of(name)
        counts = range(2, len(session['messages']) + 1, 2)
        done = i = 0
        while (done < attempts or time.monotonic() < until) and not self.stops:
            count = counts[done % len(counts)]
            delay_ms = 37 * i % self.delay_ms if self.delay_ms else 0
            status = self.ask(name, i, {**session, 'messages': session['messages'][:count]},
                              {'x-test-delay-ms': str(delay_ms)})
            done += status > 0
            i += 1
            time.sleep(pause_seconds or 0.2 * (status <= 0))

    def run(self, attempts, kill_after=(), pause_seconds=0, delay_ms=0):
        """All users at once; nodes are killed after so many seconds each. An answer takes up to
        `delay_ms`, so that a kill finds some under way."""
        self.delay_ms = delay_ms
        until = time.monotonic() + sum(kill_after)
        threads = [threading.Thread(target=self.play, args=(name, attempts, pause_seconds, until))
                   for name in self.users]
        for thread in threads:
            thread.start()
        for number, seconds in enumerate(kill_after):
            time.sleep(seconds)
            self.kill(number % 2)
        for thread in threads:
            thread.join()

    # ---- judging ----

    def counters(self):
        """{scope: (requests, micro_usd, held_micro_usd)} of this month."""
        rows = self.database.ask("SELECT convert_from(scope, 'UTF8'), requests, micro_usd,"
                                 " held_micro_usd FROM weir.spend WHERE period = 2")
        return {row.split('|')[0]: tuple(map(int, row.split('|')[1:]))
                for row in rows.splitlines()}

    def held_tickets(self):
        return int(self.database.ask('SELECT count(*) FROM weir.spend_hold'))

    def judge_budgets(self, ok):
        counters = self.counters()
        for name in self.users:
            requests, used, held = counters[f'user:{name}']
            lost, got = self.answers[name][0], self.answers[name][200]
            ok(f'{name}: no more than the budget', requests <= self.limit)
            # What was let in was answered, or was under way when a node died.
            ok(f'{name}: what was let in is what was answered, and what a kill took',
               got <= requests <= got + lost)
            self.judge_money(ok, name, requests - got, used, held)
        for team in set(self.users.values()):
            members = [name for name, of in self.users.items() if of == team]
            ok(f'{team}: the sum of its users, and no more than its budget',
               counters[f'team:{team}'][0] == sum(counters[f'user:{name}'][0]
                                                  for name in members) <= self.team_limit)
            full = counters[f'team:{team}'][0] == self.team_limit or all(
                counters[f'user:{name}'][0] == self.limit for name in members)
            ok(f'{team}: all of the budget could be used', full)
        ok('what is held is what a kill took', self.held_tickets() <= sum(
            self.answers[name][0] for name in self.users))

    def judge_money(self, ok, name, untold, used, held):
        """`untold` requests were let in and their clients know nothing: each costs its most at
        most. What is held is of these, or of answers that a kill kept from being settled."""
        told, most = self.money[name], most_of(session_of(name))
        ok(f'{name}: money is what the client was told, and at most {untold} times {most} more',
           told <= used <= told + held + untold * most or f'{used} used, {held} held, {told} told')
        if not untold and not held:
            ok(f'{name}: to the micro-dollar', used, told)
        self.untold += untold
        self.untold_money += used - told

    def judge_doors(self, ok, names):
        """Nobody of `names` gets at anything of another's: page, HTTP, MCP, recall, metrics."""
        handles = {}
        for name in names:
            mine = self.see(name, '/weir/v1/traffic/originals?session='
                            f'weir:secret-session-of-{name}')[1]
            found = HANDLE.findall(mine.decode('utf-8', 'replace'))
            ok(f'{name} has originals of its own', bool(found))
            handles[name] = found[0] if found else ''
        for name, other in zip(names, [*names[1:], names[0]]):
            self.judge_pair(ok, name, other, handles)

    def see(self, name, path):
        return self.nodes[len(name + path) % 2].get(path, {'x-weir-token': token_of(name)})[:2]

    def judge_pair(self, ok, name, other, handles):
        session = f'weir:secret-session-of-{other}'
        secrets = (f'secret-session-of-{other}', f'secret-words-of-{other}')
        ok(f'{name} sees its own session', f'secret-session-of-{name}'.encode() in self.see(
            name, '/weir/v1/traffic/sessions?limit=500')[1])
        paths = ['/weir/v1/traffic', '/weir/v1/traffic/sessions?limit=500',
                 f'/weir/v1/traffic/sessions?user={other}',
                 '/weir/v1/traffic/sessions?q=secret', '/weir/v1/traffic/rows?after=0',
                 '/weir/v1/traffic/busts', f'/weir/v1/traffic/session?session={session}',
                 f'/weir/v1/traffic/originals?session={session}',
                 f'/weir/v1/traffic/search?session={session}&q=line',
                 f'/weir/v1/traffic/original?handle={handles[other]}',
                 f'/weir/v1/plan?session={session}', '/weir/v1/pause', '/weir/v1/health', '/']
        leaks = [path for path in paths
                 if any(secret.encode() in self.see(name, path)[1].replace(session.encode(), b'')
                        for secret in secrets)]
        ok(f'{name} sees nothing of {other} on the page', leaks, [])
        for node in self.nodes:
            own = Http(node, **{'x-weir-token': token_of(name)})
            ok(f'{name} recalls its own', own.recall(handle=handles[name])['result']['isError'],
               False)
            ok(f'{name} recalls nothing of {other}',
               own.recall(handle=handles[other])['result']['isError'], True)
            told = json.dumps(own.call('weir_context', {'session': session}))
            ok(f'{name} is told nothing of {other} by MCP',
               any(secret in told.replace(session, '') for secret in secrets), False)
            ok('metrics are not for users', node.get('/metrics', {
                'x-weir-token': token_of(name)})[0], 401)

    def end(self):
        self.stops = True
        for node in self.nodes:
            node.stop()


def wait_until_settled(load, seconds=PATIENCE_SECONDS):
    """What was answered is settled by threads of the nodes: soon, but not with the answer."""
    until = time.monotonic() + seconds
    lost = sum(load.answers[name][0] for name in load.users)
    while load.held_tickets() > lost and time.monotonic() < until:
        time.sleep(0.1)
    last = None
    while time.monotonic() < until:  # those of a kill stay; the rest has come to its end
        now = load.held_tickets()
        if now == last:
            return
        last = now
        time.sleep(1)

#!/usr/bin/env python3
"""Weir as a gateway for a team: named users and their tokens, budgets, nodes that share them.

    gateway_cases.py [CASE...]
"""
import collections
import hashlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading

from fleet_cases import Database
from gateway_load import Load, wait_until_settled
from harness import FAKETIME, Checks, Folder, Upstream, Weir, wait_for
from mcp_cases import Http
from sessions import chat_session, play, write_policies

CHECK = Checks()
ok = CHECK.ok
WEIR = os.environ.get('WEIR', 'build/weir')
ENV = {'PROVIDER_KEY': 'sk-key-of-the-provider'}
MODEL = 'gpt-5'


def hash_of(token):
    return hashlib.sha256(token.encode()).hexdigest()


def token_of(name):
    return f'weir-token-of-{name}'


def users_yaml(users, extra=''):
    """`users` is {name: team}; each has the token that token_of() gives."""
    lines = ['users:']
    for name, team in users.items():
        lines.append(f'  {name}: {{team: {team}, tokens: [{{sha256: {hash_of(token_of(name))}}}]}}')
    return '\n'.join(lines) + '\n' + extra


def config_of(upstream, more):
    return ('listen: 127.0.0.1:0\nmetrics_token: token-of-the-operator\n'
            f'upstreams:\n  openai: {{base_url: "http://127.0.0.1:{upstream.port}/v1",'
            f' key: {{env: PROVIDER_KEY}}}}\n  anthropic: {{base_url:'
            f' "http://127.0.0.1:{upstream.port}/v1", key: {{env: PROVIDER_KEY}}}}\n' + more)


def body_of(words='hello', **more):
    return {'model': MODEL, 'max_completion_tokens': 100,
            'messages': [{'role': 'user', 'content': words}], **more}


def ask(weir, name, session='s', words='hello', headers=None, **more):
    """A request of a user's: the token is where the provider's key would be."""
    return weir.post('/v1/chat/completions', body_of(words, **more),
                     {'Authorization': 'Bearer ' + token_of(name), 'x-weir-session': session,
                      **(headers or {})})


def run_weir(*words, given=''):
    done = subprocess.run([WEIR, *words], input=given, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def metrics(weir):
    return weir.get('/metrics', {'x-weir-token': 'token-of-the-operator'})[1].decode()


def reload(weir, text):
    """The server reads a new weir.yaml, and says so."""
    said = weir.stderr().count('read again')
    weir.write_config(text)
    weir.process.send_signal(signal.SIGHUP)
    ok('a new weir.yaml is read', bool(wait_for(
        lambda: weir.stderr().count('read again') > said)))


def case_token_command(folder):
    code, out, _ = run_weir('token', 'new', 'anna', '--team', 'search', '--days', '9')
    token = out.splitlines()[0]
    ok('a new token is printed', (code, len(token) > 40, '/' in token), (0, True, False))
    ok('with its hash and not itself in the lines for weir.yaml',
       (hash_of(token) in out, out.count(token)), (True, 1))
    path = os.path.join(folder, 'weir.yaml')
    with open(path, 'w', encoding='utf-8') as file:
        file.write(out.partition('\n')[2])
    code, out, err = run_weir('token', 'list', '--config', path)
    ok('those lines are a weir.yaml', (code, err), (0, ''))
    ok('that names the user, team and end', 'anna, team search: 1 token, the last good' in out)
    code, out, _ = run_weir('token', 'hash', given=token + '\n')
    ok('the hash of a token that one has', (code, hash_of(token) in out), (0, True))
    ok('a name that is none', run_weir('token', 'new', 'an na')[0], 2)
    ok('no token at all', run_weir('token', 'hash', given='short')[0], 2)
    ok('two tokens differ', run_weir('token', 'new', 'a')[1] != run_weir('token', 'new', 'a')[1])


def case_users(folder):
    upstream = Upstream(folder)
    config = config_of(upstream, users_yaml({'anna': 'search', 'bob': 'search', 'carl': 'ads'}))
    weir = Weir(folder, config=config, env=ENV)
    for name, headers in (('bearer', {'Authorization': 'Bearer ' + token_of('anna')}),
                          ('x-api-key', {'x-api-key': token_of('anna')}),
                          ('x-weir-token', {'x-weir-token': token_of('anna')})):
        status = weir.post('/v1/chat/completions', body_of(), headers)[0]
        ok(f'a token as {name}', status, 200)
        seen = upstream.last_headers()
        ok(f'the provider gets its own key, and the token as {name} stays here',
           (seen.get('authorization'), token_of('anna') in str(seen)),
           ('Bearer sk-key-of-the-provider', False))
    ok('a token in the path', weir.post(f'/k/{token_of("bob")}/v1/chat/completions',
                                        body_of())[0], 200)
    ok('no token', weir.post('/v1/chat/completions', body_of())[0], 401)
    case_other_paths(weir, upstream)
    ok('the hash of a token opens nothing', weir.post(
        '/v1/chat/completions', body_of(), {'x-weir-token': hash_of(token_of('anna'))})[0], 401)
    ask(weir, 'anna', 'annas')
    line = wait_for(lambda: [line for line in weir.log_lines()
                             if line.get('session') == 'weir:annas'])[-1]
    ok('the line of the log names user, team and money',
       (line['user'], line['team'], line['tenant'], line['micro_usd'] > 0),
       ('anna', 'search', 'user-anna', True))
    page = metrics(weir)
    label = ('weir_traffic_requests_total{user="anna",team="search",model="gpt-5",'
             'upstream="openai",agent=')
    ok('the metrics have who asked whom', label in page)
    costs = [line for line in page.splitlines()
             if line.startswith('weir_traffic_cost_usd_total{user="anna"')]
    ok('and what it cost', bool(costs) and not any(line.endswith(' 0.000000') for line in costs))
    ok('a user may not read them', weir.get('/metrics', {'x-weir-token': token_of('anna')})[0], 401)
    case_users_seen(weir)
    case_rotation(weir, upstream)
    weir.stop()
    upstream.stop()


def case_other_paths(weir, upstream):
    """One key of Weir's is one account at the provider: nobody reads there what others left, and
    nobody spends where it is not counted."""
    token, before = {'x-weir-token': token_of('anna')}, upstream.stats()
    ok('what the account holds is not read', [weir.get(path, token)[0] for path in (
        '/v1/files', '/v1/chat/completions', '/openai/v1/files', '/v1/responses/x/../../files',
        '/v1/models/..%2Ffiles')], [403] * 5)
    ok('nor is asked for what nobody counts', [weir.post(path, body_of(), token)[0] for path in (
        '/v1/batches', '/v1/images/generations', '/v1/messages/batches', '/v1/completions',
        '/v1/chat%2Fcompletions', '/v1/Chat/completions')], [403] * 6)
    ok('and none of it has left', upstream.stats()['connections'], before['connections'] + 1)
    ok('models are listed', weir.get('/v1/models', token)[0], 200)


def case_users_seen(weir):
    """What sessions, report and the page say of users."""
    wait_for(lambda: '"weir:annas"' in run_weir('sessions', '--json', '--store', weir.store)[1])
    rows = [json.loads(line) for line in
            run_weir('sessions', '--json', '--store', weir.store)[1].splitlines()]
    row = next(row for row in rows if row['session'] == 'weir:annas')
    ok('`weir sessions` names them', (row['user'], row['team']), ('anna', 'search'))
    only = run_weir('sessions', '--json', '--user', 'carl', '--store', weir.store)[1]
    ok('and lists those of one alone', only, '')
    ok('or of a model or an upstream', [len(run_weir(
        'sessions', '--json', *words, '--store', weir.store)[1].splitlines()) for words in (
            ('--model', MODEL), ('--model', 'x'), ('--upstream', 'openai'), ('--upstream', 'x'))],
       [len(rows), 0, len(rows), 0])
    table = run_weir('sessions', '--team', 'search', '--store', weir.store)[1]
    ok('in the table too', 'user' in table.splitlines()[0] and 'anna' in table)
    report = json.loads(run_weir('report', '--json', '--store', weir.store)[1])
    ok('`weir report` adds up by user', {part['user']: part['requests']
                                        for part in report['users']}, {'anna': 4, 'bob': 1})
    ok('and by team', [part['team'] for part in report['teams']], ['search'])
    ok('as a table', 'bob' in run_weir('report', '--store', weir.store)[1])
    seen = json.loads(weir.get('/weir/v1/traffic/sessions',
                               {'x-weir-token': token_of('anna')})[1])
    ok('the page shows the name', {s['user'] for s in seen['sessions']}, {'anna'})
    other = json.loads(weir.get('/weir/v1/traffic/sessions',
                                {'x-weir-token': token_of('carl')})[1])
    ok("and no session of another's", other['sessions'], [])


def case_rotation(weir, upstream):
    """A token comes, is replaced and goes without a restart."""
    def both(*tokens):
        listed = ', '.join('{sha256: %s%s}' % (hash_of(token), more) for token, more in tokens)
        return config_of(upstream, f'users:\n  anna: {{tokens: [{listed}]}}\n')

    def status_of(token):
        return weir.post('/v1/chat/completions', body_of(), {'x-weir-token': token})

    worker = weir.worker()
    old, new = token_of('anna'), 'weir-the-next-token'
    reload(weir, both((old, ''), (new, '')))
    ok('both are good while they change', [status_of(t)[0] for t in (old, new)], [200, 200])
    reload(weir, both((new, '')))
    ok('the old one is gone', [status_of(t)[0] for t in (old, new)], [401, 200])
    reload(weir, both((new, ', expires: 2026-01-01')))
    ok('one that has expired is refused, and told so',
       (status_of(new)[0], b'expired' in status_of(new)[1]), (401, True))
    ok('others are refused as well', status_of(token_of('bob'))[0], 401)
    for nobody in ('users: {}\n', 'users: {anna: {team: search}}\n', 'tokens: []\n'):
        reload(weir, config_of(upstream, nobody))
        ok(f'where nobody has one any more nobody comes in: {nobody}',
           [status_of(new)[0], weir.post('/v1/chat/completions', body_of())[0],
            weir.get('/weir/v1/traffic')[0], weir.get('/metrics')[0]], [401] * 4)
    ok('and no process was restarted', weir.worker(), worker)


def case_teams(folder):
    """tenant_by: team: what one user's request stored, the team's others can see."""
    upstream = Upstream(folder)
    weir = Weir(folder, env=ENV, config=config_of(upstream, users_yaml(
        {'anna': 'search', 'bob': 'search', 'carl': 'ads'}, 'tenant_by: team\n')))
    ask(weir, 'anna', 'shared')
    wait_for(lambda: '"weir:shared"' in run_weir('sessions', '--json', '--store', weir.store)[1])

    def sessions_of(name):
        return [s['session'] for s in json.loads(weir.get(
            '/weir/v1/traffic/sessions', {'x-weir-token': token_of(name)})[1])['sessions']]

    ok('the team sees it', sessions_of('bob'), ['weir:shared'])
    ok('another team does not', sessions_of('carl'), [])
    ok('the line has the team as tenant', weir.log()[0]['tenant'], 'team-search')
    weir.stop()
    upstream.stop()


def settled(weir_store, scope):
    """The counters of a user or team in the file of a store: {period: (requests, tokens, ...)}."""
    with sqlite3.connect(os.path.join(weir_store, 'store.db'), timeout=60) as db:
        return {row[0]: row[1:] for row in db.execute(
            'SELECT period, requests, tokens, micro_usd, held_tokens, held_micro_usd FROM spend'
            ' WHERE scope = ? ORDER BY start_ms', (scope,))}


def month_is_settled(weir, name):
    """A user's counters of this month, when nothing is held any more, or nobody waits for it."""
    def row():
        return settled(weir.store, 'user:' + name).get(2)
    return wait_for(lambda: (now := row()) and now[3:] == (0, 0) and now) or row()


def case_budgets(folder):
    upstream = Upstream(folder)
    weir = Weir(folder, env=ENV, config=config_of(upstream, users_yaml(
        {'anna': 'search', 'bob': 'search', 'carl': 'ads'}, """budgets:
  - {user: anna, per: day, requests: 5}
  - {team: search, per: month, requests: 8}
  - {user: carl, per: month, usd: 0.000001, action: warn}
""")))
    got = [ask(weir, 'anna') for _ in range(7)]
    ok('as many as the budget has', [answer[0] for answer in got], [200] * 5 + [429] * 2)
    status, body, headers = got[-1]
    ok('the refusal is an error of the API', 'user:anna day 5 requests of 5 requests'
       in json.loads(body)['error']['message'], True)
    ok('and says when it is free again', (0 < int(headers['retry-after']) <= 86400,
                                          'T00:00:00Z' in body.decode()), (True, True))
    ok('no client is to wait that long by itself', headers.get('x-should-retry'), 'false')
    message = weir.post('/v1/messages', {'model': 'claude-sonnet-4-5', 'max_tokens': 10,
                                         'messages': [{'role': 'user', 'content': 'x'}]},
                        {'x-api-key': token_of('anna'), 'anthropic-version': '2023-06-01'})
    ok('in the shape of the other API too',
       (message[0], json.loads(message[1])['type'], json.loads(message[1])['error']['type']),
       (429, 'error', 'rate_limit_error'))
    user = {'role': 'user'}
    for path, body, found in (
            ('/v1/responses', {'model': MODEL, 'input': 'x'}, lambda e: e['error']['message']),
            ('/v1beta/models/gemini-2.5-pro:generateContent',
             {'contents': [{**user, 'parts': [{'text': 'x'}]}]},
             lambda e: e['error']['message'] * (e['error']['code'] == 429)),
            ('/api/chat', {'model': 'llama3', 'messages': [{**user, 'content': 'x'}]},
             lambda e: e['error']),
            ('/model/anthropic.claude-sonnet-4-5-v1:0/converse',
             {'messages': [{**user, 'content': [{'text': 'x'}]}]}, lambda e: e['message'])):
        status, said, _ = weir.post(path, body, {'x-weir-token': token_of('anna')})
        ok(f'and in that of {path}', (status, 'used up' in found(json.loads(said))), (429, True))
    got = [ask(weir, 'bob')[0] for _ in range(5)]
    ok("the team's budget holds for all of it", got, [200] * 3 + [429] * 2)
    ok('what only counts tokens is free', weir.post(
        '/v1/messages/count_tokens', {'model': 'claude-sonnet-4-5', 'messages': [
            {'role': 'user', 'content': 'x'}]},
        {'x-api-key': token_of('anna'), 'anthropic-version': '2023-06-01'})[0], 200)
    seen = upstream.stats()['requests']
    ok('nothing that was refused reached the provider', seen, 9)
    first, second = ask(weir, 'carl'), ask(weir, 'carl')
    ok('a budget that warns lets in', (first[0], second[0]), (200, 200))
    ok('and says so', second[2].get('x-weir-budget', '').startswith(
        'over: user:carl month '), True)
    lines = [line for line in weir.log(19) if line.get('budget')]
    ok('the log has both', {line['budget'].partition(':')[0] for line in lines},
       {'refused', 'over'})
    page = metrics(weir)
    ok('and the metrics', ('weir_budget_refusals_total 9' in page,
                           'weir_budget_warnings_total 2' in page), (True, True))
    ok('all is settled in the end', wait_for(
        lambda: all(row[3:] == (0, 0) for row in settled(weir.store, 'team:search').values())))
    costs = [line for line in weir.log_lines() if line.get('user') == 'anna'
             and line['status'] == 200 and line.get('micro_usd')]
    day = settled(weir.store, 'user:anna')[1]
    ok('the money is what the requests did cost',
       (day[0], day[2]), (5, sum(line['micro_usd'] for line in costs)))
    ok('and the tokens what the provider counted', day[1], sum(
        line['usage_input_tokens'] + line['usage_output_tokens'] for line in costs))
    reload(weir, config_of(upstream, users_yaml({'anna': 'search'}, """budgets:
  - {user: anna, per: day, requests: 6}
""")))
    ok('a budget is raised without a restart, and what was used stays',
       [ask(weir, 'anna')[0] for _ in range(2)], [200, 429])
    weir.stop()
    upstream.stop()


def case_calendar(folder):
    """A month ends for everybody at once, and does not come back when a clock is set."""
    if not FAKETIME:
        print('note: skipped: libfaketime is not installed')
        return
    upstream = Upstream(folder)
    config = config_of(upstream, users_yaml({'anna': 'search'}, """budgets:
  - {user: anna, per: month, requests: 2}
  - {user: anna, per: day, requests: 3}
"""))

    def ask_at(time, times, store=None):
        weir = Weir(folder, env={**ENV, **FAKETIME, 'FAKETIME': '@' + time, 'TZ': 'UTC'},
                    config=config, store=store)
        answers = [ask(weir, 'anna') for _ in range(times)]
        weir.stop()
        return weir.store, answers
    store, answers = ask_at('2027-12-31 23:00:00', 3)
    ok('two in December', [answer[0] for answer in answers], [200, 200, 429])
    wait_s = int(answers[2][2].get('retry-after', 0))
    ok('the rest is told when it ends', (0 < wait_s <= 3600, '2028-01-01T00:00:00Z' in
                                         answers[2][1].decode()), (True, True))
    answers = ask_at('2028-01-01 00:00:01', 3, store)[1]
    ok('two more in January', [answer[0] for answer in answers], [200, 200, 429])
    ok('whose end is another', '2028-02-01T00:00:00Z' in answers[2][1].decode())
    answers = ask_at('2027-12-31 23:30:00', 1, store)[1]
    ok('a clock that is set back gives nothing back', answers[0][0], 429)
    upstream.stop()


def case_money(folder):
    """Money is reserved at its most and settled at what it was."""
    upstream = Upstream(folder)

    def config(budgets):
        return config_of(upstream, users_yaml({'anna': 'search'}, 'budgets:\n' + budgets))

    weir = Weir(folder, env=ENV, config=config('  - {user: anna, per: month, usd: 0.01}\n'))
    status, body, headers = ask(weir, 'anna', max_completion_tokens=110000)
    ok('an answer that could cost more than is left is not asked for', status, 429)
    ok('and the message says how much it may take', 'may take 1.1' in body.decode(), True)
    ok('a short one is', ask(weir, 'anna')[0], 200)
    ok('a model without a price cannot be counted in money', ask(
        weir, 'anna', model='nobody-knows-me')[0], 403)
    weir.stop()
    held = Weir(folder, env=ENV, config=config('  - {user: anna, per: month, usd: 0.002}\n'),
                store=None)
    answers = []

    def slow():
        answers.append(ask(held, 'anna', headers={'x-test-delay-ms': '1500'}))
    thread = threading.Thread(target=slow)
    thread.start()
    wait_for(lambda: settled(held.store, 'user:anna').get(2, (0,))[0] == 1, 20)
    second = ask(held, 'anna')
    ok('what a request under way may cost is held', (second[0], second[2].get('retry-after')),
       (429, '5'))
    thread.join()
    ok('the first is answered', answers[0][0], 200)
    ok('and what it did not cost is free', wait_for(lambda: ask(held, 'anna')[0] == 200, 10))
    held.stop()
    upstream.stop()


def kill_with_workers(weir):
    """kill -9, of the server and all its processes."""
    pids = [weir.process.pid, *weir.workers()]
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    weir.process.wait()


def case_nodes(folder):
    """Two nodes on one PostgreSQL: limits are exact across them, and across kill -9."""
    database = Database(folder)
    upstream = Upstream(folder)
    config = config_of(upstream, users_yaml({f'u{i}': f't{i % 2}' for i in range(4)}, """budgets:
  - {user: "*", per: month, requests: 10}
  - {team: t0, per: month, requests: 15}
"""))
    nodes = [Weir(folder, env=ENV, config=config, database=database.url) for _ in range(2)]
    counts, lock = collections.Counter(), threading.Lock()

    def load(name, start):
        for i in range(14):
            status = ask(nodes[(start + i) % 2], name, session=f'{name}-{i % 3}')[0]
            with lock:
                counts[name, status] += 1
    threads = [threading.Thread(target=load, args=(f'u{i}', i)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    ok('each user is let in ten times, on both nodes together',
       [counts[f'u{i}', 200] for i in (1, 3)], [10, 10])
    ok("and a team's users fifteen times", counts['u0', 200] + counts['u2', 200], 15)
    ok('the rest is refused', sum(n for (_, status), n in counts.items() if status == 429),
       4 * 14 - 35)
    ok('the provider saw no other', upstream.stats()['requests'], 35)
    case_node_dies(folder, database, upstream, nodes)
    for node in nodes[1:]:
        node.stop()
    upstream.stop()
    database.do('remove')


def case_node_dies(folder, database, upstream, nodes):
    """What a killed node had let in stays counted, once."""
    config = config_of(upstream, users_yaml({'dora': 'd'}, """budgets:
  - {user: dora, per: month, requests: 6, usd: 0.02}
"""))
    reload(nodes[0], config)
    reload(nodes[1], config)

    def slow():
        try:
            ask(nodes[0], 'dora', headers={'x-test-delay-ms': '60000'})
        except OSError:  # the node is killed
            pass
    thread = threading.Thread(target=slow)
    thread.start()

    def counted(column):
        return database.ask(f"SELECT {column} FROM weir.spend WHERE period = 2"
                            " AND scope = 'user:dora'")
    wait_for(lambda: counted('requests') == '1', 20)
    kill_with_workers(nodes[0])
    thread.join()
    ok('a request of a killed node is counted', counted('requests'), '1')
    got = [ask(nodes[1], 'dora')[0] for _ in range(7)]
    ok('so the other node lets in five more', got, [200] * 5 + [429] * 2)
    ok('what the dead one held is held, and nothing else', wait_for(lambda: database.ask(
        'SELECT count(*) FROM weir.spend_hold') == '1'))


def case_health(folder):
    """What is open to whoever watches the server, and to nobody else's requests."""
    upstream = Upstream(folder)
    config = config_of(upstream, users_yaml({'anna': 'search'}))
    weir = Weir(folder, config=config, env=ENV)
    paths = ('/healthz', '/readyz', '/weir/v1/health', '/')
    ok('health needs no token', [weir.get(path)[0] for path in paths], [200] * 4)
    ok('and is not forwarded', upstream.stats()['requests'], 0)
    ok('the root says what this is', weir.get('/')[1].startswith(b'Weir '), True)
    ok('nothing else is open', [weir.get(path)[0] for path in (
        '/v1/models', '/weir/v1/traffic/sessions', '/healthz/x', '/metrics')], [401] * 4)
    ok('nor to write', weir.post('/healthz', {})[0], 401)
    upstream.stop()
    ok('an upstream that is gone', [ask(weir, 'anna')[0] for _ in range(3)], [502] * 3)
    status, body, _ = weir.get('/readyz')
    ok('makes it not ready, and says why', (status, b'upstream openai: not reached' in body),
       (503, True))
    ok('while it lives', weir.get('/healthz')[0], 200)
    again = Upstream(folder)
    reload(weir, config.replace(str(upstream.port), str(again.port)))
    ok('the first answer makes it ready again', (ask(weir, 'anna')[0], weir.get('/readyz')[:2]),
       (200, (200, b'ok\n')))
    weir.stop()
    again.stop()


def case_check_config(folder):
    path, token = os.path.join(folder, 'check.yaml'), os.path.join(folder, 'metrics-token')
    with open(token, 'w', encoding='utf-8') as file:
        file.write('token-of-a-file-xx\n')

    def check(text, **env):
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        done = subprocess.run([WEIR, 'serve', '--check-config', '--config', path, '--store',
                               folder], env={**os.environ, **env}, capture_output=True, text=True,
                              check=False)
        return done.returncode, done.stdout + done.stderr

    text = ('listen: ${WHERE:-127.0.0.1:0}\nmetrics_token: {file: %s}\n' % token +
            users_yaml({'anna': 'search'}, 'budgets: [{user: anna, per: day, usd: 1}]\n'))
    code, out = check(text)
    ok('a file that is right', (code, 'users: 1, their tokens: 1' in out, 'budgets: 1' in out),
       (0, True, True))
    ok('a variable is taken', '0.0.0.0:1' in check(text, WHERE='0.0.0.0:1')[1], True)
    code, out = check(text + 'log: ${NOT_SET}\n')
    ok('one that is not set is told with its place',
       (code, out.count('\n'), 'line 6, column 6' in out), (2, 1, True))
    code, out = check(text + f'audit: {folder}/no/such/file\n')
    ok('an audit that is named can be written', (code, f'audit {folder}/no/such/file cannot be '
                                                 'written: No such file' in out), (2, True))
    check(text)
    for words in (['--check-config'], []):
        code, _, err = run_weir('serve', '--without-store', '--config', path, *words)
        ok(f'budgets need a store {words}', (code, 'counted in the store' in err), (2, True))
    ok('a budget of nobody', check(text.replace('user: anna', 'user: dora'))[0], 2)
    for more in ('', 'users: {}\n', 'tokens: []\n', 'users: {anna: {team: search}}\n'):
        ok(f'no token on a shared address {more}', check('listen: 0.0.0.0:0\n' + more)[0], 2)


def case_audit(folder):
    """Every act of an administrator's is a line, without a word of what was said."""
    upstream = Upstream(folder)
    config = config_of(upstream, users_yaml({'anna': 'search'}, f'policy: short\npolicies: '
                                            f'{write_policies(folder)}\n'))
    weir = Weir(folder, config=config, env=ENV)
    token = {'x-weir-token': token_of('anna'), 'Content-Type': 'application/json'}
    ok('a session, of which something leaves', play(weir, chat_session(
        4, words='a secret word'), {**token, 'x-weir-session': 's'}), 200)
    wait_for(lambda: 'weir:s' in run_weir('sessions', '--json', '--store', weir.store)[1])
    for act, body in (('pause', {}), ('resume', {}), ('policy', {'policy': 'tiered'}),
                      ('pin', {'session': 'weir:s', 'tool': 'Read'})):
        ok(f'{act} is done', weir.request('POST', f'/weir/v1/{act}', body, token)[0], 200)
    for act, name, said in (('exact', 'weir:s', False), ('pin', 'weir:nosuch', None)):
        ok(f'{act} of {name} is not done', json.loads(weir.request('POST', f'/weir/v1/{act}', {
            'session': name, 'tool': 'Read'}, token)[1]).get('said'), said)
    weir.get('/weir/v1/pause', token)
    for do, more in (('plan', {}), ('pin', {'tool': 'Edit'}), ('undo', {}), ('nonsense', {})):
        Http(weir, **{'x-weir-token': token_of('anna')}).call(
            'weir_steer', {'do': do, 'session': 'weir:s', **more})
    weir.post('/weir/v1/login', {}, token)
    for _ in range(20):
        weir.post('/weir/v1/login', {}, {'x-weir-token': 'nobody'})
    weir.post('/weir/v1/logout', {}, token)
    weir.get('/metrics')
    metrics(weir)
    reload(weir, config)
    weir.write_config('mode: nonsense\n')
    weir.process.send_signal(signal.SIGHUP)
    wait_for(lambda: 'nothing has changed' in weir.stderr())
    weir.stop()
    with open(os.path.join(weir.store, 'audit.jsonl'), encoding='utf-8') as file:
        text = file.read()
    acts = [json.loads(line) for line in text.splitlines()]
    ok('each is a line, in order', [(act['act'], act['done']) for act in acts],
       [('start', True), ('steer.pause', True), ('steer.resume', True), ('steer.policy', True),
        ('steer.pin', True), ('steer.exact', False), ('steer.pin', False), ('mcp.pin', True),
        ('mcp.undo', False), ('login', True), ('login', False), ('logout', True),
        ('metrics', False), ('metrics', True), ('reload', True), ('reload', False),
        ('stop', True), ('login', False)])
    ok('with who did it', {tuple(act.get(key) for key in ('user', 'team', 'tenant', 'session'))
                           for act in acts if act['act'] in ('steer.exact', 'mcp.pin', 'mcp.undo')},
       {('anna', 'search', 'user-anna', 'weir:s')})
    ok('one line stands for many refusals', acts[-1].get('times'), 19)
    ok('and nothing of what was said, no token either',
       any(word in text for word in ('secret', 'weir-token', 'token-of')), False)
    store = os.path.join(folder, 'no-audit')
    os.makedirs(os.path.join(store, 'audit.jsonl'))
    mute = Weir(folder, config=config, env=ENV, store=store)
    ok('where it cannot be written unasked, the server serves, and says so', bool(wait_for(
        lambda: 'audit.jsonl cannot be written: Is a directory' in mute.stderr())))
    mute.stop()
    upstream.stop()


def case_isolation(folder):
    """A few users on two nodes, one of which is killed: budgets, and every door."""
    database, upstream = Database(folder, name='pg2'), Upstream(folder)
    load = Load(folder, database, upstream, users=6, limit=8, team_limit=36)
    load.run(11, [1.0])
    wait_until_settled(load)
    load.judge_budgets(ok)
    load.judge_doors(ok, list(load.users)[:3])
    case_slow_database(load, 'user03')
    load.end()
    upstream.stop()
    database.do('remove')


def case_slow_database(load, name):
    """However long the database takes to find the first row, an answer brings some."""
    lock = subprocess.Popen(['psql', '-qAtX', '-d', load.database.url, '-c', 'BEGIN', '-c',
                             'LOCK TABLE weir.tenant IN ACCESS EXCLUSIVE MODE', '-c',
                             'SELECT pg_sleep(1)', '-c', 'COMMIT'], stdout=subprocess.DEVNULL)
    ok('the database is made to wait', wait_for(lambda: load.database.ask(
        "SELECT count(*) FROM pg_locks WHERE relation = 'weir.tenant'::regclass"
        " AND mode = 'AccessExclusiveLock' AND granted") == '1'))
    seen = json.loads(load.see(name, '/weir/v1/traffic/sessions')[1])
    ok('a list that was asked for meanwhile has the session',
       [s['session'] for s in seen['sessions']], [f'weir:secret-session-of-{name}'])
    lock.wait()


CASES = {name[5:]: case for name, case in list(globals().items())
         if name in ('case_token_command', 'case_users', 'case_teams', 'case_budgets',
                     'case_money', 'case_calendar', 'case_nodes', 'case_health',
                     'case_check_config', 'case_audit', 'case_isolation')}


def main(names):
    with Folder() as folder:
        os.chmod(folder, 0o755)  # the database is another user's
        for name in names or CASES:
            CASES[name](folder)
    return CHECK.end()


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
"""Weir as a gateway for a team: named users and their tokens.

    gateway_cases.py [CASE...]
"""
import hashlib
import json
import os
import signal
import subprocess
import sys

from harness import Checks, Folder, Upstream, Weir, wait_for

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
    ok('the hash of a token opens nothing', weir.post(
        '/v1/chat/completions', body_of(), {'x-weir-token': hash_of(token_of('anna'))})[0], 401)
    ask(weir, 'anna', 'annas')
    line = [line for line in weir.log(5) if line.get('session') == 'weir:annas'][-1]
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


def case_users_seen(weir):
    """What sessions, report and the page say of users."""
    wait_for(lambda: '"weir:annas"' in run_weir('sessions', '--json', '--store', weir.store)[1])
    rows = [json.loads(line) for line in
            run_weir('sessions', '--json', '--store', weir.store)[1].splitlines()]
    row = next(row for row in rows if row['session'] == 'weir:annas')
    ok('`weir sessions` names them', (row['user'], row['team']), ('anna', 'search'))
    only = run_weir('sessions', '--json', '--user', 'carl', '--store', weir.store)[1]
    ok('and lists those of one alone', only, '')
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


CASES = {name[5:]: case for name, case in list(globals().items())
         if name in ('case_token_command', 'case_users', 'case_teams')}


def main(names):
    with Folder() as folder:
        for name in names or CASES:
            CASES[name](folder)
    return CHECK.end()


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))

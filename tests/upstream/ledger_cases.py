#!/usr/bin/env python3
"""What stays of requests: rows in the store, and the commands that read them.

    ledger_cases.py [CASE...]
"""
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading

from harness import PATIENCE_SECONDS, Folder, Upstream, Weir, wait_for, whole_lines
from sessions import ANTHROPIC, CHECK, chat_session, ok, play, serve, write_policies

PROGRAM = os.environ.get('WEIR', 'build/weir')
PAGE = 'docs/telemetry.md'


def run(*arguments, env=None):
    """The program's exit status, stdout and stderr."""
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, check=False,
                          timeout=PATIENCE_SECONDS, env={**os.environ, **(env or {})})
    return done.returncode, done.stdout, done.stderr


def rows(store):
    path = os.path.join(store, 'store.db')
    with sqlite3.connect(f'file:{path}?mode=ro', uri=True) as db:
        found = db.execute('SELECT s.name, r.agent, r.model, r.time_ms, r.line FROM request r'
                           ' JOIN session s ON s.id = r.session_id ORDER BY r.id').fetchall()
    db.close()
    return found


def integrity(store):
    db = sqlite3.connect(os.path.join(store, 'store.db'))
    answer = db.execute('PRAGMA integrity_check').fetchone()[0]
    db.close()
    return answer


def lines_of(weir):
    return whole_lines(os.path.join(weir.store, 'requests.jsonl'))


def session_of(weir, name, turns=6, agent='pi/1.0', **more):
    return play(weir, chat_session(turns, **more), {'User-Agent': agent, 'x-weir-session': name})


# ---- rows ----

def rows_are_the_log(folder, upstream):
    weir = serve(folder, upstream)
    ok('a session is played', session_of(weir, 'one'), 200)
    ok('and another', session_of(weir, 'two', 3, 'codex_exec/1.0 (Linux)'), 200)
    weir.post('/v1/messages', {'model': 'claude-opus-5', 'max_tokens': 9, 'messages': [
        {'role': 'user', 'content': 'hi'}]}, {**ANTHROPIC, 'x-test-status': '529'})
    weir.get('/v1/models')
    weir.post('/v1/messages/count_tokens', {'model': 'claude-opus-5', 'messages': [
        {'role': 'user', 'content': 'hi'}]}, ANTHROPIC)
    weir.stop()
    kept = rows(weir.store)
    logged = [line for line in lines_of(weir)
              if line['path'] and 'count_tokens' not in line['path']]
    ok('there are as many rows as requests for answers', (len(kept), len(logged)), (12, 12))
    ok('each is its line', [json.loads(row[4]) for row in kept] == logged)
    ok('with the session', [row[0] for row in kept] == [line['session'] for line in logged])
    ok('the agent', [row[1] for row in kept], ['pi'] * 7 + ['codex'] * 4 + [''])
    ok('the model', [row[2] for row in kept] == [line['model'] for line in logged])
    ok('and the time', [row[3] for row in kept] == [line['time_ms'] for line in logged])
    ok('a failed request is there too', json.loads(kept[-1][4])['status'], 529)
    return weir.store


def rows_are_counted(folder, upstream):
    weir = serve(folder, upstream)
    session_of(weir, 'one', 2)
    ok('rows that were kept are counted',
       bool(wait_for(lambda: weir.metric('weir_ledger_rows_total') == 3)))
    ok('none was lost', weir.metric('weir_ledger_rows_lost_total'), 0)
    code, out, _ = run('store', 'stats', '--json', '--store', weir.store)
    ok('the store counts them too', (code, json.loads(out)['requests']), (0, 3))
    weir.stop()


def weir_alone_says_what_there_is(folder, upstream):
    home = os.path.join(folder, 'data')
    env = {'XDG_DATA_HOME': home}
    code, out, err = run(env=env)
    ok('weir alone greets', (code, err), (0, ''))
    ok('nothing runs yet', 'running   nothing' in out and 'saved     nothing yet\n' in out)
    ok('and nothing was made', os.path.exists(home), False)
    os.makedirs(os.path.join(home, 'weir'))
    weir = serve(folder, upstream, store=os.path.join(home, 'weir'))
    session_of(weir, 'one', 2)
    wait_for(lambda: weir.metric('weir_ledger_rows_total') == 3)
    _, out, _ = run(env=env)
    ok('it says where a server is', f'running   http://127.0.0.1:{weir.port}, mode active' in out)
    ok('and what was saved', bool(re.search(
        r'^saved     -?\$[0-9.]+ of \$[0-9.]+ \(-?[0-9]+ %\) in 30 days, 3 requests$', out, re.M)))
    ok('in lines that fit', max(map(len, out.splitlines())) <= 80)
    weir.stop()
    ok('one that has stopped is not there', 'running   nothing' in run(env=env)[1])


def a_held_store_stops_nobody(folder, upstream):
    weir = serve(folder, upstream)
    session_of(weir, 'before', 1)
    wait_for(lambda: weir.metric('weir_ledger_rows_total') == 2)
    holder = sqlite3.connect(os.path.join(weir.store, 'store.db'), isolation_level=None,
                             timeout=PATIENCE_SECONDS)
    holder.execute('BEGIN IMMEDIATE')
    ok('a request is answered while the store is held',
       weir.post('/v1/chat/completions', chat_session(0), {'x-weir-session': 'during'})[0], 200)
    holder.execute('ROLLBACK')
    holder.close()
    ok('its row comes when the store is free',
       bool(wait_for(lambda: weir.metric('weir_ledger_rows_total') == 3)))
    weir.stop()


def a_kill_loses_the_last_moment_only(folder, upstream):
    store = None
    before = 0
    for number in range(4):
        weir = serve(folder, upstream, store=store)
        store = weir.store
        session_of(weir, f's{number}', 3)
        wait_for(lambda: weir.metric('weir_ledger_rows_total') == 4)
        kept = len(rows(store))
        session_of(weir, f't{number}', 1)
        worker = weir.worker()
        os.kill(worker, signal.SIGKILL)
        weir.stop(signal.SIGKILL)
        wait_for(lambda: not os.path.exists(f'/proc/{worker}/exe'))
        after = len(rows(store))
        ok('what was written stays', kept - before, 4)
        ok('what was not may be lost', kept <= after <= kept + 2)
        ok('the file is good', integrity(store), 'ok')
        ok('and so says the store', run('store', 'verify', '--store', store)[0], 0)
        before = after
    ok('every row is whole', all(json.loads(row[4])['status'] == 200 for row in rows(store)))


def purge_takes_the_rows(folder, upstream):
    weir = serve(folder, upstream)
    session_of(weir, 'needle-session', 3, 'opencode/1.0')
    session_of(weir, 'stays', 1)
    weir.stop()
    os.remove(os.path.join(weir.store, 'requests.jsonl'))
    code, out, _ = run('store', 'purge', '--session', 'weir:needle-session', '--json', '--store',
                       weir.store)
    ok('a purge says how many rows went', (code, json.loads(out)['requests']), (0, 4))
    ok('they are gone', {row[0] for row in rows(weir.store)}, {'weir:stays'})
    found = [name for name in os.listdir(weir.store)
             if b'needle-session' in open(os.path.join(weir.store, name), 'rb').read()]
    ok('without a trace', found, [])
    ok('the report is gone too', run('why', 'needle', '--store', weir.store)[0], 2)
    code, out, _ = run('store', 'gc', '--days', '1', '--live-hours', '0', '--json', '--store',
                       weir.store)
    ok('what is young stays', (code, json.loads(out)['requests']), (0, 0))


# ---- the commands ----

def sessions_are_listed(store):
    code, out, err = run('sessions', '--json', '--store', store)
    listed = [json.loads(line) for line in out.splitlines()]
    ok('sessions come newest first', (code, err, [s['session'] for s in listed][1:]),
       (0, '', ['weir:two', 'weir:one']))
    one = listed[2]
    ok('with agent, model and requests', (one['agent'], one['model'], one['requests']),
       ('pi', 'gpt-4o-mini', 7))
    ok('fewer tokens were sent than came', 0 < one['sent_tokens'] < one['raw_tokens'])
    ok('which was worth something', one['saved_micro_usd'],
       one['unchanged_micro_usd'] - one['micro_usd'])
    ok('and is more than nothing', one['saved_micro_usd'] > 0)
    ok('the failed one is counted so', listed[0]['failed'], 1)
    code, out, err = run('sessions', '--store', store, env={'COLUMNS': '200'})
    ok('a table has a line each', (code, err, len(out.splitlines())), (0, '', 4))
    ok('that names the session', 'weir:one' in out and 'weir:two' in out)
    ok('an agent can be asked for',
       [json.loads(line)['session'] for line in
        run('sessions', '--json', '--agent', 'codex', '--store', store)[1].splitlines()],
       ['weir:two'])
    ok('and a time', len(run('sessions', '--json', '--since', '1h', '--store', store)[1]
                         .splitlines()), 3)
    ok('of which nothing may be', run('sessions', '--json', '--since', '4000000000', '--store',
                                      store)[1], '')


def context_is_shown(store):
    code, out, err = run('context', 'one', '--json', '--store', store)
    context = json.loads(out)
    ok('a session is found by how it begins', (code, err, context['session']), (0, '', 'weir:one'))
    parts = {name: n for name, n in context['categories'].items() if name != 'free'}
    ok('the kinds add up to what was sent', sum(parts.values()),
       context['estimated_tokens_after'])
    ok('results are the most of it', max(parts, key=parts.get), 'results')
    ok('the provider\'s figure stands beside it', context['usage_tokens'] > 0)
    ok('the kinds and what is free are the window', sum(context['categories'].values()),
       context['window_tokens'])
    ok('sums are those of the session', context['sums']['requests'], 7)
    code, out, err = run('context', 'weir:one', '--store', store)
    ok('the page says all that', [word for word in (
        'weir:one', 'pi, gpt-4o-mini', 'results', 'free', 'window', 'provider', 'cost',
        'policy short') if word not in out], [])
    ok('without colours', (code, '\x1b' in out, err), (0, False, ''))
    newest = json.loads(run('sessions', '--json', '--store', store)[1].splitlines()[0])['session']
    ok('without a name it is the most recent',
       json.loads(run('context', '--json', '--store', store)[1])['session'], newest)
    code, out, err = run('context', 'weir:', '--store', store)
    ok('a beginning that fits several is refused in a line',
       (code, out, err.count('\n'), 'sessions begin so' in err), (2, '', 1, True))
    code, out, err = run('context', 'nobody', '--store', store)
    ok('and one that fits none', (code, out, err.count('\n'), 'weir sessions' in err),
       (2, '', 1, True))


def thresholds_are_the_policys(folder, upstream):
    weir = Weir(folder, '--upstream', f'http://127.0.0.1:{upstream.port}/v1', '--policy', 'tiered')
    session_of(weir, 'tiers', 1)
    wait_for(lambda: weir.metric('weir_ledger_rows_total') == 2)
    context = json.loads(run('context', '--json', '--store', weir.store)[1])
    ok('what happens when is in tokens of the window',
       [(t['stage'], t.get('at_tokens', t.get('when'))) for t in context['thresholds']],
       [('evict', 'on arrival'), ('clear', 76800), ('summary', 108800), ('fit', 121600)])
    ok('no step was taken yet', context['last_step'], None)
    ok('while the proxy runs', weir.process.poll(), None)
    page = run('context', '--store', weir.store)[1]
    ok('and on the page', 'at 76,800' in page and 'to go)' in page)
    weir.stop()


def why_is_told(store):
    code, out, err = run('why', 'one', '--all', '--store', store)
    ok('why tells what was last changed in a session',
       (code, err, out.count('capped'), 'policy short' in out), (0, '', 6, True))
    code, out, err = run('why', 'one', '--store', store)
    ok('in sentences, for a person',
       (code, err, out.count('Cut in the middle'), out.count('whole again: weir recall wr_'),
        max(map(len, out.splitlines())) <= 80), (0, '', 6, 6, True))
    code, out, _ = run('why', 'weir:one', '4', '--store', store)
    ok('and of one segment', (code, out.count('\n'), out.startswith('#4 ')), (0, 1, True))
    handle = out.partition('wr_')[2][:20]
    code, out, _ = run('recall', 'wr_' + handle, '--store', store)
    ok('whose original can be recalled', (code, 'line 119 of file' in out), (0, True))
    code, out, err = run('why', 'nobody', '--store', store)
    ok('a session that is not there is said so', (code, out, err.count('\n')), (2, '', 1))
    code, out, err = run('why', 'no/such/file.json', '--store', store)
    ok('and so is a file', (code, out, 'session' in err), (2, '', False))


def wrong_calls(store):
    for arguments, word in ((('sessions', '--since', 'yesterday', '--store', store), '--since'),
                            (('sessions', 'one', '--store', store), 'weir context'),
                            (('sessions', '--store', store + '/nowhere'), 'nowhere'),
                            (('context', '--store', store + '/nowhere'), 'nowhere'),
                            (('context', 'a', 'b', '--store', store), "'b'"),
                            (('why', '--store', store), 'weir why --help')):
        code, out, err = run(*arguments)
        ok(f'{arguments[:3]} is one line and exit 2', (code, out, err.count('\n'), word in err),
           (2, '', 1, True))
    for command in ('sessions', 'context', 'why'):
        code, out, _ = run(command, '--help')
        ok(f'{command} --help has an example', (code, 'example: weir ' in out), (0, True))


# ---- the page ----

def documented():
    """Section to fields, of the tables in the page; and those that may be absent by its words."""
    sections, at, absent = {}, '', set()
    with open(PAGE, encoding='utf-8') as file:
        for line in file:
            if line.startswith('## '):
                at = line[3:].strip()
            cell = re.match(r'\| ((`[a-z0-9_]+`(, )?)+) \|', line)
            names = re.findall(r'[a-z0-9_]+', cell.group(1)) if cell else []
            sections.setdefault(at, set()).update(names)
            if 'absent' in line:
                absent.update(names)
    return sections, absent


def every_field_is_documented(folder, upstream):
    seen, projected = set(), {}
    for mode in ('active', 'shadow', 'meter', 'canary 50%'):
        weir = serve(folder, upstream, '--mode', mode)
        session_of(weir, 'one', 6)
        for path, body in (('/v1/responses', {'input': 'hi'}),
                           ('/v1/messages', {'messages': [{'role': 'user', 'content': 'hi'}],
                                             'max_tokens': 9})):
            weir.post(path, {'model': 'claude-opus-5', 'stream': True, **body}, ANTHROPIC)
        weir.stop()
        lines = lines_of(weir)
        seen.update(name for line in lines for name in line)
        if mode == 'active':
            projected = next(line for line in reversed(lines) if line.get('changed'))
    sections, absent = documented()
    known = set().union(*sections.values())
    shadow = {'shadow_' + name for name in known}
    ok('every field of every line is on the page', sorted(seen - known - shadow), [])
    always = sections['In every line'] | {
        name for name in sections['Of a request that was read'] if not name.startswith('context_')}
    ok('what the page says of every line is in one', sorted(always - absent - set(projected)), [])
    ok('a name is said once', sum(len(names) for names in sections.values()), len(known))
    words = json.dumps(projected)
    ok('and nothing of what was said is', [word for word in ('Find the bug', 'You fix', 'function_',
                                                             'src/f1') if word in words], [])


def late_projections_are_named(folder, upstream):
    """The store is held by somebody else, so the projection waits longer than the hard cap."""
    write_policies(folder)
    weir = Weir(folder, '--upstream', f'http://127.0.0.1:{upstream.port}/v1', config=f'''
listen: 127.0.0.1:0
policies: {folder}/policies.yaml
policy: short
limits: {{project_ms: 100}}
''')
    whole = chat_session(4)
    headers = {'x-weir-session': 'late'}
    before = {**whole, 'messages': whole['messages'][:-2]}
    ok('a session begins', play(weir, before, headers), 200)
    count, asked = weir.lines(), upstream.stats()['requests']
    raw, results = json.dumps(whole).encode(), []
    lock = sqlite3.connect(os.path.join(weir.store, 'store.db'), isolation_level=None,
                           timeout=PATIENCE_SECONDS)
    lock.execute('BEGIN EXCLUSIVE')
    thread = threading.Thread(target=lambda: results.append(
        weir.post('/v1/chat/completions', raw, headers)[0]))
    thread.start()
    wait_for(lambda: upstream.stats()['requests'] > asked)
    lock.execute('ROLLBACK')
    lock.close()
    thread.join()
    line = weir.log(count + 1)[-1]
    ok('late, a request leaves as it came', (results, upstream.last_body() == raw, line['changed']),
       ([200], True, False))
    ok('the log says that it was late', line['held_back'], 'deadline_hard')
    ok('and nothing of what was not sent counts',
       (line['estimated_tokens_after'] == line['estimated_tokens_before'],
        [key for key in line if key.startswith(('tool_outputs', 'budget_', 'artifacts_'))]),
       (True, []))
    ok('and so do the metrics', weir.metric('weir_deadline_hard_total') >= 1)
    weir.stop()


def late_second_tries_are_named(folder, upstream):
    """The prompt is refused as too long, and the store is held before it can be made smaller."""
    weir = Weir(folder, '--upstream', f'http://127.0.0.1:{upstream.port}/v1', config='''
listen: 127.0.0.1:0
policy: tiered
limits: {project_ms: 400}
''')
    asked, results = upstream.stats()['requests'], []
    thread = threading.Thread(target=lambda: results.append(
        weir.post('/v1/chat/completions', chat_session(24, model='gpt-5'), {
            'x-weir-session': 'again', 'x-test-window': '20000', 'x-test-delay-ms': '500'})[0]))
    thread.start()
    wait_for(lambda: upstream.stats()['requests'] > asked)
    lock = sqlite3.connect(os.path.join(weir.store, 'store.db'), isolation_level=None,
                           timeout=PATIENCE_SECONDS)
    lock.execute('BEGIN EXCLUSIVE')
    thread.join()
    lock.execute('ROLLBACK')
    lock.close()
    line = weir.log(1)[-1]
    ok('late, a second try is not made, and the refusal is shown',
       (results, line['retries'], line.get('retry_reason')), ([400], 0, None))
    ok('and the log says that it was late', line['held_back'], 'deadline_hard')
    weir.stop()


def main():
    with Folder() as folder:
        upstream = Upstream(folder)
        for case in (rows_are_counted, weir_alone_says_what_there_is, a_held_store_stops_nobody,
                     a_kill_loses_the_last_moment_only,
                     purge_takes_the_rows, thresholds_are_the_policys, every_field_is_documented,
                     late_projections_are_named, late_second_tries_are_named):
            if wanted(case):
                case(folder, upstream)
        store = rows_are_the_log(folder, upstream)
        for case in (sessions_are_listed, context_is_shown, why_is_told, wrong_calls):
            if wanted(case):
                case(store)
        upstream.stop()
    return CHECK.end()


def wanted(case):
    return len(sys.argv) < 2 or case.__name__ in sys.argv[1:]


sys.exit(main())

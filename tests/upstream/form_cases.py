"""Which form a request leaves in: calls that only the provider holds, thinking that binds, tools
that are left alone."""
import json
import os
import signal
import sqlite3
import threading

from harness import PATIENCE_SECONDS, Weir, wait_for
from sessions import (ANTHROPIC, RECALL, TOOL, chat_session, file_text, listing, ok, play,
                      response_tools, serve, write_policies)


# ---- the provider holds the history ----

def delta(weir, previous, call_id, text, headers=None, **more):
    body = {'model': 'gpt-5', 'tools': response_tools(), 'input': [
        {'type': 'function_call_output', 'call_id': call_id, 'output': text}], **more}
    if previous:
        body['previous_response_id'] = previous
    raw = json.dumps(body).encode()
    status, answer, _ = weir.post('/v1/responses', raw, headers)
    return raw, status, answer


def first_call(weir, stream, headers=None, **more):
    """Begins a conversation; gives the ids of the answer and of the call in it."""
    status, answer, _ = weir.post('/v1/responses', {
        'model': 'gpt-5', 'tools': response_tools(), 'stream': stream,
        'input': '[turns 9] Look around.', **more}, headers)
    ok('a conversation begins', status, 200)
    if stream:
        last = answer.rpartition(b'event: response.completed\ndata: ')[2]
        whole = json.loads(last.partition(b'\n\n')[0])['response']
    else:
        whole = json.loads(answer)
    call = next(item for item in whole['output'] if item['type'] == 'function_call')
    return whole['id'], call['call_id']


def deltas_know_their_calls(folder, upstream):
    weir = serve(folder, upstream)
    for stream in (True, False):
        answer_id, call_id = first_call(weir, stream)
        before = weir.lines()
        raw, status, _ = delta(weir, answer_id, call_id, file_text(1))
        ok(f'stream {stream}: a result whose call was seen is shortened',
           (status, upstream.last_body() != raw, len(upstream.last_body()) < len(raw)),
           (200, True, True))
        sent = json.loads(upstream.last_body())
        ok('it says how to get it back', '[weir wr_' in sent['input'][0]['output'])
        ok('and keeps what binds it',
           (sent['previous_response_id'], sent['input'][0]['call_id']), (answer_id, call_id))
        line = weir.log(before + 1)[-1]
        first = weir.log(before)[before - 1]
        ok('it belongs to the session of that answer', line['session'], first['session'])
    answer_id, call_id = first_call(weir, False, store=False)
    raw, status, _ = delta(weir, answer_id, call_id, file_text(2))
    ok('a call that nobody kept leaves its result whole', (status, upstream.last_body() == raw),
       (200, True))
    answer_id, call_id = first_call(weir, True)
    raw, status, _ = delta(weir, answer_id, call_id, file_text(3), {'x-weir-mode': 'exact'})
    ok('and x-weir-mode: exact still wins', upstream.last_body() == raw)
    weir.stop()


def conversations_know_their_calls(folder, upstream):
    weir = serve(folder, upstream)
    _, call_id = first_call(weir, True, conversation='conv_7')
    raw, status, _ = delta(weir, None, call_id, file_text(1), conversation={'id': 'conv_7'})
    ok('a conversation has the calls of its last answer', (status, upstream.last_body() != raw),
       (200, True))
    _, call_id = first_call(weir, True, conversation='conv_8', store=False)
    raw, status, _ = delta(weir, None, call_id, file_text(1), conversation='conv_8')
    ok('one that nobody kept has not', (status, upstream.last_body() == raw), (200, True))
    weir.stop()


def workers_know_each_others_calls(folder, upstream):
    """With several processes it is chance which of them hears an answer, and which is asked next.
    Connections are held open, so that all of them are tried."""
    write_policies(folder)
    weir = Weir(folder, config=f'''listen: 127.0.0.1:0
workers: 3
limits: {{project_ms: 60000, new_ms: 60000}}
policies: {folder}/policies.yaml
policy: short
upstreams:
  openai: {{base_url: "http://127.0.0.1:{upstream.port}/v1"}}
''')
    answers = [first_call(weir, n % 2 == 0) for n in range(12)]
    pids = weir.workers()
    os.kill(pids[0], signal.SIGKILL)
    wait_for(lambda: len(weir.workers()) == 3 and pids[0] not in weir.workers())
    changed = 0
    for n, (answer_id, call_id) in enumerate(answers):
        raw, status, _ = delta(weir, answer_id, call_id, file_text(n))
        ok('every worker takes it', status, 200)
        changed += upstream.last_body() != raw
    ok('calls are known whoever heard them, and though he died', changed, len(answers))
    weir.stop()


# ---- signed thinking ----

def thinking_session(words):
    return {'model': 'claude-opus-5-5', 'max_tokens': 99, 'tools': [TOOL, RECALL],
            'messages': [{'role': 'user', 'content': words}]}


def go_on(body, answer, n):
    blocks = json.loads(answer)['content']
    body['messages'] += [{'role': 'assistant', 'content': blocks}, {'role': 'user', 'content': [
        {'type': 'tool_result', 'tool_use_id': blocks[-1]['id'], 'content': file_text(n)}]}]


def bound_to_what_came(folder, upstream):
    """The thinking was signed over what came, and Weir knows the session as projected: each request
    goes by Weir, but the answer that is kept is the one to the same request sent directly."""
    weir = serve(folder, upstream)
    direct = Weir(folder, '--upstream', f'http://127.0.0.1:{upstream.port}/v1', '--mode', 'off')
    headers = {**ANTHROPIC, 'x-claude-code-session-id': 'raw'}
    body = thinking_session('[turns 9] Look.')
    for n in range(3):
        ok('Weir has seen it', weir.post('/v1/messages', body, headers)[0] in (200, 400))
        go_on(body, direct.post('/v1/messages', body, headers)[1], n)
    raw = json.dumps(body).encode()
    before = upstream.stats()['refused']
    status, answer, _ = weir.post('/v1/messages', raw, headers)
    ok('what is bound to what came is sent as it came', (status, upstream.last_body() == raw),
       (200, True))
    store = weir.store
    ok('after one refusal', bool(wait_for(lambda: [
        line for line in weir.log(4) if line.get('retry_reason') == 'thinking_bound'])))
    refused = upstream.stats()['refused']
    go_on(body, answer, 3)
    status, answer, _ = weir.post('/v1/messages', body, headers)
    ok('the session stays so', (status, upstream.last_body() == json.dumps(body).encode(),
                                upstream.stats()['refused'] - refused), (200, True, 0))
    weir.stop()
    again = serve(folder, upstream, store=store)
    go_on(body, answer, 4)
    lines = again.lines()
    status, _, _ = again.post('/v1/messages', body, headers)
    ok('after a restart too', (status, upstream.last_body() == json.dumps(body).encode(),
                               upstream.stats()['refused'] - refused), (200, True, 0))
    ok('and says why', again.log(lines + 1)[-1]['rollout_reason'], 'provider_pinned_exact')
    ok('it took one refusal', upstream.stats()['refused'] - before <= 1)
    again.stop()
    direct.stop()


def bound_to_what_was_sent(folder, upstream):
    """The first request is projected and its thinking signed over that. Then Weir comes back in a
    mode that changes nothing."""
    weir = serve(folder, upstream)
    headers = {**ANTHROPIC, 'x-claude-code-session-id': 'projected'}
    body = thinking_session('[turns 9] Look.')
    body['messages'] += [{'role': 'assistant', 'content': [
        {'type': 'tool_use', 'id': 'toolu_a', 'name': 'read_file', 'input': {'path': 'a.py'}}]},
        {'role': 'user', 'content': [{'type': 'tool_result', 'tool_use_id': 'toolu_a',
                                      'content': file_text(77)}]}]
    status, answer, _ = weir.post('/v1/messages', body, headers)
    ok('the first request is changed',
       (status, upstream.last_body() != json.dumps(body).encode()), (200, True))
    store = weir.store
    weir.stop()
    weir = serve(folder, upstream, '--mode', 'meter', store=store)
    refused = upstream.stats()['refused']
    go_on(body, answer, 1)
    exact = weir.post('/v1/messages', body, {**headers, 'x-weir-mode': 'exact'})
    ok('a request that is to be exact is refused, not mended',
       (exact[0], b'bound to' in exact[1], upstream.stats()['refused'] - refused), (400, True, 1))
    before = weir.lines()
    status, answer, _ = weir.post('/v1/messages', body, headers)
    ok('what is bound to what was sent is sent so again',
       (status, upstream.last_body() != json.dumps(body).encode(),
        upstream.stats()['refused'] - refused), (200, True, 2))
    ok('the log says so', weir.log(before + 1)[-1].get('retry_reason'), 'thinking_bound')
    go_on(body, answer, 2)
    status, answer, _ = weir.post('/v1/messages', body, headers)
    ok('and the session stays so', (status, upstream.stats()['refused'] - refused), (200, 2))
    weir.stop()
    weir = serve(folder, upstream, '--mode', 'meter', store=store)
    go_on(body, answer, 3)
    before = weir.lines()
    ok('after a restart too', (weir.post('/v1/messages', body, headers)[0],
                               upstream.stats()['refused'] - refused), (200, 2))
    ok('saying why', weir.log(before + 1)[-1]['rollout_reason'], 'provider_pinned_projected')
    strange = thinking_session('[turns 9] Never seen here.')
    ok('elsewhere', weir.post('/v1/messages', strange, headers)[0], 200)
    answer = weir.post('/v1/messages', strange, headers)[1]
    go_on(strange, answer, 1)
    strange['messages'][0]['content'] += ' But differently.'
    before, lines = upstream.stats()['refused'], weir.lines()
    other = {**ANTHROPIC, 'x-claude-code-session-id': 'other'}
    status, answer, _ = weir.post('/v1/messages', strange, other)
    ok('what was never sent otherwise has no other form: its refusal is shown',
       (status, b'bound to' in answer, upstream.stats()['refused'] - before), (400, True, 1))
    ok('and counts as no retry', weir.log(lines + 1)[-1]['retries'], 0)
    weir.stop()


def late_and_bound(folder, upstream):
    """A projection that waits for the store comes too late: the request leaves as it came, is
    refused, and leaves again as the session is bound to when the store is free. A machine that is
    busy elsewhere may be late again, and then it is tried with another session."""
    answers = [once_late_and_bound(folder, upstream, 'late-0')]
    while answers[-1][1] != 200 and len(answers) < 9:
        answers.append(once_late_and_bound(folder, upstream, f'late-{len(answers)}'))
    was_refused, status, was_changed = answers[-1]
    ok('late, it leaves as it came and is refused', was_refused)
    ok('and leaves again in the form it is bound to', (status, was_changed), (200, True))


def once_late_and_bound(folder, upstream, name):
    """Whether it was refused when it was late, and what became of it: its status and whether it was
    changed in the end."""
    config = f'''listen: 127.0.0.1:0
policies: {write_policies(folder)}
policy: short
limits: {{project_ms: 500}}
'''
    weir = serve(folder, upstream)
    headers = {**ANTHROPIC, 'x-claude-code-session-id': name}
    body = thinking_session('[turns 9] Look.')
    for n in range(3):
        go_on(body, weir.post('/v1/messages', body, headers)[1], n)
    store = weir.store
    ok('turns are changed', weir.log(3)[-1]['changed'])
    weir.stop()
    weir = Weir(folder, '--upstream', f'http://127.0.0.1:{upstream.port}/v1', config=config,
                store=store)
    refused = upstream.stats()['refused']
    lock = sqlite3.connect(os.path.join(store, 'store.db'), isolation_level=None,
                           timeout=PATIENCE_SECONDS)
    lock.execute('BEGIN EXCLUSIVE')
    results = []
    thread = threading.Thread(target=lambda: results.append(
        weir.post('/v1/messages', body, headers)))
    thread.start()
    was_refused = bool(wait_for(lambda: upstream.stats()['refused'] > refused))
    lock.execute('ROLLBACK')
    lock.close()
    thread.join()
    weir.stop()
    return was_refused, results[0][0], upstream.last_body() != json.dumps(body).encode()


# ---- tools ----

def tools_are_left_alone(folder, upstream):
    write_policies(folder)
    text = f'''listen: 127.0.0.1:0
policies: {folder}/policies.yaml
policy: short
upstreams:
  openai: {{base_url: "http://127.0.0.1:{upstream.port}/v1"}}
rollout:
  - {{tool: "read_*", model: "gpt-4o*", mode: off}}
'''
    weir = Weir(folder, config=text)

    def sent_whole(session, name):
        play(weir, session, {'x-weir-session': name})
        raw = json.dumps(session)
        sent = json.loads(upstream.last_body())['messages']
        came = json.loads(raw)['messages']
        return [s['content'] == c['content'] for s, c in zip(sent, came) if c['role'] == 'tool']
    ok('results of that tool stay whole', sent_whole(chat_session(4), 'tools'), [True] * 4)
    mixed = chat_session(4)
    for n in (1, 3):
        call = mixed['messages'][2 + 2 * n]['tool_calls'][0]['function']
        call['name'], call['arguments'] = 'list_files', json.dumps({'path': f'd{n}'})
        mixed['messages'][3 + 2 * n]['content'] = listing(n)
    ok('those of others do not', sent_whole(mixed, 'mixed'), [True, False, True, False])
    first = upstream.last_body()
    ok('nor those of another model', sent_whole(chat_session(4, model='gpt-4.1'), 'other'),
       [False] * 4)
    store = weir.store
    weir.stop()
    weir = Weir(folder, config=text.replace('read_*', 'list_*'), store=store)
    raw = json.dumps(mixed).encode()
    weir.post('/v1/chat/completions', raw, {'x-weir-session': 'mixed'})
    ok('a session keeps the rules it began with', upstream.last_body() == first)
    ok('a new one has the new', sent_whole(mixed, 'new'), [False, True, False, True])
    weir.stop()

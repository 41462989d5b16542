#!/usr/bin/env python3
"""The proxy's behaviours, each a sentence, against the strict upstream.

    proxy_cases.py [CASE...]
"""
import gzip
import json
import os
import signal
import sys

import config_cases as config
import form_cases as form
import limit_cases as limit
import trouble_cases as trouble
from harness import Folder, Upstream, Weir, read_all, read_until, wait_for
from sessions import (ANTHROPIC, CHECK, POLICIES, RECALL, TOOL, chat_session, file_text, ok, play,
                      serve, write_policies)


# ---- what passes ----

def passes_through(weir, upstream):
    status, body, headers = weir.get('/v1/models?client_version=1.2&x=%20y')
    ok('other paths reach the upstream as they are', json.loads(body)['path'],
       '/v1/models?client_version=1.2&x=%20y')
    odd = b' { "model":"gpt-5","k":1, "k":2 ,"messages":[ {"role":"user","content":"\\u00e9\\/x",' \
          b' "n":1.10} ] , "big":12345678901234567890123 }'
    status, body, headers = weir.post('/v1/chat/completions', odd, {
        'Authorization': 'Bearer secret', 'X-Weir-Session': 's', 'x-stainless-retry-count': '0',
        'Connection': 'close, x-hop', 'x-hop': '1', 'TE': 'trailers', 'X-Empty': ''})
    ok('a small request is accepted', status, 200)
    ok('its bytes are the bytes that came', upstream.last_body(), odd)
    seen = upstream.last_headers()
    ok('a credential is passed on', seen.get('authorization'), 'Bearer secret')
    ok('what belongs to Weir is not', [n for n in seen if n.startswith('x-weir')], [])
    ok('what belongs to the connection is not', [n for n in ('te', 'x-hop') if n in seen], [])
    ok('an empty header stays', seen.get('x-empty'), '')
    ok('nothing is asked for that was not', 'expect' in seen, False)
    ok('the Host is the upstream\'s', seen.get('host'), f'127.0.0.1:{upstream.port}')
    ok('headers of the answer come back', headers.get('x-codex-turn-state'), 'turn-state-1')
    raw = os.urandom(300000)
    status, body, headers = weir.post('/v1/files', raw, {'Content-Type': 'audio/mpeg'})
    ok('other bodies are passed on', (json.loads(body)['bytes'], upstream.last_body() == raw),
       (300000, True))
    status, body, headers = weir.request('DELETE', '/v1/responses/resp_1')
    ok('a DELETE is passed on', status, 200)
    status, body, headers = weir.request('HEAD', '/v1/models')
    ok('a HEAD has a length and no body', (status, body, headers['content-length']),
       (200, b'', '123'))
    chunked = b'POST /v1/files HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n' \
              b'Connection: close\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n'
    ok('a chunked body is passed on', b'"bytes": 11' in weir.raw(chunked))
    ok('chunked it leaves', upstream.last_headers().get('transfer-encoding'), 'chunked')
    slow = [chunked[:40], chunked[40:100], chunked[100:104], chunked[104:]]
    ok('and in pieces too', b'"bytes": 11' in weir.raw(slow))


def errors_come_as_they_are(weir, upstream):
    status, body, headers = weir.post('/v1/messages', {'model': 'm', 'messages': []}, {
        **ANTHROPIC, 'x-test-status': '529'})
    ok('a status of the upstream comes as it is', (status, headers.get('retry-after')),
       (529, '7'))
    status, body, _ = weir.post('/v1/chat/completions', {'model': 'gpt-5', 'messages': [
        {'role': 'tool', 'tool_call_id': 'x', 'content': 'y'}]})
    ok('a refusal of the upstream comes as it is', (status, b'preceeding message' in body),
       (400, True))
    status, body, _ = weir.post('/v1/chat/completions', b'{"model": not json')
    ok('what is not JSON is for the upstream to refuse', (status, b'could not parse' in body),
       (400, True))


def streams_flow(weir, upstream):
    for api, path, body, last in (
            ('chat', '/v1/chat/completions', {'messages': [{'role': 'user', 'content': 'hi'}],
             'stream_options': {'include_usage': True}}, b'data: [DONE]\n\n'),
            ('responses', '/v1/responses', {'input': 'hi'}, b'response.completed'),
            ('messages', '/v1/messages', {'messages': [{'role': 'user', 'content': 'hi'}],
             'max_tokens': 9}, b'message_stop')):
        before = weir.lines()
        status, data, headers = weir.post(path, {'model': 'gpt-5', 'stream': True, **body},
                                          ANTHROPIC)
        ok(f'{api}: a stream comes whole', (status, last in data[-900:]), (200, True))
        line = weir.log(before + 1)[-1]
        ok(f'{api}: its usage was read along', (line['usage_known'], line['answer_finished']),
           (True, True))
        ok(f'{api}: with what the cache did', line.get('usage_cache_write_tokens'),
           {'chat': 7, 'responses': 5, 'messages': 9}[api])
    before = weir.lines()
    status, data, _ = weir.post('/v1/chat/completions', {
        'model': 'gpt-5', 'stream': True, 'messages': [{'role': 'user', 'content': 'hi'}]})
    ok('usage that was not asked for is not added', b'"usage"' in data, False)
    ok('and is then unknown', weir.log(before + 1)[-1]['usage_known'], False)
    before = weir.lines()
    status, data, headers = weir.post('/v1/chat/completions', {
        'model': 'gpt-5', 'stream': True, 'stream_options': {'include_usage': True},
        'messages': [{'role': 'user', 'content': 'hi'}]},
        {'x-test-encoding': 'gzip', 'Accept-Encoding': 'gzip'})
    ok('a coded stream comes in its coding', headers.get('content-encoding'), 'gzip')
    ok('and is read along all the same', weir.log(before + 1)[-1]['usage_known'], True)


def calls_are_read_along(weir, upstream):
    for path, body in (('/v1/chat/completions', {'messages': [
            {'role': 'user', 'content': '[turns 1]'}]}),
            ('/v1/responses', {'input': '[turns 1]'}),
            ('/v1/messages', {'messages': [{'role': 'user', 'content': '[turns 1]'}],
                              'max_tokens': 9})):
        for stream in (True, False):
            before = weir.lines()
            weir.post(path, {'model': 'claude-opus-5', 'stream': stream, **body}, ANTHROPIC)
            ok(f'{path}, stream {stream}: its call was seen',
               weir.log(before + 1)[-1]['answer_calls'], 1)


def first_event_is_not_held(weir, upstream):
    body = json.dumps({'model': 'gpt-5', 'stream': True, 'messages': [
        {'role': 'user', 'content': 'hi'}]}).encode()
    with weir.connect() as sock:  # whose second event would come an hour later
        sock.sendall(b'POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nx-test-event-ms: '
                     b'3600000\r\nContent-Length: %d\r\n\r\n' % len(body) + body)
        head = read_until(sock, b'\r\n\r\n')
        first = head.partition(b'\r\n\r\n')[2]
        if b'\n\n' not in first:
            first += read_until(sock, b'\n\n')
        ok('the first event is not held back', first.count(b'data: '), 1)
        ok('it was open', upstream.stats()['open'] >= 1)
    ok('a client that leaves cancels the upstream',
       bool(wait_for(lambda: upstream.stats()['cancelled'] >= 1)))
    ok('and that is in the log', bool(wait_for(
        lambda: any(line['end'] == 'client_gone' for line in weir.log(1)))))


def broken_streams_break(weir, upstream):
    body = json.dumps({'model': 'gpt-5', 'stream': True, 'messages': [
        {'role': 'user', 'content': 'hi'}]}).encode()
    answer = weir.raw(b'POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nx-test-break: 2\r'
                      b'\nContent-Length: %d\r\n\r\n' % len(body) + body)
    ok('events before the break came', answer.count(b'data: '), 2)
    ok('a stream that breaks off has no end', b'\r\n0\r\n\r\n' in answer, False)


def keeps_connections(weir, upstream):
    request = b'GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n'
    answer = weir.raw(request * 3 + request.replace(b'\r\n\r\n', b'\r\nConnection: close\r\n\r\n'))
    ok('requests sent ahead are answered in order', answer.count(b'HTTP/1.1 200'), 4)
    answer = weir.raw(b'GET /v1/models HTTP/1.0\r\nHost: localhost\r\n\r\n')
    ok('HTTP/1.0 ends with the connection', answer.startswith(b'HTTP/1.1 200'))
    with weir.connect() as sock:
        sock.sendall(b'POST /v1/files HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n'
                     b'Connection: close\r\nContent-Length: 2\r\n\r\n')
        ok('100-continue is given', read_until(sock, b'\r\n\r\n'),
           b'HTTP/1.1 100 Continue\r\n\r\n')
        sock.sendall(b'hi')
        ok('and then the answer', read_all(sock)[:12], b'HTTP/1.1 200')
    before = upstream.stats()['connections']
    for _ in range(20):
        weir.get('/v1/models')
    # The statistics are asked for over a connection of their own.
    ok('connections to the upstream are kept', upstream.stats()['connections'] - before <= 3)


# ---- what is refused ----

def smuggling_is_refused(weir, upstream):
    head = b'POST /v1/files HTTP/1.1\r\nHost: localhost\r\n'
    cases = [
        ('both a length and chunks', head + b'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n'
         b'\r\n0\r\n\r\n'),
        ('two lengths', head + b'Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello'),
        ('the same length twice', head + b'Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello'),
        ('a length with a sign', head + b'Content-Length: +5\r\n\r\nhello'),
        ('a list of lengths', head + b'Content-Length: 5, 5\r\n\r\nhello'),
        ('a bare LF', b'POST /v1/files HTTP/1.1\nHost: localhost\nContent-Length: 0\n\n'),
        ('a bare LF in a header', head + b'X: y\nContent-Length: 0\r\n\r\n'),
        ('a folded header', head + b'X: y\r\n z\r\nContent-Length: 0\r\n\r\n'),
        ('a CR inside a line', head + b'X: y\rz\r\nContent-Length: 0\r\n\r\n'),
        ('a space before the colon', head + b'Content-Length : 5\r\n\r\nhello'),
        ('another coding', head + b'Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'),
        ('a coding with a mark', head + b'Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n'),
        ('two codings', head + b'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n'
         b'0\r\n\r\n'),
        ('chunks in HTTP/1.0', b'POST / HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r'
         b'\n\r\n0\r\n\r\n'),
        ('a NUL', head + b'X: a\0b\r\n\r\n'),
        ('two Hosts', head + b'Host: localhost\r\n\r\n'),
        ('no Host', b'GET / HTTP/1.1\r\n\r\n'),
        ('a target that is an address', b'GET http://localhost/ HTTP/1.1\r\nHost: localhost\r\n'
         b'\r\n'),
        ('a version of old', b'GET / HTTP/0.9\r\nHost: localhost\r\n\r\n'),
        ('no HTTP at all', b'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n'),
        ('a chunk without its length', head + b'Transfer-Encoding: chunked\r\n\r\nzz\r\nhi\r\n'),
        ('a chunk ended by LF', head + b'Transfer-Encoding: chunked\r\n\r\n2\nhi\r\n0\r\n\r\n'),
        ('too many headers', head + b'X: y\r\n' * 300 + b'\r\n'),
        ('a head without end', head + b'X: ' + b'y' * 70000),
    ]
    before = upstream.stats()['requests']
    for what, data in cases:
        answer = weir.raw(data)
        status = answer.partition(b' ')[2][:3]
        # What was begun may be cut instead of answered.
        ok(f'{what} is refused', status in (b'400', b'431', b'505') or
           (b'chunk' in what.encode() and (not answer or status == b'502')))
    ok('nothing of it reached the upstream', upstream.stats()['requests'] - before <= 2)
    ok('and the proxy is well', weir.get('/weir/v1/health')[0], 200)


def strangers_are_refused(weir, upstream):
    ok('a foreign Host is refused', weir.get('/v1/models', {'Host': 'evil.example'})[0], 421)
    for host in ('[::1].evil.example', f'127.0.0.1:{weir.port}:evil', '127.0.0.1.evil.example',
                 'localhost:evil', 'evil@127.0.0.1'):
        ok(f'the Host {host} is foreign', weir.get('/v1/models', {'Host': host})[0], 421)
    ok('localhost is a name of ours', weir.get('/v1/models', {'Host': 'localhost:9'})[0], 200)
    answer = weir.raw(b'GET /v1/responses HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n'
                      b'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: '
                      b'dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n')
    ok('a WebSocket is declined', answer.startswith(b'HTTP/1.1 426'))
    ok('CONNECT is declined', weir.raw(b'CONNECT localhost:1 HTTP/1.1\r\nHost: localhost:1\r\n\r\n')
       [9:12] in (b'426', b'400'))
    ok('our paths are read', weir.request('POST', '/metrics', b'')[0], 405)


# ---- projecting ----

def projects_sessions(folder, upstream):
    weir = serve(folder, upstream)
    session = chat_session(30)
    raw = json.dumps(session).encode()
    weir_session = {'x-weir-session': 'p1'}
    status = play(weir, session, weir_session)
    first = upstream.last_body()
    ok('a long session is accepted', status, 200)
    ok('it leaves smaller', len(first) < len(raw))
    line = weir.log(31)[-1]
    ok('the log says so', (line['changed'], line['body_bytes_after']), (True, len(first)))
    weir.post('/v1/chat/completions', raw, weir_session)
    ok('the same request projects to the same bytes', upstream.last_body() == first)
    ok('x-weir-mode: exact wins for its request',
       (weir.post('/v1/chat/completions', raw, {**weir_session, 'x-weir-mode': 'exact'})[0],
        upstream.last_body() == raw), (200, True))
    ok('and is logged', weir.log(33)[-1]['rollout_reason'], 'exact_mid_session')
    packed = gzip.compress(raw)
    status, _, _ = weir.post('/v1/chat/completions', packed, {
        **weir_session, 'Content-Encoding': 'gzip'})
    ok('a packed body is projected and leaves unpacked',
       (status, upstream.last_body() == first, upstream.last_headers().get('content-encoding')),
       (200, True, None))
    status, body, _ = weir.post('/v1/chat/completions', gzip.compress(b'{"model":"gpt-5","messages"'
                                b':[{"role":"user","content":"hi"}]}'),
                                {'Content-Encoding': 'gzip'})
    ok('a packed body that does not change keeps its bytes', (
        status, upstream.last_headers().get('content-encoding')), (200, 'gzip'))
    weir.post('/v1/chat/completions', b'garbage', {'Content-Encoding': 'zstd'})
    ok('a body that cannot be unpacked goes as it came', upstream.last_body(), b'garbage')
    ok('no word of the session is in the log', 'function_3_7' in open(
        os.path.join(weir.store, 'requests.jsonl'), encoding='utf-8').read(), False)
    first_store = weir.store
    weir.stop()
    again = serve(folder, upstream, store=first_store)
    again.post('/v1/chat/completions', raw, weir_session)
    ok('after a restart the bytes are the same', upstream.last_body() == first)
    again.stop()
    again = serve(folder, upstream, store=first_store, env={'WEIR_SHADOW': '1'})
    again.post('/v1/chat/completions', raw, weir_session)
    ok('and under another mode that nobody typed', upstream.last_body() == first)
    again.stop()


def counts_as_it_sends(folder, upstream):
    weir = Weir(folder, '--upstream', f'http://127.0.0.1:{upstream.port}/v1', '--policy', 'tiered')
    messages = [{'role': 'user', 'content': 'Find the bug.'}]
    for n in range(60):
        messages.append({'role': 'assistant', 'content': [
            {'type': 'tool_use', 'id': f't_{n}', 'name': 'read_file', 'input': {'path': f'{n}'}}]})
        messages.append({'role': 'user', 'content': [
            {'type': 'tool_result', 'tool_use_id': f't_{n}', 'content': file_text(n, 200)}]})
    body = {'model': 'claude-haiku-4-5', 'messages': messages, 'tools': [TOOL, RECALL]}
    headers = {**ANTHROPIC, 'x-claude-code-session-id': 'c1'}
    ok('a session of Messages is accepted',
       weir.post('/v1/messages', {**body, 'max_tokens': 9}, headers)[0], 200)
    sent = json.loads(upstream.last_body())['messages']
    ok('its count is too', weir.post('/v1/messages/count_tokens', body, headers)[0], 200)
    ok('and counts what is sent', json.loads(upstream.last_body())['messages'] == sent)
    ok('which is smaller', len(json.dumps(sent)) < len(json.dumps(messages)))
    weir.stop()


def remedies(folder, upstream):
    weir = Weir(folder, '--upstream', f'http://127.0.0.1:{upstream.port}/v1', '--policy', 'tiered')
    session = chat_session(24, model='gpt-5')
    status, body, _ = weir.post('/v1/chat/completions', session, {
        'x-weir-session': 'r1', 'x-test-window': '20000'})
    line = weir.log(1)[-1]
    ok('a prompt that is too long is tried again, smaller', (status, line['retries']), (200, 1))
    ok('once', line.get('retry_reason'), 'context_overflow')
    status, body, _ = weir.post('/v1/chat/completions', session, {
        'x-weir-session': 'r2', 'x-test-window': '100'})
    ok('what cannot be mended comes as it is', (status, b'maximum context length' in body),
       (400, True))
    seen = upstream.stats()['refused']
    status, body, _ = weir.post('/v1/chat/completions', session, {
        'x-weir-session': 'r4', 'x-weir-policy': 'exact', 'x-test-window': '20000'})
    line = weir.log(3)[-1]
    ok('what was refused is not sent again as it was',
       (status, line['retries'], line.get('retry_reason'), upstream.stats()['refused'] - seen),
       (400, 0, None, 1))
    status, body, _ = weir.post('/v1/chat/completions', session, {
        'x-weir-session': 'r3', 'x-weir-mode': 'exact', 'x-test-window': '20000'})
    ok('a request that is to be exact is never tried again', status, 400)
    weir.stop()


def thinking_is_mended(folder, upstream):
    """Signed thinking under a request that Weir has changed since: once more, as it came."""
    weir = serve(folder, upstream)
    headers = {**ANTHROPIC, 'x-claude-code-session-id': 'th'}
    body = {'model': 'claude-opus-5-5', 'max_tokens': 99, 'tools': [TOOL, RECALL],
            'messages': [{'role': 'user', 'content': '[turns 4]'}]}
    for n in range(4):
        status, answer, _ = weir.post('/v1/messages', body, headers)
        ok(f'turn {n} of a session with signed thinking is accepted', status, 200)
        blocks = json.loads(answer)['content']
        body['messages'] += [{'role': 'assistant', 'content': blocks}, {'role': 'user', 'content': [
            {'type': 'tool_result', 'tool_use_id': blocks[-1]['id'], 'content': file_text(n)}]}]
    ok('and the last', weir.post('/v1/messages', body, headers)[0], 200)
    ok('it was changed on the way', upstream.last_body() != json.dumps(body).encode())
    # The same history under a name nobody knows: its thinking was signed over what Weir had sent.
    # The whole session is begun anew by a proxy with another policy, which cuts elsewhere.
    raw = json.dumps(body).encode()
    status, answer, _ = weir.post('/v1/messages', raw, {**headers, 'x-weir-mode': 'exact'})
    ok('what was signed over a changed text is bound to it', (status, b'bound to' in answer),
       (400, True))
    weir.stop()


# ---- rollout ----

def modes(folder, upstream):
    session = chat_session(20)
    raw = json.dumps(session).encode()
    for mode, changes in (('off', False), ('meter', False), ('shadow', False), ('active', True),
                          ('canary 0%', False), ('canary 100%', True), ('holdout 100%', False),
                          ('holdout 0%', True)):
        weir = serve(folder, upstream, '--mode', mode)
        status = play(weir, session, {'x-weir-session': 'm1'})
        ok(f'{mode}: {"changes" if changes else "leaves"} the request',
           (status, upstream.last_body() != raw), (200, changes))
        line = weir.log(21)[-1]
        if mode == 'shadow':
            ok('shadow decides all the same', (line['shadow_changed'], 'changed' in line,
               line['shadow_estimated_tokens_after'] < line['estimated_tokens_before']),
               (True, False, True))
            ok('and its figures have their own names',
               [n for n in line if n.startswith(('estimated_tokens_after', 'artifacts'))], [])
        if mode == 'canary 0%':
            ok('canary says why', line['rollout_reason'], 'rollout_canary_out')
        weir.stop()


def play_in(folder, upstream, store, *words):
    """A conversation that begins with the same words each time and has no name of its own: how
    many requests of it were changed on their way."""
    weir = serve(folder, upstream, *words, store=store)
    session, changed = chat_session(8), 0
    for count in range(2, len(session['messages']) + 1, 2):
        raw = json.dumps({**session, 'messages': session['messages'][:count]}).encode()
        status = weir.post('/v1/chat/completions', raw)[0]
        changed += status != 200 or upstream.last_body() != raw
    lines = weir.log(weir.lines_before + 9)
    weir.stop()
    return changed, lines


def what_is_typed_wins(folder, upstream):
    store = os.path.join(folder, 'typed-store')
    os.makedirs(store)
    for words, changes in ((['active'], 8), (['shadow'], 0), (['meter'], 0),
                           (['active', '--policy', 'exact'], 0),
                           (['active', '--policy', 'short'], 8), (['holdout 100%'], 0),
                           (['active'], 8)):
        ok(f'--mode {" ".join(words)}: so many of 9 requests are changed',
           play_in(folder, upstream, store, '--mode', *words)[0], changes)
    play_in(folder, upstream, store, '--mode', 'shadow')
    changed, lines = play_in(folder, upstream, store)
    ok('what nobody types leaves a session its mode', (changed, lines[-1]['rollout_reason']),
       (0, 'rollout_shadow'))


def turns(session, count):
    return json.dumps({**session, 'messages': session['messages'][:2 * count + 2]}).encode()


def modes_turn_in_the_middle(folder, upstream):
    session, headers = chat_session(9), {'x-weir-session': 'turns'}
    weir = serve(folder, upstream)
    for count in range(4):
        weir.post('/v1/chat/completions', turns(session, count), headers)
    store, before = weir.store, upstream.last_body()
    ok('it is projected', before != turns(session, 3))
    weir.stop()
    weir = serve(folder, upstream, '--mode', 'shadow', store=store)
    for count in (4, 5):
        weir.post('/v1/chat/completions', turns(session, count), headers)
        ok('shadow that is typed in the middle sends what came',
           upstream.last_body() == turns(session, count))
    lines = weir.log(6)
    ok('the change is a step, and declared once',
       [(line.get('step'), line.get('step_reason'), line.get('shadow_step')) for line in lines[4:]],
       [(True, 'policy', None), (None, None, False)])
    weir.stop()
    weir = serve(folder, upstream, '--mode', 'active', store=store)
    weir.post('/v1/chat/completions', turns(session, 6), headers)
    came, sent = json.loads(turns(session, 6)), json.loads(upstream.last_body())
    ok('active again: what was sent stays, what is new is projected',
       [sent['messages'][:-1] == came['messages'][:-1],
        sent['messages'][-1] == came['messages'][-1]], [True, False])
    ok('which is no step', weir.log(7)[-1]['step'], False)
    weir.post('/v1/chat/completions', turns(session, 7), headers)
    after = json.loads(upstream.last_body())
    ok('and the next one extends it', after['messages'][:len(sent['messages'])] == sent['messages'])
    weir.post('/v1/chat/completions', turns(session, 8), {**headers, 'x-weir-policy': 'exact'})
    ok('a policy in a header beats the session', upstream.last_body() == turns(session, 8))
    weir.post('/v1/chat/completions', turns(session, 9), headers)
    ok('and stays', upstream.last_body() == turns(session, 9))
    ok('one step more', [line['step'] for line in weir.log(10)[7:]], [False, True, False])
    weir.stop()


class ThinkingSession:
    """A session of a model that binds its thinking to what stands before it."""

    def __init__(self, words, headers):
        self.headers, self.blocks = headers, []
        self.body = {'model': 'claude-opus-5-5', 'max_tokens': 2000, 'tools': [TOOL, RECALL],
                     'thinking': {'type': 'enabled', 'budget_tokens': 1024},
                     'messages': [{'role': 'user', 'content': words}]}

    def ask(self, weir, **more):
        status, answer, _ = weir.post('/v1/messages', self.body, {**self.headers, **more})
        self.blocks = json.loads(answer).get('content', [])
        return status

    def add(self, content):
        self.body['messages'] += [{'role': 'assistant', 'content': self.blocks},
                                  {'role': 'user', 'content': content}]

    def add_result(self, n):
        self.add([{'type': 'tool_result', 'tool_use_id': self.blocks[-1]['id'],
                   'content': file_text(n)}])

    def say(self, words):
        self.add(words)


def thinking_waits_for_the_user(folder, upstream):
    """A mode that is typed inside an open loop over which thinking was signed."""
    headers = {**ANTHROPIC, 'x-claude-code-session-id': 'waits'}
    body = {'model': 'claude-opus-5-5', 'max_tokens': 99, 'tools': [TOOL, RECALL],
            'messages': [{'role': 'user', 'content': '[turns 4]'}]}

    def ask(weir):
        status, answer, _ = weir.post('/v1/messages', body, headers)
        return status, json.loads(answer).get('content')

    def result(blocks, n):
        body['messages'] += [{'role': 'assistant', 'content': blocks}, {'role': 'user', 'content': [
            {'type': 'tool_result', 'tool_use_id': blocks[-1]['id'], 'content': file_text(n)}]}]

    weir = serve(folder, upstream)
    for n in range(3):
        result(ask(weir)[1], n)
    store = weir.store
    weir.stop()
    weir = serve(folder, upstream, '--mode', 'meter', store=store)
    status, blocks = ask(weir)
    line = weir.log(4)[-1]
    ok('inside the loop it goes on as it was', (status, line['changed'], line['step']),
       (200, True, False))
    ok('and says that it waits', line['pending'])
    result(blocks, 3)
    blocks = ask(weir)[1]
    body['messages'] += [{'role': 'assistant', 'content': blocks},
                         {'role': 'user', 'content': '[turns 2]'}]
    status, blocks = ask(weir)
    sent = json.loads(upstream.last_body())['messages']
    line = weir.log(6)[-1]
    ok('with the user it changes', (status, line['step'], line['pending']), (200, True, False))
    ok('what was signed before has gone, and all else is as it came',
       sent == [{**m, 'content': [b for b in m['content'] if b['type'] != 'thinking']}
                if m['role'] == 'assistant' else m for m in body['messages']])
    body['messages'] += [{'role': 'assistant', 'content': blocks},
                         {'role': 'user', 'content': 'Thank you.'}]
    status, blocks = ask(weir)
    after = json.loads(upstream.last_body())['messages']
    ok('and it goes on so', (status, after[:len(sent)] == sent), (200, True))
    weir.stop()


def bound_loops_stay_in_their_window(folder, upstream):
    """One long loop with bound thinking, with and without a recall tool, and where the provider is
    told to drop thinking: nothing is refused, for its length or for its thinking."""
    narrow = Upstream(folder, '--window', '12000')
    for name, tools, more in (('recall', [TOOL, RECALL], {}), ('none', [TOOL], {}),
                              ('drop', [TOOL], {'block_binding': {
                                  'prefix_mismatch_behavior': 'drop_block'}})):
        weir = Weir(folder, config=f'''listen: 127.0.0.1:0
policy: auto
upstreams:
  anthropic: {{base_url: http://127.0.0.1:{narrow.port}/v1}}
models:
  claude-opus-5-5: {{window: 12000}}
''')
        headers = {**ANTHROPIC, 'x-claude-code-session-id': 'narrow-' + name,
                   'x-weir-recall': 'client',  # else the proxy would offer one of its own
                   'anthropic-beta': 'thinking-binding-controls-2026-08-01'}
        session = ThinkingSession('[turns 99] Look.', headers)
        session.body['tools'] = tools
        session.body['thinking'].update(more)
        statuses = []
        for n in range(24):
            statuses.append(session.ask(weir))
            session.add_result(n)
        lines = weir.log(24)
        ok(f'{name}: every request is accepted', set(statuses), {200})
        ok(f'{name}: at once', [l for l in lines if l.get('retries')], [])
        ok(f'{name}: the window is the reason of a step', 'window' in [
            l['step_reason'] for l in lines])
        # Of files that can be read again one gives way for each that comes.
        ok(f'{name}: and seldom', name == 'drop' or sum(l['step'] for l in lines) < 8)
        ok(f'{name}: who has what left is told', {l.get('way') for l in lines if l['changed']}
           & {'operator'}, set() if name == 'recall' else {'operator'})
        sent = json.loads(narrow.last_body())['messages']
        kinds = [b['type'] for m in sent if isinstance(m['content'], list) for b in m['content']]
        ok(f'{name}: thinking goes on', 'thinking' in kinds or len(sent) < 4)
        weir.stop()
    narrow.stop()


def policies_wait_for_the_user(folder, upstream):
    """The same of a policy, typed for the server or named by one request of the loop."""
    for words, name in ((['--policy', 'exact'], 'typed'), ([], 'named')):
        headers = {**ANTHROPIC, 'x-claude-code-session-id': f'policy {name}'}
        session = ThinkingSession('[turns 6]', headers)
        weir = serve(folder, upstream)
        for n in range(3):
            session.ask(weir)
            session.add_result(n)
        store = weir.store
        weir.stop()
        weir = serve(folder, upstream, *words, store=store)
        lines = weir.lines()
        more = {} if words else {'x-weir-policy': 'exact'}
        statuses = [session.ask(weir, **more)]
        session.add_result(3)
        statuses.append(session.ask(weir))
        weir.log(lines + 2)
        weir.stop()
        weir = serve(folder, upstream, *words, store=store)
        session.add_result(4)
        statuses.append(session.ask(weir))
        ok(f'{name}: inside the loop it goes on as it was, and says that the policy waits',
           (statuses, [(line['pending'], line['policy'], line['step'])
                       for line in weir.log(lines + 3)[lines:]]),
           ([200] * 3, [(True, 'short', False)] * 3))
        session.add_result(5)
        session.ask(weir)
        session.say('And now?')
        status = session.ask(weir)
        line = weir.log(lines + 5)[-1]
        ok(f'{name}: with the user it changes', (status, line['pending'], line['policy'],
                                                  line['step']), (200, False, 'exact', True))
        session.say('Thank you.')
        status = session.ask(weir)
        sent = json.loads(upstream.last_body())['messages']
        line = weir.log(lines + 6)[-1]
        ok(f'{name}: and stays so', (status, line['pending'], line['policy'], line['step'],
                                     sent[::2] == session.body['messages'][::2]),
           (200, False, 'exact', False, True))
        weir.stop()


def edited_policies_wait_for_the_user(folder, upstream):
    """The policy that sent the loop so far is another one after a restart."""
    session = ThinkingSession('[turns 4]', {**ANTHROPIC, 'x-claude-code-session-id': 'edited'})
    weir = serve(folder, upstream)
    for n in range(3):
        session.ask(weir)
        session.add_result(n)
    store, refused = weir.store, upstream.stats()['refused']
    weir.log(3)
    weir.stop()
    edited = POLICIES.replace('max_tokens: 300', 'max_tokens: 301')
    weir = serve(folder, upstream, policies=edited, store=store)
    status = session.ask(weir)
    sent = json.loads(upstream.last_body())['messages']
    line = weir.log(4)[-1]
    ok('inside the loop it goes on as it was', (status, line['changed'], line['step']),
       (200, True, False))
    ok('and says that the policy waits', (line['pending'], line['policy']), (True, 'short'))
    ok('no thinking of the loop has gone', [m['content'][0]['type'] for m in sent[1::2]],
       ['thinking'] * 3)
    session.add_result(3)
    session.ask(weir)
    session.say('Thank you.')
    status = session.ask(weir)
    line = weir.log(6)[-1]
    ok('with the user it changes', (status, line['pending'], line['step'], line['step_reason']),
       (200, False, True, 'policy'))
    ok('nothing was refused on the way', upstream.stats()['refused'] - refused, 0)
    weir.stop()


def steps_without_markers(folder, upstream, **more):
    weir = serve(folder, upstream, '--policy', 'deeper')
    body = {'model': 'claude-sonnet-4-5', 'max_tokens': 99, 'tools': [TOOL, RECALL],
            'messages': [{'role': 'user', 'content': '[turns 8]'}]}
    for n in range(8):
        answer = weir.post('/v1/messages', body, {**ANTHROPIC, **more})[1]
        blocks = json.loads(answer)['content']
        body['messages'] += [{'role': 'assistant', 'content': blocks}, {'role': 'user', 'content': [
            {'type': 'tool_result', 'tool_use_id': blocks[-1]['id'], 'content': file_text(n)}]}]
    steps = sum(line['step'] for line in weir.log(8))
    weir.stop()
    return steps


def caches_of_gateways_are_kept(folder, upstream):
    ok('what has no cache marker is formed anew when that pays',
       steps_without_markers(folder, upstream, **{'x-test-no-cache': '1'}) > 1)
    ok('unless the answers tell of a cache', steps_without_markers(folder, upstream), 0)


def canary_is_by_session(folder, upstream):
    weir = Weir(folder, '--upstream', f'http://127.0.0.1:{upstream.port}/v1', '--policy', 'tiered',
                env={'WEIR_CANARY_PERCENT': '50'})
    reasons = {}
    for n in range(40):
        weir.post('/v1/chat/completions', {'model': 'gpt-5', 'messages': [
            {'role': 'user', 'content': 'hi'}]}, {'x-weir-session': f's{n % 10}'})
        reasons.setdefault(n % 10, set()).add(weir.log(n + 1)[-1]['rollout_reason'])
    flaps = sum(len(words) > 1 for words in reasons.values())
    decided = {name: 'rollout_canary_in' in words for name, words in reasons.items()}
    ok('a session never flaps', flaps, 0)
    ok('some are in and some are out', 0 < sum(decided.values()) < 10)
    weir.stop()


def config_is_read(folder, upstream):
    base = f'http://127.0.0.1:{upstream.port}'
    text = f'''listen: 127.0.0.1:0
mode: active
policies: {write_policies(folder)}
policy: short
upstreams:
  openai: {{base_url: {base}/v1}}
  anthropic: {{base_url: {base}/anthropic/v1}}
  chatgpt: {{base_url: {base}/backend-api/codex}}
  local: {{base_url: {base}/local}}
rollout:
  - {{model: "gpt-4o*", mode: off}}
'''
    weir = Weir(folder, config=text)
    for path, wanted in (('/v1/chat/completions', '/v1/chat/completions'),
                         ('/v1/messages?beta=true', '/anthropic/v1/messages?beta=true'),
                         ('/openai/v1/responses', '/v1/responses'),
                         ('/openai/responses', '/v1/responses'),
                         ('/anthropic/v1/messages', '/anthropic/v1/messages'),
                         ('/backend-api/codex/responses', '/backend-api/codex/responses'),
                         ('/chatgpt/responses', '/backend-api/codex/responses'),
                         ('/p/local/v1/chat/completions', '/local/v1/chat/completions')):
        weir.post(path, {'model': 'x', 'messages': []})
        ok(f'{path} goes to {wanted}', upstream.last_path(), wanted)
    session = chat_session(20)
    raw = json.dumps(session).encode()
    play(weir, session, {'x-weir-session': 'a'})
    ok('a rule by model decides', upstream.last_body() == raw)
    weir.write_config(text.replace('mode: off', 'mode: active'))
    weir.process.send_signal(signal.SIGHUP)
    ok('another file is read when told', bool(wait_for(lambda: changes_new_session(weir, upstream,
                                                                                   raw))))
    weir.post('/v1/chat/completions', raw, {'x-weir-session': 'a'})
    ok('a session keeps the mode of its first request', upstream.last_body() == raw)
    play(weir, session, {'x-weir-session': 'b'})
    ok('a new session takes the new one', upstream.last_body() != raw)
    weir.write_config(text + 'nonsense: 1\n')
    weir.process.send_signal(signal.SIGHUP)
    ok('a wrong file is refused with its line',
       bool(wait_for(lambda: 'line 12, column 1' in weir.stderr())))
    play(weir, session, {'x-weir-session': 'c'})
    ok('and changes nothing', upstream.last_body() != raw)
    weir.stop()


def changes_new_session(weir, upstream, raw):
    weir.post('/v1/chat/completions', raw, {'x-weir-session': os.urandom(8).hex()})
    return upstream.last_body() != raw


def tokens_are_tenants(folder, upstream):
    text = f'''listen: 127.0.0.1:0
policy: tiered
tokens: [token-of-the-first-one, token-of-the-second]
upstreams:
  openai: {{base_url: "http://127.0.0.1:{upstream.port}/v1"}}
'''
    weir = Weir(folder, config=text)
    ok('without a token nobody comes in', weir.get('/v1/models')[0], 401)
    ok('nor with a wrong one', weir.get('/v1/models', {'x-weir-token': 'token-of-nobody-xx'})[0],
       401)
    ok('a header will do', weir.get('/v1/models', {'x-weir-token': 'token-of-the-second'})[0], 200)
    status, body, _ = weir.get('/k/token-of-the-first-one/v1/models')
    ok('and a part of the path', (status, json.loads(body)['path']), (200, '/v1/models'))
    lines = weir.log(2)
    ok("nobody's token opens the metrics", [weir.get(path, headers)[0] for path, headers in (
        ('/metrics', {}), ('/metrics', {'x-weir-token': 'token-of-the-second'}),
        ('/k/token-of-the-first-one/metrics', {}))], [403] * 3)
    weir.stop()
    weir = Weir(folder, config=text + 'metrics_token: token-of-the-operator\n')
    operator, user = 'token-of-the-operator', 'token-of-the-second'
    ok("the operator's does, and nothing else", [weir.get(path, headers)[0] for path, headers in (
        ('/metrics', {'Authorization': f'Bearer {operator}'}),
        ('/metrics', {'x-weir-token': operator}), (f'/k/{operator}/metrics', {}),
        ('/metrics', {'x-weir-token': user}), ('/metrics', {}),
        ('/v1/models', {'x-weir-token': operator}), ('/weir/v1/health', {'x-weir-token': user}))],
       [200, 200, 200, 401, 401, 401, 200])
    ok('each is a tenant', lines[0]['tenant'] != lines[1]['tenant'])
    ok('whose token is in no log', 'token-of-the' in json.dumps(lines), False)
    weir.stop()


def big_bodies_stream_through(weir, upstream):
    filler = b'x' * (33 * 1024 * 1024)
    body = b'{"model":"gpt-5","messages":[{"role":"user","content":"' + filler + b'"}]}'
    status, _, _ = weir.post('/v1/chat/completions', body)
    ok('a body over the cap goes through', (status, upstream.last_body() == body), (200, True))
    ok('unread', 'session' in weir.log(1)[-1], False)


def main():
    with Folder() as folder:
        upstream = Upstream(folder)
        base = f'http://127.0.0.1:{upstream.port}/v1'
        weir = Weir(folder, '--upstream', base, '--policy', 'tiered')
        for case in (passes_through, errors_come_as_they_are, streams_flow, calls_are_read_along,
                     first_event_is_not_held, broken_streams_break, keeps_connections,
                     smuggling_is_refused, strangers_are_refused, big_bodies_stream_through):
            if not wanted(case):
                continue
            case(weir, upstream)
        ok('it ends when told', weir.stop(), 0)
        for case in (projects_sessions, counts_as_it_sends, remedies, thinking_is_mended,
                     trouble.crashing_body_is_left_alone, modes, what_is_typed_wins,
                     modes_turn_in_the_middle, thinking_waits_for_the_user,
                     bound_loops_stay_in_their_window,
                     policies_wait_for_the_user, edited_policies_wait_for_the_user,
                     caches_of_gateways_are_kept,
                     canary_is_by_session,
                     config_is_read, tokens_are_tenants, trouble.workers_share_a_socket,
                     trouble.worker_dies, trouble.clients_leave_before_their_turn, trouble.drains,
                     trouble.worker_that_cannot_begin_is_tried_again,
                     trouble.killed_supervisor_leaves_its_port,
                     trouble.near_upstreams_are_asked_directly,
                     form.deltas_know_their_calls,
                     form.conversations_know_their_calls, form.workers_know_each_others_calls,
                     form.bound_to_what_came, form.bound_to_what_was_sent, form.late_and_bound,
                     form.tools_are_left_alone, limit.connections_have_a_cap,
                     limit.stalled_clients_are_cut, limit.slow_clients_are_not,
                     limit.endless_framing_is_refused,
                     limit.unread_answers_are_cut,
                     limit.coded_bodies, limit.open_requests_of_the_dead_are_not_counted,
                     limit.killed_under_load, config.reload_is_told,
                     config.headers_are_obeyed_or_refused, config.unknown_upstreams_see_nothing,
                     config.strange_credentials_are_seen_by_nobody,
                     config.named_upstreams_are_asked_or_nobody, config.gateways_take_every_key,
                     config.hosts_that_are_named_may_ask,
                     config.pages_of_others_may_not_ask, config.errors_name_no_path,
                     config.configured_windows_hold, config.loaded_windows_are_asked_for,
                     config.old_sessions_leave, config.unset_clocks_cost_nothing):
            if wanted(case):
                case(folder, upstream)
        for case in (trouble.upstream_is_not_there, trouble.slow_readers_hold_the_upstream,
                     trouble.tls_is_verified, trouble.wrong_calls,
                     limit.slow_upstreams_take_long_bodies,
                     limit.dead_connections_are_replaced, config.wrong_names_do_not_start,
                     config.no_answer_is_no_usage):
            if wanted(case):
                case(folder)
        upstream.stop()
    return CHECK.end()


def wanted(case):
    return len(sys.argv) < 2 or case.__name__ in sys.argv[1:]


sys.exit(main())

#!/usr/bin/env python3
"""What a request is counted as where it does not end as it should: who leaves early, who says no
usage, what is late, what goes out twice. WEIR is the program."""
import json
import os
import resource
import socket
import sqlite3
import sys
import threading

import own_cases
from gateway_cases import (CHECK, ENV, ask, body_of, config_of, metrics, month_is_settled, ok,
                           token_of, users_yaml)
from harness import PATIENCE_SECONDS, Folder, Upstream, Weir, wait_for
from raw import Raw
from sessions import chat_session, write_policies

EVENTS, LONG_BYTES, WAITING_MAX = 60, 12 * 1000 * 1000, 4096
WORD = 'word '


class Provider:
    """Says what `say` does with the socket of a request, whatever is asked."""

    def __init__(self):
        self.say = None
        self.raw = Raw(self.answer)
        self.port, self.count = self.raw.port, 0

    def answer(self, sock, head):
        if not head.startswith(b'POST'):  # Weir asks servers near by what they have loaded
            sock.sendall(b'HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n')
            return True
        self.count += 1
        return self.say(sock)


def start(folder, upstream, budgets='  - {user: anna, per: month, requests: 1000}\n', more=''):
    return Weir(folder, env=ENV, config=config_of(
        upstream, users_yaml({'anna': 'search'}, 'budgets:\n' + budgets) + more))


def month(weir):
    """(requests, tokens, micro_usd, held_tokens, held_micro_usd), when nothing is held any more."""
    return month_is_settled(weir, 'anna')


def begin(weir, body, path='/v1/chat/completions'):
    """Sends a request by hand; gives its socket."""
    raw = json.dumps(body).encode()
    sock = weir.connect()
    sock.sendall(f'POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n'
                 f'x-weir-token: {token_of("anna")}\r\nx-weir-session: s\r\n'
                 f'anthropic-version: 2023-06-01\r\n'
                 f'Content-Length: {len(raw)}\r\n\r\n'.encode() + raw)
    return sock


def event(data, name=''):
    text = json.dumps(data, separators=(',', ':'))
    return ((f'event: {name}\n' if name else '') + f'data: {text}\n\n').encode()


def chunk(raw):
    return b'%x\r\n%s\r\n' % (len(raw), raw)


STREAM_HEAD = (b'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n'
               b'Transfer-Encoding: chunked\r\n\r\n')


def chat_event(words):
    """As providers frame them: some 240 bytes around a word."""
    return event({'id': 'chatcmpl-' + 'x' * 29, 'object': 'chat.completion.chunk',
                  'created': 1795003200, 'model': 'gpt-5-2025-08-07',
                  'service_tier': 'default', 'system_fingerprint': None,
                  'choices': [{'index': 0, 'delta': {'content': words}, 'logprobs': None,
                               'finish_reason': None}]})


def without_usage(folder):
    """A stream that never says what it used costs what its words are, not its bytes."""
    provider = Provider()

    def say(sock):
        sock.sendall(STREAM_HEAD + b''.join(chunk(chat_event(WORD)) for _ in range(EVENTS)) +
                     chunk(b'data: [DONE]\n\n') + b'0\r\n\r\n')
        return True
    provider.say = say
    weir = start(folder, provider)
    ok('it is answered', ask(weir, 'anna', stream=True)[0], 200)
    requests, tokens, micro_usd = month(weir)[:3]
    ok('about as many tokens as there are words', (requests, EVENTS <= tokens <= 4 * EVENTS),
       (1, True))
    ok('at their price', EVENTS * 10 <= micro_usd <= 4 * EVENTS * 10)
    weir.stop()
    provider.raw.stop()


def cut_by_the_client(folder):
    """Anthropic says at the beginning that it wrote one token, and at the end how many."""
    provider, stays = Provider(), threading.Event()

    def say(sock):
        usage = {'input_tokens': 20, 'output_tokens': 1, 'cache_read_input_tokens': 0,
                 'cache_creation_input_tokens': 0}
        sock.sendall(STREAM_HEAD + chunk(event({'type': 'message_start', 'message': {
            'id': 'm', 'type': 'message', 'role': 'assistant', 'model': 'claude-sonnet-4-5',
            'content': [], 'usage': usage}}, 'message_start')))
        for _ in range(EVENTS):
            sock.sendall(chunk(event({'type': 'content_block_delta', 'index': 0, 'delta': {
                'type': 'text_delta', 'text': WORD}}, 'content_block_delta')))
        stays.wait(PATIENCE_SECONDS)
        return False
    provider.say = say
    weir = start(folder, provider)
    sock = begin(weir, {'model': 'claude-sonnet-4-5', 'max_tokens': 1000, 'stream': True,
                        'messages': [{'role': 'user', 'content': 'hello'}]}, '/v1/messages')
    seen = b''
    while seen.count(b'text_delta') < EVENTS:
        seen += sock.recv(65536)
    sock.close()
    tokens = month(weir)[1]
    ok('who leaves pays for what was written', 20 + EVENTS <= tokens <= 20 + 4 * EVENTS)
    line = weir.log(1)[0]
    ok('which the log says', line['end'], 'client_gone')
    stays.set()
    weir.stop()
    provider.raw.stop()


def gone_before_the_head(folder):
    """The provider has the request and works on it: that is not for nothing."""
    provider, stays = Provider(), threading.Event()

    def say(_):
        stays.wait(PATIENCE_SECONDS)
        return False
    provider.say = say
    weir = start(folder, provider)
    sock = begin(weir, body_of('word ' * 3000))
    wait_for(lambda: provider.count == 1)
    sock.close()
    requests, tokens, micro_usd = month(weir)[:3]
    ok('the prompt is counted, and what was written meanwhile at most',
       (requests, 3000 <= tokens <= 3200, micro_usd >= 3000 * 1.25), (1, True, True))
    cut = weir.connect()
    cut.sendall(b'POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9000\r\n'
                    b'x-weir-token: ' + token_of('anna').encode() + b'\r\n\r\n{')
    cut.close()
    ok('one that never was whole is not counted', wait_for(lambda: len(weir.log_lines()) == 2) and
       month(weir)[0], 1)
    stays.set()
    weir.stop()
    provider.raw.stop()


def no_answer(folder):
    """All of it had left, and the connection ended: it may have been carried out."""
    provider = Provider()
    provider.say = lambda sock: False
    weir = start(folder, provider)
    ok('the client is told', ask(weir, 'anna', words='word ' * 3000)[0], 502)
    row = month(weir)
    ok('and the prompt is counted', (row[0], 3000 <= row[1] <= 3200), (1, True))
    ok('in the log as that', weir.log(1)[0]['end'], 'upstream_unanswered')
    provider.raw.listener.shutdown(socket.SHUT_RDWR)
    provider.raw.stop()
    ok('where nobody listens', ask(weir, 'anna', words='word ' * 3000)[0], 502)
    ok('nothing but the request is', month(weir)[:2], (2, row[1]))
    weir.stop()


def late(folder):
    """A request that is let in before its projection is done reserves its money all the same."""
    upstream = Upstream(folder)
    most = LONG_BYTES / 3 * 1.25 / 1e6  # USD, by its bytes
    for usd, status in ((most / 2, 429), (most * 2, 200)):
        weir = start(folder, upstream, f'  - {{user: anna, per: month, usd: {usd:.6f}}}\n',
                     'limits: {project_ms: 1}\n')
        ok(f'{usd:.1f} USD for a request of up to {most:.1f}', ask(
            weir, 'anna', words=WORD * (LONG_BYTES // len(WORD)))[0], status)
        weir.stop()
    upstream.stop()


def nobody_knows_which_model(folder):
    """A request that names no model may ask the dearest."""
    upstream = Upstream(folder)
    weir = start(folder, upstream, '  - {user: anna, per: month, usd: 0.004}\n')
    seen = upstream.stats()['requests']
    status = ask(weir, 'anna', model=None)[0]
    ok('and is refused where that is too much', (status, upstream.stats()['requests'] - seen),
       (429, 0))
    weir.stop()
    upstream.stop()


def several_answers(folder):
    """`n` answers may each be as long as one."""
    upstream = Upstream(folder)
    weir = start(folder, upstream, '  - {user: anna, per: month, usd: 0.005}\n')
    ok('one may cost a tenth of a cent', ask(weir, 'anna')[0], 200)
    ok('eight are too many', ask(weir, 'anna', n=8)[0], 429)
    weir.stop()
    upstream.stop()


def more_than_any_answer(folder):
    """A number that no counter holds is more than any budget, and not a way around it."""
    upstream = Upstream(folder)
    seen = upstream.stats()['requests']
    for limit in ('usd: 1', 'tokens: 100000'):
        weir = start(folder, upstream, f'  - {{user: anna, per: month, {limit}}}\n')
        for tokens in (2**31, 2**32 - 1, 2**53, 2**61, 2**62, 2**63 - 1, 2**63, 2**64 - 1):
            for answers in (1, 2**31 - 1, 2**32 - 1):
                ok(f'{limit}: {answers} answers of {tokens} tokens', ask(
                    weir, 'anna', max_completion_tokens=tokens, n=answers)[0], 429)
        weir.stop()
    ok('nothing has left', upstream.stats()['requests'], seen)
    upstream.stop()


def answered_later(folder):
    """A provider that answers in the background says no usage now, and may write all it may."""
    provider = Provider()

    def say(sock):
        raw = json.dumps({'id': 'resp_1', 'object': 'response', 'status': 'queued',
                          'background': True, 'output': [], 'usage': None}).encode()
        sock.sendall(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n'
                     b'Content-Length: %d\r\n\r\n' % len(raw) + raw)
        return True
    provider.say = say
    weir = start(folder, provider)
    ok('it is taken', weir.post('/v1/responses', {
        'model': 'gpt-5', 'input': 'hello', 'background': True, 'max_output_tokens': 5000},
        {'x-weir-token': token_of('anna')})[0], 200)
    requests, tokens, micro_usd = month(weir)[:3]
    ok('and counted at its most', (requests, tokens >= 5000, micro_usd >= 50000), (1, True, True))
    weir.stop()
    provider.raw.stop()


def too_many_at_once(folder):
    """More than wait to be counted are refused: else asking often enough would cost nothing."""
    if resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 4 * WAITING_MAX:
        print('note: skipped: too few descriptors for more requests than may wait')
        return
    resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
    upstream = Upstream(folder)
    weir = start(folder, upstream, '  - {user: anna, per: day, requests: 0}\n', 'workers: 1\n')
    ok('nothing is let in', ask(weir, 'anna')[0], 429)
    with sqlite3.connect(os.path.join(weir.store, 'store.db'), isolation_level=None) as db:
        db.execute('BEGIN IMMEDIATE')  # the store takes nothing meanwhile
        # Some wait before that, to be read.
        socks = [begin(weir, body_of()) for _ in range(WAITING_MAX + 600)]
        said = socks[-1].recv(65536)
        db.execute('COMMIT')
    ok('nor where too many wait', (said[9:12], b'too many requests wait' in said), (b'503', True))
    for sock in socks:
        sock.close()
    weir.stop()
    upstream.stop()


def later_legs(folder):
    """What the proxy's own recall asks again is the user's too, and counted."""
    upstream = Upstream(folder)
    weir = start(folder, upstream, more=f'policies: {write_policies(folder)}\npolicy: short\n')
    agent = own_cases.Chat(weir, '[turns 4] [recall 1-5 at 3] Look.', False, 'gpt-5', 'legs')
    agent.headers['x-weir-token'] = token_of('anna')
    agent.work()
    ok('every request is answered', set(agent.statuses), {200})
    lines = weir.log(len(agent.statuses) + 1)
    legs = [line for line in lines if line.get('own_recall_leg')]
    ok('the model has recalled', len(legs) >= 1)
    ok('a later leg has its user and team', {(line.get('user'), line.get('team'))
                                            for line in legs}, {('anna', 'search')})
    row = month(weir)
    ok('it is no request of its own, and its money counts',
       (row[0], row[2]), (len(agent.statuses), sum(line['micro_usd'] for line in lines)))
    weir.stop()
    upstream.stop()


def second_tries(folder):
    """A prompt that was refused as too long and left again, smaller: one record, one request."""
    upstream = Upstream(folder)
    weir = start(folder, upstream, more='policy: tiered\n')
    status = weir.post('/v1/chat/completions', chat_session(24, model='gpt-5'), {
        'Authorization': 'Bearer ' + token_of('anna'), 'x-weir-session': 'r',
        'x-test-window': '20000'})[0]
    line = weir.log(1)[-1]
    ok('it is answered at the second try', (status, line['retries']), (200, 1))
    ok('the record still says whose it is', [line.get(key) for key in (
        'user', 'team', 'tenant', 'upstream')], ['anna', 'search', 'user-anna', 'openai'])
    row = month(weir)
    ok('and is counted once', (row[0], row[2]), (1, line['micro_usd']))
    ok('by the metrics too', 'weir_traffic_requests_total{user="anna"' in metrics(weir))
    weir.stop()
    upstream.stop()


def answer_of(tokens):
    raw = json.dumps({'id': 'x', 'object': 'chat.completion', 'model': 'gpt-5', 'choices': [
        {'index': 0, 'finish_reason': 'stop', 'message': {'role': 'assistant', 'content': 'done'}}],
        'usage': {'prompt_tokens': tokens - 3, 'completion_tokens': 3,
                  'total_tokens': tokens}}).encode()
    return (b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n'
            % len(raw) + raw)


def places(folder, first, spare):
    """Weir before two places of one upstream."""
    place = f'base_url: "http://127.0.0.1:{spare.port}/v1", key: {{env: PROVIDER_KEY}}'
    return Weir(folder, env=ENV, config=config_of(first, users_yaml({'anna': 'search'}, (
        'budgets: [{user: anna, per: month, requests: 1000}]\n'))).replace(
            'key: {env: PROVIDER_KEY}}', f'key: {{env: PROVIDER_KEY}}, places: [{{{place}}}]}}', 1))


def another_place(folder):
    """What a place refused costs nothing, what it left unanswered its prompt, and either is one
    request, wherever it was answered."""
    first, spare = Provider(), Provider()

    def refuse(sock):
        sock.sendall(b'HTTP/1.1 529 Full\r\nContent-Length: 0\r\n\r\n')
        return True

    def take(sock):
        sock.sendall(answer_of(1003))
        return True
    first.say, spare.say = refuse, take
    weir = places(folder, first, spare)
    ok('the spare one answers', ask(weir, 'anna', 'moves')[0], 200)
    line = weir.log(1)[-1]
    ok('a place was left', (line['upstream_left'], line['upstream_place'], first.count,
                            spare.count), ('1', '2', 1, 1))
    ok('and one request counted, as it was answered',
       (month(weir)[:3], line['user']), ((1, 1003, line['micro_usd']), 'anna'))
    weir.stop()
    first.raw.listener.shutdown(socket.SHUT_RDWR)
    first.raw.stop()
    spare.say = lambda sock: False
    weir = places(folder, first, spare)
    ok('where nobody is at the one and the other says nothing, the client is told',
       (ask(weir, 'anna', words='word ' * 3000)[0], spare.count), (502, 2))
    requests, tokens = month(weir)[:2]
    ok('and pays for the prompt, once', (requests, 3000 <= tokens <= 3200), (1, True))
    weir.stop()
    spare.raw.stop()


def a_connection_that_had_died(folder):
    """What goes out once more because a kept connection was dead is no second request."""
    provider, said = Provider(), []

    def say(sock):
        said.append(sock)
        if said.count(sock) > 1:  # kept, and closed as the next request comes
            return False
        sock.sendall(answer_of(503))
        return True
    provider.say = say
    weir = start(folder, provider, more='workers: 1\n')
    ok('both are answered', [ask(weir, 'anna')[0] for _ in range(2)], [200] * 2)
    ok('the second went out twice', (provider.count, len(set(said))), (3, 2))
    ok('and is counted once', month(weir)[:2], (2, 2 * 503))
    weir.stop()
    provider.raw.stop()


def main(names):
    cases = (without_usage, cut_by_the_client, gone_before_the_head, no_answer, late,
             nobody_knows_which_model, several_answers, more_than_any_answer, answered_later,
             another_place, a_connection_that_had_died, too_many_at_once, later_legs, second_tries)
    with Folder() as folder:
        for case in cases:
            if not names or case.__name__ in names:
                case(folder)
    return CHECK.end()


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))

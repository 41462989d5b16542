#!/usr/bin/env python3
"""Several places of one upstream: who is asked, what happens when one fails, what it cost."""
import json
import os
import subprocess
import sys

import clouds
from config_cases import refused
from harness import Folder, Weir, deaf_port, wait_for
from raw import Raw
from sessions import CHECK, chat_session, ok

LIMITED = b'{"error":{"type":"rate_limit_error","message":"slow down"}}'


class Place:
    """Answers with `status`, and then what a model says; keeps who asked."""

    def __init__(self):
        self.status, self.more, self.read, self.stalls, self.drops = 200, b'', 0, False, False
        self.keys, self.heads = [], []
        self.raw = Raw(self.answer)
        self.url = f'http://127.0.0.1:{self.raw.port}/v1'

    def answer(self, sock, head):
        if not head.startswith(b'POST'):  # Weir asks servers near by what they have loaded
            sock.sendall(b'HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n')
            return True
        self.keys.append(head.lower().partition(b'authorization: ')[2].partition(b'\r\n')[0])
        self.heads.append(head)
        if self.drops:
            return False
        body = LIMITED
        if self.status == 200:
            body = json.dumps({
                'id': 'x', 'object': 'chat.completion', 'model': 'gpt-4o-mini',
                'choices': [{'index': 0, 'finish_reason': 'stop',
                             'message': {'role': 'assistant', 'content': 'done'}}],
                'usage': {'prompt_tokens': 9000, 'completion_tokens': 3, 'total_tokens': 9003,
                          'prompt_tokens_details': {'cached_tokens': self.read}}}).encode()
        sock.sendall(b'HTTP/1.1 %d Said\r\nContent-Type: application/json\r\n%s'
                     b'Content-Length: %d\r\n\r\n%s' %
                     (self.status, self.more, len(body), body[:1] if self.stalls else body))
        return True

    def count(self):
        return len(self.keys)


def start(folder, first, places, more='', env=None, workers=2):
    return Weir(folder, config=f'listen: 127.0.0.1:0\nworkers: {workers}\nupstreams:\n  openai:\n'
                f'    base_url: {first.url}\n{more}    places:\n' +
                ''.join(f'      - {place}\n' for place in places), env=env)


def ask(weir, session, turns=1, **headers):
    return weir.post('/v1/chat/completions', chat_session(turns),
                     {'x-weir-session': session, **headers})


def newest(weir, count):
    """The line of the last request; workers write theirs in any order."""
    return max(weir.log(count), key=lambda line: line['time_ms'])


def by_order(folder):
    one, two = Place(), Place()
    weir = start(folder, one, [f'{{base_url: {two.url}, name: spare}}'])
    ok('the first is asked', [ask(weir, 'a')[0] for _ in range(3)], [200] * 3)
    ok('and nobody else', (one.count(), two.count()), (3, 0))
    one.status, one.more = 429, b'Retry-After: 600\r\n'
    status, body, _ = ask(weir, 'a')
    ok('when it is full the other answers', (status, b'done' in body), (200, True))
    line = newest(weir, 4)
    ok('which the log says', [line.get(k) for k in (
        'upstream_place', 'upstream_left', 'upstream_left_reason', 'upstream_places_failed')],
       ['spare', '1', '429', 1])
    one.status = 200
    ok('the session stays there', (ask(weir, 'a')[0], one.count(), two.count()), (200, 4, 2))
    ok('without a word of leaving', 'upstream_left' in newest(weir, 5), False)
    ask(weir, 'b')
    ok('one that begins goes by the rest that was asked for, in every worker',
       (one.count(), two.count()), (4, 3))
    wait_for(lambda: weir.metric('weir_upstream_moves_total') == 2)  # behind the answer
    ok('moves are counted', weir.metric('weir_upstream_moves_total'), 2)
    one.status, two.status = 429, 429
    two.more = b'Retry-After: 7\r\n'
    status, body, headers = ask(weir, 'a')
    ok('where all have failed the client sees it as it is',
       (status, body, headers.get('retry-after')), (429, LIMITED, '7'))
    weir.stop()


def a_refusal_that_never_ends(folder):
    one, two = Place(), Place()
    weir = start(folder, one, [f'{{base_url: {two.url}, name: spare}}'])
    one.status, one.stalls = 503, True
    status, body, _ = ask(weir, 'a')
    ok('the other answers all the same', (status, b'done' in body), (200, True))
    line = newest(weir, 1)
    ok('and its first byte is the one that counts', 0 < line['first_byte_us'] < 60 * 1000 * 1000)
    weir.stop()


def no_answer_at_all(folder):
    """What had left whole may have been carried out: it is not asked for elsewhere as well."""
    one, two = Place(), Place()
    weir = start(folder, one, [f'{{base_url: {two.url}, name: spare}}'])
    one.drops = True
    ok('the client is told', (ask(weir, 'a')[0], one.count(), two.count()), (502, 1, 0))
    line = newest(weir, 1)
    ok('and the log why', (line['end'], line.get('upstream_place')), ('upstream_unanswered', '1'))
    one.drops = False
    ok('when it asks again, another place answers', (ask(weir, 'a')[0], one.count(), two.count()),
       (200, 1, 1))
    weir.stop()


def a_head_that_is_thrown_away(folder):
    """It is no first byte of the answer that the client gets, or does not get."""
    one, deaf = Place(), deaf_port()
    weir = start(folder, one, [f'{{base_url: "http://127.0.0.1:{deaf.getsockname()[1]}/v1"}}'])
    one.status = 503
    ok('nobody answers', ask(weir, 'a')[0], 502)
    line = newest(weir, 1)
    ok('so there was no first byte', (line.get('first_byte_us') or 0, line['end']),
       (0, 'upstream_unreachable'))
    weir.stop()
    deaf.close()


def a_place_that_is_signed_for(folder):
    """Its signature is of the whole body, also where the first place takes it as it comes."""
    one, two = Place(), Place()
    env = {'K_ACCESS': clouds.AWS_ACCESS, 'K_SECRET': clouds.AWS_SECRET}
    weir = start(folder, one, [f'{{base_url: {two.url}, sign: {{region: us-east-1, access_key: '
                               '{env: K_ACCESS}, secret_key: {env: K_SECRET}}}'], env=env)
    one.status = 503
    body = json.dumps({**chat_session(1), 'user': 'x' * 300000}).encode()
    status = weir.post('/v1/chat/completions', body, {'x-weir-session': 'a',
                                                      'x-weir-mode': 'exact'})[0]
    ok('it is answered there', (status, one.count(), two.count()), (200, 1, 1))
    lines = two.heads[0].decode().split('\r\n')[1:-2] if two.heads else []
    headers = {name.lower(): value for name, _, value in (line.partition(': ') for line in lines)}
    try:
        clouds.check_signature('POST', '/v1/chat/completions', headers, body)
        refused = None
    except (clouds.Refused, KeyError) as error:
        refused = error
    ok('with a signature of what came', refused, None)
    weir.stop()


def nobody_there(folder):
    deaf, two = deaf_port(), Place()
    gone = Place()
    gone.url = f'http://127.0.0.1:{deaf.getsockname()[1]}/v1'
    weir = start(folder, gone, [f'{{base_url: {two.url}}}'])
    ok('where nobody listens the next answers', ask(weir, 'a')[0], 200)
    line = newest(weir, 1)
    ok('with the reason', (line.get('upstream_left_reason'), line['status']), ('unreachable', 200))
    two.status = 400
    ok('what is wrong in the request is no failure of the place',
       (ask(weir, 'a')[0], 'upstream_left' in newest(weir, 2)), (400, False))
    weir.stop()
    deaf.close()


def keys(folder):
    one = Place()
    env = {'KEY_A': 'alpha-key', 'KEY_B': 'beta-key'}
    weir = start(folder, one, ['{key: {env: KEY_B}}'], '    key: {env: KEY_A}\n', env)
    ask(weir, 'a', authorization='Bearer of-the-client')
    one.status = 529
    ask(weir, 'a')
    ok('two keys of one address are two places', one.keys,
       [b'bearer alpha-key', b'bearer alpha-key', b'bearer beta-key'])
    ok('no key is in the log', any(key in json.dumps(weir.log(2)) for key in env.values()), False)
    weir.stop()
    for sentence, places, words in (
            ('a key is not sent to another host', f'[{{base_url: "{one.url}x"}}]',
             'has a key of its own'),
            ('a place that is no other is refused', '[{weight: 2}]', 'a base_url or a key'),
            ('and an empty list', '[]', 'a list of 1 to 7'),
            ('and a member that it has not', '[{nosuch: 2}]', "not 'nosuch'")):
        os.environ.update(env)
        status, errors = refused(folder, 'upstreams: {openai: {base_url: "http://127.0.0.1:1", '
                                 f'key: {{env: KEY_A}}, places: {places}}}}}\n')
        ok(sentence, (status, words in errors), (2, True))


def by_weight(folder):
    one, two = Place(), Place()
    weir = start(folder, one, [f'{{base_url: {two.url}, weight: 3}}'], '    balance: weight\n')
    for n in range(40):
        ask(weir, f's{n}')
    shares = (one.count(), two.count())
    ok('sessions are spread, the heavier gets more', 1 <= shares[0] < shares[1], True)
    before = one.count()
    for n in range(40):
        ask(weir, f's{n}')
    ok('and each stays where it was', one.count(), 2 * before)
    weir.stop()


def what_it_cost(folder):
    one, two = Place(), Place()
    # One worker, which has noted what an answer left in the cache before the next request comes.
    weir = start(folder, one, [f'{{base_url: {two.url}, name: spare}}'], workers=1)
    ask(weir, 'c', 6)
    weir.log(1)
    one.read = 8960
    ask(weir, 'c', 6)
    weir.log(2)
    one.status = 529
    ask(weir, 'c', 6)
    line = newest(weir, 3)
    ok('the cache that was left behind is charged to the move',
       (line.get('cache_bust_cause'), line.get('cache_bust_at'), line.get('cache_bust_tokens', 0) >
        8000), ('moved', '1', True))
    page = weir.get('/metrics')[1].decode()

    def money():
        out = subprocess.run([os.environ.get('WEIR', 'build/weir'), 'report', '--json', '--store',
                              weir.store], stdout=subprocess.PIPE, check=True).stdout
        return json.loads(out)['all']['bust_micro_usd']['moved']
    ok('as money in the report', wait_for(money) > 0)
    ok('and counted so', 'weir_cache_busts_total{cause="moved"} 1' in page)
    weir.stop()


def main():
    with Folder() as folder:
        for case in (by_order, a_refusal_that_never_ends, no_answer_at_all,
                     a_head_that_is_thrown_away, a_place_that_is_signed_for, nobody_there, keys,
                     by_weight, what_it_cost):
            case(folder)
    return CHECK.end()


sys.exit(main())

"""Cache busts where the provider holds the history, and what of them survives a restart."""
import json
import os
import signal

import scripted
from harness import wait_for
from quality_talk import bust_of, cached_session, serve
from sessions import file_text, ok, response_tools


def called(answer_id, number, **usage):
    """An answer of Responses with one call in it."""
    status, answer = scripted.responses(**usage)
    answer.update(id=answer_id, output=[{
        'type': 'function_call', 'id': f'fc_{number}', 'call_id': f'call_{number}',
        'name': 'read_file', 'arguments': json.dumps({'path': f'src/f{number}.py'})}])
    if not usage:
        del answer['usage']
    return status, answer


class Chain:
    """A conversation over Responses whose history the provider holds."""
    count = 0

    def __init__(self, weir, upstream, **more):
        Chain.count += 1
        self.weir, self.upstream, self.more = weir, upstream, more
        self.name, self.number, self.id = f'chain-{Chain.count}', 0, None

    def ask(self, text=None, usage=None, **more):
        """Sends what is new; gives what left, and its line of the log."""
        items = [{'type': 'message', 'role': 'user', 'content': 'Look around.'}]
        if self.number:
            items = [{'type': 'function_call_output', 'call_id': f'call_{self.number}',
                      'output': text or 'short'}]
        body = {'model': 'gpt-5', 'instructions': 'You fix bugs.', 'tools': response_tools(),
                'input': items, **self.more, **more}
        if self.id:
            body['previous_response_id'] = self.id
        self.number += 1
        self.id = f'resp_{self.name}_{self.number}'
        self.upstream.say(called(self.id, self.number, **(usage or {})))
        before = self.weir.lines()
        self.weir.post('/v1/responses', body)
        return self.upstream.bodies[-1], self.weir.log(before + 1)[-1]


def deltas_are_judged(weir, upstream):
    chain = Chain(weir, upstream)
    chain.ask(usage={'prompt': 6000})
    ok('a delta that is read from the cache is no bust',
       bust_of(chain.ask(usage={'prompt': 7000, 'read': 5888})[1]), (5888, None, None, None))
    _, line = chain.ask(usage={'prompt': 8000, 'read': 0})
    ok('one that is not is the provider\'s', (line['delta'], *bust_of(line)),
       (True, 6912, 6912, 'provider', None))
    ok('an answer without usage', bust_of(chain.ask(usage={})[1])[:2], (None, None))
    _, line = chain.ask(usage={'prompt': 9000, 'read': 0})
    ok('leaves nothing to judge by, which is said', (line.get('cache_not_judged'), *bust_of(line)),
       ('previous_usage_unknown', None, None, None, None))
    other = Chain(weir, upstream)
    other.ask(usage={'prompt': 6000})
    other.ask(usage={'prompt': 7000, 'read': 5888})
    fork, number = other.id, other.number
    for sentence, more, cause, place in (
            ('other tools', {'tools': response_tools()[:1]}, 'model', 'tools'),
            ('other instructions', {'instructions': 'You write bugs.'}, 'host', 'system'),
            ('another tool_choice', {'tool_choice': 'required'}, 'host', 'parameters'),
            ('another model', {'model': 'gpt-5-mini'}, 'model', 'model')):
        other.id, other.number = fork, number
        _, line = other.ask(usage={'prompt': 8000, 'read': 0}, **more)
        ok(f'{sentence}: who did it', bust_of(line)[2:], (cause, place))
    unknown = Chain(weir, upstream)
    unknown.id, unknown.number = 'resp_nobody_saw', 7
    _, line = unknown.ask(usage={'prompt': 8000, 'read': 0})
    ok('an answer that nobody saw', (line.get('cache_not_judged'), bust_of(line)[1]),
       ('previous_answer_unknown', None))


def restarts_break_no_chain(folder, upstream):
    """What a server learnt of answers and prompts is in the store, also if it is killed."""
    texts = [file_text(n, 600) for n in range(4)]

    def play(restart):
        weir = serve(folder, upstream)
        chain, sent = Chain(weir, upstream, prompt_cache_key=f'key-{restart}'), []
        session = cached_session(weir, upstream)
        chain.ask(usage={'prompt': 6000})
        for n, text in enumerate(texts):
            if n == 2 and restart is not None:
                wait_for(lambda: weir.metric('weir_ledger_rows_total') >= 4)
                weir.stop(restart)
                weir = chain.weir = serve(folder, upstream, store=weir.store)
            body, line = chain.ask(text, usage={'prompt': 7000 + 1000 * n, 'read': 5888 + 1024 * n})
            sent.append((body['input'][0]['output'], line['changed'], line.get('delta'),
                         line.get('cache_not_judged'), line.get('cache_bust_cause'),
                         line.get('cache_expected_tokens'), line['session']))
        session.weir = weir
        upstream.say(scripted.chat(prompt=7000, read=0))
        busts = bust_of(session.ask())
        weir.stop()
        return [s[:-1] for s in sent], len({s[-1] for s in sent}), busts

    whole = play(None)
    ok('every delta was changed and judged', [s[1:4] for s in whole[0]], [(True, True, None)] * 4)
    ok('all of one session', whole[1], 1)
    ok('and a bust of the other session seen', whole[2], (5888, 5888, 'provider', None))
    for number in (signal.SIGTERM, signal.SIGKILL):
        ok(f'{number.name} in the middle changes nothing', play(number), whole)


def meters_keep_no_words(folder, upstream):
    """Where nothing is taken out the store has no content; what calls said is content."""
    weir = serve(folder, upstream, extra='mode: meter\n')
    chain = Chain(weir, upstream)
    chain.ask(usage={'prompt': 6000})
    weir.stop()
    with open(os.path.join(weir.store, 'store.db'), 'rb') as file:
        found = file.read()
    ok('an answer is noted, its arguments are not',
       (b'call_1' in found, b'src/f1.py' in found), (True, False))
    weir = serve(folder, upstream, store=weir.store)
    chain.weir = weir
    line = chain.ask(file_text(1, 600), usage={'prompt': 7000, 'read': 5888})[1]
    ok('the chain goes on', bust_of(line), (5888, None, None, None))
    weir.stop()

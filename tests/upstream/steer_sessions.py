#!/usr/bin/env python3
"""Recorded sessions through the proxy, steered on the way: plan, pin, unpin, undo, exact, pause and
resume, in every API, with a server that is killed in between. Of every request that leaves: it is
lawful (laws.py), it repeats the last one byte for byte unless a step is declared, what differs from
what came has a marker, and every marker leads back to what stood there. What was said to cost is
what the ledger says was paid.

    steer_sessions.py [made] [API...]

The sessions are those of ../shared/traces where they are, else, and with `made`, made ones: one in
each API, with WEIR_LONG five.
"""
import glob
import json
import os
import re
import signal
import subprocess
import sys

import laws
from harness import Folder, Weir, wait_for
from sessions import CHECK, file_text, listing, ok
from steer_talk import PROGRAM, Chat, Gemini, Messages, Responses, Talk, extends, run, \
    steps_money, unmarked

TRACES = '../shared/traces/normalized'
REQUESTS = 40  # of a session, at most
BYTES_MOST = 400_000
MARKER = re.compile(r'\[weir (wr_[0-9a-f]{20})')


# ---- sessions ----

def made_session(number):
    """An agent's work: three loops that read, list and run."""
    items = []
    for n in range(36):
        if n % 12 == 0:
            items.append({'role': 'user', 'content': f'Part {n // 12 + 1}: find the bug.'})
        name, arguments, text = [
            ('read_file', {'path': f'src/f{n % 20}.py'}, file_text(n)),
            ('list', {'path': f'src/folder_{n}'}, listing(n)),
            ('bash', {'command': f'make test-{n}'}, listing(n + 50, 90) + '3 tests failed\n'),
        ][(n + number) % 3]
        items += [{'role': 'assistant', 'content': f'Step {n}.', 'tool_calls': [
            {'id': f'call_{n}', 'type': 'function',
             'function': {'name': name, 'arguments': json.dumps(arguments)}}]},
            {'role': 'tool', 'tool_call_id': f'call_{n}', 'name': name, 'content': text}]
        if n % 12 == 11:
            items.append({'role': 'assistant', 'content': f'Part {n // 12 + 1} is done.'})
    return f'made-{number}', items + [{'role': 'user', 'content': 'Thank you.'}]


def sessions(count, are_made):
    found = []
    for path in [] if are_made else sorted(glob.glob(os.path.join(TRACES, '*.jsonl'))):
        if os.path.getsize(path) <= BYTES_MOST and 'tau' not in path:
            found.append(path)
    if not found:
        return [made_session(n) for n in range(count)]
    chosen = [found[(2 * i + 1) * len(found) // (2 * count)] for i in range(count)]
    return [(os.path.basename(path)[:-6], [json.loads(line) for line in open(
        path, encoding='utf-8')]) for path in chosen]


def text_of(item):
    return item['content'] if isinstance(item.get('content'), str) else ''


def calls_of(item):
    return [(c['id'], c['function']['name'], c['function']['arguments'])
            for c in item.get('tool_calls') or []]


# ---- as each API has them ----

def as_object(arguments):
    try:
        value = json.loads(arguments)
    except ValueError:
        value = None
    return value if isinstance(value, dict) else {'arguments': arguments}


def merged(items, parts):
    """Neighbours of one role are one message, as providers want them."""
    out = []
    for item in items:
        if out and out[-1]['role'] == item['role']:
            out[-1][parts] = out[-1][parts] + item[parts]
        elif item[parts]:
            out.append(item)
    return out


class ChatSessions(Chat):
    LAW = 'chat'

    def items_of(self, session):
        return [{k: v for k, v in item.items() if k != 'name'} for item in session]

    def tools_of(self, names):
        return [{'type': 'function', 'function': {'name': n, 'parameters': {'type': 'object'}}}
                for n in names]


class ResponsesSessions(Responses):
    LAW = 'responses'

    def items_of(self, session):
        out = []
        for item in session:
            if item['role'] == 'tool':
                out.append({'type': 'function_call_output', 'call_id': item['tool_call_id'],
                            'output': text_of(item)})
                continue
            if text_of(item):
                kind = 'output_text' if item['role'] == 'assistant' else 'input_text'
                out.append({'type': 'message', 'role': item['role'],
                            'content': [{'type': kind, 'text': text_of(item)}]})
            out += [{'type': 'function_call', 'call_id': i, 'name': name, 'arguments': arguments}
                    for i, name, arguments in calls_of(item)]
        return out

    def tools_of(self, names):
        return [{'type': 'function', 'name': n, 'parameters': {'type': 'object'}} for n in names]


class MessagesSessions(Messages):
    LAW = 'messages'

    def items_of(self, session):
        out = []
        for item in session:
            if item['role'] == 'tool':
                out.append({'role': 'user', 'content': [
                    {'type': 'tool_result', 'tool_use_id': item['tool_call_id'],
                     'content': text_of(item) or 'nothing'}]})
                continue
            parts = [{'type': 'text', 'text': text_of(item)}] if text_of(item).strip() else []
            parts += [{'type': 'tool_use', 'id': i, 'name': name, 'input': as_object(arguments)}
                      for i, name, arguments in calls_of(item)]
            out.append({'role': 'assistant' if item['role'] == 'assistant' else 'user',
                        'content': parts})
        return merged(out, 'content')

    def tools_of(self, names):
        return [{'name': n, 'input_schema': {'type': 'object'}} for n in names]


class GeminiSessions(Gemini):
    LAW = 'gemini'

    def items_of(self, session):
        names, out = {}, []
        for item in session:
            names.update({i: name for i, name, _ in calls_of(item)})
            if item['role'] == 'tool':
                out.append({'role': 'user', 'parts': [{'functionResponse': {
                    'name': names[item['tool_call_id']],
                    'response': {'output': text_of(item)}}}]})
                continue
            parts = [{'text': text_of(item)}] if text_of(item) else []
            parts += [{'functionCall': {'name': name, 'args': as_object(arguments)}}
                      for _, name, arguments in calls_of(item)]
            out.append({'role': 'model' if item['role'] == 'assistant' else 'user',
                        'parts': parts})
        return merged(out, 'parts')

    def tools_of(self, names):
        return [{'functionDeclarations': [{'name': n} for n in names]}]


APIS = {'chat': ChatSessions, 'responses': ResponsesSessions, 'messages': MessagesSessions,
        'gemini': GeminiSessions}


# ---- what must hold ----

def begin_of(session, ends):
    """Where to begin: a few calls into the longest loop, so that there is something to take. What
    comes before is there from the first request on."""
    lengths, best = [], (0, 0)
    for i, end in enumerate(ends):
        is_new = any(item['role'] == 'user' for item in session[ends[i - 1] if i else 0:end])
        lengths.append(1 if is_new or not i else lengths[-1] + 1)
        best = max(best, (lengths[-1], i - lengths[-1] + 1))
    return max(0, min(best[1] + 5, len(ends) - REQUESTS))


def strings_in(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for v in value.values() if isinstance(value, dict) else value:
            yield from strings_in(v)


class Short(Exception):
    """The session has no more requests."""


class Walk:
    """A session that is played request by request, and what was seen of the laws."""

    def __init__(self, talk, name, session):
        self.talk, self.api, self.name = talk, talk.api, name
        self.session = session
        names = {c[1] for item in session for c in calls_of(item)}
        self.api.TOOLS = self.api.tools_of(['weir_recall', *sorted(names)])
        ends = [i for i, item in enumerate(session) if item['role'] == 'assistant' and i]
        if session[-1]['role'] != 'assistant':
            ends.append(len(session))
        self.ends = ends[begin_of(session, ends):][:REQUESTS]
        self.before, self.markers, self.counts = None, {}, {'requests': 0, 'steps': 0}
        self.wrong = []

    def ask(self):
        """The next request."""
        if not self.ends:
            raise Short
        self.talk.items = self.api.items_of(self.session[:self.ends.pop(0)])
        sent = self.talk.ask()
        if not isinstance(sent, list):
            self.wrong.append(f'refused with {sent}')
            return []
        self.hold(sent, self.talk.last())
        self.before = sent
        return sent

    def hold(self, sent, line):
        body = self.talk.provider.bodies[-1]
        self.counts['requests'] += 1
        self.counts['steps'] += bool(line['step'])
        try:  # L4
            laws.check(self.api.LAW, json.dumps(body), self.api.HEADERS, laws_state(),
                       model=self.api.MODEL)
        except laws.Refusal as refusal:
            self.wrong.append(f'L4: {refusal}')
        same = self.before is not None and extends(self.before, sent)
        if self.before is not None and same == bool(line['step']):  # L3
            self.wrong.append(f'L3: {"a step" if line["step"] else "no step"}, yet the prefix is '
                              f'{"the same" if same else "another"}: {line.get("step_reason")}')
        if line.get('step_reason') == 'unexplained':
            self.wrong.append('L3: a step that nothing explains')
        came = {json.dumps(item) for item in unmarked(self.talk.items)}
        for item in unmarked(sent):  # L1, as far as items go
            text = json.dumps(item)
            if text not in came and not MARKER.search(text):
                self.wrong.append('L1: changed without a marker: ' + text[:200])
            self.markers.update({h: True for h in MARKER.findall(text)})

    def originals_come_back(self):
        """L2: of every marker that was sent. What a summary stands for is told otherwise than it
        came; each text of one result is what came."""
        texts = set(strings_in(self.talk.items))
        lost, whole = [], 0
        for handle in sorted(self.markers)[::max(1, len(self.markers) // 12)]:
            done = subprocess.run([PROGRAM, 'recall', handle, '--store', self.talk.weir.store],
                                  capture_output=True, check=False)
            whole += done.stdout.decode() in texts
            if done.returncode or not done.stdout:
                lost.append(handle)
        ok(f'{self.name}: every marker leads back', lost, [])
        ok(f'{self.name}: and most of them to a text that came', whole > 0 or not self.markers)

    def restart(self):
        """Another process goes on; the one before was killed."""
        weir = self.talk.weir
        with open(weir.config_path, encoding='utf-8') as file:
            config = file.read()
        weir.stop(signal.SIGKILL)
        self.talk.weir = Weir(weir.folder, '--upstream',
                              f'http://127.0.0.1:{self.talk.provider.port}', config=config,
                              store=weir.store)


class laws_state:  # noqa: what the laws ask of a server: it has given out nothing
    issued, answers, responses, conversations = {}, {}, {}, {}

    def __getattr__(self, name):
        return {}


# ---- the play ----

def paid_is_said(walk, words, reason):
    """An order with a price: what is said, and what the ledger says of the request that obeys it.
    The provider must have cached the last one."""
    talk = walk.talk
    label = f'{walk.name}: {words[0]}'
    talk.plan()
    before = steps_money(talk)
    status, out, err = talk.command(words[0], talk.name, *words[1:], '--yes', '--json')
    if status:
        ok(f'{label} is said', (status, err), (0, ''))
        return
    price = json.loads(out)['price']
    walk.ask()
    ok(f'{label}: is a declared step', talk.last()['step_reason'], reason)
    paid = steps_money(talk) - before
    said = price['cost_micro_usd'] if price else 0
    ok(f'{label}: the price that was said is the price that was paid',
       abs(paid - said) <= max(2, said // 1000) or (paid, price), True)


def sums_of(talk):
    """Of each session of the store: requests, tokens and money, as `weir sessions` has them."""
    requests = talk.weir.lines()

    def rows():
        found = [json.loads(line) for line in talk.command('sessions', '--json')[1].splitlines()]
        return sum(row['requests'] for row in found) >= requests and found
    return {row['session']: row for row in wait_for(rows)}


def both_are_compared(walk, name, session):
    """The same requests once more, as they came, against what was steered."""
    talk, steered = walk.talk, walk.talk.name
    talk.name = 'plain-' + steered
    talk.headers = {'x-weir-mode': 'exact'}
    talk.provider.before = None
    plain = Walk(talk, name, session)
    plain.ends = plain.ends[:walk.counts['requests']]
    while plain.ends:
        talk.items = plain.api.items_of(session[:plain.ends.pop(0)])
        if unmarked(talk.ask()) != talk.items:
            plain.wrong.append('not as it came')
    ok(f'{name}: exact for a request, it goes as it came', plain.wrong, [])
    sums = {key.rpartition(':')[2]: row for key, row in sums_of(talk).items()}
    status, out, err = run('compare', '--recorded', '--json', '--store', talk.weir.store, talk.name,
                           steered)
    found = json.loads(out) if not status else {'runs': [], 'contrasts': {}}
    ok(f'{name}: compare says of both what the ledger has', (status, err, [
        (run['requests'], run['micro_usd']) for run in found['runs']]), (0, '', [
            (sums[key]['requests'], sums[key]['micro_usd']) for key in (talk.name, steered)]))
    ok(f'{name}: and from one of each no verdict', {
        c['verdict'] for c in found['contrasts'].values()}, {'too_few'})


def a_session_is_played(folder, api, name, session):
    name = f'{api.LAW} {name}'
    talk = Talk(folder, api(), re.sub('[^a-z0-9]', '-', name))
    talk.provider.counts = True
    walk = Walk(talk, name, session)
    walk.ask()
    pieces = []
    while len(pieces) < 2:  # until there is something to take
        walk.ask()
        pieces = [p for p in talk.plan()['plan']['next'].get('pieces', [])
                  if 'last_segment' not in p]
    ok(f'{name}: the plan has pieces in words and tokens', len(pieces) > 1 and all(
        p['tokens'] > p['tokens_left'] and p['kind'] for p in pieces))
    kept = max(pieces, key=lambda p: p['tokens'])
    ok(f'{name}: its largest is pinned by its number',
       talk.command('pin', talk.name, str(kept['segment']))[0], 0)
    walk.ask()
    ok(f'{name}: which changes nothing', talk.last()['step'], False)
    walk.restart()
    paid_is_said(walk, ('plan', '--now'), 'asked')
    original = talk.command('recall', kept['handle'])
    sent = json.dumps(walk.before)
    ok(f'{name}: what is pinned is no marker', f'[weir {kept["handle"]}' in sent, False)
    ok(f'{name}: and is whole', original[0] != 0 or original[1] in set(strings_in(walk.before)))
    walk.ask()
    walk.restart()
    paid_is_said(walk, ('undo',), 'undone')
    ok(f'{name}: what the step took is there again', unmarked(walk.before), talk.items)
    paid_is_said(walk, ('plan', '--now'), 'asked')
    walk.restart()
    walk.ask()
    paid_is_said(walk, ('exact',), 'policy')
    ok(f'{name}: all goes as it came', unmarked(walk.before), talk.items)
    walk.restart()
    walk.ask()
    ok(f'{name}: after another process too', unmarked(walk.before), talk.items)
    talk.command('resume', talk.name)
    walk.ask()
    ok(f'{name}: what went whole stays whole', talk.last()['step'], False)
    talk.command('unpin', talk.name, kept['handle'])
    walk.ask()
    walk.ask()
    walk.originals_come_back()
    ok(f'{name}: the laws hold', walk.wrong, [])
    both_are_compared(walk, name, session)
    ok(f'{name}: there was something to hold', walk.counts['requests'] >= 10 and
       walk.counts['steps'] >= 4 or walk.counts)
    talk.stop()


def main(wanted):
    count = (5 if os.environ.get('WEIR_LONG') else 1) * len(APIS)
    played = 0
    apis = [word for word in wanted if word in APIS] or list(APIS)
    with Folder() as folder:
        for n, (name, session) in enumerate(sessions(count, 'made' in wanted)):
            law = list(APIS)[n % len(APIS)]
            if law not in apis:
                continue
            try:
                a_session_is_played(folder, APIS[law], name, session)
                played += 1
            except Short:
                print(f'note: {law} {name} is too short')
    ok('most of the sessions were long enough', played * 4 >= 3 * count * len(apis) // len(APIS))
    return CHECK.end()


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))

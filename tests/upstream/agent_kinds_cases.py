#!/usr/bin/env python3
"""Sessions of sixty turns, a kind each, through `weir agent` and the sidecar."""
import glob
import http.client
import json
import os
import re
import shutil
import signal
import sys

from agent_home import (LINES, MODELS, Home, Terminal, call, calls_and_results, events,
                        journal_troubles, lines_of, prefix_troubles, read, trace, write_file)
from harness import PATIENCE_SECONDS, STARTED, Checks, Folder, Upstream, Weir, wait_for

CHECK = Checks()
ok = CHECK.ok
TURNS = 60
LONG = ('session:\n  max_tool_iterations: 1000\n'
        '  limits: {turns: 0, tokens: 0, tool_calls: 0, cost_usd: 0, minutes: 0}\n')
WHOLE = LONG + '  policy: exact\n'
END = {'words': 'All done.'}


class Scene:
    """An upstream that records, and a home."""

    def __init__(self, folder, steps, *arguments, **env):
        self.record = write_file(folder, 'record', '')
        self.upstream = Upstream(folder, '--record', self.record, '--script',
                                 write_file(folder, 'script', json.dumps(steps)), *arguments)
        self.home = Home(folder, **env)
        self.folder = folder

    def config(self, text=LONG):
        return '--config', write_file(self.folder, 'config', text)

    def run(self, api, *arguments):
        return self.home.run(self.upstream, api, '--json', *arguments)

    def requests(self):
        return lines_of(self.record)

    def holds(self, kind, session, refused=0):
        """The laws that every kind of session keeps."""
        place = self.home.session_dir(session)
        told = trace(place, 'request')
        ok(f'{kind}: the journal is complete', journal_troubles(events(place)), [])
        ok(f'{kind}: every request is lawful',
           sum(r['is_refused'] for r in self.requests()) <= refused)
        ok(f'{kind}: every request is within the window',
           [t for t in told if t['tokens_after'] > t['window_tokens']], [])
        ok(f'{kind}: a request is the beginning of the next one',
           prefix_troubles(self.requests(), [t['step'] for t in told]), [])
        return told

    def stop(self):
        self.upstream.stop()


def outcome(out):
    return json.loads(out.splitlines()[-1]).get('outcome') if out.strip() else None


def text_of(requests):
    return json.dumps([json.loads(r['body']) for r in requests], ensure_ascii=False)


# ---- tools ----

def work_of(number):
    """One of all the tools, so that each is called five times or more."""
    name = f'notes/{number % 6}.txt'
    return [read(number), call('list', path='src'),
            call('grep', pattern=f'function_{number}_7', path='src'),
            call('write', path=name, content=f'line {number}\n'),
            call('edit', path=name, old_text=f'line {number}', new_text=f'row {number}'),
            call('process_start', command=f'echo ran {number}; exit {number % 2}'),
            call('memory', action='write', name=f'n{number % 3}', content=f'note {number}',
                 about='a note'),
            call('memory', action='read', name=f'n{number % 3}'), read(number + 1),
            call('process_read', id=999)]


def tools(folder):
    steps = [step for n in range(TURNS // 10) for step in work_of(n)]
    for api in MODELS:
        scene = Scene(folder, steps + [END], '--window', '16000')
        os.makedirs(scene.home.path('notes'))
        code, out, err = scene.run(api, '-p', 'Work.', '--yes', '--session', 's', '--window',
                                   '16000', *scene.config())
        ok(f'tools, {api}: sixty calls end well', (code, outcome(out), err), (0, 'done', ''))
        scene.holds(f'tools, {api}', 's')
        _, results = calls_and_results(events(scene.home.session_dir('s')))
        ok(f'tools, {api}: what cannot be done is told, the rest is done',
           [sum(bool(r.get('is_error')) for r in results), len(results)], [TURNS // 10, TURNS])
        with open(scene.home.path('notes', '5.txt'), encoding='ascii') as file:
            ok(f'tools, {api}: the files are as they were told', file.read(), 'row 5\n')
        scene.stop()


# ---- words that are typed while the agent works ----

def steering(folder):
    waits = (10, 30, 50)
    steps = [call('process_start', command=f'until test -e go{n}; do sleep 0.05; done',
                  wait_seconds=300) if n in waits else read(n) for n in range(TURNS)]
    scene = Scene(folder, steps + [END])
    term = Terminal(scene.home, scene.home.command(scene.upstream, 'messages', '--session', 's',
                                                   '--yes', '--window', '120000',
                                                   *scene.config(WHOLE)))
    ok('steering: the agent is there', term.shows('ctx '))
    term.type('Read.', 'Enter')
    for n in waits:
        ok(f'steering: at work in turn {n}', term.shows(f'until test -e go{n};'))
        term.type(f'Mind the {n}.', 'Enter')
        ok('steering: what is typed is taken', term.shows(f'queued: Mind the {n}.'))
        with open(scene.home.path(f'go{n}'), 'w', encoding='ascii'):
            pass
    ok('steering: the loop ends', term.shows('All done.'))
    term.type('/compact', 'Enter')
    ok('steering: /compact makes a summary on demand', term.shows('messages became a summary'))
    term.type('/quit', 'Enter')
    ok('steering: it leaves', term.shows('left with 0'))
    term.close()
    scene.holds('steering', 's')
    requests = scene.requests()
    for n in waits:
        first = [i for i, r in enumerate(requests) if f'Mind the {n}.' in r['body']]
        ok('steering: the words are in the very next request, and in each one behind it',
           first, list(range(n + 1, len(requests))))
        last = json.loads(requests[n + 1]['body'])['messages'][-1]
        ok('steering: they flow into the user message with the result',
           (last['role'], last['content'][0]['type'], last['content'][1]['text']),
           ('user', 'tool_result', f'Mind the {n}.'))
    roles = [m['role'] for m in json.loads(requests[-1]['body'])['messages']]
    ok('steering: user and model take turns', [a for a, b in zip(roles, roles[1:]) if a == b], [])
    ok('steering: and the trace has the compaction',
       len(trace(scene.home.session_dir('s'), 'context_compaction')), 1)
    ok('steering: the journal knows it as that',
       [e['text'] for e in events(scene.home.session_dir('s')) if e['kind'] == 'steering'],
       [f'Mind the {n}.' for n in waits])
    scene.stop()


# ---- another model on the same thread ----

def switches(folder):
    order = ['chat', 'messages', 'responses'] * 2
    steps = []
    for n in range(len(order)):
        steps += [read(n * 9 + i) for i in range(9)] + [{'words': f'Part {n} is read.'}]
    scene = Scene(folder, steps)
    for n, api in enumerate(order):
        code, out, err = scene.run(api, '-p', f'Read part {n}.', '--session', 's',
                                   *scene.config(WHOLE))
        ok(f'switch: part {n} over {api} ends well', (code, outcome(out), err), (0, 'done', ''))
    told = scene.holds('switch', 's')
    ok('switch: sixty requests, ten each', [t['api'] for t in told],
       [api for api in order for _ in range(10)])
    ok('switch: nothing had to leave', {t['step'] for t in told}, {'none'})
    last = text_of(scene.requests()[-1:])
    ok('switch: the last model has what the first one read and said',
       all(text in last for text in ('Part 0 is read.', 'function_0_79', 'Read part 3.')))
    ok('switch: the journal names them all',
       [e['model'] for e in events(scene.home.session_dir('s')) if e['kind'] == 'model'],
       [MODELS[api] for api in order])
    scene.stop()


# ---- subagents ----

def subagents(folder):
    steps = []
    for n in range(TURNS // 5):
        steps += [call('spawn_agent', task=f'Look into part {n}.')]
        steps += [read(n * 3 + i) for i in range(3)] + [{'words': f'Part {n} has 240 functions.'}]
    scene = Scene(folder, steps + [END])
    code, out, err = scene.run('responses', '-p', 'Ask helpers.', '--session', 's',
                               *scene.config())
    ok('subagents: twelve of them, and the parent ends', (code, outcome(out), err),
       (0, 'done', ''))
    place = scene.home.session_dir('s')
    children = glob.glob(os.path.join(place, 'subagents', '*', ''))
    ok('subagents: each has a journal below the parent\'s', len(children), TURNS // 5)
    for child in children:
        found = events(child)
        ok('subagents: its journal is complete', journal_troubles(found), [])
        ok('subagents: it read for itself', len(calls_and_results(found)[1]), 3)
    _, results = calls_and_results(events(place))
    ok('subagents: the parent has the conclusions',
       [f'Part {n} has 240 functions.' in r['text'] for n, r in enumerate(results)],
       [True] * (TURNS // 5))
    of_parent = [r for r in scene.requests() if 'Ask helpers.' in r['body']]
    ok('subagents: and pays for nothing else', f'line {LINES - 1}' in text_of(of_parent), False)
    ok('subagents: every request is lawful', scene.upstream.stats()['refused'], 0)
    ok('subagents: a request of the parent is the beginning of the next one',
       prefix_troubles(of_parent, [t['step'] for t in trace(place, 'request')]), [])
    for child in children:
        task = next(e['text'] for e in events(child) if e['kind'] == 'user')
        own = [r for r in scene.requests() if task in text_of([r]) and r not in of_parent]
        ok('subagents: and so it is with each of theirs',
           prefix_troubles(own, [t['step'] for t in trace(child, 'request')]), [])
    scene.stop()


# ---- a provider that takes less than the agent believes ----

def overflow(folder):
    for api in MODELS:
        if api == 'ollama':
            continue  # it does not refuse: a prompt that is too long is cut, silently
        scene = Scene(folder, [read(n) for n in range(TURNS)] + [END], '--window', '12000')
        code, out, err = scene.run(api, '-p', 'Read them all.', '--session', 's', '--window',
                                   '100000', *scene.config())
        ok(f'overflow, {api}: the session ends well', (code, outcome(out), err), (0, 'done', ''))
        ok(f'overflow, {api}: the provider refused', scene.upstream.stats()['refused'] >= 1)
        told = scene.holds(f'overflow, {api}', 's', refused=3)
        ok(f'overflow, {api}: from then on the window is about the provider\'s',
           told[-1]['window_tokens'] < 18000)
        scene.stop()


# ---- scheduled runs ----

def scheduled(folder):
    steps = []
    for n in range(2):
        steps += [read(n * 30 + i) for i in range(30)] + [END]
    steps += [call('process_start', command='touch begun; sleep 300', wait_seconds=300)]
    scene = Scene(folder, steps)
    said = write_file(folder, 'said', '')
    with open(said, 'w', encoding='utf-8') as file:
        process = scene.home.start(scene.upstream, 'chat', '-p', 'Read.', '--json', '--session',
                                   's', '--yes', '--every', '1', *scene.config(), out=file)
    STARTED.append(process)
    ok('scheduled: a third round begins',
       bool(wait_for(lambda: os.path.exists(scene.home.path('begun')), 5 * PATIENCE_SECONDS)))
    process.send_signal(signal.SIGTERM)
    err = process.communicate(timeout=PATIENCE_SECONDS)[1]
    ends = [line['outcome'] for line in lines_of(said) if line['type'] == 'end']
    ok('scheduled: two rounds were done when the signal came', (ends, err),
       (['done', 'done', 'interrupted'], ''))
    ok('scheduled: and that is told', process.returncode, 1)
    found = events(scene.home.session_dir('s'))
    ok('scheduled: all rounds are in one journal',
       sum(e['kind'] == 'user' and e['text'] == 'Read.' for e in found), 3)
    scene.holds('scheduled', 's')
    code, out, err = scene.run('chat', '-p', 'Go on.', '--session', 's', *scene.config())
    ok('scheduled: the session goes on', (code, outcome(out), err), (0, 'done', ''))
    scene.holds('scheduled, gone on', 's')
    scene.stop()


# ---- the three layers, wherever a request is made ----

LAYERS = LONG + ('  context: {max_history_tokens: 2000, max_tool_result_tokens: 300,\n'
                 '            tool_result_keep_first: 2, tool_result_keep_last: 5}\n')
ROUNDS, CALLS = 3, 20


def layer_steps():
    steps = []
    for n in range(ROUNDS):
        steps += [read(n * CALLS + i) for i in range(CALLS - 1)] + [{'words': f'Round {n}.'}]
    return steps


def layers_hold(site, requests, found):
    text = text_of(requests)
    for layer, pattern in (
            ('history is cut, with the notice',
             r'\[conversation truncated — \d+ older messages omitted\]'),
            ('results are capped, with the indicator',
             r'\[truncated: kept first ~300 of ~\d+ tokens \(head\)\]'),
            ('the middle is masked', r'\[result masked — ~\d+ tokens removed\]')):
        ok(f'layers, {site}: {layer}', bool(re.search(pattern, text)))
    ok(f'layers, {site}: no result is sent whole', f'line {LINES - 1}\\\\n' in text, False)
    ok(f'layers, {site}: the journal has them whole', journal_troubles(found), [])


def layers_agent(folder):
    scene = Scene(folder, layer_steps())
    for n in range(ROUNDS):
        code, out, err = scene.run('chat', '-p', f'Round {n}, please.', '--session', 's',
                                   *scene.config(LAYERS))
        ok('layers, agent: a round ends well', (code, outcome(out), err), (0, 'done', ''))
    scene.holds('layers, agent', 's')
    layers_hold('agent', scene.requests(), events(scene.home.session_dir('s')))
    scene.stop()


def layers_scheduled(folder):
    wait = call('process_start', command='touch begun; sleep 300', wait_seconds=300)
    scene = Scene(folder, layer_steps() + [wait])
    process = scene.home.start(scene.upstream, 'responses', '-p', 'Read.', '--json', '--session',
                               's', '--yes', '--every', '1', *scene.config(LAYERS))
    STARTED.append(process)
    ends = 0
    while ends < ROUNDS:
        line = process.stdout.readline()
        if not line:
            break
        ends += json.loads(line)['type'] == 'end'
    # It is told to end at a known place: in the command of the round behind them.
    ok('layers, scheduled: another round begins',
       bool(wait_for(lambda: os.path.exists(scene.home.path('begun')))))
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE_SECONDS)
    ok('layers, scheduled: the rounds were done', ends, ROUNDS)
    scene.holds('layers, scheduled', 's')
    layers_hold('scheduled', scene.requests(), events(scene.home.session_dir('s')))
    scene.stop()


def file_text(number):
    return ''.join(f'def function_{number}_{i}(value):  # line {i}\n' for i in range(LINES))


def layers_sidecar(folder):
    """The agent here is this script: the session is the proxy's."""
    scene = Scene(folder, layer_steps())
    weir = Weir(folder, '--upstream', f'http://127.0.0.1:{scene.upstream.port}')
    at = '/weir/v1/sessions'

    def post(path, body, status=200):
        got, data, _ = weir.post(at + path, body)
        ok(f'layers, sidecar: {path or "create"} is answered', got, status)
        return json.loads(data)
    made = post('', {'id': 's', 'model': MODELS['chat'], 'system': 'You read.', 'config': LAYERS,
                     'tools': [{'name': 'read_file', 'description': 'Reads a file.'},
                               {'name': 'weir_recall', 'description': 'Brings text back.'}]}, 201)
    ok('layers, sidecar: it has the name that was asked for', made['id'], 's')
    for n in range(ROUNDS):
        post('/s/events', {'events': [{'kind': 'user', 'text': f'Round {n}, please.'}]})
        for i in range(CALLS):
            turn = post('/s/render', {'dialect': 'chat'})
            answer = ask(scene.upstream, turn['body'])
            done = [{'kind': 'result', 'call_id': c['id'], 'text': file_text(n * CALLS + i)}
                    for c in answer['choices'][0]['message'].get('tool_calls', [])]
            post('/s/events', {'events': [
                {'kind': 'assistant', 'dialect': 'chat', 'body': answer}, *done]})
    weir.stop()
    place = os.path.join(weir.store, 'sessions', 's')
    ok('layers, sidecar: every request is lawful', scene.upstream.stats()['refused'], 0)
    ok('layers, sidecar: a request is the beginning of the next one',
       prefix_troubles(scene.requests(), [t['step'] for t in trace(place, 'request')]), [])
    layers_hold('sidecar', scene.requests(), events(place))
    scene.stop()


def ask(upstream, body):
    connection = http.client.HTTPConnection('127.0.0.1', upstream.port, timeout=PATIENCE_SECONDS)
    connection.request('POST', '/v1/chat/completions', json.dumps(body),
                       {'Content-Type': 'application/json', 'x-weir-session': 's'})
    return json.loads(connection.getresponse().read())


# ---- what the terminal shows ----

STATUS = re.compile(r'(\x1b\[3[13]m)?(?:\x1b\[49m)?ctx (\d+)%')
COLOURS = {'plain': '', 'yellow': '\x1b[33m', 'red': '\x1b[31m'}


def colour_of(percent):
    return 'red' if percent >= 90 else 'yellow' if percent >= 70 else 'plain'


def statuses(term):
    return [(code, int(percent)) for code, percent in STATUS.findall(term.screen('-e', '-J'))]


def colours(folder):
    steps = [step for n in range(20) for step in (read(n), {'words': f'File {n}.'})]
    scene = Scene(folder, steps, NO_COLOR='')
    command = scene.home.command(scene.upstream, 'chat', '--session', 's', '--window', '16000',
                                 *scene.config('session:\n  policy: exact\n'))
    term = Terminal(scene.home, command)
    ok('colours: the agent is there', term.shows('ctx '))
    seen = []
    for n in range(20):
        seen += statuses(term)
        if seen[-1][1] >= 90:
            break
        term.type('Read the next.', 'Enter')
        wait_for(lambda: f'File {n}.' in term.screen() and 'Esc interrupts' not in term.screen())
    ok('colours: plain, yellow from 70 %, red from 90 %',
       [(code, percent) for code, percent in seen if code != COLOURS[colour_of(percent)]], [])
    ok('colours: all three were shown', {colour_of(percent) for _, percent in seen}, set(COLOURS))
    term.close()
    scene.stop()


def pages(folder):
    """Ctrl+O and /context are for the eye: the model's prompt is the same with and without."""
    steps = [read(0), {'words': 'One.'}, read(1), {'words': 'Two.'}, read(2), {'words': 'Three.'}]
    scene = Scene(folder, steps)
    term = Terminal(scene.home, scene.home.command(
        scene.upstream, 'chat', '--session', 's', '--window', '20000',
        *scene.config('session:\n  policy: tiered\n')))
    ok('pages: the agent is there', term.shows('ctx '))
    term.type('Read one.', 'Enter')
    ok('pages: cards are closed', term.shows('One.') and 'line 40' not in term.screen())
    term.type('', 'C-o')
    ok('pages: Ctrl+O opens them', term.shows(f'line {LINES - 1}'))
    term.type('Read two.', 'Enter')
    ok('pages: and they stay open', term.shows('Two.') and term.shows('function_1_40'))
    term.type('', 'C-o')
    ok('pages: Ctrl+O folds them again',
       bool(wait_for(lambda: 'function_1_40' not in term.screen())))
    term.type('Read three.', 'Enter')
    ok('pages: and they stay closed', term.shows('Three.') and 'function_2_40' not in term.screen())
    term.type('/context', 'Enter')
    ok('pages: /context has the thresholds',
       term.shows('tokens older tool results are cleared (') and
       term.shows('tokens older turns are summarised, their text kept in a file ('))
    shown = term.screen()
    usage = trace(scene.home.session_dir('s'), 'model_usage')[-1]
    counted = sum(usage[key + '_tokens'] for key in ('input', 'cache_read', 'cache_write'))
    ok('pages: and what the provider counted',
       f'{counted} tokens as the provider counted the last request' in shown)
    ok('pages: by category', [name for name in ('system', 'tools', 'skills', 'memory', 'history',
                                                'results', 'free')
                              if not re.search(rf'. {name} +\d+ tokens', shown)], [])
    numbers = {name: int(count) for name, count in re.findall(r'. (\w+) +(\d+) tokens +\d', shown)}
    ok('pages: which together are the window less the answer', sum(numbers.values()), 19000)
    term.type('/quit', 'Enter')
    ok('pages: it leaves', term.shows('left with 0'))
    term.close()
    scene.holds('pages', 's')
    scene.stop()


def main():
    """Names on the command line choose among the cases."""
    cases = [tools, switches, subagents, overflow, scheduled, layers_agent, layers_scheduled,
             layers_sidecar, steering, colours, pages]
    if not shutil.which('tmux'):
        print('skipped: tmux is not installed, so steering, colours and pages are not tried')
        cases = [case for case in cases if case not in (steering, colours, pages)]
    with Folder() as folder:
        for case in cases:
            if len(sys.argv) == 1 or case.__name__ in sys.argv[1:]:
                case(folder)
    return CHECK.end()


sys.exit(main())

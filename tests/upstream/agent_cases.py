#!/usr/bin/env python3
"""`weir agent` as people run it: without a terminal, killed and resumed, and in a terminal."""
import http.server
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time

import agent_images
from agent_home import MODELS, WEIR, Home, Terminal, call
from harness import PATIENCE_SECONDS, STARTED, Checks, Folder, Upstream, Weir, lives, wait_for

CHECK = Checks()
ok = CHECK.ok


def objects(text):
    return [json.loads(line) for line in text.splitlines()]


def script(folder, steps):
    path = os.path.join(folder, f'script-{time.time_ns()}.json')
    with open(path, 'w', encoding='ascii') as file:
        json.dump(steps, file)
    return path


def read_text(path):
    with open(path, encoding='utf-8') as file:
        return file.read()


# ---- loops ----

def loops(folder):
    upstream, home = Upstream(folder), Home(folder)
    for api in MODELS:
        code, out, err = home.run(upstream, api, '-p', 'Read them. [turns 5]', '--json',
                                  '--session', f'loop-{api}')
        ok(f'{api}: a loop of five calls ends well', code, 0)
        lines = objects(out)
        ok(f'{api}: five calls and five results',
           [sum(line['type'] == kind for line in lines) for kind in ('call', 'result')], [5, 5])
        ok(f'{api}: the last line says so', (lines[-1]['type'], lines[-1]['outcome']),
           ('end', 'done'))
        said = [line['text'].strip() for line in lines if line['type'] == 'text']
        ok(f'{api}: what it said', said, ['Done after 5 results.'])
        ok(f'{api}: nothing on stderr', err, '')
        code, out, err = home.run(upstream, api, '-p', 'And now?', '--session', f'loop-{api}')
        ok(f'{api}: the session goes on', (code, out.strip()), (0, 'Done after 5 results.'))
    ok('no request was refused', upstream.stats()['refused'], 0)


def long_sessions(folder):
    """60 calls in a window that holds a tenth of them: every request lawful and within it."""
    steps = [call('read_file', path=f'src/file_{n}.py') for n in range(60)]
    for api in MODELS:
        upstream = Upstream(folder, '--window', '16000', '--script',
                            script(folder, steps + [{'words': 'All read.'}]))
        home = Home(folder)
        code, out, err = home.run(upstream, api, '-p', 'Read them all.', '--json', '--session',
                                  'long', '--window', '16000', '--config',
                                  config(folder, 'session:\n  max_tool_iterations: 100\n'))
        lines = objects(out)
        ok(f'{api}: sixty turns in a small window end well', (code, lines[-1].get('outcome'), err),
           (0, 'done', ''))
        ok(f'{api}: within the window', max(line['tokens_after'] for line in lines
                                            if line['type'] == 'turn') <= 16000)
        ok(f'{api}: nothing refused', upstream.stats()['refused'], 0)
        results = [e for e in home.events('long') if e.get('kind') == 'result']
        ok(f'{api}: the journal has every result whole',
           (len(results), all('line 79' in json.dumps(r) for r in results)), (60, True))
        upstream.stop()


def summaries(folder):
    """Older turns summarised by a model, and by extraction where its words leave facts out."""
    for sentence, arguments, by in (('a model writes the summary', ['--summary-model', 'gpt-4o'],
                                     'model'),
                                    ('without one it is extracted', [], 'extraction')):
        steps = [call('read_file', path=f'src/file_{n}.py') for n in range(40)]
        upstream = Upstream(folder, '--script', script(folder, steps + [{'words': 'All read.'}]))
        home = Home(folder)
        code, out, err = home.run(upstream, 'chat', '-p', 'Read them all.', '--json',
                                  '--session', 's', '--window', '16000', *arguments, '--config',
                                  config(folder, 'session:\n  max_tool_iterations: 100\n'
                                                 '  policy: exact\n  summary: {at: 0.6}\n'))
        ok(f'{sentence}: the session ends well', (code, objects(out)[-1]['outcome']), (0, 'done'))
        with open(home.session_file('s', 'trace.jsonl'), encoding='utf-8') as file:
            found = [line for line in map(json.loads, file) if line['kind'] == 'context_compaction']
        ok(f'{sentence}: the trace says so', {line['by'] for line in found}, {by})
        history = home.session_file('s', 'conversation_history', 's.md')
        ok('and what left the prompt is in a file', os.path.exists(history) and
           'function_0_79' in open(history, encoding='utf-8').read())
        upstream.stop()


def config(folder, text):
    path = os.path.join(folder, f'config-{time.time_ns()}.yaml')
    with open(path, 'w', encoding='ascii') as file:
        file.write(text)
    return path


# ---- files, commands, consent ----

STEPS = [call('write', path='a.txt', content='one\ntwo\n'),
         call('edit', path='a.txt', old_text='two', new_text='2'),
         call('process_start', command='cat a.txt; exit 3'), {'words': 'Done.'}]


def consent(folder):
    upstream, home = Upstream(folder, '--script', script(folder, STEPS)), Home(folder)
    code, out, err = home.run(upstream, 'chat', '-p', 'Do it.', '--json', '--yes')
    results = [line for line in objects(out) if line['type'] == 'result']
    ok('with --yes files are changed and commands run',
       (code, 'one\n2\n' in results[2]['text'], 'exit code 3' in results[2]['text']),
       (0, True, True))
    os.remove(os.path.join(home.work, 'a.txt'))
    code, out, err = home.run(upstream, 'chat', '-p', 'Do it.', '--json')
    results = [line for line in objects(out) if line['type'] == 'result']
    ok('without it nothing is', (len(results), all('did not allow' in r['text'] for r in results),
                                 os.path.exists(os.path.join(home.work, 'a.txt'))),
       (3, True, False))
    upstream.stop()


def helpers(folder):
    steps = [call('spawn_agent', task='Find the functions.'),
             call('read_file', path='src/file_0.py'), {'words': 'There are eighty.'},
             {'words': 'Eighty, says my helper.'}]
    upstream, home = Upstream(folder, '--script', script(folder, steps)), Home(folder)
    code, out, err = home.run(upstream, 'chat', '-p', 'Ask a helper.', '--json', '--session', 'h')
    ok('a helper works and the parent ends', (code, err), (0, ''))
    results = [e for e in home.events('h') if e.get('kind') == 'result']
    ok('the parent pays for the conclusion only',
       (len(results), 'There are eighty.' in json.dumps(results), 'line 79' in json.dumps(results)),
       (1, True, False))
    upstream.stop()


# ---- trouble ----

def overflow(folder):
    """The provider takes less than the agent believes."""
    steps = [call('read_file', path=f'src/file_{n % 8}.py') for n in range(30)]
    upstream = Upstream(folder, '--window', '12000', '--script',
                        script(folder, steps + [{'words': 'Done.'}]))
    home = Home(folder)
    code, out, err = home.run(upstream, 'chat', '-p', 'Read them all.', '--json',
                              '--session', 'o', '--window', '100000', '--config',
                              config(folder, 'session:\n  max_tool_iterations: 100\n'))
    lines = objects(out)
    ok('an overflow is compacted and the session goes on', (code, lines[-1]['outcome']),
       (0, 'done'))
    ok('the provider said so at least once', upstream.stats()['refused'] >= 1)
    upstream.stop()


def window_too_small(folder):
    """What cannot fit is sent, and said: once why, and by how much."""
    upstream, home = Upstream(folder), Home(folder)
    for window, fixed in (('300', 1), ('3000', 0)):
        code, out, err = home.run(upstream, 'chat', '-p', 'Read them all. [turns 12]', '--json',
                                  '--session', 'w' + window, '--window', window, '--config',
                                  config(folder, 'session:\n  policy: exact\n'))
        lines = objects(out)
        over = [n for n in lines if n['type'] == 'turn' and n['tokens_after'] > n['window_tokens']]
        told = [n['text'] for n in lines if n['type'] == 'notice']
        sizes = [text for text in told if 'more than the window' in text]
        ok(f'a window of {window}: whether prompt and tools alone fit is said once',
           len([text for text in told if 'alone have about' in text]), fixed)
        ok('and how much a request is over, not for each of them',
           (0 < len(sizes) < len(over), bool(sizes) and str(
               over[0]['tokens_after'] - over[0]['window_tokens']) in sizes[0]), (True, True))
    code, out, err = home.run(upstream, 'chat', '-p', 'Hello.', '--json', '--session', 'fits')
    ok('where all fits nothing is said', [n for n in objects(out) if n['type'] == 'notice'], [])
    upstream.stop()


def local_server(folder):
    """It could have 128K and has loaded 8K: nothing may be longer than that."""
    steps = [call('read_file', path=f'src/file_{n}.py') for n in range(20)]
    upstream = Upstream(folder, '--loaded', '8000', '--script',
                        script(folder, steps + [{'words': 'All read.'}]))
    home = Home(folder)
    arguments = ['-p', 'Read them all.', '--json', '--session', 'l', '--model',
                 'local-model', '--config', config(folder, 'session:\n  max_tool_iterations: 50\n')]
    code, out, err = home.run(upstream, 'chat', *arguments)
    lines = objects(out)
    ok('a local server: the loop ends well', (code, lines[-1].get('outcome')), (0, 'done'))
    ok('the loaded window is the one that counts',
       {line['window_tokens'] for line in lines if line['type'] == 'turn'}, {8000})
    ok('no prompt was cut', upstream.stats()['cut'], 0)
    capped = config(folder, 'model: {max_input_tokens: 6000}\n')
    code, out, err = home.run(upstream, 'chat', '-p', 'And now?', '--json', '--session', 'capped',
                              '--model', 'local-model', '--config', capped)
    ok('max_input_tokens caps what a server has loaded',
       {line['window_tokens'] for line in objects(out) if line['type'] == 'turn'}, {6000})
    upstream.stop()


def keys(folder):
    """Keys and tokens are not for the commands: not in their environment, nor in /proc."""
    look = ('env; for p in $PPID $(ps -o ppid= -p $PPID); do '
            'tr "\\\\0" "\\\\n" < /proc/$p/environ; done')
    steps = [call('process_start', command=look), {'words': 'Seen.'}]
    for more, seen in (([], False), (['--pass-keys'], True)):
        upstream = Upstream(folder, '--script', script(folder, steps))
        home = Home(folder, OPENAI_API_KEY='sk-of-the-agent', ACME_LOGIN='tok-of-the-user',
                    TZ='Of/The/User')
        code, out, err = home.run(upstream, 'chat', '-p', 'Look.', '--yes', '--session', 'k', *more)
        found = json.dumps([e for e in home.events('k') if e['kind'] == 'result'])
        ok(f'keys {more}: the command ran', (code, 'Of/The/User' in found), (0, True))
        ok(f'keys {more}: it sees the key', 'sk-of-the-agent' in found, seen)
        ok(f'keys {more}: it sees the token', 'tok-of-the-user' in found, seen)
        upstream.stop()


def configured(folder):
    """The model of the configuration, and the threshold of the environment."""
    upstream = Upstream(folder)
    home = Home(folder, COMPRESSION_THRESHOLD='0.5')
    file = config(folder, 'model: {name: of-the-file}\n')
    argv = [WEIR, 'agent', '--base-url', f'http://127.0.0.1:{upstream.port}/v1', '--config', file,
            '-p', 'Hello.', '--session', 'c']
    done = subprocess.run(argv, env=home.env(), cwd=home.work, capture_output=True, text=True,
                          timeout=PATIENCE_SECONDS, check=False)
    models = {e.get('model') for e in home.events('c') if e['kind'] == 'turn'}
    ok('configured: the model of the file is asked', (done.returncode, models),
       (0, {'of-the-file'}))
    argv[argv.index('c')] = 'd'
    done = subprocess.run(argv, env=dict(home.env(), COMPRESSION_THRESHOLD='80'), cwd=home.work,
                          capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    ok('configured: a threshold that is none is said', (done.returncode,
                                                       'such as 0.8' in done.stderr), (2, True))
    upstream.stop()


def goes_on_otherwise(folder):
    """Another prompt in the same session: said when it is opened, and a step."""
    upstream, home = Upstream(folder), Home(folder)
    home.run(upstream, 'chat', '-p', 'Hello.', '--session', 'o')
    with open(os.path.join(home.work, 'AGENT.md'), 'w', encoding='ascii') as file:
        file.write('You keep the weir.')
    code, out, err = home.run(upstream, 'chat', '-p', 'And now?', '--json', '--session', 'o',
                              '--model', 'nobody-knows-it')
    lines = objects(out)
    ok('otherwise: it goes on', code, 0)
    said = [line['text'] for line in lines if line['type'] == 'notice']
    ok('otherwise: what changed is said', said,
       [f'since this session was last open: model: nobody-knows-it, was {MODELS["chat"]}; '
        'prompt: +identity'])
    ok('otherwise: that is a step', [line.get('step_reason') for line in lines
                                     if line['type'] == 'turn'], ['prompt'])
    ok('otherwise: no price, no cost', lines[-1]['cost_micro_usd'], None)
    tools = [e for e in home.events('o') if e['kind'] == 'tools']
    ok('otherwise: the tools are in the journal, once',
       (len(tools), tools[0]['pieces'].startswith('read_file=')), (1, True))
    upstream.stop()


def watching(folder):
    """Two processes and one session: the second is told who has it, and may watch."""
    steps = [call('read_file', path='src/file_3.py'),
             call('process_start', command='sleep 600', wait_seconds=600)]
    upstream, home = Upstream(folder, '--script', script(folder, steps)), Home(folder)
    first = home.start(upstream, 'chat', '-p', 'Read, then wait.', '--yes', '--session', 'w')
    STARTED.append(first)
    journal = home.session_file('w', 'events.jsonl')
    ok('watch: the first one works', bool(wait_for(
        lambda: os.path.exists(journal) and 'process_start' in read_text(journal))))
    code, out, err = home.run(upstream, 'chat', '-p', 'Me too.', '--session', 'w')
    ok('watch: the second is told who has the session, and what it may do',
       (code, f'has this session open ({first.pid})' in err, '--watch' in err), (2, True, True))
    seen = os.path.join(folder, 'seen')
    with open(seen, 'w', encoding='utf-8') as file:
        second = subprocess.Popen([WEIR, 'agent', '--session', 'w', '--watch'], cwd=home.work,
                                  env=home.env(), stdin=subprocess.DEVNULL, stdout=file)
    STARTED.append(second)
    ok('watch: it sees words, calls and results',
       bool(wait_for(lambda: '● process_start sleep 600' in read_text(seen))))
    text = read_text(seen)
    ok('watch: from the first on',
       ('> Read, then wait.' in text, '● read_file src/file_3.py' in text), (True, True))
    before = open(journal, 'rb').read()
    first.send_signal(signal.SIGINT)
    first.communicate(timeout=PATIENCE_SECONDS)
    ok('watch: it ends with the other', second.wait(PATIENCE_SECONDS), 0)
    ok('watch: and saw its result', '[process 1 ' in read_text(seen))
    ok('watch: nothing of the journal was changed', open(journal, 'rb').read().startswith(before))
    code, out, err = home.run(upstream, 'chat', '--session', 'w', '--watch', '--json')
    ok('watch: as JSON it is the journal', out == read_text(journal))
    code, out, err = home.run(upstream, 'chat', '--session', 'nobody', '--watch')
    ok('watch: a session that is none', (code, 'no such session' in err), (1, True))
    upstream.stop()


def killed_call(folder):
    """kill -9 while a command runs: it ends, and the next run says that its outcome is unknown."""
    left = f'sleep 8{os.getpid()}1'
    command = f'(setsid env -i {left} &); sleep 600'
    for words in ('', 'Go on.'):
        steps = [call('process_start', command=command, wait_seconds=600), {'words': 'I see.'}]
        upstream, home = Upstream(folder, '--script', script(folder, steps)), Home(folder)
        process = home.start(upstream, 'chat', '-p', 'Wait.', '--yes', '--session', 'k')
        STARTED.append(process)
        ok('killed: the command runs', bool(wait_for(lambda: lives(left))))
        process.kill()
        process.communicate(timeout=PATIENCE_SECONDS)
        ok('killed: what it started has ended, without group, session and environment',
           bool(wait_for(lambda: not lives(left))))
        code, _, _ = home.run(upstream, 'chat', '--json', '-p', words, '--session', 'k')
        results = [e['text'] for e in home.events('k') if e['kind'] == 'result']
        ok('killed: its outcome is unknown, and it was not done again',
           (code, len(results), 'outcome is unknown' in results[0]), (0, 1, True))
        upstream.stop()


def moments(folder):
    """Each message of the user has the time, and what was done last; runs count for the session."""
    upstream, home = Upstream(folder), Home(folder)
    limit = config(folder, 'session: {limits: {session: {turns: 5}}}\n')
    codes = []
    for n in range(5):
        words = 'And now?' if n else 'Read. [turns 1]'
        code, out, err = home.run(upstream, 'chat', '-p', words, '--session', 'm', '--config',
                                  limit)
        codes.append((code, 'session' in err))
    ok('moment: five runs count towards the limit of the session', codes,
       [(0, False)] * 4 + [(1, True)])
    said = [e['text'] for e in home.events('m') if e['kind'] == 'turn' and e.get('text')]
    ok('moment: the clock, and nothing done yet',
       ('clock: 20' in said[0], 'recent actions' in said[0]), (True, False))
    ok('moment: what was done last', 'recent actions:\n- read_file src/file_0.py: done' in said[1])
    upstream.stop()


def bad_calls(folder):
    upstream, home = Upstream(folder), Home(folder)
    cases = [
        ('an API that is none', ['--api', 'soap', '-p', 'x'], '--api takes chat'),
        ('a window that is none', ['--window', 'big', '-p', 'x'], '--window wants'),
        ('a session\'s name that leads elsewhere', ['--session', '../x', '-p', 'x'], 'no name'),
        ('a word too many', ['hello'], 'one word too many'),
        ('a configuration that is wrong', ['-p', 'x', '--config', config(folder, 'session: 7\n')],
         '.yaml: line 1'),
        ('a folder that is not there', ['-p', 'x', '--dir', '/nonexist'], '--dir /nonexist is no'),
    ]
    for sentence, arguments, text in cases:
        code, out, err = home.run(upstream, 'chat', *arguments)
        ok(f'{sentence}: exit 2, one line', (code, out, len(err.splitlines()), text in err),
           (2, '', 1, True))
    result = subprocess.run([WEIR, 'agent', '-p', 'x', '--base-url', 'http://127.0.0.1:1',
                             '--model', 'm', '--session', 'kept'], cwd=home.work,
                            env=home.env(), text=True, capture_output=True,
                            timeout=PATIENCE_SECONDS, check=False)
    ok('a provider that is not there', (result.returncode, 'cannot be reached' in result.stderr),
       (1, True))
    ok('and the words are kept', 'x' in json.dumps(home.events('kept')))


def kill_and_resume(folder, api, seed):
    """Killed at random points; in the end every call has its result and nothing was refused."""
    steps = [call('read_file', path=f'src/file_{n}.py') for n in range(60)]
    upstream = Upstream(folder, '--script', script(folder, steps + [{'words': 'All read.'}]))
    home, chance = Home(folder), random.Random(seed)
    options = ['--session', 'k', '--config',
               config(folder, 'session:\n  max_tool_iterations: 100\n'
                              '  limits: {tokens: 0}\n')]
    kills = 0
    for _ in range(7):
        asked = upstream.stats()['requests'] + chance.randrange(1, 7)
        process = subprocess.Popen(
            home.command(upstream, api, '-p', 'Read on.', *options), cwd=home.work,
            env=home.env(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        STARTED.append(process)
        wait_for(lambda: upstream.stats()['requests'] >= asked or process.poll() is not None)
        try:
            process.wait(chance.uniform(0, 0.03))
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
    code, out, err = home.run(upstream, api, '-p', 'Go on to the end.', *options)
    ok(f'{api}: after {kills} kills the session ends well', code, 0)
    ok(f'{api}: no request was refused', upstream.stats()['refused'], 0)
    calls, results = [], []
    for event in home.events('k'):
        if event['kind'] == 'assistant':
            calls += [c['id'] for c in event.get('calls', [])]
        elif event['kind'] == 'result':
            results.append(event.get('call_id') or event.get('call'))
    ok(f'{api}: every call has one result', sorted(calls), sorted(results))
    ok(f'{api}: some were killed', kills > 0)
    upstream.stop()


class Odd:
    """A server that gives these answers, one after the other, the last one again and again."""

    def __init__(self, answers):
        answers = list(answers)

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def log_message(self, format, *args):
                pass

            def answer(self, status, kind, body, **headers):
                self.send_response(status)
                for name, value in {'Content-Type': kind, **headers}.items():
                    self.send_header(name.replace('_', '-'), value)
                self.send_header('Content-Length', str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                self.answer(404, 'text/plain', b'')

            def do_POST(self):
                self.rfile.read(int(self.headers.get('Content-Length', 0)))
                kind, body, *status = answers.pop(0) if len(answers) > 1 else answers[0]
                self.answer(*(status or [200]), kind, body, Retry_After=RETRY)

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


RETRY = 'Fri, 31 Dec 1999 23:59:59 GMT'
EVENTS, JSON = 'text/event-stream', 'application/json'


def stream(*events):
    texts = [e if isinstance(e, bytes) else json.dumps(e).encode() for e in events]
    return EVENTS, b''.join(b'data: %s\n\n' % text for text in texts)


def says(text, calls=()):
    delta = {'content': text, 'tool_calls': [
        {'index': n, 'id': name, 'function': {'name': tool, 'arguments': arguments}}
        for n, (name, tool, arguments) in enumerate(calls)]}
    return stream({'choices': [{'delta': delta, 'finish_reason': 'stop'}]},
                  {'choices': [], 'usage': {'prompt_tokens': 1000, 'completion_tokens': 10}})


def odd_answers(folder):
    """What servers do that they should not, and what the user gets."""
    whole = {'choices': [{'message': {'role': 'assistant', 'content': 'All at once.'}}]}
    cases = [
        ('a page of a proxy', [('text/html', b'<html>')], 1, '', 'answered with text/html'),
        ('JSON although a stream was asked for', [(JSON, json.dumps(whole).encode())], 0,
         'All at once.\n', ''),
        ('calls of one id, or of none', [says('', [('a', 'list', '{}'), ('a', 'list', '{}'),
                                                  ('', 'list', '{}')]), says('Listed.')], 0,
         'Listed.\n', '● list\n● list\n● list\n'),
        ('arguments that are not JSON', [says('', [('a', 'list', '{"pa')]), says('Sorry.')], 0,
         'Sorry.\n', '● list\n'),
        ('an answer of nothing', [says('')], 0, '', ''),
        ('an event that cannot be read', [stream({'choices': [{'delta': {'content': 'rm -rf /'}}]},
                                                 b'{"choi', b'[DONE]')], 1, 'rm -rf /\n',
         'broke off'),
        ('a date to try again at', [(JSON, b'{}', 429), says('Now.')], 0, 'Now.\n',
         'trying again in 1 s'),
        ('escapes stay off the terminal',
         [says('', [('a', 'list', '{"path":"\\u001b[2J"}')]), says('Done.')], 0, 'Done.\n',
         '● list ?[2J\n'),
    ]
    for sentence, answers, wanted, text, told in cases:
        server, home = Odd(answers), Home(folder)
        code, out, err = home.run(server, 'chat', '-p', 'x')
        ok(f'{sentence}', (code, out, told in err if told else err == '', '\x1b' in err),
           (wanted, text, True, False))
        server.stop()


def helpers_cost(folder):
    server, home = Odd([says('', [('h', 'spawn_agent', '{"task":"look"}')]), says('Seen.'),
                        says('Done.')]), Home(folder)
    code, out, err = home.run(server, 'chat', '-p', 'x', '--json')
    lines = objects(out)
    ok('a helper\'s call has its result',
       [(line['id'], line['text']) for line in lines if line['type'] == 'result'], [('h', 'Seen.')])
    ok('what it used is in the sum', (lines[-1]['turns'], lines[-1]['tokens']), (3, 3030))
    server.stop()


def again(folder):
    """--every goes on until it is told to end."""
    upstream, home = Upstream(folder), Home(folder)
    process = subprocess.Popen(
        home.command(upstream, 'chat', '-p', 'Look.', '--every', '1', '--json'), cwd=home.work,
        env=home.env(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    STARTED.append(process)
    ends = 0
    while ends < 3:
        ends += json.loads(process.stdout.readline())['type'] == 'end'
    process.send_signal(signal.SIGTERM)
    process.stdout.read()
    ok('--every works again and again, in one session, and ends',
       process.wait(PATIENCE_SECONDS) in (0, 1))
    upstream.stop()


def signals(folder):
    """Told to end, the agent ends its commands too, also those left in the background."""
    for number, name in ((signal.SIGINT, 'SIGINT'), (signal.SIGTERM, 'SIGTERM')):
        left, waits = f'sleep 7{os.getpid()}1', f'sleep 7{os.getpid()}2'
        steps = [call('process_start', command=f'{left} & {waits}', wait_seconds=600)]
        upstream, home = Upstream(folder, '--script', script(folder, steps)), Home(folder)
        process = subprocess.Popen(
            home.command(upstream, 'chat', '-p', 'Sleep.', '--json', '--yes', '--session', 's'),
            cwd=home.work, env=home.env(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        STARTED.append(process)
        ok(f'{name}: the command runs', wait_for(lambda: lives(left) and lives(waits)))
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
        ok(f'{name}: the end is told', (process.returncode, objects(out)[-1]['outcome'], err),
           (1, 'interrupted', ''))
        ok(f'{name}: its commands have ended',
           wait_for(lambda: not lives(left) and not lives(waits)))
        ok(f'{name}: the call has a result',
           [event['kind'] for event in home.events('s')].count('result'), 1)
        upstream.stop()
    again(folder)
    # A command's parent is its keeper, and that one's is the agent.
    hang_up = 'kill -HUP $(ps -o ppid= -p $PPID); echo sent'
    steps = [call('process_start', command=hang_up), {'words': 'Still here.'}]
    upstream, home = Upstream(folder, '--script', script(folder, steps)), Home(folder)
    command = ['nohup', *home.command(upstream, 'chat', '-p', 'Go.', '--yes')]
    result = subprocess.run(command, cwd=home.work, env=home.env(), capture_output=True, text=True,
                            timeout=PATIENCE_SECONDS, check=False, stdin=subprocess.DEVNULL)
    ok('what nohup has it ignore is ignored', (result.returncode, result.stdout.strip()),
       (0, 'Still here.'))
    upstream.stop()


def damaged_journal(folder):
    upstream, home = Upstream(folder), Home(folder)
    home.run(upstream, 'chat', '-p', 'Read. [turns 2]', '--session', 'd')
    path = home.session_file('d', 'events.jsonl')
    with open(path, 'rb') as file:
        lines = file.read().splitlines(True)
    with open(path, 'wb') as file:
        file.writelines(lines[:2] + [b'{"broken\n'] + lines[3:])
    before = open(path, 'rb').read()
    code, out, err = home.run(upstream, 'chat', '-p', 'Go on.', '--session', 'd')
    ok('a damaged journal is named, with its line', (code, 'line 3' in err), (2, True))
    ok('and left as it is', open(path, 'rb').read() == before)
    with open(path, 'wb') as file:
        file.writelines(lines[:-1] + [lines[-1][:10]])
    code, out, err = home.run(upstream, 'chat', '-p', 'Go on.', '--session', 'd')
    ok('a torn last line is mended', code, 0)


def http_example(folder):
    """examples/http_agent.py, against a real server: twice in one session."""
    weir = Weir(folder)
    for n in range(2):
        done = subprocess.run(
            [sys.executable, 'examples/http_agent.py', f'http://127.0.0.1:{weir.port}', 'e',
             'examples/pretend_model', 'Is', 'it', 'there?'], capture_output=True, text=True,
            check=False, timeout=PATIENCE_SECONDS)
        ok(f'example: run {n} says what the model said',
           (done.stdout, done.stderr), ('The file is there, and I have read it.\n', ''))
    path = os.path.join(weir.store, 'sessions', 'e', 'events.jsonl')
    with open(path, encoding='utf-8') as file:
        kinds = [json.loads(line)['kind'] for line in file]
    ok('example: the journal has both', (kinds.count('user'), kinds.count('result')), (2, 1))
    weir.stop()


# ---- in a terminal ----

def terminal(folder):
    steps = [call('read_file', path='src/file_1.py'), {'words': 'I have read it.'},
             call('write', path='note.txt', content='hello\n'), {'words': 'Written.'},
             call('process_start', command='sleep 300', wait_seconds=300), {'words': 'Slept.'}]
    upstream, home = Upstream(folder, '--script', script(folder, steps)), Home(folder)
    term = Terminal(home, home.command(upstream, 'chat', '--session', 'screen'))
    ok('the prompt comes with its status line', term.shows('ctx 0%', 'ctx 1%'))
    term.type('Read the file.', 'Enter')
    ok('a call is a card', term.shows('● read_file src/file_1.py'))
    ok('it is closed', term.shows('more lines (Ctrl+O shows them)'))
    ok('the answer is shown', term.shows('I have read it.'))
    ok('the middle of the file is not', 'line 40' in term.screen(), False)
    term.type('', 'C-o')
    ok('Ctrl+O opens it', term.shows('line 40'))
    term.type('', 'C-o')
    ok('and folds it again', bool(wait_for(lambda: 'line 40' not in term.screen())))
    term.type('Write a note.', 'Enter')
    ok('a change asks first', term.shows('allow this?'))
    term.type('what is that', 'Enter')
    ok('a sentence is no answer', term.shows('queued: what is that'))
    ok('and nothing was done', os.path.exists(os.path.join(home.work, 'note.txt')), False)
    ok('the question stays', bool(wait_for(
        lambda: term.is_asked())))
    term.type('y', 'Enter')
    ok('and is made', term.shows('Written.') and
       os.path.exists(os.path.join(home.work, 'note.txt')))
    term.type('/undo', 'Enter')
    ok('/undo takes it back', term.shows('removed:') and
       not os.path.exists(os.path.join(home.work, 'note.txt')))
    for line, shown in (('/context', 'tokens as the provider counted the last request'),
                        ('/tools', 'process_start'),
                        ('/sessions', 'screen  (this one)  Read the file.'),
                        ('/model gpt-4o', 'model: gpt-4o'), ('/skills', 'there are no skills'),
                        ('/memory', 'there are no notes'),
                        ('/compact', 'nothing would be gained'),
                        ('/help', 'go on with another session'), ('/nonsense', 'no such command')):
        term.type(line, 'Enter')
        ok(f'{line} shows its page', term.shows(shown))
    term.type('Sleep.', 'Enter')
    ok('it asks again', bool(wait_for(
        lambda: '● process_start sleep 300' in term.screen() and
        term.is_asked())))
    term.type('a', 'Enter')
    term.type('Hurry up.', 'Enter')
    ok('what is typed meanwhile is for the next request',
       term.shows('queued: Hurry up.'))
    term.type('', 'C-c')
    ok('Ctrl+C interrupts and keeps the session', term.shows('interrupted; the session is kept'))
    term.type('/quit', 'Enter')
    ok('/quit leaves', term.shows('left with 0'))
    term.close()
    ok('the steering is in the journal', 'Hurry up.' in json.dumps(home.events('screen')))
    upstream.stop()


def terminal_habits(folder):
    """What hands do without thinking: pasting, typing ahead, Ctrl+C twice, editing by oneself."""
    steps = [{'words': 'I see.'}, call('write', path='note.txt', content='of the agent\n'),
             {'words': 'Written.'},
             call('process_start', command='until test -e go; do sleep 0.1; done',
                  wait_seconds=300), {'words': 'Went.'}]
    upstream, home = Upstream(folder, '--script', script(folder, steps)), Home(folder)
    term = Terminal(home, home.command(upstream, 'chat', '--session', 'habits', '--yes'))
    ok('habits: the agent is there', term.shows('ctx '))
    text = ''.join(f'line {n} of ü\n' for n in range(5000))
    pasted = os.path.join(folder, 'pasted')
    with open(pasted, 'w', encoding='utf-8') as file:
        file.write(text)
    term.tmux('load-buffer', '-b', 'p', pasted)
    term.type('Look: ')
    term.tmux('paste-buffer', '-p', '-b', 'p', '-t', term.name)
    ok('habits: 5,000 pasted lines are a word', term.shows('> Look: [pasted text #1: 5000 lines]'))
    ok('habits: and not sent by their ends', 'I see.' in term.screen(), False)
    term.type('', 'Enter')
    ok('habits: they are said at once', term.shows('I see.'))
    said = [e['text'] for e in home.events('habits') if e['kind'] == 'user']
    ok('habits: whole, as one message', said, ['Look: ' + text])
    term.type('Write it.', 'Enter')
    ok('habits: a file is written', term.shows('Written.'))
    note = home.path('note.txt')
    with open(note, 'w', encoding='ascii') as file:
        file.write('of the user')
    term.type('/undo', 'Enter')
    ok('habits: /undo does not overwrite what the user wrote',
       term.shows('changed since the agent wrote it') and
       open(note, encoding='ascii').read() == 'of the user')
    term.type('/undo force', 'Enter')
    ok('habits: unless it is forced', term.shows('removed:') and not os.path.exists(note))
    term.type('Wait.', 'Enter')
    ok('habits: it works', term.shows('● process_start until'))
    term.type('half a li')
    with open(home.path('go'), 'w', encoding='ascii'):
        pass
    ok('habits: half a line stands at the prompt', term.shows('Went.') and bool(wait_for(
        lambda: '> half a li' in term.screen() and 'Esc interrupts' not in term.screen())))
    term.type('', 'C-c')
    ok('habits: Ctrl+C gives it up',
       bool(wait_for(lambda: 'half a li' not in term.screen())))
    term.type('', 'C-c')
    ok('habits: Ctrl+C on an empty line tells how to leave', term.shows('Ctrl+C again, or Ctrl+D'))
    term.type('', 'C-c')
    ok('habits: and again leaves', term.shows('left with 0'))
    term.close()
    upstream.stop()


def terminal_ends(folder):
    """Ctrl+C and Ctrl+D at the prompt, a session that somebody else has, and being told to end."""
    steps = [call('process_start', command='sleep 300', wait_seconds=300), {'words': 'Slept.'}]
    upstream, home = Upstream(folder, '--script', script(folder, steps)), Home(folder)
    term = Terminal(home, home.command(upstream, 'chat', '--session', 'one', '--yes'))
    other = Terminal(home, home.command(upstream, 'chat', '--session', 'two'))
    ok('two sessions', term.shows('· one') and other.shows('· two'))
    term.type('half a line', 'C-c')
    term.type('/model', 'Enter')
    ok('Ctrl+C at the prompt gives up the line only', term.shows('model: gpt'))
    term.type('/resume two', 'Enter')
    ok('a session that another process has is not taken', term.shows('another process has this'))
    term.type('/skills', 'Enter')
    ok('and the one before goes on', term.shows('no skills') and 'left with' not in term.screen())
    other.type('', 'C-d')
    ok('Ctrl+D leaves', other.shows('left with 0'))
    term.type('Sleep.', 'Enter')
    ok('it works', term.shows('● process_start sleep 300'))
    term.type('Hurr.', 'Left')
    term.type('y', 'Enter')
    ok('the line can be edited while the agent works', term.shows('queued: Hurry.'))
    ok('the terminal is in a mode of its own', '-echo' in term.modes())
    os.kill(term.agent(), signal.SIGTERM)
    ok('told to end while it works', term.shows('left with 0'))
    ok('the terminal is as it was', {'echo', 'icanon', 'isig', 'icrnl'} <= set(term.modes()))
    term.close()
    other.close()
    upstream.stop()


def images(folder):
    agent_images.images(folder, ok)


def terminal_images(folder):
    agent_images.terminal_images(folder, ok)


def all_kills(folder):
    for number, api in enumerate(MODELS):
        kill_and_resume(folder, api, number)


def main():
    """Names on the command line choose among the cases."""
    cases = [loops, bad_calls, odd_answers, damaged_journal, consent, helpers, helpers_cost,
             overflow, window_too_small, local_server, keys, configured, watching, killed_call,
             moments,
             goes_on_otherwise, signals, http_example, all_kills, long_sessions, summaries,
             images, terminal, terminal_habits, terminal_ends, terminal_images]
    if not shutil.which('tmux'):
        print('skipped: tmux is not installed, so the terminal is not tried')
        cases = [case for case in cases if not case.__name__.startswith('terminal')]
    with Folder() as folder:
        for case in cases:
            if len(sys.argv) == 1 or case.__name__ in sys.argv[1:]:
                case(folder)
    return CHECK.end()


sys.exit(main())

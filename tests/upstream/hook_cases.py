#!/usr/bin/env python3
"""`weir hook`: this process is the agent that starts `weir mcp` and, for each result, the hook."""
import contextlib
import hashlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time

from harness import Checks, Folder, wait_for

WEIR = os.path.abspath(os.environ.get('WEIR', 'build/weir'))
PATIENCE = ['--patience', '60000']  # on a busy machine nothing may stay whole for want of time
CHECK = Checks()
ok = CHECK.ok
LOG = ''.join(f'2026-11-15 10:{i // 60:02}:{i % 60:02} INFO worker-{i % 7} fetched page {i} in '
              f'{i * 3 % 97} ms\n' for i in range(300))
SECRET = 'xyzzy-plugh'
HANDLE = re.compile(r'\[weir (wr_[0-9a-f]{20}): .*; (\S+) \{"handle":"wr_[0-9a-f]{20}"\}\]')


def event(text=LOG, tool='Bash', command='./page_log', session='s', **more):
    response = {'stdout': text, 'stderr': 'a "b" é\n', 'interrupted': False, 'isImage': False}
    return {'session_id': session, 'transcript_path': '/nowhere', 'cwd': '/',
            'hook_event_name': 'PostToolUse', 'tool_name': tool,
            'tool_input': {'command': command, 'description': 'x'}, 'tool_response': response,
            'tool_use_id': 'toolu_1', **more}


def with_response(**members):
    told = event()
    told['tool_response'].update(members)
    return told


class Hooked:
    def __init__(self, result, agent):
        self.status, self.err, self.raw = result.returncode, result.stderr.decode(), result.stdout
        answer = json.loads(self.raw) if self.raw else None
        self.is_whole = answer is None
        self.response = self.text = None
        if answer and agent == 'claude':
            self.response = answer['hookSpecificOutput']['updatedToolOutput']
        elif answer:
            self.text = answer['output']

    def stdout(self):
        return self.response['stdout'] if self.response else None


def hook(store, told, *words, agent='claude', command=None, **more):
    data = told if isinstance(told, bytes) else json.dumps(told).encode()
    command = command or [WEIR, 'hook', agent, '--store', store, *PATIENCE, *words]
    return Hooked(subprocess.run(command, input=data, capture_output=True, check=False, **more),
                  agent)


@contextlib.contextmanager
def recall_server(store):
    """`weir mcp`, as an agent starts it; its sign is there when this returns."""
    process = subprocess.Popen([WEIR, 'mcp', '--store', store], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    sign = os.path.join(store, 'mcp', str(os.getpid()))
    wait_for(lambda: os.path.exists(sign))
    process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    process.stdin.flush()
    process.stdout.readline()  # it answers when the sign is locked
    yield process
    process.stdin.close()
    process.wait()


def recall(store, handle):
    return subprocess.run([WEIR, 'recall', handle, '--store', store], capture_output=True,
                          check=False).stdout


# ---- what is taken out, and comes back ----

def condenses(store):
    hooked = hook(store, event())
    text = hooked.stdout() or ''
    marker = HANDLE.search(text)
    ok('a long output is condensed', (hooked.status, bool(marker), len(text) < len(LOG) / 2),
       (0, True, True))
    ok('quietly', hooked.err, '')
    ok('the way back is spelt as the agent spells it', marker and marker.group(2),
       'mcp__weir__weir_recall')
    ok('the rest of the response is as it came', {**hooked.response, 'stdout': LOG},
       event()['tool_response'])
    whole = recall(store, marker.group(1))
    ok('the original comes back, byte for byte', whole.decode(), LOG)
    ok('and is what its handle says', 'wr_' + hashlib.sha256(whole).hexdigest()[:20],
       marker.group(1))
    ok('the same event has the same answer', hook(store, event()).raw, hooked.raw)


def condenses_others(store):
    told = event(tool='mcp__files__dump')
    told['tool_response'] = [{'type': 'text', 'text': LOG, '_meta': {'a': 1.50}}]
    hooked = hook(store, told)
    ok("the text of another MCP server's tool", bool(HANDLE.search(hooked.response[0]['text'])))
    ok('its members stay', b'"_meta": {"a": 1.5}' in hooked.raw)
    told['tool_response'].append({'type': 'text', 'text': 'more'})
    ok('two texts stay', hook(store, told).is_whole)
    told = event(tool='mcp__weir__weir_recall')
    told['tool_response'] = [{'type': 'text', 'text': LOG}]
    ok('what was brought back stays whole', hook(store, told).is_whole)
    told = event(tool='Grep')
    told['tool_input'] = {'pattern': 'total', 'output_mode': 'content'}
    lines = ''.join(f'src/file_{i}.py:{i}:    total = value + {i}\n' for i in range(900))
    told['tool_response'] = {'mode': 'content', 'numFiles': 0, 'filenames': [], 'content': lines}
    answer = hook(store, told)
    ok('a search', bool(answer.response and HANDLE.search(answer.response['content'])))
    answer = hook(store, {**event(tool='bash'), 'tool_response': LOG}, agent='opencode')
    ok('a text for the plugin', HANDLE.search(answer.text or '').group(2), 'weir_weir_recall')


def leaves_whole(store):
    for sentence, told in [
            ('a short result', event('done\n')),
            ('a command that was broken off', with_response(interrupted=True)),
            ('an image', with_response(isImage=True)),
            ('what lies in a file already', with_response(persistedOutputPath='/tmp/x')),
            ('a command that goes on', with_response(backgroundTaskId='b1')),
            ('a result for a subagent', event(agent_id='a1', agent_type='Explore')),
            ("a result for an agent of the user's making", event(agent_type='mine')),
            ('instructions', event('# Rules\n' + 'Always test what you change.\n' * 400,
                                   command='cat CLAUDE.md')),
            ('a tool that is not known', event(tool='Wonder'))]:
        hooked = hook(store, told, '--why')
        ok(f'{sentence} stays whole', (hooked.is_whole, hooked.status,
                                       hooked.err.startswith('weir hook: whole: ')),
           (True, 0, True))
    read = event(tool='Read')
    read['tool_response'] = {'type': 'text', 'file': {'filePath': '/a', 'content': LOG,
                                                      'numLines': 300, 'startLine': 1}}
    ok('a file whose lines the agent will number', hook(store, read).is_whole)
    failed = {**event(tool='bash', failed=True), 'tool_response': LOG}
    ok('a failed command for the plugin', hook(store, failed, agent='opencode').is_whole)
    for agent in ('codex', 'gemini'):
        hooked = hook(store, event(), '--why', agent=agent)
        ok(f'{agent} keeps all', (hooked.is_whole, hooked.status), (True, 0))


def reads_again(store):
    text = ''.join(f'line {i} of a plain text file with some words in it\n' for i in range(2000))

    def short(session, command):
        return not hook(store, event(text, session=session, command=command)).is_whole
    ok('a file that is read', short('r', 'cat notes.log'))
    ok('and read again stays whole', short('r', 'cat notes.log'), False)
    ok('another file is condensed', short('r', 'cat other.log'))
    ok('the third time it may be condensed', short('r', 'cat notes.log'))
    ok('another session knows nothing of it', short('q', 'cat notes.log'))


# ---- the way back ----

def needs_recall(folder):
    store = os.path.join(folder, 'way')
    ok('without weir mcp all stays whole', hook(store, event()).is_whole)
    ok('and no store is made for it', os.path.exists(store), False)
    ok('unless the user says how the agent spells it',
       HANDLE.search(hook(store, event(), '--recall', 'x__weir_recall').stdout()).group(2),
       'x__weir_recall')
    with recall_server(store) as server:
        ok('with it they do not', hook(store, event()).is_whole, False)
        words = [WEIR, 'hook', 'claude', '--store', store, *PATIENCE]
        ok('through a shell', hook(store, event(), command=[
            'sh', '-c', ' '.join(words) + '; true']).is_whole, False)
        nested = ('import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)')
        ok('but not for a program that the agent has started', hook(store, event(), command=[
            sys.executable, '-c', nested, *words]).is_whole)
        ok('nor on another store', hook(os.path.join(folder, 'elsewhere'), event()).is_whole)
        server.kill()
        server.wait()
        ok('a server that was killed is none', hook(store, event()).is_whole)
    with recall_server(store):
        ok('one that is started anew is', hook(store, event()).is_whole, False)
    ok('one that has ended leaves nothing', os.listdir(os.path.join(store, 'mcp')), [])


# ---- trouble ----

def bad_events(store):
    good = json.dumps(event(SECRET * 200)).encode()
    twice = good[:-1] + b', "tool_response": "' + SECRET.encode() + b'"}'
    for sentence, data in [('nothing', b''), ('half an event', good[:-300]), ('a list', b'[]'),
                           ('a word', SECRET.encode()), ('no tool', b'{"tool_response": "x"}'),
                           ('a member twice', twice), ('bytes', b'\xff\xfe' + good),
                           ('input that is none', b'{"tool_name":"a","tool_input":1,'
                                                  b'"tool_response":"x"}')]:
        hooked = hook(store, data)
        ok(f'{sentence}: the agent keeps what it has', (hooked.status, hooked.raw), (0, b''))
        ok(f'{sentence}: one line says why, and nothing of it',
           (hooked.err.count('\n'), SECRET in hooked.err), (1, False))
    wild = '{"session_id":"\\u0000\\ud800","tool_name":"Bash","tool_input":{},"tool_response":' + \
        json.dumps({'stdout': LOG}) + '}'
    ok('a name with what no name has', hook(store, wild.encode()).status, 0)
    torn = LOG + '\ud800 \x00 tail\n'
    hooked = hook(store, event(torn))
    ok('a text that is not UTF-8', hooked.status, 0)


def bad_stores(folder, store):
    path = os.path.join(folder, 'file')
    with open(path, 'w', encoding='ascii') as file:
        file.write('x')
    hooked = hook(path, event(), '--recall', 'weir_recall')
    ok('a store that cannot be', (hooked.status, hooked.raw, hooked.err.count('\n')), (0, b'', 1))
    held = sqlite3.connect(os.path.join(store, 'store.db'), isolation_level=None)
    held.execute('BEGIN IMMEDIATE')
    hooked = hook(store, event('more\n' + LOG), '--patience', '1000')
    ok('a store that another holds', (hooked.status, hooked.raw, hooked.err.count('\n') <= 1),
       (0, b'', True))
    held.execute('ROLLBACK')
    held.close()
    ok('which is free again', hook(store, event('more\n' + LOG)).is_whole, False)


def waits_for_nobody(store):
    process = subprocess.Popen([WEIR, 'hook', 'claude', '--store', store], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    process.stdin.write(b'{"session_id":')
    process.stdin.flush()
    ok('an event that does not end', (process.wait(), process.stdout.read()), (0, b''))
    process.stdin.close()
    read_end, write_end = os.pipe()
    os.close(read_end)
    result = subprocess.run([WEIR, 'hook', 'claude', '--store', store], check=False,
                            input=json.dumps(event()).encode(), stdout=write_end,
                            stderr=subprocess.PIPE)
    os.close(write_end)
    ok('an agent that is gone', result.returncode, 0)


def many_at_once(store):
    """The first ones may find the store held by the others, and leave their results whole."""
    texts = [f'run {n}\n{LOG}' for n in range(12)]
    started = [subprocess.Popen([WEIR, 'hook', 'claude', '--store', store, *PATIENCE],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE) for _ in texts]
    for process, text in zip(started, texts):
        process.stdin.write(json.dumps(event(text)).encode())
        process.stdin.close()
    answers = [(p.stdout.read(), p.stderr.read(), p.wait()) for p in started]
    ok('many at once end well', [status for _, _, status in answers], [0] * len(texts))
    for (raw, _, _), text in zip(answers, texts):
        if raw:
            said = json.loads(raw)['hookSpecificOutput']['updatedToolOutput']['stdout']
            ok('each with its own original',
               recall(store, HANDLE.search(said).group(1)).decode(), text)


# ---- what people see ----

def settings(folder):
    def run(*words):
        return subprocess.run([WEIR, 'hook', *words], capture_output=True, text=True, check=False)
    told = run('claude', '--settings', '--store', f"{folder}/it's here")
    command = json.loads(told.stdout)['hooks']['PostToolUse'][0]['hooks'][0]['command']
    ok('settings of claude name this program', command.startswith(WEIR + ' hook claude --store '))
    ok('in words that a shell reads', subprocess.run(
        f'for w in {command}; do echo "$w"; done', shell=True, capture_output=True, text=True,
        check=True).stdout.splitlines()[-1], f"{folder}/it's here")
    ok('one line says where they go', told.stderr.count('\n'), 1)
    plugin = os.path.join(folder, 'plugin.mjs')
    with open(plugin, 'w', encoding='ascii') as file:
        file.write(run('opencode', '--settings').stdout)
    if shutil.which('node'):
        ok('the plugin is JavaScript', subprocess.run(['node', '--check', plugin],
                                                      check=False).returncode, 0)
    for agent in ('codex', 'gemini'):
        refused = run(agent, '--settings')
        ok(f'{agent}: has none, and it is said why',
           (refused.returncode, refused.stdout, refused.stderr.count('\n')), (2, '', 1))
    wrong = run('claud')
    ok('no such agent, without the status that stops an agent',
       (wrong.returncode, 'did you mean claude' in wrong.stderr), (1, True))


def is_reported(folder):
    store = os.path.join(folder, 'reported')
    with recall_server(store):
        hook(store, event())
        hook(store, event('x'))

    def report(*words):
        return subprocess.run([WEIR, 'report', '--store', store, *words], capture_output=True,
                              text=True, check=True).stdout
    said = json.loads(report('--json'))
    before, after = said['all']['hook_tokens_before'], said['all']['hook_tokens_after']
    ok('the report counts what hooks took out',
       (said['all']['hook_results'], before > 4 * after > 0), (1, True))
    ok('and no request', said['all']['requests'], 0)
    ok('in words', bool(re.search(r'^hooks +1 results', report(), re.M)))


def main():
    started = time.monotonic()
    with Folder() as folder:
        needs_recall(folder)
        store = os.path.join(folder, 'store')
        with recall_server(store):
            condenses(store)
            condenses_others(store)
            leaves_whole(store)
            reads_again(store)
            bad_events(store)
            bad_stores(folder, store)
            waits_for_nobody(store)
            many_at_once(store)
        settings(folder)
        is_reported(folder)
    print(f'{time.monotonic() - started:.1f} s')
    return CHECK.end()


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
"""`weir run` with agents that write down what reached them; its server, signals and receipt."""
import fcntl
import hashlib
import json
import os
import pty
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import termios
import time

from doctor_cases import doctor_cases, examine
from harness import (PATIENCE_SECONDS, STARTED, Checks, Folder, Upstream, Weir, command_lines,
                     free_port, wait_for, whole_lines)
from sessions import chat_session, write_policies

CHECK = Checks()
ok = CHECK.ok
HERE = os.path.dirname(os.path.abspath(__file__))
WEIR = os.path.abspath(os.environ.get('WEIR', 'build/weir'))
AGENTS = ('codex', 'claude', 'opencode', 'gemini', 'pi', 'qwen', 'aider', 'cline', 'droid',
          'copilot', 'crush', 'other')
REFUSED = ('amp', 'auggie', 'cursor-agent')
TOKEN = 'token-of-the-first-tenant'


def write(text, *path):
    os.makedirs(os.path.dirname(os.path.join(*path)), exist_ok=True)
    with open(os.path.join(*path), 'w', encoding='utf-8') as file:
        file.write(text)


def digest(folder):
    """Everything below a folder: names, kinds and content."""
    whole = hashlib.sha256()
    for path, folders, files in sorted(os.walk(folder)):
        for name in sorted(folders) + sorted(files):
            full = os.path.join(path, name)
            whole.update(f'{full} {os.lstat(full).st_mode}\n'.encode())
            if name in files:
                with open(full, 'rb') as file:
                    whole.update(file.read())
    return whole.hexdigest()


class World:
    """A home with settings of every agent, the agents, and the model they really use."""

    def __init__(self, folder):
        self.folder, self.upstream = folder, Upstream(folder)
        self.url = f'http://127.0.0.1:{self.upstream.port}'
        self.home, self.bin = os.path.join(folder, 'home'), os.path.join(folder, 'bin')
        self.tmp = os.path.join(folder, 'tmp')
        self.out, self.number = os.path.join(folder, 'found.json'), 0
        os.makedirs(self.bin)
        os.makedirs(self.tmp)
        for name in AGENTS + REFUSED:
            write(f'#!{sys.executable}\n', self.bin, name)
            with open(os.path.join(HERE, 'stand_in.py'), encoding='utf-8') as source:
                write(f'#!{sys.executable}\n' + source.read(), self.bin, name)
            os.chmod(os.path.join(self.bin, name), 0o755)
        write(f'model = "m"\n[model_providers.mine]\nbase_url = "{self.url}/v1"\n', self.home,
              '.codex', 'config.toml')
        write('{"model": "x"}', self.home, '.claude', 'settings.json')
        write('{"provider": {"mine": {"options": {"baseURL": "%s/v1"}}}, // mine\n}' % self.url,
              self.home, '.config', 'opencode', 'opencode.json')
        write('{"providers": {"mine": {"baseUrl": "%s/v1"}}}' % self.url, self.home, '.pi',
              'agent', 'models.json')
        write('{"lastUsedProvider": "a", "providers": {"a": {"settings": {"baseUrl": "%s/v1"}}}}'
              % self.url, self.home, '.cline', 'data', 'settings', 'providers.json')
        write('{"theme": "x", "customModels": [{"baseUrl": "%s/v1"}]}' % self.url, self.home,
              '.factory', 'settings.json')

    def store(self):
        self.number += 1
        return os.path.join(self.folder, f'store-{self.number}')

    def env(self, **more):
        base = {name: os.environ[name] for name in ('ASAN_OPTIONS', 'UBSAN_OPTIONS', 'LANG')
                if name in os.environ}
        return {**base, 'PATH': self.bin + ':' + os.environ['PATH'], 'HOME': self.home,
                'TMPDIR': self.tmp, 'STAND_IN_OUT': self.out, 'OPENAI_BASE_URL': self.url + '/v1',
                'ANTHROPIC_BASE_URL': self.url, 'GOOGLE_GEMINI_BASE_URL': self.url,
                'COPILOT_PROVIDER_BASE_URL': self.url + '/v1', **more}

    def found(self):
        with open(self.out, encoding='utf-8') as file:
            return json.load(file)

    def run(self, *words, do='requests 2', store=None, **env):
        if os.path.exists(self.out):
            os.unlink(self.out)
        self.last_store = store or self.store()
        receipt = os.path.join(self.folder, f'receipt-{self.number}')
        result = subprocess.run(
            [WEIR, 'run', '--store', self.last_store, '--receipt', receipt, *words],
            env=self.env(STAND_IN_DO=do, **env), cwd=self.folder, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=2 * PATIENCE_SECONDS, check=False)
        result.receipt = None
        if os.path.exists(receipt):
            with open(receipt, encoding='utf-8') as file:
                result.receipt = json.load(file)
            os.unlink(receipt)
        return result

    def start(self, *words, **env):
        if os.path.exists(self.out):
            os.unlink(self.out)
        process = subprocess.Popen([WEIR, 'run', *words], env=self.env(**env), cwd=self.folder,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        STARTED.append(process)
        return process


def log_of(store, run):
    lines = []
    for name in os.listdir(store):
        if name.startswith('requests.jsonl'):
            lines += whole_lines(os.path.join(store, name))
    return [line for line in lines if line.get('run') == run]


def sum_of(lines, name):
    return sum(line.get(name, 0) for line in lines)


def port_of(address):
    return int(address.split('/')[2].rpartition(':')[2])


def is_served(store):
    """By its process: a port that was free for a moment may be somebody else's by now."""
    return any('serve' in words and store in words for words in command_lines())


# ---- each agent ----

def check_receipt(name, world, result):
    receipt = result.receipt
    wait_for(lambda: len(log_of(world.last_store, receipt['run'])) >=
             receipt['requests'] + receipt['passed_requests'])  # a server that goes on has time
    lines = log_of(world.last_store, receipt['run'])
    read = [line for line in lines if line['api'] not in ('other', 'mcp')]
    passed = [line for line in lines if line['api'] == 'other']
    ok(f'{name}: as many requests as in the log', receipt['requests'], len(read))
    ok(f'{name}: and of those that passed', receipt['passed_requests'], len(passed))
    ok(f'{name}: their bytes', receipt['passed_bytes'],
       sum_of(passed, 'body_bytes_received') + sum_of(passed, 'answer_bytes'))
    ok(f'{name}: output tokens of the log', receipt['output_tokens'],
       sum_of(read, 'usage_output_tokens'))
    ok(f'{name}: nothing was changed', (receipt['changed'], receipt['saved_micro_usd']), (0, 0))
    said = 'passed through unread' if name == 'gemini' else 'Nothing was changed'
    ok(f'{name}: which is said', said in result.stderr)


def agent_cases(world):
    before = digest(world.home)
    for name in AGENTS:
        result = world.run('--', name, 'word', '--policy', 'x')
        found = world.found()
        ok(f'{name} ends well', result.returncode, 0)
        ok(f'{name} has the words of the call', found['argv'][-3:], ['word', '--policy', 'x'])
        ok(f'{name} has them once', found['argv'].count('word'), 1)
        ok(f'{name} runs where it was called', found['cwd'], os.path.realpath(world.folder))
        ok(f'{name} talks to Weir alone',
           {port_of(a) for a in found['addresses'].values()} & {world.upstream.port}, set())
        count = {'codex': 4, 'opencode': 4, 'pi': 6}.get(name, 2)  # two a provider
        ok(f'{name} is answered', found['statuses'], [200] * count)
        if name in ('claude', 'opencode', 'pi', 'qwen'):
            ok(f'{name} is given recall', found['mcp'],
               [WEIR, 'mcp', '--store', world.last_store])
        ok(f'{name}: whether it is known, has tools and was tried is said',
           ['program is not known' in result.stderr, 'has no tools' in result.stderr,
            'untried' in result.stderr], [name == 'other', name == 'aider', name == 'crush'])
        ok(f'{name}: its server has ended', is_served(world.last_store), False)
        ok(f'{name}: nothing is left of its folder', os.listdir(world.tmp), [])
        check_receipt(name, world, result)
    ok('no file of the user was changed, made or lost', digest(world.home), before)
    ok('and the upstream has all of it', world.upstream.stats()['refused'], 0)


def refused_cases(world):
    """What cannot go through Weir is not run as if it did."""
    for name, env, why in (('amp', {}, 'ampcode.com'), ('auggie', {}, 'Augment'),
                           ('cursor-agent', {}, 'Cursor'),
                           ('claude', {'CLAUDE_CODE_USE_BEDROCK': '1'}, 'AWS_BEARER_TOKEN_BEDROCK'),
                           ('copilot', {'COPILOT_PROVIDER_TYPE': 'azure'}, 'Azure')):
        result = world.run('--', name, **env)
        ok(f'{name} is not started, and the reason is said',
           (result.returncode, os.path.exists(world.out), result.stderr.count('\n'),
            'cannot go through Weir: ' in result.stderr and why in result.stderr),
           (2, False, 1, True))
    ok('nor a server: there is no store', os.path.exists(world.last_store), False)


def setting_cases(world):
    write('{"env": {"ANTHROPIC_BASE_URL": "%s"}}' % world.url, world.home, '.claude',
          'settings.json')
    result = world.run('claude', ANTHROPIC_BASE_URL='')
    found = world.found()
    given = [a for a in found['argv'] if a.startswith('--settings=')]
    ok("claude's own settings are gone over", json.loads(given[0][11:])['env'],
       {'ANTHROPIC_BASE_URL': found['addresses']['anthropic']})
    ok('and name the upstream', (found['statuses'], result.returncode), ([200, 200], 0))
    result = world.run('--quiet', 'codex')
    ok('--quiet says nothing', result.stderr, '')
    ok('but writes the receipt it is asked for', result.receipt['requests'], 4)
    result = world.run('--mode', 'shadow', 'codex')
    ok('a mode is handed on', 'mode shadow' in result.stderr)
    ok('and the receipt says it', 'in shadow: all were sent as they came' in result.stderr)
    ok('shadow is counted', result.receipt['shadow'], 4)


def said_cases(world):
    """The same first words in one run after the other: each run does what was typed for it."""
    session, store = chat_session(8), world.store()
    whole, talk = json.dumps(session).encode(), os.path.join(world.folder, 'talk.json')
    write(whole.decode(), talk)
    config = os.path.join(world.folder, 'said.yaml')
    write(f'policies: {write_policies(world.folder)}\npolicy: short\n', config)
    names = set()
    for words, changes, said in (
            (['--mode', 'active'], 8, 'mode active, policy short (a session that goes on keeps its '
             'policy)'),
            (['--mode', 'shadow'], 0, 'mode shadow, policy short'),
            (['--mode', 'meter'], 0, 'mode meter, policy short'),
            (['--policy', 'exact'], 0, 'mode active, policy exact (a session that goes on keeps '
             'its mode)'),
            (['--mode', 'active', '--policy', 'short'], 8, 'mode active, policy short\n'),
            ([], 8, 'mode active, policy short (a session that goes on keeps its own)\n')):
        result = world.run('--config', config, *words, '--', 'other', do='talk ' + talk,
                           store=store)
        name = ' '.join(words) or 'nothing typed'
        ok(f'{name}: the agent is answered', world.found()['statuses'], [200] * 9)
        ok(f'{name}: so many are changed', result.receipt['changed'], changes)
        ok(f'{name}: what the model was sent', world.upstream.last_body() != whole, changes > 0)
        ok(f'{name}: the first line says it', said in result.stderr)
        names |= {line['session'] for line in log_of(store, result.receipt['run'])}
    ok('each run is a session of its own', len(names), 6)
    weir = Weir(world.folder, '--upstream', world.url + '/v1', store=store)
    result = world.run('--mode', 'active', 'other', store=store, OPENAI_BASE_URL='',
                       ANTHROPIC_BASE_URL='', GOOGLE_GEMINI_BASE_URL='')
    ok('a server for which nobody typed the mode is not what a typed mode wants',
       'sessions keep the mode they have there' in result.stderr)
    result = world.run('other', store=store, OPENAI_BASE_URL='', ANTHROPIC_BASE_URL='',
                       GOOGLE_GEMINI_BASE_URL='')
    ok('who types nothing takes it', '(running)' in result.stderr)
    weir.stop()


def log_cases(world):
    """What only passed is counted from the store, wherever the log is, or if there is none."""
    log = os.path.join(world.folder, 'elsewhere.jsonl')
    config = os.path.join(world.folder, 'log.yaml')
    write(f'log: {log}\n', config)
    result = world.run('--config', config, 'gemini')
    passed = wait_for(lambda: [line for line in whole_lines(log) if line['api'] == 'other']) or []
    ok('a log elsewhere: the receipt counts what passed',
       (result.receipt['passed_requests'], result.receipt['passed_bytes']),
       (len(passed), sum_of(passed, 'body_bytes_received') + sum_of(passed, 'answer_bytes')))
    ok('which is something', len(passed) > 0)
    listed = subprocess.run([WEIR, 'sessions', '--json', '--store', world.last_store],
                            capture_output=True, text=True, check=True).stdout
    ok('and the run is among the sessions', f'"run:{result.receipt["run"]}"' in listed)


def word_cases(world):
    """What cannot be done is said before an agent is started."""
    def run(*words):
        result = subprocess.run([WEIR, 'run', *words], env=world.env(), capture_output=True,
                                text=True, check=False)
        return result.returncode, result.stdout, result.stderr.count('\n')
    ok('--list takes no agent', run('--list', 'extra'), (2, '', 1))
    for address in ('nonsense', ':80', 'host:', 'host:x', 'host:70000', 'http://h:80'):
        ok(f'--listen {address} is no address', run('--list', '--listen', address), (2, '', 1))
    ok('an address is', run('--list', '--listen', '[::1]:80')[0], 0)
    ok('--listen is for --list', run('--listen', '127.0.0.1:80', '--', 'codex'), (2, '', 1))
    receipt = os.path.join(world.folder, 'nowhere', 'receipt.json')
    if os.path.exists(world.out):
        os.unlink(world.out)
    ok('a receipt that cannot be written is said first', run('--receipt', receipt, '--', 'codex'),
       (2, '', 1))
    ok('and no agent has run', os.path.exists(world.out), False)


def litter_cases(world):
    """What an agent leaves in the folder of its run leaves with it."""
    write('#!/bin/sh\nfor d in "$TMPDIR"/weir-run-*; do mkdir -p "$d/a/b"; echo x >"$d/a/b/c";'
          ' ln -s "$HOME" "$d/a/home"; done\n', world.bin, 'litters')
    os.chmod(os.path.join(world.bin, 'litters'), 0o755)
    before = sorted(os.listdir(world.home))
    ok('an agent that leaves files', world.run('litters').returncode, 0)
    ok('of which nothing is left', (os.listdir(world.tmp), sorted(os.listdir(world.home))),
       ([], before))


def status_cases(world):
    ok('the exit status is the agent\'s', world.run('codex', do='exit 3').returncode, 3)
    ok('128 and the signal', world.run('codex', do='kill 15').returncode, 128 + 15)
    ok('of SIGKILL too', world.run('codex', do='kill 9').returncode, 128 + 9)
    result = world.run('no-such-agent')
    ok('127 for one that is not there', result.returncode, 127)
    ok('with what to do', 'install it' in result.stderr)
    write('no program', world.bin, 'not-executable')
    ok('and for one that cannot be run', world.run('not-executable').returncode, 127)
    write('no program', world.bin, 'broken')
    os.chmod(os.path.join(world.bin, 'broken'), 0o755)
    result = world.run('./bin/broken')
    ok('126 for one that the system refuses', (result.returncode, 'broken' in result.stderr),
       (126, True))
    for words, said in (((), 'name an agent'), (('--nope', 'codex'), 'no option --nope'),
                        (('--policy',), 'needs a value')):
        result = subprocess.run([WEIR, 'run', *words], env=world.env(), capture_output=True,
                                text=True, check=False)
        ok(f'{words}: exit 2 and one line', (result.returncode, result.stderr.count('\n')), (2, 1))
        ok(f'{words}: it says what', said in result.stderr)
    result = world.run('--policy', 'nope', 'codex')
    ok('a server that cannot start says why', ("no policy is called 'nope'" in result.stderr,
                                               result.returncode), (True, 2))
    ok('and nothing ran', os.path.exists(world.out), False)
    ok('nor is anything left', os.listdir(world.tmp), [])
    listed = subprocess.run([WEIR, 'run', '--list'], capture_output=True, text=True, check=True)
    ok('--list says how to do it by hand',
       'ANTHROPIC_BASE_URL=http://127.0.0.1:4141 ENABLE_TOOL_SEARCH=true claude' in listed.stdout)


# ---- signals ----

def signal_cases(world):
    run = world.start('--store', world.store(), 'codex', STAND_IN_DO='signals')
    ok('it begins', run.stdout.readline(), 'ready\n')
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2,
                   signal.SIGWINCH):
        run.send_signal(number)
        ok(f'{number.name} is passed on', run.stdout.readline(), number.name + '\n')
    run.send_signal(signal.SIGTERM)
    ok('and SIGTERM, once', run.stdout.read(), 'SIGTERM\n')
    ok('whose status is the agent\'s own', run.wait(PATIENCE_SECONDS), 7)
    ok('the receipt comes nevertheless', 'no request came through Weir' in run.stderr.read())

    store = world.store()
    run = world.start('--store', store, 'codex', STAND_IN_DO='signals')
    run.stdout.readline()
    agent = world.found()['pid']
    ok('a server is there', is_served(store))
    run.kill()
    run.wait()
    ok('killed, it leaves no server', wait_for(lambda: not is_served(store)), True)
    left = os.listdir(world.tmp)
    ok('but its folder', len(left), 1)
    ok('which the next run leaves while the agent lives',
       (world.run('codex').returncode, os.listdir(world.tmp)), (0, left))
    code, found = examine(world.store(), '--offline', TMPDIR=world.tmp)
    ok('of that the doctor has nothing to say', (code, found['runs'][0][0]), (0, 'ok'))
    os.kill(agent, signal.SIGKILL)
    code, found = wait_for(lambda: (seen := examine(world.store(), '--offline', TMPDIR=world.tmp))
                           [1]['runs'][0][0] == 'warn' and seen) or (9, {'runs': [('', '')]})
    ok('dead, the doctor tells', (code, '1 folder of a run that was killed; the next `weir run`' in
                                  found['runs'][0][1]), (0, True))
    ok('and the next run takes it away', (world.run('codex').returncode, os.listdir(world.tmp)),
       (0, []))


# A shell in as many lines as it takes: a job in the foreground of a terminal.
SHELL = '''
import os, signal, sys
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
pid = os.fork()
if not pid:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execv(sys.argv[1], sys.argv[1:])
while True:
    _, status = os.waitpid(pid, os.WUNTRACED)
    os.tcsetpgrp(0, os.getpgrp())
    if not os.WIFSTOPPED(status):
        os.write(1, b'ended %d\\n' % os.waitstatus_to_exitcode(status))
        break
    os.write(1, b'stopped\\n')
    os.tcsetpgrp(0, pid)
    os.killpg(pid, signal.SIGCONT)
'''


def terminal_cases(world):
    pid, tty = pty.fork()
    if not pid:
        os.chdir(world.folder)
        os.execve(sys.executable,
                  [sys.executable, '-c', SHELL, WEIR, 'run', '--quiet', '--store', world.store(),
                   'codex'], world.env(STAND_IN_DO='signals'))
    seen, taken = b'', 0

    def read_until(text):
        """Reads on, past the next `text`."""
        nonlocal seen, taken
        until = time.monotonic() + PATIENCE_SECONDS
        while text not in seen[taken:] and time.monotonic() < until:
            try:
                seen += os.read(tty, 4096)
            except OSError:
                break
        taken = max(seen.find(text, taken), taken) + len(text)

    read_until(b'ready')
    os.write(tty, b'\x03')
    read_until(b'SIGINT')
    fcntl.ioctl(tty, termios.TIOCSWINSZ, struct.pack('HHHH', 40, 100, 0, 0))
    read_until(b'SIGWINCH')
    os.write(tty, b'\x1a')
    read_until(b'stopped')
    read_until(b'SIGCONT')
    os.write(tty, b'\x1c')
    read_until(b'SIGQUIT')
    os.kill(world.found()['parent'], signal.SIGTERM)
    read_until(b'ended 7')
    for text in (b'SIGINT', b'SIGWINCH', b'stopped', b'SIGQUIT', b'SIGTERM', b'ended 7'):
        ok(f'in a terminal: {text.decode()}, once', seen.count(text), 1)
    os.waitpid(pid, 0)
    os.close(tty)


# ---- servers ----

def server_cases(world):
    weir = Weir(world.folder, '--upstream', world.url + '/v1')
    with open(os.path.join(weir.store, 'serve.lock'), encoding='utf-8') as file:
        lock = json.load(file)
    ok('the lock says who', (lock['pid'], lock['port'], lock['mode'], lock['policy']),
       (weir.process.pid, weir.port, 'active', 'auto'))
    itself = {'OPENAI_BASE_URL': f'http://127.0.0.1:{weir.port}/v1', 'ANTHROPIC_BASE_URL': '',
              'GOOGLE_GEMINI_BASE_URL': ''}
    result = world.run('qwen', store=weir.store, **itself)
    ok('a server that runs is used', f'http://127.0.0.1:{weir.port} (running)' in result.stderr)
    ok('it is answered', world.found()['statuses'], [200, 200])
    ok('and goes on', weir.get('/weir/v1/health')[0], 200)
    check_receipt('a found server', world, result)
    runs = [world.start('--store', weir.store, '--receipt', f'{world.folder}/r{n}', 'qwen',
                        STAND_IN_DO=f'requests {n}', **itself) for n in (3, 5)]
    for run in runs:
        run.wait(PATIENCE_SECONDS)
    receipts = []
    for n in (3, 5):
        with open(f'{world.folder}/r{n}', encoding='utf-8') as file:
            receipts.append(json.load(file)['requests'])
    ok('two runs at once have receipts of their own', receipts, [3, 5])
    for words, said in ((('--policy', 'exact'), 'its policy is another'),
                        (('--mode', 'meter'), 'its mode is another')):
        result = world.run(*words, 'qwen', store=weir.store)
        ok(f'{words}: a server of its own, and why', said in result.stderr)
        ok(f'{words}: which is started', '(started)' in result.stderr)
    result = world.run('qwen', store=weir.store)
    ok('an address of the user\'s is no business of that server',
       'it does not know an address that you use' in result.stderr)
    second = Weir(world.folder, '--upstream', world.url + '/v1', store=weir.store)
    ok('a second server on a store serves', second.get('/weir/v1/health')[0], 200)
    ok('and says that it is not the one', f'process {weir.process.pid} serves' in second.stderr())
    second.stop()
    ok('the first one\'s lock stays', os.path.exists(os.path.join(weir.store, 'serve.lock')))
    ok('it ends well', weir.stop(), 0)
    ok('and takes its lock away', os.path.exists(os.path.join(weir.store, 'serve.lock')), False)


def stale_cases(world):
    weir = Weir(world.folder, '--upstream', world.url + '/v1')
    worker = weir.worker()
    os.kill(weir.process.pid, signal.SIGKILL)
    weir.process.wait()
    wait_for(lambda: not os.path.exists(f'/proc/{worker}'))
    ok('a killed server leaves its file', os.path.exists(os.path.join(weir.store, 'serve.lock')))
    result = world.run('qwen', store=weir.store)
    ok('which fools nobody', ('(started)' in result.stderr, 'serves this store' in result.stderr),
       (True, False))
    ok('and is not removed by whoever is unlisted',
       os.path.exists(os.path.join(weir.store, 'serve.lock')))
    weir.process.stdout.close()
    weir.errors.close()


class TokenWeir(Weir):
    def get(self, path, headers=None):
        return super().get(path, {'x-weir-token': TOKEN, **(headers or {})})


def token_cases(world):
    config = (f'listen: 127.0.0.1:0\ntokens: [{TOKEN}]\nupstreams:\n'
              f'  openai: {{base_url: "{world.url}/v1"}}\n'
              f'  anthropic: {{base_url: "{world.url}/v1"}}\n')
    weir = TokenWeir(world.folder, config=config)
    none = {'OPENAI_BASE_URL': '', 'ANTHROPIC_BASE_URL': '', 'GOOGLE_GEMINI_BASE_URL': ''}
    result = world.run('claude', store=weir.store, **none)
    ok('a server that wants a token: exit 2', (result.returncode, 'WEIR_TOKEN' in result.stderr),
       (2, True))
    result = world.run('claude', store=weir.store, WEIR_TOKEN=TOKEN, **none)
    found = world.found()
    ok('with one it answers', found['statuses'], [200, 200])
    ok('the MCP process is given it', found['token'], TOKEN)
    ok('no word of the call holds it', any(TOKEN in a for a in found['argv']), False)
    ok('the upstream sees nothing of it', TOKEN in str(world.upstream.last_headers()) +
       world.upstream.last_path(), False)
    ok('the receipt is there', result.receipt['requests'], 2)
    weir.stop()


# ---- make run ----

def script_cases(world):
    """What `make run` starts: told to stop, it ends well; a port that is taken is said."""
    address = f'127.0.0.1:{free_port()}'
    with socket.create_server(('127.0.0.1', port_of(f'http://{address}'))):
        taken = subprocess.run(['tools/serve', WEIR, address], env=world.env(), text=True,
                               timeout=PATIENCE_SECONDS, capture_output=True, check=False)
    ok('a port that is taken: exit 1, and what to do',
       (taken.returncode, f'{address} is taken' in taken.stderr, 'LISTEN=' in taken.stderr),
       (1, True, True))
    script = subprocess.Popen(['tools/serve', WEIR, address], env=world.env(), text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    STARTED.append(script)
    said = ''
    for line in script.stdout:
        said += line
        if line.startswith('weir serve: '):
            break
    ok('it says how to point an agent', f'ANTHROPIC_BASE_URL=http://{address} ' in said)
    ok('and how long it stays', 'until SIGTERM' in said)
    script.send_signal(signal.SIGTERM)
    ok('SIGTERM ends it well', script.wait(PATIENCE_SECONDS), 0)
    script.stdout.close()


# ---- shells ----

def bash_complete(*words):
    script = (f'source <({WEIR} completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
              f'_weir "$1"; printf "%s\\n" "${{COMPREPLY[@]}}"')
    result = subprocess.run(['bash', '-c', script, 'bash', WEIR, *words], capture_output=True,
                            text=True, check=False)
    return result.stdout.split('\n')[:-1] if result.stdout != '\n' else []


class Zsh:
    """A zsh at a terminal, with nothing of the user's. What stands in its line is had by a key."""

    def __init__(self, world):
        self.out = os.path.join(world.folder, 'zsh.out')
        self.pid, self.tty = pty.fork()
        if not self.pid:
            os.chdir(world.folder)
            os.execve(shutil.which('zsh'), ['zsh', '-f', '-i'],
                      world.env(TERM='dumb', ZDOTDIR=world.folder, OUT=self.out))
        self.lines = ['autoload -Uz compinit && compinit -u -D && unsetopt beep',
                      'source <(weir completion zsh)',
                      'show() { print -r -- "$BUFFER" >| $OUT.new; mv -f $OUT.new $OUT; BUFFER= }',
                      "zle -N show; bindkey '^T' show; print ready >| $OUT"]
        os.write(self.tty, ''.join(line + '\r' for line in self.lines).encode())
        self.is_ready = self.read() == 'ready'

    def read(self):
        """What was written for us; its screen is read away meanwhile."""
        def look():
            while select.select([self.tty], [], [], 0)[0]:
                os.read(self.tty, 4096)
            if not os.path.exists(self.out):
                return None
            with open(self.out, encoding='utf-8') as file:
                text = file.read()
            return text if text.endswith('\n') else None
        text = wait_for(look) or ''
        if os.path.exists(self.out):
            os.unlink(self.out)
        return text.rstrip('\n')

    def complete(self, line):
        """The line once its last word was completed."""
        os.write(self.tty, line.encode() + b'\t\x14')
        return self.read()

    def end(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.tty)


def zsh_cases(world):
    if not shutil.which('zsh'):
        print('note: zsh is not installed: nothing was completed in it')
        return
    shell = Zsh(world)
    ok('zsh: the script is taken by a shell at a terminal', shell.is_ready)
    for what, line, wanted in (
            ('commands', 'weir si', 'weir simulate '),
            ('options of a command', 'weir serve --un', 'weir serve --unlisted '),
            ('policies', 'weir run --policy ti', 'weir run --policy tiered '),
            ('modes', 'weir serve --mode sh', 'weir serve --mode shadow '),
            ('agents', 'weir run ope', 'weir run opencode '),
            ('words of a command', 'weir store ver', 'weir store verify '),
            ('files', f'weir inspect {world.folder}/hom', f'weir inspect {world.folder}/home/'),
            ('nothing', 'weir serve x', 'weir serve x')):
        ok(f'zsh: {what}', shell.complete(line), wanted)
    shell.end()


def completion_cases(world):
    ok('bash: commands', bash_complete('si'), ['simulate'])
    ok('bash: options of a command', bash_complete('serve', '--un'), ['--unlisted'])
    ok('bash: policies', bash_complete('run', '--policy', 'ti'), ['tiered'])
    ok('bash: modes', bash_complete('serve', '--mode', 'sh'), ['shadow'])
    ok('bash: agents', bash_complete('run', 'ope'), ['opencode'])
    ok('bash: words of a command', bash_complete('store', 'ver'), ['verify'])
    ok('bash: files', bash_complete('inspect', world.folder + '/hom'), [world.folder + '/home'])
    ok('bash: nothing', bash_complete('serve', 'x'), [])
    ok('bash: models', bash_complete('count', '--model', 'gpt-5.6-t'), ['gpt-5.6-terra'])
    ok('bash: a value behind =', bash_complete('inspect', '--dialect', '=', 'ch'), ['chat'])
    ok('bash: commands to be helped with', bash_complete('help', 'proj'), ['project'])
    ok('bash: words of the agent', bash_complete('run', '--', 'codex', '--policy', 'ti'), [])
    for shell, check in (('zsh', ['zsh', '-n']), ('fish', ['fish', '--no-execute'])):
        if not shutil.which(shell):
            print(f'note: {shell} is not installed: its script was not run')
            continue
        script = subprocess.run([WEIR, 'completion', shell], capture_output=True, check=True)
        result = subprocess.run(check, input=script.stdout, capture_output=True, check=False)
        ok(f'{shell} reads its script', (result.returncode, result.stderr), (0, b''))
    os.symlink(WEIR, os.path.join(world.bin, 'weir'))
    zsh_cases(world)
    if shutil.which('fish'):
        script = "weir completion fish | source; complete -C 'weir run --policy ti'"
        result = subprocess.run(['fish', '--no-config', '-c', script], capture_output=True,
                                text=True, check=False, env=world.env())
        ok('fish completes', result.stdout.split('\t')[0], 'tiered')


CASES = {'agents': agent_cases, 'refused': refused_cases, 'settings': setting_cases,
         'said': said_cases, 'log': log_cases,
         'status': status_cases, 'words': word_cases, 'litter': litter_cases,
         'signals': signal_cases, 'terminal': terminal_cases, 'servers': server_cases,
         'stale': stale_cases, 'tokens': token_cases, 'script': script_cases,
         'completion': completion_cases}


def main():
    for name, cases in CASES.items():
        if name not in (sys.argv[1:] or CASES):
            continue
        with Folder() as folder:
            world = World(folder)
            cases(world)
            world.upstream.stop()
    if 'doctor' in (sys.argv[1:] or ['doctor']):
        doctor_cases(ok)
    return CHECK.end()


if __name__ == '__main__':
    sys.exit(main())

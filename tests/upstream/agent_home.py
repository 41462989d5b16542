"""A place for `weir agent` to work in, a terminal to type into, and what its requests must hold."""
import json
import os
import re
import subprocess
import time

from harness import PATIENCE_SECONDS, wait_for

WEIR = os.path.abspath(os.environ.get('WEIR', 'build/weir'))
MODELS = {'chat': 'gpt-4o-mini', 'responses': 'gpt-5', 'messages': 'claude-sonnet-5-5',
          'gemini': 'gemini-3.8-flash', 'ollama': 'qwen3'}
LISTS = {'chat': 'messages', 'responses': 'input', 'messages': 'messages',
         'gemini': 'contents', 'ollama': 'messages'}
FILES, LINES = 70, 80


def call(tool, **arguments):
    return {'name': tool, 'arguments': arguments}


def read(number):
    return call('read_file', path=f'src/file_{number % FILES}.py')


def write_file(folder, name, text):
    path = os.path.join(folder, f'{time.time_ns()}-{name}')
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)
    return path


class Home:
    """A working directory with files to read, and a place for sessions."""

    def __init__(self, folder, **env):
        self.folder, self.more_env = folder, env
        self.work = os.path.join(folder, f'work-{time.time_ns()}')
        self.data = os.path.join(folder, f'data-{time.time_ns()}')
        os.makedirs(os.path.join(self.work, 'src'))
        for n in range(FILES):
            path = os.path.join(self.work, 'src', f'file_{n}.py')
            with open(path, 'w', encoding='ascii') as file:
                file.writelines(f'def function_{n}_{i}(value):  # line {i}\n' for i in range(LINES))

    def env(self):
        return {**os.environ, 'XDG_DATA_HOME': self.data, 'NO_COLOR': '1', 'OPENAI_API_KEY': '',
                'ANTHROPIC_API_KEY': '', 'GEMINI_API_KEY': '', 'OPENAI_BASE_URL': '',
                'ANTHROPIC_BASE_URL': '', 'GOOGLE_GEMINI_BASE_URL': '',
                **self.more_env}

    def command(self, upstream, api, *arguments):
        return [WEIR, 'agent', '--base-url', f'http://127.0.0.1:{upstream.port}', '--api', api,
                '--model', MODELS[api], *arguments]

    def start(self, upstream, api, *arguments, out=subprocess.PIPE):
        return subprocess.Popen(self.command(upstream, api, *arguments), cwd=self.work,
                                env=self.env(), stdout=out, stderr=subprocess.PIPE, text=True,
                                stdin=subprocess.DEVNULL)

    def run(self, upstream, api, *arguments, out=subprocess.PIPE):
        process = self.start(upstream, api, *arguments, out=out)
        said, err = process.communicate(timeout=5 * PATIENCE_SECONDS)
        return process.returncode, said, err

    def session_dir(self, session):
        return os.path.join(self.data, 'weir', 'sessions', session)

    def session_file(self, session, *names):
        return os.path.join(self.session_dir(session), *names)

    def events(self, session):
        return events(self.session_dir(session))

    def path(self, *names):
        return os.path.join(self.work, *names)


class Terminal:
    """tmux: what is typed, and what stands on the screen."""

    def __init__(self, home, command, columns=120, rows=400, **extra):
        self.name = f'weir-{os.getpid()}-{time.time_ns()}'
        # A server of its own: one that several shared ends with its last session, and whoever
        # comes while it is ending gets none.
        self.socket = os.path.join(home.folder, f'tmux-{time.time_ns()}')
        env = {k: home.env()[k] for k in ('XDG_DATA_HOME', 'NO_COLOR') if home.env()[k]} | extra
        words = ' '.join(f'{k}={v!r}' for k, v in env.items())
        self.tmux('new-session', '-d', '-x', str(columns), '-y', str(rows), '-s', self.name,
                  '-c', home.work,
                  f'set -m; env -u NO_COLOR {words} {" ".join(command)}; echo "left with $?"; '
                  'exec sleep 600')

    def tmux(self, *arguments):
        return subprocess.run(['tmux', '-S', self.socket, '-f', '/dev/null', *arguments],
                              capture_output=True, text=True, check=False,
                              timeout=PATIENCE_SECONDS).stdout

    def type(self, text, *keys):
        if text:
            self.tmux('send-keys', '-t', self.name, '-l', text)
        for key in keys:
            self.tmux('send-keys', '-t', self.name, key)

    def screen(self, *options):
        return self.tmux('capture-pane', '-p', *options, '-t', self.name)

    def shows(self, *texts):
        """Whether one of them is shown, now or later."""
        return bool(wait_for(lambda: any(text in self.screen() for text in texts)))

    def is_asked(self):
        """Whether a question waits for its answer."""
        return 'then Enter:' in self.screen()

    def agent(self):
        """The process in the terminal."""
        shell = self.tmux('display-message', '-p', '-t', self.name, '#{pane_pid}').strip()
        found = subprocess.run(['pgrep', '-P', shell], capture_output=True, text=True, check=False)
        return int(found.stdout.split()[0])

    def modes(self):
        tty = self.tmux('display-message', '-p', '-t', self.name, '#{pane_tty}').strip()
        with open(tty, encoding='ascii') as file:
            return subprocess.run(['stty', '-a'], stdin=file, capture_output=True, text=True,
                                  check=False).stdout.split()

    def close(self):
        self.tmux('kill-session', '-t', self.name)


# ---- what was kept, and what was sent ----

def lines_of(path):
    with open(path, encoding='utf-8') as file:
        return [json.loads(line) for line in file]


def events(session_dir):
    return lines_of(os.path.join(session_dir, 'events.jsonl'))


def trace(session_dir, kind):
    return [line for line in lines_of(os.path.join(session_dir, 'trace.jsonl'))
            if line['kind'] == kind]


def calls_and_results(found):
    calls = [c for e in found if e['kind'] == 'assistant' for c in e.get('calls', [])]
    return calls, [e for e in found if e['kind'] == 'result']


def journal_troubles(found):
    """What is wrong with a journal: gaps, calls without one result, files that are not whole."""
    troubles = []
    if [e['seq'] for e in found] != list(range(1, len(found) + 1)):
        troubles.append('events are missing')
    calls, results = calls_and_results(found)
    if sorted(c['id'] for c in calls) != sorted(r['call_id'] for r in results):
        troubles.append('a call has not exactly one result')
    of_call = {r['call_id']: r for r in results}
    for c in calls:
        text = of_call.get(c['id'], {}).get('text', '')
        if c['name'] == 'read_file' and f'line {LINES - 1}' not in text:
            troubles.append(f'not whole: {c["arguments"]}')
    return troubles


def elements(raw, key):
    """The bytes of each element of the body's list `key`, as they came."""
    decoder, at, found = json.JSONDecoder(), 1, []
    space = re.compile(r'[\s,:]*')
    while raw[at] != '}':
        name, at = decoder.raw_decode(raw, space.match(raw, at).end())
        at = space.match(raw, at).end()
        if name == key and raw[at] == '[':
            at = space.match(raw, at + 1).end()
            while raw[at] != ']':
                begin = at
                _, at = decoder.raw_decode(raw, at)
                found.append(raw[begin:at])
                at = space.match(raw, at).end()
            at += 1
        else:
            _, at = decoder.raw_decode(raw, at)
        at = space.match(raw, at).end()
    return found


MARKER = re.compile(r',"cache_control":\{"type":"ephemeral"\}')


def prefix_troubles(requests, steps):
    """Where a request does not begin with the last one of its API, and no step was declared since.
    Messages' cache markers move from turn to turn; they are no part of what is cached."""
    troubles, before = [], {}
    if len(requests) != len(steps):
        return [f'{len(requests)} requests, {len(steps)} in the trace']
    for n, (request, step) in enumerate(zip(requests, steps)):
        api = request['api']
        now = [MARKER.sub('', text) for text in elements(request['body'], LISTS[api])]
        if step != 'none':
            before = {}
        if api in before and now[:len(before[api])] != before[api]:
            at = next((i for i, (a, b) in enumerate(zip(now, before[api])) if a != b), len(now))
            troubles.append(f'request {n} ({api}), message {at}: {before[api][at][:300]} became '
                            f'{now[at][:300] if at < len(now) else "nothing"}')
        before[api] = now
    return troubles

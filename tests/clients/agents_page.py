#!/usr/bin/env python3
"""Plays every agent and SDK that installs here, and writes docs/agents.md.

    agents_page.py CLIENTS_DIR [--page FILE] [--only] [WORD...]    rows that have one of the words;
                       --only: nothing is installed, what is there is played

WEIR names the program. Each is played three times against the strict upstream, which keeps every
request: without Weir, through `weir serve` (pointed at it by hand), and under `weir run`. The
scripted model reads eight texts, and asks twice for lines of what was left out. What is in the page
is counted from what the upstream kept: whether the loop comes to the end that it has without Weir,
by the same calls; whether the lines that were recalled are those of the original; and how many
tokens less all requests together have. Policy `lean`, or POLICY. TASK_ASKED is what the model is
told; without `[recall ...]` it asks for nothing. A client that is played again replaces its row;
the others stay.
"""
import json
import os
import re
import shutil
import subprocess
import sys

import own
import run as clients_run
import run_agents

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'upstream'))
from harness import Folder, Upstream, Weir, whole_lines  # noqa: E402

WEIR = os.path.abspath(os.environ.get('WEIR', 'build/weir'))
POLICY = os.environ.get('POLICY', 'lean')
TASK = os.environ.get('TASK_ASKED', '[turns 8] [apart] [recall 40-60 at 4] [recall 90-95] '
                      'Look around.')
KINDS = ('direct', 'serve', 'run')
MODEL = 'gpt-5'  # whose exact tokenizer counts, whatever the client asks for
QUIET = {'CLINE_TELEMETRY_DISABLED': '1', 'CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC': '1',
         'DISABLE_AUTOUPDATER': '1', 'KILO_TELEMETRY_LEVEL': 'off'}


def strings_in(value):
    if isinstance(value, str):
        yield value
        if value[:1] in '[{':  # results that are JSON themselves
            try:
                yield from strings_in(json.loads(value))
            except ValueError:
                pass
    elif isinstance(value, (list, dict)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from strings_in(inner)


class Played(own.Outcome):
    """One play, as the upstream saw it."""

    def __init__(self, play, code, output, record, refused, store):
        super().__init__(play, code, output, record, refused)
        bodies = [line['body'] for line in whole_lines(record)]
        self.tokens = self.count(play.folder, bodies)
        self.wrong_recalls = self.check_recalls(bodies, store)

    @staticmethod
    def count(folder, bodies):
        paths = []
        for number, body in enumerate(bodies):
            paths.append(os.path.join(folder, f'body-{number}'))
            with open(paths[-1], 'w', encoding='utf-8') as file:
                file.write(body)
        counted = subprocess.run([WEIR, 'count', '--model', MODEL, *paths], capture_output=True,
                                 text=True, check=True).stdout if paths else ''
        return sum(int(line.split()[0].replace(',', '')) for line in counted.splitlines()
                   if 'body-' in line)

    @staticmethod
    def check_recalls(bodies, store):
        """How many recalls brought something else than the lines of the original."""
        wrong, seen = 0, set()
        for body in (json.loads(text) for text in bodies):
            texts = None
            for name, arguments in own.calls_in(body):
                key = (arguments.get('handle'), arguments.get('lines'))
                if not name.endswith('weir_recall') or key in seen:
                    continue
                seen.add(key)
                whole = subprocess.run([WEIR, 'recall', key[0], '--lines', key[1], '--store',
                                        store], capture_output=True, text=True, check=False)
                texts = texts or list(strings_in(body))
                lines = whole.stdout.strip('\n')
                wrong += not whole.returncode and not any(lines in text for text in texts)
        return wrong


class Play(own.Play):
    """As own.py has it; under `weir run` the address is only known inside."""

    def __init__(self, clients, folder, base, kind, url):
        super().__init__(clients, folder, 'BASE' if kind == 'run' else base)
        self.kind, self.url = kind, url
        self.store = os.path.join(folder, 'run-store')

    def run_words(self, config):
        return [WEIR, 'run', '--store', self.store, '--config', config, '--']

    def run(self, command, **env):
        env = {**env, **QUIET, 'TASK': TASK}
        if self.kind == 'run':
            env = {name: value for name, value in env.items() if 'BASE' not in value}
            if any('google' in word or 'adk' in word or 'genai' in word for word in command):
                command = ['GEMINI' if word == 'BASE' else word for word in command]
            command = [*self.run_words(os.path.join(self.folder, 'weir.yaml')), sys.executable,
                       os.path.join(HERE, 'through.py'), *command]
        return super().run(command, **env)

    def run_agent(self, case, agents_path):
        """An agent as its user has set it up; `case` is of run_agents.py."""
        command, env = case(self.home, self.url if self.kind == 'run' else self.base)
        if self.kind == 'run':
            command = [*self.run_words(os.path.join(self.folder, 'weir.yaml')), *command]
        nowhere = {name: 'http://127.0.0.1:9' for name in ('HTTPS_PROXY', 'https_proxy')}
        try:
            result = subprocess.run(
                command, cwd=self.work, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                check=False, timeout=clients_run.TIMEOUT_S,
                env={'PATH': agents_path, 'HOME': self.home, 'PWD': self.work, 'TERM': 'dumb',
                     'NO_PROXY': '127.0.0.1', **nowhere, **QUIET, **env})
        finally:
            own.end_hub(self.work)
        return result.returncode, result.stdout + result.stderr


CONFIG = '''listen: 127.0.0.1:0
policy: {policy}
upstreams:
  openai: {{base_url: "{url}/v1"}}
  anthropic: {{base_url: "{url}/v1"}}
  gemini: {{base_url: "{url}"}}
  chatgpt: {{base_url: "{url}/backend-api/codex"}}
'''


def play_once(row, clients, kind):
    with Folder() as folder:
        record = os.path.join(folder, 'record.jsonl')
        upstream, weir = Upstream(folder, '--record', record), None
        url = base = f'http://127.0.0.1:{upstream.port}'
        config = CONFIG.format(policy=POLICY, url=url)
        with open(os.path.join(folder, 'weir.yaml'), 'w', encoding='ascii') as file:
            file.write(config)
        if kind == 'serve':
            weir = Weir(folder, config=config)
            base = f'http://127.0.0.1:{weir.port}'
        play = Play(clients, folder, base, kind, url)
        try:
            code, output = row['play'](play)
        except subprocess.TimeoutExpired:
            code, output = 1, 'it does not end'
        played = Played(play, code, output, record, upstream.stats()['refused'],
                        weir.store if weir else play.store)
        if weir:
            weir.stop()
        upstream.stop()
        return played


# ---- the rows ----

def gemini(home, url):
    run_agents.write(json.dumps({
        'security': {'auth': {'selectedType': 'gemini-api-key'}},
        'general': {'enableAutoUpdate': False}, 'telemetry': {'enabled': False},
        'privacy': {'usageStatisticsEnabled': False}}), home, '.gemini', 'settings.json')
    return (['gemini', '--yolo', '--skip-trust', '-m', 'gemini-2.5-flash', '-p',
             run_agents.in_work(home)],
            {'GEMINI_API_KEY': 'k', 'GOOGLE_GEMINI_BASE_URL': url,
             'GEMINI_CLI_NO_RELAUNCH': 'true'})



def agents(agents_path):
    """Agents of `weir run`, as run_agents.py sets them up."""
    run_agents.PROMPT = TASK
    # They take no address from a variable, so without Weir they would ask the provider itself.
    skipped = ('codex', 'codex, ChatGPT login', 'pi', 'cline, openai')
    for name, case, _ in [*run_agents.CASES, ('gemini', gemini, None)]:
        if name in skipped:
            continue
        program = name.split(',')[0]
        yield {'name': name, 'is_agent': True, 'needs': program,
               'path': shutil.which(program, path=agents_path),
               'play': lambda play, case=case: play.run_agent(case, agents_path)}


def sdks():
    skipped = ('codex', 'claude', 'opencode', 'pi,', 'cline', 'gemini-cli')
    for name, package, play in own.rows():
        if not name.startswith(skipped):
            yield {'name': name, 'is_agent': False, 'needs': package, 'path': None, 'play': play}


def version_of(row, clients, agents_path):
    if row['is_agent']:
        said = subprocess.run([row['path'], '--version'], capture_output=True, text=True,
                              check=False, timeout=60, env={
                                  'PATH': agents_path, 'HOME': '/nonexistent'})
        found = re.search(r'\d+\.\d+\.\d+(?:-\w+)?', said.stdout + said.stderr)
        return found.group() if found else '?'
    path = os.path.join(clients, 'node_modules', row['needs'], 'package.json')
    if os.path.exists(path):
        with open(path, encoding='utf-8') as file:
            return json.load(file)['version']
    package = {'google': 'google-adk' if 'ADK' in row['name'] else 'google-genai'}.get(
        row['needs'], row['needs'])
    pip = os.path.join(clients, 'python-' + row['needs'], 'bin', 'pip')
    said = subprocess.run([pip, 'show', package], capture_output=True, text=True, check=False)
    found = re.search(r'^Version: (.*)$', said.stdout, re.M)
    if not found:
        said = subprocess.run([pip, 'show', package + '-slim'], capture_output=True, text=True,
                              check=False)
        found = re.search(r'^Version: (.*)$', said.stdout, re.M)
    return found.group(1) if found else '?'


def install_agents(clients):
    """One by one: some need a version of Node or a host that is not here, and fail alone."""
    os.makedirs(clients, exist_ok=True)
    packages = {**clients_run.PACKAGES, **run_agents.PACKAGES, '@google/gemini-cli': '0.61'}
    for name in ('@openai/codex', 'opencode-ai', '@mariozechner/pi-coding-agent',
                 '@google/gemini-cli', *run_agents.PACKAGES):
        if not os.path.exists(os.path.join(clients, 'node_modules', name)):
            subprocess.run(['npm', 'install', '--no-audit', '--no-fund', '--loglevel=error',
                            f'{name}@{packages[name]}'], cwd=clients, check=False,
                           timeout=clients_run.INSTALL_TIMEOUT_S)


# ---- the page ----

def cell(direct, played):
    """What `weir serve` or `weir run` made of a client."""
    wrong = []
    if not played.is_good():
        wrong.append(f'**the loop fails** ({played.refused} refused)')
    elif played.calls != direct.calls:
        wrong.append('**other calls**')
    if played.wrong_recalls:
        wrong.append('**recalled text differs**')
    saved = 100 * (1 - played.tokens / (direct.tokens or 1))
    return '; '.join(wrong) or f'{saved:.1f} %', 'same' if not wrong else 'no', played.recalls


def line_of(row, version, played):
    direct = played['direct']
    serve, same_serve, recalls_serve = cell(direct, played['serve'])
    run, same_run, recalls_run = cell(direct, played['run'])
    same = 'yes' if (same_serve, same_run) == ('same', 'same') else 'no'
    return (f'| {row["name"]} | {version} | {direct.requests} | {direct.tokens:,} | {same} | '
            f'{recalls_serve} | {serve} | {recalls_run} | {run} |')


HEAD = '''# Agents and SDKs, played

Does your agent work with Weir? Find it in the table. "Same: yes" means that it ended with the same
words as without Weir, by the same calls with the same arguments, that nothing was refused, and that
every line it recalled was the original's. What could not be played is [below](#not-played).

Each row is the real program against a scripted upstream that is as strict as its API and keeps
every request (`make agents-page`): played without Weir, through `weir serve` with the address set
by hand, and under `weir run`. The scripted model reads eight texts of 10 to 30 KB and asks twice
for lines of what was left out. `tokens` is the sum over all requests without Weir (by gpt-5's
tokenizer, whatever the model); the two shares are what was saved of it, recalls and the recall's
definition charged. No recalls: nothing was left out when the model would have asked, or the client
had no way to ask.

The policy is `lean`, which takes out more than `auto`, so that there is something to recall. So the
shares show that a client works, not what its sessions cost: that is in [benchmark](benchmark.md).

**Codex** saves less than most here. It cuts outputs itself (at 10,000 tokens), and more than a
third of what it sends is its own instructions and tools, which stay. Under `auto` (`POLICY=auto`)
it saves 48.8 % if nothing is recalled (`TASK_ASKED='[turns 8] Look around.'`) and 33.5 % with the
two recalls. Each recall costs one more request of 55 KB; a provider's cache has nearly all of it,
but here it counts like any other. With an MCP server Codex adds three tools of its own, so `weir
run` gives it the proxy's own recall, except when it resumes a session.

Codex was played last, with the policies as they are; most others before the newest change of
`auto`, `lean` and `careful`.

| client | version | requests | tokens | same | recalls | `weir serve` | recalls | `weir run` |
|---|---|---|---|---|---|---|---|---|
'''
REFUSED = '''
## Not played

| client | why |
|---|---|
'''


def read_page(path):
    """Rows of an earlier run, by name."""
    if not os.path.exists(path):
        return {}, {}
    with open(path, encoding='utf-8') as file:
        played, _, rest = file.read().partition('## Not played')
    return tuple({line.split('|')[1].strip(): line for line in part.splitlines()
                  if line.startswith('| ') and not line.startswith('| client')}
                 for part in (played, rest))


def write_page(path, rows, absent):
    with open(path, 'w', encoding='utf-8') as file:
        file.write(HEAD + ''.join(line + '\n' for line in rows.values()))
        file.write(REFUSED + ''.join(line + '\n' for line in absent.values()))


def refusals():
    """What `weir run --list` does not run, or nobody has tried."""
    said = subprocess.run([WEIR, 'run', '--list'], capture_output=True, text=True,
                          check=True).stdout.splitlines()
    for first, second in zip(said[::2], said[1::2]):
        name = first.split()[0]
        if 'cannot be pointed' in first:
            yield name, '`weir run` does not start it: ' + second.strip()
        elif '(untried)' in second:
            yield name, 'it does not install here; `weir run` calls it untried'


def main():
    words = [word for word in sys.argv[2:] if not word.startswith('--')]
    page = next((word[7:] for word in sys.argv if word.startswith('--page=')), 'docs/agents.md')
    clients = os.path.abspath(sys.argv[1])
    agents_path = os.environ.get('AGENTS_PATH', os.path.join(clients, 'node_modules', '.bin') +
                                 ':' + os.environ['PATH'])
    if '--only' not in sys.argv and shutil.which('npm'):
        install_agents(clients)
    chosen = [row for row in [*agents(agents_path), *sdks()]
              if any(word in row['name'] for word in words or [''])]
    needed = {row['needs'] for row in chosen if not row['is_agent']}
    missing = {} if '--only' in sys.argv else own.install(clients, needed)
    lines, absent = read_page(page)
    absent.update({name: f'| {name} | {why} |' for name, why in refusals()})
    failed = 0
    for row in chosen:
        why = missing.get(row['needs'])
        if row['is_agent'] and not row['path']:
            why = 'it is not installed'
        if why:
            print(f'{row["name"]}: skipped: {why}')
            continue
        played = {kind: play_once(row, clients, kind) for kind in KINDS}
        if not played['direct'].is_good():
            absent[row['name']] = f'| {row["name"]} | its loop fails without Weir too |'
            print(row['name'], 'FAILED without Weir', played['direct'].output[-800:])
            continue
        lines[row['name']] = line_of(row, version_of(row, clients, agents_path), played)
        absent.pop(row['name'], None)
        good = '| yes |' in lines[row['name']]
        failed += not good
        print(lines[row['name']], flush=True)
        for kind in KINDS[1:] if not good else ():
            print('   ', kind, played[kind].code, played[kind].refused, played[kind].calls[-1:],
                  played['direct'].calls[-1:], played[kind].output[-500:])
        write_page(page, lines, absent)
    print(f'{len(chosen)} clients, {failed} not as without Weir')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

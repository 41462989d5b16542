#!/usr/bin/env python3
"""Real clients with the proxy's own recall, beside the same with weir_recall by MCP, without any,
and without Weir, against the strict upstream.

    own.py CLIENTS_DIR [WORD...]    where the clients are or are to be installed (npm, pip); only
                                    rows that have one of the words

WEIR names the program; its policy is `lean`, or POLICY. The scripted model reads eight files,
recalls lines of what was taken out first, alone, beside another call and before its last words.
Libraries then ask it something more, with the history that they have.

Of a client with own recall it is asked that its loop comes to the end that it has without Weir, by
the same calls; that nothing of ours is in anything that it printed or wrote; that the upstream
refused nothing, and had what was recalled in every later request. Saved is what the upstream got
less of, in bytes of all requests, than from the same client without Weir. KEEP names a folder for
what the last row left: requests, store, home, output.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys

import run as clients_run

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'upstream'))
from harness import Folder, Upstream, Weir, whole_lines  # noqa: E402

TASK = ('[turns 8] [apart] [aloud] [recall 40-60 at 4] [recall 70-80 at 6 beside] [recall 90-95] '
        'Look around.')
RECALLS = 3
TASK_AFTER = 'And now?'  # for those that go on with one history
TOOL = 'run_query'  # what it brings cannot be read again: there is no way back but a recall
END = 'Done after 8 results.'
OURS = re.compile(rb'weir_recall|wr_[0-9a-f]{20}|\[weir ')
PACKAGES = {'@anthropic-ai/claude-code': '2.1', 'ai': '7.0', '@ai-sdk/openai': '4.0',
            '@ai-sdk/anthropic': '4.0', '@ai-sdk/openai-compatible': '3.0', 'cline': '3.0',
            '@google/genai': '2', '@google/gemini-cli': '0'}
PYTHON = {'openai-agents': ['openai-agents==0.24.*'],
          'pydantic-ai': ['pydantic-ai-slim[openai,anthropic]==2.66.*'],
          'litellm': ['litellm==1.100.0'],
          'google': ['google-genai', 'google-adk'],
          'langchain': ['langchain==1.4.*', 'langchain-openai', 'langchain-anthropic']}
GAP_POINTS_MAX = 5
clients_run.TIMEOUT_S = 300  # on a busy machine some take a minute


class Play:
    """One run of a client: where it sends its requests, and how it gets text back."""

    def __init__(self, clients, folder, base, weir=None, recall='none'):
        self.clients, self.folder, self.base = clients, folder, base
        self.weir, self.recall = weir, recall
        self.home = os.path.join(folder, 'home')
        self.work = clients_run.make_work(folder)
        os.makedirs(self.home, exist_ok=True)

    def has_mcp(self):
        return self.recall == 'mcp'

    def mcp_command(self):
        return [os.path.abspath(os.environ.get('WEIR', 'build/weir')), 'mcp', '--store',
                self.weir.store]

    def run(self, command, **env):
        return clients_run.run(command, self.work, **{
            'HOME': self.home, 'CLIENTS_DIR': self.clients, 'TASK': TASK, 'TASK_AFTER': TASK_AFTER,
            'TOOL': TOOL, 'RECALL': self.recall, 'MCP_URL': self.base + '/mcp', **env})

    def program(self, name):
        return os.path.join(self.clients, 'node_modules', '.bin', name)


def node(program, case):
    return lambda play: play.run(['node', os.path.join(HERE, program), play.base, case])


def python(package, program, case):
    return lambda play: play.run([os.path.join(play.clients, 'python-' + package, 'bin', 'python'),
                                  os.path.join(HERE, 'python', program), play.base, case])


def codex(play):
    lines = ''
    if play.has_mcp():
        program, *arguments = play.mcp_command()
        lines = f'[mcp_servers.weir]\ncommand = "{program}"\nargs = {json.dumps(arguments)}\n'
    os.makedirs(os.path.join(play.home, '.codex'), exist_ok=True)
    with open(os.path.join(play.home, '.codex', 'config.toml'), 'w', encoding='ascii') as file:
        file.write(f'''model = "gpt-5"
model_provider = "mine"
[model_providers.mine]
name = "mine"
base_url = "{play.base}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
{lines}''')
    return play.run([*clients_run.codex_command(play.clients), TASK], OPENAI_API_KEY='k',
                    CODEX_HOME=os.path.join(play.home, '.codex'))


def claude(model):
    def play_it(play):
        more = []
        if play.has_mcp():
            program, *arguments = play.mcp_command()
            path = os.path.join(play.folder, 'mcp.json')
            clients_run.write_json({'mcpServers': {'weir': {
                'command': program, 'args': arguments}}}, path)
            more = ['--mcp-config', path, '--allowedTools', 'mcp__weir__weir_recall']
        return play.run([play.program('claude'), '-p', TASK, '--model', model, '--output-format',
                         'stream-json', '--verbose', *more], ANTHROPIC_API_KEY='k',
                        ANTHROPIC_BASE_URL=play.base, DISABLE_AUTOUPDATER='1',
                        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC='1')
    return play_it


def opencode(package):
    """opencode speaks each API by the SDK it is told to load."""
    def play_it(play):
        model = {'name': 'm', 'limit': {'context': 200000, 'output': 8000}}
        config = {'model': 'mine/gpt-5', 'share': 'disabled', 'autoupdate': False,
                  'small_model': 'mine/gpt-5', 'provider': {'mine': {
                      'npm': package, 'name': 'mine', 'models': {'gpt-5': model},
                      'options': {'baseURL': play.base + '/v1', 'apiKey': 'k'}}}}
        if play.has_mcp():
            config['mcp'] = {'weir': {'type': 'local', 'command': play.mcp_command()}}
        path = os.path.join(play.folder, 'opencode.json')
        clients_run.write_json(config, path)
        places = {f'XDG_{kind}_HOME': play.home for kind in ('CONFIG', 'DATA', 'CACHE', 'STATE')}
        return play.run([play.program('opencode'), 'run', '-m', 'mine/gpt-5', TASK],
                        OPENCODE_CONFIG=path, **places)
    return play_it


def pi(api):
    """It has no MCP: `weir run` gives it an extension instead."""
    def play_it(play):
        base = play.base + ('' if api == 'anthropic-messages' else '/v1')
        model = {'id': 'gpt-5', 'name': 'm', 'reasoning': False, 'input': ['text'],
                 'contextWindow': 200000, 'maxTokens': 8000,
                 'cost': {'input': 0, 'output': 0, 'cacheRead': 0, 'cacheWrite': 0}}
        clients_run.write_json({'providers': {'mine': {
            'baseUrl': base, 'apiKey': 'k', 'api': api, 'models': [model]}}},
            play.home, 'pi', 'models.json')
        return play.run([play.program('pi'), '-p', '--offline', '--provider', 'mine', '--model',
                         'gpt-5', TASK], PI_CODING_AGENT_DIR=os.path.join(play.home, 'pi'))
    return play_it


def google(program, case):
    """Google's libraries for Python; ADK takes the address from the variable."""
    def play_it(play):
        path = os.path.join(play.clients, 'python-google', 'bin', 'python')
        return play.run([path, os.path.join(HERE, 'python', program), play.base, case],
                        GOOGLE_GEMINI_BASE_URL=play.base, GOOGLE_API_KEY='k')
    return play_it


def gemini_cli(play):
    servers = {}
    if play.has_mcp():
        program, *arguments = play.mcp_command()
        servers = {'weir': {'command': program, 'args': arguments, 'trust': True}}
    clients_run.write_json({
        'security': {'auth': {'selectedType': 'gemini-api-key'}},
        'general': {'enableAutoUpdate': False},
        'privacy': {'usageStatisticsEnabled': False}, 'telemetry': {'enabled': False},
        'mcpServers': servers}, play.home, '.gemini', 'settings.json')
    return play.run([play.program('gemini'), '--yolo', '--skip-trust', '-m', 'gemini-2.5-flash',
                     '-p', f'[in {play.work}] {TASK}'], GEMINI_API_KEY='k',
                    GOOGLE_GEMINI_BASE_URL=play.base, GEMINI_CLI_NO_RELAUNCH='true')


def end_hub(work):
    """cline leaves a process behind for the folder that it worked in."""
    for pid in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{pid}/cmdline', encoding='utf-8', errors='replace') as file:
                words = file.read().split('\0')
            if '--cline-hub-daemon' in words and work in words:
                os.kill(int(pid), signal.SIGTERM)
        except OSError:  # it has ended meanwhile
            continue


def cline(play):
    provider, model = 'openai-compatible', 'gpt-5'
    settings = os.path.join(play.home, '.cline', 'data', 'settings')
    told = {'provider': provider, 'apiKey': 'k', 'model': model, 'baseUrl': play.base + '/v1'}
    clients_run.write_json({
        'version': 1, 'lastUsedProvider': provider, 'modes': {},
        'providers': {provider: {'updatedAt': '2026-01-01T00:00:00.000Z',
                                 'tokenSource': 'manual', 'settings': told}}},
        settings, 'providers.json')
    if play.has_mcp():
        program, *arguments = play.mcp_command()
        clients_run.write_json({'mcpServers': {'weir': {
            'command': program, 'args': arguments}}}, settings, 'cline_mcp_settings.json')
    try:
        return play.run([play.program('cline'), '--json', '-P', provider, '-m', model,
                         '--compaction', 'off', '-c', play.work, TASK],
                        CLINE_TELEMETRY_DISABLED='1')
    finally:
        end_hub(play.work)


def rows():
    """(name, what it needs, how it is played)"""
    for api in ('chat', 'responses', 'messages'):
        for how in ('whole', 'stream'):
            case = f'{api}-{how}'
            sdk = '@anthropic-ai/sdk' if api == 'messages' else 'openai'
            yield f'{sdk}, {api}, {how}', sdk, node('sdk.mjs', case)
            yield f'Vercel AI SDK, {api}, {how}', 'ai', node('vercel.mjs', case)
            if api != 'messages':
                yield (f'openai-agents, {api}, {how}', 'openai-agents',
                       python('openai-agents', 'agents_sdk.py', case))
            for package, program in (('pydantic-ai', 'pydantic_agent.py'),
                                     ('langchain', 'langchain_agent.py'),
                                     ('litellm', 'litellm_sdk.py')):
                yield f'{package}, {api}, {how}', package, python(package, program, case)
    for how in ('whole', 'stream'):
        yield (f'Vercel AI SDK, compatible, {how}', 'ai', node('vercel.mjs', f'compatible-{how}'))
    yield 'codex, responses', '@openai/codex', codex
    for model in ('claude-sonnet-4-5', 'claude-opus-5-5'):
        yield f'claude, {model}', '@anthropic-ai/claude-code', claude(model)
    for api, package in (('chat', '@ai-sdk/openai-compatible'), ('responses', '@ai-sdk/openai'),
                         ('messages', '@ai-sdk/anthropic')):
        yield f'opencode, {api}', 'opencode-ai', opencode(package)
    for api in ('openai-completions', 'openai-responses', 'anthropic-messages'):
        yield f'pi, {api}', '@mariozechner/pi-coding-agent', pi(api)
    yield 'cline, chat', 'cline', cline
    for how in ('whole', 'stream'):
        yield f'@google/genai, gemini, {how}', '@google/genai', node('genai.mjs', how)
    for how in ('whole', 'stream', 'automatic'):
        yield f'google-genai, gemini, {how}', 'google', google('google_sdk.py', f'gemini-{how}')
    # As a stream ADK sends an empty text back, which is refused without Weir.
    yield 'ADK, gemini, whole', 'google', google('adk_agent.py', 'gemini-whole')
    yield 'gemini-cli, gemini', '@google/gemini-cli', gemini_cli


# ---- what came of a run ----

def calls_in(body):
    """(name, arguments) of each call in a request's history."""
    for message in body.get('messages') or []:
        for call in message.get('tool_calls') or []:
            arguments = call['function']['arguments']
            yield call['function']['name'], (
                json.loads(arguments) if isinstance(arguments, str) else arguments)
        content = message.get('content')
        for block in content if isinstance(content, list) else []:
            if block.get('type') == 'tool_use':
                yield block['name'], block['input']
    for content in body.get('contents') or []:
        for part in content['parts']:
            if 'functionCall' in part:
                yield part['functionCall']['name'], part['functionCall'].get('args', {})
    items = body.get('input')
    for item in items if isinstance(items, list) else []:
        if item.get('type') == 'function_call':
            yield item['name'], json.loads(item['arguments'])


class Outcome:
    def __init__(self, play, code, output, record, refused):
        self.code, self.output, self.refused = code, output, refused
        bodies = [line['body'] for line in whole_lines(record)]
        self.bytes = sum(len(body.encode()) for body in bodies)
        # With the next words of the user a policy may fold the loop before them, recalls and all.
        main = [json.loads(body) for body in bodies if '[COMPLETED AGENT LOOP' not in body]
        main = [body for body in main if body.get('tools')]
        calls = [list(calls_in(body)) for body in main]
        longest = max(calls, key=len, default=[])
        self.calls = [(name, json.dumps(arguments).replace(play.work, 'WORK'))
                      for name, arguments in longest if not name.endswith('weir_recall')]
        recalls = [sum(name.endswith('weir_recall') for name, _ in some) for some in calls]
        self.recalls, self.is_kept = max(recalls, default=0), recalls == sorted(recalls)
        self.requests = len(bodies)
        self.traces = self.find_traces(play)

    def find_traces(self, play):
        """Where something of ours is: in what it printed, or a file of its own."""
        found = ['output'] if OURS.search(self.output.encode()) else []
        for folder, _, names in os.walk(play.home):
            for name in names:
                path = os.path.join(folder, name)
                if os.path.islink(path) or not os.path.isfile(path):
                    continue
                with open(path, 'rb') as file:
                    if OURS.search(file.read()):
                        found.append(os.path.relpath(path, play.home))
        return found

    def is_good(self):
        return not self.code and END in self.output and not self.refused


def play_once(play_it, clients, kind):
    """kind: `direct` is without Weir, `own`, `mcp`, and `client`: a recall tool only of its own,
    which it lacks."""
    with Folder() as folder:
        record = os.path.join(folder, 'record.jsonl')
        upstream, weir = Upstream(folder, '--record', record), None
        url = f'http://127.0.0.1:{upstream.port}'
        base = url
        if kind != 'direct':
            weir = Weir(folder, '--recall', 'client' if kind == 'client' else 'auto', config=f'''
listen: 127.0.0.1:0
policy: {os.environ.get('POLICY', 'lean')}
upstreams:
  openai: {{base_url: "{url}/v1"}}
  anthropic: {{base_url: "{url}/v1"}}
  gemini: {{base_url: "{url}"}}
''')
            base = f'http://127.0.0.1:{weir.port}'
        play = Play(clients, folder, base, weir, 'mcp' if kind == 'mcp' else 'none')
        try:
            code, output = play_it(play)
        except subprocess.TimeoutExpired:
            code, output = 1, 'it does not end'
        outcome = Outcome(play, code, output, record, upstream.stats()['refused'])
        if weir:
            weir.stop()
        upstream.stop()
        if os.environ.get('KEEP'):
            kept = os.path.join(os.environ['KEEP'], kind)
            shutil.copytree(folder, kept, dirs_exist_ok=True)
            with open(os.path.join(kept, 'output'), 'w', encoding='utf-8') as file:
                file.write(output)
        return outcome


def judge(name, played):
    """Prints a client's row; true: it is as it should be."""
    direct, own = played['direct'], played.get('own')
    if not own:
        print(f'{name:36} FAILED without Weir, {direct.refused} refused:\n{direct.output[-600:]}')
        return False
    saved = {kind: 100 * (1 - outcome.bytes / (direct.bytes or 1))
             for kind, outcome in played.items()}
    wrong = [f'{kind}: the loop failed, {outcome.refused} refused:\n{outcome.output[-600:]}'
             for kind, outcome in played.items() if not outcome.is_good()]
    if own.calls != direct.calls:
        wrong.append(f'other calls: {own.calls} instead of {direct.calls}')
    if own.traces:
        wrong.append(f'ours is seen in {own.traces}')
    if own.recalls != RECALLS:
        wrong.append(f'{own.recalls} of {RECALLS} recalls')
    if not own.is_kept:
        wrong.append('what was recalled is missing later')
    if 'mcp' in played and saved['own'] < saved['mcp'] - GAP_POINTS_MAX:
        wrong.append('it saves less than by MCP')

    def figure(kind):
        return f'{saved[kind]:5.1f} %' if kind in saved else '-'
    print(f'{name:36} {"FAILED" if wrong else "done":6} {direct.requests:6} {own.requests:5} '
          f'{own.recalls:7} {"yes" if own.traces else "no":>7} '
          f'{sum(outcome.refused for outcome in played.values()):7} {figure("own"):>9} '
          f'{figure("mcp"):>9} {figure("client"):>9}', flush=True)
    for line in wrong:
        print('    ' + line)
    return not wrong


# ---- installing ----

def install(clients, needed):
    """Gives what cannot be had here: the name and why."""
    clients_run.PACKAGES.update(PACKAGES)
    clients_run.PACKAGES = {name: version for name, version in clients_run.PACKAGES.items()
                            if name in needed or 'ai' in needed and name.startswith('@ai-sdk/')}
    absent = (clients_run.install(clients, False) if shutil.which('npm') else
              {name: 'npm is not installed' for name in clients_run.PACKAGES})
    for name, wanted in PYTHON.items():
        if name not in needed:
            continue
        place = os.path.join(clients, 'python-' + name)
        if os.path.exists(os.path.join(place, 'installed')):
            continue
        subprocess.run([sys.executable, '-m', 'venv', place], check=True)
        pip = os.path.join(place, 'bin', 'pip')
        try:
            done = subprocess.run([pip, 'install', '--quiet', *wanted], check=False,
                                  timeout=clients_run.INSTALL_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            absent[name] = 'pip does not come to an end'
            continue
        if done.returncode:
            absent[name] = 'pip cannot install it'
        else:
            open(os.path.join(place, 'installed'), 'w', encoding='ascii').close()
    return absent


def main():
    clients = os.path.abspath(sys.argv[1])
    chosen = [row for row in rows() if any(word in row[0] for word in sys.argv[2:] or [''])]
    absent = install(clients, {package for _, package, _ in chosen})
    passed = failed = skipped = 0
    print(f'{"client":36} {"loop":6} {"direct":>6} {"own":>5} {"recalls":>7} {"visible":>7} '
          f'{"refused":>7} {"own":>9} {"MCP":>9} {"client":>9}')
    for name, package, play_it in chosen:
        if package in absent:
            print(f'{name:36} skipped: {absent[package]}')
            skipped += 1
            continue
        kinds = [kind for kind in ('direct', 'own', 'mcp', 'client')
                 if kind != 'mcp' or not name.startswith('pi,')]
        played = {}
        for kind in kinds:
            played[kind] = play_once(play_it, clients, kind)
            if kind == 'direct' and not played[kind].is_good():
                break
        good = judge(name, played)
        passed, failed = passed + good, failed + (not good)
    print(f'{passed} passed, {failed} failed, {skipped} skipped')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

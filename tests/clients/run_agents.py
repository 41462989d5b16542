#!/usr/bin/env python3
"""Real agents under `weir run`, against the strict upstream: large results, then a recall.

    run_agents.py CLIENTS_DIR [NAME...]    where the agents are or are to be installed (npm, pip)

WEIR names the program. The scripted model reads eight files and then asks `weir_recall` for lines
of what was left out first: these bytes must come back, and nothing of the user's may have changed.
Prints each agent's receipt.
"""
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys

import run as clients_run

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'upstream'))
from harness import Checks, Folder, Upstream  # noqa: E402
from sessions import POLICIES  # noqa: E402

CHECK = Checks()
ok = CHECK.ok
LINES = (40, 60)
PROMPT = f'[turns 8] [recall {LINES[0]}-{LINES[1]}] Look around.'
TIMEOUT_S = 120
AIDER = '0.86'
PACKAGES = {'@anthropic-ai/claude-code': '2.1', '@qwen-code/qwen-code': '0.24',
            '@github/copilot': '1.0', 'droid': '0.215', 'cline': '3.0', '@aaif/goose': '0.20',
            '@kilocode/cli': '7.7.7'}
CLAUDE_QUIET = {'CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC': '1', 'DISABLE_AUTOUPDATER': '1'}


def write(text, *path):
    os.makedirs(os.path.dirname(os.path.join(*path)), exist_ok=True)
    with open(os.path.join(*path), 'w', encoding='ascii') as file:
        file.write(text)


# Each puts the user's settings into a home and gives the call, and the variables it needs. The
# second entry of a case is the file that Weir must leave alone.

def codex(home, url):
    write('model = "gpt-5"\n', home, '.codex', 'config.toml')
    return (['codex', 'exec', '--skip-git-repo-check', '--json', PROMPT],
            {'OPENAI_API_KEY': 'k', 'OPENAI_BASE_URL': url + '/v1'})


def codex_provider(home, url):
    write(f'model = "gpt-5"\nmodel_provider = "mine"\n[model_providers.mine]\nname = "mine"\n'
          f'base_url = "{url}/v1"\nwire_api = "responses"\nenv_key = "MY_KEY"\n', home, '.codex',
          'config.toml')
    return ['codex', 'exec', '--skip-git-repo-check', '--json', PROMPT], {'MY_KEY': 'k'}


def codex_chatgpt(home, _url):
    write('model = "gpt-5"\n', home, '.codex', 'config.toml')
    clients_run.log_in(os.path.join(home, '.codex'))
    return ['codex', 'exec', '--skip-git-repo-check', '--json', PROMPT], {}


def claude(home, url):
    write('{"model": "claude-sonnet-4-5"}', home, '.claude', 'settings.json')
    return (['claude', '-p', PROMPT],
            {'ANTHROPIC_API_KEY': 'k', 'ANTHROPIC_BASE_URL': url, **CLAUDE_QUIET})


def claude_settings(home, url):
    """The address is in the settings, which go before variables."""
    write(json.dumps({'model': 'claude-sonnet-4-5', 'env': {'ANTHROPIC_BASE_URL': url}}), home,
          '.claude', 'settings.json')
    return ['claude', '-p', PROMPT], {'ANTHROPIC_API_KEY': 'k', **CLAUDE_QUIET}


def claude_cloud(model, **env):
    """By a cloud: the address of the user's is the cloud's, whose upstream is strict about it."""
    def case(home, url):
        write(json.dumps({'model': model}), home, '.claude', 'settings.json')
        there = {name: value.replace('URL', url) for name, value in env.items()}
        return ['claude', '-p', PROMPT], {**CLAUDE_QUIET, **there}
    return case


# Without thinking: what this upstream thinks by Bedrock it drops, without Weir too.
CLAUDE_BEDROCK = claude_cloud(
    'us.anthropic.claude-sonnet-4-5-20250929-v1:0', CLAUDE_CODE_USE_BEDROCK='1',
    AWS_REGION='us-east-1', AWS_BEARER_TOKEN_BEDROCK='ABSKkey', ANTHROPIC_BEDROCK_BASE_URL='URL',
    MAX_THINKING_TOKENS='0')
CLAUDE_VERTEX = claude_cloud(
    'claude-sonnet-4-5@20250929', CLAUDE_CODE_USE_VERTEX='1', CLOUD_ML_REGION='us-east5',
    ANTHROPIC_VERTEX_PROJECT_ID='p', CLAUDE_CODE_SKIP_VERTEX_AUTH='1',
    ANTHROPIC_CUSTOM_HEADERS='Authorization: Bearer ya29.login',
    ANTHROPIC_VERTEX_BASE_URL='URL/v1')
CLAUDE_FOUNDRY = claude_cloud(
    'claude-sonnet-4-5', CLAUDE_CODE_USE_FOUNDRY='1', ANTHROPIC_FOUNDRY_API_KEY='azure-key',
    ANTHROPIC_FOUNDRY_BASE_URL='URL/anthropic')


def opencode(home, url):
    write('{"$schema": "https://opencode.ai/config.json", "autoupdate": false}', home, '.config',
          'opencode', 'opencode.json')
    return (['opencode', 'run', '-m', 'openai/gpt-5', PROMPT],
            {'OPENAI_API_KEY': 'k', 'OPENAI_BASE_URL': url + '/v1'})


def opencode_provider(home, url):
    model = {'name': 'm', 'limit': {'context': 200000, 'output': 8000}}
    provider = {'npm': '@ai-sdk/openai-compatible', 'name': 'mine', 'models': {'gpt-5': model},
                'options': {'baseURL': url + '/v1', 'apiKey': 'k'}}
    write(json.dumps({'$schema': 'https://opencode.ai/config.json', 'autoupdate': False,
                      'provider': {'mine': provider}}), home, '.config', 'opencode',
          'opencode.json')
    return ['opencode', 'run', '-m', 'mine/gpt-5', PROMPT], {}


def pi(home, url):
    write('{}', home, '.pi', 'agent', 'models.json')
    return (['pi', '-p', '--offline', '--no-session', '--provider', 'openai', '--model', 'gpt-5',
             PROMPT], {'OPENAI_API_KEY': 'k', 'OPENAI_BASE_URL': url + '/v1'})


def pi_provider(home, url):
    model = {'id': 'gpt-5', 'name': 'm', 'reasoning': False, 'input': ['text'],
             'contextWindow': 200000, 'maxTokens': 8000,
             'cost': {'input': 0, 'output': 0, 'cacheRead': 0, 'cacheWrite': 0}}
    write(json.dumps({'providers': {'mine': {'baseUrl': url + '/v1', 'apiKey': 'k',
                                             'api': 'openai-completions', 'models': [model]}}}),
          home, '.pi', 'agent', 'models.json')
    return (['pi', '-p', '--offline', '--no-session', '--provider', 'mine', '--model', 'gpt-5',
             PROMPT], {})


def qwen(home, url):
    """Its read tool wants whole paths. It sends all there is through a proxy, also to loopback."""
    write(json.dumps({'$version': 4, 'security': {'auth': {'selectedType': 'openai'}},
                      'general': {'disableAutoUpdate': True},
                      'privacy': {'usageStatisticsEnabled': False}}), home, '.qwen',
          'settings.json')
    prompt = f'[in {os.path.join(os.path.dirname(home), "work")}] {PROMPT}'
    return (['qwen', '--yolo', '-p', prompt],
            {'OPENAI_API_KEY': 'k', 'OPENAI_BASE_URL': url + '/v1', 'OPENAI_MODEL': 'gpt-5',
             'HTTPS_PROXY': '', 'https_proxy': ''})


def copilot(provider_type='openai', model='gpt-5', path='/v1', **more):
    """A provider of the user's; it reads files by commands."""
    def case(home, url):
        write('{}', home, '.copilot', 'settings.json')
        return (['copilot', '-p', PROMPT, '--allow-all-tools'],
                {'COPILOT_PROVIDER_BASE_URL': url + path, 'COPILOT_PROVIDER_API_KEY': 'k',
                 'COPILOT_PROVIDER_TYPE': provider_type, 'COPILOT_MODEL': model,
                 'COPILOT_OFFLINE': 'true', 'COPILOT_AUTO_UPDATE': 'false', **more})
    return case


def droid(home, url):
    model = {'model': 'gpt-5', 'displayName': 'M', 'baseUrl': url + '/v1', 'apiKey': 'k',
             'provider': 'generic-chat-completion-api', 'maxOutputTokens': 8000}
    write(json.dumps({'customModels': [model], 'cloudSessionSync': False}), home, '.factory',
          'settings.json')
    return ['droid', 'exec', '-m', 'custom:gpt-5', in_work(home)], {}


def in_work(home):
    """For agents whose read tool wants whole paths."""
    return f'[in {os.path.join(os.path.dirname(home), "work")}] {PROMPT}'


def cline(provider, model, base=None):
    def case(home, url):
        settings = {'provider': provider, 'apiKey': 'k', 'model': model}
        if base:
            settings['baseUrl'] = url + base
        write(json.dumps({'version': 1, 'lastUsedProvider': provider, 'modes': {}, 'providers': {
            provider: {'settings': settings, 'updatedAt': '2026-11-18T00:00:00.000Z',
                       'tokenSource': 'manual'}}}), home, '.cline', 'data', 'settings',
              'providers.json')
        return ['cline', '--json', in_work(home)], {}
    return case


def goose(provider, model):
    def case(home, url):
        write(f'GOOSE_PROVIDER: {provider}\nGOOSE_MODEL: {model}\nextensions:\n  developer:\n'
              '    enabled: true\n    type: builtin\n    name: developer\n', home, '.config',
              'goose', 'config.yaml')
        return (['goose', 'run', '--no-session', '-t', '[tool shell] ' + PROMPT],
                {'GOOSE_DISABLE_KEYRING': '1', 'OPENAI_API_KEY': 'k', 'ANTHROPIC_API_KEY': 'k',
                 'OPENAI_HOST': url, 'ANTHROPIC_HOST': url})
    return case


def kilo(home, url):
    """It writes what it misses in it into its settings; this has it all."""
    write(json.dumps({'$schema': 'https://app.kilo.ai/config.json', 'autoupdate': False,
                      'permission': {'bash': 'allow'}}, indent=2) + '\n', home, '.config', 'kilo',
          'kilo.json')
    return (['kilo', 'run', '-m', 'openai/gpt-5', PROMPT],
            {'OPENAI_API_KEY': 'k', 'OPENAI_BASE_URL': url + '/v1'})


CASES = [('codex', codex, '.codex/config.toml'),
         ('codex, a provider of the user', codex_provider, '.codex/config.toml'),
         ('codex, ChatGPT login', codex_chatgpt, '.codex/config.toml'),
         ('claude', claude, '.claude/settings.json'),
         ('claude, an address of the user', claude_settings, '.claude/settings.json'),
         ('opencode', opencode, '.config/opencode/opencode.json'),
         ('opencode, a provider of the user', opencode_provider, '.config/opencode/opencode.json'),
         ('pi', pi, '.pi/agent/models.json'),
         ('pi, a provider of the user', pi_provider, '.pi/agent/models.json'),
         ('qwen', qwen, '.qwen/settings.json'),
         ('copilot, chat', copilot(), '.copilot/settings.json'),
         ('copilot, responses', copilot(COPILOT_PROVIDER_WIRE_API='responses'),
          '.copilot/settings.json'),
         ('copilot, messages', copilot('anthropic', 'claude-sonnet-4-5', ''),
          '.copilot/settings.json'),
         ('droid', droid, '.factory/settings.json'),
         ('cline, compatible', cline('openai-compatible', 'gpt-5', '/v1'),
          '.cline/data/settings/providers.json'),
         ('cline, openai', cline('openai-native', 'gpt-5'), '.cline/data/settings/providers.json'),
         ('goose, openai', goose('openai', 'gpt-5'), '.config/goose/config.yaml'),
         ('goose, anthropic', goose('anthropic', 'claude-sonnet-4-5'),
          '.config/goose/config.yaml'),
         ('kilo', kilo, '.config/kilo/kilo.json')]
# By clouds; here alone, for docs/agents.md has each agent by its usual API.
CLOUD_CASES = [('claude, Bedrock', CLAUDE_BEDROCK, '.claude/settings.json'),
               ('claude, Vertex', CLAUDE_VERTEX, '.claude/settings.json'),
               ('claude, Foundry', CLAUDE_FOUNDRY, '.claude/settings.json')]


def results_of(body):
    """Texts of the results in a request, the newest last."""
    texts = [json.dumps(part['functionResponse']['response'], ensure_ascii=False).replace(
        '\\n', '\n') for content in body.get('contents') or [] for part in content['parts']
             if 'functionResponse' in part]
    for message in body.get('messages') or body.get('input') or []:
        content = message.get('content') if message.get('role') == 'tool' else message.get('output')
        if message.get('role') == 'user' and isinstance(message.get('content'), list):
            blocks = [b for b in message['content'] if b.get('type') == 'tool_result']
            content = blocks[-1]['content'] if blocks else None
        if isinstance(content, list):
            content = ''.join(part.get('text', '') for part in content)
        if isinstance(content, str):
            texts.append(content)
    return texts


def read(*path):
    with open(os.path.join(*path), encoding='ascii') as file:
        return file.read()


def has_lines(weir, store, body):
    """Whether the newest result is these lines of the original, which its handle's hash vouches
    for, and no more of it."""
    handle = re.search(rb'wr_[0-9a-f]{20}', body)
    if not handle:
        return 'nothing was left out'
    handle = handle.group().decode()
    whole = subprocess.run([weir, 'recall', handle, '--store', store], capture_output=True,
                           check=True).stdout
    if handle != 'wr_' + hashlib.sha256(whole).hexdigest()[:20]:
        return 'the original is another'
    lines = whole.decode().splitlines(keepends=True)
    before, wanted, after = (''.join(lines[LINES[0] - 2:LINES[1]]),
                             ''.join(lines[LINES[0] - 1:LINES[1]]),
                             ''.join(lines[LINES[0] - 1:LINES[1] + 1]))
    result = (results_of(json.loads(body)) or [''])[-1]
    return [part.rstrip('\n') in result for part in (before, wanted, after)]


def play(name, case, kept, clients):
    with Folder() as folder:
        upstream, weir = Upstream(folder), os.path.abspath(os.environ.get('WEIR', 'build/weir'))
        url, home = f'http://127.0.0.1:{upstream.port}', os.path.join(folder, 'home')
        work, store = clients_run.make_work(folder), os.path.join(folder, 'store')
        command, env = case(home, url)
        before = read(home, kept)
        write(POLICIES, folder, 'policies.yaml')
        write(f'policies: {folder}/policies.yaml\npolicy: short\nupstreams:\n'
              f'  openai: {{base_url: "{url}/v1"}}\n'
              f'  anthropic: {{base_url: "{url}/v1"}}\n'
              f'  chatgpt: {{base_url: "{url}/backend-api/codex"}}\n', folder, 'weir.yaml')
        path = os.path.join(clients, 'node_modules', '.bin') + ':' + os.environ['PATH']
        path = os.environ.get('AGENTS_PATH', path)
        nowhere = {v: 'http://127.0.0.1:9' for v in ('HTTPS_PROXY', 'https_proxy')}
        result = subprocess.run(
            [weir, 'run', '--store', store, '--config', f'{folder}/weir.yaml', '--receipt',
             f'{folder}/receipt', '--', *command],
            cwd=work, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
            timeout=TIMEOUT_S, env={'PATH': path, 'HOME': home, 'PWD': work, 'TERM': 'dumb',
                                    'NO_PROXY': '127.0.0.1', **nowhere, **env})
        said = [line for line in result.stderr.splitlines() if line.startswith('weir')]
        print(name, *said, sep='\n  ')
        good = result.returncode == 0 and 'Done after 9 results.' in result.stdout
        ok(f'{name}: the loop comes to its end', good)
        if not good:
            print(result.stdout[-1500:], result.stderr[-3000:])
        ok(f'{name}: the upstream refuses nothing', upstream.stats()['refused'], 0)
        ok(f'{name}: its settings are as they were', read(home, kept), before)
        receipt = json.loads(read(folder, 'receipt'))
        ok(f'{name}: results were shortened', receipt['changed'] > 0)
        ok(f'{name}: one recall, no miss', (receipt['recalls'], receipt['recalls_missed']), (1, 0))
        ok(f'{name}: the lines came back, byte for byte, and no other',
           has_lines(weir, store, upstream.last_body()), [False, True, False])
        upstream.stop()


def aider(clients):
    """It has no tools, so nothing comes back and nothing is taken out: its words pass, metered."""
    place = os.path.join(clients, 'aider')
    program = os.path.join(place, 'bin', 'aider')
    if not os.path.exists(program):
        subprocess.run([sys.executable, '-m', 'venv', place], check=True)
        subprocess.run([os.path.join(place, 'bin', 'pip'), 'install', '--quiet',
                        f'aider-chat=={AIDER}.*'], check=True)
    with Folder() as folder:
        upstream, weir = Upstream(folder), os.path.abspath(os.environ.get('WEIR', 'build/weir'))
        home, work = os.path.join(folder, 'home'), clients_run.make_work(folder)
        write('dark-mode: true\n', home, '.aider.conf.yml')
        for variable in ('OPENAI_API_BASE', 'OPENAI_BASE_URL'):
            name = f'aider by {variable}'
            result = subprocess.run(
                [weir, 'run', '--store', os.path.join(folder, 'store'), '--receipt',
                 f'{folder}/receipt', '--', program, '--model', 'openai/gpt-4o', '--no-git',
                 '--yes-always', '--no-show-model-warnings', '--no-check-update', '--no-analytics',
                 '--no-stream', '--message', '[turns 0] Say hello.', 'src/file_1.py'],
                cwd=work, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                timeout=TIMEOUT_S, env={
                    'PATH': os.environ['PATH'], 'HOME': home, 'TERM': 'dumb', 'OPENAI_API_KEY': 'k',
                    'NO_PROXY': '127.0.0.1', 'HTTPS_PROXY': 'http://127.0.0.1:9',
                    variable: f'http://127.0.0.1:{upstream.port}/v1'})
            print(name, *[line for line in result.stderr.splitlines() if line.startswith('weir')],
                  sep='\n  ')
            ok(f'{name}: it has its answer',
               (result.returncode, 'Done after 0 results.' in result.stdout), (0, True))
            receipt = json.loads(read(folder, 'receipt'))
            ok(f'{name}: which came through Weir, unchanged',
               (receipt['requests'] > 0, receipt['failed'], receipt['changed']), (True, 0, 0))
        ok('aider: its settings are as they were', read(home, '.aider.conf.yml'),
           'dark-mode: true\n')
        upstream.stop()


def first_request(weir, folder, home, path, command, **env):
    """The first request of Claude Code that has tools."""
    record = os.path.join(folder, f'record-{len(os.listdir(folder))}')
    upstream = Upstream(folder, '--record', record)
    url = f'http://127.0.0.1:{upstream.port}'
    write(f'upstreams:\n  anthropic: {{base_url: "{url}/v1"}}\n', folder, 'search.yaml')
    variables = {'ANTHROPIC_BASE_URL': url} if command[0] == 'claude' else {}
    subprocess.run([word.replace('SEARCH.YAML', f'{folder}/search.yaml') for word in command],
                   cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=True,
                   timeout=TIMEOUT_S, env={'PATH': path, 'HOME': home, 'TERM': 'dumb',
                                           'ANTHROPIC_API_KEY': 'k', **CLAUDE_QUIET, **variables,
                                           **env})
    upstream.stop()
    bodies = [json.loads(line)['body'] for line in read(record).splitlines()]
    body = next(body for body in bodies if json.loads(body).get('tools'))
    counted = subprocess.run([weir, 'count', '--model', 'claude-opus-4-8'], input=body, text=True,
                             capture_output=True, check=True).stdout
    names = [tool['name'] for tool in json.loads(body)['tools']]
    print(f'  {len(names)} tools, {len(body.encode())} bytes, {counted.split()[0]} tokens')
    return names, len(body)


def tool_search(clients):
    """Claude Code keeps schemas back under `weir run`, but for the recall's."""
    weir = os.path.abspath(os.environ.get('WEIR', 'build/weir'))
    path = os.environ.get('AGENTS_PATH', os.path.join(clients, 'node_modules', '.bin') + ':' +
                          os.environ['PATH'])
    call = ['claude', '-p', '[turns 0] Say hello.']
    with Folder() as folder:
        home = os.path.join(folder, 'home')
        os.makedirs(home)
        through = [weir, 'run', '--store', os.path.join(folder, 'store'), '--config',
                   'SEARCH.YAML', '--', *call]
        print('claude, tool search: without Weir; as the user said; by weir run')
        _, plain = first_request(weir, folder, home, path, call)
        told, _ = first_request(weir, folder, home, path, through, ENABLE_TOOL_SEARCH='false')
        names, bytes_ = first_request(weir, folder, home, path, through)
        recall = 'mcp__weir__weir_recall'
        ok('tool search: the user may switch it off', ('ToolSearch' in told, recall in told),
           (False, True))
        ok('tool search: it is on, and the recall is there', ('ToolSearch' in names,
                                                              recall in names), (True, True))
        ok('tool search: a third less is sent', bytes_ * 3 < plain * 2.2)


def main():
    if not shutil.which('npm'):
        print('skipped: npm is not installed')
        return 77
    clients = os.path.abspath(sys.argv[1])
    clients_run.PACKAGES.update(PACKAGES)
    clients_run.install(clients)
    for name, case, kept in [*CASES, *CLOUD_CASES]:
        if any(word in name for word in sys.argv[2:] or ['']):
            play(name, case, kept, clients)
    if any(word in 'aider' for word in sys.argv[2:] or ['']):
        aider(clients)
    if any(word in 'tool search' for word in sys.argv[2:] or ['']):
        tool_search(clients)
    return CHECK.end()


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
"""Real clients in tool loops through the proxy, against the strict upstream.

    run.py CLIENTS_DIR [NAME...]    where the clients are or are to be installed (npm)

WEIR names the program. Prints one row a client: whether its loop came to its end, how many of its
requests were sent on changed, how many the upstream refused.
"""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'upstream'))
from harness import Folder, Upstream  # noqa: E402
from sessions import serve  # noqa: E402

PACKAGES = {'openai': '6.49', '@anthropic-ai/sdk': '1.8', '@openai/codex': '0.166',
            'opencode-ai': '1.18', '@mariozechner/pi-coding-agent': '0.73', 'deepagents': '1.14',
            'langchain': '1.5', '@langchain/openai': '1.5', '@langchain/core': '1.2'}
HERE = os.path.dirname(os.path.abspath(__file__))
TIMEOUT_S = 60


def install(clients):
    missing = [f'{name}@{version}' for name, version in PACKAGES.items()
               if not os.path.exists(os.path.join(clients, 'node_modules', name))]
    if not missing:
        return
    os.makedirs(clients, exist_ok=True)
    subprocess.run(['npm', 'install', '--no-audit', '--no-fund', '--silent', *missing], cwd=clients,
                   check=True)


def run(command, cwd, **env):
    result = subprocess.run(command, cwd=cwd, timeout=TIMEOUT_S,
                            env={**os.environ, 'PWD': cwd, **env},
                            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return result.returncode, result.stdout + result.stderr


def make_work(folder):
    """A folder with the files that the scripted model asks for."""
    work = os.path.join(folder, 'work')
    os.makedirs(os.path.join(work, 'src'), exist_ok=True)
    for n in range(8):
        with open(os.path.join(work, 'src', f'file_{n}.py'), 'w', encoding='ascii') as file:
            file.writelines(f'def function_{n}_{i}(value):  # line {i}\n' for i in range(150))
    return work


def write_json(value, *path):
    os.makedirs(os.path.dirname(os.path.join(*path)), exist_ok=True)
    with open(os.path.join(*path), 'w', encoding='ascii') as file:
        json.dump(value, file)


def sdk(case):
    def play(base, clients, folder):
        return run(['node', os.path.join(HERE, 'sdk.mjs'), base, case], folder, CLIENTS_DIR=clients)
    return play


def deepagents(api):
    def play(base, clients, folder):
        program = os.path.join(HERE, 'deepagents.mjs')
        return run(['node', program, base, api], folder, CLIENTS_DIR=clients)
    return play


def codex(websockets):
    def play(base, clients, folder):
        home, work = os.path.join(folder, 'codex'), make_work(folder)
        os.makedirs(home, exist_ok=True)
        with open(os.path.join(home, 'config.toml'), 'w', encoding='ascii') as file:
            file.write(f'''model = "gpt-5"
model_provider = "weir"
[model_providers.weir]
name = "weir"
base_url = "{base}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
supports_websockets = {websockets}
''')
        program = os.path.join(clients, 'node_modules', '@openai', 'codex', 'bin', 'codex.js')
        return run(['node', program, 'exec', '--skip-git-repo-check', '--json',
                    '[turns 8] Look around.'], work, CODEX_HOME=home, OPENAI_API_KEY='k')
    return play


def opencode(package):
    """opencode speaks each API by the SDK it is told to load."""
    def play(base, clients, folder):
        work = make_work(folder)
        model = {'name': 'm', 'limit': {'context': 200000, 'output': 8000}}
        write_json({'model': 'weir/gpt-5', 'share': 'disabled', 'autoupdate': False,
                    'small_model': 'weir/gpt-5', 'provider': {'weir': {
                        'npm': package, 'name': 'weir', 'models': {'gpt-5': model},
                        'options': {'baseURL': base + '/v1', 'apiKey': 'k'}}}},
                   work, 'opencode.json')
        program = os.path.join(clients, 'node_modules', '.bin', 'opencode')
        home = os.path.join(folder, 'opencode')
        places = {f'XDG_{kind}_HOME': home for kind in ('CONFIG', 'DATA', 'CACHE', 'STATE')}
        return run([program, 'run', '-m', 'weir/gpt-5', '[turns 8] Look around.'], work, HOME=home,
                   OPENCODE_CONFIG=os.path.join(work, 'opencode.json'), **places)
    return play


def pi(api):
    def play(base, clients, folder):
        home = os.path.join(folder, 'pi')
        base += '' if api == 'anthropic-messages' else '/v1'
        model = {'id': 'gpt-5', 'name': 'm', 'reasoning': False, 'input': ['text'],
                 'contextWindow': 200000, 'maxTokens': 8000,
                 'cost': {'input': 0, 'output': 0, 'cacheRead': 0, 'cacheWrite': 0}}
        write_json({'providers': {'weir': {'baseUrl': base, 'apiKey': 'k', 'api': api,
                                           'models': [model]}}}, home, 'models.json')
        program = os.path.join(clients, 'node_modules', '.bin', 'pi')
        return run([program, '-p', '--offline', '--no-session', '--provider', 'weir', '--model',
                    'gpt-5', '[turns 8] Look around.'], make_work(folder),
                   PI_CODING_AGENT_DIR=home, HOME=home)
    return play


CLIENTS = [(f'openai {PACKAGES["openai"]}, {api}, {how}', sdk(f'{api}-{how}'))
           for api in ('chat', 'responses') for how in ('whole', 'stream')]
CLIENTS += [(f'@anthropic-ai/sdk {PACKAGES["@anthropic-ai/sdk"]}, messages, {how}',
             sdk(f'messages-{how}')) for how in ('whole', 'stream')]
CLIENTS += [(f'codex {PACKAGES["@openai/codex"]}, responses, stream', codex('false')),
            (f'codex {PACKAGES["@openai/codex"]}, WebSocket declined', codex('true'))]
CLIENTS += [(f'opencode {PACKAGES["opencode-ai"]}, {api}, stream', opencode(package))
            for api, package in (('chat', '@ai-sdk/openai-compatible'),
                                 ('responses', '@ai-sdk/openai'),
                                 ('messages', '@ai-sdk/anthropic'))]
CLIENTS += [(f'pi {PACKAGES["@mariozechner/pi-coding-agent"]}, {api}, stream', pi(api))
            for api in ('openai-completions', 'openai-responses', 'anthropic-messages')]
CLIENTS += [(f'deepagents {PACKAGES["deepagents"]}, {api}', deepagents(api))
            for api in ('chat', 'responses')]


def main():
    if not shutil.which('npm'):
        print('skipped: npm is not installed')
        return 77
    clients = os.path.abspath(sys.argv[1])
    install(clients)
    passed = failed = 0
    print(f'{"client":45} {"loop":8} {"requests":>8} {"changed":>8} {"refused":>8}')
    with Folder() as folder:
        for name, play in CLIENTS:
            if not any(word in name for word in sys.argv[2:] or ['']):
                continue
            upstream = Upstream(folder)
            weir = serve(folder, upstream)
            try:
                code, output = play(f'http://127.0.0.1:{weir.port}', clients, folder)
            except subprocess.TimeoutExpired:
                code, output = 1, 'it does not end'
            lines = [line for line in weir.log(9) if line['api'] != 'other']
            changed = sum(bool(line.get('changed')) for line in lines)
            refused = upstream.stats()['refused']
            good = not code and 'Done after 8 results.' in output and not refused
            print(f'{name:45} {"done" if good else "FAILED":8} {len(lines):8} {changed:8} '
                  f'{refused:8}')
            if not good:
                print(output[-2000:])
            passed, failed = passed + good, failed + (not good)
            weir.stop()
            upstream.stop()
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
"""Real clients in tool loops through the proxy, against the strict upstream.

    run.py CLIENTS_DIR [NAME...]    where the clients are or are to be installed (npm)

WEIR names the program; its policy is `auto`. Prints one row a client: whether its loop came to its
end, how many of its requests were sent on changed and what that saved, how many the upstream
refused. Whoever has a way to get text back must have been changed.
"""
import base64
import json
import os
import shutil
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'upstream'))
from harness import Folder, Upstream, Weir  # noqa: E402

PACKAGES = {'openai': '6.49', '@anthropic-ai/sdk': '1.8', '@openai/codex': '0.166',
            'opencode-ai': '1.18', '@mariozechner/pi-coding-agent': '0.73', 'deepagents': '1.14',
            'langchain': '1.5', '@langchain/openai': '1.5', '@langchain/core': '1.2'}
HERE = os.path.dirname(os.path.abspath(__file__))
TIMEOUT_S = 60


# Each needs exact versions of the others, which now and then cannot be had: alone they fail alone.
FAMILY = ('deepagents', 'langchain', '@langchain/openai', '@langchain/core')
INSTALL_TIMEOUT_S = 900


def install(clients, has_family=True):
    """Installs what is missing; gives what cannot be had, and why."""
    os.makedirs(clients, exist_ok=True)
    absent = {}
    rest = [name for name in PACKAGES if name not in FAMILY]
    for group in (rest, FAMILY) if has_family else (rest,):
        missing = [name for name in group
                   if not os.path.exists(os.path.join(clients, 'node_modules', name))]
        if not missing:
            continue
        try:
            done = subprocess.run(
                ['npm', 'install', '--no-audit', '--no-fund', '--loglevel=error',
                 *(f'{name}@{PACKAGES[name]}' for name in missing)],
                cwd=clients, timeout=INSTALL_TIMEOUT_S, capture_output=True, text=True, check=False)
            why = 'npm cannot install it' if done.returncode else None
        except subprocess.TimeoutExpired:
            why = 'npm does not come to an end'
        absent.update({name: why for name in missing if why})
    return absent


def run(command, cwd, **env):
    # Nobody is asked but the proxy: other hosts are sought behind a port that is not there.
    nowhere = {name: 'http://127.0.0.1:9' for name in ('HTTPS_PROXY', 'https_proxy')}
    result = subprocess.run(command, cwd=cwd, timeout=TIMEOUT_S,
                            env={**os.environ, 'PWD': cwd, **nowhere, 'NO_PROXY': '127.0.0.1',
                                 'no_proxy': '127.0.0.1', **env},
                            stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return result.returncode, result.stdout + result.stderr


def make_work(folder):
    """A folder with the files that the scripted model asks for."""
    work = os.path.join(folder, 'work')
    for name in ('src', 'logs'):
        os.makedirs(os.path.join(work, name), exist_ok=True)
    for n in range(8):
        with open(os.path.join(work, 'src', f'file_{n}.py'), 'w', encoding='ascii') as file:
            file.writelines(f'def function_{n}_{i}(value):\n    total = value + {i}\n'
                            f'    return total * {n}\n\n' for i in range(300))
        with open(os.path.join(work, 'logs', f'run_{n}.log'), 'w', encoding='ascii') as file:
            file.writelines(f'2026-11-15 10:{i // 60:02}:{i % 60:02} INFO worker-{i % 7} fetched '
                            f'page {i} of run {n} in {i * 3 % 97} ms\n' for i in range(150))
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


def recall_server():
    """Codex has no tool that reads files: `weir_recall` is how it gets text back."""
    program = os.path.join(HERE, 'recall_server.py')
    return f'''
[mcp_servers.weir]
command = "{sys.executable}"
args = ["{program}"]
'''


def codex_command(clients):
    program = os.path.join(clients, 'node_modules', '@openai', 'codex', 'bin', 'codex.js')
    return ['node', program, 'exec', '--skip-git-repo-check', '--json']


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
{recall_server()}''')
        return run([*codex_command(clients), '[turns 8] Look around.'], work, CODEX_HOME=home,
                   OPENAI_API_KEY='k')
    return play


def pump(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for sock in (source, target):
        try:
            sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def tls_front(port, folder):
    """HTTPS in front of the proxy, which speaks HTTP; gives its host and who vouches for it."""
    subprocess.run(['sh', '-ec', '''
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -keyout ca.key -out ca.pem -subj /CN=Test
openssl req -newkey rsa:2048 -nodes -keyout front.key -out front.csr -subj /CN=localhost
echo subjectAltName=DNS:localhost > front.ext
openssl x509 -req -days 2 -in front.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out front.pem \\
    -extfile front.ext'''], cwd=folder, capture_output=True, check=True)
    certificate = os.path.join(folder, 'ca.pem')
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.path.join(folder, 'front.pem'), os.path.join(folder, 'front.key'))
    listener = socket.create_server(('127.0.0.1', 0))

    def serve_one(plain):
        try:
            client = context.wrap_socket(plain, server_side=True)
            server = socket.create_connection(('127.0.0.1', port))
        except OSError:
            return
        threading.Thread(target=pump, args=(server, client), daemon=True).start()
        pump(client, server)

    def accept():
        while True:
            threading.Thread(target=serve_one, args=listener.accept()[:1], daemon=True).start()
    threading.Thread(target=accept, daemon=True).start()
    return f'localhost:{listener.getsockname()[1]}', certificate


def token(**claims):
    """As a login gives it, signed by nobody."""
    def part(value):
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b'=').decode()
    return f'{part({"alg": "none", "typ": "JWT"})}.{part(claims)}.{part("signed")}'


def log_in(home):
    """What a login by ChatGPT leaves behind."""
    claims = {'email': 'somebody@example.com', 'exp': int(time.time()) + 86400,
              'https://api.openai.com/auth': {'chatgpt_plan_type': 'pro', 'chatgpt_user_id': 'u1',
                                              'chatgpt_account_id': 'a1'}}
    write_json({'OPENAI_API_KEY': None, 'auth_mode': 'chatgpt',
                'last_refresh': time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime()),
                'tokens': {'id_token': token(**claims), 'access_token': token(**claims),
                           'refresh_token': 'r1', 'account_id': 'a1'}}, home, 'auth.json')


def codex_chatgpt(is_native):
    """Codex after a login by ChatGPT. By a provider of its own it sends what it always sends. By
    its native one it asks the backend where to send what, takes only HTTPS for an answer, packs
    its bodies in zstd and carries a turn's state from header to header."""
    def play(base, clients, folder):
        home, env = os.path.join(folder, f'codex-{is_native}'), {}
        log_in(home)
        if is_native:
            host, certificate = tls_front(int(base.rpartition(':')[2]), folder)
            urllib.request.urlopen(f'{base}/backend-api/__origin/{host}').read()
            lines = f'chatgpt_base_url = "https://{host}/backend-api"'
            env = {'SSL_CERT_FILE': certificate, 'CODEX_CA_CERTIFICATE': certificate,
                   'NO_PROXY': 'localhost,127.0.0.1', 'no_proxy': 'localhost,127.0.0.1'}
        else:
            lines = f'''model_provider = "weir"
[model_providers.weir]
name = "weir"
base_url = "{base}/backend-api/codex"
wire_api = "responses"
requires_openai_auth = true'''
        with open(os.path.join(home, 'config.toml'), 'w', encoding='ascii') as file:
            file.write(f'model = "gpt-5"\n{lines}\n{recall_server()}')
        return run([*codex_command(clients), '[turns 8] Look around.'], make_work(folder),
                   CODEX_HOME=home, **env)
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
            (f'codex {PACKAGES["@openai/codex"]}, WebSocket declined', codex('true')),
            (f'codex {PACKAGES["@openai/codex"]}, ChatGPT login', codex_chatgpt(False)),
            (f'codex {PACKAGES["@openai/codex"]}, ChatGPT login, zstd', codex_chatgpt(True))]
CLIENTS += [(f'opencode {PACKAGES["opencode-ai"]}, {api}, stream', opencode(package))
            for api, package in (('chat', '@ai-sdk/openai-compatible'),
                                 ('responses', '@ai-sdk/openai'),
                                 ('messages', '@ai-sdk/anthropic'))]
CLIENTS += [(f'pi {PACKAGES["@mariozechner/pi-coding-agent"]}, {api}, stream', pi(api))
            for api in ('openai-completions', 'openai-responses', 'anthropic-messages')]
CLIENTS += [(f'deepagents {PACKAGES["deepagents"]}, {api}', deepagents(api))
            for api in ('chat', 'responses')]


def serve(folder, upstream):
    base = f'http://127.0.0.1:{upstream.port}'
    return Weir(folder, config=f'''listen: 127.0.0.1:0
policy: auto
upstreams:
  openai: {{base_url: "{base}/v1"}}
  anthropic: {{base_url: "{base}/v1"}}
  chatgpt: {{base_url: "{base}/backend-api/codex"}}
''')


def judge(name, weir, upstream, code, output):
    """Prints a client's row; true: it is as it should be."""
    lines = [line for line in weir.log(9) if line['api'] != 'other']
    changed = sum(bool(line.get('changed')) for line in lines)
    saved = sum(line['body_bytes_saved'] for line in lines if line.get('changed'))
    before = sum(line['body_bytes_before'] for line in lines) or 1
    refused = upstream.stats()['refused']
    good = not code and 'Done after 8 results.' in output and not refused and changed > 0
    if 'zstd' in name:
        good = good and any(line['body_bytes_received'] < line['body_bytes_before'] // 2
                            for line in lines) and upstream.stats()['turn_states'] >= 7
    print(f'{name:45} {"done" if good else "FAILED":8} {len(lines):8} {changed:8} '
          f'{100 * saved // before:6} % {refused:8}', flush=True)
    if not good:
        print(output[-2000:])
    return good


def main():
    if not shutil.which('npm'):
        print('skipped: npm is not installed')
        return 77
    clients = os.path.abspath(sys.argv[1])
    absent = install(clients)
    passed = failed = 0
    print(f'{"client":45} {"loop":8} {"requests":>8} {"changed":>8} {"saved":>8} {"refused":>8}')
    with Folder() as folder:
        for name, play in CLIENTS:
            if not any(word in name for word in sys.argv[2:] or ['']):
                continue
            family = FAMILY if name.startswith('deepagents') else set(PACKAGES) - set(FAMILY)
            if why := next((absent[package] for package in family if package in absent), None):
                print(f'{name:45} skipped: {why}')
                continue
            upstream = Upstream(folder)
            weir = serve(folder, upstream)
            try:
                code, output = play(f'http://127.0.0.1:{weir.port}', clients, folder)
            except subprocess.TimeoutExpired:
                code, output = 1, 'it does not end'
            good = judge(name, weir, upstream, code, output)
            passed, failed = passed + good, failed + (not good)
            weir.stop()
            upstream.stop()
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

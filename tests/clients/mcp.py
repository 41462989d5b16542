#!/usr/bin/env python3
"""Official MCP clients against `weir mcp` and /mcp: both SDKs, both transports, both eras, and the
inspector.

    mcp.py CLIENTS_DIR    where the clients are or are to be installed (npm)

WEIR names the program. A session goes through the proxy first, so there is something to recall.
Prints one row a client.
"""
import json
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'upstream'))
from harness import Folder, Upstream  # noqa: E402
from sessions import chat_session, file_text, play, serve  # noqa: E402

PACKAGES = {'@modelcontextprotocol/sdk': '1.32', '@modelcontextprotocol/client': '2.3',
            '@modelcontextprotocol/inspector': '2.12'}
TIMEOUT_S = 120


def install(clients):
    missing = [f'{name}@{version}' for name, version in PACKAGES.items()
               if not os.path.exists(os.path.join(clients, 'node_modules', name))]
    if missing:
        os.makedirs(clients, exist_ok=True)
        subprocess.run(['npm', 'install', '--no-audit', '--no-fund', '--silent', *missing],
                       cwd=clients, check=True)


def run(command, clients):
    result = subprocess.run(command, cwd=clients, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL,
                            env={**os.environ, 'CLIENTS_DIR': clients}, capture_output=True,
                            text=True, check=False)
    return result.returncode, result.stdout, result.stderr


def fill(weir, upstream):
    play(weir, chat_session(4), {})
    sent = json.loads(upstream.last_body())['messages'][5]['content']
    return re.search(r'\[weir (wr_[0-9a-f]{20}): ', sent).group(1)


def judge_sdk(got):
    """What is not as it should be; empty: nothing."""
    whole = file_text(1)
    part = ''.join(whole.splitlines(keepends=True)[40:60])
    wanted = {'tools': ['weir_recall', 'weir_context', 'weir_steer'],
              'whole': {'text': whole, 'isError': False},
              'lines': {'text': part, 'isError': False}, 'unknown': {'code': -32602},
              'context': False, 'troubles': []}
    wrong = [name for name, value in wanted.items() if got.get(name) != value]
    missing = got['missing']
    if not missing['isError'] or 'never stored' not in missing['text']:
        wrong.append('missing')
    return wrong


def sdk(kind, transport, clients, handle, target):
    code, output, errors = run(['node', os.path.join(HERE, 'mcp.mjs'), kind, transport, handle,
                                *target], clients)
    if code:
        return '', [errors.strip()[:300]]
    got = json.loads(output)
    return got['version'], judge_sdk(got)


def inspect(clients, handle, target, *more):
    """The inspector's command line: its list of tools, and a recall by lines."""
    program = ['node', os.path.join(clients, 'node_modules', '@modelcontextprotocol', 'inspector',
                                    'clients', 'launcher', 'build', 'index.js'), '--cli', *more]
    code, output, errors = run([*program, *target, '--method', 'tools/list', '--strict'], clients)
    if code:
        return '', [(errors or output).strip()[:300]]
    wrong = []
    if [tool['name'] for tool in json.loads(output)['tools']] != [
            'weir_recall', 'weir_context', 'weir_steer']:
        wrong.append('tools')
    code, output, errors = run([*program, *target, '--method', 'tools/call', '--tool-name',
                                'weir_recall', '--tool-arg', f'handle={handle}', 'lines=41-60'],
                               clients)
    part = ''.join(file_text(1).splitlines(keepends=True)[40:60])
    if code or json.loads(output)['content'][0]['text'] != part:
        wrong.append('recall ' + errors.strip()[:200])
    return '', wrong


def main():
    if not shutil.which('npm'):
        print('skipped: npm is not installed')
        return 77
    clients = os.path.abspath(sys.argv[1])
    install(clients)
    passed = failed = 0
    program = os.path.abspath(os.environ.get('WEIR', 'build/weir'))
    print(f'{"client":50} {"transport":10} {"protocol":12} result')
    with Folder() as folder:
        upstream = Upstream(folder)
        weir = serve(folder, upstream)
        handle = fill(weir, upstream)
        targets = {'stdio': [program, 'mcp', '--store', weir.store],
                   'http': [f'http://127.0.0.1:{weir.port}/mcp']}
        for transport, target in targets.items():
            rows = [('@modelcontextprotocol/sdk 1.32', sdk, 'sdk', transport, clients, handle,
                     target)]
            rows += [(f'@modelcontextprotocol/client 2.3, {kind}', sdk, kind, transport, clients,
                      handle, target) for kind in ('legacy', 'auto', 'modern')]
            rows.append(('@modelcontextprotocol/inspector 2.12 --cli', inspect, clients, handle,
                         target))
            for name, call, *arguments in rows:
                version, wrong = call(*arguments)
                print(f'{name:50} {transport:10} {version:12} {"; ".join(wrong) or "ok"}')
                passed, failed = passed + (not wrong), failed + bool(wrong)
        weir.stop()
        upstream.stop()
    print(f'{passed} passed, {failed} failed')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

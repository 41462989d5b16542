"""What `weir doctor` finds, on loopback alone."""
import json
import os
import subprocess
import time

from harness import Folder, Upstream, Weir

WEIR = os.path.abspath(os.environ.get('WEIR', 'build/weir'))


def examine(store, *words, **env):
    result = subprocess.run([WEIR, 'doctor', '--json', '--store', store, *words], check=False,
                            env={**os.environ, **env}, capture_output=True, text=True, timeout=60)
    levels = {}
    page = json.loads(result.stdout)
    for finding in page['findings']:
        levels.setdefault(finding['name'], []).append(
            (finding['level'], finding['text'] + '; ' + finding['advice']))
    ok_page = page['ok'] == (result.returncode == 0)
    return result.returncode if ok_page else 'ok and exit status differ', levels


def doctor_cases(ok):
    with Folder() as folder:
        upstream = Upstream(folder)
        url = f'http://127.0.0.1:{upstream.port}/v1'
        store = os.path.join(folder, 'store')
        code, found = examine(store, '--upstream', url)
        ok('a machine without a store is well', code, 0)
        ok('no store was made by looking', os.path.exists(store), False)
        ok('an upstream that answers', (found['upstream'][0][0], ' without a key' in
                                        found['upstream'][0][1]), ('ok', True))
        code, found = examine(store, '--upstream', 'http://127.0.0.1:9/v1')
        ok('one that does not: exit 1', (code, found['upstream'][0][0]), (1, 'fail'))
        code, found = examine(store, '--offline')
        ok('--offline asks nobody', (code, 'not asked' in found['upstream'][0][1]), (0, True))
        config = os.path.join(folder, 'weir.yaml')
        with open(config, 'w', encoding='ascii') as file:
            file.write(f'upstreams:\n  a: {{base_url: "{url}"}}\n'
                       f'  b: {{base_url: "http://127.0.0.1:9"}}\n')
        code, found = examine(store, '--config', config)
        ok('of a configuration those it names are asked',
           [level for level, _ in found['upstream']], ['ok', 'fail'])

        os.mkdir(store, 0o700)
        weir = Weir(folder, '--upstream', url, store=store)
        code, found = examine(store, '--offline')
        ok('the server is found', (code, f'process {weir.process.pid} on 127.0.0.1:{weir.port}' in
                                   found['server'][0][1]), (0, True))
        weir.stop()
        code, found = examine(store, '--offline')
        ok('the store is read', 'originals' in found['store'][0][1])
        os.chmod(store, 0o755)
        code, found = examine(store, '--offline')
        ok('a store that others can read is a warning', (code, found['permissions'][0][0]),
           (0, 'warn'))
        os.chmod(store, 0o700)
        later = time.time() + 3600
        os.utime(os.path.join(store, 'store.db'), (later, later))
        code, found = examine(store, '--offline')
        ok('a file from the future is a warning', found['clock'][0][0], 'warn')
        with open(os.path.join(store, 'store.db'), 'r+b') as file:
            file.write(b'no database at all')
        code, found = examine(store, '--offline')
        ok('a store that is none: exit 1 and what to do',
           (code, found['store'][0][0], 'names another' in found['store'][0][1]),
           (1, 'fail', True))
        code, found = examine(os.path.join(folder, 'none'), '--offline', PATH='/nowhere')
        ok('no agent is a warning', (code, found['agent'][0][0]), (0, 'warn'))
        os.mkdir(os.path.join(folder, 'bin'))
        program = os.path.join(folder, 'bin', 'codex')
        with open(program, 'w', encoding='ascii') as file:
            file.write('#!/bin/sh\necho "codex-cli 1.2.3"\n')
        os.chmod(program, 0o755)
        code, found = examine(os.path.join(folder, 'none'), '--offline',
                              PATH=os.path.dirname(program))
        ok('an agent and its version', 'codex-cli 1.2.3' in found['agent'][0][1])
        upstream.stop()

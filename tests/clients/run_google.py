#!/usr/bin/env python3
"""Google's clients in tool loops, each directly and through the proxy, against the strict upstream.

    run_google.py CLIENTS_DIR [NAME...]    where the clients are or are to be installed (npm, pip)

WEIR names the program; its policy is `auto`, for gemini-cli `lean`: eight reads of source files
are not enough for `auto` to take one out. Both ways must end in the same words. Prints a row a
client: how many of its requests were sent on changed, what that saved, how many the upstream
refused. gemini-cli then asks for lines of what was left out, by `weir mcp`: they must come back.
Last it runs under `weir run`, which cannot register a tool with it: there the proxy's own recall
brings them.
"""
import json
import os
import shutil
import subprocess
import sys

import run as clients_run
import run_agents
from run_agents import LINES, has_lines

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'upstream'))
from harness import Folder, Upstream, Weir  # noqa: E402

CHECK = run_agents.CHECK
ok = CHECK.ok
HERE = os.path.dirname(os.path.abspath(__file__))
WEIR = os.path.abspath(os.environ.get('WEIR', 'build/weir'))
NPM = {'@google/genai': '2', '@google/gemini-cli': '0'}
PYTHON = ('google-genai', 'google-adk')


def python_of(clients):
    """A Python that has the packages; they are installed where they are not there."""
    place = os.path.join(clients, 'python-google')
    python = os.path.join(place, 'bin', 'python')
    if not os.path.exists(os.path.join(place, 'installed')):
        subprocess.run([sys.executable, '-m', 'venv', place], check=True)
        subprocess.run([python, '-m', 'pip', 'install', '--quiet', *PYTHON], check=True)
        open(os.path.join(place, 'installed'), 'w', encoding='ascii').close()
    return python


def genai(how):
    def play(base, clients, folder, _store):
        return clients_run.run(['node', os.path.join(HERE, 'genai.mjs'), base, how], folder,
                               CLIENTS_DIR=clients)
    return play


def python(program, *words):
    def play(base, clients, folder, _store):
        return clients_run.run([python_of(clients), os.path.join(HERE, program), base, *words],
                               folder, GOOGLE_GEMINI_BASE_URL=base, GOOGLE_API_KEY='k')
    return play


SETTINGS = {'security': {'auth': {'selectedType': 'gemini-api-key'}},
            'general': {'enableAutoUpdate': False},
            'privacy': {'usageStatisticsEnabled': False}, 'telemetry': {'enabled': False}}


def under_run(home, url):
    """For run_agents.play: what to run, and with which variables."""
    clients_run.write_json(SETTINGS, home, '.gemini', 'settings.json')
    work = os.path.join(os.path.dirname(home), 'work')
    return (['gemini', '--yolo', '--skip-trust', '-m', 'gemini-2.5-flash', '-p',
             f'[in {work}] {run_agents.PROMPT}'],
            {'GEMINI_API_KEY': 'k', 'GOOGLE_GEMINI_BASE_URL': url,
             'GEMINI_CLI_NO_RELAUNCH': 'true'})


def by_vertex(home, url):
    """The same with a key for Vertex, which names no project."""
    command, env = under_run(home, url)
    vertex = {**SETTINGS, 'security': {'auth': {'selectedType': 'vertex-ai'}}}
    clients_run.write_json(vertex, home, '.gemini', 'settings.json')
    return command, {'GOOGLE_GENAI_USE_VERTEXAI': 'true', 'GOOGLE_API_KEY': 'k',
                     'GOOGLE_VERTEX_BASE_URL': url,
                     'GEMINI_CLI_NO_RELAUNCH': env['GEMINI_CLI_NO_RELAUNCH']}


def gemini_cli(base, clients, folder, store):
    home = os.path.join(folder, 'gemini-home')
    recall = {'command': WEIR, 'args': ['mcp', '--store', store], 'trust': True}
    clients_run.write_json({**SETTINGS, 'mcpServers': {'weir': recall}}, home, '.gemini',
                           'settings.json')
    work = clients_run.make_work(folder)
    prompt = f'[in {work}] [turns 8] [recall {LINES[0]}-{LINES[1]}] Look around.'
    program = os.path.join(clients, 'node_modules', '.bin', 'gemini')
    return clients_run.run([program, '--yolo', '--skip-trust', '-m', 'gemini-2.5-flash', '-p',
                            prompt], work, HOME=home, GEMINI_API_KEY='k',
                           GOOGLE_GEMINI_BASE_URL=base, GEMINI_CLI_NO_RELAUNCH='true')


CLIENTS = [('@google/genai, whole', genai('whole')), ('@google/genai, stream', genai('stream')),
           ('google-genai (Python), whole', python('genai_sdk.py', 'whole')),
           ('google-genai (Python), stream', python('genai_sdk.py', 'stream')),
           ('google-genai (Python), automatic', python('genai_sdk.py', 'automatic')),
           ('google-adk (Python)', python('adk.py')),
           ('gemini-cli', gemini_cli)]


def words_of(output):
    """The last words of the model."""
    return [line for line in output.splitlines() if 'Done after' in line][-1:]


def play(name, client, clients):
    with Folder() as folder:
        direct = Upstream(folder)
        code, plain = client(f'http://127.0.0.1:{direct.port}', clients, folder,
                             os.path.join(folder, 'none'))
        ok(f'{name}: directly it comes to its end', (code, len(words_of(plain))), (0, 1))
        if code or not words_of(plain):
            print(plain[-2500:])
        direct.stop()
        upstream = Upstream(folder)
        policy = 'lean' if name == 'gemini-cli' else 'auto'
        weir = Weir(folder, config=f'listen: 127.0.0.1:0\npolicy: {policy}\nupstreams:\n'
                    f'  gemini: {{base_url: "http://127.0.0.1:{upstream.port}"}}\n')
        code, output = client(f'http://127.0.0.1:{weir.port}', clients, folder, weir.store)
        lines = [line for line in weir.log(9) if line['api'] == 'gemini']
        changed = sum(bool(line.get('changed')) for line in lines)
        saved = sum(line['body_bytes_saved'] for line in lines if line.get('changed'))
        before = sum(line['body_bytes_before'] for line in lines) or 1
        refused = upstream.stats()['refused']
        print(f'{name:34} {len(lines):8} {changed:8} {100 * saved // before:6} % {refused:8}',
              flush=True)
        wanted = ['Done after 9 results.'] if name == 'gemini-cli' else words_of(plain)
        said = words_of(output)
        ok(f'{name}: through the proxy it says the same', (code, said), (0, wanted))
        if code or said != wanted:
            print(output[-2500:])
        ok(f'{name}: the upstream refuses nothing', refused, 0)
        ok(f'{name}: results were shortened', changed > 0)
        if name == 'gemini-cli':
            ok('gemini-cli: the lines came back, byte for byte, and no other',
               has_lines(WEIR, weir.store, upstream.last_body()), [False, True, False])
        weir.stop()
        upstream.stop()


def main():
    if not shutil.which('npm'):
        print('skipped: npm is not installed')
        return 77
    clients = os.path.abspath(sys.argv[1])
    clients_run.PACKAGES, clients_run.FAMILY = NPM, ()
    for name, why in clients_run.install(clients).items():
        ok(f'{name}: {why}', False)
    print(f'{"client":34} {"requests":>8} {"changed":>8} {"saved":>8} {"refused":>8}')
    for name, client in CLIENTS:
        if any(word in name for word in sys.argv[2:] or ['']):
            play(name, client, clients)
    for name, case in (('weir run -- gemini', under_run),
                       ('weir run -- gemini, Vertex', by_vertex)):
        if any(word in name for word in sys.argv[2:] or ['']):
            run_agents.play(name, case, '.gemini/settings.json', clients)
    return CHECK.end()


if __name__ == '__main__':
    sys.exit(main())

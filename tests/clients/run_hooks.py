#!/usr/bin/env python3
"""Real agents with `weir hook`, and no proxy, against the strict upstream.

    run_hooks.py CLIENTS_DIR [NAME...]    where the agents are or are to be installed (npm)

WEIR names the program. The settings are those that `weir hook AGENT --settings` prints. The
scripted model runs commands with long outputs and then asks `weir_recall` for lines of what was
left out first: these bytes must come back. Without `weir mcp` nothing may be taken out. Where an
agent has no way to take another result, its own is what the model must have got.
"""
import json
import os
import re
import shutil
import subprocess
import sys

import run as clients_run
import run_agents

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'upstream'))
from harness import Checks, Folder, Upstream  # noqa: E402

CHECK = Checks()
ok = CHECK.ok
LINES = run_agents.LINES
WEIR = os.path.abspath(os.environ.get('WEIR', 'build/weir'))
TIMEOUT_S = 120
PACKAGES = {'@anthropic-ai/claude-code': '2.1', 'opencode-ai': '1.18', '@openai/codex': '0.169'}
TURNS = 4
PROMPT = f'[turns {TURNS}] [tool TOOL] [recall {LINES[0]}-{LINES[1]}] Look around.'
write = run_agents.write


def settings(agent, store, *more):
    """What a user is told to put into the settings."""
    return subprocess.run([WEIR, 'hook', agent, '--settings', '--store', store, *more], check=True,
                          capture_output=True, text=True).stdout


def claude(folder, url, store, has_recall):
    told = json.loads(settings('claude', store))
    told['permissions']['allow'].append('Bash(cat:*)')
    write(json.dumps(told), folder, 'home', '.claude', 'settings.json')
    servers = {'weir': {'command': WEIR, 'args': ['mcp', '--store', store]}} if has_recall else {}
    write(json.dumps({'mcpServers': servers, 'hasCompletedOnboarding': True}), folder, 'home',
          '.claude.json')
    return (['claude', '-p', '--model', 'claude-sonnet-4-5', PROMPT.replace('TOOL', 'Bash')],
            {'ANTHROPIC_API_KEY': 'k', 'ANTHROPIC_BASE_URL': url, 'MAX_THINKING_TOKENS': '0',
             **run_agents.CLAUDE_QUIET})


def opencode(folder, url, store, has_recall):
    write(settings('opencode', store), folder, 'home', '.config', 'opencode', 'plugins', 'weir.js')
    server = {'type': 'local', 'command': [WEIR, 'mcp', '--store', store], 'enabled': True}
    write(json.dumps({'$schema': 'https://opencode.ai/config.json', 'autoupdate': False,
                      'mcp': {'weir': server} if has_recall else {}}),
          folder, 'home', '.config', 'opencode', 'opencode.json')
    return (['opencode', 'run', '-m', 'openai/gpt-5', PROMPT.replace('TOOL', 'bash')],
            {'OPENAI_API_KEY': 'k', 'OPENAI_BASE_URL': url + '/v1'})


AGENTS = {'claude': claude, 'opencode': opencode}


def start(clients, folder, command, env):
    path = os.path.join(clients, 'node_modules', '.bin') + ':' + os.environ['PATH']
    nowhere = {v: 'http://127.0.0.1:9' for v in ('HTTPS_PROXY', 'https_proxy')}
    work = os.path.join(folder, 'work')
    return subprocess.run(
        command, cwd=work, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        timeout=TIMEOUT_S, env={'PATH': path, 'HOME': os.path.join(folder, 'home'), 'PWD': work,
                                'TERM': 'dumb', 'NO_PROXY': '127.0.0.1', **nowhere, **env})


def play(name, clients, has_recall):
    with Folder() as folder:
        clients_run.make_work(folder)
        upstream = Upstream(folder)
        store, url = os.path.join(folder, 'store'), f'http://127.0.0.1:{upstream.port}'
        command, env = AGENTS[name](folder, url, store, has_recall)
        result = start(clients, folder, command, env)
        words = f'Done after {TURNS + has_recall} results.'
        good = result.returncode == 0 and words in result.stdout
        case = f'{name}, {"with" if has_recall else "without"} weir mcp'
        ok(f'{case}: the loop comes to its end', good)
        if not good:
            print(result.stdout[-1500:], result.stderr[-3000:])
        body = upstream.last_body()
        results = run_agents.results_of(json.loads(body))
        ok(f'{case}: the upstream refuses nothing', upstream.stats()['refused'], 0)
        condensed = [text for text in results if re.search(r'\[weir wr_[0-9a-f]{20}: ', text)]
        ok(f'{case}: so many results are short', len(condensed), TURNS if has_recall else 0)
        if has_recall:
            ok(f'{case}: the lines came back, byte for byte, and no other',
               run_agents.has_lines(WEIR, store, body), [False, True, False])
            report = subprocess.run([WEIR, 'report', '--store', store, '--json'],
                                    capture_output=True, check=True).stdout
            said = json.loads(report)['all']
            print(f'{case}: {said["hook_results"]} results, {said["hook_tokens_before"]} tokens to '
                  f'{said["hook_tokens_after"]}')
            ok(f'{case}: the report counts them', said['hook_results'], TURNS)
        upstream.stop()


def main():
    if not shutil.which('npm'):
        print('skipped: npm is not installed')
        return 77
    clients = os.path.abspath(sys.argv[1])
    clients_run.PACKAGES = PACKAGES
    clients_run.install(clients)
    for name in AGENTS:
        if name in (sys.argv[2:] or AGENTS):
            play(name, clients, True)
            play(name, clients, False)
    return CHECK.end()


if __name__ == '__main__':
    sys.exit(main())

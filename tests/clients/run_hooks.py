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


LONG_SERVER = '''
import json, sys
SCHEMA = {'type': 'object', 'properties': {'path': {'type': 'string'}}}
RESULTS = {'tools/list': {'tools': [{'name': 'page_log', 'description': 'x',
                                     'inputSchema': SCHEMA}]},
           'tools/call': {'content': [{'type': 'text', 'text': @TEXT@}]}}
for line in sys.stdin:
    message = json.loads(line)
    if 'id' not in message:
        continue
    result = RESULTS.get(message['method'], {})
    if message['method'] == 'initialize':
        result = {'protocolVersion': message['params']['protocolVersion'],
                  'capabilities': {'tools': {}}, 'serverInfo': {'name': 'long', 'version': '1'}}
    print(json.dumps({'jsonrpc': '2.0', 'id': message['id'], 'result': result}), flush=True)
'''


def settings(agent, store, *more):
    """What a user is told to put into the settings."""
    return subprocess.run([WEIR, 'hook', agent, '--settings', '--store', store, *more], check=True,
                          capture_output=True, text=True).stdout


def long_server(folder):
    """An MCP server whose one tool, page_log, prints what `cat logs/run_0.log` does."""
    path = os.path.join(folder, 'long_server.py')
    with open(os.path.join(folder, 'work', 'logs', 'run_0.log'), encoding='ascii') as file:
        write(LONG_SERVER.replace('@TEXT@', repr(file.read())), path)
    return [sys.executable, path]


# Each puts what the user is told into a home, and gives the call and the variables it needs.

def claude(folder, url, store, has_recall, tool):
    told = json.loads(settings('claude', store))
    told['permissions']['allow'] += ['Bash(cat:*)', 'mcp__long__page_log']
    write(json.dumps(told), folder, 'home', '.claude', 'settings.json')
    program, *words = long_server(folder)
    servers = {'long': {'command': program, 'args': words}}
    if has_recall:
        servers['weir'] = {'command': WEIR, 'args': ['mcp', '--store', store]}
    write(json.dumps({'mcpServers': servers, 'hasCompletedOnboarding': True}), folder, 'home',
          '.claude.json')
    return (['claude', '-p', '--model', 'claude-sonnet-4-5', PROMPT.replace('TOOL', tool)],
            {'ANTHROPIC_API_KEY': 'k', 'ANTHROPIC_BASE_URL': url, 'MAX_THINKING_TOKENS': '0',
             **run_agents.CLAUDE_QUIET})


def opencode(folder, url, store, has_recall, tool):
    write(settings('opencode', store), folder, 'home', '.config', 'opencode', 'plugins', 'weir.js')
    servers = {'long': {'type': 'local', 'command': long_server(folder), 'enabled': True}}
    if has_recall:
        servers['weir'] = {'type': 'local', 'command': [WEIR, 'mcp', '--store', store],
                           'enabled': True}
    write(json.dumps({'$schema': 'https://opencode.ai/config.json', 'autoupdate': False,
                      'mcp': servers}), folder, 'home', '.config', 'opencode', 'opencode.json')
    return (['opencode', 'run', '-m', 'openai/gpt-5', PROMPT.replace('TOOL', tool)],
            {'OPENAI_API_KEY': 'k', 'OPENAI_BASE_URL': url + '/v1',
             'npm_config_fetch_retries': '0'})  # for what it wants to install beside a plugin


def codex(folder, url, command):
    """A hook of Codex's, whatever it calls."""
    write(f'model = "gpt-5"\nmodel_provider = "mine"\n[model_providers.mine]\nname = "mine"\n'
          f'base_url = "{url}/v1"\nwire_api = "responses"\nenv_key = "MY_KEY"\n', folder, 'home',
          '.codex', 'config.toml')
    hook = {'type': 'command', 'command': command, 'timeout': 10}
    write(json.dumps({'hooks': {'PostToolUse': [{'matcher': '.*', 'hooks': [hook]}]}}), folder,
          'home', '.codex', 'hooks.json')
    return (['codex', 'exec', '--skip-git-repo-check', '--json', '--dangerously-bypass-hook-trust',
             PROMPT], {'MY_KEY': 'k'})


# Which tool is called, and how many of its results must be short: of Claude Code's Read none, and
# of a file that is read again (`page_log` is not) none either.
CASES = [('claude', claude, 'Bash', TURNS), ('claude', claude, 'mcp__long__page_log', TURNS),
         ('claude', claude, 'Read', 0), ('opencode', opencode, 'bash', TURNS),
         ('opencode', opencode, 'read', TURNS), ('opencode', opencode, 'long_page_log', TURNS)]


def start(clients, folder, command, env):
    path = os.path.join(clients, 'node_modules', '.bin') + ':' + os.environ['PATH']
    nowhere = {v: 'http://127.0.0.1:9' for v in ('HTTPS_PROXY', 'https_proxy')}
    work = os.path.join(folder, 'work')
    return subprocess.run(
        command, cwd=work, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
        timeout=TIMEOUT_S, env={'PATH': path, 'HOME': os.path.join(folder, 'home'), 'PWD': work,
                                'TERM': 'dumb', 'NO_PROXY': '127.0.0.1', **nowhere, **env})


def play(case, clients, has_recall):
    name, make, tool, short_count = case
    with Folder() as folder:
        clients_run.make_work(folder)
        upstream = Upstream(folder)
        store, url = os.path.join(folder, 'store'), f'http://127.0.0.1:{upstream.port}'
        result = start(clients, folder, *make(folder, url, store, has_recall, tool))
        has_recalled = has_recall and short_count > 0
        words = f'Done after {TURNS + has_recalled} results.'
        good = result.returncode == 0 and words in result.stdout
        case = f'{name}, {tool}, {"with" if has_recall else "without"} weir mcp'
        ok(f'{case}: the loop comes to its end', good)
        if not good:
            print(result.stdout[-1500:], result.stderr[-3000:])
        body = upstream.last_body()
        ok(f'{case}: the upstream refuses nothing', upstream.stats()['refused'], 0)
        ok(f'{case}: so many results are short',
           sum(map(is_short, run_agents.results_of(json.loads(body)))),
           short_count if has_recall else 0)
        if has_recalled:
            ok(f'{case}: the lines came back, byte for byte, and no other',
               run_agents.has_lines(WEIR, store, body), [False, True, False])
            report = subprocess.run([WEIR, 'report', '--store', store, '--json'],
                                    capture_output=True, check=True).stdout
            said = json.loads(report)['all']
            print(f'{case}: {said["hook_results"]} results, {said["hook_tokens_before"]} tokens to '
                  f'{said["hook_tokens_after"]}')
            ok(f'{case}: the report counts them', said['hook_results'], TURNS)
        upstream.stop()


def is_short(text):
    return bool(re.search(r'\[weir wr_[0-9a-f]{20}: ', text))


def codex_facts(clients):
    """Why `weir hook codex` leaves all whole. Where the first of these fails, a version has come
    that takes another result: give it a row in src/hook/hook.c."""
    updated = {'hookSpecificOutput': {'hookEventName': 'PostToolUse', 'updatedToolOutput': 'SHORT'}}
    rejected = {'decision': 'block', 'reason': 'SHORT'}
    for sentence, answer, is_taken in [('ignores updatedToolOutput', updated, False),
                                       ('takes the reason of a rejection', rejected, True)]:
        with Folder() as folder:
            clients_run.make_work(folder)
            upstream = Upstream(folder)
            write(f"#!/bin/sh\ncat >/dev/null\ntouch {folder}/ran\necho '{json.dumps(answer)}'\n",
                  folder, 'hook')
            os.chmod(os.path.join(folder, 'hook'), 0o755)
            start(clients, folder, *codex(folder, f'http://127.0.0.1:{upstream.port}',
                                          os.path.join(folder, 'hook')))
            texts = run_agents.results_of(json.loads(upstream.last_body()))
            ok(f'codex: {sentence}', (os.path.exists(os.path.join(folder, 'ran')), len(texts),
                                      [t == 'SHORT' for t in texts]),
               (True, TURNS, [is_taken] * TURNS))
            ok(f'codex: {sentence}: the exit code',
               all('exited with code 0' in t for t in texts), not is_taken)
            upstream.stop()


def main():
    if not shutil.which('npm'):
        print('skipped: npm is not installed')
        return 77
    clients = os.path.abspath(sys.argv[1])
    clients_run.PACKAGES = PACKAGES
    clients_run.install(clients)
    wanted = sys.argv[2:] or ['claude', 'opencode', 'codex']
    for case in CASES:
        if case[0] in wanted:
            play(case, clients, True)
            play(case, clients, False)
    if 'codex' in wanted:
        codex_facts(clients)
    return CHECK.end()


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
"""Real SDKs and frameworks with the adapters, beside the same without, against the strict upstream.

    play_frameworks.py FOLDER [WORD...]   where packages are or are to be installed (pip, npm); only
                                          rows that have one of the words

WEIR_LIBRARY and PYTHONPATH name library and package of Python, WEIR_PACKAGE (and WEIR_ADDON) those
of Node. The scripted model reads eight files, recalls lines of what was taken out first, three
times, and is asked something more. Of a row it is asked that it comes to the end that it has
without Weir, by the same calls of the agent's own tool; that the upstream refused nothing and got
less; and that every line that was recalled came back as it was.
"""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'upstream'))
sys.path.insert(0, os.path.join(HERE, '..', 'clients'))
sys.dont_write_bytecode = True
# The harness forgets what names a Weir of the user's own.
NAMED = {name: os.environ[name] for name in ('WEIR_LIBRARY', 'WEIR_PACKAGE', 'WEIR_ADDON')
         if name in os.environ}
from harness import Folder, Upstream, whole_lines  # noqa: E402

TASK = ('[turns 8] [tool run_query] [apart] [aloud] [recall 40-60 at 4] '
        '[recall 70-80 at 6 beside] [recall 90-95] Look around.')
END = 'Done after 8 results.'
TIMEOUT_S = 600
PYTHON = {'venv': ['openai', 'anthropic', 'openai-agents==0.24.*', 'deepagents',
                   'pydantic-ai-slim[openai,anthropic]==2.66.*', 'langchain==1.4.*',
                   'langchain-openai', 'langchain-anthropic'],
          'venv-litellm': ['litellm==1.100.0']}
NODE = ['ai@7.0', '@ai-sdk/openai@4.0', '@ai-sdk/anthropic@4.0', '@openai/agents', 'openai',
        '@anthropic-ai/sdk', 'zod']
ROWS = [(f'{name}, {case}', 'venv', program, case, more) for name, program, cases, more in (
    ('openai and anthropic for Python, wrap()', 'sdk.py',
     ('chat-whole', 'chat-stream', 'responses-whole', 'messages-whole', 'messages-stream'), ()),
    ('OpenAI Agents SDK for Python', 'agents_sdk.py',
     ('chat-whole', 'responses-whole', 'responses-stream'), ()),
    ('LangChain middleware', 'langchain_agent.py',
     ('chat-whole', 'chat-stream', 'messages-whole'), ()),
    ('deepagents middleware', 'langchain_agent.py', ('chat-whole',), ('deep',)),
    ('pydantic-ai', 'pydantic_agent.py', ('chat-whole', 'messages-whole'), ())) for case in cases]
ROWS += [('LiteLLM callback, chat-whole', 'venv-litellm', 'litellm_sdk.py', 'chat-whole', ())]
ROWS += [(f'{name}, {case}', 'node', program, case, ()) for name, program, cases in (
    ('openai and anthropic for Node, wrap()', 'sdk.mjs', ('chat-whole', 'messages-whole')),
    ('Vercel AI SDK', 'vercel.mjs', ('chat-whole', 'chat-stream', 'messages-whole')),
    ('OpenAI Agents SDK for JS', 'agents.mjs', ('chat-whole', 'responses-whole')))
    for case in cases]


def install(folder):
    """{kind: why its rows are skipped}"""
    skipped = {}
    os.makedirs(folder, exist_ok=True)
    for name, packages in PYTHON.items():
        place = os.path.join(folder, name)
        if os.path.exists(os.path.join(place, 'done')):
            continue
        # uv finds versions that fit together in seconds, where pip may take a quarter of an hour.
        pip, uv, python = (os.path.join(place, 'bin', tool) for tool in ('pip', 'uv', 'python'))
        if any(subprocess.call(command) for command in (
                [sys.executable, '-m', 'venv', place], [pip, 'install', '-q', 'uv'],
                [uv, 'pip', 'install', '-q', '--python', python, *packages])):
            skipped[name] = 'its packages cannot be had by pip'
        else:
            open(os.path.join(place, 'done'), 'w', encoding='ascii').close()
    if not NAMED.get('WEIR_PACKAGE'):
        skipped['node'] = 'WEIR_PACKAGE is not set'
    elif not os.path.exists(os.path.join(folder, 'node_modules', 'done')):
        with open(os.path.join(folder, 'package.json'), 'w', encoding='ascii') as file:
            file.write('{}')
        try:
            subprocess.check_call(['npm', 'install', '--silent', '--no-audit', '--no-fund',
                                   *NODE], cwd=folder)
            open(os.path.join(folder, 'node_modules', 'done'), 'w', encoding='ascii').close()
        except (OSError, subprocess.CalledProcessError):
            skipped['node'] = 'its packages cannot be had by npm'
    return skipped


def play(folder, clients, row, mode):
    """(last line, what went wrong, requests as the upstream got them, how many it refused)"""
    _, kind, program, case, more = row
    record = os.path.join(folder, f'{mode}.jsonl')
    upstream = Upstream(folder, '--record', record)
    command = (['node'] if kind == 'node' else [os.path.join(clients, kind, 'bin', 'python')])
    try:
        done = subprocess.run(
            [*command, os.path.join(HERE, 'frameworks', program),
             f'http://127.0.0.1:{upstream.port}', case, mode, *more],
            env={**os.environ, **NAMED, 'TASK': TASK, 'TASK_AFTER': 'And now?', 'TOOL': 'run_query',
                 'RECALL': 'none', 'CLIENTS_DIR': clients, 'PYTHONDONTWRITEBYTECODE': '1',
                 'OPENAI_AGENTS_DISABLE_TRACING': '1', 'LANGSMITH_TRACING': 'false',
                 'LITELLM_LOCAL_MODEL_COST_MAP': 'True', 'HOME': folder},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT_S)
        refused = upstream.stats()['refused']
    finally:
        upstream.stop()
    requests = [line['body'] for line in whole_lines(record)]
    lines = done.stdout.strip().splitlines()
    return (lines[-1] if lines else ''), done.stderr[-1500:], requests, refused


def calls_of(requests):
    """The files that the agent's own tool was called for, by all requests: folded later or not."""
    return sorted({path for body in requests for path in re.findall(r'file_\d+\.py', body)})


def judge(direct, with_weir):
    """What is not so; (bytes, bytes, lines recalled)"""
    problems = []
    for mode, (last, errors, _, refused) in (('direct', direct), ('weir', with_weir)):
        if last != END:
            problems.append(f'{mode}: ended with {last!r}: {errors}')
        if refused:
            problems.append(f'{mode}: the upstream refused {refused} requests')
    before, after = (sum(len(body) for body in run[2]) for run in (direct, with_weir))
    if problems:
        return problems, (before, after, 0)
    if calls_of(with_weir[2]) != calls_of(direct[2]) or not calls_of(direct[2]):
        problems.append(f'it called for {calls_of(with_weir[2])}, not {calls_of(direct[2])}')
    # Lines 40 to 60 of a file are functions 10 to 15; they came back into a later request.
    recalled = sum('function_0_12' in body and 'weir_recall' in body for body in with_weir[2])
    if not any(re.search(r'def function_\d+_1[0-5]\b', body) and 'weir_recall' in body
               for body in with_weir[2]):
        problems.append('nothing was recalled')
    if after >= before:
        problems.append('nothing was saved')
    return problems, (before, after, recalled)


def main():
    clients, words = os.path.abspath(sys.argv[1]), sys.argv[2:]
    skipped, failed, played = install(clients), 0, 0
    for row in ROWS:
        if words and not any(word in row[0] for word in words):
            continue
        if row[1] in skipped:
            print(f'SKIPPED  {row[0]}: {skipped[row[1]]}')
            continue
        with Folder() as folder:
            problems, (before, after, _) = judge(play(folder, clients, row, 'direct'),
                                                 play(folder, clients, row, 'weir'))
        played += 1
        failed += bool(problems)
        saved = 100 * (1 - after / before) if before else 0
        print(f'{"FAILED " if problems else "ok     "}  {row[0]:<58} {saved:5.1f} % saved '
              f'({before:,} -> {after:,} bytes)', flush=True)
        for problem in problems:
            print('         ' + problem)
    print(f'{played} rows played, {failed} failed, {len(skipped)} kinds skipped')
    return 1 if failed else 0


sys.exit(main())

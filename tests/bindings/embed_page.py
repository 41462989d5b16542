#!/usr/bin/env python3
"""Runs the task of docs/embed.md in C, C++, Python and TypeScript: all print the same. And what the
page says of each framework in one line is what play_frameworks.py plays.

    embed_page.py BUILD      WEIR_ADDON names Node's addon; without it TypeScript is skipped

The TypeScript is run by Node without its one type assertion.
"""
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), '..', '..'))
BUILD = os.path.join(ROOT, sys.argv[1])
REQUEST = os.path.join(ROOT, 'examples', 'session.json')
LIBRARY = os.path.join(BUILD, 'libweir.so')


def blocks():
    with open(os.path.join(ROOT, 'docs', 'embed.md'), encoding='utf-8') as file:
        page = file.read()
    page = page[page.index('## The same task in four languages'):page.index('## Python and Node')]
    return dict(re.findall(r'^```(\w+)\n(.*?)^```', page, re.M | re.S))


def compiled(compiler, standard, source, program):
    subprocess.check_call([compiler, f'-std={standard}', '-Wall', '-Wextra', '-Werror',
                           '-I' + os.path.join(ROOT, 'include'), source, LIBRARY,
                           '-Wl,-rpath,' + BUILD, '-o', program])
    return [program]


def commands(folder, found):
    for language, ending in (('c', 'c'), ('cpp', 'cpp'), ('python', 'py'), ('ts', 'mjs')):
        path = os.path.join(folder, 'task.' + ending)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(found[language].replace('/)!;', '/);'))
        if language == 'c':
            yield language, compiled('clang', 'c11', path, os.path.join(folder, 'task-c'))
        elif language == 'cpp':
            yield language, compiled('clang++', 'c++17', path, os.path.join(folder, 'task-cpp'))
        elif language == 'python':
            yield language, [sys.executable, path]
        elif os.environ.get('WEIR_ADDON'):
            os.makedirs(os.path.join(folder, 'node_modules'))
            os.symlink(os.path.join(ROOT, 'bindings', 'node'),
                       os.path.join(folder, 'node_modules', 'weir-context'))
            yield language, ['node', path]
        else:
            print('SKIPPED in part: the TypeScript of docs/embed.md, without WEIR_ADDON')


# A word of each row of the table, and the program in frameworks/ that plays it.
PLAYED = {'OpenAI and Anthropic SDK, Python': 'sdk.py',
          'LangChain, deepagents': 'langchain_agent.py',
          'OpenAI Agents SDK, Python': 'agents_sdk.py', 'pydantic-ai': 'pydantic_agent.py',
          'LiteLLM': 'litellm_sdk.py', 'OpenAI and Anthropic SDK, Node': 'sdk.mjs',
          'Vercel AI SDK': 'vercel.mjs', 'OpenAI Agents SDK, JS': 'agents.mjs'}


def calls_of(code):
    """Names that are called, less those of the framework and of the page's own setting."""
    return {name for name in re.findall(r'\b(\w+)\(', code)
            if name not in ('create_agent', 'Agent', 'RunConfig', 'Runner', 'OpenAI')}


def check_table():
    with open(os.path.join(ROOT, 'docs', 'embed.md'), encoding='utf-8') as file:
        page = file.read()
    page = page[page.index('### SDKs and frameworks'):page.index('## Versions')]
    rows = re.findall(r'^\| ([^|`]+) \| (.*`.*) \|$', page, re.M)
    if {row for row, _ in rows} != set(PLAYED):
        sys.exit(f'not so: each row of the table is played: {[row for row, _ in rows]}')
    for row, text in rows:
        with open(os.path.join(ROOT, 'tests/bindings/frameworks', PLAYED[row]),
                  encoding='utf-8') as file:
            program = file.read()
        missing = {name for code in re.findall(r'`([^`]+)`', text) for name in calls_of(code)
                   if not re.search(rf'\b{name}\(', program)}
        missing |= {module for module in re.findall(r'`(weir\.frameworks\.\w+)`', text)
                    if module not in program}
        if missing:
            sys.exit(f'not so: {PLAYED[row]} uses what the page says of {row}: {missing}')
    print(f'docs/embed.md: {len(rows)} lines of frameworks as they are played')


def main():
    check_table()
    said = {}
    with tempfile.TemporaryDirectory() as folder:
        for language, command in commands(folder, blocks()):
            said[language] = subprocess.run(
                [*command, REQUEST], check=True, stdout=subprocess.PIPE, text=True,
                env={**os.environ, 'WEIR_LIBRARY': LIBRARY,
                     'PYTHONPATH': os.path.join(ROOT, 'bindings', 'python')}).stdout
    wanted = said['c']
    if not re.fullmatch(r'\d+ -> \d+ tokens\n(.*\n){2}', wanted):
        sys.exit(f'not so: the task prints tokens and two lines: {wanted!r}')
    for language, text in said.items():
        if text != wanted:
            sys.exit(f'not so: {language} prints what C does: {text!r}, not {wanted!r}')
    print(f'docs/embed.md: the same in {", ".join(said)}')


main()

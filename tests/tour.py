#!/usr/bin/env python3
"""Runs what a page shows: each `$` line of its console blocks, and compares what it prints.

    tour.py PAGE [--update]      WEIR names the program; --update writes what it prints there

Commands run one after the other in one empty folder that has `examples`, with `weir` on the PATH.
A page whose commands were run with --update must then be read: it says what the program did, not
what it should have done.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

BLOCK = re.compile(r'(```console\n)(.*?)(```\n)', re.S)


def commands_of(block):
    """(command, what it prints) of a block."""
    parts = re.split(r'^\$ (.*)\n', block, flags=re.M)
    return list(zip(parts[1::2], parts[2::2]))


def run(command, folder, env):
    done = subprocess.run(['bash', '-c', command], cwd=folder, env=env, text=True, check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=600)
    out = re.sub(r' +$', '', done.stdout, flags=re.M)
    return out if not out or out.endswith('\n') else out + '\n'


def play(page, folder, env, check):
    """The page with what its commands print now; `check` is told of each."""
    def replay(match):
        shown = ''
        for command, wanted in commands_of(match.group(2)):
            got = run(command, folder, env)
            check(command, got, wanted)
            shown += f'$ {command}\n{got}'
        return match.group(1) + shown + match.group(3)
    return BLOCK.sub(replay, page)


def main():
    path = sys.argv[1]
    program = os.path.abspath(os.environ.get('WEIR', 'build/weir'))
    counts = {True: 0, False: 0}

    def check(command, got, wanted):
        counts[got == wanted] += 1
        if got != wanted and '--update' not in sys.argv:
            print(f'FAILED: {path}: $ {command}\n  the page says:\n{wanted}\n  it prints:\n{got}')

    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, 'bin'))
        os.symlink(program, os.path.join(folder, 'bin', 'weir'))
        shutil.copytree('examples', os.path.join(folder, 'examples'))
        env = {**os.environ, 'HOME': folder, 'COLUMNS': '80',
               'PATH': os.path.join(folder, 'bin') + ':' + os.environ['PATH']}
        env.pop('XDG_DATA_HOME', None)
        with open(path, encoding='utf-8') as file:
            page = file.read()
        now = play(page, folder, env, check)
    if '--update' in sys.argv:
        with open(path, 'w', encoding='utf-8') as file:
            file.write(now)
        return 0
    print(f'{counts[True]} passed, {counts[False]} failed')
    return 1 if counts[False] or not counts[True] else 0


sys.exit(main())

#!/usr/bin/env python3
"""How often `weir condense --budget` comes out too long on outputs of real commands.

    tests/condense_budget.py WEIR TRACES [COUNT]

Takes COUNT (100) of the longer results in the sessions of TRACES (../shared/traces/normalized),
asks for a tenth of each, and compares with the budget and with what signals alone take (a budget
of one token). Prints both counts; exit 1 where a result is over a tenth too long for another
reason.
"""
import glob
import json
import os
import random
import subprocess
import sys

BYTES_MIN = 4000
TOKEN_BYTES = 4


def results(folder):
    for path in sorted(glob.glob(os.path.join(folder, '*.jsonl'))):
        calls = {}
        with open(path, encoding='utf-8') as file:
            messages = [json.loads(line) for line in file]
        for message in messages:
            for call in message.get('tool_calls') or []:
                calls[call['id']] = call['function']
            call = calls.get(message.get('tool_call_id'))
            text = message.get('content')
            if message['role'] == 'tool' and call and isinstance(text, str):
                data = text.encode('utf-8', 'replace')
                if len(data) >= BYTES_MIN:
                    yield call, data


def options(call):
    try:
        arguments = json.loads(call['arguments'])
    except ValueError:
        arguments = {}
    found = ['--tool', call['name']]
    for option, keys in (('--command', ('command', 'cmd')),
                         ('--path', ('file_path', 'path', 'filePath'))):
        value = next((arguments[key] for key in keys if arguments.get(key)), None)
        if isinstance(value, list):
            value = ' '.join(map(str, value))
        if isinstance(value, str):
            found += [option, value]
    return found


def condensed_bytes(weir, call, data, tokens):
    done = subprocess.run([weir, 'condense', '--budget', str(tokens), *options(call), '-'],
                          input=data, stdout=subprocess.PIPE, check=True)
    return len(done.stdout)


def main():
    weir, folder = sys.argv[1:3]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    found = list(results(folder))
    random.Random(5).shuffle(found)
    by_signals = over = 0
    for call, data in found[:count]:
        tokens = len(data) // (10 * TOKEN_BYTES)
        got = condensed_bytes(weir, call, data, tokens)
        if got <= tokens * TOKEN_BYTES * 1.1:
            continue
        least = condensed_bytes(weir, call, data, 1)
        by_signals += got <= least
        over += got > least
        if got > least:
            print(f'{call["name"]} {options(call)[-1][:60]!r}: {got} bytes of a budget of '
                  f'{tokens * TOKEN_BYTES}, signals alone {least}')
    print(f'{min(count, len(found))} outputs at a tenth: {by_signals} over because of their '
          f'signals, {over} for another reason')
    return 1 if over or not found else 0


sys.exit(main())

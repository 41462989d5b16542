#!/usr/bin/env python3
"""What Python and Node add to a call, beside C, in one run.

    bindings.py BENCH_CALL      the program of bench/bench_call.c; WEIR_LIBRARY and PYTHONPATH name
                                library and package of Python, WEIR_PACKAGE and WEIR_ADDON Node's

Each of the three makes some rounds of calls and says the best and the median round; they take
turns, three times, and the best of those counts: other work on the machine only makes a call
slower. The goal is at most 50 us over C at the median.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

GOAL_US = 50
TURNS, ROUNDS, CALLS = 3, 150, 20
NODE = """
const { Engine, Store } = require(process.env.WEIR_PACKAGE + '/lib/index.cjs');
const calls = %d;
async function measure(what, call) {
    const took = [];
    for (let i = 0; i < calls; i++) await call();
    for (let round = 0; round < %d; round++) {
        const start = process.hrtime.bigint();
        for (let i = 0; i < calls; i++) await call();
        took.push(Number(process.hrtime.bigint() - start) / calls / 1e3);
    }
    took.sort((a, b) => a - b);
    console.log(`${what}: ${took[0].toFixed(2)} ${took[took.length >> 1].toFixed(2)}`);
}
(async () => {
    const store = new Store(), engine = new Engine({ store });
    await measure('count', () => engine.count('What is a weir?'));
    for (const [i, path] of process.argv.slice(1).entries()) {
        const body = require('fs').readFileSync(path);
        await measure(`${i + 1}, exact`, () => engine.project(body));
        await measure(`${i + 1}, lean`,
            () => engine.project(body, { policy: 'lean', session: 's' }));
    }
})();
""" % (CALLS, ROUNDS)


def talk(calls, functions):
    """A request as an agent sends it after so many calls that read so many functions each."""
    messages = [{'role': 'user', 'content': 'go on'}]
    for i in range(calls):
        text = ''.join(f'def function_{i}_{n}(value):\n    return value + {n}\n'
                       for n in range(functions))
        messages += [{'role': 'assistant', 'content': None, 'tool_calls': [{
            'id': f'call_{i}', 'type': 'function',
            'function': {'name': 'run_query', 'arguments': '{"path":"%d"}' % i}}]},
            {'role': 'tool', 'tool_call_id': f'call_{i}', 'content': text}]
    return {'model': 'gpt-5', 'messages': messages, 'tools': [
        {'type': 'function', 'function': {'name': 'weir_recall'}}]}


def measure(what, call):
    took = []
    for _ in range(CALLS):
        call()
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        took.append((time.perf_counter() - start) / CALLS * 1e6)
    took.sort()
    print(f'{what}: {took[0]:.2f} {took[ROUNDS // 2]:.2f}')


def measure_python(paths):
    import weir
    store = weir.Store()
    engine = weir.Engine(store=store)
    measure('count', lambda: engine.count('What is a weir?'))
    for i, path in enumerate(paths, 1):
        with open(path, 'rb') as file:
            body = file.read()
        measure(f'{i}, exact', lambda: engine.project(body))
        measure(f'{i}, lean', lambda: engine.project(body, policy='lean', session='s'))


def figures(command):
    """{what: (best, median)}"""
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    rows = (line.rsplit(': ', 1) for line in said.splitlines())
    return {what: tuple(map(float, us.split())) for what, us in rows}


def main():
    if sys.argv[1] == '--python':
        return measure_python(sys.argv[2:])
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ('small.json', 'large.json')]
        for path, size in zip(paths, ((5, 40), (20, 200))):
            with open(path, 'w', encoding='ascii') as file:
                json.dump(talk(*size), file)
        sizes = [os.path.getsize(path) for path in paths]
        commands = {'C': [sys.argv[1], *paths],
                    'Python': [sys.executable, __file__, '--python', *paths],
                    'Node': ['node', '-e', NODE, *paths]}
        if not os.environ.get('WEIR_PACKAGE'):
            print('SKIPPED Node: WEIR_PACKAGE is not set')
            del commands['Node']
        best = {}
        for _ in range(TURNS):
            for name, command in commands.items():
                for what, (least, median) in figures(command).items():
                    key, so_far = (name, what), best.get((name, what), (least, median))
                    best[key] = min(least, so_far[0]), min(median, so_far[1])
    print(f'us a call over {TURNS} turns, best round and median round; requests of {sizes[0]:,} '
          f'and {sizes[1]:,} bytes')
    for what in (key[1] for key in list(best) if key[0] == 'C'):
        named = what.replace('1,', f'{sizes[0]:,} bytes,').replace('2,', f'{sizes[1]:,} bytes,') \
            if what[0].isdigit() else what
        own = best['C', what]
        row = f'{named:<21} C {own[0]:6.1f} {own[1]:6.1f}'
        for name in commands:
            if name != 'C':
                least, median = (a - b for a, b in zip(best[name, what], own))
                row += f'   {name} {least:+6.1f} {median:+6.1f}'
                row += ' OVER THE GOAL' if median > GOAL_US else ''
        print(row)
    return 0


sys.exit(main())

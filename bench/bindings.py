#!/usr/bin/env python3
"""What Python and Node add to a call, beside C, in one run.

    bindings.py BENCH_CALL      the program of bench/bench_call.c; WEIR_LIBRARY and PYTHONPATH name
                                library and package of Python, WEIR_PACKAGE and WEIR_ADDON Node's

Each figure is the best of several rounds; the three take turns, three times, and the best of those
counts: other work on the machine only makes a call slower. The goal is at most 50 us over C.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

GOAL_US = 50
TURNS, ROUNDS, CALLS, CALLS_LARGE = 3, 30, 200, 20
NODE = """
const { Engine, Store } = require(process.env.WEIR_PACKAGE + '/lib/index.cjs');
const body = require('fs').readFileSync(process.argv[1]);
async function measure(what, calls, call) {
    for (let i = 0; i < calls; i++) await call();
    let best = Infinity;
    for (let round = 0; round < %d; round++) {
        const start = process.hrtime.bigint();
        for (let i = 0; i < calls; i++) await call();
        best = Math.min(best, Number(process.hrtime.bigint() - start) / calls / 1e3);
    }
    console.log(`${what}: ${best.toFixed(2)} us a call`);
}
(async () => {
    const store = new Store(), engine = new Engine({ store });
    await measure('count', %d, () => engine.count('What is a weir?'));
    await measure('project, exact', %d, () => engine.project(body));
    await measure('project, lean', %d,
        () => engine.project(body, { policy: 'lean', session: 's' }));
})();
"""


def talk():
    """A request of some 200 KB, as an agent sends it after twenty calls."""
    messages = [{'role': 'user', 'content': 'go on'}]
    for i in range(20):
        text = ''.join(f'def function_{i}_{n}(value):\n    return value + {n}\n'
                       for n in range(200))
        messages += [{'role': 'assistant', 'content': None, 'tool_calls': [{
            'id': f'call_{i}', 'type': 'function',
            'function': {'name': 'run_query', 'arguments': '{"path":"%d"}' % i}}]},
            {'role': 'tool', 'tool_call_id': f'call_{i}', 'content': text}]
    return {'model': 'gpt-5', 'messages': messages, 'tools': [
        {'type': 'function', 'function': {'name': 'weir_recall'}}]}


def measure_python(path):
    import weir
    with open(path, 'rb') as file:
        body = file.read()
    store = weir.Store()
    engine = weir.Engine(store=store)
    for what, calls, call in (
            ('count', CALLS, lambda: engine.count('What is a weir?')),
            ('project, exact', CALLS_LARGE, lambda: engine.project(body)),
            ('project, lean', CALLS_LARGE,
             lambda: engine.project(body, policy='lean', session='s'))):
        for _ in range(calls):
            call()
        best = float('inf')
        for _ in range(ROUNDS):
            start = time.perf_counter()
            for _ in range(calls):
                call()
            best = min(best, (time.perf_counter() - start) / calls * 1e6)
        print(f'{what}: {best:.2f} us a call')


def figures(command):
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return {line.rsplit(': ', 1)[0]: float(line.rsplit(': ', 1)[1].split()[0])
            for line in said.splitlines()}


def main():
    if sys.argv[1] == '--python':
        return measure_python(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'body.json')
        with open(path, 'w', encoding='ascii') as file:
            json.dump(talk(), file)
        size = os.path.getsize(path)
        commands = {'C': [sys.argv[1], path],
                    'Python': [sys.executable, __file__, '--python', path],
                    'Node': ['node', '-e', NODE % (ROUNDS, CALLS, CALLS_LARGE, CALLS_LARGE), path]}
        if not os.environ.get('WEIR_PACKAGE'):
            print('SKIPPED Node: WEIR_PACKAGE is not set')
            del commands['Node']
        best = {}
        for _ in range(TURNS):
            for name, command in commands.items():
                for what, us in figures(command).items():
                    best[name, what] = min(us, best.get((name, what), float('inf')))
    print(f'a request of {size:,} bytes; us a call, the best of {TURNS} turns')
    for what in ('count', 'project, exact', 'project, lean'):
        own = best['C', what]
        row = f'{what:<16} C {own:9.1f}'
        for name in commands:
            if name != 'C':
                over = best[name, what] - own
                row += (f'   {name} {best[name, what]:9.1f} ({best[name, what] / own:5.2f} x, '
                        f'{over:+.1f} us{"" if over <= GOAL_US else ", OVER THE GOAL"})')
        print(row)
    return 0


sys.exit(main())

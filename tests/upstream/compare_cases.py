#!/usr/bin/env python3
"""`weir try`: an agent in shadow, and what would have been; then the same switched on. `weir
compare`: both arms of a task, several times, each in a copy of its own."""
import json
import os
import subprocess
import sys

from agent_home import MODELS, WEIR, Home, call
from harness import PATIENCE_SECONDS, Checks, Folder, Upstream, end_started

CHECK = Checks()
ok = CHECK.ok
LOUD = 'for i in $(seq 1 400); do echo "compiling module_$i/src/file_$i.c with -O2 -g: ok"; done'


def write(text, *path):
    with open(os.path.join(*path), 'w', encoding='utf-8') as file:
        file.write(text)
    return os.path.join(*path)


class World:
    """A scripted model, and a folder in which `weir agent` works for it without a policy of its
    own: what leaves the agent is its whole history."""

    def __init__(self, folder, steps, *arguments):
        self.folder = folder
        scripts = {'Build it': steps + [{'words': 'All is done.'}]}
        path = write(json.dumps(scripts), folder, 'scripts.json')
        self.record = os.path.join(folder, 'record.jsonl')
        self.upstream = Upstream(folder, '--scripts', path, '--record', self.record,
                                 '--cache', *arguments)
        self.home = Home(folder)
        self.tmp = os.path.join(folder, 'tmp')
        os.makedirs(self.tmp, exist_ok=True)
        self.config = write('session:\n  policy: exact\n  max_tool_iterations: 100\n', folder,
                            'agent.yaml')

    def agent(self, api='chat'):
        return [WEIR, 'agent', '--yes', '--api', api, '--model',
                'gpt-5' if api == 'chat' else MODELS[api], '--config', self.config, '-p',
                'Build it, and read the files.']

    def run(self, *words):
        url = f'http://127.0.0.1:{self.upstream.port}'
        env = {**self.home.env(), 'TMPDIR': self.tmp, 'OPENAI_BASE_URL': url + '/v1',
               'ANTHROPIC_BASE_URL': url, 'GOOGLE_GEMINI_BASE_URL': url}
        return subprocess.run([WEIR, *words], cwd=self.home.work, env=env, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=5 * PATIENCE_SECONDS, check=False)

    def bodies(self):
        with open(self.record, encoding='utf-8') as file:
            return [json.loads(line)['body'] for line in file]


# ---- weir try ----

def try_once(world, api, *words):
    receipt = os.path.join(world.folder, 'receipt.json')
    result = world.run('try', *words, '--store', os.path.join(world.folder, 'store-' + api),
                       '--receipt', receipt, '--', *world.agent(api))
    with open(receipt, encoding='utf-8') as file:
        return result, json.load(file)


def try_cases(folder):
    steps = [call('process_start', command=LOUD)] + [
        call('read_file', path=f'src/file_{n}.py') for n in range(5)]
    for api in ('chat', 'messages'):
        place = os.path.join(folder, 'try-' + api)
        os.makedirs(place)
        world = World(place, steps)
        shadow, would = try_once(world, api)
        ok(f'{api}: it ends as the agent does', (shadow.returncode, shadow.stdout.strip()),
           (0, 'All is done.'))
        bodies = world.bodies()
        ok(f'{api}: everything is sent as it came',
           ['module_200/' in body for body in bodies], [False] + [True] * 6)
        ok(f'{api}: nobody has changed anything',
           (would['changed'], would['shadow'], would['saved_micro_usd']), (0, 7, 0))
        said = shadow.stderr
        for words in ('with Weir it would have been about $', ' less (',
                      '1. a result of process_start ', '| compiling module_1/',
                      'in its place would have stood, after the first', 'lines left out:',
                      'weir: to have it: weir try --active -- ' + WEIR):
            ok(f'{api}: it says {words!r}', words in said)
        ok(f'{api}: nothing is left of its folder', os.listdir(world.tmp), [])
        world.upstream.stop()
        world = World(place, steps)  # whose cache is empty
        active, receipt = try_once(world, api, '--active')
        ok(f'{api}: one flag switches it on', (active.returncode, receipt['changed'] > 4),
           (0, True))
        apart = abs(would['shadow_would_micro_usd'] - receipt['micro_usd'])
        # The model here counts bytes, so that our two estimates are not its ratio to the token.
        ok(f'{api}: what was said is what is paid, to 12 %',
           apart * 8 <= receipt['micro_usd'] or
           (would['shadow_would_micro_usd'], receipt['micro_usd'], receipt['sent_tokens']), True)
        world.upstream.stop()
    ok('it wants an agent', world.run('try').returncode, 2)


def try_nothing(folder):
    world = World(folder, [call('read_file', path='src/file_1.py')])
    result, receipt = try_once(world, 'chat')
    ok('a short session: nothing would have been taken',
       (result.returncode, 'nothing would have been taken out' in result.stderr,
        receipt['shadow_would_micro_usd'] == receipt['micro_usd']), (0, True, True))
    world.upstream.stop()


# ---- weir compare ----

def compare_cases(folder):
    steps = [call('process_start', command=LOUD), call('read_file', path='src/file_1.py'),
             call('write', path='made/result.txt', content='done'),
             call('edit', path='src/file_2.py', old_text='# line 1\n', new_text='# changed\n')]
    world = World(folder, steps)
    keep = os.path.join(folder, 'keep')
    before = os.listdir(world.home.work)
    result = world.run('compare', '--runs', '2', '--seed', '3', '--check',
                       'grep -q done made/result.txt && touch checked', '--keep', keep, '--json',
                       '--', *world.agent())
    ok('compare ends well', (result.returncode, result.stderr.count('weir compare: run ')), (0, 4))
    found = json.loads(result.stdout)
    arms = [run['arm'] for run in found['runs']]
    ok('as many runs of each arm', sorted(arms), ['direct'] * 2 + ['weir'] * 2)
    direct = [run for run in found['runs'] if run['arm'] == 'direct']
    weir = [run for run in found['runs'] if run['arm'] == 'weir']
    ok('the direct arm is measured and not changed',
       [(run['requests'], run['changed']) for run in direct], [(5, 0)] * 2)
    ok('the other one is changed', all(run['changed'] >= 3 for run in weir))
    ok('the same work is done in both, in copies of their own',
       [(run['exit_status'], run['check_status'], run['files_changed']) for run in found['runs']],
       [(0, 0, ['made/result.txt', 'src/file_2.py'])] * 4)
    ok('the folder itself is as it was', os.listdir(world.home.work), before)
    contrast = found['contrasts']
    ok('money is less', contrast['usd']['percent'] < -20)
    ok('two runs are too few to tell', contrast['usd']['verdict'], 'too_few')
    ok('so are two checks', contrast['check_passed']['verdict'], 'too_few')
    kept = sorted(os.listdir(keep))
    ok('every run is kept', kept, sorted(f'{n + 1}-{arm}' for n, arm in enumerate(arms)))
    first = os.path.join(keep, kept[0])
    ok('with what it left, its store and what it printed', sorted(os.listdir(first)),
       ['output.txt', 'store', 'work'])
    with open(os.path.join(first, 'output.txt'), encoding='utf-8') as file:
        ok('the output is there', 'All is done.' in file.read())
    ok('what is sent direct is what came', any('module_200/' in body for body in world.bodies()))
    recorded_cases(world, os.path.join(keep, f'{arms.index("weir") + 1}-weir', 'store'))
    ok('nothing is left in the folder of runs', os.listdir(world.tmp), [])
    world.upstream.stop()


def recorded_cases(world, store):
    sessions = world.run('sessions', '--store', store, '--json')
    name = json.loads(sessions.stdout.splitlines()[0])['session']
    result = world.run('compare', '--recorded', '--store', store, name, name)
    ok('a recorded run against itself', (result.returncode, '+0.0 %' in result.stdout,
                                         'too few to tell' in result.stdout), (0, True, True))
    result = world.run('compare', '--recorded', '--store', store, name, 'nobody')
    ok('a run that is not there is said', (result.returncode, 'nobody is no run' in result.stderr),
       (2, True))


def compare_troubles(folder):
    world = World(folder, [])
    result = world.run('compare', '--runs', '1', '--', 'no-such-agent')
    ok('an agent that is not there ends it', (result.returncode, result.stdout), (1, ''))
    ok('and is said', 'no-such-agent cannot be run' in result.stderr)
    result = world.run('compare', '--runs', '1', '--json', '--', 'sh', '-c', 'exit 3')
    runs = json.loads(result.stdout)['runs']
    ok('an agent that asks nobody is in no sum', [(r['measured'], r['exit_status']) for r in runs],
       [(False, 3)] * 2)
    world.upstream.stop()


# ---- the suite ----

SUITE = os.path.abspath('data/suite/suite.py')


def suite(verb, task, *words):
    return subprocess.run([sys.executable, SUITE, verb, task, *words], capture_output=True,
                          text=True, timeout=5 * PATIENCE_SECONDS, check=False)


def suite_tasks():
    return suite('list', '').stdout.split()


def suite_is_sound(folder):
    """Every task fails as it is written, and passes once it is solved; all of them in the long
    run, two of them else."""
    names = suite_tasks()
    ok('twelve tasks', len(names), 12)
    for name in names if os.environ.get('WEIR_LONG') else names[4:6]:
        place = os.path.join(folder, name)
        os.makedirs(place)
        ok(f'{name}: is written', suite('write', name, place).returncode, 0)
        ok(f'{name}: is not done yet', suite('check', name, place).returncode, 1)
        ok(f'{name}: can be solved', suite('solve', name, place).returncode, 0)
        ok(f'{name}: and is done then', suite('check', name, place).returncode, 0)


def scripted_steps(name, place):
    """What a patient model would do: look around, read a good deal, run what is loud, solve it,
    and run it again."""
    files = sorted(os.path.relpath(os.path.join(path, file), place)
                   for path, _, found in os.walk(place) for file in found)
    loud = [file for file in ('run_tests.py', 'strict.py', 'pipeline.py') if file in files]
    run = [call('process_start', command='python3 ' + file) for file in loud]
    read = [call('read_file', path=file) for file in files if not file.endswith('__init__.py')]
    solve = call('process_start', command=f'python3 {SUITE} solve {name} .')
    return [call('list', path='.')] + run + read[:16] + [solve] + run + [{'words': 'Solved.'}]


def suite_world(folder, names):
    scripts = {}
    for name in names:
        place = os.path.join(folder, 'as-written', name)
        os.makedirs(place)
        suite('write', name, place)
        scripts[suite('prompt', name).stdout.strip()[:60]] = scripted_steps(name, place)
    world = World(folder, [])
    world.upstream.stop()
    path = write(json.dumps(scripts), folder, 'scripts.json')
    world.upstream = Upstream(folder, '--scripts', path, '--cache')
    return world


def suite_cases(folder):
    names = suite_tasks() if os.environ.get('WEIR_LONG') else ['one-bug', 'log-hunt']
    world = suite_world(folder, names)
    only = [word for name in names for word in ('--task', name)]
    result = world.run('compare', '--suite', '--runs', '1', *only, '--json')
    ok('the suite runs to its end', result.returncode, 0)
    found = json.loads(result.stdout)
    ok('every task in both arms', sorted((r['task'], r['arm']) for r in found['runs']),
       sorted((name, arm) for name in names for arm in ('direct', 'weir')))
    ok('both solve it', [(r['task'], r['check_status']) for r in found['runs']
                         if r['check_status']], [])
    changed = {arm: [r['changed'] > 0 for r in found['runs'] if r['arm'] == arm]
               for arm in ('direct', 'weir')}
    ok('direct is never changed, the other one mostly',
       (sum(changed['direct']), 3 * sum(changed['weir']) >= 2 * len(names)), (0, True))
    ok('which costs less', found['contrasts']['usd']['percent'] < 0)
    if os.environ.get('WEIR_LONG'):
        print(json.dumps(found['contrasts'], indent=1))
    result = world.run('compare', '--suite', '--task', 'nothing', '--', 'true')
    ok('a task that is not there is said', (result.returncode, 'no task' in result.stderr),
       (2, True))
    world.upstream.stop()


def main():
    wanted = sys.argv[1:]
    with Folder() as folder:
        for case in (try_cases, try_nothing, compare_cases, compare_troubles,
                     suite_is_sound, suite_cases):
            if not wanted or case.__name__ in wanted:
                place = os.path.join(folder, case.__name__)
                os.makedirs(place)
                case(place)
        end_started()
    return CHECK.end()


if __name__ == '__main__':
    sys.exit(main())

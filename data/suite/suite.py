#!/usr/bin/env python3
"""Twelve small coding tasks for `weir compare --suite`: a repository, a prompt, a check.

    suite.py list                  the names, a line each
    suite.py prompt NAME           what the agent is told
    suite.py write NAME FOLDER     the repository, the same every time
    suite.py check NAME FOLDER     exit 0: the task is done
    suite.py solve NAME FOLDER     does it; for the tests of the suite itself

Every task makes an agent read much and run loud programs several times, so that its context fills:
that is what is compared. A check trusts nothing in the folder but the files that the task is
about: it runs them, or reads them, against what this script knows.
"""
import json
import os
import random
import re
import subprocess
import sys

PACKAGES = ('intake', 'pricing', 'routing', 'ledger', 'quality', 'report')
NOUNS = ('parcel', 'pallet', 'crate', 'order', 'batch', 'label', 'lane', 'dock', 'shift', 'route')
VERBS = ('weigh', 'count', 'rate', 'rank', 'merge', 'split', 'round', 'shift', 'scale', 'fold')


def put(root, path, text):
    full = os.path.join(root, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, 'w', encoding='utf-8') as file:
        file.write(text)


def get(root, path):
    with open(os.path.join(root, path), encoding='utf-8') as file:
        return file.read()


def edit(root, path, old, new):
    text = get(root, path)
    if old not in text:
        raise SystemExit(f'{path}: {old!r} is not in it')
    put(root, path, text.replace(old, new))


def python(root, code, *arguments):
    """Runs code in the folder; what it prints, or None where it fails."""
    result = subprocess.run([sys.executable, '-B', '-c', code, *arguments], cwd=root, text=True,
                            capture_output=True, timeout=60, check=False)
    return result.stdout if result.returncode == 0 else None


# ---- a library of many small modules, with loud tests ----

class Library:
    """Forty modules of eight functions each; every function is a, b and m of (x*a + y*b) % m."""

    def __init__(self, seed, modules=40):
        rng = random.Random(seed)
        self.functions = {}
        for number in range(modules):
            name = f'depot.{PACKAGES[number % len(PACKAGES)]}.m{number:02}'
            self.functions[name] = [
                (f'{VERBS[k]}_{NOUNS[rng.randrange(10)]}_{k}', rng.randrange(3, 40),
                 rng.randrange(2, 30), rng.randrange(101, 997)) for k in range(8)]

    def path(self, module):
        return module.replace('.', '/') + '.py'

    def source(self, module, a_of=lambda name, a: a, tail=''):
        desk = module.split('.')[1]
        lines = [f'"""{module}: sums of the {desk} desk, one function a rule."""', '']
        for name, a, b, m in self.functions[module]:
            lines += ['', f'def {name}(x, y=1):',
                      f'    """The rule {name}: x is worth {a} and y is worth {b}, modulo {m}.',
                      '', f'    The desk of {module} asks for it when a day is closed; x counts',
                      '    what came in, y what went out. Both are whole numbers from 0 on.',
                      '    """', f'    first = x * {a_of(name, a)}', f'    second = y * {b}',
                      f'    return (first + second) % {m}', '']
        return '\n'.join(lines) + tail

    def write(self, root, mutants=(), stops=False):
        for module in self.functions:
            put(root, self.path(module), self.source(
                module, lambda name, a, m=module: a + 1 if (m, name) in mutants else a))
            put(root, os.path.dirname(self.path(module)) + '/__init__.py', '')
        put(root, 'depot/__init__.py', '')
        put(root, 'run_tests.py', TESTS % (json.dumps(self.cases()).replace('], [', '],\n  ['),
                                           stops))
        put(root, 'README.md', '# depot\n\nSums of a warehouse. `python3 run_tests.py` runs all '
            'tests and says what it does. Rules are in the docstrings, which are right.\n')

    def cases(self):
        return [[module, name, x, y, (x * a + y * b) % m]
                for module, rules in self.functions.items() for name, a, b, m in rules
                for x, y in ((3, 2), (17, 5), (101, 40))]

    def holds(self, root, renamed=None):
        """Whether every function does what its rule says."""
        out = python(root, CALLS, json.dumps([
            [m, (renamed or {}).get(n, n), x, y] for m, n, x, y, _ in self.cases()]))
        return out is not None and json.loads(out) == [case[4] for case in self.cases()]


CALLS = '''
import importlib, json, sys
sys.path.insert(0, ".")
print(json.dumps([getattr(importlib.import_module(m), n)(x, y)
                  for m, n, x, y in json.loads(sys.argv[1])]))
'''

TESTS = '''"""Runs every case of every module, and says so."""
import importlib
import sys

CASES = %s
STOPS = %r
failed = 0
module = None
for name, function, x, y, expected in CASES:
    if name != module:
        module = name
        print(f"=== loading {name}: settings read, tables built, cache warm")
    print(f"[debug] {name}.{function}: arguments checked, x={x} y={y}, branch main, no override")
    got = getattr(importlib.import_module(name), function)(x, y)
    if got == expected:
        print(f"PASSED {name}::{function}[{x}-{y}] in 0.00s")
    else:
        failed += 1
        print(f"FAILED {name}::{function}[{x}-{y}] - AssertionError: {got} != {expected}")
        if STOPS:
            print("stopping at the first failure")
            break
print(f"{failed} failed, {len(CASES) - failed} passed" if not STOPS else f"{failed} failed")
sys.exit(1 if failed else 0)
'''


class Task:
    """One task. `seed` makes its numbers; a subclass says the rest."""
    seed, name, prompt = 0, '', ''


class OneBug(Task):
    name, seed = 'one-bug', 11
    prompt = ('Run `python3 run_tests.py` and read all that it prints. Some tests fail. Find the '
              'function that is wrong, read its whole module, and correct the function so that it '
              'does what its docstring says. Change nothing else. Run the tests again at the end.')

    def __init__(self):
        self.library = Library(self.seed)
        self.mutants = [('depot.routing.m14', self.library.functions['depot.routing.m14'][5][0])]

    def write(self, root):
        self.library.write(root, self.mutants)

    def check(self, root):
        return self.library.holds(root)

    def solve(self, root):
        for module, _ in self.mutants:
            put(root, self.library.path(module), self.library.source(module))


class FiveBugs(OneBug):
    name, seed = 'five-bugs', 12
    prompt = ('`python3 run_tests.py` stops at the first test that fails. Run it, read the module '
              'that it names, correct the function by its docstring, and run it again, until '
              'everything passes. Do not change run_tests.py.')

    def __init__(self):
        self.library = Library(self.seed)
        names = list(self.library.functions)
        self.mutants = [(names[i], self.library.functions[names[i]][k][0])
                        for i, k in ((6, 2), (15, 0), (22, 7), (29, 4), (37, 1))]

    def write(self, root):
        self.library.write(root, self.mutants, stops=True)


class Rename(Task):
    name, seed = 'rename', 13
    old, new = 'collect_total', 'sum_of_parts'
    prompt = (f'Rename the function `{old}` in depot/common.py to `{new}`, and with it every use '
              'in all modules, documents and strings. Read each file before you change it. '
              'Nothing but the name may change; `python3 run_tests.py` must pass at the end.')

    def __init__(self):
        self.library = Library(self.seed, 30)

    def extra(self, module):
        name = self.library.functions[module][0][0]
        return (f'\n\ndef day_{name}(values):\n    """The day: `{self.old}` of all values."""\n'
                f'    from depot.common import {self.old}\n\n'
                f'    return {self.old}([{name}(v) for v in values])\n')

    def write(self, root):
        self.library.write(root)
        for module in self.library.functions:
            put(root, self.library.path(module), self.library.source(module,
                                                                     tail=self.extra(module)))
        put(root, 'depot/common.py', f'"""What all desks share."""\n\n\ndef {self.old}(parts):\n'
            '    """The sum of the parts, or 0."""\n    return sum(parts)\n')
        put(root, 'docs/common.md', f'# Common\n\n`{self.old}(parts)` adds up.\n' * 3)

    def check(self, root):
        for path, _, files in os.walk(root):
            for file in files:
                if file.endswith(('.py', '.md')) and self.old in get(path, file):
                    return False
        days = [[m, 'day_' + rules[0][0], [1, 2, 3]] for m, rules in self.library.functions.items()]
        out = python(root, 'import importlib, json, sys\nsys.path.insert(0, ".")\nprint(json.dumps('
                     '[getattr(importlib.import_module(m), n)(v) for m, n, v in '
                     'json.loads(sys.argv[1])]))', json.dumps(days))
        wanted = [sum((v * a + b) % m for v in (1, 2, 3))
                  for rules in self.library.functions.values() for _, a, b, m in rules[:1]]
        return out is not None and json.loads(out) == wanted and self.library.holds(root)

    def solve(self, root):
        for path, _, files in os.walk(root):
            for file in files:
                if file.endswith(('.py', '.md')):
                    put(path, file, get(path, file).replace(self.old, self.new))


class Thread(Task):
    name, seed = 'thread-limit', 14
    layers = ('api', 'session', 'planner', 'picker', 'shelf', 'storage')
    prompt = ('`depot/chain/api.py` has `find(items, word)`, which calls session.py, which calls '
              'planner.py, then picker.py, shelf.py and storage.py. Read all six and NOTES.md. Add '
              'an optional parameter `limit=None` to the function of every layer and hand it '
              'through, so that `find(items, word, limit=2)` returns the first two at most. '
              'Without it nothing changes. `python3 run_tests.py` must still pass.')

    def __init__(self):
        self.library = Library(self.seed, 24)

    def write(self, root):
        self.library.write(root)
        put(root, 'depot/chain/__init__.py', '')
        for layer, below in zip(self.layers, self.layers[1:] + (None,)):
            call = (f'from depot.chain import {below}\n\n\ndef find(items, word):\n'
                    f'    """Asks {below}."""\n    return {below}.find(items, word)\n') if below \
                else 'def find(items, word):\n    """All items that hold the word."""\n' \
                     '    return [item for item in items if word in item]\n'
            put(root, f'depot/chain/{layer}.py', f'"""The {layer} layer."""\n' + call + filler(
                self.seed, layer))
        put(root, 'NOTES.md', '# Notes\n' + ''.join(
            f'\n## Day {n}\nThe shelf was counted, {n * 7} crates; nothing to change.\n'
            for n in range(1, 160)))

    def check(self, root):
        out = python(root, 'import sys\nsys.path.insert(0, ".")\nfrom depot.chain import '
                     + ', '.join(self.layers) + '\nitems = ["ab", "b", "cab", "x", "bb"]\n'
                     'for layer in (' + ', '.join(self.layers) + '):\n'
                     '    print(layer.find(items, "b"), layer.find(items, "b", limit=2), '
                     'layer.find(items, "b", limit=0))')
        line = "['ab', 'b', 'cab', 'bb'] ['ab', 'b'] []\n"
        return out == line * len(self.layers) and self.library.holds(root)

    def solve(self, root):
        for layer, below in zip(self.layers, self.layers[1:] + (None,)):
            path = f'depot/chain/{layer}.py'
            edit(root, path, 'def find(items, word):', 'def find(items, word, limit=None):')
            if below:
                edit(root, path, f'{below}.find(items, word)', f'{below}.find(items, word, limit)')
            else:
                edit(root, path, 'return [item for item in items if word in item]',
                     'return [item for item in items if word in item][:limit]')


def filler(seed, word):
    """Functions that nobody needs, which a file of the field has all the same."""
    rng = random.Random(f'{seed}-{word}')
    return ''.join(
        f'\n\ndef helper_{word}_{n}(value):\n    """Once used by the {word} desk, see NOTES."""\n'
        f'    steps = [value + {rng.randrange(9)}, value * {rng.randrange(2, 9)}]\n'
        f'    return max(steps) - min(steps)\n' for n in range(12))


class LogHunt(Task):
    name, seed = 'log-hunt', 15
    prompt = ('server.log and worker-1.log to worker-4.log are of one morning. One job ended the '
              'server. Find out which: the crash in server.log names a lease, the lease was taken '
              'by a worker, and the worker says for which job. Write answer.json: {"job": ..., '
              '"worker": N, "first_warning": "HH:MM:SS"} with the time of the first WARN line of '
              'that job in any log. Read the logs piece by piece; there is no grep in production.')

    def __init__(self):
        rng = random.Random(self.seed)
        self.lease, self.job = f'{rng.getrandbits(40):010x}', f'job-{rng.randrange(10**5):05}'
        self.worker, self.logs = 3, {}
        for number in range(5):
            lines = []
            for second in range(700):
                time = f'09:{second // 60 % 60:02}:{second % 60:02}'
                other = f'job-{rng.randrange(10**5):05}'
                lines.append(f'{time} INFO  {other} lease {rng.getrandbits(40):010x} '
                             f'{rng.choice(("taken", "returned", "renewed", "checked"))} in '
                             f'{rng.randrange(900)} ms, queue {rng.randrange(50)}')
            self.logs[number] = lines
        self.logs[0][655] = ('09:10:55 FATAL assertion "lease.is_held" failed: '
                             f'lease {self.lease}\n  at pool.c:212 in pool_return\n'
                             '  at server.c:88 in on_done')
        self.logs[self.worker][412] = f'09:06:52 INFO  {self.job} lease {self.lease} taken in 3 ms'
        self.logs[2][377] = f'09:06:17 WARN  {self.job} waits for a lease since 30 s'
        self.logs[self.worker][500] = f'09:08:20 WARN  {self.job} lease is late'
        for number, line in ((1, 90), (4, 300)):
            self.logs[number][line] = f'09:0{line // 60}:{line % 60:02} WARN  job-00000 is slow'

    def write(self, root):
        for number, lines in self.logs.items():
            put(root, f'worker-{number}.log' if number else 'server.log', '\n'.join(lines) + '\n')

    def answer(self):
        return {'job': self.job, 'worker': self.worker, 'first_warning': '09:06:17'}

    def check(self, root):
        return json.loads(get(root, 'answer.json')) == self.answer()

    def solve(self, root):
        put(root, 'answer.json', json.dumps(self.answer()))


class Settings(Task):
    name, seed = 'settings', 16
    prompt = ('conf/ has thirty files of settings. Read docs/precedence.md and all of them, and '
              'write merged.json: one object with the value that wins for every key, by the rules '
              'of that document. Do not write a program for it that guesses: the rules have '
              'exceptions, and some files have a word on themselves in a comment.')

    def __init__(self):
        rng = random.Random(self.seed)
        self.files = []
        for number in range(30):
            pairs = {f'{rng.choice(NOUNS)}.{rng.choice(VERBS)}': rng.randrange(1000)
                     for _ in range(24)}
            self.files.append((f'conf/{number:02}-{rng.choice(PACKAGES)}.ini', number % 7 == 3,
                               number % 9 == 4, pairs))

    def write(self, root):
        for path, is_off, is_final, pairs in self.files:
            note = '; state: disabled\n' if is_off else '; state: final\n' if is_final else ''
            put(root, path, f'; settings of {path}\n{note}' + ''.join(
                f'; the {key.replace(".", " ")} figure, agreed with the desk\n{key} = {value}\n'
                for key, value in pairs.items()))
        put(root, 'docs/precedence.md', '# Precedence\n\n1. Files are read in the order of their '
            'numbers; a later value of a key replaces an earlier one.\n2. A file whose comment '
            'says `state: disabled` is not read at all.\n3. What a file says with `state: final` '
            'is not replaced by any later file, not even by a final one.\n')

    def merged(self):
        values, final = {}, set()
        for _, is_off, is_final, pairs in self.files:
            for key, value in pairs.items():
                if is_off or key in final:
                    continue
                values[key] = value
                if is_final:
                    final.add(key)
        return values

    def check(self, root):
        return json.loads(get(root, 'merged.json')) == self.merged()

    def solve(self, root):
        put(root, 'merged.json', json.dumps(self.merged()))


class DeadCode(Task):
    name, seed = 'dead-code', 17
    prompt = ('In depot/old/ are twelve modules with functions that nobody calls any more. Read '
              'them and main.py, which is where the program begins; a function that is reached '
              'from main.py through any number of calls is in use. Remove the functions of '
              'depot/old/ that are not in use, and nothing else. `python3 main.py` must print the '
              'same as before.')

    def __init__(self):
        rng = random.Random(self.seed)
        self.calls = {(m, k): None for m in range(12) for k in range(9)}
        names = list(self.calls)
        rng.shuffle(names)
        self.used = names[:50]
        for here, below in zip(self.used, self.used[1:]):
            self.calls[here] = below
        for number, name in enumerate(names[50:]):  # the dead call each other, and the living
            self.calls[name] = names[(number * 7) % 108]

    def function(self, name):
        below = self.calls[name]
        call = f'm{below[0]}.f{below[0]}_{below[1]}(value + 1)' if below else 'value'
        return (f'\n\ndef f{name[0]}_{name[1]}(value):\n    """Step {name[1]} of desk {name[0]}, '
                f'as the paper of the desk has it.\n\n    The desk was closed and opened again; '
                f'what it hands on to the next\n    desk is counted in whole parcels, from '
                f'{name[0]} on, and what comes back is\n    kept as it is. See the minutes of '
                f'meeting {name[0] * 9 + name[1]}.\n    """\n'
                + (f'    from depot.old import m{below[0]}\n\n' if below else '')
                + f'    return {call}\n')

    def write(self, root):
        put(root, 'depot/__init__.py', '')
        put(root, 'depot/old/__init__.py', '')
        for m in range(12):
            put(root, f'depot/old/m{m}.py', f'"""Desk {m}."""\n' + ''.join(
                self.function((m, k)) for k in range(9)))
        m, k = self.used[0]
        put(root, 'main.py', f'"""The program."""\nfrom depot.old import m{m}\n\n'
            f'print(m{m}.f{m}_{k}(0))\n')

    def check(self, root):
        wanted = {f'f{m}_{k}' for m, k in self.used}
        found = set()
        for m in range(12):
            found |= set(re.findall(r'^def (\w+)', get(root, f'depot/old/m{m}.py'), re.M))
        return found == wanted and python(root, get(root, 'main.py')) == f'{len(wanted) - 1}\n'

    def solve(self, root):
        for m in range(12):
            put(root, f'depot/old/m{m}.py', f'"""Desk {m}."""\n' + ''.join(
                self.function((m, k)) for k in range(9) if (m, k) in self.used))


class Format(Task):
    name, seed = 'format', 18
    prompt = ('docs/format.md describes the records of an old machine, with many examples. Read '
              'all of it and write `parse(text)` in depot/records.py, which returns a list of '
              'dicts with the keys kind, id, fields (a dict of texts) and sum_ok. samples/ has '
              'files to try it on; `python3 show.py FILE` prints what it makes of one.')

    def records(self, seed, count):
        rng = random.Random(f'{self.seed}-{seed}')
        return [(rng.choice('PQR'), rng.randrange(10**6), {
            rng.choice(NOUNS) + str(i): rng.choice(('a|b', 'x=y', 'plain', '\\', '', 'two words'))
            for i in range(rng.randrange(1, 5))}, rng.random() < 0.8) for _ in range(count)]

    def line(self, record):
        kind, number, fields, is_good = record
        body = '|'.join(k + '=' + re.sub(r'([|=\\])', r'\\\1', v) for k, v in fields.items())
        text = f'{kind}{number:06}|{body}'
        total = sum(text.encode()) % 97 if is_good else (sum(text.encode()) + 1) % 97
        return f'{text}#{total:02}'

    def parsed(self, records):
        return [{'kind': {'P': 'parcel', 'Q': 'query', 'R': 'return'}[kind], 'id': number,
                 'fields': fields, 'sum_ok': is_good} for kind, number, fields, is_good in records]

    def write(self, root):
        put(root, 'depot/__init__.py', '')
        put(root, 'show.py', 'import json\nimport sys\n\nfrom depot.records import parse\n\n'
            'for record in parse(open(sys.argv[1]).read()):\n    print(json.dumps(record))\n')
        rules = ('# Records\n\nA record is a line. Empty lines and lines that begin with `;` are '
                 'none. It begins with a letter: P is a `parcel`, Q a `query`, R a `return`; six '
                 'digits follow, the id (a number). Then `|` and fields `key=value`, parted by '
                 '`|`. In a value `\\|`, `\\=` and `\\\\` stand for `|`, `=` and `\\`. At the end '
                 '`#` and two digits: the sum of all bytes before `#`, modulo 97. A wrong sum is '
                 'no error: `sum_ok` is False then.\n')
        examples = ''.join(f'\n## Example {n}\n\n```\n{self.line(r)}\n```\nis\n```\n'
                           f'{json.dumps(self.parsed([r])[0])}\n```\n'
                           for n, r in enumerate(self.records('doc', 90)))
        put(root, 'docs/format.md', rules + examples)
        for n in range(6):
            put(root, f'samples/{n}.txt', '; sample\n\n' + '\n'.join(
                self.line(r) for r in self.records(n, 60)) + '\n')

    def check(self, root):
        records = self.records('hidden', 80)
        text = '; note\n\n' + '\n'.join(self.line(r) for r in records) + '\n'
        out = python(root, 'import json, sys\nsys.path.insert(0, ".")\nfrom depot.records import '
                     'parse\nprint(json.dumps(parse(sys.argv[1])))', text)
        return out is not None and json.loads(out) == self.parsed(records)

    def solve(self, root):
        put(root, 'depot/records.py', r'''import re

KINDS = {'P': 'parcel', 'Q': 'query', 'R': 'return'}


def parse(text):
    records = []
    for line in text.splitlines():
        if not line or line.startswith(';'):
            continue
        body, _, total = line.rpartition('#')
        head, *fields = split(body)
        pairs = {}
        for field in fields:
            key, _, value = field.partition('=')
            pairs[key] = re.sub(r'\\(.)', r'\1', value)
        records.append({'kind': KINDS[head[0]], 'id': int(head[1:]), 'fields': pairs,
                        'sum_ok': sum(body.encode()) % 97 == int(total)})
    return records


def split(body):
    parts, at = [''], 0
    while at < len(body):
        if body[at] == '\\':
            parts[-1] += body[at:at + 2]
            at += 2
        elif body[at] == '|':
            parts.append('')
            at += 1
        else:
            parts[-1] += body[at]
            at += 1
    return parts
''')


class Bisect(Task):
    name, seed = 'bisect', 19
    prompt = ('history/ has forty versions of one module, v01.py to v40.py. The rule in '
              'docs/rule.md held in v01 and does not hold in v40. `python3 try.py NN` runs a '
              'version and prints every case. Find the first version in which it does not hold, '
              'read that one and the one before, and write its number and the name of the '
              'function that broke it to answer.txt, such as `17 rate_crate`.')

    def __init__(self):
        rng = random.Random(self.seed)
        self.first = rng.randrange(22, 35)
        self.names = [f'{VERBS[k]}_{NOUNS[k]}' for k in range(10)]
        self.guilty = self.names[rng.randrange(10)]

    def write(self, root):
        for version in range(1, 41):
            lines = [f'"""Version {version:02}."""', '']
            for number, name in enumerate(self.names):
                extra = ' + 1' if name == self.guilty and version >= self.first else ''
                lines += ['', f'def {name}(x):', f'    """Step {number}; touched in '
                          f'v{(version * 7 + number) % version + 1:02}."""',
                          f'    value = x * {number + 2}{extra if version % 2 else ""}',
                          f'    return value{"" if version % 2 else extra}', '']
            put(root, f'history/v{version:02}.py', '\n'.join(lines))
        put(root, 'docs/rule.md', '# Rule\n\nEvery function returns a multiple of its argument.\n')
        put(root, 'try.py', 'import runpy\nimport sys\n\nfound = runpy.run_path(f"history/v'
            '{int(sys.argv[1]):02}.py")\nfor name, function in found.items():\n    if callable('
            'function) and not name.startswith("_"):\n        for x in range(3, 23):\n            '
            'got = function(x)\n            word = "holds" if got % x == 0 else "DOES NOT HOLD"\n'
            '            print(f"[case {name}({x})] value {got}, rest {got % x}: "\n'
            '                  f"the rule {word}")\n')

    def check(self, root):
        return get(root, 'answer.txt').split() == [str(self.first), self.guilty]

    def solve(self, root):
        put(root, 'answer.txt', f'{self.first} {self.guilty}\n')


class Strict(Task):
    name, seed = 'strict', 20
    prompt = ('`python3 strict.py` checks the modules of depot/ and prints a line for every '
              'function. Make it pass: every function needs a docstring that begins with a '
              'capital letter and ends with a full stop, and may not use a name of one letter but '
              'x and y. Change only what it complains of. `python3 run_tests.py` must still pass.')

    def __init__(self):
        self.library = Library(self.seed, 24)
        rng = random.Random(self.seed)
        self.bad = rng.sample([(m, k) for m in self.library.functions for k in range(8)], 9)

    def spoil(self, module, text):
        for number, (_, k) in enumerate(b for b in self.bad if b[0] == module):
            name = self.library.functions[module][k][0]
            head, _, rest = text.partition(f'def {name}(')
            if number % 2 or k % 2:
                rest = rest.replace('first', 'q', 2)
            else:
                rest = rest.replace(f'"""The rule {name}', f'"""the rule {name}', 1)
            text = head + f'def {name}(' + rest
        return text

    def write(self, root):
        self.library.write(root)
        for module in self.library.functions:
            put(root, self.library.path(module), self.spoil(module, self.library.source(module)))
        put(root, 'strict.py', STRICT)

    def check(self, root):
        return python(root, STRICT) is not None and self.library.holds(root) and all(
            os.path.exists(os.path.join(root, self.library.path(m)))
            for m in self.library.functions)

    def solve(self, root):
        for module in self.library.functions:
            put(root, self.library.path(module), self.library.source(module))


STRICT = '''"""Says of every function whether it is as it should be."""
import ast
import os
import sys

wrong = 0
for folder, _, files in sorted(os.walk("depot")):
    for file in sorted(files):
        if not file.endswith(".py"):
            continue
        path = os.path.join(folder, file)
        tree = ast.parse(open(path).read())
        for node in [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]:
            text = (ast.get_docstring(node) or "").strip()
            names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            trouble = []
            if not text or not text[0].isupper() or not text.endswith("."):
                trouble.append("docstring")
            trouble += sorted(n for n in names if len(n) == 1 and n not in "xy")
            wrong += bool(trouble)
            state = "WRONG: " + ", ".join(trouble) if trouble else "fine, nothing to complain of"
            print(f"{path}:{node.lineno}: function {node.name}: checked, {state}")
print(f"{wrong} wrong")
sys.exit(1 if wrong else 0)
'''


class Units(Task):
    name, seed = 'units', 21
    factors = {'kg': 1000, 'g': 1, 'lb': 453.592, 'oz': 28.3495, 't': 1000000}
    prompt = ('`python3 pipeline.py` reads data/*.csv and prints the weight of every parcel in '
              'grams and a total. Three of the stages in stages/ treat a unit wrongly, in ways '
              'that docs/units.md excludes. Read the document, the data and all stages, correct '
              'the stages, and run it again. The total it must come to is in docs/units.md.')

    def __init__(self):
        rng = random.Random(self.seed)
        self.rows = [[(f'P{n:02}{i:03}', rng.randrange(1, 400), rng.choice(list(self.factors)))
                      for i in range(90)] for n in range(8)]

    def total(self):
        return round(sum(v * self.factors[u] for rows in self.rows for _, v, u in rows), 2)

    def stage(self, unit, factor):
        return (f'"""Grams of what came in {unit}."""\n\n\ndef grams(value):\n    """One {unit} is '
                f'as docs/units.md has it."""\n    return value * {factor}\n'
                + filler(self.seed, unit))

    def write(self, root):
        wrong = {'lb': 435.592, 'oz': 28.3495, 't': 100000, 'kg': 1024, 'g': 1}
        put(root, 'stages/__init__.py', '')
        for unit, factor in wrong.items():
            put(root, f'stages/{unit}.py', self.stage(unit, factor))
        for n, rows in enumerate(self.rows):
            put(root, f'data/{n}.csv', 'id,value,unit\n' + ''.join(
                f'{i},{v},{u}\n' for i, v, u in rows))
        put(root, 'docs/units.md', '# Units\n\n' + ''.join(
            f'- 1 {u} is {f} g.\n' for u, f in self.factors.items())
            + f'\nThe total of all parcels in data/ is {self.total()} g.\n')
        put(root, 'pipeline.py', 'import csv\nimport glob\nimport importlib\n\ntotal = 0\nfor path '
            'in sorted(glob.glob("data/*.csv")):\n    for row in csv.DictReader(open(path)):\n'
            '        grams = importlib.import_module("stages." + row["unit"]).grams('
            'int(row["value"]))\n        total += grams\n        print(f"{path}: parcel '
            '{row[\'id\']}: {row[\'value\']} {row[\'unit\']} is {grams:.2f} g, running total '
            '{total:.2f} g")\nprint(f"total {total:.2f} g")\n')

    def check(self, root):
        code = 'import importlib, sys\nsys.path.insert(0, ".")\nprint(*[importlib.import_module(' \
               '"stages." + u).grams(2) for u in sys.argv[1:]])'
        out = python(root, code, *self.factors)
        return out is not None and [float(v) for v in out.split()] == [
            2 * f for f in self.factors.values()]

    def solve(self, root):
        for unit, factor in self.factors.items():
            put(root, f'stages/{unit}.py', self.stage(unit, factor))


class ApiDoc(Task):
    name, seed = 'api-doc', 22
    prompt = ('docs/api.md lists every function of depot/ with its module and rule, in the order '
              'of the files. Some lines are wrong: numbers, names or the order. Read every module '
              'and correct the document by the code, line by line; the code is right. Lines have '
              'the form `- module.function(x, y=1): (x*A + y*B) % M`. Do not generate it anew by '
              'a program that you leave behind: only docs/api.md may differ at the end.')

    def __init__(self):
        self.library = Library(self.seed, 36)

    def lines(self):
        return [f'- {m}.{n}(x, y=1): (x*{a} + y*{b}) % {c}'
                for m in sorted(self.library.functions, key=self.library.path)
                for n, a, b, c in self.library.functions[m]]

    def write(self, root):
        self.library.write(root)
        rng, lines = random.Random(self.seed), self.lines()
        for at in rng.sample(range(0, len(lines) - 2, 2), 12):
            if at % 4:
                lines[at] = re.sub(r'% (\d)', lambda m: f'% {int(m.group(1)) % 9 + 1}', lines[at])
            else:
                lines[at], lines[at + 1] = lines[at + 1], lines[at]
        put(root, 'docs/api.md', '# API\n\n' + '\n'.join(lines) + '\n')

    def check(self, root):
        found = [line for line in get(root, 'docs/api.md').splitlines() if line.startswith('- ')]
        return found == self.lines() and self.library.holds(root)

    def solve(self, root):
        put(root, 'docs/api.md', '# API\n\n' + '\n'.join(self.lines()) + '\n')


TASKS = {task.name: task for task in (OneBug, FiveBugs, Rename, Thread, LogHunt, Settings, DeadCode,
                                      Format, Bisect, Strict, Units, ApiDoc)}


def main():
    verb, *rest = sys.argv[1:] or ['']
    if verb == 'list':
        print('\n'.join(TASKS))
        return 0
    if verb not in ('prompt', 'write', 'check', 'solve') or not rest or rest[0] not in TASKS:
        print(__doc__, file=sys.stderr)
        return 2
    task = TASKS[rest[0]]()
    if verb == 'prompt':
        print(task.prompt)
    elif verb == 'check':
        try:
            return 0 if task.check(rest[1]) else 1
        except (OSError, ValueError, subprocess.TimeoutExpired) as trouble:
            print(trouble)
            return 1
    else:
        getattr(task, verb)(rest[1])
    return 0


if __name__ == '__main__':
    sys.exit(main())

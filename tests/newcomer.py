#!/usr/bin/env python3
"""Plays someone who has just cloned this and types what the first pages say.

    newcomer.py        WEIR names the program

The place is bare: an empty home, a clone that holds what git holds, no settings. The agents that
README names are stand-ins (tests/upstream/stand_in.py) that talk to a model on this machine.

README's first screen shows figures of somebody else's sessions, so its output is compared by its
shape: the same words in the same order, with any numbers. Everything in docs/tour.md is compared
byte for byte, by tests/tour.py. A command that a page gains must be played here too, or this fails.
"""
import fcntl
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios
import unicodedata

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(HERE, 'upstream'))
from harness import PATIENCE_SECONDS, Checks, Folder, Upstream, free_port  # noqa: E402

PROGRAM = os.path.abspath(os.environ.get('WEIR', 'build/weir'))
WIDTHS = (60, 80, 120, 200)
CHECK = Checks()
ok = CHECK.ok


class Place:
    """A clone, a home and the programs of someone who has nothing yet."""

    def __init__(self, folder):
        self.folder, self.session = folder, None
        self.clone, self.home = os.path.join(folder, 'weir'), os.path.join(folder, 'home')
        self.bin = os.path.join(folder, 'bin')
        self.upstream = Upstream(folder)
        os.mkdir(self.home)
        os.mkdir(self.bin)
        self.take_files()
        os.mkdir(os.path.join(self.clone, 'build'))
        os.symlink(PROGRAM, os.path.join(self.clone, 'build', 'weir'))
        os.symlink(PROGRAM, os.path.join(self.bin, 'weir'))
        url = f'http://127.0.0.1:{self.upstream.port}'
        self.env = {'HOME': self.home, 'PATH': self.bin + ':' + os.environ['PATH'],
                    'LANG': 'C.UTF-8', 'OPENAI_BASE_URL': url + '/v1',
                    'ANTHROPIC_BASE_URL': url, 'TMPDIR': folder,
                    'STAND_IN_OUT': os.path.join(folder, 'found.json'),
                    'STAND_IN_DO': 'talk ' + os.path.join(self.clone, 'examples', 'session.json')}
        for name in ('ASAN_OPTIONS', 'UBSAN_OPTIONS'):
            if name in os.environ:
                self.env[name] = os.environ[name]

    def take_files(self):
        """What git holds, as it stands here: what is not committed yet counts too."""
        listed = subprocess.run(['git', 'ls-files', '-z'], cwd=ROOT, check=True,
                                stdout=subprocess.PIPE).stdout
        for name in listed.decode().split('\0'):
            if name and os.path.isfile(os.path.join(ROOT, name)):
                target = os.path.join(self.clone, name)
                os.makedirs(os.path.dirname(target), exist_ok=True)
                shutil.copy(os.path.join(ROOT, name), target)

    def install(self, agent):
        path = os.path.join(self.bin, agent)
        with open(os.path.join(HERE, 'upstream', 'stand_in.py'), encoding='utf-8') as source:
            text = source.read()
        with open(path, 'w', encoding='utf-8') as file:
            file.write(f'#!{sys.executable}\n' + text)
        os.chmod(path, 0o755)

    def run(self, command, columns=80):
        """Exit code, stdout, stderr."""
        done = subprocess.run(['bash', '-c', command], cwd=self.clone, text=True, check=False,
                              env={**self.env, 'COLUMNS': str(columns)}, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=4 * PATIENCE_SECONDS)
        return done.returncode, done.stdout, done.stderr

    def newest_session(self):
        """Its whole name."""
        _, out, _ = self.run('weir sessions --json')
        return json.loads(out.split('\n', maxsplit=1)[0])['session']


# ---- README ----

def blocks_of(page, until):
    """(command, what the page shows below it) of the console blocks before a heading."""
    found = []
    for block in re.findall(r'```console\n(.*?)```\n', page.split(until)[0], flags=re.S):
        parts = re.split(r'^\$ (.*)\n', block, flags=re.M)
        found += list(zip(parts[1::2], parts[2::2]))
    return [(re.sub(r'\s+# .*', '', command).strip(), shown) for command, shown in found]


def shape_of(text):
    """Its words; numbers are alike, and so is one or many."""
    words = re.sub(r'\$?\d[\d.,]*', 'N', ' '.join(text.split()))
    return re.sub(r'\b(session|day|recall|request)s?\b', r'\1', words)


def begins_alike(shown, printed):
    """Each sentence that the page shows has its like among what is printed, in their order."""
    at, printed = 0, shape_of(printed)
    for sentence in re.split(r'(?<=[.:;]) ', shape_of(shown)):
        found = printed.find(sentence, at)
        if found < 0:
            return f'not there: {sentence}'
        at = found + len(sentence)
    return ''


def simulates_own_sessions(place, command, shown):
    code, out, err = place.run(command)
    ok('without logs: what was looked for, in one line',
       (code, out, err.count('\n'), 'no logs of Claude Code' in err), (2, '', 1, True))
    opencode = os.path.join(place.home, '.local', 'share', 'opencode')
    os.makedirs(opencode)
    _, _, err = place.run(command)
    ok('who has opencode is told how', 'opencode export' in err)
    os.rmdir(opencode)
    logs = os.path.join(place.home, '.claude', 'projects', 'a')
    os.makedirs(logs)
    for name in ('one.json', 'two.json'):
        shutil.copy(os.path.join(place.clone, 'examples', 'session.json'), os.path.join(logs, name))
    code, out, _ = place.run(command)
    ok('the sentence comes first', (code, out.split('\n')[0][:15]), (0, 'Your 2 sessions'))
    plain = re.sub(r' of N day', '', shape_of(shown))  # these logs have no times
    ok('and says what README shows', begins_alike(plain, out), '')


def changes_nothing(place, command, shown):
    place.install('codex')
    count = place.upstream.stats()['requests']
    code, out, err = place.run(command)
    ok('try ends as the agent does', (code, shown), (0, ''))
    ok('and says what it would have done', 'would have' in out + err)
    ok('nothing is called gone that a summary stands for',
       (re.search(r'would have been in a summary .* whole again by wr_', err) is not None,
        '(dropped' in err), (True, False))
    ok('the provider got what the agent sent', place.upstream.stats()['requests'] > count)
    with open(os.path.join(place.clone, 'examples', 'session.json'), encoding='utf-8') as file:
        ok('to the byte', place.upstream.last_body(), json.dumps(json.load(file)).encode())


def runs_an_agent(place, command, shown):
    code, _, err = place.run(command)
    ok('an agent that is not installed: one line', (code != 0, 'claude' in err), (True, True))
    place.install('codex')
    code, _, err = place.run(command.replace('claude', 'codex'))
    ok('run ends as the agent does', code, 0)
    for line in shown.strip().split('\n'):
        ok(f'the receipt is as README has it: {line[:30]}', begins_alike(line, err), '')
    says_why(place)


def says_why(place):
    """Of a session, by the name that is printed: what left, how old it is, what it would cost."""
    session = place.newest_session()
    ok('a name of a session may have a slash', '/' in session)
    _, table, _ = place.run('weir sessions', 60)
    named = table.split('\n')[1].split()[0]
    ok('a narrow terminal shows a short name', (len(named) < len(session), '..' in named),
       (True, False))
    _, offered, _ = place.run('weir --complete why ""')
    ok('a shell completes it', named.split(':')[1] in
       [line.split('\t')[0] for line in offered.split('\n')])
    code, out, err = place.run(f'weir why {named}', 200)
    ok('weir why knows it by that', (code, err), (0, ''))
    said = re.search(r'#\d+ read \S+, [\d,]+ → [\d,]+ tokens\. .* The file was last used [\d,]+ '
                     r'answers? ago\. If it is wanted again, one recall costs \$0\.0\d+\.',
                     ' '.join(out.split()))
    ok('it tells of a file, its age and its price', said is not None or out)


def just_runs(place, command, _shown):
    code, _, err = place.run(command)
    ok(f'{command}', (code, err if code else ''), (0, ''))


FIRST_SCREEN = {
    'weir simulate': simulates_own_sessions,
    'weir try -- codex': changes_nothing,
    'weir run -- claude': runs_an_agent,
}
SEEN_LATER = ('inspect', 'project', 'why', 'diff', 'recall', 'condense', 'count', 'models')


def readme_is_true(place):
    with open(os.path.join(place.clone, 'README.md'), encoding='utf-8') as file:
        page = file.read()
    first = blocks_of(page, '\n## ')
    ok('README begins with commands', len(first) >= 3)
    for command, shown in first:
        play = FIRST_SCREEN.get(command)
        ok(f'this test knows `{command}`', play is not None)
        if play:
            play(place, command, shown)
    for command, shown in blocks_of(page, '\n### In front of an agent')[len(first):]:
        command = command.replace('make test 2>&1', 'cat tests/newcomer.py')
        ok(f'this test knows `{command}`', any(f'weir {name} ' in command for name in SEEN_LATER))
        just_runs(place, command, shown)


def tour_is_true(place):
    code, out, _ = place.run(f'WEIR={PROGRAM} {sys.executable} tests/tour.py docs/tour.md')
    ok('the tour is as it is shown', (code, '' if code == 0 else out), (0, ''))


# ---- examples of --help ----

NOT_PLAYED = {  # what another program does, or what other tests play
    'claude mcp add weir -- weir mcp': 'agents_install_test.sh',
    'codex mcp add weir -- weir mcp': 'agents_install_test.sh',
    'weir simulate ~/.codex --policy exact --through http://127.0.0.1:8787/v1 --upstream 9001':
        'rival_test.sh',
}
EXITS = {  # nobody is there who could say yes, and nothing was installed or went badly
    'weir install': (1, 'nothing was changed'),
    'weir install --hook claude': (1, 'nothing was changed'),
    'weir uninstall': (2, 'nothing is installed'),
    'weir uninstall --yes': (2, 'nothing is installed'),
    'weir undo 7f3a': (1, '--yes'),
    'weir plan 7f3a --now': (1, '--yes'),
    "weir learn --reset 'route=messages model=claude-opus-5 policy=auto'": (2, 'lists them'),
}


ASKS = """import os, time, urllib.request
while True:
    try:
        urllib.request.urlopen(os.environ['ANTHROPIC_BASE_URL'] + '/healthz')
        break
    except ConnectionError:
        time.sleep(0.1)
    except urllib.error.URLError:
        time.sleep(0.1)
"""


def examples_of(place, command):
    """The lines of its example, which may go on below it."""
    _, text, _ = place.run(f'weir {command} --help', 200)
    text = text.partition('\nexample: ')[2]
    return [line.strip() for line in text.split('\n') if line.strip()]


def as_played(place, line):
    """With names that are there in the place of those that stand for some, and small numbers."""
    with open(os.path.join(place.clone, 'sent.json'), encoding='utf-8') as file:
        handle = re.search(r'wr_[0-9a-f]{20}', file.read()).group()
    port = str(free_port())
    if line.startswith('weir serve'):
        line = line.replace('serve', f'serve --listen 127.0.0.1:{port}').replace('4141', port)
        line = line.replace(' claude', f' {sys.executable} asks.py')
        line += '; code=$?; kill %1; wait %1; exit $code'
    for name, played in (('7f3a', place.session), ('wr_0123456789abcdef0123', handle),
                         ("--grep 'error|FAILED'", "--grep '.'"),
                         ("--runs 8 --check 'make test'", '--runs 1 --from docs --check true'),
                         ('make test 2>&1', 'cat tests/newcomer.py'),
                         ('postgresql://weir@db/weir', 'copied'),
                         ('127.0.0.1:11434', f'127.0.0.1:{place.upstream.port}'),
                         ('--model qwen3', '--model qwen3 -p hello')):
        line = line.replace(name, played)
    if not shutil.which('jq'):
        line = line.replace("jq '.totals'", 'cat')
    if line.startswith('weir pin'):
        line = re.sub(' 12$', ' 3', line)
    return line


def examples_run(place):
    """Every example of every --help, on the session that `weir run` has left."""
    place.session = place.newest_session()
    place.install('claude')
    shutil.copy(os.path.join(place.clone, 'examples', 'session.json'),
                os.path.join(place.clone, 'request.json'))
    shutil.copytree(os.path.join(place.clone, 'examples', 'agent'),
                    os.path.join(place.home, 'agent'))
    for folder in ('.config/opencode/plugins', '.codex/sessions'):
        os.makedirs(os.path.join(place.home, folder))
    shutil.copy(os.path.join(place.clone, 'request.json'),
                os.path.join(place.home, '.codex', 'sessions', 'one.json'))
    with open(os.path.join(place.home, '.codex', 'config.toml'), 'w', encoding='ascii'):
        pass
    with open(os.path.join(place.clone, 'asks.py'), 'w', encoding='ascii') as file:
        file.write(ASKS)
    place.run('git init -q')
    _, out, _ = place.run('weir --complete ""')
    commands = [line.split('\t')[0] for line in out.split('\n') if line]
    ok('there are commands', len(commands) > 30)
    played = set()
    for command in commands:
        examples = examples_of(place, command)
        ok(f'{command} has an example', bool(examples))
        for line in examples:
            played.add(line)
            if line in NOT_PLAYED:
                continue
            wanted, word = EXITS.get(line, (0, ''))
            code, out, err = place.run(as_played(place, line))
            ok(f'example: {line}', (code, err if code != wanted else word in err),
               (wanted, True))
    ok('the exceptions are examples', sorted((set(NOT_PLAYED) | set(EXITS)) - played), [])


# ---- tables ----

def width_of(line):
    line = re.sub(r'\033\[[0-9;]*m', '', line)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in 'WF'
               else 1 for c in line)


TABLES = (
    '', 'sessions', 'context', 'policies', 'policies auto', 'report', 'report --holdout', 'models',
    'models claude-sonnet-5-5', 'simulate examples/session.json', 'why r.json', 'why r.json --all',
    'inspect examples/session.json', 'diff examples/session.json sent.json',
    'replay examples/session.json', 'simulate --all examples/session.json',
    'prompt --dir examples/agent', 'plan SESSION', 'pin SESSION', 'rules', 'learn', 'top --once',
    'store stats', 'store verify', 'doctor --offline', 'install --status',
    'compare --runs 1 --from docs --check true --quiet -- myagent', 'run --list', '--help')


def tables_of(place):
    place.install('myagent')
    return [command.replace('SESSION', place.newest_session()) for command in TABLES]


def tables_fit(place):
    """After what was run above there are sessions to be shown."""
    for command in tables_of(place):
        fixed = 80 if command == '--help' else 0
        for columns in WIDTHS:
            code, out, err = place.run(f'weir {command}', columns)
            wide = [line for line in out.split('\n') if width_of(line) > max(columns, fixed)]
            if command == 'run --list':  # what is to be copied is one line
                wide = [line for line in wide if line.startswith(' ')]
            ok(f'weir {command} fits {columns} columns', (code, wide, err if code else ''),
               (0, [], ''))
            ok(f'weir {command} says something', bool(out.strip()))


def is_piped_and_ascii(place):
    """Where nobody looks: no colours, nothing cut; where the locale is C: ASCII."""
    for command in tables_of(place):
        code, out, _ = place.run(f'env -u COLUMNS weir {command} | cat')
        ok(f'weir {command} through a pipe', (code, '\033' in out, 'not shown in' in out),
           (0, False, False))
        ok(f'weir {command} says something to a pipe', bool(out.strip()))
        code, out, _ = place.run(f'LC_ALL=C weir {command}')
        beyond = [line for line in out.split('\n') if not line.isascii()]
        ok(f'weir {command} is ASCII in the locale C', (code, beyond), (0, []))
    _, out, _ = place.run('env -u COLUMNS weir run --list | cat')
    ok('in a pipe no words are wrapped', any(line.startswith(' ') and len(line) > 100
                                             for line in out.split('\n')))
    _, out, _ = place.run('weir simulate examples/session.json', 60)
    ok('what a narrow answer leaves out is said', 'Not shown in this width' in out)


def shown_in_terminal(place, command, columns, **env):
    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack('HHHH', 40, columns, 0, 0))
    env = {**place.env, 'TERM': 'xterm', **env}
    with subprocess.Popen(['bash', '-c', f'weir {command}'], cwd=place.clone, env=env,
                          stdin=subprocess.DEVNULL, stdout=inner) as process:
        os.close(inner)
        parts = []
        try:
            while part := os.read(outer, 1 << 16):
                parts.append(part)
        except OSError:  # Linux: the other end is closed
            pass
        process.wait(PATIENCE_SECONDS)
    os.close(outer)
    return b''.join(parts).decode().replace('\r', '')


def colours_say_no_more(place):
    """In a terminal: colours where a person looks, none with NO_COLOR, and the same words."""
    for command in ('inspect examples/session.json', 'diff examples/session.json sent.json',
                    'why r.json', 'context'):
        for columns in (60, 120):
            coloured = shown_in_terminal(place, command, columns)
            plain = shown_in_terminal(place, command, columns, NO_COLOR='1')
            ok(f'weir {command} has colours', '\033[' in coloured)
            ok(f'weir {command} has none with NO_COLOR', '\033' not in plain and bool(plain))
            wide = [line for line in coloured.split('\n') if width_of(line) > columns]
            ok(f'weir {command} fits a terminal of {columns}', wide, [])
            if command == 'context':  # the bar's letters are blocks, and ages go on
                ok('the bar has its key', '  \033[31m█\033[0m results' in coloured)
                continue
            ok(f'weir {command} says the same without', re.sub(r'\033\[\d*m', '', coloured), plain)


def main():
    os.chdir(ROOT)
    with Folder() as folder:
        place = Place(folder)
        readme_is_true(place)
        tables_fit(place)
        is_piped_and_ascii(place)
        colours_say_no_more(place)
        examples_run(place)
        tour_is_true(place)
    return CHECK.end()


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
"""`weir install` and `weir uninstall` on homes of all kinds: what was there before is there after,
byte for byte, permission for permission; what somebody changed in between stays; what could not be
taken back is refused and nothing is touched."""
import json
import os
import plistlib
import pty
import random
import shlex
import shutil
import stat
import subprocess
import sys

from harness import Checks, Folder

CHECK = Checks()
ok = CHECK.ok
WEIR = os.path.abspath(os.environ.get('WEIR', 'build/weir'))
AGENTS = ('claude', 'codex', 'opencode', 'pi')
CLAUDE, CODEX = '.claude/settings.json', '.codex/config.toml'
OPENCODE, PI = '.config/opencode/opencode.json', '.pi/agent/models.json'

JSONS = [
    '', '{}', '{}\n', ' { } ', '{"a":1}', '{\n\t"a": [1,2 ,3],\n\n  "env" : {}\n}',
    '{"env":{"X":"y\\n\\u00e9 \\" }"},"hooks":{"PostToolUse":[]},"permissions":{"allow":["a"]}}',
    '{"provider":{"openai":{}},"providers":{"x":{"baseUrl":"u"}},"mcp":{}}\r\n',
    '{"zeta":1.50e3,   "alpha":null}   \n\n\n',
]
COMMENTED = ['// mine\n{\n  "a": 1, // why\n  /* "env": {} */\n}\n',
             '{\n  "a": {"b": [1, 2,],},\n  // the end\n}\n']
TOMLS = ['', '# mine\n', 'model = "gpt-5"\n',
         'model = "x"\r\n[model_providers.y]\r\nbase_url = "z"\r\n',
         '[profiles.a]\nmodel_provider = "z"\nopenai_base_url = "q"',
         '\n\n# a\n[b]\nc = """\n[\n"""\n']


def weir(home, *words, program=WEIR, **env):
    env = {'HOME': home, 'PATH': os.path.join(home, 'no-programs'), **env}
    done = subprocess.run([program, *words], env=env, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, errors='replace', cwd=home)
    return done.returncode, done.stdout + done.stderr


def look(home):
    """Everything below a folder: kind, permissions, content."""
    seen = {}
    for folder, folders, files in os.walk(home):
        for name in folders + files:
            path = os.path.join(folder, name)
            info = os.lstat(path)
            if stat.S_ISLNK(info.st_mode):
                what = os.readlink(path)
            elif stat.S_ISREG(info.st_mode):
                with open(path, 'rb') as file:
                    what = file.read()
            else:
                what = None
            seen[os.path.relpath(path, home)] = (info.st_mode, what)
    return seen


def put(home, path, text, mode=0o644):
    path = os.path.join(home, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8', newline='') as file:
        file.write(text)
    os.chmod(path, mode)


def read(home, path):
    with open(os.path.join(home, path), encoding='utf-8', newline='') as file:
        return file.read()


def furnish(home, chance):
    """A home that somebody may have."""
    for path, texts in ((CLAUDE, JSONS), (CODEX, TOMLS), (OPENCODE, JSONS + COMMENTED),
                        (PI, JSONS + COMMENTED), ('.claude.json', JSONS)):
        kind = chance.choice(('file', 'file', 'link', 'folder', 'nothing'))
        text, mode = chance.choice(texts), chance.choice((0o600, 0o644, 0o640))
        if kind == 'file':
            put(home, path, text, mode)
        elif kind == 'link':
            put(home, os.path.join('dotfiles', path.replace('/', '_')), text, mode)
            os.makedirs(os.path.dirname(os.path.join(home, path)), exist_ok=True)
            os.symlink(os.path.join(home, 'dotfiles', path.replace('/', '_')),
                       os.path.join(home, path))
        elif kind == 'folder':
            os.makedirs(os.path.dirname(os.path.join(home, path)), exist_ok=True)
    put(home, '.bashrc', 'export A=1\n')


def play_property(folder, rounds):
    for seed in range(rounds):
        chance = random.Random(seed)
        home = os.path.join(folder, f'home-{seed}')
        os.makedirs(home)
        furnish(home, chance)
        before = look(home)
        words = chance.choice(([], ['--hook']))
        agents = chance.sample(('claude', 'opencode') if words else AGENTS, chance.randint(1, 2))
        code, said = weir(home, 'install', '--yes', *words, *agents)
        ok(f'seed {seed}: install {words} {agents}: {said}', code, 0)
        ok(f'seed {seed}: something was changed', look(home) != before)
        code, said = weir(home, 'install', '--status')
        ok(f'seed {seed}: all can be taken back', (code, 'can be taken back' in said), (0, True))
        code, said = weir(home, 'uninstall', '--yes')
        ok(f'seed {seed}: uninstall: {said}', code, 0)
        ok(f'seed {seed}: all is as before', look(home), before)


def play_settings(home):
    """What is written is what the agents read."""
    put(home, CLAUDE, '{\n  "model": "opus"\n}\n')
    put(home, OPENCODE + 'c', COMMENTED[0])
    code, said = weir(home, 'install', '--yes', '--store', '/s t', *AGENTS)
    ok('install: ' + said, code, 0)
    ok('the diff was shown', '\n-  "model": "opus"\n+  "model": "opus","env": {' in said)
    ok('claude', json.loads(read(home, CLAUDE)), {'model': 'opus', 'env': {
        'ANTHROPIC_BASE_URL': 'http://127.0.0.1:4141', 'ENABLE_TOOL_SEARCH': 'true'}})
    ok('codex', read(home, CODEX), 'openai_base_url = "http://127.0.0.1:4141/v1"\n')
    ok('the file with comments is the one', os.path.exists(os.path.join(home, OPENCODE)), False)
    text = read(home, OPENCODE + 'c')
    ok('its comments stay', ('// mine\n{\n' in text, '/* "env": {} */\n}\n' in text), (True, True))
    ok('pi', json.loads(read(home, PI)), {'providers': {
        'openai': {'baseUrl': 'http://127.0.0.1:4141/v1'},
        'anthropic': {'baseUrl': 'http://127.0.0.1:4141'}}})
    unit = read(home, '.config/systemd/user/weir.service')
    ok('the service', f'ExecStart="{WEIR}" serve --listen 127.0.0.1:4141 --store "/s t"\n' in unit)
    ok('a service that cannot be started is said', 'systemctl --user enable' in said)
    code, said = weir(home, 'install', '--yes', 'pi')
    ok('twice is refused', (code, 'weir uninstall' in said), (2, True))


def play_changes(home):
    """Somebody changes files while Weir is installed."""
    put(home, CLAUDE, '{"model": "opus"}')
    put(home, CODEX, 'model = "x"\n')
    weir(home, 'install', '--yes', *AGENTS)
    text = json.loads(read(home, CLAUDE))  # written anew, as its program would
    put(home, CLAUDE, json.dumps({**text, 'theme': 'dark'}, indent=4))
    put(home, CODEX, read(home, CODEX) + '[mine]\n')
    os.remove(os.path.join(home, PI))
    code, said = weir(home, 'uninstall', '--yes')
    ok('changes: ' + said, code, 0)
    ok('they stay in JSON', json.loads(read(home, CLAUDE)), {'model': 'opus', 'theme': 'dark'})
    ok('and in TOML', read(home, CODEX), 'model = "x"\n[mine]\n')
    ok('it is said', (said.count('your changes since stay'), said.count('was removed since')),
       (2, 1))
    put(home, CLAUDE, '{"model": "opus"}')
    weir(home, 'install', '--yes', 'claude')
    put(home, CLAUDE, '{"env": {"ANTHROPIC_BASE_URL": "http://mine"}}')
    code, said = weir(home, 'uninstall', '--yes')
    ok('a value of theirs is left alone', (code, 'left alone' in said), (1, True))
    copy = said.split('what it said is in ')[1].split('\n')[0]
    with open(copy, encoding='utf-8') as file:
        ok('and the copy is there', file.read(), '{"model": "opus"}')
    ok('status says so', 'left alone' in weir(home, 'install', '--status')[1])
    ok('and how it ends', 'remove ' + os.path.dirname(copy) in said)


def play_changes_inside(home):
    """What Weir put there is taken out setting by setting."""
    put(home, CLAUDE, '{}')
    weir(home, 'install', '--yes', '--service', 'none', 'claude', 'pi', 'codex')
    text = json.loads(read(home, CLAUDE))
    text['env']['ENABLE_TOOL_SEARCH'] = 'auto'
    put(home, CLAUDE, json.dumps(text))
    put(home, PI, json.dumps(json.loads(read(home, PI)), indent=1))
    put(home, CODEX, 'model = "x"\n')
    code, said = weir(home, 'uninstall', '--yes')
    ok('another value is said', (code, said.count('is left alone')), (1, 1))
    ok('and the others go: no agent asks a server that is gone', json.loads(read(home, CLAUDE)),
       {'env': {'ENABLE_TOOL_SEARCH': 'auto'}})
    ok('a file that has nothing else goes', os.path.exists(os.path.join(home, '.pi')), False)
    ok('one without our setting stays', read(home, CODEX), 'model = "x"\n')


def play_links_later(home):
    """A file that was moved into somebody's dotfiles, and a link put in its place."""
    put(home, CLAUDE, '{"model":"opus"}')
    weir(home, 'install', '--yes', '--service', 'none', 'claude')
    os.rename(os.path.join(home, CLAUDE), os.path.join(home, 'dotfile'))
    os.symlink('../dotfile', os.path.join(home, CLAUDE))
    ok('moved: uninstall', weir(home, 'uninstall', '--yes')[0], 0)
    ok('the link stays one', (os.path.islink(os.path.join(home, CLAUDE)), read(home, 'dotfile')),
       (True, '{"model":"opus"}'))


def play_bytes(home):
    """What is no UTF-8, has a NUL, or is large."""
    path = os.path.join(home, CODEX)
    os.makedirs(os.path.dirname(path))
    with open(path, 'wb') as file:
        file.write(b'# caf\xe9 \0\nmodel = "x"')
    put(home, '.claude.json', json.dumps({'history': ['line ' * 100] * 4000}))
    before = look(home)
    ok('bytes: install', weir(home, 'install', '--yes', 'codex')[0], 0)
    ok('bytes: uninstall', 'as it was' in weir(home, 'uninstall', '--yes')[1])
    ok('bytes: as before', look(home), before)
    ok('large: install', weir(home, 'install', '--yes', '--hook', 'claude')[0], 0)
    text = json.loads(read(home, '.claude.json'))
    put(home, '.claude.json', json.dumps({**text, 'more': 'line ' * 200000}))
    code, said = weir(home, 'uninstall', '--yes')
    ok('large: uninstall ' + said, (code, 'your changes since stay' in said), (0, True))
    ok('large: all but ours', 'mcpServers' in read(home, '.claude.json'), False)


def play_names(folder, home):
    """Programs and stores with names that a shell, a unit and XML would take for something else."""
    place = os.path.join(folder, 'we ir\'s $HOME %h "x" <&')
    os.makedirs(place)
    program = os.path.join(place, 'weir')
    try:
        os.link(WEIR, program)
    except OSError:
        shutil.copy(WEIR, program)
    words = ['install', '--yes', '--store', 'a $b']
    weir(home, *words, '--hook', 'claude', program=program)
    hook = json.loads(read(home, CLAUDE))['hooks']['PostToolUse'][0]['hooks'][0]['command']
    ok('a shell reads the hook', shlex.split(hook),
       [program, 'hook', 'claude', '--store', os.path.join(home, 'a $b')])
    ok('JSON the server', json.loads(read(home, '.claude.json'))['mcpServers']['weir']['command'],
       program)
    weir(home, 'uninstall', '--yes')
    weir(home, *words, 'codex', program=program)
    unit = read(home, '.config/systemd/user/weir.service')
    ok('systemd the unit', 'ExecStart="' + program.replace('%', '%%').replace('"', '\\"') +
       '" serve --listen 127.0.0.1:4141 --store "' + os.path.join(home, 'a $$b') + '"\n' in unit)
    weir(home, 'uninstall', '--yes')
    weir(home, *words, '--service', 'launchd', 'codex', program=program)
    with open(os.path.join(home, 'Library/LaunchAgents/weir.plist'), 'rb') as file:
        ok('launchd the list', plistlib.load(file)['ProgramArguments'], [
            program, 'serve', '--listen', '127.0.0.1:4141', '--store', os.path.join(home, 'a $b')])
    weir(home, 'uninstall', '--yes')
    os.rename(os.path.join(home, '.bashrc'), os.path.join(home, '.profile'))
    ok('names: nothing is left', sorted(look(home)), ['.profile'])


def play_places(home):
    """Homes that are none, and addresses that nobody can ask."""
    put(home, CODEX, '')
    before = look(home)
    for env in ({'HOME': ''}, {'HOME': 'here'}, {'XDG_STATE_HOME': 'state'}, {'CODEX_HOME': 'here'},
                {'HOME': home + '\n'}, {'HOME': os.fsencode(home) + b'\xff'}):
        code, said = weir(home, 'install', '--yes', 'codex', **env)
        ok(f'{env}: refused: {said}', code, 2)
    if not os.geteuid():
        os.chown(home, 12345, -1)
        os.chown(os.path.dirname(os.path.join(home, CODEX)), 12345, -1)
        code, said = weir(home, 'install', '--yes', 'claude')
        ok(f'the home of somebody else is refused: {said}', (code, 'somebody else' in said),
           (2, True))
        os.chown(home, 0, -1)
        os.chown(os.path.dirname(os.path.join(home, CODEX)), 0, -1)
    for listen in ('4141', 'localhost', '127.0.0.1:0', '0.0.0.0:4141', 'a.example:80',
                   '127.0.0.1:4141/"', '127.0.0.1:x'):
        code, said = weir(home, 'install', '--yes', '--listen', listen, 'codex')
        ok(f'--listen {listen}: refused: {said}', (code, '--listen' in said), (2, True))
    ok('places: nothing was touched', look(home), before)


SYSTEMCTL = """#!/bin/sh
# Knows units by their files, as the real one does.
unit=$HOME/.config/systemd/user/weir.service
wants=${unit%/*}/default.target.wants
echo "$*" >>"$HOME/told"
case $2 in
enable) [ -e "$unit" ] && mkdir "$wants" && ln -s "$unit" "$wants" ;;
disable) [ -e "$unit" ] && rm "$wants/weir.service" && rmdir "$wants" ;;
esac
"""


def play_service(home):
    """systemd is told before the file of the service goes, and what it made goes too."""
    put(home, 'bin/systemctl', SYSTEMCTL, 0o755)
    put(home, 'told', '')
    path = os.path.join(home, 'bin')
    before = look(home)
    for path, told in ((path + ':/usr/bin:/bin', '--user daemon-reload\n--user enable --now '
                        'weir.service\n--user disable --now weir.service\n--user daemon-reload\n'),
                       (None, '--user daemon-reload\n--user enable --now weir.service\n')):
        ok('service: install', weir(home, 'install', '--yes', 'codex',
                                    PATH=os.path.join(home, 'bin') + ':/usr/bin:/bin')[0], 0)
        ok('it is wanted', os.path.islink(os.path.join(
            home, '.config/systemd/user/default.target.wants/weir.service')))
        ok('service: uninstall', weir(home, 'uninstall', '--yes', **({'PATH': path} if path else
                                                                     {}))[0], 0)
        ok('what systemd was told', read(home, 'told'), told)
        put(home, 'told', '')
        ok('service: all is as before', look(home), before)


def play_asking(home):
    """Somebody writes the file while the question waits; and a question with a file that is
    stuck."""
    def answer(words, meanwhile):
        master, slave = pty.openpty()
        with subprocess.Popen([WEIR, *words], env={'HOME': home, 'PATH': '/nowhere'}, stdin=slave,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
            os.close(slave)
            said = b''
            while not said.endswith(b'[y/N] '):
                more = os.read(process.stdout.fileno(), 65536)
                if not more:
                    break
                said += more
            meanwhile()
            os.write(master, b'y\n')
            said += process.stdout.read()
            code = process.wait()
        os.close(master)
        return code, said.decode()
    put(home, CLAUDE, '{}')
    words = ['install', '--service', 'none', 'claude', 'codex']
    for path, text in ((CLAUDE, '{"model":"mine"}'), (CODEX, 'model = "mine"\n')):
        code, said = answer(words, lambda path=path, text=text: put(home, path, text))
        ok(f'written meanwhile: {said}', (code, 'changed since it was shown' in said), (2, True))
        ok('his words stay', read(home, path), text)
        ok('and nothing is installed', weir(home, 'install', '--status')[1],
           'Nothing is installed.\n')
    ok('asked again', answer(words, lambda: None)[0], 0)
    put(home, CLAUDE, '{"env":{"ANTHROPIC_BASE_URL":"http://mine"}}')
    ok('a file that is stuck keeps no other', answer(['uninstall'], lambda: None)[0], 1)
    ok('it went', read(home, CODEX), 'model = "mine"\n')


def play_kills(folder):
    """kill -9 at every point where install or uninstall changes something; at every third one
    unless WEIR_LONG is set."""
    shim = os.path.join(folder, 'kill_at.so')
    here = os.path.dirname(os.path.abspath(__file__))
    subprocess.run(['cc', '-shared', '-fPIC', '-O1', '-D_FILE_OFFSET_BITS=64', '-o', shim,
                    os.path.join(here, 'kill_at.c'), '-ldl'], check=True)
    killed = {'LD_PRELOAD': shim, 'ASAN_OPTIONS': 'verify_asan_link_order=0'}

    def furnished(name):
        home = os.path.join(folder, name)
        os.makedirs(home)
        put(home, CLAUDE, '{"model":"opus"}')
        put(home, PI, '{"mine": 1}', 0o640)
        return home, look(home)

    def left(home):
        """But for the folders of XDG, when they are empty."""
        return {path: what for path, what in look(home).items()
                if path not in ('.local', '.local/state')}
    words = {'install': ['install', '--yes', *AGENTS], 'uninstall': ['uninstall', '--yes']}
    for command, argv in words.items():
        home, _ = furnished('count-' + command)
        if command == 'uninstall':
            weir(home, *words['install'])
        weir(home, *argv, KILL_COUNT=os.path.join(folder, command), **killed)
        with open(os.path.join(folder, command), encoding='ascii') as file:
            points = int(file.read())
        ok(f'{command} has points', points > 20)
        for point in range(1, points + 1, 1 if os.environ.get('WEIR_LONG') else 3):
            home, before = furnished(f'{command}-{point}')
            if command == 'uninstall':
                weir(home, *words['install'])
            code, _ = weir(home, *argv, KILL_AT=str(point), **killed)
            ok(f'{command} is killed at {point}', code, -9)
            weir(home, 'uninstall', '--yes')
            ok(f'{command} killed at {point}: all is as before', left(home), before)
            shutil.rmtree(home)


def play_refusals(folder):
    cases = [
        ('a read-only file', lambda h: put(h, CLAUDE, '{}', 0o444), 'read-only'),
        ('an address of the user', lambda h: put(h, CLAUDE, '{"env":{"ANTHROPIC_BASE_URL":"x"}}'),
         'value of yours'),
        ('no JSON', lambda h: put(h, CLAUDE, '{"a":'), 'settings.json'),
        ('a list', lambda h: put(h, CLAUDE, '[]'), 'no object'),
        ('an env that is none', lambda h: put(h, CLAUDE, '{"env":7}'), 'no object'),
        ('a provider of the user', lambda h: put(h, CODEX, 'model_provider = "mine"\n'),
         'value of yours'),
        ('a folder in its place', lambda h: os.makedirs(os.path.join(h, CLAUDE)), 'regular'),
        ('a link to nothing', lambda h: (os.makedirs(os.path.join(h, '.claude')),
                                         os.symlink('/nowhere', os.path.join(h, CLAUDE))), 'link'),
        ('two names', lambda h: (put(h, CLAUDE, '{}'), os.link(
            os.path.join(h, CLAUDE), os.path.join(h, 'other'))), 'hard links'),
        ('a state folder that cannot be', lambda h: put(h, '.local', ''), 'kept'),
        ('a service of the user', lambda h: put(h, '.config/systemd/user/weir.service', '#\n'),
         'not ours'),
        ('a file in the place of a folder', lambda h: put(h, '.codex', ''), 'Not a directory'),
    ]
    for n, (what, prepare, word) in enumerate(cases):
        home = os.path.join(folder, f'refused-{n}')
        os.makedirs(home)
        prepare(home)
        before = look(home)
        code, said = weir(home, 'install', '--yes', 'claude', 'codex')
        ok(f'{what} is refused: {said}', (code, word in said), (2, True))
        ok(f'{what}: nothing was touched', look(home), before)


def main():
    with Folder() as folder:
        homes = [os.path.join(folder, name) for name in 'abcdefghijk']
        for home in homes:
            os.makedirs(home)
        play_settings(homes[0])
        play_changes(homes[1])
        play_changes_inside(homes[4])
        play_links_later(homes[5])
        play_bytes(homes[6])
        put(homes[7], '.bashrc', '')
        play_names(folder, homes[7])
        play_places(homes[8])
        play_service(homes[9])
        play_asking(homes[10])
        play_refusals(folder)
        play_kills(folder)
        ok('without a name those that are here', weir(homes[2], 'install', '--yes')[0], 2)
        put(homes[2], CODEX, '')
        code, said = weir(homes[2], 'install')
        ok('nobody to ask: nothing is done', (code, '--yes' in said, read(homes[2], CODEX)),
           (1, True, ''))
        code, said = weir(homes[2], 'install', '--dry-run')
        ok('a dry run shows and does nothing', (code, '+openai_base_url' in said,
                                                read(homes[2], CODEX)), (0, True, ''))
        ok('nothing to take back', weir(homes[2], 'uninstall', '--yes')[0], 2)
        ok('aider has no such file', 'weir run -- aider' in weir(homes[3], 'install', 'aider')[1])
        play_property(folder, 40)
    return CHECK.end()


if __name__ == '__main__':
    sys.exit(main())

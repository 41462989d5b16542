#!/usr/bin/env python3
"""docs/operations.md: its commands as they stand there, from an empty folder to a copy of a server
that serves; then a kill -9, and the way back from the backup, of a folder and of a database."""
import os
import re
import shutil
import signal
import subprocess
import sys
import textwrap

from fleet_cases import Database
from harness import PATIENCE_SECONDS, Folder, Upstream, Weir, free_port, wait_for
from sessions import CHECK, chat_session, ok, play, serve

PROGRAM = os.environ.get('WEIR', 'build/weir')


def run(*words):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False,
                          timeout=PATIENCE_SECONDS)
    return done.returncode, done.stdout


def blocks_of(page):
    """The commands that stand there, block by block."""
    with open(page, encoding='utf-8') as file:
        return [textwrap.dedent(block) for block in
                re.findall(r'^ *```(?:sh)?\n(.*?)```', file.read(), re.S | re.M)]


class Machine:
    """A folder that stands for the machine of the page: what the page writes to /var/lib/weir,
    /backup and port 4141 goes into it, and its provider is the scripted one. Nothing else of the
    commands is changed."""

    def __init__(self, folder, upstream):
        self.place = os.path.join(folder, 'page')
        os.makedirs(os.path.join(self.place, 'packaging'))
        os.makedirs(os.path.join(self.place, 'bin'))
        os.makedirs(os.path.join(self.place, 'backup'))
        os.symlink(os.path.abspath(PROGRAM), os.path.join(self.place, 'bin', 'weir'))
        self.port = free_port()
        self.address = f'http://127.0.0.1:{upstream.port}/v1'
        with open('packaging/weir.yaml', encoding='utf-8') as file:
            self.write('packaging/weir.yaml', self.here(file.read()))

    def here(self, text):
        for word, own in (('/var/lib/weir', self.place + '/store'), (':4141', f':{self.port}'),
                          ('/backup/', self.place + '/backup/'),
                          ('{key: {env', f'{{base_url: "{self.address}", key: {{env')):
            text = text.replace(word, own)
        return text

    def write(self, name, text):
        with open(os.path.join(self.place, name), 'w', encoding='utf-8') as file:
            file.write(text)

    def read(self, name):
        with open(os.path.join(self.place, name), encoding='utf-8') as file:
            return file.read()

    def play(self, commands):
        """(exit, what was said, errors) of a shell that stops at the first command that fails."""
        done = subprocess.run(['sh', '-e', '-c', self.here(commands)], cwd=self.place,
                              capture_output=True, text=True, check=False,
                              env={**os.environ, 'OPENAI_API_KEY': 'sk-of-the-provider',
                                   'PATH': self.place + '/bin:' + os.environ['PATH']},
                              timeout=PATIENCE_SECONDS)
        return done.returncode, done.stdout, done.stderr


def set_up_by_the_page(folder, upstream):
    """The commands of docs/operations.md as they stand there, in an empty folder."""
    machine = Machine(folder, upstream)
    configure, by_hand, backup = blocks_of('docs/operations.md')
    status, out, err = machine.play(configure)
    ok('the commands that configure work', (status, err), (0, ''))
    ok('and say what it would serve', 'users: 1, their tokens: 1' in out)
    token = machine.read('anna.txt').splitlines()[0]
    ok('the token is not in weir.yaml', token in machine.read('weir.yaml'), False)
    run_by_hand(machine, by_hand, backup)
    ok("the provider was shown Weir's key, and nobody's token",
       upstream.last_headers()['authorization'], 'Bearer sk-of-the-provider')
    weir = Weir(folder, config=machine.read('weir.yaml').replace(f':{machine.port}', ':0'),
                env={'OPENAI_API_KEY': 'sk-of-the-provider'})
    ok('it is ready', weir.get('/readyz')[0], 200)
    body = chat_session(0)
    ok('anna may ask, and nobody without her token',
       [weir.post('/v1/chat/completions', body, headers)[0]
        for headers in ({'Authorization': 'Bearer ' + token}, {'x-weir-token': token}, {})],
       [200, 200, 401])
    opens = re.search('metrics_token: "(.*)"', machine.read('weir.yaml')).group(1)
    ok('its token opens the metrics, as what scrapes them shows it', [weir.get('/metrics', {
        'Authorization': 'Bearer ' + word})[0] for word in (opens, token)], [200, 401])
    weir.stop()
    turn_on(machine)


# What people do with their hands and eyes between the lines of the page. Where a line fails, the
# server ends with the shell.
BEGINNING = """
trap 'kill $! 2>/dev/null || :' EXIT
"""
HANDS = """
until weir sessions --store /var/lib/weir | grep -q anna; do sleep 0.1; done
"""
END = """
until grep -q 'is read again' errors; do sleep 0.1; done
kill $!
wait $!
"""


def run_by_hand(machine, by_hand, backup):
    """The server of the page is started in the background by the page itself; while it serves it is
    copied, and at the end it is told that weir.yaml is new."""
    serve, sessions, hangup = by_hand.partition('weir sessions')
    serve = serve.replace(' &\n', ' 2>errors &\n', 1)
    first, last = hangup.split('\n', 1)
    copies = [line for line in backup.splitlines() if line.startswith('weir ')]
    ok('two lines of the backup are of Weir, one of the database',
       (len(copies), len(backup.strip().splitlines())), (2, 3))
    status, out, err = machine.play(
        BEGINNING + serve + HANDS + sessions + first + '\n' + '\n'.join(copies) + '\n' + last + END)
    ok('the commands that run it work, and a copy of what it serves', status, 0)
    if status:
        print(out, err)
    ok('it was ready, and answered', re.search(r'^ok$', out, re.M) is not None and
       '"choices"' in out, True)
    ok('the session is named, with its user', 'anna' in out.partition('"choices"')[2], True)
    copies = os.listdir(os.path.join(machine.place, 'backup'))
    ok('there is one copy, of today', [bool(re.fullmatch(r'weir-\d{4}-\d\d-\d\d', name))
                                       for name in copies], [True])


def turn_on(machine):
    """What the last step changes is right in the weir.yaml of the page."""
    with open('docs/operations.md', encoding='utf-8') as file:
        step = re.search(r'\*\*Turn it on\*\*.*', file.read()).group(0)
    modes = re.findall(r'`(?:mode: )?(canary 10%|active)`', step)
    ok('the page says how it is turned on', modes, ['canary 10%', 'active'])
    for mode in modes:
        machine.write('on.yaml', machine.read('weir.yaml').replace(
            'mode: shadow', 'mode: ' + mode))
        status, out, err = machine.play('weir serve --check-config --config on.yaml')
        ok(f'mode: {mode}', (status, err, f'mode {mode.partition(" ")[0]}' in out), (0, '', True))


def database_by_the_page(folder, upstream):
    """The third line of the backup, and the way back: another database has all of it."""
    try:
        database = Database(folder)
    except SystemExit:
        print('note: skipped: no PostgreSQL is installed')
        return
    weir = serve(folder, upstream, database=database.url)
    play(weir, chat_session(4), {'x-weir-session': 'kept'})
    wait_for(lambda: 'weir:kept' in run('sessions', '--json', '--store', database.url)[1])
    weir.stop()
    line = next(line for line in blocks_of('docs/operations.md')[2].splitlines()
                if line.startswith('pg_dump'))
    other = database.make('restored')
    commands = line.replace('DATABASE', f"'{database.url}'") + f"\npsql -qX '{other}' -f weir.sql"
    done = subprocess.run(['sh', '-e', '-c', commands], cwd=folder, capture_output=True, text=True,
                          check=False, timeout=PATIENCE_SECONDS)
    ok('a database is copied, and put back', (done.returncode, done.stderr), (0, ''))
    ok('what is put back is sound', run('store', 'verify', '--store', other)[0], 0)
    ok('and has the session', 'weir:kept' in run('sessions', '--json', '--store', other)[1])
    database.do('remove')


def main():
    with Folder() as folder:
        os.chmod(folder, 0o755)  # the database is another user's
        upstream = Upstream(folder)
        set_up_by_the_page(folder, upstream)
        weir = serve(folder, upstream)
        session = chat_session(4)
        ok('a session is shortened',
           (play(weir, session, {'x-weir-session': 'one'}),
            len(upstream.last_body()) < len(str(session)) / 2), (200, True))
        sent = upstream.last_body()
        wait_for(lambda: weir.metric('weir_ledger_rows_total') >= 4)
        backup = os.path.join(folder, 'backup')
        ok('it is copied while it serves', run('store', 'copy', weir.store, backup)[0], 0)
        ok('and the copy is sound', run('store', 'verify', '--store', backup)[0], 0)
        play(weir, chat_session(2, words='Another.'), {'x-weir-session': 'two'})
        for pid in [weir.process.pid, *weir.workers()]:
            os.kill(pid, signal.SIGKILL)
        weir.process.wait()
        store = weir.store
        os.remove(os.path.join(store, 'store.db'))  # the disk has lost it
        for name in os.listdir(backup):
            shutil.copy(os.path.join(backup, name), store)
        ok('what is put back is sound', run('store', 'verify', '--store', store)[0], 0)
        weir = serve(folder, upstream, store=store)
        ok('the session goes on', play(weir, session, {'x-weir-session': 'one'}), 200)
        ok('with the bytes that it was sent in before', upstream.last_body() == sent)
        ok('and it is ready', weir.get('/readyz')[0], 200)
        weir.stop()
        database_by_the_page(folder, upstream)
        upstream.stop()
    return CHECK.end()


sys.exit(main())

#!/usr/bin/env python3
"""The store taken from under a proxy that serves: removed, moved, replaced, full, not writable.

    store_cases.py [CASE...]

Law L2 in every one: each handle that leaves is found at the path by a process that starts then.
"""
import contextlib
import glob
import http.client
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading

from harness import PATIENCE_SECONDS, STARTED, Folder, Upstream, Weir, wait_for
from sessions import CHECK, chat_session, file_text, ok, serve

WEIR = os.environ.get('WEIR', 'build/weir')
HANDLE = re.compile(r'wr_[0-9a-f]+')


class Talk:
    """A session that grows by a result a request."""

    def __init__(self, weir, upstream, name, turns=0):
        self.weir, self.upstream, self.name, self.turns = weir, upstream, name, turns
        self.sent = []  # the last request, as the upstream got it

    def go_on(self):
        """Sends one more turn; gives the status, and whether what was sent before is the same."""
        self.turns += 1
        key = f'{self.name}-{self.turns}'
        status = self.weir.post('/v1/chat/completions', chat_session(self.turns, self.name),
                                {'x-weir-session': self.name, 'x-test-key': key})[0]
        before, self.sent = self.sent, json.loads(self.upstream.kept(key))['messages']
        return status, self.sent[:len(before)] == before

    def shortened(self):
        return sum(m['role'] == 'tool' and m['content'] != file_text(n // 2 - 1)
                   for n, m in enumerate(self.sent))


def unknown_handles(talk, store):
    """Of those in what was sent last: which a fresh process does not find."""
    unknown = []
    for number, message in enumerate(talk.sent):
        original = file_text(number // 2 - 1)
        if message['role'] != 'tool' or message['content'] == original:
            continue
        handle = HANDLE.search(message['content'])
        word = handle.group() if handle else 'none'
        found = subprocess.run([WEIR, 'recall', '--store', store, word], capture_output=True,
                               text=True, timeout=PATIENCE_SECONDS, check=False)
        if found.stdout != original:
            unknown.append((word, found.stderr[-200:]))
    return unknown


# ---- the files ----

def remove_database(store):
    os.unlink(os.path.join(store, 'store.db'))


def remove_all_files(store):
    for path in glob.glob(os.path.join(store, 'store.db*')):
        os.unlink(path)


def move_directory(store):
    os.rename(store, store + '.away')


def remake_directory(store):
    shutil.rmtree(store)
    os.mkdir(store, 0o700)


def put_back_a_copy(store):
    """As the store was after the first requests."""
    remove_all_files(store)
    os.rename(store + '.copy', os.path.join(store, 'store.db'))


def make_copy(store):
    with contextlib.closing(sqlite3.connect(os.path.join(store, 'store.db'))) as source:
        with contextlib.closing(sqlite3.connect(store + '.copy')) as copy:
            source.backup(copy)


def remove_log(store):
    os.unlink(os.path.join(store, 'store.db-wal'))


def remove_index(store):
    os.unlink(os.path.join(store, 'store.db-shm'))


def store_is_taken_away(folder, upstream):
    for lose in (remove_database, remove_all_files, move_directory, remake_directory,
                 put_back_a_copy, remove_log, remove_index):
        what = lose.__name__.replace('_', ' ')
        weir = serve(folder, upstream)
        errors = weir.errors.name
        talks = [Talk(weir, upstream, f'{lose.__name__}-{n}') for n in range(3)]
        for talk in talks:
            talk.go_on()
        make_copy(weir.store)
        for talk in talks + talks:
            talk.go_on()
        ok(f'{what}: before it, results are shortened', [t.shortened() for t in talks], [3, 3, 3])
        with open(errors, encoding='utf-8') as file:  # wherever its name goes
            lose(weir.store)
            went = [talk.go_on() for _ in range(3) for talk in talks]
            ok(f'{what}: every request is answered, and what was sent keeps its form', went,
               [(200, True)] * 9)
            ok(f'{what}: results are shortened', [t.shortened() for t in talks], [6, 6, 6])
            ok(f'{what}: a fresh process knows every handle',
               [unknown_handles(t, weir.store) for t in talks], [[], [], []])
            ok(f'{what}: that is told once', file.read().count('another store.db'), 1)
        ok(f'{what}: it ends when told', weir.stop(), 0)


# ---- a disk that is full ----

def limit_files(weir, size):
    """No file of the server may grow beyond that, nor of a worker that it starts."""
    for pid in [weir.process.pid, *weir.workers()]:
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def is_ready(weir):
    return weir.get('/readyz')[0] == 200


def health(weir):
    return json.loads(weir.get('/weir/v1/health')[1])['store']


def words_of_run(store, words):
    """Whether `weir run` says them. On a busy machine a server may be too slow to say how it is;
    the run then begins one of its own and says nothing of the other."""
    return words in subprocess.run([WEIR, 'run', '--store', store, '--', 'true'], text=True,
                                   capture_output=True, timeout=PATIENCE_SECONDS,
                                   check=False).stderr


def disk_is_full(folder, upstream):
    """A limit on the size of files is one: it sends SIGXFSZ as well."""
    weir = serve(folder, upstream)
    talks = [Talk(weir, upstream, f'full-{n}') for n in range(5)]
    for talk in talks + talks:
        talk.go_on()
    ok('a server that is well is ready', (weir.get('/healthz')[0], weir.get('/readyz')[:2]),
       (200, (200, b'ok\n')))
    ok('and says so', (weir.metric('weir_store_ok'), health(weir)), (1.0, 'ok'))
    limit_files(weir, 8192)
    went = [talk.go_on() for _ in range(4) for talk in talks]
    ok('a full disk costs no request and no form', went, [(200, True)] * 20)
    ok('what is new stays whole', [t.shortened() for t in talks], [2] * 5)
    ok('no worker dies of it', weir.metric('weir_worker_restarts_total'), 0.0)
    ok('the server lives and is not ready', (weir.get('/healthz')[0], weir.get('/readyz')[:2]),
       (200, (503, b'store: there is no room left; nothing new is shortened\n')))
    ok('which is a gauge', (weir.metric('weir_store_ok'), health(weir)),
       (0.0, 'there is no room left'))
    said = wait_for(lambda: words_of_run(weir.store, 'nothing new is shortened now'))
    ok('`weir run` says so', said)
    limit_files(weir, resource.RLIM_INFINITY)
    ok('with room again it is ready without being asked for anything',
       wait_for(lambda: is_ready(weir)))
    ok('and the gauge is up', weir.metric('weir_store_ok'), 1.0)
    ok('both were told, once', [weir.stderr().count(word) for word in (
        'there is no room left', 'is written again')], [1, 1])
    went = [talk.go_on() for talk in talks]
    ok('sessions go on', went, [(200, True)] * 5)
    ok('and are shortened again', [t.shortened() for t in talks], [3] * 5)
    ok('all handles are known', [unknown_handles(t, weir.store) for t in talks], [[]] * 5)
    weir.stop()


# ---- a store that cannot be ----

def be_nobody():
    """The command of somebody who may not write here; None: we cannot be one."""
    if os.geteuid() or not shutil.which('setpriv'):
        return None
    return ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups']


def below_a_file(folder):
    path = os.path.join(folder, 'file')
    with open(path, 'w', encoding='ascii') as file:
        file.write('no directory\n')
    return os.path.join(path, 'store')


def directory_for_a_database(folder):
    path = os.path.join(folder, 'odd')
    os.makedirs(os.path.join(path, 'store.db'), exist_ok=True)
    return path


def file_of_another(folder):
    path = os.path.join(folder, 'foreign')
    os.makedirs(path, exist_ok=True)
    with open(os.path.join(path, 'store.db'), 'w', encoding='ascii') as file:
        file.write('a letter, not a database\n' * 100)
    return path


def only_readable(folder, upstream):
    """A store that was used, and may not be written by others."""
    weir = serve(folder, upstream)
    Talk(weir, upstream, 'readable').go_on()
    weir.stop()
    os.chmod(folder, 0o755)
    subprocess.run(['chmod', '-R', 'a+rX', weir.store], check=True)
    return weir.store


def no_store_no_start(folder, upstream):
    places = [(make.__name__.replace('_', ' '), make(folder), []) for make in (
        below_a_file, directory_for_a_database, file_of_another)]
    if be_nobody():
        places.append(('only readable', only_readable(folder, upstream), be_nobody()))
    else:
        print('note: not root, or no setpriv: a store that can only be read was not tried')
    for what, store, who in places:
        command = who + [os.path.abspath(WEIR), 'serve', '--listen', '127.0.0.1:0', '--upstream',
                         f'http://127.0.0.1:{upstream.port}/v1']
        result = subprocess.run(command + ['--store', store], capture_output=True, text=True,
                                timeout=PATIENCE_SECONDS, check=False)
        ok(f'{what}: it does not start', (result.returncode, result.stdout), (2, ''))
        ok(f'{what}: it says in one line what, where and what to do',
           (result.stderr.count('\n'), f'store {store}: ' in result.stderr,
            '--without-store' in result.stderr), (1, True, True))
        result = subprocess.run([os.path.abspath(WEIR), 'run', '--store', store, '--', 'true'],
                                capture_output=True, text=True, timeout=PATIENCE_SECONDS,
                                check=False) if not who else None
        ok(f'{what}: `weir run` does not say that it is at work',
           not result or (result.returncode, 'mode active' in result.stderr,
                          '--without-store' in result.stderr) == (2, False, True))


def without_a_store(folder, upstream):
    """Asked for, it serves: nothing is shortened, and nobody is told otherwise."""
    command = [WEIR, 'serve', '--listen', '127.0.0.1:0', '--without-store', '--upstream',
               f'http://127.0.0.1:{upstream.port}/v1', '--policy', 'tiered']
    weir = Bare(command)
    ok('the first line says that nothing is shortened', 'nothing is shortened' in weir.first_line)
    talk = Talk(weir, upstream, 'without')
    ok('requests pass', [talk.go_on() for _ in range(4)], [(200, True)] * 4)
    ok('as they came', talk.shortened(), 0)
    ok('it is ready, and its store is none', (is_ready(weir), health(weir)), (True, 'none'))
    ok('the gauge is down', weir.metric('weir_store_ok'), 0.0)
    ok('it ends when told', weir.stop(), 0)
    result = subprocess.run(command + ['--store', folder], capture_output=True, text=True,
                            timeout=PATIENCE_SECONDS, check=False)
    ok('one or the other', (result.returncode, 'one or the other' in result.stderr), (2, True))


class Bare(Weir):
    """`weir serve` as its command line says, without a folder."""

    def __init__(self, command):  # pylint: disable=super-init-not-called
        self.errors = tempfile.TemporaryFile('w+')
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.errors,
                                        text=True)
        STARTED.append(self.process)
        self.first_line = self.process.stdout.readline()
        address = self.first_line.partition('http://')[2].partition(',')[0]
        self.port = int(address.rpartition(':')[2])
        wait_for(lambda: self.get('/healthz')[0])


def store_cannot_be_made_again(folder, upstream):
    """A file stands where the directory was: found out without a request, and mended so too."""
    weir = serve(folder, upstream)
    talk = Talk(weir, upstream, 'again')
    talk.go_on()
    shutil.rmtree(weir.store)
    with open(weir.store, 'w', encoding='ascii') as file:
        file.write('in the way\n')
    ok('a store that is gone is noticed', wait_for(lambda: not is_ready(weir)))
    ok('the gauge is down', weir.metric('weir_store_ok'), 0.0)
    ok('requests go', talk.go_on()[0], 200)
    ok('as they came: nobody could find what was taken out', talk.shortened(), 0)
    os.unlink(weir.store)
    ok('it is mended', wait_for(lambda: is_ready(weir)))
    talk.go_on()
    ok('requests go on', talk.go_on(), (200, True))
    ok('are shortened', talk.shortened() > 0)
    ok('and known', unknown_handles(talk, weir.store), [])
    ok('it ends when told', weir.stop(), 0)


def dead_hands_are_counted(folder, upstream):
    """What a worker had in its hands when it died is what it had not answered."""
    weir = serve(folder, upstream)

    def ask():
        with contextlib.suppress(OSError, http.client.HTTPException):
            weir.post('/v1/chat/completions', {**chat_session(1), 'stream': True},
                      {'x-test-event-ms': '60000'}, timeout=PATIENCE_SECONDS)
    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    ok('three are open', wait_for(lambda: weir.metric('weir_exchanges') == 3.0))
    os.kill(weir.worker(), signal.SIGKILL)
    for thread in threads:
        thread.join()
    ok('three are told of', wait_for(lambda: '3 requests in its hands' in weir.stderr()))
    weir.stop()


def memory_is_short(folder, upstream):
    """What finds no room in memory passes unread."""
    if 'asan' in WEIR:
        print('note: a sanitizer needs its memory; a lack of it was not tried')
        return
    weir = serve(folder, upstream)
    talk = Talk(weir, upstream, 'short')
    talk.go_on()
    with open(f'/proc/{weir.worker()}/status', encoding='ascii') as file:
        used = next(int(line.split()[1]) for line in file if line.startswith('VmSize')) * 1024
    resource.prlimit(weir.worker(), resource.RLIMIT_AS, (used + (10 << 20), resource.RLIM_INFINITY))
    body = json.dumps({'model': 'gpt-5', 'messages': [
        {'role': 'user', 'content': 'x' * (24 << 20)}]}).encode()
    answers = [weir.post('/v1/chat/completions', body, {'x-test-key': 'big'})[0] for _ in range(3)]
    ok('a body for which there is no memory passes', answers, [200, 200, 200])
    ok('as it came', upstream.kept('big') == body)
    resource.prlimit(weir.worker(), resource.RLIMIT_AS,
                     (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    ok('sessions go on', talk.go_on(), (200, True))
    ok('on the same worker', weir.metric('weir_worker_restarts_total'), 0.0)
    weir.stop()


CASES = (memory_is_short, store_is_taken_away, disk_is_full, no_store_no_start, without_a_store,
         store_cannot_be_made_again, dead_hands_are_counted)


def main():
    with Folder() as folder:
        upstream = Upstream(folder)
        for case in CASES:
            if len(sys.argv) < 2 or case.__name__ in sys.argv[1:]:
                case(folder, upstream)
        upstream.stop()
    return CHECK.end()


if __name__ == '__main__':
    sys.exit(main())

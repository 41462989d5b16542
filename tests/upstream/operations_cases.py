#!/usr/bin/env python3
"""A backup while the server works, a kill -9, and the way back from the backup."""
import os
import re
import shutil
import signal
import subprocess
import sys

from harness import PATIENCE_SECONDS, Folder, Upstream, Weir, wait_for
from sessions import CHECK, chat_session, ok, play, serve

PROGRAM = os.environ.get('WEIR', 'build/weir')


def run(*words):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False,
                          timeout=PATIENCE_SECONDS)
    return done.returncode, done.stdout


def set_up_by_the_page(folder, upstream):
    """The commands of docs/operations.md as they stand there, in an empty folder."""
    with open('docs/operations.md', encoding='utf-8') as file:
        commands = re.search(r'```sh\n(.*?)```', file.read(), re.S).group(1)
    with open('packaging/weir.yaml', encoding='utf-8') as file:
        text = file.read()
    place = os.path.join(folder, 'page')
    os.makedirs(os.path.join(place, 'packaging'))
    os.makedirs(os.path.join(place, 'bin'))
    os.symlink(os.path.abspath(PROGRAM), os.path.join(place, 'bin', 'weir'))
    with open(os.path.join(place, 'packaging', 'weir.yaml'), 'w', encoding='utf-8') as file:
        file.write(text.replace('/var/lib/weir', place + '/store').replace(':4141', ':0'))
    done = subprocess.run(['sh', '-e', '-c', commands], cwd=place, capture_output=True, text=True,
                          env={**os.environ, 'PATH': place + '/bin:' + os.environ['PATH']},
                          check=False, timeout=PATIENCE_SECONDS)
    ok('the commands of the page work', (done.returncode, done.stderr), (0, ''))
    ok('and say what it would serve', 'users: 1, their tokens: 1' in done.stdout)
    with open(os.path.join(place, 'weir.yaml'), encoding='utf-8') as file:
        config = file.read()
    with open(os.path.join(place, 'anna.txt'), encoding='utf-8') as file:
        token = file.readline().strip()
    config = config.replace('{key: {env', f'{{base_url: "http://127.0.0.1:{upstream.port}/v1", '
                            'key: {env')
    weir = Weir(folder, config=config, env={'OPENAI_API_KEY': 'sk-of-the-provider'})
    ok('it is ready', weir.get('/readyz')[0], 200)
    body = chat_session(0)
    ok('anna may ask, and nobody without her token',
       [weir.post('/v1/chat/completions', body, headers)[0]
        for headers in ({'Authorization': 'Bearer ' + token}, {'x-weir-token': token}, {})],
       [200, 200, 401])
    ok("with the provider's key", upstream.last_headers()['authorization'],
       'Bearer sk-of-the-provider')
    weir.stop()


def main():
    with Folder() as folder:
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
        upstream.stop()
    return CHECK.end()


sys.exit(main())

#!/usr/bin/env python3
"""A backup while the server works, a kill -9, and the way back from the backup."""
import os
import shutil
import signal
import subprocess
import sys

from harness import PATIENCE_SECONDS, Folder, Upstream, wait_for
from sessions import CHECK, chat_session, ok, play, serve

PROGRAM = os.environ.get('WEIR', 'build/weir')


def run(*words):
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=False,
                          timeout=PATIENCE_SECONDS)
    return done.returncode, done.stdout


def main():
    with Folder() as folder:
        upstream = Upstream(folder)
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

#!/usr/bin/env python3
"""kill -9 at every point where `weir agent` changes something outside itself: each write of the
journal, of a checkpoint and of the store, each request, each start of a command. Then it is started
again, and what it left must be whole.

Of some hundred points a few that lie evenly between; with `all` (`make test-kill`) every one; or
those that the command line names."""
import json
import os
import subprocess
import sys

from agent_home import Home, call, calls_and_results, journal_troubles, read, write_file
from harness import PATIENCE_SECONDS, Checks, Folder, Upstream

CHECK = Checks()
ok = CHECK.ok
POINTS_SHORT = 6
RAN = 'echo ran >> ran.txt'


def steps():
    """Reads, so that older turns become a summary; a write, a command, an edit; words."""
    return ([read(n) for n in range(5)] +
            [call('write', path='a.txt', content='one\ntwo\n'), call('process_start', command=RAN),
             call('edit', path='a.txt', old_text='two', new_text='2')] +
            [read(n) for n in range(5, 8)] + [{'words': 'All done.'}])


class Try:
    """A session that is begun, killed, and gone on with."""

    def __init__(self, folder, shim):
        self.folder, self.shim = folder, shim
        script = write_file(folder, 'script.json', json.dumps(steps()))
        self.upstream, self.home = Upstream(folder, '--script', script), Home(folder)
        self.options = ['--session', 'k', '--yes', '--window', '16000', '--config', write_file(
            folder, 'config.yaml', 'session: {policy: exact, summary: {at: 0.5}}\n')]

    def run(self, words, **env):
        argv = self.home.command(self.upstream, 'chat', '-p', words, *self.options)
        if env:
            env |= {'LD_PRELOAD': self.shim, 'ASAN_OPTIONS': 'verify_asan_link_order=0'}
        return subprocess.run(argv, cwd=self.home.work, env={**self.home.env(), **env},
                              capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              timeout=PATIENCE_SECONDS, check=False)

    def has_words(self):
        """Whether the user's words are in the journal, whose last line may be torn."""
        path = self.home.session_file('k', 'events.jsonl')
        if not os.path.exists(path):
            return False
        with open(path, encoding='utf-8', errors='replace') as file:
            return any('"kind":"user"' in line and line.endswith('\n') for line in file)

    def troubles(self):
        """What is wrong with the session when it has come to its end."""
        found = self.home.events('k')
        wrong = journal_troubles(found)
        if not [e for e in found if e['kind'] == 'assistant'][-1].get('text'):
            wrong.append('no end')
        calls, results = calls_and_results(found)
        ran = self.text('ran.txt').count('ran')
        if ran > sum(c['name'] == 'process_start' for c in calls):
            wrong.append(f'a command was done {ran} times')
        unknown = [r for r in results if 'outcome is unknown' in r['text']]
        if len(unknown) > 1:
            wrong.append('more than one call was under way')
        if self.text('a.txt') not in ('', 'one\ntwo\n', 'one\n2\n'):
            wrong.append('half a file')
        if self.upstream.stats()['refused']:
            wrong.append('the provider refused a request')
        return wrong

    def text(self, name):
        path = self.home.path(name)
        if not os.path.exists(path):
            return ''
        with open(path, encoding='utf-8') as file:
            return file.read()

    def stop(self):
        self.upstream.stop()


def kill_at(folder, shim, point):
    one = Try(folder, shim)
    first = one.run('Do it all.', KILL_AT=str(point))
    last = one.run('' if first.returncode and one.has_words() else 'Do it all.')
    # Killed behind its last answer there is nothing more to do, and that is said.
    is_over = last.returncode == 0 or 'there is nothing to answer' in last.stderr
    wrong = one.troubles() if is_over else [f'exit {last.returncode}: {last.stderr}']
    one.stop()
    return first.returncode, wrong


def main():
    with Folder() as folder:
        shim = os.path.join(folder, 'kill_at.so')
        here = os.path.dirname(os.path.abspath(__file__))
        subprocess.run([os.environ.get('CC', 'cc'), '-O1', '-fPIC', '-shared', '-o', shim,
                        os.path.join(here, 'kill_at.c'), '-ldl'], check=True)
        whole = Try(folder, shim)
        counts = os.path.join(folder, 'counts')
        done = whole.run('Do it all.', KILL_COUNT=counts)
        ok('not killed: it ends well', (done.returncode, done.stdout.strip(), whole.troubles()),
           (0, 'All done.', []))
        kinds = {e['kind'] for e in whole.home.events('k')}
        ok('and has a summary and a command in it', {'compaction', 'begun'} <= kinds)
        whole.stop()
        with open(counts, encoding='ascii') as file:
            count = int(file.read())
        points = list(range(1, count + 1))
        if sys.argv[1:] not in ([], ['all']):
            points = [int(word) for word in sys.argv[1:]]
        elif not sys.argv[1:]:
            points = points[7::max(1, count // POINTS_SHORT)]
        kills = 0
        for point in points:
            code, wrong = kill_at(folder, shim, point)
            kills += code == -9
            ok(f'killed at {point} of {count}', wrong, [])
        ok('it was killed', kills > 0)
        print(f'note: {count} points; killed {kills} times')
    return CHECK.end()


sys.exit(main())

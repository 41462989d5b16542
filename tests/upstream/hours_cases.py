#!/usr/bin/env python3
"""`weir agent` for a working day: one process, one session, 4,000 turns in 100 messages, by a clock
that moves 7.2 seconds a turn (libfaketime). For `make test-hours`; a number chooses fewer turns."""
import json
import os
import subprocess
import sys
import threading

from agent_home import Home, journal_troubles, read, write_file
from harness import FAKETIME, STARTED, Checks, Folder, Upstream

CHECK = Checks()
ok = CHECK.ok
TURNS, TURNS_A_MESSAGE, TURN_SECONDS = 4000, 40, 7.2
WINDOW = 16000
GROWTH_KB_MAX = 128 * 1024


def memory_kb(pid):
    with open(f'/proc/{pid}/status', encoding='ascii') as file:
        return next(int(line.split()[1]) for line in file if line.startswith('VmRSS'))


def cpu_seconds(pid):
    with open(f'/proc/{pid}/stat', encoding='ascii') as file:
        words = file.read().rpartition(')')[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf('SC_CLK_TCK')


class Day:
    """Reads what the agent prints, and moves its clock with each turn."""

    def __init__(self, clock):
        self.clock, self.turns, self.largest, self.ends, self.points = clock, 0, 0, [], []
        self.set_clock()

    def set_clock(self):
        with open(self.clock + '.new', 'w', encoding='ascii') as file:
            file.write(f'+{int(self.turns * TURN_SECONDS)}\n')
        os.replace(self.clock + '.new', self.clock)

    def take(self, line, pid):
        if line['type'] == 'turn':
            self.turns += 1
            self.largest = max(self.largest, line['tokens_after'])
            self.set_clock()
        elif line['type'] == 'end':
            self.ends.append(line['outcome'])
            self.points.append((self.turns, memory_kb(pid), cpu_seconds(pid)))


def main():
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else TURNS
    messages = turns // TURNS_A_MESSAGE
    if not FAKETIME:
        print('skipped: libfaketime is not installed, so no clock can be moved')
        return 0
    with Folder() as folder:
        steps = []
        for n in range(messages):
            steps += [read(n * TURNS_A_MESSAGE + i) for i in range(TURNS_A_MESSAGE - 1)]
            steps.append({'words': f'Message {n} is done.'})
        upstream = Upstream(folder, '--window', str(WINDOW), '--script',
                            write_file(folder, 'script.json', json.dumps(steps)))
        day = Day(os.path.join(folder, 'clock'))
        home = Home(folder, **FAKETIME, FAKETIME_TIMESTAMP_FILE=day.clock, FAKETIME_NO_CACHE='1')
        agent = subprocess.Popen(
            home.command(upstream, 'chat', '-p', 'Read on.', '--every', '1', '--json', '--session',
                         'day', '--window', str(WINDOW)), cwd=home.work, env=home.env(),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        STARTED.append(agent)
        said = []
        reader = threading.Thread(target=lambda: said.append(agent.stderr.read()), daemon=True)
        reader.start()
        for line in agent.stdout:
            day.take(json.loads(line), agent.pid)
            if len(day.ends) == messages:
                break
        agent.terminate()
        agent.stdout.read()
        agent.wait()
        reader.join()
        ok('every message comes to its end', day.ends, ['done'] * messages)
        ok('nothing is said on stderr', said, [''])
        ok('every turn was taken', day.turns, messages * TURNS_A_MESSAGE)
        ok('every request is within the window', day.largest <= WINDOW)
        ok('nothing was refused', upstream.stats()['refused'], 0)
        found = home.events('day')
        ok('the journal is complete', journal_troubles(found), [])
        hours = (found[-1]['at_ms'] - found[0]['at_ms']) / 3600000
        ok('the hours have passed', hours >= 0.9 * turns * TURN_SECONDS / 3600)
        tenth = day.points[max(1, messages // 10)]
        last, before = day.points[-1], day.points[-1 - max(1, messages // 10)]
        ok('memory is bounded', last[1] - tenth[1] < GROWTH_KB_MAX)
        first_ms = 1000 * (tenth[2] - day.points[0][2]) / (tenth[0] - day.points[0][0])
        last_ms = 1000 * (last[2] - before[2]) / (last[0] - before[0])
        print(f'note: {day.turns} turns, {hours:.1f} hours, {len(found)} events; CPU of a turn '
              f'{first_ms:.1f} ms at first, {last_ms:.1f} ms at the end; {tenth[1]} KB at first, '
              f'{last[1]} KB at the end')
        upstream.stop()
    return CHECK.end()


sys.exit(main())

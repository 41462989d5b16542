#!/usr/bin/env python3
"""How long programs take to start and end: startup.py PROGRAM... (each is asked for its --version).

Runs them in turns, so that what else the machine does falls on all of them alike, and prints the
least and the median of RUNS=200 in milliseconds, /bin/true beside them, and the ratio to the first.
"""
import os
import statistics
import sys
import time

RUNS = int(os.environ.get('RUNS', '200'))


def once(argv):
    with open(os.devnull, 'wb') as null:
        began = time.perf_counter()
        pid = os.posix_spawn(argv[0], argv, os.environ,
                             file_actions=[(os.POSIX_SPAWN_DUP2, null.fileno(), 1)])
        status = os.waitpid(pid, 0)[1]
        took = time.perf_counter() - began
    if status:
        sys.exit(f'{argv[0]}: exit {os.waitstatus_to_exitcode(status)}')
    return took * 1000


def main():
    programs = [['/bin/true']] + [[path, '--version'] for path in sys.argv[1:]]
    taken = [[once(argv) for argv in programs] for _ in range(RUNS)]
    columns = list(zip(*taken))
    first = min(columns[1]) if len(columns) > 1 else 1
    print(f'start-up, ms ({RUNS} runs)')
    for argv, column in zip(programs, columns):
        print(f'{argv[0]:<32} least {min(column):6.2f}  median {statistics.median(column):6.2f}'
              f'  ratio {min(column) / first:5.2f}')


main()

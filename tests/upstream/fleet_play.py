#!/usr/bin/env python3
"""Cases that were written for one proxy, played by three nodes on one PostgreSQL.

    fleet_play.py SCRIPT [CASE...]      such as: fleet_play.py own_cases.py recalls_are_hidden

What a script starts as its proxy is three of them on a database of its own, and each request goes
to the next: what one has kept (hidden recalls, answers that are gone on from, orders, plans, rows)
the others must have. Scripts know nothing of it; their proxy's `store` is the database's address.
"""
import itertools
import os
import runpy
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness  # noqa: E402
from fleet_cases import Database  # noqa: E402

NODES = 3
One = harness.Weir


class Fleet:
    database = None  # the server, for all of them
    numbers = itertools.count()

    def __init__(self, folder, *arguments, config=None, store=None, **more):
        self.store = store or self.database.make(f'play_{next(self.numbers)}')
        self.nodes = [One(folder, *arguments, config=config, database=self.store, **more)
                      for _ in range(NODES)]
        self.turn = itertools.cycle(self.nodes)
        self.config_path = self.nodes[0].config_path

    def request(self, *arguments, **more):
        return next(self.turn).request(*arguments, **more)

    def get(self, *arguments):
        return next(self.turn).get(*arguments)

    def post(self, *arguments, **more):
        return next(self.turn).post(*arguments, **more)

    def log_lines(self):
        lines = [line for node in self.nodes for line in node.log_lines()]
        return sorted(lines, key=lambda line: line['time_ms'])

    def lines(self):
        return sum(node.lines() for node in self.nodes)

    def log(self, count=1):
        return harness.wait_for(lambda: len(lines := self.log_lines()) >= count and lines) or []

    def metric(self, name):
        return sum(node.metric(name) or 0 for node in self.nodes)

    def stop(self, *arguments):
        return [node.stop(*arguments) for node in self.nodes][0]


def main():
    harness.Weir = Fleet
    with harness.Folder() as folder:
        os.chmod(folder, 0o755)
        Fleet.database = Database(folder)
        script = os.path.join(harness.HERE, sys.argv[1])
        sys.argv = sys.argv[1:]
        try:
            runpy.run_path(script, run_name='__main__')
        finally:
            Fleet.database.do('remove')


if __name__ == '__main__':
    main()

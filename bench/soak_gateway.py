#!/usr/bin/env python3
"""Fifty users of a gateway on two nodes and one PostgreSQL, while nodes are killed.

    WEIR=build/weir bench/soak_gateway.py [SECONDS [USERS]]      (1200 seconds, 50 users)

Every user's agent asks about once a second, of both nodes, until its budget is used up (after about
half of the time), and goes on asking until the end. Budgets are of requests of a month, of each
user and of each team of five, the teams' smaller than the sum of their users'. Answers take up to
0.4 seconds. Every 30 seconds a node is killed (SIGKILL, all its processes) and started again.

Exit 1: a user or team was let in once too often or too seldom, money is not what the clients were
told, or somebody got at something of another's (page, HTTP, MCP, recall, metrics).
"""
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../tests/upstream'))
from fleet_cases import Database  # noqa: E402
from gateway_load import Load, wait_until_settled  # noqa: E402
from harness import Checks, Folder, Upstream  # noqa: E402

KILL_SECONDS, REQUESTS_PER_USER_SECOND, PAUSE_SECONDS, DELAY_MS = 30, 0.5, 0.8, 400


def main(seconds=1200, users=50):
    check = Checks()
    limit = max(5, int(seconds * REQUESTS_PER_USER_SECOND))
    team_limit = limit * 4
    with Folder() as folder:
        os.chmod(folder, 0o755)  # the database is another user's
        database, upstream = Database(folder), Upstream(folder)
        load = Load(folder, database, upstream, users, limit, team_limit)
        began = time.monotonic()
        load.run(limit + 5, [KILL_SECONDS] * (seconds // KILL_SECONDS), pause_seconds=PAUSE_SECONDS,
                 delay_ms=DELAY_MS)
        lasted = time.monotonic() - began
        wait_until_settled(load)
        load.judge_budgets(check.ok)
        load.judge_doors(check.ok, list(load.users))
        counts = {status: sum(load.answers[name][status] for name in load.users)
                  for status in (200, 429, 0, -1)}
        others = sum(n for name in load.users for status, n in load.answers[name].items()
                     if status not in counts)
        load.end()
        database.do('remove')
        upstream.stop()
    told = sum(load.money.values())
    print(f'{users} users, 2 nodes, {lasted:.0f} s: {counts[200]} answered, {counts[429]} refused '
          f'for a budget (median {statistics.median(load.waits or [0]) * 1000:.0f} ms), '
          f'{load.kills} nodes killed, {counts[0]} requests cut off by that, {counts[-1]} sent '
          f'where nobody listened, {others} other answers; {told / 1e6:.4f} USD told, '
          f'{load.untold} requests let in whose clients were not told, '
          f'{load.untold_money / 1e6:.4f} USD for them')
    return check.end()


if __name__ == '__main__':
    sys.exit(main(*map(int, sys.argv[1:])))

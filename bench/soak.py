#!/usr/bin/env python3
"""Lets the proxy serve for a while and tells whether it grows.

    WEIR=build/weir bench/soak.py [SECONDS [CLIENTS]]      (1200 seconds, 4 clients)

Each client plays sessions of a coding agent one after the other, request by request, as Chat
Completions under the policy auto; half of the answers are streams. Ten times in between, the
median time of a request and the memory and open files of all of Weir's processes are printed.
Exit 1: a request failed, or files or memory grow from the third look to the last (files by more
than what the clients have open, memory by more than a quarter).
"""
import http.client
import json
import os
import statistics
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../tests/upstream'))
from harness import Upstream, Weir, Folder  # noqa: E402
from sessions import chat_session  # noqa: E402

LOOKS = 10
TURNS = 14


class Client(threading.Thread):
    def __init__(self, number, port, until):
        super().__init__(daemon=True)
        self.number, self.port, self.until = number, port, until
        self.times, self.failed, self.requests = [], 0, 0

    def ask(self, connection, body, session):
        began = time.perf_counter()
        connection.request('POST', '/v1/chat/completions', body, {
            'Content-Type': 'application/json', 'Authorization': 'Bearer x',
            'x-weir-session': session})
        answer = connection.getresponse()
        answer.read()
        self.times.append(time.perf_counter() - began)
        self.requests += 1
        self.failed += answer.status != 200

    def run(self):
        played = 0
        while time.monotonic() < self.until:
            session = chat_session(TURNS, f'Find bug {played} of {self.number}.')
            connection = http.client.HTTPConnection('127.0.0.1', self.port, timeout=120)
            messages = session['messages']
            for count in range(2, len(messages) + 1):
                if messages[count - 1]['role'] == 'assistant' or time.monotonic() > self.until:
                    continue
                body = json.dumps({**session, 'messages': messages[:count],
                                   'stream': count % 2 == 0})
                try:
                    self.ask(connection, body, f'soak-{self.number}-{played}')
                except (OSError, http.client.HTTPException):
                    self.failed += 1
                    connection.close()
            connection.close()
            played += 1


def family(pid):
    """The process and all below it."""
    found = [pid]
    for each in filter(str.isdigit, os.listdir('/proc')):
        try:
            with open(f'/proc/{each}/stat', encoding='ascii', errors='replace') as file:
                if int(file.read().rpartition(')')[2].split()[1]) == pid:
                    found += family(int(each))
        except OSError:
            continue
    return found


def look(pid):
    files = kilobytes = 0
    for each in family(pid):
        try:
            files += len(os.listdir(f'/proc/{each}/fd'))
            with open(f'/proc/{each}/status', encoding='ascii') as file:
                kilobytes += sum(int(line.split()[1]) for line in file
                                 if line.startswith('VmRSS:'))
        except OSError:
            continue
    return files, kilobytes


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 1200
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 4
    with Folder() as folder:
        upstream = Upstream(folder)
        weir = Weir(tempfile.mkdtemp(dir=folder), '--policy', 'auto', '--upstream',
                    f'http://127.0.0.1:{upstream.port}/v1')
        until = time.monotonic() + seconds
        clients = [Client(n, weir.port, until) for n in range(count)]
        for client in clients:
            client.start()
        looks = []
        print('  seconds   requests   p50 ms   memory KB   files   failed')
        for n in range(1, LOOKS + 1):
            time.sleep(max(0, until - seconds * (1 - n / LOOKS) - time.monotonic()))
            times = [t for client in clients for t in client.times]
            for client in clients:
                client.times = []
            looks.append(look(weir.process.pid))
            print(f'{seconds * n / LOOKS:9.0f} {sum(c.requests for c in clients):10,} '
                  f'{1000 * statistics.median(times or [0]):8.2f} {looks[-1][1]:11,} '
                  f'{looks[-1][0]:7} {sum(c.failed for c in clients):8}', flush=True)
        for client in clients:
            client.join(120)
        failed = sum(client.failed for client in clients)
        grew = (looks[-1][0] > looks[2][0] + 2 * count, looks[-1][1] > looks[2][1] * 5 // 4)
        print(f'{failed} failed; files {"grow" if grew[0] else "do not grow"}; '
              f'memory {"grows" if grew[1] else "does not grow"}')
        weir.stop()
        upstream.stop()
    return 1 if failed or any(grew) else 0


sys.exit(main())

#!/usr/bin/env python3
"""What three open pages cost a request.

  bench/page.py [BLOCKS]     WEIR names the program (build/weir)

One server, blocks of requests in turn: while nobody looks, and while three pages are open at /weir/
(the sessions, the session that is being played, and the tail; in Chromium, else three clients that
hold a stream and ask what the pages ask). What is compared is `added_us` of the rows, the time that
the proxy itself adds to a request, so neither the provider nor the client is in it. Both kinds of
block have the same requests, of sessions of their own. Chromium draws with a processor that the
server would otherwise have, so where there are few the figures have that in them, too; `--clients`
measures without it.
"""
import http.client
import json
import os
import subprocess
import sys
import threading
from urllib.parse import quote

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'tests', 'page'))
import play  # noqa: E402
import chrome  # noqa: E402
from harness import Folder, wait_for  # noqa: E402

TURNS = 24
FIRST = 4  # a session's first requests are small
TRAFFIC = '/weir/v1/traffic'


class Clients:
    """Three pages without a browser: a stream each, and after every event what a page asks then."""

    def __init__(self, port, session):
        self.port, self.asked = port, 0
        paths = ('/sessions?limit=50', '/session?session=' + quote(session), '')
        self.threads = [threading.Thread(target=self.listen, args=(path,)) for path in paths]
        self.streams = []
        for one in self.threads:
            one.start()
        wait_for(lambda: len(self.streams) == 3)

    def listen(self, path):
        stream = http.client.HTTPConnection('127.0.0.1', self.port, timeout=60)
        stream.request('GET', TRAFFIC + '/live')
        answer = stream.getresponse()
        self.streams.append(stream.sock)
        asks = http.client.HTTPConnection('127.0.0.1', self.port, timeout=60)
        try:
            while line := answer.readline():
                if line.startswith(b'data:'):
                    for one in (path, '?hours_since_ms=1'):
                        asks.request('GET', TRAFFIC + one)
                        asks.getresponse().read()
                        self.asked += 1
        except OSError:
            pass

    def close(self):
        for sock in self.streams:
            sock.shutdown(2)
        for one in self.threads:
            one.join()


class Tabs:
    """Three tabs of Chromium."""

    def __init__(self, folder, port, session):
        self.chromium = chrome.Chrome(folder)
        root = f'http://127.0.0.1:{port}/weir/#/'
        self.pages = [self.chromium.page() for _ in range(3)]
        for page, view in zip(self.pages, ('sessions', 'session?s=' + quote(session), 'tail')):
            page.go(root + view)
        for page in self.pages:
            page.wait('document.querySelector("#live")?.textContent === "live"', 60)

    def close(self):
        self.chromium.stop()


def percentile(values, percent):
    return sorted(values)[min(len(values) - 1, len(values) * percent // 100)]


def rows_of(weir, name):
    path = TRAFFIC + '/session?session=' + quote('claude:' + name)

    def read():
        status, data, _ = weir.get(path)
        rows = json.loads(data)['rows'] if status == 200 else []
        return rows if len(rows) == TURNS else None
    return wait_for(read)


def measure(blocks, with_clients):
    provider = play.Provider()
    added = {False: [], True: []}
    with Folder() as folder:
        weir = play.serve(folder, provider)
        for n in range(2 * blocks + 1):
            is_open = n % 2 == 1
            name, messages, ends = play.made_session(n, TURNS + 2)
            play.play(weir, name, messages, ends, 1, 'claude-sonnet-5-5')
            pages = None
            if is_open and with_clients:
                pages = Clients(weir.port, 'claude:' + name)
            elif is_open:
                pages = Tabs(os.path.join(folder, str(n)), weir.port, 'claude:' + name)
            play.play(weir, name, messages, ends[1:], TURNS - 1, 'claude-sonnet-5-5')
            rows = rows_of(weir, name)
            if pages:
                pages.close()
            if n:  # the first one warms up
                added[is_open] += [r['added_us'] for r in rows[FIRST:]]
        weir.stop()
    provider.stop()
    return added


def main():
    words = [w for w in sys.argv[1:] if w != '--clients']
    with_clients = '--clients' in sys.argv or not chrome.find()
    blocks = int(words[0]) if words else 6
    added = measure(blocks, with_clients)
    who = 'three clients that ask as pages do' if with_clients else 'three tabs of Chromium'
    load = subprocess.run(['cat', '/proc/loadavg'], stdout=subprocess.PIPE, text=True,
                          check=False).stdout.split()[0]
    print(f'{len(added[False])} requests without a page, {len(added[True])} with {who}; '
          f'load {load}')
    for percent in (50, 90):
        without, with_pages = percentile(added[False], percent), percentile(added[True], percent)
        print(f'added at p{percent}: {without / 1000:.2f} ms without, {with_pages / 1000:.2f} ms '
              f'with: x {with_pages / without:.2f}')


main()

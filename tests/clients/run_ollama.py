#!/usr/bin/env python3
"""Ollama's package for Python in tool loops, directly and through the proxy, against the strict
upstream.

    run_ollama.py CLIENTS_DIR    where the package is or is to be installed (pip)

WEIR names the program; its policy is `lean`. The scripted model reads eight texts, recalls lines of
what was taken out, alone and beside another call (weir_recall by MCP over HTTP, or the proxy's
own), and is then asked something more. Both ways must come to the same end by the same calls.
Prints a row a way: requests, changed, bytes saved of all that the upstream got, recalls, refused.
"""
import os
import sys

import own

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'upstream'))
from harness import Checks, Folder, Upstream, Weir  # noqa: E402

CHECK = Checks()
ok = CHECK.ok
PACKAGES = ['ollama==0.6.*']


def play(clients, how, way):
    with Folder() as folder:
        record = os.path.join(folder, 'record.jsonl')
        upstream, weir = Upstream(folder, '--record', record), None
        base = f'http://127.0.0.1:{upstream.port}'
        if way != 'none':
            weir = Weir(folder, config='listen: 127.0.0.1:0\npolicy: lean\nupstreams:\n'
                        f'  ollama: {{base_url: "{base}"}}\n')
            base = f'http://127.0.0.1:{weir.port}'
        played = own.Play(clients, folder, base, weir, way)
        code, output = own.python('ollama', 'ollama_sdk.py', f'ollama-{how}')(played)
        if weir:
            weir.lines()
        lines = weir.log_lines() if weir else []
        outcome = own.Outcome(played, code, output, record, upstream.stats()['refused'])
        outcome.changed = sum(bool(line.get('changed')) for line in lines)
        if weir:
            weir.stop()
        upstream.stop()
        return outcome


def main():
    clients = os.path.abspath(sys.argv[1])
    own.PYTHON = {'ollama': PACKAGES}
    absent = own.install(clients, {'ollama'})
    if absent:
        print(f'skipped: {absent}')
        return 77
    print(f'{"client":28} {"requests":>8} {"changed":>8} {"saved":>8} {"recalls":>8} '
          f'{"refused":>8}')
    for how in ('whole', 'stream'):
        direct = play(clients, how, 'none')
        ok(f'{how}, directly: it comes to its end', direct.is_good())
        for way in ('mcp', 'own'):
            through, name = play(clients, how, way), f'{how}, {way}'
            ok(f'{name}: it comes to its end', through.is_good())
            if not through.is_good():
                print(through.output[-1500:])
            saved = 100 * (1 - through.bytes / (direct.bytes or 1))
            print(f'{"ollama (Python), " + name:28} {through.requests:8} {through.changed:8} '
                  f'{saved:6.1f} % {through.recalls:8} {through.refused:8}', flush=True)
            ok(f'{name}: by the same calls', through.calls, direct.calls)
            ok(f'{name}: three recalls, which stay', (through.recalls, through.is_kept), (3, True))
            ok(f'{name}: most is saved', saved > 50)
    return CHECK.end()


if __name__ == '__main__':
    sys.exit(main())

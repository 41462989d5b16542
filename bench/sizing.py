#!/usr/bin/env python3
"""What sessions cost the machine that serves them: processor time, memory, bytes on disk.

    WEIR=build/weir bench/sizing.py [SESSIONS] [TURNS] [KEEP]

Plays SESSIONS (200) sessions of TURNS (12) tool turns through `weir serve` under `auto`, each
request longer than the last by a call and the output of a test run of some 9 KB, against an
upstream that answers at once. KEEP is `transcript` or `originals` (the default). Prints what the
server's own processes used, and the same for 1,000 sessions. Processor time is the server's, not
the clock's, so a busy machine changes it little; memory is what all processes together have in it
at the end, shared pages once."""
import json
import os
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../tests/upstream'))
from harness import Folder, Weir, wait_for  # pylint: disable=wrong-import-position
from raw import Raw  # pylint: disable=wrong-import-position
from sessions import chat_session  # pylint: disable=wrong-import-position

CLIENTS = 8
ANSWER = (b'{"id":"x","object":"chat.completion","model":"gpt-4o-mini","choices":[{"index":0,'
          b'"finish_reason":"stop","message":{"role":"assistant","content":"done"}}],"usage":'
          b'{"prompt_tokens":9000,"completion_tokens":3,"total_tokens":9003}}')


def answer(sock, _head):
    sock.sendall(b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n'
                 b'Content-Length: %d\r\n\r\n%s' % (len(ANSWER), ANSWER))
    return True


def test_session(turns, name):
    """An agent that runs tests, over and over."""
    session = chat_session(turns, words=f'Find the bug of {name}.')
    tool = session['tools'][0]['function']
    tool['name'] = 'bash'
    for n, message in enumerate(session['messages']):
        for call in message.get('tool_calls', []):
            call['function'] = {'name': 'bash', 'arguments': json.dumps({'command': 'make test'})}
        if message['role'] == 'tool':
            lines = [f'PASS tests/unit/test_module_{n}_{i}.py::test_case_{i * 7} (0.0{i % 9}s)'
                     for i in range(130)]
            lines[77] = f'FAIL tests/unit/test_module_{n}_77.py::test_case: {name} expected {n}'
            message['content'] = '\n'.join(lines) + '\n129 passed, 1 failed\n'
    return session


def processes(weir):
    return [weir.process.pid, *weir.workers()]


def cpu_seconds(weir):
    ticks = 0
    for pid in processes(weir):
        with open(f'/proc/{pid}/stat', encoding='ascii') as file:
            fields = file.read().rpartition(')')[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf('SC_CLK_TCK')


def memory_mb(weir):
    total = 0
    for pid in processes(weir):
        with open(f'/proc/{pid}/smaps_rollup', encoding='ascii') as file:
            total += sum(int(line.split()[1]) for line in file if line.startswith('Pss:'))
    return total / 1024


def disk_bytes(folder):
    return sum(os.stat(os.path.join(folder, name)).st_blocks * 512 for name in os.listdir(folder))


def play(weir, names, turns, sent):
    for name in names:
        session = test_session(turns, name)
        for count in range(2, len(session['messages']) + 1, 2):
            body = {**session, 'messages': session['messages'][:count]}
            status = weir.post('/v1/chat/completions', body, {'x-weir-session': name})[0]
            sent.append(status)


def main():
    sessions = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    turns = int(sys.argv[2]) if len(sys.argv) > 2 else 12
    keep = sys.argv[3] if len(sys.argv) > 3 else 'originals'
    upstream = Raw(answer)
    with Folder() as folder:
        weir = Weir(folder, '--upstream', f'http://127.0.0.1:{upstream.port}/v1',
                    config=f'listen: 127.0.0.1:0\nkeep: {keep}\n')
        at_rest_mb, cpu_before = memory_mb(weir), cpu_seconds(weir)
        sent = []
        names = [f'session-{n}' for n in range(sessions)]
        clients = [threading.Thread(target=play, args=(weir, names[n::CLIENTS], turns, sent))
                   for n in range(CLIENTS)]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        wait_for(lambda: weir.metric('weir_ledger_rows_total') >= len(sent))
        cpu, mb = cpu_seconds(weir) - cpu_before, memory_mb(weir)
        came, left = weir.metric('weir_request_bytes_total'), weir.metric('weir_sent_bytes_total')
        weir.stop()
        store = disk_bytes(weir.store)
    failed = sum(status != 200 for status in sent)
    share = 1000 / sessions
    print(f'{sessions} sessions, {len(sent)} requests ({failed} failed), {came / 1e6:.1f} MB came, '
          f'{left / 1e6:.1f} MB were sent on; keep: {keep}')
    print(f'processor: {cpu:.1f} s, {cpu / len(sent) * 1000:.2f} ms a request; '
          f'{cpu * share:.0f} s for 1,000 sessions')
    print(f'memory: {at_rest_mb:.0f} MB at rest, {mb:.0f} MB behind them')
    print(f'disk, log included: {store / 1e6:.1f} MB; {store / 1e6 * share:.0f} MB for 1,000 '
          'sessions')
    return 1 if failed else 0


sys.exit(main())

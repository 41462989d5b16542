#!/usr/bin/env python3
"""What a reload changes, for whom, and what survives a worker that dies after it. WEIR is the
program."""
import json
import os
import pty
import re
import select
import signal
import socket
import sys
import time

from gateway_cases import (CHECK, ENV, ask, config_of, ok, reload, token_of, users_yaml)
from harness import PATIENCE_SECONDS, Folder, Upstream, Weir, wait_for
from sessions import POLICIES, chat_session, write_policies
from steer_talk import run

PROGRAM = os.path.abspath(os.environ.get('WEIR', 'build/weir'))
SHORTER = POLICIES.replace('max_tokens: 300', 'max_tokens: 60')


def play_to(weir, session, name, count, **headers):
    """The request with the first `count` messages of a session."""
    return weir.post('/v1/chat/completions', {**session, 'messages': session['messages'][:count]},
                     {'x-weir-session': name, 'x-weir-token': token_of('anna'), **headers})[0]


def sent(upstream):
    return json.loads(upstream.last_body())['messages']


def newest(weir, name, count):
    """The last of so many lines of a session."""
    lines = wait_for(lambda: len(found := [
        line for line in weir.log_lines() if line.get('session') == 'weir:' + name]) >= count and
        found)
    return max(lines, key=lambda line: line['time_ms'])


def config(folder, upstream, policies=POLICIES, policy='short', users=('anna',)):
    path = write_policies(folder, policies)
    return config_of(upstream, users_yaml({name: 'search' for name in users},
                                          f'policies: {path}\npolicy: {policy}\n'))


def policies(folder, upstream):
    weir = Weir(folder, config=config(folder, upstream), env=ENV)
    session = chat_session(6)
    ok('a session begins', [play_to(weir, session, 'old', n) for n in (2, 4, 6)], [200] * 3)
    before = sent(upstream)
    older = chat_session(6, words='Find an older bug.')
    ok('so does another', [play_to(weir, older, 'older', n) for n in (2, 4)], [200] * 2)
    reload(weir, config(folder, upstream, SHORTER))
    other = chat_session(6, words='Find another bug.')
    ok('one that begins now', [play_to(weir, other, 'new', n) for n in (2, 4, 6)], [200] * 3)
    after = sent(upstream)
    ok('is under the policy as it is now', len(after[3]['content']) < len(before[3]['content']) / 2)
    ok('the other goes on', [play_to(weir, session, 'old', n) for n in (8, 10)], [200] * 2)
    later = sent(upstream)
    ok('as it was: what was sent stays, byte for byte', later[:len(before)] == before)
    # A result is as long as its number is.
    ok('and what is new is cut as before',
       abs(len(later[9]['content']) - len(before[3]['content'])) < 20)
    line = newest(weir, 'old', 5)
    ok('without a step, and nothing waits', (line['step'], line['pending'], line['policy']),
       (False, False, 'short'))
    ok('what is said now holds now', play_to(weir, session, 'old', 12,
                                             **{'x-weir-policy': 'short'}), 200)
    ok('as a step', (newest(weir, 'old', 6)['step'], len(sent(upstream)[3]['content'])),
       (True, len(after[3]['content'])))
    ok('an older one goes on', [play_to(weir, older, 'older', n) for n in (4, 6)], [200] * 2)
    done = run('exact', 'weir:older', '--yes', '--store', weir.store, '--tenant', line['tenant'])
    ok('what a person stops is stopped', (done[0], play_to(weir, older, 'older', 8)), (0, 200))
    ok('and goes as it came', sent(upstream)[3], older['messages'][3])
    weir.write_config(config(folder, upstream, 'policies: {bad: 1}\n'))
    weir.process.send_signal(signal.SIGHUP)
    ok('a file of policies that is wrong is refused', bool(wait_for(
        lambda: 'nothing has changed' in weir.stderr())))
    more = chat_session(1, words='Find more.')
    ok('and nothing has changed', (play_to(weir, more, 'newer', 4), sent(upstream)[3]),
       (200, after[3]))
    weir.stop()


def a_worker_that_dies(folder, upstream):
    """The one that takes its place knows what was read since the start."""
    weir = Weir(folder, config=config(folder, upstream, users=('anna', 'bob')) + 'workers: 1\n',
                env=ENV)
    ok('both may ask', [ask(weir, name)[0] for name in ('anna', 'bob')], [200, 200])
    reload(weir, config(folder, upstream, SHORTER) + 'workers: 1\n')
    ok('one may not any more', [ask(weir, name)[0] for name in ('anna', 'bob')], [200, 401])
    worker = weir.worker()
    os.kill(worker, signal.SIGKILL)
    wait_for(lambda: weir.worker() not in (0, worker) and weir.get('/healthz')[0] == 200)
    ok('nor when the worker was killed', [ask(weir, name)[0] for name in ('anna', 'bob')],
       [200, 401])
    session = chat_session(2)
    play_to(weir, session, 'after', 4)
    ok('and policies are as they were read last', len(sent(upstream)[3]['content']) < 600)
    weir.stop()


def read_until(terminal, words):
    """What the terminal shows until the words are there, or it is gone."""
    shown, ends = b'', time.monotonic() + PATIENCE_SECONDS
    while words not in shown and time.monotonic() < ends:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                more = os.read(terminal, 4096)
            except OSError:
                more = b''
            if not more:
                break
            shown += more
    return shown


def ctrl_c_waits_for_what_is_open(folder, _upstream):
    """Ctrl-C goes to every process of the terminal: no worker may take it for two."""
    silent = socket.create_server(('127.0.0.1', 0))
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(PROGRAM, [PROGRAM, 'serve', '--listen', '127.0.0.1:0', '--store',
                           os.path.join(folder, 'ctrl-c'), '--upstream',
                           f'http://127.0.0.1:{silent.getsockname()[1]}/v1'])
    port = int(re.search(rb'127.0.0.1:(\d+)', read_until(terminal, b'mode active')).group(1))
    client = socket.create_connection(('127.0.0.1', port))
    body = json.dumps({'model': 'm', 'messages': [{'role': 'user', 'content': 'hi'}]})
    client.sendall(f'POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n'
                   f'Content-Length: {len(body)}\r\n\r\n{body}'.encode())
    asked, _ = silent.accept()
    os.write(terminal, b'\x03')
    shown = read_until(terminal, b'stop now')
    ok('the first Ctrl-C says what is open', b'1 request is open' in shown or shown)
    time.sleep(1)  # for a worker that does not wait to be gone
    asked.settimeout(PATIENCE_SECONDS)
    client.settimeout(PATIENCE_SECONDS)
    while b'"hi"' not in asked.recv(65536):
        pass
    try:
        asked.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}')
        answer = client.recv(65536)
    except OSError as error:
        answer = str(error).encode()
    ok('and waits for its answer', answer[:15], b'HTTP/1.1 200 OK')
    client.close()
    read_until(terminal, b'nothing that would come')
    ok('and then ends', os.waitpid(pid, 0)[1], 0)
    for thing in (asked, silent):
        thing.close()
    os.close(terminal)


def ctrl_c_counts_what_all_workers_have(folder, _upstream):
    silent = socket.create_server(('127.0.0.1', 0))
    config = os.path.join(folder, 'workers.yaml')
    with open(config, 'w', encoding='utf-8') as file:
        file.write('workers: 2\n')
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(PROGRAM, [PROGRAM, 'serve', '--listen', '127.0.0.1:0', '--config', config,
                           '--store', os.path.join(folder, 'workers'), '--upstream',
                           f'http://127.0.0.1:{silent.getsockname()[1]}/v1'])
    port = int(re.search(rb'127.0.0.1:(\d+)', read_until(terminal, b'mode active')).group(1))
    body = json.dumps({'model': 'm', 'messages': [{'role': 'user', 'content': 'hi'}]})

    def workers():
        with open(f'/proc/{pid}/task/{pid}/children', encoding='ascii') as file:
            return [int(number) for number in file.read().split()]
    ends = []
    wait_for(lambda: len(workers()) == 2)
    for worker in workers():  # which is stopped, so that the other takes it
        os.kill(worker, signal.SIGSTOP)
        ends.append(socket.create_connection(('127.0.0.1', port)))
        ends[-1].sendall(f'POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n'
                         f'Content-Length: {len(body)}\r\n\r\n{body}'.encode())
        ends.append(silent.accept()[0])
        os.kill(worker, signal.SIGCONT)
    os.write(terminal, b'\x03')
    shown = read_until(terminal, b'stop now')
    ok('Ctrl-C says what is open in all workers', b'2 requests are open' in shown or shown)
    os.write(terminal, b'\x03')
    read_until(terminal, b'nothing that would come')
    ok('and a second one ends it', os.waitpid(pid, 0)[1], 0)
    for thing in [*ends, silent]:
        thing.close()
    os.close(terminal)


def main():
    with Folder() as folder:
        upstream = Upstream(folder)
        for case in (policies, a_worker_that_dies, ctrl_c_waits_for_what_is_open,
                     ctrl_c_counts_what_all_workers_have):
            case(folder, upstream)
        upstream.stop()
    return CHECK.end()


if __name__ == '__main__':
    sys.exit(main())

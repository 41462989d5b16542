#!/usr/bin/env python3
"""Hands on a real terminal: `weir agent` in a pty while answers and questions come at any byte.

   pty_fuzz.py [ROUNDS [SEED]]

Each round types keys, pastes and other sizes at random, in pieces of any length, while a model
writes and asks for commands. Oracles: no file is written unless "y" and Enter were pressed after
the question had appeared and half a second of quiet had passed; a line that the model gets is one
that was finished; the agent neither ends nor hangs, and leaves the terminal as it was. Run with the
sanitizers' program (WEIR=build/asan-gcc/weir) it also finds what they find."""
import fcntl
import json
import os
import pty
import random
import re
import select
import signal
import struct
import sys
import termios
import time

from agent_home import Home, call, write_file
from harness import PATIENCE_SECONDS, Checks, Folder, Upstream

CHECK = Checks()
ok = CHECK.ok
QUESTIONS = 4
KEYS = [b'y', b'a', b'n', b' ', b'what', b'always ', b'\x7f', b'\x1b[D', b'\x1b[C', b'\x1b[A',
        b'\x01', b'\x05', b'\x15', b'\x0b', b'\x19', b'\t', b'\x1b[Z', b'\x0f', b'\x1b[5~', b'\x12',
        '水'.encode(), 'e\u0301'.encode(), b'\x1b\r', b'/re', b'@s', b'\x7f' * 3,
        b'\x1b[200~y\ry\r\x1b[201~', b'\x1b[200~one line\x1b[201~', b'y\r', b'yes\r', b'a\r',
        b'tell me more\r', b'\x1b[1;5D', b'\xff']


class Seat:
    """The agent in a pty, and everything it wrote."""

    def __init__(self, home, command):
        self.said = b''
        self.pid, self.fd = pty.fork()
        if not self.pid:
            os.chdir(home.work)
            env = home.env()
            env['TERM'] = 'xterm-256color'
            os.execve(command[0], command, env)
        self.size(80, 24)

    def size(self, columns, rows):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

    def read(self, seconds=0.0):
        """Reads until nothing came for so long. False: it has ended."""
        while select.select([self.fd], [], [], seconds)[0]:
            try:
                piece = os.read(self.fd, 65536)
            except OSError:
                return False
            if not piece:
                return False
            self.said += piece
        return True

    def press(self, keys, chosen=None):
        """In pieces of any length, if a generator is given. The bytes of one key come together: a
        pause behind ESC is the key Esc, which interrupts."""
        chosen = None if b'\x1b' in keys else chosen
        while keys:
            n = chosen.randint(1, len(keys)) if chosen else len(keys)
            os.write(self.fd, keys[:n])
            keys = keys[n:]
            self.read()

    def awaits(self, after):
        """Until it is written, behind what was there before. False: it does not come."""
        until = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < until:
            if after(self.said):
                return True
            if not self.read(0.05):
                return after(self.said)
        return False

    def rests(self):
        """Until it waits for the user: while it works, something turns ten times a second."""
        until = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < until:
            before = len(self.said)
            self.read(0.8)
            if len(self.said) == before:
                return True
        return False

    def leave(self):
        """Its exit code; None: it does not end."""
        until = time.monotonic() + PATIENCE_SECONDS
        sent = 0
        while time.monotonic() < until:
            self.read(0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                os.close(self.fd)
                return os.waitstatus_to_exitcode(status)
            if not sent:
                os.kill(self.pid, signal.SIGTERM)
                sent = 1
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        return None


def hands(seat, chosen, count):
    for _ in range(count):
        if not chosen.randrange(8):
            seat.size(chosen.randint(60, 200), chosen.randint(12, 60))
        seat.press(chosen.choice(KEYS), chosen)


def type_into(seat, chosen, question, mark):
    """Somebody is typing answers when the question appears, and for a few keys more."""
    more, until = chosen.randint(1, 4), time.monotonic() + PATIENCE_SECONDS
    while more and time.monotonic() < until:
        seat.press(chosen.choice((b'y\r', b'a\r', b'y', b'always\r', b'yes\r')))
        seat.read(0.05)
        more -= question in seat.said[mark:]


def play(folder, seed):
    """One conversation. Keys before a question appears must not answer it, whatever they are."""
    chosen = random.Random(seed)
    steps = [step for n in range(QUESTIONS) for step in (
        call('write', path=f'w{n}.txt', content='x\n'), {'words': f'Word {n}. ' * 30})]
    steps += [{'words': 'More.'}] * 40  # for lines that the hands sent
    upstream = Upstream(folder, '--script', write_file(folder, 'script', json.dumps(steps)))
    home = Home(folder)
    seat = Seat(home, home.command(upstream, 'chat', '--session', 's'))
    ok(f'{seed}: it is there', seat.awaits(lambda said: b'ctx ' in said))
    wanted = []
    for n in range(QUESTIONS):
        seat.press(b'\x1b')  # leaves a search or a list of names
        seat.rests()
        mark = len(seat.said)
        # The words, and in the same breath what hands do while the agent works.
        seat.press(b'\x05' + b'\x15\x7f' * 20 + b'go on\r' + b'y\ry\ra\r' * chosen.randint(0, 2))
        hands(seat, chosen, chosen.randint(0, 5))
        type_into(seat, chosen, f'write w{n}.txt'.encode(), mark)
        path = home.path(f'w{n}.txt')
        is_asked = seat.awaits(
            lambda said: f'write w{n}.txt'.encode() in said[mark:] and b'Enter: ' in said[mark:])
        ok(f'{seed}: question {n}', is_asked)
        if not is_asked:
            print(seat.said[-1500:].decode(errors='replace'))
            break
        ok(f'{seed}: keys before question {n} do not answer it', os.path.exists(path), False)
        if chosen.randrange(2):
            wanted.append(n)
            before = len(seat.said)
            seat.press(b'\x15')  # what the hands left in the answer
            seat.press(b'y\r')
            ok(f'{seed}: y and Enter do', seat.awaits(
                lambda said: os.path.exists(path) or b'allow this? yes' in said[before:]))
        else:
            before = len(seat.said)
            seat.press(b'\x1b')
            ok(f'{seed}: Esc is no', seat.awaits(
                lambda said: b'not allow this call' in said[before:]))
        ok(f'{seed}: it goes on', seat.awaits(
            lambda said: f'Word {n}.'.encode() in said[before:]))
        ok(f'{seed}: and rests', seat.rests())
    ok(f'{seed}: it ends as it was told', seat.leave(), 0)
    ok(f'{seed}: what was allowed is written, and nothing else', sorted(
        name for name in os.listdir(home.work) if re.match(r'w\d', name)),
        [f'w{n}.txt' for n in wanted])
    upstream.stop()


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    with Folder() as folder:
        for seed in range(first, first + rounds):
            play(folder, seed)
    return CHECK.end()


sys.exit(main())

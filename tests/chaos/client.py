"""A client that reads at its own pace and says exactly how an answer ended."""
import socket
import time

IDLE_SECONDS_MAX = 40  # without a byte, while the upstream has something to say: it hangs


class Ended(Exception):
    """The connection ended before the answer did."""


class Outcome:
    """end: whole, cut (visibly), none (not a byte of an answer), hang, left (by the client)."""

    def __init__(self, end, status=0, body=b'', why=''):
        self.end, self.status, self.body, self.why = end, status, body, why
        self.opened = self.began = self.ended = 0.0


class Reader:
    def __init__(self, pace):
        self.pace = pace  # {'bytes', 'pause_ms', 'pauses', 'leaves_after'}
        self.pauses_left = pace['pauses']
        self.taken = 0

    def recv(self, sock):
        if self.pauses_left and self.taken:
            self.pauses_left -= 1
            time.sleep(self.pace['pause_ms'] / 1000)
        data = sock.recv(self.pace['bytes'])
        self.taken += len(data)
        return data


class Link:
    """A connection to the proxy, for one request after the other."""

    def __init__(self, port, receive_bytes=0):
        self.sock = socket.socket()
        self.sock.settimeout(IDLE_SECONDS_MAX)
        if receive_bytes:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        self.opened = time.monotonic()
        self.sock.connect(('127.0.0.1', port))
        self.opened = time.monotonic()
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.rest = b''

    def close(self):
        self.sock.close()

    def ask(self, head, body, pace, send_bytes=0):
        """Sends a request and reads its answer."""
        reader = Reader(pace)
        began = time.monotonic()
        outcome = self.exchange(head, body, reader, send_bytes)
        outcome.opened, outcome.began, outcome.ended = self.opened, began, time.monotonic()
        return outcome

    def exchange(self, head, body, reader, send_bytes):
        got, status = bytearray(), 0
        try:
            self.send(head + body, send_bytes)
            status, headers = self.read_head(reader)
            if not status:
                return Outcome('none', why='closed before an answer')
            self.read_body(headers, reader, got)
            return Outcome('whole', status, bytes(got))
        except TimeoutError:
            return Outcome('hang', status, bytes(got), f'nothing for {IDLE_SECONDS_MAX} s')
        except Ended as ended:
            return Outcome(str(ended), status, bytes(got), 'the end is missing')
        except OSError as error:
            return Outcome('cut' if status else 'none', status, bytes(got), str(error))

    def send(self, data, send_bytes):
        step = send_bytes or len(data)
        try:
            for at in range(0, len(data), step):
                self.sock.sendall(data[at:at + step])
                if send_bytes and at // step < 8:
                    time.sleep(0.005)
        except ConnectionError:
            pass  # it may have been answered before all was sent

    def fill(self, reader):
        data = reader.recv(self.sock)
        self.rest += data
        return len(data)

    def read_head(self, reader):
        while b'\r\n\r\n' not in self.rest:
            if not self.fill(reader):
                return 0, {}
        head, _, self.rest = self.rest.partition(b'\r\n\r\n')
        lines = head.decode('latin-1').split('\r\n')
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(':') for line in lines[1:])}
        return int(lines[0].split()[1]), headers

    def read_body(self, headers, reader, got):
        if 'content-length' in headers:
            self.read_exactly(int(headers['content-length']), reader, got)
        elif headers.get('transfer-encoding') == 'chunked':
            while True:
                size = int(self.read_line(reader), 16)
                self.read_exactly(size, reader, got)
                self.read_line(reader)
                if not size:
                    return
        else:
            while self.fill(reader):
                self.take(len(self.rest), reader, got)

    def read_line(self, reader):
        while b'\r\n' not in self.rest:
            if not self.fill(reader):
                raise Ended('cut')
        line, _, self.rest = self.rest.partition(b'\r\n')
        return line

    def read_exactly(self, wanted, reader, got):
        while wanted:
            if not self.rest and not self.fill(reader):
                raise Ended('cut')
            wanted -= self.take(min(wanted, len(self.rest)), reader, got)

    def take(self, count, reader, got):
        got += self.rest[:count]
        self.rest = self.rest[count:]
        leaves_after = reader.pace.get('leaves_after')
        if leaves_after is not None and len(got) >= leaves_after:
            raise Ended('left')
        return count

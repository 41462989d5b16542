"""An upstream that says what it is told, byte for byte."""
import socket
import threading


def read_head(stream):
    head = b''
    while not head.endswith(b'\r\n\r\n'):
        line = stream.readline()
        if not line:
            return b''
        head += line
    return head


def read_request(stream):
    head = read_head(stream)
    length = int(head.lower().partition(b'content-length: ')[2].partition(b'\r\n')[0] or 0)
    stream.read(length)
    return head


class Raw:
    """Calls answer(sock, head) for each request; it says False when the connection is to end."""

    def __init__(self, answer):
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        self.answer = answer
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                sock, _ = self.listener.accept()
            except OSError:  # it was closed
                return
            threading.Thread(target=self.serve, args=(sock,), daemon=True).start()

    def serve(self, sock):
        with sock, sock.makefile('rb') as stream:
            try:
                while head := read_request(stream):
                    if self.answer(sock, head) is False:
                        sock.shutdown(socket.SHUT_RDWR)
                        return
            except OSError:
                pass

    def stop(self):
        self.listener.close()

#!/usr/bin/env python3
"""A web server in front of the proxy, by the examples: what is asked over TLS is answered, and a
stream comes as it is made, not when it is whole."""
import http.client
import json
import os
import subprocess
import sys
import threading

from certs import Authority
from harness import PATIENCE_SECONDS, STARTED, Folder, Weir, free_port, wait_for
from raw import Raw
from sessions import CHECK, chat_session, ok


def example(name, weir, port, cert):
    """The file, with the addresses and paths of this test."""
    with open(os.path.join('examples', name), encoding='ascii') as file:
        text = file.read()
    for old, new in (('127.0.0.1:4141', f'127.0.0.1:{weir.port}'),
                     ('127.0.0.1:8443', f'127.0.0.1:{port}'),
                     ('/etc/weir/cert.pem', cert[0]), ('/etc/weir/key.pem', cert[1])):
        assert old in text, old
        text = text.replace(old, new)
    return text


def start_nginx(folder, text):
    path = os.path.join(folder, 'nginx.conf')
    with open(path, 'w', encoding='ascii') as file:
        file.write(f'daemon off; master_process off; pid {folder}/nginx.pid; events {{}}\n'
                   f'error_log {folder}/nginx.log;\nhttp {{ access_log off;\n')
        for kind in ('client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'):
            file.write(f'{kind}_temp_path {folder}/{kind};\n')
        file.write(text + '}\n')
    return subprocess.Popen([os.environ['NGINX'], '-p', folder, '-e', f'{folder}/nginx.log', '-c',
                             path], stderr=subprocess.DEVNULL)


def start_caddy(folder, text):
    path = os.path.join(folder, 'Caddyfile')
    with open(path, 'w', encoding='ascii') as file:
        file.write('{\nadmin off\nauto_https disable_redirects\n}\n' + text)
    return subprocess.Popen([os.environ['CADDY'], 'run', '--adapter', 'caddyfile', '--config',
                             path], stderr=subprocess.DEVNULL,
                            env={**os.environ, 'HOME': folder, 'XDG_DATA_HOME': folder})


def play(folder, name, start, file_name, authority):
    more = threading.Event()

    def answer(sock, _head):
        sock.sendall(b'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n'
                     b'Transfer-Encoding: chunked\r\n\r\n')
        for text in (b'data: {"first": 1}\n\n', b'data: [DONE]\n\n'):
            sock.sendall(b'%x\r\n%s\r\n' % (len(text), text))
            more.wait(PATIENCE_SECONDS)
        sock.sendall(b'0\r\n\r\n')
        return True

    upstream = Raw(answer)
    weir = Weir(folder, '--upstream', f'http://127.0.0.1:{upstream.port}/v1')
    port = free_port()
    process = start(folder, example(file_name, weir, port, authority.sign('front')))
    STARTED.append(process)

    def ask(method, path, body=None):
        connection = http.client.HTTPSConnection('127.0.0.1', port, timeout=PATIENCE_SECONDS,
                                                 context=authority.context())
        connection.request(method, path, body)
        return connection.getresponse()

    def health():
        try:
            return ask('GET', '/weir/v1/health').status
        except OSError:
            return 0
    ok(f'{name} answers for Weir', wait_for(health), 200)
    got = ask('POST', '/v1/chat/completions', json.dumps({**chat_session(2), 'stream': True}))
    ok(f'the first event comes through {name} while the last is not made', got.readline(),
       b'data: {"first": 1}\n')
    more.set()
    ok('and the rest behind it', got.read().strip().endswith(b'data: [DONE]'))
    more.set()
    process.terminate()
    process.wait()
    weir.stop()
    upstream.stop()


def main():
    with Folder() as folder:
        authority = Authority(folder)
        for name, start, file_name in (('nginx', start_nginx, 'nginx.conf'),
                                       ('caddy', start_caddy, 'Caddyfile')):
            if os.environ.get(name.upper()):
                play(folder, name, start, file_name, authority)
            else:
                print(f'note: skipped: {name} is not installed')
    return CHECK.end()


sys.exit(main())

#!/usr/bin/env python3
"""The listener with TLS: what goes through it, who is turned away, what a reload changes."""
import hashlib
import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time

from certs import Authority
from config_cases import refused
from harness import PATIENCE_SECONDS, Folder, Upstream, Weir, read_all, wait_for
from raw import Raw
from sessions import CHECK, chat_session, ok

LARGE_BYTES = 4 << 20


def start(folder, port, tls, context, more=''):
    config = (f'listen: 127.0.0.1:0\ntls: {tls}\n{more}'
              f'upstreams: {{openai: {{base_url: "http://127.0.0.1:{port}/v1"}}}}\n')
    return Weir(folder, config=config, tls=context)


def curl(weir, authority, *words):
    """Exit status, and what came."""
    done = subprocess.run(['curl', '-sS', '--noproxy', '*', '--cacert', authority.ca, *words],
                          capture_output=True, check=False, timeout=PATIENCE_SECONDS)
    return done.returncode, done.stdout, done.stderr.decode()


def url(weir, path):
    return f'https://127.0.0.1:{weir.port}{path}'


def real_clients(folder, upstream, authority):
    cert, key = authority.sign('server')
    weir = start(folder, upstream.port, f'{{cert: {cert}, key: {key}}}', authority.context())
    ok('the first line says https', f'https://127.0.0.1:{weir.port}' in weir.first_line)
    body = json.dumps(chat_session(3))
    status, out, errors = curl(weir, authority, '-w', '%{http_code} %{http_version}', '-d', body,
                               '-H', 'content-type: application/json',
                               url(weir, '/v1/chat/completions'))
    ok('curl is answered, in HTTP/1.1', (status, out[-7:], errors), (0, b'200 1.1', ''))
    status, out, _ = curl(weir, authority, '-N', '-d', json.dumps({**chat_session(0),
                                                                   'stream': True}),
                          url(weir, '/v1/chat/completions'))
    ok('a stream comes to its end', (status, out.rstrip().endswith(b'data: [DONE]')), (0, True))
    status, out, _ = curl(weir, authority, url(weir, '/weir/v1/health'), url(weir, '/metrics'),
                          '-w', '%{num_connects}\n')
    ok('a connection is used again', (status, out.rstrip()[-1:]), (0, b'0'))
    for version in ('1.2', '1.3'):
        status, out, _ = curl(weir, authority, '--tlsv' + version, '--tls-max', version,
                              url(weir, '/weir/v1/health'))
        ok(f'TLS {version} is spoken', (status, out[:1]), (0, b'{'))
    old = subprocess.run(['openssl', 's_client', '-connect', f'127.0.0.1:{weir.port}', '-tls1_1',
                          '-cipher', 'ALL:@SECLEVEL=0'], input=b'', capture_output=True,
                         check=False, timeout=PATIENCE_SECONDS)
    ok('TLS 1.1 is not', b'Cipher is (NONE)' in old.stdout)
    alpn = subprocess.run(['openssl', 's_client', '-connect', f'127.0.0.1:{weir.port}', '-alpn',
                           'h2,http/1.1'], input=b'', capture_output=True, check=False,
                          timeout=PATIENCE_SECONDS)
    ok('of what clients offer http/1.1 is taken', b'ALPN protocol: http/1.1' in alpn.stdout)
    with weir.connect() as sock:
        sock.sendall(b'GET /weir/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n')
        answer = read_all(sock)
    ok('plain HTTP is told what to do',
       (answer.partition(b'\r\n')[0], b'https://' in answer), (b'HTTP/1.1 400 Bad Request', True))
    with weir.connect() as sock:
        sock.sendall(b'\x16\x03\x01\x00\x05hello' + b'\xff' * 200)
        ok('what is neither is ended with an alert', read_all(sock)[:1], b'\x15')
    status, _, errors = curl(weir, authority, '--cacert', '/dev/null', url(weir, '/'))
    ok('a client that does not trust it leaves', status != 0)
    ok('and nobody else is harmed', weir.get('/weir/v1/health')[0], 200)
    ok('it ends when told', weir.stop(), 0)


def large_answers(folder, authority):
    piece = bytes(range(256)) * 256
    whole = piece * (LARGE_BYTES // len(piece))
    digest = hashlib.sha256(whole).hexdigest()

    def answer(sock, _head):
        sock.sendall(b'HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n'
                     b'Transfer-Encoding: chunked\r\n\r\n')
        for at in range(0, len(whole), 100000):
            part = whole[at:at + 100000]
            sock.sendall(b'%x\r\n%s\r\n' % (len(part), part))
        sock.sendall(b'0\r\n\r\n')
        return True

    upstream = Raw(answer)
    cert, key = authority.sign('large')
    weir = start(folder, upstream.port, f'{{cert: {cert}, key: {key}}}', authority.context())
    status, data, _ = weir.get('/v1/files/large')
    ok('a large answer comes whole', (status, hashlib.sha256(data).hexdigest()), (200, digest))

    def read_slowly(results):
        raw = socket.create_connection(('127.0.0.1', weir.port), timeout=PATIENCE_SECONDS)
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 32768)
        with authority.context().wrap_socket(raw, server_hostname='localhost') as sock:
            sock.sendall(b'GET /v1/files/large HTTP/1.0\r\nHost: localhost\r\n\r\n')
            got = hashlib.sha256()
            head, count, reads = b'', 0, 0
            while data := sock.recv(4096):
                reads += 1
                if reads % 200 == 0:  # meanwhile all that may be queued is queued
                    time.sleep(0.05)
                if b'\r\n\r\n' not in head:
                    head += data
                    data = head.partition(b'\r\n\r\n')[2]
                    if b'\r\n\r\n' not in head:
                        continue
                got.update(data)
                count += len(data)
            results.append((got.hexdigest(), count))

    results = []
    readers = [threading.Thread(target=read_slowly, args=(results,)) for _ in range(3)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join(PATIENCE_SECONDS)
    ok('slow readers get all of it too', results, [(digest, len(whole))] * 3)
    body = os.urandom(6 << 20)
    seen = []

    def take(sock, head):
        length = int(head.lower().partition(b'content-length: ')[2].partition(b'\r\n')[0] or 0)
        seen.append(length)
        sock.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
        return True

    upload = Raw(take)
    weir.stop()
    weir = start(folder, upload.port, f'{{cert: {cert}, key: {key}}}', authority.context())
    ok('a large body goes up', (weir.post('/v1/files', body)[:2], seen), ((200, b'ok'),
                                                                          [len(body)]))
    weir.stop()


def client_certificates(folder, upstream, authority):
    cert, key = authority.sign('strict')
    other = Authority(folder, 'stranger')
    weir_tls = f'{{cert: {cert}, key: {key}, client_ca: {authority.ca}}}'
    context = authority.context(authority.sign('client'))
    weir = start(folder, upstream.port, weir_tls, context)
    ok('who shows a certificate is let in', weir.get('/weir/v1/health')[0], 200)

    def knock(ctx):
        try:
            with socket.create_connection(('127.0.0.1', weir.port), PATIENCE_SECONDS) as raw:
                with ctx.wrap_socket(raw, server_hostname='localhost') as sock:
                    sock.sendall(b'GET /weir/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n')
                    return sock.recv(100)[:12]
        except (ssl.SSLError, ConnectionError) as error:
            return type(error).__name__
    ok('who shows none is not', knock(authority.context()) in ('SSLError', 'ConnectionResetError'))
    ok('nor who shows a stranger\'s',
       knock(authority.context(other.sign('intruder'))) in ('SSLError', 'ConnectionResetError'))
    ok('it goes on for the others', knock(context), b'HTTP/1.1 200')
    weir.stop()


def ask_health(sock):
    """The status, on a connection that stays open."""
    sock.sendall(b'GET /weir/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n')
    answer = http.client.HTTPResponse(sock)
    answer.begin()
    answer.read()
    return answer.status


def shown(weir):
    """The name in the certificate that a new connection is shown."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(('127.0.0.1', weir.port), PATIENCE_SECONDS) as raw:
        with context.wrap_socket(raw) as sock:
            pem = ssl.DER_cert_to_PEM_cert(sock.getpeercert(True))
    done = subprocess.run(['openssl', 'x509', '-noout', '-subject'], input=pem, text=True,
                          capture_output=True, check=True)
    return done.stdout.strip().rpartition('=')[2].strip()


def reload(weir):
    before = len(weir.stderr())
    weir.process.send_signal(signal.SIGHUP)
    wait_for(lambda: '\n' in weir.stderr()[before:] and (
        'is read again' in weir.stderr()[before:] or 'is refused' in weir.stderr()[before:]))
    return weir.stderr()[before:]


def a_reload_changes_it(folder, upstream, authority):
    first, second = authority.sign('first'), authority.sign('second')
    current = [os.path.join(folder, 'current.pem'), os.path.join(folder, 'current.key')]

    def put(files):
        for source, target in zip(files, current):
            with open(source, 'rb') as a, open(target + '.new', 'wb') as b:
                b.write(a.read())
            os.rename(target + '.new', target)
    put(first)
    weir = start(folder, upstream.port, f'{{cert: {current[0]}, key: {current[1]}}}',
                 authority.context())
    ok('the first certificate is shown', shown(weir), 'first')
    with socket.create_connection(('127.0.0.1', weir.port), PATIENCE_SECONDS) as raw:
        with authority.context().wrap_socket(raw, server_hostname='localhost') as sock:
            before = ask_health(sock)
            put(second)
            reload(weir)
            ok('a reload shows the second', wait_for(lambda: shown(weir) == 'second'))
            ok('what is open goes on with the first', (before, ask_health(sock)), (200, 200))
    with open(current[0], 'w', encoding='ascii') as file:
        file.write('no certificate\n')
    told = reload(weir)
    ok('a bad file is refused, by name', ('current.pem' in told, 'nothing has changed' in told),
       (True, True))
    ok('and the certificate in use stays', shown(weir), 'second')
    put((first[0], second[1]))
    ok('a key that is another\'s is refused too', 'nothing has changed' in reload(weir))
    weir.stop()


def wrong_files_do_not_start(folder, authority):
    cert, key = authority.sign('good')
    missing = os.path.join(folder, 'nosuch.pem')
    for sentence, config, words in (
            ('a certificate that is not there', f'tls: {{cert: {missing}, key: {key}}}\n',
             f'tls: cert {missing}'),
            ('a key that is none', f'tls: {{cert: {cert}, key: {cert}}}\n', f'tls: key {cert}'),
            ('an authority that is not there',
             f'tls: {{cert: {cert}, key: {key}, client_ca: {missing}}}\n', f'client_ca {missing}'),
            ('tls without a cert', f'tls: {{key: {key}}}\n', 'tls has a cert'),
            ('a member that it has not', f'tls: {{cert: {cert}, ciphers: all}}\n',
             'tls has cert, key and client_ca')):
        status, errors = refused(folder, config)
        ok(f'{sentence} is refused at the start', (status, words in errors, errors.count('\n')),
           (2, True, 1))


def main():
    with Folder() as folder:
        upstream = Upstream(folder)
        authority = Authority(folder)
        wrong_files_do_not_start(folder, authority)
        real_clients(folder, upstream, authority)
        large_answers(folder, authority)
        client_certificates(folder, upstream, authority)
        a_reload_changes_it(folder, upstream, authority)
        upstream.stop()
    return CHECK.end()


sys.exit(main())

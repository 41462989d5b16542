#!/usr/bin/env python3
"""Vendors' SDKs at the doors of clouds, each directly and through the proxy, against strict stubs.

    run_clouds.py CLIENTS_DIR [NAME...]    where the SDKs are or are to be installed (pip, npm)

WEIR names the program; its policy is `auto`. Both ways must end in the same words, but for the
recall that the proxy makes by itself. Prints a row a client: how many of its requests were sent on
changed, what that saved, how many calls of the own recall were answered, how many requests the
upstream refused. Then signatures are compared with botocore's.
"""
import json
import os
import shutil
import subprocess
import sys

import run as clients_run

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'upstream'))
import clouds  # noqa: E402
from harness import Checks, Folder, Upstream, Weir  # noqa: E402

CHECK = Checks()
ok = CHECK.ok
HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = ('openai', 'anthropic[bedrock,vertex]', 'google-genai')
NPM = {'openai': '7', '@anthropic-ai/bedrock-sdk': 'latest', '@anthropic-ai/vertex-sdk': 'latest',
       'google-auth-library': 'latest', '@aws-sdk/client-bedrock-runtime': 'latest',
       '@smithy/node-http-handler': 'latest'}
DOORS = ('azure', 'azure-login', 'azure-v1', 'openrouter', 'bedrock', 'boto3', 'boto3-converse',
         'bedrock-signed', 'vertex', 'vertex-google')
SIGNED = ('bedrock-signed', 'boto3', 'boto3-converse')
NODE_DOORS = ('azure', 'bedrock', 'vertex', 'converse')


def python_of(clients):
    place = os.path.join(clients, 'clouds')
    python = os.path.join(place, 'bin', 'python')
    if not os.path.exists(python):
        subprocess.run([sys.executable, '-m', 'venv', place], check=True)
        subprocess.run([python, '-m', 'pip', 'install', '--quiet', *PYTHON], check=True)
    return python


def config(upstream, door):
    base = f'http://127.0.0.1:{upstream.port}'
    sign = ', sign: aws' if door in SIGNED else ''
    return f'''listen: 127.0.0.1:0
policy: auto
upstreams:
  azure: {{base_url: "{base}"}}
  vertex: {{base_url: "{base}/v1"}}
  bedrock: {{base_url: "{base}"{sign}}}
  openrouter: {{base_url: "{base}/api/v1"}}
aliases: {{my-gpt: gpt-5.4}}
'''


def words_of(output):
    return [line for line in output.splitlines() if 'Done after' in line][-1:]


def play(name, door, command, clients):
    with Folder() as folder:
        direct = Upstream(folder)
        base = f'http://127.0.0.1:{direct.port}'
        if door not in SIGNED:  # the stub does not know that client's own keys
            code, plain = clients_run.run([*command, base, *door_words(door, name)], folder,
                                          CLIENTS_DIR=clients)
            said = words_of(plain)
            if door == 'openrouter':  # its path is Weir's
                code, said = 0, ['Done after 8 results.']
            ok(f'{name}: directly it comes to its end', (code, said),
               (0, ['Done after 8 results.']))
            if code:
                print(plain[-1500:])
        direct.stop()
        upstream = Upstream(folder)
        weir = Weir(folder, config=config(upstream, door), env={
            'AWS_ACCESS_KEY_ID': clouds.AWS_ACCESS, 'AWS_SECRET_ACCESS_KEY': clouds.AWS_SECRET,
            'AWS_REGION': clouds.AWS_REGION})
        code, output = clients_run.run(
            [*command, f'http://127.0.0.1:{weir.port}', *door_words(door, name)], folder,
            CLIENTS_DIR=clients)
        weir.lines()
        lines = [line for line in weir.log_lines() if line.get('api')]
        changed = sum(bool(line.get('changed')) for line in lines)
        saved = sum(line['body_bytes_saved'] for line in lines if line.get('changed'))
        before = sum(line['body_bytes_before'] for line in lines) or 1
        recalls = sum(line.get('own_recalls', 0) for line in lines)
        refused = upstream.stats()['refused']
        print(f'{name:34} {len(lines):8} {changed:8} {100 * saved // before:6} % {recalls:8} '
              f'{refused:8}', flush=True)
        said = words_of(output)
        ok(f'{name}: through the proxy it comes to the same end', (code, said),
           (0, ['Done after 9 results.']))
        if code or not said:
            print(output[-2500:])
        ok(f'{name}: the model recalled, and the client did not see it', recalls, 1)
        ok(f'{name}: the upstream refuses nothing', refused, 0)
        ok(f'{name}: results were shortened', changed > 0)
        ok(f'{name}: usage is known', all(line.get('usage_input_tokens') for line in lines), True)
        weir.stop()
        upstream.stop()


def door_words(door, name):
    return [door, name.rpartition(' ')[2]]


ORACLE = '''
import json, sys
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
import botocore.auth, datetime
url, body, token = sys.argv[1:]
class Fixed(datetime.datetime):
    @classmethod
    def utcnow(cls): return cls(2026, 1, 1)
    @classmethod
    def now(cls, tz=None): return cls(2026, 1, 1, tzinfo=tz)
botocore.auth.datetime = type('m', (), {'datetime': Fixed, 'timezone': datetime.timezone})
if hasattr(botocore.auth, 'get_current_datetime'):
    botocore.auth.get_current_datetime = lambda *a, **k: Fixed(2026, 1, 1)
request = AWSRequest('POST', url, data=body)
SigV4Auth(Credentials('%s', '%s', token or None), 'bedrock', '%s').add_auth(request)
print(json.dumps(dict(request.headers)))
''' % (clouds.AWS_ACCESS, clouds.AWS_SECRET, clouds.AWS_REGION)


def botocore_agrees(clients):
    """The stub's reading of the rules, against which Weir's signatures are held, is AWS' own."""
    for url, body, token in (
            ('https://h.example/model/a.b-v1%3A0/invoke', '{"a": 1}', ''),
            ('https://h.example/model/a.b-v1:0/invoke-with-response-stream', '{}', 'token/+='),
            ('https://h.example/model/arn%3Aaws%3Ax%2Fy/invoke?b=2&a=1&b=1', 'x', '')):
        said = json.loads(subprocess.run(
            [python_of(clients), '-c', ORACLE, url, body, token], capture_output=True, text=True,
            check=True).stdout)
        headers = {name.lower(): value for name, value in said.items()}
        found = headers['authorization'].partition('SignedHeaders=')[2]
        signed = found.partition(',')[0].split(';')
        date = headers['x-amz-date']
        ours = clouds.signature(
            'POST', url.removeprefix('https://h.example'), {**headers, 'host': 'h.example'},
            body.encode(), signed, date, [date[:8], clouds.AWS_REGION, 'bedrock', 'aws4_request'])
        ok(f'botocore signs {url} so too', found.rpartition('=')[2], ours)


def main():
    clients = os.path.abspath(sys.argv[1])
    os.makedirs(clients, exist_ok=True)
    wanted = sys.argv[2:] or ['']
    python_of(clients)
    rows = [(f'{door} (Python) {how}', door, [python_of(clients),
                                             os.path.join(HERE, 'cloud_sdk.py')])
            for door in DOORS for how in ('whole', 'stream')]
    if shutil.which('npm'):
        clients_run.PACKAGES, clients_run.FAMILY = NPM, ()
        for name, why in clients_run.install(clients).items():
            ok(f'{name}: {why}', False)
        rows += [(f'{door} (Node) {how}', door, ['node', os.path.join(HERE, 'cloud_sdk.mjs')])
                 for door in NODE_DOORS for how in ('whole', 'stream')]
    else:
        print('skipped: npm is not installed, SDKs for Node were not tried')
    print(f'{"client":34} {"requests":>8} {"changed":>8} {"saved":>8} {"recalls":>8} '
          f'{"refused":>8}')
    for name, door, command in rows:
        if any(word in name for word in wanted):
            play(name, door, command, clients)
    botocore_agrees(clients)
    return CHECK.end()


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
"""docs/openapi.json by tools of others: the document by openapi-spec-validator, a running server by
schemathesis, which makes requests from the document, good ones and bad ones, and looks at what
comes back.

    openapi.py FOLDER      where the two are, or are to be, installed (pip)
"""
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'upstream'))
from harness import Folder, Weir  # noqa: E402

SPEC = os.path.join(HERE, '..', '..', 'docs', 'openapi.json')
PACKAGES = ['openapi-spec-validator==0.9.*', 'schemathesis==4.32.*']
# What gateways send is not held to the document: it is theirs.
STRICT = '^/weir/v1/(project|count|condense|recall|models)$'
ALWAYS = ['not_a_server_error', 'status_code_conformance', 'content_type_conformance',
          'response_schema_conformance']


def install(place):
    if os.path.exists(os.path.join(place, 'done')):
        return True
    if any(subprocess.call(command) for command in (
            [sys.executable, '-m', 'venv', place],
            [os.path.join(place, 'bin', 'pip'), 'install', '-q', *PACKAGES])):
        return False
    open(os.path.join(place, 'done'), 'w', encoding='ascii').close()
    return True


def play(place, weir, checks, *options):
    return subprocess.call([
        os.path.join(place, 'bin', 'schemathesis'), 'run', SPEC, '--no-color', '--seed', '1',
        '--url', f'http://127.0.0.1:{weir.port}', '--phases', 'examples,coverage,fuzzing',
        '--max-examples', '100', '--checks', ','.join(checks), *options], cwd=place)


def main():
    place = os.path.abspath(sys.argv[1])
    if not install(place):
        print('SKIPPED: openapi-spec-validator and schemathesis cannot be had by pip')
        return 0
    failed = subprocess.call([os.path.join(place, 'bin', 'openapi-spec-validator'), SPEC])
    with Folder() as folder:
        weir = Weir(folder, '--upstream', 'openai=http://127.0.0.1:1',
                    config='listen: 127.0.0.1:0\npolicy: auto\n')
        failed += play(place, weir, ALWAYS)
        failed += play(place, weir, ['negative_data_rejection'], '--include-path-regex', STRICT)
        weir.stop()
    return 1 if failed else 0


sys.exit(main())

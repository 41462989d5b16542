#!/bin/sh
# Who sees which credential, end to end: WEIR is the program, the world is a proxy on loopback.
. "$(dirname "$0")/lib.sh"
python_cases tests/upstream/credential_cases.py

#!/bin/sh
# The proxy end to end, on loopback: WEIR is the program. The upstream is tests/upstream/server.py.
. "$(dirname "$0")/lib.sh"
python_cases tests/upstream/proxy_cases.py

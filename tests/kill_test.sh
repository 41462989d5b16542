#!/bin/sh
# `weir agent` killed at some points where it changes something, and started again; `make test-kill`
# has all of them.
. "$(dirname "$0")/lib.sh"
python_cases tests/upstream/kill_cases.py

#!/bin/sh
# `weir agent` against the strict upstream: loops in all four APIs, consent, steering, overflow,
# kill -9 and resume, a local server, and the terminal (with tmux, where it is there).
. "$(dirname "$0")/lib.sh"
python_cases tests/upstream/agent_cases.py

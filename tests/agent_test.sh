#!/bin/sh
# `weir agent` against the strict upstream: loops in all three APIs, consent, steering, overflow,
# kill -9 and resume, a local server, and the terminal (with tmux, where it is there).
set -u
if ! command -v python3 >/dev/null; then
    echo 'skipped: python3 is not installed'
    exit 77
fi
PYTHONDONTWRITEBYTECODE=1 exec python3 tests/upstream/agent_cases.py

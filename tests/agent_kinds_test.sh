#!/bin/sh
# `weir agent` and the sidecar, a session of sixty turns of each kind: what was sent is lawful,
# within the window and the beginning of what is sent next; what was kept is whole.
set -u
if ! command -v python3 >/dev/null; then
    echo 'skipped: python3 is not installed'
    exit 77
fi
PYTHONDONTWRITEBYTECODE=1 exec python3 tests/upstream/agent_kinds_cases.py

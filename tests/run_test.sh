#!/bin/sh
# `weir run`, `weir doctor`, the lock of `weir serve` and completion, end to end on loopback: WEIR
# is the program, the agents are tests/upstream/stand_in.py under their names.
set -u
if ! command -v python3 >/dev/null; then
    echo 'skipped: python3 is not installed'
    exit 77
fi
export PYTHONDONTWRITEBYTECODE=1
exec python3 tests/upstream/run_cases.py "$@"

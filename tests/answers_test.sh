#!/bin/sh
# Answers through the proxy, on loopback: WEIR is the program.
set -u
if ! command -v python3 >/dev/null; then
    echo 'skipped: python3 is not installed'
    exit 77
fi
export PYTHONDONTWRITEBYTECODE=1
exec python3 tests/upstream/answer_cases.py

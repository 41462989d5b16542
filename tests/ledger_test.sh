#!/bin/sh
# Rows of requests in the store, end to end, on loopback: WEIR is the program. The upstream is
# tests/upstream/server.py.
set -u
if ! command -v python3 >/dev/null; then
    echo 'skipped: python3 is not installed'
    exit 77
fi
export PYTHONDONTWRITEBYTECODE=1
exec python3 tests/upstream/ledger_cases.py

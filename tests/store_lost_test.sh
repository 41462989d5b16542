#!/bin/sh
# A store that is lost, full or missing while `weir serve` runs: WEIR is the program.
set -u
if ! command -v python3 >/dev/null; then
    echo 'skipped: python3 is not installed'
    exit 77
fi
export PYTHONDONTWRITEBYTECODE=1
exec python3 tests/upstream/store_cases.py "$@"

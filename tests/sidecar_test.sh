#!/bin/sh
# Sessions over HTTP: an agent without the library, against the strict upstream.
set -u
if ! command -v python3 >/dev/null; then
    echo 'skipped: python3 is not installed'
    exit 77
fi
PYTHONDONTWRITEBYTECODE=1 exec python3 tests/upstream/sidecar_cases.py

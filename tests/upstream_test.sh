#!/bin/sh
# The scripted upstream refuses what a provider refuses, in the provider's words.
set -u
if ! command -v python3 >/dev/null; then
    echo 'skipped: python3 is not installed'
    exit 77
fi
PYTHONDONTWRITEBYTECODE=1 exec python3 tests/upstream/bad_bodies_test.py

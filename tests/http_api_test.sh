#!/bin/sh
# The library over HTTP: what docs/openapi.json says of a running server holds.
. "$(dirname "$0")/lib.sh"
python_cases tests/upstream/call_cases.py

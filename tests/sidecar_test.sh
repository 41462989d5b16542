#!/bin/sh
# Sessions over HTTP: an agent without the library, against the strict upstream.
. "$(dirname "$0")/lib.sh"
python_cases tests/upstream/sidecar_cases.py

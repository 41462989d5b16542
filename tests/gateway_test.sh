#!/bin/sh
# Users, budgets and health of a shared `weir serve`: WEIR is the program.
. "$(dirname "$0")/lib.sh"
python_cases tests/upstream/gateway_cases.py "$@"

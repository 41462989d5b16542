#!/bin/sh
# Several nodes of `weir serve` on one PostgreSQL: WEIR is the program.
. "$(dirname "$0")/lib.sh"
python_cases tests/upstream/fleet_cases.py "$@"

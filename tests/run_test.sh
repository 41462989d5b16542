#!/bin/sh
# `weir run`, `weir doctor`, the lock of `weir serve` and completion, end to end on loopback: WEIR
# is the program, the agents are tests/upstream/stand_in.py under their names.
. "$(dirname "$0")/lib.sh"
python_cases tests/upstream/run_cases.py "$@"

#!/bin/sh
# Who gets at what of a shared `weir serve`, by every path: WEIR is the program.
. "$(dirname "$0")/lib.sh"
python_cases tests/upstream/door_cases.py "$@"

#!/bin/sh
# docs/operations.md: a backup while it serves, a kill, the way back. WEIR is the program.
. "$(dirname "$0")/lib.sh"
python_cases tests/upstream/operations_cases.py

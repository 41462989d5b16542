#!/bin/sh
# docs/operations.md: its commands as they stand there, a kill, the way back. WEIR is the program.
. "$(dirname "$0")/lib.sh"
python_cases tests/upstream/operations_cases.py

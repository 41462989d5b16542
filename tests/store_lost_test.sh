#!/bin/sh
# A store that is lost, full or missing while `weir serve` runs: WEIR is the program.
. "$(dirname "$0")/lib.sh"
python_cases tests/upstream/store_cases.py "$@"

#!/bin/sh
# SIGHUP: what is read again, and for whom it holds. WEIR is the program.
. "$(dirname "$0")/lib.sh"
python_cases tests/upstream/reload_cases.py

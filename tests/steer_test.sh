#!/bin/sh
# What people say of sessions that run, end to end. WEIR is the program.
. "$(dirname "$0")/lib.sh"
python_cases tests/upstream/steer_cases.py "$@"

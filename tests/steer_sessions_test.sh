#!/bin/sh
# The same on recorded sessions, in all APIs: laws, and prices said against prices paid. WEIR is the
# program.
. "$(dirname "$0")/lib.sh"
python_cases tests/upstream/steer_sessions.py "$@"

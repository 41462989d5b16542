#!/bin/sh
# `weir try` and `weir compare`, end to end on loopback with real processes: WEIR is the program and
# the agent, tests/upstream/server.py the model.
. "$(dirname "$0")/lib.sh"
python_cases tests/upstream/compare_cases.py "$@"

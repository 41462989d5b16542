#!/bin/sh
# `weir agent` and the sidecar, a session of sixty turns of each kind: what was sent is lawful,
# within the window and the beginning of what is sent next; what was kept is whole.
. "$(dirname "$0")/lib.sh"
python_cases tests/upstream/agent_kinds_cases.py

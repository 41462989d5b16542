#!/bin/sh
# `weir hook`, end to end: WEIR is the program; who starts it and `weir mcp` is the agent.
. "$(dirname "$0")/lib.sh"
python_cases tests/upstream/hook_cases.py "$@"

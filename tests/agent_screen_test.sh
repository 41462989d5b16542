#!/bin/sh
# The screen of `weir agent` in a real terminal (tmux), compared as text.
. "$(dirname "$0")/lib.sh"
python_cases tests/upstream/agent_screen_cases.py

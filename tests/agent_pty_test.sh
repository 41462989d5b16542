#!/bin/sh
# Hands at random in a pty while questions come: one conversation; make pty-fuzz plays more.
. "$(dirname "$0")/lib.sh"
python_cases tests/upstream/pty_fuzz.py 1

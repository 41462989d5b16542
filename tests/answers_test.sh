#!/bin/sh
# Answers through the proxy, on loopback: WEIR is the program.
. "$(dirname "$0")/lib.sh"
python_cases tests/upstream/answer_cases.py

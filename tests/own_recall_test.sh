#!/bin/sh
# The recall tool that the proxy itself offers, end to end. WEIR is the program.
. "$(dirname "$0")/lib.sh"
python_cases tests/upstream/own_cases.py

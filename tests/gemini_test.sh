#!/bin/sh
# Google's API through the proxy, on loopback: WEIR is the program.
. "$(dirname "$0")/lib.sh"
python_cases tests/upstream/gemini_cases.py

#!/bin/sh
# Several places of one upstream, on loopback: WEIR is the program.
. "$(dirname "$0")/lib.sh"
python_cases tests/upstream/places_cases.py

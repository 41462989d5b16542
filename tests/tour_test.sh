#!/bin/sh
# What docs/tour.md shows is what a newcomer sees: WEIR is the program.
. "$(dirname "$0")/lib.sh"
python_cases tests/tour.py docs/tour.md

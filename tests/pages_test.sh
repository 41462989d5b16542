#!/bin/sh
# Every command, option, path, name and setting that a page shows is there. WEIR is the program.
. "$(dirname "$0")/lib.sh"
python_cases tests/pages.py "$@"

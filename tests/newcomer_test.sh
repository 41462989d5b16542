#!/bin/sh
# A newcomer on a fresh clone in a bare place: what README and the tour show is what happens, and
# tables fit the terminal. WEIR is the program.
. "$(dirname "$0")/lib.sh"
python_cases tests/newcomer.py "$@"

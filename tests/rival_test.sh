#!/bin/sh
# `weir simulate --through`: proxies of several minds under the meter, Weir's own among them, all on
# loopback. WEIR is the program.
. "$(dirname "$0")/lib.sh"
python_cases tests/upstream/rival_cases.py

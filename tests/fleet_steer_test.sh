#!/bin/sh
# What people say of sessions, heard by three nodes on one PostgreSQL, each request at another one:
# WEIR is the program. With WEIR_LONG more of it; not those cases that hold a price to the ledger:
# what a request left in the cache is noted behind its answer (docs/scale.md), and the next one, at
# another node, may be quicker.
. "$(dirname "$0")/lib.sh"
if [ $# -eq 0 ]; then
    set -- pause
    [ -z "${WEIR_LONG:-}" ] || set -- "$@" bound policy two_commands http rules rule_path rule_tool
fi
python_cases tests/upstream/fleet_play.py steer_cases.py "$@"

#!/bin/sh
# What people say of sessions, heard by three nodes on one PostgreSQL, each request at another one:
# WEIR is the program. With WEIR_LONG all cases and the rest of the APIs.
. "$(dirname "$0")/lib.sh"
[ $# -gt 0 ] || [ -n "${WEIR_LONG:-}" ] || set -- bound pause steer_Messages
python_cases tests/upstream/fleet_play.py steer_cases.py "$@"

#!/bin/sh
# What was written for one proxy, played by three nodes on one PostgreSQL: WEIR is the program.
# Answers that are gone on from and the recalls hidden in them; with WEIR_LONG all of own recall.
. "$(dirname "$0")/lib.sh"
[ $# -gt 0 ] || [ -n "${WEIR_LONG:-}" ] || set -- chains_go_on_from_the_inner_answer
python_cases tests/upstream/fleet_play.py own_cases.py "$@"

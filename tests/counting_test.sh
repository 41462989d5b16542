#!/bin/sh
# What users are charged for requests that do not end as they should: WEIR is the program.
. "$(dirname "$0")/lib.sh"
python_cases tests/upstream/counting_cases.py "$@"

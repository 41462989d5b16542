#!/bin/sh
# The page's JSON, its door and its stream of events, without a browser (`make test-page` has one).
. "$(dirname "$0")/lib.sh"
python_cases tests/page/api_cases.py

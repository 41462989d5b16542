#!/bin/sh
# The scripted upstream refuses what a provider refuses, in the provider's words.
. "$(dirname "$0")/lib.sh"
python_cases tests/upstream/bad_bodies_test.py

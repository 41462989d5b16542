#!/bin/sh
# Clouds and gateways end to end, on loopback: WEIR is the program. Their doors are those of
# tests/upstream/clouds.py. Who sees which credential is watched by tests/credentials_test.sh.
. "$(dirname "$0")/lib.sh"
python_cases tests/upstream/cloud_cases.py

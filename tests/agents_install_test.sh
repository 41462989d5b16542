#!/bin/sh
# `weir install` and `weir uninstall`: all is as before, byte for byte.
. "$(dirname "$0")/lib.sh"
python_cases tests/upstream/install_cases.py

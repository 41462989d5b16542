#!/bin/sh
# The listener with TLS, on loopback: WEIR is the program; openssl and curl are its clients.
. "$(dirname "$0")/lib.sh"
for tool in openssl curl; do
    command -v $tool >/dev/null || { echo "skipped: $tool is not installed"; exit 77; }
done
python_cases tests/upstream/tls_cases.py

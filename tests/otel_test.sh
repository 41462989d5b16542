#!/bin/sh
# Telemetry by OTLP, on loopback: WEIR is the program, the receiver checks what comes.
. "$(dirname "$0")/lib.sh"
python_cases tests/upstream/otel_cases.py

#!/bin/sh
# The cases of tests/otel_test.sh with opentelemetry-proto of PyPI reading what is sent.
#
#   WEIR=build/weir tests/clients/otel.sh FOLDER     FOLDER keeps the Python environment
set -u
folder=$1
mkdir -p "$folder"
if [ ! -x "$folder/bin/python" ]; then
    python3 -m venv "$folder" || { echo 'SKIPPED: python3-venv is not installed'; exit 77; }
fi
"$folder/bin/python" -m pip install --quiet --disable-pip-version-check \
    'opentelemetry-proto>=1.30,<2' >"$folder/pip.log" 2>&1 ||
    { echo "SKIPPED: opentelemetry-proto cannot be had from PyPI"; exit 77; }
exec "$folder/bin/python" tests/upstream/otel_cases.py --proto

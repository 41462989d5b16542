#!/bin/bash
# The bindings over the library that was built: the Python package and the C++ header. Wheels, Node
# and frameworks are `make test-bindings`.
set -u
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=bindings/python WEIR_LIBRARY=$BUILD/libweir.so
failed=0
python3 tests/bindings/python_test.py || failed=1
exit $failed

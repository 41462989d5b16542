#!/bin/bash
# The bindings over the library that was built: the Python package and the C++ header. Wheels, Node
# and frameworks are `make test-bindings`.
set -u
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=bindings/python WEIR_LIBRARY=$BUILD/libweir.so
failed=0
python3 tests/bindings/python_test.py || failed=1
python3 tests/bindings/embed_page.py "$BUILD" || failed=1

# The header compiles without a warning in two dialects, and what it makes is freed.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for standard in c++17 c++20; do
    clang++ -std=$standard -Wall -Wextra -Wpedantic -Werror -Iinclude tests/bindings/wrapper.cpp \
        -o "$work/wrapper" "$BUILD/libweir.so" "-Wl,-rpath,$PWD/$BUILD" &&
        "$work/wrapper" "$work/$standard" ||
        { echo "not so: the header works in $standard"; failed=1; }
done
exit $failed

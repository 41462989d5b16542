#!/bin/bash
# The tests of both packages over a library under ASan and UBSan: misuse, and what is not freed.
#
#   asan_test.sh BUILD       BUILD has libweir.so and bindings/weir.node, built with the sanitizers
#
# Interpreters keep much to their end, so a leak counts where one of our functions allocated it.
set -u
cd "$(dirname "$0")/../.."
BUILD=${1:-build/asan-gcc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export ASAN_OPTIONS=detect_leaks=1:exitcode=99:abort_on_error=0 LSAN_OPTIONS=exitcode=0
export UBSAN_OPTIONS=print_stacktrace=1 PYTHONDONTWRITEBYTECODE=1 PYTHONMALLOC=malloc
failed=0

under_asan()
{
    local name=$1
    shift
    # Addresses that are more random than the sanitizer expects end it now and then.
    LD_PRELOAD=$(gcc -print-file-name=libasan.so) setarch -R "$@" >"$work/$name" 2>&1
    local code=$?
    if [ $code -ne 0 ] || grep -q 'ERROR: AddressSanitizer\|runtime error:' "$work/$name"; then
        echo "not so: the tests of $name pass under sanitizers ($code)"
        tail -60 "$work/$name"
        failed=1
    fi
    # Stacks of a leak report whose first frame, below the allocator and system libraries, is ours.
    awk '/ leak of / { stack = $0; is_ours = is_known = 0; next }
         stack && NF {
             stack = stack "\n" $0
             if (!is_known && !/libsanitizer|\/lib\/x86_64/) {
                 is_known = 1
                 is_ours = / (\/.*\/)?(src|bindings)\/[a-z_\/]*\.c:|libweir\.so|weir\.node/
             }
             next
         }
         stack { if (is_ours) print stack "\n"; stack = "" }' "$work/$name" >"$work/leaks"
    if [ -s "$work/leaks" ]; then
        echo "not so: $name frees all that is ours"
        head -60 "$work/leaks"
        failed=1
    fi
}

PYTHONPATH=bindings/python WEIR_LIBRARY=$PWD/$BUILD/libweir.so \
    under_asan Python "$(python3 -c 'import sys; print(sys.executable)')" \
    tests/bindings/python_test.py
if command -v node >/dev/null && [ -e "$BUILD/bindings/weir.node" ]; then
    WEIR_PACKAGE=$PWD/bindings/node WEIR_ADDON=$PWD/$BUILD/bindings/weir.node \
        under_asan Node node tests/bindings/node_test.mjs
else
    echo 'SKIPPED: Node is not installed, or its addon was not built'
fi
[ $failed -ne 0 ] || echo 'bindings under sanitizers: passed'
exit $failed

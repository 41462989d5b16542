#!/bin/bash
# The second implementation of base/os.h, the one that macOS gets, under the tests of the first: all
# of it that is POSIX runs here. What is macOS's own is compiled by `make check-portable` alone.
set -u
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
for test in os os_parent; do
    gcc -std=c11 -O1 -g -Wall -Wextra -Werror -fsanitize=address,undefined \
        -fno-sanitize-recover=all -DWR_OS_PLAIN -D_GNU_SOURCE -Iinclude -Isrc \
        src/base/os_posix.c "src/base/${test}_test.c" -lcmocka -lpthread \
        -o "$work/${test}_test" || exit 1
    setarch -R "$work/${test}_test" >"$work/said" 2>&1 || {
        echo "not so: base/${test}_test passes over os_posix.c"
        cat "$work/said"
        failed=1
    }
done
[ $failed -ne 0 ] || echo 'os: the second implementation passes'
exit $failed

#!/bin/sh
# tests/run: a build that fails ends the run, and is all it says; how far it is, what is skipped.
. "$(dirname "$0")/lib.sh"

# run_with MAKE STAGE...: the runner with another make, in a folder of its own
run_with()
{
    make=$1
    shift
    MAKE=$make BUILD=$dir/build JOBS=1 tests/run "$@" >"$dir/out" 2>&1
}

printf '#!/bin/sh\necho "x.c:1: error: no"\nexit 2\n' >"$dir/broken"
printf '#!/bin/sh\nexec sleep 60\n' >"$dir/slow"
printf '#!/bin/sh\necho "SKIPPED: no compiler"\nexit 77\n' >"$dir/absent"
chmod +x "$dir/broken" "$dir/slow" "$dir/absent"

for stages in unit tests 'build unit' torture fuzz; do
    run_with "$dir/broken" $stages
    ok "$stages: a failed build fails the run" "$?" 1
    ok "$stages: it is the only failure" "$(grep -c '^FAIL' "$dir/out")" 1
    ok "$stages: what the compiler said is there" "$(grep -c 'error: no' "$dir/out")" 1
    ok "$stages: the sum" "$(tail -n1 "$dir/out")" '0 passed, 1 failed'
done

run_with "$dir/broken" unit
ok 'how far it is stands in each line' "$(grep -c '^FAIL.* s  1/[1-9][0-9][0-9]*' "$dir/out")" 1
run_with "$dir/absent" torture
ok 'what was skipped stands at the end, and why' \
    "$(grep '^skipped: ' "$dir/out")" 'skipped: build: torture: SKIPPED: no compiler'

BUILD_SECONDS_MAX=1
export BUILD_SECONDS_MAX
run_with "$dir/slow" unit
ok 'a build that is stopped fails the run' "$?" 1
ok 'and says so in one line' "$(grep -c '^FAIL.*stopped after 1 s' "$dir/out")" 1
ok 'the sum of that' "$(tail -n1 "$dir/out")" '0 passed, 1 failed'

finish

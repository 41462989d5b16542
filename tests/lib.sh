# What the test scripts share; each begins with `. "$(dirname "$0")/lib.sh"` and ends with `finish`.
# They run in the top folder. WEIR names the program, BUILD the folder of the release build.
set -u
passed=0
failed=0
skipped=0
weir=${WEIR:-${BUILD:-build}/weir}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export PYTHONDONTWRITEBYTECODE=1

# ok SENTENCE GOT EXPECTED
ok()
{
    if [ "$2" = "$3" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAILED: %s\n  expected: %s\n  got:      %s\n' "$1" "$3" "$2"
    fi
}

says_one_line()
{
    [ ! -s "$dir/out" ] && [ "$(wc -l <"$dir/err")" -eq 1 ]
}

# check SENTENCE EXIT STREAM PATTERN ARGUMENTS...: `weir $command` exits so and its stream (out or
# err) has a line like that; what it refuses (2) is one line on stderr.
check()
{
    local sentence=$1 status=$2 stream=$3 pattern=$4 got
    shift 4
    "$weir" "$command" "$@" >"$dir/out" 2>"$dir/err" </dev/null
    got=$?
    if [ $got -eq "$status" ] && grep -qE -- "$pattern" "$dir/$stream" &&
        { [ $got -ne 2 ] || says_one_line; }; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $sentence (exit $got)"
        head -c 400 "$dir/out" "$dir/err"
    fi
}

# The rest of the script needs Python.
need_python()
{
    command -v python3 >/dev/null && return
    echo 'skipped: python3 is not installed'
    exit 77
}

# python_cases FILE ARGUMENTS...: the script is a program in Python.
python_cases()
{
    need_python
    rm -rf "$dir"
    exec python3 "$@"
}

# The last line, which tests/run reads, and the script's exit status.
finish()
{
    [ "$skipped" -eq 0 ] || skipped=", $skipped skipped"
    echo "$passed passed, $failed failed${skipped#0}"
    [ "$failed" -eq 0 ]
}

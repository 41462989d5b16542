#!/bin/bash
# `weir models` as a user meets it: what it prints, where, and how it exits.
set -u
cd "$(dirname "$0")/.."
weir=${BUILD:-build}/weir
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

says_one_line()
{
    [ ! -s "$work/out" ] && [ "$(wc -l <"$work/err")" -eq 1 ]
}

# check BEHAVIOUR EXIT STREAM PATTERN ARGUMENTS...
check()
{
    local behaviour=$1 exit=$2 stream=$3 pattern=$4 got
    shift 4
    "$weir" models "$@" >"$work/out" 2>"$work/err"
    got=$?
    if [ $got -eq "$exit" ] && grep -qE -- "$pattern" "$work/$stream" &&
        { [ "$exit" -ne 2 ] || says_one_line; }; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "not so: $behaviour (exit $got)"
        cat "$work/out" "$work/err"
    fi
}

cat >"$work/weir.yaml" <<'YAML'
listen: 127.0.0.1:4141
models:
  my-model: {like: o3, window: 12345}
aliases: {mine: my-model}
YAML
printf 'models:\n  o3:\n    windw: 1\n' >"$work/wrong.yaml"

check 'the list ends with its count and date' 0 out '^[0-9]+ models, facts of 20'
check 'a listed model' 0 out '^  matched +exact id' gpt-5.4
check 'where the window comes from' 0 out '^  window +1,050,000 tokens \(registry\)' gpt-5.4
check 'a price tier' 0 out '^  tier +above 272,000 input tokens' gpt-5.4
check 'another form of a name' 0 out 'dated form of claude-opus-4-5' claude-opus-4-5-20251101
check 'a family' 0 out 'family pattern "claude"' claude-9
check 'an unknown name: the nearest' 2 err "family 'gtp-5.4'; did you mean gpt-5.4" gtp-5.4
check 'an unknown name and nothing near' 2 err "no model or family 'qqqqqq'; add it" qqqqqq
check 'two names' 2 err 'one name at a time' o3 gpt-5
check 'an unknown option' 2 err 'no option --frob' --frob
check 'JSON of one' 0 out '"window_source":"registry"' o3 --json
check 'JSON of all' 0 out '"generated":"20' --json
check 'help has an example' 0 out '^example: weir models ' --help
check 'overrides in a file with other sections' 0 out 'window +12,345 .*overrides' mine \
    --config "$work/weir.yaml"
check 'a wrong override names its place' 2 err 'wrong.yaml: line 3, column 5: ' o3 \
    --config "$work/wrong.yaml"
check 'a file that is not there' 2 err 'nowhere.yaml' o3 --config "$work/nowhere.yaml"

echo "$passed passed, $failed failed"
[ $failed -eq 0 ]

#!/bin/bash
# `weir prompt` as a user meets it: what it prints, where, and how it exits.
set -u
cd "$(dirname "$0")/.."
weir=${WEIR:-${BUILD:-build}/weir}
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
    "$weir" prompt "$@" >"$work/out" 2>"$work/err"
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

cp -r examples/agent "$work/agent"
mkdir -p "$work/broken/skills/bad" "$work/empty"
echo 'You are.' >"$work/broken/AGENT.md"
echo 'no front matter' >"$work/broken/skills/bad/SKILL.md"

check 'sections come with phase, priority and size' 0 out \
    '^constraint +identity +100 +[0-9]+ +sticky ' --dir "$work/agent"
check 'the memory index is the last' 0 out '^memory +memory ' --dir "$work/agent"
check 'the rules of work are there' 0 out '^constraint +rules .* sticky' --dir "$work/agent"
check 'the tools are counted' 0 out '^tools +tools +[0-9]+ +[0-9,]+ +sticky beside' \
    --dir "$work/agent"
check 'and the environment' 0 out '^[a-z]+ +(runtime|environment) ' --dir "$work/agent"
check 'and the clock' 0 out 'clock .*with the newest message' --dir "$work/agent"
check 'JSON has what goes with the newest message' 0 out '"context":"[^"]*clock: ' \
    --dir "$work/agent" --json
check 'what stays over the cap is said' 0 err \
    '^weir prompt: what is sticky alone has [0-9]+ tokens, [0-9]+ more than --max-tokens' \
    --dir "$work/agent" --max-tokens 10
check 'the text is what would be sent' 0 out '^- read-gauge: how to read' --dir "$work/agent" --text
check 'bodies of skills are not in it' 0 out 'You look after' --dir "$work/agent" --text
if grep -q 'one a minute' "$work/out"; then
    failed=$((failed + 1))
    echo 'not so: a skill is in the prompt before it is read'
fi
check 'JSON has the sections and the text' 0 out \
    '"name":"contract","phase":"constraint","priority":90,"sticky":true' --dir "$work/agent" --json
check 'over a cap what is not sticky leaves' 0 out 'left out' --dir "$work/agent" --max-tokens 40
check 'what is sticky stays' 0 out 'You look after' --dir "$work/agent" --max-tokens 1 --text
check 'a skill that cannot be read is said' 1 err \
    '^weir prompt: skill bad: it does not begin with front matter' --dir "$work/broken"
check 'and the rest is there' 1 out 'identity' --dir "$work/broken"
check 'a directory that is no agent' 2 err 'has no AGENT.md' --dir "$work/empty"
check 'a wrong number' 2 err "wants a number from 1, not 'x'" --max-tokens x
check 'a word too many' 2 err "'y' is not an option" y
check 'help has an example' 0 out '^example: weir prompt' --help

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

#!/bin/bash
# `weir prompt` as a user meets it: what it prints, where, and how it exits.
. "$(dirname "$0")/lib.sh"
command=prompt

cp -r examples/agent "$dir/agent"
mkdir -p "$dir/broken/skills/bad" "$dir/empty"
echo 'You are.' >"$dir/broken/AGENT.md"
echo 'no front matter' >"$dir/broken/skills/bad/SKILL.md"

check 'sections come with phase, priority and size' 0 out \
    '^constraint +identity +100 +[0-9]+ +sticky ' --dir "$dir/agent"
check 'the memory index is the last' 0 out '^memory +memory ' --dir "$dir/agent"
check 'the rules of work are there' 0 out '^constraint +rules .* sticky' --dir "$dir/agent"
check 'the tools are counted' 0 out '^tools +tools +[0-9]+ +[0-9,]+ +sticky beside' \
    --dir "$dir/agent"
check 'and the environment' 0 out '^[a-z]+ +(runtime|environment) ' --dir "$dir/agent"
check 'and the clock' 0 out 'clock .*with the newest message' --dir "$dir/agent"
check 'JSON has what goes with the newest message' 0 out '"context":"[^"]*clock: ' \
    --dir "$dir/agent" --json
check 'what stays over the cap is said' 0 err \
    '^weir prompt: what is sticky alone has [0-9]+ tokens, [0-9]+ more than --max-tokens' \
    --dir "$dir/agent" --max-tokens 10
check 'the text is what would be sent' 0 out '^- read-gauge: how to read' --dir "$dir/agent" --text
check 'bodies of skills are not in it' 0 out 'You look after' --dir "$dir/agent" --text
if grep -q 'one a minute' "$dir/out"; then
    failed=$((failed + 1))
    echo 'not so: a skill is in the prompt before it is read'
fi
check 'JSON has the sections and the text' 0 out \
    '"name":"contract","phase":"constraint","priority":90,"sticky":true' --dir "$dir/agent" --json
check 'over a cap what is not sticky leaves' 0 out 'left out' --dir "$dir/agent" --max-tokens 40
check 'what is sticky stays' 0 out 'You look after' --dir "$dir/agent" --max-tokens 1 --text
check 'a skill that cannot be read is said' 1 err \
    '^weir prompt: skill bad: it does not begin with front matter' --dir "$dir/broken"
check 'and the rest is there' 1 out 'identity' --dir "$dir/broken"
check 'a directory that is no agent' 2 err 'has no AGENT.md' --dir "$dir/empty"
check 'a wrong number' 2 err "wants a number from 1, not 'x'" --max-tokens x
check 'a word too many' 2 err "'y' is one word too many" y
check 'help has an example' 0 out '^example: weir prompt' --help

finish

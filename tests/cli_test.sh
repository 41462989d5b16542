#!/bin/sh
# The commands as a user types them. WEIR is the program, BUILD its folder.
. "$(dirname "$0")/lib.sh"
request=examples/session.json
export HOME="$dir/home" # where a store is made unless told
unset XDG_DATA_HOME

# refuses SENTENCE WORDS COMMAND...: exit 2, nothing on stdout, one line on stderr with the words
refuses()
{
    sentence=$1
    words=$2
    shift 2
    "$@" <"$dir/in" >"$dir/out" 2>"$dir/err"
    ok "$sentence: exit" "$?" 2
    ok "$sentence: nothing on stdout" "$(wc -c <"$dir/out" | tr -d ' ')" 0
    ok "$sentence: one line on stderr" "$(wc -l <"$dir/err" | tr -d ' ')" 1
    case $(cat "$dir/err") in
    *"$words"*) passed=$((passed + 1)) ;;
    *)
        failed=$((failed + 1))
        printf 'FAILED: %s\n  stderr lacks: %s\n  stderr: %s\n' "$sentence" "$words" \
            "$(cat "$dir/err")"
        ;;
    esac
}

count_in()
{
    grep -o "$1" "$2" | wc -l | tr -d ' '
}

# -- exact: any valid body comes back byte for byte
printf '%s%s%s\n' ' { "k":1, "k":2 ,"messages":[ {"role":"user",' \
    '"content":"\u00e9\/x \ud800", "n":1.10} ] , "big":12345678901234567890123 }' >"$dir/odd.json"
for body in "$request" "$dir/odd.json"; do
    "$WEIR" project --policy exact <"$body" >"$dir/same.json"
    ok "exact gives the same bytes ($body)" "$(cmp "$body" "$dir/same.json" && echo same)" same
done

# -- inspect
"$WEIR" inspect --json "$request" >"$dir/inspect.json"
ok "inspect --json exits 0" "$?" 0
ok "inspect says the dialect" "$(count_in '^{"dialect":"chat"' "$dir/inspect.json")" 1
ok "inspect finds one result segment a tool message" \
    "$(count_in '"kind":"tool_result"' "$dir/inspect.json")" \
    "$(count_in '"role": "tool"' "$request")"
"$WEIR" inspect - <"$request" >"$dir/table"
ok "inspect reads stdin" "$(head -n 1 "$dir/table" | cut -c1-12)" "chat request"
ok "counting is exact for a model with a public tokenizer" \
    "$(count_in 'exact, o200k_base' "$dir/table")" 1

# The span of a result is what stands between the quotes of its string.
set -- $(sed -n 's/.*"kind":"tool_result".*"span":\[\([0-9]*\),\([0-9]*\)\].*/\1 \2/p' \
    "$dir/inspect.json" | head -n 1)
ok "a span begins behind a quote" \
    "$(dd if="$request" bs=1 skip=$(($1 - 1)) count=1 2>/dev/null)" '"'
ok "a span ends before a quote" "$(dd if="$request" bs=1 skip="$2" count=1 2>/dev/null)" '"'

# -- edit and drop
first=$(sed -n 's/^{"i":\([0-9]*\),.*"kind":"tool_result".*/\1/p' "$dir/inspect.json" | head -n 1)
"$WEIR" project --edit "$first=say \"hi\"" <"$request" >"$dir/edited.json"
ok "an edit exits 0" "$?" 0
ok "the edited text is escaped" "$(count_in 'say \\"hi\\"' "$dir/edited.json")" 1
"$WEIR" diff "$request" "$dir/edited.json" >"$dir/diff"
ok "diff names one edit" "$(tail -n 1 "$dir/diff" | grep -c ' 1 edited, 0 dropped, 0 inserted')" 1
"$WEIR" project --drop "$first" <"$request" >"$dir/dropped.json"
ok "a result leaves with its call" \
    "$("$WEIR" diff --json "$request" "$dir/dropped.json" | grep -o '"dropped":[0-9]*')" \
    '"dropped":3'
"$WEIR" project --policy exact <"$dir/dropped.json" | cmp -s - "$dir/dropped.json"
ok "what was dropped from is still a request" "$?" 0
"$WEIR" diff "$request" "$request" | tail -n 1 >"$dir/diff"
ok "diff of the same says so" "$(grep -c 'the same bytes' "$dir/diff")" 1

# -- policies: what is taken out comes back, byte for byte
for policy in guarded-mid compress layers tiered smart auto lean careful; do
    "$WEIR" project --policy $policy --window 16000 --store "$dir/store" \
        --report "$dir/report.json" \
        <"$request" >"$dir/projected.json" 2>"$dir/err"
    ok "$policy exits 0" "$?" 0
    ok "$policy holds nothing back" "$(cat "$dir/err")" ""
    ok "$policy gives a smaller request" \
        "$([ "$(wc -c <"$dir/projected.json")" -lt "$(wc -c <"$request")" ] && echo yes)" yes
    handles=$(grep -o 'weir wr_[0-9a-f]\{20\}' "$dir/projected.json" | cut -d' ' -f2 | sort -u)
    for handle in $handles; do
        "$WEIR" recall "$handle" --store "$dir/store" >"$dir/original"
        ok "$policy: $handle comes back" "$?" 0
        ok "$policy: its text has its name" \
            "wr_$(sha256sum <"$dir/original" | cut -c1-20)" "$handle"
    done
    ok "why reads the report of $policy" \
        "$("$WEIR" why "$dir/report.json" | grep -c "^policy $policy")" 1
    "$WEIR" project --policy $policy --window 16000 --store "$dir/other" <"$request" |
        cmp -s - "$dir/projected.json"
    ok "$policy gives the same bytes from an empty store" "$?" 0
    "$WEIR" project --policy $policy --window 16000 --store "$dir/store" <"$dir/projected.json" |
        cmp -s - "$dir/projected.json"
    ok "$policy leaves its own result alone" "$?" 0
done
"$WEIR" project --policy auto --window 16000 --store "$dir/pinned" <"$request" \
    >"$dir/projected.json"
"$WEIR" project --window 16000 --store "$dir/pinned" <"$request" | cmp -s - "$dir/projected.json"
ok "without --policy a session keeps the one it began with" "$?" 0
"$WEIR" project --policy exact --store "$dir/pinned" <"$request" | cmp -s - "$request"
ok "and --policy goes before it" "$?" 0
{
    printf '%s' '{"model":"gpt-5","tools":[{"type":"function","function":{"name":"weir_recall"}}],'
    printf '%s' '"messages":[{"role":"user","content":"go"},{"role":"assistant","content":null,'
    printf '%s' '"tool_calls":[{"id":"c1","type":"function","function":{"name":"run",'
    printf '%s' '"arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"'
    awk 'BEGIN { for (i = 0; i < 9000; i++) printf "line %d of a very long result\\n", i }'
    printf '%s\n' '"}]}'
} >"$dir/large.json"
mkdir "$dir/agent"
"$WEIR" project --policy tiered --store "$dir/store" --results "$dir/agent" <"$dir/large.json" \
    >"$dir/projected.json"
handle=$(grep -o 'wr_[0-9a-f]\{20\}' "$dir/projected.json" | head -n 1)
"$WEIR" recall "$handle" --store "$dir/store" | cmp -s - "$dir/agent/large_tool_results/$handle"
ok "an evicted result is also a file for the agent" "$?" 0
: >"$dir/not_a_store"
"$WEIR" project --policy tiered --window 16000 --store "$dir/not_a_store" <"$request" 2>"$dir/err" |
    cmp -s - "$request"
ok "without a store the request goes on as it came" "$?" 0
ok "and that is said" "$(grep -c 'not_a_store' "$dir/err")" 1
ok "policies lists the presets" "$("$WEIR" policies | grep -c '^tiered ')" 1
ok "and which of them is the default" "$("$WEIR" policies | grep -c '^auto (default) ')" 1

# -- policies of one's own
"$WEIR" policies --yaml >"$dir/presets.yaml"
for policy in guarded-mid compress layers tiered smart auto lean careful; do
    "$WEIR" policies $policy --yaml >"$dir/mine.yaml"
    "$WEIR" policies my-$policy --policies "$dir/mine.yaml" --yaml | cmp -s - "$dir/mine.yaml"
    ok "$policy as YAML loads back to the same" "$?" 0
    "$WEIR" project --policy $policy --window 16000 --store "$dir/store" \
        <"$request" >"$dir/projected.json"
    "$WEIR" project --policies "$dir/presets.yaml" --policy my-$policy --window 16000 \
        --store "$dir/store" <"$request" | cmp -s - "$dir/projected.json"
    ok "and does the same" "$?" 0
done
awk '/^```yaml/ { on = 1; next } /^```/ { on = 0 } on' docs/policies.md >"$dir/docs.yaml"
"$WEIR" project --policies "$dir/docs.yaml" --policy shell-heavy --window 16000 \
    --store "$dir/store" <"$request" >"$dir/projected.json" 2>"$dir/err"
ok "the policy of the docs runs" "$?$(cat "$dir/err")" 0
grep -o 'weir wr_[0-9a-f]\{20\}' "$dir/projected.json" | cut -d' ' -f2 | sort -u >"$dir/handles"
while read -r handle; do
    "$WEIR" recall "$handle" --store "$dir/store" >"$dir/original"
    ok "the policy of the docs: $handle comes back" \
        "wr_$(sha256sum <"$dir/original" | cut -c1-20)" "$handle"
done <"$dir/handles"

# -- wrong input
cp "$request" "$dir/in"
refuses "a mode that is none, before a server starts" "a mode is off" \
    "$WEIR" run --mode shadw -- true
refuses "a window of nothing" "--window wants a number" "$WEIR" project --policy tiered --window 0
refuses "a report that is none" "no \`edits\` in it" "$WEIR" why "$request"
refuses "a policy that is not there" "no policy is called" "$WEIR" policies nope
printf 'policies:\n  p:\n    stages: [{stage: capp}]\n' >"$dir/bad.yaml"
refuses "a stage that is not there" "bad.yaml: line 3, column 22: no stage is called 'capp'" \
    "$WEIR" policies --policies "$dir/bad.yaml"
printf 'policies:\n  p:\n    stages: [{stage: cap, max_tokens: 0}]\n' >"$dir/bad.yaml"
refuses "a cap of nothing" "line 3, column 39: max_tokens wants a whole number from 1" \
    "$WEIR" project --policy p --policies "$dir/bad.yaml"
refuses "policies that are not there" "nowhere.yaml" \
    "$WEIR" project --policy p --policies "$dir/nowhere.yaml"
printf '{"messages":[{"role":"user",\n  "content":"a}]}' >"$dir/in"
refuses "a string without an end" "line 2, column" "$WEIR" project
refuses "the same in inspect" "at byte 46" "$WEIR" inspect -
printf '[1,2]' >"$dir/in"
refuses "an array is no request" "a request is a JSON object" "$WEIR" inspect -
printf '{"model":"x"}' >"$dir/in"
refuses "no messages and no input" "no \`messages\` list" "$WEIR" project
printf '{"messages":3}' >"$dir/in"
refuses "messages of the wrong kind" "messages" "$WEIR" project
cp "$request" "$dir/in"
refuses "a segment that is not there" "there is no segment 999999" "$WEIR" project --edit 999999=x
refuses "an edit of the system prompt" "has no text that may be edited" "$WEIR" project --edit 0=x
refuses "dropping the system prompt" "cannot be dropped" "$WEIR" project --drop 0
refuses "an edit that is none" "I=TEXT" "$WEIR" project --edit x
refuses "an empty text" "its text became empty" "$WEIR" project --edit "$first="
refuses "an unknown policy" "no policy is called 'nope'" "$WEIR" project --policy nope
ok "no store is made for it" "$(ls "$HOME" 2>/dev/null)" ""
refuses "an unknown option" "no option --nope" "$WEIR" inspect --nope
refuses "a file that is not there" "No such file" "$WEIR" inspect "$dir/missing"
refuses "a command that is not there" "no command 'nope'" "$WEIR" nope
refuses "an unknown dialect" "no dialect is called 'soap'" "$WEIR" inspect --dialect soap -
: >"$dir/in"
refuses "nothing at all" "the text ends" "$WEIR" project
printf '{"messages":[{"role":"user","content":"\377"}]}' >"$dir/in"
refuses "bytes that are not UTF-8" "not UTF-8" "$WEIR" project
head -c 200000 /dev/zero | tr '\0' '[' >"$dir/in"
refuses "nesting without end" "nested deeper" "$WEIR" project

# -- what a summary stands for
"$WEIR" project --policy guarded-mid --store "$dir/folded" --report "$dir/report.json" \
    <"$request" >"$dir/out"
"$WEIR" why "$dir/report.json" >"$dir/why"
ok "why says in a sentence what a summary stands for" \
    "$(grep -c "^Older work, .* parts of it, became a summary" "$dir/why")" \
    "$(grep -o 'COMPLETED AGENT LOOP SUMMARY' "$dir/out" | wc -l | tr -d ' ')"
"$WEIR" why --all "$dir/report.json" >"$dir/why"
ok "why prints the summaries that were put in" \
    "$(grep -c "^put in before .*a summary of" "$dir/why")" \
    "$(grep -o 'COMPLETED AGENT LOOP SUMMARY' "$dir/out" | wc -l | tr -d ' ')"
ok "and says of nothing in them that it was dropped" "$(grep -c ' dropped ' "$dir/why")" 0
handle=$(sed -n 's/^#5 .* in summary .*\(wr_[0-9a-f]*\).*/\1/p' "$dir/why")
ok "a line names the summary it is in" \
    "$(grep -c "^put in before .*weir recall $handle\`" "$dir/why")" 1
ok "whose handle brings it back" \
    "$("$WEIR" recall "$handle" --store "$dir/folded" | grep -c 'make test' | grep -vc '^0$')" 1
ok "why of one segment shows the summary too" \
    "$("$WEIR" why "$dir/report.json" 5 | grep -c "^put in before .*$handle")" 1

# -- count
printf 'hello world' >"$dir/in"
ok "count prints the number first" "$("$WEIR" count <"$dir/in" | cut -d' ' -f1)" 2
ok "count of a file" "$("$WEIR" count "$dir/in" | cut -d' ' -f1)" 2
ok "count by bytes/4" "$("$WEIR" count --encoding bytes/4 "$dir/in" | cut -d' ' -f1)" 2
ok "an estimate says so" "$("$WEIR" count --model claude-opus-5 "$dir/in" | grep -c estimate)" 1
refuses "an unknown encoding" "o200k_base, cl100k_base" "$WEIR" count --encoding nope
refuses "an unknown model" "no model or family" "$WEIR" count --model xyzzy
refuses "two ways to count" "give one" "$WEIR" count --model gpt-5 --encoding o200k_base

# -- help
: >"$dir/in"
for command in $("$WEIR" --complete '' | cut -f1); do
    ok "$command --help has an example" "$("$WEIR" "$command" --help | grep -c '^example: ')" 1
    "$WEIR" help "$command" >"$dir/help"
    ok "weir help $command is the same" "$("$WEIR" "$command" -h | cmp - "$dir/help")" ''
done
ok "weir -V says the version" "$("$WEIR" -V)" "$("$WEIR" --version)"
refuses "help on a command that is not there" "did you mean recall" "$WEIR" help recal
refuses "a command with a slip" "did you mean serve" "$WEIR" sevre
refuses "an option with a slip" "did you mean --dialect" "$WEIR" inspect --dilect chat
refuses "an option cut short" "did you mean --policy" "$WEIR" project --polic auto
refuses "a policy with a slip" "did you mean auto" "$WEIR" policies auot
refuses "a dialect with a slip" "did you mean messages" "$WEIR" inspect --dialect mesages -
refuses "a policy with a slip, before stdin is read" "did you mean auto" \
    "$WEIR" project --policy atuo
refuses "an upstream with a slip" "did you mean openai" \
    "$WEIR" serve --upstream opnai=http://127.0.0.1:1 --check-config
refuses "an agent with a slip" "did you mean claude" "$WEIR" install cluade
refuses "an action with a slip" "did you mean verify" "$WEIR" store verfy

# ---- a pipe that nobody says a width of gets lines whole ----
env -u COLUMNS "$WEIR" inspect examples/session.json >"$dir/whole"
ok "every column, in a pipe" "$(awk '$1 == "#"' "$dir/whole" | tr -s ' ')" \
    " # turn loop role kind class tokens what"
ok "texts longer than a terminal's line" "$(grep -c '.\{100\}' "$dir/whole" | sed 's/[1-9].*/1/')" 1

# ---- ASCII where the locale is ----
"$WEIR" project --policy auto --store "$dir/plain" --report "$dir/r.json" \
    <examples/session.json >"$dir/sent.json"
for command in "why $dir/r.json" "inspect examples/session.json" \
    "diff examples/session.json $dir/sent.json"; do
    ok "weir ${command%% *} in the C locale is ASCII" \
        "$(LC_ALL=C "$WEIR" $command | LC_ALL=C grep -c "$(printf '[\200-\377]')")" 0
    ok "weir ${command%% *} says the same there" \
        "$(LC_ALL=C "$WEIR" $command | tr -cd '0-9a-z')" "$("$WEIR" $command | tr -cd '0-9a-z')"
done

finish

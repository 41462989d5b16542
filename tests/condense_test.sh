#!/bin/sh
# `weir condense` and `weir project` see the same kind in the same call, and neither hides the one
# row that failed. WEIR is the program.
. "$(dirname "$0")/lib.sh"

# rows FILE FRONT FORMAT NEEDLE: 2000 rows, the needle among them; awk's own escapes hold.
rows()
{
    awk -v front="$2" -v format="$3" -v needle="$4" 'BEGIN {
        if (front != "") print front
        for (i = 0; i < 2000; i++) {
            if (i == 1100) print needle
            row = format; gsub(/~/, i, row); print row
        } }' >"$dir/$1"
}

# shown NEEDLE: whether it is in what comes in.
shown()
{
    if grep -qF -- "$1"; then echo shown; else echo hidden; fi
}

# body PATH: a session whose newest result is the file, read with a tool.
body()
{
    printf '{"model":"claude-sonnet-5-5","messages":[{"role":"user","content":"which one failed?"},'
    printf '{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function",'
    printf '"function":{"name":"Read","arguments":"{\\"file_path\\":\\"%s\\"}"}}]},' "$1"
    printf '{"role":"tool","tool_call_id":"c","content":"'
    sed 's/\\/\\\\/g; s/"/\\"/g; s/$/\\n/' "$dir/$1" | tr -d '\n'
    printf '"}],"tools":[{"type":"function","function":{"name":"Read"}},'
    printf '{"type":"function","function":{"name":"weir_recall"}}]}'
}

# check FILE NEEDLE
check()
{
    ok "$1, by its path" "$("$WEIR" condense --path "$1" --budget 400 "$dir/$1" | shown "$2")" shown
    ok "$1, by the command that shows it" \
        "$("$WEIR" condense --command "cat $1" --budget 400 "$dir/$1" | shown "$2")" shown
    for policy in auto lean careful; do
        ok "$1, under $policy" "$(body "$1" | "$WEIR" project --policy "$policy" --window 200000 \
            --store "$dir/store" | sed 's/\\"/"/g' | shown "$2")" shown
    done
}

rows app.log '' '2026-01-01T00:00:07 INFO request ~ served' \
    '2026-01-01T00:00:11 FATAL sector 991 unreadable'
check app.log 'FATAL sector 991 unreadable'
rows results.csv 'id,name,status,detail' '~,job~,ok,' '1700,job1700,FAILED,exit code 137'
check results.csv '1700,job1700,FAILED,exit code 137'
rows codes.csv 'id,name,code' '~,job~,0' '1700,job1700,137'
check codes.csv '1700,job1700,137'
rows TEST-a.xml '<testsuite tests="2001">' '  <testcase classname="a.B" name="t~" time="0.01"/>' \
    '  <testcase classname="a.B" name="tX"><failure message="expected 3 but was 4"/></testcase>'
check TEST-a.xml '<failure message="expected 3 but was 4"/>'
rows report.md '| job | state |' '| job~ | ok |' '| job1001 | ERROR: timeout |'
check report.md '| job1001 | ERROR: timeout |'
rows events.jsonl '' '{"ts":~,"level":"info","msg":"served ~"}' \
    '{"ts":7,"level":"error","msg":"disk sector 991 unreadable"}'
check events.jsonl '"msg":"disk sector 991 unreadable"'
rows build-output.txt '' 'step ~ finished in 3s' 'step 1500: Segmentation fault (core dumped)'
check build-output.txt 'step 1500: Segmentation fault (core dumped)'

# ---- the budget ----

# over BYTES FILE OPTIONS...: whether what comes out is longer.
over()
{
    bytes_max=$1 file=$2
    shift 2
    bytes=$("$WEIR" condense "$@" "$dir/$file" | wc -c)
    if [ "$bytes" -gt "$bytes_max" ]; then echo "over: $bytes"; else echo within; fi
}

yes 'line 12' | head -10 >"$dir/short"
ok 'a short output comes back as it is' \
    "$("$WEIR" condense "$dir/short" | cmp - "$dir/short" && echo same)" same
ok 'unless a budget says otherwise' \
    "$("$WEIR" condense --budget 10 "$dir/short" | shown 'left out')" shown
awk 'BEGIN { for (i = 0; i < 400; i++)
    printf "src/part_%d/file.c:%d:%s\n", int(i / 45), i,
        i % 3 ? "return 0; }" : "static int value_of(void) { return 0; }" }' >"$dir/found"
ok 'a search holds its budget' "$(over 6600 found --command 'rg -n value' --budget 1500)" within
awk 'BEGIN { for (i = 0; i < 40; i++)
    printf "[Page %d](https://example.org/a/%d) and [more](https://example.org/b/%d) %s\n", i, i, i,
        sprintf("%400s", "words") }' >"$dir/links"
for budget in 1 10 100; do
    ok "a page of links in $budget tokens is no error" \
        "$("$WEIR" condense --tool WebFetch --budget $budget "$dir/links" >"$dir/out"; echo $?)" 0
done
awk 'BEGIN { printf "["; for (i = 0; i < 11000; i++)
    printf "%s{\"id\": %d, \"name\": \"item %d\", \"status\": \"ok\", \"note\": \"%s\"}",
        i ? ", " : "", i, i, "a text that takes room in every record"; print "]" }' \
    >"$dir/records.json"
ok 'records on one line: 1 MB' "$(test "$(wc -c <"$dir/records.json")" -gt 1000000 && echo yes)" yes
for how in '--path data.json' '--path data.txt' '--path a.log' '--command curl' '--tool Read'; do
    ok "records on one line are chosen ($how)" \
        "$("$WEIR" condense $how --budget 500 "$dir/records.json" |
            shown '{"id": 1, "name": "item 1"')" shown
    ok "and hold the budget ($how)" "$(over 2200 records.json $how --budget 500)" within
done
sed 's/^\[//; s/\]$//; s/}, {/} {/g' "$dir/records.json" >"$dir/strung"
sed 's/"item 500", "status": "ok"/"item 500", "status": "error"/' "$dir/strung" >"$dir/strung.json"
ok 'records strung together are chosen, too' \
    "$("$WEIR" condense --budget 500 "$dir/strung.json" |
        shown '"name": "item 500", "status": "error"')" shown
ok 'and hold the budget' "$(over 2200 strung.json --budget 500)" within
traces=../shared/traces/normalized
if [ -d "$traces" ]; then
    ok 'outputs of real commands hold the budget' \
        "$(tests/condense_budget.py "$WEIR" "$traces" >"$dir/real" || cat "$dir/real")" ''
    sed 's/^/note: /' "$dir/real"
else
    echo 'note: no recorded outputs here; the budget was tried on made ones alone'
fi

finish

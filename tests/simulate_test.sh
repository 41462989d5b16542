#!/bin/bash
# `weir simulate` as a user meets it, on two small logs made here: what it prints, where, how it
# exits, and that what it says does not depend on how many sessions run at once.
. "$(dirname "$0")/lib.sh"
command=simulate

so()
{
    passed=$((passed + 1))
}

not_so()
{
    failed=$((failed + 1))
    echo "FAILED: $1"
    head -c 400 "$dir/out" "$dir/err"
}

# result LINES: lines of a result as they stand in JSON; one in the midst names a file
result()
{
    awk -v lines="$1" 'BEGIN {
        for (i = 0; i < lines; i++) {
            printf "row %d: the water here is calm and the bank is dry as ever\\n", i
            if (i == int(lines / 2)) printf "opened src/sluice/valve_gate.c today\\n"
        }
    }'
}

# A quote is written _ and put in at the end.
chat_log()
{
    {
        echo '{_role_:_user_,_content_:_look at the river_}'
        echo '{_role_:_assistant_,_content_:__,_tool+calls_:[{_id_:_c1_,_type_:_function_,' \
            '_function_:{_name_:_Bash_,_arguments_:_{}_}}]}'
        printf '{_role_:_tool_,_tool+call+id_:_c1_,_content_:_%s_}\n' "$(result "$1" | tr _ +)"
        echo '{_role_:_assistant_,_content_:_it is in `src/sluice/valve+gate.c`_}'
    } | tr '_+' '"_'
}

# The same as Claude Code writes it down, with times.
claude_log()
{
    {
        echo '{_type_:_user_,_uuid_:_u1_,_sessionId_:_s_,_timestamp_:_2026-01-05T10:00:00.000Z_,' \
            '_message_:{_role_:_user_,_content_:_look at the river_}}'
        echo '{_type_:_assistant_,_uuid_:_u2_,_sessionId_:_s_,' \
            '_timestamp_:_2026-01-05T10:00:05.000Z_,_message_:{_id_:_m1_,_role_:_assistant_,' \
            '_model_:_claude-sonnet-4-5_,_content_:[{_type_:_tool+use_,_id_:_c1_,' \
            '_name_:_Bash_,_input_:{_command_:_./survey_}}]}}'
        printf '{%s,%s,_message_:{_role_:_user_,_content_:[{%s,_content_:_%s_}]}}\n' \
            '_type_:_user_,_uuid_:_u3_,_sessionId_:_s_' '_timestamp_:_2026-01-05T10:00:09.000Z_' \
            '_type_:_tool+result_,_tool+use+id_:_c1_' "$(result "$1" | tr _ +)"
        echo '{_type_:_assistant_,_uuid_:_u4_,_sessionId_:_s_,' \
            '_timestamp_:_2026-01-05T11:00:00.000Z_,_message_:{_id_:_m2_,_role_:_assistant_,' \
            '_model_:_claude-sonnet-4-5_,_content_:[{_type_:_text_,' \
            '_text_:_it is in `src/sluice/valve+gate.c`_}]}}'
    } | tr '_+' '"_'
}

mkdir "$dir/logs" "$dir/empty"
chat_log 400 >"$dir/logs/chat.jsonl"
claude_log 400 >"$dir/logs/claude.jsonl"
echo 'no log at all' >"$dir/words.jsonl"
printf 'policies:\n  mine: {stages: [{stage: cap, max_tokens: 100}]}\n' >"$dir/mine.yaml"
printf 'policies:\n  mine: {stages: [{stage: no}]}\n' >"$dir/wrong.yaml"

check 'help has an example' 0 out '^example: weir simulate$' --help
check 'help names every option' 0 out '--no-recall' -h
mkdir -p "$dir/home/.claude/projects/a" "$dir/nobody"
cp "$dir/logs/claude.jsonl" "$dir/home/.claude/projects/a"
unset CLAUDE_CONFIG_DIR CODEX_HOME PI_CODING_AGENT_DIR COLUMNS
HOME=$dir/nobody check 'no path, and no logs' 2 err 'no logs of Claude Code.* were found'
HOME=$dir/home check 'no path: the logs of this machine, in a sentence' 0 out \
    '^Your one session of one day: \$[0-9.]+ as it was, \$[0-9.]+ with auto; nothing lost,'
HOME=$dir/home check 'four rows below it' 0 out '^auto \(default\) +\$[0-9.]+ +-?[0-9]+ % '
HOME=$dir/home COLUMNS=60 check 'as wide as it may be' 0 out \
    '^lean +\$[0-9.]+ +-?[0-9]+ % +[0-9]+ +[0-9]+$'
check 'a path: the same of those logs' 0 out '^These 2 sessions' "$dir/logs"
check 'one model for all' 0 out '^Prices: gpt-5, cache included' "$dir/logs" --model gpt-5
check 'a path that is not there' 2 err 'nowhere: there is nothing there' "$dir/nowhere"
check 'a folder without a file' 2 err 'no files to read' "$dir/empty"
"$weir" simulate "$dir/words.jsonl" >"$dir/out" 2>"$dir/err"
if [ $? -eq 2 ] && [ ! -s "$dir/out" ] && grep -q 'words.jsonl: skipped: ' "$dir/err" &&
    grep -q 'no session was found in 1 files' "$dir/err"; then
    so
else
    not_so 'nothing but what is no log'
fi
check 'an unknown policy is named' 2 err "no policy or baseline is called 'atuo'" \
    "$dir/logs" --policy auto --policy atuo
check 'an unknown policy is said before a path is looked at' 2 err "'atuo'" \
    "$dir/nowhere" --policy atuo
check 'an own policy that was not loaded' 2 err "called 'mine'" "$dir/logs" --policy mine
check 'own policies that are wrong' 2 err 'line 2' "$dir/logs" --policies "$dir/wrong.yaml"
check 'own policies that are not there' 2 err 'nowhere.yaml' "$dir/logs" \
    --policies "$dir/nowhere.yaml"
check 'a window of nothing' 2 err '--window wants a number' "$dir/logs" --window 0
check 'jobs that are no number' 2 err '--jobs wants a number' "$dir/logs" --jobs many
check 'an unknown option' 2 err 'no option --frob' "$dir/logs" --frob
too_many=()
for i in $(seq 33); do
    too_many+=(--policy exact)
done
check 'more policies than there is room for' 2 err '33 policies are too many' \
    "$dir/logs" "${too_many[@]}"

check 'a table of a folder' 0 out '^2 sessions at the prices of claude-sonnet-5-5, window 200,000' \
    "$dir/logs" --policy exact --policy auto
check 'every policy has its row' 0 out '^head-tail +[0-9]+\.[0-9][0-9] ' "$dir/logs" --all
check 'all policies at own prices' 0 out "prices of each log's own model, window its own" \
    "$dir/logs" --all
check 'raw is all of raw' 0 out '^raw +[0-9.]+ +100\.0% ' "$dir/logs" --policy raw
check 'a log without times is said' 0 out '1 logs have no time stamps' "$dir/logs" --policy exact
check 'one file' 0 out '^1 sessions' "$dir/logs/claude.jsonl" --policy exact
check 'another model' 0 out 'prices of gpt-5, window 50,000' "$dir/logs" --policy exact \
    --model gpt-5 --window 50000
check 'a policy of one'"'"'s own' 0 out '^mine ' "$dir/logs" --policies "$dir/mine.yaml" \
    --policy mine
check 'all policies beside one'"'"'s own file' 0 out '^exact-duplicates ' "$dir/logs" \
    --policies "$dir/mine.yaml"
check 'what is no log is said and passed over' 0 err 'words.jsonl: skipped: ' \
    "$dir/words.jsonl" "$dir/logs" --policy exact

printf 'policies:\n  raw: {stages: [{stage: cap, max_tokens: 100}]}\n' >"$dir/taken.yaml"
check 'a policy called like a baseline' 2 err "a baseline is called 'raw' too" "$dir/logs" \
    --policies "$dir/taken.yaml"

mkdir "$dir/mixed"
for i in $(seq 12); do
    echo 'no log at all' >"$dir/mixed/words$i"
done
ln -s .. "$dir/mixed/up"
cp "$dir/logs/chat.jsonl" "$dir/mixed"
check 'files that are no logs are named up to a number' 0 err \
    '^weir simulate: 8 more files were skipped; --skipped names them all' "$dir/mixed" \
    --policy exact
check 'or all of them' 0 err 'words9: skipped: ' "$dir/mixed" --policy exact --skipped
check 'a link is called one' 0 err 'up: skipped: a symbolic link, not followed' "$dir/mixed" \
    --policy exact --skipped
many=()
for i in $(seq 500); do
    many+=("$dir/logs/chat.jsonl")
done
check 'as many paths as there are' 0 out '^500 sessions' "${many[@]}" --policy exact

# What is wrong with a log is said, of each file on one line.
mkdir "$dir/bad"
{ chat_log 9 && printf '{"role":"user","cont'; } >"$dir/bad/torn.jsonl"
{ chat_log 9 && echo '{"role":"wizard","content":"abra"}'; } >"$dir/bad/wizard.jsonl"
{ chat_log 9 && echo '{"role":"tool","tool_call_id":"c9","content":"x"}'; } \
    >"$dir/bad/orphan.jsonl"
{ claude_log 9 && chat_log 9; } >"$dir/bad/mixed.jsonl"
check 'a torn last line' 0 err \
    'torn.jsonl: read, but for lines that are no JSON object: 1 .line 5' \
    "$dir/bad/torn.jsonl" --policy exact
check 'a role that nobody knows' 0 err 'wizard.jsonl: .*messages of an unknown role: 1 .line 5' \
    "$dir/bad" --policy exact
check 'a result without a call' 0 err 'orphan.jsonl: .*results without a call: 1' "$dir/bad" \
    --policy exact
check 'two logs in one file' 0 err \
    'mixed.jsonl: .*lines of another agent.s log: 4 .the first in line 5' "$dir/bad" --policy exact
"$weir" replay "$dir/bad" >"$dir/out" 2>"$dir/err"
if [ $? -eq 0 ] && [ "$(grep -c ': read, but for ' "$dir/err")" -eq 4 ]; then
    so
else
    not_so 'replay says what is wrong with a log, too'
fi
"$weir" simulate "$dir/logs" --policy exact >"$dir/out" 2>"$dir/err"
if [ ! -s "$dir/err" ]; then
    so
else
    not_so 'of a log that is whole nothing is said'
fi
for i in 1 2 3 4 5 6 7; do
    cp "$dir/bad/torn.jsonl" "$dir/bad/torn$i.jsonl"
done
check 'up to a number' 0 err '^weir simulate: 6 more files were read in part; --skipped' \
    "$dir/bad" --policy exact --jobs 1
check 'or all' 0 err 'torn7.jsonl: read, but for ' "$dir/bad" --policy exact --skipped
{
    claude_log 9 | head -n 1
    printf '{"type":"assistant","message":"'
    head -c 68000000 /dev/zero | tr '\0' a
    echo '"}'
} >"$dir/long.jsonl"
"$weir" simulate "$dir/long.jsonl" >"$dir/out" 2>"$dir/err"
if [ $? -eq 2 ] &&
    grep -q 'long.jsonl: skipped: .*lines over the limit: 1 (line 2)' "$dir/err"; then
    so
else
    not_so 'a line that is too long is named'
fi
rm "$dir/long.jsonl"

check 'the clairvoyant has its row, at the floor' 0 out \
    '^clairvoyant +[0-9.]+ +[0-9.]+% +[0-9.]+% +1\.00x +0\.00% +0\.00% +0 +100\.00% .* 0 +0$' \
    "$dir/logs" --all
check 'and alone' 0 out '^clairvoyant +[0-9.]+ +[0-9.]+% ' "$dir/logs" --policy clairvoyant
printf 'policies:\n  clairvoyant: {stages: [{stage: cap, max_tokens: 100}]}\n' >"$dir/seer.yaml"
check 'nobody else is called so' 2 err "a baseline is called 'clairvoyant' too" "$dir/logs" \
    --policies "$dir/seer.yaml"
check 'a policy alone is compared with raw all the same' 0 out \
    '^auto +[0-9.]+ +[0-9.]+% +[0-9.]+% ' "$dir/logs" --policy auto
if ! grep -q '^exact' "$dir/out"; then
    so
else
    not_so 'which has no row then'
fi
for option in '--policy auto' '--model gpt-5' '--window 9' '--html x' '--csv x' '--misses x' \
    '--no-recall' '--jobs 1' '--skipped'; do
    # shellcheck disable=SC2086
    check "a workload takes no $option" 2 err 'it takes --prices and --json alone' \
        --workload "$dir/logs/chat.jsonl" --prices "$dir/mine.yaml" $option
done

if "$weir" policies >"$dir/out" 2>"$dir/err" &&
    grep -q '^baselines, models of what' "$dir/out" &&
    grep -qE '^  head-tail +[a-z]' "$dir/out"; then
    so
else
    not_so 'weir policies lists the baselines, as that'
fi
"$weir" policies head-tail >"$dir/out" 2>"$dir/err"
if [ $? -eq 2 ] && grep -q "'head-tail' is a baseline" "$dir/err" && says_one_line; then
    so
else
    not_so 'weir policies says what a baseline is'
fi
echo '{"edits":[{"i":3}]}' >"$dir/report.json"
"$weir" why "$dir/report.json" 4 >"$dir/out" 2>"$dir/err"
if [ $? -eq 2 ] && grep -q 'nothing is said of segment 4' "$dir/err" && says_one_line; then
    so
else
    not_so 'weir why names a segment that no report knows'
fi
: >"$dir/report.json"
"$weir" why "$dir/report.json" >"$dir/out" 2>"$dir/err"
if [ $? -eq 2 ] && grep -q 'report.json: .*give a report' "$dir/err" && says_one_line; then
    so
else
    not_so 'weir why says that a report is empty'
fi

if command -v python3 >/dev/null; then
    # reads BEHAVIOUR PYTHON: what is true of the JSON in $dir/out, as `j`, lanes by name as `p`
    reads()
    {
        if python3 -c '
import json, sys
j = json.load(open(sys.argv[1]))
p = {lane["policy"]: lane for lane in j["policies"]}
if not eval("(" + sys.argv[2] + ")"):
    sys.exit(sys.argv[2])' "$dir/out" "$2" 2>>"$dir/err"; then
            so
        else
            not_so "$1"
        fi
    }
    own=(--policies "$dir/mine.yaml" --policy exact --policy mine --policy head-tail)
    check 'JSON' 0 out '^\{"sessions":2,' "$dir/logs" --json "${own[@]}"
    cp "$dir/out" "$dir/first"
    reads 'what was run' 'j["sessions"] == 2 and j["sessions_without_times"] == 1 and
        j["model"] == "claude-sonnet-5-5" and j["window_tokens"] == 200000 and j["floor_usd"] > 0'
    reads 'policies in the order they were named' '[lane["policy"] for lane in j["policies"]] ==
        ["exact", "mine", "head-tail"]'
    reads 'every field of a policy' 'all(set("""policy cost_usd cost_ratio_to_exact floor_multiple
        requests prompt_tokens cached_share written_tokens cost_by_kind evidence recalls
        recalled_tokens
        saved_prompt_tokens steps steps_by_reason steps_tokens steps_usd over_window over_tier
        over_60_share over_80_share over_85_share prefix_violations
        validation_failures rewrite_ms median_ratio sessions_dearer unbarred
        by_agent""".split()) == set(lane) for lane in j["policies"])'
    reads 'the same without thinking, of which there is none here' 'all(lane["unbarred"][key] ==
        lane[key] for lane in j["policies"] for key in ("cost_usd", "cost_ratio_to_exact",
        "floor_multiple", "steps", "recalls", "over_window", "evidence"))'
    reads 'every field of the evidence' 'all(set("""blind_quotes blind_quotes_requests
        user_tokens_gone all_missing all_missing_requests requests blind_quotes_by_age supported
        recallable lost first_sight_supported first_sight_results first_sight_requests
        users_supported own_supported own_lost own_quotes_requests
        own_quotes_blind_requests""".split()) == set(lane["evidence"]) for lane in j["policies"])'
    reads 'in every row of an agent and without thinking too' 'all(set(e) ==
        set(p["exact"]["evidence"]) for lane in j["policies"]
        for e in [lane["unbarred"]["evidence"]] + [a["evidence"] for a in lane["by_agent"]])'
    reads 'requests that have nothing of what they used' '
        p["exact"]["evidence"]["all_missing_requests"] == 0 and
        p["head-tail"]["evidence"]["all_missing_requests"] == 2 and
        p["head-tail"]["evidence"]["requests"] == 2 and
        p["head-tail"]["evidence"]["all_missing"] == 1 and
        p["head-tail"]["evidence"]["first_sight_requests"] == 0 and
        p["head-tail"]["evidence"]["user_tokens_gone"] == 0'
    reads 'rewrites have their times' 'all(set(lane["rewrite_ms"]) == {"p50", "p95", "p99"} and
        0 <= lane["rewrite_ms"]["p50"] <= lane["rewrite_ms"]["p99"] for lane in j["policies"])'
    reads 'one entry an agent' 'all(len(lane["by_agent"]) == 2 and
        sum(a["sessions"] for a in lane["by_agent"]) == 2 and
        sum(a["requests"] for a in lane["by_agent"]) == lane["requests"]
        for lane in j["policies"])'
    reads 'as it was: four requests, all at hand' 'p["exact"]["requests"] == 4 and
        p["exact"]["evidence"]["supported"] == 1 and p["exact"]["cost_ratio_to_exact"] == 1'
    reads 'what was cut is recalled, and paid for' 'p["mine"]["recalls"] == 2 and
        p["mine"]["requests"] == 6 and p["mine"]["recalled_tokens"] > 0 and
        p["mine"]["saved_prompt_tokens"] > 0 and p["mine"]["evidence"]["lost"] == 0'
    reads 'what has no way back is lost' 'p["head-tail"]["evidence"]["lost"] == 2 and
        p["head-tail"]["recalls"] == 0'
    reads 'no law is broken' 'all(lane["prefix_violations"] == 0 and
        lane["validation_failures"] == 0 for lane in j["policies"])'

    check 'a policy alone' 0 out '^\{' "$dir/logs" --json --policy mine \
        --policies "$dir/mine.yaml"
    reads 'is compared with what was sent, which is not shown' 'list(p) == ["mine"] and
        0 < p["mine"]["cost_ratio_to_exact"] < 1 and 0 < p["mine"]["median_ratio"] < 1 and
        j["troubles"] == []'
    check 'the clairvoyant' 0 out '^\{' "$dir/logs" --json --policy clairvoyant --policy exact
    reads 'is the floor, and has all at hand' 'p["clairvoyant"]["cost_usd"] == j["floor_usd"] and
        p["clairvoyant"]["floor_multiple"] == 1 and p["clairvoyant"]["requests"] == 4 and
        p["clairvoyant"]["evidence"]["supported"] == 1 and
        p["clairvoyant"]["evidence"]["blind_quotes"] == 0 and
        p["clairvoyant"]["evidence"]["first_sight_supported"] == 1 and
        p["clairvoyant"]["cost_ratio_to_exact"] < 1 and
        p["clairvoyant"]["prompt_tokens"] + p["clairvoyant"]["saved_prompt_tokens"] ==
        p["exact"]["prompt_tokens"]'
    check 'troubles' 0 out '^\{' "$dir/bad/torn.jsonl" "$dir/words.jsonl" --json --policy exact
    reads 'are in the JSON' 'len(j["troubles"]) == 2 and any(t["left_out"] and t["why"] and
        t["path"].endswith("words.jsonl") for t in j["troubles"]) and any(not t["left_out"] and
        t["notes"] == {"line_broken": 1} for t in j["troubles"])'
    python3 - "$weir" "$dir/logs" "$dir/words.jsonl" >"$dir/out" 2>"$dir/err" <<'END'
import os, pty, re, subprocess, sys
ours, theirs = pty.openpty()
run = subprocess.Popen([sys.argv[1], "simulate", *sys.argv[2:], "--policy", "exact"],
                       stdout=subprocess.DEVNULL, stderr=theirs)
os.close(theirs)
shown = b""
try:
    while part := os.read(ours, 4096):
        shown += part
except OSError:
    pass
assert run.wait() == 0
assert re.search(rb"\r\[#+\] 100 %, 3 of 3 files, 2 sessions\x1b\[K", shown), shown
assert shown.endswith(b"\r\x1b[K"), shown
assert b"\r\x1b[Kweir simulate: " in shown, shown
END
    if [ ! -s "$dir/err" ]; then
        so
    else
        not_so 'a bar on a terminal, with percent and files, and gone at the end'
    fi
    check 'one session at a time' 0 out '^\{"sessions":2,' "$dir/logs" --json --jobs 1 "${own[@]}"
    times='s/"rewrite_ms":{[^}]*}//g'
    if [ "$(sed "$times" "$dir/first")" = "$(sed "$times" "$dir/out")" ]; then
        so
    else
        not_so 'the same however many run at once, but for the times of rewrites'
    fi
    check 'a row for every result and policy' 0 out '^2 sessions' "$dir/logs" \
        --misses "$dir/misses.csv" "${own[@]}"
    if [ "$(wc -l <"$dir/misses.csv")" -eq 7 ] &&
        grep -qE 'chat.jsonl,0,[^,]*,mine,process,[a-z]+,Bash,0,2,([0-9]+,){2}1,1(,0){3},[a-z]+,0' \
            "$dir/misses.csv" &&
        grep -qE '/claude.jsonl,0,claude[^,]*,exact,[a-z,]+,Bash,0,2,([0-9]+),\1,1,0,0,0,0' \
            "$dir/misses.csv" && ! grep -q valve_gate "$dir/misses.csv"; then
        so
    else
        not_so 'what each result was worth'
        cat "$dir/misses.csv"
    fi
    check 'misses that cannot be written' 2 err 'misses.csv: cannot be written' "$dir/logs" \
        --misses "$dir/nowhere/misses.csv"
    check 'misses of several models' 2 err 'wants one model' "$dir/logs" \
        --misses "$dir/misses.csv" --model gpt-5 --model gpt-5.5
    check 'odds fitted on logs' 0 out '^process[[:space:]]2000([[:space:]][0-9]+){17}$' \
        "$dir/logs" --fit
    if [ "$(grep -c . "$dir/out")" -eq 54 ] && tools/fit-odds "$weir" "$dir/logs" |
        cmp -s - "$dir/out"; then
        so
    else
        not_so 'are a row for each class and size, and what make odds prints'
    fi
    { grep '^#' data/odds.tsv && cat "$dir/out"; } >"$dir/odds.tsv"
    check 'and may be used' 0 out '^auto ' "$dir/logs" --odds "$dir/odds.tsv" --policy auto
    check 'odds that are none' 2 err 'words.jsonl' "$dir/logs" --odds "$dir/words.jsonl" \
        --policy auto
    check 'logs of one repository alone' 2 err 'two repositories' "$dir/logs/chat.jsonl" \
        --folds repository --policy auto
    check 'folds by anything else' 2 err 'wants the word repository' "$dir/logs" --folds session
    check 'folds' 0 out '^auto +[0-9.]+x +[0-9.]+x ' "$dir/logs" --folds repository --policy auto
    check 'say what was not refitted' 0 out '^not refitted:$' "$dir/logs" --folds repository \
        --policy auto
    check 'folds for programs' 0 out '"folds":\{"by":"repository","repositories":2,' "$dir/logs" \
        --folds repository --policy auto --json
    reads 'judge every session once, where nothing was fitted' 'j["sessions"] == 2 and
        sum(r["sessions"] for r in j["folds"]["policies"][0]["by_repository"]) == 2 and
        len(j["folds"]["policies"][0]["by_repository"]) == 2 and
        set(j["folds"]["policies"][0]) == {"policy", "fitted", "held_out", "overfitting",
        "by_repository"}'
    check 'folds of two policies' 0 out '^For each repository the policy that the others pick' \
        "$dir/logs" --folds repository --policy exact --policy lean
    check 'folds of two policies for programs' 0 out '^\{' "$dir/logs" --folds repository \
        --policy exact --policy lean --json
    reads 'each repository has the policy that is cheapest on the other' '(lambda f, c: all(
        f["picked"]["by_repository"][r] == min(f["policies"], key=lambda p: (c(p, r), p["policy"]
        != "exact"))["policy"] for r in f["picked"]["by_repository"]))(j["folds"],
        lambda p, r: sum(x["cost_ratio_to_exact"] for x in p["by_repository"]
        if x["repository"] != r))'
    check 'a pause before every request' 0 out '^\{' "$dir/logs" --json --policy exact --cold 100
    reads 'leaves nothing in any cache' 'p["exact"]["cached_share"] == 0'
    check 'and before some' 0 out '^\{' "$dir/logs" --json --policy exact --cold 3
    check 'without recall' 0 out '^\{' "$dir/logs" --json --no-recall "${own[@]}"
    reads 'nothing is cut and nothing recalled' 'p["mine"]["recalls"] == 0 and
        p["mine"]["saved_prompt_tokens"] == 0 and p["mine"]["evidence"]["lost"] == 0'
else
    skipped=1
    echo 'skipped: what --json says: python3 is not installed'
fi

finish

#!/bin/sh
# weir replay: recorded sessions, and the strict report on the cases of tests/replay/make_cases.py
# (and on scenarios made elsewhere, where they are there). WEIR is the program.
. "$(dirname "$0")/lib.sh"

# refuses SENTENCE WORDS ARGUMENTS...: exit 2, nothing on stdout, one line on stderr with the words
refuses()
{
    sentence=$1
    words=$2
    shift 2
    "$weir" replay "$@" >"$dir/out" 2>"$dir/err"
    ok "$sentence: exit" "$?" 2
    ok "$sentence: nothing on stdout" "$(wc -c <"$dir/out" | tr -d ' ')" 0
    ok "$sentence: one line on stderr" "$(wc -l <"$dir/err" | tr -d ' ')" 1
    ok "$sentence: says why" "$(grep -c "$words" "$dir/err")" 1
}

# line NAME: its value in the report
line()
{
    sed -n "s/^$1: //p" "$dir/report"
}

at_least()
{
    ok "$1 is at least $2 (it is $(line "$1"))" "$([ "$(line "$1")" -ge "$2" ] && echo yes)" yes
}

# -- the strict report
if command -v python3 >/dev/null; then
    PYTHONDONTWRITEBYTECODE=1 python3 tests/replay/make_cases.py "$dir/cases" || exit 1
    PYTHONDONTWRITEBYTECODE=1 python3 tests/replay/make_cases.py "$dir/again" || exit 1
    ok 'the cases are the same each time' "$(diff -r "$dir/cases" "$dir/again" && echo same)" same
    scenarios=../shared/fixtures/prodex-replay.json
    if [ ! -f "$scenarios" ]; then
        echo "skipped: $scenarios is not here"
        skipped=$((skipped + 1))
        scenarios=
    fi
    # A sanitizer makes everything slow: then the time alone may be missed.
    "$weir" replay "$dir/cases" $scenarios --strict >"$dir/report"
    code=$?
    if [ "$(grep -c '^broken: \|^goal missed: ' "$dir/report")" -eq 1 ] &&
        grep -q '^goal missed: p95_rewrite_overhead_ms' "$dir/report"; then
        echo "skipped: the time of a rewrite, $(line p95_rewrite_overhead_ms) ms here"
        skipped=$((skipped + 1))
        ok 'a goal that is missed fails the report' "$code" 1
    else
        ok 'the strict report passes' "$code" 0
        ok 'it says so' "$(line passed)" true
    fi
    ok 'nothing else is missed' \
        "$(grep '^broken: \|^goal missed: \|^failed: ' "$dir/report" | grep -v p95_rewrite)" ''
    [ "$failed" -eq 0 ] || cat "$dir/report"
    for law in continuation_integrity_percent tool_call_integrity_percent \
        critical_signal_recall_percent exact_success_rate_percent current_success_rate_percent \
        optimized_success_rate_percent; do
        ok "$law" "$(line $law)" 100
    done
    for law in success_regression_basis_points unresolved_mandatory_artifact_refs \
        corrupted_json_count; do
        ok "$law" "$(line $law)" 0
    done
    ok 'every hard case is there' "$(line required_replay_coverage)" complete
    ok 'every line of the report is there' "$(grep -c '^[a-z0-9_]*: [a-z0-9-]*$' "$dir/report")" 23
    at_least eligible_long_sessions 12
    at_least median_input_token_reduction_percent_vs_exact 35
    at_least long_sessions_with_at_least_20_percent_reduction_percent 80
    less=$(line median_input_token_reduction_percent_vs_exact)
    recalls=$(line optimized_missing_context_recovery_turns)
    echo "note: smart takes $less % out of the median session, with $recalls recalls"

    "$weir" replay "$dir/cases" --strict --json >"$dir/json"
    ok 'as JSON it exits so too' "$?" "$code"
    ok 'and is JSON with the same figures' "$(python3 -c '
import json, sys
report = json.load(open(sys.argv[1]))
print(report["passed"] == (sys.argv[2] == "0"), report["continuation_integrity_percent"],
      len(report["sessions"]) > 20)' "$dir/json" "$code")" 'True 100 True'

    # A case that asks for what nobody said: the report must fail, and say where.
    sed 's/"required_text": \[$/&"nobody said this",/' "$dir/cases/compiler-errors.json" \
        >"$dir/wrong.json"
    "$weir" replay "$dir/wrong.json" "$dir/cases" --strict >"$dir/report"
    ok 'a required text that is lost fails the report' "$?" 1
    ok 'it says so there too' "$(line passed)" false
    ok 'and which' \
        "$(grep -c '^failed: compiler-errors, turn 1, optimized: a required text' "$dir/report")" 1
    "$weir" replay "$dir/cases/shadow.json" --strict >"$dir/report"
    ok 'a corpus without the hard cases fails' "$?" 1
    ok 'and what it lacks is named' "$(grep -c 'coverage: missing .*large_diffs' "$dir/report")" 1
    "$weir" replay "$dir/cases" --strict --policy auto --policy lean >"$dir/report"
    ok 'a goal that is missed fails the report of another policy' "$?" 1
    ok 'each has a report' "$(grep -c '^passed: false' "$dir/report")" 2
    ok 'which keeps every law' "$(grep -c '^broken: \|^failed: ' "$dir/report")" 0
    ok 'and misses that nothing is recalled, alone' \
        "$(grep '^goal missed: ' "$dir/report" | grep -v p95_rewrite | cut -d ' ' -f 3 | uniq -c |
            tr -s ' ')" ' 2 optimized_missing_context_recovery_turns'
else
    echo 'skipped: python3 is not installed'
    skipped=$((skipped + 1))
fi

# -- recorded sessions
{
    echo '{"role":"user","content":"where is the level computed?"}'
    printf '%s%s\n' '{"role":"assistant","content":null,"tool_calls":[{"id":"c1",' \
        '"type":"function","function":{"name":"Grep","arguments":"{\"pattern\":\"level\"}"}}]}'
    printf '%s%s\n' '{"role":"tool","tool_call_id":"c1",' \
        '"content":"src/sluice_gate.c:12:int level_of_gate(void)"}'
    echo '{"role":"assistant","content":"In src/sluice_gate.c, function level_of_gate."}'
} >"$dir/log.jsonl"
"$weir" replay "$dir/log.jsonl" --policy auto >"$dir/out"
ok 'a log is replayed' "$?" 0
ok 'with its requests and what they found' \
    "$(awk '$1 == "auto" { print $2, ($6 > 0), $8 }' "$dir/out")" '2 1 0'
"$weir" replay "$dir/log.jsonl" --policy auto --policy exact --json >"$dir/out"
ok 'as JSON, one object a policy' "$(grep -o '"policy":' "$dir/out" | wc -l | tr -d ' ')" 2

# -- what is wrong is said
echo '{"scenarios":[{"id":"x","turns":[{"request":{},"mode":1,"expected_outcome":"fine"}]}]}' \
    >"$dir/bad.json"
echo '{"scenarios":[{"id":"x","turns":[{"request":{"model":"m"}}]}]}' >"$dir/none.json"
refuses 'no path' 'name a log' --strict
refuses 'no such path' 'nothing there' "$dir/not-here" --strict
refuses 'a value that is unknown' 'expected_outcome' "$dir/bad.json" --strict
refuses 'a request that is none' "case 'x', turn 1" "$dir/none.json" --strict
refuses 'a log that is no file of cases' 'bad.json\|log.jsonl' "$dir/log.jsonl" --strict
refuses 'an unknown policy' "no policy is called 'best'" "$dir/none.json" --strict --policy best
refuses 'an unknown policy for a log' "'best'" "$dir/log.jsonl" --policy best
refuses 'a window for cases' 'not for --strict' "$dir/none.json" --strict --window 5
refuses 'a window that is no number' 'wants a number' "$dir/log.jsonl" --window big
refuses 'an option that is unknown' 'strictly' "$dir/log.jsonl" --strictly

finish

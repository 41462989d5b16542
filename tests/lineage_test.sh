#!/bin/sh
# docs/lineage.md and docs/failures.md: every test that they name is there. `FILE: NAME` is a
# function of FILE.c or FILE.py, `FILE: "WORDS"` a sentence in it; FILE is somewhere below
# src, lab or tests.
set -u
if [ $# -eq 0 ]; then
    "$0" docs/lineage.md 60 && "$0" docs/failures.md 27
    exit
fi
page=$1 least=${2:-60}
passed=0
failed=0

complain()
{
    echo "$page: $1"
    failed=$((failed + 1))
}

# check FILE NAME
check()
{
    files=$(find src lab tests -name "$1.c" -o -name "$1.py" -o -name "$1.sh")
    case $2 in
    \"*) pattern=${2#\"} pattern=${pattern%\"} ;;
    *) pattern="$2(" ;;
    esac
    if [ -z "$files" ]; then
        complain "there is no $1"
    elif ! grep -qF -- "$pattern" $files; then
        complain "$1 has no $2"
    else
        passed=$((passed + 1))
    fi
}

# A row of a table names a test or says that it departs, and why.
rows=$(grep -c '^| ' "$page")
bare=$(grep -nE '^\| ' "$page" | grep -vE '^[0-9]+:\| (behaviour|acceptance|failure) ' |
    grep -vE '`[a-z0-9_]+_(test|cases|laws): |\*\*departs\*\*|\*\*not shown\*\*')
[ -z "$bare" ] || complain "rows without a test:
$bare"

list=$(mktemp)
trap 'rm -f "$list"' EXIT
grep -oE '`[a-z0-9_]+_(test|cases|laws): [^`]+`' "$page" | tr -d '`' | sort -u >"$list"
while IFS= read -r line; do
    check "${line%%: *}" "${line#*: }"
done <"$list"
[ "$passed" -ge "$least" ] || complain "only $passed tests are named in $rows rows"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

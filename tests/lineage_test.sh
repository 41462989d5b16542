#!/bin/sh
# docs/lineage.md: every test that it names is there. `FILE: NAME` is a function of FILE.c or
# FILE.py, `FILE: "WORDS"` a sentence in it; FILE is somewhere below src or tests.
set -u
page=${1:-docs/lineage.md}
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
    files=$(find src tests -name "$1.c" -o -name "$1.py" -o -name "$1.sh")
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
bare=$(grep -nE '^\| ' "$page" | grep -vE '^[0-9]+:\| (behaviour|acceptance) ' |
    grep -vE '`[a-z0-9_]+_(test|cases): |\*\*departs\*\*|\*\*not shown\*\*')
[ -z "$bare" ] || complain "rows without a test:
$bare"

list=$(mktemp)
trap 'rm -f "$list"' EXIT
grep -oE '`[a-z0-9_]+_(test|cases): [^`]+`' "$page" | tr -d '`' | sort -u >"$list"
while IFS= read -r line; do
    check "${line%%: *}" "${line#*: }"
done <"$list"
[ "$passed" -ge 60 ] || complain "only $passed tests are named in $rows rows"
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

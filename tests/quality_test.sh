#!/bin/sh
# Signs of quality, cache busts and learning, each caused by a scripted upstream or client; then
# `weir report` over what came of it, its page shown by a real browser (Debian's chromium; without
# it that part is skipped). WEIR is the program.
. "$(dirname "$0")/lib.sh"

need_python
WEIR_PAGE="$dir/page.html" python3 tests/upstream/quality_cases.py >"$dir/cases" 2>&1
status=$?
cat "$dir/cases"
set -- $(tail -n 1 "$dir/cases" | sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p')
passed=${1:-0}
failed=${2:-1}
[ "$status" -eq 0 ] || [ "$failed" -gt 0 ] || failed=1

if ! command -v chromium >/dev/null && ! command -v chromium-browser >/dev/null ||
    [ ! -s "$dir/page.html" ]; then
    skipped=1
    echo 'skipped: chromium is not installed, so the page was not shown by a browser'
else
    BRIEF=1 PYTHONDONTWRITEBYTECODE=1 python3 tests/page/file_cases.py - "$dir/page.html" \
        >"$dir/shown" 2>&1
    status=$?
    cat "$dir/shown"
    ok 'the page is shown' "$status" 0
fi
finish

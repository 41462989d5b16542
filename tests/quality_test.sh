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

# shows PAGE WIDTH THEME: what the page measures in a frame of that width
shows()
{
    cat >"$dir/frame.html" <<END
<!doctype html><body><iframe id="f" src="$1" width="$2" height="900"></iframe><pre id="p"></pre>
<script>
window.onload = () => {
    const page = document.getElementById('f').contentDocument, root = page.documentElement;
    const meets = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 &&
        a.top < b.bottom - 1 && b.top < a.bottom - 1;
    let overlaps = 0, cut = 0, drawn = 0;
    for (const svg of page.querySelectorAll('.charts svg')) {
        const box = svg.getBoundingClientRect();
        const texts = [...svg.querySelectorAll('text')].map(t => t.getBoundingClientRect());
        texts.forEach((a, i) => texts.slice(i + 1).forEach(b => overlaps += meets(a, b)));
        cut += texts.filter(t => t.right > box.right + 1 || t.bottom > box.bottom + 1).length;
        drawn += [...svg.querySelectorAll('rect.bar')]
            .some(b => b.getBoundingClientRect().width > 0);
    }
    document.getElementById('p').textContent = 'measured: wide ' +
        (root.scrollWidth > root.clientWidth) + ', overlaps ' + overlaps + ', cut ' + cut +
        ', charts ' + drawn + '.';
};
</script></body>
END
    "$browser" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
        --user-data-dir="$dir/profile" --allow-file-access-from-files --enable-logging=stderr \
        --virtual-time-budget=5000 --blink-settings=preferredColorScheme="$3" --dump-dom \
        "file://$dir/frame.html" 2>"$dir/console" | grep -o 'measured: .*\.'
    grep -c 'CONSOLE' "$dir/console" | sed 's/^/console /'
}

browser=$(command -v chromium || command -v chromium-browser || true)
if [ -z "$browser" ] || [ ! -s "$dir/page.html" ]; then
    skipped=1
    echo 'skipped: chromium is not installed, so the page was not shown by a browser'
else
    good="measured: wide false, overlaps 0, cut 0, charts 3.
console 0"
    for width in 360 1280; do
        for theme in 0 1; do
            ok "shown $width px wide, colours $theme" "$(shows page.html $width $theme)" "$good"
        done
    done
    # The measuring must be able to fail.
    sed 's|<body>|<body><div style="width:600px">wide</div>|' "$dir/page.html" >"$dir/wide.html"
    ok 'a page that is too wide is noticed' "$(shows wide.html 360 0 | grep -c 'wide true')" 1
fi
finish

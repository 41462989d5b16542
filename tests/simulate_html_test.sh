#!/bin/sh
# The page of `weir simulate --html`, read by a parser and shown by a real browser (Debian's
# chromium; without it that half is skipped). WEIR is the program.
. "$(dirname "$0")/lib.sh"

need_python

# -- two sessions, one of them in a file whose name is an attack on the page
evil="$dir/a<script>alert(1)<b>&\"'x.json"
python3 - "$evil" "$dir/plain.json" <<'END'
import json, sys

def session(path, turns):
    messages = [{"role": "system", "content": "You mend programs."},
                {"role": "user", "content": "Mend src/gate.c"}]
    for n in range(turns):
        wanted = json.dumps({"command": "cat src/f%d.c" % n})
        call = {"id": "c%d" % n, "type": "function",
                "function": {"name": "bash", "arguments": wanted}}
        text = "\n".join("static int take_ticket_%d_%d(struct gate_%d *gate);" % (n, i, i)
                         for i in range(200))
        messages += [{"role": "assistant", "content": "", "tool_calls": [call]},
                     {"role": "tool", "tool_call_id": "c%d" % n, "content": text},
                     {"role": "assistant",
                      "content": "`take_ticket_%d_0`, `take_ticket_%d_7`." % (n, n)},
                     {"role": "user", "content": "Go on."}]
    messages.append({"role": "assistant", "content": "Done."})
    json.dump(messages, open(path, "w"))

session(sys.argv[1], 12)
session(sys.argv[2], 3)
END
cat >"$dir/own.yaml" <<'END'
policies:
  a-policy-of-my-own-with-a-rather-long-name:
    stages:
      - stage: reference
END
"$WEIR" simulate "$evil" "$dir/plain.json" --policy exact --policy auto --policy lean \
    --policy head-tail --policy a-policy-of-my-own-with-a-rather-long-name \
    --policies "$dir/own.yaml" --model claude-sonnet-5-5 --model gpt-5.5 --html "$dir/page.html" \
    --csv "$dir/rows.csv" >"$dir/table" 2>"$dir/err"
ok 'simulate writes a page' "$?" 0
policies=5

# -- the rows
python3 - "$dir/rows.csv" >"$dir/csv" <<'END'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
print(len(rows))
print(len({r["path"] for r in rows}))
print(all(abs(float(r["cost_usd"]) / float(r["floor_usd"]) - float(r["floor_multiple"])) < 0.01
          for r in rows))
print(all(abs(float(r["ratio_to_raw"]) - 1) < 1e-9 for r in rows if r["policy"] == "exact"))
print(sorted({r["model"] for r in rows}))
END
ok 'a row for every model, session and policy' "$(sed -n 1p "$dir/csv")" $((2 * 2 * policies))
ok 'a path with quotes and brackets comes back whole' "$(sed -n 2p "$dir/csv")" 2
ok 'the floor multiple is cost by floor' "$(sed -n 3p "$dir/csv")" True
ok 'exact costs what exact costs' "$(sed -n 4p "$dir/csv")" True
ok 'rows name their model' "$(sed -n 5p "$dir/csv")" "['claude-sonnet-5-5', 'gpt-5.5']"
ok 'the table sets models side by side' "$(grep -c 'policies x models' "$dir/table")" 1

# -- the page, parsed
python3 - "$dir/page.html" "$evil" $policies >"$dir/parsed" <<'END'
import sys, xml.etree.ElementTree as tree
from html.parser import HTMLParser

text, evil, policies = open(sys.argv[1], encoding="utf-8").read(), sys.argv[2], int(sys.argv[3])
root = tree.fromstring(text)
print("well-formed")

class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.wrong, self.tags, self.links = [], 0, set(), []
    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.open.append(tag)
        self.links += [v for k, v in attrs if k in ("src", "href", "style") or k.startswith("on")]
    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()
    def handle_endtag(self, tag):
        self.wrong += not self.open or self.open.pop() != tag

reader = Reader()
reader.feed(text)
print("nested" if not reader.wrong and not reader.open else "not nested")
print("alone" if reader.links == ["data:,"] and "url(" not in text and "@import" not in text
      else reader.links)
active = {"script", "iframe", "object", "form", "img"}
print("no script" if not reader.tags & active else reader.tags)

def section(name):
    return next(e for e in root.iter("section") if e.get("id") == name)

for name in "cost", "evidence", "cache":
    bars = [e for e in section(name).iter("rect") if "bar" in e.get("class").split()]
    widths = [float(b.get("width")[:-1]) for b in bars]
    print(name, len(bars) == policies and all(0 <= w <= 100 for w in widths))
print("lives", len(list(section("life").iter("polygon"))) == policies)
print("path", evil in "".join(section("life").itertext()))
print("agents", len(list(section("agents").iter("table"))) >= 2)
words = "".join(root.itertext())
print("says", all(w in words for w in ("claude-sonnet-5-5", "200000",
                                       "2 of the logs have no time")))
widths = [float(e.get("width")[:-1]) for e in section("cost").iter("rect")
          if "bar" in e.get("class").split()]
print("ranked", widths == sorted(widths) and widths[-1] == 100)
END
cat >"$dir/expected" <<'END'
well-formed
nested
alone
no script
cost True
evidence True
cache True
lives True
path True
agents True
says True
ranked True
END
while read -r line; do
    ok "the page: $line" "$(grep -cxF "$line" "$dir/parsed")" 1
done <"$dir/expected"

# -- what cannot be written is said
"$WEIR" simulate "$dir/plain.json" --policy exact --html "$dir/no/page.html" >"$dir/out" \
    2>"$dir/err"
ok 'a page that cannot be written: exit' "$?" 2
ok 'a page that cannot be written: named' "$(grep -c 'no/page.html' "$dir/err")" 1

"$WEIR" simulate "$dir/plain.json" --model no-such-model-at-all >"$dir/out" 2>"$dir/err"
ok 'a model without a price: exit' "$?" 2
ok 'a model without a price: named' "$(grep -c "'no-such-model-at-all'" "$dir/err")" 1

# -- the page, shown
browser=$(command -v chromium || command -v chromium-browser || true)
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
    let overlaps = 0, cut = 0, bars = [];
    for (const svg of page.querySelectorAll('.charts svg')) {
        const box = svg.getBoundingClientRect();
        const texts = [...svg.querySelectorAll('text')].map(t => t.getBoundingClientRect());
        texts.forEach((a, i) => texts.slice(i + 1).forEach(b => overlaps += meets(a, b)));
        cut += texts.filter(t => t.right > box.right + 1 || t.bottom > box.bottom + 1).length;
        const drawn = [...svg.querySelectorAll('rect.bar')];
        bars.push(drawn.filter(b => b.getBoundingClientRect().width > 0).length);
    }
    const style = page.defaultView.getComputedStyle(page.body);
    document.getElementById('p').textContent = 'measured: wide ' +
        (root.scrollWidth > root.clientWidth) + ', overlaps ' + overlaps + ', cut ' + cut +
        ', bars ' + bars.join(' ') + ', ground ' + style.backgroundColor + '.';
};
</script></body>
END
    "$browser" --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
        --user-data-dir="$dir/profile" --allow-file-access-from-files --enable-logging=stderr \
        --virtual-time-budget=5000 --blink-settings=preferredColorScheme="$3" --dump-dom \
        "file://$dir/frame.html" 2>"$dir/console" | grep -o 'measured: .*\.' | sed 's/,* ground.*//'
    grep -c 'CONSOLE' "$dir/console" | sed 's/^/console /'
}

if [ -z "$browser" ]; then
    skipped=$((skipped + 1))
    echo 'skipped: chromium is not installed, so the page was not shown by a browser'
else
    good="measured: wide false, overlaps 0, cut 0, bars $policies $policies $policies
console 0"
    for width in 360 412 1280; do
        for theme in 0 1; do
            ok "shown $width px wide, colours $theme" "$(shows page.html $width $theme)" "$good"
        done
    done
    # The measuring must be able to fail.
    sed 's|<body>|<body><div style="width:600px">wide</div>|' "$dir/page.html" >"$dir/wide.html"
    ok 'a page that is too wide is noticed' \
        "$(shows wide.html 360 0 | grep -c 'wide true')" 1
    sed 's|<body>|<body><script>console.error("no")</script>|' "$dir/page.html" >"$dir/loud.html"
    ok 'a console message is noticed' "$(shows loud.html 360 0 | grep -c 'console 1')" 1
    sed 's|y="46"|y="14"|g' "$dir/page.html" >"$dir/crowded.html"
    ok 'words on words are noticed' "$(shows crowded.html 360 0 | grep -c 'overlaps 0')" 0
fi

finish

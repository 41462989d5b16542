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
"$WEIR" simulate "$evil" "$dir/plain.json" --policy exact --policy auto --policy lean \
    --policy head-tail --policy a-policy-of-my-own-with-a-rather-long-name \
    --policies "$dir/own.yaml" --model claude-sonnet-5-5 --model gpt-5.5 --json >"$dir/json" 2>&1
python3 - "$dir/page.html" "$evil" "$dir/json" >"$dir/parsed" <<'END'
import base64, hashlib, json, re, sys
from html.parser import HTMLParser

text, evil = open(sys.argv[1], encoding="utf-8").read(), sys.argv[2]

class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.links, self.texts = [], [], {}  # a text by its tag and number
    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [v for k, v in attrs if k in ("src", "href", "style") or k.startswith("on")]
    def handle_data(self, data):
        if self.tags:
            self.texts.setdefault(self.tags[-1] + str(self.tags.count(self.tags[-1])), data)

reader = Reader()
reader.feed(text)
print("alone" if reader.links == ["data:,"] and "url(" not in text and "@import" not in text
      else reader.links)
active = {"iframe", "object", "form", "img", "embed"}
print("two scripts" if not active & set(reader.tags) and reader.tags.count("script") == 2
      else reader.tags)
policy = re.search(r'Content-Security-Policy"\s+content="([^"]*)"', text).group(1)
for kind, tag in ("script", "script2"), ("style", "style1"):
    digest = base64.b64encode(hashlib.sha256(reader.texts[tag].encode()).digest()).decode()
    print(kind, "named" if "%s-src 'sha256-%s'" % (kind, digest) in policy else policy)
print("nothing else", policy.startswith("default-src 'none';") and "unsafe" not in policy)
data = json.loads(reader.texts["script1"])
told = json.load(open(sys.argv[3]))
for part in (data["report"], told):  # times differ from run to run
    for policy in part["policies"]:
        for one in [policy] + policy["by_agent"]:
            one.pop("rewrite_ms", None)
print("the same as --json", data["report"] == told)
print("path", data["longest"]["path"] == evil)
END
cat >"$dir/expected" <<'END'
alone
two scripts
script named
style named
nothing else True
the same as --json True
path True
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
if ! command -v chromium >/dev/null && ! command -v chromium-browser >/dev/null; then
    skipped=$((skipped + 1))
    echo 'skipped: chromium is not installed, so the page was not shown by a browser'
else
    BRIEF=1 PYTHONDONTWRITEBYTECODE=1 python3 tests/page/file_cases.py - "$dir/page.html" \
        >"$dir/shown" 2>&1
    status=$?
    cat "$dir/shown"
    ok 'the page is shown' "$status" 0
fi

finish

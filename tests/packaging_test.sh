#!/bin/bash
# The operator's files, each by its own tool: WEIR is the program. What is not installed is skipped,
# aloud. PROMTOOL and HELM may name theirs. tests/image_test.sh builds the image, and runs it.
. "$(dirname "$0")/lib.sh"
need_python

skip()
{
    skipped=$((skipped + 1))
    echo "note: skipped: $1"
}

# ---- systemd ----
if command -v systemd-analyze >/dev/null &&
    systemd-analyze security --offline=true packaging/weir.service >"$dir/security" 2>&1; then
    exposure=$(sed -n 's/.*Overall exposure level[^:]*: \([0-9.]*\).*/\1/p' "$dir/security")
    ok 'the unit exposes less than 1.5 of 10' \
        "$(awk -v got="$exposure" 'BEGIN { print (got != "" && got < 1.5) ? "yes" : got }')" yes
    # The program is not installed here: that is all that may be wrong.
    sed "s,/usr/local/bin/weir,/bin/true,; /^Documentation/d" packaging/weir.service \
        >"$dir/weir.service"
    systemd-analyze verify "$dir/weir.service" >"$dir/verify" 2>&1
    ok 'systemd understands all of it' "$(grep -c weir.service "$dir/verify")" 0
else
    skip 'systemd-analyze security --offline does not run here'
fi

# The commands in its head, below a folder of their own; what would change this machine is a
# stand-in that says how it was called.
mkdir -p "$dir/bin" "$dir/machine/etc/systemd/system"
for tool in useradd systemctl; do
    printf '#!/bin/sh\necho %s "$@"\n' $tool >"$dir/bin/$tool"
done
cat >"$dir/bin/install" <<EOF
#!/bin/sh
set -- "\$@" END
while [ "\$1" != END ]; do
    case \$1 in
        -g) shift ;;                          # the group is the machine's
        /*) set -- "\$@" "$dir/machine\$1" ;;
        *) set -- "\$@" "\$1" ;;
    esac
    shift
done
shift
exec $(command -v install) "\$@"
EOF
chmod +x "$dir/bin/"*
sed -n 's/^#   //p' packaging/weir.service >"$dir/head"
PATH=$dir/bin:$PATH sh -e "$dir/head" >"$dir/out" 2>&1
ok 'the commands in the head of the unit work' "$? $(wc -l <"$dir/head")" '0 4'
ok 'they begin the service' "$(grep -c '^systemctl enable --now weir$' "$dir/out")" 1
config=$(sed -n 's/^ExecStart=.*--config \([^ ]*\).*/\1/p' packaging/weir.service)
ok 'and put weir.yaml where it is read, for its group alone' \
    "$(stat -c %a "$dir/machine$config" "$dir/machine${config%/*}" | tr '\n' ' ')" '640 750 '
ok 'and the unit where systemd looks' \
    "$(cmp packaging/weir.service "$dir/machine/etc/systemd/system/weir.service" && echo same)" same

# ---- Prometheus ----
promtool=${PROMTOOL:-$(command -v promtool)}
if [ -n "$promtool" ]; then
    "$promtool" check rules packaging/alerts.yaml >"$dir/out" 2>&1
    ok 'promtool takes the rules' $? 0
    "$promtool" test rules packaging/alerts_test.yaml >"$dir/out" 2>&1
    ok 'the rules fire when they should, and not before' $? 0
else
    skip 'promtool is not installed (Debian: prometheus)'
fi

# ---- metrics that are named ----
cat >"$dir/metrics.py" <<'EOF'
import json, re, sys
sys.path.insert(0, 'tests/upstream')
from harness import Folder, Weir
with Folder() as folder:
    weir = Weir(folder, '--upstream', 'http://127.0.0.1:1')
    weir.post('/v1/chat/completions', {'model': 'm', 'messages': []})
    page = weir.get('/metrics')[1].decode()
    if len(sys.argv) > 1:
        with open(sys.argv[1], 'w', encoding='utf-8') as file:
            file.write(page)
    weir.stop()
known = set(re.findall(r'^# TYPE (weir_[a-z0-9_]+) ', page, re.M))
known |= {name + end for name in re.findall(r'^# TYPE (\S+) histogram', page, re.M)
          for end in ('_bucket', '_sum', '_count')}
with open('packaging/grafana.json', encoding='utf-8') as file:
    board = json.load(file)
panels = board['panels']
named = set(re.findall(r'weir_[a-z0-9_]+', ' '.join(
    target['expr'] for panel in panels for target in panel['targets'])))
with open('packaging/alerts.yaml', encoding='utf-8') as file:
    named |= set(re.findall(r'\bweir_[a-z0-9_]+', file.read()))
places = [(p['gridPos']['x'], p['gridPos']['y']) for p in panels]
wrong = sorted(named - known)
if len({p['id'] for p in panels}) < len(panels) or len(set(places)) < len(places):
    wrong.append('two panels have one id or one place')
print(' '.join(wrong) or 'none')
EOF
ok 'every metric of the dashboard and the rules is in /metrics' \
    "$(WEIR=$weir python3 "$dir/metrics.py" "$dir/metrics")" none
if [ -n "$promtool" ]; then
    ok 'promtool finds no fault with /metrics' \
        "$("$promtool" check metrics <"$dir/metrics" 2>&1 | grep -c error)" 0
fi

# ---- weir.yaml ----
sed "s,/var/lib/weir,$dir/store,; s,:4141,:0," packaging/weir.yaml >"$dir/weir.yaml"
cat >"$dir/sample.py" <<'EOF'
import sys
sys.path.insert(0, 'tests/upstream')
from harness import Folder, Weir
with open(sys.argv[1], encoding='utf-8') as file:
    text = file.read()
with Folder() as folder:
    weir = Weir(folder, config=text)
    print(weir.get('/readyz')[0], 'mode shadow, policy auto' in weir.first_line)
    weir.stop()
EOF
ok 'the sample of weir.yaml serves' "$(WEIR=$weir python3 "$dir/sample.py" "$dir/weir.yaml")" \
    '200 True'

# ---- Kubernetes ----
helm=${HELM:-$(command -v helm)}
if [ -n "$helm" ]; then
    "$helm" lint --strict packaging/helm/weir >"$dir/out" 2>&1
    ok 'helm lints the chart' $? 0
    for database in '' DATABASE_URL; do
        "$helm" template weir packaging/helm/weir --set database=$database >"$dir/out" 2>&1
        ok "and renders it (database: ${database:-none})" $? 0
    done
    # As the pod puts it together: the chart's part, then the Secret's.
    sed -n '/^  weir.yaml: |/,/^---/p' "$dir/out" | sed -n 's/^    //p' >"$dir/chart.yaml"
    "$weir" token new anna >>"$dir/chart.yaml.secret" && sed 1d "$dir/chart.yaml.secret" \
        >>"$dir/chart.yaml"
    "$weir" serve --check-config --config "$dir/chart.yaml" >"$dir/out" 2>&1
    ok 'the weir.yaml that it makes is right' $? 0
    ok 'and listens for others' "$(grep -c '0.0.0.0:4141, mode shadow' "$dir/out")" 1
else
    skip 'helm is not installed'
fi

# ---- the image ----
ok 'the image runs as nobody in particular' \
    "$(grep -c '^USER 65532:65532$' packaging/Dockerfile)" 1
packages=$(sed -n "/^build_packages/,/'$/p" tools/bootstrap | tr -d "'" | tr ' ' '\n' |
    grep -E '^(lib.*-dev|node-llhttp)$' | grep -v '^libc6-dev$')
ok 'and is built with what tools/bootstrap installs' \
    "$(for package in $packages; do
        grep -q "\b$package\b" packaging/Dockerfile || echo $package
    done)" ''
finish

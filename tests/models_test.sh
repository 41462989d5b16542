#!/bin/bash
# `weir models` as a user meets it: what it prints, where, and how it exits.
. "$(dirname "$0")/lib.sh"
command=models

cat >"$dir/weir.yaml" <<'YAML'
listen: 127.0.0.1:4141
models:
  my-model: {like: o3, window: 12345}
aliases: {mine: my-model}
YAML
printf 'models:\n  o3:\n    windw: 1\n' >"$dir/wrong.yaml"

check 'the list ends with its count and date' 0 out '^[0-9]+ models, facts of 20'
check 'a listed model' 0 out '^  matched +exact id' gpt-5.4
check 'where the window comes from' 0 out '^  window +1,050,000 tokens \(registry\)' gpt-5.4
check 'a price tier' 0 out '^  tier +above 272,000 input tokens' gpt-5.4
check 'another form of a name' 0 out 'dated form of claude-opus-4-5' claude-opus-4-5-20251101
check 'a family' 0 out 'family pattern "claude"' claude-9
check 'an unknown name: the nearest' 2 err "family 'gtp-5.4'; did you mean gpt-5.4" gtp-5.4
check 'an unknown name and nothing near' 2 err \
    "no model or family 'qqqqqq'; .weir models. lists" qqqqqq
check 'two names' 2 err "'gpt-5' is one word too many; one name at a time" o3 gpt-5
check 'an unknown option' 2 err 'no option --frob' --frob
check 'JSON of one' 0 out '"window_source":"registry"' o3 --json
check 'JSON of all' 0 out '"generated":"20' --json
check 'help has an example' 0 out '^example: weir models ' --help
check 'overrides in a file with other sections' 0 out 'window +12,345 .*overrides' mine \
    --config "$dir/weir.yaml"
check 'a wrong override names its place' 2 err 'wrong.yaml: line 3, column 5: ' o3 \
    --config "$dir/wrong.yaml"
check 'a file that is not there' 2 err 'nowhere.yaml' o3 --config "$dir/nowhere.yaml"

finish

#!/bin/sh
# A store in trouble, as a user meets it: locked, full, damaged, foreign, not to be written. Each is
# one clear line that says what to do, the right exit status, and nothing is lost. WEIR is the
# program; tests/store_lock_test, built beside it, holds a store for writing.
. "$(dirname "$0")/lib.sh"
holder=
trap 'exec 9>&-; rm -rf "$dir"' EXIT
holds=$(dirname "$WEIR")/tests/store_lock_test
store=$dir/store

skip()
{
    skipped=$((skipped + 1))
    printf 'skipped: %s\n' "$1"
}

# says SENTENCE WORDS: stderr of the last command is one line with the words
says()
{
    ok "$1: one line on stderr" "$(wc -l <"$dir/err" | tr -d ' ')" 1
    case $(cat "$dir/err") in
    *"$2"*) passed=$((passed + 1)) ;;
    *)
        failed=$((failed + 1))
        printf 'FAILED: %s\n  stderr lacks: %s\n  stderr: %s\n' "$1" "$2" "$(cat "$dir/err")"
        ;;
    esac
}

# fails SENTENCE STATUS WORDS COMMAND...: that exit status, nothing on stdout, the words on stderr
fails()
{
    sentence=$1
    status=$2
    words=$3
    shift 3
    "$@" </dev/null >"$dir/out" 2>"$dir/err"
    ok "$sentence: exit" "$?" "$status"
    ok "$sentence: nothing on stdout" "$(wc -c <"$dir/out" | tr -d ' ')" 0
    says "$sentence" "$words"
}

# A session with ten long results, which differ by the number $1; $2 lines each. A quote is
# written _ and put in at the end.
request()
{
    awk -v seed="$1" -v lines="$2" -v line="line %d of %d: %08x%06x\\\\n" '
        BEGIN {
            printf "{_model_:_gpt-5.1_,_messages_:[{_role_:_user_,_content_:_begin %d_}", seed
            for (c = 1; c <= 10; c++) {
                printf ",{_role_:_assistant_,_content_:null,_tool_calls_:[{_id_:_call%d_,", c
                printf "_type_:_function_,_function_:{_name_:_bash_,_arguments_:_{}_}}]}"
                printf ",{_role_:_tool_,_tool_call_id_:_call%d_,_content_:_", c
                x = seed * 1000 + c
                for (l = 1; l <= lines; l++) {
                    x = (x * 16807) % 2147483647
                    printf line, l, c, x, (x * 7) % 16777216
                }
                printf "_}"
            }
            printf ",{_role_:_assistant_,_content_:_done_},{_role_:_user_,_content_:_next_}],"
            printf "_tools_:[{_type_:_function_,_function_:{_name_:_weir_recall_,_parameters_:"
            print "{_type_:_object_,_properties_:{_handle_:{_type_:_string_}}}}}]}"
        }' | sed "s/_/\"/g; s/tool\"call\"id/tool_call_id/g; s/tool\"calls/tool_calls/g;
                  s/weir\"recall/weir_recall/g"
}

# project REQUEST: through a policy that takes things out
project()
{
    "$WEIR" project --policy tiered --window 16000 --store "$store" <"$1" 2>"$dir/err" \
        >"$dir/projected.json"
}

handles_in()
{
    grep -o 'weir wr_[0-9a-f]\{20\}' "$1" | cut -d' ' -f2 | sort -u
}

# all_come_back SENTENCE BODY: every handle in it recalls the text that it names
all_come_back()
{
    for h in $(handles_in "$2"); do
        "$WEIR" recall "$h" --store "$store" >"$dir/original" 2>"$dir/recall_err"
        ok "$1: $h comes back" "$?" 0
        ok "$1: $h is its text" "wr_$(sha256sum <"$dir/original" | cut -c1-20)" "$h"
    done
}

is_whole()
{
    cmp -s "$1" "$dir/projected.json" && echo whole
}

request 1 120 >"$dir/one.json"
request 2 120 >"$dir/two.json"
project "$dir/one.json"
ok "a request is projected" "$?$(cat "$dir/err")" 0
cp "$dir/projected.json" "$dir/one.projected.json"
handle=$(handles_in "$dir/one.projected.json" | head -n 1)
ok "something was taken out" "${handle%%_*}" wr
all_come_back "to begin with" "$dir/one.projected.json"

# -- handles that bring nothing back
fails "a handle that was never stored" 1 "never stored; check the handle" \
    "$WEIR" recall wr_00000000000000000000 --store "$store"
fails "a handle of another tenant" 1 "stored by another tenant; --tenant" \
    "$WEIR" recall "$handle" --store "$store" --tenant somebody
fails "no store at all" 2 "no store.db in it; --store DIR" \
    "$WEIR" recall "$handle" --store "$dir/nowhere"

# -- locked: reading goes on, a request goes on whole, and later all is as it was
lock()
{
    mkfifo "$dir/lock_in" "$dir/lock_out"
    "$holds" hold "$store" <"$dir/lock_in" >"$dir/lock_out" &
    holder=$!
    exec 9>"$dir/lock_in"
    read -r held <"$dir/lock_out"
    ok "the store is held" "$held" held
}

unlock()
{
    exec 9>&-
    wait "$holder"
    rm -f "$dir/lock_in" "$dir/lock_out"
}

if [ -x "$holds" ]; then
    lock
    all_come_back "locked" "$dir/one.projected.json"
    "$WEIR" store verify --store "$store" >/dev/null 2>&1
    ok "a locked store can be verified" "$?" 0
    project "$dir/two.json"
    ok "locked: the request goes on" "$?" 0
    ok "locked: as it came" "$(is_whole "$dir/two.json")" whole
    says "locked" "another process holds the store"
    project "$dir/one.json"
    ok "locked: a request whose originals are stored goes on" "$?" 0
    all_come_back "locked, stored before" "$dir/projected.json"
    fails "locked: gc" 2 "another process holds the store (SQLite: database is locked); try again" \
        "$WEIR" store gc --store "$store"
    fails "locked: purge" 2 "; try again" "$WEIR" store purge --all --store "$store"
    unlock
    project "$dir/two.json"
    ok "free again: the request is projected" "$?$(cat "$dir/err")" 0
    all_come_back "free again" "$dir/projected.json"
else
    skip "locked: $holds is not built"
fi

# -- a full disk, played by a cap on the size of files
request 3 2500 >"$dir/large.json"
(
    trap '' XFSZ
    ulimit -f $(($(wc -c <"$store/store.db") / 512 + 40))
    "$WEIR" project --policy tiered --window 16000 --store "$store" <"$dir/large.json" 2>"$dir/err"
    echo $? >"$dir/status"
) | cat >"$dir/projected.json" # a pipe has no size
ok "full: the request goes on" "$(cat "$dir/status")" 0
ok "full: as it came" "$(is_whole "$dir/large.json")" whole
says "full" "there is no room left"
all_come_back "full" "$dir/one.projected.json"
"$WEIR" store verify --store "$store" >/dev/null 2>&1
ok "full: nothing is damaged" "$?" 0
project "$dir/large.json"
ok "with room again it is projected" "$?$(cat "$dir/err")" 0
all_come_back "with room again" "$dir/projected.json"

# -- copy: what was taken out comes back from the copy, and a second one finds it there
"$WEIR" store copy "$store" "$dir/copied" --json >"$dir/out" 2>"$dir/err"
ok "copy exits 0" "$?$(cat "$dir/err")" 0
ok "copy: nothing differs" "$(grep -c '"damaged":0,"differ":0' "$dir/out")" 1
"$WEIR" recall "$handle" --store "$store" >"$dir/one"
"$WEIR" recall "$handle" --store "$dir/copied" | cmp -s - "$dir/one"
ok "copy: a handle leads to the same" "$?" 0
"$WEIR" store copy "$store" "$dir/copied" --json >"$dir/out"
ok "copied again: nothing is left to do" "$(grep -c '"artifacts":0,' "$dir/out")" 1
fails "copy into itself" 2 "the same store" "$WEIR" store copy "$store" "$store"
fails "copy of nothing" 2 "copying" "$WEIR" store copy "$dir/none" "$dir/other"

# -- expired: over the cap the least recently used session goes
"$WEIR" store gc --store "$store" --days 0 --live-hours 0 --megabytes 0 >/dev/null
all_come_back "nothing goes unasked" "$dir/one.projected.json"
cp -r "$store" "$dir/kept"
request 4 12000 >"$dir/huge.json"
project "$dir/huge.json"
"$WEIR" store gc --store "$store" --days 0 --live-hours 0 --megabytes 1 >/dev/null 2>"$dir/err"
ok "gc exits 0" "$?$(cat "$dir/err")" 0
fails "an expired handle" 1 "has been collected; \`weir store gc --days" \
    "$WEIR" recall "$handle" --store "$store"
"$WEIR" store purge --all --store "$store" >/dev/null
fails "a purged handle" 1 "never stored" "$WEIR" recall "$handle" --store "$store"
rm -rf "$store"
cp -r "$dir/kept" "$store"

# -- damage: a byte of a stored text. It is said, and the next request with the text repairs it.
flip()
{
    printf '\377\000\377' | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}

texts=$(LC_ALL=C grep -obUaP '\x28\xb5\x2f\xfd' "$store/store.db" 2>/dev/null | cut -d: -f1)
if [ -n "$texts" ]; then
    for at in $texts; do
        flip "$store/store.db" $((at + 40))
    done
    fails "a damaged text" 1 "corrupt: what is stored is not what was put there; the next request" \
        "$WEIR" recall "$handle" --store "$store"
    "$WEIR" store verify --store "$store" >"$dir/out" 2>"$dir/err"
    ok "verify finds it: exit" "$?" 1
    ok "verify names it" "$(grep -c "^weir store: $handle of tenant local" "$dir/err")" 1
    project "$dir/one.json"
    ok "damaged: the request is projected again" "$?$(cat "$dir/err")" 0
    ok "to the same bytes" "$(is_whole "$dir/one.projected.json")" whole
    all_come_back "healed" "$dir/one.projected.json"
else
    skip "damage to a text: this grep cannot look for bytes"
fi

# -- damage to the file itself
rm -rf "$store"
cp -r "$dir/kept" "$store"
head -c 3000 /dev/zero | tr '\0' '\245' |
    dd of="$store/store.db" bs=1 seek=100 conv=notrunc 2>/dev/null
cp "$store/store.db" "$dir/damaged.db"
fails "a damaged file" 2 "the store is damaged" "$WEIR" recall "$handle" --store "$store"
says "a damaged file" "; move it away"
project "$dir/one.json"
ok "damaged file: the request goes on" "$?" 0
ok "damaged file: as it came" "$(is_whole "$dir/one.json")" whole
says "damaged file" "the store is damaged"
ok "damaged file: it is not touched" \
    "$(cmp -s "$store/store.db" "$dir/damaged.db" && echo same)" same

# -- a file that is none of ours, and one of a later version
printf 'a text, not a database, whatever it is called\n' >"$store/store.db"
fails "a foreign file" 2 "not a store of Weir's (SQLite: file is not a database); --store DIR" \
    "$WEIR" recall "$handle" --store "$store"
ok "it is not touched" "$(wc -c <"$store/store.db" | tr -d ' ')" 46
rm -rf "$store"
cp -r "$dir/kept" "$store"
printf '\000\000\000\143' | dd of="$store/store.db" bs=1 seek=60 conv=notrunc 2>/dev/null
cp "$store/store.db" "$dir/newer.db"
fails "a newer store" 2 "use a newer Weir; --store DIR" "$WEIR" recall "$handle" --store "$store"
fails "gc of a newer store" 2 "has schema 99" "$WEIR" store gc --store "$store"
project "$dir/one.json"
ok "newer: the request goes on as it came" "$?$(is_whole "$dir/one.json")" 0whole
ok "newer: it is not touched" "$(cmp -s "$store/store.db" "$dir/newer.db" && echo same)" same

# -- a directory that may not be written: what is there can still be read
rm -rf "$store"
cp -r "$dir/kept" "$store"
as_other=
if [ "$(id -u)" -eq 0 ]; then
    as_other='setpriv --reuid 65534 --regid 65534 --clear-groups'
    chmod 755 "$dir"
fi
chmod 555 "$store"
chmod 444 "$store/store.db"
if $as_other "$WEIR" --help >/dev/null 2>&1 && ! $as_other test -w "$store"; then
    $as_other "$WEIR" recall "$handle" --store "$store" >"$dir/original" 2>"$dir/err"
    ok "read-only: a handle comes back" "$?$(cat "$dir/err")" 0
    ok "read-only: it is its text" "wr_$(sha256sum <"$dir/original" | cut -c1-20)" "$handle"
    $as_other "$WEIR" store verify --store "$store" >/dev/null 2>&1
    ok "read-only: it can be verified" "$?" 0
    odd="$dir/odd %41?b#c"
    cp -rp "$store" "$odd"
    $as_other "$WEIR" recall "$handle" --store "$odd" 2>"$dir/err" | cmp -s - "$dir/original"
    ok "read-only: whatever the directory is called" "$?$(cat "$dir/err")" 0
    chmod 755 "$odd"
    fails "read-only: gc" 2 "; check who owns it" $as_other "$WEIR" store gc --store "$store"
    request 5 120 >"$dir/five.json"
    $as_other "$WEIR" project --policy tiered --window 16000 --store "$store" <"$dir/five.json" \
        >"$dir/projected.json" 2>"$dir/err"
    ok "read-only: the request goes on as it came" "$?$(is_whole "$dir/five.json")" 0whole
    says "read-only" "cannot be opened or written"
    $as_other "$WEIR" project --policy tiered --window 16000 --store "$store/below" \
        <"$dir/two.json" >"$dir/projected.json" 2>"$dir/err"
    ok "no room to make one: as it came" "$?$(is_whole "$dir/two.json")" 0whole
    says "no room to make one" "cannot make the store's directory"
else
    skip "read-only: no user here who may not write"
fi
chmod 755 "$store"

finish

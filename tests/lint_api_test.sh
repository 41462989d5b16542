#!/bin/sh
# tools/lint [api]: only src/api asks which API it has before it.
. "$(dirname "$0")/lib.sh"

mkdir -p "$dir/tools" "$dir/src/api" "$dir/src/engine" "$dir/lab"
cp tools/lint "$dir/tools/lint"
printf 'api:\nengine: *\n' >"$dir/tools/layers"
: >"$dir/tools/lint-exceptions"

# says SENTENCE PATH LINE COUNT: how many problems of that rule there are with LINE in PATH
says()
{
    echo "$3" >"$dir/$2"
    found=$(cd "$dir" && tools/lint 2>&1 | grep -c "^$2:.*\\[api\\]")
    ok "$1" "$found" "$4"
    rm "$dir/$2"
}

says 'a dialect that is named in code' src/engine/x.c 'int x = WEIR_DIALECT_CHAT;' 1
says 'one that will be added' lab/x.c 'int x = WEIR_DIALECT_GEMINI;' 1
says 'the table of one API' src/engine/x.c 'const void *x = &wr_api_messages;' 1
says 'the functions that all share are not one' src/engine/x.c 'int x = wr_api_read();' 0
says 'in a comment it is no code' src/engine/x.c '/* WEIR_DIALECT_CHAT */' 0
says 'the folder of the APIs may' src/api/x.c 'int x = WEIR_DIALECT_CHAT;' 0
says 'so may a test' src/engine/x_test.c 'int x = WEIR_DIALECT_CHAT;' 0
says 'and an importer' lab/import_x.c 'int x = WEIR_DIALECT_CHAT;' 0
echo 'int x = WEIR_DIALECT_CHAT;' >"$dir/src/engine/kept.c"
echo 'api src/engine/kept.c -- a reason' >"$dir/tools/lint-exceptions"
ok 'and what is listed with a reason' \
    "$(cd "$dir" && tools/lint 2>&1 | grep -c 'kept.c.*\[api\]')" 0

ok 'an API is known in at most five sources outside its folder' \
    "$(tools/api-places --max 5 >"$dir/places" && echo yes || cat "$dir/places")" yes

finish

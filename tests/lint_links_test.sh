#!/bin/sh
# tools/lint --links: a call that tools/layers does not allow is found in the objects, though every
# include is one of include/weir.
. "$(dirname "$0")/lib.sh"

mkdir -p "$dir/tools" "$dir/src/low" "$dir/src/high" "$dir/src/side"
cp tools/lint "$dir/tools/lint"
: >"$dir/tools/lint-exceptions"
echo 'int low(void); int low(void) { return 1; }' >"$dir/src/low/low.c"
echo 'int low(void), side(void), high(void); int high(void) { return low() + side(); }' \
    >"$dir/src/high/high.c"
echo 'int side(void); int side(void) { return 2; }' >"$dir/src/side/side.c"
echo 'int high(void); int main(void) { return high(); }' >"$dir/src/low/low_test.c"
for source in low/low high/high side/side; do
    mkdir -p "$dir/build/src/${source%/*}"
    ${CC:-cc} -c "$dir/src/$source.c" -o "$dir/build/src/$source.o" || exit 1
done
# What a file that is gone left in the build counts no more.
cp "$dir/build/src/high/high.o" "$dir/build/src/low/gone.o"

# says SENTENCE STATUS TEXT LINES...: what the check prints with these lines in tools/layers
says()
{
    sentence=$1 status=$2 text=$3
    shift 3
    printf '%s\n' "$@" >"$dir/tools/layers"
    "$dir/tools/lint" --links build >"$dir/out" 2>&1
    ok "$sentence: status" "$?" "$status"
    ok "$sentence" "$(grep -o '\[link\].*' "$dir/out")" "$text"
}

says 'what may be included may be called' 0 '' 'low:' 'side:' 'high: *'
says 'a forbidden edge, with the symbol and who calls it' 1 \
    '[link] high -> side is not allowed: side in src/high/high.c' 'low:' 'high: low' 'side:'
says 'a function that is named with a reason' 0 '' \
    'low:' 'high: low' 'side:' 'high -> side: side -- handed in'
says 'another function of the same folder is not' 1 \
    '[link] high -> side is not allowed: side in src/high/high.c
[link] nobody calls other any more (high -> side)' \
    'low:' 'high: low' 'side:' 'high -> side: other -- handed in'
rm "$dir/build/src/side/side.o"
printf 'low:\nside:\nhigh: *\n' >"$dir/tools/layers"
"$dir/tools/lint" --links build >"$dir/out" 2>&1
ok 'an object that is missing is no pass' "$([ $? -ne 0 ] && echo failed)" failed

finish

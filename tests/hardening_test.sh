#!/bin/sh
# tools/check-hardening finds each protection that is missing; sanitized builds have their own.
. "$(dirname "$0")/lib.sh"

cat >"$dir/x.c" <<'EOF'
#include <string.h>
extern void weir_fill(char *, unsigned long);
void weir_fill(char *text, unsigned long bytes) { memset(text, 'x', bytes); }
int main(int count, char **words)
{
    char text[40], page[9000];
    weir_fill(page, sizeof(page));
    strcpy(text, words[0]);
    return text[count] + page[count];
}
EOF
code='-O2 -fPIC -fstack-protector-strong -fstack-clash-protection -fcf-protection=full'
fortify='-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3'
link='-pie -Wl,-z,relro -Wl,-z,now'

# lacks SENTENCE WORDS FLAGS...: the only complaint about a program that is built like this
lacks()
{
    sentence=$1
    words=$2
    shift 2
    gcc -w "$dir/x.c" -o "$dir/x" "$@" || failed=$((failed + 1))
    tools/check-hardening "$dir/x" >"$dir/out"
    ok "$sentence" "$(sed -n "s,^FAILED: $dir/x: ,,p" "$dir/out")" "$words"
}

if [ "$(uname -m)" != x86_64 ]; then
    echo 'skip: written for x86-64'
    echo '0 passed, 0 failed, 1 skipped'
    exit 77
fi
lacks 'all of it' '' $code $fortify $link
lacks 'lazy binding' 'not bound at the start (BIND_NOW)' $code $fortify \
    -pie -Wl,-z,relro -Wl,-z,lazy
lacks 'no relro' 'no RELRO' $code $fortify -pie -Wl,-z,norelro -Wl,-z,now
lacks 'code on the stack' 'code may run on the stack' $code $fortify $link -Wl,-z,execstack
lacks 'a path of its own' 'looks for libraries in folders of its own' $code $fortify $link \
    -Wl,-rpath,/x
lacks 'no stack protector' 'no stack protector' $code $fortify $link -fno-stack-protector
lacks 'no checked functions' 'no checked functions (FORTIFY_SOURCE)' $code -U_FORTIFY_SOURCE $link
lacks 'no probes' 'frames over a page are not probed (stack clash)' $code $fortify $link \
    -fno-stack-clash-protection
lacks 'no endbr64' '2 functions without endbr64 (CET)' $code $fortify $link -fcf-protection=none
lacks 'a fixed address' 'not position independent
no PIE' $code $fortify -no-pie -Wl,-z,relro -Wl,-z,now

tools/check-hardening "$dir/x.c" >"$dir/out" 2>&1
ok 'what is no program fails' "$?" 1
flags=$(make -n BUILD="$dir/b" CFLAGS='-O1 -fsanitize=address' "$dir/b/src/base/hash.o" 2>&1)
ok 'a sanitized build is not fortified' "$(echo "$flags" | grep -c FORTIFY)" 0
flags=$(make -n BUILD="$dir/b" CFLAGS='-O0' "$dir/b/src/base/hash.o" 2>&1)
ok 'nor one that is not optimised' "$(echo "$flags" | grep -c FORTIFY)" 0
ok 'which has a stack protector' "$(echo "$flags" | grep -c -m1 stack-protector)" 1

finish

#!/bin/bash
# Installs into a folder of its own and uses what is there as a stranger would.
set -u
cd "$(dirname "$0")/.."
BUILD=${BUILD:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/usr
passed=0
failed=0

check()
{
    local behaviour=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "not so: $behaviour"
        cat "$work/log"
    fi
}

has_all_files()
{
    local file
    for file in bin/weir lib/libweir.a lib/libweir.so lib/libweir.so.0 include/weir/status.h \
        lib/pkgconfig/weir.pc share/doc/weir/LICENSE share/man/man1/weir.1 \
        share/bash-completion/completions/weir share/zsh/site-functions/_weir \
        share/fish/vendor_completions.d/weir.fish; do
        [ -e "$1/$file" ] || { echo "missing: $file"; return 1; }
    done
    [ "$(readlink "$1/lib/libweir.so")" = libweir.so.0 ]
}

# The functions that the installed headers declare, one a line.
declared_functions()
{
    awk '/^WEIR_API/ { text = ""; is_open = 1 }
        is_open { text = text " " $0 }
        is_open && /\(/ {
            sub(/ *\(.*/, "", text)
            count = split(text, word, /[ *]+/)
            print word[count]
            is_open = 0
        }' "$prefix"/include/weir/*.h | sort
}

# Nothing is forgotten and nothing leaks. The version node itself is listed as an absolute symbol.
shows_what_the_headers_declare()
{
    declared_functions >"$work/declared"
    [ -s "$work/declared" ] || { echo 'no header declares anything'; return 1; }
    nm -D --defined-only "$prefix/lib/libweir.so" | awk '$3 != "WEIR_0" { print $3 }' | sort \
        >"$work/shown"
    sed 's/$/@@WEIR_0/' "$work/declared" | diff - "$work/shown"
}

has_soname()
{
    readelf -d "$prefix/lib/libweir.so" | grep -F 'Library soname: [libweir.so.0]'
}

# A header must not lean on what was included before it, in C or in C++.
header_stands_alone()
{
    local source="#include <weir/$1>
extern int not_empty;"
    gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -xc -fsyntax-only "-I$prefix/include" - \
        <<<"$source" &&
        clang++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -xc++ -fsyntax-only \
            "-I$prefix/include" - <<<"$source"
}

# groff warns of what it cannot set; every command has its section, and a page of its own.
has_good_manual()
{
    local page=$prefix/share/man/man1/weir.1 command
    man --warnings -l "$page" 2>"$work/warnings" >"$work/page"
    [ ! -s "$work/warnings" ] || { cat "$work/warnings"; return 1; }
    for command in $("$prefix/bin/weir" --complete '' | cut -f1); do
        grep -q "^ *weir $command" "$work/page" || { echo "no section: $command"; return 1; }
        man --warnings -l "$prefix/share/man/man1/weir-$command.1" 2>"$work/warnings" >"$work/one"
        [ ! -s "$work/warnings" ] && grep -q "^ *weir $command" "$work/one" ||
            { echo "no page: $command"; cat "$work/warnings"; return 1; }
    done
}

build_example()
{
    gcc -std=c11 -Wall -Wextra -Werror "$1" -o "$work/example" $2
}

# $1 is the compiler, the rest what pkg-config says.
links_with_cpp()
{
    local compiler=$1
    shift
    "$compiler" -std=c++11 -Wall -Wextra -Wpedantic -Werror tests/face/calls.cpp -o "$work/cpp" \
        "$@" &&
        LD_LIBRARY_PATH=$prefix/lib "$work/cpp"
}

# Header, library and pkg-config file are of one version.
has_one_version()
{
    local file
    file=$(pkg-config --modversion weir)
    [[ $file =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || { echo "pkg-config says: $file"; return 1; }
    [ -e "$prefix/lib/libweir.so.$file" ] || { echo "no libweir.so.$file"; return 1; }
    printf '%s\n' '#include <stdio.h>' '#include <string.h>' '#include <weir/version.h>' \
        '#if WEIR_VERSION_NUMBER < 1000 * WEIR_VERSION_MINOR' '#error' '#endif' \
        'int main(void) { printf("%d.%d.%d", WEIR_VERSION_MAJOR, WEIR_VERSION_MINOR,' \
        'WEIR_VERSION_PATCH); return strcmp(weir_version(), WEIR_VERSION_STRING); }' \
        >"$work/version.c"
    gcc "$work/version.c" -o "$work/version" $shared &&
        [ "$(LD_LIBRARY_PATH=$prefix/lib "$work/version")" = "$file" ] &&
        [ "$("$prefix/bin/weir" --version)" = "weir $file" ]
}

# What a program could change by mistake it cannot see.
keeps_its_stores_closed()
{
    local read='#include <weir/weir.h>
int main(void) { struct weir_store *store = 0; return weir_store_trouble(store); }' write
    write=${read/return weir_store_trouble(store)/store->trouble = 0}
    gcc -xc -fsyntax-only $shared - <<<"$read" && ! gcc -xc -fsyntax-only $shared - <<<"$write"
}

# The arguments of an example, if it has any, are in its row of examples/arguments; what it has to
# say is in tests/face/says.
run_example()
{
    local name arguments wanted
    name=$(basename "${1%.*}")
    arguments=$(sed -n "s|@DIR@|$(mktemp -d -p "$work")|; s|^$name: *||p" examples/arguments)
    wanted=$(sed -n "s|^$name: *||p" tests/face/says)
    [ -n "$wanted" ] || { echo "$name has no row in tests/face/says"; return 1; }
    LD_LIBRARY_PATH=$prefix/lib "${@:2}" $arguments </dev/null >"$work/said" 2>&1 ||
        { cat "$work/said"; return 1; }
    grep -E "$wanted" "$work/said" || { cat "$work/said"; return 1; }
}

# As docs/embed.md has it of another PREFIX.
finds_its_library()
{
    gcc -std=c11 examples/shrink.c $shared -Wl,-rpath,"$prefix/lib" -o "$work/found" &&
        env -u LD_LIBRARY_PATH ldd "$work/found" | grep -q "libweir.so.* => $prefix/lib/"
}

# The make that runs us must not pass its flags on.
unset MAKEFLAGS MFLAGS MAKELEVEL
make="make --no-print-directory BUILD=$BUILD"
check 'make install works' $make install PREFIX="$prefix"
check 'it installs the program, both libraries, headers, pkg-config file' has_all_files "$prefix"
check 'DESTDIR goes in front of the prefix' $make install PREFIX=/usr DESTDIR="$work/dest"
check 'with DESTDIR it installs the same files' has_all_files "$work/dest/usr"
check 'a pkg-config file made with DESTDIR does not name it' \
    grep -qx 'prefix=/usr' "$work/dest/usr/lib/pkgconfig/weir.pc"
check 'the shared library shows what the headers declare, and nothing else' \
    shows_what_the_headers_declare
check 'the shared library is named for its version' has_soname
check 'the installed program runs' "$prefix/bin/weir" --help
# Systems without manuals may have a man that only says so.
if man --version 2>/dev/null | grep -q '^man [0-9]'; then
    check 'the manual is well formed' has_good_manual
fi
for header in "$prefix"/include/weir/*.h; do
    header=$(basename "$header")
    check "weir/$header can be included alone" header_stands_alone "$header"
done

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
check 'pkg-config knows weir' pkg-config --exists --print-errors weir
shared=$(pkg-config --cflags --libs weir)
static="$(pkg-config --cflags weir) $prefix/lib/libweir.a $(pkg-config --static --libs weir)"
check 'header, library and pkg-config file are of one version' has_one_version
check "a store's members are not for programs" keeps_its_stores_closed
check 'a program finds the library where -rpath says' finds_its_library
for compiler in clang++ g++; do
    # g++ is not among the packages that tests need.
    [ "$compiler" = clang++ ] || command -v "$compiler" >/dev/null || continue
    check "a program built with $compiler links with the shared library" \
        links_with_cpp "$compiler" $shared
    check "a program built with $compiler links with the static library" \
        links_with_cpp "$compiler" $static
done
for example in examples/*.c; do
    [ -e "$example" ] || continue
    check "$example builds with the shared library" build_example "$example" "$shared"
    check "$example runs" run_example "$example" "$work/example"
    check "$example builds with the static library" build_example "$example" "$static"
    check "$example runs, static" run_example "$example" "$work/example"
done
check 'examples/call.py calls it by ctypes' run_example examples/call.py python3 examples/call.py
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]

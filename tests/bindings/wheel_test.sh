#!/bin/bash
# The wheel as a stranger has it: two builds are the same bytes, it installs without an index, works
# beside nothing but the C library, and brings the program.
#
#   wheel_test.sh BUILD       packaging/dist/portable has filled BUILD/portable
set -u
cd "$(dirname "$0")/../.."
BUILD=${1:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
export PYTHONDONTWRITEBYTECODE=1
unset PYTHONPATH WEIR_LIBRARY

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

make_wheel()
{
    bindings/python/make_wheel.py --version "$(sed -n 's/^#define WEIR_VERSION_M[A-Z]* //p
        s/^#define WEIR_VERSION_PATCH //p' include/weir/version.h | paste -sd.)" \
        --build "$BUILD/portable" --out "$1"
}

builds_the_same_twice()
{
    make_wheel "$work/one" && make_wheel "$work/two" && diff -r "$work/one" "$work/two"
}

installs_without_an_index()
{
    python3 -m venv "$work/venv" &&
        "$work/venv/bin/pip" install --no-index --no-deps --quiet "$work"/one/*.whl
}

# What the process has mapped beyond Python's own is the package's or the C library's.
loads_nothing_else()
{
    "$work/venv/bin/python" - <<'PYTHON'
import ctypes
import os
import re


def mapped():
    with open("/proc/self/maps", encoding="utf-8") as file:
        return {line.split()[-1] for line in file if ".so" in line}


before = mapped()
import weir  # noqa: E402
store = weir.Store()
weir.project(b'{"model":"m","messages":[{"role":"user","content":"x"}]}', policy="lean",
             store=store)
own = os.path.dirname(weir.__file__)
more = mapped() - before
assert any(path.startswith(own) for path in more), more
# Modules of Python's own (asyncio has _ssl) bring their libraries with them: what our library
# needs is known from itself, by name.
assert not [path for path in more if not path.startswith(own) and
            re.search(r"sqlite|zstd|pcre|yaml|xxhash|libweir", path)], more
PYTHON
}

# A root with the C library and our files only.
works_in_a_bare_root()
{
    local root=$work/root site file
    site=$(echo "$work"/venv/lib/python*/site-packages/weir)
    mkdir -p "$root/opt" "$root/tmp" "$root/proc"
    cp -r "$site/_bin" "$site/_lib" "$root/opt"
    gcc -Iinclude tests/bindings/bare.c -o "$root/opt/bare" -ldl || return 1
    for file in /lib64/ld-linux-x86-64.so.2 \
        /lib/x86_64-linux-gnu/lib{c,m,resolv,dl,pthread}.so.*; do
        [ ! -e "$file" ] || install -D "$file" "$root$file"
    done
    # The loader asks /proc where a program is, so /proc is there, as on every system.
    ROOT=$root unshare -rm sh -c 'mount --rbind /proc "$ROOT/proc" &&
        chroot "$ROOT" /opt/bare /opt/_lib/libweir.so && chroot "$ROOT" /opt/_bin/weir --version &&
        printf "What is a weir?" | chroot "$ROOT" /opt/_bin/weir count -'
}

brings_the_program()
{
    [ "$("$work/venv/bin/weir" --version)" = "weir $("$work/venv/bin/python" -c \
        'import weir; print(weir.__version__)')" ] && "$work/venv/bin/weir-context" --help
}

# Without a network, as one does who has nothing but the file.
runs_offline()
{
    local runners=$PWD/$BUILD/runners/bin wheel
    wheel=$(echo "$work"/one/*.whl)
    export PIPX_HOME=$work/pipx PIP_NO_INDEX=1 UV_PYTHON_DOWNLOADS=never
    HOME=$work/home unshare -rn sh -c "
        '$runners/uvx' --offline --from '$wheel' weir --version &&
        '$runners/pipx' run --spec '$wheel' weir-context --version" | sort -u >"$work/said"
    cat "$work/said"
    [ "$(cat "$work/said")" = "$("$work/venv/bin/weir" --version)" ]
}

is_typed()
{
    [ -e "$(echo "$work"/venv/lib/python*/site-packages/weir/py.typed)" ]
}

check 'two builds of the wheel are the same bytes' builds_the_same_twice
check 'it installs without an index and without other packages' installs_without_an_index
check 'the tests of the package pass with what was installed' \
    "$work/venv/bin/python" tests/bindings/python_test.py
check 'nothing but the C library is loaded from elsewhere' loads_nothing_else
check 'library and program work where there is nothing but the C library' works_in_a_bare_root
check 'the program is a console script' brings_the_program
check 'the package is typed' is_typed
if [ -x "$BUILD/runners/bin/uvx" ] || { python3 -m venv "$BUILD/runners" &&
    "$BUILD/runners/bin/pip" install --quiet uv pipx >/dev/null 2>&1; }; then
    check 'uvx and pipx run it from the file, offline' runs_offline
else
    rm -rf "$BUILD/runners"
    echo 'SKIPPED uvx and pipx: they cannot be had by pip'
fi
echo "wheel: $passed passed, $failed failed"
[ "$failed" -eq 0 ]

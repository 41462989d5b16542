#!/bin/bash
# The npm package as a stranger has it: two builds are the same bytes, it installs offline, works
# beside nothing but the C library, and brings the program.
#
#   npm_test.sh BUILD       packaging/dist/portable has filled BUILD/portable
set -u
cd "$(dirname "$0")/../.."
BUILD=${1:-build}
command -v npm >/dev/null || { echo 'SKIPPED: npm is not installed'; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0
root=$PWD
typescript=$(cd "$BUILD" && pwd)/typescript

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

make_package()
{
    bindings/node/make_package.py --version "$(sed -n 's/^#define WEIR_VERSION_M[A-Z]* //p
        s/^#define WEIR_VERSION_PATCH //p' include/weir/version.h | paste -sd.)" \
        --out "$1" "$BUILD/portable"
}

builds_the_same_twice()
{
    make_package "$work/one" && make_package "$work/two" && diff -r "$work/one" "$work/two"
}

installs_offline()
{
    mkdir "$work/app" && cd "$work/app" && echo '{}' >package.json &&
        npm install --offline --no-audit --no-fund "$work"/one/*.tgz
}

tests_pass()
{
    cp "$root/tests/bindings/node_test.mjs" "$work/app" && cd "$work/app" &&
        node --test node_test.mjs
}

# The page's example too.
is_typed()
{
    cp "$root"/tests/bindings/types.*ts "$work/app" &&
        sed -n '/^```ts$/,/^```$/{/^```/!p}' "$root/docs/embed.md" >"$work/app/page.mts" &&
        ln -s "$typescript/node_modules/@types" "$work/app/node_modules/@types" &&
        cd "$work/app" && node "$typescript/node_modules/typescript/bin/tsc" --noEmit --strict \
            --module nodenext --target es2022 --types node types.mts types.cts page.mts
}

brings_the_program()
{
    cd "$work/app" && npx --offline weir --version | grep -E '^weir [0-9.]+$' &&
        ! npx --offline weir nobody
}

# Without a network, as one does who has nothing but the file.
npx_runs_the_file()
{
    HOME=$work/home unshare -rn npx --yes --offline --package="$(echo "$work"/one/*.tgz)" \
        weir --version | grep -E '^weir [0-9.]+$'
}

check 'two builds of the package are the same bytes' builds_the_same_twice
check 'it installs offline' installs_offline
check 'the tests of the package pass with what was installed' tests_pass
if [ -d "$typescript/node_modules/typescript" ] || npm install --silent --no-audit --no-fund \
    --prefix "$typescript" typescript @types/node@20 >/dev/null 2>&1; then
    check 'its types allow what it has, and nothing else' is_typed
else
    echo 'SKIPPED the types: TypeScript cannot be had by npm'
fi
check 'npx runs it from the file' npx_runs_the_file
check 'the program is there, with its exit code' brings_the_program
echo "npm: $passed passed, $failed failed"
[ "$failed" -eq 0 ]

# What the scripts that make packages share. Sourced in the top folder.
set -eu
export LC_ALL=C
umask 022
version=$(awk '/^#define WEIR_VERSION_(MAJOR|MINOR|PATCH) / { v = v sep $3; sep = "." }
               END { print v }' include/weir/version.h)
# The time of everything in a package: that of the newest commit, so that a commit has one package.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 1735689600)}
export SOURCE_DATE_EPOCH

# manual PROGRAM FOLDER: the man pages, each packed without a time.
manual()
{
    mkdir -p "$2"
    "$1" help --man >"$2/weir.1"
    for command in $("$1" --complete '' | cut -f1); do
        "$1" help --man "$command" >"$2/weir-$command.1"
    done
    gzip -9n "$2"/*.1
}

# completions PROGRAM FOLDER
completions()
{
    mkdir -p "$2/bash-completion/completions" "$2/zsh/$3" "$2/fish/vendor_completions.d"
    "$1" completion bash >"$2/bash-completion/completions/weir"
    "$1" completion zsh >"$2/zsh/$3/_weir"
    "$1" completion fish >"$2/fish/vendor_completions.d/weir.fish"
}

# pack FOLDER FILE: the folder as FILE.tar.gz, the same bytes for the same content.
pack()
{
    tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
        --format=ustar -C "$(dirname "$1")" -cf - "$(basename "$1")" | gzip -9n >"$2"
}

_weir()
{
    local cur=${COMP_WORDS[COMP_CWORD]} found word paths
    COMPREPLY=()
    found=$("$1" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    while IFS=$'\t' read -r word _; do
        case $word in
        :file | :dir)
            compopt -o filenames 2>/dev/null
            mapfile -t paths < <(compgen "-${word:1:1}" -- "$cur")
            COMPREPLY+=("${paths[@]}")
            ;;
        ?*) COMPREPLY+=("$word") ;;
        esac
    done <<<"$found"
}
complete -F _weir weir

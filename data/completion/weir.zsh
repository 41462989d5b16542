#compdef weir
_weir()
{
    local line
    local -a found items
    found=("${(@f)$($words[1] --complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    for line in $found; do
        case $line in
        :file) _files ;;
        :dir) _files -/ ;;
        ?*) items+=("${${line//:/\\:}/$'\t'/:}") ;;
        esac
    done
    (( $#items )) && _describe weir items
}
if [ "$funcstack[1]" = _weir ]; then _weir "$@"; else compdef _weir weir; fi

function __weir_complete
    set -l words (commandline -opc)
    set -l cur (commandline -ct)
    for line in ($words[1] --complete $words[2..-1] "$cur" 2>/dev/null)
        switch $line
            case :file
                __fish_complete_path "$cur"
            case :dir
                __fish_complete_directories "$cur"
            case '*'
                echo $line
        end
    end
end
complete -c weir -f -a '(__weir_complete)'

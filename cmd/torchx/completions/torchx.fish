# fish completion for torchx; load it with: torchx completion fish | source

function __torchx_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    for line in (command $words[1] __complete $words "$current" 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path "$current"
            case :folders
                __fish_complete_directories "$current"
            case ':*'
            case '*'
                echo $line
        end
    end
end

complete -c torchx -f -a '(__torchx_complete)'

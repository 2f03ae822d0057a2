# fish completion for torchx; load it with: torchx completion fish | source

function __torchx_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    # A quote that is still open cannot be taken off.
    if set -l plain (string unescape -- "$current")
        set current $plain
    end
    # Of --option=path only what follows the "=" is a path.
    set -l option (string match -r '^-[^=]*=' -- "$current")
    set -l path (string replace -- "$option" '' "$current")
    for line in (command $words[1] __complete $words "$current" 2>/dev/null)
        switch $line
            case :files
                string replace -r '^' -- "$option" (__fish_complete_path "$path")
            case :folders
                string replace -r '^' -- "$option" (__fish_complete_directories "$path")
            case ':*'
            case '*'
                echo $line
        end
    end
end

complete -c torchx -f -a '(__torchx_complete)'

# Completes the words of svc in fish.
function __svc_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l found (svc complete -- $words[2..-1] 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c svc -f -a '(__svc_complete)'

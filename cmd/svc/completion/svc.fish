# Completes the words of svc in fish.
function __svc_complete
    set -l words (commandline -opc) (commandline -ct)
    svc complete -- $words[2..-1] 2>/dev/null
end
complete -c svc -a '(__svc_complete)'

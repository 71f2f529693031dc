# Completes the words of svc in bash.
_svc() {
  local IFS=$'\n'
  # shellcheck disable=SC2207 # a candidate is a line
  COMPREPLY=($(svc complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _svc svc

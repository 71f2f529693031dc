#compdef svc
# Completes the words of svc in zsh.
_svc() {
  local -a found
  found=(${(f)"$(svc complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( $#found )); then
    compadd -a found
  else
    _files
  fi
}
compdef _svc svc

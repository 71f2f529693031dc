#compdef svc
# Completes the words of svc in zsh.
_svc() {
  local -a found
  local line
  for line in ${(f)"$(svc complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)"}; do
    found+=("${${line%%$'\t'*}//:/\\:}:${${line#*$'\t'}#$line}")
  done
  if (( $#found )); then
    _describe -V svc found
  else
    _files
  fi
}
# Loaded from a folder of completions, this file is the function's first call.
if [[ $funcstack[1] == _svc ]]; then _svc; else compdef _svc svc; fi

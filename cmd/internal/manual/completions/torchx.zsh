#compdef torchx
# zsh completion for torchx; load it with: source <(torchx completion zsh)

_torchx() {
  local line value program=${~words[1]} space=' ' files=
  local -a values displays
  for line in "${(@f)$("$program" __complete "${(@)words[1,CURRENT-1]}" "$PREFIX" 2>/dev/null)}"; do
    case $line in
      '') ;;
      :open) space='' ;;
      :files) files=-f ;;
      :folders) files=-/ ;;
      *)
        value=${line%%$'\t'*}
        values+=("$value")
        if [[ $line == *$'\t'* ]]; then
          displays+=("$value  -- ${line#*$'\t'}")
        else
          displays+=("$value")
        fi
        ;;
    esac
  done
  if (( $#values )); then
    compadd -l -S "$space" -d displays -a values
  fi
  if [[ -n $files ]]; then
    [[ $PREFIX == -*=* ]] && compset -P '*='
    _path_files $files
  fi
}

if [[ ${funcstack[1]} == _torchx ]]; then
  _torchx "$@"
elif (( $+functions[compdef] )); then
  compdef _torchx torchx
fi

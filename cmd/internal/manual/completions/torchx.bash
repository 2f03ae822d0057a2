# bash completion for torchx; load it with: source <(torchx completion bash)

_torchx() {
  # The words up to the cursor, as they were typed: readline splits at every
  # character of COMP_WORDBREAKS, so parts without a space between are joined.
  local rest=${COMP_LINE:0:COMP_POINT} trimmed part i
  local -a words=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    trimmed=${rest#"${rest%%[![:space:]]*}"}
    part=${COMP_WORDS[i]}
    if ((i == COMP_CWORD)); then
      part=$trimmed
    fi
    if ((i > 0)) && [[ $trimmed == "$rest" && -n ${words[0]} ]]; then
      words[${#words[@]} - 1]+=$part
    else
      words+=("$part")
    fi
    rest=${trimmed#"$part"}
  done
  local current=${words[${#words[@]} - 1]}

  # Readline replaces only what follows the last break.
  local breaks=${COMP_WORDBREAKS//[^:=@]/} done=
  if [[ -n $breaks && $current == *["$breaks"]* ]]; then
    done=${current%"${current##*["$breaks"]}"}
  fi

  local line value program=${words[0]/#\~/$HOME}
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
    :open) compopt -o nospace 2>/dev/null ;;
    :files | :folders)
      local kind=-f
      [[ $line == :folders ]] && kind=-d
      compopt -o filenames 2>/dev/null
      while IFS= read -r value; do
        COMPREPLY+=("$value")
      done < <(compgen "$kind" -- "${current#"$done"}")
      ;;
    *)
      value=${line%%$'\t'*}
      [[ $value == *[!a-zA-Z0-9_./:=@,+%-]* ]] && printf -v value %q "$value"
      COMPREPLY+=("${value#"$done"}")
      ;;
    esac
  done < <("$program" __complete "${words[@]}" 2>/dev/null)
}

complete -F _torchx torchx

#!/bin/sh
# Runs every fuzz target of the module for the given time, in sequence, and exits 1 at the
# end if one failed. Failing inputs are in testdata/fuzz of the package.
# usage: test/fuzz/fuzz.sh TIME
set -u
out=$(mktemp)
trap 'rm -f "$out"' EXIT

fuzz() { # DIR TARGET: prints the output only of failures
  echo "$1 $2"
  "${GO:-go}" test -ldflags=-w -run '^$' -fuzz "^$2\$" -fuzztime "$time" "$1" >"$out" 2>&1 && return
  # Go before 1.27 sometimes reports the end of its own time as a failure: golang/go#75804.
  grep -qx ' *context deadline exceeded' "$out" && ! grep -q 'Failing input' "$out" && return
  cat "$out"
  failed="$failed $1:$2"
}

time=$1 failed=
for f in $(find . -name '*_test.go' -exec grep -l '^func Fuzz' {} +); do
  for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$f"); do
    fuzz "$(dirname "$f")" "$target"
  done
done
[ -z "$failed" ] || { echo "fuzz: failed:$failed" >&2; exit 1; }

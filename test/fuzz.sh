#!/bin/sh
# Runs every fuzz target of the module for the given time, one after the other.
set -eu
for f in $(grep -rl --include='*_test.go' '^func Fuzz' .); do
  dir=$(dirname "$f")
  for target in $(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$f"); do
    echo "$dir $target"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$1" "$dir"
  done
done

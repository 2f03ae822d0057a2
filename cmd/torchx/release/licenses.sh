#!/usr/bin/env bash
# Prints the licenses of all modules that torchx contains on any of the given platforms, and Go's.
# A module without a license file is an error.
# usage: licenses.sh "linux/amd64 darwin/arm64"
set -euo pipefail
cd "$(dirname "$0")/../../.."
go=${GO:-go}

# print TITLE FOLDER: the files that say how the code in a folder may be used
print() {
	local file found=
	while IFS= read -r file; do
		found=yes
		printf '\n%s\n%s: %s\n\n' "$(printf '=%.0s' {1..100})" "$1" "${file##*/}"
		cat "$file"
	done < <(find "$2" -maxdepth 1 -type f | grep -iE '/(licen[cs]e|copying|notice|patents|copyright)[^/]*$' | LC_ALL=C sort)
	[[ $found ]] || {
		echo "licenses: $1 has no license file in $2" >&2
		return 1
	}
}

echo "torchx contains the following modules, under these licenses."
print "Go $("$go" env GOVERSION)" "$("$go" env GOROOT)"
for platform in $1; do
	GOOS=${platform%/*} GOARCH=${platform#*/} "$go" list -deps \
		-f '{{with .Module}}{{if and .Version (not .Main)}}{{.Path}} {{.Version}}{{"\t"}}{{.Dir}}{{end}}{{end}}' ./cmd/torchx
done | LC_ALL=C sort -u | while IFS=$'\t' read -r title dir; do
	[[ -d $dir && $dir != "$PWD"/* ]] || continue # put in place of a module, under torchx's own license
	print "$title" "$dir"
done

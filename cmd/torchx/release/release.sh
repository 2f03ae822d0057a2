#!/usr/bin/env bash
# Writes a release of the commit that is checked out to dist/: archives, packages, a formula, a
# container image, what they contain, and SHA256SUMS. The same commit gives the same bytes, for any
# user in any folder: times are those of the commit, and nothing is taken from the environment.
#
# usage: release.sh VERSION
# RELEASE_PLATFORMS  what to build for, such as "linux/amd64 darwin/arm64"
# RELEASE_URL        where the files will be served from, for the formula
set -euo pipefail
export LC_ALL=C TZ=UTC # in Turkish, i is not between a and z
cd "$(dirname "$0")/../../.."
parts=cmd/torchx/release

fail() {
	echo "release: $*" >&2
	exit 1
}
version=${1:-}
platforms=${RELEASE_PLATFORMS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64}
[[ $version =~ ^(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*)){2}(-[0-9A-Za-z]+([.-][0-9A-Za-z]+)*)?$ ]] ||
	fail "VERSION \"$version\" is not a version (such as make release VERSION=1.0.0)"
[[ -z $(git status --porcelain) ]] || fail "the checkout has changes (commit or stash them)"
[[ $version == *-* ]] || grep -q "^## $version\$" CHANGELOG.md || echo "release: CHANGELOG.md has no section \"## $version\"" >&2

umask 022
commit=$(git rev-parse HEAD)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
date=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
go=${GO:-go}
export SOURCE_DATE_EPOCH
export CGO_ENABLED=0 GOFLAGS="-trimpath -buildvcs=false" GOEXPERIMENT='' GOAMD64=v1 GOARM64=v8.0 GOWORK=off
unset GOOS GOARCH TAR_OPTIONS GZIP

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rm -rf dist
mkdir -p dist "$work/tools"
"$go" -C "$parts/tools" build -ldflags="-s -w" -o "$work/tools/" tool

# build GOOS GOARCH FILE
build() {
	local p=torchx/cmd/internal/program
	GOOS=$1 GOARCH=$2 "$go" build -o "$3" \
		-ldflags "-s -w -X $p.Version=$version -X $p.commit=$commit -X $p.date=$date" ./cmd/torchx
}

# archive FILE FOLDER MEMBER…: a tar whose bytes depend on names and contents only
archive() {
	tar --create --file "$1" --directory "$2" --format=gnu --sort=name --mtime="@$SOURCE_DATE_EPOCH" \
		--owner=0 --group=0 --numeric-owner --mode=u=rwX,go=rX "${@:3}"
}

# What is the same on every platform: completions, man pages and licenses.
common=$work/common
mkdir -p "$common/completions" "$common/man"
build "$("$go" env GOHOSTOS)" "$("$go" env GOHOSTARCH)" "$work/torchx"
run() { env -i HOME="$work/home" PATH="$PATH" TORCHXCONFIG= "$work/torchx" "$@"; }
run completion bash >"$common/completions/torchx.bash"
run completion zsh >"$common/completions/_torchx"
run completion fish >"$common/completions/torchx.fish"
run docs --man -o "$common/man/man1" >/dev/null 2>&1
gzip -n9 "$common"/man/man1/*.1
install -m 644 LICENSE README.md CHANGELOG.md "$common"
GO=$go "$parts/licenses.sh" "$platforms" >"$common/THIRD_PARTY_LICENSES"
install -m 644 "$common/THIRD_PARTY_LICENSES" "dist/torchx-$version-licenses.txt"

for platform in $platforms; do
	os=${platform%/*} arch=${platform#*/}
	name=torchx-$version-$os-$arch
	cp -r "$common" "$work/$name"
	build "$os" "$arch" "$work/$name/torchx"
	archive "$work/$name.tar" "$work" "$name"
	gzip -n9 <"$work/$name.tar" >"dist/$name.tar.gz"
	"$work/tools/cyclonedx-gomod" bin -json -noserial -notimestamp -version "$version" \
		-output "dist/$name.cdx.json" "$work/$name/torchx" >/dev/null
	[[ $os == linux ]] || continue
	export ARCH=$arch VERSION=$version ROOT=$work/$name
	for packager in deb rpm; do
		"$work/tools/nfpm" package --config "$parts/nfpm.yaml" --packager "$packager" --target dist/ >/dev/null
	done
	mkdir -p "$work/image-$arch/usr/bin" "$work/image-$arch/tmp" "$work/image-$arch/home"
	cp "$work/$name/torchx" "$work/image-$arch/usr/bin/"
	archive "$work/layer-$arch.tar" "$work/image-$arch" usr tmp home
done

if compgen -G "$work/layer-*.tar" >/dev/null; then
	"$parts/image.sh" "$version" "$commit" "$date" "$work/oci" "$work"/layer-*.tar
	archive "dist/torchx-$version-image.tar" "$work/oci" oci-layout index.json blobs
fi
"$parts/formula.sh" "$version" "${RELEASE_URL:-https://example.com/torchx/v$version}" >dist/torchx.rb
(cd dist && sha256sum -- * >"$work/sums" && mv "$work/sums" SHA256SUMS)
echo "wrote $(find dist -type f | wc -l) files to dist/: torchx $version of commit ${commit:0:12}"

#!/bin/bash
# build.sh PART… — builds parts of the test cluster (kubernetes volcano jobset kueue
# dns kwok; without an argument all of them) from the Go module proxy alone and prints
# the folder of each, in order. It skips parts that exist: a folder's name contains
# a hash of all its inputs.
#
# The folders are in $TORCHX_CLUSTER_CACHE (default: torchx-cluster in the user's
# cache), shared by all checkouts. Cold, on two cores:
# kubernetes takes 8 minutes, volcano 3, kueue 2.5, jobset and dns 1.5 each, kwok 1.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${TORCHX_CLUSTER_CACHE:-${XDG_CACHE_HOME:-${HOME:?}/.cache}/torchx-cluster}
GO=${GO:-go}
export GOWORK=off GOFLAGS=-mod=readonly CGO_ENABLED=0

die() { echo "build.sh: $*" >&2; exit 1; }
module() { "$GO" list -m -f "{{.$2}}" "$1"; }

# programs OUT ARGS… — -trimpath and no cgo give the same entries in Go's build cache
# for every user and folder. At most two compilers in parallel, at low priority.
programs() {
	local out=$1; shift
	mkdir -p "$out/bin"
	nice -n 10 "$GO" build -p 2 -trimpath -o "$out/bin/" "$@"
}

# Kubernetes' programs and etcd are "tool" dependencies of go.mod. The staging modules
# need "replace" lines, as k8s.io/kubernetes requires them all at v0.0.0. etcd has the
# version that Kubernetes is tested with.
build_kubernetes() {
	local v p ld="-s -w" minor
	v=$(module k8s.io/kubernetes Version)
	minor=${v#v*.}; minor=${minor%%.*}
	# Otherwise the programs report version v0.0.0-master, which misleads clients.
	for p in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
		ld+=" -X $p.gitVersion=$v -X $p.gitMajor=1 -X $p.gitMinor=$minor -X $p.gitTreeState=clean"
	done
	programs "$1" -ldflags "$ld" tool
	mv "$1/bin/server" "$1/bin/etcd" # go names a program after its import path's last part
}

# Volcano's three programs, with the manifest of the same version (CRDs, RBAC,
# webhook configurations).
build_volcano() {
	local p
	programs "$1" -ldflags "-s -w" tool
	for p in scheduler controller-manager webhook-manager; do mv "$1/bin/$p" "$1/bin/vc-$p"; done
	install -m 644 "$(module volcano.sh/volcano Dir)/installer/volcano-development.yaml" "$1/"
}

# The JobSet controller, with its kustomize configuration (CRD, RBAC, webhooks).
build_jobset() {
	programs "$1" -ldflags "-s -w" tool
	mv "$1/bin/jobset" "$1/bin/jobset-manager"
	cp -r "$(module sigs.k8s.io/jobset Dir)/config" "$1/config"
	chmod -R u+w "$1/config" # the module cache is read-only
}

# Kueue's manager, with its kustomize configuration.
build_kueue() {
	programs "$1" -ldflags "-s -w" tool
	mv "$1/bin/kueue" "$1/bin/kueue-manager"
	cp -r "$(module sigs.k8s.io/kueue Dir)/config" "$1/config"
	chmod -R u+w "$1/config" # the module cache is read-only
}

build_dns() {
	mkdir -p "$1/bin"
	nice -n 10 "$GO" build -p 2 -trimpath -ldflags "-s -w" -o "$1/bin/coredns" .
}

build_kwok() { programs "$1" -ldflags "-s -w" tool; }

# key PART — hash of a part's inputs: its module, its recipe above, and Go.
key() { (shopt -s nullglob; cat "$here/$1"/go.* "$here/$1"/*.go; declare -f programs "build_$1"; "$GO" version) | sha256sum | cut -c1-16; }

# build PART — builds under another name and renames, so that a folder is complete or
# missing. A lock keeps parallel runs from building twice.
build() {
	local part=$1 out new
	[ -f "$here/$part/go.mod" ] || die "unknown part $part"
	out=$cache/$part-$(key "$part")
	if [ ! -d "$out" ]; then
		mkdir -p "$cache"
		exec 9>"$cache/$part.lock"
		flock 9
		if [ ! -d "$out" ]; then
			echo "build.sh: $part: building into $out (once)" >&2
			new=$out.new
			rm -rf "$new" # left by a killed run
			(cd "$here/$part" && "build_$part" "$new" 1>&2 9>&-) || { rm -rf "$new"; die "$part was not built"; }
			mv "$new" "$out"
		fi
		exec 9>&-
	fi
	echo "$out"
}

[ $# -gt 0 ] || set -- kubernetes volcano jobset kueue dns kwok
for part in "$@"; do build "$part"; done

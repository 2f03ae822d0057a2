#!/usr/bin/env bash
# Writes a container image for several processors as a folder in the OCI image layout. Its only
# layers are the given archives, named layer-ARCH.tar.
# usage: image.sh VERSION COMMIT DATE FOLDER LAYER…
set -euo pipefail
version=$1 commit=$2 date=$3 out=$4
shift 4
media=application/vnd.oci.image
mkdir -p "$out/blobs/sha256"
digest() { sha256sum <"$1" | cut -d ' ' -f 1; }

# blob TYPE FILE: stores a file and prints its descriptor, without the closing brace
blob() {
	local sum
	sum=$(digest "$2")
	printf '{"mediaType":"%s.%s","digest":"sha256:%s","size":%s' "$media" "$1" "$sum" "$(stat -c %s "$2")"
	install -m 644 "$2" "$out/blobs/sha256/$sum"
}

manifests=()
file=$(mktemp)
trap 'rm -f "$file"' EXIT
labels='"org.opencontainers.image.title":"torchx","org.opencontainers.image.version":"'$version'","org.opencontainers.image.revision":"'$commit'"'
for layer; do
	arch=${layer##*/layer-} && arch=${arch%.tar}
	gzip -n9 <"$layer" >"$file"
	layers=$(blob layer.v1.tar+gzip "$file")}
	printf '{"created":"%s","architecture":"%s","os":"linux","config":{"Entrypoint":["/usr/bin/torchx"],"Env":["PATH=/usr/bin:/bin","HOME=/home"],"Labels":{%s}},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]},"history":[{"created":"%s","created_by":"make release"}]}' \
		"$date" "$arch" "$labels" "$(digest "$layer")" "$date" >"$file"
	config=$(blob config.v1+json "$file")}
	printf '{"schemaVersion":2,"mediaType":"%s.manifest.v1+json","config":%s,"layers":[%s]}' "$media" "$config" "$layers" >"$file"
	manifests+=("$(blob manifest.v1+json "$file"),\"platform\":{\"architecture\":\"$arch\",\"os\":\"linux\"}}")
done
all=$(IFS=, && echo "${manifests[*]}")
printf '{"schemaVersion":2,"mediaType":"%s.index.v1+json","manifests":[%s]}' "$media" "$all" >"$file"
index=$(blob index.v1+json "$file")
printf '{"schemaVersion":2,"mediaType":"%s.index.v1+json","manifests":[%s,"annotations":{"org.opencontainers.image.ref.name":"%s","io.containerd.image.name":"docker.io/library/torchx:%s"}}]}\n' \
	"$media" "$index" "$version" "$version" >"$out/index.json"
echo '{"imageLayoutVersion":"1.0.0"}' >"$out/oci-layout"

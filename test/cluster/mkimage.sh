#!/bin/bash
# mkimage.sh OUT.tar — builds a docker-archive tar with two images that share one
# layer, from Debian's busybox-static alone, without a registry or dockerd.
#   localhost/busybox:test  (command: sh)
#   localhost/pause:test    (command: sleep infinity), the pod sandbox image
# The same input gives the same bytes (sorted names, fixed times) and image IDs.
set -euo pipefail
out=$(realpath -m "$1")
bb=$(command -v busybox)
w=$(mktemp -d); trap 'rm -rf "$w"' EXIT
mkdir -p "$w"/{rootfs/bin,rootfs/tmp,rootfs/etc,rootfs/root,img}
chmod 1777 "$w/rootfs/tmp"
cp "$bb" "$w/rootfs/bin/busybox"
for a in $("$bb" --list); do [ "$a" = busybox ] || ln -s busybox "$w/rootfs/bin/$a"; done
# Debian's busybox lacks printenv
[ -e "$w/rootfs/bin/printenv" ] || {
	printf '#!/bin/sh\neval "v=\\$$1"\nprintf '"'%%s\\\\n'"' "$v"\n' > "$w/rootfs/bin/printenv"
	chmod 755 "$w/rootfs/bin/printenv"
}
# k8s' runAsNonRoot and getpwuid need these
echo 'root:x:0:0:root:/root:/bin/sh
nobody:x:65534:65534:nobody:/:/bin/false' > "$w/rootfs/etc/passwd"
echo 'root:x:0:
nogroup:x:65534:' > "$w/rootfs/etc/group"
tar() { command tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner "$@"; }
tar -C "$w/rootfs" -cf "$w/img/layer.tar" .
diff=$(sha256sum "$w/img/layer.tar" | cut -d' ' -f1)
arch=$(dpkg --print-architecture)
cfg() { printf '{"architecture":"%s","os":"linux","created":"1970-01-01T00:00:00Z","config":{"Env":["PATH=/bin"],"Cmd":%s},"rootfs":{"type":"layers","diff_ids":["sha256:%s"]},"history":[{"created":"1970-01-01T00:00:00Z"}]}' "$arch" "$1" "$diff"; }
cfg '["sh"]' > "$w/img/busybox.json"
cfg '["sleep","infinity"]' > "$w/img/pause.json"
cat > "$w/img/manifest.json" <<J
[{"Config":"busybox.json","RepoTags":["localhost/busybox:test"],"Layers":["layer.tar"]},
 {"Config":"pause.json","RepoTags":["localhost/pause:test"],"Layers":["layer.tar"]}]
J
mkdir -p "$(dirname "$out")"
tar -C "$w/img" -cf "$out" .

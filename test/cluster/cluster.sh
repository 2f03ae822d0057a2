#!/bin/bash
# cluster.sh — starts a real Kubernetes for tests (etcd, apiserver, controller-manager,
# scheduler and one node whose kubelet runs real containers), as plain processes on
# loopback. It needs no VM, dockerd or registry.
#
#   cluster.sh up [control|node]   start missing programs and wait until they are ready
#                                  (default: node = all; control = no kubelet)
#   cluster.sh volcano             add the Volcano scheduler and controllers
#   cluster.sh jobset              add the JobSet controller
#   cluster.sh kueue               add the Kueue controller, after jobset
#   cluster.sh kwok N              add N nodes that only simulate pods
#   cluster.sh stop NAME           stop one program (a name of status); up restarts it
#   cluster.sh status              list the programs with their memory
#   cluster.sh kubectl ARGS…       kubectl as admin
#   cluster.sh down                stop all programs and remove the state
#
# Several clusters in parallel need different values of K8S_STATE, K8S_PORT (the first
# of 15 ports; the tests' registry has the 13th), K8S_BRIDGE and K8S_POD_CIDR. run.sh sets them.
# Simulated GPUs (patch both fields: allocatable would follow capacity 10 s later):
#   cluster.sh kubectl patch node 127.0.0.1 --subresource=status --type=merge \
#     -p '{"status":{"capacity":{"nvidia.com/gpu":"8"},"allocatable":{"nvidia.com/gpu":"8"}}}'
#
# K8S_FEATURE_GATES ("A=true,B=true") is for the apiserver and the kubelet, K8S_VOLCANO_QPS (50)
# for Volcano's webhook: 2000 for jobs of 1,000 replicas.
#
# Needs: root; Go, since build.sh builds missing parts; openssl, curl, jq; for the
# node: containerd, runc, busybox-static, containernetworking-plugins.
# All files are under $K8S_STATE. The few paths that containerd and the kubelet
# hard-code (/run/containerd, /run/netns, /var/log/containers,
# /var/lib/kubelet, /var/lib/cni) exist only inside the node's own mount namespace.
set -euo pipefail

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
S=${K8S_STATE:-/tmp/torchx-k8s-$UID}  # keep it short: unix socket paths end at 107 bytes
BIN=${K8S_BIN:-}                     # "": from build.sh
P=${K8S_PORT:-16443}                 # of the apiserver; the other ports follow
NODE=127.0.0.1                       # the node's name AND address, see node_init()
CIDR=${K8S_POD_CIDR:-10.97.0.0/24}   # on a bridge without a route out
BR=${K8S_BRIDGE:-k8stest0}           # 15 characters at most
GW=${CIDR%.*}.1                      # address of the bridge and of the pods' DNS server
CGROOT=k8s-$P                        # parent of all pods' cgroups
export KUBECONFIG=$S/pki/admin.conf

die() { echo "cluster.sh: $*" >&2; exit 1; }
say() { echo "[$(date +%T.%1N)] $*"; }
part() { "$HERE/build.sh" "$1"; } # prints the folder of a part, after building it if missing
bin() { [ -n "$BIN" ] || BIN=$(part kubernetes)/bin; }
kc() { "$BIN/kubectl" --cache-dir="$S/kubectl-cache" "$@"; }

# ---------------------------------------------------------------- processes
# A pid file is trusted only if that pid's command line still names $S: after a reboot
# the number may belong to another program.
alive() { local p; p=$(cat "$S/run/$1.pid" 2>/dev/null) && [ -n "$p" ] &&
          { tr '\0' ' ' < "/proc/$p/cmdline"; } 2>/dev/null | grep -qF -- "$S"; }

# start NAME PROGRAM ARGS… — setsid: a Ctrl-C in the caller's terminal, or the end
# of its process group, must not stop the cluster. GOMAXPROCS keeps its default.
start() {
	local n=$1; shift
	alive "$n" && return 0
	setsid nice -n "${K8S_NICE:-5}" "$@" </dev/null >>"$S/log/$n.log" 2>&1 &
	echo $! > "$S/run/$n.pid"
	# between fork and exec the command line is still this script's, which alive() would
	# take for another program
	for _ in $(seq 500); do ! alive "$n" && kill -0 $! 2>/dev/null || break; sleep 0.02; done
}

stop() {
	local n=$1 p
	if alive "$n"; then
		p=$(cat "$S/run/$n.pid")
		# unshare(1) ignores TERM while its child lives
		if [ "$n" = node ]; then kill -9 "$p"; else kill "$p"; fi 2>/dev/null || true
		for _ in $(seq 50); do alive "$n" || break; sleep 0.1; done
		if alive "$n"; then kill -9 "$p" 2>/dev/null || true; fi
	fi
	rm -f "$S/run/$n.pid"
}

# wait_for SECONDS NAME COMMAND… — polls COMMAND; fails immediately if NAME has died.
wait_for() {
	local t=$1 n=$2 end; shift 2; end=$((SECONDS+t))
	until "$@" >/dev/null 2>&1; do
		# the command line of a process that is executing another program is empty for a moment
		alive "$n" || { sleep 1; alive "$n"; } || { tail -n 20 "$S/log/$n.log" >&2; die "$n exited"; }
		[ $SECONDS -lt $end ] || { tail -n 20 "$S/log/$n.log" >&2; die "$n: not ready in ${t}s"; }
		sleep 0.2
	done
}

# ------------------------------------------------------------- certificates
# cert NAME SUBJECT [SAN] — a key, and a certificate signed by the test CA.
cert() {
	local n=$1 subj=$2 san=${3:-}
	[ -s "$S/pki/$n.crt" ] && return 0
	openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
		-keyout "$S/pki/$n.key" -out "$S/pki/$n.csr" -subj "$subj" 2>/dev/null
	openssl x509 -req -in "$S/pki/$n.csr" -CA "$S/pki/ca.crt" -CAkey "$S/pki/ca.key" \
		-CAcreateserial -days 3650 -out "$S/pki/$n.crt.tmp" 2>/dev/null -extfile <(
			echo "keyUsage=digitalSignature,keyEncipherment"
			echo "extendedKeyUsage=clientAuth,serverAuth"
			[ -z "$san" ] || echo "subjectAltName=$san")
	mv "$S/pki/$n.crt.tmp" "$S/pki/$n.crt"
}

# kubeconfig NAME SUBJECT
kubeconfig() {
	cert "$1" "$2"
	[ -s "$S/pki/$1.conf" ] && return 0
	cat > "$S/pki/$1.conf" <<-YAML
	apiVersion: v1
	kind: Config
	clusters:
	- {name: test, cluster: {server: "https://127.0.0.1:$P", certificate-authority-data: $(base64 -w0 < "$S/pki/ca.crt")}}
	users:
	- {name: u, user: {client-certificate-data: $(base64 -w0 < "$S/pki/$1.crt"), client-key-data: $(base64 -w0 < "$S/pki/$1.key")}}
	contexts:
	- {name: test, context: {cluster: test, user: u}}
	current-context: test
	YAML
}

pki() {
	if [ ! -s "$S/pki/ca.crt" ]; then
		openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 3650 \
			-keyout "$S/pki/ca.key" -out "$S/pki/ca.crt" -subj "/CN=test-ca" \
			-addext keyUsage=critical,keyCertSign,cRLSign 2>/dev/null
	fi
	[ -s "$S/pki/sa.key" ] || openssl ecparam -genkey -name prime256v1 -noout -out "$S/pki/sa.key"
	cert apiserver "/CN=kube-apiserver" "IP:127.0.0.1,IP:10.96.0.1,DNS:localhost,DNS:kubernetes.default.svc"
	cert kubelet-server "/CN=kubelet" "IP:$NODE"
	# the apiserver's client certificate for the kubelet (logs, exec); system:masters
	# passes the kubelet's SubjectAccessReview without RBAC objects
	cert apiserver-kubelet "/O=system:masters/CN=apiserver-kubelet"
	kubeconfig admin "/O=system:masters/CN=admin"
	kubeconfig kcm "/CN=system:kube-controller-manager"
	kubeconfig scheduler "/CN=system:kube-scheduler"
	# the name and group by which the Node authorizer and NodeRestriction identify a node
	kubeconfig kubelet "/O=system:nodes/CN=system:node:$NODE"
}

# ------------------------------------------------------------ control plane
ready() { curl -sf --max-time 2 --cacert "$S/pki/ca.crt" --cert "$S/pki/admin.crt" --key "$S/pki/admin.key" "https://127.0.0.1:$P$1"; }

control() {
	# no fsync: the data need not survive a power cut, and on a busy disk the apiserver
	# would time out
	start etcd "$BIN/etcd" --name=test --data-dir="$S/etcd" --unsafe-no-fsync \
		--listen-client-urls="http://127.0.0.1:$((P+1))" --advertise-client-urls="http://127.0.0.1:$((P+1))" \
		--listen-peer-urls="http://127.0.0.1:$((P+2))" --initial-advertise-peer-urls="http://127.0.0.1:$((P+2))" \
		--initial-cluster="test=http://127.0.0.1:$((P+2))" --log-level=warn

	# --advertise-address: otherwise it needs a default route.
	# --endpoint-reconciler-type=none: it may not publish a loopback address as the
	#   endpoint of the service "kubernetes", and would log that error forever.
	# --kubelet-preferred-address-types: the only address of the node, see node_init().
	# --service-cluster-ip-range: for names only; no kube-proxy serves these addresses.
	# --disable-admission-plugins is empty on purpose: clients are tested with the
	#   defaults (ServiceAccount, PriorityClass, quota, webhooks…).
	start apiserver "$BIN/kube-apiserver" \
		--bind-address=127.0.0.1 --secure-port="$P" --advertise-address=127.0.0.1 \
		--endpoint-reconciler-type=none \
		--etcd-servers="http://127.0.0.1:$((P+1))" \
		--tls-cert-file="$S/pki/apiserver.crt" --tls-private-key-file="$S/pki/apiserver.key" \
		--client-ca-file="$S/pki/ca.crt" \
		--service-account-key-file="$S/pki/sa.key" --service-account-signing-key-file="$S/pki/sa.key" \
		--service-account-issuer=https://kubernetes.default.svc \
		--service-cluster-ip-range=10.96.0.0/24 \
		--authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction \
		--allow-privileged=true \
		--kubelet-client-certificate="$S/pki/apiserver-kubelet.crt" \
		--kubelet-client-key="$S/pki/apiserver-kubelet.key" \
		--kubelet-certificate-authority="$S/pki/ca.crt" \
		--kubelet-preferred-address-types=InternalIP \
		${K8S_FEATURE_GATES:+--feature-gates="$K8S_FEATURE_GATES"}
	wait_for 120 apiserver ready /readyz
	say "apiserver ready"

	# --leader-elect=false: a single instance need not wait 15 s for an old lease.
	# --root-ca-file: pods need it for their kube-root-ca.crt volume.
	# --kube-api-qps: with the default of 20 the start takes 5 s, since 40 controllers each
	#   create a ServiceAccount and a token.
	start kcm "$BIN/kube-controller-manager" --kubeconfig="$S/pki/kcm.conf" \
		--authentication-kubeconfig="$S/pki/kcm.conf" --authorization-kubeconfig="$S/pki/kcm.conf" \
		--bind-address=127.0.0.1 --secure-port=$((P+3)) --leader-elect=false \
		--kube-api-qps=200 --kube-api-burst=400 \
		--cert-dir="$S/pki/kcm" --root-ca-file="$S/pki/ca.crt" --client-ca-file="$S/pki/ca.crt" \
		--service-account-private-key-file="$S/pki/sa.key" --use-service-account-credentials=true \
		--cluster-signing-cert-file="$S/pki/ca.crt" --cluster-signing-key-file="$S/pki/ca.key"
	start scheduler "$BIN/kube-scheduler" --kubeconfig="$S/pki/scheduler.conf" \
		--authentication-kubeconfig="$S/pki/scheduler.conf" --authorization-kubeconfig="$S/pki/scheduler.conf" \
		--bind-address=127.0.0.1 --secure-port=$((P+4)) --leader-elect=false \
		--cert-dir="$S/pki/scheduler" --client-ca-file="$S/pki/ca.crt"
}

control_ready() {
	# the first pod of a namespace is refused until its ServiceAccount exists
	wait_for 60 kcm kc -n default get serviceaccount default
	say "controllers ready"
}

# --------------------------------------------------------------------- node
node_config() {
	mkdir -p "$S"/node/{containerd,varlib,varlog,volumeplugins,cni/net.d,cni/ipam,sysctl}
	: > "$S/node/resolv.conf"    # pods must not query a DNS server outside
	# restrict_oom_score_adj: lowering a score needs CAP_SYS_RESOURCE, which sandboxes
	#   lack; without this option no pause container starts.
	# disable_apparmor: a sandbox cannot load profiles.
	# SystemdCgroup=false: systemd is not needed.
	cat > "$S/node/containerd.toml" <<-TOML
	version = 2
	root = "$S/node/containerd"
	state = "/run/containerd/state"
	disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.aufs", "io.containerd.internal.v1.opt", "io.containerd.tracing.processor.v1.otlp"]
	[grpc]
	  address = "$S/node/containerd.sock"
	[plugins."io.containerd.grpc.v1.cri"]
	  sandbox_image = "localhost/pause:test"
	  restrict_oom_score_adj = true
	  disable_apparmor = true
	  stream_server_address = "127.0.0.1"
	  [plugins."io.containerd.grpc.v1.cri".registry]
	    config_path = "$S/node/certs.d"
	  [plugins."io.containerd.grpc.v1.cri".cni]
	    bin_dir = "/usr/lib/cni"
	    conf_dir = "$S/node/cni/net.d"
	  [plugins."io.containerd.grpc.v1.cri".containerd]
	    snapshotter = "${K8S_SNAPSHOTTER:-overlayfs}"
	    default_runtime_name = "runc"
	    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
	      runtime_type = "io.containerd.runc.v2"
	      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
	        SystemdCgroup = false
	TOML
	# All images of all registries are pulled from this address. By default nothing
	# listens there, so a pull fails immediately and nothing leaves the machine. A test
	# with a registry sets K8S_REGISTRY.
	mkdir -p "$S/node/certs.d/_default"
	cat > "$S/node/certs.d/_default/hosts.toml" <<-TOML
	server = "${K8S_REGISTRY:-http://127.0.0.1:1}"
	[host."${K8S_REGISTRY:-http://127.0.0.1:1}"]
	  capabilities = ["pull", "resolve"]
	TOML
	# No "routes": pods reach only each other and this host, even if the host forwards.
	# ipMasq is off for the same reason.
	cat > "$S/node/cni/net.d/10-test.conflist" <<-JSON
	{"cniVersion": "0.4.0", "name": "k8stest", "plugins": [
	  {"type": "bridge", "bridge": "$BR", "isGateway": true, "ipMasq": false, "hairpinMode": true,
	   "ipam": {"type": "host-local", "dataDir": "$S/node/cni/ipam", "ranges": [[{"subnet": "$CIDR"}]]}}]}
	JSON
	# eviction and image GC off: a disk filled by other programs must not taint the node
	#   or delete the images, which cannot be pulled again.
	# makeIPTablesUtilChains off: do not change the host's iptables.
	# oomScoreAdj 0, maxOpenFiles: the defaults (-999, 1000000) need CAP_SYS_RESOURCE.
	# failCgroupV1 false: the default, but from 1.35 on it is true.
	# volumePluginDir: the default is created in /usr/libexec.
	cat > "$S/node/kubelet.yaml" <<-YAML
	apiVersion: kubelet.config.k8s.io/v1beta1
	kind: KubeletConfiguration
	address: 127.0.0.1
	port: $((P+5))
	healthzPort: 0
	authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: "$S/pki/ca.crt"}}
	authorization: {mode: Webhook}
	tlsCertFile: "$S/pki/kubelet-server.crt"
	tlsPrivateKeyFile: "$S/pki/kubelet-server.key"
	containerRuntimeEndpoint: "unix://$S/node/containerd.sock"
	cgroupDriver: cgroupfs
	cgroupRoot: "/$CGROOT"
	failCgroupV1: false
	failSwapOn: false
	oomScoreAdj: 0
	maxOpenFiles: $(ulimit -Hn)
	makeIPTablesUtilChains: false
	resolvConf: "$S/node/resolv.conf"
	clusterDNS: ["$GW"]
	clusterDomain: cluster.local
	volumePluginDir: "$S/node/volumeplugins"
	imageGCHighThresholdPercent: 100
	evictionHard: {memory.available: "50Mi", nodefs.available: "0%", nodefs.inodesFree: "0%", imagefs.available: "0%", imagefs.inodesFree: "0%"}
	YAML
	[ -s "$S/node/images.tar" ] || "$HERE/mkimage.sh" "$S/node/images.tar"
	# the kubelet needs an existing cgroupRoot, in every hierarchy (v1) or in the only one
	# (v2). It is a separate group, so that "down" can remove all its contents.
	local c
	for c in $(cgroups); do mkdir -p "$c/$CGROOT"; done
}

# the mount points of the cgroup hierarchies
cgroups() { awk '$3 == "cgroup" || $3 == "cgroup2" {print $2}' /proc/mounts; }

# Runs as process 1 of the node's pid and mount namespaces: when this shell ends, the
# kernel kills every shim and container and removes every mount, so a crashed test
# leaves only empty cgroups behind.
node_init() {
	mount -t tmpfs tmpfs /run                       # /run/containerd, /run/netns, …
	mkdir -p /run/netns /run/lock
	mount --bind "$S/node/varlog" /var/log          # /var/log/pods, /var/log/containers
	mount --bind "$S/node/varlib" /var/lib          # /var/lib/kubelet (its device-plugins folder
	                                                # ignores --root-dir), /var/lib/cni
	# The kubelet sets these for the WHOLE machine (overcommit 1, panic after 10 s, panic
	# on oops). Give it copies that already have these values.
	local f v
	for f in vm/overcommit_memory=1 kernel/panic=10 kernel/panic_on_oops=1; do
		v=${f#*=}; f=${f%=*}
		echo "$v" > "$S/node/sysctl/${f//\//.}"
		mount --bind "$S/node/sysctl/${f//\//.}" "/proc/sys/$f"
	done
	containerd --config "$S/node/containerd.toml" >>"$S/log/containerd.log" 2>&1 &
	local ctr=(ctr --address "$S/node/containerd.sock" -n k8s.io) n=0
	until "${ctr[@]}" version >/dev/null 2>&1; do
		n=$((n+1)); [ $n -lt 150 ] || die "containerd did not start"; sleep 0.2
	done
	# -n k8s.io: the containerd namespace of the CRI plugin
	"${ctr[@]}" images import --snapshotter "${K8S_SNAPSHOTTER:-overlayfs}" "$S/node/images.tar"
	# --hostname-override=127.0.0.1: --node-ip refuses a loopback address, but a node
	#   whose NAME is an address gets it as its InternalIP unchecked (Kubernetes'
	#   hack/local-up-cluster.sh relies on that). So the apiserver reaches the node on
	#   loopback, without the host's real interfaces.
	kubelet_() { "$BIN/kubelet" --config="$S/node/kubelet.yaml" --kubeconfig="$S/pki/kubelet.conf" \
		--hostname-override="$NODE" --cert-dir="$S/pki/kubelet" \
		${K8S_FEATURE_GATES:+--feature-gates="$K8S_FEATURE_GATES"} \
		>>"$S/log/kubelet.log" 2>&1; }
	kubelet_ &
	local code=0
	wait -n || code=$?  # one of the two has died: end the namespace, so that it is noticed
	tail -qn 3 "$S/log/containerd.log" "$S/log/kubelet.log"
	echo "containerd or kubelet exited: $code"
}

# Checks the kubelet's health first, since its Ready condition outlives it by 40 s. The
# request is direct, as the apiserver's nodes/…/proxy refuses loopback addresses (logs,
# exec and port-forward do not use it, and work).
node_ready() { curl -sf --max-time 2 --cacert "$S/pki/ca.crt" --cert "$S/pki/apiserver-kubelet.crt" \
		--key "$S/pki/apiserver-kubelet.key" "https://$NODE:$((P+5))/healthz" >/dev/null &&
	kc get node "$NODE" -o jsonpath='{.status.conditions[?(@.type=="Ready")].status}' | grep -qx True; }

node() {
	[ "$(id -u)" = 0 ] || die "the node needs root"
	case "$S/" in /run/* | /var/run/* | /var/lib/* | /var/log/*) die "K8S_STATE=$S would be hidden in the node's mount namespace";; esac
	[ ${#S} -le 85 ] || die "K8S_STATE=$S is too long for a unix socket's path"
	local c dns
	dns=$(part dns)
	for c in containerd ctr runc unshare ip /usr/lib/cni/bridge; do command -v "$c" >/dev/null || die "no $c: apt-get install containerd runc containernetworking-plugins iproute2"; done
	node_config
	# dockerd turns on bridge-nf-call-iptables and drops FORWARD, which would separate the
	# pods on their bridge.
	if command -v iptables >/dev/null && ! iptables -C FORWARD -i "$BR" -o "$BR" -j ACCEPT 2>/dev/null; then
		iptables -I FORWARD -i "$BR" -o "$BR" -j ACCEPT 2>/dev/null || true # without iptables in the kernel, nothing is dropped
	fi
	# created before the first pod, so that CoreDNS can listen on it; the CNI plugin uses
	# an existing bridge with the address
	if ! ip link show $BR >/dev/null 2>&1; then
		ip link add $BR type bridge
		ip addr add "$GW/${CIDR#*/}" dev $BR
		ip link set $BR up
	fi
	# no "forward": names outside the cluster do not exist, and no server is queried.
	# CoreDNS lists and watches services, endpoint slices, namespaces and pods.
	kubeconfig dns "/O=system:masters/CN=dns"
	cat > "$S/Corefile" <<-CORE
	.:53 {
	  bind $GW
	  errors
	  ready 127.0.0.1:$((P+10))
	  kubernetes cluster.local {
	    kubeconfig $S/pki/dns.conf
	    ttl 0
	  }
	  template IN ANY . {
	    rcode NXDOMAIN
	  }
	}
	CORE
	start dns "$dns/bin/coredns" -conf "$S/Corefile"
	start node unshare --mount --pid --fork --kill-child --mount-proc --propagation private \
		env K8S_STATE="$S" K8S_BIN="$BIN" K8S_PORT="$P" "$HERE/cluster.sh" __node "$S"
}

# ------------------------------------------------------------------ volcano
# Volcano's release manifest has its CRDs, RBAC and webhook configurations. The three
# programs run as processes: each with a certificate in the name of its ServiceAccount,
# so that Volcano's real RBAC rules apply. Webhooks are called by URL, since Service
# addresses do not work here.
manifest() { # manifest FILE JQ-FILTER — apply the objects that the filter selects
	# --server-side: client-side apply would copy the big CRDs into an annotation (limit 256 KiB)
	kc create --dry-run=client --validate=false -o json -f "$1" | jq -c "(.items[]? // .) | $2" |
		kc apply --server-side --force-conflicts -f - >>"$S/log/apply.log"
}

# In a loop, as "kubectl wait" fails immediately on a new CRD that has no status yet.
established() { wait_for 60 apiserver kc wait --for=condition=Established --timeout=10s "${@/#/crd/}"; }

volcano() {
	alive apiserver || die "first: cluster.sh up"
	local dir y sa=system:serviceaccount:volcano-system
	dir=$(part volcano)
	y=$dir/volcano-development.yaml
	local o="/O=system:serviceaccounts/O=system:serviceaccounts:volcano-system"
	kubeconfig vc-scheduler "$o/CN=$sa:volcano-scheduler"
	kubeconfig vc-controllers "$o/CN=$sa:volcano-controllers"
	kubeconfig vc-webhook "$o/CN=$sa:volcano-admission"
	cert vc-webhook-server "/CN=volcano-webhook" "IP:127.0.0.1"
	manifest "$y" 'select(.kind == "Namespace")'
	manifest "$y" 'select(.kind | IN("CustomResourceDefinition", "ServiceAccount", "ClusterRole", "ClusterRoleBinding"))'
	established jobs.batch.volcano.sh queues.scheduling.volcano.sh podgroups.scheduling.volcano.sh
	# the webhook server waits for its configurations before it listens, so they come
	# first; until it listens, no other object may be created (failurePolicy is Fail)
	manifest "$y" "select(.kind | endswith(\"WebhookConfiguration\"))
		| .webhooks[].clientConfig |= {url: (\"https://127.0.0.1:$((P+6))\" + .service.path), caBundle: \"$(base64 -w0 < "$S/pki/ca.crt")\"}"
	# --webhook-url only has to be non-empty; the configurations are applied above
	# --kube-api-qps: it needs a request for each pod, so its default of 50 a second delays large jobs
	start vc-webhook "$dir/bin/vc-webhook-manager" --kubeconfig="$S/pki/vc-webhook.conf" \
		--kube-api-qps="${K8S_VOLCANO_QPS:-50}" --kube-api-burst="${K8S_VOLCANO_QPS:-100}" \
		--webhook-url="https://127.0.0.1:$((P+6))" --listen-address=127.0.0.1 --port=$((P+6)) \
		--tls-cert-file="$S/pki/vc-webhook-server.crt" --tls-private-key-file="$S/pki/vc-webhook-server.key" \
		--ca-cert-file="$S/pki/ca.crt" --logtostderr
	wait_for 60 vc-webhook eval "exec 3<>/dev/tcp/127.0.0.1/$((P+6))"
	start vc-controllers "$dir/bin/vc-controller-manager" --kubeconfig="$S/pki/vc-controllers.conf" \
		--leader-elect=false --logtostderr
	# actions and plugins of the release manifest, see its volcano-scheduler.conf
	kc create --dry-run=client --validate=false -o json -f "$y" | jq -r '(.items[]? // .) |
		select(.kind == "ConfigMap" and .metadata.name == "volcano-scheduler-configmap") |
		.data["volcano-scheduler.conf"]' > "$S/volcano-scheduler.conf"
	# --listen-address: of the metrics server, if it is enabled (default: :8080).
	# --cache-dumper=false: the dumper writes to /tmp.
	start vc-scheduler "$dir/bin/vc-scheduler" --kubeconfig="$S/pki/vc-scheduler.conf" \
		--scheduler-conf="$S/volcano-scheduler.conf" --leader-elect=false \
		--listen-address="127.0.0.1:$((P+7))" --cache-dumper=false --logtostderr
	# the scheduler creates the queue "default"; jobs are refused until it is open
	wait_for 60 vc-scheduler eval '[ "$(kc get queue default -o jsonpath={.status.state})" = Open ]'
	say "volcano ready"
}

# ------------------------------------------------------------------- jobset
jobset() {
	alive apiserver || die "first: cluster.sh up"
	local dir ns=jobset-system d=$S/pki/jobset-certs
	dir=$(part jobset)
	kubeconfig jobset "/O=system:serviceaccounts/O=system:serviceaccounts:$ns/CN=system:serviceaccount:$ns:jobset-controller-manager"
	cert jobset-server "/CN=jobset" "IP:127.0.0.1"
	mkdir -p "$d"    # controller-runtime expects these two names
	cp "$S/pki/jobset-server.crt" "$d/tls.crt"; cp "$S/pki/jobset-server.key" "$d/tls.key"
	# certificate management is off: it would write a CA into the webhook configurations
	# and expect a Service; the test CA and a URL replace both
	cat > "$S/jobset.conf" <<-YAML
	apiVersion: config.jobset.x-k8s.io/v1alpha1
	kind: Configuration
	leaderElection: {leaderElect: false}
	internalCertManagement: {enable: false}
	webhook: {host: 127.0.0.1, port: $((P+8)), certDir: "$d"}
	metrics: {bindAddress: "0"}
	health: {healthProbeBindAddress: "127.0.0.1:$((P+9))"}
	YAML
	kc kustomize "$dir/config/default" > "$S/jobset.yaml"
	manifest "$S/jobset.yaml" 'select(.kind == "Namespace")'
	# its CRD has only one version, but a conversion webhook at a Service
	manifest "$S/jobset.yaml" 'select(.kind | IN("CustomResourceDefinition", "ServiceAccount", "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding")) | del(.spec.conversion?)'
	established jobsets.jobset.x-k8s.io
	# controller-runtime also accepts a flag instead of KUBECONFIG
	start jobset env KUBECONFIG="$S/pki/jobset.conf" "$dir/bin/jobset-manager" --config="$S/jobset.conf"
	wait_for 60 jobset curl -sf --max-time 2 "http://127.0.0.1:$((P+9))/readyz"
	manifest "$S/jobset.yaml" "select(.kind | endswith(\"WebhookConfiguration\"))
		| .webhooks[].clientConfig |= {url: (\"https://127.0.0.1:$((P+8))\" + .service.path), caBundle: \"$(base64 -w0 < "$S/pki/ca.crt")\"}"
	say "jobset ready"
}

# -------------------------------------------------------------------- kueue
# Kueue queues Jobs and JobSets that name a LocalQueue. All others are admitted unchanged.
kueue() {
	alive apiserver || die "first: cluster.sh up"
	local dir ns=kueue-system d=$S/pki/kueue-certs url="https://127.0.0.1:$((P+13))" ca
	dir=$(part kueue) ca=$(base64 -w0 < "$S/pki/ca.crt")
	kubeconfig kueue "/O=system:serviceaccounts/O=system:serviceaccounts:$ns/CN=system:serviceaccount:$ns:kueue-controller-manager"
	cert kueue-server "/CN=kueue" "IP:127.0.0.1"
	mkdir -p "$d"    # controller-runtime expects these two names
	cp "$S/pki/kueue-server.crt" "$d/tls.crt"; cp "$S/pki/kueue-server.key" "$d/tls.key"
	# VisibilityOnDemand is an aggregated API server, which would need a Service.
	cat > "$S/kueue.conf" <<-YAML
	apiVersion: config.kueue.x-k8s.io/v1beta2
	kind: Configuration
	leaderElection: {leaderElect: false}
	internalCertManagement: {enable: false}
	webhook: {host: 127.0.0.1, port: $((P+13)), certDir: "$d"}
	metrics: {bindAddress: "0"}
	health: {healthProbeBindAddress: "127.0.0.1:$((P+14))"}
	featureGates: {VisibilityOnDemand: false}
	integrations: {frameworks: [batch/job, jobset.x-k8s.io/jobset]}
	YAML
	kc kustomize "$dir/config/default" > "$S/kueue.yaml"
	manifest "$S/kueue.yaml" 'select(.kind == "Namespace")'
	manifest "$S/kueue.yaml" "select(.kind | IN(\"CustomResourceDefinition\", \"ServiceAccount\", \"Role\", \"ClusterRole\", \"RoleBinding\", \"ClusterRoleBinding\"))
		| if .spec.conversion.webhook? then .spec.conversion.webhook.clientConfig = {url: \"$url/convert\", caBundle: \"$ca\"} else . end"
	established workloads.kueue.x-k8s.io clusterqueues.kueue.x-k8s.io localqueues.kueue.x-k8s.io
	# Without certificate management it reads those of its metrics from a fixed folder below
	# /etc, even if it serves none.
	# shellcheck disable=SC2016
	start kueue unshare --mount --propagation private bash -c 'mount -t tmpfs tmpfs /etc && mkdir -p /etc/kueue/metrics &&
		ln -s "$1" /etc/kueue/metrics/certs && shift && exec "$@"' bash "$d" \
		env KUBECONFIG="$S/pki/kueue.conf" "$dir/bin/kueue-manager" --config="$S/kueue.conf"
	wait_for 60 kueue curl -sf --max-time 2 "http://127.0.0.1:$((P+14))/readyz"
	# only those of the frameworks above: each other one would delay its objects for nothing
	manifest "$S/kueue.yaml" "select(.kind | endswith(\"WebhookConfiguration\"))
		| .webhooks |= map(select(.clientConfig.service.path | test(\"-(batch-v1-job|jobset|kueue-x-k8s-io-v1beta2-[a-z]+)\")))
		| .webhooks[].clientConfig |= {url: (\"$url\" + .service.path), caBundle: \"$ca\"}"
	say "kueue ready"
}

# --------------------------------------------------------------------- kwok
# N nodes without a kubelet, whose pods only seem to run, and have a log of three lines.
# Pods of a Job (or a Volcano Job) succeed at once, unless their command is "sleep 1d". Only pods
# that tolerate the taint kwok are scheduled on them (and should select the label type=kwok).
kwok() {
	local n=$1 dir i
	alive apiserver || die "first: cluster.sh up"
	dir=$(part kwok)
	kubeconfig kwok "/O=system:masters/CN=kwok"
	for ((i = 0; i < n; i++)); do
		cat <<-YAML
		---
		apiVersion: v1
		kind: Node
		metadata: {name: kwok-$i, labels: {type: kwok}, annotations: {kwok.x-k8s.io/node: fake}}
		spec: {taints: [{key: kwok, effect: NoSchedule}]}
		status:
		  allocatable: {cpu: "256", memory: 1Ti, pods: "250"}
		  capacity: {cpu: "256", memory: 1Ti, pods: "250"}
		YAML
	done | kc apply -f - >>"$S/log/apply.log"
	for i in 1 2 3; do echo "2026-01-01T00:00:0$i.000000000Z stdout F line $i"; done > "$S/kwok-log"
	cat > "$S/kwok.yaml" <<-YAML
	apiVersion: kwok.x-k8s.io/v1alpha1
	kind: Stage
	metadata: {name: pod-run}
	spec:
	  resourceRef: {apiGroup: v1, kind: Pod}
	  selector:
	    matchExpressions:
	    - {key: .metadata.deletionTimestamp, operator: DoesNotExist}
	    - {key: .status.podIP, operator: DoesNotExist}
	  next:
	    statusTemplate: |
	      phase: Running
	      startTime: {{ Now | Quote }}
	      hostIP: {{ NodeIPWith .spec.nodeName | Quote }}
	      podIP: {{ PodIPWith .spec.nodeName false .metadata.uid .metadata.name .metadata.namespace | Quote }}
	      conditions: [{type: Ready, status: "True", lastTransitionTime: {{ Now | Quote }}}]
	      containerStatuses:
	      {{ range .spec.containers }}
	      - {name: {{ .name | Quote }}, image: {{ .image | Quote }}, ready: true, restartCount: 0, state: {running: {startedAt: {{ Now | Quote }}}}}
	      {{ end }}
	---
	apiVersion: kwok.x-k8s.io/v1alpha1
	kind: Stage
	metadata: {name: pod-succeed}
	spec:
	  resourceRef: {apiGroup: v1, kind: Pod}
	  selector:
	    matchExpressions:
	    - {key: .metadata.deletionTimestamp, operator: DoesNotExist}
	    - {key: .status.phase, operator: In, values: [Running]}
	    - {key: ".metadata.ownerReferences.[].kind", operator: In, values: [Job]}
	    - {key: ".spec.containers.[].command.[]", operator: NotIn, values: [sleep 1d]}
	  next:
	    statusTemplate: |
	      phase: Succeeded
	      containerStatuses:
	      {{ range .status.containerStatuses }}
	      - {name: {{ .name | Quote }}, image: {{ .image | Quote }}, ready: false, restartCount: 0,
	         state: {terminated: {exitCode: 0, reason: Completed, startedAt: {{ .state.running.startedAt | Quote }}, finishedAt: {{ Now | Quote }}}}}
	      {{ end }}
	---
	apiVersion: kwok.x-k8s.io/v1alpha1
	kind: Stage
	metadata: {name: pod-delete}
	spec:
	  resourceRef: {apiGroup: v1, kind: Pod}
	  selector: {matchExpressions: [{key: .metadata.deletionTimestamp, operator: Exists}]}
	  next: {finalizers: {empty: true}, delete: true}
	---
	apiVersion: kwok.x-k8s.io/v1alpha1
	kind: ClusterLogs
	metadata: {name: log}
	spec: {logs: [{logsFile: "$S/kwok-log"}]}
	YAML
	start kwok "$dir/bin/kwok" --kubeconfig="$S/pki/kwok.conf" --manage-all-nodes=false \
		--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake --node-lease-duration-seconds=40 \
		--server-address="127.0.0.1:$((P+11))" --node-ip=127.0.0.1 --node-port=$((P+11)) --config="$S/kwok.yaml" \
		--tls-cert-file="$S/pki/kubelet-server.crt" --tls-private-key-file="$S/pki/kubelet-server.key"
	kc wait --for=condition=Ready --timeout=60s node -l type=kwok >/dev/null
	say "kwok: $n nodes ready"
}

# --------------------------------------------------------------------- main
up() {
	mkdir -p "$S"/{run,log,pki,etcd}
	chmod 700 "$S/etcd"
	pki
	control
	[ "${1:-node}" = control ] || node
	control_ready
	[ "${1:-node}" = control ] || { wait_for 120 node node_ready; say "node ready"; }
	! alive dns || { wait_for 30 dns curl -sf --max-time 2 "http://127.0.0.1:$((P+10))/ready"; say "dns ready"; }
}

down() {
	local n c
	for n in dns kwok kueue jobset vc-scheduler vc-controllers vc-webhook node scheduler kcm apiserver etcd; do stop $n; done
	while iptables -D FORWARD -i $BR -o $BR -j ACCEPT 2>/dev/null; do :; done
	ip link del $BR 2>/dev/null || true
	# deepest first: a cgroup with children cannot be removed; retried, as killed
	# processes take a moment to leave
	for _ in $(seq 20); do
		for c in $(cgroups); do find "$c/$CGROOT" -depth -type d -exec rmdir {} + 2>/dev/null || true; done
		compgen -G "/sys/fs/cgroup/*/$CGROOT" >/dev/null || break
		sleep 0.1
	done
	rm -rf "$S"
}

status() {
	for f in "$S"/run/*.pid; do
		[ -e "$f" ] || { echo "nothing runs"; return; }
		n=$(basename "$f" .pid)
		if alive "$n"; then echo "$n: pid $(cat "$f"), $(awk '/VmRSS/{printf "%d MiB", $2/1024}' "/proc/$(cat "$f")/status")"
		else echo "$n: NOT running"; fi
	done
}

main() {
	case "${1:-}" in
	up) bin; up "${2:-node}" ;;
	down) down ;;
	stop) stop "${2:?which program}" ;;
	status) status ;;
	volcano) bin; volcano ;;
	jobset) bin; jobset ;;
	kueue) bin; kueue ;;
	kwok) bin; kwok "${2:?how many nodes}" ;;
	kubectl) bin; shift; kc "$@" ;;
	__node) node_init ;;
	*) sed -n '2,/^# \/var\/lib/s/^# \{0,1\}//p' "$0"; exit 2 ;;
	esac
}
# one line, so that bash has read all of it: the node's copy of this script runs as
# long as the cluster does, and the file may change meanwhile
main "$@"; exit

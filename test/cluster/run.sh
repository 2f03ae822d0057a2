#!/bin/bash
# run.sh COMMAND… — runs a command with a temporary test cluster, to which KUBECONFIG
# points; TORCHX_REQUIRE=kubernetes makes tests use it. The cluster always ends with
# the command. Several clusters can run in parallel.
#
#   test/cluster/run.sh go test ./backends/kubernetes/...
#   test/cluster/run.sh bash          # a shell with kubectl
#
# K8S_PARTS lists the commands of cluster.sh that start the cluster (default: up volcano
# jobset kueue): "up=control kwok=8" starts no real node, and eight simulated ones.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
[ $# -gt 0 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' run.sh; exit 2; }

# free PORT N — checks that no process listens on the N ports from PORT on.
free() {
	local p
	for ((p = $1; p < $1 + $2; p++)); do
		if (exec 3<>"/dev/tcp/127.0.0.1/$p") 2>/dev/null; then return 1; fi
	done
}

# The cluster takes 14 ports and the tests' registry one more, all below the kernel's
# range of ephemeral ports.
for ((try = 0; ; try++)); do
	[ "$try" -lt 50 ] || { echo "run.sh: found no free ports" >&2; exit 1; }
	slot=$((RANDOM % 200))
	K8S_PORT=$((20000 + slot * 20))
	K8S_BRIDGE=txk8s$slot
	if ! ip link show "$K8S_BRIDGE" >/dev/null 2>&1 && free "$K8S_PORT" 15; then break; fi
done
K8S_STATE=$(mktemp -d /tmp/torchx-k8s-XXXXXX)
K8S_POD_CIDR=10.98.$slot.0/24
K8S_REGISTRY=http://127.0.0.1:$((K8S_PORT + 12))
export K8S_STATE K8S_PORT K8S_BRIDGE K8S_POD_CIDR K8S_REGISTRY

# The cluster ends with this shell: by the trap, or if the shell is killed, by a process
# that waits for it in a separate session.
trap './cluster.sh down' EXIT
# shellcheck disable=SC2016
setsid bash -c 'tail --pid="$0" -f /dev/null; [ ! -d "$K8S_STATE" ] || ./cluster.sh down' $$ </dev/null >/dev/null 2>&1 &

for part in ${K8S_PARTS:-up volcano jobset kueue}; do
	IFS== read -ra words <<<"$part"
	./cluster.sh "${words[@]}" 1>&2
done

export KUBECONFIG=$K8S_STATE/pki/admin.conf
PATH=$(./build.sh kubernetes)/bin:$PATH
export TORCHX_REQUIRE=${TORCHX_REQUIRE:+$TORCHX_REQUIRE,}kubernetes
code=0
(cd ../.. && "$@") || code=$?
exit "$code"

#!/bin/bash
# run.sh COMMAND… — runs a command on a test cluster of its own: KUBECONFIG leads to
# it, TORCHX_REQUIRE=kubernetes says that tests are to use it. The cluster ends with
# the command, whatever happens, and can run beside others.
#
#   test/cluster/run.sh go test ./backends/kubernetes/...
#   test/cluster/run.sh bash          # look around with kubectl
#
# K8S_PARTS chooses what is started, as words of cluster.sh (default: up volcano
# jobset): "up=control kwok=8" has no node that runs anything, and eight fake ones.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
[ $# -gt 0 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' run.sh; exit 2; }

# free PORT N — none of N ports from there on is listened on.
free() {
	local p
	for ((p = $1; p < $1 + $2; p++)); do
		if (exec 3<>"/dev/tcp/127.0.0.1/$p") 2>/dev/null; then return 1; fi
	done
}

# The cluster takes 12 ports, the tests' registry one more; below the range from which
# the kernel gives ports to programs.
for ((try = 0; ; try++)); do
	[ "$try" -lt 50 ] || { echo "run.sh: found no free ports" >&2; exit 1; }
	slot=$((RANDOM % 200))
	K8S_PORT=$((20000 + slot * 20))
	K8S_BRIDGE=txk8s$slot
	if ! ip link show "$K8S_BRIDGE" >/dev/null 2>&1 && free "$K8S_PORT" 13; then break; fi
done
K8S_STATE=$(mktemp -d /tmp/torchx-k8s-XXXXXX)
K8S_POD_CIDR=10.98.$slot.0/24
K8S_REGISTRY=http://127.0.0.1:$((K8S_PORT + 12))
export K8S_STATE K8S_PORT K8S_BRIDGE K8S_POD_CIDR K8S_REGISTRY

# It ends with this shell, however that ends: by the trap, or by who waits for it in a
# session of its own, which no Ctrl-C and no kill of this one reaches.
trap './cluster.sh down' EXIT
# shellcheck disable=SC2016
setsid bash -c 'tail --pid="$0" -f /dev/null; [ ! -d "$K8S_STATE" ] || ./cluster.sh down' $$ </dev/null >/dev/null 2>&1 &

for part in ${K8S_PARTS:-up volcano jobset}; do
	IFS== read -ra words <<<"$part"
	./cluster.sh "${words[@]}" 1>&2
done

export KUBECONFIG=$K8S_STATE/pki/admin.conf
PATH=$(./build.sh kubernetes)/bin:$PATH
export TORCHX_REQUIRE=${TORCHX_REQUIRE:+$TORCHX_REQUIRE,}kubernetes
code=0
(cd ../.. && "$@") || code=$?
exit "$code"

#!/bin/bash
# run.sh COMMAND… — runs a command with a temporary Slurm cluster of four nodes, to which
# SLURM_CONF points; TORCHX_REQUIRE=slurm makes tests use it. The cluster always ends with
# the command. Several clusters can run in parallel. Needs root and Debian's packages slurmctld,
# slurmd, slurm-client, slurm-wlm-basic-plugins, munge, iproute2; beside Docker also iptables.
#
#   test/slurm/run.sh go test ./backends/slurm/...
#   test/slurm/run.sh bash                      # a shell with sbatch, squeue, …
#   SLURM_ACCOUNTING=no test/slurm/run.sh bash  # without slurmdbd and MariaDB, so without sacct
#
# Partitions: main (default), short (at most 1 minute), shut (down), narrow (one CPU), lab (for account
# other), closed (for group root), low and high (high preempts low). Accounts, with accounting: test
# (default), other, limited (one running job); QOS: normal, tiny (one running job per user), strict (at
# most two CPUs). User daemon has account test.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
[ $# -gt 0 ] || { sed -n '2,/^set/s/^# \{0,1\}//p' run.sh; exit 2; }

for ((try = 0; ; try++)); do
	[ "$try" -lt 50 ] || { echo "run.sh: found no free network" >&2; exit 1; }
	slot=$((RANDOM % 200))
	mkdir "/tmp/torchx-slurm-net-$slot" 2>/dev/null || continue
	ip link show "txslurm$slot" >/dev/null 2>&1 || break
	rmdir "/tmp/torchx-slurm-net-$slot"
done
SLURM_STATE=$(mktemp -d /tmp/torchx-slurm-XXXXXX)
chmod 755 "$SLURM_STATE"
export SLURM_STATE SLURM_SLOT=$slot SLURM_ACCOUNTING=${SLURM_ACCOUNTING:-yes}

# The cluster ends with this shell: by the trap, or if the shell is killed, by a process
# that waits for it in a separate session.
trap './cluster.sh down' EXIT
# shellcheck disable=SC2016
setsid bash -c 'tail --pid="$0" -f /dev/null; [ ! -d "$SLURM_STATE" ] || ./cluster.sh down' $$ </dev/null >/dev/null 2>&1 &

./cluster.sh up 1>&2

export SLURM_CONF=$SLURM_STATE/slurm.conf
export TORCHX_REQUIRE=${TORCHX_REQUIRE:+$TORCHX_REQUIRE,}slurm
code=0
(cd ../.. && "$@") || code=$?
exit "$code"

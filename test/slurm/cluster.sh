#!/bin/bash
# cluster.sh up|down|stop PART|start PART — a Slurm cluster of plain processes for tests.
# run.sh chooses SLURM_STATE, the folder of all its state, and SLURM_SLOT, the number of its
# network. SLURM_ACCOUNTING=no leaves out slurmdbd and MariaDB. A PART is munged, mariadbd,
# slurmdbd, slurmctld, or a node: n1 to n4.
#
# Each slurmd has its own network, hostname and processes (unshare), so that a node's jobs end
# with it. Files are shared, as on a cluster with a shared file system.
set -euo pipefail

state=$SLURM_STATE
export SLURM_ACCOUNTING=${SLURM_ACCOUNTING:-yes}
net=10.97.$SLURM_SLOT
bridge=txslurm$SLURM_SLOT
port=$((21000 + SLURM_SLOT * 5)) # slurmctld, then slurmdbd and MariaDB
export SLURM_CONF=$state/slurm.conf
nodes=(n1 n2 n3 n4)

# begin PART COMMAND… — runs a daemon in its own session and records its process.
begin() {
	local part=$1
	shift
	setsid "$@" </dev/null >>"$state/log/$part.out" 2>&1 &
	echo $! >"$state/run/$part.pid"
}

# await WHAT COMMAND… — waits until a command succeeds.
await() {
	local what=$1 end=$((SECONDS + ${SLURM_WAIT:-120}))
	shift
	until "$@" >/dev/null 2>&1; do
		if ((SECONDS >= end)); then
			echo "cluster.sh: $what: not reached in 120 seconds, see:" >&2
			tail -n 5 "$state"/log/* >&2 || true
			exit 1
		fi
		sleep 0.1
	done
}

# end PART SIGNAL — ends a daemon and waits for it.
end() {
	local pid file=$state/run/$1.pid
	[ -s "$file" ] || return 0
	pid=$(<"$file")
	# Only a process of this cluster: the number can have been given to another one.
	if grep -qz "SLURM_STATE=$state" "/proc/$pid/environ" 2>/dev/null; then
		kill "-$2" "$pid" 2>/dev/null || true
		timeout 20 tail -s 0.05 --pid="$pid" -f /dev/null || kill -KILL "$pid" 2>/dev/null || true
	fi
	rm -f "$file"
}

configure() {
	mkdir -p "$state"/{run,log,munge,spool,ctld,db}
	chmod 700 "$state/munge" "$state/ctld"
	chmod 755 "$state/run" "$state/log" "$state/spool"
	head -c 128 /dev/urandom >"$state/munge/key"
	chmod 600 "$state/munge/key"
	cat >"$SLURM_CONF" <<-END
		ClusterName=torchx
		SlurmctldHost=$(hostname -s)($net.1)
		SlurmctldPort=$port
		SlurmdPort=6818
		AuthType=auth/munge
		AuthInfo=socket=$state/run/munge.sock
		CredType=cred/munge
		SlurmUser=root
		SlurmdUser=root
		StateSaveLocation=$state/ctld
		SlurmdSpoolDir=$state/spool/%n
		SlurmctldPidFile=$state/run/ctld.lock
		SlurmdPidFile=$state/run/%n.lock
		SlurmctldLogFile=$state/log/slurmctld.log
		SlurmdLogFile=$state/log/%n.log
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_Core_Memory
		SchedulerType=sched/backfill
		SchedulerParameters=bf_interval=1,sched_interval=1,sched_min_interval=0,bf_continue,batch_sched_delay=0
		PreemptType=preempt/partition_prio
		PreemptMode=REQUEUE
		SlurmdParameters=config_overrides
		ReturnToService=2
		SlurmdTimeout=10
		KillWait=5
		MinJobAge=300
		MpiDefault=none
		MailProg=/bin/true
		SwitchType=switch/none
		GresTypes=gpu
		UnkillableStepTimeout=30
		DefMemPerCPU=800
		$(for i in 1 2 3 4; do echo "NodeName=n$i NodeAddr=$net.1$i CPUs=16 RealMemory=16000 Gres=gpu:4"; done)
		PartitionName=main Nodes=n[1-4] Default=YES MaxTime=INFINITE State=UP PriorityTier=5 PreemptMode=OFF
		PartitionName=short Nodes=n[1-4] MaxTime=1 State=UP PriorityTier=5 PreemptMode=OFF
		PartitionName=shut Nodes=n[1-4] State=DOWN
		PartitionName=narrow Nodes=n4 MaxCPUsPerNode=1 MaxTime=INFINITE State=UP PriorityTier=5 PreemptMode=OFF
		PartitionName=lab Nodes=n[1-4] AllowAccounts=other MaxTime=INFINITE State=UP PriorityTier=5 PreemptMode=OFF
		PartitionName=closed Nodes=n[1-4] AllowGroups=root MaxTime=INFINITE State=UP PriorityTier=5 PreemptMode=OFF
		PartitionName=low Nodes=n[1-4] MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=REQUEUE GraceTime=2
		PartitionName=high Nodes=n[1-4] MaxTime=INFINITE State=UP PriorityTier=9 PreemptMode=OFF
	END
	for i in 0 1 2 3; do mknod "$state/gpu$i" c 1 3; done
	echo "Name=gpu File=$state/gpu[0-3]" >"$state/gres.conf"
	for n in "${nodes[@]}"; do echo "$net.1${n#n} $n"; done | cat /etc/hosts - >"$state/hosts"
	: >"$state/plugstack.conf"
	echo "PlugStackConfig=$state/plugstack.conf" >>"$SLURM_CONF"
	if [ "$SLURM_ACCOUNTING" = no ]; then
		echo AccountingStorageType=accounting_storage/none >>"$SLURM_CONF"
		return
	fi
	cat >>"$SLURM_CONF" <<-END
		JobAcctGatherType=jobacct_gather/linux
		JobAcctGatherFrequency=1
		JobAcctGatherParams=OverMemoryKill
		AccountingStorageType=accounting_storage/slurmdbd
		AccountingStorageHost=127.0.0.1
		AccountingStoragePass=$state/run/munge.sock
		AccountingStoragePort=$((port + 1))
		AccountingStorageEnforce=associations,limits,qos
		AccountingStoreFlags=job_comment
	END
	cat >"$state/slurmdbd.conf" <<-END
		AuthType=auth/munge
		AuthInfo=socket=$state/run/munge.sock
		DbdHost=$(hostname -s)
		DbdAddr=127.0.0.1
		DbdPort=$((port + 1))
		SlurmUser=root
		LogFile=$state/log/slurmdbd.log
		PidFile=$state/run/slurmdbd.lock
		StorageType=accounting_storage/mysql
		StorageHost=127.0.0.1
		StoragePort=$((port + 2))
		StorageUser=slurm
		StoragePass=slurm
		StorageLoc=slurm
	END
	chmod 600 "$state/slurmdbd.conf"
}

network() {
	ip link add "$bridge" type bridge
	ip addr add "$net.1/24" dev "$bridge"
	ip link set "$bridge" up
	# dockerd turns on bridge-nf-call-iptables and drops FORWARD, which would separate the nodes.
	! command -v iptables >/dev/null || iptables -I FORWARD -i "$bridge" -o "$bridge" -j ACCEPT 2>/dev/null || true
}

start() {
	case $1 in
	munged)
		begin munged munged --foreground --force --key-file="$state/munge/key" --socket="$state/run/munge.sock" \
			--pid-file="$state/munge/pid" --log-file="$state/munge/log" --seed-file="$state/munge/seed"
		await "munged answers" munge -n -S "$state/run/munge.sock"
		;;
	mariadbd)
		begin mariadbd mariadbd --no-defaults --user=root --datadir="$state/db/data" --socket="$state/run/db.sock" \
			--pid-file="$state/db/pid" --bind-address=127.0.0.1 --port=$((port + 2)) --skip-name-resolve \
			--innodb-flush-log-at-trx-commit=0 --innodb-buffer-pool-size=16M --innodb-log-file-size=16M --skip-log-bin
		await "MariaDB answers" mariadb --no-defaults -S "$state/run/db.sock" -e 'select 1'
		;;
	slurmdbd)
		begin slurmdbd env SLURM_CONF="$SLURM_CONF" slurmdbd -D
		await "slurmdbd answers" sacctmgr -n list cluster
		;;
	slurmctld)
		begin slurmctld slurmctld -D -i -f "$SLURM_CONF"
		await "slurmctld answers" scontrol ping
		;;
	n*)
		local up=$state/run/$1.net
		rm -f "$up"
		mkfifo "$up"
		# shellcheck disable=SC2016
		begin "$1" unshare --net --uts --pid --fork --kill-child --mount-proc bash -c '
			hostname "$1"; mount --bind "${SLURM_CONF%/*}/hosts" /etc/hosts; echo up >"$2"; read -r _ <"$2"
			exec slurmd -D -N "$1" -f "$SLURM_CONF"' slurmd "$1" "$up"
		read -r _ <"$up"
		local pid
		pid=$(<"$state/run/$1.pid")
		ip link add "tx$SLURM_SLOT$1" type veth peer name eth0 netns "$pid"
		ip link set "tx$SLURM_SLOT$1" master "$bridge" up
		nsenter -t "$pid" --net sh -c "ip link set lo up; ip addr add $net.1${1#n}/24 dev eth0; ip link set eth0 up; ip route add default via $net.1"
		echo go >"$up"
		;;
	*)
		echo "cluster.sh: unknown part $1" >&2
		exit 2
		;;
	esac
}

stop() {
	case $1 in
	n*) end "$1" KILL ;; # as a node that fails: its jobs end with it
	*) end "$1" TERM ;;
	esac
}

ready() {
	[ "$(sinfo -h -N -p main -t idle -o %N | sort -u | wc -l)" = "${#nodes[@]}" ]
}

accounts() {
	sacctmgr -i add cluster torchx || true
	sacctmgr -i add qos tiny MaxJobsPerUser=1
	sacctmgr -i add qos strict MaxTRESPerJob=cpu=2 Flags=DenyOnLimit
	sacctmgr -i add account test,other,limited Organization=test
	sacctmgr -i add user root Account=test QOS=normal,tiny,strict DefaultQOS=normal
	sacctmgr -i add user root Account=other QOS=normal,tiny
	sacctmgr -i add user root Account=limited QOS=normal MaxJobs=1
	sacctmgr -i add user daemon Account=test QOS=normal
	sacctmgr -i modify user root set DefaultAccount=test
}

up() {
	configure
	network
	start munged
	if [ "$SLURM_ACCOUNTING" != no ]; then
		mariadb-install-db --no-defaults --user=root --datadir="$state/db/data" --skip-test-db --auth-root-authentication-method=normal >"$state/log/install-db.out" 2>&1
		start mariadbd
		mariadb --no-defaults -S "$state/run/db.sock" -e "create database slurm; create user slurm@127.0.0.1 identified by 'slurm'; grant all on slurm.* to slurm@127.0.0.1"
		start slurmdbd
		accounts >"$state/log/sacctmgr.out" 2>&1
	fi
	start slurmctld
	local n
	for n in "${nodes[@]}"; do start "$n"; done
	await "four idle nodes" ready
}

down() {
	local part
	for part in "${nodes[@]}" slurmctld slurmdbd mariadbd munged; do end "$part" KILL; done
	iptables -D FORWARD -i "$bridge" -o "$bridge" -j ACCEPT 2>/dev/null || true
	ip link del "$bridge" 2>/dev/null || true
	rm -rf "$state" "/tmp/torchx-slurm-net-$SLURM_SLOT"
}

case ${1:-} in
up | down) "$1" ;;
start | stop) "$1" "$2" ;;
*)
	sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
	exit 2
	;;
esac

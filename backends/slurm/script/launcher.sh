
# The rest is the launcher, the same in every job. As the batch script it starts each role by
# srun, restarts what fails, and records the result. As a task of srun (launch.sh task ROLE) it
# runs one replica and records its starts and exits. All records are in $folder.
set -u

now() { if [ -n "${EPOCHREALTIME-}" ]; then echo "${EPOCHREALTIME/,/.}"; else date +%s.%N; fi; }
say() { echo "torchx: $*" >&2; }
note() { echo "$*" >>"$folder/events"; }
cancelled() { [ -e "$folder/cancel" ]; }

# failures FILE WORD — counts the lines of a file of records that begin and end with words.
failures() {
	local line n=0
	[ -e "$1" ] || { echo 0; return; }
	while read -r line; do [[ $line == $2 && ! $line == "exit "*" 0 exited" ]] && n=$((n + 1)); done <"$1"
	echo "$n"
}

# ---- A task: one replica ----

open_log() { # sets out, err and logger
	logger='' out=$log/stdout.log err=$log/stderr.log
	[ -n "$writer" ] || return
	pipes=$(mktemp -d "${TMPDIR:-/tmp}/torchx.XXXXXXXX") && mkfifo "$pipes/out" "$pipes/err" || return
	"$writer" slurm-log "$log" "$pipes/out" "$pipes/err" "$folder" "${role_name[role]}" "$replica" "$attempt" "$pipes/pid" </dev/null &
	logger=$! out=$pipes/out err=$pipes/err
}

close_log() { # completes the log; what a process outside of the replica's group prints later is lost
	[ -n "$logger" ] || return
	kill -USR1 "$logger" 2>/dev/null
	wait "$logger"
	rm -rf "$pipes"
}

give_up() { # CODE — the replica has failed for good
	echo "$1 $(now) $attempt" >"$folder/failed.$role.$replica"
	scancel --batch --signal=USR1 "$TORCHX_SLURM_JOB" 2>/dev/null && exit 0
	exit "$1"
}

# A wait of bash that a signal interrupts as a child ends may forget the child, and lasts until all
# others have ended, too. So only a child of the task waits: it ignores signals and runs the
# attempts. The task itself gets the signals, and reads for at most a second at a time.
task() { # ROLE
	role=$1 replica=$SLURM_PROCID
	dir=$folder/replicas/${role_dir[role]}/$replica
	mkdir -p "$dir" || exit 125
	inbox=$(mktemp -d "${TMPDIR:-/tmp}/torchx.XXXXXXXX") && mkfifo "$inbox/fifo" "$inbox/answers" || exit 125
	exec 8<>"$inbox/answers" 9<>"$inbox/fifo"
	trap stop TERM
	trap : USR1 USR2 INT HUP
	local group=SLURM_JOB_ID_HET_GROUP_$role # the steps of a component have its own ID
	[ "$replica" != 0 ] || echo "${!group-$SLURM_JOB_ID}.$SLURM_STEP_ID" >"$folder/step.$role"
	[ -z "$writer" ] || "$writer" slurm-log 2>/dev/null || writer=''
	[ -n "$writer" ] || { mkdir -p "$folder/usage" && echo "torchx does not run on the compute nodes" >"$folder/usage/unknown"; }
	(
		trap '' TERM USR1 USR2 INT HUP
		trap 'echo "$?" >"$inbox/code"; echo >&9' EXIT
		attempts
	) &
	local child=$! code=143 # of a child that ended before it ignored signals
	while [ ! -s "$inbox/code" ] && kill -0 "$child" 2>/dev/null; do
		read -r -t 1 <&9
		if [ -e "$inbox/asked" ]; then
			rm -f "$inbox/asked"
			echo >&8
		fi
	done
	[ ! -s "$inbox/code" ] || read -r code <"$inbox/code"
	rm -rf "$inbox"
	exit "$code"
}

stop() { # passes TERM on; the process may not have got it
	local child
	: >"$inbox/stop"
	read -r child 2>/dev/null <"$inbox/child" && kill -TERM -- "-$child" 2>/dev/null
	echo >&8
}

stopped() { [ -e "$inbox/stop" ]; }

# await_stop — lets the task run its trap, if the signal that ended the replica reached it, too.
await_stop() {
	: >"$inbox/asked"
	echo >&9
	read -r <&8
}

attempts() {
	attempt=0
	while ! stopped; do
		attempt_once
		case $code in 0) exit 0 ;; esac
		! stopped || exit 0
		[ -z "$overran" ] || [ -n "${role_retry_timeout[role]}" ] || give_up 124
		local failed
		failed=$(failures "$dir/events" 'exit *exited')
		if [ "${role_policy[role]}" != REPLICA ] || [ "$failed" -gt "${role_retries[role]}" ] || cancelled; then
			give_up "$code"
		fi
		note "restart $(now) ${role_dir[role]} $replica $attempt $failed"
		read -r -t $((failed > 5 ? 30 : 1 << (failed - 1))) <&8 # until it is stopped
	done
	exit 0
}

attempt_once() {
	attempt=0
	while [ -e "$dir/$attempt" ]; do attempt=$((attempt + 1)); done
	log=$dir/$attempt overran=''
	mkdir "$log" || exit 125
	open_log
	set -m # the replica gets a process group
	(
		trap - TERM USR1 USR2 INT HUP EXIT
		exec 8>&- 9>&-
		export TORCHELASTIC_ERROR_FILE="$log/error.json" TORCHX_METRICS="$log/metrics.jsonl" TORCHX_OUTPUT="$folder/output"
		"role_$role" "$replica"
	) </dev/null >"$out" 2>"$err" &
	child=$!
	set +m
	[ -z "$logger" ] || echo "$child" >"$pipes/pid"
	echo "start $attempt $(now) ${SLURMD_NODENAME:-$(hostname)} $child" >>"$dir/events"
	echo "$child" >"$inbox/child"
	! stopped || kill -TERM -- "-$child" 2>/dev/null
	watch=''
	if [ "${role_timeout[role]}" != 0 ]; then
		(
			sleep "${role_timeout[role]}"
			: >"$log/.overran"
			kill -TERM -- "-$child"
			sleep "$grace"
			kill -KILL -- "-$child"
		) >/dev/null 2>&1 &
		watch=$!
	fi
	wait "$child"
	local result=$? how=exited
	kill -KILL -- "-$child" 2>/dev/null # what it left running
	rm -f "$inbox/child"
	[ -z "$watch" ] || kill -KILL "$watch" 2>/dev/null
	close_log
	[ ! -e "$log/.overran" ] || overran=1 result=124
	code=$result
	[ "$code" = 0 ] || await_stop
	if stopped; then
		how=stopped
		[ "$code" = 0 ] || [ -e "$folder/stop.$role" ] || how=signaled # Slurm ends or requeues the job next
	fi
	echo "exit $attempt $(now) $code $how" >>"$dir/events"
}

# ---- The batch script ----

# free_port PORT — sets port to the first one from PORT on that no process and no other job of
# torchx on this node uses; the lock ends with this script.
free_port() {
	local p fd lock
	for ((p = $1; p < $1 + 1000 && p < 65536; p++)); do
		lock=/tmp/.torchx-port-$p
		[ -e "$lock" ] || (umask 0; : >"$lock") 2>/dev/null
		[ -r "$lock" ] || continue
		exec {fd}<"$lock"
		if flock -n "$fd" 2>/dev/null && ! (exec 3<>"/dev/tcp/127.0.0.1/$p") 2>/dev/null; then
			port=$p
			return
		fi
		exec {fd}<&-
	done
	port=$1
}

start_role() { # ROLE
	local k=$1
	rm -f "$folder/step.$k" "$folder/stop.$k" "$folder/failed.$k."*
	running[k]=1 stop_at[k]='' stopping[k]='' outside[k]=''
	{
		trap : TERM
		"srun_$k" --export=ALL --wait=0 --unbuffered bash "$folder/launch.sh" task "$k"
		local code=$?
		echo >&9
		exit "$code"
	} </dev/null &
	srun_pid[k]=$!
}

stop_role() { # ROLE — ends its replicas, after the grace period by force
	[ -n "${running[$1]}" ] && [ -z "${stopping[$1]}" ] || return
	stopping[$1]=1 stop_at[$1]=$SECONDS told[$1]=''
	: >"$folder/stop.$1"
	signal_role "$1"
}

signal_role() { # ROLE — sends the signal that is due
	local k=$1 step age=$((SECONDS - stop_at[$1]))
	step=$(cat "$folder/step.$k" 2>/dev/null)
	if [ -z "$step" ]; then
		# It has not started: srun cancels the step.
		[ "$age" -lt 10 ] || kill -TERM -- "-${srun_pid[k]}" 2>/dev/null || kill -TERM "${srun_pid[k]}" 2>/dev/null
	elif [ "$age" -ge "$grace" ] && [ "${told[k]}" != KILL ]; then
		told[k]=KILL
		scancel --signal=KILL "$step"
	elif [ -z "${told[k]}" ]; then
		told[k]=TERM
		scancel --signal=TERM "$step"
	fi
}

stop_all() {
	local k
	for ((k = 0; k < roles; k++)); do stop_role "$k"; done
}

# find_open ROLE REPLICA — sets open to the attempt whose end is not recorded, and file to its records.
find_open() {
	local line
	file=$folder/replicas/${role_dir[$1]}/$2/events open=''
	[ -e "$file" ] || return
	while read -r line; do
		case $line in start\ *) open=${line#start } open=${open%% *} ;; exit\ *) open='' ;; esac
	done <"$file"
	[ -n "$open" ]
}

# settle ROLE CODE — records the ends of attempts that their tasks could not record.
settle() {
	local k=$1 result=$2 r file open how
	for ((r = 0; r < role_replicas[k]; r++)); do
		find_open "$k" "$r" || continue
		how=exited
		[ -z "${stopping[k]-}" ] || how=stopped
		[ "$result" != lost ] || how=lost
		[ "$result" -gt 0 ] 2>/dev/null || result=137
		echo "exit $open $(now) $result $how" >>"$file"
		[ "$how" != exited ] || echo "$result $(now) $open" >"$folder/failed.$k.$r"
	done
}

# stopped_outside ROLE — reports whether the last attempt of a replica was ended by a signal that
# is not from this launcher: Slurm requeues the job, or its time is over.
stopped_outside() {
	local k=$1 r line last
	for ((r = 0; r < role_replicas[k]; r++)); do
		last=''
		[ -e "$folder/replicas/${role_dir[k]}/$r/events" ] || continue
		while read -r line; do last=$line; done <"$folder/replicas/${role_dir[k]}/$r/events"
		[[ $last != "exit "*" signaled" ]] || return 0
	done
	return 1
}

# slurm_ended ROLE CODE — reports whether Slurm ended srun, because it ends or requeues the job or
# lost a node: replicas may still run, and srun may say 0.
slurm_ended() {
	local r file open text
	[ -z "${stopping[$1]}" ] || return
	if [ -z "$terminated" ]; then
		[ "${role_required[$1]}" = "${role_replicas[$1]}" ] || return
		text=$(tail -c 65536 "$folder/slurm.out")
		[[ ${text##*"torchx: job "} == *"srun: error: Node failure on "* ]] || return
	fi
	[ "$2" = 0 ] || return 0
	for ((r = 0; r < role_replicas[$1]; r++)); do
		! find_open "$1" "$r" || return 0
	done
	return 1
}

role_ended() { # ROLE CODE
	local k=$1
	running[k]=''
	if slurm_ended "$k" "$2"; then
		outside[k]=1
		return
	fi
	settle "$k" "$2"
	if [ -n "${stopping[k]}" ]; then return; fi
	if stopped_outside "$k"; then
		outside[k]=1
	elif [ "$2" != 0 ] && ! compgen -G "$folder/failed.$k.*" >/dev/null; then
		echo "$2 $(now) 0" >"$folder/failed.$k.none" # srun could not start it
	fi
}

# check ROLE — handles the failures of a role.
check() {
	local k=$1 file n=0 code at attempt first='' first_code=1 first_file=''
	[ -z "$ending" ] && [ -z "${restart[k]}" ] && [ -z "${lost[k]}" ] || return
	for file in "$folder/failed.$k."*; do
		[ -e "$file" ] || return
		read -r code at attempt <"$file" || continue
		n=$((n + 1))
		if [ -z "$first" ] || [[ $at < $first ]]; then first=$at first_code=$code first_file=$file; fi
	done
	[ "$n" -gt 0 ] && [ $((role_replicas[k] - n)) -lt "${role_required[k]}" ] || return
	local done=0 group=() g
	case ${role_policy[k]} in
	ROLE) done=${role_restarts[k]} group=("$k") ;;
	APPLICATION) done=$app_restarts group=("${all[@]}") ;;
	esac
	if [ ${#group[@]} -gt 0 ] && [ "$done" -lt "${role_retries[k]}" ] && ! cancelled; then
		done=$((done + 1))
		note "restart $(now) ${role_dir[k]} ${first_file##*.} $attempt $done"
		say "role ${role_dir[k]} failed (exit code $first_code): restart $done of ${role_retries[k]}"
		case ${role_policy[k]} in ROLE) role_restarts[k]=$done ;; *) app_restarts=$done ;; esac
		for g in "${group[@]}"; do
			restart[g]=1
			stop_role "$g"
		done
		return
	fi
	lost[k]=1
	[ -n "$failed" ] || failed=$first_code
	say "role ${role_dir[k]} failed: exit code $first_code"
	if [ -n "$fail_fast" ]; then
		ending=1 restart=("${none[@]}")
		stop_all
	fi
}

# finish STATE CODE — records the result.
finish() {
	note "end $(now) $1 $2"
	rm -rf "$inbox"
	rm -f "$folder"/step.* "$folder"/stop.* "$folder"/failed.*
	[ "$1" != SUCCEEDED ] || exit 0
	exit "$2"
}

# await PID — sets code to that of a child that has ended, also if signals interrupt the wait.
await() {
	while :; do
		interrupted=''
		wait "$1"
		code=$?
		[ -n "$interrupted" ] || [ "$code" -lt 0 ] || return
	done
}

batch() {
	local k r code line srun_pids pause=1
	all=() none=() running=() stopping=() stop_at=() told=() restart=() lost=() outside=() srun_pid=() role_restarts=()
	app_restarts=0 ending='' failed='' late='' outside_since='' terminated=''
	for ((k = 0; k < roles; k++)); do
		all[k]=$k none[k]='' running[k]='' stopping[k]='' stop_at[k]='' told[k]='' restart[k]='' lost[k]='' outside[k]=''
		role_restarts[k]=$(failures "$folder/events" "restart * ${role_dir[k]} *")
		[ "${role_policy[k]}" != APPLICATION ] || app_restarts=$((app_restarts + role_restarts[k]))
	done
	export TORCHX_SLURM_JOB=$SLURM_JOB_ID
	echo "$SLURM_JOB_ID" >"$folder/.job.$SLURM_JOB_ID" && mv -f "$folder/.job.$SLURM_JOB_ID" "$folder/job"
	note "begin $(now) $SLURM_JOB_ID ${SLURM_RESTART_COUNT:-0}"
	say "job $SLURM_JOB_ID begins on ${SLURMD_NODENAME:-$(hostname)}, $(date)"
	inbox=$(mktemp -d "${TMPDIR:-/tmp}/torchx.XXXXXXXX") && mkfifo "$inbox/fifo" || { note "end $(now) FAILED 125"; exit 125; }
	exec 9<>"$inbox/fifo"
	trap 'interrupted=1; echo >&9' USR1
	trap 'interrupted=1 terminated=1; echo >&9' TERM # from Slurm, which kills the rest later
	if [ "${SLURM_RESTART_COUNT:-0}" -gt 0 ]; then
		say "restart ${SLURM_RESTART_COUNT} of the job by Slurm, after preemption or the failure of a node"
		for k in "${all[@]}"; do settle "$k" lost; done
		if [ "$SLURM_RESTART_COUNT" -gt "$max_requeues" ]; then
			say "no more restarts: max_requeues is $max_requeues"
			finish FAILED 125
		fi
	fi
	! cancelled || finish CANCELLED 130
	export TORCHX_RANK0_HOST=${SLURMD_NODENAME:-$(hostname)}
	choose_ports
	SECONDS=0
	for k in "${all[@]}"; do start_role "$k"; done
	while :; do
		# A line only wakes: a read that times out can lose a part of it. Its writer may end a moment later.
		if read -r -t "$pause" <&9; then pause=0.05; else pause=1; fi
		srun_pids=$'\n'$(jobs -rp)$'\n'
		for k in "${all[@]}"; do
			[ -n "${running[k]}" ] && [[ $srun_pids != *$'\n'"${srun_pid[k]}"$'\n'* ]] || continue
			await "${srun_pid[k]}"
			role_ended "$k" "$code"
		done
		if [ -z "$ending" ] && cancelled; then
			ending=1 restart=("${none[@]}")
			stop_all
		fi
		if [ -z "$late" ] && [ "$timeout" != 0 ] && [ "$SECONDS" -ge "$timeout" ]; then
			late=1 ending=1 restart=("${none[@]}")
			say "deadline: the app ran longer than $timeout seconds"
			stop_all
		fi
		supervise
	done
}

# supervise — decides after each event, and each second.
supervise() {
	local k busy='' waits=''
	for k in "${all[@]}"; do
		check "$k"
		[ -z "${running[k]}" ] || [ -z "${stopping[k]}" ] || signal_role "$k"
	done
	for k in "${all[@]}"; do
		[ -z "${running[k]}" ] || [ -n "${role_sidecar[k]}" ] || busy=1
		[ -z "${restart[k]}" ] || [ -z "${running[k]}" ] || waits=1
	done
	[ -z "$waits" ] || return 0
	for k in "${all[@]}"; do # what restarts together has ended
		[ -n "${restart[k]}" ] || continue
		restart[k]='' busy=1
		start_role "$k"
	done
	[ -z "$busy" ] || return 0
	for k in "${all[@]}"; do # only sidecars run
		[ -z "${running[k]}" ] || { stop_role "$k"; return 0; }
	done
	conclude
}

conclude() {
	local k
	if cancelled; then finish CANCELLED 130; fi
	[ -z "$late" ] || finish FAILED 124
	[ -z "$failed" ] || finish FAILED "$failed"
	for k in "${all[@]}"; do
		[ -n "${outside[k]}" ] || continue
		# Slurm ends or requeues the job soon. An end by this script would look like its own.
		[ -n "$outside_since" ] || say "Slurm ended the replicas, waiting for Slurm to end the job"
		outside_since=${outside_since:-$SECONDS}
		[ $((SECONDS - outside_since)) -ge 300 ] || return 0
		settle "$k" 143
		finish FAILED 143
	done
	finish SUCCEEDED 0
}

if [ "${1-}" = task ]; then
	task "$2"
fi
mkdir -p "$folder/output" || exit 125
exec >>"$folder/slurm.out" 2>&1
cat "$0" >"$folder/.launch.$SLURM_JOB_ID" && mv -f "$folder/.launch.$SLURM_JOB_ID" "$folder/launch.sh" || exit 125
batch

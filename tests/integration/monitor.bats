# What stands beside a container: its time ends it whatever it does, kills leave nobody, the
# reason of every end is said, and it does not outlive its supervisor or its monitor.
# shellcheck shell=bash

load helpers.bash

setup_file() {
	export SUITE_POLICY=1
	suite_setup_file
	[ "$KIND" = agentrun ] || skip "only agentrun has a supervisor"
	if [ -e /etc/agentrun/policy.json ]; then
		skip "this host has a policy of its own"
	fi
}

teardown_file() {
	suite_teardown_file
}

setup() {
	suite_setup
	umask 022
}

teardown() {
	suite_teardown
}

# How much slower than a host this machine is: limits that one must beat, and times that must not be over too soon.
P=${PATIENCE-1}

# time_policy CONTAINER EXEC GRACE
time_policy() {
	POLICY=$T/policy.json
	cat >"$POLICY" <<-END
		{"version": 1, "profiles": {"default": {
		  "time": {"container": {"default": "$1", "max": "1h"}, "exec": {"default": "$2", "max": "off"}, "grace": "$3"}}}}
	END
	chmod 600 "$POLICY"
	AGENTRUN_FLAGS="--policy $POLICY"
}

now_ms() {
	date +%s%3N
}

# start_detached: the container of the bundle, in the background; waits for nothing.
start_detached() {
	call run --detach --bundle "$BUNDLE" "$ID"
	works
}

# ends_within MS: until `state` says stopped.
ends_within() {
	local end=$(($(now_ms) + $1 * P))
	until [ "$(rt state "$ID" | jq -r .status)" = stopped ]; do
		if [ "$(now_ms)" -gt $end ]; then
			echo "still there after $1 ms"
			return 1
		fi
		sleep 0.05
	done
}

# exit_is FILTER: the exit record, once it is there.
exit_is() {
	local i
	for ((i = 0; i < 100 * P; i++)); do
		[ ! -e "$ROOT/$ID/exit.json" ] || break
		sleep 0.05
	done
	if ! rt state "$ID" | jq -e ".exit | $1" >/dev/null; then
		rt state "$ID"
		return 1
	fi
}

supervisor() {
	jq -r .supervisorPid "$ROOT/$ID/state.json"
}

monitor() {
	jq -r .monitorPid "$ROOT/$ID/state.json"
}

# nobody_left: neither a process of the container's cgroup nor its supervisor and monitor.
nobody_left() {
	local i dir left
	for ((i = 0; i < 60 * P; i++)); do
		left=
		for dir in $(jq -r '.cgroupDirs[].path' "$ROOT/$ID/state.json"); do
			left+=$(find "$dir" -name cgroup.procs -exec cat {} + 2>/dev/null || true)
		done
		[ -n "$left" ] || return 0
		sleep 0.05
	done
	echo "still there: $left"
	return 1
}

@test "a container ends at its time, with its daemonised children" {
	time_policy 1s off 0s
	sh_args 'setsid sh -c "trap \"\" TERM HUP; sleep 30; touch /late" & sleep 40'
	local begin
	begin=$(now_ms)
	call run --bundle "$BUNDLE" --keep "$ID"
	[ "$status" -eq 137 ]
	[ $(($(now_ms) - begin)) -lt $((2500 * P)) ]
	exit_is '.reason == "deadline" and .signal == 9'
	nobody_left
	[ ! -e "$ROOTFS/late" ]
}

@test "a process is warned, and ignoring the warning does not help" {
	time_policy "${P}s" off 1s
	sh_args 'trap "echo warned" TERM; while :; do sleep 0.1; done'
	local begin took
	begin=$(now_ms)
	call run --bundle "$BUNDLE" --keep "$ID"
	took=$(($(now_ms) - begin))
	[ "$status" -eq 137 ]
	[ "$output" = warned ]
	[ $took -ge $((P * 1000 + 900)) ] && [ $took -lt $((4000 * P)) ]
	exit_is '.reason == "deadline"'
}

@test "who ends at the warning ends by the deadline, too" {
	time_policy "${P}s" off 10s
	sh_args 'trap "exit 7" TERM; while :; do sleep 0.1; done'
	call run --bundle "$BUNDLE" --keep "$ID"
	[ "$status" -eq 7 ]
	exit_is '.reason == "deadline" and .code == 7'
}

@test "a stopped process does not outlast its time" {
	time_policy 1s off 0s
	sh_args 'kill -STOP $$; sleep 30'
	start_detached
	ends_within 3000
	exit_is '.reason == "deadline"'
}

@test "a paused container does not expire, and has its remaining time afterwards" {
	time_policy "$((2 * P))s" off 0s
	args sleep 300
	start_detached
	call pause "$ID"
	works
	sleep $((3 * P))
	[ "$(rt state "$ID" | jq -r .status)" = paused ]
	call resume "$ID"
	works
	[ "$(rt state "$ID" | jq -r .status)" = running ]
	ends_within 3500
	exit_is '.reason == "deadline"'
}

@test "update can shorten the time and cannot prolong it" {
	time_policy 30s off 0s
	args sleep 60
	start_detached
	call update --time-limit 1h "$ID"
	works
	call explain --json "$ID"
	jq -e '.supervisor.timeLeft < 31000000000' <<<"$output"
	call update --time-limit 0 "$ID"
	fails 1 'no duration'
	call update --time-limit 500ms "$ID"
	works
	ends_within 2500
	exit_is '.reason == "deadline"'
}

@test "an annotation can shorten the time" {
	time_policy 1h off 0s
	args sleep 30
	edit '.annotations["org.agentrun.time.container"] = "1s"'
	start_detached
	ends_within 3000
}

@test "a command ends at its time with all it has started, and the container goes on" {
	time_policy 1h "${P}s" 0s
	args sleep 300
	start_detached
	local begin
	begin=$(now_ms)
	call exec "$ID" sh -c '(sleep 120; touch /late) & exit 0'
	[ "$status" -eq 0 ]
	# command substitution waits for whoever holds the pipe
	output=$(rt exec "$ID" sh -c '(sleep 120; touch /late) & echo begun' 2>&1)
	[ "$output" = begun ]
	[ $(($(now_ms) - begin)) -lt $((3000 * P)) ]
	call exec "$ID" sh -c 'setsid sleep 121 & sleep 122'
	[ "$status" -eq 137 ]
	call exec "$ID" echo alive
	works alive
	! rt ps "$ID" | grep -qE 'sleep 12[0-2]'
	[ ! -e "$ROOTFS/late" ]
}

@test "whatever a command does, it ends at its time" {
	time_policy 1h "${P}s" 0s
	args sleep 300
	start_detached
	local trick n=0 tricks=('setsid nohup sleep 1701 >/dev/null 2>&1 & exit 0' 'trap "" TERM HUP INT; sleep 1702; sleep 1702'
		'sleep 1703 & kill -STOP $$' '(setsid sh -c "sleep 1704; touch /late" &) ; exit 0')
	for trick in "${tricks[@]}"; do
		n=$((n + 1))
		(
			code=0
			rt exec "$ID" sh -c "$trick" >/dev/null 2>&1 3>&- || code=$?
			echo "$code" >"$T/code$n"
		) &
	done
	wait
	[ "$(cat "$T"/code?)" = $'0\n137\n137\n0' ]
	only_init() {
		[ "$(rt ps --format json "$ID" | jq length)" -eq 1 ]
	}
	wait_for 20 only_init
	[ ! -e "$ROOTFS/late" ]
}

@test "the time of a command stands while the container is paused" {
	time_policy 1h "$((6 * P))s" 0s
	args sleep 300
	start_detached
	call exec --detach "$ID" sleep 1705
	works
	call pause "$ID"
	works
	sleep $((6 * P)).2
	rt ps "$ID" | grep -q 'sleep 1705'
	call resume "$ID"
	works
	# what was killed while frozen would end now
	sleep 0.5
	rt ps "$ID" | grep -q 'sleep 1705'
	[ "$(rt state "$ID" | jq -r .status)" = running ]
}

@test "a foreground command ends with its client" {
	args sleep 300
	start_detached
	rt_background exec "$ID" sh -c 'setsid sleep 31 & sleep 32'
	local client=$! i
	for ((i = 0; i < 50 * P; i++)); do
		! rt ps "$ID" | grep -q 'sleep 32' || break
		sleep 0.1
	done
	kill -KILL "$client"
	for ((i = 0; i < 50 * P; i++)); do
		rt ps "$ID" | grep -qE 'sleep 3[12]' || break
		sleep 0.1
	done
	! rt ps "$ID" | grep -qE 'sleep 3[12]'
	[ "$(rt state "$ID" | jq -r .status)" = running ]
}

@test "a detached command outlives its client" {
	args sleep 300
	start_detached
	call exec --detach "$ID" sleep 31
	works
	rt ps "$ID" | grep -q 'sleep 31'
}

@test "512 processes and a fork bomb are gone at once" {
	args sleep 300
	start_detached
	call exec --detach "$ID" sh -c 'i=0; while [ $i -lt 480 ]; do sleep 300 & i=$((i+1)); done; wait'
	works
	local i begin
	for ((i = 0; i < 100 * P; i++)); do
		[ "$(rt ps --format json "$ID" | jq length)" -lt 470 ] || break
		sleep 0.1
	done
	begin=$(now_ms)
	call kill --all "$ID" KILL
	[ "$status" -eq 0 ]
	nobody_left
	[ $(($(now_ms) - begin)) -lt $((3000 * P)) ]
	# init's own end waits for whoever must reap the command: a host's first process may be slow at that
	call delete --force "$ID"
	works

	sh_args 'f() { f | f & }; f; sleep 30'
	time_policy 1s off 0s
	start_detached
	ends_within 6000
	nobody_left
}

@test "reasons: exited, signal, oom" {
	sh_args 'exit 5'
	call run --bundle "$BUNDLE" --keep "$ID"
	exit_is '.reason == "exited" and .code == 5 and .oomKills == 0'
	call delete "$ID"

	sh_args 'kill -SEGV $$; sleep 1'
	edit '.process.args = ["sleep", "300"]'
	start_detached
	call kill "$ID" KILL
	works
	ends_within 3000
	exit_is '.reason == "signal" and .signal == 9'
	call delete "$ID"

	controller memory >/dev/null || skip "no memory controller"
	edit '.linux.resources.memory = {limit: 67108864} | .process.args = ["sh", "-c", "head -c 200m /dev/zero | tail"]'
	call run --bundle "$BUNDLE" --keep "$ID"
	exit_is '.oomKills > 0 and .memoryPeak > 50000000'
	exit_is '.reason == "oom-child" and .code == 137 and (.detail | test("killed [0-9]+ of its processes"))'
	call delete "$ID"

	# Itself: chosen by the kernel.
	edit '.process.args = ["tail", "/dev/zero"]'
	call run --bundle "$BUNDLE" --keep "$ID"
	exit_is '.reason == "oom" and .signal == 9'
	call delete "$ID"

	# Killed by somebody else after another one was chosen: told apart by the kernel's record of that process.
	edit '.process.args = ["sh", "-c", "tail /dev/zero; exec sleep 300"]'
	start_detached
	local pid i
	pid=$(call state "$ID" && jq .pid <<<"$output")
	for ((i = 0; i < 100 * P; i++)); do
		[ "$(cat "/proc/$pid/comm")" != sleep ] || break
		sleep 0.1
	done
	call kill "$ID" KILL
	works
	ends_within 3000
	exit_is '.reason == "signal" and .signal == 9 and .oomKills > 0'
}

# ends_with REASON CODE [DETAIL]: what the script of the container, run in the foreground, ends with.
ends_with() {
	call run --bundle "$BUNDLE" --keep "$ID"
	exit_is ".reason == \"$1\" and .code == $2 and ((.detail // \"\") | test(\"${3-}\"))"
	call delete "$ID"
	works
}

@test "reasons: forks refused" {
	controller pids >/dev/null || skip "no pids controller"
	edit '.linux.resources.pids = {limit: 20}'
	sh_args 'i=0; while [ $i -lt 40 ]; do sleep 30 & i=$((i+1)); done 2>/dev/null; exit 4'
	call run --bundle "$BUNDLE" --keep "$ID"
	exit_is '.reason == "pids" and .pidsRefused > 0 and .pidsPeak == 20 and (.detail | test("limit of 20 "))'
	call explain "$ID"
	[[ $output =~ 'ended:     pids, exit code' ]]
	call delete "$ID"

	# It got over it: a fact, but not the reason.
	sh_args '(i=0; while [ $i -lt 40 ]; do sleep 30 & i=$((i+1)); done) 2>/dev/null; exit 0'
	ends_with exited 0 'limit of 20 '
}

@test "reasons: no room left" {
	add_mount '{"destination": "/scratch", "type": "tmpfs", "source": "tmpfs", "options": ["size=1m", "nr_inodes=50"]}'
	sh_args 'head -c 2m /dev/zero >/scratch/a 2>/dev/null; exit 3'
	ends_with disk 3 'its /scratch was full'
	sh_args 'i=0; while [ $i -lt 60 ]; do : >/scratch/$i; i=$((i+1)); done 2>/dev/null; exit 3'
	ends_with disk 1 'its /scratch was full'
	sh_args 'head -c 2m /dev/zero >/scratch/a 2>/dev/null; exit 0'
	ends_with exited 0 'its /scratch was full'
	# What can be known is how it was at the end.
	sh_args 'head -c 2m /dev/zero >/scratch/a 2>/dev/null; rm /scratch/a; exit 3'
	ends_with exited 3 '^$'
}

@test "reasons: a command is not blamed for what happened before it" {
	controller memory >/dev/null || skip "no memory controller"
	edit '.linux.resources.memory = {limit: 67108864}'
	sh_args 'tail /dev/zero 2>/dev/null; exec sleep 300'
	start_detached
	local log
	log=/var/log/agentrun/$(jq -r .auditLog "$ROOT/$ID/state.json").jsonl
	wait_for 20 grep -q sleep "/proc/$(rt state "$ID" | jq .pid)/comm"
	call exec "$ID" sh -c 'exit 3'
	[ "$status" -eq 3 ]
	call exec "$ID" sh -c 'tail /dev/zero 2>/dev/null; exit 4'
	[ "$status" -eq 4 ]
	call kill "$ID" KILL
	works
	wait_for 10 grep -q '"type":"exit"' "$log"
	[ "$(jq -r 'select(.type == "process-exit") | .reason' "$log" | tr '\n' ' ')" = 'exited oom-child ' ]
}

# An engine that looks for OOM kills when it sees the exit must still find the cgroup's counters, and systemd
# removes a scope as soon as nobody is in it.
@test "an exit after an OOM kill is recorded before the cgroup is empty" {
	controller memory >/dev/null || skip "no memory controller"
	local dir script scripts=('tail /dev/zero; exit 5')
	# The end of init itself is told by the kernel's messages, which have the numbers of the first pid namespace.
	[ "$(readlink /proc/self/ns/pid)" != 'pid:[4026531836]' ] || scripts+=('exec tail /dev/zero')
	for script in "${scripts[@]}"; do
		edit '.linux.resources.memory = {limit: 67108864}'
		sh_args "until [ -e /go ]; do sleep 0.05; done; $script"
		rm -f "$ROOTFS/go" "$T/answer"
		start_detached
		dir=$(jq -r '.cgroupDirs[] | select(.controllers == "") | .path' "$ROOT/$ID/state.json")
		[ -n "$dir" ] || skip "no unified hierarchy"
		python3 "$HELPERS/cgroup_emptied.py" "$dir" "$ROOT/$ID/exit.json" >"$T/answer" 3>&- &
		# the longer the last output takes, the longer it is between the end and the record of it
		kill -STOP "$(monitor)"
		touch "$ROOTFS/go"
		wait_for 20 test -s "$T/answer"
		kill -CONT "$(monitor)" || true
		[ "$(cat "$T/answer")" = recorded ]
		exit_is '.reason | test("oom")'
		call delete "$ID"
		works
	done
}

@test "kill -9 of the supervisor ends the container at once" {
	sh_args 'setsid sleep 301 & sleep 300'
	start_detached
	local watch
	watch=$(monitor)
	kill -KILL "$(supervisor)"
	ends_within 1000
	nobody_left
	for ((i = 0; i < 40 * P; i++)); do
		[ -e "/proc/$watch/exe" ] || break
		sleep 0.05
	done
	[ ! -e "/proc/$watch/exe" ]
	call delete "$ID"
	[ "$status" -eq 0 ]
	[ ! -e "$ROOT/$ID" ]
}

@test "kill -9 of the monitor ends the container at once, and the log says so" {
	sh_args 'setsid sleep 301 & sleep 300'
	start_detached
	kill -KILL "$(monitor)"
	ends_within 1000
	nobody_left
	exit_is '.reason == "policy" and (.detail | test("monitor"))'
	local i log
	log=$(jq -r .auditLog "$ROOT/$ID/state.json")
	for ((i = 0; i < 60 * P; i++)); do
		! grep -q '"type":"monitor-lost"' "/var/log/agentrun/$log.jsonl" || break
		sleep 0.05
	done
	grep -q '"type":"monitor-lost"' "/var/log/agentrun/$log.jsonl"
}

@test "what the supervisor cannot do is in the log, once" {
	# the index is everybody's
	[ "${MACHINE-}" = 1 ] || skip "needs tests/engines/machine"
	args sleep 300
	start_detached
	local log
	log=/var/log/agentrun/$(jq -r .auditLog "$ROOT/$ID/state.json").jsonl
	rm -r /run/agentrun/index/audit
	call kill "$ID" KILL
	works
	wait_for 10 grep -q '"type":"warning"' "$log"
	call audit log --type warning "$ID"
	[ "$status" -eq 0 ]
	[[ $output =~ 'audit log: write the index of audit log' ]]
	[ "$(grep -c '"type":"warning"' "$log")" -eq 1 ]
}

@test "a monitor that does not read ends the container, and the clock is not held up" {
	time_policy 20s off 0s
	args sleep 300
	start_detached
	local i watch
	watch=$(monitor)
	kill -STOP "$watch"
	# each is a message to the monitor
	for ((i = 0; i < 600; i++)); do
		timeout 3 "$AGENTRUN" --root "$ROOT" kill "$ID" CONT >/dev/null 2>&1 3>&- || break
	done
	[ $i -lt 600 ]
	ends_within 4000
	exit_is '.reason == "policy" and (.detail | test("does not read"))'
	# it is not only left alone
	wait_for 5 test ! -e "/proc/$watch/exe"
}

@test "a created container does not outlive its supervisor either" {
	args sleep 300
	call create --bundle "$BUNDLE" "$ID"
	works
	kill -KILL "$(supervisor)"
	ends_within 1000
	call start "$ID"
	fails 1 'cannot start a container that has stopped'
}

@test "the monitor has no privilege, and neither holds an engine's descriptor" {
	args sleep 300
	mkfifo "$T/held"
	exec 7<>"$T/held"
	call run --detach --bundle "$BUNDLE" "$ID"
	works
	exec 7>&-
	local s m
	s=$(supervisor)
	m=$(monitor)
	grep -q '^CapEff:[[:space:]]*0000000000000000' "/proc/$m/status"
	grep -q '^CapPrm:[[:space:]]*0000000000000000' "/proc/$m/status"
	grep -q '^NoNewPrivs:[[:space:]]*1' "/proc/$m/status"
	grep -q '^Seccomp:[[:space:]]*2' "/proc/$m/status"
	[ "$(awk '/^Uid:/ { print $2 }' "/proc/$m/status")" -gt 1879048192 ]
	! readlink "/proc/$s/fd/"* "/proc/$m/fd/"* | grep -F "$T/"'held'
	for fd in 0 1 2; do
		[ "$(readlink "/proc/$s/fd/$fd")" = /dev/null ]
		[ "$(readlink "/proc/$m/fd/$fd")" = /dev/null ]
	done
	# out of the caller's cgroup, and not in the container's
	! grep -q "$CGROUP" "/proc/$s/cgroup"
	grep -qE ':/agentrun$' "/proc/$s/cgroup"
}

# What such a caller clones into another cgroup is killed before it has run, by kernels since 6.14.
@test "a caller in a cgroup that was killed once has a supervisor and a monitor, too" {
	local dir=/sys/fs/cgroup/unified
	[ -d $dir ] || dir=/sys/fs/cgroup
	[ -e $dir/cgroup.controllers ] || skip "no unified hierarchy"
	dir+=$CGROUP-caller
	mkdir -p "$dir"
	[ -e "$dir/cgroup.kill" ] || skip "no cgroup.kill"
	echo 1 >"$dir/cgroup.kill"
	args sleep 300
	(
		echo "$BASHPID" >"$dir/cgroup.procs"
		start_detached
	)
	kill -0 "$(supervisor)"
	kill -0 "$(monitor)"
	grep -q '^0::/agentrun$' "/proc/$(supervisor)/cgroup"
	grep -q '^0::/agentrun$' "/proc/$(monitor)/cgroup"
	stop_container
	wait_for 10 rmdir "$dir"
}

@test "both end with the container, without delete" {
	args sleep 300
	start_detached
	local s
	s=$(supervisor)
	call kill "$ID" KILL
	for ((i = 0; i < 60 * P; i++)); do
		[ -e "/proc/$s/exe" ] || break
		sleep 0.05
	done
	[ ! -e "/proc/$s/exe" ]
}

@test "passthrough and sandbox have neither" {
	args sleep 300
	AGENTRUN_FLAGS="--profile passthrough"
	start_detached
	[ "$(supervisor)" = null ]
}

@test "SIGSTOP, SIGCONT and signals reach a traced init as ever" {
	sh_args 'trap "echo got" USR1; echo up; while :; do sleep 0.05; done'
	rt_background run --bundle "$BUNDLE" "$ID"
	for ((i = 0; i < 60 * P; i++)); do
		! grep -q up "$T/background.out" || break
		sleep 0.05
	done
	call kill "$ID" STOP
	works
	sleep 0.2
	grep -q '^State:[[:space:]]*[Tt]' "/proc/$(rt state "$ID" | jq .pid)/status"
	call kill "$ID" CONT
	works
	call kill "$ID" USR1
	works
	for ((i = 0; i < 60 * P; i++)); do
		! grep -q got "$T/background.out" || break
		sleep 0.05
	done
	grep -q got "$T/background.out"
}

# tricks MODE [N]: the container runs thread-tricks.
tricks() {
	cp "$(dirname "$AGENTRUN")/tests/integration/helpers/thread-tricks" "$ROOTFS/bin/thread-tricks"
	args thread-tricks "$@"
}

@test "a traced init dies of its own fault, with its signal, and its output is not lost" {
	local kind code
	while read -r kind code; do
		tricks fault "$kind"
		run_container
		exits "$code" alive || {
			echo "$kind"
			return 1
		}
	done <<-'T'
		segv 139
		caught 5
		abort 139
	T
	[ "$(uname -m)" = x86_64 ] || return 0
	tricks fault fpe
	run_container
	exits 136 alive
	tricks fault ill
	start_detached
	nobody_left
	exit_is '.reason == "signal" and .signal == 4'
	# the instruction behind it would be next: killed instead
	call delete "$ID"
	tricks fault trap
	run_container
	exits 137 alive
}

@test "threads: the end of the first one alone is not the container's" {
	time_policy "$((2 * P))s" off 0s
	tricks leader-exits
	start_detached
	sleep "$P"
	kill -0 "$(supervisor)"
	kill -0 "$(monitor)"
	[ ! -e "$ROOT/$ID/exit.json" ]
	sleep $((2 * P))
	nobody_left
	exit_is '.reason == "deadline"'
}

@test "threads: nor for an engine that polls a pidfd" {
	time_policy "$((2 * P))s" off 0s
	tricks leader-exits
	mkfifo "$T/hold"
	# shellcheck disable=SC2086
	BUNDLE=$BUNDLE python3 "$BATS_TEST_DIRNAME/helpers/pidfd_holder.py" "$T/pid" \
		"$AGENTRUN" ${AGENTRUN_FLAGS-} --root "$ROOT" "$ID" <"$T/hold" >"$T/engine.out" 3>&- &
	local engine=$!
	exec 7>"$T/hold"
	wait_for 10 test -s "$T/engine.out"
	sleep "$P"
	kill -0 "$(supervisor)"
	[ ! -e "$ROOT/$ID/exit.json" ]
	sleep $((2 * P))
	nobody_left
	exit_is '.reason == "deadline"'
	exec 7>&-
	wait "$engine"
}

@test "threads: an engine that polls a pidfd sees the status of a process with many" {
	tricks group-exit 20
	# shellcheck disable=SC2086
	BUNDLE=$BUNDLE PID_FILE=$T/pid python3 "$BATS_TEST_DIRNAME/helpers/pidfd_engine.py" 10 7 0 \
		"$AGENTRUN" ${AGENTRUN_FLAGS-} --root "$ROOT" "$ID" 3>&-
}

@test "threads: an execve by another than the first neither frees the container nor hides its end" {
	local mode s
	for mode in thread-execs late-exec; do
		tricks "$mode"
		start_detached
		sleep 2.5
		wait_for 10 grep -qx sleep "/proc/$(rt state "$ID" | jq .pid)/comm"
		kill -KILL "$(supervisor)"
		ends_within 1500
		nobody_left
		call delete "$ID"
		works

		start_detached
		sleep 2.5
		wait_for 10 grep -qx sleep "/proc/$(rt state "$ID" | jq .pid)/comm"
		s=$(supervisor)
		call kill "$ID" KILL
		works
		exit_is '.reason == "signal" and .signal == 9 or .reason == "unknown"'
		for ((i = 0; i < 60 * P; i++)); do
			[ -e "/proc/$s/exe" ] || break
			sleep 0.05
		done
		[ ! -e "/proc/$s/exe" ]
		call delete "$ID"
		works
	done
}

@test "threads: a flood of signals does not hold up the clock" {
	time_policy 2s off 0s
	tricks flood
	start_detached
	ends_within 5000
	exit_is '.reason == "deadline"'
}

# starts_at_once: several starts of one created container at the same time; the exit codes in $T/codes.
starts_at_once() {
	local i
	: >"$T/codes"
	for i in 1 2 3 4; do
		(
			code=0
			rt start "$ID" 3>&- >/dev/null 2>>"$T/refusals" || code=$?
			echo "$code" >>"$T/codes"
		) &
	done
	wait
}

@test "of several starts at once one wins, and the others do no harm" {
	local round flags
	args sleep 300
	for flags in "" "--profile passthrough"; do
		AGENTRUN_FLAGS=$flags
		for round in 1 2 3 4 5 6; do
			call create --bundle "$BUNDLE" "$ID"
			works
			starts_at_once
			[ "$(grep -c '^0$' "$T/codes")" -eq 1 ]
			sleep 0.2
			[ "$(rt state "$ID" | jq -r .status)" = running ]
			call delete --force "$ID"
			works
		done
	done
	grep -q 'cannot start an already running container' "$T/refusals"
}

@test "a supervisor that does not answer does not hold up a kill" {
	args sleep 300
	start_detached
	local s
	s=$(supervisor)
	kill -STOP "$s"
	call kill "$ID" KILL
	works
	# nor do many, of whom some wait at its door
	python3 - "$ROOT/$ID/control.sock" <<-'END' >"$T/full" 3>&- &
		import os, socket, sys, time
		held = []
		os.chdir(os.path.dirname(sys.argv[1]))
		for i in range(100):
		    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
		    s.setblocking(False)
		    held.append(s)
		    try:
		        s.connect("control.sock")
		    except BlockingIOError:
		        break
		print("full", flush=True)
		time.sleep(60)
	END
	local holder=$!
	wait_for 20 test -s "$T/full"
	CALL_TIMEOUT=20 call kill "$ID" KILL
	works
	CALL_TIMEOUT=20 call exec "$ID" true
	fails 255 'does not answer'
	kill "$holder"
	kill -CONT "$s"
	ends_within 3000
}

@test "an engine that hangs up its terminal at once ends the command, not the container" {
	local i
	args sleep 300
	start_detached
	for i in 1 2 3 4 5 6 7 8; do
		python3 - "$T/console$i" <<-'END' 3>&- &
			import socket, sys
			listener = socket.socket(socket.AF_UNIX)
			listener.bind(sys.argv[1])
			listener.listen(1)
			connection, _ = listener.accept()
			_, fds, _, _ = socket.recv_fds(connection, 4096, 4)
			import os
			for fd in fds:
			    os.close(fd)
		END
		wait_for 5 test -S "$T/console$i"
		rt exec --detach --tty --console-socket "$T/console$i" "$ID" sleep 200 3>&- >/dev/null 2>&1 || true
	done
	sleep 0.5
	[ "$(rt state "$ID" | jq -r .status)" = running ]
	kill -0 "$(monitor)"
	call exec "$ID" echo alive
	works alive
}

@test "a start that a resident program refuses says why" {
	local i
	mkdir -p /var/log/agentrun
	for i in 1 2 3 4 5 6; do
		# shellcheck disable=SC2016
		run unshare -m sh -c 'mount -t tmpfs -o mode=0777 none /var/log/agentrun && shift && exec "$@"' sh x \
			"$AGENTRUN" --root "$ROOT" --log "$LOG" run --bundle "$BUNDLE" "$ID"
		[ "$status" -eq 1 ]
		[[ $output = *"audit log"*/var/log/agentrun* ]] || {
			echo "$output"
			false
		}
	done
	[ ! -e "$ROOT/$ID" ]
}

# There is no channel for an error after "start": runc's start succeeds, and what the process says is in its output.
@test "a program that cannot be executed says so once, in its own output, and ends with 255" {
	printf '#!/missing/interpreter\n' >"$ROOTFS/bin/bad"
	chmod 755 "$ROOTFS/bin/bad"
	args bad
	run "$AGENTRUN" --root "$ROOT" --log "$LOG" run --bundle "$BUNDLE" "$ID"
	[ "$status" -eq 255 ]
	[ "$output" = 'exec /bin/bad: no such file or directory' ]
	"$AGENTRUN" --root "$ROOT" --log "$LOG" create --bundle "$BUNDLE" "$ID" >"$BATS_TEST_TMPDIR/output" 2>&1
	call start "$ID"
	works
	[ -z "$output" ]
	ends_within 5000
	[ "$(cat "$BATS_TEST_TMPDIR/output")" = 'exec /bin/bad: no such file or directory' ]
	[ "$("$AGENTRUN" --root "$ROOT" state "$ID" | jq -c '[.exit.reason, .exit.code]')" = '["exited",255]' ]
	call delete --force "$ID"
	args sleep 100
	start_detached
	run "$AGENTRUN" --root "$ROOT" --log "$LOG" exec "$ID" bad
	[ "$status" -eq 255 ]
	[ "$output" = 'exec /bin/bad: no such file or directory' ]
}

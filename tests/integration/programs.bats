# Executed programs in the log of a real container: each once, in order, with its end; those of
# `exec` too; and none that ran unrecorded when nobody reads.
# shellcheck shell=bash

load helpers.bash

setup_file() {
	export SUITE_POLICY=1
	suite_setup_file
	[ "$KIND" = agentrun ] || skip "only agentrun records programs"
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
	mkdir -m 777 "$T/out"
	edit --arg d "$T/out" '.mounts += [{destination: "/out", type: "bind", source: $d, options: ["bind", "rw"]}]'
}

teardown() {
	suite_teardown
}

# container_log: its path. Found by the record while there is one.
container_log() {
	echo "/var/log/agentrun/$(jq -r .auditLog "$ROOT/$ID/state.json").jsonl"
}

# closed LOG: waits for its last record.
closed() {
	local i
	for ((i = 0; i < 200 * ${PATIENCE-1}; i++)); do
		! tail -n 1 "$1" | grep -q '"type":"close"' || return 0
		sleep 0.05
	done
	tail -n 3 "$1"
	return 1
}

# programs LOG: one line each: what was executed and how it ended.
programs() {
	jq -rs '
		[.[] | select(.type == "exec-exit")] as $ends |
		.[] | select(.type == "exec") | . as $e |
		[$ends[] | select(.hostPid == $e.hostPid and .start == $e.start)][0] as $last |
		"\(.argv | join(" ")) -> \($last.code // "")\($last.signal // "")"' "$1"
}

@test "programs: each once, in order, with its end" {
	# shellcheck disable=SC2016
	sh_args '/bin/busybox true; /bin/busybox false; /bin/busybox sh -c "kill -TERM \$\$"; for i in 1 2 3; do /bin/busybox echo $i; done; exit 6'
	call run --bundle "$BUNDLE" --keep "$ID"
	local log
	log=$(container_log)
	closed "$log"
	programs "$log" >"$T/programs"
	sed -i '1s/^sh -c .* ->/sh ->/' "$T/programs"
	diff "$T/programs" - <<-'END'
		sh -> 6
		/bin/busybox true -> 0
		/bin/busybox false -> 1
		/bin/busybox sh -c kill -TERM $$ -> 15
		/bin/busybox echo 1 -> 0
		/bin/busybox echo 2 -> 0
		/bin/busybox echo 3 -> 0
	END
	[ "$(jq -s '[.[] | select(.type == "lost")] | length' "$log")" -eq 0 ]
}

@test "programs: of exec, also in a cgroup of its own and by another user" {
	sh_args 'exec sleep 1000'
	start_container
	local log
	log=$(container_log)
	call exec "$ID" /bin/busybox echo one
	works one
	call exec --detach --user 1234:99 --cwd /tmp "$ID" /bin/busybox sleep 0.1
	works
	sleep 0.5
	call kill "$ID" KILL
	closed "$log"
	[ "$(programs "$log" | grep -c '^/bin/busybox echo one -> 0$')" -eq 1 ]
	jq -es '[.[] | select(.type == "exec" and .argv[1] == "sleep")] |
		length == 1 and .[0].uid == 1234 and .[0].gid == 99 and .[0].cwd == "/tmp" and .[0].hostPid != .[0].pid' "$log"
}

# The programs mark in a file that they ran.
@test "programs: when the log is not written, none runs unrecorded" {
	# shellcheck disable=SC2016
	sh_args 'while [ ! -e /out/go ]; do :; done
		i=0; while [ $i -lt 2500 ]; do /bin/busybox echo $i >>/out/ran; i=$((i + 1)); done; : >/out/done; exec sleep 1000'
	start_container
	local log monitor i
	log=$(container_log)
	monitor=$(jq -r .monitorPid "$ROOT/$ID/state.json")
	kill -STOP "$monitor"
	: >"$T/out/go"
	for ((i = 0; i < 400 * ${PATIENCE-1}; i++)); do
		[ ! -e "$T/out/done" ] || break
		sleep 0.1
	done
	kill -CONT "$monitor"
	[ -e "$T/out/done" ]
	sleep 0.5
	call kill "$ID" KILL
	closed "$log"
	local ran recorded
	ran=$(wc -l <"$T/out/ran")
	recorded=$(jq -rs '[.[] | select(.type == "exec" and .argv[1] == "echo")] | length' "$log")
	echo "$ran ran, $recorded are recorded"
	[ "$ran" -gt 100 ]
	[ "$ran" -lt 2500 ]
	[ "$ran" -eq "$recorded" ]
	local lost detail
	lost=$(jq -s '[.[] | select(.type == "lost") | .count] | add' "$log")
	[ "$lost" -gt 0 ]
	# How it ended says so too: that programs of it failed for a reason that is not its own.
	detail=$(rt state "$ID" | jq -r .exit.detail)
	echo "$detail"
	[[ $detail =~ ([0-9]+)' programs were killed because they could not be recorded' ]]
	[ "${BASH_REMATCH[1]}" -gt 0 ]
	# The last one of all may be among them.
	[ "${BASH_REMATCH[1]}" -le $((2501 - ran)) ]
}

#!/usr/bin/env bats
# The rules that engines rely on without saying so; each was learned from an engine that breaks
# when it is violated.

load helpers.bash

setup_file() { suite_setup_file; }
teardown_file() { suite_teardown_file; }
setup() { suite_setup; }
teardown() { suite_teardown; }

# monitor COMMAND...: the runtime as the child of a subreaper with its stderr (and with
# REAPER_STDOUT=1 its stdout) on a pipe; prints what helpers/reaper.py says.
monitor() {
	# shellcheck disable=SC2086
	timeout $((30 * ${PATIENCE-1})) "$PYTHON" "$HELPERS/reaper.py" "$T/pid" "$AGENTRUN" ${AGENTRUN_FLAGS-} --root "$ROOT" \
		--log "$LOG" --log-format json "$@" 2>"$T/monitor.err" 3>&-
}

@test "no command keeps the caller's pipes open" {
	local command
	args sleep 1000
	# create without a terminal hands them to the container, so use the other commands
	call create --bundle "$BUNDLE" "$ID"
	works
	export REAPER_DETACHED=1 REAPER_STDOUT=1
	for command in "start $ID" "state $ID" "ps $ID" "pause $ID" "resume $ID" "update --pids-limit 50 $ID" \
		"kill $ID KILL" "delete --force $ID"; do
		echo "--- $command"
		run monitor $command
		[ "$output" = "runtime 0 0" ]
	done
}

@test "create -t and exec -t keep no pipe open" {
	args sleep 1000
	edit '.process.terminal = true'
	"$PYTHON" "$HELPERS/console.py" "$T/socket" >/dev/null 2>&1 3>&- &
	wait_for 10 test -S "$T/socket"
	export REAPER_DETACHED=1 REAPER_STDOUT=1
	run monitor create --bundle "$BUNDLE" --console-socket "$T/socket" --pid-file "$T/pid" "$ID"
	[ "$output" = "runtime 0 0" ]
	call start "$ID"
	works
	"$PYTHON" "$HELPERS/console.py" "$T/socket2" >/dev/null 2>&1 3>&- &
	wait_for 10 test -S "$T/socket2"
	run monitor exec --detach --tty --console-socket "$T/socket2" "$ID" sleep 1000
	[ "$output" = "runtime 0 0" ]
}

@test "init is a child of the monitor, which sees its exit code" {
	sh_args 'sleep 0.3; exit 33'
	export REAPER_THEN="$AGENTRUN --root $ROOT start $ID"
	run monitor create --bundle "$BUNDLE" --pid-file "$T/pid" "$ID"
	[[ $output = "runtime 0 "?$'\n'"child 33" ]]
}

@test "init is a child of the monitor, which sees the signal" {
	sh_args 'sleep 1000'
	export REAPER_THEN="$AGENTRUN --root $ROOT start $ID; $AGENTRUN --root $ROOT kill $ID KILL"
	run monitor create --bundle "$BUNDLE" --pid-file "$T/pid" "$ID"
	[[ $output = "runtime 0 "?$'\n'"child 137" ]]
}

@test "a detached exec is a child of the monitor" {
	start_sleeper
	run monitor exec --detach --pid-file "$T/pid" "$ID" sh -c 'sleep 0.3; exit 34'
	[[ $output = "runtime 0 "?$'\n'"child 34" ]]
}

@test "a detached exec without a private process namespace is a child of the monitor" {
	edit '.linux.namespaces |= map(select(.type != "pid"))'
	start_sleeper
	run monitor exec --detach --pid-file "$T/pid" "$ID" sh -c 'sleep 0.3; exit 35'
	[[ $output = "runtime 0 "?$'\n'"child 35" ]]
}

@test "a detached run is a child of the monitor" {
	sh_args 'sleep 0.3; exit 36'
	run monitor run --detach --bundle "$BUNDLE" --pid-file "$T/pid" "$ID"
	[[ $output = "runtime 0 "?$'\n'"child 36" ]]
}

@test "errno texts are in lower case" {
	call create --bundle "$T/none" "$ID"
	fails 1 'no such file or directory'
	args /etc/plain
	call create --bundle "$BUNDLE" "$ID"
	fails 1 'permission denied'
}

@test "the log is made even when nothing is written, and only appended to" {
	rm -f "$LOG"
	rt run --bundle "$BUNDLE" "$ID" </dev/null 3>&-
	[ -e "$LOG" ]
	[ ! -s "$LOG" ]
	echo '{"level":"error","msg":"older","time":"2026-01-01T00:00:00Z"}' >"$LOG"
	rt state nosuch </dev/null 3>&- || true
	[ "$(wc -l <"$LOG")" -eq 2 ]
	head -n 1 "$LOG" | grep -q older
	[ "$(stat -c %a "$LOG")" = 644 ]
}

@test "the log in text form" {
	run "$AGENTRUN" --root "$ROOT" --log "$LOG" state nosuch
	[ "$status" -eq 1 ]
	[ "$(wc -l <"$LOG")" -eq 1 ]
	grep -q 'does not exist' "$LOG"
}

@test "the log may be a relative path and the bundle another folder" {
	cd "$T"
	run "$AGENTRUN" --root root --log relative.json --log-format json run --bundle nosuch "$ID"
	[ "$status" -eq 1 ]
	[ "$(wc -l <relative.json)" -eq 1 ]
}

@test "--debug adds records, without --debug there are none" {
	rt run --bundle "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1 3>&-
	[ ! -s "$LOG" ]
	rt --debug run --bundle "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1 3>&-
	other crun "1.8 logs little"
	grep -q '"debug"' "$LOG"
	jq -es 'all(has("level") and has("msg") and has("time"))' "$LOG"
}

@test "pid file: decimal digits, no newline, the pid of init" {
	start_sleeper --pid-file "$T/pid"
	[[ $(od -An -c "$T/pid" | tr -d ' \n') =~ ^[0-9]+$ ]]
	[ "$(cat "$T/pid")" = "$(pid_of)" ]
	[ "$(stat -c %s "$T/pid")" -eq "$(printf %s "$(pid_of)" | wc -c)" ]
}

@test "pid file: not written on failure, and of exec" {
	args nosuchprogram
	call create --bundle "$BUNDLE" --pid-file "$T/pid" "$ID"
	fails 1
	[ ! -e "$T/pid" ]
	start_sleeper
	call exec --detach --pid-file "$T/exec.pid" "$ID" sleep 1000
	works
	[[ $(od -An -c "$T/exec.pid" | tr -d ' \n') =~ ^[0-9]+$ ]]
	[ "$(tr '\0' ' ' <"/proc/$(cat "$T/exec.pid")/cmdline")" = 'sleep 1000 ' ]
	rm "$T/exec.pid"
	call exec --detach --pid-file "$T/exec.pid" "$ID" nosuchprogram
	fails 255
	[ ! -e "$T/exec.pid" ]
}

@test "delete --force of an unknown container is silent" {
	call delete --force nosuch
	works ''
	[ -z "$errors" ]
}

@test "delete --force after a failed create" {
	args nosuchprogram
	call create --bundle "$BUNDLE" "$ID"
	fails 1
	call delete --force "$ID"
	works ''
	clean
}

@test "delete and kill: the texts that engines look for" {
	call delete nosuch
	fails 1 'does not exist'
	start_sleeper
	stop_container
	call kill "$ID" TERM
	fails 1 'container not running'
}

@test "kill --all 9 on a stopped container kills what is left" {
	# without a private process namespace the others survive init
	edit '.linux.namespaces |= map(select(.type != "pid"))'
	sh_args 'sleep 1000 & exit 0'
	start_container
	wait_for 10 has_status stopped
	has_processes
	call kill --all "$ID" 9
	works
	wait_for 10 no_processes
	call kill --all "$ID" 9
	works
	call delete "$ID"
	works
	clean
}

@test "KILL reaches a paused container" {
	start_sleeper
	call pause "$ID"
	works
	call kill "$ID" 9
	works
	wait_for 10 has_status stopped
	call resume "$ID"
	fails 1 'container not paused'
	call delete "$ID"
	works
	clean
}

@test "delete --force of a paused container" {
	start_sleeper
	call pause "$ID"
	works
	call delete --force "$ID"
	works
	clean
}

@test "the configuration is only needed by create: bundle and config may vanish" {
	args sleep 1000
	call create --bundle "$BUNDLE" "$ID"
	works
	rm "$BUNDLE/config.json"
	cd /
	call start "$ID"
	works
	if [ "$KIND" != runc ]; then
		call exec "$ID" echo inside
		works inside
	fi
	call kill "$ID" KILL
	wait_for 10 has_status stopped
	call delete "$ID"
	works
	clean
}

@test "descriptors of the caller do not reach container, exec or hooks" {
	printf '#!/bin/sh\nls -l /proc/self/fd >%s\n' "$T/hook.fds" >"$T/hook"
	chmod 755 "$T/hook"
	edit --arg p "$T/hook" '.hooks.createRuntime = [{path: $p}]'
	sh_args 'ls /proc/self/fd >/fds; sleep 1000'
	exec 7<"$BUNDLE/config.json" 9<"$HELPERS/console.py"
	start_container
	wait_for 10 has_file "$ROOTFS/fds"
	# 3 is the folder that ls reads
	[ "$(tr '\n' ' ' <"$ROOTFS/fds")" = '0 1 2 3 ' ]
	! grep -E 'config.json|console.py' "$T/hook.fds"
	call exec "$ID" ls /proc/self/fd
	works $'0\n1\n2\n3'
	exec 7<&- 9<&-
}

@test "an empty environment is enough, and a full one does not leak" {
	args env
	edit '.process.env = ["PATH=/bin", "ONLY=this"]'
	run env -i "$AGENTRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(grep -v '^\(HOME\|PATH\|ONLY\)=' <<<"$output")" = '' ]
	run env -i XDG_RUNTIME_DIR= "$AGENTRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
	[ "$status" -eq 0 ]
	run env LD_LIBRARY_PATH=/nosuch SECRET=1 "$AGENTRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
	[ "$status" -eq 0 ]
	[[ $output != *SECRET* && $output != *LD_LIBRARY_PATH* ]]
}

@test "update: zeros mean unchanged, devices are ignored" {
	edit '.linux.resources.memory = {limit: 67108864}'
	start_sleeper
	echo '{"memory":{"limit":0,"reservation":0,"kernel":0},"cpu":{"shares":512,"quota":0,"period":0,"cpus":"0"},"blockIO":{"weight":0}}' >"$T/body"
	CALL_STDIN=$T/body call update --resources - "$ID"
	works
	if cgroup_v1; then
		[ "$(cat "$(controller memory)/memory.limit_in_bytes")" = 67108864 ]
		[ "$(cat "$(controller cpu)/cpu.shares")" = 512 ]
	fi
	echo '{"devices":[{"allow":false,"access":"rwm"}],"cpu":{"shares":256}}' >"$T/body"
	CALL_STDIN=$T/body call update --resources=- "$ID"
	works
	call exec "$ID" sh -c 'echo x >/dev/null && head -c 1 /dev/zero | wc -c'
	works 1
}

@test "the default devices are usable when the rules only say no" {
	edit '.linux.resources.devices = [{allow: false, access: "rwm"}]'
	sh_args 'for d in null zero full random urandom tty; do [ -c /dev/$d ] || echo no $d; done; head -c 2 /dev/zero | wc -c; head -c 2 /dev/urandom | wc -c; echo x >/dev/null && echo null; mknod /k c 1 11; cat /k 2>&1'
	edit '.process.capabilities[] += ["CAP_MKNOD"]'
	run_container
	report
	[[ $output = $'2\n2\nnull\n'*'not permitted'* ]]
}

@test "state between exit and delete" {
	start_sleeper
	kill -9 "$(pid_of)"
	wait_for 10 has_status stopped
	call state "$ID"
	works
	jq -e '.status == "stopped" and .pid == 0' "$T/stdout"
}

@test "the runtime may be killed at any time: delete --force cleans up" {
	local i pid
	args sleep 1000
	for i in 1 3 5 8 12 16 20 25 30 40; do
		rt_background create --bundle "$BUNDLE" "$ID"
		pid=$!
		sleep "0.0$(printf %02d $i)"
		kill -9 $pid 2>/dev/null || true
		wait $pid || true
		other runc,crun "leave cgroups behind"
		call delete --force "$ID"
		works ''
		wait_for 10 clean
	done
}

@test "exit codes: own failure is 1 for run and 255 for exec" {
	args nosuchprogram
	run_container
	fails 1
	start_sleeper
	call exec "$ID" nosuchprogram
	fails 255 'executable file not found in \$PATH'
	call exec "$ID" sh -c 'exit 17'
	exits 17
	call exec "$ID" sh -c 'kill -TERM $$'
	exits 143
}

@test "spellings: one dash, equals, repeated, short" {
	args sleep 1000
	call create -bundle="$BUNDLE" -pid-file "$T/pid" "$ID"
	works
	call start "$ID"
	works
	status=0
	"$AGENTRUN" --root /nonexistent --root "$ROOT" --systemd-cgroup=false state "$ID" >/dev/null || status=$?
	[ "$status" -eq 0 ]
	call exec -d -e A=1 -u 0:0 --cwd=/ "$ID" sleep 5
	works
	call kill -a "$ID" 9
	works
	wait_for 10 has_status stopped
	call delete -f "$ID"
	works
}

@test "checkpoint --help ends with 0" {
	run "$AGENTRUN" checkpoint --help
	[ "$status" -eq 0 ]
}

@test "restore --lsm-mount-context without a value" {
	run "$AGENTRUN" restore --lsm-mount-context
	[ "$status" -ne 0 ]
	[[ $output = *"flag needs an argument"* || $output = *"requires an argument"* ]]
}

@test "signals: nothing blocked or ignored in the container" {
	args grep -E '^Sig(Blk|Ign|Cgt)' /proc/self/status
	run bash -c 'trap "" PIPE USR1; exec "$@"' x "$AGENTRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
	[ "$status" -eq 0 ]
	[[ $output =~ SigBlk:.0000000000000000 ]]
	[[ $output =~ SigIgn:.0000000000000000 ]]
	start_sleeper
	run bash -c 'trap "" PIPE USR1; exec "$@"' x "$AGENTRUN" --root "$ROOT" exec "$ID" grep -E '^Sig(Blk|Ign)' /proc/self/status
	[[ $output =~ SigIgn:.0000000000000000 ]]
}

@test "no state is kept when the container ends before delete, and the name is free afterwards" {
	local i
	for i in 1 2 3; do
		start_sleeper
		call delete --force "$ID"
		works
	done
	clean
}

@test "concurrent calls on one container" {
	local i pids=()
	start_sleeper
	for i in 1 2 3 4 5 6 7 8; do
		rt exec "$ID" sh -c "sleep 0.2; echo $i" </dev/null >"$T/out.$i" 2>&1 3>&- &
		pids+=($!)
		rt ps "$ID" </dev/null >/dev/null 2>&1 3>&- &
		pids+=($!)
		rt state "$ID" </dev/null >/dev/null 2>&1 3>&- &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i"
	done
	[ "$(cat "$T"/out.* | tr '\n' ' ')" = '1 2 3 4 5 6 7 8 ' ]
}

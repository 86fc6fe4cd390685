#!/usr/bin/env bats
# Attacks on the state folder and the start gate, and the death of the runtime at any moment.

load attacks.bash

setup_file() {
	attack_setup_file probe
}

teardown_file() {
	suite_teardown_file
}

setup() {
	attack_setup
	chmod 755 "$T" "$BATS_FILE_TMPDIR" "$BATS_RUN_TMPDIR"
}

teardown() {
	attack_teardown
}

as_nobody() {
	setpriv --reuid 65534 --regid 65534 --clear-groups "$@" 3>&-
}

@test "ids that name other folders are refused by every command" {
	local id command
	mkdir -p "$T/root/sub"
	cp -r "$CANARY" "$T/other"
	for id in .. . '' a/b ../other ../../canary /etc "$CANARY" $'a\nb' 'a b' '*' '%s%n' "$(printf 'x%.0s' $(seq 300))"; do
		for command in "create --bundle $BUNDLE" "run --bundle $BUNDLE" start state kill delete 'delete --force' pause resume ps; do
			call $command -- "$id"
			[ "$status" -ne 0 ]
		done
		call exec "$id" true
		[ "$status" -ne 0 ]
		call update --pids-limit 5 "$id"
		[ "$status" -ne 0 ]
	done
	[ -d "$T/root/sub" ]
	diff -r "$CANARY/dir" "$T/other/dir"
}

@test "a state folder that others may change is refused" {
	mkdir "$ROOT"
	chown 65534 "$ROOT"
	run_container
	fails 1
	chown 0 "$ROOT"
	chmod 777 "$ROOT"
	run_container
	fails 1
	chmod 700 "$ROOT"
	run_container
	works
}

@test "a link in place of a container's folder or record is not followed" {
	mkdir -p "$T/fake"
	start_sleeper
	cp "$ROOT/$ID"/*.json "$T/fake/"
	ln -s "$T/fake" "$ROOT/linked"
	for command in state kill delete 'delete --force' pause; do
		call $command linked
		[ "$status" -ne 0 ] || [ "$command" = 'delete --force' ]
	done
	[ -f "$T/fake/state.json" ]
	mkdir "$ROOT/half"
	ln -s "$T/fake/state.json" "$ROOT/half/state.json"
	call kill half KILL
	[ "$status" -ne 0 ]
	has_status running
	# it can be deleted; the link's end stays
	rm "$ROOT/linked"
	call delete --force half
	[ -f "$T/fake/state.json" ]
	rm -rf "$ROOT/half"
}

@test "a record with somebody else's process or folders harms neither" {
	local victim
	sleep 1000 3>&- &
	victim=$!
	start_sleeper
	# the number is right, the time of its start is not
	jq --argjson p $victim '.pid = $p' "$ROOT/$ID/state.json" >"$T/s"
	cp "$ROOT/$ID/state.json" "$T/good"
	cp "$T/s" "$ROOT/$ID/state.json"
	call kill "$ID" KILL
	[ "$status" -ne 0 ]
	kill -0 $victim
	jq --arg d "$CANARY" '.cgroupDirs += [{controllers: "", path: $d, created: true}]' "$T/good" >"$ROOT/$ID/state.json"
	call delete --force "$ID"
	kill -9 $victim
	cp "$T/good" "$ROOT/$ID/state.json"
}

@test "a cgroup path that climbs makes no folder outside the cgroups" {
	local path
	for path in "/../../..$CANARY/cg" "../../../../../..$CANARY/cg" "/a/../../../..$CANARY/cg" ../..; do
		edit --arg p "$path" '.linux.cgroupsPath = $p'
		run_container
		rt delete --force "$ID"
		canary_untouched
	done
	start_container_in "$CGROUP"
	for path in .. ../../x /../.. a/../../..; do
		call exec --cgroup "$path" "$ID" true
		[ "$status" -ne 0 ]
	done
}

start_container_in() {
	edit --arg p "$1" '.linux.cgroupsPath = $p'
	start_sleeper
}

@test "an unprivileged user reads nothing of a container and cannot start it" {
	local file
	args sleep 1000
	call create --bundle "$BUNDLE" "$ID"
	works
	# even where the root folder itself is open to all
	chmod 755 "$ROOT"
	for file in "$ROOT/$ID"/*; do
		if as_nobody cat "$file" 2>/dev/null; then
			echo "read: $file"
			return 1
		fi
	done
	if as_nobody ls "$ROOT/$ID" 2>/dev/null || as_nobody touch "$ROOT/$ID/x" 2>/dev/null; then
		return 1
	fi
	as_nobody python3 "$BATS_TEST_DIRNAME/helpers/gate.py" "$ROOT/$ID/start.sock" >"$T/gate" 2>&1 || true
	grep -q 'Permission denied' "$T/gate"
	has_status created
}

@test "visitors of the gate who talk nonsense neither start nor end the container" {
	args sleep 1000
	call create --bundle "$BUNDLE" "$ID"
	works
	python3 "$BATS_TEST_DIRNAME/helpers/gate.py" "$ROOT/$ID/start.sock" nonsense
	has_status created
	call start "$ID"
	works
	has_status running
}

@test "a visitor of the gate who says nothing does not keep the container from its start for ever" {
	args sleep 1000
	call create --bundle "$BUNDLE" "$ID"
	works
	python3 "$BATS_TEST_DIRNAME/helpers/gate.py" "$ROOT/$ID/start.sock" silent >"$T/gate" 3>&- &
	wait_for 5 has_file "$T/gate"
	CALL_TIMEOUT=20 call start "$ID"
	kill %1 || true
	works
	has_status running
}

# no_trace: neither a process of the runtime nor one of the container.
no_trace() {
	local file
	for file in /proc/[0-9]*/cmdline; do
		if tr '\0' ' ' <"$file" 2>/dev/null | grep -qE "(^sleep 31337|--root $ROOT) "; then
			return 1
		fi
	done
}

# killed_after MILLISECONDS COMMAND...: the runtime gets SIGKILL then.
killed_after() {
	local delay=$1 pid
	shift
	# shellcheck disable=SC2086
	"$AGENTRUN" ${AGENTRUN_FLAGS-} --root "$ROOT" --log "$LOG" --log-format json "$@" </dev/null >/dev/null 2>&1 3>&- &
	pid=$!
	sleep "$(printf '0.%04d' "$delay")"
	kill -9 $pid 2>/dev/null || true
	wait $pid 2>/dev/null || true
}

@test "killed at any moment, ${KILLS:-200} times: delete --force leaves nothing" {
	local i step delay
	args sleep 31337
	for i in $(seq "${KILLS:-200}"); do
		delay=$((RANDOM % 500))
		step=$((i % 4))
		case $step in
		0) killed_after $delay create --bundle "$BUNDLE" "$ID" ;;
		1)
			rt create --bundle "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1 3>&-
			killed_after $((delay / 4)) start "$ID"
			;;
		2)
			rt run --detach --bundle "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1 3>&-
			killed_after $delay exec "$ID" sleep 31337
			;;
		3)
			rt run --detach --bundle "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1 3>&-
			killed_after $((delay / 4)) delete --force "$ID"
			;;
		esac
		call delete --force "$ID"
		works
		clean
		wait_for 2 no_trace
	done
}

@test "killed at any moment, ${KILLS:-100} times, in the host's pid namespace" {
	local i
	edit '.linux.namespaces |= map(select(.type != "pid"))'
	args sleep 31337
	for i in $(seq "$((${KILLS:-200} / 2))"); do
		killed_after $((RANDOM % 500)) run --bundle "$BUNDLE" "$ID"
		call delete --force "$ID"
		works
		clean
		wait_for 2 no_trace
	done
}

#!/usr/bin/env bats
# The disk of the log: one that stands still, and one that is full, below real containers.
# shellcheck shell=bash

load helpers.bash

setup_file() {
	export SUITE_POLICY=1
	suite_setup_file
	[ "$KIND" = agentrun ] || skip "only agentrun has an audit log"
	[ -n "${MACHINE-}" ] || skip "needs tests/engines/machine: it mounts over /var/log/agentrun"
	{ command -v mkfs.ext4 && command -v fsfreeze; } >/dev/null || skip "needs mkfs.ext4 and fsfreeze"
}

teardown_file() {
	suite_teardown_file
}

setup() {
	suite_setup
	truncate -s 16M "$T/disk.img"
	mkfs.ext4 -q -m 0 -O ^has_journal "$T/disk.img"
	mount -o loop "$T/disk.img" /var/log/agentrun
	chmod 700 /var/log/agentrun
}

teardown() {
	is_set_up || return 0
	fsfreeze --unfreeze /var/log/agentrun 2>/dev/null || true
	suite_teardown
	umount -l /var/log/agentrun
}

the_log() {
	# shellcheck disable=SC2012
	ls -t /var/log/agentrun/"$ID"-*-"$(log_root)".jsonl | head -n 1
}

audit() {
	rt audit "$@" 3>&-
}

on_failure() {
	printf '{"version": 1, "profiles": {"default": {"audit": {"onFailure": "%s", "output": {"maxBytes": "64MiB", "requestMax": "64MiB"}}}}}' \
		"$1" >"$T/policy.json"
	chmod 600 "$T/policy.json"
	AGENTRUN_FLAGS="--policy $T/policy.json"
}

# fill LEAVE: but for so many bytes.
fill() {
	local room
	room=$(($(stat -f -c '%a * %S' /var/log/agentrun)))
	fallocate -l $((room - $1)) /var/log/agentrun/ballast
}

@test "a disk that stands still: nothing is lost" {
	on_failure stop
	sh_args 'read go; i=0; while [ $i -lt 300 ]; do /bin/busybox echo line $i; i=$((i + 1)); done; read on; exit 5'
	mkfifo "$T/in"
	{ rt run --bundle "$BUNDLE" "$ID" <"$T/in" 3>&- | cat >"$T/out"; echo "${PIPESTATUS[0]}" >"$T/code"; } 3>&- &
	exec 7>"$T/in"
	wait_for 60 eval '[ "$(rt state "$ID" | jq -r .status)" = running ]'
	fsfreeze --freeze /var/log/agentrun
	echo go >&7
	sleep 2
	[ "$(rt state "$ID" | jq -r .status)" = running ]
	fsfreeze --unfreeze /var/log/agentrun
	echo on >&7
	exec 7>&-
	wait
	[ "$(cat "$T/code")" -eq 5 ]
	[ "$(cat "$T/out")" = "$(printf 'line %d\n' $(seq 0 299))" ]
	wait_for 60 eval '[[ $(audit verify "$ID") = *"good: "*", closed" ]]'
	[ "$(jq -s '[.[] | select(.type == "exec" and .argv[1] == "echo")] | length' "$(the_log)")" -eq 300 ]
	[ "$(jq -rj 'select(.type == "output") | .data' "$(the_log)")" = "$(cat "$T/out")" ]
}

@test "a disk that stands still keeps nobody from being killed" {
	on_failure stop
	sh_args 'while read line; do echo "$line"; done'
	mkfifo "$T/in"
	exec 7<>"$T/in"
	rt run --detach --bundle "$BUNDLE" "$ID" <"$T/in" >"$T/out" 2>&1 3>&- 7>&-
	fsfreeze --freeze /var/log/agentrun
	echo word >&7
	rt exec --detach "$ID" true </dev/null >/dev/null 2>&1 3>&- 7>&-
	rt kill "$ID" KILL
	wait_for 60 eval '[ "$(rt state "$ID" | jq -r .status)" = stopped ]'
	fsfreeze --unfreeze /var/log/agentrun
	exec 7>&-
	rt delete "$ID"
	wait_for 60 eval '[[ $(audit verify "$ID") = *"good: "*", closed" ]]'
}

@test "a full disk ends the container where the policy says so" {
	on_failure stop
	sh_args 'echo begin; head -c 20000000 /dev/zero | tr "\0" x; sleep 1000'
	fill 500000
	{ rt run --bundle "$BUNDLE" --keep "$ID" 3>&- | wc -c >"$T/out"; echo "${PIPESTATUS[0]}" >"$T/code"; } 3>&-
	[ "$(cat "$T/code")" -eq 137 ]
	jq -e '.reason == "policy" and (.detail | test("cannot write the audit log: no space"))' "$ROOT/$ID/exit.json"
	[[ $(audit verify "$ID") = *"it says itself that"* ]]
	rt delete "$ID"
}

@test "a full disk leaves a gap where the policy goes on" {
	on_failure continue
	sh_args 'head -c 20000000 /dev/zero | tr "\0" x; echo; read go; echo after; exit 6'
	fill 500000
	mkfifo "$T/in"
	{ rt run --bundle "$BUNDLE" "$ID" <"$T/in" 3>&- | wc -c >"$T/out"; echo "${PIPESTATUS[0]}" >"$T/code"; } 3>&- &
	exec 7>"$T/in"
	wait_for 60 eval '[ $(($(stat -f -c "%a * %S" /var/log/agentrun))) -lt 20000 ]'
	rm /var/log/agentrun/ballast
	sleep 1
	echo go >&7
	exec 7>&-
	wait
	[ "$(cat "$T/code")" -eq 6 ]
	[ "$(cat "$T/out")" -eq 20000007 ]
	jq -se 'any(.[]; .type == "gap" and .records > 0)' "$(the_log)"
	[[ $(audit verify "$ID") = *"it says itself that"* ]]
	jq -se 'any(.[]; .type == "exit" and .code == 6)' "$(the_log)"
}

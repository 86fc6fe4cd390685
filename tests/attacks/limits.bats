#!/usr/bin/env bats
# What a container takes from its host and its neighbours beyond its limits: by lifting them, or of things
# that no cgroup counts. Under the built-in profiles.
# shellcheck shell=bash

load attacks.bash

setup_file() {
	export SUITE_POLICY=1
	suite_setup_file
	[ "$KIND" = agentrun ] || skip "only agentrun has profiles"
	if [ -e /etc/agentrun/policy.json ]; then
		skip "this host has a policy of its own"
	fi
	cc -static -O1 -o "$BATS_FILE_TMPDIR/rootfs/bin/taker" "$BATS_TEST_DIRNAME/helpers/taker.c" ||
		skip "no compiler for static programs"
}

teardown_file() {
	suite_teardown_file
}

setup() {
	attack_setup
	chmod 1777 "$ROOTFS/tmp"
}

teardown() {
	attack_teardown
}

@test "no profile lets a process lift its limits through a cgroup namespace of its own" {
	local profile
	for profile in default build nested; do
		AGENTRUN_FLAGS="--profile $profile"
		args taker lift
		run_container
		works
		lacks LIFTED MADE
		rm -rf "$ROOTFS/tmp/hierarchy"
	done
	# an ordinary user may have the namespace: the files are not his
	args sleep 1000
	edit '.process.user = {uid: 1000, gid: 1000}'
	start_container
	call exec "$ID" taker lift
	works
	lacks LIFTED MADE
	[[ $output = "unshare: done" ]]
	rm -rf "$ROOTFS/tmp/hierarchy"
	call exec --user 0 "$ID" taker lift
	works
	lacks LIFTED MADE
	[[ $output = "unshare: Operation not permitted" ]]
}

# taken_over WORD...: the monitor of the container says that.
taken_over() {
	"$PYTHON" "$BATS_TEST_DIRNAME/helpers/monitor.py" "$(jq -r .monitorPid "$ROOT/$ID/state.json")" "$@" 3>&-
}

@test "a monitor that was taken over gets no files to fill the disk with" {
	local part name
	for part in 2 3 100000; do
		AGENTRUN_FLAGS=''
		start_sleeper
		name=$(jq -r .auditLog "$ROOT/$ID/state.json")
		taken_over nothing
		call exec "$ID" true
		works
		taken_over part $part
		wait_for 10 has_status stopped
		jq -e '.reason == "policy" and (.detail | test("must not"))' "$ROOT/$ID/exit.json"
		[ ! -e "/var/log/agentrun/$name.$part.jsonl" ]
		call delete "$ID"
		works
	done
}

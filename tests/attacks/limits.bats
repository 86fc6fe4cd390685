#!/usr/bin/env bats
# What a container takes from its host and its neighbours beyond its limits: by lifting them, or of things
# that no cgroup counts. Under the built-in profiles.
# shellcheck shell=bash

load attacks.bash

setup_file() {
	export SUITE_POLICY=1
	attack_setup_file taker
	[ "$KIND" = agentrun ] || skip "only agentrun has profiles"
	if [ -e /etc/agentrun/policy.json ]; then
		skip "this host has a policy of its own"
	fi
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

# second_container: a bundle beside the first, of the same image.
second_container() {
	mkdir "$T/second"
	jq --arg r "$ROOTFS" --arg c "$CGROUP-second" --arg verb "$1" \
		'.root.path = $r | .linux.cgroupsPath = $c | .process.args = ["taker", $verb]' \
		"$BUNDLE/config.json" >"$T/second/config.json"
}

# takes VERB: how many the container gets; it keeps them. Afterwards one of another container: $rest.
takes() {
	args taker "$1"
	rt run --detach --bundle "$BUNDLE" "$ID" </dev/null >"$T/taken" 2>&1 3>&-
	wait_for 20 grep -q . "$T/taken"
	taken=$(cat "$T/taken")
	second_container "$1"
	rt run --detach --bundle "$T/second" second </dev/null >"$T/rest" 2>&1 3>&- || { cat "$T/rest"; return 1; }
	wait_for 20 grep -q . "$T/rest"
	rest=$(cat "$T/rest")
	echo "taken $taken, by the next $rest"
}

@test "one container does not take all terminals" {
	AGENTRUN_FLAGS=''
	takes terminals
	[ "$taken" -gt 0 ] && [ "$taken" -le 256 ]
	[ "$rest" -gt 0 ]
	rt delete --force second
}

@test "what root of a container has pending leaves root of the host its own" {
	local most
	AGENTRUN_FLAGS=''
	most=$(ulimit -i)
	[ "$most" = unlimited ] || [ "$most" -gt 5000 ] || skip "no more is allowed to root here: $most"
	takes timers
	[ "$taken" -gt 0 ] && [ "$taken" -le 4096 ]
	"$ATTACK_PROGRAMS/taker" timers >"$T/host" 3>&- &
	wait_for 10 grep -q . "$T/host"
	kill $!
	[ "$(cat "$T/host")" -gt 100 ]
	rt delete --force second
}

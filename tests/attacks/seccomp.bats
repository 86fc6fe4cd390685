#!/usr/bin/env bats
# The probes of kernel exploits inside real containers: each shipped profile, by run and by
# exec, as root and as a user; and the score of what such a process can still start.

load attacks.bash

setup_file() {
	export SUITE_POLICY=1
	suite_setup_file
	[ "$KIND" = agentrun ] || skip "only agentrun has profiles"
	PROBES=${PROBES:-$(dirname "$(realpath "$AGENTRUN")")/tests/attacks/probes}
	export PROBES
	[ -x "$PROBES/probe" ] || skip "the probes are not built beside the runtime: set PROBES"
	cp "$PROBES/probe" "$BATS_FILE_TMPDIR/rootfs/bin/probe"
}

teardown_file() {
	suite_teardown_file
}

setup() {
	suite_setup
	TOP=$(realpath "$BATS_TEST_DIRNAME/../..")
}

teardown() {
	suite_teardown
}

# seccomp_policy PROFILE
seccomp_policy() {
	printf '{"version": 1, "profiles": {"default": {"inherits": "builtin:default", "seccomp": {"profile": "%s"}}}}\n' \
		"$1" >"$T/policy.json"
	chmod 600 "$T/policy.json"
	AGENTRUN_FLAGS="--policy $T/policy.json"
}

# answers PROFILE: the TAP of probe has no failure, and all of it is there.
answers() {
	if [ "$status" -ne 0 ] || [[ $output = *"not ok"* ]] || ! [[ $output =~ 1\.\.1[5-9][0-9]$ ]]; then
		report | grep -v '^ok' || true
		return 1
	fi
}

as_user() {
	edit '.process.user = {uid: 1000, gid: 1000}'
}

probe_profile() {
	seccomp_policy "$1"
	args probe "$1"
	run_container
	answers
	as_user
	run_container
	answers
	start_sleeper
	call exec "$ID" probe "$1"
	answers
	call exec --user 0:0 "$ID" probe "$1"
	answers
}

@test "probes under agent-default: run and exec, root and a user" {
	probe_profile agent-default
}

@test "probes under agent-strict: run and exec, root and a user" {
	probe_profile agent-strict
}

@test "probes under agent-build: run and exec, root and a user" {
	probe_profile agent-build
}

@test "probes under agent-nested: run and exec, root and a user" {
	probe_profile agent-nested
}

@test "an engine's filter below the agent's changes no answer" {
	local order
	seccomp_policy agent-default
	for order in 'del(.x)' '.linux.seccomp.syscalls |= map(.names -= ["seccomp", "prctl"])'; do
		edit --slurpfile d "$TOP/tests/data/configs/docker20-run.json" '.linux.seccomp = $d[0].linux.seccomp'
		edit "$order"
		args probe
		run_container
		[ "$status" -eq 0 ]
		# refused by either: the family, the calls, the ways round by other entries
		[[ $output = *$'\nkeyctl\tOperation not permitted'* && $output = *$'\nsplice\tInvalid argument'* ]] || {
			[ "$order" != 'del(.x)' ] && [[ $output = *$'\nsplice\t'*'not permitted'* ]]
		}
	done
}

# The profile with every denial's errno turned into one that no kernel gives.
marked_profile() {
	jq 'walk(if type == "object" then with_entries(if .key == "errno" then {key: "errnoRet", value: 177}
		elif .key == "defaultErrno" then {key: "defaultErrnoRet", value: 177}
		elif .key == "errnoRet" or .key == "defaultErrnoRet" then .value = 177 else . end) else . end)' \
		"$TOP/seccomp-profiles/agent-default.json" >"$T/marked.json"
	chmod 600 "$T/marked.json"
	seccomp_policy "$T/marked.json"
}

# scores FILE: the row of agent-default in the golden table, from a listing.
scores() {
	srcdir=$TOP "$PROBES/score-listing" agent-default <"$1" >"$T/row"
	diff "$T/row" <(grep '^| agent-default |' "$TOP/tests/golden/seccomp-score.md")
}

@test "the score of agent-default holds for run and exec, root and a user" {
	marked_profile
	args probe
	run_container
	[ "$status" -eq 0 ]
	scores "$T/stdout"
	as_user
	run_container
	scores "$T/stdout"
	start_sleeper
	call exec "$ID" probe
	scores "$T/stdout"
	call exec --user 0:0 "$ID" probe
	scores "$T/stdout"
	# a listing from outside scores less: the comparison can fail
	"$PROBES/probe" >"$T/outside"
	run scores "$T/outside"
	[ "$status" -ne 0 ]
}

#!/usr/bin/env bats
# What of the container's cgroup belongs to the container, where there is only cgroup2.

load helpers.bash

setup_file() { suite_setup_file; }
teardown_file() { suite_teardown_file; }
setup() { suite_setup; }

teardown() {
	if [ -n "${HOLDER-}" ]; then
		kill -9 "$HOLDER"
		wait "$HOLDER" || true
	fi 2>/dev/null
	suite_teardown
}

# unified COMMAND...: with nothing but cgroup2 at /sys/fs/cgroup, whatever the host has.
unified() {
	unshare --mount bash -c '[ -e /sys/fs/cgroup/cgroup.controllers ] || mount -t cgroup2 none /sys/fs/cgroup || exit 99
		exec "$@"' unified "$@"
}

in_own_user_namespace() {
	[ "$(readlink /proc/self/ns/user)" != "$(readlink "/proc/$HOLDER/ns/user")" ]
}

# run_unified: foreground run of the bundle.
run_unified() {
	: >"$LOG"
	status=0
	# shellcheck disable=SC2086
	unified timeout $((30 * ${PATIENCE-1})) "$AGENTRUN" ${AGENTRUN_FLAGS-} --root "$ROOT" --log "$LOG" --log-format json run --bundle "$BUNDLE" "$ID" \
		</dev/null >"$T/stdout" 2>"$T/stderr" 3>&- || status=$?
	output=$(cat "$T/stdout")
	errors=$(cat "$T/stderr")
	[ "$status" -ne 99 ] || skip 'cgroup2 cannot be mounted'
}

# Gives the cgroup a mount that the container may write.
writable() {
	edit '.linux.namespaces += [{"type": "cgroup"}] | .linux.namespaces |= unique_by(.type) | .linux.resources = {}
		| .mounts |= map(if .destination == "/sys/fs/cgroup" then .options = ["nosuid", "noexec", "nodev", "rw"] else . end)'
}

# runc's version here does it with the systemd manager only, crun gives it to the namespace's root.
only_ours() {
	other runc,crun 'gives cgroups away in other cases'
}

OWNERS='cd /sys/fs/cgroup; for f in . cgroup.procs cgroup.subtree_control cgroup.threads cgroup.type cgroup.kill; do
	stat -c "%u $f" $f; done'

@test "cgroup: nothing is given away when it is mounted read-only" {
	writable
	edit '.mounts |= map(if .destination == "/sys/fs/cgroup" then .options += ["ro"] else . end) | .process.user.uid = 1234'
	sh_args "$OWNERS"
	run_unified
	works
	! grep -v '^0 ' <<<"$output"
}

@test "cgroup: given to the user of the process" {
	only_ours
	writable
	edit '.process.user.uid = 1234'
	sh_args "$OWNERS; mkdir sub && echo 0 >sub/cgroup.procs && cat /proc/self/cgroup"
	run_unified
	works
	[ "$(grep -v : <<<"$output")" = $'1234 .\n1234 cgroup.procs\n1234 cgroup.subtree_control\n1234 cgroup.threads\n0 cgroup.type\n0 cgroup.kill' ]
	grep -qx '0::/sub' <<<"$output"
}

@test "cgroup: given to the root of a user namespace" {
	only_ours
	writable
	in_user_namespace
	sh_args "$OWNERS; mkdir sub && echo 0 >sub/cgroup.procs && cat /proc/self/cgroup; echo max >pids.max; echo 0 >cgroup.freeze; true"
	run_unified
	works
	[ "$(grep -v : <<<"$output")" = $'0 .\n0 cgroup.procs\n0 cgroup.subtree_control\n0 cgroup.threads\n65534 cgroup.type\n65534 cgroup.kill' ]
	grep -qx '0::/sub' <<<"$output"
	grep -q 'cgroup.freeze: Permission denied' <<<"$errors"
}

@test "cgroup: given to another user of a user namespace" {
	only_ours
	writable
	in_user_namespace
	edit '.process.user.uid = 7'
	sh_args "$OWNERS"
	run_unified
	works
	[ "$(head -n 2 <<<"$output")" = $'7 .\n7 cgroup.procs' ]
}

@test "cgroup: given to the user of a joined user namespace" {
	only_ours
	writable
	in_user_namespace
	edit 'del(.linux.uidMappings, .linux.gidMappings) | .process.user.uid = 7'
	unshare --user sleep 1000 3>&- &
	HOLDER=$!
	wait_for 10 in_own_user_namespace
	echo '0 100000 65536' >"/proc/$HOLDER/gid_map"
	echo '0 100000 65536' >"/proc/$HOLDER/uid_map"
	edit --arg path "/proc/$HOLDER/ns/user" '.linux.namespaces |= map(if .type == "user" then .path = $path else . end)'
	sh_args "$OWNERS"
	run_unified
	works
	[ "$(head -n 2 <<<"$output")" = $'7 .\n7 cgroup.procs' ]
}

# What was decided is compared with the kernel before the container's program runs; somebody
# who changes it in between, here a hook, stops the start.
# shellcheck shell=bash

load helpers.bash

setup_file() {
	export SUITE_POLICY=1
	suite_setup_file
	[ "$KIND" = agentrun ] || skip "only agentrun has a policy"
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
	sh_args 'echo ran'
}

teardown() {
	suite_teardown
}

# hook KIND SCRIPT: the hook finds the container's pid in $pid.
hook() {
	printf '#!/bin/sh\npid=$(sed "s/.*\\"pid\\": *\\([0-9]*\\).*/\\1/")\n%s\n' "$2" >"$T/hook"
	chmod 755 "$T/hook"
	edit --arg k "$1" --arg p "$T/hook" '.hooks[$k] += [{path: $p, timeout: 10}]'
}

# limit_file V1 V2: the folder's file that a hook writes to.
limit_file() {
	if cgroup_v1; then
		echo "/sys/fs/cgroup/${1%%/*}$CGROUP/${1#*/}"
	else
		echo "/sys/fs/cgroup$CGROUP/$2"
	fi
}

killed() {
	run_container
	fails 1 "verification of $1.*"
	[ -z "$output" ]
	clean
}

@test "read-back: nothing is wrong with an ordinary container and its exec" {
	start_sleeper
	call exec "$ID" echo works
	works works
}

@test "read-back: a memory limit that a hook lifted" {
	local swap=''
	cgroup_v1 && swap="echo -1 >$(limit_file memory/memory.memsw.limit_in_bytes)"
	hook createRuntime "$swap
echo $(cgroup_v1 && echo -1 || echo max) >$(limit_file memory/memory.limit_in_bytes memory.max)"
	killed 'memory failed: .*"2147483648"'
}

@test "read-back: a limit of processes that a hook raised by one" {
	hook createRuntime "echo 513 >$(limit_file pids/pids.max pids.max)"
	killed 'pids failed: .*"513", decided was "512"'
}

@test "read-back: processor time that a hook doubled" {
	if cgroup_v1; then
		hook createRuntime "echo 400000 >$(limit_file cpu/cpu.cfs_quota_us)"
	else
		hook createRuntime "echo 400000 100000 >$(limit_file '' cpu.max)"
	fi
	killed 'cpu failed: .*400000'
}

@test "read-back: a device that a hook allowed" {
	cgroup_v1 || skip "no file to write to on cgroup v2"
	hook createRuntime "echo 'c 1:11 rwm' >$(limit_file devices/devices.allow)"
	killed 'devices failed: .*c 1:11 rwm'
}

@test "read-back: a hook that tightens a limit is no fault" {
	hook createRuntime "echo 100 >$(limit_file pids/pids.max pids.max)"
	run_container
	works ran
}

@test "read-back: flags of a bind that a hook took away" {
	mkdir "$T/work"
	add_mount "{\"type\": \"bind\", \"source\": \"$T/work\", \"destination\": \"/work\", \"options\": [\"rbind\", \"ro\"]}"
	hook createRuntime "nsenter -t \$pid -m mount -o remount,bind,ro,nodev,suid $ROOTFS/work"
	killed 'mounts failed: the mount on /work is not nosuid'
	edit 'del(.hooks)'
	hook createRuntime "nsenter -t \$pid -m mount -o remount,bind,rw,nodev,nosuid $ROOTFS/work"
	killed 'mounts failed: the mount on /work is not read-only'
}

@test "read-back: a mount that a hook made shared, one that it took away" {
	mkdir "$T/work"
	add_mount "{\"type\": \"bind\", \"source\": \"$T/work\", \"destination\": \"/work\", \"options\": [\"bind\"]}"
	hook createRuntime "nsenter -t \$pid -m mount --make-shared $ROOTFS/work"
	killed 'mounts failed: the mount on /work is not private'
	edit 'del(.hooks)'
	hook createRuntime "nsenter -t \$pid -m umount -l $ROOTFS/work"
	killed 'mounts failed: what was mounted on /work is gone'
}

@test "read-back: what a hook mounts itself is not judged" {
	mkdir -p "$T/work"
	echo hook >"$T/work/file"
	hook createRuntime "nsenter -t \$pid -m mount --bind $T/work $ROOTFS/home"
	sh_args 'cat /home/file'
	run_container
	works hook
}

@test "read-back: a process that a hook moved out of its cgroup" {
	if cgroup_v1; then
		hook createRuntime "echo \$pid >/sys/fs/cgroup/pids/cgroup.procs"
	else
		hook createRuntime "echo \$pid >/sys/fs/cgroup/cgroup.procs"
	fi
	killed 'the cgroup failed'
}

@test "read-back: exec does not start beside a limit that was lifted; update puts it back" {
	start_sleeper
	echo max >"$(limit_file pids/pids.max pids.max)"
	call exec "$ID" echo ran
	fails 255 'verification of pids failed: .*"max", decided was "512"'
	call explain "$ID"
	works
	[[ $output = *"DIFFERS: verification of pids"* ]]
	call update --pids-limit 300 "$ID"
	works
	call exec "$ID" echo ran
	works ran
	echo 301 >"$(limit_file pids/pids.max pids.max)"
	call exec "$ID" echo ran
	fails 255 'decided was "300"'
}

@test "read-back: a failed update leaves a container that exec accepts" {
	start_sleeper
	call update --memory 4096 --pids-limit 77 "$ID"
	call exec "$ID" echo ran
	works ran
}

@test "read-back: passthrough compares nothing" {
	AGENTRUN_FLAGS='--profile passthrough'
	edit '.linux.resources = {pids: {limit: 50}}'
	hook createRuntime "echo 60 >$(limit_file pids/pids.max pids.max)"
	run_container
	works ran
}

@test "read-back: explain says what was compared, in text and JSON" {
	edit '.linux.resources = {pids: {limit: 50}}'
	start_sleeper
	call explain "$ID"
	works
	[[ $output =~ 'read back: '[0-9]+' limits, '[0-9]+' namespaces, '[0-9]+' mounts, '[0-9]+' masked and read-only paths' ]]
	[[ $output = *'limit:     pids.max = 50'* ]]
	call explain --json "$ID"
	works
	jq -e '.readBack.namespaces >= 5 and .readBack.mounts >= 5 and .readBack.paths >= 10' <<<"$output"
	[ "$(jq -r '.limits[] | select(.file == "pids.max").value' <<<"$output")" = 50 ]
}

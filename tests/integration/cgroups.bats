#!/usr/bin/env bats
# Limits: what create writes, what update changes, what pause and delete do to cgroups.

load helpers.bash

setup_file() { suite_setup_file; }
teardown_file() { suite_teardown_file; }
setup() { suite_setup; }
teardown() { suite_teardown; }

# value V1-CONTROLLER/FILE V2-FILE: the content of the file that this host has.
value() {
	if cgroup_v1; then
		cat "$(controller "${1%%/*}")/${1#*/}"
	else
		cat "$(controller unified)/$2"
	fi
}

@test "memory: limit, reservation, swap" {
	edit '.linux.resources.memory = {limit: 67108864, reservation: 33554432, swap: 67108864}'
	start_sleeper
	[ "$(value memory/memory.limit_in_bytes memory.max)" = 67108864 ]
	[ "$(value memory/memory.soft_limit_in_bytes memory.low)" = 33554432 ]
	if cgroup_v1 && [ -e "$(controller memory)/memory.memsw.limit_in_bytes" ]; then
		[ "$(value memory/memory.memsw.limit_in_bytes memory.swap.max)" = 67108864 ]
	fi
}

@test "memory: -1 is unlimited, 0 is not a limit to be written" {
	edit '.linux.resources.memory = {limit: -1}'
	start_sleeper
	[ "$(value memory/memory.limit_in_bytes memory.max)" != 0 ]
	call delete --force "$ID"
	edit '.linux.resources.memory = {disableOOMKiller: false} | .linux.resources.cpu = {shares: 0} | .linux.resources.blockIO = {weight: 0}'
	start_sleeper
}

@test "cpu: quota, period, shares, cpuset" {
	edit '.linux.resources.cpu = {quota: 50000, period: 100000, shares: 512, cpus: "0", mems: "0"}'
	start_sleeper
	if cgroup_v1; then
		[ "$(value cpu/cpu.cfs_quota_us)" = 50000 ]
		[ "$(value cpu/cpu.cfs_period_us)" = 100000 ]
		[ "$(value cpu/cpu.shares)" = 512 ]
		[ "$(value cpuset/cpuset.cpus)" = 0 ]
	else
		[ "$(value x cpu.max)" = '50000 100000' ]
		[ "$(value x cpuset.cpus)" = 0 ]
	fi
}

@test "pids: limit, unlimited" {
	edit '.linux.resources.pids = {limit: 44}'
	start_sleeper
	[ "$(value pids/pids.max pids.max)" = 44 ]
	call delete --force "$ID"
	edit '.linux.resources.pids = {limit: -1}'
	start_sleeper
	[ "$(value pids/pids.max pids.max)" = max ]
}

@test "pids: the limit holds" {
	edit '.linux.resources.pids = {limit: 10}'
	sh_args 'for i in $(seq 20); do sleep 1 & done 2>&1 | grep -c "can.t fork"'
	run_container
	[[ $output =~ [1-9] ]]
}

@test "memory: the limit holds and the exit code says so" {
	edit '.linux.resources.memory = {limit: 16777216, swap: 16777216}'
	args tail /dev/zero
	run_container
	exits 137
	clean
}

@test "hugepages, network class, block I/O: written or refused, never half" {
	edit '.linux.resources.hugepageLimits = [{pageSize: "2MB", limit: 4194304}]'
	call create --bundle "$BUNDLE" "$ID"
	[ "$status" -eq 0 ] || fails 1
	call delete --force "$ID"
	works
	clean
}

@test "devices: rules in their order" {
	edit '.linux.resources.devices = [{allow: false, access: "rwm"}, {allow: true, type: "c", major: 1, minor: 11, access: "rwm"},
		{allow: false, type: "c", major: 1, minor: 11, access: "w"}] | .process.capabilities[] += ["CAP_MKNOD", "CAP_SYSLOG"]'
	# in /dev: where the bundle is, device nodes may not be usable
	sh_args 'mknod /dev/k c 1 11; (: </dev/k) 2>/dev/null && echo readable; (: >/dev/k) 2>/dev/null || echo not writable'
	run_container
	works $'readable\nnot writable'
}

@test "the processes are in the cgroup of every hierarchy" {
	start_sleeper
	local line path
	while IFS=: read -r _ _ path; do
		[[ $path = "$CGROUP" ]] || { cat "/proc/$(pid_of)/cgroup"; false; }
	done <"/proc/$(pid_of)/cgroup"
}

@test "paths: absolute, relative, none" {
	local own
	edit 'del(.linux.cgroupsPath)'
	start_sleeper
	own=$(awk -F: '$2 == "pids" || $2 == "" { print $3; exit }' "/proc/$(pid_of)/cgroup")
	[[ $own = *"/$ID" ]]
	call delete --force "$ID"
	works
	[ -z "$(cgroup_folders "$own")" ]
}

@test "an empty cgroup that is there already is used" {
	local root
	for root in /sys/fs/cgroup/*; do
		if [ -e "$root/cgroup.procs" ]; then
			mkdir -p "$root$CGROUP"
		fi
	done
	[ ! -e /sys/fs/cgroup/cgroup.procs ] || mkdir -p "/sys/fs/cgroup$CGROUP"
	args echo ran
	run_container
	works ran
}

@test "sub-cgroups made by the container are removed with it" {
	start_sleeper
	mkdir -p "$(controller pids)/sub/below" "$(controller memory)/sub"
	call delete --force "$ID"
	works
	clean
}

@test "processes in sub-cgroups are killed by delete and listed by ps" {
	local pid
	edit '.linux.namespaces |= map(select(.type != "pid"))'
	sh_args 'sleep 1000 & sleep 1000'
	start_container
	wait_for 10 sh -c "[ \$(wc -l <'$(controller pids)/cgroup.procs') -ge 2 ]"
	pid=$(tail -n 1 "$(controller pids)/cgroup.procs")
	mkdir "$(controller pids)/sub"
	echo "$pid" >"$(controller pids)/sub/cgroup.procs"
	call ps --format json "$ID"
	[ "$KIND" != agentrun ] || jq -e --argjson p "$pid" 'index($p) != null' "$T/stdout"
	call delete --force "$ID"
	works
	clean
}

@test "update: each option" {
	start_sleeper
	call update --memory 67108864 --memory-reservation 33554432 --cpu-quota 40000 --cpu-period 80000 --cpu-share 300 \
		--cpuset-cpus 0 --pids-limit 33 "$ID"
	works ''
	[ "$(value memory/memory.limit_in_bytes memory.max)" = 67108864 ]
	[ "$(value memory/memory.soft_limit_in_bytes memory.low)" = 33554432 ]
	[ "$(value pids/pids.max pids.max)" = 33 ]
	[ "$(value cpuset/cpuset.cpus cpuset.cpus)" = 0 ]
	if cgroup_v1; then
		[ "$(value cpu/cpu.cfs_quota_us)" = 40000 ]
		[ "$(value cpu/cpu.cfs_period_us)" = 80000 ]
		[ "$(value cpu/cpu.shares)" = 300 ]
	else
		[ "$(value x cpu.max)" = '40000 80000' ]
	fi
}

@test "update: only one of quota and period" {
	edit '.linux.resources.cpu = {quota: 50000, period: 100000}'
	start_sleeper
	call update --cpu-quota 30000 "$ID"
	works
	call update --cpu-period 60000 "$ID"
	works
	if cgroup_v1; then
		[ "$(value cpu/cpu.cfs_quota_us)" = 30000 ]
		[ "$(value cpu/cpu.cfs_period_us)" = 60000 ]
	else
		[ "$(value x cpu.max)" = '30000 60000' ]
	fi
}

@test "update: memory up and down with swap" {
	edit '.linux.resources.memory = {limit: 33554432, swap: 33554432}'
	start_sleeper
	call update --memory 134217728 --memory-swap 134217728 "$ID"
	works
	[ "$(value memory/memory.limit_in_bytes memory.max)" = 134217728 ]
	call update --memory 33554432 --memory-swap 33554432 "$ID"
	works
	[ "$(value memory/memory.limit_in_bytes memory.max)" = 33554432 ]
	call update --memory -1 --memory-swap -1 "$ID"
	works
	[ "$(value memory/memory.limit_in_bytes memory.max)" != 33554432 ]
}

@test "update: from a file, from standard input, captured bodies" {
	local body
	edit '.linux.resources.memory = {limit: 67108864, swap: 67108864}'
	start_sleeper
	echo '{"pids": {"limit": 21}}' >"$T/body"
	call update --resources "$T/body" "$ID"
	works
	[ "$(value pids/pids.max pids.max)" = 21 ]
	echo '{"pids": {"limit": 22}, "unknown": {"a": 1}}' >"$T/body"
	CALL_STDIN=$T/body call update --resources=- "$ID"
	works
	[ "$(value pids/pids.max pids.max)" = 22 ]
	for body in "$BATS_TEST_DIRNAME"/../data/update-*.json; do
		[ -e "$body" ] || continue
		echo "--- $body"
		CALL_STDIN=$body call update --resources - "$ID"
		works
	done
}

@test "update: bad values and documents" {
	start_sleeper
	echo '{' >"$T/body"
	call update --resources "$T/body" "$ID"
	fails 1
	call update --resources "$T/none" "$ID"
	fails 1 'no such file or directory'
	call update --memory abc "$ID"
	[ "$status" -eq 1 ]
	call update --cpuset-cpus 4000 "$ID"
	fails 1
	[ "$(status_of)" = running ]
}

@test "update lasts over pause and resume" {
	start_sleeper
	call update --pids-limit 31 "$ID"
	call pause "$ID"
	works
	call update --pids-limit 32 "$ID"
	works
	[ "$(status_of)" = paused ]
	call resume "$ID"
	works
	[ "$(value pids/pids.max pids.max)" = 32 ]
	call exec "$ID" true
	works
}

@test "unified: a key of a controller that is not there fails" {
	other runc,crun "other rules on v1"
	edit '.linux.resources.unified = {"nosuch.max": "1"}'
	call create --bundle "$BUNDLE" "$ID"
	fails 1 'nosuch'
	clean
}

@test "the systemd manager without systemd says so" {
	[ ! -d /run/systemd/system ] || skip "systemd is here"
	AGENTRUN_FLAGS+=" --systemd-cgroup"
	edit --arg c "system.slice:test:$ID" '.linux.cgroupsPath = $c'
	run_container
	fails 1
	says 'not started by systemd.*use the cgroupfs manager'
	clean
}

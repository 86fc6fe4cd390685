# What only the pure v2 hierarchy shows: device programs, limits by any key, threaded and
# populated parents, processes in sub-cgroups.
# shellcheck shell=bash disable=SC2016,SC2154

load ../integration/helpers.bash

setup_file() {
	[ -e /sys/fs/cgroup/cgroup.controllers ] || skip "needs the pure v2 hierarchy"
	suite_setup_file
}

teardown_file() {
	suite_teardown_file
}

setup() {
	suite_setup
	V2=/sys/fs/cgroup$CGROUP
}

teardown() {
	suite_teardown
}

value() {
	tr '\n' ';' <"$V2/$1" | sed 's/;$//'
}

device_programs() {
	bpftool cgroup show "$V2" | grep -c cgroup_device
}

# bats test_tags=sample
@test "v2: every kind of limit" {
	edit --arg major "$(stat -c %Hr /dev/vda)" '.linux.resources = {
		memory: {limit: 67108864, swap: 100663296, reservation: 33554432},
		cpu: {quota: 50000, period: 100000, burst: 10000, cpus: "1", mems: "0"},
		pids: {limit: 50},
		hugepageLimits: [{pageSize: "2MB", limit: 4194304}],
		blockIO: {weight: 300,
			throttleReadBpsDevice: [{major: ($major | tonumber), minor: 0, rate: 1048576}],
			throttleWriteIOPSDevice: [{major: ($major | tonumber), minor: 0, rate: 100}]},
		unified: {"memory.oom.group": "1", "memory.high": "50331648", "cgroup.max.depth": "3"}}'
	start_sleeper
	[ "$(value memory.max)" = 67108864 ]
	[ "$(value memory.swap.max)" = 33554432 ]
	[ "$(value memory.low)" = 33554432 ]
	[ "$(value cpu.max)" = "50000 100000" ]
	[ "$(value cpu.max.burst)" = 10000 ]
	[ "$(value cpuset.cpus)" = 1 ]
	[ "$(value cpuset.mems)" = 0 ]
	[ "$(value pids.max)" = 50 ]
	[ "$(value hugetlb.2MB.max)" = 4194304 ]
	[[ $(value io.max) = *"rbps=1048576 wbps=max riops=max wiops=100"* ]]
	[ "$(value memory.oom.group)" = 1 ]
	[ "$(value memory.high)" = 50331648 ]
	[ "$(value cgroup.max.depth)" = 3 ]
}

@test "v2: settings that only v1 has are refused" {
	other runc "ignores them"
	for resources in '{"memory": {"swappiness": 10}}' '{"memory": {"disableOOMKiller": true}}' \
		'{"network": {"classID": 1}}' '{"blockIO": {"leafWeight": 10}}' \
		'{"cpu": {"realtimeRuntime": 1000, "realtimePeriod": 10000}}'; do
		edit --argjson r "$resources" '.linux.resources = $r'
		run_container
		[ "$status" -ne 0 ]
	done
	clean
}

@test "v2: values of a v1 engine that set nothing are accepted" {
	# jq would round the largest number
	edit '.linux.resources = {memory: {limit: 100000000, swappiness: "largest", disableOOMKiller: false}}'
	sed -i 's/"largest"/18446744073709551615/' "$BUNDLE/config.json"
	run_container
	works
}

# bats test_tags=sample
@test "v2: device program: rules in their order, for nodes made and nodes opened" {
	edit '.linux.resources.devices = [{allow: false, access: "rwm"},
			{allow: true, type: "c", major: 10, minor: 229, access: "r"}]
		| .linux.devices = [{path: "/dev/fuse", type: "c", major: 10, minor: 229, fileMode: 438},
			{path: "/dev/loop-control", type: "c", major: 10, minor: 237, fileMode: 438}]'
	start_sleeper
	[ "$(device_programs)" -eq 1 ]
	call exec "$ID" sh -c 'exec 3</dev/fuse && echo read; (exec 3>/dev/fuse) 2>/dev/null || echo no write
		(exec 3</dev/loop-control) 2>/dev/null || echo no loop; exec 4<>/dev/null && echo null'
	works "$(printf 'read\nno write\nno loop\nnull')"
}

@test "v2: update leaves the device program alone" {
	edit '.linux.resources.devices = [{allow: false, access: "rwm"}]
		| .linux.devices = [{path: "/dev/fuse", type: "c", major: 10, minor: 229, fileMode: 438}]'
	start_sleeper
	call update --pids-limit 77 "$ID"
	works
	[ "$(value pids.max)" = 77 ]
	[ "$(device_programs)" -eq 1 ]
	call exec "$ID" sh -c 'exec 3</dev/fuse'
	[ "$status" -ne 0 ]
	call exec "$ID" sh -c 'exec 3<>/dev/null'
	works
}

# bats test_tags=sample
@test "v2: exec follows init into its sub-cgroup" {
	edit '(.mounts[] | select(.destination == "/sys/fs/cgroup")).options = ["rw", "nosuid"]'
	sh_args 'mkdir /sys/fs/cgroup/own; echo $$ >/sys/fs/cgroup/own/cgroup.procs
		echo +memory +pids >/sys/fs/cgroup/cgroup.subtree_control; touch /moved; sleep 1000'
	start_container
	wait_for 60 test -e "$ROOTFS/moved"
	call exec "$ID" cat /proc/self/cgroup
	works 0::/own
	mkdir "$V2/other"
	call exec --cgroup other "$ID" cat /proc/self/cgroup
	works 0::/other
	call exec --cgroup ../.. "$ID" true
	[ "$status" -ne 0 ]
	call ps "$ID"
	works
	[[ $output = *"sleep 1000"* ]]
	call pause "$ID"
	works
	grep -qx 'frozen 1' "$V2/cgroup.events"
	call delete --force "$ID"
	works
	clean
}

@test "v2: below a cgroup that holds processes" {
	local pid
	mkdir -p "$V2"
	sleep 1000 3>&- &
	pid=$!
	echo $pid >"$V2/cgroup.procs"
	edit --arg c "$CGROUP/below" '.linux.cgroupsPath = $c | del(.linux.resources)'
	start_sleeper
	[ "$(cat "/proc/$(pid_of)/cgroup")" = "0::$CGROUP/below" ]
	call exec "$ID" true
	works
	call delete --force "$ID"
	works
	kill -9 $pid
}

@test "v2: below a cgroup that holds processes, a memory limit is refused" {
	local pid
	mkdir -p "$V2"
	sleep 1000 3>&- &
	pid=$!
	echo $pid >"$V2/cgroup.procs"
	edit --arg c "$CGROUP/below" '.linux.cgroupsPath = $c | .linux.resources = {memory: {limit: 50000000}}'
	run_container
	[ "$status" -ne 0 ]
	[ ! -e "$V2/below" ]
	kill -9 $pid
}

@test "v2: the cgroup file system, with a cgroup namespace and without" {
	args sh -c 'cat /proc/self/cgroup; ls -d /sys/fs/cgroup/cgroup.events'
	run_container
	works "$(printf '0::/\n/sys/fs/cgroup/cgroup.events')"
	edit 'del(.linux.namespaces[] | select(.type == "cgroup"))'
	# shellcheck disable=SC2016
	sh_args 'path=$(sed s/^0::// /proc/self/cgroup); [ "$path" != / ] && ls -d /sys/fs/cgroup/system.slice'
	run_container
	works /sys/fs/cgroup/system.slice
}

@test "v2: too little memory for init says so" {
	other crun "says nothing"
	edit '.linux.resources = {memory: {limit: 100000}}'
	run_container
	[ "$status" -ne 0 ]
	[[ $errors = *[mM]"emory"* ]]
	clean
}

@test "v2: idle processors, weight and burst" {
	edit '.linux.resources.cpu = {idle: 1, shares: 512}'
	start_sleeper
	[ "$(value cpu.idle)" = 1 ]
	call update --cpu-idle 0 "$ID"
	works
	[ "$(value cpu.idle)" = 0 ]
	call update --cpu-share 2048 "$ID"
	works
	[ "$(value cpu.weight)" = 174 ]
}

# bats test_tags=sample
@test "v2: an update counts swap from the limits in force" {
	edit '.linux.resources.memory = {limit: 67108864, swap: 134217728}'
	start_sleeper
	[ "$(value memory.swap.max)" = 67108864 ]
	# the sum stays
	call update --memory 100663296 "$ID"
	works
	[ "$(value memory.max) $(value memory.swap.max)" = "100663296 33554432" ]
	call update --memory-swap -1 "$ID"
	works
	[ "$(value memory.max) $(value memory.swap.max)" = "100663296 max" ]
	call update --memory -1 "$ID"
	works
	[ "$(value memory.max) $(value memory.swap.max)" = "max max" ]
}

@test "v2: below a threaded cgroup" {
	mkdir -p "$V2/domain/threads"
	echo threaded >"$V2/domain/threads/cgroup.type"
	mkdir "$V2/domain/other"
	edit --arg c "$CGROUP/domain/other" '.linux.cgroupsPath = $c | del(.linux.resources)'
	run_container
	fails 1 "invalid domain"
	edit --arg c "$CGROUP/domain/threads/below" '.linux.cgroupsPath = $c'
	run_container
	fails 1 "threaded"
	[ ! -e "$V2/domain/threads/below" ]
}

# bats test_tags=sample
@test "v2: everything in it is killed at once, also what it forks" {
	edit 'del(.linux.namespaces[] | select(.type == "pid"))
		| .mounts |= map(select(.destination != "/proc")) | .linux.maskedPaths = [] | .linux.readonlyPaths = []'
	sh_args 'while :; do (while :; do sleep 0.01; done) & sleep 0.2; done'
	start_container
	sleep 2
	[ "$(wc -l <"$V2/cgroup.procs")" -gt 2 ]
	call kill --all "$ID" KILL
	works
	wait_for 60 has_status stopped
	[ "$(cat "$V2/cgroup.procs")" = "" ]
	call delete "$ID"
	works
	clean
}

@test "v2: statistics have pressure, and a paused container can be killed" {
	start_sleeper
	call events --stats "$ID"
	works
	[ "$(jq -r '.data.cpu.psi.full.avg10, .data.memory.psi.some.total, .data.blkio.psi.some.avg300' <<<"$output" | grep -c '^[0-9]')" = 3 ]
	call pause "$ID"
	works
	call kill "$ID" KILL
	works
	wait_for 60 has_status stopped
	call delete "$ID"
	works
}

@test "v2: a message queue folder belongs to the root of the user namespace" {
	in_user_namespace
	args stat -c %u:%g /dev/mqueue
	run_container
	works 0:0
}

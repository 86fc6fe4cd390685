# The systemd cgroup manager: scopes of the system's manager.
# shellcheck shell=bash disable=SC2016,SC2154

load ../integration/helpers.bash

setup_file() {
	[ -d /run/systemd/system ] || skip "needs systemd"
	suite_setup_file
}

teardown_file() {
	suite_teardown_file
}

setup() {
	suite_setup
	UNIT=vm-$ID.scope
	AGENTRUN_FLAGS+=" --systemd-cgroup"
	edit --arg c "vmtest.slice:vm:$ID" '.linux.cgroupsPath = $c'
	CALL_TIMEOUT=120
}

teardown() {
	systemctl stop "$UNIT" 2>/dev/null || true
	suite_teardown
}

# The folder of the container's process.
folder() {
	echo "/sys/fs/cgroup$(sed -n 's/^0:://p' "/proc/$(pid_of)/cgroup")"
}

value() {
	cat "$(folder)/$1"
}

property() {
	systemctl show --property "$1" --value "${2-$UNIT}"
}

unit_gone() {
	[ "$(systemctl list-units --all --no-legend --plain "$UNIT")" = "" ]
}

inactive() {
	[ "$(systemctl is-active "$1")" = inactive ]
}

# The whole record of the container is gone, and systemd's.
nothing_left() {
	wait_for 60 unit_gone
	[ -z "$(find /sys/fs/cgroup -name "$UNIT")" ]
	[ ! -e "$ROOT/$ID" ]
}

# bats test_tags=sample
@test "systemd: a scope in its slice, with init and nobody else" {
	start_sleeper
	[ "$(folder)" = "/sys/fs/cgroup/vmtest.slice/$UNIT" ]
	[ "$(value cgroup.procs)" = "$(pid_of)" ]
	[ "$(property Slice)" = vmtest.slice ]
	[ "$(property Delegate)" = yes ]
	[ "$(property ActiveState)" = active ]
	[ "$(property Description)" = "agentrun container $ID" ]
	call delete --force "$ID"
	works
	nothing_left
}

@test "systemd: nested slices are made, and end with the last container" {
	edit --arg c "vmnest-a-b.slice:vm:$ID" '.linux.cgroupsPath = $c'
	start_sleeper
	[ "$(folder)" = "/sys/fs/cgroup/vmnest.slice/vmnest-a.slice/vmnest-a-b.slice/$UNIT" ]
	edit --arg c "vmnest-a.slice:vm:second" '.linux.cgroupsPath = $c'
	call create --bundle "$BUNDLE" second
	works
	call delete --force "$ID"
	works
	wait_for 60 inactive vmnest-a-b.slice
	[ "$(systemctl is-active vmnest-a.slice)" = active ]
	call delete --force second
	works
	wait_for 60 inactive vmnest-a.slice
	wait_for 60 test ! -e /sys/fs/cgroup/vmnest.slice
}

@test "systemd: a slice that somebody else made is left alone" {
	systemd-run --quiet --slice vmother.slice --unit vm-other sleep 1000
	edit --arg c "vmother.slice:vm:$ID" '.linux.cgroupsPath = $c'
	start_sleeper
	call delete --force "$ID"
	works
	[ "$(systemctl is-active vm-other)" = active ]
	systemctl stop vm-other vmother.slice
}

@test "systemd: without a path, the system's slice and the id" {
	UNIT=agentrun-$ID.scope
	edit 'del(.linux.cgroupsPath)'
	start_sleeper
	[ "$(folder)" = "/sys/fs/cgroup/system.slice/$UNIT" ]
	call delete --force "$ID"
	works
	nothing_left
}

# bats test_tags=sample
@test "systemd: limits, in the files exactly and in the properties" {
	edit '.linux.resources = {memory: {limit: 100000000, swap: 150000000, reservation: 30000000},
		cpu: {quota: 12345, period: 50000, shares: 2048, cpus: "1", mems: "0"}, pids: {limit: 50},
		blockIO: {weight: 500}, unified: {"memory.high": "90000000", "memory.oom.group": "1"}}'
	start_sleeper
	[ "$(value memory.max)" = 99999744 ]
	[ "$(value memory.swap.max)" = 49999872 ]
	[ "$(value cpu.max)" = "12345 50000" ]
	[ "$(value cpu.weight)" = 174 ]
	[ "$(value cpuset.cpus)" = 1 ]
	[ "$(value pids.max)" = 50 ]
	[ "$(value memory.oom.group)" = 1 ]
	[ "$(property MemoryMax)" = 100000000 ]
	[ "$(property MemoryHigh)" = 90000000 ]
	[ "$(property MemoryLow)" = 30000000 ]
	[ "$(property MemorySwapMax)" = 50000000 ]
	[ "$(property CPUWeight)" = 174 ]
	[ "$(property CPUQuotaPerSecUSec)" = 250ms ]
	[ "$(property CPUQuotaPeriodUSec)" = 50ms ]
	[ "$(property AllowedCPUs)" = 1 ]
	[ "$(property TasksMax)" = 50 ]
	[ "$(property IOWeight)" = 4950 ]
}

# bats test_tags=sample
@test "systemd: an update, and what is left of it after a reload" {
	edit '.linux.resources = {memory: {limit: 100000000}, cpu: {quota: 20000, period: 100000}}'
	start_sleeper
	call update --memory 120000000 --cpu-quota 23456 --pids-limit 60 --cpu-share 512 "$ID"
	works
	[ "$(value memory.max)" = 119996416 ]
	[ "$(value cpu.max)" = "23456 100000" ]
	[ "$(value pids.max)" = 60 ]
	[ "$(property MemoryMax)" = 120000000 ]
	[ "$(property CPUQuotaPerSecUSec)" = 240ms ]
	[ "$(property TasksMax)" = 60 ]
	[ "$(property CPUWeight)" = "$(value cpu.weight)" ]
	systemctl daemon-reload
	systemctl daemon-reexec
	[ "$(value memory.max)" = 119996416 ]
	# systemd knows whole percents, and its older versions write them when they are executed anew
	[ "$(value cpu.max)" = "23456 100000" ] || [ "$(value cpu.max)" = "24000 100000" ]
	[ "$(value pids.max)" = 60 ]
	[ "$(status_of)" = running ]
	call update --memory 110000000 "$ID"
	works
	[ "$(value cpu.max)" = "23456 100000" ] || [ "$(value cpu.max)" = "24000 100000" ]
}

@test "systemd: processor time that systemd rounded up is within its limit, more is not" {
	AGENTRUN_FLAGS=--systemd-cgroup
	edit '.linux.resources = {cpu: {quota: 23456, period: 100000}}'
	start_sleeper
	echo "24000 100000" >"$(folder)/cpu.max"
	call exec "$ID" true
	works
	echo "24001 100000" >"$(folder)/cpu.max"
	call exec "$ID" true
	fails 255 "verification of cpu failed"
}

# bats test_tags=sample
@test "systemd: device rules hold, also after a reload" {
	edit '.linux.resources.devices = [{allow: false, access: "rwm"},
			{allow: true, type: "c", major: 10, minor: 229, access: "r"}]
		| .linux.devices = [{path: "/dev/fuse", type: "c", major: 10, minor: 229, fileMode: 438},
			{path: "/dev/loop-control", type: "c", major: 10, minor: 237, fileMode: 438}]'
	start_sleeper
	[ "$(property DevicePolicy)" = strict ]
	local try
	for try in before after; do
		call exec "$ID" sh -c 'exec 3</dev/fuse && echo read; (exec 3>/dev/fuse) 2>/dev/null || echo no write
			(exec 3</dev/loop-control) 2>/dev/null || echo no loop; exec 4<>/dev/null && echo null; (echo x >/dev/full) 2>/dev/null || echo full'
		works "$(printf 'read\nno write\nno loop\nnull\nfull')"
		systemctl daemon-reload
	done
}

@test "systemd: one process is enough for a limit of one" {
	edit '.linux.resources.pids.limit = 1'
	start_sleeper
	[ "$(value pids.max)" = 1 ]
	[ "$(value pids.current)" = 1 ]
}

# bats test_tags=sample
@test "systemd: exec, ps, pause, events" {
	start_sleeper
	call exec "$ID" cat /proc/self/cgroup
	works 0::/
	call pause "$ID"
	works
	has_status paused
	call resume "$ID"
	works
	call ps "$ID"
	works
	[[ $output = *"sleep 1000"* ]]
	call events --stats "$ID"
	works
	[ "$(jq .data.pids.current <<<"$output")" = 1 ]
}

# bats test_tags=sample
@test "systemd: the scope ends with the container, and delete has no more to do" {
	start_sleeper
	stop_container
	wait_for 60 unit_gone
	call delete "$ID"
	works
	nothing_left
}

@test "systemd: a container that systemd stops" {
	start_sleeper
	systemctl stop "$UNIT"
	wait_for 60 has_status stopped
	call delete "$ID"
	works
	nothing_left
}

# bats test_tags=sample
@test "systemd: out of memory leaves no failed unit" {
	edit '.linux.resources.memory = {limit: 20000000, swap: 20000000}'
	sh_args 'x=$(head -c 60000000 /dev/zero | tr "\0" a); echo survived'
	run_container
	[ "$status" -eq 137 ]
	nothing_left
}

@test "systemd: the same name again at once" {
	local i
	for i in 1 2 3; do
		start_sleeper
		call delete --force "$ID"
		works
	done
	nothing_left
}

@test "systemd: a failed unit of that name gives way, an active one does not" {
	systemd-run --quiet --scope --unit "${UNIT%.scope}" --slice vmtest.slice \
		--property MemoryMax=1M sh -c 'exec tail /dev/zero' || true
	[ "$(property ActiveState)" = failed ] || echo "the unit did not fail"
	start_sleeper
	call delete --force "$ID"
	works
	wait_for 60 unit_gone
	systemd-run --quiet --scope --unit "${UNIT%.scope}" sleep 1000 3>&- &
	wait_for 60 systemctl --quiet is-active "$UNIT"
	run_container
	fails 1 "a unit of that name is active"
	[ "$(property ActiveState)" = active ]
	systemctl stop "$UNIT"
}

@test "systemd: paths that are none" {
	local path
	for path in /a/b a.slice:b a.slice:b: a--b.slice:p:n a/b.slice:p:n "vmtest.slice:vm:x.slice"; do
		edit --arg c "$path" '.linux.cgroupsPath = $c'
		run_container
		fails 1
		clean
	done
}

@test "systemd: annotations set properties" {
	edit '.annotations = {"org.systemd.property.TimeoutStopUSec": "uint64 7000000",
		"org.systemd.property.KillSignal": "15", "org.systemd.property.After": "[\"basic.target\"]",
		"org.systemd.property.CollectMode": "'"'inactive'"'"}'
	start_sleeper
	[ "$(property TimeoutStopUSec)" = 7s ]
	[ "$(property CollectMode)" = inactive ]
	[[ $(property After) = *basic.target* ]]
	call delete --force "$ID"
	works
	edit '.annotations = {"org.systemd.property.NoSuchProperty": "true"}'
	run_container
	fails 1 NoSuchProperty
	edit '.annotations = {"org.systemd.property.Wants": "[\"no-such.service\"]"}
		| .process.capabilities |= map_values([])'
	AGENTRUN_FLAGS=--systemd-cgroup
	run_container
	fails 1 'org.systemd.property.Wants: only a container under the profile "passthrough"'
	edit '.annotations = {}'
}

@test "systemd: a container that cannot be made leaves no scope" {
	args /no-such-program
	run_container
	fails 1 no-such-program
	nothing_left
}

@test "systemd: without the helper program, an error" {
	mkdir "$T/alone"
	cp "$AGENTRUN" "$T/alone/agentrun"
	AGENTRUN=$T/alone/agentrun call run --bundle "$BUNDLE" "$ID"
	fails 1 "find the helper program agentrun-systemd"
	[ ! -e "$ROOT/$ID" ]
}

@test "systemd: features" {
	call features
	works
	[ "$(jq '.linux.cgroup | .systemd and .systemdUser' <<<"$output")" = true ]
}

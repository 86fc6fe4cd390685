# Scopes of systemd where limits live in the hierarchies of v1, with or without a unified tree beside them.
# shellcheck shell=bash disable=SC2016,SC2154

load ../integration/helpers.bash

setup_file() {
	[ -d /run/systemd/system ] || skip "needs systemd"
	[ ! -e /sys/fs/cgroup/cgroup.controllers ] || skip "needs the hierarchies of v1"
	suite_setup_file
}

teardown_file() {
	suite_teardown_file
}

setup() {
	suite_setup
	UNIT=vm-$ID.scope
	FOLDER=vmtest.slice/$UNIT
	AGENTRUN_FLAGS+=" --systemd-cgroup"
	edit --arg c "vmtest.slice:vm:$ID" '.linux.cgroupsPath = $c'
}

teardown() {
	systemctl stop "$UNIT" 2>/dev/null || true
	suite_teardown
}

value() {
	cat "/sys/fs/cgroup/$1/$FOLDER/$2"
}

unit_gone() {
	[ "$(systemctl list-units --all --no-legend --plain "$UNIT")" = "" ]
}

limits_hold() {
	[ "$(value memory memory.limit_in_bytes)" = 99999744 ]
	[ "$(value cpu cpu.cfs_quota_us) $(value cpu cpu.cfs_period_us)" = "20000 50000" ]
	[ "$(value pids pids.max)" = 50 ]
}

@test "v1, systemd: a scope, the same in every hierarchy, with its limits, also after a reload" {
	edit '.linux.resources = {memory: {limit: 100000000}, cpu: {quota: 20000, period: 50000, shares: 512}, pids: {limit: 50}}'
	start_sleeper
	[ "$(systemctl show --property Slice --value "$UNIT")" = vmtest.slice ]
	local name
	for name in systemd memory cpu pids devices freezer; do
		[ "$(value $name cgroup.procs)" = "$(pid_of)" ]
	done
	limits_hold
	[ "$(value cpu cpu.shares)" = 512 ]
	# which writes its own idea of the weight, but no other limits
	systemctl daemon-reload
	limits_hold
	call delete --force "$ID"
	works
	wait_for 60 unit_gone
	[ -z "$(find /sys/fs/cgroup -name "$UNIT")" ]
}

@test "v1, systemd: an update" {
	edit '.linux.resources = {memory: {limit: 200000000}, cpu: {quota: 30000, period: 50000}}'
	start_sleeper
	call update --memory 100000000 --cpu-quota 20000 --pids-limit 50 --cpu-share 512 "$ID"
	works
	limits_hold
	[ "$(value cpu cpu.shares)" = 512 ]
}

@test "v1, systemd: device rules hold, also after a reload" {
	edit '.linux.resources.devices = [{allow: false, access: "rwm"},
			{allow: true, type: "c", major: 10, minor: 229, access: "r"}]
		| .linux.devices = [{path: "/dev/fuse", type: "c", major: 10, minor: 229, fileMode: 438},
			{path: "/dev/loop-control", type: "c", major: 10, minor: 237, fileMode: 438}]'
	start_sleeper
	local try
	for try in before after; do
		call exec "$ID" sh -c 'exec 3</dev/fuse && echo read; (exec 3>/dev/fuse) 2>/dev/null || echo no write
			(exec 3</dev/loop-control) 2>/dev/null || echo no loop; exec 4<>/dev/null && echo null'
		works "$(printf 'read\nno write\nno loop\nnull')"
		systemctl daemon-reload
	done
}

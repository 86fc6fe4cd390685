#!/usr/bin/env bats
# A user namespace that is joined and described: containerd gives pods both a path and maps.

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

# holder LINE...: a process in a user namespace of its own with these maps; $HOLDER is its pid.
holder() {
	unshare --user sleep 1000 3>&- &
	HOLDER=$!
	wait_for 10 in_own_user_namespace
	# the kernel takes one write(2) only, bash makes one of each line
	printf '%s\n' "$@" | dd of="/proc/$HOLDER/gid_map" bs=4096 iflag=fullblock status=none
	printf '%s\n' "$@" | dd of="/proc/$HOLDER/uid_map" bs=4096 iflag=fullblock status=none
}

in_own_user_namespace() {
	[ "$(readlink /proc/self/ns/user)" != "$(readlink "/proc/$HOLDER/ns/user")" ]
}

join_holder() {
	in_user_namespace
	edit --arg path "/proc/$HOLDER/ns/user" \
		'.linux.namespaces |= map(if .type == "user" then .path = $path else . end)'
}

maps() {
	edit --argjson u "$1" --argjson g "${2-$1}" '.linux.uidMappings = $u | .linux.gidMappings = $g'
}

@test "user namespace by path alone" {
	other runc "1.1 wants maps as well"
	holder '0 100000 65536'
	join_holder
	edit 'del(.linux.uidMappings, .linux.gidMappings)'
	args cat /proc/self/uid_map
	run_container
	works
	[[ $output =~ ^\ *0\ +100000\ +65536$ ]]
}

@test "user namespace by path with the same maps" {
	holder '0 100000 65536'
	join_holder
	args readlink /proc/self/ns/user
	run_container
	if [ "$KIND" = runc ] && [ "$status" -ne 0 ]; then
		skip 'runc before 1.2 takes only one of them'
	fi
	works "$(readlink "/proc/$HOLDER/ns/user")"
	[ "$KIND" != agentrun ] || clean
}

@test "user namespace by path with the same maps in other words" {
	other runc,crun "compare line by line"
	holder '0 100000 1000' '1000 200000 1000'
	join_holder
	maps '[{"containerID": 1000, "hostID": 200000, "size": 1000}, {"containerID": 0, "hostID": 100000, "size": 400},
		{"containerID": 400, "hostID": 100400, "size": 600}]'
	run_container
	works
}

@test "user namespace by path with other maps" {
	other runc,crun 'some versions ignore the maps'
	holder '0 100000 65536'
	join_holder
	maps '[{"containerID": 0, "hostID": 100000, "size": 65535}]'
	run_container
	fails 1
	says 'linux.uidMappings and linux.gidMappings do not fit .* uid_map is another: 1 ranges, from 0 100000 65536'
	clean
	maps '[{"containerID": 0, "hostID": 100000, "size": 65536}]' '[{"containerID": 0, "hostID": 100001, "size": 65536}]'
	run_container
	fails 1
	says 'gid_map is another'
	clean
}

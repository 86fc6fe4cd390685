# AppArmor profiles, in a kernel that has them.
# shellcheck shell=bash disable=SC2016,SC2154

load ../integration/helpers.bash

PROFILE=agentrun-test-profile

setup_file() {
	[ -e /sys/module/apparmor/parameters/enabled ] || skip "needs AppArmor"
	[ "$(cat /sys/module/apparmor/parameters/enabled)" = Y ] || skip "AppArmor is off"
	suite_setup_file
	apparmor_parser --replace <<PROFILE
#include <tunables/global>
profile $PROFILE flags=(attach_disconnected,mediate_deleted) {
	file,
	capability,
	network,
	signal,
	deny /forbidden rw,
}
PROFILE
}

teardown_file() {
	echo "profile $PROFILE {}" | apparmor_parser --remove 2>/dev/null || true
	suite_teardown_file
}

setup() {
	suite_setup
	touch "$ROOTFS/forbidden" "$ROOTFS/allowed"
	edit --arg p "$PROFILE" '.process.apparmorProfile = $p'
}

teardown() {
	suite_teardown
}

# bats test_tags=sample
@test "apparmor: the process is confined" {
	sh_args 'cat /proc/self/attr/current; cat /allowed && echo read; cat /forbidden 2>/dev/null || echo refused'
	run_container
	works "$(printf '%s (enforce)\nread\nrefused' "$PROFILE")"
}

@test "apparmor: confined as a user without capabilities and with no_new_privs" {
	args cat /proc/self/attr/current
	edit '.process.user = {uid: 1000, gid: 1000} | .process.noNewPrivileges = true | del(.process.capabilities)'
	chmod 755 "$ROOTFS"
	run_container
	works "$PROFILE (enforce)"
}

# bats test_tags=sample
@test "apparmor: exec takes the container's profile, or another one" {
	start_sleeper
	call exec "$ID" cat /proc/self/attr/current
	works "$PROFILE (enforce)"
	call exec "$ID" cat /forbidden
	[ "$status" -ne 0 ]
	call exec --apparmor unconfined "$ID" cat /proc/self/attr/current
	works unconfined
}

@test "apparmor: an unknown profile stops the container" {
	edit '.process.apparmorProfile = "no-such-profile"'
	sh_args 'touch /ran'
	run_container
	[ "$status" -ne 0 ]
	[[ $errors = *no-such-profile* ]]
	[ ! -e "$ROOTFS/ran" ]
}

@test "apparmor: exec with an unknown profile runs nothing" {
	start_sleeper
	call exec --apparmor no-such-profile "$ID" touch /ran
	[ "$status" -ne 0 ]
	[ ! -e "$ROOTFS/ran" ]
}

@test "apparmor: in a user namespace" {
	in_user_namespace
	args cat /proc/self/attr/current
	run_container
	works "$PROFILE (enforce)"
}

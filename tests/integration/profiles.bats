# Seccomp profiles of the operator, and filters of a specification, that are wrong: each is an
# error that names the place, and no container is started.
# shellcheck shell=bash

load helpers.bash

setup_file() {
	export SUITE_POLICY=1
	suite_setup_file
	[ "$KIND" = agentrun ] || skip "only agentrun has profiles"
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
	PROFILE=$T/profile.json
	use "$PROFILE"
	sh_args 'touch /started'
}

teardown() {
	suite_teardown
}

# use PROFILE: the policy names it.
use() {
	jq -n --arg p "$1" '{version: 1, profiles: {default: {seccomp: {profile: $p}}}}' >"$T/policy.json"
	chmod 600 "$T/policy.json"
	AGENTRUN_FLAGS="--policy $T/policy.json"
}

# rules RULE...: the profile, with these rules behind one that allows most.
rules() {
	local list
	list=$(printf ',%s' "$@")
	printf '{"extends": "agent-default", "syscalls": [%s]}' "${list#,}" >"$PROFILE"
}

# refused REGEX: nothing started, nothing is left.
refused() {
	run_container
	fails 1 "$1"
	[ ! -e "$ROOTFS/started" ]
	clean
}

@test "a profile that is good, by run and by exec" {
	rules '{"names": ["chroot"], "action": "SCMP_ACT_ERRNO", "errno": "EIO", "comment": "a test"}'
	sh_args 'chroot / true 2>&1; sleep 1000'
	start_container
	call exec "$ID" chroot / true
	[[ $status -ne 0 && $errors = *'Input/output error'* ]]
	# it must be good for each exec, and must not fall silent
	echo '{"extends": "agent-default", "syscalls": [], "silent": true}' >"$PROFILE"
	call exec "$ID" true
	fails 255 "seccomp profile $PROFILE has changed since the container was created"
	echo '{' >"$PROFILE"
	call exec "$ID" true
	fails 255 "seccomp profile $PROFILE of the policy: .*$PROFILE"
}

@test "unknown actions, calls, constants and members" {
	rules '{"names": ["mkdir"], "action": "SCMP_ACT_DENY"}'
	refused "$PROFILE: syscalls\[0\].action.*SCMP_ACT_DENY.*SCMP_ACT_ERRNO"
	rules '{"names": ["mkdir", "mkdirs"], "action": "SCMP_ACT_ERRNO", "errno": "EPERM"}'
	refused "$PROFILE: syscalls\[0\].*mkdirs"
	rules '{"names": ["mkdir"], "action": "SCMP_ACT_ERRNO", "errno": "EWRONG"}'
	refused "$PROFILE: syscalls\[0\].*EWRONG"
	rules '{"names": ["socket"], "action": "SCMP_ACT_ERRNO", "errno": "EPERM", "args": [{"index": 0, "value": "AF_NOWHERE", "op": "SCMP_CMP_EQ"}]}'
	refused "$PROFILE: syscalls\[0\].*AF_NOWHERE"
	rules '{"names": ["mkdir"], "action": "SCMP_ACT_ERRNO", "errno": "EPERM", "argument": 1}'
	refused "$PROFILE: syscalls\[0\].argument"
	rules '{"names": ["mkdir"], "action": "SCMP_ACT_NOTIFY"}'
	refused "$PROFILE: syscalls\[0\]: an agent profile cannot hand decisions to another process"
	echo '{"extends": "agent-defalt", "syscalls": []}' >"$PROFILE"
	refused "$PROFILE: extends: .*agent-defalt"
	# an unknown call in a rule that allows stays closed, and is no error: profiles are written for newer kernels
	rules '{"names": ["call_of_tomorrow"], "action": "SCMP_ACT_ALLOW"}'
	run_container
	works
}

@test "rules that contradict each other" {
	rules '{"names": ["mkdir"], "action": "SCMP_ACT_ALLOW"}' '{"names": ["mkdir"], "action": "SCMP_ACT_ERRNO", "errno": "EPERM"}'
	refused "$PROFILE: syscalls\[1\].*\"mkdir\".*syscalls\[0\]"
	rules '{"names": ["socket"], "action": "SCMP_ACT_ALLOW", "args": [{"index": 0, "value": 1, "op": "SCMP_CMP_EQ"}]}' \
		'{"names": ["socket"], "action": "SCMP_ACT_KILL_PROCESS", "args": [{"index": 0, "value": 1, "op": "SCMP_CMP_EQ"}]}'
	refused "$PROFILE: syscalls\[1\].*\"socket\" has the same conditions as in syscalls\[0\]"
}

@test "a program of more than 4096 instructions" {
	"$PYTHON" - "$PROFILE" <<-'END'
		import json, sys
		calls = ["ioctl", "openat", "write", "read", "shutdown", "lseek", "fcntl", "dup3"]
		rules = [{"names": [call], "action": "SCMP_ACT_ERRNO", "errno": "EPERM",
		    "args": [{"index": 0, "value": 70000 + 3 * i, "op": "SCMP_CMP_EQ"}, {"index": 1, "value": i, "op": "SCMP_CMP_EQ"}]}
		    for call in calls for i in range(200)]
		json.dump({"extends": "agent-default", "syscalls": rules}, open(sys.argv[1], "w"))
	END
	refused "$PROFILE: the program has more than 4096 instructions"
	use agent-default
	edit '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [range(1100) | {names: ["ioctl"], action: "SCMP_ACT_ERRNO", errnoRet: 1,
		args: [{index: 1, value: (70000 + 3 * .), op: "SCMP_CMP_EQ"}, {index: 2, value: (. + 1), op: "SCMP_CMP_EQ"}]}]}'
	refused 'seccomp profile of the configuration: .*4096'
}

@test "a profile that is no file of root's alone, or not there" {
	rules '{"names": ["mkdir"], "action": "SCMP_ACT_ALLOW"}'
	chmod 666 "$PROFILE"
	refused "$PROFILE must be a regular file that belongs to root"
	chmod 644 "$PROFILE"
	mv "$PROFILE" "$T/other"
	ln -s "$T/other" "$PROFILE"
	refused "open the seccomp profile $PROFILE"
	rm "$PROFILE"
	refused "open the seccomp profile $PROFILE: no such file"
	mkfifo "$PROFILE"
	refused "$PROFILE must be a regular file"
	use agent-unknown
	refused 'there is no seccomp profile "agent-unknown": shipped are agent-default'
}

@test "what is no profile" {
	printf 'not json' >"$PROFILE"
	refused "$PROFILE"
	printf '{"defaultAction": "SCMP_ACT_ERRNO", "defaultAction": "SCMP_ACT_ALLOW"}' >"$PROFILE"
	refused "$PROFILE.*defaultAction"
	printf '{"syscalls": []}' >"$PROFILE"
	refused "$PROFILE: defaultAction is required"
	truncate -s 2M "$PROFILE"
	refused "read the seccomp profile $PROFILE: file too large"
}

@test "a specification's filter that is wrong" {
	use agent-default
	edit '.linux.seccomp = {defaultAction: "SCMP_ACT_NONE"}'
	refused 'linux.seccomp.defaultAction'
	edit '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mkdir"], action: "SCMP_ACT_ERRNO", errnoRet: 5000}]}'
	refused 'seccomp.*5000'
	edit '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mkdir"], action: "SCMP_ACT_ERRNO", args: [{index: 7, value: 1, op: "SCMP_CMP_EQ"}]}]}'
	refused 'index'
	# where the caller asks for it, also a call that nobody knows
	edit '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["call_of_tomorrow"], action: "SCMP_ACT_ERRNO"}]}
		| .annotations["run.oci.seccomp_fail_unknown_syscall"] = "1"'
	refused 'call_of_tomorrow'
}

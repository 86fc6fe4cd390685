#!/usr/bin/env bats
# What other runtimes' suites ask for and no other file here covers: the process, its
# descriptors and names.

load helpers.bash

setup_file() { suite_setup_file; }
teardown_file() { suite_teardown_file; }
setup() { suite_setup; }
teardown() { suite_teardown; }

@test "cwd: made although the root is read-only" {
	edit '.process.cwd = "/made/here" | .root.readonly = true'
	args pwd
	run_container
	works /made/here
	[ "$(stat -c %u:%g:%a "$ROOTFS/made/here")" = 0:0:755 ]
}

@test "stdio: a pipe belongs to the user, who may open it by name" {
	edit '.process.user = {uid: 1000, gid: 1001}'
	sh_args 'echo named >/dev/stdout; stat -L -c %u:%g /dev/stdout'
	got=$(rt run --bundle "$BUNDLE" "$ID" </dev/null 3>&- | cat)
	[ "$got" = $'named\n1000:1001' ]
}

@test "stdio: a file of the caller keeps its owner" {
	edit '.process.user = {uid: 1000, gid: 1001}'
	args true
	run_container
	works
	[ "$(stat -c %u:%g "$T/stdout")" = 0:0 ]
}

@test "exec: stdio belongs to the process's user" {
	start_sleeper
	got=$(rt exec --user 1000:1001 "$ID" sh -c 'echo named >/dev/stdout; stat -L -c %u:%g /dev/stdout' </dev/null 3>&- | cat)
	[ "$got" = $'named\n1000:1001' ]
}

@test "exec: an unknown --cap grants nothing and is no error" {
	edit '.process.capabilities = {}'
	start_sleeper
	call exec --cap CAP_NO_SUCH --cap CAP_KILL "$ID" grep CapEff /proc/self/status
	works $'CapEff:\t0000000000000020'
}

@test "capabilities: a word that is none is left out" {
	edit '.process.capabilities |= with_entries(.value = ["KILL", "CAP_KILL"]) | .process.capabilities.ambient = []'
	args grep CapBnd /proc/self/status
	run_container
	works $'CapBnd:\t0000000000000020'
}

@test "seccomp: a profile that knows no close_range" {
	edit '.process.noNewPrivileges = true | .linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [
		{names: ["close_range"], action: "SCMP_ACT_KILL_PROCESS"}]}'
	args echo fine
	run_container
	works fine
	edit '.process.noNewPrivileges = false'
	run_container
	works fine
}

@test "preserve-fds: not for startContainer hooks" {
	mkdir -p "$ROOTFS/rec"
	edit '.hooks.startContainer = [{path: "/bin/sh", args: ["sh", "-c", "ls /proc/self/fd >/rec/fds"], env: ["PATH=/bin"]}]'
	sh_args 'cat <&3'
	got=$(rt run --bundle "$BUNDLE" --preserve-fds 1 "$ID" </dev/null 3<<<passed)
	[ "$got" = passed ]
	# 0 to 2, and the folder that ls reads
	[ "$(tr '\n' ' ' <"$ROOTFS/rec/fds")" = '0 1 2 3 ' ]
}

@test "ioPriority: a class without a level" {
	edit '.process.ioPriority = {class: "IOPRIO_CLASS_IDLE"}'
	run_container
	works
}

@test "sysctl: names that the configuration has fields for" {
	edit '.linux.sysctl = {"kernel.hostname": "x"}'
	run_container
	fails 1
	says 'kernel.hostname'
	edit '.linux.sysctl = {"kernel.domainname": "x"} | .domainname = "y"'
	run_container
	fails 1
	says 'kernel.domainname'
	edit '.domainname = "x"'
	args cat /proc/sys/kernel/domainname
	run_container
	works x
}

@test "user namespace without maps: the caller's own ids alone" {
	edit '.linux.namespaces += [{type: "user"}] | del(.linux.uidMappings, .linux.gidMappings)'
	args cat /proc/self/uid_map /proc/self/gid_map
	run_container
	[ "$status" -eq 0 ]
	[ "$(tr -s ' ' <<<"$output")" = $' 0 0 1\n 0 0 1' ]
	edit '.process.user = {uid: 1, gid: 0}'
	run_container
	fails 1
	says 'uid 1 is not mapped'
}

@test "devices: in a user namespace, one that the host has not got" {
	in_user_namespace
	edit '.linux.devices = [{path: "/dev/own", type: "c", major: 1, minor: 3, fileMode: 438, uid: 10, gid: 11}]
		| .linux.resources.devices = [{allow: true, access: "rwm"}]'
	[ ! -e /dev/own ]
	sh_args 'stat -c "%F %t:%T %a %u:%g" /dev/own; echo lost >/dev/own && echo written'
	run_container
	works $'character special file 1:3 666 10:11\nwritten'
	clean
}

@test "devices: a path with a slash at the end" {
	edit '.linux.devices = [{path: "/dev/slash/", type: "c", major: 1, minor: 3}]'
	args stat -c %t:%T /dev/slash
	run_container
	works 1:3
}

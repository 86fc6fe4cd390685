#!/usr/bin/env bats
# Corners in which runtimes differ and engines or their users have come to rely on one answer.

load helpers.bash

setup_file() { suite_setup_file; }
teardown_file() { suite_teardown_file; }
setup() { suite_setup; }
teardown() { suite_teardown; }

# deny NAME...: a filter that answers these system calls with an errno that no kernel path gives.
deny() {
	edit --argjson names "$(jq -nc '$ARGS.positional' --args "$@")" '.linux.seccomp = {
		defaultAction: "SCMP_ACT_ALLOW", architectures: ["SCMP_ARCH_X86_64"],
		syscalls: [{names: $names, action: "SCMP_ACT_ERRNO", errnoRet: 88}]}'
}

@test "filter: the calls of the set-up itself may be denied" {
	local nnp
	args echo through
	deny close_range openat2 fsopen fsconfig fsmount open_tree move_mount mount_setattr clone3
	for nnp in true false; do
		edit ".process.noNewPrivileges = $nnp"
		run_container
		works through
	done
}

@test "filter: descriptors are still closed when it denies close_range" {
	args sh -c 'for fd in 5 7; do [ ! -e /proc/self/fd/$fd ] || echo $fd; done; echo end'
	deny close_range
	CALL_STDIN=/dev/null run_container 5</dev/null 7</dev/null
	works end
}

@test "filter: startContainer hooks run under it" {
	args true
	deny close_range
	edit '.process.noNewPrivileges = true
		| .hooks.startContainer = [{path: "/bin/sh", args: ["sh", "-c", "echo hook >/tmp/hook; ls /proc/self/fd | wc -l >>/tmp/hook"]}]'
	run_container
	works
	# 0, 1, 2 and that of ls
	[ "$(cat "$ROOTFS/tmp/hook")" = $'hook\n4' ]
}

@test "create: nothing of the host stays open in the waiting process" {
	local fd target
	args true
	exec 8<"$BUNDLE/config.json"
	call create --bundle "$BUNDLE" "$ID"
	exec 8<&-
	works
	for fd in "/proc/$(pid_of)/fd"/*; do
		target=$(readlink "$fd") || continue
		# 0 to 2 are the caller's
		case ${fd##*/} in
		[012]) continue ;;
		esac
		case $target in
		/ | /proc | socket:* | pipe:* | anon_inode:*) ;;
		*)
			echo "open: ${fd##*/} -> $target"
			return 1
			;;
		esac
	done
	call start "$ID"
	works
}

@test "create: --preserve-fds survive the wait at the gate" {
	args sh -c 'cat <&3; cat <&4'
	echo three >"$T/3"
	echo four >"$T/4"
	: >"$LOG"
	rt run --preserve-fds 2 --bundle "$BUNDLE" "$ID" 3<"$T/3" 4<"$T/4" >"$T/stdout" 2>"$T/stderr"
	[ "$(cat "$T/stdout")" = $'three\nfour' ]
	rt create --preserve-fds 2 --bundle "$BUNDLE" "$ID" 3<"$T/3" 4<"$T/4" >"$T/stdout" 2>"$T/stderr"
	call start "$ID"
	works
	wait_for 5 has_status stopped
}

@test "a program that only a capability makes executable" {
	args /bin/only-root
	cp "$ROOTFS/bin/busybox" "$ROOTFS/bin/only-root" 2>/dev/null || skip "no busybox here"
	chown 0:0 "$ROOTFS/bin/only-root"
	chmod 0700 "$ROOTFS/bin/only-root"
	edit '.process.args = ["/bin/only-root"] | .process.user = {uid: 1000, gid: 1000}'
	run_container
	fails 1 'permission denied'
	edit '.process.capabilities = ([["bounding", "effective", "permitted", "inheritable", "ambient"][]
		| {(.): ["CAP_DAC_OVERRIDE"]}] | add)'
	run_container
	[ "$status" -ne 1 ] || ! grep -q 'permission denied' <<<"$errors"
	# it is called by a name that is no applet
	[[ $errors$output = *applet* ]]
}

@test "capabilities with names that mean nothing are not granted, and no error" {
	edit '.process.capabilities.bounding += ["CAP_FUTURE", "kill", ""]'
	args grep CapBnd /proc/self/status
	run_container
	works
	[[ $output = *$'\t0000000020000420' ]]
}

@test "capabilities that cannot be granted are named in a warning" {
	edit '.process.capabilities.ambient = ["CAP_KILL", "CAP_CHOWN"] | .process.capabilities.inheritable = ["CAP_KILL"]'
	args grep CapAmb /proc/self/status
	AGENTRUN_FLAGS="${AGENTRUN_FLAGS-} --log-level warning" run_container
	[ "$status" -eq 0 ]
	[[ $output = *$'\t0000000000000020' ]]
	[ "$(jq -r .level "$LOG")" = warning ]
	says 'CAP_CHOWN'
	run_container
	works
}

@test "device rules: unknown access letters are left out" {
	edit '.linux.resources.devices = [{allow: false, access: "rwma"}, {allow: true, type: "c", major: 1, minor: 3, access: "rxw"}]'
	sh_args 'echo >/dev/null && ! cat /dev/kmsg'
	run_container
	[ "$status" -eq 0 ]
	edit '.linux.resources.devices = [{allow: false, access: "x"}]'
	run_container
	fails 1
	says 'unknown access'
}

@test "exec: an I/O class without a priority" {
	local class
	start_sleeper
	for class in IDLE BE; do
		jq -n --arg class "IOPRIO_CLASS_$class" '{args: ["true"], cwd: "/", ioPriority: {class: $class}}' >"$T/process.json"
		call exec --process "$T/process.json" "$ID"
		works
	done
}

@test "kill: signal 0 looks and sends nothing" {
	start_sleeper
	call kill "$ID" 0
	works
	has_status running
	stop_container
	call kill "$ID" 0
	fails 1 'container not running'
	call kill --all "$ID" 0
	works
}

@test "update --pids-limit 0 is the least there is; in a document it changes nothing" {
	local file
	edit '.linux.resources.pids = {limit: 20}'
	start_sleeper
	file=$(cgroup_folders "$CGROUP" | while read -r d; do [ ! -e "$d/pids.max" ] || echo "$d/pids.max"; done)
	[ -n "$file" ] || skip "no pids controller"
	echo '{"pids": {"limit": 0}}' >"$T/resources.json"
	call update --resources "$T/resources.json" "$ID"
	works
	[ "$(cat "$file")" = 20 ]
	call update --pids-limit 0 "$ID"
	works
	[ "$(cat "$file")" = 1 ]
}

@test "mounts: a source inside the root with an id mapping" {
	args sh -c 'stat -c %u /to/file; stat -c %u /from/file'
	mkdir "$T/source"
	: >"$T/source/file"
	add_mount "$(jq -nc --arg s "$T/source" '{destination: "/from", type: "bind", source: $s, options: ["rbind"]}')"
	add_mount "$(jq -nc --arg s "$ROOTFS/from" '{destination: "/to", type: "bind", source: $s, options: ["rbind"],
		uidMappings: [{containerID: 0, hostID: 4000, size: 10}], gidMappings: [{containerID: 0, hostID: 4000, size: 10}]}')"
	run_container
	if [ "$status" -ne 0 ] && [[ $errors = *'may not support idmapped mounts'* ]]; then
		skip "the file system under $T cannot be id-mapped"
	fi
	works $'4000\n0'
}

@test "spec: a cgroup namespace only where cgroups are unified" {
	local want=false
	[ "$(stat -f -c %T /sys/fs/cgroup)" != cgroup2fs ] || want=true
	mkdir "$T/fresh"
	call spec --bundle "$T/fresh"
	works
	[ "$(jq '[.linux.namespaces[].type] | any(. == "cgroup")' "$T/fresh/config.json")" = "$want" ]
	rm "$T/fresh/config.json"
	call spec --rootless --bundle "$T/fresh"
	works
	[ "$(jq '[.linux.namespaces[].type] | any(. == "cgroup")' "$T/fresh/config.json")" = "$want" ]
	[ "$(jq '[.linux.namespaces[].type] | any(. == "user")' "$T/fresh/config.json")" = true ]
}

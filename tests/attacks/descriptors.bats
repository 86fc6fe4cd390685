#!/usr/bin/env bats
# Ways out through what the runtime has open: descriptors, working folder, program file.

load attacks.bash

setup_file() {
	attack_setup_file probe
}

teardown_file() {
	suite_teardown_file
}

setup() {
	attack_setup
}

teardown() {
	attack_teardown
}

# Without opening one for it.
LIST_DESCRIPTORS='for f in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do [ -L /proc/$$/fd/$f ] && echo $f; done; true'

@test "a container gets 0 to 2 and nothing else, whatever the engine left open" {
	sh_args "$LIST_DESCRIPTORS"
	call_leaking run --bundle "$BUNDLE" "$ID"
	works "$(printf '0\n1\n2')"
}

@test "so does an exec" {
	start_sleeper
	call_leaking exec "$ID" sh -c "$LIST_DESCRIPTORS"
	works "$(printf '0\n1\n2')"
}

@test "an init at its gate holds no file or folder of the host" {
	local fd target
	args sleep 1000
	call_leaking create --bundle "$BUNDLE" "$ID"
	works
	for fd in "/proc/$(pid_of)"/fd/*; do
		target=$(readlink "$fd")
		case ${fd##*/} in 0 | 1 | 2) continue ;; esac
		case $target in
		# the handle for labels, the container's own root, the gate and the signals
		/proc | / | socket:* | anon_inode:*) ;;
		*)
			echo "descriptor ${fd##*/}: $target"
			return 1
			;;
		esac
	done
}

# host_program PATH...: where the host's root is an open folder away, each descriptor in turn.
through_descriptors() {
	local n
	for n in $(seq 3 24); do
		echo "/proc/self/fd/$n/../../../../../../../../../../../..$1"
		echo "/proc/self/fd/$n/$1"
	done
}

@test "args through a descriptor do not run the host's program" {
	local path
	for path in $(through_descriptors "$CANARY/busybox") /proc/self/fd/4/busybox; do
		edit --arg p "$path" '.process.args = [$p, "echo", "ESCAPED"]'
		call_leaking run --bundle "$BUNDLE" "$ID"
		lacks ESCAPED
		rt delete --force "$ID"
	done
	[ "$status" -ne 0 ]
}

@test "exec through a descriptor does not run the host's program" {
	local path
	start_sleeper
	for path in $(through_descriptors "$CANARY/busybox") /proc/self/fd/4/busybox; do
		call_leaking exec "$ID" "$path" echo ESCAPED
		lacks ESCAPED
	done
	[ "$status" -ne 0 ]
}

@test "nor do a link, an interpreter or an ELF loader in the image that name a descriptor" {
	local path
	other_bundle
	start_other
	# busybox goes by the name it is called
	edit '.process.args = ["/echo", "ESCAPED"]'
	for path in $(through_descriptors "$CANARY/busybox"); do
		ln -sfn "$path" "$ROOTFS/echo"
		call_leaking run --bundle "$BUNDLE" "$ID"
		lacks ESCAPED
		call_leaking exec other /echo ESCAPED
		lacks ESCAPED
		rt delete --force "$ID"
		rm "$ROOTFS/echo"
		printf '#!%s echo\nESCAPED' "$path" >"$ROOTFS/echo"
		chmod 755 "$ROOTFS/echo"
		call_leaking run --bundle "$BUNDLE" "$ID"
		lacks ESCAPED
		rt delete --force "$ID"
	done
	rm "$ROOTFS/echo"
	# a program whose name makes busybox an echo, loaded by the host's busybox
	for path in 4 5 6 7 8 9; do
		LOADER=/proc/self/fd/$path/../../../../../../../..$CANARY/busybox \
			perl -0777 -pe 's/@{300}/pack "a300", $ENV{LOADER}/e' "$ATTACK_PROGRAMS/loaded" >"$ROOTFS/echo"
		grep -qF "$CANARY/busybox" "$ROOTFS/echo"
		chmod 755 "$ROOTFS/echo"
		call_leaking run --bundle "$BUNDLE" "$ID"
		lacks ESCAPED
		rt delete --force "$ID"
	done
}

@test "a working folder outside is refused, in config and exec" {
	local n
	other_bundle
	start_other
	# a descriptor of the container's own root is no way out
	sh_args 'case $(pwd -P 2>/dev/null) in /*) ;; *) echo ESCAPED ;; esac; cat file ../canary/file'
	for n in $(seq 3 24); do
		edit --arg p "/proc/self/fd/$n" '.process.cwd = $p'
		call_leaking run --bundle "$BUNDLE" "$ID"
		lacks ESCAPED secret
		call_leaking exec --cwd "/proc/self/fd/$n" other sh -c 'case $(pwd -P 2>/dev/null) in /*) ;; *) echo ESCAPED ;; esac; cat file'
		lacks ESCAPED secret
		ln -sfn "/proc/self/fd/$n" "$ROOTFS/work"
		call_leaking exec --cwd /work other sh -c 'case $(pwd -P 2>/dev/null) in /*) ;; *) echo ESCAPED ;; esac; cat file'
		lacks ESCAPED secret
		rt delete --force "$ID"
	done
}

@test "nor does a working folder lead out by way of a process of the host" {
	# pid 1 of the host is in sight; its root is not ours
	edit '.linux.namespaces |= map(select(.type != "pid")) | .process.args = ["sh", "-c", "echo ESCAPED"]'
	for path in /proc/1/root /proc/1/cwd "/proc/$$/root" "/proc/$$/cwd"; do
		edit --arg p "$path" '.process.cwd = $p'
		run_container
		lacks ESCAPED
		rt delete --force "$ID"
	done
}

@test "an old break-out of a chroot ends inside, with and without pivot_root" {
	grant CAP_SYS_CHROOT CAP_DAC_OVERRIDE
	args probe breakout "$CANARY/file"
	run_container
	works inside
	run_container --no-pivot
	works inside
}

@test "standard descriptors that the engine closed are no files of the runtime" {
	sh_args 'a=$(for f in 0 1 2; do stat -L -c %t:%T /proc/$$/fd/$f; done); echo $a >/tmp/result'
	rt run --bundle "$BUNDLE" "$ID" 0<&- 1>&- 2>&- 3>&-
	cat "$ROOTFS/tmp/result"
	[ "$(cat "$ROOTFS/tmp/result")" = "1:3 1:3 1:3" ]
}

# own_runtime: a copy of the runtime that a successful attack may destroy.
own_runtime() {
	cp "$AGENTRUN" "$T/agentrun"
	AGENTRUN=$T/agentrun
	RUNTIME_BEFORE=$(sha256sum <"$AGENTRUN")
	export AGENTRUN
}

runtime_untouched() {
	[ "$(sha256sum <"$T/agentrun")" = "$RUNTIME_BEFORE" ]
}

@test "an entrypoint that is the runtime itself cannot be written" {
	own_runtime
	edit '.process.args = ["/evil", "--help"]'
	ln -s /proc/self/exe "$ROOTFS/evil"
	run_container
	runtime_untouched
	rt delete --force "$ID"
	rm "$ROOTFS/evil"
	printf '#!/proc/self/exe\n' >"$ROOTFS/evil"
	chmod 755 "$ROOTFS/evil"
	run_container
	runtime_untouched
}

@test "a container that waits for an exec of the runtime's own program cannot write it" {
	loads_anywhere
	own_runtime
	# its log is a fifo, so that it stays until the probe has it
	ln -s /proc/self/exe "$ROOTFS/evil"
	mkfifo "$ROOTFS/fifo"
	sh_args 'probe overwrite /evil /fifo 8 >/tmp/result 2>&1'
	grant CAP_SYS_PTRACE CAP_DAC_OVERRIDE
	start_container
	call exec "$ID" /evil --log /fifo state x
	wait_for 15 has_status stopped
	cat "$ROOTFS/tmp/result"
	grep -q '^reached' "$ROOTFS/tmp/result"
	absent WROTE "$ROOTFS/tmp/result"
	runtime_untouched
}

NO_FIND='REACHED|WRITABLE|TRACED|READ'

# scan_while SECONDS COMMAND...: the container $ID scans, and meanwhile the command runs again and again. PATIENCE multiplies
# the time where everything is slow: one round at least must be seen.
scan_while() {
	local seconds=$(($1 * ${PATIENCE-1}))
	shift
	args probe scan "$seconds" "$T"
	rt_background run --bundle "$BUNDLE" "$ID"
	wait_for 5 has_status running
	while has_status running; do
		"$@" </dev/null >/dev/null 2>&1 3>&- || true
	done
	wait
	cat "$T/background.out" "$T/background.err"
	grep -qx 'seen some' "$T/background.out"
	absent "$NO_FIND" "$T/background.out"
}

one_more() {
	rt run --bundle "$T/other" other
}

one_exec() {
	rt exec "$ID" true
}

@test "nor is the runtime's file written where only a copy of it could be protected" {
	loads_anywhere
	unshare -r true 2>/dev/null || skip "no user namespaces"
	own_runtime
	ln -s /proc/self/exe "$ROOTFS/evil"
	mkfifo "$ROOTFS/fifo"
	sh_args 'probe overwrite /evil /fifo 8 >/tmp/result 2>&1'
	# without privilege over the mounts of the host: the program runs from memory
	edit '.linux.namespaces |= map(select(.type != "network" and .type != "user" and .type != "cgroup"))
		| del(.linux.cgroupsPath, .linux.resources) | .mounts |= map(select(.type != "sysfs" and .type != "cgroup"))'
	cat >"$T/rootless" <<-EOF
		a="$AGENTRUN ${AGENTRUN_FLAGS-} --root $ROOT --rootless true"
		\$a run --detach --bundle $BUNDLE $ID && \$a exec $ID /evil --log /fifo state x
		sleep 4
		\$a delete --force $ID
	EOF
	unshare -r sh "$T/rootless" </dev/null >"$T/o" 2>&1 3>&- || cat "$T/o"
	cat "$ROOTFS/tmp/result"
	grep -q '^reached' "$ROOTFS/tmp/result"
	absent WROTE "$ROOTFS/tmp/result"
	runtime_untouched
}

@test "a process of the host's pid namespace gets at no process of the runtime" {
	other_bundle '.process.args = ["true"]'
	edit '.linux.namespaces |= map(select(.type != "pid"))'
	scan_while 3 one_more
}

@test "nor at one that makes a user namespace, which is root's as it is itself" {
	in_user_namespace
	other_bundle '.process.args = ["true"]'
	edit '.linux.namespaces |= map(select(.type != "pid" and .type != "user"))
		| del(.linux.uidMappings, .linux.gidMappings)'
	scan_while 3 one_more
}

@test "nor at one that execs into it" {
	edit '.linux.namespaces |= map(select(.type != "pid"))'
	scan_while 3 one_exec
}

@test "a container gets at no process of the runtime that execs into it" {
	scan_while 3 one_exec
}

@test "nor does one in a user namespace, whose root has all capabilities there" {
	in_user_namespace
	grant CAP_SYS_PTRACE CAP_SYS_ADMIN CAP_DAC_OVERRIDE CAP_SETUID CAP_SETGID CAP_SETPCAP
	scan_while 3 one_exec
}

@test "an exec into a created container gets at nothing of its waiting init" {
	args sleep 1000
	call create --bundle "$BUNDLE" "$ID"
	works
	call exec "$ID" probe look 1 "$T"
	works seen
}

@test "nor one in a user namespace" {
	in_user_namespace
	grant CAP_SYS_PTRACE CAP_SYS_ADMIN CAP_DAC_OVERRIDE
	args sleep 1000
	call create --bundle "$BUNDLE" "$ID"
	works
	call exec "$ID" probe look 1 "$T"
	works seen
}

@test "nor one in the host's pid namespace, in a user namespace that root made" {
	in_user_namespace
	other_bundle
	edit '.linux.namespaces |= map(select(.type != "pid" and .type != "user"))
		| del(.linux.uidMappings, .linux.gidMappings)'
	start_sleeper
	call create --bundle "$T/other" other
	works
	call exec "$ID" probe look "$(pid_of other)" "$T"
	works seen
}

@test "a pid namespace that two containers share is no way to the init of the second" {
	start_sleeper
	other_bundle '.linux.namespaces |= map(if .type == "pid" then .path = "'"/proc/$(pid_of)/ns/pid"'" else . end)'
	call create --bundle "$T/other" other
	works
	call exec "$ID" probe scan 0.3 "$T"
	works "seen some"
}

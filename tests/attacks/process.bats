#!/usr/bin/env bats
# What a process of a container can do that it must not: rights, devices, kernel settings,
# what it inherits, and what it does to those who come in later.

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

# with_environment COMMAND...: as call, under what an engine's daemon may have around it.
with_environment() {
	LD_PRELOAD_FOR_TEST=1 TTRPC_ADDRESS=/run/ttrpc LISTEN_FDS=1 LISTEN_PID=1 \
		_OCI_SYNCPIPE=3 AWS_SECRET_ACCESS_KEY=hostsecret BASH_ENV=/x GCONV_PATH=/x call "$@"
}

@test "nothing of the caller's environment reaches the container" {
	edit '.process.env = ["PATH=/bin:/usr/bin", "ONLY=this"]'
	args env
	with_environment run --bundle "$BUNDLE" "$ID"
	works "$(printf 'PATH=/bin:/usr/bin\nONLY=this\nHOME=/root')"
	start_sleeper
	NOTIFY_SOCKET=/run/notify with_environment exec "$ID" env
	works "$(printf 'PATH=/bin:/usr/bin\nONLY=this\nHOME=/root')"
}

@test "nor can a process read it from the init that waits" {
	args sleep 1000
	with_environment create --bundle "$BUNDLE" "$ID"
	works
	call exec "$ID" sh -c 'cat /proc/1/environ; true'
	lacks hostsecret
	call start "$ID"
	works
	call exec "$ID" cat /proc/1/environ
	lacks hostsecret
}

@test "no hook of the host has a variable that the image chose" {
	local stage
	printf '#!/bin/sh\n/usr/bin/env >"$1"; cat >/dev/null\n' >"$T/hook"
	chmod 755 "$T/hook"
	for stage in prestart createRuntime createContainer poststart poststop; do
		edit --arg s $stage --arg p "$T/hook" --arg o "$T/$stage.env" '.hooks[$s] = [{path: $p, args: ["hook", $o]}]'
	done
	edit '.process.env += ["LD_PRELOAD=/proc/self/cwd/evil.so", "LD_AUDIT=evil.so", "BASH_ENV=/evil", "IMAGE=evil"]'
	run_container
	works
	for stage in prestart createRuntime createContainer poststart poststop; do
		[ -s "$T/$stage.env" ]
		absent 'evil|^LD_' "$T/$stage.env"
	done
}

@test "groups and umask of the caller stay outside" {
	sh_args 'grep ^Groups /proc/self/status | tr -d "\t "; umask'
	: >"$LOG"
	umask 0
	output=$(setpriv --groups 0,4,6,1234 "$AGENTRUN" ${AGENTRUN_FLAGS-} --root "$ROOT" --log "$LOG" --log-format json run --bundle "$BUNDLE" "$ID" 3>&-)
	umask 22
	[ "$output" = "$(printf 'Groups:\n0022')" ]
	edit '.process.user = {uid: 1000, gid: 1000, additionalGids: [2000]}'
	output=$(setpriv --groups 0,4,6,1234 "$AGENTRUN" ${AGENTRUN_FLAGS-} --root "$ROOT" --log "$LOG" --log-format json run --bundle "$BUNDLE" "$ID" 3>&-)
	[ "$output" = "$(printf 'Groups:2000\n0022')" ]
}

@test "the caller's keyring stays outside, in run and exec" {
	local probe=$ATTACK_PROGRAMS/probe
	"$probe" with-key agentrun-canary true || skip "no keyrings"
	[ "$("$probe" with-key agentrun-canary "$probe" find-key agentrun-canary)" = "key: FOUND" ]
	args probe find-key agentrun-canary
	output=$("$probe" with-key agentrun-canary "$AGENTRUN" ${AGENTRUN_FLAGS-} --root "$ROOT" run --bundle "$BUNDLE" "$ID" 3>&-)
	[ "$output" != "key: FOUND" ]
	start_sleeper
	output=$("$probe" with-key agentrun-canary "$AGENTRUN" ${AGENTRUN_FLAGS-} --root "$ROOT" exec "$ID" probe find-key agentrun-canary 3>&-)
	[ "$output" != "key: FOUND" ]
}

@test "no capability is inheritable or ambient that was not asked for" {
	sh_args 'grep -E "^Cap(Inh|Amb)" /proc/self/status'
	edit 'del(.process.capabilities.inheritable, .process.capabilities.ambient)'
	run_container
	works "$(printf 'CapInh:\t0000000000000000\nCapAmb:\t0000000000000000')"
	start_sleeper
	call exec --cap CAP_NET_RAW "$ID" grep -E '^Cap(Inh|Amb)' /proc/self/status
	works "$(printf 'CapInh:\t0000000000000000\nCapAmb:\t0000000000000000')"
	call exec --user 1000:1000 "$ID" grep -E '^Cap(Inh|Eff|Amb|Prm)' /proc/self/status
	works "$(printf 'CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapAmb:\t0000000000000000')"
}

@test "file capabilities and setuid give no more than the configuration" {
	command -v setcap >/dev/null || skip "setcap is not installed"
	cp "$ROOTFS/bin/busybox" "$ROOTFS/bin/strong"
	setcap cap_sys_admin,cap_net_raw+ep "$ROOTFS/bin/strong" || skip "no file capabilities here"
	cp "$ROOTFS/bin/busybox" "$ROOTFS/bin/setuid"
	chmod 4755 "$ROOTFS/bin/setuid"
	edit '.process.user = {uid: 1000, gid: 1000}'
	for nnp in true false; do
		edit --argjson n $nnp '.process.noNewPrivileges = $n'
		sh_args '/bin/strong grep ^CapEff /proc/self/status; /bin/setuid grep ^CapEff /proc/self/status; true'
		run_container
		# CAP_SYS_ADMIN is bit 21, CAP_NET_RAW 13
		while read -r _ value; do
			[ $((0x$value & (1 << 21 | 1 << 13))) -eq 0 ]
		done <<<"$output"
		if [ $nnp = true ]; then
			[[ $output != *[1-9a-f]* ]] || [ "$(tr -d 'CapEf:\t\n0' <<<"$output")" = "" ]
		fi
	done
}

@test "a device that the configuration does not name cannot be opened, even with mknod" {
	grant CAP_MKNOD CAP_DAC_OVERRIDE
	for node in 'c 1 1' 'c 1 4' 'c 1 11' 'b 8 0' 'b 7 0' 'c 10 237' 'c 10 229' 'c 5 3' 'c 4 0' 'c 136 0'; do
		args probe device $node
		run_container
		echo "$node: $output"
		[[ $output = 'open: Operation not permitted' || $output = 'mknod: Operation not permitted' ||
			$node = 'c 136 0' ]]
	done
	# one that it has may be
	args probe device c 1 3
	run_container
	works 'open: OPENED'
}

@test "nothing of the host is written through /proc, /sys and cgroups" {
	sh_args 'for f in /proc/sysrq-trigger /proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe /proc/sys/vm/panic_on_oom \
			/sys/kernel/uevent_helper /sys/power/state /proc/irq/default_smp_affinity; do
			[ -e $f ] && (echo x >$f) 2>/dev/null && echo "WROTE $f"; done
		find /sys/fs/cgroup -name release_agent -o -name notify_on_release -o -name cgroup.procs -o -name devices.allow |
		while read f; do (echo 1 >$f) 2>/dev/null && echo "WROTE $f"; done
		mkdir /sys/fs/cgroup/new /sys/fs/cgroup/*/new 2>/dev/null && echo "MADE a cgroup"; true'
	grant CAP_DAC_OVERRIDE CAP_MKNOD
	run_container
	works ""
	edit '.linux.namespaces += [{type: "cgroup"}] | .linux.namespaces |= unique_by(.type)
		| .mounts |= map(select(.destination != "/sys/fs/cgroup")) + [{destination: "/sys/fs/cgroup", type: "cgroup",
			source: "cgroup", options: ["ro", "nosuid", "noexec", "nodev"]}]'
	run_container
	works ""
}

@test "masked files show nothing" {
	sh_args 'for f in /proc/kcore /proc/keys /proc/timer_list /proc/sched_debug /proc/latency_stats; do
		[ -e $f ] && [ -n "$(head -c 64 $f 2>/dev/null | tr -d "\0")" ] && echo "SHOWN $f"; done; ls /sys/firmware /proc/acpi /proc/scsi 2>/dev/null | grep -v : ; true'
	grant CAP_DAC_OVERRIDE CAP_SYS_RAWIO
	run_container
	[ -z "$(tr -d '\n' <<<"$output")" ]
}

@test "a sysctl does not smuggle in another one" {
	local before key
	before=$(cat /proc/sys/kernel/core_pattern)
	for key in kernel.core_pattern kernel/core_pattern net/../kernel/core_pattern net.ipv4.//.//.kernel.core_pattern \
		fs.mqueue/../../kernel/core_pattern kernel.shm_rmid_forced/../core_pattern vm.panic_on_oom kernel.modprobe \
		fs.binfmt_misc.register 'kernel.shm_rmid_forced=1+kernel.core_pattern' net; do
		edit --arg k "$key" '.linux.sysctl = {($k): "|/evil"}'
		run_container
		refused
	done
	edit '.linux.sysctl = {"kernel.shm_rmid_forced": "1+kernel.core_pattern=|/evil"}'
	run_container
	refused
	edit '.linux.sysctl = {"kernel.shm_rmid_forced": "1\nkernel.core_pattern=|/evil"}'
	run_container
	rt delete --force "$ID"
	[ "$(cat /proc/sys/kernel/core_pattern)" = "$before" ]
}

@test "an exec has the same filters and no_new_privs as the container" {
	edit '.process.noNewPrivileges = true | .linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", architectures: ["SCMP_ARCH_X86_64"],
		syscalls: [{names: ["mkdir", "mkdirat"], action: "SCMP_ACT_ERRNO", errnoRet: 13}]}'
	sh_args 'mkdir /tmp/x 2>&1; grep -E "^(Seccomp|NoNewPrivs)" /proc/self/status | tr -d " \t"'
	run_container
	local there=$output
	[[ $there = *'Permission denied'*NoNewPrivs:1*Seccomp:2* ]]
	start_sleeper
	call exec "$ID" sh -c 'mkdir /tmp/x 2>&1; grep -E "^(Seccomp|NoNewPrivs)" /proc/self/status | tr -d " \t"'
	works "$there"
}

@test "an exec into a container with a /proc of its own making trusts nothing there" {
	grant CAP_SYS_ADMIN CAP_DAC_OVERRIDE
	sh_args 'mount -t tmpfs x /proc; mkdir -p /proc/self/fd /proc/self/attr /proc/sys/kernel /proc/self/ns /proc/1/ns
		for f in /proc/self/attr/exec /proc/self/attr/current /proc/self/uid_map /proc/self/oom_score_adj /proc/self/setgroups \
			/proc/self/status /proc/1/stat /proc/self/cgroup; do echo fake >$f; done
		ln -s '"$CANARY"'/file /proc/self/fd/0
		rm /bin/true; ln -s ../../../../../../../../../..'"$CANARY"'/busybox /bin/true
		touch /ready; exec sleep 1000'
	start_container
	wait_for 5 has_file_or_exists "$ROOTFS/ready"
	call exec --cwd /tmp --user 1000 "$ID" id -u
	works 1000
	call exec "$ID" cat /proc/self/attr/exec /proc/self/oom_score_adj
	works "$(printf 'fake\nfake')"
	call exec "$ID" true
	fails 255
	call exec --tty "$ID" echo hello
	lacks secret
	call delete --force "$ID"
	works
	clean
}

has_file_or_exists() {
	[ -e "$1" ]
}

@test "an exec into a container that has hidden its root goes nowhere else" {
	grant CAP_SYS_ADMIN CAP_DAC_OVERRIDE CAP_SYS_CHROOT
	sh_args 'mkdir -p /new/bin && cp /bin/busybox /new/bin && ln -s busybox /new/bin/sh && mount -t tmpfs x /bin &&
		cp /new/bin/busybox /bin && /bin/busybox ln -s busybox /bin/sh; /bin/busybox touch /ready; exec /bin/busybox sleep 1000'
	start_container
	wait_for 5 has_file_or_exists "$ROOTFS/ready"
	call exec "$ID" sh -c '/bin/busybox ls /bin; /bin/busybox cat '"$CANARY"'/file'
	lacks secret
	[[ $output = $'busybox\nsh' ]]
}

@test "a terminal that the image calls passwd does not become the exec's" {
	args probe pty
	start_container
	ln -sf /dev/pts/0 "$ROOTFS/etc/passwd"
	wait_for 5 rt exec "$ID" test -e /dev/pts/0
	call exec "$ID" probe tty
	works none
}

@test "a container can end no other one, nor signal what is outside" {
	sleep 1000 3>&- &
	local victim=$!
	sh_args 'kill -9 -1; kill -9 '$victim' 2>/dev/null && echo KILLED; echo done'
	grant CAP_KILL
	run_container
	lacks KILLED
	kill -0 $victim
	kill -9 $victim
}

@test "cgroups nested by the thousand keep a container neither alive nor in existence" {
	local pid
	for pid in own host; do
		[ $pid = own ] || edit '.linux.namespaces |= map(select(.type != "pid"))'
		edit '.mounts |= map(select(.destination != "/sys/fs/cgroup")) + [{destination: "/sys/fs/cgroup", type: "cgroup",
			source: "cgroup", options: ["rw", "nosuid", "noexec", "nodev"]}]'
		sh_args 'cd /sys/fs/cgroup/pids 2>/dev/null || cd /sys/fs/cgroup; i=0
			while [ $i -lt 1200 ]; do mkdir d && cd d || break; i=$((i + 1)); done
			echo $$ >cgroup.procs; sleep 1000 & sleep 1000 & touch /ready; wait'
		rm -f "$ROOTFS/ready"
		start_container
		wait_for 20 has_file_or_exists "$ROOTFS/ready"
		call ps "$ID"
		works
		call kill --all "$ID" TERM
		works
		call delete --force "$ID"
		works
		clean
	done
}

# Read as another user than meant, "1" is worth as much as root (CVE-2026-30892).
@test "every spelling of exec --user is that user or refused" {
	local word
	start_sleeper
	for word in 1 1:2 01 4294967294; do
		call exec --user "$word" "$ID" id -u
		works "$((10#${word%%:*}))"
	done
	for word in 0x1 -1 '' : 1: :1 ' 1' '1 ' 1:2:3 4294967295 4294967296 18446744073709551616 root 1.0 +1; do
		call exec --user "$word" "$ID" id -u
		if [ "$status" -eq 0 ]; then
			report
			echo "accepted: \"$word\""
			return 1
		fi
		[[ $errors = *user* ]]
	done
}

@test "nothing of the runtime listens where a shared network namespace would let a container in" {
	local before after
	before=$(grep -c ' @' /proc/net/unix || true)
	SAVED=$AGENTRUN_FLAGS AGENTRUN_FLAGS=''
	call create --bundle "$BUNDLE" "$ID"
	works
	after=$(grep -c ' @' /proc/net/unix || true)
	[ "$before" = "$after" ]
	call delete --force "$ID"
	works
	AGENTRUN_FLAGS=$SAVED
	rm -f /var/log/agentrun/*-"$(log_root)".*
}

# is_plain FILE: no control characters, neither of one byte nor as UTF-8.
is_plain() {
	[ -s "$1" ]
	if LC_ALL=C grep -aP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$1" | cat -v | grep .; then
		echo "must not be there"
		return 1
	fi
}

@test "names that an image chose are text on the terminal of who asks about it" {
	local command
	SAVED=$AGENTRUN_FLAGS AGENTRUN_FLAGS=''
	# a title, a clear screen, and CSI as one character
	edit '.process.env += ["SECRET_\u001b[2J\u009b_TOKEN=x"] | .mounts += [{destination: "/tmp/\u001b]0;PWN\u0007\u009b",
		type: "tmpfs", source: "tmpfs"}]'
	start_sleeper
	for command in "explain $ID" "policy check --bundle $BUNDLE" "audit log $ID" "audit show $ID 0" list "ps $ID"; do
		# shellcheck disable=SC2086
		rt $command >"$T/seen" 2>&1 3>&- || true
		is_plain "$T/seen"
	done
	grep -qF 'PWN' <(rt explain "$ID" 3>&-)
	# of an error, too
	edit '.mounts += [{destination: "/tmp/\u001b]0;PWN\u0007\u009b/../x", type: "nosuch\u009b", source: "x"}]'
	rt create --bundle "$BUNDLE" other >"$T/seen" 2>&1 3>&- && return 1
	is_plain "$T/seen"
	AGENTRUN_FLAGS=$SAVED
}

@test "annotations that the policy took out at create stay out in start, exec and delete" {
	SAVED=$AGENTRUN_FLAGS AGENTRUN_FLAGS=''
	args sleep 1000
	edit --arg f "$T/written" '.annotations = {"run.oci.hooks.stdout": $f, "run.oci.hooks.stderr": $f, "run.oci.keep_original_groups": "1", other: "1"}
		| .process.user = {uid: 1000, gid: 1000}
		| .hooks = {poststart: [{path: "/bin/sh", args: ["sh", "-c", "echo out"]}], poststop: [{path: "/bin/sh", args: ["sh", "-c", "echo out >&2"]}]}'
	start_container
	[ ! -e "$T/written" ]
	# as an engine's daemon may have them
	"$PYTHON" -c 'import os, sys; os.setgroups([0, 4, 999]); os.execv(sys.argv[1], sys.argv[1:])' \
		"$AGENTRUN" --root "$ROOT" exec "$ID" id -G >"$T/groups" 3>&-
	[ "$(cat "$T/groups")" = 1000 ]
	call state "$ID"
	[[ $output = *'"other": "1"'* && $output != *run.oci* ]]
	stop_container
	call delete "$ID"
	works
	[ ! -e "$T/written" ]
	AGENTRUN_FLAGS=$SAVED
}

# Denied system calls are told of: which, with what, by which rule and who would allow it, whoever
# asks and however often; and what tells of them can neither open nor hold up anything.
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
	# shellcheck disable=SC2016
	TRY='mount -t tmpfs x /tmp 2>&1; echo $?'
}

teardown() {
	suite_teardown
}

# use_policy DEFAULT-PROFILE
use_policy() {
	printf '{"version": 1, "profiles": {"default": %s}}' "$1" >"$T/policy.json"
	chmod 600 "$T/policy.json"
	AGENTRUN_FLAGS="--policy $T/policy.json"
}

# denied [JQ]: the records of denied calls, as a list.
denied() {
	rt audit log --json --type call-denied "$ID" | jq -s "${1-.}"
}

# total CALL: how often it was denied, by the records.
total() {
	denied | jq --arg call "$1" '[.[] | select(.call == $call) | 1 + (.suppressed // 0)] | add // 0'
}

holds() {
	denied | jq -e "$1" >/dev/null || {
		denied
		echo "does not hold: $1"
		return 1
	}
}

@test "init: call, arguments, rule, profile and program are told, in the log and by explain" {
	sh_args "$TRY; unshare -U true 2>&1"
	run_container --keep
	exits 1 $'mount: permission denied (are you root?)\n1\nunshare: unshare(0x10000000): Operation not permitted'
	holds 'map(.call) == ["mount", "unshare"] and all(.[]; .error == "EPERM" and .process == 0 and .hostPid > 1
		and (.rule | test("^agent-default syscalls.[0-9]+.$")) and .allowedBy == "agent-nested" and (.reason | length > 9))'
	holds '(.[0].detail | test("^pointer, pointer, pointer, MS_")) and .[1].detail == "CLONE_NEWUSER"'
	rt explain "$ID" >"$T/text"
	grep -q '^calls: *denied ones are reported$' "$T/text"
	grep -q '^denied: *unshare(CLONE_NEWUSER): EPERM, 1 time .*profiles.default.seccomp.profile would allow it as agent-nested' "$T/text"
	rt explain --json "$ID" | jq -e '.callsReported and (.deniedCalls | length) == 2
		and (.deniedCalls[] | select(.what | startswith("mount")) | .count == 1 and .error == "EPERM")'
	call delete "$ID"
	works
}

@test "the program is told where the record of its execve has come" {
	# one of several: a record may still stand behind one that another processor has not finished
	sh_args 'for o in -U -n -m -i -u; do unshare $o true; done 2>/dev/null; true'
	run_container --keep
	works
	holds 'length == 5 and all(.[]; (.comm // "unshare") == "unshare") and any(.[]; .comm == "unshare")'
}

@test "a user's commands: each with its number, also detached" {
	edit '.process.user = {uid: 1000, gid: 1000}'
	start_sleeper
	call exec "$ID" sh -c "$TRY"
	works $'mount: permission denied (are you root?)\n1'
	call exec --detach "$ID" unshare -n true
	works
	wait_for 10 eval 'holds "map(.call) == [\"mount\", \"unshare\"]" >/dev/null'
	holds '.[0].process == 1 and .[1].process == 2 and .[1].detail == "CLONE_NEWNET"'
	call exec "$ID" true
	works
}

@test "equal ones are counted" {
	# shellcheck disable=SC2016
	sh_args 'i=0; while [ $i -lt 60 ]; do mount -t tmpfs x /tmp 2>/dev/null; i=$((i + 1)); done; echo done'
	run_container --keep
	works done
	[ "$(total mount)" -eq 60 ]
	# the span between two records doubles, however long it takes
	holds 'length < 20'
	rt explain --json "$ID" | jq -e '.deniedCalls[] | select(.what | startswith("mount")) | .count == 60'
	rt explain "$ID" | grep -c '^denied:' | grep -qx 1
	rt policy suggest "$ID" | grep -q '60 times: .*mount'
}

@test "a specification's filter that denies, too: ours answers; what it kills is killed" {
	edit '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [
		{names: ["mount", "mkdir", "mkdirat"], action: "SCMP_ACT_ERRNO", errnoRet: 5},
		{names: ["unshare"], action: "SCMP_ACT_KILL_PROCESS"}]}'
	# shellcheck disable=SC2016
	sh_args "$TRY; mkdir /new 2>&1; unshare -U true; echo \$?"
	run_container --keep
	exits 0 $'mount: permission denied (are you root?)\n1\nmkdir: can\'t create directory \'/new\': Input/output error\n159'
	holds 'map(.call) == ["mount"]'
}

@test "a specification's filter that knows no sendmsg, and one that lets no second one in" {
	edit '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [
		{names: ["sendmsg", "sendto", "futex"], action: "SCMP_ACT_ERRNO", errnoRet: 1}]}'
	sh_args "$TRY"
	run_container --keep
	exits 0 $'mount: permission denied (are you root?)\n1'
	holds 'map(.call) == ["mount"]'
	call delete "$ID"
	edit '.linux.seccomp.syscalls[0].names += ["seccomp", "prctl"]'
	run_container --keep
	exits 0 $'mount: permission denied (are you root?)\n1'
	holds 'map(.call) == ["mount"]'
}

@test "without no_new_privs, and in a user namespace" {
	use_policy '{"noNewPrivileges": false}'
	edit '.process.noNewPrivileges = false'
	sh_args "$TRY"
	run_container --keep
	exits 0 $'mount: permission denied (are you root?)\n1'
	holds 'map(.call) == ["mount"]'
	call delete "$ID"
	in_user_namespace
	run_container --keep
	exits 0 $'mount: permission denied (are you root?)\n1'
	holds 'map(.call) == ["mount"]'
}

@test "a startContainer hook that is denied something is told of and does not wait" {
	edit '.hooks.startContainer = [{path: "/bin/sh", args: ["sh", "-c", "mount -t tmpfs x /tmp; true"], timeout: 20}]'
	run_container --keep
	works
	holds 'map(.call) == ["mount"]'
}

@test "nested and a listener of the specification: plain errnos, and explain says why" {
	AGENTRUN_FLAGS='--profile nested'
	# what no profile allows
	sh_args 'unshare -T true 2>&1 || mount -t tmpfs x /tmp 2>&1; true'
	run_container --keep
	holds 'length == 0'
	rt explain "$ID" | grep -q '^calls: *denied ones are NOT reported: this seccomp profile has none reported$'
	call delete "$ID"

	use_policy '{"seccomp": {"allow": ["SCMP_ACT_NOTIFY"]}}'
	"$PYTHON" - "$T/agent.sock" 3>&- <<-'END' &
		import socket, sys
		s = socket.socket(socket.AF_UNIX)
		s.bind(sys.argv[1])
		s.listen()
		s.settimeout(60)
		connection = s.accept()[0]
		fds = socket.recv_fds(connection, 65536, 4)
		connection.settimeout(60)
		while connection.recv(4096):
		    pass
	END
	wait_for 10 test -S "$T/agent.sock"
	edit --arg path "$T/agent.sock" '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", listenerPath: $path,
		syscalls: [{names: ["kexec_load"], action: "SCMP_ACT_NOTIFY"}]}'
	sh_args "$TRY"
	run_container --keep
	exits 0 $'mount: permission denied (are you root?)\n1'
	holds 'length == 0'
	rt explain "$ID" | grep -q "^calls: *denied ones are NOT reported: the specification's filter has a listener"
	wait
}

@test "where agentrun's own filter has a listener: refused, or told that nothing is told" {
	args true
	cat >"$T/under.py" <<-'END'
		import ctypes, os, sys
		libc = ctypes.CDLL(None, use_errno=True)
		class Prog(ctypes.Structure):
		    _fields_ = [("len", ctypes.c_ushort), ("code", ctypes.c_void_p)]
		allow = ctypes.create_string_buffer(bytes([6, 0, 0, 0, 0, 0, 255, 127]), 8)
		prog = Prog(1, ctypes.addressof(allow))
		number = 317 if os.uname().machine == "x86_64" else 277
		fd = libc.syscall(number, 1, 8, ctypes.byref(prog))
		if fd < 0:
		    sys.exit(99)
		os.set_inheritable(fd, True)
		os.execv(sys.argv[1], sys.argv[1:])
	END
	under() {
		local real=$AGENTRUN
		printf '#!/bin/sh\nexec %s %s %s "$@"\n' "$PYTHON" "$T/under.py" "$real" >"$T/under"
		chmod 755 "$T/under"
		AGENTRUN=$T/under
		call run --bundle "$BUNDLE" --keep "$ID"
		AGENTRUN=$real
	}
	under
	fails 1 'can have only one: run agentrun .* add "none" to profiles.default.audit.accept'
	use_policy '{"audit": {"accept": ["none"]}}'
	under
	works
	rt explain "$ID" | grep -q '^calls: *denied ones are NOT reported: the policy accepts it'
}

@test "a pause meets calls that wait, and they go on after it" {
	# shellcheck disable=SC2016
	sh_args 'while :; do mount -t tmpfs x /tmp 2>/dev/null; echo $? >/out; done'
	start_container
	wait_for 10 test -s "$ROOTFS/out"
	call pause "$ID"
	works
	: >"$ROOTFS/out"
	call resume "$ID"
	works
	wait_for 10 grep -q 1 "$ROOTFS/out"
	stop_container
}

@test "a monitor that dies with a call unanswered: nothing opens, and the container ends" {
	local monitor init before
	# shellcheck disable=SC2016
	sh_args 'while :; do mount -t tmpfs x /tmp 2>/dev/null && touch /opened; mount >/now; [ -e /waits ] || >/waits; done'
	start_container
	wait_for 10 test -e "$ROOTFS/waits"
	monitor=$(jq .monitorPid "$ROOT/$ID/state.json")
	kill -STOP "$monitor"
	# the same child at two looks: its call waits for an answer
	init=$(pid_of)
	waits() {
		local now
		now=$(pgrep -P "$init" -x mount) && [ "$now" = "${before-}" ] && return 0
		before=$now
		return 1
	}
	wait_for 10 waits
	kill -9 "$monitor"
	wait_for 10 has_status stopped
	[ ! -e "$ROOTFS/opened" ]
	! grep -q '^x ' "$ROOTFS/now"
	rt state "$ID" | jq -e '.exit.reason == "policy"'
}

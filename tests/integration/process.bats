#!/usr/bin/env bats
# The process of a container: arguments, identity, limits, filters.

load helpers.bash

setup_file() { suite_setup_file; }
teardown_file() { suite_teardown_file; }
setup() { suite_setup; }
teardown() { suite_teardown; }

# from_status REGEX: the container prints lines of its /proc/self/status.
from_status() {
	args grep -E "$1" /proc/self/status
	run_container
	works
	output=${output//$'\t'/ }
}

@test "args: blanks, quotes and empty arguments arrive as they are" {
	args sh -c 'for a; do echo "[$a]"; done' sh 'a b' '' "it's" '"x"' $'line\nbreak' 'ü'
	run_container
	works $'[a b]\n[]\n[it\'s]\n["x"]\n[line\nbreak]\n[ü]'
}

@test "args: looked up in the container's PATH" {
	mkdir "$ROOTFS/own"
	printf '#!/bin/sh\necho own\n' >"$ROOTFS/own/program"
	chmod 755 "$ROOTFS/own/program"
	edit '.process.env = ["PATH=/nowhere:/own:/bin"]'
	args program
	run_container
	works own
}

@test "args: a relative path starts at the working directory" {
	cp "$ROOTFS/bin/script" "$ROOTFS/tmp/here"
	edit '.process.cwd = "/tmp"'
	args ./here x
	run_container
	works 'script x'
}

@test "env: as given, the last of two wins, HOME is added" {
	edit '.process.env = ["PATH=/bin", "A=1", "B=x=y", "A=2", "EMPTY="]'
	sh_args 'echo "$A|$B|${EMPTY-unset}|$HOME"'
	run_container
	works '2|x=y||/root'
}

@test "env: HOME of another user, of an unknown one, as given" {
	sh_args 'echo $HOME'
	edit '.process.user = {uid: 1000, gid: 1000}'
	run_container
	works /home/user
	edit '.process.user = {uid: 4321, gid: 1000}'
	run_container
	works /
	edit '.process.env += ["HOME=/given"]'
	run_container
	works /given
}

@test "cwd: used, made when missing, belongs to root inside" {
	args pwd
	edit '.process.cwd = "/tmp"'
	run_container
	works /tmp
	edit '.process.cwd = "/made/here"'
	run_container
	works /made/here
}

@test "cwd: readable only by the user" {
	mkdir -m 700 "$ROOTFS/private"
	chown 1000:1000 "$ROOTFS/private"
	edit '.process.user = {uid: 1000, gid: 1000} | .process.cwd = "/private"
		| .process.capabilities = {}'
	args pwd
	run_container
	works /private
}

@test "user: uid, gid, additional groups" {
	edit '.process.user = {uid: 1000, gid: 2000, additionalGids: [3000, 4000]}'
	from_status '^(Uid|Gid|Groups)'
	[[ $output = $'Uid: 1000 1000 1000 1000\nGid: 2000 2000 2000 2000\nGroups: 3000 4000'* ]]
}

@test "user: no additional groups means none" {
	from_status '^Groups'
	[ "$(tr -d ' ' <<<"$output")" = 'Groups:' ]
}

@test "umask: default 0022, as given" {
	sh_args umask
	run_container
	works 0022
	edit '.process.user.umask = 63'
	run_container
	works 0077
}

@test "capabilities: each set" {
	edit '.process.capabilities = {bounding: ["CAP_KILL", "CAP_CHOWN", "CAP_AUDIT_WRITE"], effective: ["CAP_KILL"],
		permitted: ["CAP_KILL", "CAP_CHOWN"], inheritable: ["CAP_CHOWN"], ambient: []}
		| .process.user = {uid: 1000, gid: 1000}'
	from_status '^Cap'
	# a program without file capabilities run by a user keeps none but ambient ones
	[ "$output" = $'CapInh: 0000000000000001\nCapPrm: 0000000000000000\nCapEff: 0000000000000000\nCapBnd: 0000000020000021\nCapAmb: 0000000000000000' ]
}

@test "capabilities: ambient ones are kept by a user" {
	edit '.process.capabilities = {bounding: ["CAP_KILL"], effective: ["CAP_KILL"], permitted: ["CAP_KILL"],
		inheritable: ["CAP_KILL"], ambient: ["CAP_KILL"]} | .process.user = {uid: 1000, gid: 1000}'
	from_status '^Cap(Prm|Eff|Amb)'
	[ "$output" = $'CapPrm: 0000000000000020\nCapEff: 0000000000000020\nCapAmb: 0000000000000020' ]
}

@test "capabilities: ambient without inheritable does not fail" {
	edit '.process.capabilities = {bounding: ["CAP_KILL"], effective: ["CAP_KILL"], permitted: ["CAP_KILL"],
		inheritable: [], ambient: ["CAP_KILL"]}'
	args echo ran
	run_container
	works ran
}

@test "capabilities: none at all" {
	edit 'del(.process.capabilities)'
	from_status '^Cap(Inh|Prm|Eff|Bnd|Amb)'
	other runc,crun "bounding set differs"
	[ "$(grep -c 0000000000000000 <<<"$output")" -eq 5 ]
}

@test "capabilities: unknown ones and ones that the host lacks are left out" {
	other runc,crun "refuse or differ"
	edit '.process.capabilities.bounding += ["CAP_NO_SUCH", "CAP_SYS_RESOURCE"]
		| .process.capabilities.effective += ["CAP_SYS_RESOURCE"] | .process.capabilities.permitted += ["CAP_SYS_RESOURCE"]'
	args echo ran
	run_container
	works ran
}

@test "no_new_privs: set and not set" {
	edit '.process.noNewPrivileges = true'
	from_status '^NoNewPrivs'
	[ "$output" = 'NoNewPrivs: 1' ]
	edit '.process.noNewPrivileges = false'
	from_status '^NoNewPrivs'
	[ "$output" = 'NoNewPrivs: 0' ]
}

@test "rlimits: soft and hard" {
	edit '.process.rlimits = [{type: "RLIMIT_NOFILE", soft: 100, hard: 200}, {type: "RLIMIT_CORE", soft: 0, hard: 0},
		{type: "RLIMIT_STACK", soft: 1048576, hard: 2097152}, {type: "RLIMIT_NICE", soft: 0, hard: 0}]'
	args grep -E 'open files|core|stack' /proc/self/limits
	run_container
	works
	[ "$(tr -s ' ' <<<"$output" | sed 's/ $//')" = $'Max stack size 1048576 2097152 bytes\nMax core file size 0 0 bytes\nMax open files 100 200 files' ]
}

@test "oomScoreAdj: set, and left alone when absent" {
	edit '.process.oomScoreAdj = 321'
	args cat /proc/self/oom_score_adj
	run_container
	works 321
	edit 'del(.process.oomScoreAdj)'
	run_container
	works "$(cat /proc/self/oom_score_adj)"
}

@test "a new session: init leads its session and group" {
	sh_args 'cut -d" " -f1,5,6 /proc/self/stat | { read a b c; echo $b $c; }; cat /proc/self/sessionid >/dev/null; echo'
	run_container
	works
	[[ $output = '1 1'* ]]
}

@test "init is process 1 and sees only its own" {
	sh_args 'echo $$; ls /proc | grep -cE "^[0-9]+$"'
	run_container
	works
	[[ $output =~ ^1$'\n'[23] ]] || [[ $output =~ ^1$'\n'4 ]]
}

@test "preserve-fds: the same numbers, and no others" {
	local got
	sh_args 'head -n 1 <&3 | cut -c1; head -n 1 <&4; ls /proc/self/fd | tr "\n" " "'
	got=$("$AGENTRUN" --root "$ROOT" run --bundle "$BUNDLE" --preserve-fds 2 "$ID" </dev/null \
		3<"$BUNDLE/config.json" 4<"$ROOTFS/etc/passwd" 5<"$ROOTFS/etc/group" 8<"$LOG")
	echo "$got"
	[ "$got" = $'{\nroot:x:0:0:root:/root:/bin/sh\n0 1 2 3 4 5 ' ]
}

@test "preserve-fds: a gap is an error" {
	other runc "its own descriptors fill the gap"
	: >"$LOG"
	status=0
	"$AGENTRUN" --root "$ROOT" --log "$LOG" --log-format json run --bundle "$BUNDLE" --preserve-fds 2 "$ID" \
		</dev/null 3</dev/null 4>&- 5>&- >"$T/stdout" 2>"$T/stderr" || status=$?
	output='' errors=$(cat "$T/stderr")
	fails 1
	clean
}

@test "LISTEN_FDS: only for our own process number" {
	sh_args 'echo "${LISTEN_FDS-none} ${LISTEN_PID-none}"; ls /proc/self/fd | tr "\n" " "'
	other crun "other rules"
	# LISTEN_PID must be the runtime's own number: exec keeps it
	output=$(bash -c 'export LISTEN_FDS=1 LISTEN_PID=$$; exec "$@"' x "$AGENTRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID" \
		</dev/null 3</dev/null)
	echo "$output"
	[ "$output" = $'1 1\n0 1 2 3 4 ' ]
	other runc "1.1 does not compare LISTEN_PID"
	output=$(LISTEN_FDS=1 LISTEN_PID=1 "$AGENTRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID" </dev/null 3</dev/null)
	echo "$output"
	[ "$output" = $'none none\n0 1 2 3 ' ]
}

### seccomp

@test "seccomp: an errno, a kill, the rest allowed" {
	edit '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", architectures: ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86"],
		syscalls: [{names: ["mkdir", "mkdirat", "no_such_call"], action: "SCMP_ACT_ERRNO", errnoRet: 31}]}
		| .process.noNewPrivileges = true'
	sh_args 'mkdir /x 2>&1; touch /y; grep Seccomp: /proc/self/status'
	run_container
	works
	[[ $output = *'Too many links'*Seccomp:?2* ]]
}

@test "seccomp: a default of errno with a list of what is allowed" {
	edit --slurpfile c "$(printf %s "$HELPERS/seccomp-allow.json")" '.linux.seccomp = $c[0]'
	sh_args 'echo fine; unshare -U true 2>&1 >/dev/null | grep -c "not permitted\|not implemented"'
	run_container
	exits 0 $'fine\n1'
}

@test "seccomp: an argument is compared" {
	edit '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["kill"], action: "SCMP_ACT_ERRNO",
		args: [{index: 1, value: 10, op: "SCMP_CMP_EQ"}]}]}'
	sh_args 'trap "" USR1 USR2; kill -USR1 $$ 2>&1 | grep -c permitted; kill -USR2 $$ && echo sent'
	run_container
	works $'1\nsent'
}

@test "seccomp: works without no_new_privs for a user" {
	edit '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mkdir", "mkdirat"], action: "SCMP_ACT_ERRNO"}]}
		| .process.noNewPrivileges = false | .process.user = {uid: 1000, gid: 1000}'
	from_status '^(Seccomp|Uid|NoNewPrivs):'
	[[ $output = *'Uid: 1000'*'NoNewPrivs: 0'*'Seccomp: 2'* ]]
}

@test "seccomp: none" {
	edit 'del(.linux.seccomp) | .process.noNewPrivileges = false'
	from_status '^Seccomp:'
	[ "$output" = 'Seccomp: 0' ] || [ -n "${AGENTRUN_FLAGS-}" ] || [ "$KIND" = agentrun ]
}

@test "seccomp: the filter holds in exec too" {
	edit '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["mkdir", "mkdirat"], action: "SCMP_ACT_ERRNO", errnoRet: 31}]}'
	start_sleeper
	call exec "$ID" mkdir /x
	[ "$status" -eq 1 ]
	[[ $errors = *'Too many links'* ]]
}

### scheduling

@test "scheduler, ioPriority, personality, CPU affinity" {
	other runc,crun "older versions do not know them"
	edit '.process.scheduler = {policy: "SCHED_BATCH", nice: 5} | .process.ioPriority = {class: "IOPRIO_CLASS_IDLE", priority: 0}
		| .linux.personality = {domain: "LINUX32"}'
	sh_args 'cut -d" " -f19,41 /proc/self/stat; ionice -p $$; uname -m'
	run_container
	works
	[[ ${output//$'\n'/ } = '5 3 idle'*' i686' ]]
}

@test "keyring: a session of its own" {
	other crun "other defaults"
	local before
	args grep -c _ses /proc/keys
	run_container
	[ "$status" -le 1 ]
}

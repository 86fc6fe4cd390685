# Shared by the command line suites: a bundle per test, calls with their outputs kept apart,
# and the checks that every failure must pass.
#
# Environment
#   AGENTRUN        the runtime under test (path; required)
#   AGENTRUN_FLAGS  global flags for it, split at blanks (optional)
# shellcheck shell=bash

bats_require_minimum_version 1.5.0
load ../engines/lib.bash

HELPERS=$BATS_TEST_DIRNAME/helpers
PYTHON=/usr/bin/python3

suite_setup_file() {
	if [ -z "${AGENTRUN-}" ] || [ ! -x "${AGENTRUN-}" ]; then
		echo "AGENTRUN must be the path of the runtime under test" >&2
		return 1
	fi
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	export CGROUP_TOP=${MACHINE_CGROUP:-}/agentrun-test-$$
	make_rootfs "$BATS_FILE_TMPDIR/rootfs"
	if is_runc; then
		export KIND=runc
	elif "$AGENTRUN" --version | head -n 1 | grep -q '^crun '; then
		export KIND=crun
	else
		export KIND=agentrun
		# The other suites are about the specification; policy.bats is about what is on top.
		[ -n "${SUITE_POLICY-}" ] || export AGENTRUN_FLAGS="--profile passthrough ${AGENTRUN_FLAGS-}"
	fi
}

suite_teardown_file() {
	remove_cgroups "$CGROUP_TOP"
}

# cgroup_folders PATH: every folder PATH and below, in all hierarchies.
cgroup_folders() {
	local root
	[[ $1 = /?* ]] || return 1
	for root in /sys/fs/cgroup /sys/fs/cgroup/*; do
		if [ -d "$root$1" ]; then
			find "$root$1" -depth -type d
		fi
	done 2>/dev/null
	return 0
}

remove_cgroups() {
	local dir pid try
	# never the machine's own
	[[ $1 = /agentrun-test-* ]] || return 1
	for try in 1 2 3 4 5 6 7 8 9 10; do
		[ -z "$(cgroup_folders "$1")" ] && return 0
		for dir in $(cgroup_folders "$1"); do
			[ -e "$dir/freezer.state" ] && echo THAWED >"$dir/freezer.state"
			while read -r pid; do
				kill -9 "$pid"
			done <"$dir/cgroup.procs"
			rmdir "$dir"
		done 2>/dev/null
		[ "$try" -gt 1 ] && sleep 0.1
	done
	return 0
}

suite_setup() {
	T=$BATS_TEST_TMPDIR
	ROOT=$T/root
	BUNDLE=$T/bundle
	ROOTFS=$BUNDLE/rootfs
	LOG=$T/log.json
	ID=c$BATS_TEST_NUMBER
	CGROUP=$CGROUP_TOP/$BATS_TEST_NUMBER
	export XDG_RUNTIME_DIR=
	: >"$LOG"
	make_bundle "$BUNDLE"
}

# log_root: how the names of this test's audit logs end.
log_root() {
	printf %s "$ROOT" | sha256sum | cut -c1-8
}

# is_set_up: suite_setup was run. From bats 1.9 on, teardown also follows a setup_file that skipped all tests: with names
# that were never set it would look for containers in / and take every mount of the host for the test's own.
is_set_up() {
	[ -n "${T-}" ] && [ -n "${ROOT-}" ] && [ -n "${CGROUP-}" ]
}

suite_teardown() {
	local dir
	is_set_up || return 0
	for dir in "$ROOT"/*; do
		if [ -d "$dir" ]; then
			rt delete --force "${dir##*/}" >/dev/null 2>&1 3>&- || true
		fi
	done
	remove_cgroups "$CGROUP"
	[ -z "${SUITE_POLICY-}" ] || rm -f /var/log/agentrun/*-"$(log_root)".*
	if grep -qF " $T" /proc/self/mounts; then
		grep -F " $T" /proc/self/mounts | cut -d' ' -f2 | sort -r | while read -r dir; do
			umount -l "$dir"
		done
	fi
}

# make_bundle DIR: a copy of the root file system and a config.json that runs "true".
make_bundle() {
	mkdir -p "$1"
	cp -a "$BATS_FILE_TMPDIR/rootfs" "$1/rootfs"
	"$AGENTRUN" spec --bundle "$1" 2>/dev/null || (cd "$1" && "$AGENTRUN" spec)
	edit_in "$1" --arg cgroup "$CGROUP" '.process.terminal = false | .process.args = ["true"]
		| .root.readonly = false | .linux.cgroupsPath = $cgroup | del(.process.rlimits)'
}

edit_in() {
	local dir=$1
	shift
	jq "$@" <"$dir/config.json" >"$dir/config.new" && mv "$dir/config.new" "$dir/config.json"
}

# edit [JQ OPTION...] FILTER: changes the bundle's config.json.
edit() {
	edit_in "$BUNDLE" "$@"
}

# args ARGUMENT...: what the container runs.
args() {
	local options=() names='' argument
	for argument in "$@"; do
		options+=(--arg "a${#options[@]}" "$argument")
		names+=${names:+, }\$a$((${#options[@]} - 3))
	done
	edit "${options[@]}" ".process.args = [$names]"
}

# sh_args SCRIPT: the container runs a shell script.
sh_args() {
	edit --arg script "$1" '.process.args = ["sh", "-c", $script]'
}

# add_mount JSON
add_mount() {
	edit --argjson m "$1" '.mounts += [$m]'
}

rt() {
	# shellcheck disable=SC2086
	"$AGENTRUN" ${AGENTRUN_FLAGS-} --root "$ROOT" --log "$LOG" --log-format json "$@"
}

# in_user_namespace: a new user namespace of 65536 ids from 100000; its root owns the root
# file system and can reach it.
in_user_namespace() {
	local dir
	edit '.linux.namespaces += [{"type": "user"}]
		| .linux.uidMappings = [{containerID: 0, hostID: 100000, size: 65536}]
		| .linux.gidMappings = [{containerID: 0, hostID: 100000, size: 65536}]'
	chown -R 100000:100000 "$ROOTFS"
	dir=$BUNDLE
	while [ -n "$dir" ] && [ "$dir" != /tmp ] && [ "$dir" != /var/tmp ]; do
		chmod a+x "$dir"
		dir=${dir%/*}
	done
}

# rt_background COMMAND...: as rt, in the background; its process is $!.
rt_background() {
	# shellcheck disable=SC2086
	"$AGENTRUN" ${AGENTRUN_FLAGS-} --root "$ROOT" --log "$LOG" --log-format json "$@" \
		</dev/null >"$T/background.out" 2>"$T/background.err" 3>&- &
}

# call COMMAND...: runs the runtime with its outputs in files, because a container that is
# created holds them open. Leaves $status, $output (stdout) and $errors (stderr).
# CALL_STDIN names a file for standard input.
call() {
	local limit=$((${CALL_TIMEOUT-30} * ${PATIENCE-1}))
	: >"$LOG"
	status=0
	# shellcheck disable=SC2086
	timeout --kill-after 1 "$limit" "$AGENTRUN" ${AGENTRUN_FLAGS-} --root "$ROOT" --log "$LOG" \
		--log-format json "$@" <"${CALL_STDIN-/dev/null}" >"$T/stdout" 2>"$T/stderr" 3>&- || status=$?
	output=$(cat "$T/stdout")
	errors=$(cat "$T/stderr")
	if [ "$KIND" != agentrun ]; then
		# others warn, too, and log lines of helpers
		grep -vE '"level":"(warning|fatal)"' "$LOG" >"$LOG.new" || true
		mv "$LOG.new" "$LOG"
	fi
	if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
		echo "exit code $status (137 and 124 may mean: longer than $limit seconds): $*"
	fi
}

# run_container [OPTION...]: foreground run of the bundle.
run_container() {
	call run --bundle "$BUNDLE" "$@" "$ID"
}

report() {
	echo "exit code: $status"
	echo "stdout: $output"
	echo "stderr: $errors"
	echo "log: $(cat "$LOG")"
}

# works [TEXT]: exit code 0, nothing logged and, where given, exactly this on stdout.
works() {
	if [ "$status" -ne 0 ] || [ -s "$LOG" ] || { [ $# -gt 0 ] && [ "$output" != "$1" ]; }; then
		report
		[ $# -gt 0 ] && echo "expected: $1"
		return 1
	fi
}

# exits CODE [TEXT]: the container's exit code, nothing logged.
exits() {
	if [ "$status" -ne "$1" ] || [ -s "$LOG" ] || { [ $# -gt 1 ] && [ "$output" != "$2" ]; }; then
		report
		return 1
	fi
}

# fails CODE [REGEX]: the exit code, exactly one log line, of level error, with a time, whose
# message is on stderr as well and matches.
fails() {
	local lines message
	if [ "$status" -ne "$1" ]; then
		report
		echo "expected exit code: $1"
		return 1
	fi
	lines=$(wc -l <"$LOG")
	if [ "$lines" -ne 1 ] || ! jq -e '.level == "error" and (.msg | length > 0)
		and (.time | test("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9:]+)$"))' "$LOG" >/dev/null; then
		report
		echo "expected: exactly one log line, an error"
		return 1
	fi
	message=$(jq -r .msg "$LOG")
	# what would command a terminal is written out there
	if [[ $errors != *"${message//$'\e'/\\x1b}"* ]]; then
		report
		echo "the message of the log is not on stderr"
		return 1
	fi
	if [ $# -gt 1 ] && ! [[ $message =~ $2 ]]; then
		report
		echo "the message does not match: $2"
		return 1
	fi
}

# says REGEX: our own wording of the error; other runtimes may use other words.
says() {
	[ "$KIND" = agentrun ] || return 0
	if ! [[ $(jq -r .msg "$LOG") =~ $1 ]]; then
		report
		echo "the message does not match: $1"
		return 1
	fi
}

# loads_anywhere: skips what executes the runtime itself in a container, whose root has none of its libraries.
loads_anywhere() {
	[ "$KIND" != agentrun ] || ! "$AGENTRUN" --version | grep -q ' -STATIC' ||
		skip "this build of agentrun is dynamic: a container's root has not the libraries that it needs"
}

# other KIND REASON: skips a test on another runtime that is known to differ.
other() {
	local kind
	for kind in ${1//,/ }; do
		if [ "$KIND" = "$kind" ]; then
			skip "$kind: $2"
		fi
	done
}

# clean: no trace of containers: state, cgroups, mounts.
clean() {
	local left
	left=$(find "$ROOT" -mindepth 1 2>/dev/null || true)
	if [ -n "$left" ]; then
		echo "left in the root folder: $left"
		return 1
	fi
	left=$(cgroup_folders "$CGROUP")
	if [ -n "$left" ]; then
		echo "left of cgroups: $left"
		return 1
	fi
	if grep -F " $T" /proc/self/mounts; then
		echo "left of mounts"
		return 1
	fi
}

# status_of [ID]
status_of() {
	rt state "${1-$ID}" 2>/dev/null | jq -r .status
}

pid_of() {
	rt state "${1-$ID}" | jq -r .pid
}

has_status() {
	[ "$(status_of "$ID")" = "$1" ]
}

# start_container: create and start, detached.
start_container() {
	call create --bundle "$BUNDLE" "$@" "$ID"
	works
	call start "$ID"
	works
}

start_sleeper() {
	args sleep 1000
	start_container "$@"
}

stop_container() {
	call kill "$ID" KILL
	works
	wait_for 10 has_status stopped
}

# make_state STATE: a container $ID that is none, created, running, paused or stopped.
make_state() {
	args sleep 1000
	[ "$1" = none ] && return 0
	call create --bundle "$BUNDLE" "$ID"
	works
	[ "$1" = created ] && return 0
	call start "$ID"
	works
	case $1 in
	paused)
		call pause "$ID"
		works
		;;
	stopped)
		stop_container
		;;
	esac
}

# controller NAME: the folder of the container's cgroup in the hierarchy of a v1 controller,
# or in the unified tree where there is only that.
controller() {
	if [ -d "/sys/fs/cgroup/$1" ]; then
		echo "/sys/fs/cgroup/$1$CGROUP"
	else
		echo "/sys/fs/cgroup$CGROUP"
	fi
}

cgroup_v1() {
	[ ! -e /sys/fs/cgroup/cgroup.controllers ]
}

# has_processes: some process is in the container's cgroup.
has_processes() {
	grep -q . "$(controller pids)/cgroup.procs" 2>/dev/null
}

no_processes() {
	! has_processes
}

# has_file FILE
has_file() {
	[ -s "$1" ]
}

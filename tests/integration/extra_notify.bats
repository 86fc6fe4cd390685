#!/usr/bin/env bats
# NOTIFY_SOCKET: containers as services of a manager that waits for their sd_notify(3).

load helpers.bash

setup_file() { suite_setup_file; }
teardown_file() { suite_teardown_file; }

setup() {
	suite_setup
	other runc,crun 'hands on READY alone and waits in other cases'
	MANAGER=$T/manager.sock
	export NOTIFY_OUT=$T/messages
	: >"$NOTIFY_OUT"
}

teardown() { suite_teardown; }

# managed COMMAND...: as call, under a service manager; what it heard is in $heard.
managed() {
	: >"$LOG"
	status=0
	# shellcheck disable=SC2086
	timeout --kill-after 1 30 "$PYTHON" "$HELPERS/notify.py" "$MANAGER" "$AGENTRUN" ${AGENTRUN_FLAGS-} --root "$ROOT" \
		--log "$LOG" --log-format json "$@" </dev/null >"$T/stdout" 2>"$T/stderr" 3>&- || status=$?
	output=$(cat "$T/stdout")
	errors=$(cat "$T/stderr")
	heard=$(grep -v '^exit ' "$NOTIFY_OUT" || true)
}

hears() {
	if [ "$heard" != "$1" ]; then
		report
		echo "the manager heard: $heard"
		echo "expected: $1"
		return 1
	fi
}

# say_args SCRIPT: a script in which "say LINE..." sends one datagram. busybox has no client for it but
# logger, which writes to /dev/log, and before the first newline a time.
say_args() {
	sh_args "say() { logger \"\$(printf 'x'; printf '\\n%b' \"\$@\")\"; }; ln -s \"\$NOTIFY_SOCKET\" /dev/log; $1"
}

@test "notify: without the variable there is nothing" {
	sh_args 'echo "${NOTIFY_SOCKET-unset}"; ls -d /run/notify 2>&1'
	unset NOTIFY_SOCKET
	run_container
	exits 1 $'unset\nls: /run/notify: No such file or directory'
	NOTIFY_SOCKET='' run_container
	exits 1 $'unset\nls: /run/notify: No such file or directory'
	clean
}

@test "notify: run in the foreground hands on until the end" {
	say_args 'say READY=1; say STATUS=busy; say RELOADING=1 MONOTONIC_USEC=123; say READY=1; say STOPPING=1 ERRNO=5; exit 7'
	managed run --bundle "$BUNDLE" "$ID"
	exits 7 ''
	hears $'READY=1\nSTATUS=busy\nRELOADING=1|MONOTONIC_USEC=123\nREADY=1\nSTOPPING=1|ERRNO=5'
	clean
}

@test "notify: start returns when the container is ready" {
	say_args 'sleep 0.5; echo ready >/ready; say READY=1; sleep 1000'
	managed create --bundle "$BUNDLE" "$ID"
	works ''
	hears ''
	rm "$MANAGER"
	managed start "$ID"
	works ''
	[ -e "$ROOTFS/ready" ]
	[ "$(status_of)" = running ]
	hears "READY=1|MAINPID=$(pid_of)"$'\nBARRIER=1 with a descriptor'
	stop_container
	call delete "$ID"
	works
	clean
}

@test "notify: run --detach returns when the container is ready" {
	say_args 'sleep 0.5; say READY=1; sleep 1000'
	managed run --detach --bundle "$BUNDLE" "$ID"
	works ''
	hears "READY=1|MAINPID=$(pid_of)"$'\nBARRIER=1 with a descriptor'
	call delete --force "$ID"
	works
	clean
}

@test "notify: an abstract socket" {
	MANAGER=@agentrun-test-$$-$BATS_TEST_NUMBER
	say_args 'say READY=1; sleep 1000'
	managed run --detach --bundle "$BUNDLE" "$ID"
	works ''
	grep -q READY=1 <<<"$heard"
}

@test "notify: a container that ends without being ready" {
	sh_args 'sleep 0.3; exit 3'
	managed run --detach --bundle "$BUNDLE" "$ID"
	works ''
	hears ''
	[ "$(status_of)" = stopped ]
	call delete "$ID"
	works
	clean
}

@test "notify: the last words of a container" {
	say_args 'say READY=1'
	managed run --detach --bundle "$BUNDLE" "$ID"
	works ''
	grep -q '^READY=1|MAINPID=' <<<"$heard"
}

@test "notify: only harmless lines are handed on" {
	say_args 'say MAINPID=1 MAINPID=1234 FDSTORE=1 FDNAME=x FDSTOREREMOVE=1 WATCHDOG_USEC=1 NOTIFYACCESS=all READY=0 READY= WATCHDOG=trigger
		say BARRIER=1
		say EXTEND_TIMEOUT_USEC=10000000 EXIT_STATUS=1 BUSERROR=a X_MINE=1 STOPPING=yes RELOADING=2 ERRNO=5000 ERRNO=-1 MONOTONIC_USEC=-3
		say "STATUS=bell\\007" "STATUS=fine"
		say "STATUS=\\302\\233escape" "STATUS=\\303" "STATUS=gr\\303\\274n" "STATUS=second"
		say "STATUS=$(printf %0257d 0)" WATCHDOG=1
		say "STATUS=$(printf %0256d 0)"
		say READY=1 READY=1 MAINPID=7 STATUS='
	managed run --bundle "$BUNDLE" "$ID"
	works ''
	hears $'STATUS=fine\nSTATUS=gr\u00fcn\nWATCHDOG=1\nSTATUS='"$(printf %0256d 0)"$'\nREADY=1|STATUS='
}

@test "notify: nothing else can be put into the folder" {
	sh_args 'cd /run/notify; ls; touch x; rm notify.sock; mv notify.sock y; grep " /run/notify " /proc/self/mountinfo | cut -d" " -f6'
	managed run --bundle "$BUNDLE" "$ID"
	exits 0
	[ "$(head -n 1 <<<"$output")" = notify.sock ]
	[[ $(tail -n 1 <<<"$output") =~ ^ro,nosuid,nodev,noexec ]]
	[ "$(grep -c 'Read-only file system' <<<"$errors")" -eq 3 ]
}

@test "notify: what a privileged container leaves in the folder" {
	say_args 'mount -o remount,rw /run/notify; ln -s /etc/passwd /run/notify/link; mkdir /run/notify/folder; touch /run/notify/file
		rm /run/notify/notify.sock; ls /run/notify; sleep 0.2'
	edit '.process.capabilities |= map_values(. + ["CAP_SYS_ADMIN"])'
	managed run --detach --bundle "$BUNDLE" "$ID"
	works $'file\nfolder\nlink'
	call delete --force "$ID"
	works
	[ -e /etc/passwd ]
	clean
}

@test "notify: a user of a user namespace" {
	in_user_namespace
	# the user may not make links in /dev, and the root file system's is covered
	edit --arg dev "$ROOTFS/dev/log" '.process.user = {uid: 1000, gid: 1000}
		| .hooks.createContainer = [{"path": "/bin/ln", "args": ["ln", "-s", "/run/notify/notify.sock", $dev]}]'
	sh_args 'id -u; logger "x
READY=1"; exec sleep 1000'
	managed run --detach --bundle "$BUNDLE" "$ID"
	works 1000
	grep -q READY=1 <<<"$heard"
	call delete --force "$ID"
	clean
}

@test "notify: the variable of the configuration gives way" {
	edit '.process.env += ["NOTIFY_SOCKET=/other"]'
	sh_args 'env | grep NOTIFY'
	managed run --bundle "$BUNDLE" "$ID"
	works NOTIFY_SOCKET=/run/notify/notify.sock
	NOTIFY_SOCKET= run_container
	works NOTIFY_SOCKET=/other
}

@test "notify: the manager cannot be reached" {
	args sleep 1000
	managed create --bundle "$BUNDLE" "$ID"
	works ''
	rm -f "$MANAGER"
	NOTIFY_SOCKET=$T/nobody call start "$ID"
	fails 1 'no such file or directory'
	says "^NOTIFY_SOCKET: connect to socket $T/nobody: no such file or directory"
	[ "$(status_of)" = created ]
	NOTIFY_SOCKET=relative/path call start "$ID"
	fails 1 'neither an absolute path nor @NAME'
	NOTIFY_SOCKET='' call start "$ID"
	works
	[ "$(status_of)" = running ]
}

@test "notify: start knows nothing to wait for" {
	args sleep 1000
	call create --bundle "$BUNDLE" "$ID"
	works
	CALL_TIMEOUT=10 managed start "$ID"
	works ''
	hears ''
	[ "$(status_of)" = running ]
}

@test "notify: a flood is cut" {
	say_args 'i=0; while [ $i -lt 400 ]; do say STATUS=$i; i=$((i + 1)); done; say READY=1'
	managed run --bundle "$BUNDLE" "$ID"
	works ''
	[ "$(tail -n 1 <<<"$heard")" = READY=1 ]
	[ "$(wc -l <<<"$heard")" -lt 300 ]
	[ "$(wc -l <<<"$heard")" -ge 50 ]
}

@test "notify: with a terminal in the foreground" {
	edit '.process.terminal = true'
	say_args 'say READY=1; echo done'
	: >"$LOG"
	NOTIFY_SOCKET='' "$PYTHON" "$HELPERS/notify.py" "$MANAGER" script -qec "$AGENTRUN ${AGENTRUN_FLAGS-} --root $ROOT --log $LOG run --bundle $BUNDLE $ID" \
		/dev/null </dev/null >"$T/stdout" 3>&-
	grep -q done "$T/stdout"
	grep -q READY=1 "$NOTIFY_OUT"
	[ ! -s "$LOG" ]
	clean
}

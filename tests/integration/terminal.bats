#!/usr/bin/env bats
# Terminals: console sockets as engines use them, and foreground runs on a terminal.

load helpers.bash

setup_file() { suite_setup_file; }
teardown_file() { suite_teardown_file; }
setup() { suite_setup; edit '.process.terminal = true'; }
teardown() { suite_teardown; }

# receive NAME [TEXT]: a receiver on $T/NAME.
receive() {
	"$PYTHON" "$HELPERS/console.py" "$T/$1" "${@:2}" >"$T/$1.out" 2>"$T/$1.err" 3>&- &
	RECEIVER=$!
	wait_for 30 test -S "$T/$1"
}

# shown NAME: what the terminal showed, without carriage returns, after the receiver ended.
shown() {
	wait "$RECEIVER"
	tr -d '\r' <"$T/$1.out"
}

# on_terminal COMMAND...: the runtime on a terminal of its own, keyboard from FIFO $T/keys.
on_terminal() {
	local code=0
	[ -p "$T/keys" ] || mkfifo "$T/keys"
	script -qec "$(printf '%q ' "$@")" /dev/null <>"$T/keys" >"$T/screen" 2>&1 3>&- || code=$?
	tr -d '\r' <"$T/screen"
	return $code
}

@test "create: one message with one descriptor, a terminal at the other end" {
	receive socket
	sh_args 'tty; test -t 0 -a -t 1 -a -t 2 && echo all; exit 3'
	call create --bundle "$BUNDLE" --console-socket "$T/socket" "$ID"
	works ''
	grep -qx 'fds 1 bytes 1 rest 0' "$T/socket.err"
	call start "$ID"
	works
	[ "$(shown socket)" = $'/dev/pts/0\nall' ]
}

@test "the terminal is the controlling one and /dev/console" {
	receive socket
	sh_args 'echo through >/dev/tty; echo console >/dev/console; ls -l /dev/console | cut -c1; stat -c "%t:%T" /dev/console /dev/pts/0'
	call create --bundle "$BUNDLE" --console-socket "$T/socket" "$ID"
	works
	call start "$ID"
	[ "$(shown socket)" = $'through\nconsole\nc\n88:0\n88:0' ]
}

@test "input and job control keys" {
	receive socket 'typed line'
	sh_args 'read line; echo "got $line"'
	call create --bundle "$BUNDLE" --console-socket "$T/socket" "$ID"
	call start "$ID"
	[[ $(shown socket) = *'got typed line' ]]
}

@test "consoleSize" {
	edit '.process.consoleSize = {height: 33, width: 99}'
	receive socket
	args stty size
	call create --bundle "$BUNDLE" --console-socket "$T/socket" "$ID"
	call start "$ID"
	[ "$(shown socket)" = '33 99' ]
}

@test "the terminal belongs to the user" {
	edit '.process.user = {uid: 1000, gid: 1000}'
	receive socket
	args stat -c %u:%g /dev/pts/0
	call create --bundle "$BUNDLE" --console-socket "$T/socket" "$ID"
	works
	call start "$ID"
	[[ $(shown socket) = 1000:* ]]
}

@test "a socket path longer than a socket address" {
	local dir
	dir=$T/$(printf 'd%.0s' $(seq 100))
	mkdir "$dir"
	(cd "$dir" && exec "$PYTHON" "$HELPERS/console.py" socket >"$T/out" 2>"$T/err" 3>&-) &
	wait_for 30 test -S "$dir/socket"
	args echo long
	other runc,crun "refuse long paths"
	call create --bundle "$BUNDLE" --console-socket "$dir/socket" "$ID"
	works
	call start "$ID"
	wait_for 30 grep -q long "$T/out"
}

@test "a relative socket path" {
	other runc "looks for it in the bundle"
	receive socket
	args echo relative
	cd "$T"
	call create --bundle bundle --console-socket socket "$ID"
	works
	cd /
	call start "$ID"
	[ "$(shown socket)" = relative ]
}

@test "run --detach with a console socket" {
	receive socket
	sh_args 'tty; sleep 1000'
	call run --detach --bundle "$BUNDLE" --console-socket "$T/socket" "$ID"
	works ''
	wait_for 30 grep -q pts "$T/socket.out"
	call delete --force "$ID"
	works
	[ "$(shown socket)" = /dev/pts/0 ]
}

@test "exec with a console socket" {
	receive socket
	sh_args 'sleep 1000'
	call create --bundle "$BUNDLE" --console-socket "$T/socket" "$ID"
	call start "$ID"
	works
	receive exec
	call exec --detach --tty --console-socket "$T/exec" --pid-file "$T/pid" "$ID" sh -c 'tty; test -t 0 && echo terminal'
	works ''
	[ "$(shown exec)" = $'/dev/pts/1\nterminal' ]
}

@test "exec --process with a terminal in a container without one" {
	edit '.process.terminal = false'
	start_sleeper
	jq '.process | .terminal = true | .args = ["sh", "-c", "tty; echo size $(stty size)"] | .consoleSize = {height: 11, width: 22}' \
		"$BUNDLE/config.json" >"$T/process.json"
	receive exec
	call exec --detach --process "$T/process.json" --console-socket "$T/exec" "$ID"
	works
	shown exec >"$T/got"
	cat "$T/got"
	grep -q /dev/pts/0 "$T/got"
	[ "$KIND" = runc ] || grep -q 'size 11 22' "$T/got"
}

@test "pidfd socket" {
	other runc,crun "older versions do not know it"
	edit '.process.terminal = false'
	"$PYTHON" "$HELPERS/pidfd.py" "$T/pidfd" >"$T/got" 3>&- &
	local receiver=$!
	wait_for 30 test -S "$T/pidfd"
	args sleep 1000
	call create --bundle "$BUNDLE" --pidfd-socket "$T/pidfd" "$ID"
	works
	wait $receiver
	[ "$(cat "$T/got")" = "$(pid_of)" ]
}

@test "run on a terminal: a proxy with the exit code" {
	sh_args 'tty; exit 6'
	run on_terminal "$AGENTRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
	[ "$status" -eq 6 ]
	[ "$output" = /dev/pts/0 ]
}

@test "run on a terminal: keys reach the program" {
	sh_args 'echo ready; read line; echo "got $line"'
	mkfifo "$T/keys"
	(wait_for 30 grep -q ready "$T/screen"; echo typed >"$T/keys") 3>&- &
	run on_terminal "$AGENTRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
	[ "$status" -eq 0 ]
	[[ $output = *'got typed'* ]]
}

@test "run on a terminal: the size is taken over" {
	args stty size
	run on_terminal bash -c 'stty rows 44 cols 101; exec "$@"' x "$AGENTRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = '44 101' ]
}

@test "run on a terminal: its settings are restored" {
	args true
	run on_terminal bash -c 'a=$(stty -a); "$@"; [ "$a" = "$(stty -a)" ] && echo restored' x "$AGENTRUN" --root "$ROOT" run --bundle "$BUNDLE" "$ID"
	[ "$output" = restored ]
}

@test "exec on a terminal" {
	edit '.process.terminal = false'
	start_sleeper
	run on_terminal "$AGENTRUN" --root "$ROOT" exec --tty "$ID" sh -c 'tty; exit 8'
	[ "$status" -eq 8 ]
	[ "$output" = /dev/pts/0 ]
}

@test "a terminal in a user namespace" {
	in_user_namespace
	receive socket
	sh_args 'tty; echo x >/dev/console'
	call create --bundle "$BUNDLE" --console-socket "$T/socket" "$ID"
	works
	call start "$ID"
	[ "$(shown socket)" = $'/dev/pts/0\nx' ]
}

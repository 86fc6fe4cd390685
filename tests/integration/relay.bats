# The output relay: what a process writes reaches its engine byte for byte and the log as
# well, and neither side can tell that somebody stands between them.
# shellcheck shell=bash
#
# Environment
#   RELAY_LOOPS     how often the loops go round (default 10; `make relay-loops`: 500)
#   RELAY_PARALLEL  how many commands at the same time (default 60; `make relay-loops`: 200)

load helpers.bash

setup_file() {
	export SUITE_POLICY=1
	suite_setup_file
	[ "$KIND" = agentrun ] || skip "only agentrun keeps output"
	if [ -e /etc/agentrun/policy.json ]; then
		skip "this host has a policy of its own"
	fi
	head -c 4096 /dev/urandom >"$BATS_FILE_TMPDIR/rootfs/small"
	head -c 204800 /dev/urandom >"$BATS_FILE_TMPDIR/rootfs/large"
	chmod 644 "$BATS_FILE_TMPDIR"/rootfs/{small,large}
}

teardown_file() {
	suite_teardown_file
}

setup() {
	suite_setup
	LOOPS=${RELAY_LOOPS-10}
}

teardown() {
	suite_teardown
}

# the_log: the newest audit log of this test.
the_log() {
	# shellcheck disable=SC2012
	ls -t /var/log/agentrun/"$ID"-*-"$(log_root)".jsonl | head -n 1
}

# logged STREAM [PROCESS]: what the log kept of a stream, in all parts of it; text only.
logged() {
	local first
	first=$(the_log)
	cat "$first" "${first%.jsonl}".*.jsonl 2>/dev/null | jq -rj --arg s "$1" --argjson p "${2-0}" \
		'select(.type == "output" and .stream == $s and .process == $p) | .data'
}

sum() {
	sha256sum | cut -d' ' -f1
}

# sleeper: a container in the background whose own streams are /dev/null.
sleeper() {
	args sleep 1000
	rt run --detach --bundle "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1 3>&-
}

@test "relay: output reaches engine and log, the exit code its caller" {
	sh_args 'echo out; echo err >&2; exit 7'
	{ rt run --bundle "$BUNDLE" "$ID" 2>&3 3>&- | cat >"$T/out"; echo "${PIPESTATUS[0]}" >"$T/code"; } 3> >(cat >"$T/err")
	wait $! 2>/dev/null || true
	[ "$(cat "$T/code")" -eq 7 ]
	[ "$(cat "$T/out")" = out ]
	[ "$(cat "$T/err")" = err ]
	[ "$(logged stdout)" = out ]
	[ "$(logged stderr)" = err ]
}

@test "relay: byte for byte, when the process ends with its last write" {
	local file want i
	for file in small large; do
		args cat "/$file"
		want=$(sum <"$ROOTFS/$file")
		for ((i = 0; i < LOOPS; i++)); do
			[ "$(rt run --bundle "$BUNDLE" "$ID" 3>&- | sum)" = "$want" ]
		done
	done
}

@test "relay: byte for byte from exec, too" {
	local file want i
	sleeper
	for file in small large; do
		want=$(sum <"$ROOTFS/$file")
		for ((i = 0; i < LOOPS; i++)); do
			[ "$(rt exec "$ID" cat "/$file" 3>&- | sum)" = "$want" ]
		done
	done
	[ "$(rt exec "$ID" sh -c 'echo one; echo two >&2' 2>&1 3>&- | cat)" = $'one\ntwo' ]
	[ "$(logged stdout $((2 * LOOPS + 1)))" = $'one\ntwo' ]
}

@test "relay: one pipe for both streams keeps their order" {
	local i want=''
	sh_args 'i=0; while [ $i -lt 200 ]; do echo o$i; echo e$i >&2; i=$((i + 1)); done'
	for ((i = 0; i < 200; i++)); do want+="o$i"$'\n'"e$i"$'\n'; done
	[ "$(rt run --bundle "$BUNDLE" "$ID" 2>&1 3>&- | cat)"$'\n' = "$want" ]
}

@test "relay: a slow reader gets everything, long after the container" {
	args cat /large
	[ "$(rt run --bundle "$BUNDLE" "$ID" 3>&- | (sleep 4; sum))" = "$(sum <"$ROOTFS/large")" ]
}

@test "relay: a reader that goes is a broken pipe" {
	sleeper
	# without one it would go on for ever
	rt exec "$ID" yes 3>&- | head -c 100000 >"$T/out" || true
	[ "$(stat -c %s "$T/out")" -eq 100000 ]
	(rt exec "$ID" yes 3>&- || echo $? >"$T/code") | head -c 10 >/dev/null
	[ "$(cat "$T/code")" -eq 141 ]
}

@test "relay: a process left behind delays nobody, and is still heard" {
	sleeper
	{
		rt exec --detach --pid-file "$T/pid" "$ID" sh -c '(while [ ! -e /tmp/go ]; do sleep 0.1; done; echo late) & echo early; exit 3' 3>&-
		wait_for 60 eval '[ ! -e "/proc/$(cat "$T/pid")" ]' && : >"$T/ended"
		rt exec "$ID" touch /tmp/go </dev/null >/dev/null 2>&1 3>&-
	} | cat >"$T/out"
	[ -e "$T/ended" ]
	[ "$(cat "$T/out")" = $'early\nlate' ]
}

@test "relay: the process's user can open its output again by name" {
	edit '.process.user = {uid: 1000, gid: 1000}'
	sh_args 'echo a >/dev/stdout; echo b >/proc/self/fd/1; cat /dev/stdin'
	[ "$(echo c | rt run --bundle "$BUNDLE" "$ID" 2>"$T/err" 3>&- | cat)" = $'a\nb\nc' ]
	[ ! -s "$T/err" ]
	edit '.process.user = {uid: 0, gid: 0}'
	sleeper
	[ "$(rt exec --user 1000:1000 "$ID" sh -c 'echo a >/dev/stderr' 2>&1 3>&- | cat)" = a ]
}

@test "relay: the same in a user namespace" {
	in_user_namespace
	edit '.process.user = {uid: 1000, gid: 1000}'
	sh_args 'echo a >/dev/stderr; stat -L -c "%u %g" /proc/self/fd/1'
	[ "$(rt run --bundle "$BUNDLE" "$ID" 2>&1 3>&- | cat)" = $'a\n1000 1000' ]
}

@test "relay: files and /dev/null are left alone" {
	sh_args 'readlink /proc/self/fd/1; readlink /proc/self/fd/2 >&2'
	run_container
	works "$T/stdout"
	[ "$errors" = "$T/stderr" ]
	[ -z "$(logged stdout)" ]
	jq -se 'any(.[]; .type == "output-end" and .stream == "stdout" and .why == "not captured: file")' "$(the_log)"
}

@test "relay: the flags and the size of the engine's pipe" {
	sh_args 'grep flags /proc/self/fdinfo/1'
	"$PYTHON" - "$T/flags" "$AGENTRUN" ${AGENTRUN_FLAGS-} --root "$ROOT" run --bundle "$BUNDLE" "$ID" 3>&- <<-'END'
		import fcntl, os, subprocess, sys
		r, w = os.pipe()
		fcntl.fcntl(w, 1031, 8192)
		before = fcntl.fcntl(w, fcntl.F_GETFL)
		child = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=w)
		during = set()
		while child.poll() is None:
		    during.add(fcntl.fcntl(w, fcntl.F_GETFL))
		os.close(w)
		text = b""
		while chunk := os.read(r, 65536):
		    text += chunk
		assert during <= {before}, during
		assert text.split()[1].endswith(b"01"), text
	END
}

@test "relay: past the cap the middle goes unread, head and tail are kept" {
	POLICY=$T/policy.json
	cat >"$POLICY" <<-'END'
		{"version": 1, "profiles": {"default": {"audit": {"output": {"maxBytes": "16KiB", "requestMax": "16KiB"}}}}}
	END
	chmod 600 "$POLICY"
	AGENTRUN_FLAGS="--policy $POLICY"
	sh_args 'echo first; yes | head -c 3000000; echo last'
	[ "$(rt run --bundle "$BUNDLE" "$ID" 3>&- | wc -c)" -eq 3000011 ]
	jq -se '[.[] | select(.type == "output")] | (.[0].data | startswith("first")) and (.[-1].data | endswith("last\n"))' \
		"$(the_log)"
	jq -se 'any(.[]; .type == "output-end" and .stream == "stdout" and .bytes == 3000011 and .kept <= 32768)' "$(the_log)"
}

@test "relay: an engine that polls a pidfd finds status and output there" {
	sh_args 'cat /large; exit 5'
	# shellcheck disable=SC2086
	BUNDLE=$BUNDLE PID_FILE=$T/pid "$PYTHON" "$HELPERS/pidfd_engine.py" "$LOOPS" 5 204800 \
		"$AGENTRUN" ${AGENTRUN_FLAGS-} --root "$ROOT" "$ID" 3>&-
	sh_args 'kill -9 $$; sleep 10 & kill -TERM $!; wait; exit 6'
	# shellcheck disable=SC2086
	BUNDLE=$BUNDLE PID_FILE=$T/pid "$PYTHON" "$HELPERS/pidfd_engine.py" "$LOOPS" 6 0 \
		"$AGENTRUN" ${AGENTRUN_FLAGS-} --root "$ROOT" "$ID" 3>&-
}

@test "relay: a stream that nobody reads does not hold up the other" {
	sh_args 'head -c 52428800 /dev/zero & sleep 0.2; echo line >&2; wait'
	mkfifo "$T/out" "$T/err"
	rt run --bundle "$BUNDLE" "$ID" >"$T/out" 2>"$T/err" 3>&- &
	exec 7<"$T/out" 8<"$T/err"
	# the other stands full by now
	read -r line <&8
	[ "$line" = line ]
	[ "$(wc -c <&7)" -eq 52428800 ]
	exec 7<&- 8<&-
	wait $!
	[ "$(logged stderr)" = line ]
	jq -se 'any(.[]; .type == "output-end" and .stream == "stdout" and .bytes == 52428800 and .why == "eof")' "$(the_log)"
}

@test "relay: many commands at the same time" {
	local i n=${RELAY_PARALLEL-60} pids=()
	sleeper
	for ((i = 0; i < n; i++)); do
		{ rt exec "$ID" sh -c "echo number-$i; echo error-$i >&2; exit $((i % 100))" 2>"$T/err$i" 3>&- | cat >"$T/out$i"
			echo "${PIPESTATUS[0]}" >"$T/code$i"; } 3>&- &
		pids+=($!)
	done
	wait "${pids[@]}"
	for ((i = 0; i < n; i++)); do
		[ "$(cat "$T/out$i" "$T/err$i" "$T/code$i" | xargs)" = "number-$i error-$i $((i % 100))" ]
	done
	rt kill "$ID" KILL
	wait_for 60 eval '[[ $(tail -n 1 "$(the_log)") = *\"close\"* ]]'
	# every command once, with what it wrote and how it ended
	jq -r 'select(.type == "output" and .stream == "stdout") | .data' "$(the_log)" | sort | uniq -c |
		grep -c '^ *1 number-' >"$T/count"
	[ "$(cat "$T/count")" -eq "$n" ]
	[ "$(jq -s '[.[] | select(.type == "process-exit") | .process] | unique | length' "$(the_log)")" -eq "$n" ]
	[ "$(jq -s '[.[] | select(.type == "exec" and (.argv | join(" ") | test("number-")))] | length' "$(the_log)")" -eq "$n" ]
}

@test "relay: nobody is left" {
	args cat /large
	rt run --bundle "$BUNDLE" "$ID" 3>&- | sum
	wait_for 30 sh -c "! grep -lzs agentrun-monitor /proc/[0-9]*/cmdline | xargs -r -n 1 dirname | while read -r p; do ls -l \$p/fd; done | grep -q $T"
}

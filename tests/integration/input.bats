#!/usr/bin/env bats
# What goes into a process: recorded only where the policy says so, redacted and capped as output
# is, and without a difference for the process or for whoever writes.

load helpers.bash

setup_file() {
	export SUITE_POLICY=1
	suite_setup_file
	[ "$KIND" = agentrun ] || skip "only agentrun keeps input"
	if [ -e /etc/agentrun/policy.json ]; then
		skip "this host has a policy of its own"
	fi
	head -c 204800 /dev/urandom >"$BATS_FILE_TMPDIR/large"
}

teardown_file() {
	suite_teardown_file
}

setup() {
	suite_setup
	ID=input-$$-$BATS_TEST_NUMBER
	keep_input 64KiB
}

teardown() {
	suite_teardown
}

# keep_input BYTES
keep_input() {
	cat >"$T/policy.json" <<-END
		{"version": 1, "profiles": {"default": {"audit": {"input": {"maxBytes": "$1"}}}}}
	END
	chmod 600 "$T/policy.json"
	AGENTRUN_FLAGS="--policy $T/policy.json"
}

the_log() {
	# shellcheck disable=SC2012
	ls -t /var/log/agentrun/"$ID"-*-"$(log_root)".jsonl | head -n 1
}

# shown PROCESS: what the log has of its input.
shown() {
	rt audit show "$ID" "$1" --stream stdin --raw 3>&-
}

# end_of PROCESS: why and how many bytes.
end_of() {
	jq -r --argjson p "$1" 'select(.type == "output-end" and .stream == "stdin" and .process == $p) | "\(.why) \(.bytes)"' \
		"$(the_log)"
}

sleeper() {
	args sleep 1000
	rt run --detach --bundle "$BUNDLE" "$ID" </dev/null >/dev/null 2>&1 3>&-
}

@test "input: reaches the process and the log" {
	args cat
	[ "$(printf 'one\ntwo' | rt run --bundle "$BUNDLE" "$ID" 3>&- | cat)" = $'one\ntwo' ]
	[ "$(shown 0)" = $'one\ntwo' ]
	[ "$(end_of 0)" = 'eof 7' ]
}

@test "input: byte for byte, past the cap too, and its end is seen" {
	local i want
	want=$(sha256sum <"$BATS_FILE_TMPDIR/large")
	sleeper
	for ((i = 1; i <= 5; i++)); do
		[ "$(cat "$BATS_FILE_TMPDIR/large" | rt exec "$ID" sha256sum 3>&-)" = "$want" ]
	done
	wait_for 60 eval '[ "$(end_of 5)" = "eof 204800" ]'
	jq -se '[.[] | select(.type == "output-end" and .stream == "stdin" and .process == 5) | .kept] | .[0] > 40000 and .[0] <= 65536' \
		"$(the_log)"
	rt audit show "$ID" 5 --stream stdin --raw 3>&- | head -c 40000 | cmp - <(head -c 40000 "$BATS_FILE_TMPDIR/large")
}

@test "input: secrets are not in the log" {
	sleeper
	printf 'DB_PASSWORD=topsecretvalue\nhttps://joe:s3cr3tpw@host/x\n' | rt exec "$ID" cat >"$T/out" 3>&-
	grep -q topsecretvalue "$T/out"
	wait_for 60 eval '[ -n "$(end_of 1)" ]'
	run ! grep -q 'topsecretvalue\|s3cr3tpw' "$(the_log)"
	[[ $(shown 1) = *'https://joe:[redacted:url-credentials]@host/x'* ]]
}

@test "input: nobody who writes waits for a process that does not read" {
	sleeper
	run bash -c 'yes 2>/dev/null | "$@"; echo "${PIPESTATUS[0]}"' x "$AGENTRUN" --policy "$T/policy.json" --root "$ROOT" exec "$ID" true 3>&-
	[ "$output" = 141 ]
	[[ $(end_of 1) = closed* ]]
}

@test "input: a writer that stays does not keep a process from ending" {
	sleeper
	mkfifo "$T/pipe"
	exec 7<>"$T/pipe"
	rt exec "$ID" sh -c 'read x; echo "got $x"' <"$T/pipe" >"$T/out" 3>&- 7>&- &
	echo words >&7
	wait $!
	exec 7>&-
	[ "$(cat "$T/out")" = 'got words' ]
}

@test "input: off by default, and the log says what it could not have" {
	sleeper
	: >"$T/file"
	rt exec "$ID" cat <"$T/file" 3>&-
	[[ $(end_of 1) = 'not captured: file 0' ]]
	rt kill "$ID" KILL
	wait_for 60 eval '[ "$(rt state "$ID" 3>&- | jq -r .status)" = stopped ]'
	rt delete "$ID" 3>&-
	AGENTRUN_FLAGS=
	ID=$ID-off
	args cat
	[ "$(echo words | rt run --bundle "$BUNDLE" "$ID" 3>&- | cat)" = words ]
	run ! grep -q '"stream":"stdin"' "$(the_log)"
}

@test "input: of a terminal, but for what it does not show" {
	local keys=$T/keys
	edit '.process.terminal = true'
	sh_args 'read a; stty -echo; echo ready; read b; stty echo; echo "got $a ${#b}"'
	mkfifo "$keys"
	exec 7<>"$keys"
	# shellcheck disable=SC2086
	script -qec "$(printf '%q ' "$AGENTRUN" $AGENTRUN_FLAGS --root "$ROOT" run --bundle "$BUNDLE" "$ID")" /dev/null \
		<&7 >"$T/screen" 2>&1 3>&- &
	wait_for 60 eval '[ -e "$ROOT/$ID" ]'
	printf 'plain words\n' >&7
	wait_for 60 grep -q ready "$T/screen"
	printf 'hunter2hunter2\n' >&7
	wait $! || true
	exec 7>&-
	grep -q 'got plain words 14' "$T/screen"
	wait_for 60 eval '[[ $(end_of 0) = eof* ]]'
	[ "$(shown 0 | tr '\r' '\n')" = $'plain words\n**************' ]
	run ! grep -q hunter2 "$(the_log)"
}

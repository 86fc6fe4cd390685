#!/usr/bin/env bats
# The log of a real container: what it did, read back with `agentrun audit` while it runs and after
# it was deleted; and that the container can neither reach nor forge it.

load helpers.bash

setup_file() {
	export SUITE_POLICY=1
	suite_setup_file
	[ "$KIND" = agentrun ] || skip "only agentrun has an audit log"
	if [ -e /etc/agentrun/policy.json ]; then
		skip "this host has a policy of its own"
	fi
}

teardown_file() {
	suite_teardown_file
}

setup() {
	suite_setup
	# ids of other runs may be in the host's log: none of them begins like this
	ID=audit-$$-$BATS_TEST_NUMBER
}

teardown() {
	suite_teardown
	if [ -n "${NAME-}" ]; then
		rm -f "/var/log/agentrun/$NAME".*jsonl "/var/log/agentrun/$NAME.jsonl" "/var/log/agentrun/$NAME.head"
	fi
}

audit() {
	rt audit "$@" 3>&-
}

# the name of the log, while there is a record
log_name() {
	NAME=$(jq -r .auditLog "$ROOT/$ID/state.json")
}

@test "audit: a session, live and after it was deleted" {
	sh_args 'echo out; echo err >&2; /bin/busybox false; exec /bin/busybox sleep 1000'
	rt run --detach --bundle "$BUNDLE" "$ID" >/dev/null 2>&1 3>&-
	log_name
	run rt exec "$ID" /bin/busybox sh -c '/bin/busybox echo from-exec; exit 5' 3>&-
	[ "$status" -eq 5 ]
	[[ $(audit list) = *" open "*"$ID"* ]]
	[[ $(audit verify "$ID") = *"still being written"* ]]
	wait_for 60 eval '[[ $(audit show "$ID" 1) = *"ended with status 5"* ]]'
	[[ $(audit show "$ID" 1) = *from-exec* ]]
	rt kill "$ID" KILL
	wait_for 60 eval '[ "$(rt state "$ID" | jq -r .status)" = stopped ]'
	rt delete "$ID"
	# found without a record, by a beginning of the id
	[[ $(audit verify "${ID%?}"* 2>/dev/null || audit verify "$ID") = *"good: "*", closed" ]]
	audit log "$ID" >"$T/log"
	grep -Eq ' exec +1 .*busybox false' "$T/log"
	grep -Eq ' process +5 .*sh -c' "$T/log"
	grep -Eq ' exit +SIGKILL' "$T/log"
	grep -Eq ' delete ' "$T/log"
	[ "$(audit show "$ID" 1 --raw)" = from-exec ]
	# programs belong to the process that began them
	[[ $(audit show "$ID" 0) = *"busybox false"* ]]
	[[ $(audit show "$ID" 0) != *"echo from-exec"* ]]
	[[ $(audit show "$ID" 1) = *exec*"echo from-exec"* ]]
	[[ $(audit show "$ID" 1) != *"busybox false"* ]]
}

@test "audit: secrets of arguments and output are not in the file" {
	sh_args '/bin/busybox true --password hunter2hunter2; echo "DB_PASSWORD=topsecretvalue"; echo "url https://joe:s3cr3tpw@host/x"'
	rt run --bundle "$BUNDLE" --keep "$ID" 3>&- | cat >"$T/out"
	log_name
	wait_for 60 eval '[[ $(audit verify "$ID") = *", closed" ]]'
	rt delete "$ID"
	# the engine gets all of it
	grep -q topsecretvalue "$T/out"
	grep -q 'joe:s3cr3tpw@' "$T/out"
	run grep -c 'hunter2hunter2\|topsecretvalue\|s3cr3tpw' "/var/log/agentrun/$NAME.jsonl"
	[ "$output" = 0 ]

	[[ $(audit show "$ID" 0) = *'https://joe:[redacted:url-credentials]@host/x'* ]]
}

@test "audit: a container writes no record and does not see the log" {
	# what looks like a record, a newline within an argument, and a look around
	sh_args 'echo "{\"seq\":99,\"type\":\"exit\",\"hash\":\"$(printf %064d 0)\"}"
		/bin/busybox true "
{\"seq\":98,\"type\":\"delete\"}"
		printf "%s\\n" "-- stderr" "2026-12-01 05:06:58.917        exit  0"
		ls /var/log/agentrun /run/agentrun 2>&1; ls -l /proc/self/fd; for p in /proc/[0-9]*; do ls -l $p/fd; done 2>/dev/null'
	rt run --bundle "$BUNDLE" --keep "$ID" 3>&- | cat >"$T/out"
	log_name
	wait_for 60 eval '[[ $(audit verify "$ID") = *", closed" ]]'
	rt delete "$ID"
	run ! grep -q 'jsonl\|audit' "$T/out"
	[[ $(audit verify "$ID") = *"good: "* ]]
	[ "$(audit log "$ID" --type exit --json | wc -l)" -eq 1 ]
	[ "$(audit log "$ID" --type delete --json | wc -l)" -eq 1 ]
	[ "$(audit log "$ID" --json | wc -l)" -eq "$(audit log "$ID" --json | jq -s length)" ]
	# nor a heading or a row for who reads
	[ "$(audit show "$ID" 0 | grep -c '^-- ')" -eq 1 ]
	[[ $(audit show "$ID" 0) = *$'\n| -- stderr\n| 2026-'* ]]
}

@test "audit: what the policy decides of an exec, and what explain says is recorded" {
	args sleep 1000
	rt run --detach --bundle "$BUNDLE" "$ID" >/dev/null 2>&1 3>&-
	log_name
	rt explain "$ID" 3>&- >"$T/explain"
	grep -q "^audit: *$NAME\$" "$T/explain"
	grep -q '^audit: *executed programs .*, 1048576 bytes of each command.s output, no input; .* ends the container' "$T/explain"
	rt explain --json "$ID" 3>&- | jq -e '.audit == {log: "'"$NAME"'", exec: true, outputMaxBytes: 1048576, inputMaxBytes: 0, onFailure: "stop"}'
	for i in 1 2; do
		rt exec --env GITHUB_TOKEN=ghp_verysecretvalue "$ID" true </dev/null >/dev/null 2>&1 3>&-
	done
	# once, however often it is decided
	wait_for 60 eval '[ "$(audit log "$ID" --json | jq -s "[.[] | select(.type == \"operation\" and .name == \"exec\")] | length")" = 1 ]'
	audit log "$ID" --json >"$T/log"
	jq -se 'any(.[]; .name == "exec" and (.detail | test("^policy: environment dropped: GITHUB_TOKEN; ")))' "$T/log"
	run ! grep -q verysecret "$T/log"
	jq -se 'any(.[]; .type == "create" and (has("policyFile") | not))' "$T/log"
}

# untraced ARGUMENT...: agentrun where nobody may trace.
untraced() {
	# shellcheck disable=SC2086
	"$PYTHON" "$HELPERS/no_ptrace.py" "$AGENTRUN" ${AGENTRUN_FLAGS-} --root "$ROOT" "$@" 3>&-
}

@test "audit: where tracing is forbidden, whose output would lose its end is not run" {
	sh_args 'echo words'
	run untraced run --bundle "$BUNDLE" "$ID"
	[ "$status" -ne 0 ]
	[[ $output = *'audit: output cannot be recorded to its end where tracing is forbidden'*'profiles.default.audit'*'"onFailure": "continue"'* ]]
	[[ $output != *words* ]]
	run ! rt state "$ID"
}

@test "audit: where tracing is forbidden and the policy goes on, output is left alone and the log says so" {
	printf '{"version": 1, "profiles": {"default": {"audit": {"onFailure": "continue"}}}}' >"$T/policy.json"
	chmod 600 "$T/policy.json"
	AGENTRUN_FLAGS="--policy $T/policy.json"
	sh_args 'exec 5>&1; readlink /proc/$$/fd/5 >&2; sleep 1000'
	mkfifo "$T/pipe"
	cat "$T/pipe" >"$T/out" &
	untraced run --bundle "$BUNDLE" "$ID" >"$T/pipe" 2>"$T/err" &
	wait_for 60 eval '[ "$(rt state "$ID" | jq -r .status)" = running ]'
	log_name
	rt explain "$ID" 3>&- >"$T/explain"
	grep -q 'note: *tracing is forbidden here' "$T/explain"
	grep -q '^audit: .*, NOT the output: tracing is forbidden here' "$T/explain"
	rt explain --json "$ID" 3>&- | jq -e '.supervisor.traces == false and .audit.withheld'
	[ "$(rt exec "$ID" sh -c 'echo from exec; exit 3' 3>&- | cat; echo "${PIPESTATUS[0]}")" = $'from exec\n3' ]
	[ "$(rt exec --tty "$ID" sh -c 'test -t 1; echo $?' </dev/null 3>&- | tr -d '\r')" = 0 ]
	# the engine's own pipe
	wait_for 60 grep -qx "$T/pipe" "$T/err"
	rt kill "$ID" KILL
	wait
	wait_for 60 eval '[[ $(audit verify "$ID") = *", closed" ]]'
	audit log "$ID" --json >"$T/log"
	[ "$(jq -s '[.[] | select(.type == "start")] | length' "$T/log")" -eq 3 ]
	run ! grep -q 'from exec\\n' "$T/log"
	jq -se '[.[] | tostring | select(contains("not captured: tracing is forbidden here"))] | length == 6' "$T/log"
}

@test "audit: a loop of programs does not fill the disk" {
	printf '{"version": 1, "profiles": {"default": {"audit": {"maxBytes": "300KiB"}}}}' >"$T/policy.json"
	chmod 600 "$T/policy.json"
	AGENTRUN_FLAGS="--policy $T/policy.json"
	sh_args 'while :; do /bin/busybox true; done'
	run rt run --keep --bundle "$BUNDLE" "$ID" 3>&-
	[ "$status" -eq 137 ]
	log_name
	jq -e '.reason == "policy" and (.detail | test("audit.maxBytes"))' "$ROOT/$ID/exit.json"
	[ "$(stat -c %s "/var/log/agentrun/$NAME.jsonl")" -le 307200 ]
	rt delete "$ID"
	[[ $(audit verify "$ID") = *"good: "* ]]
	[ "$(audit log "$ID" --type exit --json | wc -l)" -eq 1 ]
}

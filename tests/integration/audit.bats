#!/usr/bin/env bats
# `agentrun audit`, over logs that the real sink wrote: what people see, which log is meant, what
# a terminal is kept from, and what verify says of logs that were tampered with.

bats_require_minimum_version 1.5.0
load ../engines/lib.bash

setup_file() {
	[ -x "${AGENTRUN-}" ] || {
		echo "AGENTRUN must be the path of the runtime under test" >&2
		return 1
	}
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	WRITER=$(dirname "$AGENTRUN")/tests/integration/helpers/audit-writer
	[ -x "$WRITER" ] || skip "no audit-writer beside $AGENTRUN: needs a build tree"
	export WRITER
	export ESC=$'\e'
}

setup() {
	T=$BATS_TEST_TMPDIR
	LOGS=$T/logs
	mkdir -m 700 "$LOGS"
	unset AUDIT_ID AUDIT_ROOT AUDIT_PART AUDIT_CONTINUE
}

audit() {
	"$AGENTRUN" audit --dir "$LOGS" "$@"
}

await() {
	wait_for 20 eval "$1"
}

# write SCENE [ID]: prints the name of the log
write() {
	AUDIT_ID=${2-box} "$WRITER" "$LOGS" "$1" | tail -n 1
}

@test "list: what there is, and how it ended" {
	write session >/dev/null
	write many counted >/dev/null
	run audit list
	[ "$status" -eq 0 ]
	[[ ${lines[0]} = START*STATE*EXIT*COMMANDS*DENIED*RECORDS*SIZE*ID ]]
	[[ ${lines[1]} =~ ^20..-..-..\ ..:..:..\ +closed\ +0\ +7\ +2\ .*\ box$ ]]
	[[ ${lines[2]} =~ closed\ +7\ +300\ +0\ .*\ counted$ ]]
	[ "$(audit list --json | jq -r '.[1].id, .[1].commands, .[0].exit' | xargs)" = "counted 300 0" ]
}

@test "log: programs with exit status and duration, in order" {
	write session >/dev/null
	run audit log box
	[ "$status" -eq 0 ]
	[[ ${lines[0]} = TIME*PROC*EVENT*EXIT*TOOK*WHAT ]]
	[[ $output = *"memory clamped: asked 8GiB, given 2GiB"* ]]
	[[ $output =~ exec\ +0\ +1\.204s\ +make\ -j2\ \'all\ the\'\ \'it\'\\\'\'s\' ]]
	[[ $output =~ exec\ +1\ +1\.204s\ +false ]]
	[[ $output =~ exec\ +SIGKILL\ +1\.204s\ +sleep\ 100 ]]
	[[ $output =~ process\ +1\ +2\.500s\ +pytest\ -q ]]
	[[ $output = *"connect 10.0.0.1:5432 tcp (unlisted), and 41 more like it"* ]]
	# an exit is part of the row of its program
	[[ $output != *exec-exit*pid* ]]
	# each program once
	[ "$(audit log box | grep -c ' exec  ')" -eq 7 ]
}

@test "log: filters" {
	write session >/dev/null
	[ "$(audit log box --type exec | grep -c ' exec ')" -eq 7 ]
	[ "$(audit log box --type exec --type start,exit --json | jq -r .type | sort | uniq -c | xargs)" = "7 exec 1 exit 1 start" ]
	[ "$(audit log box --process 1 --json | jq -r .process | sort -u)" = 1 ]
	[ "$(audit log box --since 1h --json | wc -l)" -eq "$(audit log box --json | wc -l)" ]
	[ "$(audit log box --until 1h --json | wc -l)" -eq 0 ]
	[ "$(audit log box --since "$(date -u +%F)" --until 2999-01-01 --json | wc -l)" -gt 20 ]
	[ "$(audit log box --since 2999-01-01T00:00 --json | wc -l)" -eq 0 ]
	run audit log box --type exce
	[ "$status" -eq 1 ]
	[[ $output = *'unknown type "exce"'*'exec-exit'* ]]
	run audit log box --since yesterday
	[ "$status" -eq 1 ]
	[[ $output = *'"yesterday" is no time'* ]]
}

@test "log --json: the records as they stand in the file" {
	local name
	name=$(write session)
	audit log box --json >"$T/json"
	cmp "$T/json" "$LOGS/$name.jsonl"
	jq -e . "$T/json" >/dev/null
}

@test "show: one process with its output" {
	write session >/dev/null
	run audit show box 1
	[ "$status" -eq 0 ]
	[[ $output = "process 1: pytest -q"* ]]
	[[ $output = *"ended with status 1 after 2.500s"* ]]
	[[ $output = *"-- stdout"*"1 failed"* ]]
	[[ $output != *make* ]]
	run audit show box 0 --stream stdout --raw
	[ "$output" = $'one\ntwo' ]
	run audit show box 2
	[ "$status" -eq 1 ]
	[[ $output = *"has no process 2: they are numbered from 0 to 1"* ]]
	run audit show box x
	[ "$status" -eq 1 ]
	[[ $output = *'"x" is no number'* ]]
}

@test "secrets in arguments do not reach the log" {
	write session >/dev/null
	run grep -c hunter2secret "$LOGS"/*.jsonl
	[ "$output" = 0 ]
	[[ $(audit log box) = *"curl --token [redacted:"* ]]
}

@test "nothing from a container obeys a terminal" {
	write session >/dev/null
	write terminal tty >/dev/null
	{
		audit list
		audit log box
		audit log box --json
		audit show box 0
		audit log tty
		audit show tty 0
		audit verify box
		cat "$LOGS"/*.jsonl
	} >"$T/all"
	# neither controls but newline and tab, nor C1 controls
	LC_ALL=C tr -d '\n\t\040-\176\200-\377' <"$T/all" >"$T/controls"
	[ ! -s "$T/controls" ]
	run ! env LC_ALL=C grep -P '\xc2[\x80-\x9f]' "$T/all"
	run ! env LC_ALL=C grep -P '(^|[^\xc2-\xf4\x80-\xbf])[\x80-\xbf]' "$T/all"
	[[ $(audit show box 0) = *'\x1b]0;title\x07b\x1b[31mred'* ]]
}

@test "replay: what draws, with its pauses, and nothing else" {
	local begun ended
	write terminal tty >/dev/null
	begun=$(date +%s%3N)
	audit replay tty 0 >"$T/out"
	ended=$(date +%s%3N)
	[ $((ended - begun)) -ge 400 ]
	grep -q "80 columns and 24 rows" "$T/out"
	grep -q "$ESC\[1mdir$ESC\[0m" "$T/out"
	# clipboard and a query
	run ! grep -q "$ESC\]" "$T/out"
	run ! grep -q "$ESC\[6n" "$T/out"
	# the same with pauses of minutes
	local name=$T/logs/*tty*.jsonl
	# shellcheck disable=SC2086
	jq -c '.mono *= 1000' $name >"$T/slow" && cat "$T/slow" >$(echo $name)
	timeout 100 "$AGENTRUN" audit --dir "$LOGS" replay tty 0 --max-wait 10ms >/dev/null
	timeout 100 "$AGENTRUN" audit --dir "$LOGS" replay tty 0 --speed 1000 >/dev/null
	run timeout 1 "$AGENTRUN" audit --dir "$LOGS" replay tty 0 >/dev/null
	[ "$status" -eq 124 ]
	run audit replay tty 0 --speed 0
	[ "$status" -eq 1 ]
	write session >/dev/null
	run audit replay box 0
	[ "$status" -eq 1 ]
	[[ $output = *"had no terminal"* ]]
}

@test "follow: as it is written, over parts, to its end" {
	mkfifo "$T/in"
	AUDIT_PART=1500 AUDIT_ID=live "$WRITER" "$LOGS" hold <"$T/in" >"$T/name" &
	local writer=$!
	exec 7>"$T/in"
	await '[ -s "$T/name" ]'
	# not with the pipe's writing end: the writer waits for its end
	(exec 7>&- && audit follow live) >"$T/out" &
	local follower=$!
	await 'grep -q first "$T/out"'
	echo second >&7
	await 'grep -q second "$T/out"'
	for i in 3 4 5 6 7 8 9; do echo "command-$i" >&7; done
	await 'grep -q command-9 "$T/out"'
	[ "$(ls "$LOGS" | grep -c jsonl)" -gt 1 ]
	[[ $(audit list) = *" open "* ]]
	[[ $(audit verify live) = *"still being written"* ]]
	exec 7>&-
	wait "$writer"
	wait "$follower"
	grep -q ' close ' "$T/out"
	[ "$(grep -c ' exec  ' "$T/out")" -eq 9 ]
}

@test "follow ends when the writer was killed" {
	mkfifo "$T/in"
	AUDIT_ID=dies "$WRITER" "$LOGS" hold <"$T/in" >"$T/name" &
	local writer=$!
	exec 7>"$T/in"
	await '[ -s "$T/name" ]'
	(exec 7>&- && audit follow dies) >"$T/out" &
	local follower=$!
	await 'grep -q first "$T/out"'
	kill -9 "$writer"
	wait "$writer" || true
	wait "$follower"
	exec 7>&-
	[[ $(audit list) = *"broken off"* ]]
	run audit verify dies
	[ "$status" -eq 1 ]
	[[ $output = *"no closing record and nobody writes it"* ]]
}

@test "which log: id, prefix, name, root; ambiguity is refused" {
	local name
	name=$(write session alpha)
	write session alphabet >/dev/null
	AUDIT_ROOT=/run/other write session beta >/dev/null
	write many beta >/dev/null
	[[ $(audit verify alpha) = "$name: good"* ]]
	[[ $(audit verify alphab) = alphabet-*good* ]]
	run audit log alph
	[ "$status" -eq 1 ]
	[[ $output = *'"alph" could be several containers: '*alpha-*alphabet-* ]]
	run audit log beta
	[ "$status" -eq 1 ]
	[[ $output = *"several containers"* ]]
	[ "$("$AGENTRUN" --root /run/other audit --dir "$LOGS" log beta --type exit --json | jq .code)" = 0 ]
	[ "$("$AGENTRUN" --root /run/agentrun audit --dir "$LOGS" log beta --type exit --json | jq .code)" = 7 ]
	[[ $(audit verify "$name") = "$name: good"* ]]
	run audit log gamma
	[ "$status" -eq 1 ]
	[[ $output = *'no audit log of a container "gamma"'* ]]
	# the newest of one container
	write many alpha >/dev/null
	[ "$(audit log alpha --type exit --json | jq .code)" = 7 ]
}

@test "who may not read it is told so" {
	write session >/dev/null
	run setpriv --reuid 65534 --regid 65534 --clear-groups "$AGENTRUN" audit --dir "$LOGS" list
	[ "$status" -eq 1 ]
	[[ $output = *"open audit folder $LOGS: only its owner may read the audit log: permission denied"* ]]
	run audit --dir "$T/none" list
	[ "$status" -eq 1 ]
	[[ $output = *"there is no audit log: $T/none is not there"* ]]
	chmod 777 "$LOGS"
	run audit list
	[ "$status" -eq 1 ]
	[[ $output = *"can be changed by others"* ]]
}

@test "the chain can be checked with sha256sum alone" {
	local name prev line n=0
	name=$(write session)
	prev=$(printf '%064d' 0)
	while IFS= read -r line; do
		body=${line%,\"hash\":*}
		prev=$(printf '%s%s' "$prev" "$body" | sha256sum | cut -d' ' -f1)
		[ "$line" = "$body,\"hash\":\"$prev\"}" ]
		n=$((n + 1))
	done <"$LOGS/$name.jsonl"
	[ "$n" -gt 20 ]
}

# tampered NAME PATTERN: verify must refuse the log of that name with these words
tampered() {
	run audit verify box
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output = *"NOT AS IT WAS WRITTEN"* ]]
	[[ $output =~ $1 ]]
	[ "$(audit verify box --json | jq .good)" = false ]
}

@test "verify: tampering with one file" {
	local name file
	name=$(write session)
	file=$LOGS/$name.jsonl
	cp -a "$file" "$T/good"
	[[ $(audit verify box) = "$name: good: "*" records in 1 part, closed" ]]
	[[ $(audit verify "$file") = *": good: "* ]]
	# a flipped byte
	sed -i '4s/"argv":\["sh"\]/"argv":["xx"]/' "$file"
	tampered "$name.jsonl, line 4, record 4: .*was changed"
	run audit verify "$file"
	[ "$status" -eq 1 ]
	cp -a "$T/good" "$file"
	# a line less
	sed -i 6d "$file"
	tampered 'line 6, record 7: .*records are missing'
	cp -a "$T/good" "$file"
	# a line more
	sed -i '6{p}' "$file"
	tampered 'line 7, record 6: .*inserted or moved'
	cp -a "$T/good" "$file"
	# the end cut off
	sed -i '$d' "$file"
	tampered 'the end was cut off'
	truncate -s -10 "$file"
	tampered 'the line has no end'
	cp -a "$T/good" "$file"
	# another log of the same container
	cp -a "$LOGS/$(write session).jsonl" "$file"
	run audit verify "$name"
	[ "$status" -eq 1 ]
	[[ $output = *"the index remembers another record"* ]]
	# one of another container
	cp -a "$LOGS/$(write session other).jsonl" "$file"
	run audit verify "$name"
	[ "$status" -eq 1 ]
	[[ $output = *"the log of another container (other)"* ]]
	cp -a "$T/good" "$file"
	audit verify "$name"
	# log goes on behind a bad record, and says so
	sed -i '4s/"argv":\["sh"\]/"argv":["xx"]/' "$file"
	run audit log "$name"
	[ "$status" -eq 0 ]
	[[ $output = *"!! part 1, line 4: its hash does not fit"* ]]
	[[ $output = *pytest* ]]
}

@test "verify: tampering with parts" {
	local name
	name=$(AUDIT_PART=4000 write many)
	[ "$(ls "$LOGS" | grep -c jsonl)" -gt 20 ]
	[[ $(audit verify box) = *"good: "*" parts, closed" ]]
	mv "$LOGS/$name.3.jsonl" "$T/three"
	mv "$LOGS/$name.4.jsonl" "$LOGS/$name.3.jsonl"
	mv "$T/three" "$LOGS/$name.4.jsonl"
	tampered 'this is part 4, in the place of part 3'
	mv "$LOGS/$name.3.jsonl" "$T/four"
	tampered 'end was cut off|part 3 is missing'
	mv "$LOGS/$name.4.jsonl" "$LOGS/$name.3.jsonl"
	mv "$T/four" "$LOGS/$name.4.jsonl"
	audit verify box
	# a part on its own
	cp "$LOGS/$name.7.jsonl" "$T/copy.jsonl"
	[[ $(audit verify "$T/copy.jsonl") = *": good: "*"no index knows it"* ]]
	sed -i 3d "$T/copy.jsonl"
	run audit verify "$T/copy.jsonl"
	[ "$status" -eq 1 ]
}

@test "verify: root's own index, apart from the logs" {
	local name
	name=$(INDEX_DIR=$T write session)
	mkdir -p "$T"
	[ -s "$T/$name.head" ]
	[ "$(jq -r .closed "$T/$name.head")" = true ]
	# without any index it is good, with a word about it
	rm "$LOGS/$name.head"
	[[ $(audit verify box) = *"no index knows it"* ]]
}

@test "a full disk: stop says why, continue counts what is missing" {
	mkdir "$T/disk"
	mount -t tmpfs -o size=200k,mode=700 tmpfs "$T/disk"
	mkfifo "$T/in"
	sleep 600 >"$T/in" &
	local holder=$!
	# stop
	"$WRITER" "$T/disk" fill </dev/null >"$T/stop" 2>"$T/why"
	[[ $(sed -n 1p "$T/stop") =~ ^1\  ]]
	grep -q 'cannot write the audit log: no space left on device' "$T/why"
	[ "$(sed -n 2p "$T/stop")" = 1 ]
	# room was kept for its end: the log is whole, and says what is missing
	"$AGENTRUN" audit --dir "$T/disk" verify box >"$T/verdict"
	"$AGENTRUN" audit --dir "$T/disk" log box --type gap,close --json >"$T/records"
	rm "$T"/disk/*
	grep -q 'good: .*, closed; it says itself that' "$T/verdict"
	[ "$(jq -r .type "$T/records" | xargs)" = "gap close" ]
	[ "$(jq -r 'select(.type == "gap") | .why' "$T/records")" = "no space left on device" ]
	# continue: room is made later
	AUDIT_CONTINUE=1 "$WRITER" "$T/disk" fill <"$T/in" >"$T/go" 2>&1 &
	local writer=$!
	await '[ -s "$T/go" ]'
	read -r result sent missing <"$T/go"
	mount -o remount,size=10m "$T/disk"
	kill "$holder"
	wait "$writer"
	"$AGENTRUN" audit --dir "$T/disk" verify box >"$T/verdict"
	"$AGENTRUN" audit --dir "$T/disk" log box --json >"$T/records"
	umount "$T/disk"
	[ "$result" -eq 0 ]
	[ "$sent" -eq 20000 ]
	[ "$missing" -gt 0 ]
	[ "$(sed -n 2p "$T/go")" = 0 ]
	grep -q "good: .*it says itself that $missing records are missing" "$T/verdict"
	[ "$(jq -s 'map(select(.type == "exec")) | length' "$T/records")" -eq $((sent - missing)) ]
}

teardown() {
	if mountpoint -q "$BATS_TEST_TMPDIR/disk"; then
		umount "$BATS_TEST_TMPDIR/disk"
	fi
}

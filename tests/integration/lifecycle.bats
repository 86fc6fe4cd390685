#!/usr/bin/env bats
# The commands on one bundle, in the order in which an engine calls them.

load helpers.bash

setup_file() { suite_setup_file; }
teardown_file() { suite_teardown_file; }
setup() { suite_setup; }
teardown() { suite_teardown; }

@test "run: output, nothing left" {
	args echo hello
	run_container
	works hello
	clean
}

@test "run: exit code of the process" {
	sh_args 'exit 42'
	run_container
	exits 42
	clean
}

@test "run: killed by a signal" {
	sh_args 'kill -9 $$; sleep 1; kill -USR1 $$'
	edit '.linux.namespaces |= map(select(.type != "pid"))'
	run_container
	exits 137
}

@test "run: standard input" {
	printf 'from\noutside\n' >"$T/in"
	args cat
	CALL_STDIN=$T/in run_container
	works $'from\noutside'
}

@test "run: stdout and stderr are the caller's own files" {
	sh_args 'echo out; echo err >&2'
	run_container
	works out
	[ "$errors" = err ]
}

@test "run --detach, then delete" {
	args sleep 1000
	run_container --detach --pid-file "$T/pid"
	works ''
	[ "$(status_of)" = running ]
	kill -0 "$(cat "$T/pid")"
	stop_container
	call delete "$ID"
	works
	clean
}

@test "run --keep keeps a stopped container" {
	run_container --keep
	[ "$status" -eq 0 ] || skip "this version has no --keep"
	[ "$(status_of)" = stopped ]
	call delete "$ID"
	works
	clean
}

@test "run: signals are passed on" {
	sh_args 'trap "echo caught; exit 5" TERM; echo ready; while :; do sleep 0.05; done'
	local pid code=0
	rt_background run --bundle "$BUNDLE" "$ID"
	pid=$!
	wait_for 10 has_file "$T/background.out"
	kill -TERM $pid
	wait $pid || code=$?
	[ "$code" -eq 5 ]
	grep -q caught "$T/background.out"
}

@test "create: the program runs only after start" {
	sh_args 'echo ran >/ran'
	call create --bundle "$BUNDLE" "$ID"
	works ''
	sleep 0.2
	[ ! -e "$ROOTFS/ran" ]
	[ "$(status_of)" = created ]
	call start "$ID"
	works ''
	wait_for 10 has_status stopped
	[ "$(cat "$ROOTFS/ran")" = ran ]
	call delete "$ID"
	works ''
	clean
}

@test "create: config.json is not read again" {
	sh_args 'echo first >/ran'
	call create --bundle "$BUNDLE" "$ID"
	sh_args 'echo second >/ran'
	call start "$ID"
	works
	wait_for 10 has_status stopped
	[ "$(cat "$ROOTFS/ran")" = first ]
}

@test "create in the current folder, with a relative bundle" {
	(cd "$BUNDLE" && rt create "$ID-a" </dev/null >/dev/null 3>&-)
	[ "$(rt state "$ID-a" | jq -r .bundle)" = "$BUNDLE" ]
	edit --arg c "$CGROUP/b" '.linux.cgroupsPath = $c'
	(cd "$T" && rt create --bundle bundle --pid-file pid "$ID-b" </dev/null >/dev/null 3>&-)
	[ "$(rt state "$ID-b" | jq -r .bundle)" = "$BUNDLE" ]
	[ -s "$T/pid" ]
	# its cgroup is below the other's, which cannot be removed before
	rt delete --force "$ID-b"
}

@test "state: the document" {
	edit '.annotations = {"org.example.key": "value"}'
	start_sleeper
	call state "$ID"
	works
	jq -e --arg id "$ID" --arg bundle "$BUNDLE" '.id == $id and .bundle == $bundle
		and .status == "running" and (.ociVersion | startswith("1."))
		and .rootfs == $bundle + "/rootfs" and .annotations["org.example.key"] == "value"
		and (.owner | type) == "string"' "$T/stdout"
	jq -e '.created | test("^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}(\\.[0-9]+)?(Z|[+-][0-9:]+)$")' "$T/stdout"
	jq -e 'has("started") or has("finished") or has("exitCode") or has("error") | not' "$T/stdout"
	kill -0 "$(jq -r .pid "$T/stdout")"
}


@test "kill: each spelling of a signal arrives" {
	local spelling
	sh_args 'for s in HUP USR1 USR2 TERM; do trap "echo $s >>/got" $s; done; echo up >>/got; while :; do sleep 0.02; done'
	start_container
	wait_for 10 grep -q up "$ROOTFS/got"
	for spelling in TERM: HUP:HUP USR1:SIGUSR1 USR2:12 HUP:1 USR1:usr1; do
		: >"$ROOTFS/got"
		call kill "$ID" ${spelling#*:}
		works
		wait_for 10 grep -q "${spelling%%:*}" "$ROOTFS/got"
	done
}

@test "kill: an unknown signal" {
	start_sleeper
	call kill "$ID" NOSUCH
	fails 1 'unknown signal "NOSUCH"'
	[ "$(status_of)" = running ]
}

@test "kill without a private process namespace ends everything" {
	edit '.linux.namespaces |= map(select(.type != "pid"))'
	sh_args 'sleep 1234 & sleep 1234'
	start_container
	wait_for 10 has_processes
	other runc "1.1 kills only the first process without --all"
	call kill "$ID" 9
	works
	wait_for 10 no_processes
}

@test "delete of a container without a private process namespace ends everything" {
	edit '.linux.namespaces |= map(select(.type != "pid"))'
	sh_args 'sleep 1234 & sleep 1234'
	start_container
	call delete --force "$ID"
	works
	clean
}

@test "pause, resume: processes stop and go on" {
	local before
	sh_args 'while :; do echo x >>/ticks; sleep 0.01; done'
	start_container
	wait_for 10 has_file "$ROOTFS/ticks"
	call pause "$ID"
	works ''
	[ "$(status_of)" = paused ]
	before=$(wc -c <"$ROOTFS/ticks")
	sleep 0.3
	[ "$(wc -c <"$ROOTFS/ticks")" -eq "$before" ]
	call resume "$ID"
	works ''
	[ "$(status_of)" = running ]
	wait_for 10 sh -c "[ \$(wc -c <'$ROOTFS/ticks') -gt $before ]"
}

@test "exec --ignore-paused waits for resume" {
	start_sleeper
	call pause "$ID"
	local pid
	rt_background exec --ignore-paused "$ID" sh -c 'echo late >/late'
	pid=$!
	sleep 0.3
	[ ! -e "$ROOTFS/late" ]
	call resume "$ID"
	works
	wait $pid
	[ -e "$ROOTFS/late" ]
}

@test "ps: json and table" {
	sh_args 'sleep 1001 & sleep 1002'
	start_container
	wait_for 10 sh -c "'$AGENTRUN' --root '$ROOT' ps --format json '$ID' | jq -e 'length >= 2'"
	call ps --format json "$ID"
	works
	jq -e --argjson pid "$(pid_of)" 'index($pid) != null' "$T/stdout"
	call ps "$ID"
	works
	[[ $output = *PID* && $output = *'sleep 1001'* ]]
	call ps "$ID" -o pid,args
	works
	[[ $output = *'sleep 1001'* && $output != *UID* ]]
}

@test "ps: exec processes are listed, others not" {
	start_sleeper
	call exec --detach --pid-file "$T/exec.pid" "$ID" sleep 1003
	works
	call ps --format json "$ID"
	works
	jq -e --argjson pid "$(cat "$T/exec.pid")" 'index($pid) != null and length == 2' "$T/stdout"
}

@test "list: table, json, quiet" {
	start_sleeper
	call list
	works
	[[ $output = *ID*PID*STATUS*BUNDLE*CREATED*OWNER* && $output = *"$ID"*running*"$BUNDLE"* ]]
	call list --quiet
	works "$ID"
	call list --format json
	works
	jq -e --arg id "$ID" --argjson pid "$(pid_of)" 'length == 1 and .[0].id == $id and .[0].pid == $pid
		and .[0].status == "running" and .[0].owner == "root"' "$T/stdout"
}

@test "list: no containers" {
	mkdir "$ROOT"
	call list --format json
	works
	[[ $output = null || $output = '[]' ]]
	call list -q
	works ''
}

@test "list: a container that was killed is stopped" {
	start_sleeper
	stop_container
	call list --format json
	works
	jq -e '.[0].status == "stopped" and .[0].pid == 0' "$T/stdout"
}

@test "events --stats: the document" {
	start_sleeper
	call events --stats "$ID"
	works
	jq -e --arg id "$ID" '.type == "stats" and .id == $id and (.data.memory.usage.usage > 0)
		and (.data.pids.current >= 1) and (.data.cpu.usage.total >= 0)' "$T/stdout"
}

@test "events: a stream of statistics" {
	start_sleeper
	local pid
	rt_background events --interval 100ms "$ID"
	pid=$!
	wait_for 10 sh -c "[ \$(wc -l <'$T/background.out') -ge 2 ]"
	jq -es 'all(.type == "stats")' "$T/background.out"
	call delete --force "$ID"
	wait_for 10 sh -c "! kill -0 $pid" || { kill $pid; false; }
}

@test "events: out of memory" {
	edit '.linux.resources.memory = {limit: 16777216, swap: 16777216}'
	sh_args 'while [ ! -e /go ]; do sleep 0.05; done; tail /dev/zero; sleep 1'
	start_container
	local pid
	rt_background events --interval 1m "$ID"
	pid=$!
	sleep 0.3
	touch "$ROOTFS/go"
	wait_for 10 grep -q '"oom"' "$T/background.out" || { kill $pid; false; }
	call delete --force "$ID"
	wait_for 10 sh -c "! kill -0 $pid" || { kill $pid; false; }
}

@test "spec: a bundle that runs" {
	rm "$BUNDLE/config.json"
	(cd "$BUNDLE" && "$AGENTRUN" spec)
	edit '.process.terminal = false | .process.args = ["echo", "spec"] | del(.process.rlimits)'
	edit --arg c "$CGROUP" '.linux.cgroupsPath = $c'
	run_container
	works spec
	# an existing file is not overwritten
	cp "$BUNDLE/config.json" "$T/before"
	run "$AGENTRUN" spec --bundle "$BUNDLE"
	[ "$status" -ne 0 ]
	cmp "$BUNDLE/config.json" "$T/before"
}

@test "spec --rootless" {
	mkdir "$T/rootless"
	"$AGENTRUN" spec --rootless --bundle "$T/rootless"
	jq -e '(.linux.uidMappings | length == 1) and any(.linux.namespaces[]; .type == "user")' "$T/rootless/config.json"
	# the others share the host's network and bind its /sys
	[ "$KIND" != agentrun ] || jq -e 'any(.linux.namespaces[]; .type == "network")
		and any(.mounts[]; .destination == "/sys" and .type == "sysfs")' "$T/rootless/config.json"
}

@test "features: the document" {
	other runc,crun "older versions have none"
	call features
	works
	jq -e '.ociVersionMin == "1.0.0" and (.ociVersionMax | startswith("1."))
		and (.mountOptions | index("rro") != null and index("bind") != null)
		and (.hooks | length == 6)
		and (.linux.namespaces | index("user") != null)
		and (.linux.capabilities | index("CAP_SYS_ADMIN") != null)
		and (.linux.seccomp.enabled | type == "boolean")
		and .linux.cgroup.v1 == true and .linux.cgroup.v2 == true' "$T/stdout"
}

@test "--version" {
	run "$AGENTRUN" --version
	[ "$status" -eq 0 ]
	[[ ${lines[0]} =~ ^(agentrun|runc|crun)\ version\ [0-9] ]]
	[[ $output = *spec:* ]]
	[ "$(grep -c version <<<"$output")" -eq 1 ]
	if [ "$KIND" = agentrun ]; then
		interpreter=-
		LC_ALL=C grep -aq '/lib64/ld-linux' <(head -c 4096 "$AGENTRUN") || interpreter=+
		[[ ${lines[3]} = *" ${interpreter}STATIC"* ]]
	fi
	run "$AGENTRUN" -v
	[ "$status" -eq 0 ]
}

@test "--help, and help of each command" {
	local command
	run "$AGENTRUN" --help
	[ "$status" -eq 0 ]
	for command in create start run state kill delete exec ps list pause resume update events spec; do
		[[ $output = *"$command"* ]]
	done
	for command in create start run state kill delete exec ps list pause resume update events spec; do
		run --separate-stderr "$AGENTRUN" "$command" --help
		[ "$status" -eq 0 ]
		[[ $output = *"$command"* ]]
	done
}

@test "twenty containers one after the other leave nothing" {
	local i
	for i in $(seq 20); do
		run_container
		works
	done
	clean
}

@test "eight containers at once" {
	local i pids=()
	for i in 1 2 3 4 5 6 7 8; do
		make_bundle "$T/b$i"
		edit_in "$T/b$i" --arg i "$i" --arg c "$CGROUP/$i" '.process.args = ["echo", $i] | .linux.cgroupsPath = $c'
		rt run --bundle "$T/b$i" "$ID-$i" </dev/null >"$T/out.$i" 2>"$T/err.$i" 3>&- &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i"
	done
	[ "$(cat "$T"/out.* | tr '\n' ' ')" = '1 2 3 4 5 6 7 8 ' ]
	[ -z "$(find "$ROOT" -mindepth 1)" ]
}

#!/usr/bin/env bats
# More processes in a running container.

load helpers.bash

setup_file() { suite_setup_file; }
teardown_file() { suite_teardown_file; }
setup() { suite_setup; }
teardown() { suite_teardown; }

# process_file FILTER: a process document from the container's own one, changed by FILTER.
process_file() {
	jq ".process | .args = [\"true\"] | $1" "$BUNDLE/config.json" >"$T/process.json"
}

@test "exec: output, input, exit code" {
	start_sleeper
	call exec "$ID" echo hello
	works hello
	echo text >"$T/in"
	CALL_STDIN=$T/in call exec "$ID" cat
	works text
	call exec "$ID" sh -c 'exit 9'
	exits 9
	call exec "$ID" sh -c 'kill -9 $$'
	exits 137
}

@test "exec: options end at the first argument that is none" {
	start_sleeper
	call exec "$ID" echo -n --tty -e
	works '--tty -e'
}

@test "exec: it is in the namespaces and the cgroup of the container" {
	start_sleeper
	call exec "$ID" sh -c 'for n in mnt pid net ipc uts; do [ $(readlink /proc/1/ns/$n) = $(readlink /proc/self/ns/$n) ] || echo $n; done; cat /proc/1/cgroup | md5sum; cat /proc/self/cgroup | md5sum'
	works
	[ "$(uniq <<<"$output" | wc -l)" -eq 1 ]
}

@test "exec: identity and limits come from the container" {
	edit '.process.user = {uid: 1000, gid: 1000, additionalGids: [3000]} | .process.noNewPrivileges = true
		| .process.rlimits = [{type: "RLIMIT_NOFILE", soft: 77, hard: 88}] | .process.env += ["A=1"] | .process.cwd = "/tmp"'
	start_sleeper
	call exec "$ID" sh -c 'id -u; id -G; ulimit -n; grep NoNewPrivs /proc/self/status | cut -f2; echo $A; pwd'
	works $'1000\n1000 3000\n77\n1\n1\n/tmp'
}

@test "exec: --user, --cwd, --env, --additional-gids, --cap, --no-new-privs" {
	start_sleeper
	call exec --user 1000:2000 --cwd /tmp --env B=2 --additional-gids 3000 --additional-gids 4000 "$ID" \
		sh -c 'id -u; id -g; id -G; pwd; echo $B'
	works $'1000\n2000\n2000 3000 4000\n/tmp\n2'
	call exec --cap CAP_SYS_ADMIN "$ID" grep CapEff /proc/self/status
	works
	[ $((0x${output#*:?} >> 21 & 1)) -eq 1 ]
	call exec --no-new-privs "$ID" grep NoNewPrivs /proc/self/status
	works
	[[ $output = *1 ]]
}

@test "exec --process" {
	start_sleeper
	process_file '.args = ["sh", "-c", "id -u; pwd; echo $C; grep NoNew /proc/self/status | cut -f2"] | .user = {uid: 1000, gid: 1000}
		| .cwd = "/tmp" | .env += ["C=3"] | .noNewPrivileges = true'
	call exec --process "$T/process.json" "$ID"
	works $'1000\n/tmp\n3\n1'
}

@test "exec --process: capabilities, rlimits, oomScoreAdj" {
	other runc "oomScoreAdj is not taken from the document"
	start_sleeper
	process_file '.args = ["sh", "-c", "grep CapEff /proc/self/status | cut -f2; ulimit -n; cat /proc/self/oom_score_adj"]
		| .capabilities = {bounding: ["CAP_KILL"], effective: ["CAP_KILL"], permitted: ["CAP_KILL"], inheritable: [], ambient: []}
		| .rlimits = [{type: "RLIMIT_NOFILE", soft: 50, hard: 50}] | .oomScoreAdj = 444'
	call exec --process "$T/process.json" "$ID"
	works $'0000000000000020\n50\n444'
}

@test "exec --process: broken documents" {
	start_sleeper
	echo '{' >"$T/process.json"
	call exec --process "$T/process.json" "$ID"
	[ "$status" -ne 0 ]
	fails "$status"
	call exec --process "$T/none.json" "$ID"
	[ "$status" -ne 0 ]
	fails "$status" 'no such file or directory'
	process_file '.args = []'
	call exec --process "$T/process.json" "$ID"
	[ "$status" -ne 0 ]
	fails "$status"
	call exec "$ID" true
	works
}

@test "exec --process: captured documents of engines" {
	local file
	start_sleeper
	for file in "$BATS_TEST_DIRNAME"/../data/process-*.json; do
		[ -e "$file" ] || skip "no captured documents"
		[[ $file = *tty* || $file = *privileged* ]] && continue
		jq '.args = ["true"] | .cwd = "/" | del(.rlimits, .apparmorProfile, .selinuxLabel, .oomScoreAdj)' "$file" >"$T/process.json"
		echo "--- $file"
		call exec --process "$T/process.json" "$ID"
		works
	done
}

@test "exec --detach" {
	start_sleeper
	call exec --detach --pid-file "$T/pid" "$ID" sh -c 'echo $$ >/pid; sleep 1000'
	works ''
	wait_for 10 has_file "$ROOTFS/pid"
	kill -0 "$(cat "$T/pid")"
	[ "$(cat "$ROOTFS/pid")" -gt 1 ]
}

@test "exec: missing, not executable, bad folder: texts and exit code" {
	start_sleeper
	call exec "$ID" nosuchprogram
	fails 255 'exec: "nosuchprogram": executable file not found in \$PATH'
	call exec "$ID" /no/such
	fails 255 'no such file or directory'
	call exec "$ID" /etc/plain
	fails 255 'permission denied'
	call exec --cwd /no/where "$ID" true
	[ "$KIND" != agentrun ] || fails 255 'no such file or directory'
	call exec --user nosuch "$ID" true
	[ "$status" -ne 0 ]
	call exec "$ID"
	[ "$status" -ne 0 ]
	call ps --format json "$ID"
	jq -e 'length == 1' "$T/stdout"
}

@test "exec: a created container" {
	args sleep 1000
	call create --bundle "$BUNDLE" "$ID"
	works
	call exec "$ID" echo early
	works early
	[ "$(status_of)" = created ]
}

@test "exec: its processes end with the container" {
	start_sleeper
	call exec --detach --pid-file "$T/pid" "$ID" sleep 1000
	works
	call delete --force "$ID"
	works
	! kill -0 "$(cat "$T/pid")" 2>/dev/null
	clean
}

@test "exec: with a user namespace" {
	in_user_namespace
	start_sleeper
	call exec "$ID" sh -c 'id -u; cat /proc/self/uid_map | tr -s " "; touch /made'
	works $'0\n 0 100000 65536'
	[ "$(stat -c %u "$ROOTFS/made")" = 100000 ]
}

@test "exec --preserve-fds" {
	local got
	start_sleeper
	got=$("$AGENTRUN" --root "$ROOT" exec --preserve-fds 1 "$ID" sh -c 'head -n 1 <&3; ls /proc/self/fd | tr "\n" " "' \
		</dev/null 3<"$ROOTFS/etc/passwd" 6<"$LOG")
	[ "$got" = $'root:x:0:0:root:/root:/bin/sh\n0 1 2 3 4 ' ]
}

@test "exec: twenty-five one after the other leave no process" {
	local i
	start_sleeper
	for i in $(seq 25); do
		call exec "$ID" true
		works
	done
	call ps --format json "$ID"
	jq -e 'length == 1' "$T/stdout"
}

@test "exec: the program cannot reach the runtime's binary" {
	# /proc/self/exe of the process about to run must not be a way to overwrite the runtime
	start_sleeper
	local before
	before=$(sha256sum "$AGENTRUN")
	printf '#!/proc/self/exe\n' >"$ROOTFS/bin/evil"
	chmod 755 "$ROOTFS/bin/evil"
	CALL_TIMEOUT=5 call exec "$ID" /bin/evil
	[ "$(sha256sum "$AGENTRUN")" = "$before" ]
}

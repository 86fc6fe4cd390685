#!/usr/bin/env bats
# Output through the relay under engines: byte for byte, although processes end with their
# last write, and nothing of it is lost to conmon, which stops reading at the exit, or to
# Docker, which waits for two seconds.
#
# Environment
#   RELAY_LOOPS     how often the loops go round (default 6, where engines are slow a third of it; `make relay-loops`: 500)

load lib.bash

RELAY_IMAGE=localhost/relay:latest

setup_file() {
	require_machine
	is_runc && skip "only agentrun keeps output"
	make_rootfs "$MACHINE_DIR/relay-rootfs"
	head -c 4096 /dev/urandom >"$MACHINE_DIR/relay-rootfs/small"
	head -c 204800 /dev/urandom >"$MACHINE_DIR/relay-rootfs/large"
	# text, for terminals
	seq 9000 | head -c 4000 >"$MACHINE_DIR/relay-rootfs/small.txt"
	seq 90000 | head -c 200000 >"$MACHINE_DIR/relay-rootfs/large.txt"
	chmod 644 "$MACHINE_DIR"/relay-rootfs/{small,large}{,.txt}
}

setup() {
	require_machine
	LOOPS=${RELAY_LOOPS-6}
	ROOTFS=$MACHINE_DIR/relay-rootfs
	N=relay-$BATS_TEST_NUMBER
}

teardown() {
	[ -z "${DOCKER_UP-}" ] || { docker rm -f "$N" >/dev/null 2>&1 || true; docker_stop; }
	[ -z "${PODMAN_UP-}" ] || { podman rm -f -t 0 "$N" >/dev/null 2>&1 || true; podman_stop; }
	[ -z "${CONTAINERD_UP-}" ] || { end_pods; containerd_stop; }
}

sum() {
	sha256sum | cut -d' ' -f1
}

# loops COMMAND...: every round, COMMAND FILE prints what is in the image's file.
loops() {
	local file want got i
	for file in small large; do
		want=$(sum <"$ROOTFS/$file")
		for ((i = 0; i < LOOPS; i++)); do
			got=$(set -o pipefail; "$@" "/$file" | sum) || {
				echo "round $i of $file: the command failed"
				return 1
			}
			[ "$got" = "$want" ] || {
				echo "round $i of $file: other bytes"
				return 1
			}
		done
	done
}

# terminal_loops COMMAND...: the same for COMMAND FILE on a terminal, where lines end in CR LF.
terminal_loops() {
	local file want got i
	for file in small large; do
		want=$(sed 's/$/\r/' "$ROOTFS/$file.txt" | head -c -1 | sum)
		for ((i = 0; i < LOOPS; i++)); do
			got=$(set -o pipefail; "$@" "/$file.txt" | sum) || {
				echo "round $i of $file.txt: the command failed"
				return 1
			}
			[ "$got" = "$want" ] || {
				echo "round $i of $file.txt: other bytes"
				return 1
			}
		done
	done
}

captured() {
	grep -q '"type":"output"' /var/log/agentrun/"$1"*.jsonl
}

@test "Docker: run, exec, exit codes" {
	require_programs docker dockerd
	docker_start
	DOCKER_UP=1
	tar -C "$ROOTFS" -c . | docker import - "$RELAY_IMAGE" >/dev/null
	docker_run() { docker run --rm --runtime agentrun "$RELAY_IMAGE" cat "$@"; }
	loops docker_run
	id=$(docker run -d --name "$N" --runtime agentrun "$RELAY_IMAGE" sleep 100000)
	docker_exec() { docker exec "$N" cat "$@"; }
	loops docker_exec
	captured "$id"
	docker_terminal() { docker run --rm -t --runtime agentrun "$RELAY_IMAGE" cat "$@"; }
	terminal_loops docker_terminal
	docker_exec_terminal() { docker exec -t "$N" cat "$@"; }
	terminal_loops docker_exec_terminal
	run docker exec "$N" sh -c 'echo last; exit 9'
	[ "$status" -eq 9 ]
	[ "$output" = last ]
}

@test "Podman: run, exec, exit codes" {
	require_programs podman conmon
	podman_start
	PODMAN_UP=1
	local limits=()
	has_all_capabilities || limits=(--ulimit=host)
	tar -C "$ROOTFS" -cf "$MACHINE_DIR/relay.tar" .
	podman import -q "$MACHINE_DIR/relay.tar" "$RELAY_IMAGE" >/dev/null
	pm() { podman --runtime agentrun "$@" 3>&-; }
	podman_run() { pm run --rm "${limits[@]}" --cgroup-parent "$MACHINE_CGROUP" "$RELAY_IMAGE" cat "$@"; }
	loops podman_run
	id=$(pm run -d "${limits[@]}" --cgroup-parent "$MACHINE_CGROUP" --name "$N" "$RELAY_IMAGE" sleep 100000)
	podman_exec() { pm exec "$N" cat "$@"; }
	loops podman_exec
	captured "$id"
	podman_terminal() { pm run --rm -t "${limits[@]}" --cgroup-parent "$MACHINE_CGROUP" "$RELAY_IMAGE" cat "$@"; }
	terminal_loops podman_terminal
	podman_exec_terminal() { pm exec -t "$N" cat "$@"; }
	terminal_loops podman_exec_terminal
	run pm exec "$N" sh -c 'echo last; exit 9'
	[ "$status" -eq 9 ]
	[ "$output" = last ]
}

@test "Buildah: run" {
	require_programs buildah podman
	podman_start
	PODMAN_UP=1
	tar -C "$ROOTFS" -cf "$MACHINE_DIR/relay.tar" .
	podman import -q "$MACHINE_DIR/relay.tar" "$RELAY_IMAGE" >/dev/null
	buildah from --pull-never --name "$N" "$RELAY_IMAGE" >/dev/null 3>&-
	bh() { buildah run --runtime "$(runtime_wrapper)" "$@" 3>&-; }
	if ! has_all_capabilities; then
		bh "$N" -- true || skip "buildah asks for limits that this host cannot give"
	fi
	LOOPS=$(((LOOPS + 2) / 3))
	buildah_run() { bh "$N" -- cat "$@" </dev/null; }
	loops buildah_run
	buildah_terminal() { bh --terminal "$N" -- cat "$@" </dev/null; }
	terminal_loops buildah_terminal
	run bh "$N" -- sh -c 'echo last; exit 9'
	[[ $output = last* ]]
	[ "$status" -eq 9 ]
	grep -q '"type":"output"' /var/log/agentrun/*.jsonl
	buildah rm "$N" >/dev/null
}

cri() {
	/usr/bin/python3 "$BATS_TEST_DIRNAME/helpers/cri.py" "$MACHINE_DIR/cri.desc" /run/containerd-test/containerd.sock "$@" 3>&-
}

end_pods() {
	[ -n "${POD-}" ] || return 0
	cri StopPodSandbox "{\"pod_sandbox_id\": \"$POD\"}" >/dev/null 2>&1 || true
	cri RemovePodSandbox "{\"pod_sandbox_id\": \"$POD\"}" >/dev/null 2>&1 || true
}

pod_config() {
	jq -cn --arg n "$N" --arg c "$MACHINE_CGROUP/pod$N" --arg logs "$BATS_TEST_TMPDIR/logs" \
		'{metadata: {name: $n, uid: ($n + "-uid"), namespace: "default"}, log_directory: $logs,
		linux: {cgroup_parent: $c, security_context: {namespace_options: {network: "POD"}}}}'
}

# cri_start NAME TERMINAL COMMAND...: a container of POD, started.
cri_start() {
	local name=$1 terminal=$2 id
	shift 2
	id=$(cri CreateContainer "$(jq -cn --arg p "$POD" --arg n "$name" --arg i "$RELAY_IMAGE" --argjson s "$(pod_config)" \
		--argjson t "$terminal" --argjson cmd "$(printf '%s\n' "$@" | jq -R . | jq -cs .)" \
		'{pod_sandbox_id: $p, sandbox_config: $s, config: {metadata: {name: $n}, image: {image: $i}, command: $cmd,
		tty: $t, log_path: ($n + ".log"), linux: {security_context: {namespace_options: {network: "POD"}}}}}')" |
		jq -r .container_id)
	cri StartContainer "{\"container_id\": \"$id\"}" >/dev/null
	echo "$id"
}

has_exited() {
	[[ $(cri ContainerStatus "{\"container_id\": \"$1\"}" | jq -r .status.state) = *EXITED* ]]
}

# log_text NAME: the log of a container without what the CRI adds. TIME STREAM P|F TEXT: a P goes on.
log_text() {
	sed -E 's/^[^ ]+ [^ ]+ ([FP]) (.*)/\1\2/' "$BATS_TEST_TMPDIR/logs/$1.log" |
		awk '{ printf "%s%s", substr($0, 2), substr($0, 1, 1) == "F" ? "\n" : "" }' | tr -d '\r'
}

# cri_log TERMINAL FILE: a container that prints FILE and ends. containerd 1.6 closes the log of one that has
# exited without looking whether it has read all (so with runc, too): what it has read must be right, and
# all must have been given to it.
cri_log() {
	local id got
	count=$((${count-0} + 1))
	id=$(cri_start "c$count" "$1" cat "$2")
	wait_for 60 has_exited "$id"
	wait_for 60 eval 'grep -q "\"type\":\"close\"" /var/log/agentrun/'"$id"'*.jsonl'
	log_text "c$count" >"$BATS_TEST_TMPDIR/got"
	got=$(stat -c %s "$BATS_TEST_TMPDIR/got")
	head -c "$got" "$ROOTFS$2" | cmp - "$BATS_TEST_TMPDIR/got"
	got=$(jq -r 'select(.type == "output-end" and .stream != "stderr") | "\(.bytes) \(.why)"' /var/log/agentrun/"$id"*.jsonl)
	# a terminal makes two bytes of the end of a line
	[ "$1" = false ] || set -- "$1" "$2" "$(grep -c '' "$ROOTFS$2")"
	[ "$got" = "$(($(stat -c %s "$ROOTFS$2") + ${3-1} - 1)) eof" ]
	cri RemoveContainer "{\"container_id\": \"$id\"}" >/dev/null
}

@test "containerd's CRI: containers, exec, exit codes" {
	require_programs containerd ctr protoc
	/usr/bin/python3 -c 'import grpc, google.protobuf' 2>/dev/null || skip "no python3-grpcio"
	local id file i
	LOOPS=$(((LOOPS + 2) / 3))
	protoc -I "$BATS_TEST_DIRNAME/helpers" --descriptor_set_out="$MACHINE_DIR/cri.desc" cri.proto
	containerd_start
	CONTAINERD_UP=1
	make_oci_archive "$MACHINE_DIR/rootfs" "$MACHINE_DIR/pause.tar" "$PAUSE_IMAGE" /bin/sleep 10000000
	make_oci_archive "$ROOTFS" "$MACHINE_DIR/relay-oci.tar" "$RELAY_IMAGE" /bin/sh
	ctr -n k8s.io image import "$MACHINE_DIR/pause.tar" >/dev/null
	ctr -n k8s.io image import "$MACHINE_DIR/relay-oci.tar" >/dev/null
	wait_for 60 cri Version
	POD=$(cri RunPodSandbox "$(jq -cn --argjson c "$(pod_config)" '{config: $c, runtime_handler: "agentrun"}')" | jq -r .pod_sandbox_id)
	id=$(cri_start main false sleep 100000)
	cri_exec() { cri ExecSync "$(jq -cn --arg c "$id" --arg f "$1" '{container_id: $c, cmd: ["cat", $f], timeout: 60}')"; }
	loops cri_exec
	captured "$id"
	run cri ExecSync "$(jq -cn --arg c "$id" '{container_id: $c, cmd: ["sh", "-c", "echo last; exit 9"], timeout: 60}')"
	[ "$status" -eq 9 ]
	[ "$output" = last ]
	# The log is the only way out of a container without a stream.
	for file in small large; do
		for ((i = 0; i < LOOPS; i += 2)); do
			cri_log false "/$file.txt"
			cri_log true "/$file.txt"
		done
	done
}

#!/usr/bin/env bats
# Output through the relay under engines: byte for byte, although processes end with their
# last write, and nothing of it is lost to conmon, which stops reading at the exit, or to
# Docker, which waits for two seconds.
#
# Environment
#   RELAY_LOOPS     how often the loops go round (default 10; 500 to be sure)

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
	LOOPS=${RELAY_LOOPS-10}
	ROOTFS=$MACHINE_DIR/relay-rootfs
	N=relay-$BATS_TEST_NUMBER
}

teardown() {
	[ -z "${DOCKER_UP-}" ] || { docker rm -f "$N" >/dev/null 2>&1 || true; docker_stop; }
	[ -z "${PODMAN_UP-}" ] || { podman rm -f -t 0 "$N" >/dev/null 2>&1 || true; podman_stop; }
}

sum() {
	sha256sum | cut -d' ' -f1
}

# loops COMMAND...: every round, COMMAND FILE prints what is in the image's file.
loops() {
	local file want i
	for file in small large; do
		want=$(sum <"$ROOTFS/$file")
		for ((i = 0; i < LOOPS; i++)); do
			[ "$("$@" "/$file" | sum)" = "$want" ] || {
				echo "round $i of $file: other bytes"
				return 1
			}
		done
	done
}

# terminal_loops COMMAND...: the same for COMMAND FILE on a terminal, where lines end in CR LF.
terminal_loops() {
	local file want i
	for file in small large; do
		want=$(sed 's/$/\r/' "$ROOTFS/$file.txt" | head -c -1 | sum)
		for ((i = 0; i < LOOPS; i++)); do
			[ "$("$@" "/$file.txt" | sum)" = "$want" ] || {
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
	id=$(docker run -d --name "$N" --runtime agentrun "$RELAY_IMAGE" sleep 1000)
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
	id=$(pm run -d "${limits[@]}" --cgroup-parent "$MACHINE_CGROUP" --name "$N" "$RELAY_IMAGE" sleep 1000)
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

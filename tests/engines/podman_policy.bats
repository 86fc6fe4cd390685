#!/usr/bin/env bats
# Podman with the built-in policy: what is asked beyond it ends in the documented clamp or
# refusal, and the commands of every day work.

load lib.bash

setup_file() {
	require_machine
	require_programs podman conmon
	AGENTRUN_FLAGS='' podman_start
}

teardown_file() {
	podman_stop
}

setup() {
	require_machine
}

# agent ARGUMENT...: podman run under the policy; leaves $status, $output (both streams).
agent() {
	status=0
	output=$(podman --runtime agentrun run --rm "--network=${NETWORK-none}" --cgroup-parent "$MACHINE_CGROUP" "$@" 2>&1 3>&-) || status=$?
}

gives() {
	echo "exit code $status: $output"
	[ "$status" -eq 0 ]
	[ $# -eq 0 ] || [ "$output" = "$1" ]
}

# refused REGEX: not started, neither 126 nor 127, and the reason is told.
refused() {
	echo "exit code $status: $output"
	[ "$status" -ne 0 ]
	[ "$status" -ne 127 ]
	[[ $output =~ policy:.*$1 ]]
}

caps() {
	sed -n 's/^CapEff:[[:space:]]*//p' <<<"$output"
}

@test "podman policy: --privileged and --cap-add ALL give no more than the maximum" {
	local option
	for option in --privileged --cap-add=ALL; do
		agent "$option" "$IMAGE" cat /proc/self/status
		gives
		[ $((0x$(caps) & ~0x4fb)) -eq 0 ]
	done
}

@test "podman policy: the host's namespaces are refused" {
	local option
	for option in --pid=host --ipc=host --uts=host; do
		echo "$option"
		agent "$option" "$IMAGE" true
		# with the host's ipc comes its /dev/shm, which is judged first
		refused 'namespaces|mount source'
	done
	NETWORK=host agent "$IMAGE" true
	refused 'namespaces.*network'
}

@test "podman policy: the host's trees, /proc and sockets are not mounted" {
	local source
	python3 -c 'import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1])' "$BATS_TEST_TMPDIR/docker.sock"
	ln -s "$BATS_TEST_TMPDIR/docker.sock" "$BATS_TEST_TMPDIR/link"
	ln "$BATS_TEST_TMPDIR/docker.sock" "$BATS_TEST_TMPDIR/innocent"
	mkdir "$BATS_TEST_TMPDIR/moved"
	mv "$BATS_TEST_TMPDIR/innocent" "$BATS_TEST_TMPDIR/moved/renamed"
	# the same by other places: a bind of the file, of its folder, and of the host's /etc
	: >"$BATS_TEST_TMPDIR/file"
	mkdir "$BATS_TEST_TMPDIR/folder" "$BATS_TEST_TMPDIR/alias"
	mount --bind "$BATS_TEST_TMPDIR/docker.sock" "$BATS_TEST_TMPDIR/file"
	mount --bind "$BATS_TEST_TMPDIR/moved" "$BATS_TEST_TMPDIR/folder"
	mount --bind /etc "$BATS_TEST_TMPDIR/alias"
	for source in / /proc /sys /etc /root /etc/../root "$BATS_TEST_TMPDIR/docker.sock" "$BATS_TEST_TMPDIR/link" "$BATS_TEST_TMPDIR/moved/renamed" \
		"$BATS_TEST_TMPDIR/file" "$BATS_TEST_TMPDIR/folder/renamed" "$BATS_TEST_TMPDIR/alias" /run /var; do
		echo "source $source"
		agent -v "$source:/x" "$IMAGE" true
		refused 'mount source'
	done
	umount "$BATS_TEST_TMPDIR/file" "$BATS_TEST_TMPDIR/folder" "$BATS_TEST_TMPDIR/alias"
}

@test "podman policy: --device adds none, secrets by -e are withheld, no filter is taken away" {
	agent --device /dev/kmsg "$IMAGE" sh -c 'ls /dev/kmsg 2>/dev/null; echo done'
	gives done
	agent -e AWS_SECRET_ACCESS_KEY=abc -e LANG=C "$IMAGE" env
	gives
	[[ $output = *LANG=C* && $output != *AWS_* ]]
	agent --security-opt seccomp=unconfined "$IMAGE" sh -c 'unshare -m true 2>/dev/null && echo unshared; grep Seccomp: /proc/self/status'
	[[ $output != *unshared* && $output =~ Seccomp:[[:space:]]2 ]]
}

@test "podman policy: limits are never absent" {
	agent --pids-limit -1 --memory 0 "$IMAGE" echo started
	gives started
	agent --cpus 64 "$IMAGE" echo started
	[ "$status" -ne 0 ] || gives started
	# higher ones than the policy's are lowered to them
	local most
	most=$(ulimit -Hn)
	if [ "$most" = unlimited ] || [ "$most" -ge 65536 ]; then
		agent --ulimit nofile=100000:100000 "$IMAGE" sh -c 'ulimit -Hn'
		gives 65536
	fi
	# nproc, because podman asks for more than some hosts have
	agent --ulimit nofile=100:100 --ulimit nproc=1000:1000 --ulimit core=1000:1000 "$IMAGE" sh -c 'ulimit -Hn; ulimit -Hc'
	gives $'100\n0'
}

@test "podman policy: everyday commands work" {
	mkdir "$BATS_TEST_TMPDIR/work"
	agent "$IMAGE" echo hello
	gives hello
	agent -v "$BATS_TEST_TMPDIR/work:/work" -w /work --user 0 "$IMAGE" sh -c 'echo data >file; cat file'
	gives data
	agent --read-only --tmpfs /tmp "$IMAGE" sh -c 'touch /tmp/x && echo ok'
	gives ok
	agent "$IMAGE" sh -c 'exit 7'
	[ "$status" -eq 7 ]
}

# Docker on the pure v2 hierarchy: the systemd driver, which it chooses there, and the other.
# Runs in a test machine only: it restarts the machine's own docker.
# shellcheck shell=bash disable=SC2016,SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	[ -x /usr/local/bin/docker-driver ] || skip "runs in a test machine only"
}

teardown_file() {
	[ ! -e "$BATS_FILE_TMPDIR/cgroupfs" ] || docker-driver systemd
}

setup() {
	NAME=vm-$BATS_TEST_NUMBER
}

teardown() {
	docker rm --force "$NAME" >/dev/null 2>&1 || true
}

# container OPTION... IMAGE COMMAND...
container() {
	run --separate-stderr docker run --name "$NAME" --runtime "${RUNTIME:-agentrun}" "$@"
	echo "$output"
	echo "$stderr"
}

background() {
	docker run --detach --name "$NAME" --runtime "${RUNTIME:-agentrun}" "$@" >/dev/null
}

in_cgroup() {
	docker exec "$NAME" cat "/sys/fs/cgroup/$1"
}

@test "docker: a container has its namespaces, profile, filter and cgroup" {
	container busybox sh -c 'cat /proc/self/cgroup /proc/self/attr/current; grep Seccomp: /proc/self/status'
	[ "$status" -eq 0 ]
	[ "$output" = "$(printf '0::/\ndocker-default (enforce)\nSeccomp:\t2')" ]
}

@test "docker: exit codes" {
	container busybox sh -c 'exit 7'
	[ "$status" -eq 7 ]
	docker rm "$NAME" >/dev/null
	container busybox no-such-program
	[ "$status" -eq 127 ]
}

@test "docker: limits, and their update" {
	background --memory 64m --memory-reservation 32m --cpus 0.5 --pids-limit 40 --cpuset-cpus 1 \
		busybox sleep 1000
	[ "$(in_cgroup memory.max)" = 67108864 ]
	[ "$(in_cgroup memory.low)" = 33554432 ]
	[ "$(in_cgroup cpu.max)" = "50000 100000" ]
	[ "$(in_cgroup pids.max)" = 40 ]
	[ "$(in_cgroup cpuset.cpus)" = 1 ]
	docker update --memory 100m --memory-swap 200m --pids-limit 33 --cpus 0.3 "$NAME" >/dev/null
	[ "$(in_cgroup memory.max)" = 104857600 ]
	# the policy gives no swap, whatever is asked for
	[ "$(in_cgroup memory.swap.max)" = 0 ]
	[ "$(in_cgroup pids.max)" = 33 ]
	[ "$(in_cgroup cpu.max)" = "30000 100000" ]
}

@test "docker: exec, top, stats, pause, stop" {
	background busybox sh -c 'trap "exit 9" TERM; while :; do sleep 0.2; done'
	[ "$(docker exec --user 1000:1000 "$NAME" id -u)" = 1000 ]
	docker top "$NAME" | grep -q 'trap'
	[ "$(docker stats --no-stream --format '{{.Name}}' "$NAME")" = "$NAME" ]
	docker pause "$NAME" >/dev/null
	[ "$(docker inspect --format '{{.State.Status}}' "$NAME")" = paused ]
	docker unpause "$NAME" >/dev/null
	docker stop --time 60 "$NAME" >/dev/null
	[ "$(docker inspect --format '{{.State.ExitCode}}' "$NAME")" = 9 ]
}

@test "docker: out of memory is reported" {
	container --memory 20m --memory-swap 20m busybox \
		sh -c 'x=$(head -c 60000000 /dev/zero | tr "\0" a); echo survived'
	[ "$status" -eq 137 ]
	[ "$(docker inspect --format '{{.State.OOMKilled}}' "$NAME")" = true ]
}

@test "docker: a device is opened as far as its rule says" {
	# the policy lists no device, so it is not there; passthrough gives it as it is asked for
	container --device /dev/fuse:/dev/fuse:r busybox ls /dev/fuse
	[ "$status" -ne 0 ]
	docker rm "$NAME" >/dev/null
	RUNTIME=agentrun-passthrough container --device /dev/fuse:/dev/fuse:r busybox \
		sh -c 'exec 3</dev/fuse && echo read; (exec 4>/dev/fuse) 2>/dev/null || echo refused'
	[ "$status" -eq 0 ]
	[ "$output" = "$(printf 'read\nrefused')" ]
}

@test "docker: a terminal" {
	container --tty busybox tty
	[ "$status" -eq 0 ]
	[[ $output = /dev/pts/0* ]]
}

@test "docker: read-only root, tmpfs, limits of files, kernel settings" {
	container --read-only --tmpfs /t:size=1m --ulimit nofile=99:100 --sysctl net.ipv4.ip_forward=0 busybox \
		sh -c 'ulimit -n; touch /t/x && echo tmpfs; touch /x 2>/dev/null || echo read-only'
	[ "$status" -eq 0 ]
	[ "$output" = "$(printf '99\ntmpfs\nread-only')" ]
}

@test "docker: nothing is left of a removed container" {
	background busybox sleep 1000
	local id
	id=$(docker inspect --format '{{.Id}}' "$NAME")
	[ "$(cat "/proc/$(docker inspect --format '{{.State.Pid}}' "$NAME")/cgroup")" = "0::/system.slice/docker-$id.scope" ]
	docker rm --force "$NAME" >/dev/null
	[ ! -e "/sys/fs/cgroup/system.slice/docker-$id.scope" ]
	[ "$(systemctl list-units --all --no-legend --plain "docker-$id.scope")" = "" ]
	[ ! -e "/run/docker/runtime-runc/moby/$id" ]
}

@test "docker: another slice, and a restart" {
	background --cgroup-parent vm-docker.slice busybox sleep 1000
	[[ $(cat "/proc/$(docker inspect --format '{{.State.Pid}}' "$NAME")/cgroup") = 0::/vm.slice/vm-docker.slice/docker-*.scope ]]
	docker restart --time 0 "$NAME" >/dev/null
	[ "$(docker inspect --format '{{.State.Running}}' "$NAME")" = true ]
	[[ $(cat "/proc/$(docker inspect --format '{{.State.Pid}}' "$NAME")/cgroup") = 0::/vm.slice/vm-docker.slice/docker-*.scope ]]
}

@test "docker: the cgroupfs driver" {
	touch "$BATS_FILE_TMPDIR/cgroupfs"
	docker-driver cgroupfs
	background --memory 64m busybox sleep 1000
	local id
	id=$(docker inspect --format '{{.Id}}' "$NAME")
	[ "$(cat "/sys/fs/cgroup/docker/$id/memory.max")" = 67108864 ]
	docker rm --force "$NAME" >/dev/null
	[ ! -e "/sys/fs/cgroup/docker/$id" ]
}

# Podman on the pure v2 hierarchy, of root and of an ordinary user (who runs this decides).
# Runs in a test machine only.
# shellcheck shell=bash disable=SC2016,SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	[ -x /usr/local/bin/docker-driver ] || skip "runs in a test machine only"
}

setup() {
	NAME=vm-$BATS_TEST_NUMBER
	FLAGS=()
	if [ "$(id -u)" -ne 0 ]; then
		# an ordinary user cannot have these, and must say that he does without
		echo '{"version": 1, "profiles": {"default": {"devices": {"accept": ["none"]}, "egress": {"accept": ["none"]},
			"audit": {"accept": ["none"]}}}}' >"$BATS_TEST_TMPDIR/policy.json"
		FLAGS=(--runtime-flag "policy=$BATS_TEST_TMPDIR/policy.json")
	fi
}

teardown() {
	podman rm --force --time 0 "$NAME" >/dev/null 2>&1 || true
}

engine() {
	podman --cgroup-manager "${MANAGER:-systemd}" --runtime agentrun "${FLAGS[@]}" "$@"
}

container() {
	run --separate-stderr engine run --name "$NAME" "$@"
	echo "$output"
	echo "$stderr"
}

background() {
	engine run --detach --name "$NAME" "$@" >/dev/null
}

inside() {
	engine exec "$NAME" "$@"
}

@test "podman: a container has its namespaces, filter and cgroup" {
	container busybox sh -c 'cat /proc/self/cgroup; grep Seccomp: /proc/self/status; id -u'
	[ "$status" -eq 0 ]
	[ "$output" = "$(printf '0::/\nSeccomp:\t2\n0')" ]
}

@test "podman: exit codes" {
	container busybox sh -c 'exit 7'
	[ "$status" -eq 7 ]
	podman rm "$NAME" >/dev/null
	container busybox no-such-program
	[ "$status" -eq 127 ]
}

@test "podman: limits" {
	background --memory 64m --cpus 0.5 --pids-limit 40 --cpuset-cpus 1 busybox sleep 1000
	[ "$(inside cat /sys/fs/cgroup/memory.max)" = 67108864 ]
	[ "$(inside cat /sys/fs/cgroup/cpu.max)" = "50000 100000" ]
	[ "$(inside cat /sys/fs/cgroup/pids.max)" = 40 ]
	[ "$(inside cat /sys/fs/cgroup/cpuset.cpus)" = 1 ]
}

@test "podman: exec, pause, top, stop" {
	background busybox sh -c 'trap "exit 9" TERM; while :; do sleep 0.2; done'
	[[ $(inside cat /proc/self/cgroup) = 0::/* ]]
	[ "$(engine exec --user 1000:1000 "$NAME" id -u)" = 1000 ]
	engine pause "$NAME" >/dev/null
	[ "$(podman inspect --format '{{.State.Status}}' "$NAME")" = paused ]
	engine unpause "$NAME" >/dev/null
	engine top "$NAME" | grep -q trap
	engine stop --time 60 "$NAME" >/dev/null
	[ "$(podman inspect --format '{{.State.ExitCode}}' "$NAME")" = 9 ]
}

@test "podman: out of memory is reported" {
	# conmon looks when it is told of the kill; systemd may have removed the scope by then, and does so
	# more often here under the default profile: compared with the others on the same terms
	FLAGS=(--runtime-flag profile=passthrough)
	container --memory 20m --memory-swap 20m busybox \
		sh -c 'x=$(head -c 60000000 /dev/zero | tr "\0" a); echo survived'
	[ "$status" -eq 137 ]
	[ "$(podman inspect --format '{{.State.OOMKilled}}' "$NAME")" = true ]
}

@test "podman: a pod" {
	engine pod create --name "$NAME-pod" >/dev/null
	container --pod "$NAME-pod" busybox hostname
	engine pod rm --force --time 0 "$NAME-pod" >/dev/null
	[ "$status" -eq 0 ]
	[ "$output" = "$NAME-pod" ]
}

@test "podman: user namespaces" {
	container --userns auto busybox cat /proc/self/uid_map
	[ "$status" -eq 0 ]
	[[ $output =~ ^\ *0\ +[1-9][0-9]*\ +[0-9]+$ ]]
}

@test "podman: a terminal, an init, a read-only root" {
	container --tty --init --read-only busybox sh -c 'tty; touch /x 2>/dev/null || echo read-only'
	[ "$status" -eq 0 ]
	[[ $output = /dev/pts/0*read-only* ]]
}

@test "podman: without cgroups" {
	# without cgroups there is no limit, which the policy demands
	FLAGS=(--runtime-flag profile=passthrough)
	container --cgroups disabled busybox echo ran
	if [[ $stderr = *"is not compatible with NoCgroups"* ]]; then
		skip "this podman gives no such containers to the runtime"
	fi
	[ "$status" -eq 0 ]
	[ "$output" = ran ]
}

@test "podman: the scope is where podman wants it, and goes with the container" {
	background --memory 64m busybox sleep 1000
	local cgroup top=/machine.slice
	cgroup=$(sed -n 's/^0:://p' "/proc/$(podman inspect --format '{{.State.Pid}}' "$NAME")/cgroup")
	[ "$(id -u)" -eq 0 ] || top=/user.slice/user-1000.slice/user@1000.service/user.slice
	[[ $cgroup = "$top"/libpod-*.scope ]]
	[ "$(cat "/sys/fs/cgroup$cgroup/memory.max")" = 67108864 ]
	engine rm --force --time 0 "$NAME" >/dev/null
	[ ! -e "/sys/fs/cgroup$cgroup" ]
}

@test "podman: the cgroupfs manager" {
	[ "$(id -u)" -eq 0 ] || skip "gives an ordinary user no cgroups"
	MANAGER=cgroupfs
	container --memory 64m busybox cat /sys/fs/cgroup/memory.max
	[ "$status" -eq 0 ]
	[ "$output" = 67108864 ]
}

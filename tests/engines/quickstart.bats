#!/usr/bin/env bats
# contrib/quickstart on a copy of this machine's /usr and /etc: what it installs and changes
# lands in layers that vanish with the machine. A private dockerd plays the installed one.

load lib.bash

setup_file() {
	[ "${MACHINE-}" = 1 ] || { echo "run this through tests/engines/machine" >&2; return 1; }
	local dir
	for dir in usr etc; do
		mkdir -p "$MACHINE_DIR/layer/$dir"/{upper,work}
		mount -t overlay overlay -o "lowerdir=/$dir,upperdir=$MACHINE_DIR/layer/$dir/upper,workdir=$MACHINE_DIR/layer/$dir/work" "/$dir" ||
			skip "no overlay on /$dir"
	done
	rm -rf /etc/docker /etc/containers/containers.conf.d/50-agentrun.conf /usr/bin/agentrun
	mkdir -p /etc/docker
	echo '{"debug": true, "runtimes": {"other": {"path": "/usr/bin/other"}}, "data-root": "'"$MACHINE_DIR"'/docker", "exec-root": "/run/docker-exec"}' \
		>/etc/docker/daemon.json
	chmod 640 /etc/docker/daemon.json
	export CONTAINERS_STORAGE_CONF=$MACHINE_DIR/storage.conf
	printf '[storage]\ndriver = "vfs"\ngraphroot = "%s/podman"\nrunroot = "/run/podman-test"\n' "$MACHINE_DIR" >"$CONTAINERS_STORAGE_CONF"
	unset DOCKER_HOST
	QUICKSTART=$BATS_TEST_DIRNAME/../../contrib/quickstart
	export QUICKSTART
}

teardown_file() {
	[ ! -e "$MACHINE_DIR/dockerd.pid" ] || stop_pid "$(cat "$MACHINE_DIR/dockerd.pid")"
}

@test "quickstart: installs, runs a container, registers with Docker and Podman" {
	if command -v dockerd >/dev/null; then
		dockerd >"$MACHINE_DIR/dockerd.log" 2>&1 3>&- &
		echo $! >"$MACHINE_DIR/dockerd.pid"
		wait_for 30 docker info
	fi
	run "$QUICKSTART" --build-dir "$MACHINE_DIR/build"
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output = *"hello from my-container: I am process 1, user 0"* ]]
	[ -x /usr/bin/agentrun ]
	if command -v dockerd >/dev/null; then
		[[ $output = *"hello from a container that docker started with agentrun"* ]]
		jq -e '.debug == true and .runtimes.other.path == "/usr/bin/other" and .runtimes.agentrun.path == "/usr/bin/agentrun"' /etc/docker/daemon.json
		jq -e '.runtimes | has("agentrun") | not' /etc/docker/daemon.json.before-agentrun
		[ "$(stat -c %a /etc/docker/daemon.json)" = 640 ]
		[ ! -e /etc/docker/daemon.json.new-agentrun ]
	fi
	if command -v podman >/dev/null; then
		[[ $output = *"hello from a container that podman started with agentrun"* ]]
	fi
}

@test "quickstart: again changes nothing" {
	[ -x /usr/bin/agentrun ] || skip "the first run failed"
	local before
	before=$(find /etc/docker /etc/containers -type f -exec sha256sum {} + | sort)
	run "$QUICKSTART" --build-dir "$MACHINE_DIR/build"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$(find /etc/docker /etc/containers -type f -exec sha256sum {} + | sort)" = "$before" ]
}

@test "quickstart: a daemon.json that is broken is left alone" {
	[ -x /usr/bin/agentrun ] || skip "the first run failed"
	command -v dockerd >/dev/null || skip "no docker"
	echo '{"debug": true,' >/etc/docker/daemon.json
	run "$QUICKSTART" --build-dir "$MACHINE_DIR/build"
	echo "$output"
	[ "$status" -eq 1 ]
	[ "$(cat /etc/docker/daemon.json)" = '{"debug": true,' ]
}

@test "quickstart --no-register" {
	[ -x /usr/bin/agentrun ] || skip "the first run failed"
	rm -rf /etc/docker/daemon.json* /etc/containers/containers.conf.d/50-agentrun.conf
	run "$QUICKSTART" --build-dir "$MACHINE_DIR/build" --no-register
	echo "$output"
	[ "$status" -eq 0 ]
	[ ! -e /etc/docker/daemon.json ]
	[ ! -e /etc/containers/containers.conf.d/50-agentrun.conf ]
}

# Shared by the engine suites: private daemons, images made from busybox, and the
# comparison of one scenario under the reference runtime and under ours.
# Everything here expects to run inside tests/engines/machine.
#
# Environment
#   AGENTRUN        the runtime under test (path; required)
#   AGENTRUN_FLAGS  global flags for it, split at blanks (optional)
#   REFERENCE       the runtime to compare with (default: runc from the path); "none" compares nothing
# shellcheck shell=bash

IMAGE=localhost/bb:latest

require_machine() {
	if [ "${MACHINE-}" != 1 ]; then
		echo "run this through tests/engines/machine, e.g. tests/engines/machine bats $BATS_TEST_FILENAME" >&2
		return 1
	fi
	if [ -z "${AGENTRUN-}" ] || [ ! -x "${AGENTRUN-}" ]; then
		echo "AGENTRUN must be the path of the runtime under test" >&2
		return 1
	fi
	AGENTRUN=$(realpath "$AGENTRUN")
	REFERENCE=${REFERENCE-$(PATH=$PATH:/usr/sbin:/sbin command -v runc)}
	export AGENTRUN REFERENCE AGENTRUN_FLAGS=${AGENTRUN_FLAGS-}
}

# require_programs NAME...: skips the whole file where a program is missing.
require_programs() {
	local name
	for name in "$@"; do
		command -v "$name" >/dev/null || {
			skip "$name is not installed"
		}
	done
}

# The runtime under test is the reference itself (how these suites are developed).
is_runc() {
	"$AGENTRUN" --version | head -n 1 | grep -q '^runc '
}

# True where root here may hold every capability that the kernel knows.
has_all_capabilities() {
	local last
	last=$(cat /proc/sys/kernel/cap_last_cap)
	[ $((0x$(awk '/^CapBnd/ {print $2}' /proc/self/status))) -eq $(((1 << (last + 1)) - 1)) ]
}

# wait_for SECONDS COMMAND...: polls every 50 ms. PATIENCE multiplies all limits where everything is slow.
wait_for() {
	local end=$((SECONDS + $1 * ${PATIENCE-1}))
	shift
	until "$@" >/dev/null 2>&1; do
		if [ $SECONDS -ge $end ]; then
			echo "timed out waiting for: $*" >&2
			return 1
		fi
		sleep 0.05
	done
}

# stop_pid PID: TERM, then KILL after 10 s; returns when it is gone.
stop_pid() {
	local pid=$1 i
	kill "$pid" 2>/dev/null || return 0
	for i in $(seq 100); do
		kill -0 "$pid" 2>/dev/null || return 0
		sleep 0.1
	done
	kill -9 "$pid" 2>/dev/null || true
}

# make_rootfs DIR: a small root file system from the static busybox.
make_rootfs() {
	local root=$1 busybox
	busybox=$(command -v busybox)
	mkdir -p "$root"/{bin,sbin,etc,tmp,dev,proc,sys,var,root,usr/bin,home/user}
	chmod 1777 "$root/tmp"
	cp "$busybox" "$root/bin/busybox"
	# one process: in a test machine (tests/vm) a process per name takes half a minute
	"$busybox" --list | BIN=$root/bin perl -ne 'chomp; next if $_ eq "busybox"; unlink "$ENV{BIN}/$_";
		symlink "busybox", "$ENV{BIN}/$_" or die "$ENV{BIN}/$_: $!\n"'
	printf '%s\n' 'root:x:0:0:root:/root:/bin/sh' 'user:x:1000:1000:user:/home/user:/bin/sh' \
		>"$root/etc/passwd"
	printf '%s\n' 'root:x:0:' 'user:x:1000:' 'extra:x:2000:user' >"$root/etc/group"
	echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
	echo 'not a program' >"$root/etc/plain"
	printf '#!/bin/sh\necho script "$@"\n' >"$root/bin/script"
	printf '\177ELFjunk' >"$root/bin/broken"
	chmod 755 "$root/bin/script" "$root/bin/broken"
	chown -R 1000:1000 "$root/home/user"
}

# make_oci_archive ROOTFS FILE NAME COMMAND...: an OCI image layout in a tar.
make_oci_archive() {
	local rootfs=$1 archive=$2 name=$3 dir layer config manifest command
	shift 3
	command=$(printf '%s\n' "$@" | jq -R . | jq -cs .)
	dir=$(mktemp -d "$MACHINE_DIR/oci.XXXXXX")
	mkdir -p "$dir/blobs/sha256"
	tar -C "$rootfs" -c . >"$dir/layer"
	layer=$(sha256sum <"$dir/layer" | cut -d' ' -f1)
	jq -cn --arg d "sha256:$layer" --argjson command "$command" '{architecture: "amd64", os: "linux",
		config: {Cmd: $command, Env: ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"]},
		rootfs: {type: "layers", diff_ids: [$d]}}' >"$dir/config"
	config=$(sha256sum <"$dir/config" | cut -d' ' -f1)
	jq -cn --arg c "sha256:$config" --argjson cs "$(stat -c %s "$dir/config")" \
		--arg l "sha256:$layer" --argjson ls "$(stat -c %s "$dir/layer")" \
		'{schemaVersion: 2, mediaType: "application/vnd.oci.image.manifest.v1+json",
		config: {mediaType: "application/vnd.oci.image.config.v1+json", digest: $c, size: $cs},
		layers: [{mediaType: "application/vnd.oci.image.layer.v1.tar", digest: $l, size: $ls}]}' \
		>"$dir/manifest"
	manifest=$(sha256sum <"$dir/manifest" | cut -d' ' -f1)
	jq -cn --arg m "sha256:$manifest" --argjson ms "$(stat -c %s "$dir/manifest")" --arg n "$name" \
		'{schemaVersion: 2, manifests: [{mediaType: "application/vnd.oci.image.manifest.v1+json",
		digest: $m, size: $ms, platform: {architecture: "amd64", os: "linux"},
		annotations: {"io.containerd.image.name": $n, "org.opencontainers.image.ref.name": $n}}]}' \
		>"$dir/index.json"
	echo '{"imageLayoutVersion":"1.0.0"}' >"$dir/oci-layout"
	mv "$dir/layer" "$dir/blobs/sha256/$layer"
	mv "$dir/config" "$dir/blobs/sha256/$config"
	mv "$dir/manifest" "$dir/blobs/sha256/$manifest"
	tar -C "$dir" -cf "$archive" oci-layout index.json blobs
	rm -rf "$dir"
}

# runtime_wrapper: prints the path of a program named "agentrun" that passes AGENTRUN_FLAGS;
# it is what engines get that can only take a path.
runtime_wrapper() {
	local dir=$MACHINE_DIR/rt
	mkdir -p "$dir"
	if [ -z "$AGENTRUN_FLAGS" ]; then
		ln -sf "$AGENTRUN" "$dir/agentrun"
	else
		printf '#!/bin/sh\nexec %s %s "$@"\n' "$AGENTRUN" "$AGENTRUN_FLAGS" >"$dir/agentrun"
		chmod 755 "$dir/agentrun"
	fi
	echo "$dir/agentrun"
}

# --- dockerd ------------------------------------------------------------------

docker_config() {
	jq -n --arg path "$AGENTRUN" --arg flags "$AGENTRUN_FLAGS" --arg ref "${REFERENCE/#none/runc}" \
		--arg default "$1" --arg parent "$MACHINE_CGROUP" \
		'{runtimes: {agentrun: {path: $path, runtimeArgs: ($flags | split(" ") | map(select(. != "")))},
			"agentrun-policy": {path: $path, runtimeArgs: ["--policy", ($ENV.MACHINE_DIR + "/policy.json")]},
			reference: {path: $ref}},
		"default-runtime": $default, "cgroup-parent": $parent, "shutdown-timeout": 2,
		"live-restore": ($ENV.LIVE_RESTORE == "1")}' \
		>"$MACHINE_DIR/daemon.json"
}

# docker_serve: starts the daemon, or starts it again.
docker_serve() {
	local dir=$MACHINE_DIR
	dockerd --config-file "$dir/daemon.json" --data-root "$dir/docker" --exec-root /run/docker-exec \
		--pidfile /run/docker-test.pid -H "$DOCKER_HOST" >>"$dir/dockerd.log" 2>&1 3>&- &
	echo $! >"$dir/dockerd.pid"
	if ! wait_for 30 docker version; then
		tail -20 "$dir/dockerd.log" >&2
		return 1
	fi
}

# LIVE_RESTORE=1: containers outlive the daemon.
docker_start() {
	local dir=$MACHINE_DIR
	docker_config reference
	export DOCKER_HOST=unix:///run/docker-test.sock DOCKER_CONFIG=$dir/docker-client DOCKER_BUILDKIT=0
	mkdir -p "$DOCKER_CONFIG"
	docker_serve || return 1
	make_rootfs "$dir/rootfs"
	tar -C "$dir/rootfs" -c . | docker import -c 'CMD ["/bin/sh"]' - "$IMAGE" >/dev/null
}

docker_stop() {
	[ -e "$MACHINE_DIR/dockerd.pid" ] || return 0
	stop_pid "$(cat "$MACHINE_DIR/dockerd.pid")"
}

docker_is_default() {
	[ "$(docker info -f '{{.DefaultRuntime}}')" = "$1" ]
}

# docker_default NAME: makes NAME the daemon's default runtime, without a restart.
docker_default() {
	docker_is_default "$1" && return 0
	docker_config "$1"
	kill -HUP "$(cat "$MACHINE_DIR/dockerd.pid")"
	wait_for 10 docker_is_default "$1"
}

# --- containerd ---------------------------------------------------------------

PAUSE_IMAGE=localhost/pause:latest

containerd_config() {
	local dir=$MACHINE_DIR name binary
	cat <<-T
		version = 2
		root = "$dir/containerd"
		state = "/run/containerd-test/state"
		[grpc]
		  address = "/run/containerd-test/containerd.sock"
		[plugins."io.containerd.grpc.v1.cri"]
		  sandbox_image = "$PAUSE_IMAGE"
		  disable_apparmor = true
		  restrict_oom_score_adj = true
		[plugins."io.containerd.grpc.v1.cri".cni]
		  bin_dir = "$(cni_folder)"
		  conf_dir = "$dir/cni"
		[plugins."io.containerd.grpc.v1.cri".containerd]
		  default_runtime_name = "reference"
	T
	for name in reference agentrun; do
		binary=$(runtime_wrapper)
		[ $name = agentrun ] || binary=${REFERENCE/#none/runc}
		cat <<-T
			[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.$name]
			  runtime_type = "io.containerd.runc.v2"
			[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.$name.options]
			  BinaryName = "$binary"
		T
	done
	mkdir -p "$dir/cni"
	cat >"$dir/cni/10-test.conflist" <<-J
		{"cniVersion": "0.4.0", "name": "test", "plugins": [
			{"type": "bridge", "bridge": "cri0", "isGateway": true, "ipMasq": false,
			"ipam": {"type": "host-local", "ranges": [[{"subnet": "10.231.0.0/24"}]]}}]}
	J
}

# cni_folder: where the CNI plugins are; fails when there are none.
cni_folder() {
	local dir
	for dir in /usr/lib/cni /opt/cni/bin; do
		if [ -x "$dir/bridge" ]; then
			echo "$dir"
			return 0
		fi
	done
	echo /nonexistent
	return 1
}

# containerd_serve: starts the daemon, or starts it again.
containerd_serve() {
	local dir=$MACHINE_DIR
	containerd --config "$dir/containerd.toml" >>"$dir/containerd.log" 2>&1 3>&- &
	echo $! >"$dir/containerd.pid"
	if ! wait_for 30 ctr version; then
		tail -20 "$dir/containerd.log" >&2
		return 1
	fi
}

containerd_start() {
	local dir=$MACHINE_DIR
	export CONTAINERD_ADDRESS=/run/containerd-test/containerd.sock
	mkdir -p /run/containerd-test
	containerd_config >"$dir/containerd.toml"
	containerd_serve || return 1
	make_rootfs "$dir/rootfs"
	make_oci_archive "$dir/rootfs" "$dir/image.tar" "$IMAGE" /bin/sh
}

containerd_stop() {
	[ -e "$MACHINE_DIR/containerd.pid" ] || return 0
	stop_pid "$(cat "$MACHINE_DIR/containerd.pid")"
}

# --- podman -------------------------------------------------------------------

# podman_config DIR: configuration and storage below DIR, for the environment of podman calls.
podman_config() {
	local dir=$1
	mkdir -p "$dir/storage" "$dir/run" "$dir/tmp"
	cat >"$dir/containers.conf" <<-C
		[containers]
		default_ulimits = []
		[engine]
		cgroup_manager = "cgroupfs"
		events_logger = "file"
		tmp_dir = "$dir/tmp"
		no_pivot_root = false
		runtime = "${REFERENCE/#none/runc}"
		runtime_supports_json = ["agentrun", "runc", "crun"]
		[engine.runtimes]
		agentrun = ["$(runtime_wrapper)"]
		reference = ["${REFERENCE/#none/runc}"]
	C
	cat >"$dir/storage.conf" <<-C
		[storage]
		driver = "vfs"
		graphroot = "$dir/storage"
		runroot = "$dir/run"
	C
	[ -e /etc/containers/policy.json ] || {
		mkdir -p "$dir/home/.config/containers"
		echo '{"default": [{"type": "insecureAcceptAnything"}]}' >"$dir/home/.config/containers/policy.json"
	}
}

podman_start() {
	export PODMAN_DIR=$MACHINE_DIR/podman
	podman_config "$PODMAN_DIR"
	export CONTAINERS_CONF=$PODMAN_DIR/containers.conf CONTAINERS_STORAGE_CONF=$PODMAN_DIR/storage.conf
	make_rootfs "$MACHINE_DIR/rootfs"
	tar -C "$MACHINE_DIR/rootfs" -cf "$MACHINE_DIR/rootfs.tar" .
	podman import -q "$MACHINE_DIR/rootfs.tar" "$IMAGE" >/dev/null
}

podman_stop() {
	podman rm -af -t 0 >/dev/null 2>&1 || true
}

# --- comparison ---------------------------------------------------------------

# same SCENARIO [ARGUMENT...]: runs a shell function once per runtime with RT set to the name
# of the runtime and N to a container name, and requires equal standard output and exit code.
# Leaves them in $output and $status. Standard error is kept for the report only.
same() {
	local ref_output ref_status rt_output rt_status errors
	errors=$(mktemp "$BATS_TEST_TMPDIR/err.XXXXXX")
	if [ "$REFERENCE" != none ]; then
		ref_status=0
		ref_output=$(RT=reference N=t$BATS_TEST_NUMBER-ref "$@" 2>"$errors") || ref_status=$?
		sed 's/^/reference: /' "$errors"
	fi
	rt_status=0
	rt_output=$(RT=agentrun N=t$BATS_TEST_NUMBER-art "$@" 2>"$errors") || rt_status=$?
	sed 's/^/agentrun: /' "$errors"
	# shellcheck disable=SC2034
	output=$rt_output status=$rt_status
	if [ "$REFERENCE" != none ] &&
		{ [ "$ref_output" != "$rt_output" ] || [ "$ref_status" != "$rt_status" ]; }; then
		echo "reference: exit code $ref_status, output:"
		echo "$ref_output"
		echo "agentrun: exit code $rt_status, output:"
		echo "$rt_output"
		return 1
	fi
}

# expect CODE [TEXT]: the exit code and, where given, the whole output.
expect() {
	if [ "$status" -ne "$1" ]; then
		echo "exit code $status, expected $1; output: $output"
		return 1
	fi
	if [ $# -gt 1 ] && [ "$output" != "$2" ]; then
		echo "output: $output"
		echo "expected: $2"
		return 1
	fi
}

# expect_like CODE REGEX: the exit code, and a regular expression in the output.
expect_like() {
	expect "$1" || return 1
	if ! [[ $output =~ $2 ]]; then
		echo "output: $output"
		echo "does not match: $2"
		return 1
	fi
}

# on_tty COMMAND: runs a shell command line on a terminal, carriage returns taken out.
on_tty() {
	local code=0 keys=$BATS_TEST_TMPDIR/keys
	# a keyboard on which nobody types: a FIFO that is open for writing, too
	[ -p "$keys" ] || mkfifo "$keys"
	script -qec "$1" /dev/null <>"$keys" >"$BATS_TEST_TMPDIR/tty" || code=$?
	tr -d '\r' <"$BATS_TEST_TMPDIR/tty"
	return $code
}

# Kubernetes pods without Kubernetes, with the systemd cgroup driver: the machine's own containerd,
# whose CRI plugin has the runtime as a handler. Runs in a test machine only.
# shellcheck shell=bash disable=SC2016,SC2154

bats_require_minimum_version 1.5.0

DESCRIPTORS=/vm/logs/cri.desc

setup_file() {
	[ -x /usr/local/bin/docker-driver ] || skip "runs in a test machine only"
	[ -e "$DESCRIPTORS" ] || skip "no protoc on the host"
	systemctl start containerd
	until cri Version >/dev/null 2>&1; do
		sleep 0.5
	done
}

setup() {
	N=vm$BATS_TEST_NUMBER
	PARENT=kubepods-besteffort-pod$N.slice
	SLICES=/kubepods.slice/kubepods-besteffort.slice/$PARENT
}

teardown() {
	[ -n "${POD-}" ] || return 0
	cri StopPodSandbox "{\"pod_sandbox_id\": \"$POD\"}" >/dev/null 2>&1 || true
	cri RemovePodSandbox "{\"pod_sandbox_id\": \"$POD\"}" >/dev/null 2>&1 || true
}

cri() {
	/usr/bin/python3 /vm/source/tests/engines/helpers/cri.py "$DESCRIPTORS" /run/containerd/containerd.sock "$@" 3>&-
}

pod() {
	CONFIG=$(jq -cn --arg n "$N" --arg c "$PARENT" --arg net "${1:-POD}" --arg logs "$BATS_TEST_TMPDIR" \
		'{metadata: {name: $n, uid: ($n + "-uid"), namespace: "default"}, log_directory: $logs,
		linux: {cgroup_parent: $c, security_context: {namespace_options: {network: $net, pid: "CONTAINER"}}}}')
	POD=$(cri RunPodSandbox "$(jq -cn --argjson c "$CONFIG" '{config: $c, runtime_handler: "agentrun"}')" | jq -r .pod_sandbox_id)
	[ -n "$POD" ]
}

# words WORD...: as a JSON list; jq would take some of them for options.
words() {
	printf '%s\n' "$@" | jq -R . | jq -cs .
}

# container NAME JSON COMMAND...: created and started in POD; sets CONTAINER and PID.
container() {
	local name=$1 more=$2
	shift 2
	CONTAINER=$(cri CreateContainer "$(jq -cn --arg p "$POD" --arg n "$name" --argjson s "$CONFIG" --argjson m "$more" --argjson w "$(words "$@")" \
		'{pod_sandbox_id: $p, sandbox_config: $s, config: ({metadata: {name: $n}, image: {image: "localhost/busybox:latest"},
		command: $w, log_path: ($n + ".log")} * $m)}')" | jq -r .container_id)
	[ -n "$CONTAINER" ] && cri StartContainer "{\"container_id\": \"$CONTAINER\"}" >/dev/null || return
	PID=$(find /sys/fs/cgroup -name "cri-containerd-$CONTAINER.scope" -exec cat {}/cgroup.procs \;)
}

inside() {
	cri ExecSync "$(jq -cn --arg c "$CONTAINER" --argjson w "$(words "$@")" '{container_id: $c, cmd: $w, timeout: 60}')"
}

cgroup() {
	sed -n 's/^0:://p' "/proc/$1/cgroup"
}

@test "cri: two containers of a pod, each in its scope of the pod's slice, with limits" {
	local folder first
	pod
	container one '{"linux": {"resources": {"memory_limit_in_bytes": 67108864, "cpu_period": 100000, "cpu_quota": 50000, "cpu_shares": 512}}}' sleep 1000
	first=$PID
	folder=$(cgroup "$PID")
	[ "$folder" = "$SLICES/cri-containerd-$CONTAINER.scope" ]
	[ "$(cat "/sys/fs/cgroup$folder/memory.max")" = 67108864 ]
	[ "$(cat "/sys/fs/cgroup$folder/cpu.max")" = "50000 100000" ]
	[ "$(systemctl show --property MemoryMax --value "cri-containerd-$CONTAINER.scope")" = 67108864 ]
	[[ $(inside cat /proc/self/cgroup) = 0::/* ]]
	cri UpdateContainerResources "{\"container_id\": \"$CONTAINER\", \"linux\": {\"memory_limit_in_bytes\": 50331648}}" >/dev/null
	[ "$(cat "/sys/fs/cgroup$folder/memory.max")" = 50331648 ]
	container two '{}' sleep 1000
	[ "$(cgroup "$PID")" = "$SLICES/cri-containerd-$CONTAINER.scope" ]
	[ "$(readlink "/proc/$PID/ns/net")" = "$(readlink "/proc/$first/ns/net")" ]
	[ "$(cri ContainerStats "{\"container_id\": \"$CONTAINER\"}" | jq -r .stats.attributes.id)" = "$CONTAINER" ]
	cri StopContainer "{\"container_id\": \"$CONTAINER\", \"timeout\": 0}" >/dev/null
	cri RemoveContainer "{\"container_id\": \"$CONTAINER\"}" >/dev/null
	[ ! -e "/sys/fs/cgroup$SLICES/cri-containerd-$CONTAINER.scope" ]
	cri StopPodSandbox "{\"pod_sandbox_id\": \"$POD\"}" >/dev/null
	cri RemovePodSandbox "{\"pod_sandbox_id\": \"$POD\"}" >/dev/null
	POD=
	[ -z "$(find "/sys/fs/cgroup$SLICES" -name '*.scope' 2>/dev/null)" ]
}

ended() {
	[ "$(cri ContainerStatus "{\"container_id\": \"$CONTAINER\"}" | jq -r .status.state)" = CONTAINER_EXITED ]
}

@test "cri: exit codes and a restart in the same pod" {
	pod
	container one '{}' sh -c 'sleep 2; exit 3'
	until ended; do
		sleep 0.5
	done
	[ "$(cri ContainerStatus "{\"container_id\": \"$CONTAINER\"}" | jq -r .status.exit_code)" = 3 ]
	cri RemoveContainer "{\"container_id\": \"$CONTAINER\"}" >/dev/null
	container one '{}' sleep 1000
	run inside sh -c 'exit 5'
	[ "$status" -eq 5 ]
}

@test "cri: the network of the host is refused to a pod" {
	run pod NODE
	[ "$status" -ne 0 ]
	[[ $output = *"the host's network namespace is refused by profiles.default.namespaces.host"* ]]
}

@test "cri: probes: by a command, by HTTP, and one that hangs" {
	local address
	pod
	container one '{}' httpd -f -p 8080 -h /etc
	run inside test -e /etc/passwd
	[ "$status" -eq 0 ]
	run inside test -e /no-such-file
	[ "$status" -eq 1 ]
	address=$(cri PodSandboxStatus "{\"pod_sandbox_id\": \"$POD\"}" | jq -r .status.network.ip)
	[[ $(busybox wget -qO- "http://$address:8080/passwd") = root:* ]]
	run cri ExecSync "{\"container_id\": \"$CONTAINER\", \"cmd\": [\"sleep\", \"12345\"], \"timeout\": 2}"
	[ "$status" -ne 0 ]
	[ -z "$(pgrep -f 'sleep 12345')" ]
	run inside true
	[ "$status" -eq 0 ]
}

#!/usr/bin/env bats
# Kubernetes pods without Kubernetes: containerd's CRI plugin with the runtime as a handler.

load lib.bash

setup_file() {
	require_machine
	require_programs containerd ctr protoc
	/usr/bin/python3 -c 'import grpc, google.protobuf' 2>/dev/null || skip "no python3-grpcio"
	protoc -I "$BATS_TEST_DIRNAME/helpers" --descriptor_set_out="$MACHINE_DIR/cri.desc" cri.proto
	containerd_start
	make_oci_archive "$MACHINE_DIR/rootfs" "$MACHINE_DIR/pause.tar" "$PAUSE_IMAGE" /bin/sleep 100000
	ctr -n k8s.io image import "$MACHINE_DIR/image.tar" >/dev/null
	ctr -n k8s.io image import "$MACHINE_DIR/pause.tar" >/dev/null
	wait_for 20 cri Version
}

teardown_file() {
	containerd_stop
}

setup() {
	require_machine
	NETWORK=NODE
}

teardown() {
	local pod
	[ -e "$BATS_TEST_TMPDIR/pods" ] || return 0
	while read -r pod; do
		cri StopPodSandbox "{\"pod_sandbox_id\": \"$pod\"}" >/dev/null 2>&1 || true
		cri RemovePodSandbox "{\"pod_sandbox_id\": \"$pod\"}" >/dev/null 2>&1 || true
	done <"$BATS_TEST_TMPDIR/pods"
}

cri() {
	/usr/bin/python3 "$BATS_TEST_DIRNAME/helpers/cri.py" "$MACHINE_DIR/cri.desc" /run/containerd-test/containerd.sock "$@" 3>&-
}

# pod_config: the sandbox's configuration; NETWORK and PID choose namespace modes.
pod_config() {
	jq -cn --arg n "$N" --arg net "$NETWORK" --arg pid "${PID_MODE-CONTAINER}" --arg c "$MACHINE_CGROUP/pod$N" --arg logs "$BATS_TEST_TMPDIR/logs" \
		'{metadata: {name: $n, uid: ($n + "-uid"), namespace: "default"}, log_directory: $logs,
		linux: {cgroup_parent: $c, security_context: {namespace_options: {network: $net, pid: $pid}}}}
		| if $net == "POD" then .hostname = "podhost" else . end'
}

# pod: runs a sandbox and sets POD.
pod() {
	POD=$(cri RunPodSandbox "$(jq -cn --argjson c "$(pod_config)" --arg h "$RT" '{config: $c, runtime_handler: $h}')" | jq -r .pod_sandbox_id)
	[ -n "$POD" ] || return 1
	echo "$POD" >>"$BATS_TEST_TMPDIR/pods"
}

# container NAME JSON COMMAND...: creates one in POD; JSON is merged into its configuration.
container() {
	local name=$1 more=$2
	shift 2
	cri CreateContainer "$(jq -cn --arg p "$POD" --arg n "$name" --arg i "$IMAGE" --argjson s "$(pod_config)" --argjson m "$more" \
		--arg pid "${PID_MODE-CONTAINER}" --arg net "$NETWORK" \
		--argjson cmd "$(printf '%s\n' "$@" | jq -R . | jq -cs .)" \
		'{pod_sandbox_id: $p, sandbox_config: $s, config: ({metadata: {name: $n}, image: {image: $i}, command: $cmd, log_path: ($n + ".log"),
		linux: {security_context: {namespace_options: {network: $net, pid: $pid}}}} * $m)}')" | jq -r .container_id
}

start() {
	cri StartContainer "{\"container_id\": \"$1\"}" >/dev/null
}

# sync CONTAINER COMMAND...: ExecSync.
sync() {
	local id=$1
	shift
	cri ExecSync "$(jq -cn --arg c "$id" --argjson cmd "$(printf '%s\n' "$@" | jq -R . | jq -cs .)" '{container_id: $c, cmd: $cmd, timeout: 20}')"
}

stop() {
	cri StopContainer "{\"container_id\": \"$1\", \"timeout\": ${2-1}}" >/dev/null
}

remove() {
	cri RemoveContainer "{\"container_id\": \"$1\"}" >/dev/null
}

state_of() {
	cri ContainerStatus "{\"container_id\": \"$1\"}" | jq -c '[.status.state // "CONTAINER_CREATED", .status.exit_code // 0]'
}

has_exited() {
	[[ $(state_of "$1") = *EXITED* ]]
}

end_pod() {
	cri StopPodSandbox "{\"pod_sandbox_id\": \"$POD\"}" >/dev/null
	cri RemovePodSandbox "{\"pod_sandbox_id\": \"$POD\"}" >/dev/null
}

@test "a pod with two containers: create, start, exec, stop, remove" {
	scenario() {
		local a b
		pod || return
		a=$(container a '{}' /bin/sh -c 'trap "exit 21" TERM; echo up; while :; do sleep 0.05; done')
		b=$(container b '{}' /bin/sleep 1000)
		state_of "$a"
		start "$a"
		start "$b"
		state_of "$a"
		sync "$a" /bin/sh -c 'echo in; exit 6'
		echo $?
		sync "$b" /bin/sh -c 'tr "\0" " " </proc/1/cmdline'
		stop "$a" 5
		state_of "$a"
		stop "$b"
		state_of "$b"
		remove "$a"
		remove "$b"
		end_pod
		cut -d' ' -f3- "$BATS_TEST_TMPDIR/logs/a.log"
		rm -r "$BATS_TEST_TMPDIR/logs"
	}
	same scenario
	expect 0 $'["CONTAINER_CREATED",0]\n["CONTAINER_RUNNING",0]\nin\n6\n/bin/sleep 1000 ["CONTAINER_EXITED",21]\n["CONTAINER_EXITED",137]\nF up'
}

@test "containers of a pod share network and ipc, not processes" {
	scenario() {
		local a b
		pod || return
		a=$(container a '{}' /bin/sleep 1000)
		b=$(container b '{}' /bin/sleep 1000)
		start "$a"
		start "$b"
		for ns in net ipc uts pid mnt; do
			[ "$(sync "$a" readlink /proc/self/ns/$ns)" = "$(sync "$b" readlink /proc/self/ns/$ns)" ] && echo "$ns"
		done
		sync "$a" sh -c 'echo shared >/dev/shm/f'
		sync "$b" cat /dev/shm/f
		end_pod
	}
	same scenario
	expect 0 $'net\nipc\nuts\nshared'
}

@test "one process namespace for the pod" {
	PID_MODE=POD
	scenario() {
		local a
		pod || return
		a=$(container a '{}' /bin/sh -c 'sleep 1001 & exec sleep 1002')
		start "$a"
		sync "$a" sh -c 'tr "\0" " " </proc/1/cmdline'
		sync "$a" sh -c 'cat /proc/[0-9]*/cmdline | tr "\0" " " | grep -o "sleep 100[12]" | sort -u'
		stop "$a"
		state_of "$a"
		end_pod
		pgrep -f 'sleep 100[12]' | wc -l
	}
	same scenario
	[[ $output = *'["CONTAINER_EXITED",143]'*0 ]]
}

@test "the process namespace of the node" {
	PID_MODE=NODE
	scenario() {
		local a
		pod || return
		a=$(container a '{}' /bin/sh -c 'sleep 1001 & exec sleep 1002')
		start "$a"
		[ "$(sync "$a" readlink /proc/self/ns/pid)" = "$(readlink /proc/self/ns/pid)" ] && echo host
		stop "$a"
		end_pod
		pgrep -f 'sleep 100[12]' | wc -l
	}
	same scenario
	expect 0 $'host\n0'
}

@test "errors: a missing command, one that is not executable" {
	scenario() {
		local a
		pod || return
		a=$(container a '{}' nosuch)
		start "$a" 2>"$BATS_TEST_TMPDIR/err"
		echo $?
		grep -o 'executable file not found in $PATH' "$BATS_TEST_TMPDIR/err"
		state_of "$a"
		a=$(container b '{}' /etc/plain)
		start "$a" 2>"$BATS_TEST_TMPDIR/err"
		echo $?
		grep -o 'permission denied' "$BATS_TEST_TMPDIR/err"
		end_pod
	}
	same scenario
	expect_like 0 $'^100\nexecutable file not found'
}

@test "exit codes and restarts" {
	scenario() {
		local a
		pod || return
		a=$(container a '{}' /bin/sh -c 'exit 9')
		start "$a"
		wait_for 10 has_exited "$a"
		state_of "$a"
		sync "$a" true
		echo $?
		remove "$a"
		a=$(container a '{"metadata": {"attempt": 1}}' /bin/sh -c 'exit 0')
		start "$a"
		wait_for 10 has_exited "$a"
		state_of "$a"
		end_pod
	}
	same scenario
	expect 0 $'["CONTAINER_EXITED",9]\n100\n["CONTAINER_EXITED",0]'
}

@test "security context: user, capabilities, read-only, no_new_privs, seccomp, masked paths" {
	scenario() {
		local a
		pod || return
		a=$(container a '{"linux": {"security_context": {"run_as_user": {"value": 1000}, "run_as_group": {"value": 2000}, "supplemental_groups": [3000],
			"readonly_rootfs": true, "no_new_privs": true, "capabilities": {"drop_capabilities": ["ALL"]}, "seccomp": {"profile_type": "RuntimeDefault"},
			"masked_paths": ["/proc/keys"], "readonly_paths": ["/proc/sys"]}}}' /bin/sleep 1000)
		start "$a"
		sync "$a" sh -c 'id -u; id -g; id -G; grep -E "Cap|NoNew|Seccomp:" /proc/self/status; touch /x 2>&1 | grep -c Read-only; wc -c </proc/keys'
		end_pod
	}
	same scenario
	expect_like 0 $'^1000\n2000\n'
}

@test "mounts and environment" {
	mkdir "$BATS_TEST_TMPDIR/vol"
	echo data >"$BATS_TEST_TMPDIR/vol/file"
	scenario() {
		local a
		pod || return
		a=$(container a "{\"mounts\": [{\"container_path\": \"/vol\", \"host_path\": \"$BATS_TEST_TMPDIR/vol\", \"readonly\": true}], \"envs\": [{\"key\": \"A\", \"value\": \"1\"}], \"working_dir\": \"/tmp\"}" /bin/sleep 1000)
		start "$a"
		sync "$a" sh -c 'cat /vol/file; touch /vol/x 2>&1 | grep -c Read-only; echo $A; pwd'
		end_pod
	}
	same scenario
	expect 0 $'data\n1\n1\n/tmp'
}

@test "limits, their update, statistics" {
	scenario() {
		local a
		pod || return
		a=$(container a '{"linux": {"resources": {"memory_limit_in_bytes": 67108864, "cpu_quota": 50000, "cpu_period": 100000, "oom_score_adj": 100}}}' /bin/sleep 1000)
		start "$a"
		sync "$a" sh -c 'cd /sys/fs/cgroup; cat memory/memory.limit_in_bytes cpu/cpu.cfs_quota_us 2>/dev/null || cat memory.max cpu.max; cat /proc/1/oom_score_adj'
		cri UpdateContainerResources "{\"container_id\": \"$a\", \"linux\": {\"memory_limit_in_bytes\": 134217728, \"cpu_shares\": 512}}" >/dev/null
		echo $?
		sync "$a" sh -c 'cd /sys/fs/cgroup; cat memory/memory.limit_in_bytes cpu/cpu.shares 2>/dev/null || cat memory.max cpu.weight'
		cri ContainerStats "{\"container_id\": \"$a\"}" | jq '.stats.memory.working_set_bytes.value | tonumber > 0'
		end_pod
	}
	same scenario
	expect_like 0 $'^67108864\n50000\n100\n0\n134217728\n512\ntrue|^67108864'
}

@test "a terminal" {
	scenario() {
		local a
		pod || return
		a=$(container a '{"tty": true}' /bin/sh -c 'tty; exit 3')
		start "$a"
		wait_for 10 has_exited "$a"
		state_of "$a"
		cut -d' ' -f4- "$BATS_TEST_TMPDIR/logs/a.log" | tr -d '\r'
		end_pod
		rm -r "$BATS_TEST_TMPDIR/logs"
	}
	same scenario
	expect 0 $'["CONTAINER_EXITED",3]\n/dev/pts/0'
}

@test "a pod with its own network" {
	cni_folder >/dev/null || skip "no CNI plugins"
	NETWORK=POD
	scenario() {
		local a
		pod || return
		cri PodSandboxStatus "{\"pod_sandbox_id\": \"$POD\"}" | jq -r .status.network.ip | sed 's/[0-9]*$/N/'
		a=$(container a '{}' /bin/httpd -f -h /etc -p 8080)
		start "$a"
		sync "$a" sh -c 'hostname; ls /sys/class/net; wget -qO- http://127.0.0.1:8080/plain'
		end_pod
	}
	same scenario
	expect_like 0 'not a program'
}

@test "the shim of a pod is killed" {
	scenario() {
		local a pid
		pod || return
		a=$(container a '{}' /bin/sleep 1234)
		start "$a"
		pid=$(pgrep -f '^/bin/sleep 1234')
		kill -9 "$(awk '/^PPid/ { print $2 }' "/proc/$pid/status")"
		wait_for 20 sh -c "! kill -0 $pid" && echo gone
		end_pod
		echo $?
	}
	same scenario
	expect_like 0 '^gone'
}

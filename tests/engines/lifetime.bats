#!/usr/bin/env bats
# Under engines: a command's time ends it with all that it has started, whatever that does; an
# engine may be restarted or killed under its containers; kills and their reasons arrive.
# What is asserted of time is only that nobody waits for a sleeper of half an hour.

load lib.bash

setup_file() {
	require_machine
	is_runc && skip "only agentrun has a supervisor"
	require_programs docker dockerd containerd ctr
	cat >"$MACHINE_DIR/policy.json" <<-END
		{"version": 1, "profiles": {"default": {
		  "time": {"exec": {"default": "1s", "max": "1s"}, "grace": "0s"}}}}
	END
	chmod 600 "$MACHINE_DIR/policy.json"
	export AGENTRUN_FLAGS="--policy $MACHINE_DIR/policy.json"
	LIVE_RESTORE=1 docker_start
	containerd_start
	ctr image import "$MACHINE_DIR/image.tar" >/dev/null
	ctr -n k8s.io image import "$MACHINE_DIR/image.tar" >/dev/null
	make_oci_archive "$MACHINE_DIR/rootfs" "$MACHINE_DIR/pause.tar" "$PAUSE_IMAGE" /bin/sleep 100000
	ctr -n k8s.io image import "$MACHINE_DIR/pause.tar" >/dev/null
}

teardown_file() {
	containerd_stop
	docker_stop
}

setup() {
	require_machine
	N=life$BATS_TEST_NUMBER
}

teardown() {
	docker rm -f "$N" >/dev/null 2>&1 || true
	[ -z "${POD-}" ] || {
		cri StopPodSandbox "{\"pod_sandbox_id\": \"$POD\"}" >/dev/null 2>&1 || true
		cri RemovePodSandbox "{\"pod_sandbox_id\": \"$POD\"}" >/dev/null 2>&1 || true
	}
	[ -z "${TASK-}" ] || ctr task kill -s KILL "$TASK" >/dev/null 2>&1 || true
}

cri() {
	/usr/bin/python3 "$BATS_TEST_DIRNAME/helpers/cri.py" "$MACHINE_DIR/cri.desc" "$CONTAINERD_ADDRESS" "$@" 3>&-
}

# no_sleeper SECONDS: nobody sleeps for so long (each test has its own number).
no_sleeper() {
	! pgrep -f "^sleep $1\$"
}

# The commands of tests, whose sleepers are told apart by $1. None of them may live on.
#   leaves a child that holds the streams; leaves one that wants to survive; ignores TERM; is stopped
tricks() {
	cat <<-END
		(sleep $1; touch /tmp/late) & exit 0
		setsid nohup sleep $1 >/dev/null 2>&1 & exit 0
		trap "" TERM HUP INT; sleep $1; sleep $1
		sleep $1 & kill -STOP \$\$
	END
}

# ends_in_time COMMAND...: each trick, as an argument of COMMAND, comes back and leaves nobody.
ends_in_time() {
	local trick seconds=$((1800 + BATS_TEST_NUMBER)) code begun=$SECONDS
	while read -r trick; do
		code=0
		timeout 60 "$@" "$trick" </dev/null || code=$?
		echo "exit code $code after $((SECONDS - begun)) s: $trick"
		case $trick in
		*"exit 0") [ $code -eq 0 ] || return 1 ;;
		*) [ $code -eq 137 ] || return 1 ;;
		esac
		wait_for 30 no_sleeper "$seconds" || return 1
	done < <(tricks $seconds)
}

# beside CONTAINER_ID: its init, supervisor and monitor, with the times when they began.
beside() {
	local state pid
	state=$(find /run -path "*/$1/state.json" 2>/dev/null | head -1)
	for pid in $(jq '.pid, .supervisorPid, .monitorPid' "$state"); do
		echo "$pid $(cut -d' ' -f22 "/proc/$pid/stat")" || return 1
	done
}

@test "docker exec: the time of a command is that of all that it has started" {
	docker run -d --name "$N" --runtime agentrun "$IMAGE" sleep 100000
	ends_in_time docker exec "$N" sh -c
	[ "$(docker exec "$N" sh -c 'ls /tmp; echo alive')" = alive ]
	[ "$(docker top "$N" -o pid | wc -l)" -eq 2 ]
}

@test "docker exec: when its client is gone the command ends by its time" {
	docker run -d --name "$N" --runtime agentrun "$IMAGE" sleep 100000
	docker exec "$N" sleep 1900 3>&- &
	wait_for 20 pgrep -f '^sleep 1900$' || true
	kill -KILL $!
	wait_for 30 no_sleeper 1900
	[ "$(docker exec "$N" echo alive)" = alive ]
}

@test "docker: dockerd is restarted, and killed, under a container" {
	local id before signal
	id=$(docker run -d --name "$N" --runtime agentrun "$IMAGE" sh -c 'trap "exit 21" TERM; while :; do sleep 0.1; done')
	before=$(beside "$id")
	[ "$(wc -l <<<"$before")" -eq 3 ]
	for signal in TERM KILL; do
		kill -$signal "$(cat "$MACHINE_DIR/dockerd.pid")"
		wait_for 20 sh -c "! kill -0 $(cat "$MACHINE_DIR/dockerd.pid")"
		[ "$(beside "$id")" = "$before" ]
		LIVE_RESTORE=1 docker_serve
		[ "$(beside "$id")" = "$before" ]
		[ "$(docker exec "$N" echo "after $signal")" = "after $signal" ]
		run docker exec "$N" sh -c 'sleep 1901 & sleep 1901'
		[ "$status" -eq 137 ]
	done
	docker stop -t 20 "$N" >/dev/null
	[ "$(docker inspect -f '{{.State.ExitCode}}' "$N")" = 21 ]
}

@test "docker: out of memory is reported, of init and of a child" {
	local script
	for script in 'exec tail /dev/zero' 'tail /dev/zero; exit $?'; do
		run docker run --name "$N" --runtime agentrun -m 64m "$IMAGE" sh -c "$script"
		[ "$status" -eq 137 ]
		[ "$(docker inspect -f '{{.State.OOMKilled}}' "$N")" = true ]
		docker rm "$N" >/dev/null
	done
}

@test "docker: a fork bomb leaves nobody" {
	local id
	id=$(docker run -d --name "$N" --runtime agentrun --pids-limit 100 "$IMAGE" sh -c 'f() { f | f & }; f; sleep 1902')
	wait_for 30 grep -q 'max [1-9]' "$(find /sys/fs/cgroup -path "*/$id/pids.events" | head -1)"
	docker rm -f "$N" >/dev/null
	wait_for 30 no_sleeper 1902
	! pgrep -f 'f() { f' || return 1
	[ -z "$(find /sys/fs/cgroup -type d -name "$id")" ]
}

@test "containerd: it is restarted, and killed, under a container" {
	local before signal
	TASK=$N
	ctr run -d --runc-binary "$(runtime_wrapper)" "$IMAGE" "$TASK" sleep 100000
	before=$(beside "$TASK")
	[ "$(wc -l <<<"$before")" -eq 3 ]
	for signal in TERM KILL; do
		kill -$signal "$(cat "$MACHINE_DIR/containerd.pid")"
		wait_for 20 sh -c "! kill -0 $(cat "$MACHINE_DIR/containerd.pid")"
		[ "$(beside "$TASK")" = "$before" ]
		containerd_serve
		[ "$(beside "$TASK")" = "$before" ]
		[ "$(ctr task exec --exec-id "$signal" "$TASK" echo "after $signal")" = "after $signal" ]
	done
	ctr task kill -s KILL "$TASK"
	wait_for 20 sh -c "ctr task ls | grep -q '$TASK .*STOPPED'"
	ctr task rm "$TASK" 2>/dev/null || true
	ctr container rm "$TASK"
}

@test "CRI ExecSync: the time of a command is that of all that it has started" {
	require_programs protoc
	cni_folder >/dev/null || skip "no CNI plugins"
	/usr/bin/python3 -c 'import grpc, google.protobuf' 2>/dev/null || skip "no python3-grpcio"
	protoc -I "$BATS_TEST_DIRNAME/helpers" --descriptor_set_out="$MACHINE_DIR/cri.desc" cri.proto
	local config container
	config=$(jq -cn --arg n "$N" --arg c "$MACHINE_CGROUP/pod" '{metadata: {name: $n, uid: $n, namespace: "default"},
		linux: {cgroup_parent: $c}}')
	POD=$(cri RunPodSandbox "{\"config\": $config, \"runtime_handler\": \"agentrun\"}" | jq -r .pod_sandbox_id)
	container=$(cri CreateContainer "$(jq -cn --arg p "$POD" --arg i "$IMAGE" --argjson s "$config" '{pod_sandbox_id: $p, sandbox_config: $s,
		config: {metadata: {name: "a"}, image: {image: $i}, command: ["sleep", "100000"]}}')" | jq -r .container_id)
	cri StartContainer "{\"container_id\": \"$container\"}"
	sync() {
		cri ExecSync "$(jq -cn --arg c "$container" --arg s "$1" '{container_id: $c, cmd: ["sh", "-c", $s], timeout: 60}')"
	}
	export -f sync cri
	export container BATS_TEST_DIRNAME CONTAINERD_ADDRESS
	ends_in_time bash -c 'sync "$1"' sync
	[ "$(sync 'ls /tmp; echo alive')" = alive ]
}

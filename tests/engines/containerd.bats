#!/usr/bin/env bats
# containerd alone, through ctr: each scenario under the reference runtime and under ours.

load lib.bash

setup_file() {
	require_machine
	require_programs containerd ctr
	containerd_start
	export CONTAINERD_NAMESPACE=test
	ctr image import "$MACHINE_DIR/image.tar" >/dev/null
}

teardown_file() {
	containerd_stop
}

setup() {
	require_machine
}

teardown() {
	local name
	for name in "t$BATS_TEST_NUMBER-ref" "t$BATS_TEST_NUMBER-art"; do
		ctr task kill -a -s KILL "$name" >/dev/null 2>&1 || continue
		wait_for 5 is_stopped "$name" || true
		ctr task rm "$name" >/dev/null 2>&1 || true
		ctr container rm "$name" >/dev/null 2>&1 || true
	done
}

binary() {
	if [ "$RT" = reference ]; then
		echo "$REFERENCE"
	else
		runtime_wrapper
	fi
}

# cont [OPTION...] IMAGE NAME COMMAND...: ctr run with the binary of $RT.
cont() {
	ctr run --runc-binary "$(binary)" --cgroup "$MACHINE_CGROUP/$N" "$@" 3>&-
}

is_stopped() {
	ctr task ls | awk -v n="$1" '$1 == n { print $3 }' | grep -q STOPPED
}

is_running() {
	ctr task ls | awk -v n="$1" '$1 == n { print $3 }' | grep -q RUNNING
}

task_pid() {
	ctr task ls | awk -v n="$N" '$1 == n { print $2 }'
}

finish() {
	ctr task kill -s KILL "$N" 2>/dev/null
	wait_for 10 is_stopped "$N"
	ctr task rm "$N" 2>/dev/null
	ctr container rm "$N"
}

@test "ctr run --rm: output, exit code" {
	scenario() { cont --rm "$IMAGE" "$N" echo hello; cont --rm "$IMAGE" "$N" sh -c 'exit 7'; }
	same scenario
	expect 7 hello
}

@test "ctr run: errors" {
	scenario() { cont --rm "$IMAGE" "$N" nosuch; [ $? -ne 0 ] && echo failed; cont --rm "$IMAGE" "$N" /etc/plain; [ $? -ne 0 ] && echo failed; ctr container ls -q | grep -c "$N"; }
	same scenario
	expect 1 $'failed\nfailed\n0'
}

@test "ctr run -d, exec, kill, rm" {
	scenario() {
		cont -d "$IMAGE" "$N" sleep 1000
		is_running "$N" && echo running
		ctr task exec --exec-id one "$N" sh -c 'echo in; exit 6'
		echo $?
		ctr task exec --exec-id two --user 1000:2000 --cwd /tmp "$N" sh -c 'id -u; id -g; pwd'
		ctr task exec --exec-id three "$N" nosuch
		[ $? -ne 0 ] && echo failed
		ctr task kill -s TERM "$N"
		ctr task kill -s KILL "$N"
		wait_for 10 is_stopped "$N"
		ctr task rm "$N" 2>/dev/null
		echo $?
		ctr container rm "$N"
	}
	same scenario
	expect_like 0 $'^running\nin\n6\n1000\n2000\n/tmp\nfailed'
}

@test "ctr task exec --detach" {
	scenario() { cont -d "$IMAGE" "$N" sleep 1000; ctr task exec -d --exec-id e "$N" sh -c 'echo done >/flag; sleep 1000'; wait_for 10 ctr task exec --exec-id f "$N" test -s /flag; ctr task ps "$N" | wc -l; finish; }
	same scenario
	expect 0 3
}

@test "ctr task pause, resume" {
	scenario() {
		cont -d "$IMAGE" "$N" sleep 1000
		ctr task pause "$N"
		ctr task ls | awk -v n="$N" '$1 == n { print $3 }'
		ctr task resume "$N"
		ctr task ls | awk -v n="$N" '$1 == n { print $3 }'
		ctr task pause "$N"
		finish
	}
	same scenario
	expect 0 $'PAUSED\nRUNNING'
}

@test "ctr task kill --all without a process namespace" {
	scenario() { cont -d --with-ns pid:/proc/self/ns/pid "$IMAGE" "$N" sh -c 'sleep 1001 & sleep 1002' 2>/dev/null || cont -d "$IMAGE" "$N" sh -c 'sleep 1001 & sleep 1002'; ctr task kill --all -s KILL "$N"; wait_for 10 is_stopped "$N"; pgrep -f 'sleep 100[12]' | wc -l; finish; }
	same scenario
	[[ $output = 0* ]]
}

@test "ctr run: options" {
	scenario() {
		cont --rm --env A=1 --cwd /tmp "$IMAGE" "$N" sh -c 'echo $A; pwd; id -u'
		cont --rm --read-only "$IMAGE" "$N" sh -c 'touch /x 2>&1 | grep -c Read-only'
		cont --rm --memory-limit 67108864 --cpus 0.5 "$IMAGE" "$N" sh -c 'cat /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null || cat /sys/fs/cgroup/memory.max'
		cont --rm --seccomp "$IMAGE" "$N" grep Seccomp: /proc/self/status
		cont --rm --mount type=bind,src=/etc/hostname,dst=/etc/x,options=rbind:ro "$IMAGE" "$N" cat /etc/x
		cont --rm --net-host "$IMAGE" "$N" readlink /proc/self/ns/net
		cont --rm --cap-drop CAP_CHOWN "$IMAGE" "$N" grep CapEff /proc/self/status
		cont --rm --allow-new-privs "$IMAGE" "$N" grep NoNewPrivs /proc/self/status
	}
	same scenario
	expect_like 0 $'^1\n/tmp\n0'
}

@test "ctr run -t" {
	scenario() { on_tty "ctr run --rm -t --runc-binary $(binary) --cgroup $MACHINE_CGROUP/$N $IMAGE $N sh -c 'tty; exit 5'"; }
	same scenario
	expect 5 /dev/pts/0
}

@test "ctr task metrics, ps" {
	scenario() { cont -d "$IMAGE" "$N" sh -c 'sleep 1000 & sleep 1000'; wait_for 5 sh -c "[ \$(ctr task ps $N | wc -l) = 3 ]"; ctr task ps "$N" | wc -l; ctr task metrics "$N" | grep -c memory; finish; }
	same scenario
	expect_like 0 '^3'
}

@test "the shim is killed: shim delete cleans up" {
	scenario() {
		local pid
		cont -d "$IMAGE" "$N" sleep 1000
		pid=$(task_pid)
		kill -9 "$(awk '/^PPid/ { print $2 }' "/proc/$pid/status")"
		wait_for 20 sh -c "! kill -0 $pid" && echo gone
		# containerd forgets the task a moment after its process has gone
		wait_for 20 sh -c "! ctr task ls -q | grep -qx '$N'"
		wait_for 20 ctr container rm "$N"
		cont -d "$IMAGE" "$N" sleep 1000 && echo again
		finish
	}
	# runc's own cleaning after its shim's death is now and then too late for the second start
	REFERENCE=none same scenario
	expect 0 $'gone\nagain'
}

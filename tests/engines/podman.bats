#!/usr/bin/env bats
# Podman, as root and as an ordinary user, with the runtime given by name. Each scenario runs
# under the reference runtime and under ours, as in docker.bats.

load lib.bash

setup_file() {
	require_machine
	require_programs podman conmon
	podman_start
}

teardown_file() {
	podman_stop
}

setup() {
	require_machine
}

teardown() {
	pm rm -f -t 0 "t$BATS_TEST_NUMBER-ref" "t$BATS_TEST_NUMBER-art" >/dev/null 2>&1 || true
}

# Hard limits cannot be raised without this capability, and podman always asks for them.
limits() {
	has_all_capabilities || echo --ulimit=host
}

# pm ARGUMENT...: podman under $RT.
pm() {
	podman --runtime "${RT-reference}" "$@" 3>&-
}

prun() {
	pm run --rm $(limits) --cgroup-parent "$MACHINE_CGROUP" "$@"
}

pstart() {
	pm run -d $(limits) --cgroup-parent "$MACHINE_CGROUP" --name "$N" "$@" >/dev/null
}

state_of() {
	pm inspect -f '{{.State.Status}} {{.State.ExitCode}}' "$N"
}

plogs_has() {
	pm logs "$N" 2>&1 | grep -qF -- "$1"
}

@test "podman run: output, exit codes" {
	scenario() { local c; prun "$IMAGE" echo hello; for c in 0 1 42 125 126 127; do prun "$IMAGE" sh -c "exit $c"; echo $?; done; }
	same scenario
	expect 0 $'hello\n0\n1\n42\n125\n126\n127'
}

@test "podman run: missing command, not executable, a directory" {
	scenario() { local c; for c in nosuchcommand /no/such /etc/plain /etc; do prun "$IMAGE" $c; echo $?; done; }
	same scenario
	expect_like 0 $'^127\n127\n126'
}

@test "podman run: killed" {
	scenario() { prun "$IMAGE" sh -c 'sh -c "kill -9 \$\$"; exit $?'; }
	same scenario
	expect 137
}

@test "podman run -i" {
	scenario() { printf 'one\ntwo\n' | prun -i "$IMAGE" cat; }
	same scenario
	expect 0 $'one\ntwo'
}

@test "podman run -it" {
	scenario() { on_tty "podman --runtime $RT run --rm $(limits) -it $IMAGE sh -c 'tty; test -t 0 && echo terminal; exit 5'"; }
	same scenario
	expect 5 $'/dev/pts/0\nterminal'
}

@test "podman run -d, wait, logs" {
	scenario() { pstart "$IMAGE" sh -c 'echo started; exit 3'; pm wait "$N"; pm logs "$N"; state_of; }
	same scenario
	expect 0 $'3\nstarted\nexited 3'
}

@test "podman run: process options" {
	scenario() {
		prun -e A=1 -w /tmp -u 1000:2000 --hostname box "$IMAGE" sh -c 'echo $A; pwd; id -u; id -g; hostname'
		prun --entrypoint /bin/echo "$IMAGE" entry
		prun --init "$IMAGE" cat /proc/1/comm
		prun --umask 077 "$IMAGE" sh -c umask
	}
	same scenario
	expect_like 0 $'^1\n/tmp\n1000\n2000\nbox\nentry'
}

@test "podman run: capabilities, no-new-privileges, seccomp" {
	scenario() {
		prun "$IMAGE" grep -E 'Cap|NoNew|Seccomp:' /proc/self/status
		prun --cap-drop ALL --cap-add NET_RAW "$IMAGE" grep Cap /proc/self/status
		prun --security-opt no-new-privileges --security-opt seccomp=unconfined "$IMAGE" grep -E 'NoNew|Seccomp:' /proc/self/status
	}
	same scenario
	expect_like 0 'NoNewPrivs:.1'
}

@test "podman run --privileged" {
	if ! has_all_capabilities; then
		is_runc && skip "runc refuses capabilities that the host lacks"
		REFERENCE=none
	fi
	same prun --privileged "$IMAGE" sh -c 'grep Seccomp: /proc/self/status; mount -t tmpfs t /tmp && echo mounted'
	expect_like 0 mounted
}

@test "podman run: mounts" {
	mkdir "$BATS_TEST_TMPDIR/vol"
	echo data >"$BATS_TEST_TMPDIR/vol/file"
	scenario() {
		prun -v "$BATS_TEST_TMPDIR/vol:/vol" -v "$BATS_TEST_TMPDIR/vol/file:/etc/one/two:ro" "$IMAGE" sh -c 'cat /vol/file /etc/one/two; echo x 2>/dev/null >/etc/one/two; echo $?'
		prun --read-only --tmpfs /t:size=64k,mode=1750 "$IMAGE" sh -c 'touch /x 2>&1 | grep -c Read-only; stat -c %a /t'
		prun --mount type=tmpfs,dst=/m "$IMAGE" touch /m/x
		prun -v "$BATS_TEST_TMPDIR/none:/x" "$IMAGE" true
		echo $?
	}
	same scenario
	expect_like 0 $'^data\ndata\n1\n1\n1750'
}

@test "podman run: masked and read-only paths" {
	scenario() { prun --security-opt mask=/etc/plain "$IMAGE" sh -c 'wc -c </etc/plain; grep -c " /proc/" /proc/self/mounts'; prun --security-opt unmask=ALL "$IMAGE" sh -c 'grep -c " /proc/" /proc/self/mounts'; }
	same scenario
	[[ $output = 0* ]]
}

@test "podman run: devices" {
	scenario() { prun "$IMAGE" sh -c 'for d in /dev/*; do stat -c "%n %F %a %t:%T" $d; done'; prun --device /dev/zero:/dev/myzero:r "$IMAGE" sh -c 'head -c 2 /dev/myzero | od -An -tx1'; }
	same scenario
	expect_like 0 '00 00$'
}

@test "podman run --network none, host, bridge" {
	scenario() {
		prun --network none "$IMAGE" ls /sys/class/net
		[ "$(prun --network host "$IMAGE" readlink /proc/self/ns/net)" = "$(readlink /proc/self/ns/net)" ] && echo host
		prun --network bridge "$IMAGE" sh -c 'ip addr show eth0 | grep -c "inet "' 2>/dev/null
	}
	same scenario
	expect_like 0 host
}

@test "podman run -p: a published port answers" {
	scenario() {
		pstart -p 127.0.0.1:18081:80 "$IMAGE" httpd -f -h /etc || return
		wait_for 10 busybox wget -qO /dev/null http://127.0.0.1:18081/plain
		busybox wget -qO- http://127.0.0.1:18081/plain
		pm rm -f -t 0 "$N" >/dev/null
	}
	REFERENCE_OK=$(RT=reference N=probe scenario 2>/dev/null) || true
	podman rm -f -t 0 probe >/dev/null 2>&1 || true
	[ "$REFERENCE_OK" = 'not a program' ] || skip "published ports do not work here"
	same scenario
	expect 0 'not a program'
}

@test "podman run --pid host, --ipc host, --uts host, --cgroupns" {
	scenario() {
		[ "$(prun --pid host "$IMAGE" readlink /proc/self/ns/pid)" = "$(readlink /proc/self/ns/pid)" ] && echo pid
		[ "$(prun --ipc host "$IMAGE" readlink /proc/self/ns/ipc)" = "$(readlink /proc/self/ns/ipc)" ] && echo ipc
		[ "$(prun --uts host "$IMAGE" readlink /proc/self/ns/uts)" = "$(readlink /proc/self/ns/uts)" ] && echo uts
		prun --cgroupns private "$IMAGE" sh -c 'grep -vc ":/$" /proc/self/cgroup || true'
	}
	same scenario
	expect_like 0 $'^pid\nipc\nuts'
}

@test "podman run: limits" {
	same prun -m 64m --cpus 0.5 --pids-limit 33 --cpu-shares 512 "$IMAGE" sh -c 'cd /sys/fs/cgroup; for f in memory/memory.limit_in_bytes cpu/cpu.cfs_quota_us cpu/cpu.shares pids/pids.max memory.max cpu.max pids.max; do [ -e $f ] && cat $f; done; true'
	expect_like 0 67108864
}

@test "podman run --sysctl, --shm-size" {
	same prun --sysctl net.core.somaxconn=2048 --shm-size 8m "$IMAGE" sh -c 'cat /proc/sys/net/core/somaxconn; df -k /dev/shm | awk "NR == 2 { print \$2 }"'
	expect 0 $'2048\n8192'
}

@test "podman run: user namespace" {
	# a storage of copies is chowned for the mapping
	scenario() { prun --uidmap 0:100000:65536 --gidmap 0:100000:65536 "$IMAGE" sh -c 'id -u; tr -s " " </proc/self/uid_map; touch /made && stat -c %u /made'; }
	same scenario
	expect 0 $'0\n 0 100000 65536\n0'
}

@test "podman run --systemd=always, annotations, --preserve-fds" {
	scenario() {
		prun --systemd=always --annotation org.example=1 "$IMAGE" sh -c 'stat -c %F /run; grep -c " /run " /proc/self/mounts'
	}
	same scenario
	expect 0 $'directory\n1'
}

@test "podman exec" {
	scenario() {
		pstart "$IMAGE" sleep 1000
		pm exec "$N" sh -c 'echo in; exit 6'
		echo $?
		echo text | pm exec -i "$N" cat
		pm exec -u 1000 -w /tmp -e B=2 "$N" sh -c 'id -u; pwd; echo $B'
		pm exec -d "$N" sh -c 'echo done >/flag' >/dev/null
		wait_for 10 pm exec "$N" test -s /flag
		pm exec "$N" nosuchcommand
		echo $?
		pm exec "$N" /etc/plain
		echo $?
		on_tty "podman --runtime $RT exec -it $N sh -c 'tty; exit 4'"
		echo $?
		pm exec "$N" sh -c 'kill -9 $$'
		echo $?
	}
	same scenario
	expect 0 $'in\n6\ntext\n1000\n/tmp\n2\n127\n126\n/dev/pts/0\n4\n137'
}

@test "podman create, start, stop, kill, restart" {
	scenario() {
		pm create $(limits) --cgroup-parent "$MACHINE_CGROUP" --name "$N" "$IMAGE" sh -c 'trap "exit 21" TERM; echo up; while :; do sleep 0.05; done' >/dev/null
		state_of
		pm start "$N" >/dev/null
		wait_for 10 plogs_has up
		pm stop -t 5 "$N" >/dev/null
		state_of
		pm restart "$N" >/dev/null
		state_of | cut -d' ' -f1
		pm kill "$N" >/dev/null
		pm wait "$N"
		pm kill "$N"
		echo $?
	}
	same scenario
	expect 0 $'created 0\nexited 21\nrunning\n137\n125'
}

@test "podman pause, unpause, rm -f of a paused one" {
	scenario() {
		pstart "$IMAGE" sleep 1000
		pm pause "$N" >/dev/null
		state_of
		pm unpause "$N" >/dev/null
		state_of
		pm pause "$N" >/dev/null
		pm rm -f -t 0 "$N" >/dev/null
		pm ps -aq -f "name=$N" | wc -l
	}
	same scenario
	expect 0 $'paused 0\nrunning 0\n0'
}

@test "podman update" {
	podman update --help >/dev/null 2>&1 || skip "this podman has no update"
	scenario() { pstart -m 64m "$IMAGE" sleep 1000; pm update --memory 128m --cpus 0.5 "$N" >/dev/null; echo $?; pm exec "$N" sh -c 'cat /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null || cat /sys/fs/cgroup/memory.max'; }
	same scenario
	expect 0 $'0\n134217728'
}

@test "podman top, stats, cp, diff, attach, healthcheck" {
	scenario() {
		pstart --health-cmd 'test -e /ok' --health-interval disable "$IMAGE" sh -c 'sleep 1001 & sleep 1002'
		pm top "$N" args | sort
		pm stats --no-stream --format '{{.PIDs}}' "$N"
		echo payload | pm cp - "$N:/" 2>/dev/null
		pm cp "$N:/etc/plain" "$BATS_TEST_TMPDIR/out" && cat "$BATS_TEST_TMPDIR/out"
		pm healthcheck run "$N"
		echo $?
		pm exec "$N" touch /ok
		pm healthcheck run "$N"
		echo $?
	}
	same scenario
	expect_like 0 'sleep 1002'
}

@test "podman: containers that share namespaces" {
	scenario() {
		pstart "$IMAGE" sleep 1000
		prun --network "container:$N" --pid "container:$N" --ipc "container:$N" "$IMAGE" sh -c 'tr "\0" " " </proc/1/cmdline; readlink /proc/self/ns/net' >"$BATS_TEST_TMPDIR/got"
		grep -o 'sleep 1000' "$BATS_TEST_TMPDIR/got"
		grep -qF "$(pm exec "$N" readlink /proc/self/ns/net)" "$BATS_TEST_TMPDIR/got" && echo joined
	}
	same scenario
	expect 0 $'sleep 1000\njoined'
}

@test "podman pod" {
	scenario() {
		local pod=p$N
		pm pod create --cgroup-parent "$MACHINE_CGROUP" --name "$pod" >/dev/null || return
		pm run -d $(limits) --pod "$pod" --name "$N" "$IMAGE" httpd -f -h /etc -p 8080 >/dev/null
		wait_for 10 pm run --rm $(limits) --pod "$pod" "$IMAGE" wget -qO /dev/null http://127.0.0.1:8080/plain
		pm run --rm $(limits) --pod "$pod" "$IMAGE" wget -qO- http://127.0.0.1:8080/plain
		pm pod pause "$pod" >/dev/null
		pm pod unpause "$pod" >/dev/null
		pm pod stop -t 1 "$pod" >/dev/null
		pm pod rm -f -t 0 "$pod" >/dev/null
		pm ps -aq | wc -l
	}
	same scenario
	expect 0 $'not a program\n0'
}

@test "podman kube play" {
	scenario() {
		cat >"$BATS_TEST_TMPDIR/pod.yaml" <<-Y
			apiVersion: v1
			kind: Pod
			metadata:
			  name: kube-$N
			spec:
			  hostNetwork: true
			  containers:
			  - name: one
			    image: $IMAGE
			    imagePullPolicy: Never
			    command: ["/bin/sh", "-c", "echo one >/dev/shm/x; exec /bin/sleep 1000"]
			    resources:
			      limits:
			        memory: 64Mi
			  - name: two
			    image: $IMAGE
			    imagePullPolicy: Never
			    command: ["/bin/sleep", "1000"]
			    securityContext:
			      runAsUser: 1000
			      readOnlyRootFilesystem: true
		Y
		pm kube play "$BATS_TEST_TMPDIR/pod.yaml" >/dev/null || return
		wait_for 10 pm exec "kube-$N-one" /bin/test -s /dev/shm/x
		pm exec "kube-$N-two" /bin/id -u
		pm exec "kube-$N-two" /bin/cat /dev/shm/x
		pm kube down "$BATS_TEST_TMPDIR/pod.yaml" >/dev/null
		pm ps -aq | wc -l
	}
	if ! has_all_capabilities; then
		RT=reference N=probe scenario >/dev/null 2>&1 || skip "kube play asks for limits that this host cannot give"
	fi
	same scenario
	expect 0 $'1000\none\n0'
}

@test "podman run: OCI hooks" {
	mkdir "$BATS_TEST_TMPDIR/hooks"
	printf '#!/bin/sh\njq -r .status >>%s\n' "$BATS_TEST_TMPDIR/hook.log" >"$BATS_TEST_TMPDIR/hook"
	chmod 755 "$BATS_TEST_TMPDIR/hook"
	jq -n --arg p "$BATS_TEST_TMPDIR/hook" --arg path "PATH=$PATH" '{version: "1.0.0", hook: {path: $p, env: [$path]}, when: {always: true},
		stages: ["prestart", "createRuntime", "poststop"]}' >"$BATS_TEST_TMPDIR/hooks/test.json"
	scenario() {
		: >"$BATS_TEST_TMPDIR/hook.log"
		podman --runtime "$RT" --hooks-dir "$BATS_TEST_TMPDIR/hooks" run --rm $(limits) --cgroup-parent "$MACHINE_CGROUP" "$IMAGE" echo ran 3>&-
		cat "$BATS_TEST_TMPDIR/hook.log"
	}
	same scenario
	expect_like 0 '^ran'
}

@test "podman build" {
	mkdir "$BATS_TEST_TMPDIR/build"
	cat >"$BATS_TEST_TMPDIR/build/Containerfile" <<-D
		FROM $IMAGE
		ENV A=built
		RUN echo "\$A" >/a && id -u >>/a
		WORKDIR /work
		USER 1000
		RUN pwd >/tmp/b; id -u >>/tmp/b
		CMD cat /a /tmp/b
	D
	printf 'FROM %s\nRUN exit 9\n' "$IMAGE" >"$BATS_TEST_TMPDIR/build/Bad"
	scenario() {
		pm build -q --pull=never -t "build/$N" "$BATS_TEST_TMPDIR/build" >/dev/null || return
		prun "build/$N"
		pm build -q --pull=never -f Bad "$BATS_TEST_TMPDIR/build" >/dev/null
		[ $? -ne 0 ] && echo failed
		pm rmi -f "build/$N" >/dev/null
	}
	same scenario
	expect 0 $'built\n0\n/work\n1000\nfailed'
}

@test "buildah run" {
	require_programs buildah
	scenario() {
		local runtime=$REFERENCE
		[ "$RT" = reference ] || runtime=$(runtime_wrapper)
		buildah from --pull-never --name "$N" "$IMAGE" >/dev/null 3>&- || return
		buildah run --runtime "$runtime" "$N" -- echo inside 3>&-
		buildah run --runtime "$runtime" "$N" -- sh -c 'exit 5' 3>&-
		echo $?
		buildah rm "$N" >/dev/null
	}
	if ! has_all_capabilities; then
		RT=reference N=probe scenario >/dev/null 2>&1 || skip "buildah asks for limits that this host cannot give"
	fi
	same scenario
	expect_like 0 '^inside'
}

### rootless

# An ordinary user of the machine's own: copies of the account files are mounted over them.
rootless_start() {
	local file dir=$MACHINE_DIR/rootless
	[ -e "$dir/ready" ] && return 0
	[ "$(cat /proc/sys/user/max_user_namespaces)" -gt 0 ] || return 1
	[ "$(cat /proc/sys/kernel/unprivileged_userns_clone 2>/dev/null || echo 1)" = 1 ] || return 1
	command -v newuidmap >/dev/null || return 1
	mkdir -p "$dir/etc" "$dir/home" /run/user/12345
	for file in passwd group subuid subgid; do
		cat "/etc/$file" >"$dir/etc/$file" 2>/dev/null || true
		[ -e "/etc/$file" ] || return 1
	done
	echo "runner:x:12345:12345::$dir/home:/bin/sh" >>"$dir/etc/passwd"
	echo 'runner:x:12345:' >>"$dir/etc/group"
	echo 'runner:300000:65536' >>"$dir/etc/subuid"
	echo 'runner:300000:65536' >>"$dir/etc/subgid"
	for file in passwd group subuid subgid; do
		chmod 644 "$dir/etc/$file"
		mount --bind "$dir/etc/$file" "/etc/$file" || return 1
	done
	chmod 711 "$MACHINE_DIR" "$MACHINE_DIR/rt" 2>/dev/null
	podman_config "$dir/p"
	cp "$MACHINE_DIR/rootfs.tar" "$dir/rootfs.tar"
	chown -R 12345:12345 "$dir/home" "$dir/p" /run/user/12345
	chmod 700 /run/user/12345
	as_user podman import -q "$dir/rootfs.tar" "$IMAGE" >"$dir/log" 2>&1 || return 1
	as_user podman --runtime reference run --rm --network none $(limits) "$IMAGE" true >>"$dir/log" 2>&1 || return 1
	touch "$dir/ready"
}

as_user() {
	local dir=$MACHINE_DIR/rootless
	env -i -C "$dir/home" PATH="$PATH" HOME="$dir/home" XDG_RUNTIME_DIR=/run/user/12345 USER=runner LOGNAME=runner \
		CONTAINERS_CONF="$dir/p/containers.conf" CONTAINERS_STORAGE_CONF="$dir/p/storage.conf" \
		setpriv --reuid 12345 --regid 12345 --clear-groups -- "$@" 3>&-
}

need_rootless() {
	rootless_start || {
		sed 's/^/# /' "$MACHINE_DIR/rootless/log" >&3 2>/dev/null || true
		skip "rootless podman does not work here with the reference runtime"
	}
}

ruser() {
	as_user podman --runtime "$RT" run --rm --network none $(limits) "$@"
}

@test "podman rootless: run" {
	need_rootless
	scenario() {
		ruser "$IMAGE" sh -c 'echo hello; id -u; tr -s " " </proc/self/uid_map'
		ruser "$IMAGE" sh -c 'exit 42'
		echo $?
		ruser "$IMAGE" nosuchcommand
		echo $?
		ruser -u 1000 "$IMAGE" sh -c 'id -u; touch /tmp/x; stat -c %u /tmp/x'
		ruser --read-only "$IMAGE" sh -c 'touch /x 2>&1 | grep -c Read-only'
		ruser "$IMAGE" sh -c 'head -c 3 /dev/zero | wc -c; echo x >/dev/null && echo null'
	}
	same scenario
	expect_like 0 $'^hello\n0\n'
}

@test "podman rootless: user namespaces" {
	need_rootless
	scenario() { ruser --userns keep-id "$IMAGE" sh -c 'id -u; tr -s " " </proc/self/uid_map'; ruser --userns nomap "$IMAGE" true; echo $?; }
	same scenario
	expect_like 0 '^12345'
}

@test "podman rootless: exec, stop, logs, terminal" {
	need_rootless
	scenario() {
		as_user podman --runtime "$RT" run -d --network none $(limits) --name "$N" "$IMAGE" sh -c 'trap "exit 21" TERM; echo up; while :; do sleep 0.05; done' >/dev/null
		as_user podman --runtime "$RT" exec "$N" sh -c 'echo in; exit 6'
		echo $?
		as_user podman --runtime "$RT" exec -u 1000 -w /tmp "$N" sh -c 'id -u; pwd'
		as_user podman stop -t 5 "$N" >/dev/null
		as_user podman inspect -f '{{.State.ExitCode}}' "$N"
		as_user podman logs "$N"
		as_user podman rm -f "$N" >/dev/null
	}
	same scenario
	expect 0 $'in\n6\n1000\n/tmp\n21\nup'
}

@test "podman rootless: a pod" {
	need_rootless
	scenario() {
		as_user podman --runtime "$RT" pod create --network none --name "p$N" >/dev/null || return
		as_user podman --runtime "$RT" run --rm $(limits) --pod "p$N" "$IMAGE" echo member
		as_user podman pod rm -f -t 0 "p$N" >/dev/null
	}
	same scenario
	expect 0 member
}

@test "podman container checkpoint, restore" {
	command -v criu >/dev/null || skip "criu is not installed"
	criu check >/dev/null 2>&1 || skip "criu does not work on this kernel"
	scenario() {
		pstart "$IMAGE" sh -c 'i=0; while :; do i=$((i + 1)); echo line $i; sleep 0.1; done'
		wait_for 30 plogs_has 'line 3'
		pm container checkpoint "$N" >/dev/null
		state_of
		before=$(pm logs "$N" | tail -n 1)
		pm container restore "$N" >/dev/null
		state_of
		wait_for 30 plogs_has "line $((${before#line } + 5))"
		pm exec "$N" echo within
		pm stop -t 0 "$N" >/dev/null
		state_of
	}
	same scenario
	expect 0 $'exited 0\nrunning 0\nwithin\nexited 137'
}

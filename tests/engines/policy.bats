#!/usr/bin/env bats
# Docker with the built-in policy: every wish beyond it ends in the documented clamp or
# refusal, and the commands of every day work unchanged.

load lib.bash

setup_file() {
	require_machine
	AGENTRUN_FLAGS='' docker_start
}

teardown_file() {
	docker_stop
}

setup() {
	require_machine
}

teardown() {
	docker rm -f "p$BATS_TEST_NUMBER" >/dev/null 2>&1 || true
}

# agent ARGUMENT...: docker run under the policy; leaves $status, $output (both streams).
agent() {
	status=0
	output=$(docker run --rm --runtime agentrun "$@" 2>&1) || status=$?
}

gives() {
	echo "exit code $status: $output"
	[ "$status" -eq 0 ]
	[ $# -eq 0 ] || [ "$output" = "$1" ]
}

# refused REGEX: docker's "cannot start", neither 126 nor 127, and the reason is told.
refused() {
	echo "exit code $status: $output"
	[ "$status" -eq 125 ]
	[[ $output =~ policy:.*$1 ]]
}

caps() {
	sed -n 's/^CapEff:[[:space:]]*//p' <<<"$output"
}

### what is asked beyond the policy

@test "policy: --privileged gives the eight capabilities and the usual devices" {
	agent --privileged "$IMAGE" sh -c 'cat /proc/self/status; ls /dev/mem /dev/kmsg 2>&1'
	echo "$output"
	[ "$(caps)" = 00000000000004fb ]
	[[ $output != *$'\n'/dev/mem* && $output != *$'\n'/dev/kmsg* ]]
	[[ $output = *NoNewPrivs:*1* && $output = *Seccomp:*2* ]]
}

@test "policy: --cap-add ALL gives no more" {
	agent --cap-add ALL "$IMAGE" cat /proc/self/status
	[ "$(caps)" = 00000000000004fb ]
}

@test "policy: the host's namespaces are refused" {
	agent --pid host "$IMAGE" true
	refused 'pid'
	agent --network host "$IMAGE" true
	refused 'network'
	agent --ipc host "$IMAGE" true
	refused 'ipc|/dev/shm'
	agent --uts host "$IMAGE" true
	refused 'uts'
}

@test "policy: another container's network namespace may be joined" {
	docker run -d --name "p$BATS_TEST_NUMBER" --runtime agentrun "$IMAGE" sleep 1000
	agent --network "container:p$BATS_TEST_NUMBER" "$IMAGE" echo joined
	gives joined
}

@test "policy: --device adds no device" {
	agent --device /dev/full:/dev/usual --device /dev/kmsg "$IMAGE" sh -c 'ls /dev/kmsg 2>/dev/null; echo done'
	gives done
}

@test "policy: the host's root, /proc and control sockets are not mounted, under any spelling" {
	local source
	python3 -c 'import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1])' "$BATS_TEST_TMPDIR/other.sock"
	ln -s /run/docker-test.sock "$BATS_TEST_TMPDIR/innocent"
	mkdir "$BATS_TEST_TMPDIR/moved" "$BATS_TEST_TMPDIR/folder" "$BATS_TEST_TMPDIR/alias"
	ln "$BATS_TEST_TMPDIR/other.sock" "$BATS_TEST_TMPDIR/linked"
	ln "$BATS_TEST_TMPDIR/other.sock" "$BATS_TEST_TMPDIR/moved/some"
	mv "$BATS_TEST_TMPDIR/moved/some" "$BATS_TEST_TMPDIR/moved/renamed"
	: >"$BATS_TEST_TMPDIR/file"
	mount --bind /run/docker-test.sock "$BATS_TEST_TMPDIR/file"
	mount --bind /run "$BATS_TEST_TMPDIR/folder"
	mount --bind /etc "$BATS_TEST_TMPDIR/alias"
	for source in / /proc /sys /run /run/docker-test.sock /run/../run/docker-test.sock "$BATS_TEST_TMPDIR/innocent" \
		"$BATS_TEST_TMPDIR/other.sock" "$BATS_TEST_TMPDIR/linked" "$BATS_TEST_TMPDIR/moved/renamed" /etc /root \
		"$BATS_TEST_TMPDIR/file" "$BATS_TEST_TMPDIR/folder" "$BATS_TEST_TMPDIR/folder/docker-test.sock" "$BATS_TEST_TMPDIR/alias"; do
		echo "source $source"
		agent -v "$source:/x" "$IMAGE" true
		refused 'mount source'
	done
	umount "$BATS_TEST_TMPDIR/file" "$BATS_TEST_TMPDIR/folder" "$BATS_TEST_TMPDIR/alias"
}

@test "policy: secrets do not reach the container by -e" {
	agent -e AWS_SECRET_ACCESS_KEY=abc -e HARMLESS=ghp_0123456789abcdefghijABCDEFGHIJ012345 -e LANG=C "$IMAGE" env
	gives
	[[ $output = *LANG=C* && $output != *AWS_* && $output != *ghp_* ]]
}

@test "policy: seccomp=unconfined does not take the agent's filter away" {
	agent --security-opt seccomp=unconfined "$IMAGE" sh -c 'grep Seccomp: /proc/self/status; mount -t tmpfs x /tmp || echo refused'
	gives
	[[ $output = *Seccomp:*2* && $output = *refused* ]]
}

@test "policy: the probes of kernel exploits get the profile's answers, by run and by exec" {
	local probe who
	probe=$(dirname "$AGENTRUN")/tests/attacks/probes/probe
	[ -x "$probe" ] || skip "the probes are not built beside the runtime"
	mkdir "$BATS_TEST_TMPDIR/bin"
	cp "$probe" "$BATS_TEST_TMPDIR/bin/probe"
	chmod -R a+rX "$BATS_TEST_TMPDIR/bin"
	for who in 0 1000; do
		agent --user "$who" -v "$BATS_TEST_TMPDIR/bin:/probes:ro" "$IMAGE" /probes/probe agent-default
		grep '^not ok' <<<"$output" && return 1
		[ "$status" -eq 0 ]
		[[ $output =~ 1\.\.1[5-9][0-9]$ ]]
	done
	docker run -d --runtime agentrun --name "p$BATS_TEST_NUMBER" -v "$BATS_TEST_TMPDIR/bin:/probes:ro" "$IMAGE" sleep 60 >/dev/null
	output=$(docker exec "p$BATS_TEST_NUMBER" /probes/probe agent-default)
	[[ $output != *"not ok"* && $output =~ 1\.\.1[5-9][0-9]$ ]]
}

@test "policy: limits are never absent" {
	docker run -d --name "p$BATS_TEST_NUMBER" --runtime agentrun --pids-limit -1 -m 0 "$IMAGE" sleep 1000
	local pid
	pid=$(docker inspect -f '{{.State.Pid}}' "p$BATS_TEST_NUMBER")
	limit() {
		local path
		path=$(sed -n "s/^[0-9]*:$1://p" "/proc/$pid/cgroup")
		cat "/sys/fs/cgroup/$1$path/$2"
	}
	if [ -d /sys/fs/cgroup/pids ]; then
		[ "$(limit pids pids.max)" = 512 ]
		[ "$(limit memory memory.limit_in_bytes)" = 2147483648 ]
	fi
	agent --ulimit nofile=100:100 --ulimit core=1000:1000 "$IMAGE" sh -c 'ulimit -Hn; ulimit -Hc'
	gives $'100\n0'
	docker update --pids-limit 100000 "p$BATS_TEST_NUMBER"
	if [ -d /sys/fs/cgroup/pids ]; then
		[ "$(limit pids pids.max)" = 512 ]
	fi
}

@test "policy: exec has no more than the container" {
	docker run -d --name "p$BATS_TEST_NUMBER" --runtime agentrun "$IMAGE" sleep 1000
	run docker exec --privileged -e GITHUB_TOKEN=abc "p$BATS_TEST_NUMBER" sh -c 'cat /proc/self/status; env'
	gives
	[ "$(caps)" = 00000000000004fb ]
	[[ $output != *GITHUB_TOKEN* ]]
}

### what everybody does

@test "policy: everyday commands work" {
	agent "$IMAGE" echo hello
	gives hello
	agent -i "$IMAGE" sh -c 'exit 7'
	[ "$status" -eq 7 ]
	agent -u 1000:1000 -w /tmp -e A=b --hostname box --read-only --tmpfs /scratch "$IMAGE" \
		sh -c 'echo "$(id -u) $(pwd) $A $(hostname)"; echo x >/scratch/f && cat /scratch/f'
	gives $'1000 /tmp b box\nx'
	mkdir "$BATS_TEST_TMPDIR/work"
	agent -v "$BATS_TEST_TMPDIR/work:/work" "$IMAGE" sh -c 'echo data >/work/file'
	gives ''
	[ "$(cat "$BATS_TEST_TMPDIR/work/file")" = data ]
	agent -m 64m --cpus 0.5 --pids-limit 50 --network none --cap-drop ALL "$IMAGE" echo limited
	gives limited
	agent "$IMAGE" no-such-command
	[ "$status" -eq 127 ]
	agent "$IMAGE" /etc
	[ "$status" -eq 126 ]
}

@test "policy: denied system calls are told, of the container and of docker exec" {
	local id
	id=$(docker run -d --name "p$BATS_TEST_NUMBER" --runtime agentrun "$IMAGE" sh -c 'mount -t tmpfs x /tmp; exec sleep 1000')
	run docker exec -u 1000 "p$BATS_TEST_NUMBER" unshare -U true
	[ "$status" -ne 0 ]
	calls() {
		cat /var/log/agentrun/"$id"-*.jsonl | jq -ce 'select(.type == "call-denied") | [.process, .call, .error]'
	}
	wait_for 10 eval '[ "$(calls | wc -l)" -ge 2 ]'
	calls | sort >"$BATS_TEST_TMPDIR/calls"
	diff - "$BATS_TEST_TMPDIR/calls" <<-'END'
		[0,"mount","EPERM"]
		[1,"unshare","EPERM"]
	END
}

@test "policy: names are looked up at the servers that the engine gives" {
	local id
	id=$(docker run -d --name "p$BATS_TEST_NUMBER" --runtime agentrun --dns 192.0.2.53 "$IMAGE" sleep 60)
	[ "$(find /run -path "*/$id/monitor.json" -exec jq -r .resolvConf {} + | grep -c '^nameserver 192.0.2.53$')" -eq 1 ]
}

@test "policy: names of a user-defined network, by Docker's own resolver" {
	local n=p$BATS_TEST_NUMBER other
	docker network create --subnet 93.184.219.0/24 "net$n" >/dev/null
	docker run -d --name "$n" --network "net$n" --network-alias shop --runtime reference "$IMAGE" httpd -f -h /etc
	docker run -d --name "$n-other" --network "net$n" --network-alias other --runtime reference "$IMAGE" httpd -f -h /etc
	other=$(docker inspect -f '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' "$n-other")
	printf '{"version": 1, "profiles": {"default": {"egress": {"allow": [{"host": "shop", "ports": [80]}]}}}}\n' \
		>"$MACHINE_DIR/policy.json"
	chmod 600 "$MACHINE_DIR/policy.json"
	status=0
	output=$(docker run --rm --runtime agentrun-policy --network "net$n" "$IMAGE" sh -c "cat /etc/resolv.conf | grep nameserver
		wget -qO- http://shop/plain
		wget -qO- http://other/plain
		wget -qO- http://$other/plain" 2>&1) || status=$?
	docker rm -f "$n-other" "$n" >/dev/null
	docker network rm "net$n" >/dev/null
	echo "exit code $status: $output"
	[ "$status" -eq 1 ]
	[ "$output" = "nameserver 127.0.0.11
not a program
wget: bad address 'other'
wget: can't connect to remote host ($other): Operation not permitted" ]
}

# The address of a container of ours on Docker's bridge.
address_of() {
	docker inspect -f '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' "$1"
}

# profile JSON: the profile "default" of the runtime agentrun-policy.
profile() {
	printf '{"version": 1, "profiles": {"default": %s}}\n' "$1" >"$MACHINE_DIR/policy.json"
	chmod 600 "$MACHINE_DIR/policy.json"
}

@test "policy: on Docker's bridge nothing leaves, and a published port is answered" {
	local n=p$BATS_TEST_NUMBER peer
	docker run -d --name "$n-peer" --runtime reference "$IMAGE" httpd -f -h /etc
	peer=$(address_of "$n-peer")
	docker run -d --name "$n" --runtime agentrun -p 127.0.0.1:18090:80 "$IMAGE" httpd -f -h /etc
	run docker exec "$n" wget -qO- "http://$peer/plain"
	local refused=$status:$output
	run wget -qO- http://127.0.0.1:18090/plain
	docker rm -f "$n-peer" >/dev/null
	echo "inside $refused, published $status: $output"
	[ "$refused" = "1:wget: can't connect to remote host ($peer): Operation not permitted" ]
	[ "$status:$output" = '0:not a program' ]
}

@test "policy: on Docker's bridge an address and port of the policy are reached, and no other port" {
	local n=p$BATS_TEST_NUMBER peer
	docker run -d --name "$n" --runtime reference "$IMAGE" sh -c 'httpd -h /etc; exec httpd -f -p 81 -h /etc'
	peer=$(address_of "$n")
	profile "{\"egress\": {\"allow\": [{\"cidr\": \"$peer/32\", \"ports\": [80]}]}}"
	status=0
	output=$(docker run --rm --runtime agentrun-policy "$IMAGE" sh -c "
		wget -qO- http://$peer/plain; wget -qO- http://$peer:81/plain" 2>&1) || status=$?
	echo "exit code $status: $output"
	[ "$status" -eq 1 ]
	[ "$output" = "not a program
wget: can't connect to remote host ($peer): Operation not permitted" ]
}

# What listens on the host's loopback listens on the container's: it is closed there unless it is named.
@test "policy: on the host's network, where the profile gives it, the same holds, loopback included" {
	local n=p$BATS_TEST_NUMBER pid
	mkdir -p "$BATS_TEST_TMPDIR/www"
	echo 'of the host' >"$BATS_TEST_TMPDIR/www/plain"
	busybox httpd -f -p 127.0.0.1:18091 -h "$BATS_TEST_TMPDIR/www" 3>&- &
	pid=$!
	docker run -d --name "$n" --runtime reference "$IMAGE" sh -c 'httpd -h /etc; exec httpd -f -p 81 -h /etc'
	local peer
	peer=$(address_of "$n")
	profile "{\"namespaces\": {\"host\": [\"network\"]}, \"egress\": {\"allow\": [{\"cidr\": \"$peer/32\", \"ports\": [80]}]}}"
	status=0
	output=$(docker run --rm --network host --runtime agentrun-policy "$IMAGE" sh -c "
		readlink /proc/self/ns/net
		wget -qO- http://$peer/plain
		wget -qO- http://$peer:81/plain
		wget -qO- http://127.0.0.1:18091/plain" 2>&1) || status=$?
	kill "$pid"
	wait "$pid" 2>/dev/null || true
	echo "exit code $status: $output"
	[ "$status" -eq 1 ]
	[ "$output" = "$(readlink /proc/self/ns/net)
not a program
wget: can't connect to remote host ($peer): Operation not permitted
wget: can't connect to remote host (127.0.0.1): Operation not permitted" ]
}

@test "policy: a detached container, exec, stop, logs, top" {
	docker run -d --name "p$BATS_TEST_NUMBER" --runtime agentrun "$IMAGE" sh -c 'echo started; trap "exit 0" TERM; while :; do sleep 0.1; done'
	run docker exec "p$BATS_TEST_NUMBER" echo in
	gives in
	run docker top "p$BATS_TEST_NUMBER"
	[ "$status" -eq 0 ]
	run docker stop -t 5 "p$BATS_TEST_NUMBER"
	[ "$status" -eq 0 ]
	run docker logs "p$BATS_TEST_NUMBER"
	gives started
}

# Egress end to end: a container in a network with an outside world (its own network
# namespaces, joined by a pair of virtual cables) reaches what its policy names and nothing else.
# shellcheck shell=bash

load helpers.bash
load helpers/outside.bash

readonly REFUSED='connect: Operation not permitted'

setup_file() {
	export SUITE_POLICY=1
	suite_setup_file
	[ "$KIND" = agentrun ] || skip "only agentrun has a policy"
	if [ -e /etc/agentrun/policy.json ]; then
		skip "this host has a policy of its own"
	fi
	outside_make
	mkdir "$BATS_FILE_TMPDIR/www"
	echo outside >"$BATS_FILE_TMPDIR/www/index.html"
	for port in 80 8080; do
		world_daemon "$port" python3 -m http.server --directory "$BATS_FILE_TMPDIR/www" "$port"
	done
	world_daemon dns python3 "$BATS_TEST_DIRNAME/helpers/dns.py" "$SERVER" "good.test=$ALLOWED" "bad.test=$OTHER" \
		"meta.test=169.254.169.254" "inner.test=10.1.2.3"
	local i
	for ((i = 0; i < 50 * ${PATIENCE-1}; i++)); do
		! ip netns exec "$INSIDE" "$(net_client)" get "$ALLOWED" 8080 >/dev/null || break
		sleep 0.1
	done
}

net_client() {
	echo "${NET_CLIENT:-$(dirname "$AGENTRUN")/tests/integration/helpers/net-client}"
}

teardown_file() {
	outside_end
	suite_teardown_file
}

setup() {
	suite_setup
	umask 022
	give_network
	cp "$(net_client)" "$ROOTFS/bin/net-client"
}

# image_resolv_conf TEXT: no mount, a file of the image instead.
image_resolv_conf() {
	edit '.mounts |= map(select(.destination != "/etc/resolv.conf"))'
	echo "$1" >"$ROOTFS/etc/resolv.conf"
}

# on_host_conf FILE [OPTION...]: runs the container with that as the host's resolv.conf, and $RUN_SYSTEMD as its
# /run/systemd; leaves $status and $output.
on_host_conf() {
	local file=$1
	shift
	: >"$LOG"
	status=0
	# shellcheck disable=SC2016,SC2086
	unshare --mount --propagation private sh -c 'mount --bind "$1" /etc/resolv.conf &&
		{ [ -z "$RUN_SYSTEMD" ] || mount --bind "$RUN_SYSTEMD" /run/systemd; } && shift && exec "$@"' - "$file" \
		timeout --kill-after 1 30 "$AGENTRUN" ${AGENTRUN_FLAGS-} --root "$ROOT" --log "$LOG" --log-format json \
		run --bundle "$BUNDLE" "$@" "$ID" </dev/null >"$T/stdout" 2>"$T/stderr" 3>&- || status=$?
	output=$(cat "$T/stdout") errors=$(cat "$T/stderr")
}

teardown() {
	suite_teardown
}

# inside SCRIPT: its output and exit code, from within a container.
inside() {
	sh_args "$1"
	run_container
}

# asked NAME: whether the name server outside was asked for it since the start of the test.
asked() {
	grep -q "^$1 " "$BATS_FILE_TMPDIR/dns.err"
}

@test "nothing leaves by default, and the refusal comes at once" {
	# refused, which takes no time; who is not answered has another message
	inside "net-client get $ALLOWED 8080"
	exits 1 "$REFUSED"
	log_has '"egress-denied"' "\"address\":\"$ALLOWED\""
}

@test "by default no name resolves, at once, and no question leaves" {
	inside 'net-client resolve quiet.test'
	exits 1 'unknown name'
	! asked quiet.test
	log_has '"egress-denied"' '"name":"quiet.test"'
}

@test "an address and port that the policy names, and no other" {
	allow "{\"cidr\": \"$ALLOWED/32\", \"ports\": [8080], \"protocol\": \"tcp\"}"
	inside "net-client get $ALLOWED 8080; net-client get $ALLOWED 80; net-client get $OTHER 8080"
	exits 1 "outside
$REFUSED
$REFUSED"
}

@test "a name that the policy names, by its address for as long as it lives" {
	allow '{"host": "good.test", "ports": [8080]}'
	inside "net-client name good.test 8080; net-client name good.test 80; net-client name bad.test 8080; net-client get $OTHER 8080"
	exits 1 "outside
$REFUSED
unknown name
$REFUSED"
	asked good.test
	! asked bad.test
	log_has '"type":"name"' good.test
}

@test "an address that was not looked up is closed, even if its name is allowed" {
	allow '{"host": "good.test", "ports": [8080]}'
	inside "net-client get $ALLOWED 8080"
	exits 1 "$REFUSED"
}

@test "suffixes do not confuse: sub.good.test and evilgood.test" {
	allow '{"host": "*.good.test", "ports": [8080]}'
	inside 'net-client resolve evilgood.test; net-client resolve good.test'
	exits 1 $'unknown name\nunknown name'
	! asked evilgood.test
}

@test "an allowed name cannot open metadata or private addresses" {
	allow '{"host": "meta.test"}' '{"host": "inner.test"}'
	inside 'net-client resolve meta.test; net-client resolve inner.test'
	exits 1 $'no address\nno address'
	log_has '"egress-denied"' 169.254.169.254
}

@test "a resolv.conf of the image does not say who is asked: the host's does" {
	allow '{"host": "good.test", "ports": [8080]}'
	image_resolv_conf "nameserver $OTHER"
	sh_args 'net-client name good.test 8080'
	on_host_conf "$T/resolv.conf"
	exits 0 outside
	image_resolv_conf "nameserver $SERVER"
	echo "nameserver $OTHER" >"$T/resolv.conf"
	sh_args 'net-client resolve host.good.test'
	allow '{"host": "host.good.test"}'
	on_host_conf "$T/resolv.conf"
	[ "$status" -eq 1 ]
	! asked host.good.test
}

@test "a hook that makes the network says who is asked, but not on the container's loopback" {
	allow '{"host": "good.test", "ports": [8080]}'
	echo "nameserver $OTHER" >"$T/resolv.conf"
	edit --arg f "$T/resolv.conf" --arg s "nameserver $SERVER" \
		'.hooks.createRuntime = [{path: "/bin/sh", args: ["sh", "-c", "echo \"$1\" >\"$2\"", "-", $s, $f]}]'
	inside 'net-client name good.test 8080'
	exits 0 outside
	edit '.hooks.createRuntime[0].args[4] = "nameserver 127.0.0.1"'
	run_container
	fails 1 "name server on the container's loopback"
}

@test "a resolv.conf of the host that is not to be read leaves nobody to ask" {
	allow '{"host": "nobody.test"}'
	image_resolv_conf "nameserver $SERVER"
	mkfifo "$T/pipe"
	sh_args 'net-client resolve nobody.test'
	on_host_conf "$T/pipe"
	[ "$status" -eq 1 ]
	! asked nobody.test
}

@test "a resolv.conf that was cloned for a user namespace is read as well" {
	allow '{"host": "good.test", "ports": [8080]}'
	in_user_namespace
	inside 'net-client name good.test 8080'
	exits 0 outside
}

@test "a name server on the host's loopback is nobody's on the container's" {
	allow '{"host": "good.test", "ports": [8080]}'
	image_resolv_conf "nameserver $SERVER"
	printf 'nameserver 127.0.0.53\nnameserver fe80::1%%v0\nnameserver %s\n' "$SERVER" >"$T/resolv.conf"
	args sleep 60
	on_host_conf "$T/resolv.conf" --detach
	works
	[ "$(jq -r .resolvConf "$ROOT/$ID/monitor.json")" = "nameserver $SERVER" ]
	call exec "$ID" net-client name good.test 8080
	exits 0 outside
}

@test "behind a stub on the host's loopback are the servers that it asks" {
	[ -d /run/systemd ] || skip "no folder to put them into"
	allow '{"host": "good.test", "ports": [8080]}'
	image_resolv_conf "nameserver $OTHER"
	mkdir "$T/systemd" "$T/systemd/resolve"
	mv "$T/resolv.conf" "$T/systemd/resolve/resolv.conf"
	echo 'nameserver 127.0.0.53' >"$T/resolv.conf"
	sh_args 'net-client name good.test 8080'
	RUN_SYSTEMD=$T/systemd on_host_conf "$T/resolv.conf"
	exits 0 outside
}

@test "a pipe or device in the place of resolv.conf is not opened, from the image or by a mount" {
	allow '{"host": "good.test"}'
	image_resolv_conf ''
	rm "$ROOTFS/etc/resolv.conf"
	mkfifo "$ROOTFS/etc/resolv.conf" "$T/pipe"
	for pipe in "$ROOTFS/etc/resolv.conf" "$T/pipe"; do
		(: >"$pipe" && touch "$T/opened") 3>&- &
		echo $! >>"$BATS_FILE_TMPDIR/pids"
	done
	args true
	run_container
	works
	[ ! -e "$T/opened" ]
	rm "$ROOTFS/etc/resolv.conf"
	add_mount "{\"destination\": \"/etc/resolv.conf\", \"type\": \"bind\", \"source\": \"$T/pipe\", \"options\": [\"bind\", \"ro\"]}"
	run_container
	[ ! -e "$T/opened" ]
}

@test "loopback inside works" {
	inside 'mkdir -p /w; echo local >/w/index.html; httpd -p 127.0.0.1:8000 -h /w; net-client get 127.0.0.1 8000'
	exits 0 local
}

@test "who comes from outside is answered under deny-all, and exec is bound as well" {
	sh_args 'mkdir -p /w; echo served >/w/index.html; httpd -f -p 8000 -h /w'
	call run --detach --bundle "$BUNDLE" "$ID"
	works
	local i
	for ((i = 0; i < 50 * ${PATIENCE-1}; i++)); do
		output=$(ip netns exec "$WORLD" "$(net_client)" get "$HERE" 8000 || true)
		[ "$output" != served ] || break
		sleep 0.1
	done
	[ "$output" = served ]
	call exec "$ID" net-client get "$ALLOWED" 8080
	exits 1 "$REFUSED"
}

@test "two containers in one network have each its own rules" {
	args sleep 300
	call run --detach --bundle "$BUNDLE" "$ID"
	works
	allow "{\"cidr\": \"$ALLOWED/32\", \"ports\": [8080]}"
	edit '.linux.cgroupsPath += "-b"'
	call run --detach --bundle "$BUNDLE" "$ID-b"
	works
	call exec "$ID" net-client get "$ALLOWED" 8080
	exits 1 "$REFUSED"
	call exec "$ID-b" net-client get "$ALLOWED" 8080
	exits 0 outside
}

@test "the death of the monitor opens nothing" {
	allow '{"host": "good.test", "ports": [8080]}'
	sh_args "trap '' TERM; net-client name good.test 8080 >/first; touch /ready; while :; do net-client get $OTHER 8080 | grep outside >>/late; done"
	call run --detach --bundle "$BUNDLE" "$ID"
	works
	local i
	for ((i = 0; i < 50 * ${PATIENCE-1}; i++)); do
		[ ! -e "$ROOTFS/ready" ] || break
		sleep 0.1
	done
	[ "$(cat "$ROOTFS/first")" = outside ]
	kill -KILL "$(jq -r .monitorPid "$ROOT/$ID/state.json")"
	sleep 0.5
	[ "$(rt state "$ID" | jq -r .status)" = stopped ]
	[ ! -s "$ROOTFS/late" ]
}

@test "a network socket is not taken in as a standard stream" {
	exec 8<>/dev/udp/127.0.0.1/9
	status=0
	"$AGENTRUN" --root "$ROOT" --log "$LOG" --log-format json run --bundle "$BUNDLE" "$ID" <&8 2>"$T/stderr" 3>&- || status=$?
	exec 8>&-
	[ "$status" -ne 0 ]
	grep -q 'descriptor 0 is a network socket' "$T/stderr"
}

@test "a socket that does not say what it is is not taken in either" {
	"$PYTHON" - "$T/sock" <<-'EOF'
		import socket, sys
		socket.socket(socket.AF_UNIX).bind(sys.argv[1])
	EOF
	status=0
	# by O_PATH: a socket for fstat(2), and none for getsockopt(2)
	"$PYTHON" -c 'import os, sys; os.dup2(os.open(sys.argv[1], os.O_PATH), 0); os.execv(sys.argv[2], sys.argv[2:])' "$T/sock" \
		"$AGENTRUN" --root "$ROOT" --log "$LOG" --log-format json run --bundle "$BUNDLE" "$ID" >"$T/stdout" 2>"$T/stderr" 3>&- || status=$?
	cat "$T/stderr"
	[ "$status" -ne 0 ]
	grep -q 'descriptor 0 is a socket of an unknown kind' "$T/stderr"
}

@test "an annotation can take rules away, and adds none" {
	allow "{\"cidr\": \"$ALLOWED/32\", \"ports\": [8080]}" "{\"cidr\": \"$OTHER/32\", \"ports\": [8080]}"
	edit --arg v "$ALLOWED/32:8080" '.annotations["org.agentrun.egress.allow"] = $v'
	inside "net-client get $ALLOWED 8080; net-client get $OTHER 8080"
	exits 1 "outside
$REFUSED"
	edit '.annotations["org.agentrun.egress.allow"] = "198.51.100.1/32:80"'
	run_container
	fails 1 egress
}

@test "an annotation cannot choose a private address out of a range that does not open it" {
	allow '{"cidr": "0.0.0.0/0"}' '{"cidr": "::/0"}'
	edit --arg v "$PRIVATE/32:8080 $ALLOWED/32:8080 [::ffff:0:0/96]" '.annotations["org.agentrun.egress.allow"] = $v'
	inside "net-client get $PRIVATE 8080; net-client get $OTHER 8080; net-client get $ALLOWED 8080"
	exits 0 "$REFUSED
$REFUSED
outside"
	log_has '"egress-denied"' "\"address\":\"$PRIVATE\""
}

@test "an annotation keeps a private address that the policy's own range opens" {
	allow '{"cidr": "10.0.0.0/8", "ports": [8080, 80]}'
	edit --arg v "$PRIVATE:8080" '.annotations["org.agentrun.egress.allow"] = $v'
	inside "net-client get $PRIVATE 8080; net-client get $PRIVATE 80"
	exits 1 "outside
$REFUSED"
}

@test "a range of ports opens each of its ports, by address, by name and in an annotation" {
	allow "{\"cidr\": \"$OTHER/32\", \"ports\": [\"8000-8080\"]}" '{"host": "good.test", "ports": ["8080-8081", 22]}'
	inside "net-client get $OTHER 8080; net-client name good.test 8080; net-client get $OTHER 80; net-client name good.test 80"
	exits 1 "outside
outside
$REFUSED
$REFUSED"
	edit --arg v "$OTHER:8001-8079,good.test:8080-8081" '.annotations["org.agentrun.egress.allow"] = $v'
	inside "net-client get $OTHER 8080; net-client name good.test 8080"
	exits 0 "$REFUSED
outside"
	edit --arg v "$OTHER:7999-8080" '.annotations["org.agentrun.egress.allow"] = $v'
	inside 'true'
	fails 1 "$OTHER:7999-8080"
}

@test "raw, packet and vsock sockets are not had" {
	inside 'ping -c 1 -W 1 127.0.0.1 >/dev/null 2>&1 || echo raw; arping -c 1 -I eth0 93.184.216.1 >/dev/null 2>&1 || echo packet'
	exits 0 $'raw\npacket'
}

@test "a cgroup that was there before is its owner's again after the container" {
	local unified round
	command -v bpftool >/dev/null || skip "bpftool is not installed"
	unified=$(controller unified)
	mkdir -p "$unified"
	for round in 1 2; do
		inside "net-client get $ALLOWED 8080; echo $round"
		works "$REFUSED"$'\n'"$round"
		[ -d "$unified" ]
		[ -z "$(bpftool cgroup list "$unified")" ]
	done
	args sleep 1000
	call run --detach --bundle "$BUNDLE" "$ID"
	works
	[ "$(bpftool cgroup list "$unified" | wc -l)" -gt 5 ]
	call delete --force "$ID"
	works
	[ -z "$(bpftool cgroup list "$unified")" ]
}

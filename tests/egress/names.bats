#!/usr/bin/env bats
# Names as a container meets them: its cgroup under the rules, its network a namespace with one
# wire to an outside that is another namespace, and beside it what the monitor does. The
# programs in there are ordinary ones, without any setting for a proxy.
#
# Environment
#   AGENTRUN   a built program; what runs beside the container is taken from the same build

bats_require_minimum_version 1.5.0

HERE=$BATS_TEST_DIRNAME
# shellcheck disable=SC2054
RULES=(good.test:80,443 web.test:80 '*.wild.test:80,443' six.test:80,443 alias.test:80 aside.test:80 circle.test
	rotate.test:80 big.test:80 rebind.test:80 silent.test garbage.test spoof.test:80 meta.test loop.test private.test
	mapped.test nat64.test mixed.test:80 near.test:80 twin.test:8080 _web._tcp.srv.test dead.test:443 other.test:443:address
	10.2.0.0/24)

setup_file() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	local program
	for program in ip nsenter curl openssl python3; do
		command -v "$program" >/dev/null || skip "$program is not installed"
	done
	export BESIDE=${AGENTRUN%/*}/tests/egress/beside
	[ -x "$BESIDE" ] || skip "$BESIDE is not built"
	export W=$BATS_FILE_TMPDIR OUT=agt-out-$$ IN=agt-in-$$
	ip netns add "$OUT"
	ip netns add "$IN"
	ip link add agto$$ netns "$OUT" type veth peer name agti$$ netns "$IN"
	local ns
	for ns in "$OUT" "$IN"; do
		ip netns exec "$ns" sysctl -qw net.ipv6.conf.all.accept_dad=0 net.ipv6.conf.default.accept_dad=0 || true
		ip -n "$ns" link set lo up
	done
	ip -n "$OUT" link set agto$$ up
	ip -n "$IN" link set agti$$ up
	ip -n "$IN" addr add 198.51.100.2/24 dev agti$$
	ip -n "$IN" addr add 2001:db8::2/64 dev agti$$ nodad
	local address
	for address in 198.51.100.1/24 203.0.113.1/24 169.254.169.254/32 10.1.1.1/32 10.2.0.1/32; do
		ip -n "$OUT" addr add "$address" dev agto$$
	done
	for address in 53 80 81 82 $(seq 100 199); do
		ip -n "$OUT" addr add "198.51.100.$address/24" dev agto$$
	done
	for address in 1 53 80; do
		ip -n "$OUT" addr add "2001:db8::$address/64" dev agto$$ nodad
	done
	ip -n "$IN" route add default via 198.51.100.1
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test \
		-addext 'subjectAltName=DNS:good.test,DNS:other.test,DNS:evil.test,DNS:*.wild.test,DNS:six.test' \
		-keyout "$W/key.pem" -out "$W/cert.pem" 2>/dev/null
	: >"$W/queries"
	: >"$W/packets"
	mkfifo "$W/hold"
	ip netns exec "$OUT" python3 "$HERE/world.py" "$W" <"$W/hold" >"$W/world.log" 2>&1 3>&- &
	echo $! >"$W/world.pid"
	exec 8>"$W/hold"
	printf 'nameserver 198.51.100.53\n' >"$W/resolv.conf"
	printf 'hosts: dns\n' >"$W/nsswitch.conf"
	local top=/sys/fs/cgroup/unified
	[ -e "$top/cgroup.procs" ] || top=/sys/fs/cgroup
	export BOX=$top/agentrun-test-names-$$
	mkdir -p "$BOX"
	wait_for_file "$W/ready"
	start_beside "$W/resolv.conf" "${RULES[@]}"
}

wait_for_file() {
	local _
	for _ in $(seq $((100 * ${PATIENCE-1}))); do
		[ -s "$1" ] && return 0
		sleep 0.05
	done
	cat "$W/world.log" "$W/beside.err" >&2
	return 1
}

# start_beside RESOLV-CONF RULE...
start_beside() {
	rm -f "$W/stop" "$W/events"
	mkfifo "$W/stop"
	"$BESIDE" "$BOX" "/run/netns/$IN" "$@" <"$W/stop" >"$W/events" 2>"$W/beside.err" 3>&- 8>&- &
	echo $! >"$W/beside.pid"
	exec 9>"$W/stop"
	wait_for_file "$W/events"
	grep -q ready "$W/events"
}

teardown_file() {
	local pid
	for pid in "$W/beside.pid" "$W/world.pid"; do
		[ ! -s "$pid" ] || kill "$(cat "$pid")" 2>/dev/null || true
	done
	sleep 0.2
	[ ! -d "${BOX-/nonexistent}" ] || rmdir "$BOX" || true
	ip netns del "$IN" 2>/dev/null || true
	ip netns del "$OUT" 2>/dev/null || true
}

# box COMMAND...: in the cgroup and the network of the container, with its resolv.conf.
box() {
	# shellcheck disable=SC2016
	timeout $((${BOX_SECONDS-30} * ${PATIENCE-1})) unshare -m bash -c '
		echo $$ >"$0/cgroup.procs" &&
		mount --bind "$1" /etc/resolv.conf &&
		mount --bind "$2" /etc/nsswitch.conf &&
		exec nsenter --net="/run/netns/$3" "${@:4}"' \
		"$BOX" "$W/resolv.conf" "$W/nsswitch.conf" "$IN" "$@" 3>&- 8>&- 9>&-
}

ask() {
	box python3 "$HERE/ask.py" "$@"
}

# asked ...: without the word about the time, for answers that come from outside.
asked() {
	ask "$@" | sed 's/ \(fast\|slow\)\b//'
}

# fetch URL OPTIONS...: the body.
fetch() {
	box curl -sS --cacert "$W/cert.pem" --max-time $((10 * ${PATIENCE-1})) "$@" 2>&1
}

# What has left so far: lines of packets and of queries.
left() {
	cat "$W/packets" "$W/queries" | wc -l
}

@test 'an allowed name can be fetched, by HTTP and by HTTPS' {
	run -0 fetch http://good.test/
	[ "$output" = 'this is plain' ]
	run -0 fetch https://good.test/
	[ "$output" = 'this is good.test' ]
	run -0 fetch http://x.wild.test/
	run -0 box getent ahostsv4 good.test
	[[ $output = 198.51.100.80* ]]
}

@test 'the same over IPv6' {
	run -0 fetch -6 http://six.test/
	run -0 fetch -6 https://six.test/
	[ "$output" = 'this is six.test' ]
	run -0 fetch -6 https://good.test/
	[ "$output" = 'this is good.test' ]
}

@test 'names that no rule means are answered at once, and nothing leaves' {
	local before name slow=0 all=0
	before=$(left)
	for name in evil.test x.good.test good.test.evil.test xgood.test wild.test xwild.test secret-data.exfil.test com; do
		for how in '198.51.100.53 udp' '198.51.100.53 tcp' '8.8.8.8 udp' '2001:db8::53 udp' '2001:db8::53 tcp'; do
			# shellcheck disable=SC2086
			run -0 ask $how "$name" AAAA edns
			[[ $output = 'NXDOMAIN whole ede=15 '* ]]
			[[ $output = *fast ]] || slow=$((slow + 1))
			all=$((all + 1))
		done
	done
	run -0 asked 8.8.8.8 udp secret-data.exfil.test TXT
	[ "$output" = 'NXDOMAIN whole ede=none' ]
	# within 50 ms, but for a machine that has no time
	[ $((slow * 4)) -lt "$all" ]
	run -2 box getent hosts evil.test
	run -6 fetch http://evil.test/
	run -6 fetch http://x.good.test/
	[ "$(left)" -eq "$before" ]
	grep -q '^name denied secret-data.exfil.test type 28 ' "$W/events"
}

@test 'an address that no name has opened is refused' {
	local before
	before=$(grep -c '^203.0.113.1 ' "$W/packets" || true)
	run -7 fetch http://203.0.113.1/
	[[ $output = *[Cc]onnect* ]]
	[ "$(grep -c '^203.0.113.1 ' "$W/packets" || true)" -eq "$before" ]
	grep -q '^denied ::ffff:203.0.113.1 80 ' "$W/events"
}

@test 'ports that the rule does not name are refused' {
	run -0 asked 198.51.100.53 udp web.test A
	run -7 fetch http://web.test:8080/
	# the address is the one of good.test, too: what both open is open
	run -0 fetch http://web.test/
}

@test 'aliases lead on from the question only' {
	run -0 fetch http://alias.test/
	run -0 asked 198.51.100.53 udp aside.test A
	[ "$output" = 'NOERROR whole ede=none 198.51.100.80' ]
	run -0 asked 198.51.100.53 udp circle.test A
	[[ $output = SERVFAIL* ]]
}

@test 'no name stands for a special or a private address' {
	local name
	for name in meta loop private; do
		run -0 asked 198.51.100.53 udp $name.test A edns
		[ "$output" = 'NOERROR whole ede=15' ]
		run -0 asked 198.51.100.53 udp $name.test AAAA edns
		[ "$output" = 'NOERROR whole ede=15' ]
	done
	for name in mapped nat64; do
		run -0 asked 198.51.100.53 udp $name.test AAAA edns
		[ "$output" = 'NOERROR whole ede=15' ]
	done
	run ! fetch http://meta.test/
	run -7 fetch http://169.254.169.254/
	run -7 fetch http://10.1.1.1/
	run -0 asked 198.51.100.53 udp mixed.test A edns
	[ "$output" = 'NOERROR whole ede=15 198.51.100.81' ]
	grep -q '^name refused meta.test .*169.254.169.254' "$W/events"
	run -1 grep '^169.254.169.254 ' "$W/packets"
}

@test 'a private address is fine where a range names it' {
	run -0 asked 198.51.100.53 udp near.test A
	[ "$output" = 'NOERROR whole ede=none 10.2.0.1' ]
	run -0 fetch http://near.test/
}

@test 'an answer that changes to the metadata service opens nothing' {
	for _ in 1 2 3 4; do
		ask 198.51.100.53 udp rebind.test A
	done >"$W/rebind"
	grep -q 198.51.100.80 "$W/rebind"
	run -1 grep 169.254 "$W/rebind"
	run -7 fetch http://169.254.169.254/
}

@test 'addresses that rotate stay open for a while' {
	local first _
	first=$(ask 198.51.100.53 udp rotate.test A)
	first=${first##* }
	for _ in $(seq 20); do
		ask 198.51.100.53 udp rotate.test A
	done >/dev/null
	sleep 2
	run -0 fetch "http://$first/"
	run -0 fetch http://rotate.test/
}

@test 'a big answer comes by TCP' {
	run -0 asked 198.51.100.53 udp big.test A
	[[ $output = 'NOERROR truncated'* ]]
	run -0 asked 198.51.100.53 tcp big.test A
	[[ $output = 'NOERROR whole'*203.0.113.1* ]]
	[ "$(wc -w <<<"$output")" -eq 67 ]
}

@test 'other types of an allowed name have no data, and are not asked for' {
	local before kind
	before=$(left)
	for kind in HTTPS SVCB TXT ANY NULL; do
		run -0 asked 198.51.100.53 udp good.test $kind
		[ "$output" = 'NOERROR whole ede=none' ]
	done
	[ "$(left)" -eq "$before" ]
	run -0 asked 198.51.100.53 udp _web._tcp.srv.test SRV
	[ "$output" = 'NOERROR whole ede=none type33' ]
}

@test 'garbage and silence are failures, and nothing more' {
	run -0 asked 198.51.100.53 udp garbage.test A edns
	[ "$output" = 'SERVFAIL whole ede=22' ]
	run -0 asked 198.51.100.53 udp silent.test A edns
	[ "$output" = 'SERVFAIL whole ede=22' ]
	run -0 fetch http://good.test/
}

@test 'false answers are not taken' {
	run -0 asked 198.51.100.53 udp spoof.test A
	[ "$output" = 'NOERROR whole ede=none 198.51.100.80' ]
	grep -q '^name spoofed spoof.test' "$W/events"
	run -7 fetch http://198.51.100.66/
}

@test 'another name at an allowed address is refused by its server name' {
	# evil.test is where good.test is
	run -0 fetch https://good.test/
	run -35 fetch https://evil.test/ --resolve evil.test:443:198.51.100.80
	grep -q '^sni denied evil.test ::ffff:198.51.100.80 443' "$W/events"
	run ! box openssl s_client -connect 198.51.100.80:443 -noservername </dev/null
	grep -q '^sni no-name - ' "$W/events"
	run ! box openssl s_client -connect 198.51.100.80:443 -servername evil.test </dev/null
	run -0 box openssl s_client -connect 198.51.100.80:443 -servername good.test </dev/null
	run ! fetch http://198.51.100.80:443/
	grep -q '^sni not-tls - ' "$W/events"
}

@test 'a rule that trusts the address is not checked' {
	run -0 fetch https://other.test/
	[ "$output" = 'this is other.test' ]
}

@test 'the client sees the server that it asked for' {
	box python3 - <<-'END'
		import socket
		s = socket.create_connection(("198.51.100.81", 443)) if socket.gethostbyname("x.wild.test") else None
		assert s.getpeername() == ("198.51.100.81", 443), s.getpeername()
		u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		u.connect(("9.9.9.9", 53))
		assert u.getpeername() == ("9.9.9.9", 53), u.getpeername()
	END
}

@test 'a server that cannot be reached resets the connection' {
	run -35 fetch https://dead.test/
	grep -q '^sni unreachable - ::ffff:198.51.100.199 443' "$W/events"
}

@test '100 MB through the proxy and past it' {
	local through past
	through=$(fetch -o "$W/bulk" -w '%{speed_download} %{time_connect} %{time_appconnect}' https://good.test/bulk)
	[ "$(stat -c %s "$W/bulk")" -eq $((100 << 20)) ]
	past=$(fetch -o "$W/bulk" -w '%{speed_download} %{time_connect} %{time_appconnect}' https://other.test/bulk)
	rm "$W/bulk"
	printf '# bytes/s, connect, TLS: %s by name, %s by address\n' "$through" "$past" >&3
}

# The answer's 5 seconds count as 30, and 30 are added. More than a minute, so it is for who has the time.
@test '200 MB arrive whole though the lease of their name ends meanwhile; who comes then must look up again' {
	[ -n "${EGRESS_LONG-}" ] || skip "takes more than a minute: EGRESS_LONG=1"
	local hash name jobs=() began=$SECONDS
	hash=$(python3 "$HERE/world.py" large)
	for name in good.test other.test; do
		BOX_SECONDS=150 box curl -sS --cacert "$W/cert.pem" --limit-rate 2800K -o "$W/large-$name" "https://$name/large" &
		jobs+=($!)
	done
	sleep 64
	kill -0 "${jobs[@]}"
	# By their addresses, without a question.
	run -7 fetch http://198.51.100.80/
	run -7 fetch http://198.51.100.82/
	run ! fetch --resolve good.test:443:198.51.100.80 https://good.test/
	wait "${jobs[0]}"
	wait "${jobs[1]}"
	[ $((SECONDS - began)) -gt 65 ]
	for name in good.test other.test; do
		sha256sum --check --quiet <<<"$hash  $W/large-$name"
		rm "$W/large-$name"
	done
	run -0 fetch https://good.test/
	run -0 fetch http://198.51.100.80/
}

# Each fetches, and each fails at once and plainly, with no setting for a proxy.
@test 'other clients reach an allowed name and fail fast on others' {
	cat >"$W/client.js" <<-'END'
		fetch(process.argv[2]).then(r => r.text()).then(t => process.stdout.write(t),
			e => { console.log(e.cause ? e.cause.code : e.code); process.exit(3) })
	END
	cat >"$W/client.py" <<-'END'
		import os, sys, time, urllib.request
		begin = time.monotonic()
		try:
		    print(urllib.request.urlopen(sys.argv[1]).read().decode(), end="")
		except OSError as e:
		    print(e, "fast" if time.monotonic() - begin < 0.5 * int(os.environ.get("PATIENCE", "1")) else "slow")
		    sys.exit(3)
	END
	run -0 box python3 "$W/client.py" http://good.test/
	[ "$output" = 'this is plain' ]
	run -3 box python3 "$W/client.py" http://evil.test/
	[[ $output = *'not known'*fast ]]
	run -3 box python3 "$W/client.py" http://203.0.113.250/
	[[ $output = *'not permitted'*fast ]]
	run -0 box env SSL_CERT_FILE="$W/cert.pem" python3 "$W/client.py" https://good.test/
	[ "$output" = 'this is good.test' ]
	if command -v busybox >/dev/null; then
		run -0 box busybox wget -qO- http://good.test/
		[ "$output" = 'this is plain' ]
		run ! box busybox wget -qO- http://evil.test/
		[[ $output = *'bad address'* ]]
		run -0 box busybox nslookup good.test 198.51.100.53
	fi
	if command -v wget >/dev/null; then
		run -0 box wget -qO- --ca-certificate="$W/cert.pem" https://good.test/
		[ "$output" = 'this is good.test' ]
		run -4 box wget -qO- http://evil.test/
	fi
	if command -v node >/dev/null; then
		run -0 box env NODE_EXTRA_CA_CERTS="$W/cert.pem" node "$W/client.js" https://good.test/
		[ "$output" = 'this is good.test' ]
		run -3 box node "$W/client.js" http://evil.test/
		[ "$output" = ENOTFOUND ]
	fi
	if command -v git >/dev/null; then
		# not in a folder whose own repository could be what it complains of
		run -128 box git -C "$W" -c http.sslCAInfo="$W/cert.pem" ls-remote https://evil.test/x
		echo "git: $output"
		[[ $output = *'not resolve host'* ]]
	fi
}

@test 'rules that are taken away close what they had opened' {
	run -0 fetch http://web.test/
	run -0 fetch http://x.wild.test/
	echo >&9
	# shellcheck disable=SC2016
	timeout $((5 * ${PATIENCE-1})) sh -c 'until grep -q ^updated "$0"; do sleep 0.05; done' "$W/events"
	run -0 asked 198.51.100.53 udp x.wild.test A
	[ "$output" = 'NXDOMAIN whole ede=none' ]
	run -7 fetch http://198.51.100.81/
	# what is left works as before, with its own ports
	run -0 fetch http://good.test/
	run -0 fetch https://good.test/
	run -7 fetch http://good.test:8080/
	run -35 fetch https://evil.test/ --resolve evil.test:443:198.51.100.80
}

@test 'without the process beside it nothing opens' {
	exec 9>&-
	kill "$(cat "$W/beside.pid")" || true
	sleep 0.3
	: >"$W/beside.pid"
	run -0 ask 198.51.100.53 udp good.test A
	[[ $output = error* ]]
	run ! fetch http://good.test/
	run ! fetch https://good.test/ --resolve good.test:443:198.51.100.80
	run -7 fetch http://203.0.113.250/
}

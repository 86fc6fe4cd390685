#!/usr/bin/env bats
# A container and an outside that have IPv6 and nothing else: names, server names, ranges, the floor, replies, and
# rules that become narrower.

bats_require_minimum_version 1.5.0
load ../integration/helpers.bash
load ../integration/helpers/outside.bash

PARTS=$BATS_TEST_DIRNAME/../integration/helpers
readonly GOOD6=2001:db8:6::10 OTHER6=2001:db8:6::11 SERVER6=2001:db8:6::53 HERE6=2001:db8:6::2 ULA=fd00:6::10

setup_file() {
	export SUITE_POLICY=1
	suite_setup_file
	[ "$KIND" = agentrun ] || skip "only agentrun has a policy"
	[ ! -e /etc/agentrun/policy.json ] || skip "this host has a policy of its own"
	[ -e /proc/net/if_inet6 ] || skip "no IPv6"
	local program address w=$BATS_FILE_TMPDIR
	for program in openssl curl; do
		command -v "$program" >/dev/null || skip "$program is not installed"
	done
	export WORLD=w$$ INSIDE=i$$
	ip netns add "$WORLD"
	ip netns add "$INSIDE"
	ip -n "$WORLD" link set lo up
	ip -n "$WORLD" link add name v0 type veth peer name eth0 netns "$INSIDE"
	ip -n "$WORLD" link set v0 up
	for address in 2001:db8:6::1/64 "$GOOD6/64" "$OTHER6/64" "$SERVER6/64" "$ULA/64" fd00:ec2::254/128; do
		ip -n "$WORLD" address add "$address" dev v0 nodad
	done
	ip -n "$INSIDE" link set lo up
	ip -n "$INSIDE" link set eth0 up
	ip -n "$INSIDE" address add "$HERE6/64" dev eth0 nodad
	ip -n "$INSIDE" route add default via 2001:db8:6::1
	# not even the loopback address
	ip -n "$INSIDE" address del 127.0.0.1/8 dev lo
	[ -z "$(ip -n "$INSIDE" -4 address)" ]
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=six \
		-addext 'subjectAltName=DNS:good.test,DNS:evil.test' -keyout "$w/key.pem" -out "$w/cert.pem" 2>/dev/null
	mkdir "$w/shop"
	echo 'this is six' >"$w/shop/hello"
	for address in "$GOOD6" "$ULA" fd00:ec2::254; do
		world_daemon "shop$address" /usr/bin/python3 "$BATS_TEST_DIRNAME/shop.py" "$address" "$w/shop" "$w/cert.pem" "$w/key.pem"
		wait_for 60 grep -qs ready "$w/shop$address.out"
	done
	world_daemon flows /usr/bin/python3 "$PARTS/flows.py" --echo "[$GOOD6]:7000" "[$OTHER6]:7000" --tls "[$OTHER6]:443" \
		"$w/cert.pem" "$w/key.pem"
	world_daemon dns /usr/bin/python3 "$PARTS/dns.py" "$SERVER6" "good.test=$GOOD6" "evil.test=$GOOD6" "bad.test=$OTHER6" \
		"ula.test=$ULA" "meta.test=fd00:ec2::254"
	wait_for 60 grep -qs ready "$w/flows.out"
	wait_for 60 grep -qs ready "$w/dns.out"
}

teardown_file() {
	outside_end
	suite_teardown_file
}

setup() {
	suite_setup
	umask 022
	give_network
	echo "nameserver $SERVER6" >"$T/resolv.conf"
	args sleep 300
}

teardown() {
	suite_teardown
}

detached() {
	call run --detach --bundle "$BUNDLE" "$ID"
	works
}

fetch() {
	box curl -sS --max-time $((20 * ${PATIENCE-1})) --cacert "$BATS_FILE_TMPDIR/cert.pem" "$@"
}

@test "names, server names and addresses over IPv6 alone" {
	allow '{"host": "good.test", "ports": [443, 80]}' '{"host": "ula.test"}' '{"host": "meta.test"}' \
		"{\"cidr\": \"$OTHER6/128\", \"ports\": [7000]}"
	detached
	run -0 fetch https://good.test/hello
	[ "$output" = 'this is six' ]
	run -0 fetch http://good.test/hello
	run -6 fetch https://evil.test/hello
	run -35 fetch https://evil.test/hello --resolve "evil.test:443:[$GOOD6]"
	run -7 fetch "http://[$GOOD6]:8080/"
	run -7 fetch "http://[$ULA]/hello"
	# what a name stands for passes the floor
	run -6 fetch http://ula.test/hello
	run -6 fetch http://meta.test/hello
	run -7 fetch http://192.0.2.1/
	log_has '"what":"sni"' '"name":"evil.test"'
	log_has '"what":"name"' 'fd00:ec2::254'
	# the other way round: who comes in is answered
	run -0 box /usr/bin/python3 "$PARTS/flows.py" "a=tcp:[$OTHER6]:7000" "b=udp:[$OTHER6]:7000" </dev/null
	[ "$(sort <<<"$output" | tr '\n' ' ')" = 'a alive b alive open ' ]
}

@test "by default nothing leaves over IPv6, at once, and who comes in is answered" {
	: >"$BATS_FILE_TMPDIR/dns.err"
	detached
	run -6 fetch https://good.test/hello
	run -7 fetch "http://[$GOOD6]/hello"
	[ ! -s "$BATS_FILE_TMPDIR/dns.err" ]
	box /usr/bin/python3 "$PARTS/flows.py" "in=serve:[$HERE6]:6000" </dev/null >"$T/served" &
	run -0 ip netns exec "$WORLD" /usr/bin/python3 "$PARTS/flows.py" "out=visit:[$HERE6]:6000" </dev/null
	[[ $output = open* ]]
	wait_for 60 grep -q . "$T/served"
	grep -qx open "$T/served"
}

@test "wide IPv6 ranges open neither private addresses nor metadata" {
	allow '{"cidr": "::/0"}' '{"cidr": "0.0.0.0/0"}'
	detached
	run -0 fetch "http://[$GOOD6]/hello"
	run -7 fetch "http://[$ULA]/hello"
	run -7 fetch "http://[fd00:ec2::254]/hello"
	run -7 fetch "http://[fe80::1]/hello"
	call update --egress-allow "2001:db8:6::/48" "$ID"
	works
	run -0 fetch "http://[$GOOD6]/hello"
}

@test "narrower rules end IPv6 connections" {
	allow "{\"cidr\": \"$GOOD6/128\", \"ports\": [7000]}" "{\"cidr\": \"$OTHER6/128\", \"ports\": [7000]}" \
		'{"host": "bad.test", "ports": [443]}'
	detached
	mkfifo "$T/hold"
	box /usr/bin/python3 "$PARTS/flows.py" "keep=tcp:[$GOOD6]:7000" "keep-udp=udp:[$GOOD6]:7000" "cut=tcp:[$OTHER6]:7000" \
		"cut-udp=udp:[$OTHER6]:7000" "cut-tls=tls:bad.test:443" <"$T/hold" >"$T/flows" &
	exec 8>"$T/hold"
	wait_for 60 grep -qs open "$T/flows"
	[ "$(cat "$T/flows")" = open ]
	call update --egress-allow "[$GOOD6]:7000" "$ID"
	works
	wait_for 60 grep -q '^cut ECONNABORTED$' "$T/flows"
	wait_for 60 grep -q '^cut-udp EPERM$' "$T/flows"
	wait_for 60 grep -q '^cut-tls ' "$T/flows"
	exec 8>&-
	wait_for 60 grep -q '^keep-udp alive$' "$T/flows"
	grep -q '^keep alive$' "$T/flows"
}

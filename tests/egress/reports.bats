#!/usr/bin/env bats
# What users of other systems reported about egress: README.md says which test covers which report. Here are those
# that have no place elsewhere, each with a container under its policy.

bats_require_minimum_version 1.5.0
load ../integration/helpers.bash
load ../integration/helpers/outside.bash

PARTS=$BATS_TEST_DIRNAME/../integration/helpers
readonly REFUSED='connect: Operation not permitted' NODE_DNS=169.254.20.10
METADATA=(169.254.169.254 169.254.170.2 100.100.100.200 168.63.129.16)

setup_file() {
	export SUITE_POLICY=1
	suite_setup_file
	[ "$KIND" = agentrun ] || skip "only agentrun has a policy"
	[ ! -e /etc/agentrun/policy.json ] || skip "this host has a policy of its own"
	outside_make
	local address port
	for address in "$NODE_DNS" "${METADATA[@]}"; do
		ip -n "$WORLD" address add "$address/32" dev v0
	done
	mkdir "$BATS_FILE_TMPDIR/www"
	echo outside >"$BATS_FILE_TMPDIR/www/index.html"
	# port 2222 stands for ssh
	for port in 80 2222; do
		world_daemon "$port" /usr/bin/python3 -m http.server --directory "$BATS_FILE_TMPDIR/www" "$port"
	done
	for address in "$SERVER" "$NODE_DNS"; do
		world_daemon "dns$address" /usr/bin/python3 "$PARTS/dns.py" "$address" "good.test=$ALLOWED" "twin.test=$ALLOWED" \
			"metadata.google.internal=169.254.169.254" "own.test=93.184.218.1" "n4999.many.test=$OTHER"
	done
	# an address of the host itself, which the container's network could reach
	ip link add name "agh$$" type veth peer name host netns "$INSIDE"
	ip address add 93.184.218.1/30 dev "agh$$"
	ip link set "agh$$" up
	ip -n "$INSIDE" address add 93.184.218.2/30 dev host
	ip -n "$INSIDE" link set host up
	/usr/bin/python3 -m http.server --directory "$BATS_FILE_TMPDIR/www" --bind 93.184.218.1 80 >/dev/null 2>&1 3>&- &
	echo $! >>"$BATS_FILE_TMPDIR/pids"
	wait_for 20 reached "$ALLOWED" 80
	wait_for 20 reached "$ALLOWED" 2222
	wait_for 20 reached 93.184.218.1 80
}

net_client() {
	echo "${NET_CLIENT:-$(dirname "$AGENTRUN")/tests/integration/helpers/net-client}"
}

# reached ADDRESS PORT: without any policy.
reached() {
	[ "$(ip netns exec "$INSIDE" "$(net_client)" get "$1" "$2")" = outside ]
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

teardown() {
	suite_teardown
}

inside() {
	sh_args "$1"
	run_container
}

@test "rules of nftables in the container's network are as before afterwards, and none of them opens anything" {
	command -v nft >/dev/null || skip "nft is not installed"
	# as Docker's embedded resolver has them, and another one's leave for everything
	ip netns exec "$INSIDE" nft -f - <<-'END'
		table ip nat {
			chain DOCKER_OUTPUT { ip daddr 127.0.0.11 udp dport 53 dnat to 127.0.0.11:40000; }
			chain OUTPUT { type nat hook output priority -100; ip daddr 127.0.0.11 jump DOCKER_OUTPUT; }
		}
		table inet open {
			chain out { type filter hook output priority -200; policy accept; accept; }
		}
	END
	ip netns exec "$INSIDE" nft list ruleset >"$T/before"
	[ -s "$T/before" ]
	allow '{"host": "good.test", "ports": [80]}'
	inside "net-client name good.test 80; net-client get $OTHER 80"
	ip netns exec "$INSIDE" nft list ruleset >"$T/after"
	ip netns exec "$INSIDE" nft flush ruleset
	exits 1 "outside
$REFUSED"
	cmp "$T/before" "$T/after"
}

@test "every metadata address is refused, whatever the rules say" {
	local address script=
	for address in "${METADATA[@]}"; do
		reached "$address" 80
		script+="net-client get $address 80; "
	done
	allow '{"cidr": "0.0.0.0/0"}' '{"cidr": "::/0"}' '{"host": "metadata.google.internal"}'
	inside "$script net-client resolve metadata.google.internal; net-client get $ALLOWED 80"
	exits 0 "$REFUSED
$REFUSED
$REFUSED
$REFUSED
no address
outside"
}

@test "one metadata address, for who says so of that very address" {
	allow '{"cidr": "169.254.169.254/32", "ports": [80], "metadata": true}'
	inside "net-client get 169.254.169.254 80; net-client get 169.254.170.2 80"
	exits 1 "outside
$REFUSED"
}

@test "a name server on the link answers, and nothing else of it is reached" {
	reached "$NODE_DNS" 80
	echo "nameserver $NODE_DNS" >"$T/resolv.conf"
	allow '{"host": "good.test", "ports": [80]}' '{"cidr": "0.0.0.0/0", "ports": [80]}'
	inside "net-client name good.test 80; net-client get $NODE_DNS 80"
	exits 1 "outside
$REFUSED"
	grep -q good.test "$BATS_FILE_TMPDIR/dns$NODE_DNS.err"
}

@test "an allowed name that stands for the host itself" {
	allow '{"host": "own.test"}' '{"cidr": "0.0.0.0/0", "ports": [80]}'
	inside 'net-client resolve own.test; net-client get 93.184.218.1 80'
	exits 1 "no address
$REFUSED"
	log_has '"egress-denied"' 'address of this host'
}

@test "two names at one address, and a rule for one port" {
	allow '{"host": "good.test", "ports": [2222]}' '{"host": "twin.test", "ports": [2222]}'
	inside 'net-client name good.test 2222; net-client name twin.test 2222; net-client name good.test 80'
	exits 1 "outside
outside
$REFUSED"
}

@test "5,000 names cost the start nothing that one would notice" {
	local begin few many
	allow '{"host": "good.test"}'
	begin=${EPOCHREALTIME/./}
	inside 'net-client resolve good.test'
	few=$(((${EPOCHREALTIME/./} - begin) / 1000))
	exits 0 "$ALLOWED"
	POLICY=$T/policy.json
	jq -n '{version: 1, profiles: {default: {egress: {allow: [range(5000) | {host: "n\(.).many.test", ports: [443, 80]}]}}}}' >"$POLICY"
	begin=${EPOCHREALTIME/./}
	inside 'net-client resolve n4999.many.test; net-client resolve n5000.many.test'
	many=$(((${EPOCHREALTIME/./} - begin) / 1000))
	exits 1 "$OTHER
unknown name"
	printf '# a container that asks for a name: %s ms with 1 rule, %s ms with 5,000\n' "$few" "$many" >&3
	# a machine that is busy must not fail here
	[ "$many" -lt $((few + 10000 * ${PATIENCE-1})) ]
}

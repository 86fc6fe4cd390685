# A policy that becomes narrower while a container runs: what it does not allow any more is over at once, what it
# still allows goes on.
# shellcheck shell=bash

load helpers.bash
load helpers/outside.bash

setup_file() {
	export SUITE_POLICY=1
	suite_setup_file
	[ "$KIND" = agentrun ] || skip "only agentrun has a policy"
	[ ! -e /etc/agentrun/policy.json ] || skip "this host has a policy of its own"
	command -v openssl >/dev/null || skip "openssl is not installed"
	outside_make
	local w=$BATS_FILE_TMPDIR
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test \
		-keyout "$w/key.pem" -out "$w/cert.pem" 2>/dev/null
	world_daemon flows python3 "$BATS_TEST_DIRNAME/helpers/flows.py" --echo "$ALLOWED:7000" "$OTHER:7000" "$ALLOWED:7001" \
		"$OTHER:7001" --tls "$ALLOWED:443" "$w/cert.pem" "$w/key.pem" --tls "$OTHER:443" "$w/cert.pem" "$w/key.pem"
	world_daemon dns python3 "$BATS_TEST_DIRNAME/helpers/dns.py" "$SERVER" "good.test=$ALLOWED" "bad.test=$OTHER" \
		"also.test=$OTHER"
	wait_for 10 grep -qs ready "$w/flows.out"
	wait_for 10 grep -qs ready "$w/dns.out"
}

teardown_file() {
	outside_end
	suite_teardown_file
}

setup() {
	suite_setup
	umask 022
	give_network
	allow "{\"cidr\": \"$ALLOWED/32\", \"ports\": [\"6990-7000\"]}" "{\"cidr\": \"$OTHER/32\", \"ports\": [7000]}" \
		'{"host": "good.test", "ports": ["7001-7009", 443]}' '{"host": "bad.test", "ports": [7001, 443]}' \
		'{"host": "also.test", "ports": [7001]}'
}

teardown() {
	is_set_up || return 0
	[ ! -s "$T/flows.pids" ] || xargs kill <"$T/flows.pids" 2>/dev/null || true
	suite_teardown
}

# flows FLOW...: connections of the container, made by a process that stands in its cgroup and its network.
flows() {
	local box
	box=$(jq -r '.cgroupDirs[] | select(.controllers == "") | .path' "$ROOT/$ID/state.json")
	mkfifo "$T/hold"
	# shellcheck disable=SC2016
	unshare -m sh -c 'echo $$ >"$0/cgroup.procs" && mount --bind "$1" /etc/resolv.conf && shift &&
		exec nsenter --net="/run/netns/$INSIDE" "$@"' "$box" "$T/resolv.conf" \
		python3 "$HELPERS/flows.py" "$@" <"$T/hold" >"$T/flows" 2>&1 3>&- &
	echo $! >>"$T/flows.pids"
	exec 8>"$T/hold"
	wait_for 60 grep -qs open "$T/flows"
}

# survivors: $alive is the names of the flows that still carry bytes.
survivors() {
	exec 8>&-
	wait_for 60 flows_are_over
	alive=$(sed -n 's/ alive$//p' "$T/flows" | sort | tr '\n' ' ')
}

flows_are_over() {
	! kill -0 "$(head -n 1 "$T/flows.pids")" 2>/dev/null
}

@test "an update ends what it does not allow, at once, and nothing else" {
	args sleep 300
	call run --detach --bundle "$BUNDLE" "$ID"
	works
	world_daemon client python3 "$HELPERS/flows.py" "in=visit:$HERE:6000"
	flows keep-tcp=tcp:$ALLOWED:7000 cut-tcp=tcp:$OTHER:7000 keep-udp=udp:$ALLOWED:7000 cut-udp=udp:$OTHER:7000 \
		keep-name=tcp:good.test:7001 cut-name=tcp:bad.test:7001 keep-tls=tls:good.test:443 cut-tls=tls:bad.test:443 \
		cut-also=tcp:also.test:7001 from-outside=serve:$HERE:6000
	[ "$(cat "$T/flows")" = open ]
	call update --egress-allow "$ALLOWED:6999-7000,good.test:7001-7002,good.test:443" "$ID"
	works
	wait_for 60 grep -q '^cut-tcp ECONNABORTED$' "$T/flows"
	wait_for 60 grep -q '^cut-udp EPERM$' "$T/flows"
	wait_for 60 grep -q '^cut-name ECONNABORTED$' "$T/flows"
	wait_for 60 grep -q '^cut-also ECONNABORTED$' "$T/flows"
	wait_for 60 grep -qE '^cut-tls (ECONNRESET|EPIPE|TLS|ESHUTDOWN)$' "$T/flows"
	survivors
	[ "$alive" = 'from-outside keep-name keep-tcp keep-tls keep-udp ' ]
	log_has '"type":"operation"' "egress: $ALLOWED 6999-7000, good.test 7001-7002, good.test 443"
	call explain "$ID"
	[[ $output = *"update: egress"*"5 rules -> $ALLOWED:6999-7000,good.test:7001-7002,good.test:443"* ]]
}

@test "after an update new connections, names and execs are bound by it as well" {
	cp "$(dirname "$AGENTRUN")/tests/integration/helpers/net-client" "$ROOTFS/bin/net-client"
	args sleep 300
	call run --detach --bundle "$BUNDLE" "$ID"
	works
	call exec "$ID" net-client resolve bad.test
	works
	call update --egress-allow good.test:7001 "$ID"
	works
	call exec "$ID" sh -c "net-client resolve bad.test; net-client get $OTHER 7000; net-client get $ALLOWED 7000; net-client resolve good.test"
	exits 0 "unknown name
connect: Operation not permitted
connect: Operation not permitted
$ALLOWED"
	# what was given up does not come back
	call update --egress-allow "good.test:7001,$ALLOWED:7000" "$ID"
	fails 1 "egress: $ALLOWED:7000 is refused by .*an update narrows"
	call update --egress-allow 'good.test' "$ID"
	fails 1 'egress: good.test is refused'
	call update --egress-allow '' "$ID"
	works
	call exec "$ID" net-client resolve good.test
	exits 1 'unknown name'
	call update --egress-allow good.test:7001 "$ID"
	fails 1 'egress: good.test:7001 is refused'
}

@test "an update that was cut off before its rules were in force is finished by the next one" {
	cp "$(dirname "$AGENTRUN")/tests/integration/helpers/net-client" "$ROOTFS/bin/net-client"
	args sleep 300
	call run --detach --bundle "$BUNDLE" "$ID"
	works
	# what one leaves that was killed as soon as it had written down that there are no rules
	jq -c '.egressRules = []' "$ROOT/$ID/monitor.json" >"$T/monitor.json"
	cat "$T/monitor.json" >"$ROOT/$ID/monitor.json"
	call exec "$ID" net-client get "$ALLOWED" 7000
	works
	call update --egress-allow '' "$ID"
	works
	call exec "$ID" net-client get "$ALLOWED" 7000
	exits 1 'connect: Operation not permitted'
}

@test "an update that is no list of rules, or for a container without egress control" {
	args sleep 300
	call run --detach --bundle "$BUNDLE" "$ID"
	works
	call update --egress-allow 'good.test:99999' "$ID"
	fails 1 '\-\-egress-allow: "good.test:99999"'
	[ "$(jq '.egressRules | length' "$ROOT/$ID/monitor.json")" -eq 5 ]
	call delete --force "$ID"
	AGENTRUN_FLAGS='--profile passthrough'
	call run --detach --bundle "$BUNDLE" "$ID"
	works
	call update --egress-allow '' "$ID"
	fails 1 'has no egress rules'
}

@test "what was denied is told with the line that would allow it, and that line does" {
	cp "$(dirname "$AGENTRUN")/tests/integration/helpers/net-client" "$ROOTFS/bin/net-client"
	allow '{"host": "good.test", "ports": [443]}'
	sh_args "net-client get $OTHER 7000; net-client get $OTHER 7000; net-client resolve bad.test; net-client name good.test 7001; net-client get 169.254.169.254 80; exec sleep 300"
	call run --detach --bundle "$BUNDLE" "$ID"
	works
	wait_for 60 log_has '"egress-denied"' 169.254.169.254
	call policy suggest --json "$ID"
	works
	[ "$(jq -c '[.allow[] | .rule.host // .rule.cidr, .rule.ports[0], .count], [.none[].what]' <<<"$output" | tr -d '\n')" = \
		'["93.184.216.11/32",7000,2,"bad.test",443,1,"good.test",7001,1]["connect 169.254.169.254:80 tcp"]' ]
	[ "$(jq .denials <<<"$output")" -eq 5 ]
	call explain "$ID"
	[[ $output = *'denied:    2 times: connect 93.184.216.11:7000 tcp: {"cidr": "93.184.216.11/32", "ports": [7000], "protocol": "tcp"} in profiles.default.egress.allow'* ]]
	[[ $output = *'egress:    bpf, its own programs'*'egress:    good.test ports 443'* ]]
	call explain --json "$ID"
	[ "$(jq -c '[.egress.mode, .egress.rules[0].host, (.suggest.allow | length)]' <<<"$output")" = '["bpf","good.test",3]' ]
	# also of one that is gone; and the lines are what a policy file takes
	call delete --force "$ID"
	call policy suggest "$ID"
	works
	[[ $output = *'gives up:'* ]]
	printf '{"version": 1, "profiles": {"default": {"egress": {"allow": [%s\n{"host": "good.test", "ports": [443]}]}}}}\n' \
		"$(sed -n '/^\t/p' <<<"$output" | grep -v metadata)" >"$T/suggested.json"
	chmod 600 "$T/suggested.json"
	AGENTRUN_FLAGS="--policy $T/suggested.json"
	sh_args "net-client get $OTHER 7000 >/dev/null 2>&1; net-client resolve bad.test; net-client get 169.254.169.254 80"
	run_container
	exits 1 "$OTHER
connect: Operation not permitted"
}

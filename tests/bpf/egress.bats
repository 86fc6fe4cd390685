# Egress on the kernel: the operation matrix, replies, removal, updates. A container is a
# cgroup and a network namespace; a second namespace is the world outside:
#
#   outside 10.99.0.1 (allowed), .3 (denied), .5 (by name); fd99::1, ::3   ports 80, 443, 9000
#   inside  10.99.0.2, fd99::2
#
# Environment: AGENTRUN, beside which tests/bpf/egress-tool and egress-op were built.
# shellcheck shell=bash

bats_require_minimum_version 1.5.0

setup_file() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	BUILT=$(dirname "$AGENTRUN")/tests/bpf
	[ -x "$BUILT/egress-tool" ] || skip "no egress-tool beside $AGENTRUN"
	CGROUPS=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	[ -n "$CGROUPS" ] || skip "no cgroup v2 hierarchy"
	export BUILT CGROUPS N=ar$$
	OUT=${N}o IN=${N}i POD=$CGROUPS${MACHINE_CGROUP:-}/agentrun-egress-$$
	export OUT IN POD
	mkdir -p "$POD"
	"$(dirname "$AGENTRUN")/agentrun-bpf" 2>"$BATS_FILE_TMPDIR/why" ||
		{ rmdir "$POD"; skip "$(cat "$BATS_FILE_TMPDIR/why")"; }
	ip netns add "$OUT"
	ip netns add "$IN"
	ip link add "${N}a" netns "$OUT" type veth peer name "${N}b" netns "$IN"
	for address in 10.99.0.1 10.99.0.3 10.99.0.5; do
		ip -n "$OUT" addr add "$address/24" dev "${N}a"
	done
	for address in fd99::1 fd99::3; do
		ip -n "$OUT" -6 addr add "$address/64" dev "${N}a" nodad
	done
	ip -n "$IN" addr add 10.99.0.2/24 dev "${N}b"
	ip -n "$IN" -6 addr add fd99::2/64 dev "${N}b" nodad
	for ns in "$OUT" "$IN"; do
		ip -n "$ns" link set lo up
	done
	ip -n "$OUT" link set "${N}a" up
	ip -n "$IN" link set "${N}b" up
	ip -n "$IN" route add default via 10.99.0.1
	# ping sockets, as Docker allows them
	ip netns exec "$IN" sh -c 'echo 0 2147483647 >/proc/sys/net/ipv4/ping_group_range'
	: >"$BATS_FILE_TMPDIR/pids"
	for port in 80 443 9000; do
		start_server "$OUT" :: "$port"
	done
	export REST="-n $IN"
}

teardown_file() {
	[ -s "$BATS_FILE_TMPDIR/pids" ] || return 0
	stop_servers "$BATS_FILE_TMPDIR/pids"
	ip netns del "$OUT"
	ip netns del "$IN"
	find "$POD" -mindepth 1 -depth -type d -exec rmdir {} + 2>/dev/null
	rmdir "$POD"
}

# start_server NETNS ADDRESS PORT [op options]: an echo, until the end of the file.
start_server() {
	local ns=$1 address=$2 port=$3
	shift 3
	: >"$BATS_FILE_TMPDIR/ready"
	"$BUILT/egress-op" -n "$ns" "$@" serve "$address" "$port" >"$BATS_FILE_TMPDIR/ready" 3>&- &
	echo $! >>"${PIDS:-$BATS_FILE_TMPDIR/pids}"
	for _ in $(seq $((100 * ${PATIENCE-1}))); do
		[ -s "$BATS_FILE_TMPDIR/ready" ] && break
		sleep 0.02
	done
	[ -s "$BATS_FILE_TMPDIR/ready" ]
}

stop_servers() {
	local pid
	while read -r pid; do
		kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done <"$1"
}

setup() {
	C=$POD/c$BATS_TEST_NUMBER
	mkdir "$C"
	PIDS=$BATS_TEST_TMPDIR/pids
	: >"$PIDS"
}

teardown() {
	[ -n "${C-}" ] || return 0
	[ -z "${monitor_PID-}" ] || { exec {monitor[1]}>&-; wait "$monitor_PID"; } 2>/dev/null || true
	stop_servers "$PIDS"
	for _ in $(seq $((50 * ${PATIENCE-1}))); do
		[ -s "$C/cgroup.procs" ] || break
		sleep 0.02
	done
	find "$C" -depth -type d -exec rmdir {} +
}

deny() {
	"$BUILT/egress-tool" deny "$C" "$@"
}

# monitor [host] [RULE...]: the resident process; `tell` talks with it.
monitor() {
	local said
	coproc monitor { exec "$BUILT/egress-tool" monitor "$C" "$@" 3>&-; }
	read -r -t $((20 * ${PATIENCE-1})) said <&"${monitor[0]}"
	[[ $said == open* ]]
}

tell() {
	echo "$*" >&"${monitor[1]}"
	read -r -t $((10 * ${PATIENCE-1})) answer <&"${monitor[0]}"
}

# op WANT OPERATION ADDRESS PORT: in the container. WANT: a pattern for the result's word; EPERM must also come at once.
op() {
	local want=$1 out word ms
	shift
	out=$("$BUILT/egress-op" -c "$C" -n "${NS:-$IN}" "$@" 2>&1) || true
	word=$(echo "$out" | awk '{ print $(NF - 1) }')
	ms=$(echo "$out" | awk '{ print $NF }')
	shopt -s extglob
	# shellcheck disable=SC2053 # a pattern
	if [[ $word != $want ]] || { [ "$word" = EPERM ] && [ "$ms" -gt $((1000 * ${PATIENCE-1})) ]; }; then
		echo "$*: $out, wanted $want"
		return 1
	fi
}

# chat NAME OPERATION ADDRESS PORT: a flow that stays; `say NAME` sends once more and leaves the result in $said.
declare -gA CHAT_IN CHAT_OUT
chat() {
	local name=$1 in out
	shift
	mkfifo "$BATS_TEST_TMPDIR/$name.in" "$BATS_TEST_TMPDIR/$name.out"
	"$BUILT/egress-op" -c "$C" -n "$IN" "$@" <"$BATS_TEST_TMPDIR/$name.in" >"$BATS_TEST_TMPDIR/$name.out" 3>&- &
	echo $! >>"$PIDS"
	exec {in}>"$BATS_TEST_TMPDIR/$name.in" {out}<"$BATS_TEST_TMPDIR/$name.out"
	CHAT_IN[$name]=$in CHAT_OUT[$name]=$out
	rm "$BATS_TEST_TMPDIR/$name.in" "$BATS_TEST_TMPDIR/$name.out"
	read -r -t $((5 * ${PATIENCE-1})) said <&"$out"
}

say() {
	echo >&"${CHAT_IN[$1]}"
	read -r -t $((5 * ${PATIENCE-1})) said <&"${CHAT_OUT[$1]}"
}

# matrix WANT A4 A6: every operation towards one address of each family.
matrix() {
	local want=$1 a4=$2 a6=$3 failed=0 o
	for o in tcp mptcp mapped udp udpsend mappedudp mappedsend bigudp tfo tfoconnect; do
		op "$want" "$o" "$a4" 9000 || failed=1
	done
	for o in tcp mptcp udp udpsend bigudp; do
		op "$want" "$o" "$a6" 9000 || failed=1
	done
	[ -z "${HAS_URING-}" ] || for o in uring uringudp; do
		op "$want" "$o" "$a4" 9000 || failed=1
	done
	return $failed
}

# What no rule opens.
matrix_never() {
	local a4=$1 failed=0 o
	for o in rawicmp rawip; do
		op EPERM "$o" "$a4" 9000 || failed=1
	done
	for o in sctp dccp; do
		op '@(EPERM|EPROTONOSUPPORT|ESOCKTNOSUPPORT)' "$o" "$a4" 9000 || failed=1
	done
	op EPERM options "$a4" 9000 || failed=1
	return $failed
}

uring_here() {
	"$BUILT/egress-op" -n "$IN" uring 10.99.0.1 9000 >/dev/null 2>&1 && HAS_URING=1 || HAS_URING=
}

@test "without programs every operation of the matrix works" {
	uring_here
	matrix ok 10.99.0.3 fd99::3
	op ok udplite 10.99.0.3 9000
	op ok ping 10.99.0.3 0
	op ok rawicmp 10.99.0.3 0
	op ok options 10.99.0.1 9000
	op ok repair 10.99.0.3 9000
}

@test "deny-all: every operation is refused at once, loopback works" {
	uring_here
	deny
	"$BUILT/egress-tool" prove "$C"
	matrix EPERM 10.99.0.1 fd99::1
	matrix_never 10.99.0.1
	op EPERM udplite 10.99.0.1 9000
	op EPERM ping 10.99.0.1 0
	op ETIMEDOUT ping fd99::1 0 # refused, but this call is not told
	op EPERM repair 10.99.0.1 9000
	op EPERM udp 10.99.0.1 53
	op EPERM tcp 10.99.0.1 53
	op ECONNREFUSED tcp 127.0.0.1 9
	op ECONNREFUSED tcp ::1 9
	op ok ping 127.0.0.1 0
	mkdir "$C/child"
	C=$C/child matrix EPERM 10.99.0.1 fd99::1
	rmdir "$C/child"
	start_server "$IN" 127.0.0.1 9100 -c "$C"
	op ok tcp 127.0.0.1 9100
	op ok udpsend 127.0.0.1 9100
}

@test "rules: allowed destinations work, others are refused at once" {
	uring_here
	deny
	monitor 10.99.0.1/32 fd99::1/128
	[ "$("$BUILT/egress-tool" status "$C" | cut -d' ' -f1,2)" = "shared=0 private=1" ]
	"$BUILT/egress-tool" prove "$C"
	matrix ok 10.99.0.1 fd99::1
	matrix EPERM 10.99.0.3 fd99::3
	matrix_never 10.99.0.1
	matrix_never 10.99.0.3
	op ok udplite 10.99.0.1 9000
	op EPERM udplite 10.99.0.3 9000
	op ok ping 10.99.0.1 0
	op EPERM ping 10.99.0.3 0
	op EPERM repair 10.99.0.3 9000
	op EPERM tcp 10.99.0.77 9000
}

@test "rules: ports and protocols" {
	deny
	monitor 10.99.0.1/32,tcp,80,8000-9001 10.99.0.3/32,udp,9000
	op ok tcp 10.99.0.1 80
	op ok tcp 10.99.0.1 9000
	op EPERM tcp 10.99.0.1 443
	op EPERM udpsend 10.99.0.1 9000
	op EPERM udp 10.99.0.1 80
	op EPERM ping 10.99.0.1 0
	op ok udpsend 10.99.0.3 9000
	op ok udplite 10.99.0.3 9000
	op EPERM tcp 10.99.0.3 9000
}

@test "the floor: wide rules do not open private, link-local and metadata addresses" {
	deny
	monitor 0.0.0.0/0 ::/0
	op EPERM tcp 10.99.0.1 80
	op EPERM tcp fd99::1 80
	op EPERM tcp 169.254.169.254 80
	op EPERM mapped 169.254.169.254 80
	op EPERM udp 169.254.20.10 53
	op EPERM tcp 100.100.100.200 80
	op EPERM tcp 168.63.129.16 80
	op EPERM tcp fd00:ec2::254 80
	op EPERM tcp 64:ff9b::a9fe:a9fe 80
	op EPERM udpsend 255.255.255.255 9
	op EPERM udpsend 224.0.0.251 5353
	"$BUILT/egress-tool" prove "$C"
}

@test "the container's own addresses are reached, and no others by pretending" {
	deny
	start_server "$IN" 0.0.0.0 9200 -c "$C"
	op ok tcp 10.99.0.2 9200
	op ok udp 10.99.0.2 9200
	op ok udpsend 10.99.0.2 9200
	op ECONNREFUSED tcp 10.99.0.2 9201
	op 'E*' deceive 10.99.0.1 443
	op EPERM deceiveudp 10.99.0.1 443
}

@test "replies to connections from outside, and nothing else to the same peer" {
	deny
	start_server "$IN" :: 7000 -c "$C"
	local o
	for o in tcp mptcp udp udpsend udplite bigudp tfo; do
		case $o in
		udplite) continue ;;
		esac
		run "$BUILT/egress-op" -n "$OUT" $o 10.99.0.2 7000
		[ "$status" -eq 0 ] || { echo "$o: $output"; false; }
		run "$BUILT/egress-op" -n "$OUT" $o fd99::2 7000
		[ "$status" -eq 0 ] || { echo "$o v6: $output"; false; }
	done
	op EPERM udpsend 10.99.0.1 9000
	op EPERM tcp 10.99.0.1 9000
}

@test "the programs as older kernels get them refuse and reply, too" {
	"$BUILT/egress-tool" old "$C"
	"$BUILT/egress-tool" prove "$C"
	matrix EPERM 10.99.0.1 fd99::1
	start_server "$IN" :: 7000 -c "$C"
	local o
	for o in tcp udp udpsend bigudp; do
		run "$BUILT/egress-op" -n "$OUT" $o 10.99.0.2 7000
		[ "$status" -eq 0 ] || { echo "$o: $output"; false; }
		run "$BUILT/egress-op" -n "$OUT" $o fd99::2 7000
		[ "$status" -eq 0 ] || { echo "$o v6: $output"; false; }
	done
	op EPERM udpsend 10.99.0.1 9000
}

@test "a datagram server may answer from a second socket where the kernel can tell network namespaces" {
	deny
	"$BUILT/egress-op" -c "$C" -n "$IN" second 10.99.0.2 7050 >"$BATS_TEST_TMPDIR/second" 3>&- &
	echo $! >>"$PIDS"
	for _ in $(seq $((50 * ${PATIENCE-1}))); do [ -s "$BATS_TEST_TMPDIR/second" ] && break; sleep 0.02; done
	run "$BUILT/egress-op" -n "$OUT" udpsend 10.99.0.2 7050
	if [ "$("$BUILT/egress-tool" peers "$C")" = netns ]; then
		[ "$status" -eq 0 ]
	else
		echo "# this kernel tells a packet program no network namespace: only the socket that was written to answers" >&3
		[ "$status" -ne 0 ]
		grep -q EPERM "$BATS_TEST_TMPDIR/second"
	fi
}

@test "an accepted connection gives no right to connect" {
	deny
	local o to
	for o in turn turnback; do
		"$BUILT/egress-op" -c "$C" -n "$IN" $o 10.99.0.3 9000 >"$BATS_TEST_TMPDIR/$o" 3>&- &
		to=$!
		for _ in $(seq $((50 * ${PATIENCE-1}))); do ip netns exec "$IN" ss -tln 2>/dev/null | grep -q :7100 && break; sleep 0.02; done
		"$BUILT/egress-op" -n "$OUT" tcp 10.99.0.2 7100 >/dev/null || true
		wait "$to" || true
		grep -q '^EPERM' "$BATS_TEST_TMPDIR/$o" || { cat "$BATS_TEST_TMPDIR/$o"; false; }
	done
}

@test "port 53 goes to the resolver, whatever server was asked" {
	deny
	monitor
	start_server "$IN" 127.0.0.1 5300
	start_server "$IN" ::1 5300
	tell publish dns 5300
	[ "$answer" = published ]
	local address
	for address in 192.0.2.53 10.99.0.1 169.254.20.10 2001:db8::53; do
		op ok udp $address 53
		op ok udpsend $address 53
		op ok tcp $address 53
	done
	op ok mappedudp 192.0.2.53 53
	op ok mapped 192.0.2.53 53
	# the answer comes from where the question went
	[[ $("$BUILT/egress-op" -c "$C" -n "$IN" peername 192.0.2.53 53) == "192.0.2.53 53 ok "* ]]
	[[ $("$BUILT/egress-op" -c "$C" -n "$IN" peername 2001:db8::53 53) == "2001:db8::53 53 ok "* ]]
	[[ $("$BUILT/egress-op" -c "$C" -n "$IN" tcppeername 192.0.2.53 53) == "192.0.2.53 53 "*" ok "* ]]
	op EPERM udp 192.0.2.53 54
}

@test "a resolver on the container's own loopback is left alone; Docker's is not" {
	deny
	monitor
	start_server "$IN" 127.0.0.1 5300
	start_server "$IN" 127.0.0.1 53 -c "$C"
	start_server "$IN" 127.0.0.11 4567
	tell publish dns 5300
	[[ $("$BUILT/egress-op" -c "$C" -n "$IN" tcppeername 127.0.0.1 53) == "127.0.0.1 53 "*" ok "* ]]
	op ok udp 127.0.0.11 53
	op EPERM udp 127.0.0.11 4567
	op EPERM udpsend 127.0.0.11 4567
	op EPERM tcp 127.0.0.11 4567
	stop_servers <(tail -n 2 "$PIDS" | head -n 1)
	# named by resolv.conf: ours
	tell publish dns 5300 local 127.0.0.1
	op ok udp 127.0.0.1 53
	tell publish dns 5300
	op ECONNREFUSED udp 127.0.0.1 53
}

@test "names: open for their time, existing connections go on" {
	deny
	monitor none
	tell set 0 tcp 9000 udp 9000
	[ "$answer" = set ]
	op EPERM tcp 10.99.0.5 9000
	# a private address opens only where a range names it
	tell allow 10.99.0.5 0 60000
	op EPERM tcp 10.99.0.5 9000
	"$BUILT/egress-tool" update "$C" 10.99.0.5/32,tcp,1
	op ok tcp 10.99.0.5 9000
	op ok udp 10.99.0.5 9000
	op EPERM tcp 10.99.0.5 443
	tell forget 10.99.0.5
	op EPERM tcp 10.99.0.5 9000
	tell drop
	[ "$answer" = dropped ]
	tell allow 10.99.0.5 0 1500
	[ "$answer" = 0 ]
	chat flow chat 10.99.0.5 9000
	[ "$said" = ok ]
	sleep 1.6
	op EPERM tcp 10.99.0.5 9000
	say flow
	[ "$said" = ok ]
	# until the rules change
	"$BUILT/egress-tool" revoke "$C"
	say flow
	[ "$said" != ok ]
}

@test "update ends flows that are not allowed any more, and only those" {
	deny
	monitor 10.99.0.1/32 10.99.0.3/32
	local kind
	for kind in chat chatudp; do
		chat "kept$kind" $kind 10.99.0.1 9000
		[ "$said" = ok ]
		chat "ended$kind" $kind 10.99.0.3 9000
		[ "$said" = ok ]
		"$BUILT/egress-tool" update "$C" 10.99.0.1/32
		say "kept$kind"
		[ "$said" = ok ] || { echo "$kind that stays: $said"; false; }
		say "ended$kind"
		[ "$said" != ok ]
		op EPERM tcp 10.99.0.3 9000
		op ok tcp 10.99.0.1 9000
		"$BUILT/egress-tool" update "$C" 10.99.0.1/32 10.99.0.3/32,9000
		op ok tcp 10.99.0.3 9000
		op EPERM tcp 10.99.0.3 80
	done
}

@test "connections whose server name must be seen go to the proxy" {
	deny
	monitor 10.99.0.0/24,tcp,1
	start_server "$IN" 127.0.0.1 8443
	tell set 3 verify 443 tcp 9000
	tell allow 10.99.0.5 3 60000
	# without a proxy there is no way
	op EPERM tcp 10.99.0.5 443
	tell publish proxy 8443
	tell drop
	local shown port
	shown=$("$BUILT/egress-op" -c "$C" -n "$IN" tcppeername 10.99.0.5 443)
	[[ $shown == "10.99.0.5 443 "*" ok "* ]]
	port=$(echo "$shown" | cut -d' ' -f3)
	tell target "$port"
	[ "$answer" = "::ffff:10.99.0.5 443" ]
	# once
	tell target "$port"
	[ "$answer" = 1 ]
	op EPERM udp 10.99.0.5 443
	op ok tcp 10.99.0.5 9000
	op EPERM tcp 10.99.0.3 443
	start_server "$IN" ::1 8443
	tell allow fd99::3 3 60000
	op EPERM tcp fd99::3 443 # the floor
}

@test "two containers in one network: each its own rules" {
	deny
	monitor 10.99.0.1/32
	local first=$C
	C=$POD/second$BATS_TEST_NUMBER
	mkdir "$C"
	"$BUILT/egress-tool" deny "$C"
	"$BUILT/egress-tool" monitor "$C" 10.99.0.3/32,tcp,9000 </dev/null
	op EPERM tcp 10.99.0.1 9000
	op ok tcp 10.99.0.3 9000
	op EPERM udp 10.99.0.3 9000
	rmdir "$C"
	C=$first
	op ok tcp 10.99.0.1 9000
	op EPERM tcp 10.99.0.3 9000
}

@test "in the host's network loopback and own addresses are closed" {
	"$BUILT/egress-tool" deny "$C" host
	"$BUILT/egress-tool" prove "$C" host
	start_server "$IN" 0.0.0.0 9300
	op EPERM tcp 127.0.0.1 9300
	op EPERM udp 127.0.0.1 9300
	op EPERM udpsend 127.0.0.1 9300
	op EPERM tcp 10.99.0.2 9300
	op EPERM udpsend 10.99.0.2 9300
	op EPERM tcp 10.99.0.1 9000
	monitor host none
	start_server "$IN" 127.0.0.1 5300
	tell publish dns 5300
	op ok udp 192.0.2.53 53
	op ok tcp 192.0.2.53 53
	op EPERM tcp 127.0.0.1 9300
}

@test "in the host's network a connection may be sent elsewhere by its NAT" {
	command -v nft >/dev/null || skip "no nft"
	"$BUILT/egress-tool" deny "$C" host
	monitor host 10.99.0.1/32
	ip netns exec "$IN" nft -f - <<-'N'
		table ip t {
			chain o {
				type nat hook output priority -100;
				ip daddr 10.99.0.1 tcp dport 80 dnat to 10.99.0.3:9000
			}
		}
	N
	op ok tcp 10.99.0.1 80
	op EPERM tcp 10.99.0.3 9000
	ip netns exec "$IN" nft delete table ip t
}

@test "in the container's own network NAT does not lead round the rules" {
	command -v nft >/dev/null || skip "no nft"
	deny
	monitor 10.99.0.1/32
	ip netns exec "$IN" nft -f - <<-'N'
		table ip t {
			chain o {
				type nat hook output priority -100;
				ip daddr 10.99.0.1 tcp dport 80 dnat to 10.99.0.3:9000
				ip daddr 10.99.0.1 udp dport 80 dnat to 10.99.0.3:9000
			}
		}
	N
	op ETIMEDOUT tcp 10.99.0.1 80
	op 'E*' udp 10.99.0.1 80
	ip netns exec "$IN" nft delete table ip t
}

@test "denials are told, counted, and not without end" {
	deny
	monitor
	op EPERM tcp 10.99.0.1 9000
	op EPERM udpsend fd99::1 9000
	op EPERM rawicmp 10.99.0.1 0
	tell events
	[ "$answer" = "events connect:6:::ffff:10.99.0.1:9000:egress-op sendmsg:17:fd99::1:9000:egress-op socket:1::::0:egress-op 3" ]
	for _ in $(seq 120); do
		"$BUILT/egress-op" -c "$C" -n "$IN" udpsend 10.99.0.1 9 >/dev/null || true
	done
	run "$BUILT/egress-tool" status "$C"
	[[ $output == *"denied=123 "* ]]
}

@test "a denial of service by denials is counted as suppressed" {
	deny
	monitor none
	cat >"$BATS_TEST_TMPDIR/flood.py" <<-'P'
		import socket
		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		for i in range(5000):
		    try:
		        s.sendto(b"x", ("10.99.0.1", 9))
		    except PermissionError:
		        pass
	P
	"$BUILT/egress-op" -c "$C" -n "$IN" exec python3 "$BATS_TEST_TMPDIR/flood.py"
	tell counters
	[[ $answer == "denied 5000 suppressed "* ]]
	[ "$(echo "$answer" | cut -d' ' -f4)" -ge 4700 ]
	tell events
	[ "${answer##* }" -ge 1 ]
}

@test "rings of ended containers are used again, and show nothing of them" {
	deny
	monitor
	op EPERM tcp 10.99.0.1 9000
	local i pid=$monitor_PID
	exec {monitor[1]}>&-
	wait "$pid" || true
	rmdir "$C"
	for i in $(seq 40); do
		mkdir "$C"
		deny
		op EPERM tcp 10.99.0.3 9000
		# shellcheck disable=SC2016
		said=$(echo events | "$BUILT/egress-tool" monitor "$C" | tail -n 1)
		[ "$said" = "events 0" ] || { echo "$said"; false; }
		rmdir "$C"
	done
	mkdir "$C"
}

@test "the shared set is loaded on demand, once, by whoever comes first" {
	local dir=$BATS_TEST_TMPDIR/bin i
	mkdir "$dir"
	cp "$BUILT/egress-tool" "$(dirname "$AGENTRUN")/agentrun-bpf" "$dir"
	for i in 1 2 3 4; do mkdir "$C/$i"; done
	# a mount of its own: other containers keep the one that is there
	run unshare -m sh -c '
		umount -l /run/agentrun/bpf
		for i in 1 2 3 4; do "$1/egress-tool" deny "$2/$i" & done
		wait
		find /run/agentrun/bpf -mindepth 1 -maxdepth 1 -name "egress-*" | wc -l
		# the table of mounts would also list one that is hidden below another
		n=0
		while umount -l /run/agentrun/bpf 2>/dev/null; do n=$((n + 1)); done
		echo $n' - "$dir" "$C"
	[ "$output" = "1
1" ] || { echo "$output"; false; }
	for i in 1 2 3 4; do
		"$BUILT/egress-tool" prove "$C/$i"
	done
	rm "$dir/agentrun-bpf"
	run unshare -m sh -c 'umount -l /run/agentrun/bpf; "$1/egress-tool" deny "$2"' - "$dir" "$C"
	[ "$status" -eq 1 ]
	[[ $output == *"find the helper program agentrun-bpf"*"reinstall agentrun"* ]] || { echo "$output"; false; }
}

@test "programs stay when everything else ends, and go with the cgroup" {
	deny
	"$BUILT/egress-tool" monitor "$C" 10.99.0.1/32 </dev/null
	op ok tcp 10.99.0.1 9000
	op EPERM tcp 10.99.0.3 9000
	mkdir "$C/child"
	C=$C/child op EPERM tcp 10.99.0.3 9000
	C=$C/child op ok tcp 10.99.0.1 9000
	rmdir "$C/child"
}

@test "a second private set is refused, and the first stays" {
	deny
	"$BUILT/egress-tool" monitor "$C" 10.99.0.1/32 </dev/null
	run ! "$BUILT/egress-tool" monitor "$C" 10.99.0.3/32 </dev/null
	[[ $output == *"has egress rules already"* ]]
	op ok tcp 10.99.0.1 9000
	op EPERM tcp 10.99.0.3 9000
}

@test "5,000 ranges are put in force in a moment" {
	deny
	local rules=() i
	for i in $(seq 0 4999); do
		rules+=("11.$((i / 250)).$((i % 250)).0/24,tcp,443")
	done
	"$BUILT/egress-tool" monitor "$C" 10.99.0.1/32 "${rules[@]}" </dev/null
	op ok tcp 10.99.0.1 9000
	op EPERM tcp 11.0.0.1 80
	op EPERM tcp 12.0.0.1 443
}

# swap CGROUP [STRACE-OPTION...]: a private set in the shared one's place, with the bpf(2) calls in $BATS_TEST_TMPDIR/calls.
swap() {
	local cgroup=$1
	shift
	"$BUILT/egress-tool" deny "$cgroup"
	strace -qq -e trace=bpf "$@" -o "$BATS_TEST_TMPDIR/calls" "$BUILT/egress-tool" monitor "$cgroup" 10.99.0.1/32 </dev/null
}

@test "a swap of sets that fails halfway leaves both, and no gap" {
	local third
	command -v strace >/dev/null || skip "needs strace"
	mkdir "$C/first" "$C/second"
	swap "$C/first" || skip "tracing is not allowed here"
	[[ $("$BUILT/egress-tool" status "$C/first") == shared=0\ private=1\ * ]]
	third=$(grep -n BPF_PROG_DETACH "$BATS_TEST_TMPDIR/calls" | sed -n '3s/:.*//p')
	! swap "$C/second" -e "inject=bpf:error=EBUSY:when=$third" 2>"$BATS_TEST_TMPDIR/why"
	grep -q 'detach the egress program' "$BATS_TEST_TMPDIR/why"
	[[ $("$BUILT/egress-tool" status "$C/second") == *private=1\ * ]]
	"$BUILT/egress-tool" prove "$C/second"
}

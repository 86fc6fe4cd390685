# Attempts to take egress control off from inside, by the rights that the attacker has. What
# must hold: with less than CAP_SYS_ADMIN of the host nothing comes off, and what is
# added can only refuse more.
#
# Environment: AGENTRUN, beside which tests/bpf/egress-tool and egress-attack were built.
# shellcheck shell=bash

bats_require_minimum_version 1.5.0

setup_file() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
	BUILT=$(dirname "$AGENTRUN")/tests/bpf
	[ -x "$BUILT/egress-attack" ] || skip "no egress-attack beside $AGENTRUN"
	command -v setpriv bpftool >/dev/null || skip "needs setpriv and bpftool"
	CGROUPS=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	[ -n "$CGROUPS" ] || skip "no cgroup v2 hierarchy"
	"$(dirname "$AGENTRUN")/agentrun-bpf" || skip "no BPF"
	export BUILT POD=$CGROUPS${MACHINE_CGROUP:-}/agentrun-removal-$$
	mkdir -p "$POD"
}

teardown_file() {
	[ -n "${POD-}" ] && [ -d "$POD" ] || return 0
	rmdir "$POD"
	[ -z "${MACHINE_CGROUP-}" ] || rmdir "${POD%/*}" 2>/dev/null || true
}

setup() {
	C=$POD/c$BATS_TEST_NUMBER
	mkdir "$C"
	"$BUILT/egress-tool" deny "$C"
	[ -z "${PRIVATE-}" ] || "$BUILT/egress-tool" monitor "$C" 198.51.100.1/32 </dev/null
	ID=$(bpftool -j cgroup show "$C" | jq '.[] | select(.name | test("connect4")) | .id')
}

teardown() {
	[ -n "${C-}" ] || return 0
	[ ! -d "$C/attack" ] || rmdir "$C/attack"
	rmdir "$C"
}

# attack COMMAND...: in the cgroup, with what COMMAND leaves of the rights; the result is $output.
attack() {
	output=$("$BUILT/egress-op" -c "$C" exec "$@" "$BUILT/egress-attack" "$C" "$ID" 2>&1)
}

held() {
	[ "$("$BUILT/egress-tool" status "$C" | cut -d' ' -f"${PRIVATE:-1}")" = "$1" ] || { echo "$output"; return 1; }
	"$BUILT/egress-tool" prove "$C"
}

caps() {
	local list=-all cap
	for cap; do
		list=$list,+$cap
	done
	echo "setpriv --bounding-set $list --inh-caps $list"
}

@test "no capabilities" {
	attack setpriv --bounding-set -all --inh-caps -all
	[[ $output == "query=EPERM detach-any=E"@(PERM|INVAL)" open=EPERM load=EPERM "* ]] || { echo "$output"; false; }
	held shared=1
}

@test "all capabilities in a user namespace of one's own" {
	unshare -Ur true 2>/dev/null || skip "no user namespaces"
	attack unshare -Ur
	[[ $output == "query=EPERM detach-any=E"@(PERM|INVAL)" open=EPERM load=EPERM "* ]] || { echo "$output"; false; }
	held shared=1
}

@test "CAP_NET_ADMIN: may look, and nothing else" {
	# shellcheck disable=SC2046
	attack $(caps net_admin)
	[[ $output == *"open=EPERM "* && $output != *"detach-any=ok"* && $output != *"multi=ok"* ]] || { echo "$output"; false; }
	held shared=1
}

@test "CAP_NET_ADMIN, CAP_BPF, CAP_PERFMON: may only add a program that agrees" {
	# shellcheck disable=SC2046
	attack $(caps net_admin bpf perfmon)
	[[ $output == *"open=EPERM load=ok exclusive=EPERM override=EPERM"* ]] || { echo "$output"; false; }
	[[ $output != *"detach-any=ok"* ]]
	held shared=1
}

@test "the private set holds as well" {
	PRIVATE=2
	"$BUILT/egress-tool" monitor "$C" 198.51.100.1/32 </dev/null
	ID=$(bpftool -j cgroup show "$C" | jq '.[] | select(.name | test("connect4")) | .id')
	# shellcheck disable=SC2046
	attack $(caps net_admin bpf perfmon)
	[[ $output == *"open=EPERM load=ok exclusive=EPERM override=EPERM"* ]] || { echo "$output"; false; }
	held private=1
}

@test "the proof notices a program that is missing" {
	bpftool cgroup detach "$C" connect4 id "$ID"
	run ! "$BUILT/egress-tool" prove "$C"
	[[ $output == *"only 11 of 12 egress programs"* ]]
	[ "$("$BUILT/egress-tool" status "$C" | cut -d' ' -f1)" = shared=0 ]
}

@test "pins are for root alone" {
	local dir
	dir=$(find /run/agentrun/bpf -maxdepth 1 -name 'egress-*' | head -n 1)
	[ -n "$dir" ]
	run ! setpriv --reuid 65534 --regid 65534 --clear-groups ls "$dir"
	[[ $(stat -c %a /run/agentrun/bpf) == *700 ]]
	findmnt -n -o OPTIONS /run/agentrun/bpf | grep -q 'nosuid,nodev,noexec'
}

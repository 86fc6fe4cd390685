# An outside world for containers: two network namespaces, joined by a pair of virtual cables. One is
# the container's network, $INSIDE; in the other one, $WORLD, servers listen. Addresses look public, so that the
# floor of private ranges does not decide.
# shellcheck shell=bash

readonly HERE=93.184.216.2 ALLOWED=93.184.216.10 OTHER=93.184.216.11 SERVER=93.184.216.53 PRIVATE=10.77.0.10

outside_make() {
	local address
	export WORLD=w$$ INSIDE=i$$
	ip netns add "$WORLD"
	ip netns add "$INSIDE"
	ip -n "$WORLD" link set lo up
	ip -n "$WORLD" link add name v0 type veth peer name eth0 netns "$INSIDE"
	for address in 1 10 11 53; do
		ip -n "$WORLD" address add "93.184.216.$address/24" dev v0
	done
	ip -n "$WORLD" address add "$PRIVATE/32" dev v0
	ip -n "$WORLD" link set v0 up
	ip -n "$INSIDE" address add "$HERE/24" dev eth0
	ip -n "$INSIDE" link set eth0 up
	ip -n "$INSIDE" link set lo up
	ip -n "$INSIDE" route add default via 93.184.216.1
}

# world_daemon NAME COMMAND...: in the outside world, until the end of the file.
world_daemon() {
	local name=$1
	shift
	ip netns exec "$WORLD" "$@" >"$BATS_FILE_TMPDIR/$name.out" 2>"$BATS_FILE_TMPDIR/$name.err" 3>&- &
	echo $! >>"$BATS_FILE_TMPDIR/pids"
}

outside_end() {
	local pid
	[ -e "$BATS_FILE_TMPDIR/pids" ] || return 0
	while read -r pid; do
		kill "$pid" 2>/dev/null || true
	done <"$BATS_FILE_TMPDIR/pids"
	ip netns del "$WORLD" 2>/dev/null || true
	ip netns del "$INSIDE" 2>/dev/null || true
}

# give_network: the bundle's container gets that network, and the outside's name server as an engine would name it.
give_network() {
	edit --arg net "/run/netns/$INSIDE" '(.linux.namespaces[] | select(.type == "network")) += {path: $net}'
	mkdir -p "$ROOTFS/etc"
	echo "nameserver $SERVER" >"$T/resolv.conf"
	add_mount "{\"destination\": \"/etc/resolv.conf\", \"type\": \"bind\", \"source\": \"$T/resolv.conf\", \"options\": [\"bind\", \"ro\"]}"
}

# allow RULE...: the policy's egress.allow.
allow() {
	POLICY=$T/policy.json
	printf '{"version": 1, "profiles": {"default": {"egress": {"allow": [%s]}}}}\n' "$(IFS=, && echo "$*")" >"$POLICY"
	chmod 600 "$POLICY"
	AGENTRUN_FLAGS="--policy $POLICY"
}

log_has() {
	grep -h "$1" /var/log/agentrun/*-"$(log_root)".jsonl | grep -q "$2"
}

# box COMMAND...: a program of the host in the container's cgroup and network, with its resolv.conf and nothing of our
# environment.
box() {
	local cgroup
	cgroup=$(jq -r '.cgroupDirs[] | select(.controllers == "") | .path' "$ROOT/$ID/state.json")
	printf 'hosts: dns\n' >"$T/nsswitch.conf"
	# shellcheck disable=SC2016
	timeout 60 unshare -m sh -c 'echo $$ >"$0/cgroup.procs" && mount --bind "$1" /etc/resolv.conf &&
		mount --bind "$2" /etc/nsswitch.conf && shift 2 && exec nsenter --net="/run/netns/$INSIDE" "$@"' \
		"$cgroup" "${RESOLV_CONF-$T/resolv.conf}" "$T/nsswitch.conf" \
		env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME="${BOX_HOME-/nonexistent}" \
		LANG=C.UTF-8 "$@" 2>&1 3>&-
}

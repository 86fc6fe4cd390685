#!/usr/bin/env bats
# Namespaces: new ones, joined ones, users, host name and kernel settings.

load helpers.bash

setup_file() { suite_setup_file; }
teardown_file() { suite_teardown_file; }
setup() { suite_setup; }
teardown() { suite_teardown; }

@test "new namespaces are new, the others are the caller's" {
	local name kept=()
	edit '.linux.namespaces = [{type: "mount"}, {type: "pid"}, {type: "ipc"}]'
	edit 'del(.hostname)'
	sh_args 'for n in mnt pid ipc net uts user cgroup; do readlink /proc/self/ns/$n; done'
	# sysfs needs the owner of the network namespace; with the host's it is fine for root
	run_container
	works
	for name in mnt pid ipc; do
		! grep -qxF "$(readlink /proc/self/ns/$name)" <<<"$output"
	done
	for name in net uts user cgroup; do
		grep -qxF "$(readlink /proc/self/ns/$name)" <<<"$output"
	done
}

@test "a new network namespace has a loopback that is up" {
	sh_args 'ls /sys/class/net; ip addr show lo | grep -o "LOOPBACK,UP"; ping -c 1 -w 2 127.0.0.1 >/dev/null && echo answers'
	edit '.process.capabilities[] += ["CAP_NET_RAW"]'
	run_container
	works
	[[ $output = *lo*'LOOPBACK,UP'*answers* ]]
}

@test "joining namespaces of another container" {
	local pid name
	start_sleeper
	pid=$(pid_of)
	for name in network:net ipc:ipc uts:uts pid:pid; do
		edit --arg t "${name%:*}" --arg p "/proc/$pid/ns/${name#*:}" \
			'(.linux.namespaces[] | select(.type == $t)).path = $p'
	done
	edit --arg c "$CGROUP-2" '.linux.cgroupsPath = $c | del(.hostname)'
	sh_args 'for n in net ipc uts pid; do readlink /proc/self/ns/$n; done'
	call run --bundle "$BUNDLE" "$ID-2"
	works "$(for n in net ipc uts pid; do readlink "/proc/$pid/ns/$n"; done)"
}

@test "joining the caller's own namespaces" {
	edit '(.linux.namespaces[] | select(.type == "network")).path = "/proc/self/ns/net"
		| (.linux.namespaces[] | select(.type == "uts")).path = "/proc/self/ns/uts" | del(.hostname)'
	args readlink /proc/self/ns/net
	run_container
	works "$(readlink /proc/self/ns/net)"
}

@test "a joined process namespace: kill ends the container, not the other" {
	local other_id=$ID other_pid
	start_sleeper
	other_pid=$(pid_of)
	edit --arg p "/proc/$other_pid/ns/pid" --arg c "$CGROUP-2" \
		'(.linux.namespaces[] | select(.type == "pid")).path = $p | .linux.cgroupsPath = $c'
	ID=$ID-2
	CGROUP=$CGROUP-2
	sh_args 'sleep 1000 & sleep 1000'
	start_container
	call kill --all "$ID" 9
	works
	wait_for 10 has_status stopped
	call delete "$ID"
	works
	kill -0 "$other_pid"
	[ "$(status_of "$other_id")" = running ]
}

@test "hostname and domainname" {
	edit '.hostname = "box"'
	sh_args 'hostname; cat /proc/sys/kernel/domainname'
	run_container
	works
	[[ $output = box* ]]
	other runc,crun "1.1 has no domainname"
	edit '.domainname = "example.test"'
	run_container
	works $'box\nexample.test'
	[ "$(hostname)" != box ]
}

@test "sysctl: dots and slashes" {
	edit '.linux.sysctl = {"net.ipv4.ip_forward": "1", "kernel.msgmax": "65536", "net/core/somaxconn": "1234"}'
	other runc,crun "slashes"
	sh_args 'cat /proc/sys/net/ipv4/ip_forward /proc/sys/kernel/msgmax /proc/sys/net/core/somaxconn'
	run_container
	works $'1\n65536\n1234'
}

@test "sysctl: values" {
	edit '.linux.sysctl = {"net.ipv4.ip_forward": "1", "kernel.msgmax": "65536"}'
	sh_args 'cat /proc/sys/net/ipv4/ip_forward /proc/sys/kernel/msgmax'
	run_container
	works $'1\n65536'
}

@test "user namespace: mappings, files, capabilities inside" {
	in_user_namespace
	sh_args 'id -u; tr -s " " </proc/self/uid_map; tr -s " " </proc/self/gid_map; touch /made; cat /proc/self/setgroups; echo x >/dev/null && echo null'
	run_container
	works $'0\n 0 100000 65536\n 0 100000 65536\nallow\nnull'
	[ "$(stat -c %u:%g "$ROOTFS/made")" = 100000:100000 ]
}

@test "user namespace: a user and several ranges" {
	in_user_namespace
	edit '.linux.uidMappings = [{containerID: 0, hostID: 100000, size: 1000}, {containerID: 1000, hostID: 200000, size: 10}]
		| .process.user = {uid: 1000, gid: 1000}'
	sh_args 'id -u; tr -s " " </proc/self/uid_map; touch /tmp/made'
	run_container
	works $'1000\n 0 100000 1000\n 1000 200000 10'
	[ "$(stat -c %u "$ROOTFS/tmp/made")" = 200000 ]
}

@test "user namespace: the device nodes are usable" {
	in_user_namespace
	sh_args 'for d in null zero full random urandom tty; do [ -c /dev/$d ] || echo no $d; done; head -c 3 /dev/zero | wc -c; ls -l /dev/null | cut -c1'
	run_container
	works $'3\nc'
}

@test "user namespace: kill, pause, exec, delete" {
	in_user_namespace
	start_sleeper
	call pause "$ID"
	works
	call resume "$ID"
	works
	call exec "$ID" true
	works
	call delete --force "$ID"
	works
	clean
}

@test "user namespace: a joined one" {
	local pid
	in_user_namespace
	start_sleeper
	pid=$(pid_of)
	edit --arg p "/proc/$pid/ns/user" --arg c "$CGROUP-2" '(.linux.namespaces[] | select(.type == "user")).path = $p
		| .linux.cgroupsPath = $c | del(.linux.uidMappings, .linux.gidMappings)'
	other runc,crun "need the mappings, too"
	sh_args 'readlink /proc/self/ns/user'
	call run --bundle "$BUNDLE" "$ID-2"
	works "$(readlink "/proc/$pid/ns/user")"
}

@test "cgroup namespace" {
	edit '.linux.namespaces |= (map(select(.type != "cgroup")) + [{type: "cgroup"}])'
	sh_args 'grep -vc ":/$" /proc/self/cgroup; readlink /proc/self/ns/cgroup'
	run_container
	[[ $output = $'0\n'cgroup:* ]]
	[ "${output#*$'\n'}" != "$(readlink /proc/self/ns/cgroup)" ]
}

@test "time namespace with offsets" {
	other runc,crun "older versions do not know it"
	edit '.linux.namespaces += [{type: "time"}] | .linux.timeOffsets = {boottime: {secs: 1000000, nanosecs: 0}, monotonic: {secs: 500, nanosecs: 0}}'
	sh_args 'cut -d. -f1 /proc/uptime'
	run_container
	works
	[ "$output" -ge 1000000 ]
}

@test "rootfsPropagation" {
	local value
	for value in private slave shared unbindable rprivate rslave rshared; do
		# runc cannot bind the root file system to itself then
		[ "$KIND" = runc ] && [ "$value" = unbindable ] && continue
		edit --arg v $value '.linux.rootfsPropagation = $v'
		args echo ran
		echo "--- $value"
		run_container
		works ran
	done
	clean
}

@test "net devices are moved" {
	other runc,crun "older versions do not know it"
	[ "${MACHINE-}" = 1 ] || skip "only in a network namespace of our own"
	ip link add agentrun0 type veth peer name agentrun1 || skip "no veth devices"
	ip link set agentrun1 up
	ip addr add 10.254.1.1/24 dev agentrun0
	edit '.linux.netDevices = {agentrun0: {name: "inside0"}}'
	sh_args 'ip addr show inside0 | grep -o "10.254.1.1/24"; ip link show inside0 | grep -c UP'
	run_container
	ip link del agentrun1 2>/dev/null || true
	works $'10.254.1.1/24\n1'
}

@test "a caller without a root user: rootless with mappings of its own" {
	local user=agentrun-test
	unshare -U true 2>/dev/null || skip "no user namespaces"
	command -v setpriv >/dev/null || skip "no setpriv"
	[ "$(cat /proc/sys/user/max_user_namespaces)" -gt 0 ] || skip "user namespaces are limited to none"
	other crun "refuses this layout of cgroups"
	rm -rf "$BUNDLE"
	mkdir -p "$BUNDLE"
	cp -a "$BATS_FILE_TMPDIR/rootfs" "$ROOTFS"
	(cd "$BUNDLE" && "$AGENTRUN" spec --rootless)
	edit '.process.terminal = false | .root.readonly = false | .process.args = ["sh", "-c", "id -u; touch /made; cat /proc/self/uid_map | tr -s \" \""]
		| del(.process.rlimits) | .linux.uidMappings[0].hostID = 12345 | .linux.gidMappings[0].hostID = 12345'
	chown -R 12345:12345 "$T"
	dir=$BUNDLE
	while [ -n "$dir" ] && [ "$dir" != /tmp ] && [ "$dir" != /var/tmp ]; do
		chmod a+x "$dir"
		dir=${dir%/*}
	done
	status=0
	# shellcheck disable=SC2086
	env -i PATH="$PATH" setpriv --reuid 12345 --regid 12345 --clear-groups --no-new-privs "$AGENTRUN" ${AGENTRUN_FLAGS-} --root "$T/rootless" \
		run --bundle "$BUNDLE" "$ID" </dev/null >"$T/stdout" 2>"$T/stderr" 3>&- || status=$?
	output=$(cat "$T/stdout") errors=$(cat "$T/stderr")
	report
	[ "$status" -eq 0 ]
	[ "$output" = $'0\n 0 12345 1' ]
	[ "$(stat -c %u "$ROOTFS/made")" = 12345 ]
}

# Containers of an ordinary user: in the cgroup that systemd delegates to her, with her own
# ids or with subordinate ones. Run as alice in a scope of her own (see suites).
# shellcheck shell=bash disable=SC2016,SC2154

bats_require_minimum_version 1.5.0

setup_file() {
	[ "$(id -u)" -ne 0 ] || skip "needs an ordinary user"
	local own pid
	own=$(sed -n 's/^0:://p' /proc/self/cgroup)
	# a cgroup with processes cannot have limited children
	mkdir "/sys/fs/cgroup$own/suite"
	while [ -n "$(cat "/sys/fs/cgroup$own/cgroup.procs")" ]; do
		for pid in $(cat "/sys/fs/cgroup$own/cgroup.procs"); do
			echo "$pid" >"/sys/fs/cgroup$own/suite/cgroup.procs" || true
		done 2>/dev/null
	done
	export OWN=$own
	mkdir "$BATS_FILE_TMPDIR/rootfs"
	tar -C "$BATS_FILE_TMPDIR/rootfs" -xf /usr/share/vm/busybox.tar
}

setup() {
	T=$BATS_TEST_TMPDIR
	BUNDLE=$T/bundle
	CGROUP=$OWN/c$BATS_TEST_NUMBER
	ID=rootless$BATS_TEST_NUMBER
	mkdir "$BUNDLE"
	cp -a "$BATS_FILE_TMPDIR/rootfs" "$BUNDLE/rootfs"
	(cd "$BUNDLE" && "$AGENTRUN" spec --rootless)
	edit --arg c "$CGROUP" '.process.terminal = false | .root.readonly = false
		| .linux.cgroupsPath = $c | .process.args = ["sleep", "1000"]'
}

teardown() {
	rt delete --force "$ID" 2>/dev/null || true
}

# These tests are about the specification; the policy is on top (tests/integration/policy.bats).
rt() {
	"$AGENTRUN" --profile passthrough "$@"
}

edit() {
	jq "$@" <"$BUNDLE/config.json" >"$BUNDLE/config.new"
	mv "$BUNDLE/config.new" "$BUNDLE/config.json"
}

sh_args() {
	edit --arg script "$1" '.process.args = ["sh", "-c", $script]'
}

start() {
	rt create --bundle "$BUNDLE" "$ID" </dev/null >"$T/out" 2>&1 3>&- || {
		cat "$T/out"
		return 1
	}
	rt start "$ID"
}

value() {
	cat "/sys/fs/cgroup$CGROUP/$1"
}

subordinate_ids() {
	edit '.linux.uidMappings = [{containerID: 0, hostID: 1000, size: 1},
			{containerID: 1, hostID: 100000, size: 65536}]
		| .linux.gidMappings = .linux.uidMappings'
}

@test "run: root inside is the user outside" {
	sh_args 'id -u; cat /proc/self/uid_map'
	run rt run --bundle "$BUNDLE" "$ID"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = 0 ]
	[[ ${lines[1]} =~ ^\ *0\ +1000\ +1$ ]]
}

@test "under the built-in policy a user must accept what she cannot have, and says so in a file of hers" {
	edit '.linux.cgroupsPath = "" | .process.args = ["echo", "ran"]
		| .linux.namespaces += [{type: "network"}] | .linux.namespaces |= unique_by(.type)
		| .mounts |= map(if .destination == "/sys" then {destination: "/sys", type: "sysfs", source: "sysfs", options: ["nosuid", "noexec", "nodev", "ro"]} else . end)'
	run "$AGENTRUN" --systemd-cgroup run --bundle "$BUNDLE" "$ID"
	echo "$output"
	[ "$status" -ne 0 ]
	[[ $output =~ 'add "none" to profiles.default.'(devices|egress|audit)'.accept' ]]
	echo '{"version": 1, "profiles": {"default": {"devices": {"accept": ["none"]}, "egress": {"accept": ["none"]},
		"audit": {"accept": ["none"]}}}}' >"$T/policy.json"
	run "$AGENTRUN" --systemd-cgroup --policy "$T/policy.json" run --bundle "$BUNDLE" "$ID"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = ran ]
}

@test "systemd: a scope of the user's manager" {
	edit --arg c "vmtest-a.slice:vm:$ID" '.linux.cgroupsPath = $c
		| .linux.resources = {memory: {limit: 40960000}, pids: {limit: 50}, cpu: {quota: 50000, period: 100000}}'
	rt --systemd-cgroup create --bundle "$BUNDLE" "$ID" </dev/null >"$T/out" 2>&1 3>&- || {
		cat "$T/out"
		return 1
	}
	rt start "$ID"
	local cgroup
	cgroup=$(sed -n 's/^0:://p' "/proc/$(rt state "$ID" | jq .pid)/cgroup")
	[ "$cgroup" = "/user.slice/user-1000.slice/user@1000.service/vmtest.slice/vmtest-a.slice/vm-$ID.scope" ]
	CGROUP=$cgroup
	[ "$(value memory.max)" = 40960000 ]
	[ "$(value pids.max)" = 50 ]
	[ "$(value cpu.max)" = "50000 100000" ]
	[ "$(systemctl --user show --property MemoryMax --value "vm-$ID.scope")" = 40960000 ]
	rt update --memory 61440000 "$ID"
	[ "$(value memory.max)" = 61440000 ]
	[ "$(systemctl --user show --property MemoryMax --value "vm-$ID.scope")" = 61440000 ]
	rt exec "$ID" true
	rt pause "$ID"
	rt resume "$ID"
	rt delete --force "$ID"
	[ ! -e "/sys/fs/cgroup$cgroup" ]
}

@test "systemd: without a session of hers, an error" {
	edit '.linux.cgroupsPath = "" | .process.args = ["true"]'
	run env -u XDG_RUNTIME_DIR -u DBUS_SESSION_BUS_ADDRESS "$AGENTRUN" --profile passthrough --root "$T/root" \
		--systemd-cgroup run --bundle "$BUNDLE" "$ID"
	echo "$output"
	[ "$status" -ne 0 ]
	[[ $output = *"connect to the user's systemd (XDG_RUNTIME_DIR and a user session with dbus are needed)"* ]]
}

@test "the record is in the user's own run folder and names her" {
	start
	[ -d "$XDG_RUNTIME_DIR/agentrun/$ID" ]
	[ "$(rt state "$ID" | jq -r .status)" = running ]
	[ "$(rt state "$ID" | jq -r .owner)" != "" ]
	rt list | grep -q "^$ID "
}

@test "exec joins all namespaces" {
	start
	run rt exec "$ID" sh -c 'id -u; cat /proc/self/cgroup; for n in user mnt pid ipc uts cgroup; do
		[ "$(readlink /proc/self/ns/$n)" = "$(readlink /proc/1/ns/$n)" ] && echo $n; done'
	[ "$status" -eq 0 ]
	[ "$output" = "$(printf '0\n0::/\nuser\nmnt\npid\nipc\nuts\ncgroup')" ]
}

@test "exec returns the exit code" {
	start
	run rt exec "$ID" sh -c 'exit 5'
	[ "$status" -eq 5 ]
}

@test "delegated limits are set, updated and gone with the container" {
	edit '.linux.resources = {memory: {limit: 40960000}, pids: {limit: 50}, cpu: {quota: 50000, period: 100000}}'
	start
	[ "$(value memory.max)" = 40960000 ]
	[ "$(value pids.max)" = 50 ]
	[ "$(value cpu.max)" = "50000 100000" ]
	rt update --memory 61440000 --pids-limit 60 "$ID"
	[ "$(value memory.max)" = 61440000 ]
	[ "$(value pids.max)" = 60 ]
	rt delete --force "$ID"
	[ ! -e "/sys/fs/cgroup$CGROUP" ]
}

@test "pause, resume, events, ps, kill" {
	start
	rt pause "$ID"
	[ "$(value cgroup.freeze)" = 1 ]
	[ "$(rt state "$ID" | jq -r .status)" = paused ]
	rt resume "$ID"
	[ "$(rt events --stats "$ID" | jq .data.pids.current)" = 1 ]
	rt ps "$ID" | grep -q 'sleep 1000'
	rt kill "$ID" KILL
	for _ in $(seq 100); do
		[ "$(rt state "$ID" | jq -r .status)" = stopped ] && break
		sleep 0.2
	done
	rt delete "$ID"
}

@test "subordinate ids" {
	subordinate_ids
	sh_args 'chown 5:6 /tmp && stat -c %u:%g /tmp; su nobody -s /bin/sh -c "id -u"'
	edit '.process.capabilities |= map_values(. + ["CAP_CHOWN", "CAP_SETUID", "CAP_SETGID"] | unique)'
	run rt run --bundle "$BUNDLE" "$ID"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = "$(printf '5:6\n65534')" ]
	[ "$(stat -c %u:%g "$BUNDLE/rootfs/tmp")" = 100004:100005 ]
}

@test "subordinate ids that are not the user's are refused" {
	subordinate_ids
	edit '.linux.uidMappings[1].hostID = 300000'
	run rt run --bundle "$BUNDLE" "$ID"
	echo "$output"
	[ "$status" -ne 0 ]
	[ -n "$output" ]
	run rt state "$ID"
	[ "$status" -ne 0 ]
}

@test "a cgroup that is not hers is refused, not left out" {
	edit '.linux.cgroupsPath = "/not-hers" | .process.args = ["true"]'
	run rt run --bundle "$BUNDLE" "$ID"
	echo "$output"
	[ "$status" -ne 0 ]
	[[ $output = *cgroup* ]]
}

@test "without a cgroup path and without limits, no cgroup is needed" {
	edit 'del(.linux.cgroupsPath) | del(.linux.resources) | .process.args = ["echo", "ran"]'
	run rt run --bundle "$BUNDLE" "$ID"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = ran ]
}

@test "a limit that is not delegated is refused" {
	edit '.linux.resources = {hugepageLimits: [{pageSize: "2MB", limit: 2097152}]}'
	run rt run --bundle "$BUNDLE" "$ID"
	echo "$output"
	[ "$status" -ne 0 ]
	[[ $output = *hugetlb* ]]
}

@test "sysfs and devices of the host cannot be written" {
	sh_args 'touch /sys/x 2>/dev/null && echo sys; mknod /tmp/n c 1 1 2>/dev/null && echo node; ls /dev/null'
	run rt run --bundle "$BUNDLE" "$ID"
	echo "$output"
	[ "$status" -eq 0 ]
	[ "$output" = /dev/null ]
}

@test "two containers of one user share nothing" {
	start
	local first=$ID second=${ID}b
	edit --arg c "${CGROUP}b" '.linux.cgroupsPath = $c'
	ID=$second
	start
	[ "$(rt exec "$first" readlink /proc/self/ns/pid)" != "$(rt exec "$second" readlink /proc/self/ns/pid)" ]
	rt delete --force "$second"
	ID=$first
	[ "$(rt state "$first" | jq -r .status)" = running ]
}

# Kernel settings that every container gets in namespaces of its own, and nobody else.
# shellcheck shell=bash

load helpers.bash

setup_file() {
	export SUITE_POLICY=1
	suite_setup_file
	[ "$KIND" = agentrun ] || skip "only agentrun has a policy"
	if [ -e /etc/agentrun/policy.json ]; then
		skip "this host has a policy of its own"
	fi
}

teardown_file() {
	suite_teardown_file
}

setup() {
	suite_setup
	umask 022
	# shellcheck disable=SC2016
	SHOW='for f in vm/memfd_noexec net/ipv4/ping_group_range net/ipv4/ip_unprivileged_port_start; do
		echo $f $(cat /proc/sys/$f 2>/dev/null); done'
}

teardown() {
	suite_teardown
}

# memfd VALUE: what the kernel can have of it.
memfd() {
	if [ ! -e /proc/sys/vm/memfd_noexec ]; then
		echo
	elif [ "$(printf '6.6\n%s\n' "$(uname -r)" | sort -V | head -n 1)" = 6.6 ]; then
		echo " $1"
	else
		echo ' 0'
	fi
}

@test "no program without a name, no ping sockets, low ports for users; the host keeps its own" {
	local host
	host=$(sh -c "$SHOW")
	sh_args "$SHOW"
	run_container --keep
	works "vm/memfd_noexec$(memfd 2)"$'\nnet/ipv4/ping_group_range 1 0\nnet/ipv4/ip_unprivileged_port_start 0'
	[ "$(sh -c "$SHOW")" = "$host" ]
	rt explain "$ID" | grep -q '^sysctls *added *nothing -> net.ipv4.ping_group_range=1 0 '
	call delete "$ID"
	args /bin/run-unnamed /bin/busybox echo unnamed
	cp "$(dirname "$AGENTRUN")/tests/integration/helpers/run-unnamed" "$ROOTFS/bin/run-unnamed"
	run_container
	if [ "$(memfd 2)" = ' 2' ]; then
		exits 4 $'mapped: yes\nnot executed: EACCES'
	fi
	AGENTRUN_FLAGS='--profile passthrough'
	run_container
	works $'mapped: yes\nunnamed'
}

@test "an exec is under them, too, and nobody inside changes them" {
	edit '.linux.readonlyPaths = []'
	start_sleeper
	call exec "$ID" sh -c "$SHOW"
	works "vm/memfd_noexec$(memfd 2)"$'\nnet/ipv4/ping_group_range 1 0\nnet/ipv4/ip_unprivileged_port_start 0'
	call exec "$ID" sh -c 'for f in vm/memfd_noexec net/ipv4/ping_group_range; do echo 0 >/proc/sys/$f; done 2>/dev/null; true'
	call exec "$ID" sh -c "$SHOW"
	works "vm/memfd_noexec$(memfd 2)"$'\nnet/ipv4/ping_group_range 1 0\nnet/ipv4/ip_unprivileged_port_start 0'
}

@test "in a user namespace: no further one inside; nested keeps them" {
	in_user_namespace
	sh_args "$SHOW; cat /proc/sys/user/max_user_namespaces"
	run_container
	# groups that this user namespace does not have
	works "vm/memfd_noexec$(memfd 2)"$'\nnet/ipv4/ping_group_range 65534 65534\nnet/ipv4/ip_unprivileged_port_start 0\n0'
	AGENTRUN_FLAGS='--profile nested'
	run_container
	[ "$status" -eq 0 ] && [ "${output##*$'\n'}" -gt 0 ]
}

@test "what the specification may set is its own; what it may not is refused; a policy can do without" {
	edit '.linux.sysctl = {"net.ipv4.ping_group_range": "0 100"}'
	sh_args "$SHOW"
	run_container
	[[ $status -eq 0 && $output = *$'\nnet/ipv4/ping_group_range 0 100\n'* ]]
	edit '.linux.sysctl = {"vm.memfd_noexec": "0"}'
	run_container
	fails 1 'policy.*vm.memfd_noexec.*sysctls.allow'
	printf '{"version": 1, "profiles": {"default": {"sysctls": {"set": []}}}}' >"$T/policy.json"
	chmod 600 "$T/policy.json"
	AGENTRUN_FLAGS="--policy $T/policy.json"
	edit 'del(.linux.sysctl)'
	run_container
	[[ $status -eq 0 && $output = "vm/memfd_noexec$(memfd 0)"*'port_start 1024' ]]
}

@test "the network of a pod keeps its settings" {
	local holder
	unshare -n sleep 100 3>&- &
	holder=$!
	wait_for 10 eval '[ "$(readlink /proc/'$holder'/ns/net)" != "$(readlink /proc/self/ns/net)" ]'
	edit --arg path "/proc/$holder/ns/net" '(.linux.namespaces[] | select(.type == "network")).path = $path'
	sh_args "$SHOW"
	run_container
	kill "$holder"
	wait "$holder" || true
	[[ $status -eq 0 && $output = *$'\nnet/ipv4/ping_group_range 1 0\nnet/ipv4/ip_unprivileged_port_start 1024' ]]
}

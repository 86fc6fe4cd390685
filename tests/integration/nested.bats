# Sandboxes inside a container: bubblewrap, as Codex, sandbox-runtime and Flatpak start it,
# works under the profile nested and under no other.
# shellcheck shell=bash

load helpers.bash

setup_file() {
	export SUITE_POLICY=1
	suite_setup_file
	[ "$KIND" = agentrun ] || skip "only agentrun has profiles"
	if [ -e /etc/agentrun/policy.json ]; then
		skip "this host has a policy of its own"
	fi
	command -v bwrap >/dev/null || skip "bubblewrap is not installed"
	[ "$(cat /proc/sys/user/max_user_namespaces)" -gt 0 ] || skip "user namespaces are limited to none"
	local file
	# the program and its libraries where they are on the host
	for file in $(ldd "$(command -v bwrap)" | grep -o '/[^ ]*'); do
		mkdir -p "$BATS_FILE_TMPDIR/rootfs${file%/*}"
		cp -L "$file" "$BATS_FILE_TMPDIR/rootfs$file"
	done
	cp "$(command -v bwrap)" "$BATS_FILE_TMPDIR/rootfs/bin/bwrap"
}

teardown_file() {
	suite_teardown_file
}

setup() {
	suite_setup
	AGENTRUN_FLAGS='--profile nested'
	edit '.process.user = {uid: 1000, gid: 1000} | .process.env += ["HOME=/tmp"]'
	chmod 1777 "$ROOTFS/tmp"
}

teardown() {
	suite_teardown
}

# sandbox SCRIPT: what the container's shell runs.
sandbox() {
	sh_args "$1"
	run_container
}

@test "bubblewrap: everything unshared, a read-only root, own devices" {
	sandbox 'bwrap --ro-bind / / --dev /dev --tmpfs /tmp --unshare-all --die-with-parent --new-session --cap-drop ALL \
		sh -c "id -u; touch /made 2>/dev/null || echo read-only; touch /tmp/made && echo tmp; ls /sys/class/net; cat /dev/null"'
	works $'1000\nread-only\ntmp\nlo'
}

@test "bubblewrap: one writable folder, no network, as root of its own" {
	sandbox 'mkdir /tmp/work; bwrap --ro-bind / / --bind /tmp/work /tmp/work --unshare-user --unshare-pid --unshare-net \
		--uid 0 --gid 0 --chdir /tmp/work sh -c "id -u; echo data >file; cat file; echo x >/tmp/other 2>/dev/null || echo closed"; cat /tmp/work/file'
	works $'0\ndata\nclosed\ndata'
}

@test "bubblewrap: a filter of its own" {
	# one instruction: allow everything
	sandbox "printf '\\006\\000\\000\\000\\000\\000\\377\\177' >/tmp/f; bwrap --ro-bind / / --unshare-all --seccomp 9 sh -c 'grep Seccomp_filters /proc/self/status' 9</tmp/f"
	[ "$status" -eq 0 ]
	[[ $output =~ Seccomp_filters:[[:space:]]*([0-9]+)$ ]]
	[ "${BASH_REMATCH[1]}" -ge 2 ]
}

@test "bubblewrap: in exec as well, and a sandbox in a sandbox" {
	start_sleeper
	call exec "$ID" bwrap --ro-bind / / --unshare-all echo inside
	works inside
	call exec "$ID" bwrap --bind / / --unshare-all bwrap --ro-bind / / --unshare-all echo deeper
	works deeper
}

@test "bubblewrap: what a sandbox gains stays in it" {
	# root of a namespace of its own has no right over the container, nor over the host
	sandbox 'bwrap --bind / / --unshare-all --uid 0 --cap-add ALL sh -c "hostname host-name; mount -t tmpfs none /home && echo mounted; cat /proc/sys/kernel/hostname" ; hostname; grep -c " /home " /proc/self/mounts'
	[[ $output = *mounted* && ${output##*$'\n'} = 0 ]]
	[ "$(hostname)" != host-name ]
	sandbox 'unshare -Ur sh -c "mknod /tmp/sda b 8 0 || echo no; cat /proc/self/status | grep CapBnd"'
	[[ $output = no* || $errors = *"not permitted"* ]]
}

@test "bubblewrap: a new /proc is refused by the kernel, because parts of ours are masked" {
	sandbox 'bwrap --ro-bind / / --proc /proc --unshare-all echo started'
	[ "$status" -ne 0 ]
	[[ $errors = *"mount proc"* ]]
}

@test "bubblewrap: nothing of it under the other profiles" {
	local profile
	for profile in default strict build; do
		AGENTRUN_FLAGS="--profile $profile"
		sandbox 'bwrap --ro-bind / / --unshare-all echo started'
		[ "$status" -ne 0 ]
		[[ $output != *started* ]]
	done
}

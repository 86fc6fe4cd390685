#!/usr/bin/env bats
# exec in containers that lack what it might lean on.

load helpers.bash

setup_file() { suite_setup_file; }
teardown_file() { suite_teardown_file; }
setup() { suite_setup; }
teardown() { suite_teardown; }

without_proc() {
	edit '.mounts |= map(select(.destination != "/proc")) | .linux.maskedPaths = [] | .linux.readonlyPaths = []'
}

@test "exec: the container has no /proc" {
	other runc "needs the container's /proc"
	other crun "needs the container's /proc"
	without_proc
	start_sleeper
	call exec "$ID" sh -c 'echo "$(id -u) $(ls -A /proc | wc -l)"'
	works '0 0'
}

@test "exec: a label does not need the container's /proc" {
	other runc,crun "ask for the label in another order"
	grep -q selinuxfs /proc/filesystems && skip 'SELinux is active'
	without_proc
	start_sleeper
	call exec --process-label system_u:system_r:container_t:s0 "$ID" true
	fails 255 'SELinux is not active on this host'
}

#!/usr/bin/env bats
# A container that is being created while others ask for it or delete it.

load helpers.bash

setup_file() { suite_setup_file; }
teardown_file() { suite_teardown_file; }
setup() { suite_setup; }
teardown() { suite_teardown; }

# slow_create SECONDS: create in the background, with a hook that takes this long.
slow_create() {
	edit --arg s "$1" '.hooks.createRuntime = [{path: "/bin/sh", args: ["sh", "-c", "touch \"$1\"; sleep $2", "sh", $f, $s]}]' \
		--arg f "$T/hook"
	args sleep 1000
	rt_background create --bundle "$BUNDLE" "$ID"
	CREATOR=$!
	wait_for 10 test -e "$T/hook"
}

@test "state: a short creation is waited for" {
	slow_create 0.1
	[ "$(status_of)" = created ]
	wait "$CREATOR"
}

@test "state: creating, while it takes longer" {
	slow_create 2
	[ "$(status_of)" = creating ]
	wait "$CREATOR"
	[ "$(status_of)" = created ]
}

@test "delete --force: waits for a creation that is going on" {
	slow_create 1
	call delete --force "$ID"
	works
	wait "$CREATOR"
	clean
	no_processes
}

@test "delete --force: a creator that was killed is not waited for" {
	slow_create 5
	kill -9 "$CREATOR"
	wait "$CREATOR" || true
	CALL_TIMEOUT=4 call delete --force "$ID"
	works
	clean
}

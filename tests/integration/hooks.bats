#!/usr/bin/env bats
# Hooks: their order, what they get on stdin, where they run, what happens when they fail.

load helpers.bash

setup_file() { suite_setup_file; }
teardown_file() { suite_teardown_file; }
setup() { suite_setup; }
teardown() { suite_teardown; }

# A program that works inside and outside and keeps what it was given in FOLDER (seen from
# where it runs): the state in NAME.state, a line in "order".
recorder() {
	cat >"$1" <<-S
		#!/bin/sh
		cat >"\$2/\$1.state"
		pwd >"\$2/\$1.cwd"
		env >"\$2/\$1.env"
		readlink /proc/self/ns/mnt /proc/self/ns/net >"\$2/\$1.ns"
		echo "\$1" >>"\$2/order"
	S
	chmod 755 "$1"
}

all_hooks() {
	local stage
	mkdir -p "$T/rec" "$ROOTFS/rec"
	recorder "$T/hook"
	recorder "$ROOTFS/hook"
	for stage in prestart createRuntime createContainer poststart poststop; do
		edit --arg s $stage --arg p "$T/hook" --arg d "$T/rec" '.hooks[$s] = [{path: $p, args: ["hook", $s, $d], env: ["PATH=/usr/bin:/bin", "STAGE=" + $s]}]'
	done
	edit '.hooks.startContainer = [{path: "/hook", args: ["hook", "startContainer", "/rec"], env: ["PATH=/bin", "STAGE=startContainer"]}]'
}

@test "each stage runs at its time" {
	all_hooks
	args sleep 1000
	call create --bundle "$BUNDLE" "$ID"
	works
	if [ "$KIND" = runc ]; then
		# 1.1 runs poststart before the program
		sed -i /poststart/d "$T/rec/order"
	fi
	[ "$(tr '\n' ' ' <"$T/rec/order")" = 'prestart createRuntime createContainer ' ]
	[ ! -e "$ROOTFS/rec/order" ]
	call start "$ID"
	works
	[ "$KIND" = runc ] || wait_for 10 grep -q poststart "$T/rec/order"
	[ "$(cat "$ROOTFS/rec/order")" = startContainer ]
	! grep -q poststop "$T/rec/order"
	stop_container
	call delete "$ID"
	works
	[ "$(tail -n 1 "$T/rec/order")" = poststop ]
	clean
}

@test "the state that hooks get" {
	local stage status
	edit '.annotations = {"org.example.slash": "a/b"}'
	all_hooks
	args sleep 1000
	start_container
	local pid
	pid=$(pid_of)
	stop_container
	call delete "$ID"
	works
	cp "$ROOTFS/rec/startContainer.state" "$T/rec/"
	# as runc; crun tells this deprecated kind of a container that is created
	local prestart=creating
	[ "$KIND" != crun ] || prestart=created
	while read -r stage status; do
		echo "--- $stage: $(cat "$T/rec/$stage.state")"
		jq -e --arg id "$ID" --arg b "$BUNDLE" --arg s "$status" '.id == $id and .bundle == $b
			and (.status | test("^(" + $s + ")$")) and .annotations["org.example.slash"] == "a/b"
			and (.ociVersion | startswith("1."))' "$T/rec/$stage.state"
		[ "$(wc -l <"$T/rec/$stage.state")" -le 1 ]
		! grep -qF '\/' "$T/rec/$stage.state"
	done <<-T
		prestart $prestart
		createRuntime creating
		createContainer creating
		startContainer created
		poststart created|running
		poststop stopped
	T
	for stage in prestart createRuntime poststart; do
		jq -e --argjson p "$pid" '.pid == $p' "$T/rec/$stage.state"
	done
	jq -e '(.pid // 0) == 0' "$T/rec/poststop.state"
}

@test "where hooks run: folder and namespaces" {
	local host stage
	host=$(readlink /proc/self/ns/mnt /proc/self/ns/net)
	all_hooks
	args sleep 1000
	start_container
	stop_container
	call delete "$ID"
	for stage in prestart createRuntime poststart poststop; do
		echo "--- $stage: $(cat "$T/rec/$stage.cwd")"
		# runc delete leaves poststop hooks in its own folder
		[ "$KIND" = runc ] && [ $stage = poststop ] && continue
		[ "$(cat "$T/rec/$stage.cwd")" = "$BUNDLE" ]
		[ "$(cat "$T/rec/$stage.ns")" = "$host" ]
	done
	[ "$(head -n 1 "$T/rec/createContainer.ns")" != "$(head -n 1 <<<"$host")" ]
	[ "$(tail -n 1 "$T/rec/createContainer.ns")" != "$(tail -n 1 <<<"$host")" ]
	[ "$(cat "$ROOTFS/rec/startContainer.cwd")" = / ]
	[ "$(tail -n 1 "$ROOTFS/rec/startContainer.ns")" != "$(tail -n 1 <<<"$host")" ]
}

@test "env is as given" {
	local stage
	all_hooks
	SECRET=leak start_sleeper
	for stage in prestart createRuntime createContainer; do
		grep -qx "STAGE=$stage" "$T/rec/$stage.env"
		! grep -q SECRET "$T/rec/$stage.env"
	done
}

@test "several hooks of a stage run in their order" {
	mkdir "$T/rec"
	recorder "$T/hook"
	edit --arg p "$T/hook" --arg d "$T/rec" '.hooks.createRuntime = [range(5) | {path: $p, args: ["hook", ("n\(.)"), $d]}]'
	run_container
	works
	[ "$(tr '\n' ' ' <"$T/rec/order")" = 'n0 n1 n2 n3 n4 ' ]
}

@test "a failing hook: later ones do not run, poststop does" {
	mkdir "$T/rec"
	recorder "$T/hook"
	printf '#!/bin/sh\ncat >/dev/null; echo reason >&2; exit 7\n' >"$T/bad"
	chmod 755 "$T/bad"
	edit --arg p "$T/hook" --arg d "$T/rec" --arg bad "$T/bad" \
		'.hooks = {createRuntime: [{path: $bad}, {path: $p, args: ["hook", "second", $d]}],
		createContainer: [{path: $p, args: ["hook", "third", $d]}], poststop: [{path: $p, args: ["hook", "poststop", $d]}]}'
	call create --bundle "$BUNDLE" "$ID"
	fails 1
	says 'createRuntime'
	[ "$(tr '\n' ' ' <"$T/rec/order")" = 'poststop ' ]
	clean
}

@test "a failing poststop hook does not keep the container" {
	printf '#!/bin/sh\nexit 7\n' >"$T/bad"
	chmod 755 "$T/bad"
	edit --arg bad "$T/bad" '.hooks = {poststop: [{path: $bad}]}'
	args true
	start_container
	wait_for 10 has_status stopped
	call delete "$ID"
	[ "$status" -eq 0 ]
	clean
}

@test "poststart runs after the program was started" {
	other runc "1.1 runs it earlier"
	cat >"$T/hook" <<-S
		#!/bin/sh
		pid=\$(jq -r .pid)
		tr '\\0' ' ' <"/proc/\$pid/cmdline" >"$T/cmdline"
	S
	chmod 755 "$T/hook"
	edit --arg p "$T/hook" --arg path "$PATH" '.hooks.poststart = [{path: $p, env: ["PATH=" + $path]}]'
	start_sleeper
	[ "$(cat "$T/cmdline")" = 'sleep 1000 ' ]
}

@test "a hook that does not read its input" {
	printf '#!/bin/sh\nexec <&-\nexit 0\n' >"$T/hook"
	chmod 755 "$T/hook"
	edit --arg p "$T/hook" '.hooks.createRuntime = [{path: $p}] | .annotations = {big: ("x" * 200000)}'
	args echo ran
	run_container
	works ran
}

@test "what a hook prints stays out of the container's output" {
	printf '#!/bin/sh\ncat >/dev/null; echo noise; echo noise >&2\n' >"$T/hook"
	chmod 755 "$T/hook"
	edit --arg p "$T/hook" '.hooks.createRuntime = [{path: $p}] | .hooks.poststop = [{path: $p}]'
	args echo ran
	run_container
	works ran
	[ -z "$errors" ]
}

@test "a timeout that is not reached" {
	printf '#!/bin/sh\ncat >/dev/null; sleep 0.2\n' >"$T/hook"
	chmod 755 "$T/hook"
	edit --arg p "$T/hook" --argjson s $((10 * ${PATIENCE-1})) '.hooks.createRuntime = [{path: $p, timeout: $s}]'
	args echo ran
	SECONDS=0
	run_container
	works ran
	[ $SECONDS -lt $((8 * ${PATIENCE-1})) ]
}

@test "a network device put in by a createRuntime hook is there" {
	[ "${MACHINE-}" = 1 ] || skip "only in a network namespace of our own"
	cat >"$T/hook" <<-S
		#!/bin/sh
		pid=\$(jq -r .pid)
		ip link add hook0 type veth peer name hook1 && ip link set hook0 netns \$pid
	S
	chmod 755 "$T/hook"
	edit --arg p "$T/hook" --arg path "$PATH:/usr/sbin:/sbin" '.hooks.createRuntime = [{path: $p, env: ["PATH=" + $path]}]'
	sh_args 'ls /sys/class/net | grep hook0'
	run_container
	works hook0
}

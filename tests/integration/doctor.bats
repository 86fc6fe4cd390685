#!/usr/bin/env bats
# doctor: what the host offers and lacks, and which engines run something else. The engines'
# configuration is put in place in a mount namespace of the test's own.

# shellcheck shell=bash disable=SC2154

load helpers.bash

setup_file() {
	export SUITE_POLICY=1
	suite_setup_file
	[ "$KIND" = agentrun ] || skip "only agentrun has a doctor"
	[ ! -e /etc/agentrun/policy.json ] || skip "this host has a policy of its own"
}

teardown_file() {
	suite_teardown_file
}

setup() {
	suite_setup
	ETC=$T/etc
	umask 022
}

teardown() {
	local folder
	for folder in docker containers containerd; do
		! mountpoint -q "/etc/$folder" || umount "/etc/$folder"
	done
	suite_teardown
}

# doctor ARGUMENT...: leaves $status, $output.
doctor() {
	status=0
	output=$("$AGENTRUN" doctor "$@" 2>&1) || status=$?
	echo "exit code $status"
	echo "$output"
}

# says STATE SUBJECT REGEX
says() {
	grep -Eq "^$1 +$2 +$3" <<<"$output"
}

# configured FOLDER: /etc/FOLDER is an empty one of ours.
configured() {
	mkdir -p "$ETC/$1" "/etc/$1"
	mount --bind "$ETC/$1" "/etc/$1"
}

has() {
	command -v "$1" >/dev/null || skip "no $1"
}

@test "doctor: the host's root can start containers here, and each control is named" {
	local subject
	[ "$(id -u)" -eq 0 ] && [ "$(readlink /proc/self/ns/user)" = "$(readlink /proc/1/ns/user)" ] || skip "not the host's root"
	doctor
	[ "$status" -eq 0 ]
	for subject in privilege kernel policy memory cpu pids egress seccomp; do
		says ok "$subject" .
	done
	[[ $output = *'containers under this policy can start here' ]]
	doctor --json
	jq -e '.ready and (.findings | length) > 8 and all(.findings[]; .state == "ok" or .state == "note")' <<<"$output"
}

@test "doctor: a user is told what is lacking, and what her policy gives up" {
	local dir=$T
	while [ "$dir" != / ]; do
		chmod a+x "$dir" 2>/dev/null || true
		dir=${dir%/*}
		[ -n "$dir" ] || break
	done
	status=0
	output=$(env XDG_STATE_HOME="$T/home" setpriv --reuid 12345 --regid 12345 --clear-groups "$AGENTRUN" doctor 2>&1) || status=$?
	echo "$output"
	[ "$status" -eq 3 ]
	says lacking memory .
	says lacking egress 'this process cannot put BPF programs on cgroups'
	says note privilege 'an ordinary user'
	echo '{"version": 1, "profiles": {"default": {"egress": {"accept": ["none"]}, "audit": {"accept": ["none"]},
		"devices": {"accept": ["none"]}, "resources": {"accept": ["none"]}}}}' >"$T/policy.json"
	chown 12345 "$T/policy.json"
	status=0
	output=$(env XDG_STATE_HOME="$T/home" setpriv --reuid 12345 --regid 12345 --clear-groups "$AGENTRUN" --policy "$T/policy.json" doctor 2>&1) || status=$?
	echo "$output"
	[ "$status" -eq 0 ]
	says note memory .
}

@test "doctor: a policy that cannot be read is lacking, and names the place" {
	echo '{"version": 1, "profiles": {"default": {"egres": {}}}}' >"$T/policy.json"
	status=0
	output=$("$AGENTRUN" --policy "$T/policy.json" doctor 2>&1) || status=$?
	echo "$output"
	[ "$status" -eq 3 ]
	says lacking policy '.*egres'
}

@test "doctor: Docker with another default, with ours under any name, and a broken file" {
	has dockerd
	configured docker
	doctor
	says note docker 'installed, and agentrun is none of its runtimes'
	echo '{"runtimes": {"agentrun": {"path": "/usr/bin/agentrun"}}}' >"$ETC/docker/daemon.json"
	doctor
	says note docker '.*runs under runc, without this policy'
	echo '{"runtimes": {"hard": {"path": "/opt/agentrun"}, "other": {"path": "/opt/other"}}, "default-runtime": "other"}' >"$ETC/docker/daemon.json"
	doctor
	says note docker '.*runs under other, without this policy'
	echo '{"runtimes": {"hard": {"path": "/opt/agentrun"}}, "default-runtime": "hard"}' >"$ETC/docker/daemon.json"
	doctor
	says ok docker 'agentrun is what it uses'
	says note docker 'builds \(BuildKit\)'
	echo '{"runtimes": ' >"$ETC/docker/daemon.json"
	doctor
	says note docker '/etc/docker/daemon.json'
	[ "$status" -ne 1 ]
}

@test "doctor: Podman and containerd" {
	has podman
	has containerd
	configured containers
	configured containerd
	doctor
	says note podman 'installed, and agentrun is none'
	says note containerd 'installed, and agentrun is none'
	printf '[engine]\nruntime = "crun"\n[engine.runtimes]\nagentrun = ["/usr/bin/agentrun"]\n' >"$ETC/containers/containers.conf"
	printf '[plugins."io.containerd.grpc.v1.cri".containerd]\n  default_runtime_name = "runc"\n[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.agentrun]\n' \
		>"$ETC/containerd/config.toml"
	doctor
	says note podman '.*runs under crun, without'
	says note containerd '.*runs under runc, without'
	mkdir "$ETC/containers/containers.conf.d"
	printf '[engine]\nruntime = "agentrun"\n' >"$ETC/containers/containers.conf.d/50-ours.conf"
	sed -i 's/"runc"/"agentrun"/' "$ETC/containerd/config.toml"
	doctor
	says ok podman 'agentrun is what it uses'
	says ok containerd 'agentrun is what it uses'
}

#!/usr/bin/env bats
# Input that must be refused: exit code, exactly one error line in the log with the same text
# on stderr, and nothing left behind.

load helpers.bash

setup_file() { suite_setup_file; }
teardown_file() { suite_teardown_file; }
setup() { suite_setup; }
teardown() { suite_teardown; }

# refused [OUR WORDS]: create and run both fail and leave nothing.
refused() {
	local command
	for command in create run; do
		call $command --bundle "$BUNDLE" "$ID"
		fails 1
		if [ $# -gt 0 ]; then
			says "$1"
		fi
		clean
		has_no_children
	done
}

# No process has our test folder as its root or in its command line.
has_no_children() {
	local pid
	for pid in /proc/[0-9]*; do
		if [[ $(readlink "$pid/root" 2>/dev/null) = "$T"* && $(readlink "$pid/root") != / ]]; then
			echo "left process: ${pid#/proc/}: $(tr '\0' ' ' <"$pid/cmdline")"
			return 1
		fi
	done
	return 0
}

### the bundle and its file

@test "no bundle" {
	call create --bundle "$T/none" "$ID"
	fails 1 'no such file or directory'
	says "$T/none"
	clean
}

@test "the bundle is a file" {
	call create --bundle "$BUNDLE/config.json" "$ID"
	fails 1
	says 'not a directory'
	clean
}

@test "no config.json" {
	rm "$BUNDLE/config.json"
	refused 'config.json.*no such file or directory'
}

@test "config.json is a folder" {
	rm "$BUNDLE/config.json"
	mkdir "$BUNDLE/config.json"
	refused 'config.json'
}

@test "config.json is empty" {
	: >"$BUNDLE/config.json"
	refused 'config.json'
}

@test "config.json is no JSON" {
	echo '{"ociVersion": "1.0.2", "process": {' >"$BUNDLE/config.json"
	refused 'config.json'
}

@test "config.json has text after the end" {
	other runc,crun "does not look"
	echo '{' >>"$BUNDLE/config.json"
	refused 'config.json'
}

@test "config.json is no object" {
	echo '[1, 2]' >"$BUNDLE/config.json"
	refused 'config.json'
}

@test "wrong types, with their place" {
	local line filter
	while IFS='|' read -r filter line; do
		rm -rf "$BUNDLE"
		make_bundle "$BUNDLE"
		edit "$filter"
		echo "--- $filter"
		call create --bundle "$BUNDLE" "$ID"
		fails 1
		says "$line"
		clean
	done <<-T
		.process.args = "sh"|process.args
		.process.args = [1]|process.args
		.root.path = 7|root.path
		.mounts = {}|mounts
		.mounts = [{"destination": 1}]|mounts.*destination
		.mounts = [{"destination": "/x", "options": "bind"}]|mounts.*options
		.linux.namespaces = [{"type": 5}]|linux.namespaces
		.hostname = ["a"]|hostname
		.process.user.uid = "root"|process.user.uid
		.process.user.uid = -1|process.user.uid
		.process.user.uid = 1.5|process.user.uid
		.process.terminal = "yes"|process.terminal
		.linux.resources.memory.limit = "1g"|linux.resources.memory.limit
		.linux = []|linux
		.hooks.prestart = [{"path": 3}]|hooks.prestart
		.annotations = {"a": 1}|annotations
	T
}

@test "ociVersion: unknown" {
	other runc,crun "does not look"
	local version
	for version in 2.0.0 0.9.0 abc '' 1; do
		edit --arg v "$version" '.ociVersion = $v'
		echo "--- $version"
		call create --bundle "$BUNDLE" "$ID"
		fails 1 ociVersion
		clean
	done
	edit 'del(.ociVersion)'
	call create --bundle "$BUNDLE" "$ID"
	fails 1 ociVersion
	clean
}

@test "ociVersion: every 1.x" {
	local version
	args echo ran
	for version in 1.0.0 1.0.2-dev 1.1.0 1.2.1+dev 1.3.0; do
		edit --arg v "$version" '.ociVersion = $v'
		run_container
		works ran
	done
}

@test "unknown members are ignored" {
	args echo ran
	edit '.future = {a: 1} | .process.future = true | .linux.future = [1] | .linux.resources.future = 1
		| .annotations = {"org.example.unknown": "x"}'
	run_container
	works ran
}

### root file system

@test "rootfs: missing" {
	rm -r "$ROOTFS"
	refused 'rootfs.*no such file or directory'
}

@test "rootfs: a file" {
	rm -r "$ROOTFS"
	: >"$ROOTFS"
	refused 'rootfs'
}

@test "rootfs: a symbolic link" {
	other crun "follows it"
	mv "$ROOTFS" "$T/elsewhere"
	ln -s "$T/elsewhere" "$ROOTFS"
	refused 'rootfs'
}

@test "root: no path" {
	edit 'del(.root.path)'
	refused 'root'
}

@test "rootfs: an absolute path works" {
	mv "$ROOTFS" "$T/elsewhere"
	edit --arg p "$T/elsewhere" '.root.path = $p'
	args echo ran
	run_container
	works ran
	clean
}

### container names

@test "names that are refused" {
	local id long
	long=$(printf 'a%.0s' $(seq 1025))
	for id in ../x . .. a/b 'a b' é "$long" 'a;b' $'a\nb'; do
		echo "--- $id"
		call create --bundle "$BUNDLE" "$id"
		fails 1
		[ "$id" = "$long" ] || fails 1 'invalid container ID format'
		says 'invalid container ID format'
		clean
		[ ! -e "$T/x" ]
	done
}

@test "names that are refused, by the other commands" {
	local command
	mkdir -p "$ROOT" "$T/x"
	echo '{}' >"$T/x/state.json"
	for command in start state kill delete 'delete --force' pause resume ps; do
		echo "--- $command"
		call $command ../x
		[ "$status" -eq 1 ]
		[ -e "$T/x/state.json" ]
	done
}

@test "an empty name" {
	call create --bundle "$BUNDLE" ''
	fails 1 'container id cannot be empty'
	clean
}

@test "names that are accepted" {
	local id
	for id in a A-b_c+d.e 0 -- "$(printf 'a%.0s' $(seq 200))" ...; do
		[ "$id" = -- ] && continue
		echo "--- $id"
		call run --bundle "$BUNDLE" "$id"
		works
	done
	clean
}

@test "a name that is taken: the first container stays as it is" {
	local before
	start_sleeper
	before=$(rt state "$ID")
	call run --bundle "$BUNDLE" "$ID"
	fails 1 'container with given ID already exists'
	[ "$(rt state "$ID")" = "$before" ]
	[ -n "$(cgroup_folders "$CGROUP")" ]
	kill -0 "$(pid_of)"
}

@test "a folder without a record counts as absent, blocks create and is removed by delete" {
	mkdir -p "$ROOT/$ID"
	call state "$ID"
	fails 1 'does not exist'
	call create --bundle "$BUNDLE" "$ID"
	fails 1 'container with given ID already exists'
	call delete --force "$ID"
	works
	[ ! -e "$ROOT/$ID" ]
	run_container
	works
}

### the command line

@test "an unknown command" {
	other crun "ends with 1"
	call nosuchcommand "$ID"
	[ "$status" -eq 3 ]
	[[ $errors = *nosuchcommand* ]]
}

@test "an unknown option" {
	other crun "other words"
	call create --nosuchoption "$ID"
	[ "$status" -eq 1 ]
	[[ $errors = *nosuchoption* ]]
	clean
}

@test "an option without its value" {
	call create --bundle
	[ "$status" -eq 1 ]
	[[ $errors = *bundle* ]]
	clean
}

@test "wrong numbers of arguments" {
	other crun "other words"
	local command
	for command in create start state pause resume ps delete; do
		echo "--- $command"
		call $command
		[ "$status" -eq 1 ]
		[[ $errors = *requires* ]]
	done
	for command in create start state pause resume; do
		echo "--- $command a b"
		call $command a b
		[ "$status" -eq 1 ]
		[[ $errors = *"requires exactly 1 argument"* ]]
	done
	call exec
	[ "$status" -ne 0 ]
}

@test "a root folder that cannot be made" {
	: >"$T/file"
	ROOT=$T/file/root
	call create --bundle "$BUNDLE" "$ID"
	fails 1
	says 'not a directory'
}

@test "a log file that cannot be opened" {
	run "$AGENTRUN" --root "$ROOT" --log "$T/none/log" create --bundle "$BUNDLE" "$ID"
	[ "$status" -eq 1 ]
	[ -n "$output" ]
	clean
}

@test "a pid file that cannot be written" {
	call create --bundle "$BUNDLE" --pid-file "$T/none/pid" "$ID"
	fails 1 'no such file or directory'
	clean
}

### process

@test "args: none, empty" {
	edit '.process.args = []'
	refused 'args'
	edit 'del(.process.args)'
	refused 'args'
}

@test "args: a program that does not exist" {
	args nosuchprogram
	call create --bundle "$BUNDLE" --pid-file "$T/pid" "$ID"
	fails 1 'exec: "nosuchprogram": executable file not found in \$PATH'
	[ ! -e "$T/pid" ]
	clean
	args /no/such/path
	call create --bundle "$BUNDLE" --pid-file "$T/pid" "$ID"
	fails 1 'no such file or directory'
	[ ! -e "$T/pid" ]
	clean
}

@test "args: a program that is not executable, a folder" {
	args /etc/plain
	call create --bundle "$BUNDLE" "$ID"
	fails 1 'permission denied'
	clean
	args /etc
	call create --bundle "$BUNDLE" "$ID"
	# "is a directory" in runc
	fails 1 '(permission denied|is a directory)'
	says 'permission denied'
	clean
}

@test "args: a damaged program fails at start, exit code not 0" {
	args /bin/broken
	call create --bundle "$BUNDLE" "$ID"
	works
	call start "$ID"
	wait_for 10 has_status stopped
	grep -q 'exec format error' "$T/stderr" || [ "$KIND" != agentrun ] || grep -rq 'exec format error' "$T"
}

@test "cwd: relative, missing name, a file" {
	edit '.process.cwd = "tmp"'
	refused 'cwd'
	edit '.process.cwd = "/etc/passwd"'
	refused 'not a directory'
}

@test "user: unknown capabilities are dropped, not errors" {
	edit '.process.capabilities.bounding += ["CAP_NO_SUCH"]'
	args echo ran
	run_container
	[ "$status" -eq 0 ] || [ "$KIND" != agentrun ]
}

@test "rlimits: unknown name, twice, soft above hard" {
	edit '.process.rlimits = [{type: "RLIMIT_NOSUCH", soft: 1, hard: 1}]'
	refused 'RLIMIT_NOSUCH'
	edit '.process.rlimits = [{type: "RLIMIT_NOFILE", soft: 100, hard: 10}]'
	refused 'RLIMIT_NOFILE'
	other runc,crun "do not look"
	edit '.process.rlimits = [{type: "RLIMIT_NOFILE", soft: 10, hard: 10}, {type: "RLIMIT_NOFILE", soft: 20, hard: 20}]'
	refused 'RLIMIT_NOFILE'
}

@test "terminal: detached without a console socket, a socket without a terminal" {
	call create --bundle "$BUNDLE" --console-socket "$T/socket" "$ID"
	fails 1
	says 'console socket'
	clean
	edit '.process.terminal = true'
	call create --bundle "$BUNDLE" "$ID"
	fails 1
	says 'console socket'
	clean
	call create --bundle "$BUNDLE" --console-socket "$T/nosocket" "$ID"
	fails 1 'no such file or directory'
	clean
}

### mounts

@test "mounts: unknown type, missing source, no destination" {
	add_mount '{"destination": "/x", "type": "nosuchfs", "source": "none"}'
	refused 'nosuchfs'
	edit '.mounts |= map(select(.destination != "/x"))'
	add_mount '{"destination": "/x", "type": "bind", "source": "/no/such/source", "options": ["bind"]}'
	refused '/no/such/source.*no such file or directory'
	edit '.mounts |= map(select(.destination != "/x"))'
	edit '.mounts += [{"type": "tmpfs", "source": "tmpfs"}]'
	refused 'destination'
}

@test "mounts: a folder onto a file and a file onto a folder" {
	add_mount '{"destination": "/etc/passwd", "type": "bind", "source": "/tmp", "options": ["bind"]}'
	refused 'not a directory'
	edit '.mounts |= map(select(.destination != "/etc/passwd"))'
	add_mount '{"destination": "/etc", "type": "bind", "source": "/etc/hostname", "options": ["bind"]}'
	refused 'not a directory'
}

@test "mounts: a target that leads outside by symbolic links stays inside" {
	local destination
	mkdir "$T/outside"
	mkdir -p "$T/source"
	echo data >"$T/source/file"
	ln -s "$T/outside" "$ROOTFS/absolute"
	ln -s ../../../../../../../../../../../.."$T/outside" "$ROOTFS/relative"
	mkdir "$ROOTFS/dir"
	ln -s /proc/self/root "$ROOTFS/dir/proc"
	for destination in /absolute/x /relative/x /dir/../../../../..$T/outside/x; do
		rm -rf "$BUNDLE/config.json"
		"$AGENTRUN" spec --bundle "$BUNDLE"
		edit --arg c "$CGROUP" '.process.terminal = false | .root.readonly = false | .linux.cgroupsPath = $c | del(.process.rlimits)'
		edit --arg d "$destination" --arg s "$T/source" \
			'.mounts += [{destination: $d, type: "bind", source: $s, options: ["rbind"]}]'
		args ls "$destination"
		call run --bundle "$BUNDLE" "$ID"
		echo "--- $destination: $status $output $errors"
		# inside or refused, never outside
		[ -z "$(ls "$T/outside")" ]
		[ "$status" -eq 0 ] || [ "$status" -eq 1 ]
		[ "$(wc -l <"$LOG")" -le 1 ]
		clean
	done
}

@test "mounts: proc must not be covered" {
	other crun "does not look"
	add_mount '{"destination": "/proc/self", "type": "tmpfs", "source": "tmpfs"}'
	refused '/proc'
}

@test "mounts: a link in place of /proc and /sys" {
	rm -rf "$ROOTFS/proc"
	mkdir -p "$ROOTFS/dir"
	ln -s dir "$ROOTFS/proc"
	call run --bundle "$BUNDLE" "$ID"
	[ "$status" -ne 0 ] || [ "$KIND" = crun ]
	clean
}

### linux

@test "namespaces: unknown, twice" {
	edit '.linux.namespaces += [{"type": "nosuch"}]'
	refused 'nosuch'
	edit '.linux.namespaces |= map(select(.type != "nosuch")) | .linux.namespaces += [{"type": "pid"}]'
	refused 'pid'
}

@test "namespaces: a path that is missing or of another type" {
	edit '(.linux.namespaces[] | select(.type == "network")).path = "/no/such"'
	refused '/no/such.*no such file or directory'
	edit '(.linux.namespaces[] | select(.type == "network")).path = "/proc/self/ns/uts"'
	refused
	edit '(.linux.namespaces[] | select(.type == "network")).path = "/etc/passwd"'
	refused
}

@test "mappings without a user namespace" {
	other crun "other defaults"
	edit '.linux.uidMappings = [{containerID: 0, hostID: 1000, size: 10}]
		| .linux.gidMappings = [{containerID: 0, hostID: 1000, size: 10}]'
	other runc "does not look"
	refused '[mM]apping|user namespace'
}

@test "sysctl: not namespaced, unknown, malformed" {
	edit '.linux.sysctl = {"kernel.panic": "1"}'
	refused 'kernel.panic'
	edit '.linux.sysctl = {"vm.swappiness": "1"}'
	refused 'vm.swappiness'
	edit '.linux.sysctl = {"net.nosuch.key": "1"}'
	refused 'net.nosuch.key|net/nosuch/key'
	edit '.linux.sysctl = {"net/../kernel/panic": "1"}'
	refused
}

@test "sysctl without the namespace" {
	edit '.linux.namespaces |= map(select(.type != "network")) | .linux.sysctl = {"net.ipv4.ip_forward": "1"}'
	refused 'net.ipv4.ip_forward'
}

@test "hostname without a uts namespace" {
	other crun "ignores it"
	edit '.linux.namespaces |= map(select(.type != "uts"))'
	refused 'uts|UTS'
}

@test "seccomp: unknown action, architecture, operator" {
	edit '.linux.seccomp = {defaultAction: "SCMP_ACT_NOSUCH"}'
	refused 'SCMP_ACT_NOSUCH'
	edit '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", architectures: ["SCMP_ARCH_NOSUCH"]}'
	refused 'SCMP_ARCH_NOSUCH'
	edit '.linux.seccomp = {defaultAction: "SCMP_ACT_ALLOW", syscalls: [{names: ["getpid"], action: "SCMP_ACT_ERRNO",
		args: [{index: 0, value: 1, op: "SCMP_CMP_NOSUCH"}]}]}'
	refused 'SCMP_CMP_NOSUCH'
}

@test "devices: unknown type" {
	edit '.linux.devices = [{path: "/dev/x", type: "z", major: 1, minor: 3}]'
	refused
}

@test "rootfsPropagation: unknown" {
	edit '.linux.rootfsPropagation = "nosuch"'
	refused 'nosuch'
}

@test "cgroup: a path that cannot be made" {
	edit '.linux.cgroupsPath = "/cgroup.procs/below-a-file"'
	refused 'cgroup.procs.*not a directory'
}

@test "cgroup: .. does not lead out" {
	edit --arg c "../../../..$CGROUP/up" '.linux.cgroupsPath = $c'
	args sleep 1000
	call create --bundle "$BUNDLE" "$ID"
	[ "$(wc -l <"$LOG")" -le 1 ]
	[ ! -e "/sys/fs$CGROUP" ]
	[ ! -e "/sys$CGROUP" ]
	call delete --force "$ID"
	works
}

@test "cgroup: one with processes is refused" {
	other runc,crun "take it (runc 1.2 does not)"
	start_sleeper
	call create --bundle "$BUNDLE" "$ID-2"
	fails 1 'not empty'
	call state "$ID"
	works
	[ ! -e "$ROOT/$ID-2" ]
	call delete --force "$ID"
	clean
}

@test "cgroup: a value that the kernel refuses" {
	edit '.linux.resources.cpu = {cpus: "4000"}'
	refused 'cpuset'
}

@test "cgroup: unified keys with a slash" {
	other runc,crun "other checks"
	edit '.linux.resources.unified = {"../memory.max": "1"}'
	refused
}

### hooks

@test "hooks: one that fails" {
	local stage
	for stage in prestart createRuntime createContainer; do
		rm -rf "$BUNDLE"
		make_bundle "$BUNDLE"
		printf '#!/bin/sh\ncat >/dev/null\necho oh no >&2\nexit 3\n' >"$T/hook"
		chmod 755 "$T/hook"
		cp "$T/hook" "$ROOTFS/hook"
		edit --arg s $stage --arg p "$T/hook" '.hooks[$s] = [{path: $p}]'
		echo "--- $stage"
		if [ "$stage" != prestart ]; then other crun "other words"; fi
		refused "$stage.*exit status 3|exit status 3.*$stage|oh no"
	done
}

@test "hooks: one that does not end in time" {
	printf '#!/bin/sh\nexec sleep 60\n' >"$T/hook"
	chmod 755 "$T/hook"
	edit --arg p "$T/hook" '.hooks.createRuntime = [{path: $p, timeout: 1}]'
	SECONDS=0
	call create --bundle "$BUNDLE" "$ID"
	fails 1
	says 'hook ran past specified timeout of 1(\.0)?s'
	[ "$SECONDS" -lt $((10 * ${PATIENCE-1})) ]
	clean
	! pgrep -f 'sleep 60'
}

@test "hooks: one that does not exist, a relative path" {
	edit '.hooks.createRuntime = [{path: "/no/such/hook"}]'
	refused '/no/such/hook.*no such file or directory'
	edit '.hooks.createRuntime = [{path: "relative"}]'
	refused 'relative|absolute'
}

@test "hooks: a startContainer hook that fails ends the container" {
	printf '#!/bin/sh\nexit 3\n' >"$ROOTFS/hook"
	chmod 755 "$ROOTFS/hook"
	edit '.hooks.startContainer = [{path: "/hook"}]'
	sh_args 'echo ran >/ran'
	call create --bundle "$BUNDLE" "$ID"
	works
	call start "$ID"
	other runc,crun "start does not notice"
	fails 1
	says 'startContainer'
	[ ! -e "$ROOTFS/ran" ]
}

@test "start without a process" {
	edit 'del(.process)'
	call create --bundle "$BUNDLE" "$ID"
	other runc,crun "create refuses"
	works
	call start "$ID"
	fails 1 process
	call delete --force "$ID"
	works
	clean
}

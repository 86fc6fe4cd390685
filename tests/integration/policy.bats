# The policy on real containers: what is asked beyond it is clamped or refused, ordinary
# things work, and a policy file that cannot be trusted starts nothing.
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
}

teardown() {
	[ -z "${NETNS-}" ] || ip netns del "$NETNS"
	suite_teardown
}

# policy JSON: a policy file that a root-owned path leads to.
policy() {
	POLICY=$T/policy.json
	printf '%s\n' "$1" >"$POLICY"
	chmod 600 "$POLICY"
	AGENTRUN_FLAGS="--policy $POLICY"
}

profile_file() {
	policy "{\"version\": 1, \"profiles\": {\"default\": $1}}"
}

refused() {
	run_container
	fails 1 "$1"
	# dockerd and the docker client turn these into exit codes 126 and 127
	if [[ $errors =~ (permission denied|no such file or directory|not a directory|operation not permitted) ]]; then
		echo "the refusal has a phrase that engines misread: $errors"
		return 1
	fi
	clean
}

status_field() {
	sed -n "s/^$1:[[:space:]]*//p" <<<"$output"
}

@test "an ordinary container runs under the built-in policy" {
	sh_args 'echo hello; id -u; exit 3'
	run_container
	exits 3 $'hello\n0'
	clean
}

@test "capabilities: all that privileged asks for becomes the maximum, ambient and inheritable empty" {
	edit '(["CAP_CHOWN","CAP_SYS_ADMIN","CAP_NET_ADMIN","CAP_NET_RAW","CAP_SYS_PTRACE","CAP_MKNOD","CAP_KILL","CAP_SYS_MODULE"]) as $all
		| .process.capabilities = {bounding: $all, effective: $all, permitted: $all, inheritable: $all, ambient: $all}'
	args cat /proc/self/status
	run_container
	works
	[ "$(status_field CapBnd)" = 0000000000000021 ]
	[ "$(status_field CapEff)" = 0000000000000021 ]
	[ "$(status_field CapInh)" = 0000000000000000 ]
	[ "$(status_field CapAmb)" = 0000000000000000 ]
}

@test "capabilities: none for another user than root" {
	edit '(["CAP_CHOWN","CAP_KILL"]) as $c | .process.user = {uid: 1000, gid: 1000}
		| .process.capabilities = {bounding: $c, effective: $c, permitted: $c, inheritable: $c, ambient: $c}'
	args cat /proc/self/status
	run_container
	works
	[ "$(status_field CapBnd)" = 0000000000000000 ]
	[ "$(status_field CapPrm)" = 0000000000000000 ]
}

@test "no_new_privs is set although the configuration says no" {
	edit '.process.noNewPrivileges = false'
	args cat /proc/self/status
	run_container
	works
	[ "$(status_field NoNewPrivs)" = 1 ]
}

@test "namespaces: the host's are refused, one by one" {
	local type
	for type in pid ipc uts network; do
		make_bundle "$T/b-$type"
		BUNDLE=$T/b-$type
		edit --arg t "$type" '.linux.namespaces |= map(select(.type != $t)) | del(.hostname)'
		refused "namespaces.*$type"
	done
}

@test "namespaces: the host's by a path, and by another name of it, are refused" {
	edit --arg p "/proc/$$/ns/net" '.linux.namespaces |= map(if .type == "network" then .path = $p else . end)'
	refused "network"
	ln -s /proc/self/ns/net "$T/innocent"
	edit --arg p "$T/innocent" '.linux.namespaces |= map(if .type == "network" then .path = $p else . end)'
	refused "network"
}

@test "namespaces: a pod's network namespace is joined" {
	NETNS=agentrun-test-$$
	ip netns add "$NETNS"
	edit --arg p "/run/netns/$NETNS" '.linux.namespaces |= map(if .type == "network" then .path = $p else . end)'
	args readlink /proc/self/ns/net
	run_container
	works "net:[$(stat -Lc %i "/run/netns/$NETNS")]"
}

@test "namespaces: one that the policy lists may be the host's" {
	profile_file '{"inherits": "builtin:default", "namespaces": {"host": ["uts"]}}'
	edit '.linux.namespaces |= map(select(.type != "uts")) | del(.hostname)'
	args hostname
	run_container
	works "$(hostname)"
}

@test "namespaces: a missing cgroup namespace is added" {
	edit '.linux.namespaces |= map(select(.type != "cgroup"))'
	args readlink /proc/self/ns/cgroup
	run_container
	works
	[ "$output" != "$(readlink /proc/self/ns/cgroup)" ]
}

@test "devices: a node beyond the usual is not made, and mknod of it does not open it" {
	edit '.linux.devices = [{path: "/dev/kmsg", type: "c", major: 1, minor: 11, fileMode: 438}]
		| .linux.resources.devices = [{allow: true, access: "rwm"}]'
	sh_args 'ls /dev/kmsg; mknod /dev/k2 c 1 11; head -c 1 </dev/null; ls /dev | tr "\n" " "'
	run_container
	[[ $output != *kmsg* ]]
	[[ $output = *null* ]]
}

@test "mounts: the host's trees and control sockets are refused under any spelling" {
	local source
	python3 -c 'import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1])' "$T/docker.sock"
	mkdir "$T/folder"
	ln "$T/docker.sock" "$T/folder/innocent" || true
	ln -s "$T/docker.sock" "$T/link"
	for source in / /etc /proc /sys /dev /root "$T/docker.sock" "$T/link" "$T/folder/../docker.sock" "$T/folder/innocent"; do
		rm -rf "$T/m"
		make_bundle "$T/m"
		BUNDLE=$T/m
		add_mount "{\"destination\": \"/x\", \"type\": \"bind\", \"source\": \"$source\", \"options\": [\"rbind\"]}"
		echo "source $source"
		refused 'mount source'
	done
}

# bind SOURCE: the only mount of the test.
bind() {
	edit --arg s "$1" '.mounts |= map(select(.tag == null)) | .mounts += [{tag: 1, destination: "/x", type: "bind", source: $s, options: ["rbind"]}]'
}

not_mounted() {
	echo "source $1"
	bind "$1"
	run_container
	fails 1 "mount source .* refused .rule ($2)"
}

@test "mounts: a control socket that was linked, renamed, bound elsewhere, and the folders above it" {
	local pid ok=0
	mkdir -p "$T/host/sockets" "$T/other" "$T/alias" "$T/file"
	python3 -c 'import socket, sys, time
s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); time.sleep(60)' "$T/host/sockets/docker.sock" 3>&- &
	pid=$!
	wait_for 5 test -S "$T/host/sockets/docker.sock"
	ln "$T/host/sockets/docker.sock" "$T/other/innocent"
	mount --bind "$T/host/sockets" "$T/alias"
	touch "$T/file/bound"
	mount --bind "$T/host/sockets/docker.sock" "$T/file/bound"
	{
		not_mounted "$T/host/sockets/docker.sock" engine-socket &&
			not_mounted "$T/other/innocent" 'engine-socket|unix-socket' &&
			not_mounted "$T/alias/docker.sock" engine-socket &&
			not_mounted "$T/file/bound" 'engine-socket|unix-socket' &&
			not_mounted "$T/host/sockets" engine-socket &&
			not_mounted "$T/host" engine-socket &&
			not_mounted "$T/alias" engine-socket &&
			not_mounted "$T/file" 'engine-socket|unix-socket' &&
			mv "$T/host/sockets/docker.sock" "$T/host/sockets/plain" &&
			not_mounted "$T/host/sockets/plain" unix-socket &&
			not_mounted "$T/host/sockets" 'unix-socket|engine-socket' &&
			not_mounted "$T/host" 'unix-socket|engine-socket'
	} || ok=1
	umount "$T/alias" "$T/file/bound"
	kill "$pid"
	wait "$pid" 2>/dev/null || true
	return $ok
}

@test "mounts: a work folder is mounted, nosuid and nodev, and can be written" {
	mkdir "$T/work"
	add_mount "{\"destination\": \"/work\", \"type\": \"bind\", \"source\": \"$T/work\", \"options\": [\"rbind\"]}"
	sh_args 'grep " /work " /proc/self/mounts | cut -d" " -f4; echo data >/work/file'
	run_container
	works
	[[ ,$output, = *,nosuid,* && ,$output, = *,nodev,* ]]
	[ "$(cat "$T/work/file")" = data ]
}

@test "mounts: what is read-only or noexec on the host stays so under the added flags" {
	local kind
	mkdir "$T/work"
	mount -t tmpfs -o mode=755 tmpfs "$T/work"
	mount -o bind,remount,ro,noexec "$T/work"
	for kind in bind rbind; do
		edit --arg source "$T/work" --arg kind "$kind" '.mounts = (.mounts | map(select(.destination != "/work")))
			+ [{destination: "/work", type: "bind", source: $source, options: [$kind, "rprivate"]}]'
		sh_args 'grep " /work " /proc/self/mounts | cut -d" " -f4; echo data >/work/file'
		run_container
		[ "$status" -ne 0 ]
		[[ ,$output, = *,ro,* && ,$output, = *,noexec,* && ,$output, = *,nosuid,* && ,$output, = *,nodev,* ]]
	done
	umount "$T/work"
}

@test "the host's root is no root of a container" {
	edit '.root.path = "/"'
	refused 'root.path'
	ln -s / "$T/innocent"
	edit --arg p "$T/innocent/." '.root.path = $p'
	refused 'root.path'
}

@test "no tree of the host is a root of a container, under any spelling; the policy may list one" {
	local root
	ln -s /etc "$T/link"
	for root in /etc /usr /home /root /var /var/lib /run /proc /sys /dev /usr/share /etc/ssl /proc/self/root/etc \
		/var/../etc/. "$T/link"; do
		edit --arg p "$root" '.root.path = $p'
		refused 'root.path.*refused'
	done
	mkdir "$T/alias"
	mount --bind /usr "$T/alias"
	edit --arg p "$T/alias" '.root.path = $p'
	run_container
	umount "$T/alias"
	fails 1 'root.path.*refused .rule host-tree'
	profile_file '{"inherits": "builtin:default", "mounts": {"allow": ["/usr/share"]}}'
	edit '.root.path = "/usr/share" | .root.readonly = true'
	run_container
	fails 1
	[[ $errors != *refused* ]]
}

@test "mounts: a source written as below the root stays inside it" {
	echo own >"$ROOTFS/etc/canary-own"
	add_mount "{\"destination\": \"/x\", \"type\": \"bind\", \"source\": \"$ROOTFS/../../../../../../etc\", \"options\": [\"rbind\"]}"
	sh_args 'ls /x/canary-own; ls /x/shadow 2>/dev/null'
	run_container
	[[ $output = /x/canary-own ]]
}

@test "mounts: deny and allow of the policy file" {
	mkdir "$T/work" "$T/work/secret"
	add_mount "{\"destination\": \"/work\", \"type\": \"bind\", \"source\": \"$T/work\", \"options\": [\"rbind\"]}"
	profile_file "{\"inherits\": \"builtin:default\", \"mounts\": {\"deny\": [\"$T/work/secret\"]}}"
	refused 'mount source'
	profile_file "{\"inherits\": \"builtin:default\", \"mounts\": {\"readonly\": [\"$T/work\"]}}"
	sh_args 'echo x >/work/file'
	run_container
	[ "$status" -ne 0 ]
	[ ! -e "$T/work/file" ]
}

@test "environment: secrets by name and by value are withheld, in exec as well" {
	edit '.process.env += ["AWS_SECRET_ACCESS_KEY=not-for-agents", "HARMLESS=ghp_0123456789abcdefghijABCDEFGHIJ012345", "LANG=C"]'
	args sleep 1000
	call create --bundle "$BUNDLE" "$ID"
	works
	! grep -q -e not-for-agents -e ghp_ "$ROOT/$ID/verdict.json"
	grep -q AWS_SECRET_ACCESS_KEY "$ROOT/$ID/verdict.json"
	call start "$ID"
	works
	[ "$(tr '\0' '\n' <"/proc/$(pid_of)/environ" | grep -c -e AWS_ -e HARMLESS)" -eq 0 ]
	tr '\0' '\n' <"/proc/$(pid_of)/environ" | grep -qx LANG=C
	call exec --env GITHUB_TOKEN=abc --env LANG=D "$ID" env
	works
	[[ $output != *GITHUB_TOKEN* && $output != *not-for-agents* && $output = *LANG=D* ]]
}

@test "environment: a variable that is too long for the kernel is named" {
	edit '.process.env += ["PROMPT=" + ("x" * 131072)]'
	run_container
	fails 126 'PROMPT'
	clean
}

@test "limits: what is missing or unlimited becomes the policy's" {
	edit '.linux.resources = {memory: {limit: -1, swap: -1}, pids: {limit: -1}, cpu: {quota: -1, period: 100000}}'
	start_sleeper
	[ "$(cat "$(controller pids)/pids.max")" = 512 ]
	if cgroup_v1; then
		[[ $(cat "$(cgroup_of memory)/memory.limit_in_bytes") = 2147483648 ]]
		[ "$(cat "$(controller cpu)/cpu.cfs_quota_us")" = 200000 ]
	else
		[ "$(cat "$(controller memory)/memory.max")" = 2147483648 ]
		[ "$(cat "$(controller memory)/memory.swap.max")" = 0 ]
	fi
}

cgroup_of() {
	local path
	path=$(sed -n "s/^[0-9]*:$1://p" "/proc/$(pid_of)/cgroup")
	echo "/sys/fs/cgroup/$1$path"
}

@test "limits: lower ones of the configuration stay, update cannot go beyond" {
	edit '.linux.resources = {memory: {limit: 67108864}, pids: {limit: 20}}'
	start_sleeper
	[ "$(cat "$(controller pids)/pids.max")" = 20 ]
	call update --pids-limit 100000 "$ID"
	works
	[ "$(cat "$(controller pids)/pids.max")" = 512 ]
	call update --pids-limit -1 "$ID"
	works
	[ "$(cat "$(controller pids)/pids.max")" = 512 ]
}

@test "limits: refused where the policy says so" {
	profile_file '{"inherits": "builtin:default", "resources": {"excess": "refuse"}}'
	edit '.linux.resources = {memory: {limit: 68719476736}}'
	refused 'memory'
}

@test "nproc tells the truth" {
	profile_file '{"inherits": "builtin:default", "resources": {"cpu": {"default": 1, "max": 1}}}'
	args nproc
	run_container
	works 1
}

@test "rlimits: no core files, and nofile is capped" {
	edit '.process.rlimits = [{type: "RLIMIT_CORE", soft: 1000000, hard: 1000000}]'
	sh_args 'ulimit -c; ulimit -H -c'
	run_container
	works $'0\n0'
}

@test "oom_score_adj is not lowered below the runtime's" {
	edit '.process.oomScoreAdj = -900'
	args cat /proc/self/oom_score_adj
	run_container
	works "$(cat /proc/self/oom_score_adj)"
}

@test "exec: cannot have more capabilities or undo no_new_privs" {
	start_sleeper
	call exec --cap CAP_SYS_ADMIN --cap CAP_CHOWN "$ID" cat /proc/self/status
	works
	[ $((0x$(status_field CapEff) & 1 << 21)) -eq 0 ]
	[ "$(status_field NoNewPrivs)" = 1 ]
}

@test "requests: a profile of the list by annotation, others refused" {
	edit '.annotations["org.agentrun.profile"] = "strict"'
	sh_args 'echo x >/file'
	run_container
	[ "$status" -ne 0 ]
	edit '.annotations["org.agentrun.profile"] = "passthrough"'
	refused 'passthrough'
	edit '.annotations["org.agentrun.profile"] = "none-such"'
	refused 'none-such'
}

@test "requests: memory may be narrowed, an unknown key is refused" {
	edit '.annotations["org.agentrun.memory"] = "64MiB"'
	start_sleeper
	if cgroup_v1; then
		[ "$(cat "$(cgroup_of memory)/memory.limit_in_bytes")" = 67108864 ]
	fi
	call delete --force "$ID"
	works
	edit '.annotations["org.agentrun.seccomp"] = "unconfined"'
	refused 'org.agentrun.seccomp'
}

@test "requests: what is more than the policy gives is refused; output up to its maximum is had" {
	edit '.annotations["org.agentrun.egress.allow"] = "pypi.org:443"'
	refused 'egress'
	edit 'del(.annotations["org.agentrun.egress.allow"]) | .annotations["org.agentrun.audit.output"] = "1MiB"'
	run_container
	works
	edit '.annotations["org.agentrun.audit.output"] = "1KiB"'
	refused 'audit'
}

@test "exec and update under the fixed profiles" {
	AGENTRUN_FLAGS="--profile passthrough"
	start_sleeper
	call exec "$ID" echo hello
	works hello
	call update --pids-limit 100000 "$ID"
	works
	[ "$(cat "$(controller pids)/pids.max")" = 100000 ]
	call explain "$ID"
	works
	[[ $output = *"nothing to verify"* ]]
}

@test "the sandbox profile is chosen by the annotation of a pod's first container, and has no exec" {
	edit '.annotations["io.kubernetes.cri.container-type"] = "sandbox"'
	start_sleeper
	[ "$(cat "$(controller pids)/pids.max")" = 16 ]
	call exec "$ID" true
	fails 255 'exec'
}

@test "a pod's sandbox is on the host's network where the policy lets its containers be" {
	edit '.annotations["io.kubernetes.cri.container-type"] = "sandbox" | .linux.namespaces |= map(select(.type != "network"))'
	refused 'to allow it, add "network" to profiles.default.namespaces.host'
	profile_file '{"namespaces": {"host": ["network"]}}'
	args readlink /proc/self/ns/net
	run_container
	works "$(readlink /proc/self/ns/net)"
	# and nowhere else
	edit '.linux.namespaces |= map(select(.type != "pid"))'
	refused 'the host.s pid namespace is refused'
}

@test "passthrough: the operator's flag gives the specification alone" {
	edit '.process.noNewPrivileges = false'
	args cat /proc/self/status
	AGENTRUN_FLAGS="--profile passthrough"
	run_container
	works
	[ "$(status_field NoNewPrivs)" = 0 ]
}

@test "a policy file that is broken, missing, a link, or writable by others starts nothing" {
	policy '{"version": 1, "profiles": {"default": {"memroy": {}}}}'
	refused 'memroy'
	policy '{"version": 1,'
	refused 'policy.json'
	policy '{"version": 1}'
	chmod 666 "$POLICY"
	refused 'writable by others'
	chmod 600 "$POLICY"
	chown 1000 "$POLICY"
	refused 'only root may own'
	chown 0 "$POLICY"
	mkdir -m 777 "$T/open"
	mv "$POLICY" "$T/open/policy.json"
	AGENTRUN_FLAGS="--policy $T/open/policy.json"
	refused 'writable by others'
	chmod 755 "$T/open"
	ln -s "$T/open/policy.json" "$T/linked.json"
	AGENTRUN_FLAGS="--policy $T/linked.json"
	refused 'symbolic link'
	AGENTRUN_FLAGS="--policy $T/none.json"
	run_container
	fails 1 'none.json'
	clean
}

@test "policy check: exit statuses and text, nothing is made" {
	call policy check --bundle "$BUNDLE"
	[ "$status" -eq 3 ]
	[[ $output = *"would start changed"* && $output = *pids* ]]
	edit '.linux.namespaces |= map(select(.type != "pid"))'
	call policy check --bundle "$BUNDLE"
	[ "$status" -eq 4 ]
	[[ $output = *"would be refused"* ]]
	call policy check --profile passthrough --bundle "$BUNDLE"
	[ "$status" -eq 0 ]
	call policy check --json --bundle "$BUNDLE"
	[ "$(jq -r .result <<<"$output")" = refused ]
	clean
}

@test "policy show is a policy file itself, schema is JSON" {
	call policy show --profile strict
	works
	policy "$output"
	run_container
	exits 0
	call policy schema
	works
	jq -e '.properties.profiles' <<<"$output" >/dev/null
}

@test "explain: decisions, verification, what holds now" {
	start_sleeper
	call explain "$ID"
	works
	[[ $output = *"before the first instruction"* && $output = *"as decided"* && $output = *pids* ]]
	call explain --json "$ID"
	works
	[ "$(jq -r .verified <<<"$output")" = exec-stop ]
	[ "$(jq '.decisions | length' <<<"$output")" -gt 3 ]
	[ "$(jq '.later | length' <<<"$output")" -eq 0 ]
	call explain none-such
	fails 1 'does not exist'
}

@test "explain: what exec and update were given is remembered once, and is bounded" {
	local i
	start_sleeper
	call exec --cap CAP_SYS_ADMIN "$ID" true
	works
	call exec --cap CAP_SYS_ADMIN "$ID" true
	call exec --env GITHUB_TOKEN=ghp_0123456789012345678901234567890123456789 "$ID" true
	call update --pids-limit 5000 "$ID"
	works
	call explain --json "$ID"
	works
	[ "$(jq -c '[.later[].operation]' <<<"$output")" = '["exec","exec","update"]' ]
	jq -e '.later[0].decisions[] | select(.control == "capabilities" and (.asked | test("CAP_SYS_ADMIN")))' <<<"$output"
	[[ $output = *GITHUB_TOKEN* && $output != *ghp_0* ]]
	call explain "$ID"
	[[ $output = *'update: pids '*'5000 -> 512'* ]]
	for i in $(seq 10); do
		call exec --env "SECRET_TOKEN_$i$(printf 'A%.0s' {1..20000})=x" "$ID" true
	done
	[ "$(stat -c %s "$ROOT/$ID/later.json")" -le 131072 ]
	call explain --json "$ID"
	works
	[ "$(jq '.later | length' <<<"$output")" -ge 3 ]
}

@test "update: a period alone is judged by the quota in force" {
	local quota
	edit '.linux.resources = {cpu: {quota: 100000, period: 100000}}'
	start_sleeper
	call update --cpu-period 20000 "$ID"
	works
	if cgroup_v1; then
		quota=$(cat "$(controller cpu)/cpu.cfs_quota_us")
	else
		read -r quota _ <"$(controller cpu)/cpu.max"
	fi
	# 100000/20000 would be five CPUs; two are the most
	[ "$quota" -le 40000 ]
	call update --memory-swap 9g "$ID"
	works
	if cgroup_v1; then
		[ "$(cat "$(cgroup_of memory)/memory.memsw.limit_in_bytes")" = 2147483648 ]
	else
		[ "$(cat "$(controller memory)/memory.swap.max")" = 0 ]
	fi
}

@test "what spec --rootless writes runs under the built-in policy as root, and is refused in words as a user" {
	local dir
	unshare -U true 2>/dev/null || skip "no user namespaces"
	[ "$(cat /proc/sys/user/max_user_namespaces)" -gt 0 ] || skip "user namespaces are limited to none"
	rm "$BUNDLE/config.json"
	(cd "$BUNDLE" && "$AGENTRUN" spec --rootless)
	edit --arg cgroup "$CGROUP" '.process.terminal = false | .linux.cgroupsPath = $cgroup
		| .process.args = ["sh", "-c", "id -u; ls /sys/class/net; grep -c \" /sys/fs/cgroup \" /proc/self/mounts"]'
	run_container
	works
	[ "${output%%$'\n'*}" = 0 ]
	rm "$BUNDLE/config.json"
	(cd "$BUNDLE" && "$AGENTRUN" spec --rootless)
	edit '.process.terminal = false | .linux.uidMappings[0].hostID = 12345 | .linux.gidMappings[0].hostID = 12345
		| .process.args = ["sh", "-c", "id -u; ls /sys/class/net"]'
	as_user run --bundle "$BUNDLE" "$ID"
	# what only the host's root can put in force is missing, and that is said before anything is made
	[ "$status" -ne 0 ]
	[[ $errors =~ 'is refused by profiles.default.'[a-z]*'.accept' ]]
	[[ $errors = *egress* && $errors = *audit* && $errors = *memory* && $errors = *pids* ]]
	[ ! -e "$T/rootless/$ID" ]
	as_user policy check --bundle "$BUNDLE"
	grep -q '^egress refused: asked a start without egress control' <<<"$output"
	grep -q '^memory refused: asked a start without this limit' <<<"$output"
}

# as_user ARGUMENT...: by a user of the host who has no cgroup of her own.
as_user() {
	local dir=$BUNDLE
	chown -R 12345:12345 "$T"
	while [ -n "$dir" ] && [ "$dir" != /tmp ] && [ "$dir" != /var/tmp ]; do
		chmod a+x "$dir"
		dir=${dir%/*}
	done
	mkdir -p "$T/home"
	chown 12345:12345 "$T/home"
	status=0
	env -i PATH="$PATH" HOME="$T/home" XDG_RUNTIME_DIR="$T/home" XDG_STATE_HOME="$T/home" setpriv --reuid 12345 --regid 12345 --clear-groups \
		--no-new-privs "$AGENTRUN" ${POLICY+--policy "$POLICY"} --root "$T/rootless" "$@" </dev/null >"$T/stdout" 2>"$T/stderr" 3>&- || status=$?
	output=$(cat "$T/stdout") errors=$(cat "$T/stderr")
	report
}

@test "a user without a cgroup of her own runs what her policy accepts, and policy check says what is missing" {
	unshare -U true 2>/dev/null || skip "no user namespaces"
	[ "$(cat /proc/sys/user/max_user_namespaces)" -gt 0 ] || skip "user namespaces are limited to none"
	rm "$BUNDLE/config.json"
	(cd "$BUNDLE" && "$AGENTRUN" spec --rootless)
	edit '.process.terminal = false | .linux.uidMappings[0].hostID = 12345 | .linux.gidMappings[0].hostID = 12345
		| .process.args = ["sh", "-c", "id -u; ls /sys/class/net"]'
	echo '{"version": 1, "profiles": {"default": {"egress": {"accept": ["none"]}, "audit": {"accept": ["none"]},
		"devices": {"accept": ["none"]}, "resources": {"accept": ["none"]}}}}' >"$T/user-policy.json"
	POLICY=$T/user-policy.json as_user run --bundle "$BUNDLE" "$ID"
	[ "$status" -eq 0 ]
	[ "$output" = $'0\nlo' ]
	POLICY=$T/user-policy.json as_user policy check --bundle "$BUNDLE"
	grep -q '^memory dropped: .*no limit: this process has no such cgroup controller' <<<"$output"
}

# accept_none: a policy that gives up, where they cannot be had, the controls that only the host's root can put in force.
accept_none() {
	profile_file '{"egress": {"accept": ["none"]}, "audit": {"accept": ["none"]}, "devices": {"accept": ["none"]}, "resources": {"accept": ["none"]}}'
}

events_of() {
	cat "${1:-/var/log/agentrun}"/*-"$(log_root)".jsonl | jq -r .type
}

@test "accept none is no switch: what can be put in force is" {
	accept_none
	sh_args 'nc -w 1 192.0.2.1 9 </dev/null; echo "came to $?"; sleep 0.1'
	run_container
	exits 0 'came to 1'
	[[ $errors = *'peration not permitted'* ]]
	grep -qx egress-denied <<<"$(events_of)"
	grep -qx exec <<<"$(events_of)"
}

@test "accept none is no switch for exec: no network socket is handed in" {
	accept_none
	start_sleeper
	call explain --json "$ID"
	works
	[ "$(jq '[.. | objects | select(.control? == "egress" or .control? == "audit")] | length' <<<"$output")" -eq 0 ]
	[ "$(jq .egress "$ROOT/$ID/state.json")" = true ]
	exec 8<>/dev/udp/127.0.0.1/9
	status=0
	rt exec "$ID" true <&8 2>"$T/stderr" 3>&- || status=$?
	exec 8>&-
	[ "$status" -ne 0 ]
	grep -q 'descriptor 0 is a network socket' "$T/stderr"
}

@test "accept none is no switch for an engine that says it is rootless" {
	accept_none
	sh_args 'nc -w 1 192.0.2.1 9 </dev/null'
	mkdir "$T/home"
	AGENTRUN_FLAGS="$AGENTRUN_FLAGS --rootless true" XDG_STATE_HOME=$T/home XDG_RUNTIME_DIR=$T/home run_container
	[ "$status" -ne 0 ]
	[[ $errors = *'peration not permitted'* ]]
}

# in_userns: as root of a user namespace that is not the host's; the log is below $T/home.
in_userns() {
	unshare -U true 2>/dev/null || skip "no user namespaces"
	[ "$(cat /proc/sys/user/max_user_namespaces)" -gt 0 ] || skip "user namespaces are limited to none"
	mkdir -p "$T/home"
	: >"$LOG"
	status=0
	# shellcheck disable=SC2086
	XDG_STATE_HOME=$T/home XDG_RUNTIME_DIR=$T/home timeout --kill-after 1 30 unshare -Ur "$AGENTRUN" ${AGENTRUN_FLAGS-} \
		--root "$ROOT" --log "$LOG" --log-format json "$@" </dev/null >"$T/stdout" 2>"$T/stderr" 3>&- || status=$?
	output=$(cat "$T/stdout") errors=$(cat "$T/stderr")
}

@test "without the host's root there is no start, and the refusal names the lines" {
	local line
	in_userns run --bundle "$BUNDLE" "$ID"
	fails 1 'egress: a start without egress control is refused by profiles.default.egress.accept .*; to allow it, run agentrun as the host.s root .*, or add "none" to profiles.default.egress.accept'
	clean
	in_userns policy check --bundle "$BUNDLE"
	for line in 'egress refused: asked a start without egress control' 'audit refused: asked a start without a record of executed programs'; do
		grep -q "^$line" <<<"$output"
	done
}

@test "without the host's root accept none starts it, with a log that says what is missing" {
	cgroup_v1 || skip "device rules of the v2 hierarchy need the host's root, too"
	accept_none
	sh_args 'echo hello'
	in_userns run --bundle "$BUNDLE" "$ID"
	works hello
	jq -se '[.[] | select(.type == "create").decisions[] | select(.action == "dropped" and (.control == "egress" or .control == "audit")).rule]
		| sort == ["profiles.default.audit.accept", "profiles.default.egress.accept"]' "$T/home/agentrun/log/"*-"$(log_root)".jsonl
	grep -qx exit <<<"$(events_of "$T/home/agentrun/log")"
}

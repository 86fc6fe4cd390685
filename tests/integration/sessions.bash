# What the suites of sessions share: a work folder, a policy that puts a layer over it, and where the session is.
# shellcheck shell=bash

load helpers.bash

SESSIONS=/var/lib/agentrun/sessions

session_setup_file() {
	export SUITE_POLICY=1
	suite_setup_file
	[ "$KIND" = agentrun ] || skip "only agentrun has sessions"
	[ -e /etc/agentrun/policy.json ] && skip "this host has a policy of its own"
	[ -e /dev/loop-control ] || skip "no loop devices"
	umask 022
}

session_setup() {
	suite_setup
	umask 022
	WORK=$T/work
	mkdir -p "$WORK/dir" "$ROOTFS/work" "$ROOT"
	echo one >"$WORK/file"
	echo two >"$WORK/dir/other"
	policy '{"mounts": {"session": ["/work"]}, "disk": {"session": {"size": "32MiB", "inodes": 500}}}'
	add_work
}

session_teardown() {
	is_set_up || return 0
	suite_teardown
	rm -rf "$(dirname "$(session_dir)")"
}

# policy PROFILE
policy() {
	POLICY=$T/policy.json
	printf '{"version": 1, "profiles": {"default": %s}}\n' "$1" >"$POLICY"
	chmod 600 "$POLICY"
	AGENTRUN_FLAGS="--policy $POLICY"
}

add_work() {
	edit --arg work "$WORK" '.mounts |= map(select(.destination != "/work"))
		| .mounts += [{destination: "/work", type: "bind", source: $work, options: ["rbind", "rprivate"]}]'
}

session_dir() {
	printf '%s/%s/%s' "$SESSIONS" "$(printf %s "$(realpath "$ROOT")" | sha256sum | cut -c1-16)" "$ID"
}

no_session() {
	if [ -e "$(session_dir)" ]; then
		find "$(session_dir)"
		return 1
	fi
	! losetup -a | grep -F "$(session_dir)"
}

# untouched: the original is as setup made it
untouched() {
	[ "$(cd "$WORK" && find . | LC_ALL=C sort | tr '\n' ' ')" = '. ./dir ./dir/other ./file ' ]
	[ "$(cat "$WORK/file" "$WORK/dir/other")" = $'one\ntwo' ]
}

kept() {
	policy '{"mounts": {"session": ["/work"]}, "disk": {"session": {"size": "32MiB", "keep": true}}}'
}

# edit_work SCRIPT: runs it in /work; the session is kept.
edit_work() {
	kept
	sh_args "cd /work; $1"
	run_container
	works
}

# For scripts: deep TOP NAME LEVELS makes a tree deeper than the kernel takes a path, from the bottom up: each folder is moved into the next.
# shellcheck disable=SC2034,SC2016
DEEP='deep() {
	i=0
	mkdir d; echo deep >d/file
	while [ $i -lt $3 ]; do mkdir t && mv d "t/$2" && mv t d || exit 3; i=$((i + 1)); done
	mv d "$1"
}'

# listing FOLDER: everything that matters of a tree, in one text.
listing() {
	(cd "$1" && find . -path ./.git -prune -o -printf '%P %y %m %U:%G %s %l\n' | LC_ALL=C sort &&
		find . -path ./.git -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum)
}

#!/usr/bin/env bats
# Sessions under Docker and Podman: a work folder given with -v and the root filesystem on
# the engine's own overlay; what is kept is looked at by the beginning of the id.

load lib.bash

# policy PATH KEEP: it is read at each create.
policy() {
	printf '{"version": 1, "profiles": {"default": {"mounts": {"session": ["%s"]},
		"disk": {"session": {"size": "64MiB", "inodes": 5000, "keep": %s}}}}}\n' "$1" "$2" >"$MACHINE_DIR/policy.json"
	chmod 600 "$MACHINE_DIR/policy.json"
}

setup_file() {
	require_machine
	[ -e /etc/agentrun/policy.json ] && skip "this host has a policy of its own"
	[ -e /dev/loop-control ] || skip "no loop devices"
	umask 022
	chmod 755 "$MACHINE_DIR"
	policy /workspace true
	export AGENTRUN_FLAGS="--policy $MACHINE_DIR/policy.json"
	docker_start
	podman_start
}

teardown_file() {
	podman_stop
	docker_stop
}

setup() {
	require_machine
	policy /workspace true
	WORK=$MACHINE_DIR/work$BATS_TEST_NUMBER
	mkdir -p "$WORK/dir"
	echo one >"$WORK/file"
	echo two >"$WORK/dir/other"
	SESSION=
}

teardown() {
	[ -n "${WORK-}" ] || return 0
	[ -z "$SESSION" ] || "$AGENTRUN" rollback --discard "$SESSION" >/dev/null 2>&1 || true
	rm -rf "$WORK"
}

# kept ID: the session of a container that is gone, and what a person does with it.
kept() {
	SESSION=$1
	[ "$(cat "$WORK/file" "$WORK/dir/other")" = $'one\ntwo' ]
	"$AGENTRUN" diff --list | grep -q "^$SESSION.* kept $WORK:/workspace"
	[ "$("$AGENTRUN" diff "$SESSION")" = "/workspace over $WORK: 3 changes
  deleted:    dir/
  modified:   file (content)
  added:      new (4 bytes)" ]
	"$AGENTRUN" rollback --path /workspace/dir "$SESSION"
	"$AGENTRUN" commit "$SESSION"
	[ "$(cat "$WORK/file" "$WORK/new" "$WORK/dir/other")" = $'one\nmore\nnew\ntwo' ]
	"$AGENTRUN" commit --undo "$SESSION"
	[ "$(cat "$WORK/file" "$WORK/dir/other")" = $'one\ntwo' ]
	[ ! -e "$WORK/new" ]
	"$AGENTRUN" rollback --discard "$SESSION"
	! "$AGENTRUN" diff "$SESSION" 2>/dev/null
}

EDIT='cd /workspace && echo more >>file && echo new >new && rm -r dir && ls'

@test "docker: a work folder, kept and committed" {
	docker run -d --name "s$BATS_TEST_NUMBER" --runtime agentrun -v "$WORK:/workspace" "$IMAGE" sh -c "$EDIT" >"$BATS_TEST_TMPDIR/id"
	[ "$(docker wait "s$BATS_TEST_NUMBER")" = 0 ]
	[ "$(docker logs "s$BATS_TEST_NUMBER")" = $'file\nnew' ]
	docker rm "s$BATS_TEST_NUMBER" >/dev/null
	kept "$(cut -c1-12 "$BATS_TEST_TMPDIR/id")"
}

@test "docker: the root filesystem on Docker's overlay, while it runs" {
	policy / false
	id=$(docker run -d --runtime agentrun "$IMAGE" sh -c 'echo x >/etc/new; rm /etc/plain; touch /ready; exec sleep 1000')
	SESSION=${id:0:12}
	wait_for 10 docker exec "$SESSION" test -e /ready
	run "$AGENTRUN" diff "$SESSION" /etc
	echo "$output"
	[[ $output = *'added:      etc/new'* && $output = *'deleted:    etc/plain'* ]]
	"$AGENTRUN" rollback --path /etc/plain "$SESSION"
	[ "$(docker exec "$SESSION" cat /etc/plain)" = 'not a program' ]
	docker rm -f "$SESSION" >/dev/null
}

@test "docker: the cap of a session" {
	policy /workspace false
	run docker run --rm --runtime agentrun -v "$WORK:/workspace" "$IMAGE" \
		sh -c 'dd if=/dev/zero of=/workspace/big bs=1M count=80 2>&1 | grep -o "No space left on device"'
	echo "$output"
	[ "$output" = 'No space left on device' ]
	[ "$(ls "$WORK")" = $'dir\nfile' ]
}

@test "podman: a work folder, kept and committed" {
	unset DOCKER_CONFIG
	id=$(podman --runtime "$(runtime_wrapper)" run -d -v "$WORK:/workspace" "$IMAGE" sh -c "$EDIT")
	[ "$(podman wait "$id")" = 0 ]
	[ "$(podman logs "$id")" = $'file\nnew' ]
	podman rm "$id" >/dev/null
	kept "${id:0:12}"
}

# A git work tree and what an agent does to it, with one of each kind of change.
git_work() {
	local i
	mkdir -p "$WORK/src" "$WORK/old/deep" "$WORK/swap"
	for i in $(seq 20); do echo "line $i"; done >"$WORK/src/main.c"
	echo x >"$WORK/old/deep/f"
	echo z >"$WORK/tofolder"
	echo q >"$WORK/swap/in"
	echo '#!/bin/sh' >"$WORK/run.sh"
	git -C "$WORK" init -q
	git -C "$WORK" add -A
	git -C "$WORK" -c user.email=a@b -c user.name=a commit -qm first
	rm -rf "$MACHINE_DIR/plain"
	cp -a "$WORK" "$MACHINE_DIR/plain"
}

GIT_EDIT='set -e; cd /workspace
	sed -i "s/line 5$/LINE FIVE/" src/main.c
	dd if=/dev/urandom of=binary bs=1k count=4 2>/dev/null
	rm -r old; rm tofolder; mkdir tofolder; echo in >tofolder/x
	rm -r swap; echo now a file >swap; ln -s /etc etc; chmod 755 run.sh'

listing() {
	(cd "$1" && find . -path ./.git -prune -o ! -type d -printf '%P %y %m %s %l\n' -o -printf '%P %m\n' | LC_ALL=C sort &&
		find . -path ./.git -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum)
}

# git_kept ID: diff, a patch that applies, one path back, the rest committed, all taken back.
git_kept() {
	SESSION=$1
	[ "$(listing "$WORK")" = "$(listing "$MACHINE_DIR/plain")" ]
	[ "$("$AGENTRUN" diff "$SESSION")" = "/workspace over $WORK: 8 changes
  added:      binary (4.0 KiB)
  added:      etc (link)
  deleted:    old/
  modified:   run.sh (mode 0644 -> 0755)
  modified:   src/main.c (content)
  replaced:   swap (folder -> file)
  replaced:   tofolder/ (file -> folder)
  added:      tofolder/x (3 bytes)" ]
	cp -a "$MACHINE_DIR/plain" "$MACHINE_DIR/applied"
	"$AGENTRUN" diff --patch "$SESSION" | git -C "$MACHINE_DIR/applied" apply
	[ "$(cat "$MACHINE_DIR/applied/swap")" = 'now a file' ]
	rm -rf "$MACHINE_DIR/applied"
	"$AGENTRUN" rollback --path /workspace/old "$SESSION"
	"$AGENTRUN" commit "$SESSION"
	[ "$(cat "$WORK/old/deep/f" "$WORK/swap" "$WORK/tofolder/x")" = $'x\nnow a file\nin' ]
	[ "$(readlink "$WORK/etc") $(stat -c '%a' "$WORK/run.sh") $(stat -c %s "$WORK/binary")" = '/etc 755 4096' ]
	grep -q 'LINE FIVE' "$WORK/src/main.c"
	"$AGENTRUN" commit --undo "$SESSION"
	[ "$(listing "$WORK")" = "$(listing "$MACHINE_DIR/plain")" ]
}

@test "docker: a git work tree" {
	git_work
	id=$(docker run -d --runtime agentrun -v "$WORK:/workspace" "$IMAGE" sh -c "$GIT_EDIT")
	[ "$(docker wait "$id")" = 0 ]
	docker rm "$id" >/dev/null
	git_kept "${id:0:12}"
}

@test "podman: a git work tree, with mapped ids" {
	unset DOCKER_CONFIG
	git_work
	id=$(podman --runtime "$(runtime_wrapper)" run -d --uidmap 0:100000:5000 --gidmap 0:100000:5000 -v "$WORK:/workspace:idmap" "$IMAGE" \
		sh -c "$GIT_EDIT; stat -c %u:%g /workspace/src etc binary")
	[ "$(podman wait "$id")" = 0 ]
	[ "$(podman logs "$id")" = $'0:0\n0:0\n0:0' ]
	# Podman's own clean-up may find /dev/shm busy, and then says so here, and goes on
	podman rm "$id" >/dev/null || [ -z "$(podman ps -aq --filter "id=$id")" ]
	git_kept "${id:0:12}"
}

# Sessions over other filesystems than the machine's own, and sessions kept on them: images made and mounted
# here. What cannot carry a layer is refused by name.
# shellcheck shell=bash

load sessions.bash

setup_file() {
	session_setup_file
}

teardown_file() {
	suite_teardown_file
}

setup() {
	session_setup
}

teardown() {
	session_teardown
}

# filesystem TYPE SIZE FOLDER [MKFS OPTION...]: mounts a new one there, or skips.
filesystem() {
	local type=$1 size=$2 dir=$3
	shift 3
	grep -qw "$type" /proc/filesystems || skip "the kernel has no $type"
	command -v "mkfs.$type" >/dev/null || skip "no mkfs.$type"
	truncate -s "$size" "$T/$type.img"
	"mkfs.$type" -q "$@" "$T/$type.img" >/dev/null
	mount -o loop "$T/$type.img" "$dir"
}

# over_it: edits of each kind through a session on a filesystem mounted at WORK; diff, commit, undo.
over_it() {
	mkdir "$WORK/dir"
	echo one >"$WORK/file"
	echo two >"$WORK/dir/other"
	"$PYTHON" -c 'import os, sys; os.setxattr(sys.argv[1], "user.note", b"hello")' "$WORK/file"
	chown 12:34 "$WORK/file"
	chmod 666 "$WORK/file"
	ln "$WORK/file" "$WORK/same"
	edit_work 'echo more >>file; mv dir/other moved; rmdir dir; mkdir dir; echo x >dir/new; ln -s /etc etc; truncate -s 1M sparse'
	untouched_but_same
	call diff "$ID"
	works "/work over $WORK: 5 changes
  added:      dir/new (2 bytes)
  added:      etc (link)
  modified:   file (content)
  renamed:    dir/other -> moved
  added:      sparse (1.0 MiB)"
}

untouched_but_same() {
	[ "$(cat "$WORK/file" "$WORK/same" "$WORK/dir/other")" = $'one\none\ntwo' ]
}

committed() {
	call commit "$ID"
	works
	[ "$(cat "$WORK/file" "$WORK/same" "$WORK/moved" "$WORK/dir/new")" = $'one\nmore\none\ntwo\nx' ]
	[ "$(stat -c '%u %g' "$WORK/file")" = '12 34' ]
	[ "$("$PYTHON" -c 'import os, sys; print(os.getxattr(sys.argv[1], "user.note"))' "$WORK/file")" = "b'hello'" ]
	[ "$(stat -c %b "$WORK/sparse")" -lt 100 ]
	call commit --undo "$ID"
	works
	untouched_but_same
	[ ! -e "$WORK/moved" ]
}

@test "over xfs" {
	filesystem xfs 300M "$WORK"
	over_it
	committed
}

@test "over btrfs, and over one of its subvolumes" {
	filesystem btrfs 128M "$WORK"
	over_it
	committed
	btrfs -q subvolume create "$WORK/sub" >/dev/null
	WORK=$WORK/sub
	call rollback --discard "$ID"
	works
	add_work
	over_it
	committed
}

# kept_on: the folder of sessions is on a filesystem at T/sessions; a snapshot shares what the layer holds, and a
# rollback goes back to it. In a mount namespace, so that other sessions of this machine go on.
kept_on() {
	kept
	sh_args 'dd if=/dev/urandom of=/work/big bs=1M count=20 2>/dev/null; echo one >/work/file2'
	cat >"$T/steps" <<EOS
set -eu
mount --bind "$T/sessions" "$SESSIONS"
chmod 700 "$SESSIONS"
agentrun() { "$AGENTRUN" $AGENTRUN_FLAGS --root "$ROOT" "\$@"; }
agentrun run --bundle "$BUNDLE" $ID </dev/null
free() { sync -f "$SESSIONS"; stat -f -c %f "$SESSIONS"; }
before=\$(free)
agentrun snapshot $ID one
after=\$(free)
echo "blocks: \$((before - after))"
agentrun rollback --path /work/big $ID
agentrun diff $ID
agentrun rollback $ID one
agentrun commit $ID
agentrun rollback --discard $ID
EOS
	run unshare -m sh "$T/steps" 3>&-
	echo "$output"
	[ "$status" -eq 0 ]
	[[ $output = *"/work over $WORK: 1 change
  added:      file2 (4 bytes)"* ]]
	[ "$(stat -c %s "$WORK/big")" = 20971520 ]
	[ "$(cat "$WORK/file2")" = one ]
	# 20 MiB would be 5120
	[ "$(sed -n 's/^blocks: //p' <<<"$output")" -lt 1200 ]
}

@test "kept on xfs: a snapshot shares the blocks of the layer" {
	mkdir "$T/sessions"
	filesystem xfs 300M "$T/sessions" -m reflink=1
	kept_on
}

@test "kept on btrfs: a snapshot shares the blocks of the layer" {
	mkdir "$T/sessions"
	filesystem btrfs 256M "$T/sessions"
	kept_on
}

@test "refused: a filesystem of the kernel, also where the policy allows the mount" {
	policy "{\"mounts\": {\"session\": [\"/work\"], \"allow\": [\"$WORK\"]}}"
	mount -t mqueue session-test "$WORK"
	run_container
	fails 1 'session over /work: it lies on a mqueue filesystem'
	no_session
	umount "$WORK"
	clean
}

# What a hostile container can do to those who look at its session, and what a crash or another process can do to
# a commit. Everything that is killed is killed at a known system call.
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
	chattr -i "$WORK/file" 2>/dev/null || true
	session_teardown
}

@test "a huge file of nothing costs nothing" {
	truncate -s 1T "$WORK/hole"
	edit_work 'printf x | dd of=hole bs=1 seek=4096 conv=notrunc 2>/dev/null; truncate -s 2048G new'
	call diff "$ID"
	works "/work over $WORK: 2 changes
  modified:   hole (content)
  added:      new (2.0 TiB)"
	call diff --patch "$ID"
	works
	call commit --output "$T/layer.tar" "$ID"
	fails 1 'with hole the archive would be larger than the session may be'
	[ ! -e "$T/layer.tar" ]
	call commit "$ID"
	works
	[ "$(stat -c %s "$WORK/hole" "$WORK/new" | tr '\n' ' ')" = '1099511627776 2199023255552 ' ]
	[ "$(stat -c %b "$WORK/hole")" -lt 100 ]
}

@test "control characters of names and content are text on a terminal, and bytes in a patch" {
	edit_work 'printf "one\n\033[1A\033[2Khidden\007\n" >file; n=$(printf "bad\033[2Jname\n+++ b"); : >"$n"; ln -s "$(printf "x\033[2J")" link'
	[ "$("$AGENTRUN" --root "$ROOT" diff --patch "$ID" | grep -c $'\033')" = 2 ]
	run script -qec "'$AGENTRUN' --root '$ROOT' diff --patch $ID; '$AGENTRUN' --root '$ROOT' diff $ID" /dev/null </dev/null
	[ "$status" -eq 0 ]
	[[ $output != *$'\033'* && $output != *$'\007'* ]]
	[[ $output = *'+^[[1A^[[2Khidden^G'* ]]
	[[ $output = *'added:      "bad\033[2Jname\n+++ b" (0 bytes)'* ]]
	cp -a "$WORK" "$T/applied"
	"$AGENTRUN" --root "$ROOT" diff --patch "$ID" >"$T/patch"
	(cd "$T/applied" && git init -q . && git apply "$T/patch")
	[ "$(cat "$T/applied/dir/other")" = two ]
	call diff --json "$ID"
	works
	[[ $output != *$'\033'* ]]
	# an error that names such a path
	call rollback --discard "$ID"
	edit_work "$DEEP; n=\$(printf '\\033[2J%0240d' 0); deep \"\$n\" \"\$n\" 140"
	call commit "$ID"
	[[ $status -eq 1 && $errors = *'more than 32768 bytes'* ]]
	[[ $errors != *$'\033'* && $errors = *'\x1b[2J'* ]]
}

@test "the container changes everything while we look: nothing of the host is read, nothing hangs" {
	mkdir "$T/outside"
	echo "TOP-SECRET" >"$T/outside/file"
	chmod 755 "$T" "$T/outside"
	sh_args "cd /work; touch ready; while :; do
		rm -rf x; mkdir x; echo a >x/file; mv x y; ln -s '$T/outside' x; rm x; mkfifo x; rm -r y x
		echo b >x; ln x z; rm x; ln -s ../../../../../../$T/outside/file x; mv z y; rm -rf dir; ln -s '$T/outside' dir; rm dir; mkdir dir; done"
	start_container
	ready() { call diff "$ID" && [[ $output = *ready* ]]; }
	wait_for 20 ready
	for round in 1 2 3; do
		timeout 60 "$AGENTRUN" --root "$ROOT" diff --patch "$ID" >>"$T/seen" 2>>"$T/errors" || [ $? -ne 124 ]
		timeout 60 "$AGENTRUN" --root "$ROOT" diff --json "$ID" >>"$T/seen" 2>>"$T/errors" || [ $? -ne 124 ]
		call snapshot "$ID" "s$round"
		works "s$round"
		call rollback --path /work/dir "$ID"
		works
		call commit --path /work/ready "$ID"
		works
		call commit --output "$T/tar$round" "$ID"
		works
	done
	cat "$T/errors"
	call commit --force "$ID"
	works
	call rollback "$ID"
	works
	has_status running
	! grep -q TOP-SECRET "$T/seen"
	! cat "$T"/tar* | grep -q TOP-SECRET
	[ "$(ls "$T/outside")" = file ]
	! find "$WORK" -type f -print0 | xargs -0 grep -l TOP-SECRET
	[ -z "$(find "$WORK" -name '.agentrun-*')" ]
}

# What a commit, a rollback or a snapshot changes, each call counted from its start.
STEPS=mkdirat,mknodat,openat,openat2,renameat,renameat2,linkat,symlinkat,unlinkat,fchownat,chmod,utimensat,setxattr,fsync,syncfs,ioctl,move_mount

# killed_at N COMMAND...: kills it at its Nth such call; 1 when it came to its end.
killed_at() {
	local n=$1
	shift
	# shellcheck disable=SC2086
	strace -qq -o /dev/null -e trace=$STEPS -e inject=$STEPS:signal=SIGKILL:when="$n" \
		"$AGENTRUN" --root "$ROOT" "$@" >/dev/null 2>&1 3>&- </dev/null || [ $? -ne 137 ] || return 0
	return 1
}

@test "commit killed at any step: finished by the next call, or taken back" {
	command -v strace >/dev/null || skip "no strace"
	cp -a "$WORK" "$T/plain"
	edit_work 'echo more >>file; rm -r dir; echo x >dir; mkdir new; echo y >new/y; ln new/y new/z; ln -s /etc new/l'
	step=${KILL_FIRST:-1}
	while killed_at "$step" commit "$ID"; do
		if [ $((step % 2)) -eq 0 ]; then
			call commit "$ID"
			[ "$status" -eq 0 ] || { echo "step $step"; return 1; }
			[ "$(cat "$WORK/file" "$WORK/dir" "$WORK/new/y")" = $'one\nmore\nx\ny' ]
			[ "$WORK/new/y" -ef "$WORK/new/z" ]
		fi
		call commit --undo "$ID"
		[ "$status" -eq 0 ] || [[ $errors = *'there is no commit to take back'* ]] || { echo "step $step"; return 1; }
		[ "$(listing "$WORK")" = "$(listing "$T/plain")" ] || { echo "step $step"; find "$WORK" -ls; return 1; }
		# a layer that was committed whole is gone, and so is the rest of the test
		[ -e "$(session_dir)/layer.img" ] || { call rollback --discard "$ID"; args true; edit_again; }
		step=$((step + ${KILL_STEP:-23}))
	done
	[ "$step" -gt 100 ]
}

edit_again() {
	edit_work 'echo more >>file; rm -r dir; echo x >dir; mkdir new; echo y >new/y; ln new/y new/z; ln -s /etc new/l'
}

# Most is copied before the freeze: what changed since must not be taken from there, however it was changed.
@test "a commit holds what was there when the container was frozen" {
	cp "$(dirname "$AGENTRUN")/tests/integration/helpers/restless" "$ROOTFS/bin/"
	policy '{"mounts": {"session": ["/work"]}, "disk": {"session": {"size": "64MiB"}}}'
	# shellcheck disable=SC2016
	sh_args 'cd /work; i=0; while [ $i -lt 2500 ]; do echo $i >s$i; i=$((i + 1)); done; exec restless 64'
	start_container
	ready() { [ -e "/proc/$(pid_of "$ID")/root/work/ready" ]; }
	wait_for 30 ready
	local i round good=0 pid commit
	pid=$(pid_of "$ID")
	for ((round = 0; round < 12 && good < 4; round++)); do
		rm -rf "$T/then"
		mkdir "$T/then"
		rt commit "$ID" >"$T/said" 2>&1 &
		commit=$!
		for ((i = 0; i < 2000; i++)); do
			[ "$(status_of "$ID")" != paused ] || break
			kill -0 "$commit" 2>/dev/null || break
		done
		cp "/proc/$pid/root/work/"r* "$T/then/"
		# Only then was all of it read while nobody wrote.
		i=$(status_of "$ID")
		wait "$commit" || { cat "$T/said"; return 1; }
		# So that the next one takes long again.
		rt exec "$ID" sh -c "cd /work; for f in s*; do echo $round >>\$f; done"
		[ "$i" = paused ] || continue
		good=$((good + 1))
		for i in "$T/then/"*; do
			cmp "$i" "$WORK/${i##*/}"
		done
	done
	echo "$good of $round commits were compared"
	[ "$good" -ge 2 ]
	[ "$(cat "$WORK/s7" | head -1)" = 7 ]
}

@test "a commit of a running container killed at any step leaves nothing beside the files, and it runs on" {
	command -v strace >/dev/null || skip "no strace"
	policy '{"mounts": {"session": ["/work"]}, "disk": {"session": {"size": "32MiB"}}}'
	sh_args 'cd /work; mkdir new; for i in 1 2 3 4 5 6 7 8 9; do echo $i >new/$i; done; echo more >>file; touch ready; exec sleep 1000'
	start_container
	ready() { call diff "$ID" && [[ $output = *ready* ]]; }
	wait_for 5 ready
	local step=${KILL_FIRST:-1}
	while killed_at "$step" commit "$ID"; do
		call commit "$ID"
		[ "$status" -eq 0 ] || { echo "step $step"; return 1; }
		[ "$(cat "$WORK/file" "$WORK"/new/*)" = $'one\nmore\n1\n2\n3\n4\n5\n6\n7\n8\n9' ]
		[ "$(find "$WORK" -name '.*' | wc -l)" -eq 0 ]
		has_status running
		call exec "$ID" sh -c 'cd /work/new; for i in 1 2 3 4 5 6 7 8 9; do cp $i n && mv n $i; done'
		works
		step=$((step + ${KILL_STEP:-37}))
	done
	[ "$step" -gt 100 ]
}

@test "snapshot and rollback killed at any step: the next call goes on" {
	command -v strace >/dev/null || skip "no strace"
	edit_work 'echo one >a; rm -r dir'
	call snapshot "$ID" first
	works
	step=${KILL_FIRST:-1}
	while killed_at "$step" snapshot "$ID" killed; do
		call snapshot --list "$ID"
		works
		call snapshot --remove "$ID" killed
		[ "$status" -eq 0 ] || [[ $errors = *'there is no snapshot'* ]]
		call snapshot "$ID" killed
		works
		call snapshot --remove "$ID" killed
		step=$((step + ${KILL_STEP:-23}))
	done
	[ "$step" -gt 30 ]
	for what in "" first; do
		step=${KILL_FIRST:-1}
		while killed_at "$step" rollback --path /work "$ID" $what; do
			call rollback --path /work/dir "$ID"
			works
			call rollback "$ID" first
			works
			call diff "$ID"
			works "/work over $WORK: 2 changes
  added:      a (4 bytes)
  deleted:    dir/"
			step=$((step + ${KILL_STEP:-23}))
		done
		[ "$step" -gt 30 ]
	done
	untouched
}

@test "names and attributes that mean something to an overlay do not leave a session unasked" {
	attribute() { "$PYTHON" -c 'import os, sys; os.setxattr(sys.argv[1], sys.argv[2], b"y")' "$1" "$2"; }
	sh_args 'cd /work; mkdir made; echo x >made/f; touch /tmp/ready; exec sleep 1000'
	start_container
	made() { call exec "$ID" test -e /tmp/ready; [ "$status" -eq 0 ]; }
	wait_for 20 made
	# as a program in the container does it
	merged=/proc/$(rt state "$ID" | jq .pid)/root/work
	attribute "$merged/made" user.overlay.opaque
	attribute "$merged/made/f" user.plain
	! attribute "$merged/dir" trusted.overlay.opaque || [ -e "$merged/dir/other" ]
	call commit "$ID"
	[ "$status" -eq 1 ]
	[[ $output = *'conflict:   made (attributes for an overlay)'* ]]
	[ ! -e "$WORK/made" ]
	call commit --output "$T/layer.tar" "$ID"
	works
	! grep -aq 'user.overlay' "$T/layer.tar"
	grep -aq 'user.plain' "$T/layer.tar"
	call exec "$ID" touch /work/made/.wh..wh..opq
	works
	call commit --output "$T/other.tar" "$ID"
	fails 1 'stands for a deletion'
	call commit --force "$ID"
	[ "$status" -eq 0 ]
	[ "$(cat "$WORK/made/f" "$WORK/dir/other")" = $'x\ntwo' ]
	call exec "$ID" sh -c 'rm /work/made/.wh..wh..opq'
	call commit --output "$T/other.tar" --path /work/made "$ID"
	fails 1 'stands for a deletion'
}

@test "a conflict: a folder of the original was exchanged for an older one" {
	mkdir "$WORK/spare"
	echo theirs >"$WORK/spare/other"
	echo theirs >"$WORK/spare/gone"
	echo x >"$WORK/dir/gone"
	edit_work 'echo agent >dir/other; rm dir/gone; mv file dir/moved'
	mv "$WORK/dir" "$T/away"
	mv "$WORK/spare" "$WORK/dir"
	call commit "$ID"
	[ "$status" -eq 1 ]
	[[ $output = *'conflict:   dir/gone (its folder'*'conflict:   dir/other (its folder'* ]]
	[ "$(cat "$WORK/dir/other" "$WORK/dir/gone")" = $'theirs\ntheirs' ]
	mv "$WORK/dir" "$WORK/spare"
	mv "$T/away" "$WORK/dir"
	call commit --path /work/dir "$ID"
	works
	[ "$(cat "$WORK/dir/other" "$WORK/dir/moved")" = $'agent\none' ]
	# made again by ourselves it is no other
	call commit --undo "$ID"
	works
	call commit "$ID"
	works
}

@test "two commits at once: the second sees what the first did" {
	command -v strace >/dev/null || skip "no strace"
	edit_work 'echo first >file; echo first >dir/other'
	first=$ID
	first_session=$(session_dir)
	ID=${ID}second
	edit_work 'echo second >file; echo second >dir/other'
	# it has looked, and takes its time before it changes anything
	# nobody looks for leaks in what is traced already: the sanitizer's own check would end it
	ASAN_OPTIONS=detect_leaks=0 strace -qq -o /dev/null -e trace=syncfs -e inject=syncfs:delay_enter=1500000:when=1 \
		"$AGENTRUN" --root "$ROOT" commit "$first" >"$T/first" 2>&1 3>&- </dev/null &
	pid=$!
	locked() { grep -q "OFDLCK.*:$(stat -c %i "$SESSIONS/.originals") " /proc/locks; }
	wait_for 20 locked
	call commit "$ID"
	[ "$status" -eq 1 ]
	[[ $output = *'conflict:   dir/other '*'conflict:   file '* ]]
	wait "$pid"
	[ "$(cat "$WORK/file" "$WORK/dir/other")" = $'first\nfirst' ]
	[ "$(cat "$T/first")" = '2 objects changed in the original' ]
	rm -rf "$first_session"
}

@test "the original is swapped for links all the time: a commit stays in it, or says no" {
	mkdir "$T/outside"
	echo secret >"$T/outside/file"
	edit_work 'echo agent >dir/other; mkdir dir/sub; echo x >dir/sub/y; echo y >file'
	(
		set +e
		for round in $(seq 30); do
			mv -T "$WORK/dir" "$T/aside"
			ln -sT "$T/outside" "$WORK/dir"
			sleep 0.01
			rm "$WORK/dir"
			mv -T "$T/aside" "$WORK/dir"
			sleep 0.01
		done
	) >/dev/null 2>&1 3>&- &
	racer=$!
	for round in 1 2 3; do
		timeout 60 "$AGENTRUN" --root "$ROOT" commit --force --path /work/dir "$ID" >/dev/null 2>&1 || [ $? -ne 124 ]
		timeout 60 "$AGENTRUN" --root "$ROOT" commit --undo --force "$ID" >/dev/null 2>&1 || [ $? -ne 124 ]
	done
	wait "$racer" || true
	[ "$(cd "$T/outside" && find . | tr '\n' ' ')$(cat "$T/outside/file")" = '. ./file secret' ]
	[ ! -L "$WORK/dir" ] || rm "$WORK/dir"
	[ -d "$WORK/dir" ] || mv -T "$T/aside" "$WORK/dir"
	call commit --force "$ID"
	works
	[ "$(cat "$WORK/dir/other" "$WORK/dir/sub/y" "$WORK/file")" = $'agent\nx\ny' ]
}

@test "an original that cannot be written: said, taken back, and finished when it can" {
	edit_work 'echo new >aaa; echo more >>file; echo z >zzz'
	chattr +i "$WORK/file" 2>/dev/null || skip "no immutable files here"
	call commit --force "$ID"
	fails 1 'write file: .*not permitted'
	call commit --undo --force "$ID"
	works
	untouched
	call commit --force "$ID"
	fails 1 'write file: .*not permitted'
	chattr -i "$WORK/file"
	call commit "$ID"
	works
	[ "$(cat "$WORK/aaa" "$WORK/file" "$WORK/zzz")" = $'new\none\nmore\nz' ]
}

@test "a layer that is full can be rolled back" {
	head -c 20000000 /dev/zero >"$WORK/big"
	sh_args 'cd /work; dd if=/dev/urandom of=big bs=1M 2>/dev/null; dd if=/dev/zero of=rest bs=1k 2>/dev/null; touch /tmp/ready; exec sleep 1000'
	start_container
	full() { call exec "$ID" test -e /tmp/ready; [ "$status" -eq 0 ]; }
	wait_for 30 full
	call rollback "$ID"
	works
	call diff "$ID"
	works "/work over $WORK: no changes"
	has_status running
}

# Sessions on real containers: changes stay in the layer, the layer is capped, goes with the
# container or is kept, and is refused where it would be a lie.
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

@test "explain names the layers" {
	start_sleeper
	call explain "$ID"
	works
	[[ $output = *"session:   /work over $WORK"* ]]
	call explain --json "$ID"
	[ "$(jq -r '.session[0].destination' <<<"$output")" = /work ]
}

@test "refused: no root on the host" {
	call --rootless true run --bundle "$BUNDLE" "$ID"
	fails 1 "session over /work: without the host's root its size could not be capped"
	no_session
	clean
}

@test "a folder: the container sees its changes, the original does not" {
	sh_args 'cd /work && echo more >>file && rm -r dir && mkdir new && echo x >new/y && cat file && ls'
	run_container
	works $'one\nmore\nfile\nnew'
	untouched
	no_session
	clean
}

@test "the top keeps owner, mode and attributes" {
	chown 12:34 "$WORK"
	chmod 2751 "$WORK"
	"$PYTHON" -c 'import os, sys; os.setxattr(sys.argv[1], "user.note", b"hello")' "$WORK"
	sh_args 'stat -c "%u %g %a" /work'
	run_container
	works '12 34 2751'
}

@test "the root filesystem, by annotation" {
	policy '{}'
	edit '.annotations["org.agentrun.session"] = "true"'
	before=$(find "$ROOTFS" | LC_ALL=C sort | sha256sum)
	sh_args 'echo x >/etc/new && rm /bin/busybox && ls /etc/new'
	run_container
	works /etc/new
	[ "$(find "$ROOTFS" | LC_ALL=C sort | sha256sum)" = "$before" ]
	no_session
}

@test "the root filesystem and a folder below a user namespace" {
	policy '{"mounts": {"session": ["/", "/work"]}, "disk": {"session": {"size": "32MiB"}}}'
	in_user_namespace
	chown -R 100000:100000 "$WORK"
	sh_args 'id -u; echo x >/etc/new && echo y >/work/file && cat /etc/new /work/file; stat -c %u /work/file'
	run_container
	works $'0\nx\ny\n0'
	untouched
	[ ! -e "$ROOTFS/etc/new" ]
}

@test "a folder by the host's name, and a read-only source" {
	policy "{\"mounts\": {\"session\": [\"$T\"]}}"
	mount --bind "$WORK" "$WORK"
	mount -o remount,bind,ro "$WORK"
	sh_args 'echo changed >/work/file && cat /work/file'
	run_container
	works changed
	untouched
}

@test "over tmpfs" {
	mount -t tmpfs -o size=1m session-test "$WORK"
	echo one >"$WORK/file"
	sh_args 'echo changed >/work/file && cat /work/file'
	run_container
	works changed
	[ "$(cat "$WORK/file")" = one ]
}

@test "over an overlay, and not over an overlay over an overlay" {
	mkdir -p "$T"/o/{up,wk,m,up2,wk2,m2} "$T/tm"
	mount -t tmpfs session-test "$T/tm"
	mkdir -p "$T"/tm/{up,wk,up2,wk2}
	mount -t overlay overlay -o "lowerdir=$WORK,upperdir=$T/tm/up,workdir=$T/tm/wk" "$T/o/m"
	original=$WORK
	WORK=$T/o/m
	add_work
	sh_args 'echo changed >/work/file && cat /work/file'
	run_container
	works changed
	[ -z "$(ls "$T/tm/up")" ]
	mount -t overlay overlay -o "lowerdir=$T/o/m,upperdir=$T/tm/up2,workdir=$T/tm/wk2" "$T/o/m2"
	WORK=$T/o/m2
	add_work
	run_container
	fails 1 'session over .*/o/m2: the kernel refuses an overlay there'
	no_session
	clean_but_mounts
	umount "$T/o/m2" "$T/o/m"
	WORK=$original
	untouched
}

clean_but_mounts() {
	[ -z "$(find "$ROOT" -mindepth 1)" ]
	[ -z "$(cgroup_folders "$CGROUP")" ]
}

@test "full in bytes" {
	sh_args 'cd /work; dd if=/dev/zero of=big bs=1M count=40 2>&1 | grep -o "No space left on device"; rm big
		dd if=/dev/zero of=small bs=1M count=1 2>/dev/null && echo again'
	run_container
	works $'No space left on device\nagain'
	untouched
}

@test "what fails because its layer is full is said to have ended for want of disk" {
	sh_args 'dd if=/dev/zero of=/work/big bs=1M count=40 2>/dev/null'
	call run --detach --bundle "$BUNDLE" "$ID"
	works
	ended() { [ "$(rt state "$ID" | jq -r .status)" = stopped ]; }
	wait_for 30 ended
	run rt state "$ID"
	echo "$output"
	[ "$(jq -r .exit.reason <<<"$output")" = disk ]
	[[ $(jq -r .exit.detail <<<"$output") = *'its /work was full when it ended'* ]]
	untouched
}

@test "full in inodes" {
	sh_args 'cd /work; i=0; while echo >f$i; do i=$((i + 1)); done 2>/dev/null; [ $i -gt 400 ] && [ $i -lt 520 ] && echo "$((i / 100))"; rm f*; echo x >f && echo again'
	run_container
	[[ $output =~ ^[45]$'\n'again$ ]]
	untouched
}

@test "no layer for a mount that is read-only" {
	edit '(.mounts[] | select(.destination == "/work")).options += ["ro"]'
	sh_args 'touch /work/x 2>&1 | grep -o "Read-only"; grep " /work " /proc/mounts | cut -d" " -f3 | grep -c overlay'
	run_container
	exits 1 $'Read-only\n0'
}

@test "delete removes a session, also of a container that runs" {
	start_sleeper
	[ -e "$(session_dir)/layer.img" ]
	[ "$(stat -c '%a %u' "$SESSIONS" "$(session_dir)" "$(session_dir)/layer.img" | tr '\n' ' ')" = '700 0 700 0 600 0 ' ]
	rt state "$ID" >/dev/null
	call delete --force "$ID"
	works
	no_session
	clean
}

@test "a session is fresh for each container" {
	sh_args 'cat /work/mark 2>/dev/null; echo first >/work/mark'
	run_container
	works ''
	run_container
	works ''
}

@test "kept: outlives delete and is not given to the next container" {
	policy '{"mounts": {"session": ["/work"]}, "disk": {"session": {"size": "32MiB", "keep": true}}}'
	sh_args 'echo x >/work/mark'
	run_container
	works
	[ -e "$(session_dir)/layer.img" ]
	run_container
	fails 1 'the session of an earlier container with this id is kept'
	[ -e "$(session_dir)/layer.img" ]
	untouched
	clean
}

@test "a create that fails leaves no session, kept or not" {
	policy '{"mounts": {"session": ["/work"]}, "disk": {"session": {"size": "32MiB", "keep": true}}}'
	args /no/such/program
	run_container
	[ "$status" -ne 0 ]
	no_session
	clean
}

@test "what was left by a killed creator goes at delete --force, or with the next one" {
	start_sleeper
	rt delete --force "$ID"
	mkdir -p "$(session_dir)"
	chmod 700 "$(dirname "$(session_dir)")" "$(session_dir)"
	echo rubbish >"$(session_dir)/layer.img"
	args true
	run_container
	works
	no_session
}

@test "refused: other mounts below, a file, a second way to the original" {
	mkdir -p "$WORK/dir"
	mount -t tmpfs session-test "$WORK/dir"
	run_container
	fails 1 'other mounts lie below the original'
	umount "$WORK/dir"
	add_mount "{\"destination\": \"/again\", \"type\": \"bind\", \"source\": \"$WORK/dir\", \"options\": [\"bind\"]}"
	run_container
	fails 1 'the mount at /again reaches the original of the session at /work'
	edit '(.mounts[] | select(.destination == "/again")).options += ["ro"]'
	args true
	run_container
	works
	edit --arg f "$WORK/file" '.mounts |= map(select(.destination != "/again" and .destination != "/work"))
		| .mounts += [{destination: "/work", type: "bind", source: $f, options: ["bind"]}]'
	rmdir "$ROOTFS/work"
	run_container
	fails 1 'it is no folder'
	no_session
	clean
}

@test "refused: a request for what is not there, a tiny size" {
	policy '{}'
	edit '.annotations["org.agentrun.session"] = "/nowhere"'
	run_container
	fails 1 'session over /nowhere: no bind mount is there'
	edit '.annotations["org.agentrun.session"] = "/work"'
	policy '{"disk": {"session": {"size": "1MiB"}}}'
	run_container
	fails 1 'the least is 16777216'
	clean
}

@test "whiteouts and overlay's attributes cannot be forged" {
	policy '{"mounts": {"session": ["/work"]}, "capabilities": {"root": ["CAP_CHOWN", "CAP_MKNOD", "CAP_FOWNER"]}}'
	edit '.process.capabilities |= with_entries(.value += ["CAP_MKNOD"])'
	cp -r "$ROOTFS" "$T/keep"
	sh_args 'cd /work
		mknod file2 c 0 0 2>&1 | grep -o "not permitted"
		setfattr -n trusted.overlay.opaque -v y dir 2>/dev/null && echo forged
		setfattr -n user.overlay.opaque -v y dir 2>/dev/null
		ls dir'
	run_container
	works $'not permitted\nother'
	untouched
}

# git_work: the folder as a git work tree with something of everything.
git_work() {
	local i
	cd "$WORK" || return 1
	command -v git >/dev/null || skip "git is not installed"
	git init -q .
	mkdir -p src old/deep swap
	for i in $(seq 20); do echo "line $i"; done >src/main.c
	echo x >old/deep/f
	echo y >old/g
	echo z >tofolder
	echo q >swap/in
	echo "to be moved" >src/moveme
	printf 'no newline' >src/nonl
	echo '#!/bin/sh' >run.sh
	head -c 3000 /dev/urandom >binary
	git add -A
	git -c user.email=a@b -c user.name=a commit -qm first
	cd "$BATS_TEST_DIRNAME" || return 1
	rm -rf "$T/plain"
	cp -a "$WORK" "$T/plain"
	EDIT='set -e
		sed -i "s/line 5$/LINE FIVE/; s/line 18/line eighteen/" src/main.c
		echo new >src/new.c
		ln src/new.c src/same.c
		dd if=/dev/urandom of=binary2 bs=1k count=4 2>/dev/null
		rm -r old
		rm tofolder && mkdir tofolder && echo in >tofolder/x
		rm -r swap && echo now a file >swap
		ln -s /etc etc
		chmod 755 run.sh
		mv src/moveme src/moved
		printf "no newline still" >src/nonl
		mkfifo pipe
		touch file
		: >"$(printf "bad\033[31mname")"
		truncate -s 1M sparse'
}

@test "diff says what changed, in each form" {
	git_work
	edit_work "$EDIT"
	call diff "$ID"
	works "/work over $WORK: 16 changes
  added:      \"bad\\033[31mname\" (0 bytes)
  added:      binary2 (4.0 KiB)
  added:      etc (link)
  modified:   file (time)
  deleted:    old/
  added:      pipe (pipe)
  modified:   run.sh (mode 0644 -> 0755)
  added:      sparse (1.0 MiB)
  modified:   src/main.c (content)
  renamed:    src/moveme -> src/moved
  added:      src/new.c (4 bytes)
  modified:   src/nonl (content)
  added:      src/same.c (4 bytes, hard link of src/new.c)
  replaced:   swap (folder -> file)
  replaced:   tofolder/ (file -> folder)
  added:      tofolder/x (3 bytes)"
	call diff "$ID" /work/src/new.c
	works "/work over $WORK: 1 change
  added:      src/new.c (4 bytes)"
	call diff "$ID" /work/old/deep
	works "/work over $WORK: 1 change
  deleted:    old/deep/"
	call diff "$ID" /work/swap/in
	works "/work over $WORK: 1 change
  deleted:    swap/in"
	call diff "$ID" /etc
	fails 1 'path /etc is not part of the session'
	call diff --json "$ID"
	works
	[ "$(jq '.layers[0].changes | length' <<<"$output")" = 16 ]
	[ "$(jq -r '.layers[0].changes[] | select(.kind == "renamed") | .from + " " + .path' <<<"$output")" = 'src/moveme src/moved' ]
	[ "$(jq -r '.layers[0].changes[] | select(.path == "sparse") | .new.size' <<<"$output")" = 1048576 ]
	rm -rf "$T/applied"
	cp -a "$T/plain" "$T/applied"
	call diff --patch "$ID"
	works
	cp "$T/stdout" "$T/patch"
	(cd "$T/applied" && git apply "$T/patch")
	[ "$(cat "$T/applied/swap")" = 'now a file' ]
	[ "$(readlink "$T/applied/etc")" = /etc ]
	[ -x "$T/applied/run.sh" ]
	[ ! -e "$T/applied/old" ]
	grep -q '^# not text, left out: binary2 (added)$' "$T/patch"
}

@test "a patch carries modes and new names of files that are not text" {
	printf 'a\0b' >"$WORK/tool"
	printf 'c\0d' >"$WORK/old"
	chmod 755 "$WORK/tool"
	git -C "$WORK" init -q
	git -C "$WORK" add .
	edit_work 'chmod 644 tool; mv old new; printf "e\0f" >more'
	"$AGENTRUN" --root "$ROOT" diff --patch "$ID" /work >"$T/patch"
	grep -Fx '# not text, left out: more (added)' "$T/patch"
	(cd "$WORK" && git apply "$T/patch")
	[ "$(stat -c %a "$WORK/tool")" = 644 ]
	[ ! -e "$WORK/old" ]
	[ "$(tr '\0' _ <"$WORK/new")" = c_d ]
}

@test "diff --json tells names that are not UTF-8 apart" {
	edit_work ': >"$(printf "x\377\ny")"; : >"$(printf "x\376\ny")"; ln -s z "$(printf "\033[2J")"'
	call diff --json "$ID"
	works
	[ "$(jq -r '[.layers[0].changes[].pathHex] | map(. // "none") | sort | join(" ")' <<<"$output")" = '78fe0a79 78ff0a79 none' ]
	[ "$(jq -r '.layers[0].changes[] | select(.new.type == "link") | .path' <<<"$output")" = $'\033[2J' ]
}

@test "diff while the container runs, and when it has stopped" {
	sh_args 'echo one >>/work/file; rm -r /work/dir; mkdir /work/dir; exec sleep 1000'
	start_container
	expected="/work over $WORK: 2 changes
  deleted:    dir/other
  modified:   file (content)"
	changed() {
		call diff "$ID"
		[ "$output" = "$expected" ]
	}
	wait_for 5 changed
	stop_container
	changed
	works
	untouched
}

@test "diff: a container without a session, and none at all" {
	policy '{}'
	start_sleeper
	call diff "$ID"
	fails 1 'has no session'
	call diff nobody
	fails 1 'container does not exist'
}

@test "diff: the original is gone, or another one" {
	edit_work 'echo x >file'
	mv "$WORK" "$T/elsewhere"
	call diff "$ID"
	fails 1 'open the original'
	mkdir "$WORK"
	call diff "$ID"
	fails 1 'the original of /work is not there any more'
	rmdir "$WORK"
	ln -s "$T/elsewhere" "$WORK"
	call diff "$ID"
	fails 1 'open the original'
}

@test "commit: the original is what the session shows; undo takes it back" {
	git_work
	edit_work "$EDIT"
	call commit --dry-run "$ID"
	works
	[[ $output = *'modified:   src/main.c (content)'* ]]
	[ "$(listing "$WORK")" = "$(listing "$T/plain")" ]
	(cd "$T/plain" && eval "${EDIT//touch file/true}")
	chmod 644 "$T/plain/pipe"
	call commit --path /work/src "$ID"
	works '6 objects changed in the original'
	[ -e "$WORK/old" ]
	[ ! -e "$WORK/src/moveme" ]
	[ "$WORK/src/new.c" -ef "$WORK/src/same.c" ]
	call commit "$ID"
	works
	rm "$WORK/binary2" "$T/plain/binary2"
	[ "$(listing "$WORK" | sed 's/^ d .*//')" = "$(listing "$T/plain" | sed 's/^ d .*//')" ]
	[ "$(readlink "$WORK/etc")" = /etc ]
	[ -p "$WORK/pipe" ]
	call diff "$ID"
	fails 1 'was committed'
	call commit --undo "$ID"
	works
	[ -e "$WORK/old/deep/f" ]
}

@test "undo gives the original back, one commit after the other" {
	git_work
	edit_work "$EDIT"
	call commit --path /work/src "$ID"
	works
	call commit "$ID"
	works
	call commit --undo "$ID"
	works
	call commit --undo "$ID"
	works
	[ "$(listing "$WORK")" = "$(listing "$T/plain")" ]
	call commit --undo "$ID"
	fails 1 'there is no commit to take back'
}

@test "undo does not write over what was changed since" {
	edit_work 'echo agent >file; rm dir/other'
	call commit "$ID"
	works
	echo somebody >"$WORK/file"
	call commit --undo "$ID"
	fails 1 'file was changed since it was committed'
	[ "$(cat "$WORK/file")" = somebody ]
	call commit --undo --force "$ID"
	works
	untouched
}

@test "conflicts: changed, deleted and new in the original meanwhile" {
	kept
	echo three >"$WORK/third"
	sh_args 'cd /work; echo agent >>file; echo agent >>dir/other; echo agent >third; echo agent >fresh; echo mine >alone; exec sleep 1000'
	start_container
	committed() {
		call diff "$ID"
		[[ $output = *alone* ]]
	}
	wait_for 5 committed
	echo somebody >"$WORK/file"
	rm "$WORK/third"
	echo somebody >"$WORK/fresh"
	call commit "$ID"
	[ "$status" -eq 1 ]
	[[ $output = *'conflict:   file (the original has changed since the session began)'* ]]
	[[ $output = *'conflict:   third (the original was deleted since the session began)'* ]]
	[[ $output = *'conflict:   fresh (the original has changed since the session began)'* ]]
	[[ $errors = *'3 conflicts: nothing was committed'* ]]
	[ "$(cat "$WORK/file" "$WORK/fresh")" = $'somebody\nsomebody' ]
	[ ! -e "$WORK/alone" ]
	call commit --path /work/alone "$ID"
	works '1 object changed in the original'
	call commit --force "$ID"
	[ "$status" -eq 0 ]
	[ "$(cat "$WORK/third" "$WORK/fresh" "$WORK/alone")" = $'agent\nagent\nmine' ]
}

@test "commit of what is dangerous only by force" {
	kept
	policy '{"mounts": {"session": ["/work"]}, "disk": {"session": {"size": "32MiB", "keep": true}}, "capabilities": {"root": ["CAP_CHOWN", "CAP_FOWNER", "CAP_FSETID"]}}'
	sh_args 'cd /work; cp /bin/busybox suid; chmod 4755 suid; echo ok >plain'
	run_container
	works
	call commit "$ID"
	[ "$status" -eq 1 ]
	[[ $output = *'conflict:   suid (a set-id program)'* ]]
	[ ! -e "$WORK/plain" ]
	call commit --force "$ID"
	[ "$status" -eq 0 ]
	[ "$(stat -c %a "$WORK/suid")" = 4755 ]
}

@test "two sessions on one folder" {
	sh_args 'echo first >/work/a; echo first >/work/file; exec sleep 1000'
	start_container
	first=$ID
	first_session=$(session_dir)
	ID=${ID}second
	CGROUP=$CGROUP-second
	edit --arg c "$CGROUP" '.linux.cgroupsPath = $c'
	sh_args 'echo second >/work/b; echo second >/work/file; exec sleep 1000'
	start_container
	seen() {
		call diff "$1"
		[[ $output = *': 2 changes'* ]]
	}
	wait_for 5 seen "$first"
	wait_for 5 seen "$ID"
	call commit "$first"
	works '2 objects changed in the original'
	call commit "$ID"
	[ "$status" -eq 1 ]
	[[ $output = *'conflict:   file '* ]]
	call commit --path /work/b "$ID"
	works
	[ "$(cat "$WORK/a" "$WORK/b" "$WORK/file")" = $'first\nsecond\nfirst' ]
	call delete --force "$first"
	works
	[ ! -e "$first_session" ]
}

@test "a commit while the container runs: it goes on, and its later changes count" {
	sh_args 'cd /work; mkdir new; echo x >new/y; echo x >new/z; touch ready; while [ ! -e go ]; do sleep 0.05; done; rm new/y; rmdir dir 2>/dev/null; echo more >>new/z; touch done; exec sleep 1000'
	start_container
	ready() { call diff "$ID" && [[ $output = *"$1"* ]]; }
	wait_for 5 ready ready
	call commit "$ID"
	works
	[ "$(cat "$WORK/new/y" "$WORK/new/z")" = $'x\nx' ]
	call exec "$ID" touch /work/go
	works
	wait_for 5 ready done
	call diff "$ID" /work/new
	works "/work over $WORK: 2 changes
  deleted:    new/y
  modified:   new/z (content)"
	call commit "$ID"
	works
	[ ! -e "$WORK/new/y" ]
	[ "$(cat "$WORK/new/z")" = $'x\nmore' ]
	has_status running
}

@test "snapshot and rollback while the container runs" {
	sh_args 'cd /work; echo one >a; rm -r dir; exec sleep 1000'
	start_container
	ready() { call diff "$ID" && [[ $output = *': 2 changes'* || $output = *': 3 changes'* ]]; }
	wait_for 5 ready
	call snapshot --comment 'before the storm' "$ID" calm
	works calm
	call exec "$ID" sh -c 'cd /work; echo two >a; mkdir dir; echo new >dir/n; rm file'
	works
	call snapshot "$ID"
	works 2
	call snapshot --list "$ID"
	works
	[[ $output = calm*'before the storm'* ]]
	[ "$(wc -l <<<"$output")" = 2 ]
	call snapshot --json "$ID"
	[ "$(jq -r '.[0].comment' <<<"$output")" = 'before the storm' ]
	call snapshot "$ID" calm
	fails 1 'there is a snapshot calm already'
	call rollback --path /work/a "$ID" calm
	works
	call exec "$ID" sh -c 'cd /work; cat a dir/n'
	works $'one\nnew'
	call rollback "$ID" calm
	works
	call exec "$ID" sh -c 'cd /work; cat a file; ls'
	works $'one\none\na\nfile'
	call rollback "$ID"
	works
	call exec "$ID" sh -c 'cd /work; cat file dir/other; ls'
	works $'one\ntwo\ndir\nfile'
	call diff "$ID"
	works "/work over $WORK: no changes"
	call rollback "$ID" 2
	works
	call exec "$ID" sh -c 'cd /work; cat a dir/n; ls'
	works $'two\nnew\na\ndir'
	call snapshot --remove "$ID" calm
	works
	call rollback "$ID" calm
	fails 1 'there is no snapshot calm'
	call rollback "$ID" /work/file
	fails 1 'a path is named by --path'
	has_status running
	untouched
}

@test "snapshot and rollback of a stopped and of a kept session" {
	edit_work 'echo one >a'
	call snapshot "$ID" one
	works one
	call rollback "$ID"
	works
	call diff "$ID"
	works "/work over $WORK: no changes"
	call rollback "$ID" one
	works
	call diff "$ID"
	works "/work over $WORK: 1 change
  added:      a (4 bytes)"
	call rollback --path /work/a "$ID"
	works
	call diff "$ID"
	works "/work over $WORK: no changes"
	call rollback --discard "$ID"
	works
	no_session
	call rollback --discard "$ID"
	fails 1 'container does not exist'
}

@test "a paused container stays paused, a frozen one is thawed by the next command" {
	sh_args 'echo x >/work/a; exec sleep 1000'
	start_container
	ready() { call diff "$ID" && [[ $output = *': 1 change'* ]]; }
	wait_for 5 ready
	call pause "$ID"
	works
	call snapshot "$ID"
	works 1
	has_status paused
	call resume "$ID"
	works
	# as if a snapshot had been killed
	touch "$(session_dir)/frozen"
	call pause "$ID"
	call snapshot "$ID"
	works 2
	has_status running
}

@test "commit never follows a link out of the tree" {
	mkdir "$T/outside"
	echo secret >"$T/outside/file"
	sh_args 'cd /work; echo x >dir/new; echo y >>file; exec sleep 1000'
	start_container
	ready() { call diff "$ID" && [[ $output = *': 2 changes'* ]]; }
	wait_for 5 ready
	# the original is somebody's to change
	rm -r "$WORK/dir"
	ln -s "$T/outside" "$WORK/dir"
	call commit --force "$ID"
	[ "$(cd "$T/outside" && ls)" = file ]
	[ "$(cat "$T/outside/file")" = secret ]
}

@test "killed in the middle: the next call finishes" {
	mkdir "$WORK/many"
	for i in $(seq 300); do echo "$i" >"$WORK/many/$i"; done
	edit_work 'i=0; for f in many/*; do i=$((i + 1)); case $((i % 3)) in 0) rm $f;; 1) echo changed >$f;; 2) mv $f $f.new;; esac; done'
	for delay in 0.004 0.008 0.012 0.02 0.03; do
		rt_background commit "$ID"
		pid=$!
		sleep "$delay"
		kill -9 "$pid" 2>/dev/null || true
		wait "$pid" || true
	done
	rt commit "$ID" >/dev/null 2>&1 3>&- || true
	[ "$(find "$WORK/many" -name '*.new' | wc -l)" = 100 ]
	[ "$(cat "$WORK"/many/* | grep -c changed)" = 100 ]
	[ "$(find "$WORK/many" -type f | wc -l)" = 200 ]
	[ -z "$(find "$WORK" -name '.agentrun-*')" ]
}

@test "a full disk stops a commit before anything has changed, or it is finished later" {
	mount -t tmpfs -o size=1m session-test "$WORK"
	echo one >"$WORK/file"
	edit_work 'echo two >file; dd if=/dev/zero of=big bs=1k count=3000 2>/dev/null'
	call commit "$ID"
	fails 1 'no space left on device'
	call commit "$ID"
	fails 1 'finish what was interrupted: .*no space left on device'
	mount -o remount,size=8m "$WORK"
	call commit "$ID"
	[ "$status" -eq 0 ]
	[ "$(cat "$WORK/file")" = two ]
	[ "$(stat -c %s "$WORK/big")" = 3072000 ]
}

@test "commit --output: a layer of an OCI image" {
	git_work
	edit_work "$EDIT; d=a/very/long/path/that/goes/on/and/on/for/more/than/one/hundred/characters/because/a/header/has/no/room/for/it; mkdir -p \$d; echo deep >\$d/file"
	call commit --output "$T/layer.tar" "$ID"
	works ''
	[ "$(listing "$WORK")" = "$(listing "$T/plain")" ]
	tar -tf "$T/layer.tar" >"$T/names"
	grep -qx 'work/.wh.old' "$T/names"
	grep -qx 'work/src/.wh.moveme' "$T/names"
	mkdir "$T/x"
	tar -C "$T/x" -xf "$T/layer.tar"
	[ "$(cat "$T"/x/work/a/very/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/file)" = deep ]
	[ "$(readlink "$T/x/work/etc")" = /etc ]
	[ "$T/x/work/src/new.c" -ef "$T/x/work/src/same.c" ]
	[ "$(stat -c '%a %s' "$T/x/work/run.sh")" = '755 10' ]
	[ -p "$T/x/work/pipe" ]
	call commit --output "$T/layer.tar" "$ID"
	fails 1 'file exists'
}

# on_small_disk SIZE SCRIPT: with the folder of sessions on a disk of that size.
on_small_disk() {
	mkdir -p "$SESSIONS"
	unshare -m sh -c "mount -t tmpfs -o size=$1,mode=700 session-disk $SESSIONS && $2" 3>&-
}

@test "the host's disk is full: refused at the start, an error inside, nothing lost of the original" {
	args true
	run on_small_disk 16m "'$AGENTRUN' $AGENTRUN_FLAGS --root '$ROOT' run --bundle '$BUNDLE' $ID"
	echo "$output"
	[ "$status" -eq 1 ]
	[[ $output = *'less than 64 MiB are free'* ]]
	policy '{"mounts": {"session": ["/work"]}, "disk": {"session": {"size": "1GiB"}}}'
	sh_args 'cd /work; dd if=/dev/zero of=big bs=1M count=300 conv=fsync 2>/dev/null && echo "all fits"; echo "still here"; cat dir/other'
	run on_small_disk 100m "'$AGENTRUN' $AGENTRUN_FLAGS --root '$ROOT' run --bundle '$BUNDLE' $ID"
	echo "$output"
	[[ $output != *'all fits'* && $output = *'still here'* ]]
	untouched
	clean
}

@test "a tree deeper than a path can be long: diff, commit, undo and rollback do with it what they do with others" {
	edit_work "$DEEP; echo x >ok; deep long \$(printf %0200d 0) 100"
	call diff --json "$ID"
	works
	[ "$(jq '.layers[0].changes | max_by(.path | length) | .path | length' <<<"$output")" = $((4 + 100 * 201 + 5)) ]
	call diff --patch "$ID"
	works
	[[ $output = *'+deep'* ]]
	call commit "$ID"
	works
	[ "$(cat "$WORK/ok")" = x ]
	[ "$(find "$WORK/long" -type d | wc -l)" = 101 ]
	call commit --undo "$ID"
	works
	untouched
	call rollback "$ID"
	works
	call diff "$ID"
	works
	[[ $output = *': no changes'* ]]
	call rollback --discard "$ID"
	works
	no_session
}

@test "a tree that is endless for us: diff says so, the rest is not held up, rollback removes it" {
	kept
	sh_args "cd /work; $DEEP; echo x >ok; deep long \$(printf %0250d 0) 140; exec sleep 1000"
	start_container
	endless() { call diff "$ID" && [[ $output = *'long/'*'(holds more than is listed)'* ]]; }
	wait_for 20 endless
	call diff --json "$ID"
	works
	[ "$(jq -c '[.layers[0].changes[] | select(.unseen) | .new.type]' <<<"$output")" = '["folder"]' ]
	call commit "$ID"
	fails 1 'paths of more than 32768 bytes'
	untouched
	call commit --path /work/ok "$ID"
	works
	[ "$(cat "$WORK/ok")" = x ]
	call rollback --path /work/long "$ID"
	works
	call diff "$ID"
	[[ $output != *long* ]]
	stop_container
	call delete "$ID"
	works
	call rollback --discard "$ID"
	works
	no_session
}

@test "commit and rollback are in the audit log" {
	sh_args 'echo x >/work/a; exec sleep 1000'
	start_container
	ready() { call diff "$ID" && [[ $output = *': 1 change'* ]]; }
	wait_for 5 ready
	call commit "$ID"
	works
	logged() { call audit log "$ID" && [[ $output = *"$1"* ]]; }
	wait_for 5 logged 'session commit'
}

@test "a kept session is found after a boot has taken the state folder" {
	edit_work 'echo x >a'
	mv "$ROOT" "$T/gone"
	call diff "$ID"
	works "/work over $WORK: 1 change
  added:      a (2 bytes)"
	call commit "$ID"
	works '1 object changed in the original'
	mv "$T/gone" "$ROOT"
}

@test "a creator that is killed anywhere leaves nothing after delete --force" {
	args sleep 1000
	for delay in 0.002 0.004 0.006 0.008 0.010 0.012 0.015 0.018 0.022 0.026 0.03 0.04; do
		rt_background create --bundle "$BUNDLE" "$ID"
		pid=$!
		sleep "$delay"
		kill -9 "$pid" 2>/dev/null || true
		wait "$pid" || true
		call delete --force "$ID"
		works
		no_session
	done
	clean
	untouched
}

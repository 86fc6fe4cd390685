#!/usr/bin/env bats
# Ways out through what is mounted and where: images with links in the wrong places, volumes
# that change while a container is made.

load attacks.bash

setup_file() {
	attack_setup_file probe
}

teardown_file() {
	suite_teardown_file
}

setup() {
	attack_setup
	SWAPPERS=()
}

teardown() {
	local pid
	for pid in ${SWAPPERS[@]+"${SWAPPERS[@]}"}; do
		kill -9 "$pid" 2>/dev/null || true
	done
	attack_teardown
}

# links TARGET: the texts by which a link in the image may name a folder of the host.
links() {
	echo "$1"
	echo "../../../../../../../../../../../../..$1"
	echo "/proc/self/root$1"
	echo "/proc/1/root$1"
}

@test "an image whose /proc or /sys is a link is refused" {
	local name target
	for name in proc sys; do
		for target in $(links "$CANARY/dir") dir; do
			rm -rf "${ROOTFS:?}/$name"
			ln -s "$target" "$ROOTFS/$name"
			run_container
			refused
			says 'must be (mounted on ordinary directory|a directory)'
		done
		rm "$ROOTFS/$name"
		mkdir "$ROOTFS/$name"
	done
}

@test "nothing but proc is mounted on /proc, and nothing inside it" {
	local d
	for d in /proc/self/attr /proc/self /proc/sys/kernel /proc/1/ns /proc/../proc/self //proc//self; do
		edit --arg d "$d" '.mounts |= map(select(.tag == null)) | .mounts += [{destination: $d, type: "tmpfs", source: "tmpfs", tag: 1}]'
		run_container
		refused
	done
	edit '.mounts |= map(select(.tag == null))'
	add_mount '{"destination": "/proc", "type": "tmpfs", "source": "tmpfs"}'
	run_container
	refused
	edit '.mounts |= map(select(.destination != "/proc"))'
	add_mount "{\"destination\": \"/proc\", \"type\": \"bind\", \"source\": \"$CANARY/dir\", \"options\": [\"bind\"]}"
	run_container
	refused
}

@test "nor is a link the way into /proc, be it followed to its end or not" {
	local target options
	for target in /proc ../proc ./proc/../proc; do
		ln -sfn "$target" "$ROOTFS/p"
		for options in '[]' '["dest-nofollow"]'; do
			edit --argjson o "$options" '.mounts |= map(select(.tag == null))
				| .mounts += [{destination: "/p/self/attr", type: "tmpfs", source: "tmpfs", options: $o, tag: 1}]'
			run_container
			refused
		done
	done
}

@test "an image whose /dev is a link changes no folder of the host" {
	local target terminal
	for terminal in false true; do
		for target in $(links "$CANARY"); do
			rm -rf "$ROOTFS/dev"
			ln -s "$target" "$ROOTFS/dev"
			# with and without a file system of its own there
			run_container
			rt delete --force "$ID"
			cp "$BUNDLE/config.json" "$T/config.json"
			edit --argjson t $terminal '.mounts |= map(select(.destination | startswith("/dev") | not)) | .process.terminal = $t'
			run_container
			rt delete --force "$ID"
			call create --bundle "$BUNDLE" "$ID"
			call start "$ID"
			rt delete --force "$ID"
			cp "$T/config.json" "$BUNDLE/config.json"
			canary_untouched
		done
	done
}

@test "destinations that climb or follow links stay inside the root" {
	local d target
	for d in "/../../../../../../../../..$CANARY/new" "$CANARY/new" "../..$CANARY/new"; do
		edit --arg d "$d" '.mounts |= map(select(.tag == null)) | .mounts += [{destination: $d, type: "tmpfs", source: "tmpfs", tag: 1}]'
		run_container
		rt delete --force "$ID"
	done
	for target in $(links "$CANARY"); do
		ln -sfn "$target" "$ROOTFS/out"
		ln -sfn "$target/file" "$ROOTFS/etc/out"
		for d in /out/new/folder /out /etc/out /out/dir /out/file; do
			edit --arg d "$d" --arg s "$T/stdout" '.mounts |= map(select(.tag == null))
				| .mounts += [{destination: $d, type: "bind", source: $s, options: ["bind"], tag: 1}]'
			run_container
			rt delete --force "$ID"
			edit --arg d "$d" '.mounts |= map(select(.tag == null))
				| .mounts += [{destination: $d, type: "tmpfs", source: "tmpfs", options: ["tmpcopyup"], tag: 1}]'
			run_container
			rt delete --force "$ID"
		done
	done
	edit '.mounts |= map(select(.tag == null))'
	# a working folder that is missing is made, too
	for target in $(links "$CANARY"); do
		ln -sfn "$target" "$ROOTFS/out"
		edit '.process.cwd = "/out/made/by/cwd"'
		run_container
		rt delete --force "$ID"
	done
	clean
}

@test "a copied-up folder gives nothing of the host to the container" {
	mkdir -p "$ROOTFS/up/deep"
	ln -s "$CANARY/file" "$ROOTFS/up/a"
	ln -s "../../../../../../../../..$CANARY" "$ROOTFS/up/deep/b"
	mknod "$ROOTFS/up/null" c 1 3
	add_mount '{"destination": "/up", "type": "tmpfs", "source": "tmpfs", "options": ["tmpcopyup"]}'
	sh_args 'cat /up/a /up/deep/b/file; [ -L /up/a ] && [ -L /up/deep/b ] && echo links; ls /up'
	run_container
	lacks secret
	[ "$output" = "$(printf 'links\na\ndeep')" ]
}

@test "a mask whose mode is changed is not the host's /dev/null" {
	local before after
	before=$(stat -c '%a %u %g' /dev/null)
	edit '.linux.maskedPaths = ["/etc/secret"] | .process.capabilities = (["CAP_FOWNER", "CAP_CHOWN"] | {bounding: ., effective: ., permitted: .})'
	echo secret >"$ROOTFS/etc/secret"
	sh_args 'cat /etc/secret; chmod 0600 /etc/secret; chown 7:7 /etc/secret; stat -c "%a %u" /etc/secret'
	run_container
	after=$(stat -c '%a %u %g' /dev/null)
	# before anything else: the host needs it
	[ "$before" = "$after" ] || { chmod 666 /dev/null; chown 0:0 /dev/null; return 1; }
	works '600 7'
}

@test "masks are the null device, whatever the image has at /dev/null" {
	local make
	for make in 'ln -s /proc/sys/kernel/core_pattern' 'ln -s /etc/passwd' 'touch' 'mkfifo' 'ln -s /dev/zero'; do
		rm -f "$ROOTFS/dev/null"
		$make "$ROOTFS/dev/null"
		# no file system at /dev, so that the image's is what there is
		edit '.mounts |= map(select(.destination | startswith("/dev") | not)) | .linux.devices = []
			| .linux.maskedPaths = ["/proc/kcore", "/proc/keys", "/etc/plain", "/usr"]'
		sh_args 'for f in /proc/kcore /proc/keys /etc/plain; do stat -c "%F %t:%T" $f; head -c 5 $f; done; ls /usr; echo x >/etc/plain'
		run_container
		if [ "$status" -eq 0 ]; then
			[ "$output" = "$(yes 'character special file 1:3' | head -n 3)" ]
		fi
		rt delete --force "$ID"
		[ "$(cat "$ROOTFS/etc/plain")" = 'not a program' ]
	done
}

@test "a mask through a link of the image hides nothing else and reveals nothing" {
	ln -s "$CANARY/dir" "$ROOTFS/masked"
	edit '.linux.maskedPaths += ["/masked", "/masked/x"] | .linux.readonlyPaths += ["/masked"]'
	run_container
	canary_untouched
	[ -z "$(grep -F "$CANARY" /proc/self/mounts)" ]
}

@test "the console is the terminal, whatever lies in /dev" {
	local make
	edit '.process.terminal = true | .mounts |= map(select(.destination != "/dev"))'
	for make in "ln -s $CANARY/file" "ln -s ../../../../../../../../..$CANARY/file" 'ln -s /proc/sys/kernel/core_pattern' \
		'ln -s /dev/pts/0' 'touch' 'mkfifo'; do
		rm -rf "$ROOTFS/dev/console" "$ROOTFS/dev/ptmx"
		$make "$ROOTFS/dev/console"
		$make "$ROOTFS/dev/ptmx"
		sh_args 'stat -c %t /dev/console; tty'
		run_container
		if [ "$status" -eq 0 ]; then
			[[ $output = 88$'\r\n'/dev/pts/0* || $output = 88$'\n'/dev/pts/0* ]]
		fi
		rt delete --force "$ID"
		canary_untouched
	done
}

@test "a /dev/pts of the image is no way to another terminal" {
	edit '.process.terminal = true | .mounts |= map(select(.destination | startswith("/dev") | not))'
	mkdir -p "$ROOTFS/dev/pts"
	for target in "$CANARY/ptmx" /dev/null /proc/sys/kernel/core_pattern /etc/passwd; do
		ln -sfn "$target" "$ROOTFS/dev/pts/ptmx"
		ln -sfn "$target" "$ROOTFS/dev/ptmx"
		ln -sfn "$target" "$ROOTFS/dev/pts/0"
		CALL_TIMEOUT=10 run_container
		refused
	done
	cmp "$ROOTFS/etc/passwd" "$BATS_FILE_TMPDIR/rootfs/etc/passwd"
}

@test "a mount made inside does not appear outside, even of a shared source" {
	mkdir "$T/shared"
	mount -t tmpfs tmpfs "$T/shared"
	mount --make-rshared "$T/shared"
	mkdir "$T/shared/sub"
	add_mount "{\"destination\": \"/mnt\", \"type\": \"bind\", \"source\": \"$T/shared\", \"options\": [\"rbind\"]}"
	grant CAP_SYS_ADMIN
	sh_args 'mount -t tmpfs x /mnt/sub && touch /mnt/sub/inside && mount -t tmpfs y /tmp && echo done'
	run_container
	works done
	[ ! -e "$T/shared/sub/inside" ]
	[ "$(grep -c -F "$T/shared" /proc/self/mounts)" -eq 1 ]
	umount "$T/shared"
}

# swap A B: exchanges them until the end of the test.
swap() {
	"$ATTACK_PROGRAMS/probe" swap "$1" "$2" 3>&- &
	SWAPPERS+=($!)
}

# trap_volume: $T/volume/there is now a folder and now a link that leads to the canary.
trap_volume() {
	mkdir -p "$T/volume/there" "$T/volume/file-trap"
	ln -s "${1-../../../../../../../../../../../..$CANARY}" "$T/volume/trap"
	swap "$T/volume/there" "$T/volume/trap"
}

@test "a destination that is swapped for a link during ${ROUNDS:-100} starts" {
	local i ran=0
	trap_volume
	edit --arg v "$T/volume" --arg s "$CANARY/file" '.mounts += [
		{destination: "/vol", type: "bind", source: $v, options: ["rbind"]},
		{destination: "/vol/there/made/in/it", type: "tmpfs", source: "tmpfs"},
		{destination: "/vol/there", type: "tmpfs", source: "tmpfs", options: ["mode=700"]},
		{destination: "/vol/there/dir", type: "tmpfs", source: "tmpfs"}]
		| .linux.maskedPaths += ["/vol/there/file"] | .linux.readonlyPaths += ["/vol/there/dir"]
		| .process.cwd = "/vol/there/cwd"'
	for i in $(seq "${ROUNDS:-100}"); do
		call run --bundle "$BUNDLE" "$ID"
		[ "$status" -ne 0 ] || ran=$((ran + 1))
		canary_untouched
	done
	echo "$ran of $i ran"
	clean
}

@test "device nodes and the console below a swapped folder during ${ROUNDS:-100} starts" {
	local i ran=0
	trap_volume
	edit --arg v "$T/volume" '.mounts |= map(select(.destination | startswith("/dev") | not))
		| .mounts += [{destination: "/vol", type: "bind", source: $v, options: ["rbind"]}]
		| .linux.devices = [{path: "/vol/there/node", type: "c", major: 1, minor: 3, fileMode: 438, uid: 0, gid: 0},
			{path: "/vol/there/file", type: "c", major: 1, minor: 3, fileMode: 438, uid: 5, gid: 5},
			{path: "/vol/there/ptmx", type: "p", fileMode: 511, uid: 5, gid: 5},
			{path: "/vol/there/new/node", type: "p", fileMode: 511, uid: 5, gid: 5}]'
	for i in $(seq "${ROUNDS:-100}"); do
		call run --bundle "$BUNDLE" "$ID"
		[ "$status" -ne 0 ] || ran=$((ran + 1))
		canary_untouched
	done
	echo "$ran of $i ran"
	clean
}

@test "a working folder and a program below a swapped folder during ${ROUNDS:-100} execs" {
	local i
	mkdir -p "$T/volume/there"
	cp "$CANARY/busybox" "$T/volume/there/"
	ln -s /proc/self/fd "$T/volume/trap"
	for i in $(seq 3 20); do
		ln -sfn "/proc/self/fd/$i/../../../../../../../../../../..$CANARY" "$T/volume/there/$i"
	done
	swap "$T/volume/there" "$T/volume/trap"
	add_mount "{\"destination\": \"/vol\", \"type\": \"bind\", \"source\": \"$T/volume\", \"options\": [\"rbind\"]}"
	start_sleeper
	for i in $(seq "${ROUNDS:-100}"); do
		call_leaking exec --cwd "/vol/there/$((i % 18 + 3))" "$ID" sh -c 'cat file ../canary/file; echo ESCAPED >>file'
		lacks secret
		canary_untouched
	done
}

@test "renames that never end do not keep a container from being made" {
	local i
	mkdir -p "$T/volume/a" "$T/volume/b"
	swap "$T/volume/a" "$T/volume/b"
	ln -s ../run "$ROOTFS/var/run"
	mkdir -p "$ROOTFS/run/x"
	add_mount '{"destination": "/var/run/x", "type": "tmpfs", "source": "tmpfs"}'
	for i in 1 2 3 4 5 6 7 8 9 10; do
		run_container
		works
	done
}

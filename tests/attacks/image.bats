#!/usr/bin/env bats
# Images that want to exhaust or confuse the runtime: huge, endless and odd files.

load attacks.bash

setup_file() {
	attack_setup_file probe
}

teardown_file() {
	suite_teardown_file
}

setup() {
	attack_setup
	# HOME is looked up in the image's passwd then
	edit '.process.env = ["PATH=/bin"]'
}

teardown() {
	attack_teardown
}

home_is() {
	sh_args 'echo $HOME'
	CALL_TIMEOUT=10 run_container
	works "$1"
}

@test "passwd: a fifo, a device, a folder, a loop, a link to the host" {
	local make
	for make in mkfifo 'ln -s /dev/zero' 'ln -s /dev/tty' mkdir 'ln -s passwd' "ln -s $CANARY/file" 'ln -s /proc/self/mem' \
		'ln -s /proc/kmsg' 'ln -s /proc/self/fd/0'; do
		rm -rf "$ROOTFS/etc/passwd"
		$make "$ROOTFS/etc/passwd"
		home_is /
	done
	echo 'root:x:0:0:root:/stolen:/bin/sh' >"$T/passwd"
	chmod 600 "$T/passwd"
	for make in "ln -s $T/passwd" "ln -s ../../../../../../../../../..$T/passwd" "ln -s /proc/self/root/../..$T/passwd"; do
		rm -rf "$ROOTFS/etc/passwd"
		$make "$ROOTFS/etc/passwd"
		home_is /
	done
}

@test "passwd: huge, full of holes, without line ends, with odd lines" {
	truncate -s 100G "$ROOTFS/etc/passwd"
	home_is /
	head -c 900000 /dev/zero | tr '\0' : >"$ROOTFS/etc/passwd"
	home_is /
	head -c 900000 /dev/zero | tr '\0' '\n' >"$ROOTFS/etc/passwd"
	home_is /
	printf 'a\n:::::\nx:x:0\nroot:x:-0:0::/minus:\nroot:x:0x0:0::/hex:\nroot:x:4294967296:0::/large:\nroot:x:0:0::/right:\n' \
		>"$ROOTFS/etc/passwd"
	home_is /right
}

@test "a PATH of very many folders" {
	local path
	path=$(seq -f /dir%.0f: 8000 | tr -d '\n')/bin
	edit --arg p "$path" '.process.env = ["PATH=" + $p]'
	CALL_TIMEOUT=20 run_container
	works
	args no-such-program
	CALL_TIMEOUT=20 run_container
	fails 1 'executable file not found in \$PATH'
	clean
}

@test "a configuration with 100000 entries in PATH, arguments and environment" {
	python3 - "$BUNDLE/config.json" <<-'PY'
		import json, sys
		c = json.load(open(sys.argv[1]))
		c["process"]["env"] = ["PATH=" + ":".join("/d%d" % i for i in range(100000)) + ":/bin"]
		json.dump(c, open(sys.argv[1], "w"))
	PY
	CALL_TIMEOUT=20 run_container
	# the kernel takes no string as long as this: an error, whichever, and nothing left
	[ "$status" -ne 0 ]
	rt delete --force "$ID" 2>/dev/null
	clean
	python3 - "$BUNDLE/config.json" <<-'PY'
		import json, sys
		c = json.load(open(sys.argv[1]))
		c["process"]["env"] = ["PATH=/bin"] + ["V%d=x" % i for i in range(100000)]
		c["process"]["args"] = ["sh", "-c", "env | wc -l", *["a"] * 10000]
		json.dump(c, open(sys.argv[1], "w"))
	PY
	CALL_TIMEOUT=20 run_container
	[ "$status" -ne 0 ] || [ "$output" -ge 100000 ]
}

@test "links without end, to themselves, and 39 deep" {
	local i
	ln -s a "$ROOTFS/b"
	ln -s b "$ROOTFS/a"
	add_mount '{"destination": "/a/x", "type": "tmpfs", "source": "tmpfs"}'
	run_container
	refused
	edit '.mounts |= .[:-1] | .process.cwd = "/a"'
	run_container
	refused
	edit '.process.cwd = "/" | .linux.maskedPaths += ["/a"] | .linux.readonlyPaths += ["/b"]'
	CALL_TIMEOUT=10 run_container
	rt delete --force "$ID" 2>/dev/null
	edit '.linux.maskedPaths -= ["/a"] | .linux.readonlyPaths -= ["/b"] | .process.args = ["/a"]'
	run_container
	refused
	mkdir "$ROOTFS/l0"
	for i in $(seq 39); do
		ln -s "l$((i - 1))" "$ROOTFS/l$i"
	done
	args true
	add_mount '{"destination": "/l39/made", "type": "tmpfs", "source": "tmpfs"}'
	run_container
	works
	[ -d "$ROOTFS/l0/made" ]
	clean
}

@test "a folder deeper than a path can be" {
	python3 - "$ROOTFS" <<'PY'
import os, sys
os.chdir(sys.argv[1])
for i in range(300):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
PY
	edit --arg d "$(for i in $(seq 25); do printf '/%s' "$(printf 'd%.0s' $(seq 200))"; done)" \
		'.mounts += [{destination: $d, type: "tmpfs", source: "tmpfs"}]'
	run_container
	refused
	edit '.mounts |= .[:-1]'
	add_mount "{\"destination\": \"/$(printf 'd%.0s' $(seq 200))\", \"type\": \"tmpfs\", \"source\": \"tmpfs\", \"options\": [\"tmpcopyup\"]}"
	CALL_TIMEOUT=20 run_container
	refused
	python3 -c 'import shutil, sys; sys.setrecursionlimit(5000); shutil.rmtree(sys.argv[1])' "$ROOTFS/$(printf 'd%.0s' $(seq 200))"
}

@test "a copied-up folder that is larger than the file system" {
	mkdir "$ROOTFS/big"
	truncate -s 1T "$ROOTFS/big/file"
	add_mount '{"destination": "/big", "type": "tmpfs", "source": "tmpfs", "options": ["tmpcopyup", "size=1m"]}'
	CALL_TIMEOUT=20 run_container
	refused
}

@test "a program that is a fifo, a device, a socket, a folder, nothing at all or not readable" {
	local make
	for make in mkfifo 'ln -s /dev/zero' mkdir touch 'ln -s /proc/self/mem' 'ln -s .'; do
		rm -rf "$ROOTFS/program"
		$make "$ROOTFS/program"
		args /program
		CALL_TIMEOUT=10 run_container
		[ "$status" -ne 0 ]
		rt delete --force "$ID" 2>/dev/null
		clean
	done
	rm -rf "$ROOTFS/program"
	mkfifo -m 755 "$ROOTFS/program"
	CALL_TIMEOUT=10 run_container
	[ "$status" -ne 0 ]
	[ "$status" -ne 124 ]
}

@test "names with every byte are names and nothing else" {
	local name
	for name in $'a\nb' $'\e[31m' '%s%n%d' '$(touch x)' ';touch x' '"' "'" '\' ' '; do
		mkdir -p "$ROOTFS/$name"
		edit --arg d "/$name" '.mounts |= map(select(.tag == null)) | .mounts += [{destination: $d, type: "tmpfs", source: "tmpfs", tag: 1}]
			| .process.cwd = $d | .process.args = ["sh", "-c", "pwd"]'
		run_container
		[ "$status" -eq 0 ]
		[ "$output" = "/$name" ]
		edit --arg d "/$name" '.process.args = [$d]'
		run_container
		fails 1
		edit --arg d "$name" '.process.args = [$d]'
		run_container
		fails 1
	done
	[ ! -e x ] && [ ! -e "$T/x" ]
}

@test "an exec's program from a container with links without end comes to an end" {
	start_sleeper
	rt exec "$ID" sh -c 'i=0; while [ $i -lt 2000 ]; do ln -s l$((i+1)) /tmp/l$i; i=$((i+1)); done' 3>&-
	CALL_TIMEOUT=10 call exec "$ID" /tmp/l0
	fails 255
	CALL_TIMEOUT=10 call exec --cwd /tmp/l0 "$ID" true
	fails 255
}

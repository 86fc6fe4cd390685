#!/usr/bin/env bats
# The file system of a container: mounts, devices, masked and read-only paths.

load helpers.bash

setup_file() { suite_setup_file; }
teardown_file() { suite_teardown_file; }
setup() { suite_setup; }
teardown() { suite_teardown; }

# mount_line DESTINATION: the container prints the mount options of one mount.
mount_options() {
	args awk -v "d=$1" '$5 == d { print $6 }' /proc/self/mountinfo
	run_container
}

@test "rootfs: writable, read-only" {
	sh_args 'touch /x && echo written'
	run_container
	works written
	edit '.root.readonly = true'
	sh_args 'touch /y 2>&1'
	run_container
	[ "$status" -eq 1 ]
	[[ $output = *'Read-only file system'* ]]
	[ ! -e "$ROOTFS/y" ]
}

@test "rootfs: nothing of the host is visible above it" {
	sh_args '[ "$(ls /..)" = "$(ls /)" ] && echo same; ls -d /boot /srv /lib64 2>/dev/null'
	run_container
	[ "$output" = same ]
}

@test "rootfs: no mount of the container shows outside" {
	args sleep 1000
	add_mount '{"destination": "/t", "type": "tmpfs", "source": "tmpfs"}'
	start_container
	! grep -F " $T" /proc/self/mounts
	call delete --force "$ID"
	clean
}

@test "bind: a folder, a file, made targets" {
	mkdir "$T/vol"
	echo data >"$T/vol/file"
	add_mount "{\"destination\": \"/a/b\", \"type\": \"bind\", \"source\": \"$T/vol\", \"options\": [\"rbind\"]}"
	add_mount "{\"destination\": \"/c/d\", \"type\": \"bind\", \"source\": \"$T/vol/file\", \"options\": [\"bind\"]}"
	sh_args 'cat /a/b/file /c/d; echo new >/a/b/made'
	run_container
	works $'data\ndata'
	[ "$(cat "$T/vol/made")" = new ]
	[ -f "$ROOTFS/c/d" ]
}

@test "bind: no type but the option, a relative source" {
	mkdir "$BUNDLE/vol"
	echo data >"$BUNDLE/vol/file"
	add_mount '{"destination": "/v", "source": "vol", "options": ["bind"]}'
	args cat /v/file
	run_container
	works data
}

@test "bind: ro, nosuid, nodev, noexec, noatime" {
	add_mount '{"destination": "/v", "type": "bind", "source": "/usr", "options": ["rbind", "ro", "nosuid", "nodev", "noexec", "noatime"]}'
	mount_options /v
	works
	for option in ro nosuid nodev noexec noatime; do
		[[ ,$output, = *,$option,* ]]
	done
}

@test "bind: rbind takes submounts along, bind does not" {
	mkdir -p "$T/src/sub"
	mount -t tmpfs tmpfs "$T/src/sub"
	echo below >"$T/src/sub/file"
	add_mount "{\"destination\": \"/r\", \"type\": \"bind\", \"source\": \"$T/src\", \"options\": [\"rbind\"]}"
	add_mount "{\"destination\": \"/n\", \"type\": \"bind\", \"source\": \"$T/src\", \"options\": [\"bind\"]}"
	sh_args 'cat /r/sub/file; ls /n/sub | wc -l'
	run_container
	works $'below\n0'
	umount "$T/src/sub"
}

@test "bind: rro makes submounts read-only as well" {
	other runc,crun "older versions do not know it or need more"
	mkdir -p "$T/src/sub"
	mount -t tmpfs tmpfs "$T/src/sub"
	add_mount "{\"destination\": \"/r\", \"type\": \"bind\", \"source\": \"$T/src\", \"options\": [\"rbind\", \"rro\"]}"
	sh_args 'touch /r/x /r/sub/x 2>&1 | grep -c Read-only'
	run_container
	umount "$T/src/sub"
	works 2
}

@test "propagation: private by default, as asked" {
	mkdir "$T/src"
	mount -t tmpfs tmpfs "$T/src"
	mount --make-shared "$T/src"
	add_mount "{\"destination\": \"/p\", \"type\": \"bind\", \"source\": \"$T/src\", \"options\": [\"rbind\", \"rprivate\"]}"
	add_mount "{\"destination\": \"/s\", \"type\": \"bind\", \"source\": \"$T/src\", \"options\": [\"rbind\", \"rslave\"]}"
	add_mount "{\"destination\": \"/u\", \"type\": \"bind\", \"source\": \"$T/src\", \"options\": [\"rbind\", \"unbindable\"]}"
	args awk '$5 ~ "^/[psu]$" { print $5, $7, $8 }' /proc/self/mountinfo
	run_container
	umount "$T/src"
	works
	grep -q '^/p - ' <<<"$output"
	grep -q '^/s master:[0-9]' <<<"$output"
	grep -q '^/u unbindable' <<<"$output"
}

@test "tmpfs: size, mode, flags" {
	add_mount '{"destination": "/t", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "nodev", "size=64k", "mode=1750"]}'
	sh_args 'stat -c %a /t; df -k /t | awk "NR == 2 { print \$2 }"; head -c 100000 /dev/zero >/t/x 2>/dev/null || echo full'
	run_container
	works $'1750\n64\nfull'
}

@test "tmpfs: tmpcopyup" {
	other crun "other details"
	mkdir "$ROOTFS/seed"
	echo seed >"$ROOTFS/seed/file"
	add_mount '{"destination": "/seed", "type": "tmpfs", "source": "tmpfs", "options": ["tmpcopyup"]}'
	sh_args 'cat /seed/file; echo changed >/seed/file'
	run_container
	works seed
	[ "$(cat "$ROOTFS/seed/file")" = seed ]
}

@test "the order of mounts counts" {
	mkdir "$T/vol"
	echo data >"$T/vol/file"
	add_mount '{"destination": "/t", "type": "tmpfs", "source": "tmpfs"}'
	add_mount "{\"destination\": \"/t/in\", \"type\": \"bind\", \"source\": \"$T/vol\", \"options\": [\"bind\"]}"
	args cat /t/in/file
	run_container
	works data
}

@test "a remount of an earlier mount" {
	other crun "other rules"
	add_mount '{"destination": "/t", "type": "tmpfs", "source": "tmpfs"}'
	add_mount '{"destination": "/t", "type": "tmpfs", "source": "tmpfs", "options": ["remount", "ro"]}'
	sh_args 'touch /t/x 2>&1 | grep -c Read-only'
	run_container
	works 1
}

@test "a target over a link inside the root file system" {
	mkdir "$ROOTFS/real" "$T/vol"
	echo data >"$T/vol/file"
	ln -s /real "$ROOTFS/link"
	add_mount "{\"destination\": \"/link/sub\", \"type\": \"bind\", \"source\": \"$T/vol\", \"options\": [\"bind\"]}"
	args cat /real/sub/file
	run_container
	works data
}

@test "an idmapped mount" {
	other runc,crun "older versions do not know it"
	mkdir "$T/vol"
	touch "$T/vol/file"
	chown 0:0 "$T/vol/file"
	add_mount "{\"destination\": \"/v\", \"type\": \"bind\", \"source\": \"$T/vol\", \"options\": [\"bind\"],
		\"uidMappings\": [{\"containerID\": 0, \"hostID\": 5000, \"size\": 10}],
		\"gidMappings\": [{\"containerID\": 0, \"hostID\": 6000, \"size\": 10}]}"
	args stat -c %u:%g /v/file
	run_container
	works 5000:6000
	# as Podman writes it
	edit '.mounts[-1] |= {destination, type, source, options: ["bind", "idmap=uids=0-7000-10;gids=0-8000-1#1-9000-4"]}'
	run_container
	works 7000:8000
}

@test "cgroup mount: the container's own, read-only" {
	add_mount '{"destination": "/sys/fs/cgroup", "type": "cgroup", "source": "cgroup", "options": ["nosuid", "noexec", "nodev", "relatime", "ro"]}'
	edit '.linux.resources.pids = {limit: 44}'
	sh_args 'cd /sys/fs/cgroup; cat pids/pids.max 2>/dev/null || cat pids.max; mkdir memory/x 2>&1 || mkdir x 2>&1'
	run_container
	[[ $output = 44*'Read-only'* ]]
}

@test "proc and sys: read-only parts and masked paths" {
	sh_args 'for p in /proc/sys/kernel/msgmax /proc/irq/default_smp_affinity; do (echo 1 >$p) 2>&1 | grep -ci read-only; done; cat /proc/keys /proc/timer_list | wc -c; ls /sys/firmware | wc -l; cat /proc/scsi/scsi 2>/dev/null | wc -c'
	run_container
	works $'1\n1\n0\n0\n0'
}

@test "masked and read-only paths of one's own" {
	mkdir "$ROOTFS/hide" "$ROOTFS/fix"
	echo secret >"$ROOTFS/hide/file"
	echo secret >"$ROOTFS/etc/secret"
	edit '.linux.maskedPaths += ["/hide", "/etc/secret", "/not/there"] | .linux.readonlyPaths += ["/fix", "/not/there/too"]'
	sh_args 'ls /hide | wc -l; cat /etc/secret; touch /hide/x 2>&1 | grep -c Read-only; touch /fix/x 2>&1 | grep -c Read-only'
	run_container
	works $'0\n1\n1'
}

@test "a read-only rootfs with mounts on it" {
	edit '.root.readonly = true'
	add_mount '{"destination": "/tmp", "type": "tmpfs", "source": "tmpfs"}'
	sh_args 'touch /tmp/x && echo fine; touch /dev/x && echo dev'
	run_container
	[[ $output = fine* ]]
}

@test "devices: the default ones" {
	sh_args 'for d in null zero full random urandom tty; do stat -c "%n %F %a %t:%T" /dev/$d; done; for l in fd stdin stdout stderr ptmx; do readlink /dev/$l; done'
	run_container
	works
	[[ $output = *'/dev/null character special file 666 1:3'*'/dev/urandom character special file 666 1:9'*'/proc/self/fd'* ]]
}

@test "devices: of one's own" {
	edit '.linux.devices = [{path: "/dev/mine", type: "c", major: 1, minor: 5, fileMode: 432, uid: 1000, gid: 2000},
		{path: "/dev/deep/er/block", type: "b", major: 7, minor: 0}, {path: "/dev/fifo", type: "p"}]
		| .linux.resources.devices += [{allow: true, type: "c", major: 1, minor: 5, access: "rw"}] | .process.capabilities[] += ["CAP_DAC_OVERRIDE"]'
	sh_args 'stat -c "%F %a %u:%g %t:%T" /dev/mine /dev/deep/er/block /dev/fifo; head -c 3 /dev/mine | wc -c'
	run_container
	report
	[[ $output = $'character special file 660 1000:2000 1:5\nblock special file'*$'\nfifo'*$'\n3' ]]
}

@test "devices: outside the rules they cannot be opened" {
	edit '.process.capabilities[] += ["CAP_MKNOD"]'
	sh_args 'mknod /k c 1 11 && cat /k 2>&1'
	run_container
	[[ $output = *'not permitted'* ]]
}

@test "devices: a rule opens one" {
	edit '.linux.resources.devices += [{allow: true, type: "c", major: 1, minor: 11, access: "r"}]
		| .linux.devices = [{path: "/dev/kmsg", type: "c", major: 1, minor: 11}]
		| .process.capabilities[] += ["CAP_SYSLOG"]'
	sh_args 'exec 5</dev/kmsg && echo opened; exec 6>/dev/kmsg; echo $?'
	run_container
	[[ $output = opened* && $output != *$'\n0' ]]
}

@test "no descriptor of the host's root is left" {
	sh_args 'for f in /proc/self/fd/* /proc/1/fd/*; do case $f in */[012]) ;; *) readlink $f;; esac; done | grep -E "^/($|root|tmp/|work)" ; readlink /proc/self/cwd'
	run_container
	works /
}

@test "the root cannot be left by chdir or open" {
	sh_args 'cd ..; cd ../..; pwd; ls ../../../etc/plain'
	run_container
	works $'/\n../../../etc/plain'
}

# What a process in the container sees of itself, in sections. A section that cannot be had is empty.
# The runtimes' outputs are compared, so nothing here may depend on time or on chance.
p=/proc/$$
section() {
	echo "@$1"
}
section environment
tr '\0' '\n' <$p/environ
section status
grep -E '^(Umask|Uid|Gid|Groups|Sig(Blk|Ign|Cgt)|Cap[A-Z][a-z]+|NoNewPrivs|Seccomp|Cpus_allowed_list|Mems_allowed_list|NSpid):' $p/status
section limits
cut -c1-68 $p/limits
section mounts
cat $p/mountinfo
section values
echo "oom $(cat $p/oom_score_adj)"
echo "personality $(cat $p/personality)"
echo "folder $(readlink $p/cwd) $(pwd)"
echo "names $(hostname) $(cat /proc/sys/kernel/domainname)"
echo "stat $(cut -d' ' -f4-8,18,19,41 $p/stat)"
echo "self $0 $#"
section maps
cat $p/uid_map $p/gid_map $p/setgroups
section cgroup
cat $p/cgroup
section namespaces
for n in cgroup ipc mnt net pid time user uts; do echo "$n $(readlink $p/ns/$n)"; done
section descriptors
for f in $p/fd/*; do
	[ "${f##*/}" -gt 9 ] || echo "${f##*/} $(readlink $f)"
done
section nodes
find /dev /nodes ! -path '/dev/pts/*' ! -path '/dev/mqueue*' 2>/dev/null | sort | while read -r f; do
	stat -c '%n %F %a %u:%g %t:%T %N' "$f"
done
section use
for f in /dev/null /dev/zero /dev/own-null /dev/folder/zero /nodes/random /dev/full /dev/loop77 /dev/kmsg; do
	[ -e $f ] && (dd if=$f of=/tmp/dd bs=1 count=1) 2>&1 | grep -v record | grep -v copied | sed "s|^|read $f |"
	[ -e $f ] && (echo >$f) 2>&1 | sed "s|^|write $f |"
done
mknod /tmp/made c 1 3 2>&1
mknod /tmp/made-too b 7 0 2>&1
section sysctl
for s in net/ipv4/ip_forward net/core/somaxconn kernel/msgmax kernel/shm_rmid_forced fs/mqueue/msg_max kernel/sem net/ipv4/ping_group_range \
	net/ipv4/tcp_syncookies; do
	echo "$s $(cat /proc/sys/$s 2>&1)"
done
section network
cat /sys/class/net/lo/flags
section paths
for f in / /proc/kcore /proc/keys /proc/timer_list /proc/acpi /sys/firmware /etc/plain /etc/folder /etc/folder/inside /tmp /link /new/folder /mnt \
	/mnt/a /mnt/b/c/d /mnt/e /dangling /tmp/deep/er /target /target/sub /mnt/new-file /etc/made/by/mount /mnt/relative /proc2 /hook-log; do
	echo "$f $(stat -c '%F %a %u:%g' $f 2>&1)"
done
for f in /etc/folder /tmp /mnt/a /mnt/b/c/d /mnt/e /link/ /absolute-link/sub /mnt/relative /sys/firmware /mnt; do
	echo "list $f $(ls $f 2>&1 | tr '\n' ' ')"
	(: >$f/written) 2>&1 | sed "s|^|write $f |"
	rm -f $f/written
done
for f in /etc/plain /mnt/new-file /etc/made/by/mount /file-link /written /proc/sys/net/core/somaxconn /proc/sysrq-trigger /proc/irq/default_smp_affinity; do
	(: >>$f) 2>&1 | sed "s|^|append $f |"
done
cat /proc/keys /proc/timer_list 2>&1 | wc -c | grep -x 0
section chmod
chmod 711 /tmp/made 2>&1
(chroot / true) 2>&1
ping -c 1 -W 1 127.0.0.1 2>&1 | head -n 1
section end
exit 7

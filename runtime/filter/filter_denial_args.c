/*
 * Arguments of system calls as words: families, flags, requests. Data and one printer; what
 * an argument points to is not looked at, it could have changed since the decision.
 */
#include "filter/filter_denial.h"

#include <inttypes.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "filter/filter_syscalls.h"
#include "util/str.h"

struct word {
	uint64_t value;
	const char *name;
};

/* values: one of them. flags: set bits, after a value under mask (0 = flags only). */
struct words {
	const struct word *values, *flags;
	uint64_t mask;
};

#define LIST(...) ((const struct word[]){ __VA_ARGS__, { 0, NULL } })

static const struct words family = { .values = LIST(
	{ 1, "AF_UNIX" }, { 2, "AF_INET" }, { 3, "AF_AX25" }, { 4, "AF_IPX" }, { 10, "AF_INET6" }, { 15, "AF_KEY" },
	{ 16, "AF_NETLINK" }, { 17, "AF_PACKET" }, { 21, "AF_RDS" }, { 24, "AF_PPPOX" }, { 29, "AF_CAN" },
	{ 30, "AF_TIPC" }, { 31, "AF_BLUETOOTH" }, { 33, "AF_RXRPC" }, { 36, "AF_IEEE802154" }, { 38, "AF_ALG" },
	{ 39, "AF_NFC" }, { 40, "AF_VSOCK" }, { 41, "AF_KCM" }, { 42, "AF_QIPCRTR" }, { 43, "AF_SMC" },
	{ 44, "AF_XDP" }, { 45, "AF_MCTP" }) };

static const struct words socket_type = {
	.mask = 0xf,
	.values = LIST({ 1, "SOCK_STREAM" }, { 2, "SOCK_DGRAM" }, { 3, "SOCK_RAW" }, { 4, "SOCK_RDM" },
		       { 5, "SOCK_SEQPACKET" }, { 6, "SOCK_DCCP" }, { 10, "SOCK_PACKET" }),
	.flags = LIST({ 02000000, "SOCK_CLOEXEC" }, { 04000, "SOCK_NONBLOCK" }),
};

static const struct words namespaces = { .flags = LIST(
	{ 0x00000080, "CLONE_NEWTIME" }, { 0x00000100, "CLONE_VM" }, { 0x00000200, "CLONE_FS" },
	{ 0x00000400, "CLONE_FILES" }, { 0x00004000, "CLONE_VFORK" }, { 0x00010000, "CLONE_THREAD" },
	{ 0x00020000, "CLONE_NEWNS" }, { 0x02000000, "CLONE_NEWCGROUP" }, { 0x04000000, "CLONE_NEWUTS" },
	{ 0x08000000, "CLONE_NEWIPC" }, { 0x10000000, "CLONE_NEWUSER" }, { 0x20000000, "CLONE_NEWPID" },
	{ 0x40000000, "CLONE_NEWNET" }) };

static const struct words mount_flags = { .flags = LIST(
	{ 1, "MS_RDONLY" }, { 2, "MS_NOSUID" }, { 4, "MS_NODEV" }, { 8, "MS_NOEXEC" }, { 32, "MS_REMOUNT" },
	{ 4096, "MS_BIND" }, { 8192, "MS_MOVE" }, { 16384, "MS_REC" }, { 32768, "MS_SILENT" },
	{ 1 << 17, "MS_UNBINDABLE" }, { 1 << 18, "MS_PRIVATE" }, { 1 << 19, "MS_SLAVE" }, { 1 << 20, "MS_SHARED" }) };

static const struct words umount_flags = { .flags = LIST(
	{ 1, "MNT_FORCE" }, { 2, "MNT_DETACH" }, { 4, "MNT_EXPIRE" }, { 8, "UMOUNT_NOFOLLOW" }) };

static const struct words ptrace_request = { .values = LIST(
	{ 0, "PTRACE_TRACEME" }, { 1, "PTRACE_PEEKTEXT" }, { 2, "PTRACE_PEEKDATA" }, { 4, "PTRACE_POKETEXT" },
	{ 5, "PTRACE_POKEDATA" }, { 7, "PTRACE_CONT" }, { 12, "PTRACE_GETREGS" }, { 16, "PTRACE_ATTACH" },
	{ 17, "PTRACE_DETACH" }, { 24, "PTRACE_SYSCALL" }, { 0x4206, "PTRACE_SEIZE" }) };

static const struct words bpf_command = { .values = LIST(
	{ 0, "BPF_MAP_CREATE" }, { 1, "BPF_MAP_LOOKUP_ELEM" }, { 2, "BPF_MAP_UPDATE_ELEM" }, { 5, "BPF_PROG_LOAD" },
	{ 6, "BPF_OBJ_PIN" }, { 7, "BPF_OBJ_GET" }, { 8, "BPF_PROG_ATTACH" }, { 18, "BPF_BTF_LOAD" },
	{ 28, "BPF_LINK_CREATE" }) };

static const struct words keyctl_command = { .values = LIST(
	{ 0, "KEYCTL_GET_KEYRING_ID" }, { 1, "KEYCTL_JOIN_SESSION_KEYRING" }, { 2, "KEYCTL_UPDATE" },
	{ 3, "KEYCTL_REVOKE" }, { 6, "KEYCTL_DESCRIBE" }, { 8, "KEYCTL_LINK" }, { 10, "KEYCTL_SEARCH" },
	{ 11, "KEYCTL_READ" }) };

static const struct words ioctl_request = { .values = LIST(
	{ 0x5412, "TIOCSTI" }, { 0x541c, "TIOCLINUX" }, { 0x541d, "TIOCCONS" }, { 0x5423, "TIOCSETD" },
	{ 0x5760, "IOC_WATCH_QUEUE_SET_SIZE" }, { 0x5761, "IOC_WATCH_QUEUE_SET_FILTER" }) };

static const struct words level = { .values = LIST(
	{ 0, "SOL_IP" }, { 1, "SOL_SOCKET" }, { 6, "SOL_TCP" }, { 17, "SOL_UDP" }, { 41, "SOL_IPV6" },
	{ 270, "SOL_NETLINK" }) };

static const struct words file_type = { .mask = 0170000, .values = LIST(
	{ 0020000, "S_IFCHR" }, { 0060000, "S_IFBLK" }, { 0100000, "S_IFREG" }, { 0010000, "S_IFIFO" },
	{ 0140000, "S_IFSOCK" }) };

static const struct words persona = { .values = LIST({ 0xffffffff, "query" }),
				      .flags = LIST({ 0x0040000, "ADDR_NO_RANDOMIZE" }, { 0x0100000, "MMAP_PAGE_ZERO" },
						    { 0x0400000, "READ_IMPLIES_EXEC" }, { 0x0020000, "UNAME26" }) };

static const struct words netlink = { .values = LIST(
	{ 0, "NETLINK_ROUTE" }, { 4, "NETLINK_SOCK_DIAG" }, { 6, "NETLINK_XFRM" }, { 9, "NETLINK_AUDIT" },
	{ 10, "NETLINK_FIB_LOOKUP" }, { 12, "NETLINK_NETFILTER" }, { 15, "NETLINK_KOBJECT_UEVENT" },
	{ 16, "NETLINK_GENERIC" }, { 21, "NETLINK_CRYPTO" }) };

static const struct words protocol = { .values = LIST(
	{ 1, "IPPROTO_ICMP" }, { 6, "IPPROTO_TCP" }, { 17, "IPPROTO_UDP" }, { 33, "IPPROTO_DCCP" },
	{ 58, "IPPROTO_ICMPV6" }, { 115, "IPPROTO_L2TP" }, { 132, "IPPROTO_SCTP" }, { 136, "IPPROTO_UDPLITE" },
	{ 255, "IPPROTO_RAW" }, { 262, "IPPROTO_MPTCP" }) };

static const struct {
	const char *call;
	unsigned index;
	const struct words *words;
} decoders[] = {
	{ "socket", 0, &family },	 { "socket", 1, &socket_type },	   { "socketpair", 0, &family },
	{ "socketpair", 1, &socket_type }, { "clone", 0, &namespaces },	   { "unshare", 0, &namespaces },
	{ "setns", 1, &namespaces },	 { "mount", 3, &mount_flags },	   { "umount2", 1, &umount_flags },
	{ "ptrace", 0, &ptrace_request }, { "bpf", 0, &bpf_command },	   { "keyctl", 0, &keyctl_command },
	{ "ioctl", 1, &ioctl_request },	 { "setsockopt", 1, &level },	   { "mknod", 1, &file_type },
	{ "mknodat", 2, &file_type },	 { "personality", 0, &persona },
};

struct out {
	char *buf;
	size_t size, len;
};

static _printf_(2, 3) void add(struct out *o, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = o->len < o->size ? vsnprintf(o->buf + o->len, o->size - o->len, fmt, ap) : 0;
	va_end(ap);
	if (n > 0)
		o->len += (size_t)n;
}

static const char *word_name(const struct word *list, uint64_t v)
{
	for (; list && list->name; list++)
		if (list->value == v)
			return list->name;
	return NULL;
}

static void add_words(struct out *o, const struct words *w, uint64_t v)
{
	const char *name = word_name(w->values, w->mask ? v & w->mask : v), *sep = "";
	const struct word *f;

	if (name) {
		add(o, "%s", name);
		v = w->mask ? v & ~w->mask : 0;
		sep = "|";
	}
	for (f = w->flags; f && f->name; f++) {
		if (!(v & f->value))
			continue;
		add(o, "%s%s", sep, f->name);
		v &= ~f->value;
		sep = "|";
	}
	if (v || !*sep)
		add(o, "%s%s%" PRIx64, sep, v > 9 ? "0x" : "", v);
}

/* A number, as far as the tables know; what is large in 64 bits is nearly always an address. */
static void add_plain(struct out *o, uint64_t v, uint64_t mask)
{
	if (mask != UINT64_MAX)
		add(o, "%" PRId32, (int32_t)(uint32_t)(v & mask));
	else if (v > 0xffff)
		add(o, "pointer");
	else
		add(o, "%" PRIu64, v);
}

static const struct words *words_for(const struct filter_syscall *call, unsigned index, const struct seccomp_data *data)
{
	bool is_socket = str_eq(call->name, "socket") || str_eq(call->name, "socketpair");
	size_t i;

	if (is_socket && index == 2)
		return (uint32_t)data->args[0] == 16 ? &netlink :
		       (uint32_t)data->args[0] == 2 || (uint32_t)data->args[0] == 10 ? &protocol :
										      NULL;
	for (i = 0; i < ELEMENTSOF(decoders); i++)
		if (decoders[i].index == index && str_eq(decoders[i].call, call->name))
			return decoders[i].words;
	return NULL;
}

uint64_t filter_denial_arg(const struct filter_syscall *call, unsigned index, const struct seccomp_data *data)
{
	uint64_t mask = filter_syscall_arg_mask(call, index), v = data->args[index] & mask;

	return !words_for(call, index, data) && mask == UINT64_MAX && v > 0xffff ? UINT64_MAX : v;
}

void filter_denial_args(const struct filter_syscall *call, const struct seccomp_data *data, char *buf, size_t size)
{
	struct out o = { .buf = buf, .size = size };
	unsigned i;

	buf[0] = '\0';
	for (i = 0; i < strlen(call->args); i++) {
		uint64_t mask = filter_syscall_arg_mask(call, i);
		const struct words *w = words_for(call, i, data);

		add(&o, "%s", i ? ", " : "");
		if (w)
			add_words(&o, w, data->args[i] & mask);
		else
			add_plain(&o, data->args[i], mask);
	}
}

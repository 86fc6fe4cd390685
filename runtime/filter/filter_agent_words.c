/*
 * Names of kernel constants that a profile may use in place of numbers. The numbers are
 * written out, since many are newer than the headers of the build; all are the same on
 * x86_64 and aarch64.
 */
#include "filter/filter_agent_private.h"

#include <inttypes.h>

#include "util/parse.h"
#include "util/str.h"

static const struct enum_entry words[] = {
	{ "AF_UNSPEC", 0, NULL },
	{ "AF_UNIX", 1, NULL },
	{ "AF_INET", 2, NULL },
	{ "AF_INET6", 10, NULL },
	{ "AF_NETLINK", 16, NULL },
	{ "AF_PACKET", 17, NULL },
	{ "AF_RDS", 21, NULL },
	{ "AF_TIPC", 30, NULL },
	{ "AF_RXRPC", 33, NULL },
	{ "AF_ALG", 38, NULL },
	{ "AF_VSOCK", 40, NULL },
	{ "SOCK_TYPE_MASK", 0xf, NULL },
	{ "SOCK_STREAM", 1, NULL },
	{ "SOCK_DGRAM", 2, NULL },
	{ "SOCK_RAW", 3, NULL },
	{ "SOCK_SEQPACKET", 5, NULL },
	{ "IPPROTO_IP", 0, NULL },
	{ "IPPROTO_TCP", 6, NULL },
	{ "IPPROTO_UDP", 17, NULL },
	{ "NETLINK_ROUTE", 0, NULL },
	{ "SOL_IP", 0, NULL },
	{ "SOL_SOCKET", 1, NULL },
	{ "SOL_TCP", 6, NULL },
	{ "SOL_UDP", 17, NULL },
	{ "SOL_IPV6", 41, NULL },
	{ "SOL_NETLINK", 270, NULL },
	{ "SO_ATTACH_FILTER", 26, NULL },
	{ "SO_SNDBUFFORCE", 32, NULL },
	{ "SO_RCVBUFFORCE", 33, NULL },
	{ "SO_ATTACH_BPF", 50, NULL },
	{ "SO_ATTACH_REUSEPORT_CBPF", 51, NULL },
	{ "SO_ATTACH_REUSEPORT_EBPF", 52, NULL },
	{ "SO_ZEROCOPY", 60, NULL },
	{ "TCP_MD5SIG", 14, NULL },
	{ "TCP_REPAIR", 19, NULL },
	{ "TCP_ULP", 31, NULL },
	{ "TCP_MD5SIG_EXT", 32, NULL },
	{ "TCP_AO_ADD_KEY", 38, NULL },
	{ "TCP_AO_DEL_KEY", 39, NULL },
	{ "TCP_AO_INFO", 40, NULL },
	{ "UDP_ENCAP", 100, NULL },
	{ "IP_IPSEC_POLICY", 16, NULL },
	{ "IP_XFRM_POLICY", 17, NULL },
	{ "IPT_BASE_CTL", 64, NULL },
	{ "IPV6_FLOWLABEL_MGR", 32, NULL },
	{ "IPV6_IPSEC_POLICY", 34, NULL },
	{ "IPV6_XFRM_POLICY", 35, NULL },
	{ "IP6T_SO_SET_REPLACE", 64, NULL },
	{ "IP6T_SO_SET_ADD_COUNTERS", 65, NULL },
	{ "MRT6_BASE", 200, NULL },
	{ "MSG_OOB", 0x1, NULL },
	{ "TIOCSTI", 0x5412, NULL },
	{ "TIOCLINUX", 0x541c, NULL },
	{ "TIOCCONS", 0x541d, NULL },
	{ "TIOCSETD", 0x5423, NULL },
	{ "IOC_WATCH_QUEUE_SET_SIZE", 0x5760, NULL },
	{ "IOC_WATCH_QUEUE_SET_FILTER", 0x5761, NULL },
	{ "O_NOTIFICATION_PIPE", 0x80, NULL },
	{ "CLONE_NEWTIME", 0x00000080, NULL },
	{ "CLONE_NEWNS", 0x00020000, NULL },
	{ "CLONE_NEWCGROUP", 0x02000000, NULL },
	{ "CLONE_NEWUTS", 0x04000000, NULL },
	{ "CLONE_NEWIPC", 0x08000000, NULL },
	{ "CLONE_NEWUSER", 0x10000000, NULL },
	{ "CLONE_NEWPID", 0x20000000, NULL },
	{ "CLONE_NEWNET", 0x40000000, NULL },
	{ "PR_SET_MM", 35, NULL },
	{ "PR_SET_SYSCALL_USER_DISPATCH", 59, NULL },
	{ "PR_SCHED_CORE", 62, NULL },
	{ "PER_LINUX", 0, NULL },
	{ "PER_LINUX32", 0x8, NULL },
	{ "UNAME26", 0x20000, NULL },
	{ "ADDR_NO_RANDOMIZE", 0x40000, NULL },
	{ "PER_QUERY", 0xffffffff, NULL },
	{ "S_IFMT", 0xf000, NULL },
	{ "S_IFIFO", 0x1000, NULL },
	{ "S_IFREG", 0x8000, NULL },
	{ "S_IFSOCK", 0xc000, NULL },
};

static const struct enum_table word_table = ENUM_TABLE("constant", words);

#define E(name) { #name, name, NULL }
static const struct enum_entry errnos[] = {
	E(EPERM),	E(ENOENT),	   E(EIO),		E(ENXIO),
	E(EBADF),	E(EAGAIN),	   E(ENOMEM),		E(EACCES),
	E(EFAULT),	E(EBUSY),	   E(EEXIST),		E(ENODEV),
	E(ENOTDIR),	E(EINVAL),	   E(ENOTTY),		E(ENOSPC),
	E(ESPIPE),	E(EROFS),	   E(ERANGE),		E(ENOSYS),
	E(ENODATA),	E(EOVERFLOW),	   E(ENOTSOCK),		E(EPROTOTYPE),
	E(ENOPROTOOPT), E(EPROTONOSUPPORT), E(ESOCKTNOSUPPORT), E(EOPNOTSUPP),
	E(EPFNOSUPPORT), E(EAFNOSUPPORT),  E(EADDRNOTAVAIL),	E(ENETDOWN),
	E(ENETUNREACH), E(ECONNREFUSED),   E(EHOSTUNREACH),	E(EUSERS),
};
#undef E

static const struct enum_table errno_table = ENUM_TABLE("errno", errnos);

static int hex_value(const char *digits, uint64_t *ret)
{
	uint64_t v = 0;
	size_t n;

	for (n = 0; digits[n]; n++) {
		const char *all = "0123456789abcdef", *at;
		char c = digits[n];

		if (c >= 'A' && c <= 'F')
			c = (char)(c - 'A' + 'a');
		at = strchr(all, c);
		if (!at || n == 16)
			return -EINVAL;
		v = v << 4 | (uint64_t)(at - all);
	}
	if (n == 0)
		return -EINVAL;
	*ret = v;
	return 0;
}

static int one_value(const char *text, uint64_t *ret)
{
	const char *digits = str_after(text, "0x");

	if (digits)
		return hex_value(digits, ret);
	if (parse_u64(text, ret) == 0)
		return 0;
	return enum_from_name(&word_table, text, ret) < 0 ? -EINVAL : 0;
}

int agent_word_value(const char *text, uint64_t *ret)
{
	uint64_t v = 0, part;
	const char *p = text;
	char word[64];
	size_t n;
	int r;

	for (;;) {
		n = strcspn(p, "|");
		if (n >= sizeof(word))
			return -EINVAL;
		memcpy(word, p, n);
		word[n] = '\0';
		r = one_value(word, &part);
		if (r < 0)
			return r;
		v |= part;
		if (!p[n])
			break;
		p += n + 1;
	}
	*ret = v;
	return 0;
}

int agent_errno_value(const char *name, uint32_t *ret)
{
	uint64_t v;

	if (enum_from_name(&errno_table, name, &v) < 0)
		return -EINVAL;
	*ret = (uint32_t)v;
	return 0;
}

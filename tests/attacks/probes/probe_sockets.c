/*
 * Sockets: families, types, protocols, options, flags. Options are set on descriptor -1, which the
 * kernel looks at after the filter.
 */
#include "probe.h"

#include <sys/socket.h>

#define HIGH 0x100000000ull

#define SOCKET(name, family, type, protocol)                                                       \
	static long name(void)                                                                     \
	{                                                                                          \
		return syscall(SYS_socket, family, type, protocol);                                \
	}
#define OPTION(name, level, option)                                                                \
	static long name(void)                                                                     \
	{                                                                                          \
		return syscall(SYS_setsockopt, -1, level, option, 0, 0);                           \
	}

SOCKET(af_packet, 17, 3, 0)
SOCKET(af_rds, 21, 5, 0)
SOCKET(af_tipc, 30, 5, 0)
SOCKET(af_rxrpc, 33, 2, 2)
SOCKET(af_alg, 38, 5, 0)
SOCKET(af_alg_hi32, 38 | HIGH, 5, 0)
SOCKET(af_vsock, 40, 1, 0)
SOCKET(af_vsock_hi32, 40 | HIGH, 1, 0)
SOCKET(af_x25, 9, 5, 0)
SOCKET(af_pppox, 24, 1, 0)
SOCKET(af_llc, 26, 1, 0)
SOCKET(af_can, 29, 3, 1)
SOCKET(af_bluetooth, 31, 3, 1)
SOCKET(af_caif, 37, 5, 0)
SOCKET(af_kcm, 41, 2, 0)
SOCKET(af_qipcrtr, 42, 2, 0)
SOCKET(af_smc, 43, 1, 0)
SOCKET(af_xdp, 44, 3, 0)
SOCKET(sock_dccp, 10, 6, 33)
SOCKET(sock_sctp, 2, 5, 132)
SOCKET(sock_sctp_stream, 2, 1, 132)
SOCKET(sock_mptcp, 2, 1, 262)
SOCKET(sock_smc_inet, 2, 1, 256)
SOCKET(sock_udplite, 2, 2, 136)
SOCKET(sock_l2tp, 2, 2, 115)
SOCKET(sock_ping, 2, 2, 1)
SOCKET(sock_packet, 2, 10, 0x300)
SOCKET(sock_raw, 2, 3, 1)
SOCKET(sock_raw6, 10, 3, 58)
SOCKET(sock_raw_hi32, 2 | HIGH, 3 | HIGH, 1 | HIGH)
SOCKET(nl_sock_diag, 16, 3, 4)
SOCKET(nl_xfrm, 16, 3, 6)
SOCKET(nl_audit, 16, 3, 9)
SOCKET(nl_netfilter, 16, 3, 12)
SOCKET(nl_netfilter_hi32, 16, 3, 12 | HIGH)
SOCKET(nl_uevent, 16, 3, 15)
SOCKET(nl_generic, 16, 3, 16)
SOCKET(nl_crypto, 16, 3, 21)
SOCKET(plain_unix, 1, 1, 0)
SOCKET(plain_tcp, 2, 1, 0)
SOCKET(plain_udp6, 10, 2, 0)
SOCKET(plain_route, 16, 3, 0)

OPTION(so_attach_filter, 1, 26)
OPTION(so_attach_bpf, 1, 50)
OPTION(so_attach_reuseport_cbpf, 1, 51)
OPTION(so_attach_reuseport_ebpf, 1, 52)
OPTION(so_zerocopy, 1, 60)
OPTION(so_sndbufforce, 1, 32)
OPTION(so_rcvbufforce, 1, 33)
OPTION(so_keepalive, 1, 9)
OPTION(tcp_ulp, 6, 31)
OPTION(tcp_ulp_hi32, 6 | HIGH, 31 | HIGH)
OPTION(tcp_md5sig, 6, 14)
OPTION(tcp_ao, 6, 38)
OPTION(tcp_repair, 6, 19)
OPTION(tcp_nodelay, 6, 1)
OPTION(udp_encap, 17, 100)
OPTION(ip_xfrm_policy, 0, 17)
OPTION(ipt_so_set_replace, 0, 64)
OPTION(ebt_so_set_entries, 0, 128)
OPTION(mrt_init, 0, 200)
OPTION(ip_vs_so_set, 0, 1154)
OPTION(ipv6_xfrm_policy, 41, 35)
OPTION(ip6t_so_set_replace, 41, 64)
OPTION(ipv6_flowlabel_mgr, 41, 32)
OPTION(mrt6_init, 41, 200)
OPTION(sol_alg, 279, 1)
OPTION(sol_rxrpc, 272, 1)
OPTION(sol_packet, 263, 5)

static long pair_tipc(void) { return syscall(SYS_socketpair, 30, 5, 0, (int[2]){ 0 }); }
static long pair_unix(void) { return syscall(SYS_socketpair, 1, 1, 0, (int[2]){ 0 }); }
static long send_oob(void) { return syscall(SYS_sendto, -1, "", 1, MSG_OOB, 0, 0); }
static long send_oob_hi32(void) { return syscall(SYS_sendto, -1, "", 1, HIGH | MSG_OOB, 0, 0); }
static long sendmsg_oob(void) { return syscall(SYS_sendmsg, -1, 0, MSG_OOB); }
static long sendmmsg_oob(void) { return syscall(SYS_sendmmsg, -1, 0, 0, MSG_OOB); }
static long send_plain(void) { return syscall(SYS_sendto, -1, "", 1, MSG_NOSIGNAL, 0, 0); }

const struct probe probe_sockets[] = {
	{ "AF_PACKET", af_packet, PROBE_ALL(EAFNOSUPPORT) },
	{ "AF_RDS", af_rds, PROBE_ALL(EAFNOSUPPORT) },
	{ "AF_TIPC", af_tipc, PROBE_ALL(EAFNOSUPPORT) },
	{ "AF_RXRPC", af_rxrpc, PROBE_ALL(EAFNOSUPPORT) },
	{ "AF_ALG", af_alg, PROBE_ALL(EAFNOSUPPORT) },
	{ "AF_ALG_hi32", af_alg_hi32, PROBE_ALL(EAFNOSUPPORT) },
	{ "AF_VSOCK", af_vsock, PROBE_ALL(EAFNOSUPPORT) },
	{ "AF_VSOCK_hi32", af_vsock_hi32, PROBE_ALL(EAFNOSUPPORT) },
	{ "AF_X25", af_x25, PROBE_ALL(EAFNOSUPPORT) },
	{ "AF_PPPOX", af_pppox, PROBE_ALL(EAFNOSUPPORT) },
	{ "AF_LLC", af_llc, PROBE_ALL(EAFNOSUPPORT) },
	{ "AF_CAN", af_can, PROBE_ALL(EAFNOSUPPORT) },
	{ "AF_BLUETOOTH", af_bluetooth, PROBE_ALL(EAFNOSUPPORT) },
	{ "AF_CAIF", af_caif, PROBE_ALL(EAFNOSUPPORT) },
	{ "AF_KCM", af_kcm, PROBE_ALL(EAFNOSUPPORT) },
	{ "AF_QIPCRTR", af_qipcrtr, PROBE_ALL(EAFNOSUPPORT) },
	{ "AF_SMC", af_smc, PROBE_ALL(EAFNOSUPPORT) },
	{ "AF_XDP", af_xdp, PROBE_ALL(EAFNOSUPPORT) },
	{ "SOCK_DCCP", sock_dccp, PROBE_NET(ESOCKTNOSUPPORT) },
	{ "SCTP", sock_sctp, PROBE_NET(ESOCKTNOSUPPORT) },
	{ "SCTP_stream", sock_sctp_stream, PROBE_NET(EPROTONOSUPPORT) },
	{ "MPTCP", sock_mptcp, PROBE_NET(EPROTONOSUPPORT) },
	{ "SMC_inet", sock_smc_inet, PROBE_NET(EPROTONOSUPPORT) },
	{ "UDPLITE", sock_udplite, PROBE_NET(EPROTONOSUPPORT) },
	{ "L2TP", sock_l2tp, PROBE_NET(EPROTONOSUPPORT) },
	{ "ping_socket", sock_ping, PROBE_NET(EPROTONOSUPPORT) },
	{ "SOCK_PACKET", sock_packet, PROBE_NET(ESOCKTNOSUPPORT) },
	{ "SOCK_RAW", sock_raw, PROBE_NET(EPERM) },
	{ "SOCK_RAW_inet6", sock_raw6, PROBE_NET(EPERM) },
	{ "SOCK_RAW_hi32", sock_raw_hi32, PROBE_NET(EPERM) },
	{ "NL_SOCK_DIAG", nl_sock_diag, PROBE_NET(EPROTONOSUPPORT) },
	{ "NL_XFRM", nl_xfrm, PROBE_NET(EPROTONOSUPPORT) },
	{ "NL_AUDIT", nl_audit, PROBE_NET(EPROTONOSUPPORT) },
	{ "NL_NETFILTER", nl_netfilter, PROBE_NET(EPROTONOSUPPORT) },
	{ "NL_NETFILTER_hi32", nl_netfilter_hi32, PROBE_NET(EPROTONOSUPPORT) },
	{ "NL_UEVENT", nl_uevent, PROBE_NET(EPROTONOSUPPORT) },
	{ "NL_GENERIC", nl_generic, PROBE_NET(EPROTONOSUPPORT) },
	{ "NL_CRYPTO", nl_crypto, PROBE_NET(EPROTONOSUPPORT) },
	{ "unix_stream", plain_unix, PROBE_ALL(PROBE_REACHES) },
	{ "tcp", plain_tcp, PROBE_NET(PROBE_REACHES) },
	{ "udp6", plain_udp6, PROBE_NET(PROBE_REACHES) },
	{ "NL_ROUTE", plain_route, PROBE_NET(PROBE_REACHES) },
	{ "SO_ATTACH_FILTER", so_attach_filter, PROBE_ALL(ENOPROTOOPT) },
	{ "SO_ATTACH_BPF", so_attach_bpf, PROBE_ALL(ENOPROTOOPT) },
	{ "SO_ATTACH_REUSEPORT_CBPF", so_attach_reuseport_cbpf, PROBE_ALL(ENOPROTOOPT) },
	{ "SO_ATTACH_REUSEPORT_EBPF", so_attach_reuseport_ebpf, PROBE_ALL(ENOPROTOOPT) },
	{ "SO_ZEROCOPY", so_zerocopy, PROBE_ALL(ENOPROTOOPT) },
	{ "SO_SNDBUFFORCE", so_sndbufforce, PROBE_ALL(EPERM) },
	{ "SO_RCVBUFFORCE", so_rcvbufforce, PROBE_ALL(EPERM) },
	{ "SO_KEEPALIVE", so_keepalive, PROBE_ALL(PROBE_REACHES) },
	{ "TCP_ULP", tcp_ulp, PROBE_ALL(ENOPROTOOPT) },
	{ "TCP_ULP_hi32", tcp_ulp_hi32, PROBE_ALL(ENOPROTOOPT) },
	{ "TCP_MD5SIG", tcp_md5sig, PROBE_ALL(ENOPROTOOPT) },
	{ "TCP_AO_ADD_KEY", tcp_ao, PROBE_ALL(ENOPROTOOPT) },
	{ "TCP_REPAIR", tcp_repair, PROBE_ALL(EPERM) },
	{ "TCP_NODELAY", tcp_nodelay, PROBE_ALL(PROBE_REACHES) },
	{ "UDP_ENCAP", udp_encap, PROBE_ALL(ENOPROTOOPT) },
	{ "IP_XFRM_POLICY", ip_xfrm_policy, PROBE_ALL(EPERM) },
	{ "IPT_SO_SET_REPLACE", ipt_so_set_replace, PROBE_ALL(ENOPROTOOPT) },
	{ "EBT_SO_SET_ENTRIES", ebt_so_set_entries, PROBE_ALL(ENOPROTOOPT) },
	{ "MRT_INIT", mrt_init, PROBE_ALL(ENOPROTOOPT) },
	{ "IP_VS_SO_SET", ip_vs_so_set, PROBE_ALL(ENOPROTOOPT) },
	{ "IPV6_XFRM_POLICY", ipv6_xfrm_policy, PROBE_ALL(EPERM) },
	{ "IP6T_SO_SET_REPLACE", ip6t_so_set_replace, PROBE_ALL(ENOPROTOOPT) },
	{ "IPV6_FLOWLABEL_MGR", ipv6_flowlabel_mgr, PROBE_ALL(ENOPROTOOPT) },
	{ "MRT6_INIT", mrt6_init, PROBE_ALL(ENOPROTOOPT) },
	{ "SOL_ALG", sol_alg, PROBE_ALL(ENOPROTOOPT) },
	{ "SOL_RXRPC", sol_rxrpc, PROBE_ALL(ENOPROTOOPT) },
	{ "SOL_PACKET", sol_packet, PROBE_ALL(ENOPROTOOPT) },
	{ "socketpair_tipc", pair_tipc, PROBE_ALL(EAFNOSUPPORT) },
	{ "socketpair_unix", pair_unix, PROBE_ALL(PROBE_REACHES) },
	{ "UNIX_MSG_OOB", send_oob, PROBE_ALL(EOPNOTSUPP) },
	{ "MSG_OOB_hi32", send_oob_hi32, PROBE_ALL(EOPNOTSUPP) },
	{ "sendmsg_OOB", sendmsg_oob, PROBE_ALL(EOPNOTSUPP) },
	{ "sendmmsg_OOB", sendmmsg_oob, PROBE_ALL(EOPNOTSUPP) },
	{ "send", send_plain, PROBE_ALL(PROBE_REACHES) },
	{ 0 },
};

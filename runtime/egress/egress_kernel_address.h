/*
 * BPF side, third part: connect and sendmsg, where a denial is an error at once and where
 * a destination can be exchanged, and the calls that must show the destination that was
 * asked for. Included by the two .bpf.c files only.
 *
 * Nothing here is the last word: what these hooks let pass still meets the packet hook.
 */
#pragma once

#include "egress/egress_kernel_rules.h"

static __always_inline __u32 protocol_of(struct bpf_sock_addr *ctx)
{
	__u32 type = ctx->type, protocol = ctx->protocol;

	if (type == SOCK_STREAM)
		return protocol == PROTO_MPTCP || !protocol ? IPPROTO_TCP : protocol;
	return protocol ? protocol : IPPROTO_UDP;
}

static __always_inline struct address read_ipv6(struct bpf_sock_addr *ctx)
{
	__u32 a = ctx->user_ip6[0], b = ctx->user_ip6[1], c = ctx->user_ip6[2], d = ctx->user_ip6[3];

	/* or the loads are merged into ones that the verifier does not know */
	asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
	return (struct address){ (__u64)b << 32 | a, (__u64)d << 32 | c };
}

static __always_inline void write_ipv6(struct bpf_sock_addr *ctx, struct address a)
{
	ctx->user_ip6[0] = a.hi;
	ctx->user_ip6[1] = a.hi >> 32;
	ctx->user_ip6[2] = a.lo;
	ctx->user_ip6[3] = a.lo >> 32;
}

/* To a listener of ours on loopback; what was wanted is kept with the socket. */
static __always_inline bool redirect(struct bpf_sock_addr *ctx, struct address to, bool v6, __u16 port_be,
				     __u8 kind)
{
	struct bpf_sock *sk = ctx->sk;
	struct socket *s;

	if (!sk || !port_be)
		return false;
	s = bpf_sk_storage_get(&sockets, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!s)
		return false;
	s->wanted = to;
	s->wanted_port = bpf_ntohs(ctx->user_port);
	s->redirect = kind;
	s->mark = MARK_NONE;
	s->proxy_v6 = !is_ipv4(to);
	if (!v6)
		ctx->user_ip4 = bpf_htonl(INADDR_LOOPBACK);
	else if (is_ipv4(to))
		ctx->user_ip6[3] = bpf_htonl(INADDR_LOOPBACK);
	else
		write_ipv6(ctx, (struct address){ 0, (__u64)bpf_htonl(1) << 32 });
	ctx->user_port = port_be;
	return true;
}

/*
 * The listener for a question to that name server, or 0. One on the container's own loopback
 * is left alone, but not one that resolv.conf names: the engine put it there, and it would
 * ask on.
 */
__noinline int dns_port_be(__u64 hi, __u64 lo, __u32 protocol)
{
	struct egress_state *st = state_get();
	__u32 first = lo, ip = lo >> 32;
	bool v4 = !hi && first == bpf_htonl(0xffff);

	if (locality_words(hi, lo) == LOCAL_LOOPBACK) {
		if (!v4 && !(st->flags & EGRESS_F_LOCAL_DNS6))
			return 0;
		if (v4 && (!ip || (ip != st->local_dns_be[0] && ip != st->local_dns_be[1] && ip != st->local_dns_be[2])))
			return 0;
	}
	if (protocol == IPPROTO_UDP)
		return v4 ? st->dns4_udp_be : st->dns6_udp_be;
	if (protocol == IPPROTO_TCP)
		return v4 ? st->dns4_tcp_be : st->dns6_tcp_be;
	return 0;
}

static __always_inline __u64 netns_of_address(struct bpf_sock_addr *ctx)
{
	return has_netns_cookie ? bpf_get_netns_cookie(ctx) : bpf_get_socket_cookie(ctx);
}

static __always_inline bool address_is_peer(struct bpf_sock_addr *ctx, struct address to)
{
	struct bpf_sock *sk = ctx->sk;

	return sk && known_peer(netns_of_address(ctx), to.hi, to.lo, bpf_ntohs(ctx->user_port) | sk->src_port << 16);
}

/*
 * Whether the address is one of the container's network itself. The kernel binds to no
 * other one, and chooses the same source address when it connects there. Sockets that are
 * bound already, or are free to bind anywhere, only fool themselves: the packet hook sees
 * where packets go.
 */
static __always_inline bool is_own4(struct bpf_sock_addr *ctx, struct address to)
{
	struct sockaddr_in self = { .sin_family = AF_INET, .sin_addr.s_addr = to_ipv4(to) };

	return bpf_bind(ctx, (struct sockaddr *)&self, sizeof(self)) == 0;
}

static __always_inline bool is_own6(struct bpf_sock_addr *ctx, struct address to)
{
	struct sockaddr_in6 self = { .sin6_family = AF_INET6 };

	__builtin_memcpy(&self.sin6_addr, &to, sizeof(to));
	return bpf_bind(ctx, (struct sockaddr *)&self, sizeof(self)) == 0;
}

/* For datagrams without connect: somebody here listens on that port; the packet hook sees whether it is here. */
static __always_inline bool udp_listens(struct bpf_sock_addr *ctx, struct address to)
{
	struct bpf_sock_tuple tuple = {};
	struct bpf_sock *sk = ctx->sk;
	__u16 from = sk ? bpf_htons(sk->src_port) : 0;

	/* as if from the same address: that also finds a socket there that is connected to this one */
	if (is_ipv4(to)) {
		tuple.ipv4.saddr = tuple.ipv4.daddr = to_ipv4(to);
		tuple.ipv4.sport = from;
		tuple.ipv4.dport = ctx->user_port;
		sk = bpf_sk_lookup_udp(ctx, &tuple, sizeof(tuple.ipv4), BPF_F_CURRENT_NETNS, 0);
	} else {
		__builtin_memcpy(tuple.ipv6.saddr, &to, sizeof(to));
		__builtin_memcpy(tuple.ipv6.daddr, &to, sizeof(to));
		tuple.ipv6.sport = from;
		tuple.ipv6.dport = ctx->user_port;
		sk = bpf_sk_lookup_udp(ctx, &tuple, sizeof(tuple.ipv6), BPF_F_CURRENT_NETNS, 0);
	}
	if (!sk)
		return false;
	bpf_sk_release(sk);
	return true;
}

/* Forgets a redirect of an earlier connect; in the host's network, lets the packets pass wherever NAT sends them. */
static __always_inline int approve(struct bpf_sock_addr *ctx, struct egress_state *st)
{
	bool host = st->flags & EGRESS_F_HOST_NETNS;
	struct bpf_sock *sk = ctx->sk;
	struct socket *s;

	if (!sk)
		return 1;
	s = bpf_sk_storage_get(&sockets, sk, 0, host ? BPF_SK_STORAGE_GET_F_CREATE : 0);
	if (!s)
		return 1;
	s->redirect = REDIRECT_NONE;
	if (host) {
		s->mark = MARK_APPROVED;
		s->generation = st->generation;
	}
	return 1;
}

static __always_inline bool judge_address(struct bpf_sock_addr *ctx, struct address to, bool v6, bool connecting)
{
	struct egress_state *st = state_get();
	__u32 protocol = protocol_of(ctx);
	__u16 port = bpf_ntohs(ctx->user_port);
	union denial_word what = { .d = { .port = port,
					  .hook = connecting ? EGRESS_HOOK_CONNECT : EGRESS_HOOK_SENDMSG,
					  .family = v6 ? AF_INET6 : AF_INET,
					  .protocol = protocol } };
	bool host = st->flags & EGRESS_F_HOST_NETNS;
	int local = locality(to), verdict;

	if (port == 53 && redirect(ctx, to, v6, dns_port_be(to.hi, to.lo, protocol), REDIRECT_DNS))
		return true;
	if (local == LOCAL_LOOPBACK && !host)
		return approve(ctx, st);
	verdict = local == LOCAL_DOCKER_DNS ? EGRESS_DENY : judge(to, protocol, port);
	if (verdict == EGRESS_ALLOW)
		return approve(ctx, st);
	if (verdict == EGRESS_PROXY && connecting &&
	    redirect(ctx, to, v6, is_ipv4(to) ? st->proxy4_be : st->proxy6_be, REDIRECT_PROXY))
		return true;
	if (protocol == IPPROTO_UDP && address_is_peer(ctx, to))
		return true;
	if (!host && local == LOCAL_NOT) {
		if (connecting ? (v6 ? is_own6(ctx, to) : is_own4(ctx, to)) :
				 protocol == IPPROTO_UDP && udp_listens(ctx, to))
			return approve(ctx, st);
	}
	deny_task(to.hi, to.lo, what.word);
	return false;
}

/* The address that was asked for, where the one that is used would show. */
static __always_inline void restore(struct bpf_sock_addr *ctx, bool v6)
{
	struct bpf_sock *sk = ctx->sk;
	struct address from;
	struct socket *s;

	if (!sk)
		return;
	s = bpf_sk_storage_get(&sockets, sk, 0, 0);
	if (!s || s->redirect == REDIRECT_NONE)
		return;
	from = v6 ? read_ipv6(ctx) : from_ipv4(ctx->user_ip4);
	if (locality(from) != LOCAL_LOOPBACK || is_ipv4(from) != is_ipv4(s->wanted))
		return;
	if (v6)
		write_ipv6(ctx, s->wanted);
	else
		ctx->user_ip4 = to_ipv4(s->wanted);
	ctx->user_port = bpf_htons(s->wanted_port);
}

/* A datagram from elsewhere on loopback must keep its address. */
static __always_inline void restore_datagram(struct bpf_sock_addr *ctx, bool v6)
{
	struct egress_state *st = state_get();
	__u16 port = ctx->user_port;

	if (port && (port == st->dns4_udp_be || port == st->dns6_udp_be))
		restore(ctx, v6);
}

SEC("cgroup/connect4")
int PROGRAM(connect4)(struct bpf_sock_addr *ctx)
{
	return judge_address(ctx, from_ipv4(ctx->user_ip4), false, true);
}

SEC("cgroup/connect6")
int PROGRAM(connect6)(struct bpf_sock_addr *ctx)
{
	return judge_address(ctx, read_ipv6(ctx), true, true);
}

SEC("cgroup/sendmsg4")
int PROGRAM(sendmsg4)(struct bpf_sock_addr *ctx)
{
	return judge_address(ctx, from_ipv4(ctx->user_ip4), false, false);
}

SEC("cgroup/sendmsg6")
int PROGRAM(sendmsg6)(struct bpf_sock_addr *ctx)
{
	return judge_address(ctx, read_ipv6(ctx), true, false);
}

SEC("cgroup/recvmsg4")
int PROGRAM(recvmsg4)(struct bpf_sock_addr *ctx)
{
	restore_datagram(ctx, false);
	return 1;
}

SEC("cgroup/recvmsg6")
int PROGRAM(recvmsg6)(struct bpf_sock_addr *ctx)
{
	restore_datagram(ctx, true);
	return 1;
}

SEC("cgroup/getpeername4")
int PROGRAM(peer4)(struct bpf_sock_addr *ctx)
{
	restore(ctx, false);
	return 1;
}

SEC("cgroup/getpeername6")
int PROGRAM(peer6)(struct bpf_sock_addr *ctx)
{
	restore(ctx, true);
	return 1;
}

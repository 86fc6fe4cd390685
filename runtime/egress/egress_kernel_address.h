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
 * A name server on the container's own loopback is left alone, but not one that resolv.conf
 * names: the engine put it there, and it would ask on.
 */
static __always_inline bool dns_is_ours(struct egress_state *st, struct address to)
{
	__u32 ip = to_ipv4(to);
	int i;

	if (!is_loopback(to) || is_docker_dns(to))
		return true;
	if (!is_ipv4(to))
		return st->flags & EGRESS_F_LOCAL_DNS6;
	for (i = 0; i < EGRESS_LOCAL_DNS_MAX; i++)
		if (st->local_dns_be[i] && st->local_dns_be[i] == ip)
			return true;
	return false;
}

static __always_inline bool redirect_dns(struct bpf_sock_addr *ctx, struct egress_state *st, struct address to,
					 bool v6, __u32 protocol)
{
	__u16 port_be = 0;

	if (ctx->user_port != bpf_htons(53) || !dns_is_ours(st, to))
		return false;
	if (protocol == IPPROTO_UDP)
		port_be = is_ipv4(to) ? st->dns4_udp_be : st->dns6_udp_be;
	else if (protocol == IPPROTO_TCP)
		port_be = is_ipv4(to) ? st->dns4_tcp_be : st->dns6_tcp_be;
	return redirect(ctx, to, v6, port_be, REDIRECT_DNS);
}

static __always_inline __u64 netns_of_address(struct bpf_sock_addr *ctx)
{
	return has_netns_cookie ? bpf_get_netns_cookie(ctx) : bpf_get_socket_cookie(ctx);
}

/* A UDP peer that wrote to us, or a flow that a rule allowed. */
static __always_inline bool is_peer(struct egress_state *st, const struct egress_peer_key *key)
{
	struct egress_peer *peer = bpf_map_lookup_elem(&peers, key);
	__u64 now, age;

	if (!peer)
		return false;
	now = bpf_ktime_get_boot_ns();
	age = now - peer->seen;
	if (peer->kind == EGRESS_PEER_INBOUND)
		return age < EGRESS_PEER_INBOUND_NS;
	if (age >= EGRESS_PEER_OUTBOUND_NS || peer->generation != st->generation)
		return false;
	peer->seen = now;
	return true;
}

static __always_inline bool address_is_peer(struct bpf_sock_addr *ctx, struct egress_state *st, struct address to)
{
	struct egress_peer_key key = { .cgroup = st->cgroup };
	struct bpf_sock *sk = ctx->sk;

	if (!sk)
		return false;
	key.netns = netns_of_address(ctx);
	__builtin_memcpy(key.address, &to, sizeof(to));
	key.port = bpf_ntohs(ctx->user_port);
	key.local_port = sk->src_port;
	return is_peer(st, &key);
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
	int verdict;

	if (redirect_dns(ctx, st, to, v6, protocol))
		return true;
	if (is_loopback(to) && !is_docker_dns(to) && !(st->flags & EGRESS_F_HOST_NETNS))
		return approve(ctx, st);
	verdict = is_docker_dns(to) ? EGRESS_DENY : judge(to, protocol, port);
	if (verdict == EGRESS_ALLOW)
		return approve(ctx, st);
	if (verdict == EGRESS_PROXY && connecting &&
	    redirect(ctx, to, v6, is_ipv4(to) ? st->proxy4_be : st->proxy6_be, REDIRECT_PROXY))
		return true;
	if (protocol == IPPROTO_UDP && address_is_peer(ctx, st, to))
		return true;
	if (!(st->flags & EGRESS_F_HOST_NETNS) && !is_docker_dns(to)) {
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
	if (!is_loopback(from) || is_ipv4(from) != is_ipv4(s->wanted))
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

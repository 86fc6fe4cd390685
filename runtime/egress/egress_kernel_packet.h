/*
 * BPF side, last part: sockets as they are made, packets in and out, and connections as
 * they come to be. The packet hook is the floor below everything else: it sees raw, NATed
 * and kernel-made packets. Included by the two .bpf.c files only.
 */
#pragma once

#include "egress/egress_kernel_address.h"

#define ETH_P_IP_BE   bpf_htons(0x0800)
#define ETH_P_IPV6_BE bpf_htons(0x86dd)
#define TCP_SYN	      0x02
#define TCP_ACK	      0x10

struct packet {
	struct address from, to;
	__u16 from_port, to_port;
	__u8 protocol, family, tcp_flags;
	bool odd; /* options, fragments, extension headers: nothing that an ordinary socket sends */
};

/* What a header begins with, and eight bytes of the one behind it: the least that UDP and ICMP have. */
union headers {
	__u8 bytes[48];
	__u32 words[12];
	__u64 longs[6];
};

/* False: no IP, or cut short. */
static __always_inline bool parse(struct __sk_buff *skb, struct packet *p)
{
	union headers h;
	__u32 ports;

	__builtin_memset(p, 0, sizeof(*p));
	if (skb->protocol == ETH_P_IP_BE) {
		if (bpf_skb_load_bytes(skb, 0, &h, 28))
			return false;
		p->family = AF_INET;
		p->protocol = h.bytes[9];
		p->from = from_ipv4(h.words[3]);
		p->to = from_ipv4(h.words[4]);
		p->odd = h.bytes[0] != 0x45 || (h.bytes[6] & 0x1f) || h.bytes[7];
		ports = h.words[5];
	} else if (skb->protocol == ETH_P_IPV6_BE) {
		if (bpf_skb_load_bytes(skb, 0, &h, 48))
			return false;
		p->family = AF_INET6;
		p->protocol = h.bytes[6];
		p->from = (struct address){ h.longs[1], h.longs[2] };
		p->to = (struct address){ h.longs[3], h.longs[4] };
		ports = h.words[10];
	} else {
		return false;
	}
	switch (p->protocol) {
	case IPPROTO_TCP:
		if (bpf_skb_load_bytes(skb, (p->family == AF_INET ? 20 : 40) + 13, &p->tcp_flags, 1))
			return false;
		break;
	case IPPROTO_UDP:
	case IPPROTO_UDPLITE:
		break;
	case IPPROTO_ICMP:
	case PROTO_ICMPV6:
		return true;
	default:
		p->odd = true;
		return true;
	}
	ports = bpf_ntohl(ports);
	p->from_port = ports >> 16;
	p->to_port = ports;
	return true;
}

/* The one byte that most packets in need to be looked at. */
static __always_inline __u8 protocol_of_packet(struct __sk_buff *skb)
{
	__u8 protocol = 0;

	(void)bpf_skb_load_bytes(skb, skb->protocol == ETH_P_IP_BE ? 9 : 6, &protocol, 1);
	return protocol;
}

static __always_inline __u64 netns_of_packet(struct __sk_buff *skb)
{
	return has_netns_cookie ? bpf_get_netns_cookie(skb) : bpf_get_socket_cookie(skb);
}

static __always_inline void peer_key(struct __sk_buff *skb, struct egress_state *st, struct address peer,
				     __u16 port, __u16 local_port, struct egress_peer_key *ret)
{
	__builtin_memset(ret, 0, sizeof(*ret));
	ret->netns = netns_of_packet(skb);
	ret->cgroup = st->cgroup;
	__builtin_memcpy(ret->address, &peer, sizeof(peer));
	ret->port = port;
	ret->local_port = local_port;
}

/* Our own listeners, in a network whose loopback is closed. */
static __always_inline bool is_redirected(struct egress_state *st, const struct packet *p)
{
	__u16 port = bpf_htons(p->to_port);

	if (locality(p->to) != LOCAL_LOOPBACK || !port)
		return false;
	if (p->protocol == IPPROTO_UDP)
		return port == st->dns4_udp_be || port == st->dns6_udp_be;
	return p->protocol == IPPROTO_TCP && (port == st->dns4_tcp_be || port == st->dns6_tcp_be ||
					      port == st->proxy4_be || port == st->proxy6_be);
}

/* A TCP packet of a connection that exists by right. */
static __always_inline bool tcp_known(struct egress_state *st, struct bpf_sock *sk, const struct packet *p)
{
	bool syn = (p->tcp_flags & (TCP_SYN | TCP_ACK)) == TCP_SYN;
	struct socket *s;

	/* The answer to a connection from outside. */
	if ((p->tcp_flags & (TCP_SYN | TCP_ACK)) == (TCP_SYN | TCP_ACK) && sk->state == BPF_TCP_LISTEN)
		return true;
	s = bpf_sk_storage_get(&sockets, sk, 0, 0);
	if (!s)
		return false;
	if (s->mark == MARK_APPROVED)
		return (st->flags & EGRESS_F_HOST_NETNS) && s->generation == st->generation;
	/* A new connection never inherits the right of an old one of the same socket. */
	if (syn || s->mark == MARK_NONE || s->peer_port != p->to_port || !same(s->peer, p->to))
		return false;
	return s->mark == MARK_PASSIVE || s->generation == st->generation;
}

static __always_inline bool udp_known(struct __sk_buff *skb, struct egress_state *st, struct bpf_sock *sk,
				      const struct packet *p)
{
	struct socket *s;

	if (st->flags & EGRESS_F_HOST_NETNS) {
		s = bpf_sk_storage_get(&sockets, sk, 0, 0);
		if (s && s->mark == MARK_APPROVED && s->generation == st->generation)
			return true;
	}
	return known_peer(netns_of_packet(skb), p->to.hi, p->to.lo, p->to_port | p->from_port << 16);
}

/* A rule allows it: the flow may go on until the rules change, also when a name's time is over. */
static __always_inline void remember(struct __sk_buff *skb, struct egress_state *st, struct bpf_sock *sk,
				     const struct packet *p)
{
	struct egress_peer peer = { .kind = EGRESS_PEER_OUTBOUND, .generation = st->generation };
	struct egress_peer_key key;
	struct socket *s;

	if (p->protocol == IPPROTO_TCP) {
		s = bpf_sk_storage_get(&sockets, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
		if (!s)
			return;
		s->mark = MARK_ACTIVE;
		s->peer = p->to;
		s->peer_port = p->to_port;
		s->generation = st->generation;
	} else if (p->protocol == IPPROTO_UDP) {
		peer.seen = bpf_ktime_get_boot_ns();
		peer_key(skb, st, p->to, p->to_port, p->from_port, &key);
		bpf_map_update_elem(&peers, &key, &peer, BPF_ANY);
	}
}

static __always_inline bool judge_packet(struct __sk_buff *skb, struct egress_state *st, const struct packet *p)
{
	struct bpf_sock *sk = skb->sk;

	if (skb->ifindex == LOOPBACK_IFINDEX) {
		if (!(st->flags & EGRESS_F_HOST_NETNS))
			return locality(p->to) != LOCAL_DOCKER_DNS;
		if (is_redirected(st, p))
			return true;
	}
	if (sk)
		sk = bpf_sk_fullsock(sk);
	if (!sk || p->odd)
		return false;
	if (p->protocol == IPPROTO_TCP && tcp_known(st, sk, p))
		return true;
	if (p->protocol == IPPROTO_UDP && udp_known(skb, st, sk, p))
		return true;
	/* To be proxied and yet here: it went round the exchange of its destination. */
	if (judge(p->to, p->protocol, p->to_port) != EGRESS_ALLOW)
		return false;
	remember(skb, st, sk, p);
	return true;
}

SEC("cgroup_skb/egress")
int PROGRAM(egress)(struct __sk_buff *skb)
{
	struct egress_state *st = state_get();
	union denial_word what = { .d = { .hook = EGRESS_HOOK_PACKET } };
	struct packet p;

	if (parse(skb, &p) && judge_packet(skb, st, &p))
		return 1;
	what.d.port = p.to_port;
	what.d.local_port = p.from_port;
	what.d.family = p.family;
	what.d.protocol = p.protocol;
	deny_packet(p.to.hi, p.to.lo, what.word, skb->ifindex);
	return 0;
}

/* Remembers who writes to us. A flow that a rule opened stays one, so that it ends with the rule. */
static __always_inline void remember_inbound(struct __sk_buff *skb, struct egress_state *st, const struct packet *p)
{
	struct egress_peer peer = { .kind = EGRESS_PEER_INBOUND, .seen = bpf_ktime_get_boot_ns() };
	struct egress_peer_key key;
	struct egress_peer *known;

	peer_key(skb, st, p->from, p->from_port, p->to_port, &key);
	known = bpf_map_lookup_elem(&peers, &key);
	if (!known) {
		bpf_map_update_elem(&peers, &key, &peer, BPF_ANY);
	} else if (known->kind == EGRESS_PEER_INBOUND) {
		known->seen = peer.seen;
	} else if (known->generation == st->generation && peer.seen - known->seen < EGRESS_PEER_OUTBOUND_NS) {
		known->seen = peer.seen;
	} else if (peer.seen - known->seen > EGRESS_PEER_INBOUND_NS) {
		*known = peer;
	}
}

SEC("cgroup_skb/ingress")
int PROGRAM(ingress)(struct __sk_buff *skb)
{
	struct egress_state *st = state_get();
	union denial_word what = { .d = { .hook = EGRESS_HOOK_SPOOFED } };
	struct packet p;

	if (skb->ifindex != LOOPBACK_IFINDEX && protocol_of_packet(skb) != IPPROTO_UDP)
		return 1;
	if (!parse(skb, &p))
		return 1;
	if (skb->ifindex != LOOPBACK_IFINDEX) {
		if (p.protocol == IPPROTO_UDP && !p.odd)
			remember_inbound(skb, st, &p);
		return 1;
	}
	/* A forged question from afar that came in by loopback would be answered to afar. */
	if (locality(p.from) != LOCAL_NOT || same(p.from, p.to))
		return 1;
	what.d.port = p.from_port;
	what.d.local_port = p.to_port;
	what.d.family = p.family;
	what.d.protocol = p.protocol;
	deny_packet(p.from.hi, p.from.lo, what.word, skb->ifindex);
	return 0;
}

SEC("cgroup/sock_create")
int PROGRAM(socket)(struct bpf_sock *ctx)
{
	__u32 type = ctx->type, protocol = ctx->protocol;
	union denial_word what = {
		.d = { .hook = EGRESS_HOOK_SOCKET, .family = ctx->family, .protocol = protocol, .type = type }
	};

	if (type == SOCK_STREAM && (protocol == IPPROTO_TCP || protocol == PROTO_MPTCP))
		return 1;
	/* ICMP as datagrams is echo alone, and its packets are judged like any other. */
	if (type == SOCK_DGRAM && (protocol == IPPROTO_UDP || protocol == IPPROTO_UDPLITE ||
				   protocol == IPPROTO_ICMP || protocol == PROTO_ICMPV6))
		return 1;
	deny_task(0, 0, what.word);
	return 0;
}

static __always_inline void passive_established(struct bpf_sock_ops *ctx, struct bpf_sock *sk)
{
	__u32 ip4 = ctx->remote_ip4, a = ctx->remote_ip6[0], b = ctx->remote_ip6[1], c = ctx->remote_ip6[2],
	      d = ctx->remote_ip6[3];
	struct socket *s;

	asm volatile("" : "+r"(ip4), "+r"(a), "+r"(b), "+r"(c), "+r"(d));
	s = bpf_sk_storage_get(&sockets, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
	if (!s)
		return;
	s->peer = ctx->family == AF_INET ? from_ipv4(ip4) :
					   (struct address){ (__u64)b << 32 | a, (__u64)d << 32 | c };
	s->peer_port = bpf_ntohl(ctx->remote_port);
	s->redirect = REDIRECT_NONE;
	s->mark = MARK_PASSIVE;
}

#ifndef EGRESS_SHARED
/* Before the SYN: the proxy finds it when it accepts. */
static __always_inline void tell_proxy(struct bpf_sock_ops *ctx, struct bpf_sock *sk)
{
	struct egress_proxied value = {};
	struct egress_proxied_key key = { .port = ctx->local_port };
	struct socket *s = bpf_sk_storage_get(&sockets, sk, 0, 0);

	if (!s || s->redirect != REDIRECT_PROXY)
		return;
	key.v6 = s->proxy_v6;
	__builtin_memcpy(value.address, &s->wanted, sizeof(value.address));
	value.port = s->wanted_port;
	value.generation = state.generation;
	value.cookie = bpf_get_socket_cookie(ctx);
	bpf_map_update_elem(&proxied, &key, &value, BPF_ANY);
}
#endif

SEC("sockops")
int PROGRAM(sockops)(struct bpf_sock_ops *ctx)
{
	struct bpf_sock *sk = ctx->sk;

	if (!sk)
		return 1;
	if (ctx->op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB)
		passive_established(ctx, sk);
#ifndef EGRESS_SHARED
	else if (ctx->op == BPF_SOCK_OPS_TCP_CONNECT_CB)
		tell_proxy(ctx, sk);
#endif
	return 1;
}

/* For the helpers that the kernel keeps for such programs; these files may be used under GPL-2.0, too. */
char LICENSE[] SEC("license") = "GPL";

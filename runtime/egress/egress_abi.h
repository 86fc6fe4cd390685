/*
 * What the BPF programs of egress and the programs that load them agree on: layouts of map
 * keys and values, and of the records in the ring. Included by both; plain kernel types.
 *
 * Addresses are 16 bytes in network order, IPv4 as ::ffff:a.b.c.d. Ports are in host order
 * but where a name ends in _be.
 */
#pragma once

#include <linux/types.h>

/* Every program's name begins with one of these: that is how a set is known on a cgroup. */
#define EGRESS_SHARED_PREFIX "egdeny_"
#define EGRESS_PRIVATE_PREFIX "egrule_"

#define EGRESS_F_HOST_NETNS (1u << 0) /* loopback and own addresses are the host's: denied */
#define EGRESS_F_LOCAL_DNS6 (1u << 1) /* ::1 is a name server of resolv.conf: redirect it, too */

#define EGRESS_LOCAL_DNS_MAX 3
/* Docker's resolver listens in the container's netns and asks on outside it. */
#define EGRESS_DOCKER_DNS 0x7f00000bu

/* For the shared set one for each cgroup (made, zeroed, by attaching); else in .data. */
struct egress_state {
	__u64 cgroup; /* id, copied into events */
	__u32 flags;
	__u32 generation; /* a flow that was allowed under another one is judged again */
	__u32 local_dns_be[EGRESS_LOCAL_DNS_MAX]; /* loopback name servers of resolv.conf; 0 = none */
	__u32 slot; /* of the ring for denials, counted from 1; 0 = none. Shared set only */
	/* Listeners on 127.0.0.1 and ::1 in the container's network; 0 = none: such packets are denied. */
	__u16 dns4_udp_be, dns4_tcp_be, dns6_udp_be, dns6_tcp_be;
	__u16 proxy4_be, proxy6_be;
	__u32 tokens;
	__u64 window; /* when tokens were refilled */
	__u64 denied, suppressed, lost;
};

enum egress_mark { EGRESS_MARK_NONE, EGRESS_MARK_ACTIVE, EGRESS_MARK_PASSIVE, EGRESS_MARK_APPROVED };
enum egress_redirect { EGRESS_REDIRECT_NONE, EGRESS_REDIRECT_DNS, EGRESS_REDIRECT_PROXY };

/* What the programs remember of a socket: struct socket in egress_kernel.h. */
struct egress_socket {
	__u8 wanted[16];
	__u8 peer[16];
	__u16 wanted_port, peer_port;
	__u8 redirect, mark, proxy_v6, zero;
	__u32 generation;
	__u32 padding;
};

#define EGRESS_EVENTS_PER_SECOND 64
#define EGRESS_RING_BYTES 16384 /* a power of two, whole pages */
#define EGRESS_RING_SLOTS 4096

enum egress_hook {
	EGRESS_HOOK_CONNECT = 1,
	EGRESS_HOOK_SENDMSG,
	EGRESS_HOOK_SOCKET, /* a kind of socket that is never allowed */
	EGRESS_HOOK_PACKET, /* a packet on its way out: no process is known */
	EGRESS_HOOK_SPOOFED, /* came in by loopback from an address that is not there */
};

/* A denial. */
struct egress_event {
	__u64 boot_ns;
	__u64 cgroup; /* that the programs are attached to */
	__u8 address[16];
	__u16 port, local_port;
	__u8 hook, family, protocol, type; /* type: SOCK_*, for HOOK_SOCKET */
	__u32 ifindex;
	__u32 pid, tid, uid; /* 0 in HOOK_PACKET and HOOK_SPOOFED */
	char comm[16];
	__u64 suppressed; /* so far */
};

/* LPM: address ranges. */
struct egress_net_key {
	__u32 bits;
	__u8 address[16];
};

#define EGRESS_SET_ALL	  0u /* every protocol and port */
#define EGRESS_SET_CLOSED 1u /* a floor: closed, whatever a name says */
#define EGRESS_SET_NONE   2u /* nothing by itself; a name may open more */
#define EGRESS_SET_FIRST  3u
struct egress_net {
	__u32 set;
};

/* LPM: which ports a set has. bits 32 + 8 (every port of a protocol) to 32 + 8 + 16. */
struct egress_port_key {
	__u32 bits;
	__u32 set;
	__u8 protocol; /* IPPROTO_TCP, IPPROTO_UDP, or another one without ports */
	__u8 port_be[2];
	__u8 zero;
};

enum egress_verdict { EGRESS_DENY, EGRESS_ALLOW, EGRESS_PROXY };
struct egress_port {
	__u32 verdict;
};

/* Addresses that a name server's answer opened. */
struct egress_name_key {
	__u8 address[16];
};

struct egress_name {
	__u64 expires; /* CLOCK_BOOTTIME, ns */
	__u32 set; /* in the names' own port map */
	__u32 zero;
};

/* Connections on their way to the proxy, by the port they come from. */
struct egress_proxied_key {
	__u16 port;
	__u8 v6;
	__u8 zero;
};

struct egress_proxied {
	__u8 address[16];
	__u16 port;
	__u16 zero;
	__u32 generation;
	__u64 cookie; /* of the container's socket */
};

/* UDP peers: whom we may write to without a rule, and flows that a rule allowed. */
struct egress_peer_key {
	__u64 netns; /* cookie of the network namespace, or of the socket where the kernel cannot tell */
	__u64 cgroup;
	__u8 address[16];
	__u16 port, local_port;
	__u32 zero;
};

enum egress_peer_kind { EGRESS_PEER_INBOUND = 1, EGRESS_PEER_OUTBOUND };
struct egress_peer {
	__u64 seen; /* CLOCK_BOOTTIME, ns */
	__u32 generation;
	__u32 kind;
};

#define EGRESS_PEER_INBOUND_NS	(180ULL * 1000000000ULL) /* as long as conntrack keeps a UDP stream */
#define EGRESS_PEER_OUTBOUND_NS (30ULL * 1000000000ULL)

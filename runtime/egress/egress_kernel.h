/*
 * BPF side, first part: maps, the state of the cgroup, and the report of a denial. Included
 * by egress_deny.bpf.c and egress_private.bpf.c only; EGRESS_SHARED says which one it is.
 *
 * Functions without "static" are verified once for each program that calls them instead of
 * once for each call: that is most of the loading time.
 */
#pragma once

#include <linux/bpf.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <stdbool.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "egress/egress_abi.h"

#define AF_INET	     2
#define AF_INET6     10
#define SOCK_STREAM  1
#define SOCK_DGRAM   2
#define PROTO_MPTCP  262
#define PROTO_ICMPV6 58
#define LOOPBACK_IFINDEX 1


/* Set before loading: cgroup_skb programs can ask for the netns cookie since Linux 6.15. */
const volatile __u32 has_netns_cookie = 1;

/* An address as two words, in network order: cheap to compare and to pass on. */
struct address {
	__u64 hi, lo;
};

#define MARK_NONE	EGRESS_MARK_NONE
#define MARK_ACTIVE	EGRESS_MARK_ACTIVE
#define MARK_PASSIVE	EGRESS_MARK_PASSIVE
#define MARK_APPROVED	EGRESS_MARK_APPROVED
#define REDIRECT_NONE	EGRESS_REDIRECT_NONE
#define REDIRECT_DNS	EGRESS_REDIRECT_DNS
#define REDIRECT_PROXY	EGRESS_REDIRECT_PROXY

/* What is remembered of a socket. */
struct socket {
	struct address wanted; /* before a redirect */
	struct address peer; /* of the mark */
	__u16 wanted_port, peer_port;
	__u8 redirect, mark, proxy_v6, zero;
	__u32 generation;
};
_Static_assert(sizeof(struct socket) == sizeof(struct egress_socket) &&
		       __builtin_offsetof(struct socket, mark) == __builtin_offsetof(struct egress_socket, mark) &&
		       __builtin_offsetof(struct socket, generation) == __builtin_offsetof(struct egress_socket, generation),
	       "what user space reads");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct socket);
} sockets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct egress_peer_key);
	__type(value, struct egress_peer);
} peers SEC(".maps");

#ifdef EGRESS_SHARED

struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_STORAGE);
	__type(key, __u64); /* one value for all programs of a cgroup */
	__type(value, struct egress_state);
} states SEC(".maps");

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, EGRESS_RING_BYTES);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, EGRESS_RING_SLOTS);
	__uint(key_size, sizeof(__u32));
	__array(values, struct ring);
} rings SEC(".maps");

/* Which cgroup a ring belongs to; for the programs that hand them out. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, EGRESS_RING_SLOTS);
	__type(key, __u32);
	__type(value, __u64);
} owners SEC(".maps");

#define state_get() ((struct egress_state *)bpf_get_local_storage(&states, 0))

static __always_inline struct egress_event *event_reserve(struct egress_state *st)
{
	__u32 slot = st->slot - 1;
	void *ring;

	ring = bpf_map_lookup_elem(&rings, &slot);
	return ring ? bpf_ringbuf_reserve(ring, sizeof(struct egress_event), 0) : (void *)0;
}

#define PROGRAM(name) egdeny_##name

#else

struct egress_state state;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, EGRESS_RING_BYTES);
} ring SEC(".maps");

#define state_get() (&state)

static __always_inline struct egress_event *event_reserve(struct egress_state *st)
{
	return bpf_ringbuf_reserve(&ring, sizeof(struct egress_event), 0);
}

#define PROGRAM(name) egrule_##name

#endif

static __always_inline struct address from_ipv4(__u32 be)
{
	return (struct address){ 0, (__u64)be << 32 | bpf_htonl(0xffff) };
}

static __always_inline bool is_ipv4(struct address a)
{
	return !a.hi && (__u32)a.lo == bpf_htonl(0xffff);
}

static __always_inline __u32 to_ipv4(struct address a)
{
	return a.lo >> 32;
}

static __always_inline bool same(struct address a, struct address b)
{
	return a.hi == b.hi && a.lo == b.lo;
}

enum locality { LOCAL_NOT, LOCAL_LOOPBACK, LOCAL_DOCKER_DNS };

/* "This host" as a destination means loopback, too. */
__noinline int locality_words(__u64 hi, __u64 lo)
{
	__u32 first = lo, last = lo >> 32;

	if (hi)
		return LOCAL_NOT;
	if (first == bpf_htonl(0xffff)) {
		if (last == bpf_htonl(EGRESS_DOCKER_DNS))
			return LOCAL_DOCKER_DNS;
		return (bpf_ntohl(last) >> 24) == 127 || !last ? LOCAL_LOOPBACK : LOCAL_NOT;
	}
	return !first && (last == bpf_htonl(1) || !last) ? LOCAL_LOOPBACK : LOCAL_NOT;
}

static __always_inline int locality(struct address a)
{
	return locality_words(a.hi, a.lo);
}

struct denial {
	__u16 port, local_port;
	__u8 hook, family, protocol, type;
};

/* One word, so that the five arguments of a BPF function suffice. */
union denial_word {
	struct denial d;
	__u64 word;
};

static __always_inline struct egress_event *deny_begin(__u64 hi, __u64 lo, __u64 word, __u32 ifindex)
{
	struct egress_state *st = state_get();
	union denial_word what = { .word = word };
	__u64 now = bpf_ktime_get_boot_ns();
	struct egress_event *e;

	__sync_fetch_and_add(&st->denied, 1);
	/* Races let a few records more through; they never lose a count. */
	if (now - st->window > 1000000000ULL) {
		st->window = now;
		st->tokens = EGRESS_EVENTS_PER_SECOND;
	}
	if ((__s32)st->tokens <= 0) {
		__sync_fetch_and_add(&st->suppressed, 1);
		return 0;
	}
	st->tokens--;
	e = event_reserve(st);
	if (!e) {
		__sync_fetch_and_add(&st->lost, 1);
		return 0;
	}
	__builtin_memset(e, 0, sizeof(*e));
	e->boot_ns = now;
	e->cgroup = st->cgroup;
	((__u64 *)e->address)[0] = hi;
	((__u64 *)e->address)[1] = lo;
	e->port = what.d.port;
	e->local_port = what.d.local_port;
	e->hook = what.d.hook;
	e->family = what.d.family;
	e->protocol = what.d.protocol;
	e->type = what.d.type;
	e->ifindex = ifindex;
	e->suppressed = st->suppressed;
	return e;
}

/* In the context of the process that did it. */
__noinline int deny_task(__u64 hi, __u64 lo, __u64 word)
{
	struct egress_event *e = deny_begin(hi, lo, word, 0);
	__u64 ids;

	if (!e)
		return 0;
	ids = bpf_get_current_pid_tgid();
	e->pid = ids >> 32;
	e->tid = ids;
	e->uid = bpf_get_current_uid_gid();
	bpf_get_current_comm(e->comm, sizeof(e->comm));
	bpf_ringbuf_submit(e, 0);
	return 0;
}

/* For packets, whose sender may be anybody by now. */
__noinline int deny_packet(__u64 hi, __u64 lo, __u64 word, __u32 ifindex)
{
	struct egress_event *e = deny_begin(hi, lo, word, ifindex);

	if (e)
		bpf_ringbuf_submit(e, 0);
	return 0;
}

/*
 * A UDP peer that wrote to us, or a flow that a rule allowed. ports: the peer's, and ours above
 * it.
 */
__noinline int known_peer(__u64 netns, __u64 hi, __u64 lo, __u32 ports)
{
	struct egress_state *st = state_get();
	struct egress_peer_key key = { .netns = netns, .cgroup = st->cgroup, .port = ports, .local_port = ports >> 16 };
	struct egress_peer *peer;
	__u64 now, age;

	__builtin_memcpy(key.address, &hi, sizeof(hi));
	__builtin_memcpy(key.address + 8, &lo, sizeof(lo));
	peer = bpf_map_lookup_elem(&peers, &key);
	if (!peer)
		return 0;
	now = bpf_ktime_get_boot_ns();
	age = now - peer->seen;
	if (peer->kind == EGRESS_PEER_INBOUND)
		return age < EGRESS_PEER_INBOUND_NS;
	if (age >= EGRESS_PEER_OUTBOUND_NS || peer->generation != st->generation)
		return 0;
	peer->seen = now;
	return 1;
}

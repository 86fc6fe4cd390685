/*
 * BPF side, second part: what the rules say about an address, a protocol and a port. The
 * shared set has none. Included by the two .bpf.c files only.
 */
#pragma once

#include "egress/egress_kernel.h"

#ifdef EGRESS_SHARED

static __always_inline int judge(struct address to, __u32 protocol, __u32 port)
{
	return EGRESS_DENY;
}

#else

/* Ranges are merged when they are written: the longest one decides alone. */
struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 32768);
	__type(key, struct egress_net_key);
	__type(value, struct egress_net);
} nets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, struct egress_port_key);
	__type(value, struct egress_port);
} net_ports SEC(".maps");

/*
 * Beside the ranges, and not among them, so that an opened address cannot hide the range it
 * lies in, and so that who fills this one need not be able to change those.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4096); /* EGRESS_LEASES_MAX: the resolver keeps no more */
	__type(key, struct egress_name_key);
	__type(value, struct egress_name);
} names SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, struct egress_port_key);
	__type(value, struct egress_port);
} name_ports SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, struct egress_proxied_key);
	__type(value, struct egress_proxied);
} proxied SEC(".maps");

#define PORT_KEY_BITS (8 * (sizeof(struct egress_port_key) - sizeof(__u32) - 1))

__noinline int judge_words(__u64 hi, __u64 lo, __u32 protocol, __u32 port)
{
	struct egress_net_key net = { .bits = 128 };
	struct egress_port_key key = { .bits = PORT_KEY_BITS };
	struct egress_name_key name;
	struct egress_net *range;
	struct egress_name *opened;
	struct egress_port *found;

	__builtin_memcpy(net.address, &hi, sizeof(hi));
	__builtin_memcpy(net.address + 8, &lo, sizeof(lo));
	key.protocol = protocol;
	key.port_be[0] = port >> 8;
	key.port_be[1] = port;

	range = bpf_map_lookup_elem(&nets, &net);
	if (range) {
		if (range->set == EGRESS_SET_CLOSED)
			return EGRESS_DENY;
		if (range->set == EGRESS_SET_ALL)
			return EGRESS_ALLOW;
		key.set = range->set;
		if (bpf_map_lookup_elem(&net_ports, &key))
			return EGRESS_ALLOW;
	}
	__builtin_memcpy(name.address, net.address, sizeof(name.address));
	opened = bpf_map_lookup_elem(&names, &name);
	if (!opened || opened->expires < bpf_ktime_get_boot_ns())
		return EGRESS_DENY;
	key.set = opened->set;
	found = bpf_map_lookup_elem(&name_ports, &key);
	return found ? found->verdict : EGRESS_DENY;
}

/* UDP-Lite has UDP's ports, and no rule names it. */
static __always_inline int judge(struct address to, __u32 protocol, __u32 port)
{
	int verdict = judge_words(to.hi, to.lo, protocol == IPPROTO_UDPLITE ? IPPROTO_UDP : protocol, port);

	if (verdict == EGRESS_ALLOW)
		return EGRESS_ALLOW;
	return verdict == EGRESS_PROXY && protocol == IPPROTO_TCP ? EGRESS_PROXY : EGRESS_DENY;
}

#endif

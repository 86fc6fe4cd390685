/*
 * Egress: nothing leaves a container but what its rules name. BPF programs on its cgroup,
 * in two tiers that deny by default:
 *
 *   shared    loaded once for each boot and build, pinned, attached in a fraction of a
 *             millisecond: loopback, replies to what came in, questions to the resolver.
 *             On every container's cgroup before a process is in it.
 *   private   for containers with rules: programs and maps of their own, attached beside the
 *             shared ones, which are taken away when these are in force. Both must agree, so
 *             there is no moment without.
 *
 * Attached this way, programs live exactly as long as the cgroup, whoever dies. They follow
 * the socket: what was made in the cgroup stays under them. Needs Linux 6.1 and, but for what
 * is said to work later, the rights of root in the initial user namespace. cgroup
 * descriptors are folders of the v2 hierarchy.
 *
 * Addresses are 16 bytes in network order, IPv4 as ::ffff:a.b.c.d. Ports are in host order.
 */
#pragma once

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "egress/egress_abi.h"
#include "egress/egress_rules.h"
#include "util/error.h"
#include "util/evloop.h"

#define EGRESS_BPF_DIR "/run/agentrun/bpf" /* a bpffs of our own */
#define EGRESS_PREPARE_PROGRAM "agentrun-bpf"

/* ---- The shared set ---- */

/* The pins are missing: run agentrun-bpf, or egress_prepare(). */
enum { EGRESS_E_NOT_LOADED = 1 };

/*
 * Puts the shared set on an empty cgroup. Plain bpf(2), nothing is loaded. flags:
 * EGRESS_F_HOST_NETNS when the container's processes will be in the host's network. 0,
 * EGRESS_E_NOT_LOADED, or negative; then nothing is attached.
 */
int egress_deny_attach(int cgroup_fd, unsigned flags, struct error *err);
/* The same, and runs agentrun-bpf when the set is not loaded. 0 or negative. */
int egress_deny(int cgroup_fd, unsigned flags, struct error *err);
/* Takes all programs of ours off, once no process is there any more: for a cgroup that stays. */
int egress_off(int cgroup_fd, struct error *err);
/*
 * Mounts the bpffs where it is missing, loads and pins the set, removes sets of older builds.
 * Needs some 100 KB of code and data: for a program of its own. Harmless when all is there.
 */
int egress_prepare(struct error *err);

/* ---- The container's monitor ---- */

struct egress;

struct egress_options {
	unsigned flags; /* as above */
	bool restricted; /* there are rules, of whatever kind: private set; else the shared one is kept */
	const struct egress_rule *rules; /* ranges; names come by egress_allow() */
	size_t n_rules;
};

/*
 * Puts the private set in force on a cgroup that has the shared one, or, without rules, gets
 * a ring for the denials of the shared one. For a cgroup that no process is in: others lose
 * their connections. On failure the cgroup has one of the sets whole, at least.
 */
int egress_open(int cgroup_fd, const struct egress_options *options, struct egress **ret, struct error *err);
struct egress *egress_free(struct egress *e);
static inline void egress_freep(struct egress **e)
{
	*e = egress_free(*e);
}
#define _cleanup_egress_ _cleanup_(egress_freep)

/* Where things listen in the container's network, on 127.0.0.1 and ::1; 0 = nowhere. */
struct egress_listeners {
	uint16_t dns4_udp, dns4_tcp, dns6_udp, dns6_tcp; /* get what goes to port 53 */
	uint16_t proxy4, proxy6; /* get connections whose server name must be checked */
	/* Name servers of resolv.conf that are on loopback: what goes there on port 53 is ours, too. */
	struct in_addr local4[EGRESS_LOCAL_DNS_MAX];
	size_t n_local4;
	bool local6;
};
/* Before egress_drop(). Without it questions to name servers are denied like all else. */
int egress_publish(struct egress *e, const struct egress_listeners *l, struct error *err);

/*
 * Gives up all descriptors that could change the rules or see other containers. What is
 * below needs no privilege on Linux 5.19 and newer.
 */
void egress_drop(struct egress *e);

/* A set of ports of names: number is the caller's, below EGRESS_NAME_SETS, and stays as it is. */
#define EGRESS_NAME_SETS 4096u
int egress_name_set(struct egress *e, unsigned number, const struct egress_range *ranges, size_t n,
		    struct error *err);
/*
 * Opens an address for a set, or replaces what is open there, until expires (CLOCK_BOOTTIME,
 * ns). Connections that exist by then go on. -ENOSPC when there are too many, -EPERM
 * without the private set.
 */
int egress_allow(struct egress *e, const uint8_t address[16], unsigned set, uint64_t expires);
int egress_forget(struct egress *e, const uint8_t address[16]);

/* Where a connection to the proxy wanted to go. */
struct egress_target {
	uint8_t address[16];
	uint16_t port;
	uint64_t cookie; /* SO_COOKIE of the container's socket */
};
/* Nobody was sent to the proxy from there: a connection to be closed. */
enum { EGRESS_E_UNKNOWN = 1 };
/*
 * peer: of the socket that the proxy accepted. Each connection can be asked for once. 0,
 * EGRESS_E_UNKNOWN or negative.
 */
int egress_target_take(struct egress *e, const struct sockaddr *peer, struct egress_target *ret);

typedef void (*egress_event_fn)(void *arg, const struct egress_event *event);
/* Hands over denials as they come. The loop must end, or egress_unwatch() be called, before e is freed. */
int egress_watch(struct egress *e, struct evloop *loop, egress_event_fn fn, void *arg, struct error *err);
void egress_unwatch(struct egress *e, struct evloop *loop);
/* What is there now; the number of denials, or negative. */
int egress_drain(struct egress *e, egress_event_fn fn, void *arg);

/* Forgets the denials so far: those of egress_prove() are not the container's. Before egress_drop(). */
int egress_forget_denials(struct egress *e, struct error *err);

struct egress_counters {
	uint64_t denied;
	uint64_t suppressed; /* of those: told by no event, since there were too many */
	uint64_t lost; /* of those: nobody had read the earlier ones, or nobody reads them at all */
};
/* Of the shared set: only before egress_drop(), else -EPERM. */
int egress_counters(const struct egress *e, struct egress_counters *ret);
bool egress_is_private(const struct egress *e);

/* ---- Anybody with the rights, at any time ---- */

struct egress_status {
	bool shared, private; /* attached, complete */
	bool host_netns;
	uint32_t generation;
	struct egress_counters counters;
};
/* For `explain`. Neither set: both false, and 0. */
int egress_status(int cgroup_fd, struct egress_status *ret, struct error *err);
/*
 * Replaces the ranges of a private set. Flows that are not allowed any more end: those that
 * rules or names allowed are judged again with their next packet. -ENOENT without a private set.
 */
int egress_update(int cgroup_fd, const struct egress_rule *rules, size_t n, struct error *err);
/* Judges all flows again, for a change of names: after the monitor has forgotten their addresses. */
int egress_revoke(int cgroup_fd, struct error *err);
/*
 * After either: closes the TCP connections whose packets are refused since, so that they fail at once (ECONNABORTED)
 * instead of by a time-out. netns_fd: the container's. *ret_cut: how many; none where the kernel cannot
 * (CONFIG_INET_DIAG_DESTROY). Single-threaded callers only: enters the namespace for a moment.
 */
int egress_cut(int cgroup_fd, int netns_fd, size_t *ret_cut, struct error *err);

/*
 * The proof: a child in the cgroup must be refused a datagram to an address that no rule can
 * open and a raw socket, and must reach loopback (in the host's network: must not).
 */
int egress_prove(int cgroup_fd, unsigned flags, struct error *err);
/* The host's own addresses, for lists of what is never open; malloc'ed. From the host's network. */
int egress_host_addresses(uint8_t (**ret)[16], size_t *ret_n, struct error *err);

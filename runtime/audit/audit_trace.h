/*
 * Exec audit: which programs the kernel executed in a container and how they ended.
 *
 * One pair of BPF programs for the host, pinned with its maps in a bpffs below
 * exec-BUILD/ and made once per boot (audit_trace_prepare()). A container is bound to a ring
 * by one entry in a hash (audit_trace_bind()): rings lie ready in a pool, because putting
 * one there makes the kernel wait for 10 ms and more. Its reader needs no privilege
 * (audit_trace_reader.h).
 *
 * Everything here needs CAP_BPF, CAP_PERFMON and CAP_SYS_ADMIN in the initial user
 * namespace, and Linux 5.17.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/audit_abi.h"
#include "audit/audit_trace_pool.h"
#include "util/cleanup.h"
#include "util/error.h"

/* Rings of the normal class that are kept ready: a quarter of those in use, within these. */
#define AUDIT_TRACE_POOL     8u
#define AUDIT_TRACE_POOL_MAX 64u
#define AUDIT_TRACE_WAKE_NS UINT64_C(100000000)

enum audit_trace_conditions {
	AUDIT_TRACE_E_UNPREPARED = 1, /* nothing pinned by this build: audit_trace_prepare() first */
};

/*
 * Loads, attaches and pins the programs below bpffs, a mounted bpffs, unless that has been
 * done; removes sets of other builds that nobody uses; fills the pool with `ready` rings
 * (AUDIT_TRACE_POOL). Processes may do it at the same time.
 */
int audit_trace_prepare(const char *bpffs, uint32_t ready, struct error *err);

/* The pinned maps of this build. */
struct audit_trace_set {
	int dir; /* with a shared lock: the set is not removed while we have it */
	int bindings, rings, counters;
	int links[2];
	struct audit_book *book; /* mapped */
};
#define AUDIT_TRACE_SET_NULL                                                                  \
	((struct audit_trace_set){                                                            \
		.dir = -EBADF, .bindings = -EBADF, .rings = -EBADF, .counters = -EBADF,       \
		.links = { -EBADF, -EBADF } })

/* 0, AUDIT_TRACE_E_UNPREPARED or a negative errno. */
int audit_trace_open(const char *bpffs, struct audit_trace_set *ret, struct error *err);
void audit_trace_close(struct audit_trace_set *set);
#define _cleanup_audit_trace_ _cleanup_(audit_trace_close)

struct audit_trace_request {
	int cgroup; /* folder of the container in the v2 hierarchy, still without processes */
	enum audit_ring_class class;
	uint64_t wake_ns; /* 0 = AUDIT_TRACE_WAKE_NS: records wait for their reader at most this long, and a half */
	uint32_t pid_ns; /* inode number of the pid namespace whose numbers are recorded; 0 = the first */
	uint32_t argv_max; /* bytes kept of argv; 0 = AUDIT_REC_ARGV_MAX, which is the most */
	bool die; /* an exec that cannot be recorded is killed before its first instruction */
};

/* Plain data but for the descriptors: the state record keeps cgroup, slot and generation. */
struct audit_trace_bound {
	uint64_t cgroup;
	uint32_t slot, generation;
	int ring, counters; /* for the reader alone; frozen: only the programs change them */
	int links[2]; /* open as long as the container is: without pins the programs stay all the same */
	bool grown; /* no ring was ready: one was made, and it took long */
};
#define AUDIT_TRACE_BOUND_NULL                                        \
	((struct audit_trace_bound){ .ring = -EBADF, .counters = -EBADF, \
				     .links = { -EBADF, -EBADF } })

/*
 * From its return on every exec in the cgroup and below it is recorded. -EBUSY when the cgroup
 * or one above it is bound already, -ENOSPC when AUDIT_SLOTS_MAX containers are.
 */
int audit_trace_bind(struct audit_trace_set *set, const struct audit_trace_request *req,
		     struct audit_trace_bound *ret, struct error *err);
void audit_trace_bound_done(struct audit_trace_bound *bound);
#define _cleanup_audit_bound_ _cleanup_(audit_trace_bound_done)

/*
 * The proof, at the execve of the container's first program: it was recorded. -EIO when not;
 * then the audit is not in force and the program must not run.
 */
int audit_trace_prove(const char *bpffs, uint64_t cgroup, uint32_t slot, uint32_t generation,
		      struct error *err);

/*
 * Ends the binding; the last step after the container's processes have ended and the reader
 * has drained the ring. Its memory goes when the last descriptor is closed and the slot made
 * ready for another container by audit_trace_refill(). ret may be NULL. Done already: 0.
 */
int audit_trace_release(struct audit_trace_set *set, uint64_t cgroup, uint32_t slot, uint32_t generation,
			struct audit_counters *ret, struct error *err);

/*
 * Off the start path: releases what belongs to cgroups that are gone (cgroup2: a mount of the
 * v2 hierarchy, NULL = do not look), makes rings until `ready` are (0 = as many as are kept
 * ready), frees the memory of used ones.
 */
int audit_trace_refill(struct audit_trace_set *set, enum audit_ring_class class, uint32_t ready,
		       const char *cgroup2, struct error *err);
/*
 * The same with rings of the normal class and in a process of its own, when less than half of
 * them are ready: for who has bound one and has more to do. Does not wait for it.
 */
int audit_trace_refill_aside(struct audit_trace_set *set, const char *cgroup2, struct error *err);

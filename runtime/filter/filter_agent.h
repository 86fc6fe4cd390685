/*
 * The mandatory filter: agent profiles (own format, an extension of Docker's seccomp JSON)
 * into BPF by an own compiler, and the order in which it and the specification's filter are
 * loaded. Knows nothing of containers or policies.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "filter/filter.h"

#define FILTER_AGENT_BYTES_MAX ((size_t)1024 * 1024)

/* The running machine's AUDIT_ARCH_* value. */
#if defined(__x86_64__)
#define FILTER_AGENT_NATIVE 0xc000003eu
#elif defined(__aarch64__)
#define FILTER_AGENT_NATIVE 0xc00000b7u
#else
#error "agent profiles are for x86_64 and aarch64"
#endif

/* One of the profiles built into the program, with what the compiler made of it. */
struct filter_agent_shipped {
	const char *name; /* "agent-default" */
	const char *text; /* its JSON */
	size_t len;
	const struct sock_filter *insns; /* for FILTER_AGENT_NATIVE */
	size_t count;
	const struct sock_filter *report_insns; /* the variant that reports */
	size_t report_count;
	const struct sock_filter *yield_insns; /* says of which calls that is */
	size_t yield_count;
	unsigned flags;
};

/* Ended by a NULL name. Written by filter-gen at build time. */
extern const struct filter_agent_shipped filter_agent_shipped[];

/*
 * Compiles profile text; name (a path) is for messages. What holds for every profile, whatever
 * it says: another architecture's entry points kill the process, x32 numbers and numbers that
 * this program does not know get ENOSYS, -1 passes (a tracer's "skip this call"). Needs no
 * privilege. -EINVAL names the rule, -E2BIG a program of more than BPF_MAXINSNS.
 */
int filter_agent_compile(const char *name, const char *json, size_t len, uint32_t arch,
			 struct filter *ret, struct error *err);
/* A shipped profile: no parsing, only a copy. -ENOENT lists the names. */
int filter_agent_builtin(const char *profile_name, struct filter *ret, struct error *err);
/*
 * What a policy's seccomp.profile names: a shipped profile, or the absolute path of an
 * operator's file, which must belong to root (or to us) and be writable by nobody else.
 * Programs of files are kept in cache_dir_fd (-EBADF: not), as filter_compile() does.
 */
int filter_agent_open(const char *profile, int cache_dir_fd, struct filter *ret,
		      struct error *err);

/*
 * The same profile, but rules marked "report" ask a listener (ret->notify) in place of giving
 * their errno: for each question filter_verdict() of the plain program tells the answer, and
 * filter_denials_describe() what to say of it. A profile without such rules comes out plain.
 */
int filter_agent_open_reporting(const char *profile, int cache_dir_fd, struct filter *ret, struct error *err);
/*
 * Has spec, whose program comes from libseccomp, leave to that profile what it would report: an errno of spec's
 * would win over the question (seccomp(2)). Where spec gives an errno and the profile asks, spec lets
 * the call through, for the profile to deny; what spec kills, traps or hands to its own
 * listener stays so. Calls that spec allows take the way they took. spec may be empty. FILTER_E_FULL: spec is
 * as it was, since both do not fit into one program: what it denies itself will not be reported.
 */
enum filter_agent_conditions { FILTER_E_FULL = 2 };
int filter_agent_yield(const char *profile, int cache_dir_fd, struct filter *spec, struct error *err);
/*
 * Text of an operator's profile, with the same checks as above; malloc'ed. NULL for a shipped one, whose text
 * filter_denials_new() knows.
 */
int filter_agent_text(const char *profile, char **ret, size_t *ret_len, struct error *err);

/*
 * For a process that may come to own the files of its cgroup: takes cgroup namespaces out of what the program of a
 * profile allows (EPERM; clone3 is ENOSYS then). A program that allows none stays as it is; shipped: whose
 * rules are known, which makes that quick to see. -E2BIG when it has no room. See filter_agent_cgroup.c.
 */
int filter_agent_keep_cgroup(struct filter *f, bool shipped, struct error *err);

/*
 * Whether a filter of this process and of its children can have a listener: 0, -ENOSYS (Linux before
 * 5.0) or -EBUSY (agentrun itself runs under a filter with one, and a process can have only one).
 */
int filter_listener_possible(void);

/* Two filters in loading order; either may be empty. Borrowed. */
struct filter_pair {
	const struct filter *first, *second;
};

/*
 * Of equal actions the kernel takes the value of the filter loaded last, so the agent's errnos,
 * which programs fall back on, win when it comes second. That is only possible when the
 * specification's filter lets seccomp(2) through, which is found by interpreting it; otherwise
 * the agent's comes first and the specification's errnos are accepted. Pure. Either may be NULL.
 * -EINVAL when neither filter permits loading the other.
 */
int filter_pair_order(const struct filter *spec, const struct filter *agent,
		      struct filter_pair *ret, struct error *err);
/* Whether both let a process send a descriptor over that socket, wherever its text lies. Pure. */
bool filter_pair_permits_sending(const struct filter_pair *p, int sock);
/*
 * filter_load() for both; the first one that notifies gives the listener (there can be one
 * only). Between the two loads and afterwards no call is made and nothing is allocated.
 */
int filter_pair_load(const struct filter_pair *p, int *ret_listener, struct error *err);

struct seccomp_data;
/* What a program says to a call, as the kernel would run it; kill for what the kernel refuses. */
uint32_t filter_verdict(const struct filter *f, const struct seccomp_data *data);

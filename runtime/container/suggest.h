/*
 * What a container was denied, from its log, and the policy lines that would allow it. Private to
 * runtime/container.
 */
#pragma once

#include "policy/policy.h"
#include "util/arena.h"
#include "util/json_write.h"
#include "util/str.h"

#define SUGGEST_ENTRIES_MAX 512 /* different ones; more are only counted */
#define SUGGEST_PORTS_MAX   64 /* of one rule, as in a policy file */

struct suggestion {
	const char *host, *cidr; /* a rule for one of them would allow it; neither: no rule would */
	uint16_t ports[SUGGEST_PORTS_MAX];
	size_t n_ports; /* 0 = every port */
	const char *protocol; /* NULL = any */
	bool by_address; /* with "verify": "address" */
	bool is_call; /* of the seccomp filter */
	const char *what; /* for people: "connect 93.184.216.11:8080 tcp" */
	const char *why; /* what the rule gives up, or why there is none */
	uint64_t count;
};

struct suggestions {
	struct arena arena;
	struct suggestion *items;
	size_t n;
	uint64_t denials, uncounted, others; /* uncounted: without a record of their own; others: beyond the limit */
	const char *profile, *file; /* as the log says; never NULL afterwards */
	/* The host's own addresses, which no line is suggested for. */
	uint8_t (*hosts)[16];
	size_t n_hosts;
	const struct policy_profile *now; /* to tell what the policy allows by itself; NULL = unknown */
};
#define SUGGESTIONS_NULL ((struct suggestions){ .n = 0 })
void suggestions_done(struct suggestions *s);
#define _cleanup_suggestions_ _cleanup_(suggestions_done)

/*
 * Reads the log of that name, at most records of it (0 = all). profile: as it was at create, for containers that are still
 * there, or NULL.
 */
int suggest_read(int dirfd, const char *log, const struct policy_profile *profile, uint64_t records,
		 struct suggestions *ret, struct error *err);
/* One denial; texts are any bytes. For suggest_read() and tests. */
struct suggest_denial {
	const char *what, *name, *address, *protocol, *reason, *allowed_by; /* as in the log; NULL = absent */
	uint16_t port;
	uint64_t more; /* that were equal */
};
int suggest_add(struct suggestions *s, const struct suggest_denial *d, struct error *err);

/* suggest_text.c: {"host": …}, as a policy file wants it. */
void suggest_rule_text(const struct suggestion *s, struct buf *b);
/* A line for each in `explain`. */
void suggest_explain(const struct suggestions *s, struct buf *text, struct json_writer *json);

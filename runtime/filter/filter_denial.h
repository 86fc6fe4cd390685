/*
 * A denied system call in words: which, with what, by which rule, and which profile would have
 * let it through. Pure: for the audit log and for people, after the decision was made.
 */
#pragma once

#include "filter/filter_agent.h"

struct seccomp_data;

struct filter_denial {
	char call[48]; /* "mount"; "call 999" when the tables do not know it */
	char args[256]; /* "AF_ALG, SOCK_SEQPACKET|SOCK_CLOEXEC, 0"; pointers as "pointer" or NULL */
	uint32_t error; /* what the caller gets; 0 = it is killed */
	bool report; /* the rule is marked so */
	const char *profile; /* whose rule; lives in the reader, as the next */
	int rule; /* place in its syscalls, -1 = none names the call: the default */
	const char *reason; /* the rule's comment, "" = none */
	char allowed_by[96]; /* shipped profiles, "agent-build, agent-nested"; "" = none of them */
};

/* A profile that was read for this purpose. */
struct filter_denials;
/* json NULL: the shipped profile of that name. name must outlive the reader. */
int filter_denials_new(const char *name, const char *json, size_t len, struct filter_denials **ret, struct error *err);
struct filter_denials *filter_denials_free(struct filter_denials *d);
static inline void filter_denials_freep(struct filter_denials **d)
{
	*d = filter_denials_free(*d);
}
#define _cleanup_filter_denials_ _cleanup_(filter_denials_freep)

enum filter_denial_conditions { FILTER_E_ALLOWED = 1 }; /* the profile allows this call */
int filter_denials_describe(const struct filter_denials *d, const struct seccomp_data *data, struct filter_denial *ret);

/* filter_denial_args.c: "AF_ALG, SOCK_SEQPACKET|SOCK_CLOEXEC, 0" for a call of the tables. */
struct filter_syscall;
/* One argument as far as that text tells it: all addresses are UINT64_MAX. */
uint64_t filter_denial_arg(const struct filter_syscall *call, unsigned index, const struct seccomp_data *data);
void filter_denial_args(const struct filter_syscall *call, const struct seccomp_data *data, char *buf, size_t size);

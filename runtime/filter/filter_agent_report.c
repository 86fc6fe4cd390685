/*
 * The variant of a profile whose denials are told: rules marked "report" return
 * SECCOMP_RET_USER_NOTIF, and whoever listens answers with the errno of the plain variant.
 * When nobody listens any more the kernel answers ENOSYS, which is a denial, too.
 */
#include "filter/filter_agent_private.h"

#include <assert.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1ul << 5) /* Linux 5.19 */
#endif

int agent_profile_report(struct agent_profile *p, struct arena *arena, struct error *err)
{
	struct agent_use *u;
	size_t i;

	for (i = 0; i < FILTER_SYSCALLS && !p->silent; i++) {
		for (u = p->calls[i].uses; u; u = u->next) {
			struct agent_rule *copy;

			if (!u->rule->report)
				continue;
			copy = arena_alloc(arena, sizeof(*copy));
			if (!copy)
				return error_oom(err);
			*copy = *u->rule;
			copy->action = SECCOMP_RET_USER_NOTIF;
			u->rule = copy;
		}
	}
	return 0;
}

void filter_agent_listen(struct filter *f)
{
	size_t i;

	for (i = 0; i < f->count && !f->notify; i++)
		f->notify = f->insns[i].code == (BPF_RET | BPF_K) && f->insns[i].k == SECCOMP_RET_USER_NOTIF;
	/* A process that waits for the answer may be killed, but no signal makes it ask again. */
	if (f->notify)
		f->flags |= SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
}

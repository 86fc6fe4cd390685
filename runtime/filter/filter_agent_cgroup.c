/*
 * What no profile can say, because it depends on who the process is: whether a cgroup namespace is a
 * way out of the limits. Whoever has one of his own, in a user namespace of his own, may mount the cgroup
 * hierarchies with his cgroup at their top, and its files are open to their owner.
 */
#include "filter/filter_agent.h"

#include <assert.h>
#include <errno.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "util/cleanup.h"

#define NEW_TIME 0x80 /* of unshare(2) */
#define FLAGS_OFFSET ((unsigned)offsetof(struct seccomp_data, args))

/* Who listens only ever denies. */
static bool allows(const struct filter *f, int call, uint64_t flags)
{
	const struct seccomp_data d = { .nr = call, .arch = FILTER_AGENT_NATIVE, .args = { flags } };

	switch (filter_verdict(f, &d) & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW:
	case SECCOMP_RET_LOG:
	case SECCOMP_RET_TRACE:
		return true;
	default:
		return false;
	}
}

/* How a shipped profile decides, three combinations tell; an operator's may look at any. */
static bool denied_anyhow(const struct filter *f, bool shipped)
{
	static const uint64_t others[] = { CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS, NEW_TIME };
	static const uint64_t ways[] = { 0, SIGCHLD, SIGCHLD | CLONE_VM | CLONE_VFORK };
	unsigned all = 1u << ELEMENTSOF(others), set;
	size_t i;

	if (allows(f, SYS_clone3, 0))
		return false;
	for (set = 0; set < all; set++) {
		uint64_t flags = CLONE_NEWCGROUP;

		if (shipped && set > 1 && set != all / 2 - 1)
			continue;
		for (i = 0; i < ELEMENTSOF(others); i++)
			flags |= set & 1u << i ? others[i] : 0;
		if (allows(f, SYS_unshare, flags))
			return false;
		for (i = 0; i < ELEMENTSOF(ways); i++)
			if (allows(f, SYS_clone, flags | ways[i]))
				return false;
	}
	return true;
}

int filter_agent_keep_cgroup(struct filter *f, bool shipped, struct error *err)
{
	/* In front of a program that begins anew. clone3 hides its flags: who gets ENOSYS there, takes clone. */
	static const struct sock_filter front[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, FILTER_AGENT_NATIVE, 0, 8),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 5, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, FLAGS_OFFSET),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_NEWCGROUP, 0, 2),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	};
	struct sock_filter *insns;

	assert(f && err);
	if (f->count == 0 || denied_anyhow(f, shipped))
		return 0;
	if (f->count + ELEMENTSOF(front) > BPF_MAXINSNS)
		return error_text(err, -E2BIG, "there is no room left in the program to keep the process in its cgroup: "
					       "shorten the profile by %zu instructions",
				  f->count + ELEMENTSOF(front) - BPF_MAXINSNS);
	insns = malloc((f->count + ELEMENTSOF(front)) * sizeof(*insns));
	if (!insns)
		return error_oom(err);
	memcpy(insns, front, sizeof(front));
	memcpy(insns + ELEMENTSOF(front), f->insns, f->count * sizeof(*insns));
	free(f->insns);
	f->insns = insns;
	f->count += ELEMENTSOF(front);
	return 0;
}

/*
 * Scheduling and placement of the process about to be executed: policy, I/O
 * priority, CPU affinity, NUMA memory policy, personality.
 */
#include "os/procattr.h"

#include <assert.h>
#include <linux/ioprio.h>
#include <string.h>
#include <sys/personality.h>

#include "os/syscalls.h"

/* More than any kernel is built for (NR_CPUS 8192, MAX_NUMNODES 1024). */
#define LIST_BITS      8192
#define LIST_WORD_BITS (8 * sizeof(unsigned long))

struct bit_list {
	unsigned long words[LIST_BITS / LIST_WORD_BITS];
};

/* The kernel's struct sched_attr, first version; its header does not go with the C library's
 * <sched.h>. */
struct sched_attributes {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/* One number; advances *p. */
static int list_number(const char **p, unsigned *ret)
{
	unsigned v = 0;

	if (**p < '0' || **p > '9')
		return -EINVAL;
	for (; **p >= '0' && **p <= '9'; (*p)++) {
		v = v * 10 + (unsigned)(**p - '0');
		if (v >= LIST_BITS)
			return -ERANGE;
	}
	*ret = v;
	return 0;
}

/* "0-3,5" */
static int list_parse(const char *p, struct bit_list *ret)
{
	unsigned first, last;
	int r;

	*ret = (struct bit_list){ 0 };
	for (;;) {
		r = list_number(&p, &first);
		if (r < 0)
			return r;
		last = first;
		if (*p == '-') {
			p++;
			r = list_number(&p, &last);
			if (r < 0)
				return r;
			if (last < first)
				return -EINVAL;
		}
		for (; first <= last; first++)
			ret->words[first / LIST_WORD_BITS] |= 1ul << first % LIST_WORD_BITS;
		if (*p == '\0' || (*p == '\n' && p[1] == '\0'))
			return 0;
		if (*p++ != ',')
			return -EINVAL;
	}
}

bool cpu_list_within(const char *inner, const char *outer)
{
	struct bit_list a, b;
	size_t i;

	if (list_parse(inner, &a) < 0 || list_parse(outer, &b) < 0)
		return false;
	for (i = 0; i < ELEMENTSOF(a.words); i++)
		if (a.words[i] & ~b.words[i])
			return false;
	return true;
}

int sched_apply(const struct sched_op *op, struct error *err)
{
	struct sched_attributes attr = {
		.size = sizeof(attr),
		.policy = (uint32_t)op->policy,
		.flags = op->flags,
		.nice = op->nice,
		.priority = (uint32_t)op->priority,
		.runtime = op->runtime,
		.deadline = op->deadline,
		.period = op->period,
	};

	if (syscall(SYS_sched_setattr, 0, &attr, 0) < 0)
		return error_set(err, -errno, "set scheduler policy %u (nice %d, priority %d)",
				 attr.policy, op->nice, op->priority);
	return 0;
}

int ioprio_apply(int class_, int priority, struct error *err)
{
	if (syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(class_, priority)) < 0)
		return error_set(err, -errno, "set I/O priority class %d, priority %d", class_,
				 priority);
	return 0;
}

int affinity_apply(const char *list, struct error *err)
{
	struct bit_list cpus;
	int r;

	assert(list);

	r = list_parse(list, &cpus);
	if (r < 0)
		return error_text(err, r, "CPU list \"%s\" is not of the form 0-3,5", list);
	/* The kernel ignores CPUs that do not exist, as long as one remains. */
	if (syscall(SYS_sched_setaffinity, 0, sizeof(cpus.words), cpus.words) < 0)
		return error_set(err, -errno, "set CPU affinity %s", list);
	return 0;
}

int affinity_verify(pid_t pid, const char *list, struct error *err)
{
	struct bit_list now = { 0 }, want;
	size_t i;
	int r = list_parse(list, &want);

	if (r < 0)
		return error_text(err, r, "CPU list \"%s\" is not of the form 0-3,5", list);
	if (syscall(SYS_sched_getaffinity, pid, sizeof(now.words), now.words) < 0)
		return error_set(err, -errno, "read the CPU affinity of process %d", pid);
	for (i = 0; i < ELEMENTSOF(now.words); i++)
		if (now.words[i] & ~want.words[i])
			return error_text(err, -EPERM, "verification of cpu affinity failed: the process may run outside of %s",
					  list);
	return 0;
}

void affinity_reset(void)
{
	struct bit_list cpus;

	memset(&cpus, 0xff, sizeof(cpus));
	(void)syscall(SYS_sched_setaffinity, 0, sizeof(cpus.words), cpus.words);
}

int personality_apply(unsigned long domain, struct error *err)
{
	if (personality(domain) < 0)
		return error_set(err, -errno, "set personality 0x%lx", domain);
	return 0;
}

int mempolicy_apply(int mode, const char *nodes, unsigned long flags, struct error *err)
{
	struct bit_list mask;
	bool has_nodes = nodes && *nodes;
	int r;

	if (has_nodes) {
		r = list_parse(nodes, &mask);
		if (r < 0)
			return error_text(
				err, r, "memory node list \"%s\" is not of the form 0-3,5", nodes);
	}
	/* The kernel takes one off the number of bits. */
	if (syscall(SYS_set_mempolicy, mode | (int)flags, has_nodes ? mask.words : NULL,
		    has_nodes ? LIST_BITS + 1ul : 0ul) < 0)
		return error_set(err, -errno, "set memory policy %d for nodes \"%s\"", mode,
				 has_nodes ? nodes : "");
	return 0;
}

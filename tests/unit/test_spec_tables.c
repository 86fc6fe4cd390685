/*
 * Every name table: the kernel's numbers, and how an unknown word is refused.
 */
#include <linux/capability.h>
#include <linux/ioprio.h>
#include <linux/mempolicy.h>
#include <linux/sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "tests/unit/test_spec_fixture.h"

struct known {
	const struct enum_table *table;
	const char *name;
	uint64_t value;
};

static const struct known known[] = {
	{ &spec_namespace_table, "pid", CLONE_NEWPID },
	{ &spec_namespace_table, "network", CLONE_NEWNET },
	{ &spec_namespace_table, "mount", CLONE_NEWNS },
	{ &spec_namespace_table, "ipc", CLONE_NEWIPC },
	{ &spec_namespace_table, "uts", CLONE_NEWUTS },
	{ &spec_namespace_table, "user", CLONE_NEWUSER },
	{ &spec_namespace_table, "cgroup", CLONE_NEWCGROUP },
	{ &spec_namespace_table, "time", 0x80 },
	{ &spec_capability_table, "CAP_CHOWN", 0 },
	{ &spec_capability_table, "CAP_SYS_ADMIN", 21 },
	{ &spec_capability_table, "CAP_CHECKPOINT_RESTORE", 40 },
	{ &spec_rlimit_table, "RLIMIT_NOFILE", RLIMIT_NOFILE },
	{ &spec_rlimit_table, "RLIMIT_RTTIME", RLIMIT_RTTIME },
	{ &spec_scheduler_policy_table, "SCHED_OTHER", 0 },
	{ &spec_scheduler_policy_table, "SCHED_ISO", 4 },
	{ &spec_scheduler_policy_table, "SCHED_DEADLINE", 6 },
	{ &spec_scheduler_flag_table, "SCHED_FLAG_UTIL_CLAMP_MAX", 0x40 },
	{ &spec_ioprio_class_table, "IOPRIO_CLASS_RT", 1 },
	{ &spec_ioprio_class_table, "IOPRIO_CLASS_IDLE", 3 },
	{ &spec_seccomp_action_table, "SCMP_ACT_KILL", SPEC_SECCOMP_KILL_THREAD },
	{ &spec_seccomp_action_table, "SCMP_ACT_NOTIFY", SPEC_SECCOMP_NOTIFY },
	{ &spec_seccomp_op_table, "SCMP_CMP_MASKED_EQ", SPEC_SECCOMP_MASKED_EQ },
	{ &spec_seccomp_flag_table, "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV", 32 },
	{ &spec_memory_policy_mode_table, "MPOL_WEIGHTED_INTERLEAVE", 6 },
	{ &spec_memory_policy_mode_table, "MPOL_BIND", 2 },
	{ &spec_memory_policy_flag_table, "MPOL_F_STATIC_NODES", 1 << 15 },
	{ &spec_memory_policy_flag_table, "MPOL_F_NUMA_BALANCING", 1 << 13 },
	{ &spec_personality_table, "LINUX32", 8 },
	{ &spec_propagation_table, "rshared", MS_SHARED | MS_REC },
	{ &spec_propagation_table, "unbindable", MS_UNBINDABLE },
};

static const struct {
	const struct enum_table *table;
	size_t count;
} sizes[] = {
	{ &spec_namespace_table, 8 },	       { &spec_capability_table, 41 },
	{ &spec_rlimit_table, 16 },	       { &spec_scheduler_policy_table, 7 },
	{ &spec_scheduler_flag_table, 7 },     { &spec_ioprio_class_table, 3 },
	{ &spec_seccomp_action_table, 9 },     { &spec_seccomp_op_table, 7 },
	{ &spec_seccomp_arch_table, 23 },      { &spec_seccomp_flag_table, 4 },
	{ &spec_memory_policy_mode_table, 7 }, { &spec_memory_policy_flag_table, 3 },
	{ &spec_personality_table, 2 },	       { &spec_propagation_table, 8 },
};

/* A member with a wrong word at '@', the path to it, and the start of the refusal. */
static const struct {
	const char *process, *linux_members;
	const char *path, *unknown;
} wrong[] = {
	{ NULL, "\"namespaces\":[{\"type\":\"pid\"},{\"type\":@\"net\"}]",
	  "linux.namespaces[1].type", "unknown namespace type \"net\"" },
	{ "\"rlimits\":[{\"type\":@\"NOFILE\",\"soft\":1,\"hard\":1}]", NULL,
	  "process.rlimits[0].type", "unknown rlimit type \"NOFILE\"" },
	{ "\"scheduler\":{\"policy\":@\"SCHED_FAIR\"}", NULL, "process.scheduler.policy",
	  "unknown scheduling policy \"SCHED_FAIR\"" },
	{ "\"scheduler\":{\"policy\":\"SCHED_RR\",\"flags\":[@\"SCHED_FLAG_X\"]}", NULL,
	  "process.scheduler.flags[0]", "unknown scheduling flag \"SCHED_FLAG_X\"" },
	{ "\"ioPriority\":{\"class\":@\"RT\",\"priority\":1}", NULL, "process.ioPriority.class",
	  "unknown I/O priority class \"RT\"" },
	{ NULL, "\"seccomp\":{\"defaultAction\":@\"ALLOW\"}", "linux.seccomp.defaultAction",
	  "unknown seccomp action \"ALLOW\"" },
	{ NULL,
	  "\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"syscalls\":[{\"names\":[\"a\"],"
	  "\"action\":@\"SCMP_ACT_NO\"}]}",
	  "linux.seccomp.syscalls[0].action", "unknown seccomp action \"SCMP_ACT_NO\"" },
	{ NULL,
	  "\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"syscalls\":[{\"names\":[\"a\"],"
	  "\"action\":\"SCMP_ACT_LOG\",\"args\":[{\"index\":0,\"value\":1,\"op\":@\"==\"}]}]}",
	  "linux.seccomp.syscalls[0].args[0].op", "unknown seccomp operator \"==\"" },
	{ NULL,
	  "\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"architectures\":"
	  "[\"SCMP_ARCH_X86\",@\"amd64\"]}",
	  "linux.seccomp.architectures[1]", "unknown seccomp architecture \"amd64\"" },
	{ NULL, "\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"flags\":[@\"TSYNC\"]}",
	  "linux.seccomp.flags[0]", "unknown seccomp flag \"TSYNC\"" },
	{ NULL, "\"memoryPolicy\":{\"mode\":@\"BIND\"}", "linux.memoryPolicy.mode",
	  "unknown memory policy mode \"BIND\"" },
	{ NULL, "\"memoryPolicy\":{\"mode\":\"MPOL_DEFAULT\",\"flags\":[@\"X\"]}",
	  "linux.memoryPolicy.flags[0]", "unknown memory policy flag \"X\"" },
	{ NULL, "\"personality\":{\"domain\":@\"BSD\"}", "linux.personality.domain",
	  "unknown personality domain \"BSD\"" },
	{ NULL, "\"rootfsPropagation\":@\"public\"", "linux.rootfsPropagation",
	  "unknown rootfs propagation \"public\"" },
};

static void test_known(void)
{
	uint64_t value;
	size_t i, k, n;

	for (i = 0; i < ELEMENTSOF(known); i++) {
		value = UINT64_MAX;
		(void)enum_from_name(known[i].table, known[i].name, &value);
		is_int(value, known[i].value, known[i].name);
	}
	for (i = 0; i < ELEMENTSOF(sizes); i++)
		is_int(sizes[i].table->count, sizes[i].count, sizes[i].table->what);
	/* Names are unique in each table. */
	for (i = 0, n = 0; i < ELEMENTSOF(sizes); i++)
		for (k = 0; k < sizes[i].table->count; k++)
			if (enum_from_name(sizes[i].table, sizes[i].table->entries[k].name,
					   &value) < 0 ||
			    value != sizes[i].table->entries[k].value)
				n++;
	is_int(n, 0, "every name finds its own entry");
}

static void test_wrong(void)
{
	struct error err;
	struct fixture f;
	char want[256];
	size_t i;

	for (i = 0; i < ELEMENTSOF(wrong); i++) {
		struct spec *s = NULL;
		int r;

		fixture_config(&f, NULL, wrong[i].process, wrong[i].linux_members);
		(void)snprintf(want, sizeof(want), "config.json: %s (offset %zu): %s (known: ",
			       wrong[i].path, f.mark, wrong[i].unknown);
		r = spec_parse(FIXTURE_FILE, f.text, f.len, &s, &err);
		if (!ok(r == -EINVAL && str_after(err.text, want), "%s", wrong[i].unknown))
			printf("#   got  \"%s\"\n#   want \"%s…\"\n", r < 0 ? err.text : "", want);
		spec_free(s);
	}
}

int main(void)
{
	TAP_BEGIN();
	test_known();
	test_wrong();
	return TAP_END();
}

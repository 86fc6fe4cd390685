/*
 * The process part: environment, identity, defaults, and what exec takes over from
 * the container.
 */
#include <sys/resource.h>

#include "tests/unit/test_plan_fixture.h"

static void test_env(void)
{
	_cleanup_planned_ struct planned x = planned_good(
		NULL, "\"env\":[\"A=1\",\"B=2\",\"A=3\",\"AB=4\",\"HOME=\",\"B=2\",\"C==\"]", NULL);
	static const char *const want[] = { "A=3", "AB=4", "HOME=", "B=2", "C==" };
	size_t i;

	if (!x.plan)
		return;
	is_int(x.plan->process.n_env, ELEMENTSOF(want), "duplicates are gone");
	for (i = 0; i < ELEMENTSOF(want); i++)
		is_str(x.plan->process.env[i], want[i], want[i]);
	is_str(x.plan->process.env[i], NULL, "the list ends");
}

static void test_defaults(void)
{
	_cleanup_planned_ struct planned x = planned_good(NULL, NULL, NULL);
	const struct plan_process *pp;

	if (!x.plan)
		return;
	pp = &x.plan->process;
	is_int(pp->umask, 0022, "umask");
	is_str(pp->argv[0], "sh", "program");
	is_str(pp->argv[1], NULL, "end of arguments");
	is_str(pp->cwd, "/", "working folder");
	ok(pp->creds.set_caps && !pp->creds.caps.bounding && !pp->creds.caps.effective,
	   "no capabilities named: none held");
	ok(!pp->has_oom_score_adj && !pp->scheduler && !pp->ioprio_class && !pp->has_personality &&
		   !pp->memory_policy && !pp->affinity_initial,
	   "nothing else is touched");
	is_int(pp->n_env, 0, "empty environment");
	ok(pp->env && !pp->env[0], "but a list");
	ok(!pp->creds.keep_groups, "groups are set");
}

static void test_full(void)
{
	_cleanup_planned_ struct planned x = planned_good(
		"\"annotations\":{\"run.oci.keep_original_groups\":\"1\"}",
		"\"terminal\":true,\"consoleSize\":{\"height\":24,\"width\":80},"
		"\"user\":{\"uid\":1,\"gid\":2,\"umask\":0,\"additionalGids\":[3,4]},"
		"\"capabilities\":{\"bounding\":[\"CAP_KILL\"],\"ambient\":[\"CAP_CHOWN\"]},"
		"\"noNewPrivileges\":true,\"oomScoreAdj\":-1000,\"apparmorProfile\":\"p\","
		"\"selinuxLabel\":\"\",\"rlimits\":[{\"type\":\"RLIMIT_NOFILE\",\"soft\":1,\"hard\":"
		"18446744073709551615}],\"scheduler\":{\"policy\":\"SCHED_FIFO\",\"priority\":5},"
		"\"ioPriority\":{\"class\":\"IOPRIO_CLASS_IDLE\",\"priority\":3},"
		"\"execCPUAffinity\":{\"initial\":\"1\"}",
		"\"personality\":{\"domain\":\"LINUX32\"},\"memoryPolicy\":{\"mode\":\"MPOL_LOCAL\"}");
	const struct plan_process *pp;

	if (!x.plan)
		return;
	pp = &x.plan->process;
	ok(pp->terminal && pp->rows == 24 && pp->cols == 80, "terminal size");
	ok(pp->creds.uid == 1 && pp->creds.gid == 2, "ids");
	ok(pp->creds.n_groups == 2 && pp->creds.groups[1] == 4, "groups");
	ok(pp->creds.keep_groups, "annotation keeps the caller's groups");
	is_int(pp->umask, 0, "umask 0");
	is_int(pp->creds.caps.bounding, 1 << 5, "bounding set");
	is_int(pp->creds.caps.ambient, 1, "ambient set");
	ok(pp->creds.no_new_privs, "no_new_privs");
	ok(pp->has_oom_score_adj && pp->oom_score_adj == -1000, "oomScoreAdj");
	is_str(pp->apparmor_profile, "p", "profile");
	is_str(pp->selinux_label, NULL, "an empty label is none");
	is_int(pp->rlimits[0].resource, RLIMIT_NOFILE, "limit");
	ok(pp->rlimits[0].hard == RLIM_INFINITY, "unlimited");
	ok(pp->scheduler->policy == 1 && pp->scheduler->priority == 5, "scheduler");
	ok(pp->ioprio_class == 3 && pp->ioprio_priority == 3, "I/O priority");
	is_str(pp->affinity_initial, NULL, "init takes no affinity");
	ok(pp->has_personality && pp->personality == 8, "personality");
	ok(pp->memory_policy && pp->memory_policy->mode == 4, "memory policy");
}

static void test_no_terminal(void)
{
	_cleanup_planned_ struct planned x =
		planned_good(NULL, "\"consoleSize\":{\"height\":24,\"width\":800000}", NULL);

	ok(x.plan && !x.plan->process.rows && !x.plan->process.cols,
	   "a size without terminal is ignored");
}

static void test_exec(void)
{
	_cleanup_spec_ struct spec *s = fixture_spec(
		NULL,
		"\"user\":{\"umask\":7},\"capabilities\":{\"bounding\":[\"CAP_KILL\"]},"
		"\"apparmorProfile\":\"container\",\"oomScoreAdj\":5,\"noNewPrivileges\":true,"
		"\"rlimits\":[{\"type\":\"RLIMIT_CPU\",\"soft\":1,\"hard\":1}],"
		"\"execCPUAffinity\":{\"initial\":\"0\",\"final\":\"1\"},\"env\":[\"A=1\"],"
		"\"scheduler\":{\"policy\":\"SCHED_BATCH\"}",
		"\"personality\":{\"domain\":\"LINUX\"}");
	static const char bare[] = "{\"args\":[\"id\"],\"cwd\":\"/\"}";
	static const char own[] =
		"{\"args\":[\"id\"],\"cwd\":\"/\",\"user\":{\"umask\":1},\"capabilities\":{},"
		"\"apparmorProfile\":\"exec\",\"oomScoreAdj\":0,\"execCPUAffinity\":{},"
		"\"rlimits\":[{\"type\":\"RLIMIT_AS\",\"soft\":1,\"hard\":1}]}";
	struct arena arena = ARENA_NULL;
	struct spec_process *proc = NULL;
	struct plan_process pp = { 0 };
	struct error err;

	if (!s || spec_parse_process("p", bare, strlen(bare), &arena, &proc, &err) < 0)
		return;
	is_int(plan_build_process(proc, s, false, &arena, &pp, &err), 0, "bare exec process");
	is_int(pp.umask, 7, "umask of the container");
	is_int(pp.creds.caps.bounding, 1 << 5, "capabilities of the container");
	is_str(pp.apparmor_profile, "container", "profile of the container");
	ok(pp.has_oom_score_adj && pp.oom_score_adj == 5, "oomScoreAdj of the container");
	is_int(pp.rlimits[0].resource, RLIMIT_CPU, "limits of the container");
	is_str(pp.affinity_final, "1", "affinity of the container");
	is_int(pp.scheduler->policy, 3, "scheduler of the container");
	ok(pp.has_personality, "personality of the container");
	ok(!pp.creds.no_new_privs, "no_new_privs is the process's own");
	is_int(pp.n_env, 0, "and so is the environment");

	if (spec_parse_process("p", own, strlen(own), &arena, &proc, &err) < 0)
		return;
	is_int(plan_build_process(proc, s, false, &arena, &pp, &err), 0, "full exec process");
	is_int(pp.umask, 1, "own umask");
	is_int(pp.creds.caps.bounding, 0, "own capabilities: none");
	is_str(pp.apparmor_profile, "exec", "own profile");
	is_int(pp.oom_score_adj, 0, "own oomScoreAdj");
	is_int(pp.rlimits[0].resource, RLIMIT_AS, "own limits");
	is_str(pp.affinity_final, NULL, "own affinity: none");
	is_int(plan_build_process(proc, NULL, false, &arena, &pp, &err), 0, "without a container");
	arena_done(&arena);
}

static void test_setgroups(void)
{
	static const char maps[] =
		"\"namespaces\":[{\"type\":\"user\"}],\"uidMappings\":[{\"containerID\":0,\"hostID\":5,"
		"\"size\":1}],\"gidMappings\":[{\"containerID\":0,\"hostID\":5,\"size\":1}]";
	static const struct plan_request rootless = { .id = "r", .bundle = "/b", .rootless = true };
	_cleanup_planned_ struct planned one = planned_new(&rootless, NULL, NULL, maps);
	_cleanup_planned_ struct planned none =
		planned_new(&rootless, NULL, NULL, "\"namespaces\":[{\"type\":\"user\"}]");
	_cleanup_planned_ struct planned privileged = planned_good(NULL, NULL, maps);

	ok(one.plan && one.plan->process.creds.keep_groups,
	   "one mapped group, unprivileged: groups stay");
	ok(none.plan && none.plan->process.creds.keep_groups, "and without a map");
	ok(privileged.plan && !privileged.plan->process.creds.keep_groups,
	   "privileged: groups are set");
}

int main(void)
{
	TAP_BEGIN();
	test_env();
	test_defaults();
	test_full();
	test_no_terminal();
	test_exec();
	test_setgroups();
	return TAP_END();
}

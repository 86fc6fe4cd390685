/*
 * What a good configuration turns into: exact numbers, presence against zero,
 * null, tolerance, and the stand-alone documents.
 */
#include <sys/resource.h>

#include "tests/unit/test_spec_fixture.h"

#define RESOURCES(members) "\"resources\":{" members "}"

static void test_exact_numbers(void)
{
	_cleanup_spec_ struct spec *s = fixture_spec(
		NULL, "\"rlimits\":[{\"type\":\"RLIMIT_CORE\",\"soft\":0,\"hard\":18446744073709551615}]",
		RESOURCES("\"memory\":{\"limit\":9223372036854775807,\"swap\":-1,\"reservation\":0},"
			  "\"cpu\":{\"shares\":9007199254740993,\"quota\":-9223372036854775808},"
			  "\"blockIO\":{\"throttleReadBpsDevice\":[{\"major\":8,\"minor\":1,"
			  "\"rate\":18446744073709551614}]}")
		",\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ALLOW\",\"syscalls\":[{\"names\":"
		"[\"read\"],\"action\":\"SCMP_ACT_ERRNO\",\"args\":[{\"index\":5,"
		"\"value\":18446744073709551615,\"valueTwo\":9007199254740993,"
		"\"op\":\"SCMP_CMP_MASKED_EQ\"}]}]}");
	const struct spec_resources *r;
	const struct spec_seccomp_arg *arg;

	if (!s)
		return;
	r = s->linux_cfg->resources;
	is_int(s->process->rlimits.items[0].type, RLIMIT_CORE, "rlimit type");
	ok(s->process->rlimits.items[0].hard == UINT64_MAX, "rlimit of 2^64-1");
	ok(r->memory->limit.set && r->memory->limit.value == INT64_MAX, "memory limit of 2^63-1");
	ok(r->memory->swap.set && r->memory->swap.value == -1, "swap -1");
	ok(r->memory->reservation.set && r->memory->reservation.value == 0, "0 is present");
	ok(!r->memory->kernel.set, "an absent number is not");
	ok(r->cpu->shares.value == UINT64_C(9007199254740993), "no rounding to a double");
	ok(r->cpu->quota.value == INT64_MIN, "quota of -2^63");
	ok(r->block_io->throttle_read_bps.items[0].rate == UINT64_MAX - 1, "rate of 2^64-2");
	ok(!r->block_io->weight.set, "weight absent");
	arg = &s->linux_cfg->seccomp->syscalls.items[0].args.items[0];
	is_int(arg->index, 5, "argument index");
	ok(arg->value == UINT64_MAX, "argument value of 2^64-1");
	ok(arg->value_two == UINT64_C(9007199254740993), "second value");
	is_int(arg->op, SPEC_SECCOMP_MASKED_EQ, "operator");
}

static void test_presence(void)
{
	_cleanup_spec_ struct spec *s = fixture_spec(
		"\"hostname\":\"h\",\"annotations\":{\"b\":\"2\",\"a\":\"\"},\"windows\":{\"x\":1},"
		"\"frobnicate\":[1,2]",
		"\"env\":[],\"capabilities\":{},\"oomScoreAdj\":0,\"user\":{\"umask\":0,"
		"\"username\":\"x\"},\"apparmorProfile\":null,\"future\":{\"a\":null}",
		RESOURCES("\"pids\":{\"limit\":0},\"devices\":[{\"allow\":false},{\"allow\":true,"
			  "\"type\":\"u\",\"major\":-1,\"minor\":5,\"access\":\"r\"},{\"allow\":true,"
			  "\"type\":\"\",\"access\":\"\"}],\"cpu\":null,\"hugepageLimits\":"
			  "[{\"pageSize\":\"2MB\",\"limit\":0}]")
		",\"namespaces\":null,\"intelRdt\":{}");
	const struct spec_device_rule *d;

	if (!s)
		return;
	ok(s->process->env.set && s->process->env.count == 0, "an empty list is present");
	ok(!s->process->rlimits.count, "an absent list is empty");
	ok(s->process->capabilities && !s->process->capabilities->bounding,
	   "empty capabilities are not absent ones");
	ok(s->process->oom_score_adj.set, "oomScoreAdj 0 is set");
	ok(s->process->user.umask.set && s->process->user.umask.value == 0, "umask 0 is set");
	ok(!s->process->apparmor_profile, "null is absent");
	ok(!s->linux_cfg->resources->cpu, "a null object is absent");
	ok(!s->linux_cfg->resources->memory, "an absent object is NULL");
	ok(s->linux_cfg->resources->pids_limit.set && !s->linux_cfg->resources->pids_limit.value,
	   "pids limit 0 is set");
	d = s->linux_cfg->resources->devices.items;
	is_int(s->linux_cfg->resources->devices.count, 3, "three device rules");
	is_int(d[0].type, 'a', "a rule without type is for all");
	ok(!d[0].access && !d[0].major.set, "and has no access and number");
	is_int(d[1].type, 'c', "u is c");
	is_int(d[1].major.value, -1, "major -1");
	is_str(d[1].access, "r", "access");
	is_int(d[2].type, 'a', "an empty type is for all");
	is_str(d[2].access, NULL, "an empty access is none");
	is_str(spec_annotation(s, "b"), "2", "annotation");
	is_str(spec_annotation(s, "a"), "", "empty annotation");
	is_str(spec_annotation(s, "c"), NULL, "no annotation");
	is_str(s->annotations.items[0].key, "b", "annotations in document order");
	ok(s->linux_cfg->intel_rdt && !s->linux_cfg->intel_rdt->enable_monitoring.set,
	   "empty intelRdt is there");
}

static void test_objects(void)
{
	_cleanup_spec_ struct spec *s = fixture_spec(
		"\"hooks\":{\"startContainer\":[{\"path\":\"/h\",\"args\":[\"h\",\"1\"],\"env\":[],"
		"\"timeout\":30}]},\"mounts\":[{\"destination\":\"data\",\"source\":\"/s\",\"options\":"
		"[\"rbind\"]}]",
		"\"capabilities\":{\"bounding\":[\"CAP_KILL\",\"CAP_FUTURE_2030\",\"kill\",\"CAP_BPF\"]},"
		"\"scheduler\":{\"policy\":\"SCHED_DEADLINE\",\"flags\":[\"SCHED_FLAG_RESET_ON_FORK\","
		"\"SCHED_FLAG_RECLAIM\"],\"runtime\":1,\"deadline\":2,\"period\":3},"
		"\"ioPriority\":{\"class\":\"IOPRIO_CLASS_IDLE\"},"
		"\"execCPUAffinity\":{\"initial\":\"0\",\"final\":\"0-1\"}",
		"\"timeOffsets\":{\"boottime\":{\"secs\":-5,\"nanosecs\":999999999},\"monotonic\":{}},"
		"\"netDevices\":{\"eth0\":{},\"eth1\":{\"name\":\"c%d\"}},\"personality\":{\"domain\":"
		"\"LINUX32\"},\"memoryPolicy\":{\"mode\":\"MPOL_BIND\",\"nodes\":\"0\",\"flags\":"
		"[\"MPOL_F_STATIC_NODES\"]},\"devices\":[{\"path\":\"/dev/f\",\"type\":\"p\"}],"
		"\"namespaces\":[{\"type\":\"user\",\"path\":\"\"},{\"type\":\"network\",\"path\":"
		"\"/run/netns/x\"}],\"rootfsPropagation\":\"\"");
	const struct spec_linux *l;
	const struct spec_hook *h;

	if (!s)
		return;
	l = s->linux_cfg;
	ok(s->process->capabilities->bounding == (UINT64_C(1) << 5 | UINT64_C(1) << 39),
	   "unknown capabilities are left out");
	is_int(s->process->scheduler->flags, 3, "scheduler flags");
	is_int(s->process->scheduler->period, 3, "period");
	is_int(s->process->io_priority->class_, 3, "I/O class");
	is_int(s->process->io_priority->priority, 0, "without a level it is the first");
	is_str(s->process->exec_cpu_affinity->final, "0-1", "affinity");
	is_int(l->time_offsets.count, 2, "two clocks");
	is_str(l->time_offsets.items[0].clock, "boottime", "clock name");
	is_int(l->time_offsets.items[0].secs, -5, "seconds");
	is_int(l->time_offsets.items[0].nanosecs, 999999999, "nanoseconds");
	is_str(l->net_devices.items[1].host_name, "eth1", "network device");
	is_str(l->net_devices.items[1].name, "c%d", "and its new name");
	is_str(l->net_devices.items[0].name, NULL, "no new name");
	is_int(l->personality->domain, 8, "personality");
	is_int(l->memory_policy->flags, 1 << 15, "memory policy flags");
	is_int(l->devices.items[0].type, 'p', "a FIFO needs no numbers");
	is_str(spec_namespace_find(s, 0x10000000)->path, NULL, "an empty path is a new namespace");
	is_str(spec_namespace_find(s, 0x40000000)->path, "/run/netns/x", "a joined namespace");
	ok(!spec_namespace_find(s, 0x20000000), "a namespace not there");
	is_str(l->rootfs_propagation, NULL, "empty propagation is unset");
	is_str(s->mounts.items[0].destination, "data", "relative destinations are kept");
	is_str(s->mounts.items[0].type, NULL, "no type");
	h = s->hooks->start_container.items;
	is_int(s->hooks->start_container.count, 1, "a hook");
	is_str(h->args.items[1], "1", "hook argument");
	ok(h->args.items[2] == NULL, "arguments end in NULL");
	ok(h->env.set && h->env.count == 0, "empty hook environment is set");
	is_int(h->timeout.value, 30, "hook timeout");
}

static void test_documents(void)
{
	static const char process[] = "{\"args\":[\"id\"],\"cwd\":\"/tmp\",\"user\":{\"uid\":7}}";
	static const char bad[] = "{\"args\":[],\"cwd\":\"/tmp\"}";
	static const char resources[] = "{\"memory\":{\"limit\":0},\"unknown\":1}";
	struct arena arena = ARENA_NULL;
	struct error err = ERROR_NULL;
	struct spec_process *p = NULL;
	struct spec_resources *r = NULL;
	struct spec *s = NULL;

	is_int(spec_parse_process("p", process, strlen(process), &arena, &p, &err), 0,
	       "process document");
	is_int(p ? p->user.uid : 0, 7, "its user");
	is_int(spec_parse_process("p", bad, strlen(bad), &arena, &p, &err), -EINVAL,
	       "process without program");
	is_str(err.text, "p: args must name the program to run", "and its message");
	is_int(spec_parse_resources("-", resources, strlen(resources), &arena, &r, &err), 0,
	       "resources document");
	ok(r && r->memory->limit.set && !r->memory->limit.value, "zero limit is present");
	arena_done(&arena);

	is_int(spec_load(-1, "/nonexistent/config.json", &s, &err), -ENOENT, "no file");
	ok(strstr(err.text, "config.json") && strstr(err.text, "no such file or directory"),
	   "message names it: %s", err.text);
	ok(!s, "no result on failure");
}

int main(void)
{
	TAP_BEGIN();
	test_exact_numbers();
	test_presence();
	test_objects();
	test_documents();
	return TAP_END();
}

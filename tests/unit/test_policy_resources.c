/*
 * Limits: each row is a policy, a configuration's resources, and what they become. One
 * table for containers, one for updates.
 */
#include <inttypes.h>

#include "tests/unit/test_policy_fixture.h"

struct row {
	const char *name;
	const char *policy;    /* body of the profile, NULL = built-in */
	const char *resources; /* members of linux.resources */
	const char *control;
	const char *decision;
	const char *state; /* what the configuration then says */
};

static void number(char *buf, size_t size, const char *name, bool set, int64_t n)
{
	size_t len = strlen(buf);

	if (set)
		(void)snprintf(buf + len, size - len, "%s%s=%" PRId64, len ? " " : "", name, n);
}

static void state_text(const struct spec_resources *r, char *buf, size_t size)
{
	buf[0] = '\0';
	if (r->memory) {
		number(buf, size, "memory", r->memory->limit.set, r->memory->limit.value);
		number(buf, size, "swap", r->memory->swap.set, r->memory->swap.value);
	}
	if (r->cpu) {
		number(buf, size, "quota", r->cpu->quota.set, r->cpu->quota.value);
		number(buf, size, "period", r->cpu->period.set, (int64_t)r->cpu->period.value);
	}
	number(buf, size, "pids", r->pids_limit.set, r->pids_limit.value);
}

#define M2     "memory=2147483648 swap=2147483648"
#define C2     " quota=200000 period=100000"
#define P512   " pids=512"
#define DEF    M2 C2 P512
#define REFUSE "\"resources\":{\"excess\":\"refuse\"}"
#define BIG                                                                                        \
	"\"resources\":{\"memory\":{\"max\":\"8GiB\"},\"cpu\":{\"max\":4},\"pids\":{\"max\":4096}" \
	"}"

static const struct row creates[] = {
	/* clang-format off */
	{ "memory: absent", NULL, "", "memory", "added nothing > 2GiB", DEF },
	{ "memory: 0 is absent", NULL, "\"memory\":{\"limit\":0}", "memory", "added nothing > 2GiB", DEF },
	{ "memory: unlimited becomes the default", NULL, "\"memory\":{\"limit\":-1}", "memory", "clamped unlimited > 2GiB", DEF },
	{ "memory: unlimited becomes the default, not the maximum", BIG, "\"memory\":{\"limit\":-1}", "memory", "clamped unlimited > 2GiB", DEF },
	{ "memory: absent is the default, not the maximum", BIG, "", "memory", "added nothing > 2GiB", DEF },
	{ "memory: lower is kept", NULL, "\"memory\":{\"limit\":67108864}", "memory", "kept 64MiB > 64MiB", "memory=67108864 swap=67108864" C2 P512 },
	{ "memory: odd number is kept", NULL, "\"memory\":{\"limit\":67108865}", "memory", "kept 67108865 > 67108865", "memory=67108865 swap=67108865" C2 P512 },
	{ "memory: the maximum is kept", NULL, "\"memory\":{\"limit\":2147483648}", "memory", "kept 2GiB > 2GiB", DEF },
	{ "memory: one byte above", NULL, "\"memory\":{\"limit\":2147483649}", "memory", "clamped 2147483649 > 2GiB", DEF },
	{ "memory: above is clamped", NULL, "\"memory\":{\"limit\":17179869184}", "memory", "clamped 16GiB > 2GiB", DEF },
	{ "memory: above the default, below the maximum", BIG, "\"memory\":{\"limit\":4294967296}", "memory", "kept 4GiB > 4GiB", "memory=4294967296 swap=4294967296" C2 P512 },
	{ "memory: largest number", NULL, "\"memory\":{\"limit\":9223372036854775807}", "memory", "clamped 9223372036854775807 > 2GiB", DEF },
	{ "memory: above is refused", REFUSE, "\"memory\":{\"limit\":17179869184}", "memory", "refused 16GiB", NULL },
	{ "memory: absent is never refused", REFUSE, "", "memory", "added nothing > 2GiB", DEF },
	{ "memory: unlimited is never refused", REFUSE, "\"memory\":{\"limit\":-1}", "memory", "clamped unlimited > 2GiB", DEF },
	{ "memory: own excess beats the section's", "\"resources\":{\"excess\":\"refuse\",\"memory\":{\"excess\":\"clamp\"}}", "\"memory\":{\"limit\":17179869184}", "memory", "clamped 16GiB > 2GiB", DEF },
	{ "memory: own excess refuses alone", "\"resources\":{\"memory\":{\"excess\":\"refuse\"}}", "\"memory\":{\"limit\":17179869184}", "memory", "refused 16GiB", NULL },
	{ "memory: a default alone raises the maximum", "\"resources\":{\"memory\":{\"default\":\"4GiB\"}}", "\"memory\":{\"limit\":4294967296}", "memory", "kept 4GiB > 4GiB", "memory=4294967296 swap=4294967296" C2 P512 },
	{ "memory: a maximum alone lowers the default", "\"resources\":{\"memory\":{\"max\":\"1GiB\"}}", "", "memory", "added nothing > 1GiB", "memory=1073741824 swap=1073741824" C2 P512 },
	{ "memory: OOM killer stays", NULL, "\"memory\":{\"disableOOMKiller\":true}", "memory", "dropped no OOM killer > the OOM killer; added nothing > 2GiB", DEF },
	{ "memory: OOM killer not touched", NULL, "\"memory\":{\"disableOOMKiller\":false}", "memory", "added nothing > 2GiB", DEF },
	{ "swap: absent", NULL, "", "swap", "added nothing > 0", DEF },
	{ "swap: unlimited", NULL, "\"memory\":{\"limit\":1073741824,\"swap\":-1}", "swap", "clamped unlimited > 0", "memory=1073741824 swap=1073741824" C2 P512 },
	{ "swap: twice the memory", NULL, "\"memory\":{\"limit\":1073741824,\"swap\":2147483648}", "swap", "clamped 1GiB > 0", "memory=1073741824 swap=1073741824" C2 P512 },
	{ "swap: equal is none", NULL, "\"memory\":{\"limit\":1073741824,\"swap\":1073741824}", "swap", "kept 0 > 0", "memory=1073741824 swap=1073741824" C2 P512 },
	{ "swap: below the memory is none", NULL, "\"memory\":{\"limit\":1073741824,\"swap\":1}", "swap", "kept 0 > 0", "memory=1073741824 swap=1073741824" C2 P512 },
	{ "swap: allowed by the policy", "\"resources\":{\"swap\":{\"max\":\"1GiB\"}}", "\"memory\":{\"limit\":1073741824,\"swap\":1610612736}", "swap", "kept 512MiB > 512MiB", "memory=1073741824 swap=1610612736" C2 P512 },
	{ "swap: default of the policy", "\"resources\":{\"swap\":{\"default\":\"1GiB\"}}", "", "swap", "added nothing > 1GiB", "memory=2147483648 swap=3221225472" C2 P512 },
	{ "swap: kept when memory is clamped", "\"resources\":{\"swap\":{\"max\":\"1GiB\"}}", "\"memory\":{\"limit\":4294967296,\"swap\":4831838208}", "swap", "kept 512MiB > 512MiB", "memory=2147483648 swap=2684354560" C2 P512 },
	{ "swap: refused", REFUSE, "\"memory\":{\"limit\":1073741824,\"swap\":2147483648}", "swap", "refused 1GiB", NULL },
	{ "cpu: absent", NULL, "", "cpu", "added nothing > 2", DEF },
	{ "cpu: 0 is absent", NULL, "\"cpu\":{\"quota\":0,\"period\":0}", "cpu", "added nothing > 2", DEF },
	{ "cpu: unlimited", NULL, "\"cpu\":{\"quota\":-1,\"period\":100000}", "cpu", "clamped unlimited > 2", DEF },
	{ "cpu: half", NULL, "\"cpu\":{\"quota\":50000,\"period\":100000}", "cpu", "kept 0.5 > 0.5", M2 " quota=50000 period=100000" P512 },
	{ "cpu: 64", NULL, "\"cpu\":{\"quota\":6400000,\"period\":100000}", "cpu", "clamped 64 > 2", DEF },
	{ "cpu: a microsecond too many", NULL, "\"cpu\":{\"quota\":200001,\"period\":100000}", "cpu", "clamped 2.001 > 2", DEF },
	{ "cpu: short period", NULL, "\"cpu\":{\"quota\":100000,\"period\":10000}", "cpu", "clamped 10 > 2", M2 " quota=20000 period=10000" P512 },
	{ "cpu: quota without period", NULL, "\"cpu\":{\"quota\":100000}", "cpu", "kept 1 > 1", M2 " quota=100000 period=100000" P512 },
	{ "cpu: period without quota", NULL, "\"cpu\":{\"period\":50000}", "cpu", "added nothing > 2", M2 " quota=100000 period=50000" P512 },
	{ "cpu: largest quota", NULL, "\"cpu\":{\"quota\":9223372036854775807,\"period\":1}", "cpu", "clamped unlimited > 2", M2 " quota=200000 period=100000" P512 },
	{ "cpu: 1.5 by policy", "\"resources\":{\"cpu\":{\"default\":1.5}}", "", "cpu", "added nothing > 1.5", M2 " quota=150000 period=100000" P512 },
	{ "cpu: up to the maximum", BIG, "\"cpu\":{\"quota\":400000,\"period\":100000}", "cpu", "kept 4 > 4", M2 " quota=400000 period=100000" P512 },
	{ "cpu: refused", REFUSE, "\"cpu\":{\"quota\":400000,\"period\":100000}", "cpu", "refused 4", NULL },
	{ "cpu: tiny period, tiny share", "\"resources\":{\"cpu\":{\"max\":0.05}}", "\"cpu\":{\"quota\":5000,\"period\":1000}", "cpu", "clamped 5 > 0.05", M2 " quota=5000 period=100000" P512 },
	{ "shares: as asked", NULL, "\"cpu\":{\"shares\":512}", "cpu shares", "", DEF },
	{ "shares: 0 is absent", NULL, "\"cpu\":{\"shares\":0}", "cpu shares", "", DEF },
	{ "shares: too many", NULL, "\"cpu\":{\"shares\":262144}", "cpu shares", "clamped 262144 > 2048", DEF },
	{ "shares: refused", REFUSE, "\"cpu\":{\"shares\":262144}", "cpu shares", "refused 262144", NULL },
	{ "shares: by policy", "\"resources\":{\"cpuShares\":8192}", "\"cpu\":{\"shares\":8192}", "cpu shares", "", DEF },
	{ "realtime: budget", NULL, "\"cpu\":{\"realtimeRuntime\":950000,\"realtimePeriod\":1000000}", "realtime", "dropped a real-time budget > none", DEF },
	{ "realtime: 0 is absent", NULL, "\"cpu\":{\"realtimeRuntime\":0}", "realtime", "", DEF },
	{ "realtime: allowed", "\"resources\":{\"realtime\":true}", "\"cpu\":{\"realtimeRuntime\":950000}", "realtime", "", DEF },
	{ "affinity: two of eight", NULL, "", "affinity", "added every CPU > 5,6", DEF },
	{ "affinity: half a CPU is one", NULL, "\"cpu\":{\"quota\":50000,\"period\":100000}", "affinity", "added every CPU > 5", M2 " quota=50000 period=100000" P512 },
	{ "affinity: a cpuset wins", NULL, "\"cpu\":{\"cpus\":\"0-3\"}", "affinity", "", DEF },
	{ "affinity: an empty cpuset is none", NULL, "\"cpu\":{\"cpus\":\"\"}", "affinity", "added every CPU > 5,6", DEF },
	{ "affinity: off", "\"resources\":{\"cpu\":{\"affinity\":\"off\"}}", "", "affinity", "", DEF },
	{ "affinity: more CPUs than the host has", "\"resources\":{\"cpu\":{\"default\":8}}", "", "affinity", "", M2 " quota=800000 period=100000" P512 },
	{ "pids: absent", NULL, "", "pids", "added nothing > 512", DEF },
	{ "pids: unlimited", NULL, "\"pids\":{\"limit\":-1}", "pids", "clamped unlimited > 512", DEF },
	{ "pids: 0 is a limit", NULL, "\"pids\":{\"limit\":0}", "pids", "kept 0 > 0", M2 C2 " pids=0" },
	{ "pids: lower", NULL, "\"pids\":{\"limit\":100}", "pids", "kept 100 > 100", M2 C2 " pids=100" },
	{ "pids: higher", NULL, "\"pids\":{\"limit\":2048}", "pids", "clamped 2048 > 512", DEF },
	{ "pids: up to the maximum", BIG, "\"pids\":{\"limit\":4096}", "pids", "kept 4096 > 4096", M2 C2 " pids=4096" },
	{ "pids: refused", REFUSE, "\"pids\":{\"limit\":2048}", "pids", "refused 2048", NULL },
	{ "io weight: lower", NULL, "\"blockIO\":{\"weight\":50}", "io weight", "", DEF },
	{ "io weight: 0 is absent", NULL, "\"blockIO\":{\"weight\":0}", "io weight", "", DEF },
	{ "io weight: higher", NULL, "\"blockIO\":{\"weight\":1000}", "io weight", "clamped 1000 > 100", DEF },
	{ "io weight: of a device", NULL, "\"blockIO\":{\"weightDevice\":[{\"major\":8,\"minor\":0,\"weight\":900}]}", "io weight", "clamped 900 > 100", DEF },
	{ "hugetlb: named", NULL, "\"hugepageLimits\":[{\"pageSize\":\"2MB\",\"limit\":4194304}]", "hugetlb", "clamped 4MiB > 0", DEF },
	{ "hugetlb: by policy", "\"resources\":{\"hugetlb\":{\"max\":\"1GiB\"}}", "\"hugepageLimits\":[{\"pageSize\":\"2MB\",\"limit\":4194304}]", "hugetlb", "kept 4MiB > 4MiB", DEF },
	{ "unified: limits", NULL, "\"unified\":{\"memory.max\":\"max\",\"memory.swap.max\":\"max\",\"cpu.max\":\"max 100000\",\"pids.max\":\"max\"}", "unified", "dropped memory.max, memory.swap.max, cpu.max, pids.max > the limits of memory, cpu, pids and hugetlb", DEF },
	{ "unified: weights", NULL, "\"unified\":{\"cpu.weight\":\"10000\",\"io.weight\":\"10000\",\"hugetlb.2MB.max\":\"max\",\"memory.min\":\"1\"}", "unified", "dropped cpu.weight, io.weight, hugetlb.2MB.max, memory.min > the limits of memory, cpu, pids and hugetlb", DEF },
	{ "unified: what tightens", NULL, "\"unified\":{\"memory.high\":\"1\",\"memory.oom.group\":\"1\",\"io.max\":\"8:0 rbps=1\"}", "unified", "", DEF },
	/* clang-format on */
};

static void create_row(const struct row *row)
{
	const struct policy_facts facts = fixture_facts();
	_cleanup_decided_ struct decided d = { .r = 0 };
	char members[2048], got[512], state[512];

	(void)snprintf(members, sizeof(members), "\"resources\":{%s}", row->resources);
	if (!decided_make(&d, &facts, row->policy, NULL, NULL, NULL, members))
		return;
	decided_text(&d.v, row->control, got, sizeof(got));
	is_str(got, row->decision, row->name);
	if (!row->state) {
		is_int(d.r, -EPERM, row->name);
		ok(strstr(d.err.text, "to allow it, ") != NULL, "%s: %s", row->name, d.err.text);
		ok(fixture_text_harmless(d.err.text), "%s: no engine misreads it", row->name);
		return;
	}
	is_int(d.r, 0, row->name);
	state_text(d.spec->linux_cfg->resources, state, sizeof(state));
	is_str(state, row->state, row->name);
}

static const struct row updates[] = {
	/* clang-format off */
	{ "update: nothing", NULL, "", "memory", "", "" },
	{ "update: all zero", NULL, "\"memory\":{\"limit\":0,\"swap\":0},\"cpu\":{\"quota\":0,\"period\":0,\"shares\":0},\"pids\":{\"limit\":0}", "memory", "", "memory=0 swap=0 quota=0 period=0 pids=0" },
	{ "update: memory up", NULL, "\"memory\":{\"limit\":8589934592}", "memory", "clamped 8GiB > 2GiB", M2 },
	{ "update: memory unlimited", NULL, "\"memory\":{\"limit\":-1,\"swap\":-1}", "memory", "clamped unlimited > 2GiB", M2 },
	{ "update: memory down", NULL, "\"memory\":{\"limit\":67108864,\"swap\":134217728}", "swap", "clamped 64MiB > 0", "memory=67108864 swap=67108864" },
	{ "update: memory without swap sets both", NULL, "\"memory\":{\"limit\":67108864}", "swap", "added nothing > 0", "memory=67108864 swap=67108864" },
	{ "update: swap alone", NULL, "\"memory\":{\"swap\":-1}", "swap", "clamped unlimited > 0", "swap=1073741824" },
	{ "update: refused", REFUSE, "\"memory\":{\"limit\":8589934592}", "memory", "refused 8GiB", NULL },
	{ "update: quota alone, period in force", NULL, "\"cpu\":{\"quota\":200000}", "cpu", "clamped 4 > 2", "quota=100000 period=50000" },
	{ "update: period alone, quota in force", NULL, "\"cpu\":{\"period\":1000}", "cpu", "clamped 100 > 2", "quota=2000 period=1000" },
	{ "update: quota unlimited", NULL, "\"cpu\":{\"quota\":-1}", "cpu", "clamped unlimited > 2", "quota=100000 period=50000" },
	{ "update: cpu kept", NULL, "\"cpu\":{\"quota\":80000,\"period\":100000,\"cpus\":\"0\"}", "cpu", "kept 0.8 > 0.8", "quota=80000 period=100000" },
	{ "update: no affinity", NULL, "\"cpu\":{\"quota\":50000,\"period\":100000}", "affinity", "", "quota=50000 period=100000" },
	{ "update: pids up", NULL, "\"pids\":{\"limit\":10000}", "pids", "clamped 10000 > 512", "pids=512" },
	{ "update: pids unlimited", NULL, "\"pids\":{\"limit\":-1}", "pids", "clamped unlimited > 512", "pids=512" },
	{ "update: pids down", NULL, "\"pids\":{\"limit\":50}", "pids", "kept 50 > 50", "pids=50" },
	{ "update: unified", NULL, "\"unified\":{\"pids.max\":\"max\"}", "unified", "dropped pids.max > the limits of memory, cpu, pids and hugetlb", "" },
	{ "update: weight", NULL, "\"blockIO\":{\"weight\":1000}", "io weight", "clamped 1000 > 100", "" },
	{ "update: shares", NULL, "\"cpu\":{\"shares\":4096}", "cpu shares", "clamped 4096 > 2048", "" },
	/* clang-format on */
};

static void update_row(const struct row *row)
{
	struct policy_facts facts = fixture_facts();
	_cleanup_decided_ struct decided d = { .r = 0 };
	struct spec_resources *res = NULL;
	char text[2048], got[512], state[512];
	int r;

	facts.cpu_quota = 100000;
	facts.cpu_period = 50000;
	facts.memory_limit = GIB;
	if (!decided_prepare(&d, row->policy, NULL, NULL, NULL, NULL))
		return;
	(void)snprintf(text, sizeof(text), "{%s}", row->resources);
	if (spec_parse_resources("r", text, strlen(text), &d.arena, &res, &d.err) < 0) {
		ok(false, "%s: %s", row->name, d.err.text);
		return;
	}
	r = policy_apply_resources(res, &d.arena, &d.profile, &facts, &d.v, &d.err);
	decided_text(&d.v, row->control, got, sizeof(got));
	is_str(got, row->decision, row->name);
	is_int(r, row->state ? 0 : -EPERM, row->name);
	if (!row->state)
		return;
	state_text(res, state, sizeof(state));
	is_str(state, row->state, row->name);
}

/* What the host can limit. */
static const struct {
	const char *name;
	const char *policy;
	unsigned controllers;
	bool host_swap, swap_limit;
	const char *control, *decision, *state;
} hosts[] = {
	/* clang-format off */
	{ "no swap on the host", NULL, ALL_CONTROLLERS, false, false, "swap", "kept no swap > no swap: the host has none", "memory=2147483648" C2 P512 },
	{ "no swap, but a limit", NULL, ALL_CONTROLLERS, false, true, "swap", "added nothing > 0", DEF },
	{ "swap without accounting", NULL, ALL_CONTROLLERS, true, false, "swap", "refused a start without a limit of swap", NULL },
	{ "swap without accounting, accepted", "\"resources\":{\"accept\":[\"none\"]}", ALL_CONTROLLERS, true, false, "swap", "dropped a limit > no limit: this kernel does not account swap", "memory=2147483648" C2 P512 },
	{ "no memory controller", NULL, ALL_CONTROLLERS & ~POLICY_CG_MEMORY, true, true, "memory", "refused a start without this limit", NULL },
	{ "no cpu controller", NULL, ALL_CONTROLLERS & ~POLICY_CG_CPU, true, true, "cpu", "refused a start without this limit", NULL },
	{ "no pids controller", NULL, ALL_CONTROLLERS & ~POLICY_CG_PIDS, true, true, "pids", "refused a start without this limit", NULL },
	{ "no device control", NULL, ALL_CONTROLLERS & ~POLICY_CG_DEVICES, true, true, "device rules", "refused a start without device rules", NULL },
	{ "no memory controller, accepted", "\"resources\":{\"accept\":[\"none\"]}", ALL_CONTROLLERS & ~POLICY_CG_MEMORY, true, true, "memory", "dropped a limit > no limit: this process has no such cgroup controller", "quota=200000 period=100000" P512 },
	{ "nothing, accepted", "\"resources\":{\"accept\":[\"none\"]},\"devices\":{\"accept\":[\"none\"]}", 0, true, true, "pids", "dropped a limit > no limit: this process has no such cgroup controller", "" },
	/* clang-format on */
};

static void host_rows(void)
{
	size_t i;

	for (i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		struct policy_facts facts = fixture_facts();
		_cleanup_decided_ struct decided d = { .r = 0 };
		char got[512], state[512];

		facts.controllers = hosts[i].controllers;
		facts.host_swap = hosts[i].host_swap;
		facts.swap_limit = hosts[i].swap_limit;
		if (!decided_make(&d, &facts, hosts[i].policy, NULL, NULL, NULL, NULL))
			continue;
		decided_text(&d.v, hosts[i].control, got, sizeof(got));
		is_str(got, hosts[i].decision, hosts[i].name);
		is_int(d.r, hosts[i].state ? 0 : -EPERM, hosts[i].name);
		if (!hosts[i].state)
			continue;
		state_text(d.spec->linux_cfg->resources, state, sizeof(state));
		is_str(state, hosts[i].state, hosts[i].name);
	}
}

static void hugepages_of_the_host(void)
{
	static const char *const sizes[] = { "2MB", "1GB" };
	struct policy_facts facts = fixture_facts();
	_cleanup_decided_ struct decided d = { .r = 0 };
	const struct spec_resources *r;
	char got[512];

	facts.hugepages = sizes;
	facts.n_hugepages = 2;
	if (!decided_make(
		    &d, &facts, NULL, NULL, NULL, NULL,
		    "\"resources\":{\"hugepageLimits\":[{\"pageSize\":\"1GB\",\"limit\":0}]}"))
		return;
	r = d.spec->linux_cfg->resources;
	decided_text(&d.v, "hugetlb", got, sizeof(got));
	is_str(got, "kept 0 > 0; added nothing > 0", "hugetlb: sizes of the host are limited");
	is_int(r->hugepage_limits.count, 2, "hugetlb: each size once");
	is_str(r->hugepage_limits.items[1].page_size, "2MB", "hugetlb: the size not named");
	is_int(r->hugepage_limits.items[1].limit, 0, "hugetlb: no pages");
}

static void affinity_spreads(void)
{
	static const char ids[][8] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j" };
	unsigned used = 0;
	size_t i;

	for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		struct policy_facts facts = fixture_facts();
		_cleanup_decided_ struct decided d = { .r = 0 };
		const char *p;

		facts.id = ids[i];
		if (!decided_make(&d, &facts, NULL, NULL, NULL, NULL, NULL) || !d.v.grant.affinity)
			continue;
		is_int(strlen(d.v.grant.affinity), 3, "affinity: two CPUs");
		for (p = d.v.grant.affinity; *p; p++)
			if (*p >= '0' && *p <= '7')
				used |= 1u << (*p - '0');
	}
	ok(__builtin_popcount(used) >= 6, "affinity: ids spread over the host (mask %x)", used);
}

static void rest(void)
{
	const struct policy_facts facts = fixture_facts();
	_cleanup_decided_ struct decided d = { .r = 0 };
	const struct spec_resources *r;

	if (!decided_make(
		    &d, &facts, NULL, NULL, NULL, NULL,
		    "\"resources\":{\"memory\":{\"limit\":4294967296,\"reservation\":4294967296,"
		    "\"disableOOMKiller\":true},\"cpu\":{\"quota\":400000,\"period\":100000,"
		    "\"burst\":400000,\"shares\":9999,\"realtimeRuntime\":5},\"unified\":{"
		    "\"memory.max\":\"max\",\"memory.high\":\"5\"}}"))
		return;
	r = d.spec->linux_cfg->resources;
	is_int(r->memory->reservation.value, 2147483648ll, "reservation is not above the limit");
	ok(!r->memory->disable_oom_killer.value, "the OOM killer is on");
	is_int(r->cpu->burst.value, 200000, "burst is not above the quota");
	is_int(r->cpu->shares.value, 2048, "shares are written back");
	ok(!r->cpu->realtime_runtime.set, "no real-time budget");
	is_int(r->unified.count, 1, "one unified file is left");
	is_str(r->unified.items[0].key, "memory.high", "the harmless one");
	is_int(d.v.grant.memory, 2147483648ll, "the grant names the memory");
}

int main(void)
{
	size_t i;

	TAP_BEGIN();
	for (i = 0; i < sizeof(creates) / sizeof(creates[0]); i++)
		create_row(&creates[i]);
	for (i = 0; i < sizeof(updates) / sizeof(updates[0]); i++)
		update_row(&updates[i]);
	host_rows();
	hugepages_of_the_host();
	affinity_spreads();
	rest();
	return TAP_END();
}

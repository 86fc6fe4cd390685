/*
 * Processor time: quota from a number of CPUs, the CPUs that a container sees, weight,
 * real-time budget.
 */
#include <inttypes.h>

#include "policy/policy_internal.h"

#define PERIOD_DEFAULT 100000 /* µs, the kernel's */
#define QUOTA_MIN      1000   /* µs, the kernel's */
/* Limits of the kernel's period; beyond them the arithmetic is not needed. */
#define PERIOD_MAX 1000000

/* Time in thousandths of a CPU, rounded up: 0.0004 CPUs are not "none". */
static uint64_t cpus_of(int64_t quota, uint64_t period)
{
	unsigned __int128 v;

	if (quota < 0)
		return POLICY_UNLIMITED;
	v = ((unsigned __int128)(uint64_t)quota * 1000 + period - 1) / period;
	return v > INT64_MAX ? POLICY_UNLIMITED : (uint64_t)v;
}

/* What an update leaves out is what is in force. */
static bool present_cpu(const struct policy_work *w, const struct spec_cpu *cpu, int64_t *ret_quota,
			uint64_t *ret_period)
{
	bool quota = cpu && cpu->quota.set && cpu->quota.value != 0;
	bool period = cpu && cpu->period.set && cpu->period.value != 0;

	*ret_quota = quota ? cpu->quota.value : w->update ? w->facts->cpu_quota : 0;
	*ret_period = period ? cpu->period.value : w->update ? w->facts->cpu_period : 0;
	if (!*ret_period)
		*ret_period = PERIOD_DEFAULT;
	return w->update ? quota || period : quota;
}

static void set_quota(struct spec_cpu *cpu, uint64_t thousandths, uint64_t period)
{
	uint64_t quota;

	if (period > PERIOD_MAX)
		period = PERIOD_MAX;
	quota = thousandths * period / 1000;
	if (quota < QUOTA_MIN) {
		period = PERIOD_DEFAULT;
		quota = thousandths * period / 1000;
	}
	cpu->quota = (struct opt_i64){ true, (int64_t)(quota < QUOTA_MIN ? QUOTA_MIN : quota) };
	cpu->period = (struct opt_u64){ true, period };
	if (cpu->burst.set && cpu->burst.value > (uint64_t)cpu->quota.value)
		cpu->burst.value = (uint64_t)cpu->quota.value;
}

static uint64_t hash_id(const char *id)
{
	uint64_t h = 14695981039346656037ull; /* FNV-1a: spreads ids, keeps no secret */

	for (; id && *id; id++)
		h = (h ^ (uint8_t)*id) * 1099511628211ull;
	return h;
}

/* Neighbouring CPUs from a place that depends on the id, as a list in ascending order. */
static void decide_affinity(struct policy_work *w, const struct spec_cpu *cpu, uint64_t thousandths)
{
	_cleanup_buf_ struct buf b = BUF_NULL;
	uint64_t n = (thousandths + 999) / 1000;
	size_t count = w->facts->n_cpus, start, i;

	if (w->profile->resources.affinity.n == POLICY_AFFINITY_OFF || w->update || !count ||
	    n >= count || (cpu->cpus && *cpu->cpus))
		return;
	start = (size_t)(hash_id(w->facts->id) % count);
	for (i = 0; i < count; i++)
		if ((i + count - start) % count < n)
			buf_addf(&b, "%s%" PRIu32, b.len ? "," : "", w->facts->cpus[i]);
	if (!buf_ok(&b)) {
		w->failed = true;
		return;
	}
	w->v->grant.affinity = arena_strdup(&w->v->arena, b.data);
	if (!w->v->grant.affinity)
		w->failed = true;
	policy_note(w->v, "affinity", POLICY_ADDED, &w->profile->resources.affinity, "every CPU",
		    b.data);
}

static void decide_quota(struct policy_work *w, struct spec_resources *res)
{
	struct policy_ask ask = { .control = "cpu", .text = policy_cpus_text };
	int64_t quota;
	uint64_t period, given;
	bool asked = present_cpu(w, res->cpu, &quota, &period);

	if (w->update && !asked)
		return;
	if (!policy_controller_ok(w, POLICY_CG_CPU, "cpu")) {
		if (res->cpu) {
			res->cpu->quota.set = false;
			res->cpu->period.set = false;
			res->cpu->burst.set = false;
		}
		return;
	}
	if (!res->cpu)
		res->cpu = policy_alloc(w, 1, sizeof(*res->cpu));
	if (!res->cpu)
		return;
	/* A period alone, and no quota known that it belongs to. */
	ask.given = asked && quota != 0;
	ask.value = ask.given ? cpus_of(quota, period) : 0;
	given = policy_limit_decide(w, &w->profile->resources.cpu, &w->profile->resources.excess,
				    &ask);
	if (ask.given && given == ask.value) {
		/* As asked, to the microsecond; the period spelled out, so that none is inherited.
		 */
		res->cpu->quota = (struct opt_i64){ true, quota };
		res->cpu->period = (struct opt_u64){ true, period };
	} else {
		set_quota(res->cpu, given, period);
	}
	decide_affinity(w, res->cpu, given);
}

static void decide_shares(struct policy_work *w, struct spec_cpu *cpu)
{
	struct policy_ask ask = { .control = "cpu shares",
				  .given = true,
				  .text = policy_count_text };

	if (!cpu->shares.set || cpu->shares.value == 0)
		return;
	ask.value = cpu->shares.value;
	cpu->shares.value = policy_max_decide(w, &w->profile->resources.cpu_shares,
					      &w->profile->resources.excess, &ask);
}

/* Real-time processes run before all others of the host. */
static void decide_realtime(struct policy_work *w, struct spec_cpu *cpu)
{
	bool asked = (cpu->realtime_runtime.set && cpu->realtime_runtime.value != 0) ||
		     (cpu->realtime_period.set && cpu->realtime_period.value != 0);

	if (!asked || w->profile->resources.realtime.n)
		return;
	cpu->realtime_runtime.set = false;
	cpu->realtime_period.set = false;
	policy_note(w->v, "realtime", POLICY_DROPPED, &w->profile->resources.realtime,
		    "a real-time budget", "none");
}

void policy_do_cpu(struct policy_work *w, struct spec_resources *res)
{
	decide_quota(w, res);
	if (!res->cpu)
		return;
	decide_shares(w, res->cpu);
	decide_realtime(w, res->cpu);
}

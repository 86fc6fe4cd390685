/*
 * Controls that only the host's root can put in force: an accept line gives them up where they
 * cannot be had, and is no switch where they can.
 */
#include "tests/unit/test_policy_fixture.h"

#define NONE_EGRESS "\"egress\":{\"accept\":[\"none\"]}"
#define NONE_AUDIT  "\"audit\":{\"accept\":[\"none\"]}"
#define NO_EXEC	    "\"audit\":{\"exec\":false}"

struct row {
	const char *name, *profile, *policy;
	bool bpf; /* can be had */
	const char *egress, *audit; /* the decisions */
	bool egress_on, exec_audit; /* granted */
};

#define DROPPED_EGRESS "dropped egress control > none: this process cannot put programs on cgroups"
#define DROPPED_AUDIT  "dropped a record of executed programs > none: this process cannot put programs on cgroups"
#define REFUSED_EGRESS "refused a start without egress control"
#define REFUSED_AUDIT  "refused a start without a record of executed programs"

static const struct row rows[] = {
	/* clang-format off */
	{ "had", NULL, NULL, true, "", "", true, true },
	{ "had, egress accepts none", NULL, NONE_EGRESS, true, "", "", true, true },
	{ "had, audit accepts none", NULL, NONE_AUDIT, true, "", "", true, true },
	{ "had, both accept none", NULL, NONE_EGRESS "," NONE_AUDIT, true, "", "", true, true },
	{ "had, no record wanted", NULL, NO_EXEC, true, "", "", true, false },
	{ "had, sandbox", "sandbox", NULL, true, "", "", true, false },
	{ "missing", NULL, NULL, false, REFUSED_EGRESS, REFUSED_AUDIT, false, false },
	{ "missing, egress accepts none", NULL, NONE_EGRESS, false, DROPPED_EGRESS, REFUSED_AUDIT, false, false },
	{ "missing, audit accepts none", NULL, NONE_AUDIT, false, REFUSED_EGRESS, DROPPED_AUDIT, false, false },
	{ "missing, both accept none", NULL, NONE_EGRESS "," NONE_AUDIT, false, DROPPED_EGRESS, DROPPED_AUDIT, false, false },
	{ "missing, no record wanted", NULL, NONE_EGRESS "," NO_EXEC, false, DROPPED_EGRESS, "", false, false },
	{ "missing, sandbox", "sandbox", NULL, false, REFUSED_EGRESS, "", false, false },
	{ "missing, another profile's word", "strict", NONE_EGRESS "," NONE_AUDIT, false, REFUSED_EGRESS, REFUSED_AUDIT, false, false },
	/* clang-format on */
};

static void row_test(const struct row *row)
{
	struct policy_facts facts = fixture_facts();
	_cleanup_decided_ struct decided d = { .r = 0 };
	bool refused = str_after(row->egress, "refused") || str_after(row->audit, "refused");
	char got[1024];

	facts.cgroup_bpf = row->bpf;
	if (!decided_make(&d, &facts, row->policy, row->profile, NULL, NULL, NULL))
		return;
	is_int(d.r, refused ? -EPERM : 0, row->name);
	decided_text(&d.v, "egress", got, sizeof(got));
	is_str(got, row->egress, "egress");
	decided_text(&d.v, "audit", got, sizeof(got));
	is_str(got, row->audit, "audit");
	is_int(d.v.grant.egress_on, row->egress_on, "egress in force");
	is_int(d.v.grant.exec_audit, row->exec_audit, "executed programs recorded");
	if (refused)
		ok(fixture_text_harmless(d.err.text), "no engine misreads: %s", d.err.text);
}

static const struct policy_decision *find(const struct policy_verdict *v, const char *control)
{
	size_t i;

	for (i = 0; i < v->count; i++)
		if (str_eq(v->items[i].control, control))
			return &v->items[i];
	return NULL;
}

static void words(void)
{
	struct policy_facts facts = fixture_facts();
	_cleanup_decided_ struct decided d = { .r = 0 }, e = { .r = 0 }, s = { .r = 0 };
	const struct policy_decision *x;

	facts.cgroup_bpf = false;
	if (decided_make(&d, &facts, NULL, NULL, NULL, NULL, NULL))
		ok(strstr(d.err.text, "; to allow it, run agentrun as the host's root on Linux 6.1 or newer with a "
				      "cgroup v2 hierarchy, or add \"none\" to profiles.default.egress.accept in "
				      "/etc/agentrun/policy.json"),
		   "a refusal says what to do: %s", d.err.text);
	if (decided_make(&e, &facts, NONE_EGRESS "," NONE_AUDIT, NULL, NULL, NULL, NULL)) {
		x = find(&e.v, "egress");
		is_str(x ? x->rule : NULL, "profiles.default.egress.accept", "the line that gave egress up");
		x = find(&e.v, "audit");
		is_str(x ? x->rule : NULL, "profiles.default.audit.accept", "the line that gave the record up");
	}
	if (decided_make(&s, &facts, NULL, "sandbox", NULL, NULL, NULL))
		ok(strstr(s.err.text, "hierarchy") && !strstr(s.err.text, "add \"none\""),
		   "no line that nobody can write: %s", s.err.text);
}

/* Nothing of it is asked under passthrough, and nothing granted. */
static void passthrough(void)
{
	struct policy_facts facts = fixture_facts();
	_cleanup_decided_ struct decided d = { .r = 0 };

	facts.cgroup_bpf = false;
	if (!decided_make(&d, &facts, NULL, "passthrough", NULL, NULL, NULL))
		return;
	is_int(d.r, 0, "passthrough");
	ok(!d.v.grant.egress_on && !d.v.grant.exec_audit, "nothing in force");
}

int main(void)
{
	size_t i;

	TAP_BEGIN();
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		row_test(&rows[i]);
	words();
	passthrough();
	return TAP_END();
}

/*
 * What requests make of the controls that act while the container runs: time, egress,
 * output, sessions. A request can only take away; asking for less recording is asking
 * for more.
 */
#include "policy/policy_internal.h"

static uint64_t decide_time(struct policy_work *w, const char *control,
			    const struct policy_limit *limit, const struct opt_u64 *asked)
{
	const struct policy_ask ask = {
		.control = control, .given = true, .value = asked->value, .text = policy_time_text
	};

	if (!asked->set)
		return limit->def.n;
	return policy_limit_decide(w, limit, &w->profile->time.excess, &ask);
}

/* A request is checked as the rules are that cover it, and is no narrower than they where private ranges open. */
static const struct policy_rule *as_strict(struct policy_work *w, const struct policy_rule *asked)
{
	const struct policy_value *allow = &w->profile->egress.allow;
	struct policy_rule *r = arena_alloc(&w->v->arena, sizeof(*r));

	if (!r)
		return NULL;
	*r = *asked;
	r->verify = policy_rules_verify(allow->rules, allow->n_rules, asked);
	r->scope = policy_rules_scope(allow->rules, allow->n_rules, asked);
	return r;
}

static void decide_egress(struct policy_work *w)
{
	const struct policy_value *allow = &w->profile->egress.allow;
	const struct policy_request *req = w->req;
	bool asked = req->has_egress;
	size_t n = asked ? req->n_egress : allow->n_rules, i;
	const struct policy_rule *rules = asked ? req->egress : allow->rules;
	const struct policy_rule **list;

	if (n == 0)
		return;
	list = arena_calloc(&w->v->arena, n, sizeof(*list));
	if (!list) {
		w->failed = true;
		return;
	}
	for (i = 0; i < n; i++) {
		list[i] = &rules[i];
		if (!asked)
			continue;
		list[i] = as_strict(w, &rules[i]);
		if (!list[i]) {
			w->failed = true;
			return;
		}
		/* The annotation's own words are kept in the origin. */
		if (policy_rules_cover(allow->rules, allow->n_rules, &rules[i]))
			policy_note(w->v, "egress", POLICY_KEPT, allow, rules[i].from.file,
				    rules[i].from.file);
		else
			policy_refuse(w->v, "egress", allow, rules[i].from.file,
				      "add a rule for \"%.100s\" to %s", rules[i].from.file,
				      policy_place(w->v, allow));
	}
	w->v->grant.egress = list;
	w->v->grant.n_egress = n;
}

/* Programs on cgroups have no substitute: in force whenever they can be, whatever the policy accepts. */
static bool decide_bpf(struct policy_work *w, const char *control, const struct policy_value *accept, const char *what)
{
	static const char needs[] = "run agentrun as the host's root on Linux 6.1 or newer with a cgroup v2 hierarchy";
	char asked[POLICY_TEXT_MAX];

	if (w->facts->cgroup_bpf)
		return true;
	(void)snprintf(asked, sizeof(asked), "a start without %s", what);
	if (accept->n & POLICY_ACCEPT_NONE)
		policy_note(w->v, control, POLICY_DROPPED, accept, what,
			    "none: this process cannot put programs on cgroups");
	else if (w->profile->monitored)
		policy_refuse(w->v, control, accept, asked, "%s, or add \"none\" to %s", needs,
			      policy_place(w->v, accept));
	else /* fixed: no file has a line for it */
		policy_refuse(w->v, control, accept, asked, "%s", needs);
	return false;
}

/* The denial itself needs nobody to tell of it; but what is not told must not be missed in silence. */
static bool decide_reports(struct policy_work *w)
{
	const struct policy_value *accept = &w->profile->audit.accept;

	if (!w->profile->monitored)
		return false;
	if (!w->facts->no_listener)
		return true;
	if (accept->n & POLICY_ACCEPT_NONE)
		policy_note(w->v, "audit", POLICY_DROPPED, accept, "reports of denied system calls", w->facts->no_listener);
	else
		policy_refuse(w->v, "audit", accept, "a start without reports of denied system calls",
			      "%s: run agentrun on Linux 5.0 or newer and under no filter that has a listener itself, or add "
			      "\"none\" to %s",
			      w->facts->no_listener, policy_place(w->v, accept));
	return false;
}

static void decide_output(struct policy_work *w)
{
	const struct policy_value *least = &w->profile->audit.output_max_bytes,
				  *most = &w->profile->audit.output_request_max;
	const struct opt_u64 *asked = &w->req->audit_output;
	uint64_t max = MAX(least->n, most->n);
	char a[POLICY_TEXT_MAX], g[POLICY_TEXT_MAX];

	w->v->grant.audit_output = least->n;
	w->v->grant.audit_input = w->profile->audit.input_max_bytes.n;
	if (!asked->set)
		return;
	policy_bytes_text(a, asked->value);
	if (asked->value < least->n) {
		policy_refuse(w->v, "audit", least, a, "lower %s", policy_place(w->v, least));
		return;
	}
	w->v->grant.audit_output = MIN(asked->value, max);
	policy_note(w->v, "audit", asked->value > max ? POLICY_CLAMPED : POLICY_KEPT, most, a,
		    policy_bytes_text(g, w->v->grant.audit_output));
}

/* What outlives the container takes the host's space: the operator's to allow. */
static void decide_keep(struct policy_work *w)
{
	const struct policy_value *rule = &w->profile->disk.session_keep;
	const struct opt_bool *asked = &w->req->session_keep;

	w->v->grant.session_keep = rule->n != 0 && !(asked->set && !asked->value);
	if (!asked->set)
		return;
	if (asked->value && !rule->n)
		policy_refuse(w->v, "session", rule, "a session that is kept", "set %s to true", policy_place(w->v, rule));
	else
		policy_note(w->v, "session", POLICY_KEPT, rule, asked->value ? "kept after delete" : "not kept after delete",
			    asked->value ? "kept after delete" : "not kept after delete");
}

/* "/" in a list stands for the root filesystem. */
static void decide_root(struct policy_work *w, const char *const *paths, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (str_eq(paths[i], "/"))
			w->v->grant.session_rootfs = true;
}

static void decide_session(struct policy_work *w)
{
	const struct policy_value *rule = &w->profile->mounts.session;
	const struct policy_request *req = w->req;
	size_t n = rule->list.count, all = n + req->session_paths.count, i;
	const char **paths;

	if (req->session.set && !req->session.value && n > 0) {
		policy_refuse(w->v, "session", rule, "no session", "empty %s",
			      policy_place(w->v, rule));
		return;
	}
	decide_keep(w);
	w->v->grant.session_size = w->profile->disk.session_size.n;
	w->v->grant.session_inodes = w->profile->disk.session_inodes.n;
	w->v->grant.session_rootfs = req->session.set && req->session.value;
	if (w->v->grant.session_rootfs)
		policy_note(w->v, "session", POLICY_KEPT, rule, "the root filesystem",
			    "the root filesystem");
	if (all == 0)
		return;
	paths = arena_calloc(&w->v->arena, all, sizeof(*paths));
	if (!paths) {
		w->failed = true;
		return;
	}
	for (i = 0; i < n; i++)
		paths[i] = rule->list.items[i];
	for (; i < all; i++) {
		paths[i] = req->session_paths.items[i - n];
		policy_note(w->v, "session", POLICY_KEPT, rule, paths[i], paths[i]);
	}
	decide_root(w, paths, all);
	w->v->grant.session_paths = paths;
	w->v->grant.n_session_paths = all;
}

void policy_do_grants(struct policy_work *w)
{
	const struct policy_profile *p = w->profile;
	struct policy_grant *g = &w->v->grant;

	g->seccomp_profile = p->seccomp.profile.text;
	g->time_container =
		decide_time(w, "container time", &p->time.container, &w->req->time_container);
	g->time_exec = decide_time(w, "exec time", &p->time.exec, &w->req->time_exec);
	g->time_grace = p->time.grace.n;
	g->egress_on = decide_bpf(w, "egress", &p->egress.accept, "egress control");
	g->exec_audit = p->monitored && p->audit.exec.n &&
			decide_bpf(w, "audit", &p->audit.accept, "a record of executed programs");
	g->call_reports = decide_reports(w);
	decide_egress(w);
	decide_output(w);
	decide_session(w);
}

/*
 * Decisions out of small configurations: a policy with one profile, a configuration with
 * members put in, a host of usual size, and the verdict as short text for comparison.
 */
#pragma once

#include "policy/policy.h"
#include "tests/unit/test_spec_fixture.h"

#define GIB		(1ull << 30)
#define MIB		(1ull << 20)
#define ALL_CONTROLLERS 0x7fu
#define NAMESPACES                                                                      \
	"\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"network\"},{\"type\":\"ipc\"}," \
	"{\"type\":\"uts\"},{\"type\":\"mount\"},{\"type\":\"cgroup\"}]"

static const uint32_t fixture_cpus[] _unused_ = { 0, 1, 2, 3, 4, 5, 6, 7 };

static inline struct policy_facts fixture_facts(void)
{
	return (struct policy_facts){ .id = "test",
				      .controllers = ALL_CONTROLLERS,
				      .cgroup_bpf = true,
				      .swap_limit = true,
				      .host_swap = true,
				      .host_memory = 16 * GIB,
				      .cpus = fixture_cpus,
				      .n_cpus = 8 };
}

/* Parses {"version":1,"profiles":{"default":{BODY}}}; NULL BODY is the built-in policy. */
static inline struct policy *fixture_policy(const char *body, struct error *err)
{
	char text[FIXTURE_TEXT_MAX];
	struct policy *p = NULL;

	if (!body) {
		(void)policy_builtin(&p, err);
		return p;
	}
	(void)snprintf(text, sizeof(text), "{\"version\":1,\"profiles\":{\"default\":{%s}}}", body);
	(void)policy_parse("policy.json", text, strlen(text), &p, err);
	return p;
}

struct decided {
	struct policy *policy;
	struct policy_profile profile;
	struct spec *spec;
	struct policy_verdict v;
	struct arena arena;
	struct error err;
	int r; /* of policy_apply() */
};

static inline void decided_done(struct decided *d)
{
	policy_verdict_done(&d->v);
	arena_done(&d->arena);
	spec_free(d->spec);
	policy_free(d->policy);
}
#define _cleanup_decided_ _cleanup_(decided_done)

/* The policy, profile "default" unless named, and the configuration; nothing decided yet. */
static inline bool decided_prepare(struct decided *d, const char *body, const char *profile,
				   const char *top, const char *process, const char *linux_members)
{
	memset(d, 0, sizeof(*d));
	d->policy = fixture_policy(body, &d->err);
	if (!d->policy || policy_profile_get(d->policy, profile ? profile : "default", &d->profile,
					     &d->err) < 0) {
		ok(false, "fixture policy: %s", d->err.text);
		return false;
	}
	d->spec = fixture_spec(top, process, linux_members);
	return d->spec != NULL;
}

static inline bool decided_make(struct decided *d, const struct policy_facts *facts,
				const char *body, const char *profile, const char *top,
				const char *process, const char *linux_members)
{
	struct policy_request req;
	char members[FIXTURE_TEXT_MAX / 2];

	(void)snprintf(members, sizeof(members), "%s%s%s",
		       linux_members && strstr(linux_members, "\"namespaces\"") ? "" : NAMESPACES,
		       linux_members && !strstr(linux_members, "\"namespaces\"") ? "," : "",
		       linux_members ? linux_members : "");
	if (!decided_prepare(d, body, profile, top, process, members))
		return false;
	if (policy_request_read(&d->spec->annotations, &d->arena, &req, &d->err) < 0) {
		d->r = d->err.code;
		return true;
	}
	d->r = policy_apply(d->spec, &d->profile, &req, facts, &d->v, &d->err);
	return true;
}

/* "clamped 4GiB > 2GiB; kept 5 > 5" of the decisions on control; "refused ASKED". */
static inline void decided_text(const struct policy_verdict *v, const char *control, char *buf,
				size_t size)
{
	size_t i, len = 0;

	buf[0] = '\0';
	for (i = 0; i < v->count && len < size; i++) {
		const struct policy_decision *x = &v->items[i];

		if (!str_eq(x->control, control))
			continue;
		len += (size_t)snprintf(buf + len, size - len, "%s%s %s%s%s", len ? "; " : "",
					enum_to_name(&policy_action_table, x->action), x->asked,
					x->action == POLICY_REFUSED ? "" : " > ",
					x->action == POLICY_REFUSED ? "" : x->given);
	}
}

/* No text may be taken by an engine for "cannot execute" or "not found". */
static inline bool fixture_text_harmless(const char *text)
{
	static const char *const phrases[] = { "permission denied", "no such file or directory",
					       "not a directory", "operation not permitted" };
	size_t i;

	for (i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++)
		if (strstr(text, phrases[i]))
			return false;
	return true;
}

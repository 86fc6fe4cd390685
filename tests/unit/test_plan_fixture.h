/*
 * A plan out of configuration members, and the text of its refusal.
 */
#pragma once

#include "plan/plan.h"
#include "tests/unit/test_spec_fixture.h"

#define OWN_MOUNT "\"namespaces\":[{\"type\":\"mount\"}]"

static const struct plan_request fixture_request _unused_ = { .id = "test", .bundle = "/bundle" };

struct planned {
	struct spec *spec;
	struct plan *plan; /* NULL: refused, see err */
	struct error err;
};

static inline void planned_done(struct planned *x)
{
	plan_free(x->plan);
	spec_free(x->spec);
}
#define _cleanup_planned_ _cleanup_(planned_done)

static inline struct planned planned_new(const struct plan_request *req, const char *top,
					 const char *process, const char *linux_members)
{
	struct planned x = { .spec = fixture_spec(top, process, linux_members) };

	if (x.spec)
		(void)plan_build(x.spec, req, &x.plan, &x.err);
	return x;
}

/* As planned_new(), and a refusal is a failed test. */
static inline struct planned planned_good(const char *top, const char *process,
					  const char *linux_members)
{
	struct planned x = planned_new(&fixture_request, top, process, linux_members);

	if (!x.plan)
		ok(false, "plan: %s", x.err.text);
	return x;
}

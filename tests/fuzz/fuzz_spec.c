/*
 * The specification's reader and the plan on any bytes: no crash, and each refusal
 * says something.
 */
#include <stdlib.h>

#include "plan/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct plan_request req = { .id = "fuzz", .bundle = "/b" };
	_cleanup_(arena_done) struct arena a = ARENA_NULL;
	_cleanup_spec_ struct spec *s = NULL;
	_cleanup_plan_ struct plan *p = NULL;
	_cleanup_free_ char *text = NULL;
	struct spec_resources *resources;
	struct spec_process *process;
	struct error err = ERROR_NULL;

	(void)spec_parse_process("p", (const char *)data, size, &a, &process, &err);
	(void)spec_parse_resources("r", (const char *)data, size, &a, &resources, &err);
	err = ERROR_NULL;
	if (spec_parse("fuzz", (const char *)data, size, &s, &err) < 0 ||
	    plan_build(s, &req, &p, &err) < 0 || plan_print(p, &text, &err) < 0) {
		if (!err.text[0] || err.code >= 0)
			abort();
	}
	return 0;
}

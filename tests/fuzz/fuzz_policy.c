/*
 * A policy and a configuration (behind a line of "%%") on any bytes: what is read can be
 * shown and read again without loss, each refusal says something, and deciding twice
 * changes nothing.
 */
#include <stdlib.h>
#include <string.h>

#include "policy/policy.h"
#include "util/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void show_again(const struct policy_profile *p)
{
	_cleanup_policy_ struct policy *again = NULL;
	_cleanup_free_ char *one = NULL, *two = NULL;
	struct error err = ERROR_NULL;
	struct policy_profile q;

	if (policy_show(p, &one, &err) < 0)
		abort();
	if (str_eq(p->name, "sandbox") || str_eq(p->name, "passthrough"))
		return;
	if (policy_parse("shown", one, strlen(one), &again, &err) < 0 ||
	    policy_profile_get(again, p->name, &q, &err) < 0 || policy_show(&q, &two, &err) < 0 ||
	    !str_eq(one, two))
		abort();
}

static void decide(const struct policy_profile *p, const char *config, size_t len)
{
	static const uint32_t cpus[] = { 0, 1, 2, 3 };
	static const enum policy_ns_owner owners[64];
	struct policy_facts facts = { .id = "fuzz",
				      .controllers = 0x7f,
				      .cgroup_bpf = len % 2,
				      .swap_limit = true,
				      .host_memory = 1u << 30,
				      .cpus = cpus,
				      .n_cpus = 4 };
	_cleanup_policy_verdict_ struct policy_verdict v = POLICY_VERDICT_NULL,
						       again = POLICY_VERDICT_NULL;
	_cleanup_free_ char *text = NULL, *json = NULL;
	_cleanup_spec_ struct spec *s = NULL;
	struct policy_request req;
	struct error err = ERROR_NULL;
	size_t i;

	if (spec_parse("config", config, len, &s, &err) < 0)
		return;
	if (s->linux_cfg->namespaces.count < sizeof(owners) / sizeof(owners[0]))
		facts.namespaces = owners;
	if (policy_request_read(&s->annotations, &s->arena, &req, &err) < 0)
		return;
	if (policy_apply(s, p, &req, &facts, &v, &err) < 0 && (err.code >= 0 || !err.text[0]))
		abort();
	if (policy_verdict_text(&v, &text, &err) < 0 || policy_verdict_json(&v, &json, &err) < 0)
		abort();
	if (v.refused || policy_apply(s, p, NULL, &facts, &again, &err) < 0)
		return;
	for (i = 0; i < again.count; i++)
		if (again.items[i].action != POLICY_KEPT &&
		    !str_eq(again.items[i].control, "affinity"))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *config = memmem(data, size, "\n%%\n", 4);
	size_t len = config ? (size_t)(config - text) : size;
	_cleanup_policy_ struct policy *p = NULL;
	struct policy_profile profile;
	struct error err = ERROR_NULL;
	const char *name;
	size_t i;

	if (policy_parse("fuzz", text, len, &p, &err) < 0) {
		if (err.code >= 0 || !err.text[0])
			abort();
		return 0;
	}
	for (i = 0; (name = policy_profile_name(p, i)) && i < 4; i++) {
		if (policy_profile_get(p, name, &profile, &err) < 0)
			abort(); /* checked when it was read */
		show_again(&profile);
		if (config)
			decide(&profile, config + 4, size - len - 4);
	}
	return 0;
}

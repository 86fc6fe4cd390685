/* Egress rules of a container that runs become fewer, never more. */
#include <netinet/in.h>

#include "policy/policy_internal.h"
#include "tap.h"

#define RULES                                                                                                     \
	"{\"version\":1,\"profiles\":{\"default\":{\"egress\":{\"allow\":["                                           \
	"{\"host\":\"a.test\",\"ports\":[443,80]},{\"host\":\"*.wild.test\",\"verify\":\"address\"},"                  \
	"{\"cidr\":\"10.0.0.0/8\",\"ports\":[5432],\"protocol\":\"tcp\"},{\"cidr\":\"0.0.0.0/0\",\"ports\":[123]}]}}}}"

static const struct {
	const char *text;
	int result;
	size_t n;
} rows[] = {
	{ "", 0, 0 },
	{ "a.test:443", 0, 1 },
	{ "a.test:443 a.test:80", 0, 2 },
	{ "A.TEST:443", 0, 1 },
	{ "a.test", -EPERM, 0 },
	{ "a.test:22", -EPERM, 0 },
	{ "b.test:443", -EPERM, 0 },
	{ "a.test:443,b.test:443", -EPERM, 0 },
	{ "x.wild.test", 0, 1 },
	{ "wild.test", -EPERM, 0 },
	{ "xwild.test", -EPERM, 0 },
	{ "*.x.wild.test:1", 0, 1 },
	{ "10.1.2.3:5432/tcp", 0, 1 },
	{ "10.1.2.3:5432", -EPERM, 0 },
	{ "10.0.0.0/7:5432/tcp", -EPERM, 0 },
	{ "8.8.8.8:123", 0, 1 },
	{ "[2001:db8::1]:123", -EPERM, 0 },
	{ "nonsense::", -EINVAL, 0 },
	{ "a.test:0", -EINVAL, 0 },
	{ "*", -EINVAL, 0 },
};

int main(void)
{
	_cleanup_policy_ struct policy *policy = NULL;
	struct policy_profile profile = { .name = NULL };
	struct error err = ERROR_NULL;
	size_t i;

	TAP_BEGIN();
	is_int(policy_parse("file", RULES, strlen(RULES), &policy, &err), 0, err.text);
	is_int(policy_profile_get(policy, "default", &profile, &err), 0, err.text);
	for (i = 0; i < ELEMENTSOF(rows); i++) {
		_cleanup_policy_verdict_ struct policy_verdict v = POLICY_VERDICT_NULL;

		is_int(policy_narrow_egress(&profile, profile.egress.allow.rules, profile.egress.allow.n_rules,
					    rows[i].text, &v, &err),
		       rows[i].result, rows[i].text);
		is_int(v.grant.n_egress, rows[i].n, "rules that are left");
	}
	{
		_cleanup_policy_verdict_ struct policy_verdict v = POLICY_VERDICT_NULL, again = POLICY_VERDICT_NULL;
		struct policy_rule now[3];

		is_int(policy_narrow_egress(&profile, profile.egress.allow.rules, 4, "10.1.0.0/16:5432/tcp x.wild.test:1 10.1.2.3:123",
					    &v, &err),
		       0, "a narrower range");
		is_int(v.grant.egress[0]->scope, 8, "opens the floor as the policy's does");
		is_int(v.grant.egress[1]->verify, POLICY_VERIFY_ADDRESS, "and is checked as it was");
		is_int(v.grant.egress[2]->scope, 0, "0.0.0.0/0 opens none");
		for (i = 0; i < 3; i++)
			now[i] = *v.grant.egress[i];
		is_int(policy_narrow_egress(&profile, now, 3, "10.1.2.3:5432/tcp 10.1.2.3:123", &again, &err), 0, "once more");
		is_int(again.grant.egress[0]->scope, 8, "the first one's scope stays");
		is_int(again.grant.egress[1]->scope, 0, "and that of a range that opens no floor");
	}
	return TAP_END();
}

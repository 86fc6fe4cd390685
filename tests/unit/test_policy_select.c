/*
 * Which profile a container gets, and what annotations make of it: each row is a policy,
 * the operator's flag and the annotations.
 */
#include <netinet/in.h>

#include "policy/policy_internal.h"
#include "tests/unit/test_policy_fixture.h"

struct row {
	const char *name, *policy, *flag, *annotations;
	const char *profile; /* NULL: refused */
	const char *text;    /* part of the refusal */
};

#define V	   "{\"version\":1"
#define SANDBOX	   "\"io.kubernetes.cri.container-type\":\"sandbox\""
#define CRIO	   "\"io.kubernetes.cri-o.ContainerType\":\"sandbox\""
#define ASK(name_) "\"org.agentrun.profile\":\"" name_ "\""
#define MORE	   V ",\"requestable\":[\"build\",\"own\"],\"profiles\":{\"own\":{}}}"

static const struct row rows[] = {
	/* clang-format off */
	{ "nothing asked, no file", NULL, NULL, "", "default", NULL },
	{ "nothing asked", V "}", NULL, "", "default", NULL },
	{ "the file's profile", V ",\"profile\":\"build\"}", NULL, "", "build", NULL },
	{ "the file's own profile", V ",\"profile\":\"own\",\"profiles\":{\"own\":{}}}", NULL, "", "own", NULL },
	{ "flag", NULL, "build", "", "build", NULL },
	{ "flag passthrough", NULL, "passthrough", "", "passthrough", NULL },
	{ "flag unknown", NULL, "nosuch", "", NULL, "there is no profile \"nosuch\"" },
	{ "flag, sealed", V ",\"sealed\":true}", "build", "", NULL, "is sealed (offset 22)" },
	{ "flag for the same profile, sealed", V ",\"sealed\":true}", "default", "", "default", NULL },
	{ "flag, not sealed", V ",\"sealed\":false}", "build", "", "build", NULL },
	{ "request: strict", NULL, NULL, ASK("strict"), "strict", NULL },
	{ "request: default", NULL, NULL, ASK("default"), "default", NULL },
	{ "request: default is what one has anyway", V ",\"requestable\":[]}", NULL, ASK("default"), "default", NULL },
	{ "request: build", NULL, NULL, ASK("build"), NULL, "is not in requestable (built-in); to allow it, add it to requestable in /etc/agentrun/policy.json" },
	{ "request: passthrough", NULL, NULL, ASK("passthrough"), NULL, "asks for \"passthrough\"" },
	{ "request: service", NULL, NULL, ASK("service"), NULL, "asks for \"service\"" },
	{ "request: unknown", NULL, NULL, ASK("nosuch"), NULL, "is not in requestable" },
	{ "request: empty", NULL, NULL, ASK(""), NULL, "is not in requestable" },
	{ "request: strict, not listed", V ",\"requestable\":[]}", NULL, ASK("strict"), NULL, "is not in requestable (f); to allow it, add it to requestable in f" },
	{ "request: listed", MORE, NULL, ASK("build"), "build", NULL },
	{ "request: own, listed", MORE, NULL, ASK("own"), "own", NULL },
	{ "request: the built-in list no longer counts", MORE, NULL, ASK("strict"), NULL, "is not in requestable" },
	{ "request: passthrough, listed", V ",\"requestable\":[\"passthrough\"]}", NULL, ASK("passthrough"), "passthrough", NULL },
	{ "request: sealed does not matter", V ",\"sealed\":true}", NULL, ASK("strict"), "strict", NULL },
	{ "request against a flag", NULL, "strict", ASK("default"), NULL, "the engine's --profile fixes \"strict\"" },
	{ "request against a flag, narrower", NULL, "build", ASK("strict"), NULL, "the engine's --profile fixes \"build\"" },
	{ "request equal to the flag", NULL, "build", ASK("build"), "build", NULL },
	{ "pod sandbox of containerd", NULL, NULL, SANDBOX, "sandbox", NULL },
	{ "pod sandbox of CRI-O", NULL, NULL, CRIO, "sandbox", NULL },
	{ "pod sandbox under a flag", NULL, "build", SANDBOX, "sandbox", NULL },
	{ "pod sandbox with a request", NULL, NULL, SANDBOX "," ASK("strict"), "sandbox", NULL },
	{ "pod sandbox with a request for more", NULL, NULL, SANDBOX "," ASK("build"), NULL, "asks for \"build\"" },
	{ "pod sandbox under passthrough", NULL, "passthrough", SANDBOX, "passthrough", NULL },
	{ "pod container", NULL, NULL, "\"io.kubernetes.cri.container-type\":\"container\"", "default", NULL },
	{ "pod annotation in other case", NULL, NULL, "\"io.kubernetes.cri.container-type\":\"Sandbox\"", "default", NULL },
	{ "CRI-O's other spelling", NULL, NULL, "\"io.kubernetes.cri-o.container-type\":\"sandbox\"", "default", NULL },
	/* clang-format on */
};

static void select_row(const struct row *row)
{
	_cleanup_policy_ struct policy *p = NULL;
	_cleanup_spec_ struct spec *s = NULL;
	struct policy_profile profile = { .name = NULL };
	struct error err = ERROR_NULL;
	char top[512];
	int r;

	if (row->policy)
		r = policy_parse("f", row->policy, strlen(row->policy), &p, &err);
	else
		r = policy_builtin(&p, &err);
	(void)snprintf(top, sizeof(top), "\"annotations\":{%s}", row->annotations);
	s = fixture_spec(top, NULL, NULL);
	if (r < 0 || !s) {
		ok(false, "%s: %s", row->name, err.text);
		return;
	}
	r = policy_select(p, row->flag, &s->annotations, &profile, &err);
	if (row->profile) {
		is_str(r == 0 ? profile.name : err.text, row->profile, row->name);
		return;
	}
	ok(r < 0 && strstr(err.text, row->text), "%s: %s", row->name, err.text);
	ok(fixture_text_harmless(err.text), "%s: no engine misreads it", row->name);
}

/* Annotations of one container under one profile: the decision and the grant. */
struct request {
	const char *name, *policy, *annotations, *control, *decision;
	const char *grant; /* NULL: refused */
};

#define A "\"org.agentrun."
#define EGRESS                                                                      \
	"\"egress\":{\"allow\":[{\"host\":\"pypi.org\",\"ports\":[443,80]},"        \
	"{\"host\":\"*.pythonhosted.org\",\"ports\":[443]},{\"host\":\"any.org\"}," \
	"{\"cidr\":\"10.20.0.0/16\",\"ports\":[5432],\"protocol\":\"tcp\"},"        \
	"{\"cidr\":\"2001:db8::/32\"},{\"cidr\":\"8.8.8.8\",\"ports\":[53]}]}"
#define TIME                                                                                 \
	"\"time\":{\"container\":{\"default\":\"1h\",\"max\":\"8h\"},\"exec\":{\"default\":" \
	"\"10m\",\"max\":\"10m\"}}"
#define NONE "1h off 1048576 0 0 0"

static const struct request requests[] = {
	/* clang-format off */
	{ "nothing", NULL, "", "container time", "", NONE },
	{ "memory: less", NULL, A "memory\":\"512MiB\"", "memory", "kept 512MiB > 512MiB", NONE },
	{ "memory: more", NULL, A "memory\":\"64GiB\"", "memory", "clamped 64GiB > 2GiB", NONE },
	{ "memory: more, refused", "\"resources\":{\"excess\":\"refuse\"}", A "memory\":\"64GiB\"", "memory", "refused 64GiB", NULL },
	{ "memory: no unit", NULL, A "memory\":\"1048576\"", "memory", "kept 1MiB > 1MiB", NONE },
	{ "memory: unlimited", NULL, A "memory\":\"-1\"", "memory", "", NULL },
	{ "memory: zero", NULL, A "memory\":\"0\"", "memory", "", NULL },
	{ "memory: rubbish", NULL, A "memory\":\"much\"", "memory", "", NULL },
	{ "container time: less", NULL, A "time.container\":\"5m\"", "container time", "kept 5m > 5m", "5m off 1048576 0 0 0" },
	{ "container time: more", NULL, A "time.container\":\"24h\"", "container time", "clamped 24h > 1h", NONE },
	{ "container time: up to the maximum", TIME, A "time.container\":\"8h\"", "container time", "kept 8h > 8h", "8h 10m 1048576 0 0 0" },
	{ "container time: more, refused", "\"time\":{\"excess\":\"refuse\"}", A "time.container\":\"24h\"", "container time", "refused 24h", NULL },
	{ "container time: off", NULL, A "time.container\":\"off\"", "container time", "", NULL },
	{ "container time: zero", NULL, A "time.container\":\"0\"", "container time", "", NULL },
	{ "exec time: less than the container's", NULL, A "time.exec\":\"30s\"", "exec time", "kept 30s > 30s", "1h 30s 1048576 0 0 0" },
	{ "exec time: more", TIME, A "time.exec\":\"11m\"", "exec time", "clamped 11m > 10m", "1h 10m 1048576 0 0 0" },
	{ "egress: nothing to be had", NULL, A "egress.allow\":\"pypi.org:443\"", "egress", "refused pypi.org:443", NULL },
	{ "egress: all by default", EGRESS, "", "egress", "", "1h off 1048576 6 0 0" },
	{ "egress: none asked", EGRESS, A "egress.allow\":\"\"", "egress", "", NONE },
	{ "egress: a part", EGRESS, A "egress.allow\":\"pypi.org:443\"", "egress", "kept pypi.org:443 > pypi.org:443", "1h off 1048576 1 0 0" },
	{ "egress: case", EGRESS, A "egress.allow\":\"PyPI.org:443\"", "egress", "kept PyPI.org:443 > PyPI.org:443", "1h off 1048576 1 0 0" },
	{ "egress: other port", EGRESS, A "egress.allow\":\"pypi.org:22\"", "egress", "refused pypi.org:22", NULL },
	{ "egress: every port of a name with ports", EGRESS, A "egress.allow\":\"pypi.org\"", "egress", "refused pypi.org", NULL },
	{ "egress: every port", EGRESS, A "egress.allow\":\"any.org\"", "egress", "kept any.org > any.org", "1h off 1048576 1 0 0" },
	{ "egress: one protocol of both", EGRESS, A "egress.allow\":\"any.org:53/udp\"", "egress", "kept any.org:53/udp > any.org:53/udp", "1h off 1048576 1 0 0" },
	{ "egress: below a wildcard", EGRESS, A "egress.allow\":\"files.pythonhosted.org:443\"", "egress", "kept files.pythonhosted.org:443 > files.pythonhosted.org:443", "1h off 1048576 1 0 0" },
	{ "egress: deep below a wildcard", EGRESS, A "egress.allow\":\"a.b.pythonhosted.org:443\"", "egress", "kept a.b.pythonhosted.org:443 > a.b.pythonhosted.org:443", "1h off 1048576 1 0 0" },
	{ "egress: narrower wildcard", EGRESS, A "egress.allow\":\"*.b.pythonhosted.org:443\"", "egress", "kept *.b.pythonhosted.org:443 > *.b.pythonhosted.org:443", "1h off 1048576 1 0 0" },
	{ "egress: the wildcard itself", EGRESS, A "egress.allow\":\"*.pythonhosted.org:443\"", "egress", "kept *.pythonhosted.org:443 > *.pythonhosted.org:443", "1h off 1048576 1 0 0" },
	{ "egress: parent of a wildcard", EGRESS, A "egress.allow\":\"pythonhosted.org:443\"", "egress", "refused pythonhosted.org:443", NULL },
	{ "egress: suffix confusion", EGRESS, A "egress.allow\":\"evil-pythonhosted.org:443\"", "egress", "refused evil-pythonhosted.org:443", NULL },
	{ "egress: wildcard over a plain name", EGRESS, A "egress.allow\":\"*.any.org\"", "egress", "refused *.any.org", NULL },
	{ "egress: below a plain name", EGRESS, A "egress.allow\":\"x.any.org\"", "egress", "refused x.any.org", NULL },
	{ "egress: addresses inside", EGRESS, A "egress.allow\":\"10.20.3.0/24:5432/tcp\"", "egress", "kept 10.20.3.0/24:5432/tcp > 10.20.3.0/24:5432/tcp", "1h off 1048576 1 0 0" },
	{ "egress: one address inside", EGRESS, A "egress.allow\":\"10.20.3.4:5432/tcp\"", "egress", "kept 10.20.3.4:5432/tcp > 10.20.3.4:5432/tcp", "1h off 1048576 1 0 0" },
	{ "egress: any protocol of a tcp rule", EGRESS, A "egress.allow\":\"10.20.3.4:5432\"", "egress", "refused 10.20.3.4:5432", NULL },
	{ "egress: wider addresses", EGRESS, A "egress.allow\":\"10.0.0.0/8:5432/tcp\"", "egress", "refused 10.0.0.0/8:5432/tcp", NULL },
	{ "egress: one bit wider", EGRESS, A "egress.allow\":\"10.20.0.0/15:5432/tcp\"", "egress", "refused 10.20.0.0/15:5432/tcp", NULL },
	{ "egress: addresses beside", EGRESS, A "egress.allow\":\"10.21.0.0/16:5432/tcp\"", "egress", "refused 10.21.0.0/16:5432/tcp", NULL },
	{ "egress: everything", EGRESS, A "egress.allow\":\"0.0.0.0/0\"", "egress", "refused 0.0.0.0/0", NULL },
	{ "egress: IPv6 inside", EGRESS, A "egress.allow\":\"[2001:db8:1::/48]:80\"", "egress", "kept [2001:db8:1::/48]:80 > [2001:db8:1::/48]:80", "1h off 1048576 1 0 0" },
	{ "egress: IPv6 without brackets", EGRESS, A "egress.allow\":\"2001:db8::1\"", "egress", "kept 2001:db8::1 > 2001:db8::1", "1h off 1048576 1 0 0" },
	{ "egress: IPv6 outside", EGRESS, A "egress.allow\":\"[::]:80\"", "egress", "refused [::]:80", NULL },
	{ "egress: one good, one bad", EGRESS, A "egress.allow\":\"any.org, evil.org\"", "egress", "kept any.org > any.org; refused evil.org", NULL },
	{ "egress: several", EGRESS, A "egress.allow\":\"any.org,pypi.org:80 8.8.8.8:53\"", "egress", "kept any.org > any.org; kept pypi.org:80 > pypi.org:80; kept 8.8.8.8:53 > 8.8.8.8:53", "1h off 1048576 3 0 0" },
	{ "egress: star", EGRESS, A "egress.allow\":\"*\"", "egress", "", NULL },
	{ "egress: URL", EGRESS, A "egress.allow\":\"https://pypi.org/\"", "egress", "", NULL },
	{ "egress: port 0", EGRESS, A "egress.allow\":\"any.org:0\"", "egress", "", NULL },
	{ "egress: port text", EGRESS, A "egress.allow\":\"any.org:http\"", "egress", "", NULL },
	{ "egress: protocol unknown", EGRESS, A "egress.allow\":\"any.org:80/sctp\"", "egress", "", NULL },
	{ "output: the same", NULL, A "audit.output\":\"1MiB\"", "audit", "kept 1MiB > 1MiB", NONE },
	{ "output: less would hide", NULL, A "audit.output\":\"1KiB\"", "audit", "refused 1KiB", NULL },
	{ "output: nothing", NULL, A "audit.output\":\"0\"", "audit", "", NULL },
	{ "output: more", NULL, A "audit.output\":\"2MiB\"", "audit", "clamped 2MiB > 1MiB", NONE },
	{ "output: more, allowed", "\"audit\":{\"output\":{\"requestMax\":\"4MiB\"}}", A "audit.output\":\"2MiB\"", "audit", "kept 2MiB > 2MiB", "1h off 2097152 0 0 0" },
	{ "session: root", NULL, A "session\":\"true\"", "session", "kept the root filesystem > the root filesystem", "1h off 1048576 0 1 0" },
	{ "session: paths", NULL, A "session\":\"/workspace,/data\"", "session", "kept /workspace > /workspace; kept /data > /data", "1h off 1048576 0 0 2" },
	{ "session: beside the policy's", "\"mounts\":{\"session\":[\"/a\"]}", A "session\":\"/b\"", "session", "kept /b > /b", "1h off 1048576 0 0 2" },
	{ "session: the policy's", "\"mounts\":{\"session\":[\"/a\"]}", "", "session", "", "1h off 1048576 0 0 1" },
	{ "session: off where there is none", NULL, A "session\":\"false\"", "session", "", NONE },
	{ "session: off where the policy has one", "\"mounts\":{\"session\":[\"/a\"]}", A "session\":\"false\"", "session", "refused no session", NULL },
	{ "session: relative", NULL, A "session\":\"workspace\"", "session", "", NULL },
	{ "session: the root in a list", "\"mounts\":{\"session\":[\"/\"]}", "", "session", "", "1h off 1048576 0 1 1" },
	{ "session: kept, not allowed", NULL, A "session.keep\":\"true\"", "session", "refused a session that is kept", NULL },
	{ "session: kept, allowed", "\"disk\":{\"session\":{\"keep\":true}}", A "session.keep\":\"true\"", "session",
	  "kept kept after delete > kept after delete", NONE },
	{ "session: not kept", "\"disk\":{\"session\":{\"keep\":true}}", A "session.keep\":\"false\"", "session",
	  "kept not kept after delete > not kept after delete", NONE },
	{ "session: kept, misspelt", NULL, A "session.keep\":\"perhaps\"", "session", "", NULL },
	{ "session: empty", NULL, A "session\":\"\"", "session", "", NULL },
	{ "unknown key", NULL, A "seccomp\":\"unconfined\"", "x", "", NULL },
	{ "unknown key, case", NULL, A "Memory\":\"1\"", "x", "", NULL },
	{ "other prefix", NULL, "\"org.agentrunner.memory\":\"x\"", "memory", "added nothing > 2GiB", NONE },
	/* clang-format on */
};

static void request_row(const struct request *row)
{
	const struct policy_facts facts = fixture_facts();
	_cleanup_decided_ struct decided d = { .r = 0 };
	const struct policy_grant *g = &d.v.grant;
	char top[512], got[1024], grant[256], container[POLICY_TEXT_MAX], exec[POLICY_TEXT_MAX];

	(void)snprintf(top, sizeof(top), "\"annotations\":{%s}", row->annotations);
	if (!decided_make(&d, &facts, row->policy, NULL, top, NULL, NULL))
		return;
	decided_text(&d.v, row->control, got, sizeof(got));
	is_str(got, row->decision, row->name);
	if (!row->grant) {
		ok(d.r < 0 && str_after(d.err.text, "policy: "), "%s: %s", row->name, d.err.text);
		ok(fixture_text_harmless(d.err.text), "%s: no engine misreads it", row->name);
		return;
	}
	is_int(d.r, 0, row->name);
	(void)snprintf(grant, sizeof(grant), "%s %s %llu %zu %d %zu",
		       policy_time_text(container, g->time_container),
		       policy_time_text(exec, g->time_exec), (unsigned long long)g->audit_output,
		       g->n_egress, g->session_rootfs, g->n_session_paths);
	is_str(grant, row->grant, row->name);
}

static void messages(void)
{
	const struct policy_facts facts = fixture_facts();
	_cleanup_decided_ struct decided d = { .r = 0 }, e = { .r = 0 };

	if (decided_make(&d, &facts, NULL, NULL, "\"annotations\":{" A "seccomp\":\"x\"}", NULL,
			 NULL))
		is_str(d.err.text,
		       "policy: annotation org.agentrun.seccomp is unknown (known: "
		       "org.agentrun.profile, org.agentrun.egress.allow, "
		       "org.agentrun.time.container, "
		       "org.agentrun.time.exec, org.agentrun.memory, org.agentrun.session, "
		       "org.agentrun.session.keep, org.agentrun.audit.output)",
		       "an unknown key names the known ones");
	if (decided_make(&e, &facts, NULL, NULL,
			 "\"annotations\":{" A "egress.allow\":\"evil.org:443\"}", NULL, NULL))
		ok(strstr(e.err.text, "policy: egress: evil.org:443 is refused by "
				      "profiles.default.egress.allow (built-in, offset ") &&
			   strstr(e.err.text, "; to allow it, add a rule for \"evil.org:443\" to "
					      "profiles.default.egress.allow in "
					      "/etc/agentrun/policy.json"),
		   "a refusal names rule and remedy: %s", e.err.text);
	is_str(policy_request_key(0), "org.agentrun.profile", "first key");
	is_str(policy_request_key(7), "org.agentrun.audit.output", "last key");
	is_str(policy_request_key(8), NULL, "no more keys");
}

/* A request names no check: it gets the strictest of the rules that cover it. */
static void verification(void)
{
	static const char policy[] = "\"egress\":{\"allow\":["
				     "{\"host\":\"*.a.org\",\"ports\":[443,8443],\"verify\":\"address\"},"
				     "{\"host\":\"x.a.org\",\"ports\":[8443],\"verify\":\"sni\"},"
				     "{\"host\":\"b.org\"}]}";
	static const struct { const char *asked; uint64_t verify; } asks[] = {
		{ "x.a.org:8443", POLICY_VERIFY_SNI },
		{ "x.a.org:443", POLICY_VERIFY_ADDRESS },
		{ "y.a.org:8443", POLICY_VERIFY_ADDRESS },
		{ "b.org:8443", POLICY_VERIFY_AUTO },
	};
	const struct policy_facts facts = fixture_facts();
	size_t i;

	for (i = 0; i < ELEMENTSOF(asks); i++) {
		_cleanup_decided_ struct decided d = { .r = 0 };
		char top[200];

		(void)snprintf(top, sizeof(top), "\"annotations\":{" A "egress.allow\":\"%s\"}", asks[i].asked);
		if (!decided_make(&d, &facts, policy, NULL, top, NULL, NULL))
			continue;
		is_int(d.v.grant.n_egress, 1, asks[i].asked);
		if (d.v.grant.n_egress == 1)
			is_int(d.v.grant.egress[0]->verify, asks[i].verify, "is checked as its rule says");
	}
}

/* Nor can it say how narrow it is: the floor opens by the rule that it is a part of. */
static void scopes(void)
{
	static const char policy[] = "\"egress\":{\"allow\":["
				     "{\"cidr\":\"0.0.0.0/0\",\"ports\":[80,443]},{\"cidr\":\"::/0\"},"
				     "{\"cidr\":\"10.0.0.0/8\",\"ports\":[443,22]},"
				     "{\"cidr\":\"10.0.0.0/16\",\"ports\":[443],\"protocol\":\"tcp\"},"
				     "{\"cidr\":\"192.168.1.1\"},{\"host\":\"a.org\"}]}";
	static const struct { const char *asked; unsigned prefix, scope; } asks[] = {
		{ "10.0.0.5/32:80", 32, 0 },
		{ "198.51.100.7:443", 32, 0 },
		{ "169.254.1.1:80", 32, 0 },
		{ "[::ffff:0:0/96]", 96, 0 },
		{ "[::ffff:10.0.0.5]:80", 128, 0 },
		{ "10.0.0.5:22", 32, 8 },
		{ "10.0.0.5:443", 32, 8 },
		{ "10.0.0.5:443/tcp", 32, 16 },
		{ "10.1.0.5:443/tcp", 32, 8 },
		{ "10.0.0.0/8:443", 8, 8 },
		{ "192.168.1.1", 32, 32 },
		{ "192.168.1.1:443", 32, 32 },
		{ "a.org", 0, 0 },
	};
	const struct policy_facts facts = fixture_facts();
	size_t i;

	for (i = 0; i < sizeof(asks) / sizeof(asks[0]); i++) {
		_cleanup_decided_ struct decided d = { .r = 0 };
		char top[200];

		(void)snprintf(top, sizeof(top), "\"annotations\":{" A "egress.allow\":\"%s\"}", asks[i].asked);
		if (!decided_make(&d, &facts, policy, NULL, top, NULL, NULL))
			continue;
		is_int(d.r, 0, asks[i].asked);
		if (d.v.grant.n_egress != 1)
			continue;
		is_int(d.v.grant.egress[0]->prefix, asks[i].prefix, "is as long as asked");
		is_int(d.v.grant.egress[0]->scope, asks[i].scope, "and counts as its rule");
	}
}

/* Of several ports the one that is granted least counts. */
static void scope_of_ports(void)
{
	static const char policy[] = "\"egress\":{\"allow\":[{\"cidr\":\"0.0.0.0/0\",\"ports\":[80]},"
				     "{\"cidr\":\"10.0.0.0/8\",\"ports\":[443]},{\"cidr\":\"10.0.0.5\",\"ports\":[22]}]}";
	static struct policy_ports ports[] = { { 443, 443 }, { 22, 22 }, { 80, 80 } };
	struct policy_rule q = { .cidr = (char *)"10.0.0.5", .family = AF_INET, .address = { 10, 0, 0, 5 }, .prefix = 32,
				 .ports = ports, .n_ports = 3 };
	struct error err = ERROR_NULL;
	struct policy *p = fixture_policy(policy, &err);
	struct policy_profile profile;

	is_int(policy_profile_get(p, "default", &profile, &err), 0, "a policy by ports");
	is_int(policy_rules_scope(profile.egress.allow.rules, 3, &q), 0, "three ports");
	q.n_ports = 2;
	is_int(policy_rules_scope(profile.egress.allow.rules, 3, &q), 8, "two");
	q.ports++;
	q.n_ports = 1;
	is_int(policy_rules_scope(profile.egress.allow.rules, 3, &q), 32, "one");
	q.n_ports = 0;
	is_int(policy_rules_scope(profile.egress.allow.rules, 3, &q), 0, "all, which no rule covers");
	is_int(profile.egress.allow.rules[1].scope, 8, "a rule of the file is its own");
	policy_free(p);
}

/* A range is covered port by port, by however many rules together. */
static void ranges_of_ports(void)
{
	static const char policy[] = "\"egress\":{\"allow\":["
				     "{\"cidr\":\"10.0.0.0/8\",\"ports\":[\"8000-8100\",9000,\"60000-65535\"]},"
				     "{\"cidr\":\"10.0.0.0/16\",\"ports\":[\"8050-8200\"]},"
				     "{\"cidr\":\"10.0.0.5\",\"ports\":[8201,\"1-3\"]},"
				     "{\"host\":\"a.org\",\"ports\":[\"400-500\"]},{\"host\":\"b.org\"}]}";
	static const struct { const char *asked; int covered; unsigned scope; } asks[] = {
		{ "10.0.0.5:8000", true, 8 },	      { "10.0.0.5:8100", true, 16 },
		{ "10.0.0.5:7999", false, 0 },	      { "10.0.0.5:8000-8100", true, 8 },
		{ "10.0.0.5:8050-8100", true, 16 },   { "10.0.0.5:8000-8201", true, 8 },
		{ "10.0.0.6:8000-8201", false, 0 },   { "10.0.0.5:8000-8202", false, 0 },
		{ "10.0.0.5:8101-8200/udp", true, 16 }, { "10.0.0.0/8:8000-8100", true, 8 },
		{ "10.0.0.0/8:8000-8101", false, 0 }, { "10.0.0.5:1-3", true, 32 },
		{ "10.0.0.5:1-4", false, 0 },	      { "10.0.0.5:60000-65535", true, 8 },
		{ "10.0.0.5:65535", true, 8 },	      { "10.0.0.5:1-65535", false, 0 },
		{ "10.0.0.5", false, 0 },	      { "a.org:443", true, 0 },
		{ "a.org:400-500", true, 0 },	      { "a.org:399-500", false, 0 },
		{ "a.org", false, 0 },		      { "b.org:1-65535", true, 0 },
	};
	struct error err = ERROR_NULL;
	struct policy *p = fixture_policy(policy, &err);
	struct arena arena = ARENA_NULL;
	struct policy_profile profile;
	struct policy_rule q;
	const char *why;
	size_t i;

	is_int(policy_profile_get(p, "default", &profile, &err), 0, "a policy with ranges of ports");
	for (i = 0; i < ELEMENTSOF(asks); i++) {
		is_int(policy_rule_from_text(asks[i].asked, &arena, &q, &why), 0, asks[i].asked);
		is_int(policy_rules_cover(profile.egress.allow.rules, profile.egress.allow.n_rules, &q), asks[i].covered,
		       "covered");
		if (asks[i].covered)
			is_int(policy_rules_scope(profile.egress.allow.rules, profile.egress.allow.n_rules, &q),
			       asks[i].scope, "counts as its least rule");
	}
	arena_done(&arena);
	policy_free(p);
}

static void passthrough(void)
{
	const struct policy_facts facts = fixture_facts();
	_cleanup_decided_ struct decided d = { .r = 0 }, e = { .r = 0 };

	if (decided_make(&d, &facts, NULL, "passthrough", NULL, NULL,
			 "\"namespaces\":[],\"resources\":{\"memory\":{\"limit\":-1}}")) {
		is_int(d.r, 0, "passthrough: done");
		is_int(d.v.count, 1, "passthrough: one decision");
		is_int(d.v.items[0].action, POLICY_KEPT, "passthrough: as asked");
		is_str(d.v.items[0].given, "the specification alone, nothing is enforced",
		       "passthrough: says what it does");
		ok(d.v.grant.passthrough, "passthrough: granted");
		ok(!policy_verdict_changed(&d.v), "passthrough: nothing changed");
		is_int(d.spec->linux_cfg->resources->memory->limit.value, -1,
		       "passthrough: unlimited");
		is_int(d.spec->linux_cfg->namespaces.count, 0, "passthrough: no namespace added");
		ok(!d.spec->process->capabilities && !d.spec->process->no_new_privileges,
		   "passthrough: the process is not touched");
	}
	if (decided_make(&e, &facts, NULL, "passthrough",
			 "\"annotations\":{" A "memory\":\"1GiB\"}", NULL, NULL))
		is_int(e.r, -EPERM, "passthrough: a request that nobody would keep is refused");
}

int main(void)
{
	size_t i;

	TAP_BEGIN();
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		select_row(&rows[i]);
	for (i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		request_row(&requests[i]);
	messages();
	verification();
	scopes();
	scope_of_ports();
	ranges_of_ports();
	passthrough();
	return TAP_END();
}

/* Which policy line a denial asks for, and for which there is none. */
#include "container/suggest.h"
#include "tap.h"
#include "util/json_read.h"
#include "util/error.h"

struct row {
	struct suggest_denial d;
	const char *rule; /* NULL = none */
	const char *why; /* part of it */
};

static const struct row rows[] = {
	{ { .what = "name", .name = "pypi.org", .reason = "denied" },
	  "{\"host\": \"pypi.org\", \"ports\": [443], \"protocol\": \"tcp\"}",
	  "443 is a guess" },
	{ { .what = "name", .name = "*.pypi.org", .reason = "denied" }, NULL, "no rule can have" },
	{ { .what = "name", .name = "a b\x1b[31m.test", .reason = "denied" }, NULL, "no rule can have" },
	{ { .what = "name", .name = "10.0.0.0/8", .reason = "denied" }, NULL, "no rule can have" },
	{ { .what = "name", .name = "::/0", .reason = "denied" }, NULL, "no rule can have" },
	{ { .what = "name", .name = "near.test", .address = "10.1.2.3", .reason = "private address, and …" },
	  "{\"cidr\": \"10.1.2.3/32\"}",
	  "private network" },
	{ { .what = "name", .name = "meta.test", .address = "169.254.169.254", .reason = "special address" }, NULL, "metadata" },
	{ { .what = "connect", .address = "93.184.216.11", .port = 8080, .protocol = "tcp" },
	  "{\"cidr\": \"93.184.216.11/32\", \"ports\": [8080], \"protocol\": \"tcp\"}",
	  "whoever has it" },
	{ { .what = "send", .address = "2001:db8::5", .port = 53, .protocol = "udp" },
	  "{\"cidr\": \"2001:db8::5/128\", \"ports\": [53], \"protocol\": \"udp\"}",
	  "whoever has it" },
	{ { .what = "packet", .address = "93.184.216.11", .protocol = "icmp" }, "{\"cidr\": \"93.184.216.11/32\"}", "whoever" },
	{ { .what = "connect", .name = "good.test", .address = "93.184.216.11", .port = 22, .protocol = "tcp" },
	  "{\"host\": \"good.test\", \"ports\": [22], \"protocol\": \"tcp\"}",
	  "this port" },
	{ { .what = "connect", .address = "169.254.169.254", .port = 80, .protocol = "tcp" }, NULL, "metadata" },
	{ { .what = "connect", .address = "100.100.100.200", .port = 80, .protocol = "tcp" }, NULL, "metadata" },
	{ { .what = "connect", .address = "fd00:ec2::254", .port = 80, .protocol = "tcp" }, NULL, "metadata" },
	{ { .what = "connect", .address = "::ffff:169.254.169.254", .port = 80, .protocol = "tcp" }, NULL, "metadata" },
	{ { .what = "connect", .address = "64:ff9b::a9fe:a9fe", .port = 80, .protocol = "tcp" }, NULL, "metadata" },
	{ { .what = "connect", .address = "127.0.0.1", .port = 80, .protocol = "tcp" }, NULL, "loopback" },
	{ { .what = "connect", .address = "240.0.0.1", .port = 80, .protocol = "tcp" }, NULL, "reserved" },
	{ { .what = "connect", .address = "93.184.216.77", .port = 80, .protocol = "tcp" }, NULL, "address of this host" },
	{ { .what = "connect", .address = "nonsense", .port = 80, .protocol = "tcp" }, NULL, "no rule could bind" },
	{ { .what = "socket", .protocol = NULL }, NULL, "raw, packet" },
	{ { .what = "spoofed", .address = "93.184.216.11" }, NULL, "raw, packet" },
	{ { .what = "sni", .name = "evil.test", .address = "93.184.216.11", .port = 443, .protocol = "tcp", .reason = "denied" },
	  "{\"host\": \"evil.test\", \"ports\": [443], \"protocol\": \"tcp\"}",
	  "this port" },
	{ { .what = "sni", .name = "good.test", .address = "93.184.216.11", .port = 443, .protocol = "tcp", .reason = "encrypted" },
	  "{\"host\": \"good.test\", \"ports\": [443], \"protocol\": \"tcp\", \"verify\": \"address\"}",
	  "other sites" },
	{ { .what = "call", .name = "mount", .allowed_by = "agent-nested" }, NULL, "seccomp.profile as agent-nested would" },
	{ { .what = "call", .name = "bpf" }, NULL, "no shipped" },
	{ { .what = "connect", .name = "open.test", .address = "93.184.216.11", .port = 80, .protocol = "tcp" }, NULL, "took it away" },
};

static uint8_t own[1][16] = { { [10] = 0xff, 0xff, 93, 184, 216, 77 } };

static void start(struct suggestions *s, const struct policy_profile *profile)
{
	*s = SUGGESTIONS_NULL;
	s->profile = "default";
	s->file = "FILE";
	s->now = profile;
	s->hosts = calloc(1, sizeof(own));
	memcpy(s->hosts, own, sizeof(own));
	s->n_hosts = 1;
}

static void row_test(const struct row *row, const struct policy_profile *profile)
{
	_cleanup_suggestions_ struct suggestions s;
	_cleanup_buf_ struct buf b = BUF_NULL;
	struct error err = ERROR_NULL;
	const char *c;

	start(&s, profile);
	is_int(suggest_add(&s, &row->d, &err), 0, row->d.name ? row->d.name : row->d.address);
	is_int(s.n, 1, "one entry");
	if (s.n != 1)
		return;
	if (s.items[0].host || s.items[0].cidr)
		suggest_rule_text(&s.items[0], &b);
	is_str(b.len ? b.data : NULL, row->rule, "the rule");
	ok(strstr(s.items[0].why, row->why), "and why: %s", s.items[0].why);
	for (c = s.items[0].what; *c && (unsigned char)*c >= ' '; c++)
		;
	ok(!*c, "nothing for a terminal: %s", s.items[0].what);
}

static void test_together(void)
{
	_cleanup_suggestions_ struct suggestions s;
	_cleanup_buf_ struct buf b = BUF_NULL;
	struct error err = ERROR_NULL;
	char name[32];
	unsigned i;

	start(&s, NULL);
	for (i = 0; i < 100; i++)
		(void)suggest_add(&s,
				  &(struct suggest_denial){ .what = "connect", .name = "good.test", .address = "93.184.216.11",
							    .port = (uint16_t)(8000 + i / 2), .protocol = "tcp" },
				  &err);
	is_int(s.n, 1, "ports of one host");
	is_int(s.items[0].count, 100, "are counted together");
	is_int(s.items[0].n_ports, 50, "each once");
	for (i = 0; i < 2 * SUGGEST_ENTRIES_MAX; i++) {
		(void)snprintf(name, sizeof(name), "n%u.test", i);
		(void)suggest_add(&s, &(struct suggest_denial){ .what = "name", .name = name, .reason = "denied" }, &err);
	}
	is_int(s.n, SUGGEST_ENTRIES_MAX, "so many at most");
	is_int(s.others, SUGGEST_ENTRIES_MAX + 1, "and the rest are counted");
	(void)suggest_add(&s, &(struct suggest_denial){ .what = "sni", .name = "x", .reason = "timeout" }, &err);
	is_int(s.others, SUGGEST_ENTRIES_MAX + 1, "what no rule is about is none of them");
}

int main(void)
{
	static const char text[] = "{\"version\":1,\"profiles\":{\"default\":{\"egress\":{\"allow\":["
				   "{\"host\":\"open.test\",\"ports\":[80]}]}}}}";
	_cleanup_policy_ struct policy *policy = NULL;
	struct policy_profile profile = { .name = NULL };
	struct error err = ERROR_NULL;
	size_t i;

	TAP_BEGIN();
	is_int(policy_parse("file", text, strlen(text), &policy, &err), 0, err.text);
	is_int(policy_profile_get(policy, "default", &profile, &err), 0, err.text);
	for (i = 0; i < ELEMENTSOF(rows); i++)
		row_test(&rows[i], &profile);
	test_together();
	return TAP_END();
}

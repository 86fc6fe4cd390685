/*
 * Owns the form of egress rules: reading them, and the short form that annotations use. Which rule covers
 * which is policy_cover.c's; what a rule opens on the wire is decided elsewhere.
 */
#include <arpa/inet.h>
#include <netinet/in.h>

#include "policy/policy_internal.h"
#include "util/parse.h"
#include "util/str.h"

#define HOST_MAX  253
#define LABEL_MAX 63
#define PORTS_MAX 64

static const struct enum_entry protocol_entries[] = {
	{ "tcp", IPPROTO_TCP, NULL },
	{ "udp", IPPROTO_UDP, NULL },
};
static const struct enum_table protocol_table = ENUM_TABLE("protocol", protocol_entries);

static const struct enum_entry verify_entries[] = {
	{ "sni", POLICY_VERIFY_SNI, NULL },
	{ "address", POLICY_VERIFY_ADDRESS, NULL },
};
static const struct enum_table verify_table = ENUM_TABLE("verification", verify_entries);

const char *policy_verify_name(uint64_t verify)
{
	return enum_to_name(&verify_table, verify);
}

/* Lower-cases s in place. NULL, or what is wrong. */
static const char *host_check(char *s)
{
	const char *name = str_after(s, "*.");
	struct in_addr address;
	size_t n, labels = 0;
	char *p;

	if (str_eq(s, "*"))
		return "\"*\" would be every name; list names, or a cidr for addresses";
	if (strlen(s) > HOST_MAX)
		return "is too long for a host name";
	if (inet_pton(AF_INET, s, &address) == 1)
		return "is an address; write it as a cidr";
	for (p = s; *p; p++)
		if (*p >= 'A' && *p <= 'Z')
			*p = (char)(*p - 'A' + 'a');
	for (name = name ? name : s; *name; name += n + (name[n] == '.')) {
		n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_");
		if (n == 0 || n > LABEL_MAX || name[0] == '-' || name[n - 1] == '-')
			return "is not a host name (\"*.\" is allowed in front only)";
		if (name[n] && (name[n] != '.' || !name[n + 1]))
			return "is not a host name (\"*.\" is allowed in front only)";
		labels++;
	}
	if (labels == 0)
		return "is not a host name";
	/* "*.com" is a whole registry; a single label is fine for names of one's own network. */
	if (s[0] == '*' && labels < 2)
		return "a wildcard needs at least two labels behind it";
	return NULL;
}

/* NULL, or what is wrong. */
static const char *cidr_parse(const char *text, struct policy_rule *r)
{
	static const uint8_t zero[16];
	char address[INET6_ADDRSTRLEN];
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : strlen(text);
	uint8_t rest[16];
	uint32_t prefix;
	unsigned i, bits;

	if (len >= sizeof(address))
		return "is not an address range";
	memcpy(address, text, len);
	address[len] = '\0';
	r->family = strchr(address, ':') ? AF_INET6 : AF_INET;
	bits = r->family == AF_INET6 ? 128 : 32;
	if (inet_pton(r->family, address, r->address) != 1)
		return "is not an address range, as 10.20.0.0/16";
	prefix = bits;
	if (slash && (parse_u32(slash + 1, &prefix) < 0 || prefix > bits))
		return "has no valid prefix length";
	r->prefix = (uint8_t)prefix;
	memcpy(rest, r->address, sizeof(rest));
	for (i = 0; i < prefix; i++)
		rest[i / 8] &= (uint8_t) ~(0x80 >> (i % 8));
	if (memcmp(rest, zero, bits / 8) != 0)
		return "has bits set behind its prefix length";
	return NULL;
}

static JSON_HANDLER(get_host)
{
	char **host = target;
	const char *why;
	int r = json_get_string(ctx, field, value, target, err);

	if (r < 0)
		return r;
	why = host_check(*host);
	return why ? json_error(ctx, value, err, -EINVAL, "\"%.100s\": %s", *host, why) : 0;
}

static JSON_HANDLER(get_cidr)
{
	struct policy_rule *rule =
		(struct policy_rule *)((char *)target - offsetof(struct policy_rule, cidr));
	const char *why;
	int r = json_get_string(ctx, field, value, target, err);

	if (r < 0)
		return r;
	why = cidr_parse(rule->cidr, rule);
	return why ? json_error(ctx, value, err, -EINVAL, "\"%.100s\" %s", rule->cidr, why) : 0;
}

int policy_ports_read(const char *text, struct policy_ports *ret)
{
	char first[sizeof("65535")];
	const char *dash = strchr(text, '-');
	size_t len = dash ? (size_t)(dash - text) : strlen(text);
	uint32_t a, b;

	if (len >= sizeof(first))
		return -EINVAL;
	memcpy(first, text, len);
	first[len] = '\0';
	if (parse_u32(first, &a) < 0 || parse_u32(dash ? dash + 1 : first, &b) < 0 || a < 1 || a > b || b > UINT16_MAX)
		return -EINVAL;
	*ret = (struct policy_ports){ .first = (uint16_t)a, .last = (uint16_t)b };
	return 0;
}

const char *policy_ports_text(const struct policy_ports *p, char buf[POLICY_PORTS_TEXT])
{
	if (p->first == p->last)
		(void)snprintf(buf, POLICY_PORTS_TEXT, "%u", p->first);
	else
		(void)snprintf(buf, POLICY_PORTS_TEXT, "%u-%u", p->first, p->last);
	return buf;
}

static int get_range(const struct json *j, struct policy_ports *ret)
{
	uint64_t port;

	if (j->type == JSON_STRING)
		return strchr(j->text, '-') ? policy_ports_read(j->text, ret) : -EINVAL;
	if (j->type != JSON_NUMBER || json_to_u64(j, &port) < 0 || port < 1 || port > UINT16_MAX)
		return -EINVAL;
	*ret = (struct policy_ports){ .first = (uint16_t)port, .last = (uint16_t)port };
	return 0;
}

static JSON_HANDLER(get_ports)
{
	struct policy_rule *rule =
		(struct policy_rule *)((char *)target - offsetof(struct policy_rule, ports));
	const struct json *j;

	if (value->type != JSON_ARRAY || value->kids.count == 0 || value->kids.count > PORTS_MAX)
		return json_error(ctx, value, err, -EINVAL,
				  "must be an array of 1 to %d ports or ranges of ports; leave it out for all",
				  PORTS_MAX);
	rule->ports = arena_calloc(ctx->arena, value->kids.count, sizeof(*rule->ports));
	if (!rule->ports)
		return error_oom(err);
	for (j = value->kids.first; j; j = j->next)
		if (get_range(j, &rule->ports[rule->n_ports++]) < 0)
			return json_error(ctx, j, err, -EINVAL,
					  "must be a port number from 1 to 65535, or a range as \"8000-8100\"");
	return 0;
}

static const struct json_field rule_fields[] = {
	{ .name = "host", .fn = get_host, .offset = offsetof(struct policy_rule, host) },
	{ .name = "cidr", .fn = get_cidr, .offset = offsetof(struct policy_rule, cidr) },
	{ .name = "ports", .fn = get_ports, .offset = offsetof(struct policy_rule, ports) },
	{ .name = "protocol",
	  .fn = json_get_enum,
	  .arg = &protocol_table,
	  .offset = offsetof(struct policy_rule, protocol) },
	{ .name = "metadata",
	  .fn = json_get_bool,
	  .offset = offsetof(struct policy_rule, metadata) },
	{ .name = "verify",
	  .fn = json_get_enum,
	  .arg = &verify_table,
	  .offset = offsetof(struct policy_rule, verify) },
	{ .name = NULL },
};
const struct json_object policy_rule_type = { .size = sizeof(struct policy_rule),
					      .fields = rule_fields };

static const char *rule_check(const struct policy_rule *r)
{
	if (!r->host == !r->cidr)
		return "must have either host or cidr";
	if (r->metadata && (!r->cidr || r->prefix != (r->family == AF_INET6 ? 128 : 32)))
		return "metadata needs a cidr that is one address";
	if (r->verify && !r->host)
		return "verify is for a host; a cidr is its own check";
	if (r->verify == POLICY_VERIFY_SNI && r->protocol == IPPROTO_UDP)
		return "verify \"sni\" reads TLS connections; udp has none that are read";
	return NULL;
}

JSON_HANDLER(policy_get_rules)
{
	struct policy_value *v = target;
	struct policy_rule *rules;
	const struct json *j;
	const char *why;
	size_t len = ctx->path_len, i = 0;
	int r;

	if (value->type != JSON_ARRAY)
		return json_error(ctx, value, err, -EINVAL, "must be an array, is %s",
				  json_type_phrase(value->type));
	if (value->kids.count > POLICY_RULES_MAX)
		return json_error(ctx, value, err, -E2BIG, "more than %d rules", POLICY_RULES_MAX);
	rules = arena_calloc(ctx->arena, value->kids.count, sizeof(*rules));
	if (!rules)
		return error_oom(err);
	for (j = value->kids.first; j; j = j->next, i++) {
		json_path_push(ctx, "[%zu]", i);
		r = json_dispatch(ctx, &policy_rule_type, j, &rules[i], err);
		if (r < 0)
			return r;
		why = rule_check(&rules[i]);
		if (why)
			return json_error(ctx, j, err, -EINVAL, "%s", why);
		rules[i].scope = rules[i].prefix;
		rules[i].from.file = ctx->name;
		rules[i].from.offset = j->offset;
		rules[i].from.path = arena_strdup(ctx->arena, ctx->path);
		if (!rules[i].from.path)
			return error_oom(err);
		json_path_pop(ctx, len);
	}
	v->rules = rules;
	v->n_rules = i;
	return policy_value_begin(ctx, value, v, err);
}

/* Cuts ":PORT" or ":FIRST-LAST" off; in "[X]:PORT" the brackets, too. False: the port is none. */
static bool take_port(char **text, struct arena *arena, struct policy_rule *r)
{
	char *end = *text + strlen(*text), *colon = NULL;

	if (**text == '[') {
		end = strchr(*text, ']');
		if (!end || (end[1] && end[1] != ':'))
			return false;
		colon = end[1] ? end + 1 : NULL;
		*end = '\0';
		(*text)++;
	} else if (strchr(*text, ':') == strrchr(*text, ':')) {
		colon = strchr(*text, ':');
	}
	if (!colon)
		return true;
	*colon = '\0';
	r->ports = arena_alloc(arena, sizeof(*r->ports));
	if (!r->ports || policy_ports_read(colon + 1, r->ports) < 0)
		return false;
	r->n_ports = 1;
	return true;
}

int policy_rule_from_text(const char *text, struct arena *arena, struct policy_rule *ret,
			  const char **ret_why)
{
	struct policy_rule r = { .family = 0 };
	char *s = arena_strdup(arena, text), *protocol;
	struct in6_addr scratch;

	if (!s)
		return -ENOMEM;
	*ret_why = "is neither HOST[:PORT][/tcp|/udp] nor CIDR[:PORT] nor [CIDR]:PORT, PORT a number or FIRST-LAST";
	protocol = strrchr(s, '/');
	if (protocol && enum_from_name(&protocol_table, protocol + 1, &r.protocol) == 0)
		*protocol = '\0';
	if (!take_port(&s, arena, &r))
		return -EINVAL;
	if (strchr(s, '/') || strchr(s, ':') || inet_pton(AF_INET, s, &scratch) == 1) {
		*ret_why = cidr_parse(s, &r);
		r.cidr = s;
	} else {
		*ret_why = host_check(s);
		r.host = s;
	}
	if (*ret_why)
		return -EINVAL;
	*ret = r;
	return 0;
}

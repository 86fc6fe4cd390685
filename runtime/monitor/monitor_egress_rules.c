/*
 * The rules of monitor.json, translated: address ranges for the kernel's tables and the judgement of
 * answers, names for the resolver. The policy has checked them; what it let
 * through and this cannot read is an error all the same.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/monitor_egress.h"
#include "util/parse.h"
#include "util/str.h"

/* "443 8000-8010": at most EGRESS_RANGES_MAX. */
static int read_ports(const char *text, struct arena *arena, struct egress_name_range **ret, size_t *ret_n,
		      struct error *err)
{
	char *copy = arena_strdup(arena, text ? text : ""), *word, *save = NULL;
	struct egress_name_range *list;
	size_t n = 0;

	*ret_n = 0;
	list = copy ? arena_calloc(arena, strlen(copy) / 2 + 2, sizeof(*list)) : NULL;
	if (!list)
		return error_oom(err);
	for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		char *dash = strchr(word, '-');
		uint64_t first, last;

		if (dash)
			*dash++ = '\0';
		if (parse_u64(word, &first) < 0 || parse_u64(dash ? dash : word, &last) < 0 || first == 0 || first > last ||
		    last > UINT16_MAX || n >= EGRESS_RANGES_MAX)
			return error_text(err, -EINVAL, "egress rule: \"%.40s\" is no list of ports", text);
		list[n++] = (struct egress_name_range){ .first = (uint16_t)first, .last = (uint16_t)last };
	}
	*ret = list;
	*ret_n = n;
	return 0;
}

static int read_cidr(const char *text, uint32_t scope, struct egress_rule *ret, struct error *err)
{
	char host[INET6_ADDRSTRLEN];
	const char *slash = strchr(text, '/');
	size_t len = slash ? (size_t)(slash - text) : strlen(text);
	int family = strchr(text, ':') ? AF_INET6 : AF_INET;
	uint64_t bits = family == AF_INET ? 32 : 128, most = bits;
	uint8_t raw[16];

	if (len >= sizeof(host))
		return error_text(err, -EINVAL, "egress rule: \"%.60s\" is no address range", text);
	memcpy(host, text, len);
	host[len] = '\0';
	if (inet_pton(family, host, raw) != 1 || (slash && parse_u64(slash + 1, &bits) < 0) || bits > most)
		return error_text(err, -EINVAL, "egress rule: \"%.60s\" is no address range", text);
	if (scope > bits)
		return error_text(err, -EINVAL, "egress rule: \"%.60s\" has a scope of %u bits", text, scope);
	egress_rules_map(family, raw, ret->address);
	ret->bits = (uint8_t)(bits + (family == AF_INET ? 96 : 0));
	ret->scope = (uint8_t)(scope + (family == AF_INET ? 96 : 0));
	return 0;
}

static int add_range(const struct monitor_rule *r, const struct egress_name_range *ports, size_t n_ports,
		     struct arena *arena, struct egress_rule *rule, struct error *err)
{
	struct egress_range *ranges = arena_calloc(arena, n_ports + 1, sizeof(*ranges));
	size_t i;

	if (!ranges)
		return error_oom(err);
	for (i = 0; i < n_ports; i++)
		ranges[i] = (struct egress_range){ .first = ports[i].first, .last = ports[i].last };
	*rule = (struct egress_rule){ .protocol = (uint8_t)r->protocol, .metadata = r->metadata, .ranges = ranges,
				      .n_ranges = n_ports };
	return read_cidr(r->cidr, r->scope, rule, err);
}

/* A word that is not known would be a check that is not made. */
static int read_verify(const char *text, enum egress_verify *ret, struct error *err)
{
	if (!text)
		*ret = EGRESS_VERIFY_AUTO;
	else if (str_eq(text, "sni"))
		*ret = EGRESS_VERIFY_SNI;
	else if (str_eq(text, "address"))
		*ret = EGRESS_VERIFY_ADDRESS;
	else
		return error_text(err, -EINVAL, "egress rule: \"%.40s\" is no verification", text);
	return 0;
}

int monitor_egress_lists(const struct monitor_config *c, struct arena *arena, struct egress_lists *ret, struct error *err)
{
	const struct monitor_rule *rules = c->egress.rules.items;
	size_t count = c->egress.rules.count, i;
	struct egress_rule *ranges = arena_calloc(arena, count + 1, sizeof(*ranges));
	struct egress_name_rule *names = arena_calloc(arena, count + 1, sizeof(*names));
	int r = 0;

	if (!ranges || !names)
		return error_oom(err);
	*ret = (struct egress_lists){ .ranges = ranges, .names = names };
	for (i = 0; i < count && r == 0; i++) {
		struct egress_name_range *ports = NULL;
		enum egress_verify verify = EGRESS_VERIFY_AUTO;
		size_t n_ports = 0;

		r = read_verify(rules[i].verify, &verify, err);
		if (r == 0)
			r = read_ports(rules[i].ports, arena, &ports, &n_ports, err);
		if (r == 0 && rules[i].cidr) {
			r = add_range(&rules[i], ports, n_ports, arena, &ranges[ret->n_ranges], err);
			ret->n_ranges++;
		} else if (r == 0) {
			names[ret->n_names++] = (struct egress_name_rule){ .host = rules[i].host,
									   .protocol = (uint8_t)rules[i].protocol,
									   .verify = verify,
									   .ports = ports,
									   .n_ports = n_ports };
		}
	}
	return r;
}

/*
 * Owns the meaning of rules: which rules count at which range, above which floor, merged so
 * that the longest matching range alone decides. Ports are egress_ports.c's.
 */
#include "egress/egress_rules.h"

#include <arpa/inet.h>
#include <assert.h>
#include <string.h>

#include "egress/egress_ports.h"
#include "util/cleanup.h"

/* How a range of the floor opens. */
enum floor { FLOOR_NONE, FLOOR_RANGE, FLOOR_METADATA, FLOOR_NEVER };

struct floor_range {
	const char *address;
	uint8_t bits; /* as written: 0 to 32 for IPv4 */
	uint8_t floor;
};

static const struct floor_range floors4[] = {
	{ "0.0.0.0", 8, FLOOR_RANGE },
	{ "10.0.0.0", 8, FLOOR_RANGE },
	{ "100.64.0.0", 10, FLOOR_RANGE },
	{ "100.100.100.200", 32, FLOOR_METADATA }, /* Alibaba */
	{ "127.0.0.0", 8, FLOOR_RANGE },
	{ "168.63.129.16", 32, FLOOR_METADATA }, /* Azure: serves keys, and is a public address */
	{ "169.254.0.0", 16, FLOOR_RANGE },
	{ "169.254.169.254", 32, FLOOR_METADATA }, /* nearly everybody */
	{ "169.254.170.2", 32, FLOOR_METADATA }, /* tasks on ECS */
	{ "169.254.170.23", 32, FLOOR_METADATA }, /* pods on EKS */
	{ "172.16.0.0", 12, FLOOR_RANGE },
	{ "192.0.0.0", 24, FLOOR_RANGE },
	{ "192.0.0.192", 32, FLOOR_METADATA }, /* Oracle, of old */
	{ "192.168.0.0", 16, FLOOR_RANGE },
	{ "198.18.0.0", 15, FLOOR_RANGE },
	{ "224.0.0.0", 4, FLOOR_RANGE },
	{ "240.0.0.0", 4, FLOOR_NEVER },
};

static const struct floor_range floors6[] = {
	{ "::", 96, FLOOR_RANGE }, /* unspecified, loopback, and IPv4 in its first disguise */
	{ "64:ff9b:1::", 48, FLOOR_RANGE },
	{ "100::", 64, FLOOR_RANGE },
	{ "2001::", 32, FLOOR_RANGE }, /* Teredo carries IPv4 addresses */
	{ "2002::", 16, FLOOR_RANGE }, /* so does 6to4 */
	{ "fc00::", 7, FLOOR_RANGE },
	{ "fd00:ec2::23", 128, FLOOR_METADATA },
	{ "fd00:ec2::254", 128, FLOOR_METADATA },
	{ "fd20:ce::254", 128, FLOOR_METADATA },
	{ "fe80::", 10, FLOOR_RANGE },
	{ "fec0::", 10, FLOOR_RANGE },
	{ "ff00::", 8, FLOOR_RANGE },
};

/* The translator's own prefix: whole IPv4 is behind it, its floor included. */
static const uint8_t nat64[12] = { 0, 0x64, 0xff, 0x9b };
static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

const uint8_t egress_canary[16] = { [10] = 0xff, [11] = 0xff, [12] = 240, [15] = 1 };

/* A range with what begins there. Several rules may have the same one. */
struct node {
	uint8_t address[16];
	uint8_t bits;
	uint8_t floor;
	const struct egress_rule *rule; /* NULL: of the floor, or the border of IPv4 */
};

struct nodes {
	struct node *items;
	size_t n;
};

void egress_rules_map(int family, const void *address, uint8_t ret[16])
{
	if (family == AF_INET6) {
		memcpy(ret, address, 16);
	} else {
		memcpy(ret, mapped, sizeof(mapped));
		memcpy(ret + sizeof(mapped), address, 4);
	}
}

static void add(struct nodes *nodes, const uint8_t address[16], uint8_t bits, enum floor floor,
		const struct egress_rule *rule)
{
	struct node *n = &nodes->items[nodes->n++];

	memcpy(n->address, address, sizeof(n->address));
	n->bits = bits;
	n->floor = (uint8_t)floor;
	n->rule = rule;
	/* What is behind the prefix would only disturb the order. */
	for (unsigned i = bits; i < 128; i++)
		n->address[i / 8] &= (uint8_t) ~(0x80u >> (i % 8));
}

static void add_floors(struct nodes *nodes)
{
	uint8_t address[16];
	size_t i;
	int r;

	for (i = 0; i < ELEMENTSOF(floors4); i++) {
		memcpy(address, mapped, sizeof(mapped));
		r = inet_pton(AF_INET, floors4[i].address, address + 12);
		assert(r == 1);
		add(nodes, address, (uint8_t)(96 + floors4[i].bits), floors4[i].floor, NULL);
		memcpy(address, nat64, sizeof(nat64));
		add(nodes, address, (uint8_t)(96 + floors4[i].bits), floors4[i].floor, NULL);
	}
	for (i = 0; i < ELEMENTSOF(floors6); i++) {
		r = inet_pton(AF_INET6, floors6[i].address, address);
		assert(r == 1);
		add(nodes, address, floors6[i].bits, floors6[i].floor, NULL);
	}
	/* "::/0" is no rule about IPv4. */
	memset(address, 0, sizeof(address));
	memcpy(address, mapped, sizeof(mapped));
	add(nodes, address, 96, FLOOR_NONE, NULL);
}

/* A range before the ranges inside it. */
static int compare(const void *pa, const void *pb)
{
	const struct node *a = pa, *b = pb;
	int r = memcmp(a->address, b->address, sizeof(a->address));

	return r ? r : (int)a->bits - (int)b->bits;
}

static bool covers(const struct node *outer, const struct node *inner)
{
	unsigned whole = outer->bits / 8, rest = outer->bits % 8;

	if (outer->bits > inner->bits || memcmp(outer->address, inner->address, whole) != 0)
		return false;
	return rest == 0 ||
	       ((outer->address[whole] ^ inner->address[whole]) & (uint8_t)(0xff00u >> rest)) == 0;
}

static bool is_mapped(const struct node *n)
{
	return n->bits >= 96 && memcmp(n->address, mapped, sizeof(mapped)) == 0;
}

/* Whether the rule of outer counts in the range at, whose floor is floor. */
static bool counts(const struct node *outer, const struct node *at, const struct node *floor)
{
	const struct egress_rule *rule = outer->rule;

	if (is_mapped(at) && rule->scope < 96)
		return false;
	if (!floor)
		return true;
	switch ((enum floor)floor->floor) {
	case FLOOR_RANGE:
		return rule->scope >= floor->bits;
	case FLOOR_METADATA:
		return rule->metadata && rule->scope == 128;
	default:
		return false;
	}
}

struct walk {
	const struct nodes *nodes;
	size_t stack[129]; /* first nodes of the ranges around, each with its equals behind it */
	uint32_t sets[129]; /* what was written for them; UINT32_MAX = nothing */
	size_t depth;
	struct egress_port_sets sets_known;
	struct egress_table *table;
};

static size_t equals(const struct nodes *nodes, size_t first)
{
	size_t n = 1;

	while (first + n < nodes->n && compare(&nodes->items[first], &nodes->items[first + n]) == 0)
		n++;
	return n;
}

/* The innermost one around and at the range itself; of equal ones, and of one that never opens, the strictest. */
static const struct node *floor_of(const struct walk *w)
{
	const struct node *found = NULL, *n;
	size_t d, i;

	for (d = 0; d < w->depth; d++) {
		for (i = w->stack[d]; i < w->stack[d] + equals(w->nodes, w->stack[d]); i++) {
			n = &w->nodes->items[i];
			if (n->floor == FLOOR_NONE || (found && found->floor == FLOOR_NEVER))
				continue;
			if (!found || n->bits > found->bits || n->floor > found->floor)
				found = n;
		}
	}
	return found;
}

/* The set of ports that is open in the range on top of the stack. */
static int set_of(struct walk *w, uint32_t *ret)
{
	const struct node *at = &w->nodes->items[w->stack[w->depth - 1]], *floor = floor_of(w);
	size_t d, i, n = 0;
	int r;

	egress_ports_begin(&w->sets_known);
	for (d = 0; d < w->depth; d++) {
		for (i = w->stack[d]; i < w->stack[d] + equals(w->nodes, w->stack[d]); i++) {
			const struct node *outer = &w->nodes->items[i];

			if (!outer->rule || !counts(outer, at, floor))
				continue;
			n++;
			r = egress_ports_add(&w->sets_known, outer->rule);
			if (r < 0)
				return r;
		}
	}
	if (n == 0) {
		*ret = floor ? EGRESS_SET_CLOSED : EGRESS_SET_NONE;
		return 0;
	}
	return egress_ports_end(&w->sets_known, ret);
}

static int visit(struct walk *w, size_t first)
{
	const struct node *at = &w->nodes->items[first];
	struct egress_table *t = w->table;
	uint32_t set, around = EGRESS_SET_NONE;
	size_t d;
	int r;

	while (w->depth > 0 && !covers(&w->nodes->items[w->stack[w->depth - 1]], at))
		w->depth--;
	assert(w->depth < ELEMENTSOF(w->stack));
	w->stack[w->depth++] = first;
	r = set_of(w, &set);
	if (r < 0)
		return r;
	for (d = w->depth - 1; d > 0; d--) {
		if (w->sets[d - 1] != UINT32_MAX) {
			around = w->sets[d - 1];
			break;
		}
	}
	w->sets[w->depth - 1] = UINT32_MAX;
	/* Says what the range around says already. */
	if (set == around)
		return 0;
	if (t->n_nets == EGRESS_NETS_MAX)
		return -E2BIG;
	w->sets[w->depth - 1] = set;
	t->nets[t->n_nets].bits = at->bits;
	memcpy(t->nets[t->n_nets].address, at->address, sizeof(at->address));
	t->net_values[t->n_nets++].set = set;
	return 0;
}

static int make_tables(const struct nodes *nodes, struct egress_table *t)
{
	struct walk w = { .nodes = nodes, .table = t };
	size_t i;
	int r = 0;

	t->nets = calloc(nodes->n, sizeof(*t->nets));
	t->net_values = calloc(nodes->n, sizeof(*t->net_values));
	if (!t->nets || !t->net_values)
		return -ENOMEM;
	for (i = 0; i < nodes->n && r == 0; i += equals(nodes, i))
		r = visit(&w, i);
	if (r == 0)
		r = egress_ports_tables(&w.sets_known, t);
	egress_ports_done(&w.sets_known);
	return r;
}

int egress_rules_compile(const struct egress_rule *rules, size_t n, const uint8_t (*hosts)[16], size_t n_hosts,
			 struct egress_table *ret, struct error *err)
{
	_cleanup_egress_table_ struct egress_table t = EGRESS_TABLE_NULL;
	_cleanup_free_ struct node *items = NULL;
	struct nodes nodes = { 0 };
	size_t i;
	int r;

	if (n > EGRESS_RULES_MAX || n_hosts > EGRESS_RULES_MAX)
		return error_text(err, -E2BIG, "more than %d egress rules", EGRESS_RULES_MAX);
	items = calloc(n + n_hosts + 2 * ELEMENTSOF(floors4) + ELEMENTSOF(floors6) + 1, sizeof(*items));
	if (!items)
		return error_oom(err);
	nodes.items = items;
	add_floors(&nodes);
	for (i = 0; i < n_hosts; i++)
		add(&nodes, hosts[i], 128, FLOOR_RANGE, NULL);
	for (i = 0; i < n; i++) {
		if (rules[i].bits > 128 || rules[i].scope > rules[i].bits)
			return error_text(err, -EINVAL, "egress rule %zu: a prefix of %u bits in one of %u", i,
					  rules[i].bits, rules[i].scope);
		add(&nodes, rules[i].address, rules[i].bits, FLOOR_NONE, &rules[i]);
	}
	qsort(nodes.items, nodes.n, sizeof(*nodes.items), compare);
	r = make_tables(&nodes, &t);
	if (r == -ENOMEM)
		return error_oom(err);
	if (r == -E2BIG)
		return error_text(err, r, "the egress rules need more than %d ranges or %d ports", EGRESS_NETS_MAX,
				  EGRESS_PORTS_MAX);
	if (r < 0)
		return error_text(err, r, "an egress rule has ports that are none");
	*ret = t;
	t = EGRESS_TABLE_NULL;
	return 0;
}

void egress_table_done(struct egress_table *t)
{
	free(t->nets);
	free(t->net_values);
	free(t->ports);
	free(t->port_values);
	*t = EGRESS_TABLE_NULL;
}

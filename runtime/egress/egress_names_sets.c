/*
 * Owns sets of ports: sorted, without overlaps, each kept once. Few differ: thousands of
 * rules usually name the same two ports, and the kernel's table is filled per set.
 */
#include <assert.h>
#include <netinet/in.h>
#include <string.h>

#include "egress/egress_names_private.h"

/* What is known of each port while a set is put together. */
enum port_state { PORT_CLOSED, PORT_VERIFY, PORT_OPEN };

int names_grow(void *array, size_t size, size_t used, size_t *room, size_t max)
{
	void **p = array, *grown;
	size_t want = *room ? *room * 2 : 8;

	if (used < *room)
		return 0;
	if (used >= max)
		return -E2BIG;
	grown = reallocarray(*p, MIN(want, max), size);
	if (!grown)
		return -ENOMEM;
	*p = grown;
	*room = MIN(want, max);
	return 0;
}

/* Ends of ranges, sorted, so that between two of them all ports are alike. */
static size_t cuts_of(const struct egress_name_port *ports, size_t count, uint8_t protocol,
		      uint32_t *cuts)
{
	size_t n = 0, i, k, kept = 0;
	uint32_t c;

	for (i = 0; i < count; i++) {
		if (ports[i].protocol != protocol)
			continue;
		cuts[n++] = ports[i].first;
		cuts[n++] = ports[i].last + 1u;
	}
	for (i = 1; i < n; i++) {
		for (c = cuts[i], k = i; k > 0 && cuts[k - 1] > c; k--)
			cuts[k] = cuts[k - 1];
		cuts[k] = c;
	}
	for (i = 0; i < n; i++)
		if (!kept || cuts[kept - 1] != cuts[i])
			cuts[kept++] = cuts[i];
	return kept;
}

static enum port_state state_of(const struct egress_name_port *ports, size_t count,
				uint8_t protocol, uint32_t port)
{
	enum port_state s = PORT_CLOSED;
	size_t i;

	for (i = 0; i < count; i++) {
		if (ports[i].protocol != protocol || port < ports[i].first || port > ports[i].last)
			continue;
		if (!ports[i].verify)
			return PORT_OPEN;
		s = PORT_VERIFY;
	}
	return s;
}

/* Appends the ranges of one protocol to out; -E2BIG when there are too many. */
static int normalise(const struct egress_name_port *ports, size_t count, uint8_t protocol,
		     uint32_t *cuts, struct egress_name_port *out, size_t *n)
{
	size_t n_cuts = cuts_of(ports, count, protocol, cuts), i, start = *n;
	enum port_state s;

	for (i = 0; i + 1 < n_cuts; i++) {
		s = state_of(ports, count, protocol, cuts[i]);
		if (s == PORT_CLOSED)
			continue;
		if (*n > start && out[*n - 1].last + 1u == cuts[i] &&
		    out[*n - 1].verify == (s == PORT_VERIFY)) {
			out[*n - 1].last = (uint16_t)(cuts[i + 1] - 1);
			continue;
		}
		if (*n == EGRESS_SET_RANGES_MAX)
			return -E2BIG;
		out[(*n)++] = (struct egress_name_port){
			.protocol = protocol,
			.verify = s == PORT_VERIFY,
			.first = (uint16_t)cuts[i],
			.last = (uint16_t)(cuts[i + 1] - 1),
		};
	}
	return 0;
}

static bool set_equal(const struct egress_name_set *s, const struct egress_name_port *ports,
		      size_t n)
{
	size_t i;

	if (s->n != n)
		return false;
	for (i = 0; i < n; i++)
		if (s->ports[i].protocol != ports[i].protocol ||
		    s->ports[i].verify != ports[i].verify || s->ports[i].first != ports[i].first ||
		    s->ports[i].last != ports[i].last)
			return false;
	return true;
}

static int set_add(struct egress_names *n, const struct egress_name_port *ports, size_t count,
		   unsigned *ret)
{
	struct egress_name_port *copy;
	size_t i;
	int r;

	for (i = 0; i < n->n_sets; i++) {
		if (set_equal(&n->sets[i], ports, count)) {
			*ret = (unsigned)i;
			return 0;
		}
	}
	r = names_grow(&n->sets, sizeof(*n->sets), n->n_sets, &n->room_sets, EGRESS_SETS_MAX);
	if (r < 0)
		return r;
	copy = arena_calloc(&n->arena, count ? count : 1, sizeof(*copy));
	if (!copy)
		return -ENOMEM;
	if (count)
		memcpy(copy, ports, count * sizeof(*copy));
	n->sets[n->n_sets] = (struct egress_name_set){ .n = count, .ports = copy };
	*ret = (unsigned)n->n_sets++;
	return 0;
}

int names_set_make(struct egress_names *n, const struct egress_name_port *ports, size_t count,
		   unsigned *ret)
{
	_cleanup_free_ struct egress_name_port *out = calloc(EGRESS_SET_RANGES_MAX, sizeof(*out));
	_cleanup_free_ uint32_t *cuts = calloc(2 * count + 1, sizeof(*cuts));
	size_t used = 0;
	int r;

	if (!out || !cuts)
		return -ENOMEM;
	r = normalise(ports, count, IPPROTO_TCP, cuts, out, &used);
	if (r == 0)
		r = normalise(ports, count, IPPROTO_UDP, cuts, out, &used);
	return r < 0 ? r : set_add(n, out, used, ret);
}

int names_set_union(struct egress_names *n, unsigned a, unsigned b, unsigned *ret)
{
	_cleanup_free_ struct egress_name_port *both = NULL;
	const struct egress_name_set *x, *y;
	unsigned low = MIN(a, b), high = MAX(a, b);
	size_t i;
	int r;

	if (a == b) {
		*ret = a;
		return 0;
	}
	for (i = 0; i < n->n_unions; i++) {
		if (n->unions[i].a == low && n->unions[i].b == high) {
			*ret = n->unions[i].result;
			return 0;
		}
	}
	x = &n->sets[a];
	y = &n->sets[b];
	both = calloc(x->n + y->n + 1, sizeof(*both));
	if (!both)
		return -ENOMEM;
	if (x->n)
		memcpy(both, x->ports, x->n * sizeof(*both));
	if (y->n)
		memcpy(both + x->n, y->ports, y->n * sizeof(*both));
	r = names_grow(&n->unions, sizeof(*n->unions), n->n_unions, &n->room_unions,
		       EGRESS_SETS_MAX);
	if (r == 0)
		r = names_set_make(n, both, x->n + y->n, ret);
	if (r < 0)
		return r;
	n->unions[n->n_unions++] = (struct set_union){ .a = (uint16_t)low,
						       .b = (uint16_t)high,
						       .result = (uint16_t)*ret };
	return 0;
}

unsigned egress_names_sets(const struct egress_names *n)
{
	return (unsigned)n->n_sets;
}

const struct egress_name_set *egress_names_set(const struct egress_names *n, unsigned set)
{
	assert(set < n->n_sets);
	return &n->sets[set];
}

bool egress_name_set_find(const struct egress_name_set *s, uint8_t protocol, uint16_t port,
			  bool *ret_verify)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		if (s->ports[i].protocol != protocol || port < s->ports[i].first ||
		    port > s->ports[i].last)
			continue;
		*ret_verify = s->ports[i].verify;
		return true;
	}
	return false;
}

/*
 * Owns which addresses are open because of which name, and until when. An address may
 * belong to several names; it is open for what they open together.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "egress/egress_names_private.h"

#define NS_PER_S 1000000000ull

/* NULL: no lease of it. */
static struct lease_name *name_find(const struct egress_names *n, const struct dns_name *name)
{
	size_t i;

	for (i = 0; i < n->n_leases; i++)
		if (n->leases[i].name->len == name->len &&
		    memcmp(n->leases[i].name->wire, name->wire, name->len) == 0)
			return n->leases[i].name;
	return NULL;
}

/* With a reference, which name_put() takes back; NULL: out of memory. */
static struct lease_name *name_get(const struct egress_names *n, const struct dns_name *name)
{
	struct lease_name *found = name_find(n, name);

	if (!found) {
		found = malloc(sizeof(*found) + name->len);
		if (!found)
			return NULL;
		found->leases = 0;
		found->len = name->len;
		memcpy(found->wire, name->wire, name->len);
	}
	found->leases++;
	return found;
}

static void name_put(struct lease_name *name)
{
	if (--name->leases == 0)
		free(name);
}

static void remove_at(struct egress_names *n, size_t i)
{
	name_put(n->leases[i].name);
	n->leases[i] = n->leases[--n->n_leases];
}

/* What all names together open at an address; false: nothing. */
static bool sum_of(struct egress_names *n, const uint8_t address[16], unsigned *set,
		   uint64_t *expires)
{
	bool found = false;
	size_t i;

	*expires = 0;
	for (i = 0; i < n->n_leases; i++) {
		if (memcmp(n->leases[i].address, address, 16) != 0)
			continue;
		/* Without room for another combination the address opens what one of its names
		 * does. */
		if (!found)
			*set = n->leases[i].set;
		else
			(void)names_set_union(n, *set, n->leases[i].set, set);
		*expires = MAX(*expires, n->leases[i].expires);
		found = true;
	}
	return found;
}

static int tell(struct egress_names *n, const uint8_t address[16])
{
	uint64_t expires;
	unsigned set;

	if (!sum_of(n, address, &set, &expires))
		return n->ops.forget(n->ops.arg, address);
	return n->ops.allow(n->ops.arg, address, set, egress_names_set(n, set), expires);
}

void egress_names_sweep(struct egress_names *n, uint64_t now)
{
	uint8_t address[16];
	size_t i = 0;

	if (now < n->next_end)
		return;
	n->next_end = UINT64_MAX;
	while (i < n->n_leases) {
		if (n->leases[i].expires > now) {
			n->next_end = MIN(n->next_end, n->leases[i].expires);
			i++;
			continue;
		}
		memcpy(address, n->leases[i].address, 16);
		remove_at(n, i);
		/* The kernel compares the end itself; what it cannot know is that one of two names
		 * has ended. */
		(void)tell(n, address);
	}
}

/* Of one name (or of all, without), the lease that was answered longest ago; none of the present
 * answer. */
static bool evict(struct egress_names *n, const struct lease_name *name, uint64_t now)
{
	size_t i, best = n->n_leases;
	uint8_t address[16];

	for (i = 0; i < n->n_leases; i++)
		if ((!name || n->leases[i].name == name) && n->leases[i].answered < now &&
		    (best == n->n_leases || n->leases[i].answered < n->leases[best].answered))
			best = i;
	if (best == n->n_leases)
		return false;
	memcpy(address, n->leases[best].address, 16);
	remove_at(n, best);
	(void)tell(n, address);
	return true;
}

static size_t count_of(const struct egress_names *n, const struct lease_name *name)
{
	size_t count = 0, i;

	for (i = 0; i < n->n_leases; i++)
		count += n->leases[i].name == name;
	return count;
}

/* Room for one more lease of that name. */
static bool make_room(struct egress_names *n, const struct lease_name *name, size_t *count,
		      uint64_t now, size_t *evicted)
{
	if (*count >= EGRESS_LEASES_PER_NAME) {
		if (!evict(n, name, now))
			return false;
		(*count)--;
		(*evicted)++;
	} else if (n->n_leases >= EGRESS_LEASES_MAX) {
		if (!evict(n, NULL, now))
			return false;
		(*evicted)++;
	}
	return names_grow(&n->leases, sizeof(*n->leases), n->n_leases, &n->room_leases,
			  EGRESS_LEASES_MAX) == 0;
}

static struct name_lease *find_lease(struct egress_names *n, const uint8_t address[16],
				     const struct lease_name *name)
{
	size_t i;

	for (i = 0; i < n->n_leases; i++)
		if (n->leases[i].name == name && memcmp(n->leases[i].address, address, 16) == 0)
			return &n->leases[i];
	return NULL;
}

static bool open_one(struct egress_names *n, const struct name_lease *lease, size_t *count,
		     struct egress_lease_stats *stats)
{
	struct name_lease *old = find_lease(n, lease->address, lease->name), before;

	if (old) {
		before = *old;
		/* An answer with a short life does not take away what an earlier one gave. */
		old->expires = MAX(old->expires, lease->expires);
		old->set = lease->set;
		old->answered = lease->answered;
		if (tell(n, lease->address) < 0) {
			*old = before;
			return false;
		}
		stats->renewed++;
		return true;
	}
	if (!make_room(n, lease->name, count, lease->answered, &stats->evicted))
		return false;
	lease->name->leases++;
	n->leases[n->n_leases++] = *lease;
	n->next_end = MIN(n->next_end, lease->expires);
	if (tell(n, lease->address) < 0) {
		remove_at(n, n->n_leases - 1);
		return false;
	}
	(*count)++;
	stats->opened++;
	return true;
}

void egress_names_open(struct egress_names *n, const struct dns_name *name, unsigned set,
		       struct dns_address *addresses, size_t *n_addresses, uint64_t now,
		       struct egress_lease_stats *ret)
{
	struct name_lease lease = { .answered = now, .set = (uint16_t)set };
	size_t i, kept = 0, count;
	uint32_t ttl;

	assert(set < n->n_sets);
	memset(ret, 0, sizeof(*ret));
	egress_names_sweep(n, now);
	lease.name = name_get(n, name);
	if (!lease.name) {
		ret->failed = *n_addresses;
		*n_addresses = 0;
		return;
	}
	count = count_of(n, lease.name);
	for (i = 0; i < *n_addresses; i++) {
		ttl = MAX(MIN(addresses[i].ttl, EGRESS_TTL_MAX), EGRESS_TTL_MIN) + EGRESS_TTL_GRACE;
		lease.expires = now + ttl * NS_PER_S;
		if (egress_name_address_map(&addresses[i], lease.address) &&
		    open_one(n, &lease, &count, ret))
			addresses[kept++] = addresses[i];
		else
			ret->failed++;
	}
	name_put(lease.name);
	*n_addresses = kept;
}

/* Whether the rules of n still open it, and then its set. */
static bool is_permitted(struct egress_names *n, const struct name_lease *lease, unsigned *ret_set)
{
	struct dns_name name = { .len = lease->name->len };

	memcpy(name.wire, lease->name->wire, name.len);
	return egress_names_judge(n, lease->address) == EGRESS_ADDRESS_GOOD &&
	       egress_names_match(n, &name, ret_set) == 0;
}

/* The name of a lease belongs to one list: the other gets its own. */
static void carry_one(struct egress_names *to, const struct name_lease *from, unsigned set)
{
	struct dns_name name = { .len = from->name->len };
	struct egress_lease_stats stats = { 0 };
	struct name_lease lease = *from;
	size_t count;

	memcpy(name.wire, from->name->wire, name.len);
	lease.name = name_get(to, &name);
	if (!lease.name)
		return;
	lease.set = (uint16_t)set;
	count = count_of(to, lease.name);
	(void)open_one(to, &lease, &count, &stats);
	name_put(lease.name);
}

static bool has_address(const struct egress_names *n, const uint8_t address[16])
{
	size_t i;

	for (i = 0; i < n->n_leases; i++)
		if (memcmp(n->leases[i].address, address, 16) == 0)
			return true;
	return false;
}

void egress_names_carry(struct egress_names *to, struct egress_names *from, uint64_t now)
{
	unsigned set;
	size_t i;

	assert(to->n_leases == 0);
	for (i = 0; i < from->n_leases; i++)
		if (from->leases[i].expires > now && is_permitted(to, &from->leases[i], &set))
			carry_one(to, &from->leases[i], set);
	while (from->n_leases > 0) {
		if (!has_address(to, from->leases[0].address))
			(void)from->ops.forget(from->ops.arg, from->leases[0].address);
		remove_at(from, 0);
	}
	from->next_end = UINT64_MAX;
}

void egress_names_leases_done(struct egress_names *n)
{
	while (n->n_leases > 0)
		remove_at(n, n->n_leases - 1);
	free(n->leases);
	n->leases = NULL;
}

size_t egress_names_leases(const struct egress_names *n)
{
	return n->n_leases;
}

bool egress_names_of(const struct egress_names *n, const uint8_t address[16], struct dns_name *ret)
{
	const struct name_lease *last = NULL;
	size_t i;

	for (i = 0; i < n->n_leases; i++)
		if (memcmp(n->leases[i].address, address, 16) == 0 &&
		    (!last || n->leases[i].answered > last->answered))
			last = &n->leases[i];
	if (!last)
		return false;
	ret->len = last->name->len;
	memcpy(ret->wire, last->name->wire, ret->len);
	return true;
}

bool egress_names_is_open(const struct egress_names *n, const uint8_t address[16], uint8_t protocol,
			  uint16_t port, uint64_t now, bool *ret_verify)
{
	bool verify = true, found = false;
	size_t i;

	for (i = 0; i < n->n_leases; i++) {
		if (memcmp(n->leases[i].address, address, 16) != 0 || n->leases[i].expires <= now)
			continue;
		if (!egress_name_set_find(&n->sets[n->leases[i].set], protocol, port, ret_verify))
			continue;
		found = true;
		verify = verify && *ret_verify;
	}
	*ret_verify = verify;
	return found;
}

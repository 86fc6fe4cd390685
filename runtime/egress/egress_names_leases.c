/*
 * Owns which addresses are open because of which name, and until when. An address may
 * belong to several names; it is open for what they open together.
 */
#include <assert.h>
#include <string.h>

#include "egress/egress_names_private.h"

#define NS_PER_S 1000000000ull

static void remove_at(struct egress_names *n, size_t i)
{
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
static bool evict(struct egress_names *n, const uint64_t *name, uint64_t now)
{
	size_t i, best = n->n_leases;
	uint8_t address[16];

	for (i = 0; i < n->n_leases; i++)
		if ((!name || n->leases[i].name == *name) && n->leases[i].answered < now &&
		    (best == n->n_leases || n->leases[i].answered < n->leases[best].answered))
			best = i;
	if (best == n->n_leases)
		return false;
	memcpy(address, n->leases[best].address, 16);
	remove_at(n, best);
	(void)tell(n, address);
	return true;
}

static size_t count_of(const struct egress_names *n, uint64_t name)
{
	size_t count = 0, i;

	for (i = 0; i < n->n_leases; i++)
		count += n->leases[i].name == name;
	return count;
}

/* Room for one more lease of that name. */
static bool make_room(struct egress_names *n, uint64_t name, size_t *count, uint64_t now,
		      size_t *evicted)
{
	if (*count >= EGRESS_LEASES_PER_NAME) {
		if (!evict(n, &name, now))
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
				     uint64_t name)
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
	n->leases[n->n_leases++] = *lease;
	n->next_end = MIN(n->next_end, lease->expires);
	if (tell(n, lease->address) < 0) {
		n->n_leases--;
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
	struct name_lease lease = { .name = names_hash(name->wire, name->len),
				    .answered = now,
				    .set = (uint16_t)set };
	size_t i, kept = 0, count;
	uint32_t ttl;

	assert(set < n->n_sets);
	memset(ret, 0, sizeof(*ret));
	egress_names_sweep(n, now);
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
	*n_addresses = kept;
}

void egress_names_close(struct egress_names *n)
{
	uint8_t address[16];

	while (n->n_leases > 0) {
		memcpy(address, n->leases[0].address, 16);
		remove_at(n, 0);
		(void)tell(n, address);
	}
}

size_t egress_names_leases(const struct egress_names *n)
{
	return n->n_leases;
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

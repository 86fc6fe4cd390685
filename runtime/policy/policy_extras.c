/*
 * The rest of the resources: block I/O weight, huge pages, and the unified map, which
 * writes cgroup v2 files by name and could undo every limit above.
 */
#include "policy/policy_internal.h"

static void decide_weight(struct policy_work *w, const char *what, struct opt_u32 *weight)
{
	const struct policy_ask ask = {
		.control = what, .given = true, .value = weight->value, .text = policy_count_text
	};

	if (weight->set && weight->value)
		weight->value = (uint32_t)policy_max_decide(w, &w->profile->resources.io_weight,
							    &w->profile->resources.excess, &ask);
}

static void decide_block_io(struct policy_work *w, struct spec_block_io *io)
{
	size_t i;

	decide_weight(w, "io weight", &io->weight);
	decide_weight(w, "io weight", &io->leaf_weight);
	for (i = 0; i < io->weight_device.count; i++) {
		decide_weight(w, "io weight", &io->weight_device.items[i].weight);
		decide_weight(w, "io weight", &io->weight_device.items[i].leaf_weight);
	}
}

static bool has_page_size(const struct spec_resources *res, const char *size)
{
	size_t i;

	for (i = 0; i < res->hugepage_limits.count; i++)
		if (str_eq(res->hugepage_limits.items[i].page_size, size))
			return true;
	return false;
}

static void decide_page_size(struct policy_work *w, struct spec_hugepage_limit *h, bool given)
{
	const struct policy_ask ask = {
		.control = "hugetlb", .given = given, .value = h->limit, .text = policy_bytes_text
	};

	h->limit = policy_limit_decide(w, &w->profile->resources.hugetlb,
				       &w->profile->resources.excess, &ask);
}

/* Pages of the host's pool are not charged to memory: a size that nobody named is limited, too. */
static void decide_hugepages(struct policy_work *w, struct spec_resources *res)
{
	size_t n = res->hugepage_limits.count, add = w->update ? 0 : w->facts->n_hugepages, i;
	struct spec_hugepage_limit *items;

	if (n + add == 0)
		return;
	if (!policy_controller_ok(w, POLICY_CG_HUGETLB, "hugetlb")) {
		res->hugepage_limits.count = 0;
		return;
	}
	items = policy_alloc(w, n + add, sizeof(*items));
	if (!items)
		return;
	for (i = 0; i < n; i++) {
		items[i] = res->hugepage_limits.items[i];
		decide_page_size(w, &items[i], true);
	}
	for (i = 0; i < add; i++) {
		if (has_page_size(res, w->facts->hugepages[i]))
			continue;
		items[n].page_size = arena_strdup(w->arena, w->facts->hugepages[i]);
		if (!items[n].page_size) {
			w->failed = true;
			return;
		}
		decide_page_size(w, &items[n++], false);
	}
	res->hugepage_limits.items = items;
	res->hugepage_limits.count = n;
}

/*
 * Files that only tighten, or only divide what the container has. Limits are given by the
 * members that have names of their own, where they are compared with the policy.
 */
static bool unified_harmless(const char *file)
{
	static const char *const files[] = {
		"cgroup.max.depth", "cgroup.max.descendants", "cgroup.pressure", "memory.high",
		"memory.low",	    "memory.oom.group",	      "io.max",		 "rdma.max",
		"misc.max",
	};
	size_t i;

	for (i = 0; i < ELEMENTSOF(files); i++)
		if (str_eq(files[i], file))
			return true;
	return false;
}

static void decide_unified(struct policy_work *w, struct spec_resources *res)
{
	_cleanup_buf_ struct buf dropped = BUF_NULL;
	size_t i, n = 0;

	for (i = 0; i < res->unified.count; i++) {
		struct str_pair pair = res->unified.items[i];

		if (unified_harmless(pair.key))
			res->unified.items[n++] = pair;
		else
			policy_list_add(&dropped, "%.60s", pair.key);
	}
	res->unified.count = n;
	if (dropped.len)
		policy_note(w->v, "unified", POLICY_DROPPED, &w->profile->resources.excess,
			    dropped.data, "the limits of memory, cpu, pids and hugetlb");
}

void policy_do_extras(struct policy_work *w, struct spec_resources *res)
{
	if (res->block_io)
		decide_block_io(w, res->block_io);
	decide_hugepages(w, res);
	decide_unified(w, res);
}

/*
 * Owns what is written into the maps of ranges, at first and when rules change.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "egress/egress_ctx.h"
#include "egress/egress_sets.h"
#include "util/cleanup.h"

/* Sets of ports of one state of the rules and of the next one must not be mistaken. */
#define SET_BASE_STEP (1u << 20)

struct egress_state *egress_state_map(int map, bool writable)
{
	void *p = mmap(NULL, sizeof(struct egress_state), PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED, map, 0);

	return p == MAP_FAILED ? NULL : p;
}

void egress_state_unmap(struct egress_state *state)
{
	if (state)
		(void)munmap(state, sizeof(*state));
}

int egress_tables_write(int nets, int net_ports, const struct egress_table *t, struct error *err)
{
	int r;

	/* Ports first: a range whose set is not there yet is closed, not open. */
	r = ebpf_map_update_many(net_ports, t->ports, sizeof(*t->ports), t->port_values, sizeof(*t->port_values),
				 t->n_ports);
	if (r < 0)
		return error_set(err, r, "write %zu ports of egress rules", t->n_ports);
	r = ebpf_map_update_many(nets, t->nets, sizeof(*t->nets), t->net_values, sizeof(*t->net_values), t->n_nets);
	return r < 0 ? error_set(err, r, "write %zu ranges of egress rules", t->n_nets) : 0;
}

struct maps {
	int nets, net_ports, bss;
	struct egress_state *state;
};
#define MAPS_NULL ((struct maps){ -EBADF, -EBADF, -EBADF, NULL })

static void maps_close(struct maps *m)
{
	cleanup_closep(&m->nets);
	cleanup_closep(&m->net_ports);
	cleanup_closep(&m->bss);
	egress_state_unmap(m->state);
}

/* Found on the cgroup: nobody needs to keep a descriptor that could open it. */
static int maps_open(int cgroup_fd, struct maps *ret, struct error *err)
{
	_cleanup_close_ int prog = -EBADF;
	int r;

	r = egress_private_find(cgroup_fd, &prog, err);
	if (r < 0)
		return r;
	/* the first program, of packets out, uses all of them */
	r = egress_map_of(prog, "nets", &ret->nets, err);
	if (r == 0)
		r = egress_map_of(prog, "net_ports", &ret->net_ports, err);
	if (r == 0)
		r = egress_map_of(prog, ".bss", &ret->bss, err);
	if (r < 0)
		return r;
	ret->state = egress_state_map(ret->bss, true);
	return ret->state ? 0 : error_set(err, -errno, "map the egress state");
}

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct egress_net_key));
}

/* Ranges that the new table does not have. */
static int remove_stale(int nets, const struct egress_table *t, struct error *err)
{
	_cleanup_free_ struct egress_net_key *have = calloc(EGRESS_NETS_MAX, sizeof(*have)), *want = NULL;
	size_t n = 0, i;
	int r;

	want = calloc(t->n_nets, sizeof(*want));
	if (!have || !want)
		return error_oom(err);
	memcpy(want, t->nets, t->n_nets * sizeof(*want));
	qsort(want, t->n_nets, sizeof(*want), compare);
	r = ebpf_map_next_key(nets, NULL, &have[0]);
	while (r == 0 && ++n < EGRESS_NETS_MAX)
		r = ebpf_map_next_key(nets, &have[n - 1], &have[n]);
	if (r < 0 && r != -ENOENT)
		return error_set(err, r, "read the ranges of egress rules");
	for (i = 0; i < n; i++) {
		if (bsearch(&have[i], want, t->n_nets, sizeof(*want), compare))
			continue;
		r = ebpf_map_delete(nets, &have[i]);
		if (r < 0 && r != -ENOENT)
			return error_set(err, r, "remove a range of egress rules");
	}
	return 0;
}

/* Sets of ports outside [base, base + step). */
static int remove_sets(int net_ports, uint32_t base, struct error *err)
{
	_cleanup_free_ struct egress_port_key *have = calloc(EGRESS_PORTS_MAX, sizeof(*have));
	size_t n = 0, i;
	int r;

	if (!have)
		return error_oom(err);
	r = ebpf_map_next_key(net_ports, NULL, &have[0]);
	while (r == 0 && ++n < EGRESS_PORTS_MAX)
		r = ebpf_map_next_key(net_ports, &have[n - 1], &have[n]);
	if (r < 0 && r != -ENOENT)
		return error_set(err, r, "read the ports of egress rules");
	for (i = 0; i < n; i++) {
		if (have[i].set >= base && have[i].set - base < SET_BASE_STEP)
			continue;
		r = ebpf_map_delete(net_ports, &have[i]);
		if (r < 0 && r != -ENOENT)
			return error_set(err, r, "remove ports of egress rules");
	}
	return 0;
}

static void rebase(struct egress_table *t, uint32_t base)
{
	size_t i;

	for (i = 0; i < t->n_ports; i++)
		t->ports[i].set += base;
	for (i = 0; i < t->n_nets; i++)
		if (t->net_values[i].set >= EGRESS_SET_FIRST)
			t->net_values[i].set += base;
}

int egress_update(int cgroup_fd, const struct egress_rule *rules, size_t n, struct error *err)
{
	_cleanup_egress_table_ struct egress_table table = EGRESS_TABLE_NULL;
	_cleanup_free_ uint8_t(*hosts)[16] = NULL;
	_cleanup_(maps_close) struct maps maps = MAPS_NULL;
	uint32_t base;
	size_t n_hosts;
	int r;

	r = maps_open(cgroup_fd, &maps, err);
	if (r == 0)
		r = egress_host_addresses(&hosts, &n_hosts, err);
	if (r == 0)
		r = egress_rules_compile(rules, n, (const uint8_t(*)[16])hosts, n_hosts, &table, err);
	if (r < 0)
		return r;
	base = (maps.state->generation + 1) % 1024 * SET_BASE_STEP;
	rebase(&table, base);
	r = egress_tables_write(maps.nets, maps.net_ports, &table, err);
	if (r == 0)
		r = remove_stale(maps.nets, &table, err);
	/* Flows end also when something failed before: what was removed is not to go on. */
	__atomic_add_fetch(&maps.state->generation, 1, __ATOMIC_SEQ_CST);
	return r < 0 ? r : remove_sets(maps.net_ports, base, err);
}

int egress_revoke(int cgroup_fd, struct error *err)
{
	_cleanup_(maps_close) struct maps maps = MAPS_NULL;
	int r = maps_open(cgroup_fd, &maps, err);

	if (r == 0)
		__atomic_add_fetch(&maps.state->generation, 1, __ATOMIC_SEQ_CST);
	return r;
}

static void copy_counters(const struct egress_state *s, struct egress_counters *ret)
{
	*ret = (struct egress_counters){
		.denied = __atomic_load_n(&s->denied, __ATOMIC_RELAXED),
		.suppressed = __atomic_load_n(&s->suppressed, __ATOMIC_RELAXED),
		.lost = __atomic_load_n(&s->lost, __ATOMIC_RELAXED),
	};
}

void egress_state_counters(const struct egress_state *s, struct egress_counters *ret)
{
	copy_counters(s, ret);
}

static int shared_state(int prog, uint64_t cgroup, struct egress_state *ret, struct error *err)
{
	_cleanup_close_ int states = -EBADF;
	int r = egress_map_of(prog, "states", &states, err);

	if (r == 0) {
		r = ebpf_map_lookup(states, &cgroup, ret);
		if (r < 0)
			return error_set(err, r, "read the egress state of the cgroup");
	}
	return r;
}

int egress_status(int cgroup_fd, struct egress_status *ret, struct error *err)
{
	_cleanup_close_ int shared = -EBADF, private = -EBADF, bss = -EBADF;
	struct egress_status s = { .generation = 0 };
	struct egress_state state = { .flags = 0 };
	struct egress_state *mapped;
	size_t n_shared = 0, n_private = 0;
	uint64_t cgroup;
	int r;

	r = egress_cgroup_id(cgroup_fd, &cgroup, err);
	if (r == 0)
		r = egress_set_find(cgroup_fd, EGRESS_SHARED_PREFIX, &n_shared, &shared, err);
	if (r == 0)
		r = egress_set_find(cgroup_fd, EGRESS_PRIVATE_PREFIX, &n_private, &private, err);
	if (r < 0)
		return r;
	s.shared = n_shared == EGRESS_PROGRAMS;
	s.private = n_private == EGRESS_PROGRAMS;
	if (private >= 0) {
		r = egress_map_of(private, ".bss", &bss, err);
		if (r < 0)
			return r;
		mapped = egress_state_map(bss, false);
		if (!mapped)
			return error_set(err, -errno, "map the egress state");
		state = *mapped;
		egress_state_unmap(mapped);
	} else if (shared >= 0) {
		r = shared_state(shared, cgroup, &state, err);
		if (r < 0)
			return r;
	}
	s.host_netns = state.flags & EGRESS_F_HOST_NETNS;
	s.generation = state.generation;
	copy_counters(&state, &s.counters);
	*ret = s;
	return 0;
}

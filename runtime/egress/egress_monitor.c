/*
 * Owns what the resident process does with the programs: says where its listeners are,
 * opens addresses, reads denials. After egress_drop() it can change nothing but what names
 * open in its own container.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "egress/egress_ctx.h"
#include "egress/egress_pool.h"
#include "egress/egress_sets.h"
#include "util/cleanup.h"

/* Denials handed over in one turn of the loop, so that others have theirs. */
#define EVENTS_PER_TURN 64
/* Of one set of ports: 1024 ranges would be 30,000. */
#define SET_ENTRIES_MAX 8192

static int shared_open(int cgroup_fd, struct egress *e, struct error *err)
{
	_cleanup_close_ int rings = egress_pin_open("rings"), owners = egress_pin_open("owners");
	struct egress_state state;
	uint32_t slot;
	size_t n;
	int r;

	r = egress_set_find(cgroup_fd, EGRESS_SHARED_PREFIX, &n, NULL, err);
	if (r < 0)
		return r;
	if (n != EGRESS_PROGRAMS)
		return error_text(err, -ENOENT, "the cgroup has not got the egress programs");
	e->states = egress_pin_open("states");
	if (rings < 0 || owners < 0 || e->states < 0)
		return error_set(err, rings < 0 ? rings : owners < 0 ? owners : e->states, "open the pins in %s",
				 egress_pin_dir);
	r = egress_pool_take(rings, owners, e->states, e->cgroup, &slot, &e->ring_map, err);
	if (r < 0)
		return r;
	r = ebpf_map_lookup(e->states, &e->cgroup, &state);
	if (r == 0) {
		state.slot = slot + 1;
		r = ebpf_map_update(e->states, &e->cgroup, &state, BPF_EXIST);
	}
	return r < 0 ? error_set(err, r, "set the egress state of the cgroup") : 0;
}

int egress_open(int cgroup_fd, const struct egress_options *options, struct egress **ret, struct error *err)
{
	_cleanup_egress_ struct egress *e = calloc(1, sizeof(*e));
	int r;

	assert(cgroup_fd >= 0);

	if (!e)
		return error_oom(err);
	e->state_map = e->states = e->names = e->name_ports = e->proxied = e->ring_map = -EBADF;
	e->source = EV_SOURCE_NULL;
	e->private = options->restricted;
	r = egress_cgroup_id(cgroup_fd, &e->cgroup, err);
	if (r == 0)
		r = e->private ? egress_private_open(cgroup_fd, options, e, err) : shared_open(cgroup_fd, e, err);
	if (r == 0)
		r = ebpf_ring_open(e->ring_map, &e->ring, err);
	if (r < 0)
		return r;
	/* Of the ring's last owner. */
	if (!e->private)
		ebpf_ring_reset(&e->ring);
	*ret = take_ptr(e);
	return 0;
}

struct egress *egress_free(struct egress *e)
{
	if (!e)
		return NULL;
	ebpf_ring_close(&e->ring);
	egress_state_unmap(e->state);
	cleanup_closep(&e->state_map);
	cleanup_closep(&e->states);
	cleanup_closep(&e->names);
	cleanup_closep(&e->name_ports);
	cleanup_closep(&e->proxied);
	cleanup_closep(&e->ring_map);
	free(e);
	return NULL;
}

static void set_listeners(struct egress_state *s, const struct egress_listeners *l)
{
	size_t i;

	for (i = 0; i < EGRESS_LOCAL_DNS_MAX; i++)
		s->local_dns_be[i] = i < l->n_local4 ? l->local4[i].s_addr : 0;
	if (l->local6)
		s->flags |= EGRESS_F_LOCAL_DNS6;
	s->dns4_udp_be = htons(l->dns4_udp);
	s->dns4_tcp_be = htons(l->dns4_tcp);
	s->dns6_udp_be = htons(l->dns6_udp);
	s->dns6_tcp_be = htons(l->dns6_tcp);
	s->proxy4_be = htons(l->proxy4);
	s->proxy6_be = htons(l->proxy6);
}

int egress_publish(struct egress *e, const struct egress_listeners *l, struct error *err)
{
	struct egress_state state;
	int r;

	assert(l->n_local4 <= EGRESS_LOCAL_DNS_MAX);
	assert(e->private ? e->state_map >= 0 : e->states >= 0);

	if (e->private) {
		set_listeners(e->state, l);
		return 0;
	}
	r = ebpf_map_lookup(e->states, &e->cgroup, &state);
	if (r == 0) {
		set_listeners(&state, l);
		r = ebpf_map_update(e->states, &e->cgroup, &state, BPF_EXIST);
	}
	return r < 0 ? error_set(err, r, "tell the egress programs of the resolver") : 0;
}

void egress_drop(struct egress *e)
{
	/* Mapped anew: what was once writable could be made so again. */
	if (e->private) {
		egress_state_unmap(e->state);
		e->state = egress_state_map(e->state_map, false);
	}
	cleanup_closep(&e->state_map);
	cleanup_closep(&e->states);
	e->state_map = e->states = -EBADF;
}

int egress_name_set(struct egress *e, unsigned number, const struct egress_range *ranges, size_t n,
		    struct error *err)
{
	_cleanup_free_ struct egress_port_key *keys = NULL;
	_cleanup_free_ struct egress_port *values = NULL;
	size_t count;
	int r;

	if (!e->private)
		return error_text(err, -EPERM, "a container without egress rules has no names");
	if (number >= EGRESS_NAME_SETS)
		return error_text(err, -E2BIG, "more than %u sets of ports", EGRESS_NAME_SETS);
	if (e->sets[number])
		return 0;
	keys = calloc(SET_ENTRIES_MAX, sizeof(*keys));
	values = calloc(SET_ENTRIES_MAX, sizeof(*values));
	if (!keys || !values)
		return error_oom(err);
	r = egress_ports_expand(number, ranges, n, keys, values, SET_ENTRIES_MAX, &count);
	if (r < 0)
		return error_set(err, r, "a set of %zu port ranges", n);
	r = ebpf_map_update_many(e->name_ports, keys, sizeof(*keys), values, sizeof(*values), count);
	if (r < 0)
		return error_set(err, r, "write a set of %zu port ranges", n);
	e->sets[number] = true;
	return 0;
}

int egress_allow(struct egress *e, const uint8_t address[16], unsigned set, uint64_t expires)
{
	struct egress_name value = { .expires = expires, .set = set };
	int r;

	if (!e->private)
		return -EPERM;
	if (set >= EGRESS_NAME_SETS || !e->sets[set])
		return -EINVAL;
	r = ebpf_map_update(e->names, address, &value, BPF_ANY);
	return r == -E2BIG ? -ENOSPC : r;
}

int egress_forget(struct egress *e, const uint8_t address[16])
{
	int r;

	if (!e->private)
		return -EPERM;
	r = ebpf_map_delete(e->names, address);
	return r == -ENOENT ? 0 : r;
}

int egress_target_take(struct egress *e, const struct sockaddr *peer, struct egress_target *ret)
{
	struct egress_proxied_key key = { .port = 0 };
	struct egress_proxied value;
	int r;

	if (!e->private)
		return -EPERM;
	if (peer->sa_family == AF_INET) {
		key.port = ntohs(((const struct sockaddr_in *)(const void *)peer)->sin_port);
	} else if (peer->sa_family == AF_INET6) {
		key.port = ntohs(((const struct sockaddr_in6 *)(const void *)peer)->sin6_port);
		key.v6 = 1;
	} else {
		return -EAFNOSUPPORT;
	}
	r = ebpf_map_lookup(e->proxied, &key, &value);
	if (r == -ENOENT)
		return EGRESS_E_UNKNOWN;
	if (r == 0)
		r = ebpf_map_delete(e->proxied, &key);
	if (r < 0)
		return r;
	/* Was on its way when the rules changed. */
	if (e->state && value.generation != __atomic_load_n(&e->state->generation, __ATOMIC_ACQUIRE))
		return EGRESS_E_UNKNOWN;
	memcpy(ret->address, value.address, sizeof(ret->address));
	ret->port = value.port;
	ret->cookie = value.cookie;
	return 0;
}

static int take_event(void *userdata, const void *data, size_t len)
{
	struct egress *e = userdata;
	const struct egress_event *event = data;

	/* A pooled ring may hold what a program reserved for its last owner. */
	if (len >= sizeof(*event) && event->cgroup == e->cgroup && e->fn)
		e->fn(e->arg, event);
	return 0;
}

int egress_drain(struct egress *e, egress_event_fn fn, void *arg)
{
	e->fn = fn;
	e->arg = arg;
	return ebpf_ring_consume(&e->ring, take_event, e, SIZE_MAX);
}

int egress_forget_denials(struct egress *e, struct error *err)
{
	struct egress_state state;
	int r;

	e->fn = NULL;
	r = ebpf_ring_consume(&e->ring, take_event, e, SIZE_MAX);
	if (r < 0)
		return error_set(err, r, "read denials of egress");
	if (e->private) {
		e->state->denied = e->state->suppressed = e->state->lost = 0;
		return 0;
	}
	r = ebpf_map_lookup(e->states, &e->cgroup, &state);
	if (r == 0) {
		state.denied = state.suppressed = state.lost = 0;
		r = ebpf_map_update(e->states, &e->cgroup, &state, BPF_EXIST);
	}
	return r < 0 ? error_set(err, r, "set the egress state of the cgroup") : 0;
}

static int on_ring(struct evloop *l, struct ev_source *s, uint32_t events, struct error *err)
{
	struct egress *e = s->arg;
	int r = ebpf_ring_consume(&e->ring, take_event, e, EVENTS_PER_TURN);

	return r < 0 ? error_set(err, r, "read denials of egress") : 0;
}

int egress_watch(struct egress *e, struct evloop *loop, egress_event_fn fn, void *arg, struct error *err)
{
	e->fn = fn;
	e->arg = arg;
	return ev_add(loop, &e->source, e->ring_map, EPOLLIN, on_ring, e, err);
}

void egress_unwatch(struct egress *e, struct evloop *loop)
{
	ev_del(loop, &e->source);
}

int egress_counters(const struct egress *e, struct egress_counters *ret)
{
	struct egress_state state;
	int r;

	if (e->private) {
		if (!e->state)
			return -EPERM;
		egress_state_counters(e->state, ret);
		return 0;
	}
	if (e->states < 0)
		return -EPERM;
	r = ebpf_map_lookup(e->states, &e->cgroup, &state);
	if (r == 0)
		egress_state_counters(&state, ret);
	return r;
}

bool egress_is_private(const struct egress *e)
{
	return e->private;
}

/*
 * Owns loading the private set and putting it in the shared one's place.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <unistd.h>

#include "egress/egress_ctx.h"
#include "egress/egress_load.h"
#include "egress/egress_private.skel.h"
#include "egress/egress_sets.h"
#include "util/cleanup.h"

/* UDP peers that are remembered: an LRU map gives each processor its share. */
#define PEERS_MIN     1024u
#define PEERS_PER_CPU 256u
#define PEERS_MAX     16384u

static void skel_freep(struct egress_private **skel)
{
	egress_private__destroy(*skel);
}

static int load(struct egress_private *skel, struct error *err)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	uint32_t peers = cpus < 1 ? PEERS_MIN : (uint32_t)MIN(cpus, 64L) * PEERS_PER_CPU;
	bool has_cookie;
	int r;

	r = egress_probe_netns_cookie(&has_cookie, err);
	if (r < 0)
		return r;
	skel->rodata->has_netns_cookie = has_cookie;
	skel->maps.peers.max_entries = MIN(MAX(peers, PEERS_MIN), PEERS_MAX);
	return EBPF_LOAD(egress_private, skel, err);
}

static int fill(struct egress_private *skel, const struct egress_options *o, struct error *err)
{
	_cleanup_egress_table_ struct egress_table table = EGRESS_TABLE_NULL;
	_cleanup_free_ uint8_t(*hosts)[16] = NULL;
	size_t n_hosts;
	int r;

	r = egress_host_addresses(&hosts, &n_hosts, err);
	if (r == 0)
		r = egress_rules_compile(o->rules, o->n_rules, (const uint8_t(*)[16])hosts, n_hosts, &table, err);
	if (r == 0)
		r = egress_tables_write(skel->maps.nets.map_fd, skel->maps.net_ports.map_fd, &table, err);
	return r;
}

/* Beside the shared set, which is taken away when all of this one is there. */
static int attach(int cgroup_fd, const struct egress_private *s, struct error *err)
{
	/* in the order of egress_programs */
	const int progs[EGRESS_PROGRAMS] = {
		s->progs.egrule_egress.prog_fd,	  s->progs.egrule_ingress.prog_fd,
		s->progs.egrule_socket.prog_fd,	  s->progs.egrule_sockops.prog_fd,
		s->progs.egrule_connect4.prog_fd, s->progs.egrule_connect6.prog_fd,
		s->progs.egrule_sendmsg4.prog_fd, s->progs.egrule_sendmsg6.prog_fd,
		s->progs.egrule_recvmsg4.prog_fd, s->progs.egrule_recvmsg6.prog_fd,
		s->progs.egrule_peer4.prog_fd,	  s->progs.egrule_peer6.prog_fd,
	};
	size_t n;
	int r;

	r = egress_set_find(cgroup_fd, EGRESS_PRIVATE_PREFIX, &n, NULL, err);
	if (r < 0)
		return r;
	if (n > 0)
		return error_text(err, -EEXIST, "the cgroup has egress rules already: update them");
	r = egress_set_attach(cgroup_fd, progs, err);
	if (r < 0)
		return r;
	/* When this fails halfway, the shared set may have gaps: the private one stays, too. */
	return egress_set_detach(cgroup_fd, EGRESS_SHARED_PREFIX, err);
}

/* The skeleton closes its descriptors and mappings; what is kept is duplicated. */
static int keep(int fd, int *ret, struct error *err)
{
	*ret = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return *ret < 0 ? error_set(err, -errno, "duplicate a descriptor") : 0;
}

static int keep_all(const struct egress_private *skel, struct egress *e, struct error *err)
{
	int r = keep(skel->maps.names.map_fd, &e->names, err);

	if (r == 0)
		r = keep(skel->maps.name_ports.map_fd, &e->name_ports, err);
	if (r == 0)
		r = keep(skel->maps.proxied.map_fd, &e->proxied, err);
	if (r == 0)
		r = keep(skel->maps.ring.map_fd, &e->ring_map, err);
	if (r == 0)
		r = keep(skel->maps.bss.map_fd, &e->state_map, err);
	if (r < 0)
		return r;
	e->state = egress_state_map(e->state_map, true);
	return e->state ? 0 : error_set(err, -errno, "map the egress state");
}

int egress_private_open(int cgroup_fd, const struct egress_options *o, struct egress *e, struct error *err)
{
	_cleanup_(skel_freep) struct egress_private *skel = egress_private__open();
	int r;

	static_assert(offsetof(struct egress_private__bss, state) == 0, "mapped from its start");
	assert(o->restricted);

	if (!skel)
		return error_oom(err);
	skel->bss->state.cgroup = e->cgroup;
	skel->bss->state.flags = o->flags;
	skel->bss->state.generation = 1;
	r = load(skel, err);
	if (r == 0)
		r = fill(skel, o, err);
	if (r == 0)
		r = keep_all(skel, e, err);
	if (r == 0)
		r = attach(cgroup_fd, skel, err);
	return r;
}

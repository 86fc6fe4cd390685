/*
 * Owns the order in which narrower rules come into force: they are written down, so that nothing
 * after a failure can go back behind them; names and checked connections, by the monitor; address
 * ranges and all flows, in the kernel; then the sockets that have lost their right.
 */
#include "container/narrow.h"

#include <fcntl.h>
#include <string.h>

#include "container/create_egress.h"
#include "egress/egress.h"
#include "monitor/monitor_config.h"
#include "monitor/supervise.h"
#include "os/procfs.h"
#include "util/fd.h"
#include "util/log.h"
#include "util/str.h"

#define LOCK_TIMEOUT_MS 10000

static void config_freep(struct monitor_config **c)
{
	*c = monitor_config_free(*c);
}

/* "443 8000-8100", as create_egress_rule() wrote it. */
static int read_ports(const char *text, struct arena *arena, struct policy_rule *r)
{
	char *copy = arena_strdup(arena, text), *word, *save = NULL;

	r->ports = copy ? arena_calloc(arena, strlen(copy) / 2 + 1, sizeof(*r->ports)) : NULL;
	if (!r->ports)
		return -ENOMEM;
	for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		if (policy_ports_read(word, &r->ports[r->n_ports++]) < 0)
			return -EINVAL;
	}
	return 0;
}

static int read_rule(const struct monitor_rule *from, struct arena *arena, struct policy_rule *to)
{
	int r = policy_rule_read(from->host ? from->host : from->cidr ? from->cidr : "", arena, to);

	if (r == 0 && from->ports)
		r = read_ports(from->ports, arena, to);
	if (r < 0)
		return r;
	to->protocol = from->protocol;
	to->metadata = from->metadata;
	to->scope = (uint8_t)from->scope;
	to->verify = !from->verify	       ? POLICY_VERIFY_AUTO :
		     str_eq(from->verify, "address") ? POLICY_VERIFY_ADDRESS :
						       POLICY_VERIFY_SNI;
	return 0;
}

/* The rules that are in force, for the comparison. */
static int read_rules(const struct monitor_config *c, struct arena *arena, struct policy_rule **ret, struct error *err)
{
	const struct monitor_rule *rules = c->egress.rules.items;
	struct policy_rule *list = arena_calloc(arena, c->egress.rules.count + 1, sizeof(*list));
	size_t i;
	int r = list ? 0 : -ENOMEM;

	for (i = 0; i < c->egress.rules.count && r == 0; i++)
		r = read_rule(&rules[i], arena, &list[i]);
	if (r < 0)
		return error_set(err, r, "read the egress rules in %s", STATE_MONITOR_FILE);
	*ret = list;
	return 0;
}

static int write_rules(int dir_fd, struct monitor_config *c, const struct policy_grant *grant, struct error *err)
{
	struct monitor_rule *rules = arena_calloc(&c->arena, grant->n_egress + 1, sizeof(*rules));
	size_t i;

	if (!rules)
		return error_oom(err);
	for (i = 0; i < grant->n_egress; i++)
		if (create_egress_rule(grant->egress[i], &c->arena, &rules[i]) < 0)
			return error_oom(err);
	c->egress.rules = (struct json_list){ .items = rules, .count = grant->n_egress };
	return monitor_config_write(dir_fd, c, err);
}

static int to_ranges(const struct policy_grant *grant, struct arena *arena, struct egress_rule **ret, size_t *ret_n,
		     struct error *err)
{
	struct egress_rule *list = arena_calloc(arena, grant->n_egress + 1, sizeof(*list));
	struct egress_range *ports;
	size_t i, k, n = 0;

	if (!list)
		return error_oom(err);
	for (i = 0; i < grant->n_egress; i++) {
		const struct policy_rule *r = grant->egress[i];
		unsigned more = r->family == AF_INET ? 96 : 0;

		if (!r->cidr)
			continue;
		ports = arena_calloc(arena, r->n_ports + 1, sizeof(*ports));
		if (!ports)
			return error_oom(err);
		for (k = 0; k < r->n_ports; k++)
			ports[k] = (struct egress_range){ .first = r->ports[k].first, .last = r->ports[k].last };
		list[n] = (struct egress_rule){ .bits = (uint8_t)(r->prefix + more), .scope = (uint8_t)(r->scope + more),
						.protocol = (uint8_t)r->protocol, .metadata = r->metadata,
						.ranges = ports, .n_ranges = r->n_ports };
		egress_rules_map(r->family, r->address, list[n++].address);
	}
	*ret = list;
	*ret_n = n;
	return 0;
}

static int open_cgroup(const struct container_handle *h, struct error *err)
{
	size_t i;
	int fd;

	for (i = 0; i < h->cgroup.n_dirs; i++) {
		if (*h->cgroup.dirs[i].controllers)
			continue;
		fd = open(h->cgroup.dirs[i].path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		return fd < 0 ? error_set(err, -errno, "open cgroup %s", h->cgroup.dirs[i].path) : fd;
	}
	return error_text(err, -ENOENT, "the container is in no cgroup v2 hierarchy");
}

static int put_in_force(const struct container_handle *h, struct guard *guard, int cgroup, struct error *err)
{
	_cleanup_close_ int net = -EBADF;
	struct egress_rule *ranges = NULL;
	size_t n = 0, cut = 0;
	int r;

	r = supervise_egress(h->dir_fd, LINK_EGRESS_RULES, err);
	if (r == 0)
		r = to_ranges(&guard->verdict.grant, &guard->arena, &ranges, &n, err);
	if (r == 0)
		r = egress_update(cgroup, ranges, n, err);
	if (r == 0)
		r = procfs_open_ns(h->proc_fd, h->init.pid, "net", &net, err);
	if (r == 0)
		r = egress_cut(cgroup, net, &cut, err);
	if (r == 0)
		log_debugf("narrower egress rules: %zu connections closed", cut);
	return r;
}

int narrow_egress(const struct container_handle *h, struct guard *guard, const char *text, struct error *err)
{
	_cleanup_(config_freep) struct monitor_config *config = NULL;
	const struct state_record *rec = h->view.record;
	_cleanup_close_ int lock = -EBADF, cgroup = -EBADF;
	struct egress_status status;
	struct policy_rule *now = NULL;
	int r;

	if (!rec->egress || rec->supervisor_pid == 0)
		return error_text(err, -EOPNOTSUPP,
				  "narrow egress: container %s has no egress rules (its profile is \"%s\")", rec->id,
				  rec->profile ? rec->profile : "");
	r = state_dir_lock(h->dir_fd, LOCK_TIMEOUT_MS, &lock, err);
	if (r > 0)
		return error_text(err, -EBUSY, "narrow egress: another command is at work on container %s", rec->id);
	if (r == 0)
		r = monitor_config_read(h->dir_fd, &config, err);
	if (r == 0)
		r = read_rules(config, &guard->arena, &now, err);
	if (r < 0)
		return r;
	r = policy_narrow_egress(&guard->profile, now, config->egress.rules.count, text, &guard->verdict, err);
	if (r < 0)
		return r;
	cgroup = open_cgroup(h, err);
	if (cgroup < 0)
		return cgroup;
	r = egress_status(cgroup, &status, err);
	/*
	 * One that never had a rule has the shared set, which has none to change. That there are none left is written
	 * down also where an earlier call was cut off before it put that in force.
	 */
	if (r < 0 || (!status.private && config->egress.rules.count == 0))
		return r;
	r = write_rules(h->dir_fd, config, &guard->verdict.grant, err);
	if (r == 0)
		r = put_in_force(h, guard, cgroup, err);
	return r < 0 ? error_prefix(err, "narrow egress (repeat the update, or stop the container)") : 0;
}

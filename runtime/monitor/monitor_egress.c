/*
 * Egress in the monitor: puts the container's rules in force on its cgroup while it is
 * empty, enters the container's network for good, and answers there for its name servers
 * and for the connections whose server name decides.
 */
#include "monitor/monitor_egress.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/monitor_audit.h"

struct egress_service {
	struct arena arena;
	struct egress *kernel;
	struct egress_named *named;
	struct egress_lists lists;
};

static void on_denial(void *arg, const struct egress_event *e)
{
	monitor_egress_log_denial(arg, e);
}

static void on_name(void *arg, const struct egress_name_event *e)
{
	monitor_egress_log_name(arg, e);
}

static void on_sni(void *arg, const struct egress_sni_event *e)
{
	monitor_egress_log_sni(arg, e);
}

static int egress_service_open(struct monitor *m, struct error *err)
{
	const struct monitor_config *c = m->config;
	struct egress_options opt = { 0 };
	struct egress_service *s;
	int r;

	if (!c->egress.enabled)
		return 0;
	if (m->cgroup_fd < 0)
		return error_text(err, -EOPNOTSUPP,
				  "egress: the container is in no cgroup v2 hierarchy, which the rules need: mount one (cgroup2) below /sys/fs/cgroup");
	s = m->egress = calloc(1, sizeof(*s));
	if (!s)
		return error_oom(err);
	r = monitor_egress_lists(c, &s->arena, &s->lists, err);
	if (r < 0)
		return r;
	opt.flags = c->egress.host_network ? EGRESS_F_HOST_NETNS : 0;
	opt.restricted = c->egress.rules.count > 0;
	opt.rules = s->lists.ranges;
	opt.n_rules = s->lists.n_ranges;
	r = egress_open(m->cgroup_fd, &opt, &s->kernel, err);
	return r < 0 ? r : egress_prove(m->cgroup_fd, opt.flags, err);
}

/* Sockets belong to the network of the process that makes them: from here on it is the container's. */
static int egress_service_adopt(struct monitor *m, struct error *err)
{
	const char *conf = m->config->egress.resolv_conf;
	struct egress_service *s = m->egress;
	struct egress_named_config config;
	int r;

	if (!s)
		return 0;
	if (setns(m->netns_fd, CLONE_NEWNET) < 0)
		return error_set(err, -errno, "egress: enter the container's network namespace");
	config = (struct egress_named_config){ .rules = s->lists.names,	  .n_rules = s->lists.n_names,
					       .ranges = s->lists.ranges, .n_ranges = s->lists.n_ranges,
					       .hosts = s->lists.hosts,	  .n_hosts = s->lists.n_hosts,
					       .name_event = on_name,	  .sni_event = on_sni,
					       .arg = m };
	if (conf)
		egress_servers_from_resolv_conf(conf, strlen(conf), &config.servers);
	r = egress_named_new(&m->loop, s->kernel, &config, &s->named, err);
	if (r < 0)
		return error_prefix(err, "egress");
	egress_drop(s->kernel);
	arena_done(&s->arena);
	return 0;
}

static int egress_service_run(struct monitor *m, struct error *err)
{
	struct egress_service *s = m->egress;

	return s ? egress_watch(s->kernel, &m->loop, on_denial, m, err) : 0;
}

static int egress_service_end(struct monitor *m, struct error *err)
{
	struct egress_service *s = m->egress;

	if (s)
		(void)egress_drain(s->kernel, on_denial, m);
	return 0;
}

const struct monitor_service monitor_egress = {
	.name = "egress",
	.open = egress_service_open,
	.adopt = egress_service_adopt,
	.run = egress_service_run,
	.end = egress_service_end,
};

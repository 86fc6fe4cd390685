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
	uint8_t (*hosts)[16]; /* the host's own addresses, from its network */
	size_t n_hosts;
	uint64_t suppressed; /* denials without a record, as the kernel said last */
};

static void on_denial(void *arg, const struct egress_event *e)
{
	struct monitor *m = arg;
	uint64_t before = m->egress->suppressed;
	char name[DNS_TEXT_SIZE];

	/* Records of two processors may come in another order. */
	m->egress->suppressed = MAX(before, e->suppressed);
	monitor_egress_log_denial(m, e, m->egress->named ? egress_named_of(m->egress->named, e->address, name) : NULL,
				  m->egress->suppressed - before);
}

static void on_name(void *arg, const struct egress_name_event *e)
{
	monitor_egress_log_name(arg, e);
}

static void on_sni(void *arg, const struct egress_sni_event *e)
{
	struct monitor *m = arg;
	char name[DNS_TEXT_SIZE];

	monitor_egress_log_sni(m, e, e->target && m->egress->named ? egress_named_of(m->egress->named, e->target->address, name) :
								     NULL);
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
	if (r == 0)
		r = egress_host_addresses(&s->hosts, &s->n_hosts, err);
	if (r < 0)
		return r;
	opt.flags = c->egress.host_network ? EGRESS_F_HOST_NETNS : 0;
	opt.restricted = c->egress.rules.count > 0;
	opt.rules = s->lists.ranges;
	opt.n_rules = s->lists.n_ranges;
	r = egress_open(m->cgroup_fd, &opt, &s->kernel, err);
	if (r == 0)
		r = egress_prove(m->cgroup_fd, opt.flags, err);
	return r < 0 ? r : egress_forget_denials(s->kernel, err);
}

static struct egress_named_config named_config(struct monitor *m, const struct egress_lists *lists)
{
	return (struct egress_named_config){ .rules = lists->names,
					     .n_rules = lists->n_names,
					     .ranges = lists->ranges,
					     .n_ranges = lists->n_ranges,
					     .hosts = (const uint8_t(*)[16])m->egress->hosts,
					     .n_hosts = m->egress->n_hosts,
					     .name_event = on_name,
					     .sni_event = on_sni,
					     .arg = m };
}

static void servers_of(const struct monitor_config *c, struct egress_servers *ret)
{
	*ret = (struct egress_servers){ .n = 0 };
	if (c->egress.resolv_conf)
		egress_servers_from_resolv_conf(c->egress.resolv_conf, strlen(c->egress.resolv_conf), ret);
}

/* Sockets belong to the network of the process that makes them: from here on it is the container's. */
static int egress_service_adopt(struct monitor *m, struct error *err)
{
	struct egress_service *s = m->egress;
	struct egress_named_config config;
	int r;

	if (!s)
		return 0;
	if (setns(m->netns_fd, CLONE_NEWNET) < 0)
		return error_set(err, -errno, "egress: enter the container's network namespace");
	config = named_config(m, &s->lists);
	servers_of(m->config, &config.servers);
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

/* Written by a hook that made the network, before the container starts. */
static int take_servers(struct monitor *m, int fd, struct error *err)
{
	struct egress_servers servers;
	struct monitor_config *told;
	int r;

	if (!m->egress)
		return error_text(err, -EOPNOTSUPP, "egress: the container has no egress control");
	r = monitor_config_read_fd(fd, &told, err);
	if (r < 0)
		return r;
	servers_of(told, &servers);
	(void)monitor_config_free(told);
	return egress_named_servers(m->egress->named, &servers, err);
}

static int narrow(struct monitor *m, int fd, struct error *err)
{
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	struct egress_named_config config;
	struct monitor_config *told;
	struct egress_lists lists;
	int r;

	if (!m->egress)
		return error_text(err, -EOPNOTSUPP, "egress: the container has no egress control");
	r = monitor_config_read_fd(fd, &told, err);
	if (r < 0)
		return r;
	r = monitor_egress_lists(told, &arena, &lists, err);
	if (r == 0) {
		config = named_config(m, &lists);
		r = egress_named_update(m->egress->named, &config, err);
	}
	if (r == 0)
		monitor_egress_log_rules(m, told);
	(void)monitor_config_free(told);
	return r;
}

/* The command has an answer in any case; what failed left the rules as they were. */
static int egress_service_message(struct monitor *m, const struct link_msg *msg, int fds[LINK_FDS_MAX], struct error *err)
{
	struct link answer = { .fd = fds[1], .self = LINK_MONITOR, .peer = LINK_COMMAND };
	struct error failed = ERROR_NULL, gone;

	if (msg->type != LINK_EGRESS)
		return 0;
	if ((msg->number == LINK_EGRESS_SERVERS ? take_servers(m, fds[0], &failed) : narrow(m, fds[0], &failed)) < 0)
		link_send_error(&answer, LINK_ERROR, 0, &failed);
	else
		(void)link_send_type(&answer, LINK_OK, 0, &gone);
	return 0;
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
	.message = egress_service_message,
	.end = egress_service_end,
};

/*
 * Egress in the monitor: puts the container's rules in force on its cgroup while it is
 * empty, enters the container's network for good, and answers there for its name servers
 * and for the connections whose server name decides.
 */
#include "monitor/monitor_egress.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "monitor/monitor_audit.h"

struct egress_service {
	struct monitor *monitor;
	struct arena arena;
	struct egress *kernel;
	struct egress_names *names;
	struct egress_resolver *resolver;
	struct egress_sni *sni;
	struct egress_lists lists;
	bool known[EGRESS_NAME_SETS]; /* sets that the kernel has */
};

static int allow(void *arg, const uint8_t address[16], unsigned set, const struct egress_name_set *ports, uint64_t expires)
{
	struct egress_service *s = arg;
	struct error ignored = ERROR_NULL;

	if (set >= EGRESS_NAME_SETS)
		return -E2BIG;
	if (!s->known[set]) {
		struct egress_range ranges[EGRESS_SET_RANGES_MAX];
		size_t i;
		int r;

		if (ports->n > EGRESS_SET_RANGES_MAX)
			return -E2BIG;
		for (i = 0; i < ports->n; i++)
			ranges[i] = (struct egress_range){ .protocol = ports->ports[i].protocol,
							   .verify = ports->ports[i].verify,
							   .first = ports->ports[i].first,
							   .last = ports->ports[i].last };
		r = egress_name_set(s->kernel, set, ranges, ports->n, &ignored);
		if (r < 0)
			return r;
		s->known[set] = true;
	}
	return egress_allow(s->kernel, address, set, expires);
}

static int forget(void *arg, const uint8_t address[16])
{
	struct egress_service *s = arg;

	return egress_forget(s->kernel, address);
}

static int target(void *arg, int fd, const struct sockaddr *peer, struct egress_sni_target *ret)
{
	struct egress_service *s = arg;
	struct egress_target t;
	int r = egress_target_take(s->kernel, peer, &t);

	if (r != 0)
		return r;
	memcpy(ret->address, t.address, sizeof(ret->address));
	ret->port = t.port;
	return 0;
}

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
	s->monitor = m;
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

static int listen_inside(struct egress_service *s, struct error *err)
{
	struct monitor *m = s->monitor;
	struct egress_resolver_config resolver = { .names = s->names, .event = on_name, .event_arg = m };
	struct egress_sni_config sni = { .names = s->names, .target = target, .target_arg = s, .event = on_sni, .event_arg = m };
	const char *conf = m->config->egress.resolv_conf;
	struct egress_listeners where = { 0 };
	struct egress_resolver_ports ports;
	size_t i;
	int r;

	if (conf)
		egress_servers_from_resolv_conf(conf, strlen(conf), &resolver.servers);
	r = egress_resolver_new(&m->loop, &resolver, &s->resolver, err);
	if (r == 0 && s->lists.n_names > 0)
		r = egress_sni_new(&m->loop, &sni, &s->sni, err);
	if (r < 0)
		return r;
	ports = egress_resolver_ports(s->resolver);
	where = (struct egress_listeners){ .dns4_udp = ports.udp4, .dns4_tcp = ports.tcp4, .dns6_udp = ports.udp6, .dns6_tcp = ports.tcp6 };
	if (s->sni)
		egress_sni_ports(s->sni, &where.proxy4, &where.proxy6);
	for (i = 0; i < resolver.servers.n; i++) {
		const struct egress_server *server = &resolver.servers.server[i];

		if (!server->v6 && server->address[0] == 127 && where.n_local4 < EGRESS_LOCAL_DNS_MAX)
			memcpy(&where.local4[where.n_local4++], server->address, 4);
		else if (server->v6 && IN6_IS_ADDR_LOOPBACK((const struct in6_addr *)(const void *)server->address))
			where.local6 = true;
	}
	return egress_publish(s->kernel, &where, err);
}

/* Sockets belong to the network of the process that makes them: from here on it is the container's. */
static int egress_service_adopt(struct monitor *m, struct error *err)
{
	struct egress_service *s = m->egress;
	struct egress_names_config names;
	int r;

	if (!s)
		return 0;
	if (setns(m->netns_fd, CLONE_NEWNET) < 0)
		return error_set(err, -errno, "egress: enter the container's network namespace");
	names = (struct egress_names_config){ .rules = s->lists.names, .n_rules = s->lists.n_names,
					      .open = s->lists.open,   .n_open = s->lists.n_ranges,
					      .never = s->lists.never, .n_never = s->lists.n_never,
					      .ops = { .allow = allow, .forget = forget, .arg = s } };
	r = egress_names_new(&names, &s->names, err);
	if (r == 0)
		r = listen_inside(s, err);
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

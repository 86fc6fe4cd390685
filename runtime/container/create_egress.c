/*
 * Egress in `create`: deny is in force on the cgroup before any process is in it, no socket
 * of another network is handed in, and the monitor is told the rules.
 */
#include "container/create_egress.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "egress/egress.h"
#include "monitor/supervise.h"
#include "plan/plan.h"
#include "util/fd.h"
#include "util/str.h"

int egress_check_descriptors(unsigned extra, struct error *err)
{
	unsigned fd;

	for (fd = 0; fd < 3 + extra; fd++) {
		struct stat st;
		socklen_t len = sizeof(int);
		int domain = AF_UNIX;

		if (fstat((int)fd, &st) < 0 || !S_ISSOCK(st.st_mode))
			continue;
		if (getsockopt((int)fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) < 0)
			return error_set(err, -errno,
					 "egress: descriptor %u is a socket of an unknown kind, which no rule would bind: hand over a pipe or a unix socket",
					 fd);
		if (domain == AF_UNIX)
			continue;
		return error_text(err, -EPERM,
				  "egress: descriptor %u is a network socket of another cgroup, which no rule would bind: hand over a pipe or a unix socket",
				  fd);
	}
	return 0;
}

static bool shares_host_network(const struct create *c)
{
	size_t i;

	if (c->plan->ns_create & CLONE_NEWNET)
		return false;
	for (i = 0; i < c->ns.n_join; i++) {
		bool own = true;
		struct error ignored = ERROR_NULL;

		if (c->ns.join[i].type == CLONE_NEWNET)
			return ns_is_own(c->proc_fd, c->ns.join[i].fd, CLONE_NEWNET, &own, &ignored) < 0 || own;
	}
	return true;
}

int create_egress(struct create *c, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	size_t i;
	int r;

	for (i = 0; i < c->cgroup.n_dirs && fd < 0; i++)
		if (!*c->cgroup.dirs[i].controllers)
			fd = open(c->cgroup.dirs[i].path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return error_text(err, -EOPNOTSUPP,
				  "egress: the container is in no cgroup v2 hierarchy, which the rules need: mount one (cgroup2) below /sys/fs/cgroup");
	r = egress_check_descriptors(c->listen_fds + c->opt->preserve_fds, err);
	return r < 0 ? r : egress_deny(fd, shares_host_network(c) ? EGRESS_F_HOST_NETNS : 0, err);
}

int create_egress_rule(const struct policy_rule *from, struct arena *arena, struct monitor_rule *to)
{
	_cleanup_buf_ struct buf ports = BUF_NULL;
	char text[POLICY_PORTS_TEXT];
	size_t i;

	*to = (struct monitor_rule){ .host = from->host, .cidr = from->cidr, .protocol = (uint32_t)from->protocol,
				     .metadata = from->metadata,
				     .scope = from->scope,
				     .verify = from->verify == POLICY_VERIFY_SNI     ? (char *)"sni" :
					       from->verify == POLICY_VERIFY_ADDRESS ? (char *)"address" :
										       NULL };
	for (i = 0; i < from->n_ports; i++)
		buf_addf(&ports, "%s%s", i ? " " : "", policy_ports_text(&from->ports[i], text));
	if (from->n_ports > 0)
		to->ports = arena_strdup(arena, ports.data);
	return from->n_ports > 0 && !to->ports ? -ENOMEM : 0;
}

int create_egress_config(struct create *c, struct monitor_config *config, char **ret_resolv_conf, struct error *err)
{
	const struct policy_grant *grant = &c->guard.verdict.grant;
	struct monitor_rule *rules = arena_calloc(&c->guard.arena, grant->n_egress + 1, sizeof(*rules));
	size_t i;
	int r;

	if (!rules)
		return error_oom(err);
	for (i = 0; i < grant->n_egress; i++)
		if (create_egress_rule(grant->egress[i], &c->guard.arena, &rules[i]) < 0)
			return error_oom(err);
	config->egress.enabled = true;
	config->egress.host_network = shares_host_network(c);
	config->egress.rules = (struct json_list){ .items = rules, .count = grant->n_egress };
	r = create_resolv_conf(c, config->egress.host_network, ret_resolv_conf, err);
	if (r < 0)
		return r;
	config->egress.resolv_conf = *ret_resolv_conf;
	return 0;
}

static void config_freep(struct monitor_config **c)
{
	*c = monitor_config_free(*c);
}

int create_egress_servers(struct create *c, struct error *err)
{
	_cleanup_(config_freep) struct monitor_config *config = NULL;
	_cleanup_free_ char *text = NULL;
	int r;

	/* Without a rule nobody is asked, and without a hook nothing can have changed. */
	if (c->guard.verdict.grant.n_egress == 0 || !c->hooks_ran || c->resolv_fd < 0)
		return 0;
	r = monitor_config_read(c->dir_fd, &config, err);
	if (r < 0)
		return r;
	text = create_resolv_read(c);
	if (str_eq(text ? text : "", config->egress.resolv_conf ? config->egress.resolv_conf : ""))
		return 0;
	config->egress.resolv_conf = text;
	r = monitor_config_write(c->dir_fd, config, err);
	if (r == 0)
		r = supervise_egress(c->dir_fd, LINK_EGRESS_SERVERS, err);
	return r < 0 ? error_prefix(err, "egress") : 0;
}

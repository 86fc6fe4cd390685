/*
 * Egress in `create` and `exec`. Private to runtime/container.
 */
#pragma once

#include "container/create.h"
#include "monitor/monitor_config.h"

/* Puts deny-all on the container's empty cgroup. */
int create_egress(struct create *c, struct error *err);
/* The part of monitor.json; *ret_resolv_conf is malloc'ed and pointed to from config. */
int create_egress_config(struct create *c, struct monitor_config *config, char **ret_resolv_conf, struct error *err);
/* One rule of it, in the arena. 0 or -ENOMEM. */
int create_egress_rule(const struct policy_rule *from, struct arena *arena, struct monitor_rule *to);
/* create_resolv.c: the text that names the servers to ask, malloc'ed; NULL = nobody. */
int create_resolv_conf(struct create *c, bool host_network, char **ret, struct error *err);
/* The text of c->resolv_fd as it is now, malloc'ed; NULL = nobody. */
char *create_resolv_read(const struct create *c);
/*
 * After the runtime hooks: an engine that makes the network in one (Docker) writes the name servers there. Tells the
 * monitor, which is ready, of what has changed.
 */
int create_egress_servers(struct create *c, struct error *err);
/*
 * Descriptors 0 to 2 and extra more must not be network sockets: a socket keeps the cgroup of
 * its maker, and so its freedom.
 */
int egress_check_descriptors(unsigned extra, struct error *err);

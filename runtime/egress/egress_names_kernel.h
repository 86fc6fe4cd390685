/*
 * Names in force for one container: its rules, the resolver, the proxy and the kernel's
 * tables, put together. What the monitor needs; the parts know nothing of each other but
 * through this.
 */
#pragma once

#include "egress/egress.h"
#include "egress/egress_resolver.h"
#include "egress/egress_sni.h"

struct egress_named_config {
	const struct egress_name_rule *rules; /* none: every name is denied, and there is no proxy */
	size_t n_rules;
	const struct egress_rule *ranges; /* as egress_open() got them: where private answers are fine */
	size_t n_ranges;
	const uint8_t (*hosts)[16]; /* the host's own addresses */
	size_t n_hosts;
	struct egress_servers servers;
	void (*name_event)(void *arg, const struct egress_name_event *e); /* or NULL, as below */
	void (*sni_event)(void *arg, const struct egress_sni_event *e);
	void *arg;
};

struct egress_named;

/*
 * Opens the listeners, tells the kernel of them (egress_publish()) and serves them in the loop. In the
 * container's network namespace (egress_netns_enter()) and before egress_drop(); afterwards it needs no
 * privilege. e stays the caller's and lives longer; nothing of config is kept.
 */
int egress_named_new(struct evloop *l, struct egress *e, const struct egress_named_config *config,
		     struct egress_named **ret, struct error *err);
struct egress_named *egress_named_free(struct egress_named *n);
static inline void egress_named_freep(struct egress_named **n)
{
	*n = egress_named_free(*n);
}
#define _cleanup_egress_named_ _cleanup_(egress_named_freep)

/*
 * Other rules. Addresses that names had opened stay open for what the new rules give those names; checked
 * connections for names that are not allowed any more end. For the others egress_update() follows, with
 * privilege. On failure all is as before; -E2BIG after some thousands of different port sets.
 */
int egress_named_update(struct egress_named *n, const struct egress_named_config *config, struct error *err);

/*
 * Other name servers, before anybody asks. -EPERM for one on the container's loopback that
 * the kernel was not told of: what is sent there would go round us. Docker's own is known to it.
 */
int egress_named_servers(struct egress_named *n, const struct egress_servers *servers, struct error *err);

const struct egress_resolver_stats *egress_named_resolver(const struct egress_named *n);
const struct egress_sni_stats *egress_named_proxy(const struct egress_named *n); /* NULL: there is none */
/* The name that an address was learned from last, or NULL. */
const char *egress_named_of(const struct egress_named *n, const uint8_t address[16], char buf[DNS_TEXT_SIZE]);
size_t egress_named_open(const struct egress_named *n); /* addresses that are open because of names */

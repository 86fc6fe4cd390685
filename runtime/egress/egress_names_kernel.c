/*
 * Owns the connection between names and the kernel's tables: sets of ports are written
 * before the first address that needs them, addresses come and go, listeners are published.
 */
#include "egress/egress_names_kernel.h"

#include <assert.h>
#include <string.h>

struct egress_named {
	struct egress *kernel;
	struct egress_names *names;
	struct egress_resolver *resolver;
	struct egress_sni *proxy;
	struct egress_servers servers; /* as published */
	unsigned
		first_set; /* number of the names' set 0: what a number means in the kernel stays */
	struct egress_range ranges[EGRESS_SET_RANGES_MAX]; /* of the set that is being written */
	bool written[EGRESS_NAME_SETS]; /* by number; a set never changes */
};

static int write_set(struct egress_named *n, unsigned set, const struct egress_name_set *ports)
{
	unsigned number = n->first_set + set;
	struct error err = ERROR_NULL;
	size_t i;
	int r;

	if (number >= EGRESS_NAME_SETS || ports->n > EGRESS_SET_RANGES_MAX)
		return -E2BIG;
	if (n->written[number])
		return 0;
	for (i = 0; i < ports->n; i++)
		n->ranges[i] = (struct egress_range){
			.protocol = ports->ports[i].protocol,
			.verify = ports->ports[i].verify,
			.first = ports->ports[i].first,
			.last = ports->ports[i].last,
		};
	r = egress_name_set(n->kernel, number, n->ranges, ports->n, &err);
	n->written[number] = r == 0;
	return r;
}

static int allow(void *arg, const uint8_t address[16], unsigned set,
		 const struct egress_name_set *ports, uint64_t expires)
{
	struct egress_named *n = arg;
	int r = write_set(n, set, ports);

	return r < 0 ? r : egress_allow(n->kernel, address, n->first_set + set, expires);
}

static int forget(void *arg, const uint8_t address[16])
{
	struct egress_named *n = arg;

	return egress_forget(n->kernel, address);
}

static int target(void *arg, int fd, const struct sockaddr *peer, struct egress_sni_target *ret)
{
	struct egress_named *n = arg;
	struct egress_target found;
	int r = egress_target_take(n->kernel, peer, &found);

	if (r != 0)
		return r;
	memcpy(ret->address, found.address, sizeof(ret->address));
	ret->port = found.port;
	return 0;
}

static int make_names(struct egress_named *n, const struct egress_named_config *config,
		      struct egress_names **ret, struct error *err)
{
	_cleanup_free_ struct egress_name_net *open = calloc(config->n_ranges + 1, sizeof(*open));
	_cleanup_free_ struct egress_name_net *never = calloc(config->n_hosts + 1, sizeof(*never));
	struct egress_names_config names = {
		.rules = config->rules,
		.n_rules = config->n_rules,
		.open = open,
		.n_open = config->n_ranges,
		.never = never,
		.n_never = config->n_hosts,
		.ops = { .allow = allow, .forget = forget, .arg = n },
	};
	size_t i;

	if (!open || !never)
		return error_oom(err);
	for (i = 0; i < config->n_ranges; i++) {
		memcpy(open[i].address, config->ranges[i].address, sizeof(open[i].address));
		open[i].prefix = config->ranges[i].bits;
		open[i].scope = config->ranges[i].scope;
		open[i].metadata = config->ranges[i].metadata;
	}
	for (i = 0; i < config->n_hosts; i++) {
		memcpy(never[i].address, config->hosts[i], sizeof(never[i].address));
		never[i].prefix = 128;
	}
	return egress_names_new(&names, ret, err);
}

/* Name servers on loopback are the container's; what it sends there is redirected all the same. */
static void add_local(const struct egress_servers *servers, struct egress_listeners *l)
{
	static_assert(EGRESS_SERVERS_MAX <= EGRESS_LOCAL_DNS_MAX, "room for all of them");
	const struct egress_server *s;
	size_t i;

	for (i = 0; i < servers->n; i++) {
		s = &servers->server[i];
		if (!s->v6 && s->address[0] == 127)
			memcpy(&l->local4[l->n_local4++], s->address, sizeof(l->local4[0]));
		else if (s->v6 && memcmp(s->address, &in6addr_loopback, sizeof(s->address)) == 0)
			l->local6 = true;
	}
}

static int publish(struct egress_named *n, const struct egress_servers *servers, struct error *err)
{
	struct egress_resolver_ports ports = egress_resolver_ports(n->resolver);
	struct egress_listeners l = {
		.dns4_udp = ports.udp4,
		.dns4_tcp = ports.tcp4,
		.dns6_udp = ports.udp6,
		.dns6_tcp = ports.tcp6,
	};

	if (n->proxy)
		egress_sni_ports(n->proxy, &l.proxy4, &l.proxy6);
	add_local(servers, &l);
	return egress_publish(n->kernel, &l, err);
}

int egress_named_new(struct evloop *l, struct egress *e, const struct egress_named_config *config,
		     struct egress_named **ret, struct error *err)
{
	_cleanup_egress_named_ struct egress_named *n = calloc(1, sizeof(*n));
	struct egress_resolver_config resolver = {
		.servers = config->servers,
		.event = config->name_event,
		.event_arg = config->arg,
	};
	struct egress_sni_config proxy = {
		.target = target,
		.target_arg = n,
		.event = config->sni_event,
		.event_arg = config->arg,
	};
	int r;

	if (!n)
		return error_oom(err);
	n->kernel = e;
	n->servers = config->servers;
	r = make_names(n, config, &n->names, err);
	if (r < 0)
		return r;
	resolver.names = proxy.names = n->names;
	r = egress_resolver_new(l, &resolver, &n->resolver, err);
	if (r == 0 && config->n_rules > 0)
		r = egress_sni_new(l, &proxy, &n->proxy, err);
	if (r == 0)
		r = publish(n, &config->servers, err);
	if (r < 0)
		return r;
	*ret = take_ptr(n);
	return 0;
}

int egress_named_update(struct egress_named *n, const struct egress_named_config *config,
			struct error *err)
{
	unsigned first = n->first_set + egress_names_sets(n->names);
	struct egress_names *names = NULL;
	int r;

	if (first + EGRESS_SETS_MAX > EGRESS_NAME_SETS)
		return error_text(
			err, -E2BIG,
			"too many changes of the egress rules; start the container again");
	if (config->n_rules > 0 && !n->proxy)
		return error_text(err, -EINVAL,
				  "a container that began without names cannot get any");
	r = make_names(n, config, &names, err);
	if (r < 0)
		return r;
	n->first_set = first;
	egress_names_carry(names, n->names, ev_now(CLOCK_BOOTTIME));
	egress_resolver_set_names(n->resolver, names);
	if (n->proxy)
		egress_sni_set_names(n->proxy, names);
	egress_names_free(n->names);
	n->names = names;
	return 0;
}

static bool is_loopback(const struct egress_server *s)
{
	return s->v6 ? memcmp(s->address, &in6addr_loopback, sizeof(s->address)) == 0 : s->address[0] == 127;
}

static bool is_known(const struct egress_named *n, const struct egress_server *s)
{
	static const uint8_t docker[4] = { 127, 0, 0, 11 };
	size_t i;

	if (!s->v6 && memcmp(s->address, docker, sizeof(docker)) == 0)
		return true;
	for (i = 0; i < n->servers.n; i++)
		if (n->servers.server[i].v6 == s->v6 &&
		    memcmp(n->servers.server[i].address, s->address, s->v6 ? 16 : 4) == 0)
			return true;
	return false;
}

int egress_named_servers(struct egress_named *n, const struct egress_servers *servers, struct error *err)
{
	size_t i;
	int r;

	for (i = 0; i < servers->n; i++)
		if (is_loopback(&servers->server[i]) && !is_known(n, &servers->server[i]))
			return error_text(err, -EPERM,
					  "a hook named a name server on the container's loopback, which could ask on: name it in resolv.conf before the hook, or another one");
	r = egress_resolver_set_servers(n->resolver, servers);
	return r < 0 ? error_set(err, r, "take other name servers") : 0;
}

struct egress_named *egress_named_free(struct egress_named *n)
{
	if (!n)
		return NULL;
	egress_sni_free(n->proxy);
	egress_resolver_free(n->resolver);
	egress_names_free(n->names);
	free(n);
	return NULL;
}

const struct egress_resolver_stats *egress_named_resolver(const struct egress_named *n)
{
	return egress_resolver_stats(n->resolver);
}

const struct egress_sni_stats *egress_named_proxy(const struct egress_named *n)
{
	return n->proxy ? egress_sni_stats(n->proxy) : NULL;
}

const char *egress_named_of(const struct egress_named *n, const uint8_t address[16], char buf[DNS_TEXT_SIZE])
{
	struct dns_name name;

	return egress_names_of(n->names, address, &name) ? dns_name_text(&name, buf) : NULL;
}

size_t egress_named_open(const struct egress_named *n)
{
	return egress_names_leases(n->names);
}

/*
 * Stands beside a cgroup as the monitor does: puts the egress rules on it, enters a network
 * namespace, serves names without any privilege, and prints one line for each event.
 *
 *   beside CGROUP-FOLDER NETNS-FILE RESOLV-CONF RULE...
 *
 * RULE is HOST[:PORT[,PORT...][:sni|address]], or a range as ADDRESS/BITS. "ready" when all is in force;
 * until standard input ends. Then the counters. A line of input leaves only the first rule in force.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "egress/egress_names_kernel.h"
#include "egress/egress_resolver_listen.h"
#include "util/fd.h"
#include "util/parse.h"
#include "util/str.h"

#define RULES_MAX 6000
#define PORTS_MAX 16
#define NOBODY	  65534

static struct egress_name_rule names[RULES_MAX];
static struct egress_name_range ports[RULES_MAX][PORTS_MAX];
static struct egress_rule ranges[RULES_MAX];
static size_t n_names, n_ranges;

static int fail(const char *what)
{
	fprintf(stderr, "beside: %s\n", what);
	return 1;
}

static bool add_range(char *text, char *slash)
{
	bool six = strchr(text, ':') != NULL;
	uint8_t raw[16];
	uint32_t bits;

	*slash = '\0';
	if (parse_u32(slash + 1, &bits) < 0 || inet_pton(six ? AF_INET6 : AF_INET, text, raw) != 1)
		return false;
	egress_rules_map(six ? AF_INET6 : AF_INET, raw, ranges[n_ranges].address);
	ranges[n_ranges].bits = (uint8_t)(six ? bits : bits + 96);
	ranges[n_ranges].scope = ranges[n_ranges].bits;
	n_ranges++;
	return true;
}

static bool add_rule(char *text)
{
	struct egress_name_rule *rule = &names[n_names];
	char *slash = strchr(text, '/'), *list, *verify = NULL, *next;
	uint32_t port;

	if (slash)
		return add_range(text, slash);
	rule->host = text;
	rule->ports = ports[n_names++];
	list = strchr(text, ':');
	if (list) {
		*list++ = '\0';
		verify = strchr(list, ':');
	}
	if (verify) {
		*verify++ = '\0';
		rule->verify = str_eq(verify, "sni") ? EGRESS_VERIFY_SNI : EGRESS_VERIFY_ADDRESS;
	}
	for (; list && *list; list = next ? next : list + strlen(list)) {
		next = strchr(list, ',');
		if (next)
			*next++ = '\0';
		if (parse_u32(list, &port) < 0 || port > 65535 || rule->n_ports == PORTS_MAX)
			return false;
		ports[n_names - 1][rule->n_ports++] = (struct egress_name_range){ (uint16_t)port, (uint16_t)port };
	}
	return true;
}

static void on_name(void *arg, const struct egress_name_event *e)
{
	char address[INET6_ADDRSTRLEN] = "";

	if (e->address)
		(void)inet_ntop(AF_INET6, e->address, address, sizeof(address));
	printf("name %s %s type %u n %zu %s %s\n", egress_name_event_text(e->kind), e->name, e->type, e->n, address,
	       e->reason ? e->reason : "");
}

static void on_sni(void *arg, const struct egress_sni_event *e)
{
	char address[INET6_ADDRSTRLEN] = "";

	if (e->target)
		(void)inet_ntop(AF_INET6, e->target->address, address, sizeof(address));
	printf("sni %s %s %s %u\n", egress_sni_event_text(e->kind), e->name ? e->name : "-", address,
	       e->target ? e->target->port : 0);
}

static void on_denial(void *arg, const struct egress_event *e)
{
	char address[INET6_ADDRSTRLEN] = "";

	(void)inet_ntop(AF_INET6, e->address, address, sizeof(address));
	printf("denied %s %u protocol %u hook %u\n", address, e->port, e->protocol, e->hook);
}

struct served {
	struct egress_named *named;
	struct egress_named_config config;
};

static int on_input(struct evloop *l, struct ev_source *s, uint32_t events, struct error *err)
{
	struct served *served = s->arg;
	char line[16];
	int r;

	if (read(s->fd, line, sizeof(line)) <= 0) {
		evloop_stop(l);
		return 0;
	}
	served->config.n_rules = 1;
	r = egress_named_update(served->named, &served->config, err);
	if (r == 0)
		printf("updated\n");
	return r;
}

/* As the monitor: another user, no group, no capability, no way back. */
static bool drop(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 } };

	return setgroups(0, NULL) == 0 && setresgid(NOBODY, NOBODY, NOBODY) == 0 &&
	       setresuid(NOBODY, NOBODY, NOBODY) == 0 && syscall(SYS_capset, &header, none) == 0 &&
	       prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

static int serve(struct evloop *l, struct egress *e, struct egress_named_config *config, int netns, struct error *err)
{
	_cleanup_egress_named_ struct egress_named *n = NULL;
	const struct egress_resolver_stats *r;
	struct served served = { .config = *config };
	struct ev_source input;
	int x;

	x = egress_netns_enter(netns, err);
	if (x == 0)
		x = egress_named_new(l, e, config, &n, err);
	if (x == 0)
		x = egress_watch(e, l, on_denial, NULL, err);
	if (x < 0)
		return x;
	egress_drop(e);
	if (!drop())
		return error_set(err, -errno, "drop all privileges");
	served.named = n;
	x = ev_add(l, &input, STDIN_FILENO, EPOLLIN, on_input, &served, err);
	if (x < 0)
		return x;
	printf("ready\n");
	x = evloop_run(l, err);
	egress_unwatch(e, l);
	r = egress_named_resolver(n);
	printf("queries %llu denied %llu forwarded %llu failed %llu refused %llu spoofed %llu open %zu\n",
	       (unsigned long long)r->queries, (unsigned long long)r->denied, (unsigned long long)r->forwarded,
	       (unsigned long long)r->failed, (unsigned long long)r->refused, (unsigned long long)r->spoofed,
	       egress_named_open(n));
	return x;
}

int main(int argc, char **argv)
{
	_cleanup_close_ int cgroup = -EBADF, netns = -EBADF;
	_cleanup_egress_ struct egress *e = NULL;
	_cleanup_free_ char *conf = NULL;
	struct egress_named_config config = { .name_event = on_name, .sni_event = on_sni };
	struct egress_options options = { .restricted = true, .rules = ranges };
	struct evloop loop = EVLOOP_NULL;
	struct error err = ERROR_NULL;
	size_t len;
	int i, r;

	if (argc < 4 || argc - 4 > RULES_MAX)
		return fail("usage: beside CGROUP-FOLDER NETNS-FILE RESOLV-CONF RULE...");
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 4; i < argc; i++)
		if (!add_rule(argv[i]))
			return fail(argv[i]);
	cgroup = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	netns = open(argv[2], O_RDONLY | O_CLOEXEC);
	if (cgroup < 0 || netns < 0)
		return fail("the cgroup or the network namespace is not there");
	r = file_read_all(AT_FDCWD, argv[3], EGRESS_RESOLV_CONF_MAX, &conf, &len, &err);
	if (r < 0)
		return fail(err.text);
	egress_servers_from_resolv_conf(conf, len, &config.servers);
	config.rules = names;
	config.n_rules = n_names;
	config.ranges = ranges;
	config.n_ranges = options.n_rules = n_ranges;
	r = egress_prepare(&err);
	if (r == 0)
		r = egress_deny_attach(cgroup, 0, &err);
	if (r == 0)
		r = egress_open(cgroup, &options, &e, &err);
	if (r == 0)
		r = evloop_init(&loop, &err);
	if (r == 0)
		r = serve(&loop, e, &config, netns, &err);
	evloop_done(&loop);
	return r < 0 ? fail(err.text) : r;
}

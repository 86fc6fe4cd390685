/*
 * The egress API on the command line, for the tests. `monitor` is a container's resident
 * process by hand: it reads commands from stdin and answers each with one line.
 *
 *   egress-tool deny|prove CGROUP [host]
 *   egress-tool status|revoke CGROUP
 *   egress-tool update CGROUP RULE...
 *   egress-tool old CGROUP		the shared set as loaded before Linux 6.15
 *   egress-tool peers CGROUP		by what datagram peers are told apart: netns or socket
 *   egress-tool monitor CGROUP [host] [RULE...|none]      none: private without ranges
 *
 * RULE: CIDR[,tcp|,udp][,metadata][,PORT[-PORT]]...
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "egress/egress.h"
#include "egress/egress_deny.skel.h"
#include "egress/egress_load.h"
#include "egress/egress_sets.h"
#include "os/ebpf.h"
#include "os/creds.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/str.h"

#define RULES_MAX 6000
#define PORTS_MAX 16
#define NOBODY	  65534

static void parse_address(const char *text, uint8_t ret[16], unsigned *ret_whole)
{
	int family = strchr(text, ':') ? AF_INET6 : AF_INET;
	uint8_t raw[16];

	if (inet_pton(family, text, raw) != 1) {
		fprintf(stderr, "no address: %s\n", text);
		exit(2);
	}
	egress_rules_map(family, raw, ret);
	*ret_whole = family == AF_INET ? 32 : 128;
}

static uint16_t number(const char *text)
{
	uint32_t v = 0;

	if (parse_u32(text, &v) < 0 || v > 65535) {
		fprintf(stderr, "no port: %s\n", text);
		exit(2);
	}
	return (uint16_t)v;
}

static struct egress_range parse_ports(char *text)
{
	char *dash = strchr(text, '-');
	struct egress_range r;

	if (dash)
		*dash++ = '\0';
	r = (struct egress_range){ .first = number(text) };
	r.last = dash ? number(dash) : r.first;
	return r;
}

static void parse_rule(char *text, struct egress_rule *ret)
{
	struct egress_range *ranges = calloc(PORTS_MAX, sizeof(*ranges));
	char *word = strtok(text, ","), *slash = strchr(word, '/');
	unsigned whole, prefix;

	if (slash)
		*slash++ = '\0';
	parse_address(word, ret->address, &whole);
	prefix = slash ? number(slash) : whole;
	ret->bits = (uint8_t)(prefix + 128 - whole);
	ret->scope = ret->bits;
	ret->ranges = ranges;
	while ((word = strtok(NULL, ","))) {
		if (str_eq(word, "tcp"))
			ret->protocol = IPPROTO_TCP;
		else if (str_eq(word, "udp"))
			ret->protocol = IPPROTO_UDP;
		else if (str_eq(word, "metadata"))
			ret->metadata = true;
		else if (ret->n_ranges < PORTS_MAX)
			ranges[ret->n_ranges++] = parse_ports(word);
	}
}

static void show_event(void *arg, const struct egress_event *e)
{
	static const char *const hooks[] = { "?", "connect", "sendmsg", "socket", "packet", "spoofed" };
	char text[INET6_ADDRSTRLEN];

	(void)arg;
	(void)inet_ntop(AF_INET6, e->address, text, sizeof(text));
	printf(" %s:%u:%s:%u:%s", hooks[e->hook < ELEMENTSOF(hooks) ? e->hook : 0], e->protocol, text, e->port,
	       e->comm[0] ? e->comm : "-");
}

static void publish(struct egress *e)
{
	struct egress_listeners l = { .n_local4 = 0 };
	struct error err = ERROR_NULL;
	const char *word;

	while ((word = strtok(NULL, " "))) {
		const char *value = strtok(NULL, " ");

		if (str_eq(word, "dns"))
			l.dns4_udp = l.dns4_tcp = l.dns6_udp = l.dns6_tcp = number(value);
		else if (str_eq(word, "proxy"))
			l.proxy4 = l.proxy6 = number(value);
		else if (str_eq(word, "local"))
			inet_pton(AF_INET, value, &l.local4[l.n_local4++]);
	}
	printf("%s\n", egress_publish(e, &l, &err) < 0 ? err.text : "published");
}

static void name_set(struct egress *e)
{
	unsigned set = number(strtok(NULL, " "));
	struct egress_range ranges[PORTS_MAX] = { 0 };
	struct error err = ERROR_NULL;
	char *word;
	size_t n = 0;

	while ((word = strtok(NULL, " ")) && n < PORTS_MAX) {
		uint8_t protocol = str_eq(word, "udp") ? IPPROTO_UDP : IPPROTO_TCP;
		bool verify = str_eq(word, "verify");

		ranges[n] = parse_ports(strtok(NULL, " "));
		ranges[n].protocol = protocol;
		ranges[n++].verify = verify;
	}
	printf("%s\n", egress_name_set(e, set, ranges, n, &err) < 0 ? err.text : "set");
}

static void allow(struct egress *e)
{
	uint8_t address[16];
	unsigned whole, set;
	uint64_t expires;

	parse_address(strtok(NULL, " "), address, &whole);
	set = number(strtok(NULL, " "));
	expires = ev_now(CLOCK_BOOTTIME) + (uint64_t)number(strtok(NULL, " ")) * 1000000;
	printf("%d\n", egress_allow(e, address, set, expires));
}

static void forget(struct egress *e)
{
	uint8_t address[16];
	unsigned whole;

	parse_address(strtok(NULL, " "), address, &whole);
	printf("%d\n", egress_forget(e, address));
}

static void target(struct egress *e)
{
	struct sockaddr_in peer = { .sin_family = AF_INET, .sin_port = htons(number(strtok(NULL, " "))) };
	struct egress_target t;
	char text[INET6_ADDRSTRLEN];
	int r = egress_target_take(e, (struct sockaddr *)&peer, &t);

	if (r == 0)
		printf("%s %u\n", inet_ntop(AF_INET6, t.address, text, sizeof(text)), t.port);
	else
		printf("%d\n", r);
}

/* As the monitor does: another user, nothing left that could undo it. */
static void drop(struct egress *e)
{
	const struct caps_sets none = { 0 };

	egress_drop(e);
	if (setresgid(NOBODY, NOBODY, NOBODY) < 0 || setresuid(NOBODY, NOBODY, NOBODY) < 0 || caps_set(&none) < 0)
		printf("not dropped\n");
	else
		printf("dropped\n");
}

static int obey(struct egress *e)
{
	struct egress_counters c;
	char line[4096];

	while (fgets(line, sizeof(line), stdin)) {
		char *word;

		line[strcspn(line, "\n")] = '\0';
		word = strtok(line, " ");
		if (!word)
			continue;
		if (str_eq(word, "publish"))
			publish(e);
		else if (str_eq(word, "set"))
			name_set(e);
		else if (str_eq(word, "allow"))
			allow(e);
		else if (str_eq(word, "forget"))
			forget(e);
		else if (str_eq(word, "target"))
			target(e);
		else if (str_eq(word, "drop"))
			drop(e);
		else if (str_eq(word, "events")) {
			printf("events");
			printf(" %d\n", egress_drain(e, show_event, NULL));
		} else if (str_eq(word, "counters")) {
			int r = egress_counters(e, &c);

			if (r < 0)
				printf("%d\n", r);
			else
				printf("denied %lu suppressed %lu lost %lu\n", c.denied, c.suppressed, c.lost);
		}
		fflush(stdout);
	}
	return 0;
}

static struct egress_rule rules[RULES_MAX];

static size_t parse_rules(int argc, char **argv)
{
	size_t n = 0;

	for (int i = 0; i < argc && n < RULES_MAX; i++)
		if (!str_eq(argv[i], "none"))
			parse_rule(argv[i], &rules[n++]);
	return n;
}

static int monitor(int cgroup, unsigned flags, int argc, char **argv, struct error *err)
{
	_cleanup_egress_ struct egress *e = NULL;
	struct egress_options o = { .flags = flags, .restricted = argc > 0, .rules = rules };
	int r;

	o.n_rules = parse_rules(argc, argv);
	r = egress_open(cgroup, &o, &e, err);
	if (r < 0)
		return r;
	printf("open %s\n", egress_is_private(e) ? "private" : "shared");
	fflush(stdout);
	return obey(e);
}

static int status(int cgroup, struct error *err)
{
	struct egress_status s;
	int r = egress_status(cgroup, &s, err);

	if (r == 0)
		printf("shared=%d private=%d host=%d denied=%lu suppressed=%lu lost=%lu\n", s.shared, s.private,
		       s.host_netns, s.counters.denied, s.counters.suppressed, s.counters.lost);
	return r;
}

/* Peers by socket, since packet programs cannot ask for their network namespace there. */
static int old(int cgroup, struct error *err)
{
	struct egress_deny *s = egress_deny__open();
	struct egress_state state = { .flags = 0 };
	uint64_t id = 0;
	int r;

	s->rodata->has_netns_cookie = 0;
	r = EBPF_LOAD(egress_deny, s, err);
	if (r == 0) {
		const int progs[EGRESS_PROGRAMS] = {
			s->progs.egdeny_egress.prog_fd,	  s->progs.egdeny_ingress.prog_fd,
			s->progs.egdeny_socket.prog_fd,	  s->progs.egdeny_sockops.prog_fd,
			s->progs.egdeny_connect4.prog_fd, s->progs.egdeny_connect6.prog_fd,
			s->progs.egdeny_sendmsg4.prog_fd, s->progs.egdeny_sendmsg6.prog_fd,
			s->progs.egdeny_recvmsg4.prog_fd, s->progs.egdeny_recvmsg6.prog_fd,
			s->progs.egdeny_peer4.prog_fd,	  s->progs.egdeny_peer6.prog_fd,
		};

		r = egress_set_attach(cgroup, progs, err);
	}
	if (r == 0)
		r = egress_cgroup_id(cgroup, &id, err);
	state.cgroup = id;
	return r < 0 ? r : ebpf_map_update(s->maps.states.map_fd, &id, &state, BPF_EXIST);
}

/* By what the programs of this kernel tell datagram peers apart. */
static int peers(struct error *err)
{
	bool cookie;
	int r = egress_probe_netns_cookie(&cookie, err);

	if (r == 0)
		puts(cookie ? "netns" : "socket");
	return r;
}

int main(int argc, char **argv)
{
	struct error err = ERROR_NULL;
	int cgroup, r = -EINVAL;
	unsigned flags = 0;
	const char *what;

	if (argc < 3)
		return 2;
	what = argv[1];
	cgroup = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (cgroup < 0) {
		perror(argv[2]);
		return 2;
	}
	argc -= 3;
	argv += 3;
	if (argc > 0 && str_eq(argv[0], "host")) {
		flags = EGRESS_F_HOST_NETNS;
		argc--;
		argv++;
	}
	if (str_eq(what, "deny"))
		r = egress_deny(cgroup, flags, &err);
	else if (str_eq(what, "prove"))
		r = egress_prove(cgroup, flags, &err);
	else if (str_eq(what, "old"))
		r = old(cgroup, &err);
	else if (str_eq(what, "peers"))
		r = peers(&err);
	else if (str_eq(what, "status"))
		r = status(cgroup, &err);
	else if (str_eq(what, "revoke"))
		r = egress_revoke(cgroup, &err);
	else if (str_eq(what, "update"))
		r = egress_update(cgroup, rules, parse_rules(argc, argv), &err);
	else if (str_eq(what, "monitor"))
		r = monitor(cgroup, flags, argc, argv, &err);
	if (r < 0)
		fprintf(stderr, "%s\n", err.text);
	return r < 0 ? 1 : 0;
}

/*
 * What egress control costs: putting both sets in force, and traffic under them against
 * traffic without, as ratios. Between two network namespaces of its own, in rounds that
 * alternate, so that a busy moment of the machine hits all alike.
 *
 *   make tests/bench/egress-cost; tests/bench/egress-cost CGROUP-V2-FOLDER [ROUNDS]
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "egress/egress.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/str.h"

#define PORT	   9000
#define CONNECTS   1500
#define PINGS	   6000
#define DATAGRAMS  20000
#define BULK_BYTES ((size_t)512 * 1024 * 1024)
#define STARTS	   20

static const char server_ip[] = "10.97.0.1", client_ip[] = "10.97.0.2";

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void must(int r, const char *what)
{
	if (r < 0) {
		perror(what);
		exit(1);
	}
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The best of all rounds: what is not the machine's other work. */
static double best(double *values, int n)
{
	qsort(values, (size_t)n, sizeof(*values), compare);
	return values[0];
}

static struct sockaddr_in server_address(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons(PORT) };

	a.sin_addr.s_addr = htonl(0x0a610001);
	return a;
}

static int dial(void)
{
	struct sockaddr_in a = server_address();
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	must(connect(fd, (struct sockaddr *)&a, sizeof(a)), "connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}

/* One connection after the other; the first byte says what for: b = take all, p = echo, else close. */
static _noreturn_ void serve(int ready)
{
	struct sockaddr_in a = server_address();
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd, on = 1;
	static char buffer[1 << 18];
	ssize_t n;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	must(bind(listener, (struct sockaddr *)&a, sizeof(a)), "bind");
	must(listen(listener, 128), "listen");
	must((int)write(ready, "r", 1), "write");
	for (;;) {
		char kind = 0;

		fd = accept(listener, NULL, NULL);
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		n = recv(fd, &kind, 1, 0);
		while (n > 0 && (n = recv(fd, buffer, sizeof(buffer), 0)) > 0)
			if (kind == 'p' && send(fd, buffer, (size_t)n, 0) < 0)
				break;
		(void)close(fd);
	}
}

static double run_connect(void)
{
	double begun = now_us();

	for (int i = 0; i < CONNECTS; i++) {
		struct linger l = { .l_onoff = 1 };
		int fd = dial();
		char b[2] = "pp";

		/* until the server has it, or its queue overflows */
		must((int)send(fd, b, 2, 0), "send");
		must((int)recv(fd, b, 1, 0), "recv");
		/* or the ports run out */
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof(l));
		(void)close(fd);
	}
	return (now_us() - begun) / CONNECTS;
}

static double run_pings(void)
{
	int fd = dial();
	char b = 'p';
	double begun;

	must((int)send(fd, &b, 1, 0), "send");
	begun = now_us();
	for (int i = 0; i < PINGS; i++) {
		must((int)send(fd, &b, 1, 0), "send");
		must((int)recv(fd, &b, 1, 0), "recv");
	}
	begun = (now_us() - begun) / PINGS;
	(void)close(fd);
	return begun;
}

static double run_bulk(void)
{
	static char buffer[1 << 18] = "b";
	int fd = dial();
	double begun = now_us();

	for (size_t sent = 0; sent < BULK_BYTES; sent += sizeof(buffer))
		must((int)send(fd, buffer, sizeof(buffer), 0), "send");
	begun = now_us() - begun;
	(void)close(fd);
	return begun / 1e3;
}

static double run_datagrams(void)
{
	struct sockaddr_in a = server_address();
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	double begun = now_us();

	/* nobody listens there: the answers are errors that are not waited for */
	for (int i = 0; i < DATAGRAMS; i++)
		(void)sendto(fd, "x", 1, MSG_DONTWAIT, (struct sockaddr *)&a, sizeof(a));
	begun = (now_us() - begun) / DATAGRAMS;
	(void)close(fd);
	return begun;
}

static const struct {
	const char *name;
	double (*run)(void);
} loads[] = {
	{ "connect and a byte, us", run_connect },
	{ "ping-pong of a byte, us", run_pings },
	{ "512 MiB, ms", run_bulk },
	{ "datagram, us", run_datagrams },
};
#define LOADS ELEMENTSOF(loads)

static int cgroup_open(const char *path)
{
	int fd;

	if (mkdir(path, 0755) < 0 && errno != EEXIST)
		must(-1, path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	must(fd, path);
	return fd;
}

static void enter(const char *netns)
{
	_cleanup_free_ char *path = str_printf("/run/netns/%s", netns);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	must(fd, path);
	must(setns(fd, CLONE_NEWNET), "setns");
}

/* All loads once, in a child in the cgroup (NULL: where we are). */
static void run_loads(const char *cgroup, const char *netns, double ret[LOADS])
{
	int p[2];
	pid_t pid;

	must(pipe(p), "pipe");
	pid = fork();
	must(pid, "fork");
	if (pid == 0) {
		if (cgroup) {
			_cleanup_free_ char *path = str_printf("%s/cgroup.procs", cgroup);
			_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);

			must((int)write(fd, "0", 1), path);
		}
		enter(netns);
		for (size_t i = 0; i < LOADS; i++) {
			double v = loads[i].run();

			must((int)write(p[1], &v, sizeof(v)), "write");
		}
		_exit(0);
	}
	(void)close(p[1]);
	for (size_t i = 0; i < LOADS; i++)
		if (read(p[0], &ret[i], sizeof(ret[i])) != sizeof(ret[i]))
			must(-1, "a load failed");
	(void)close(p[0]);
	(void)waitpid(pid, NULL, 0);
}

static struct egress_rule *make_rules(size_t n)
{
	struct egress_rule *rules = calloc(n, sizeof(*rules));

	for (size_t i = 0; i < n; i++) {
		rules[i] = (struct egress_rule){ .bits = 120, .scope = 120, .protocol = IPPROTO_TCP };
		rules[i].address[10] = rules[i].address[11] = 0xff;
		rules[i].address[12] = 11;
		rules[i].address[13] = (uint8_t)(i >> 8);
		rules[i].address[14] = (uint8_t)i;
	}
	if (n > 0) {
		rules[0].bits = rules[0].scope = 128;
		rules[0].protocol = 0;
		memcpy(rules[0].address + 12, (uint8_t[]){ 10, 97, 0, 1 }, 4);
	}
	return rules;
}

static void starts(const char *cgroup, size_t n_rules)
{
	_cleanup_free_ struct egress_rule *rules = make_rules(n_rules);
	struct egress_options o = { .restricted = true, .rules = rules, .n_rules = n_rules };
	double deny[STARTS], prove[STARTS], open_[STARTS], t;
	struct error err = ERROR_NULL;

	for (int i = 0; i < STARTS; i++) {
		_cleanup_egress_ struct egress *e = NULL;
		int fd = cgroup_open(cgroup);

		t = now_us();
		must(egress_deny(fd, 0, &err), err.text);
		deny[i] = now_us() - t;
		t = now_us();
		must(egress_prove(fd, 0, &err), err.text);
		prove[i] = now_us() - t;
		t = now_us();
		must(egress_open(fd, &o, &e, &err), err.text);
		open_[i] = now_us() - t;
		(void)close(fd);
		(void)rmdir(cgroup);
	}
	printf("start: shared set %.0f us, proof %.0f us, private set with %zu rules %.0f us (ratio to the shared %.0f)\n",
	       best(deny, STARTS), best(prove, STARTS), n_rules, best(open_, STARTS), best(open_, STARTS) / best(deny, STARTS));
}

static void network(bool make)
{
	_cleanup_free_ char *command = str_printf(
		make ? "set -e; ip netns add arb1; ip netns add arb2; ip link add arb1 netns arb1 type veth peer name arb2 netns arb2;"
		       "ip -n arb1 addr add %s/24 dev arb1; ip -n arb2 addr add %s/24 dev arb2;"
		       "for n in arb1 arb2; do ip -n $n link set lo up; ip -n $n link set $n up; done" :
		       "ip netns del arb1; ip netns del arb2 # %s %s",
		server_ip, client_ip);
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) < 0 || status != 0)
		must(-1, "network namespaces");
}

static void traffic(const char *base, int rounds)
{
	_cleanup_free_ char *private = str_printf("%s/private", base);
	_cleanup_free_ struct egress_rule *rules = make_rules(1000);
	struct egress_options o = { .restricted = true, .rules = rules, .n_rules = 1000 };
	double (*none)[LOADS] = calloc((size_t)rounds, sizeof(*none)), (*with)[LOADS] = calloc((size_t)rounds, sizeof(*with));
	struct error err = ERROR_NULL;
	int ready[2], fd, i;
	pid_t server;
	char b;

	network(true);
	must(pipe(ready), "pipe");
	server = fork();
	if (server == 0) {
		enter("arb1");
		serve(ready[1]);
	}
	must((int)read(ready[0], &b, 1), "server");
	fd = cgroup_open(private);
	must(egress_deny(fd, 0, &err), err.text);
	_cleanup_egress_ struct egress *e = NULL;
	must(egress_open(fd, &o, &e, &err), err.text);
	for (i = 0; i < rounds; i++) {
		run_loads(NULL, "arb2", none[i]);
		run_loads(private, "arb2", with[i]);
	}
	for (size_t l = 0; l < LOADS; l++) {
		double a[64], c[64];

		for (i = 0; i < rounds; i++) {
			a[i] = none[i][l];
			c[i] = with[i][l];
		}
		printf("%-24s none %.2f private %.2f ratio %.3f\n", loads[l].name, best(a, rounds), best(c, rounds),
		       best(c, rounds) / best(a, rounds));
	}
	(void)kill(server, SIGKILL);
	(void)waitpid(server, NULL, 0);
	(void)close(fd);
	network(false);
	(void)rmdir(private);
	free(none);
	free(with);
}

int main(int argc, char **argv)
{
	_cleanup_free_ char *base = NULL, *start = NULL;
	uint32_t rounds = 8;

	if (argc < 2 || (argc > 2 && (parse_u32(argv[2], &rounds) < 0 || rounds < 1 || rounds > 64))) {
		fprintf(stderr, "usage: egress-cost CGROUP-V2-FOLDER [ROUNDS]\n");
		return 2;
	}
	base = str_printf("%s/egress-cost-%d", argv[1], (int)getpid());
	start = str_printf("%s/start", base);
	(void)close(cgroup_open(base));
	starts(start, 1);
	starts(start, 5000);
	traffic(base, (int)rounds);
	(void)rmdir(base);
	return 0;
}

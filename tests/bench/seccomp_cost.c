/*
 * What a filter costs per system call: bare, Docker 20.10's (by libseccomp, from a captured
 * configuration), agent-default, both, and both as a container has them whose denied calls are reported. Best of several rounds, each
 * context in a process of its own. Exit status 1 when a call that is allowed by its number costs
 * more than 1.1 of what it costs under Docker's filter.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "filter/filter_agent.h"
#include "util/fd.h"
#include "util/str.h"

#define ROUNDS 15
#define BATCHES 10
#define CALLS 2000

static long call_getppid(void) { return syscall(SYS_getppid); }
static long call_read(void) { return syscall(SYS_read, -1, 0, 0); }
static long call_openat2(void) { return syscall(SYS_openat2, -1, 0, 0, 0); }
static long call_ioctl(void) { return syscall(SYS_ioctl, -1, 0x5401, 0); }
static long call_sendto(void) { return syscall(SYS_sendto, -1, 0, 0, 0, 0, 0); }
static long call_setsockopt(void) { return syscall(SYS_setsockopt, -1, 6, 1, 0, 0); }
static long call_prctl(void) { return syscall(SYS_prctl, 3, 0, 0, 0, 0); }

static const struct { const char *name; long (*call)(void); bool by_number; } calls[] = {
	{ "getppid", call_getppid, true },	   { "read", call_read, true },
	{ "openat2", call_openat2, true },	   { "ioctl", call_ioctl, false },
	{ "sendto", call_sendto, false },	   { "setsockopt", call_setsockopt, false },
	{ "prctl", call_prctl, false },
};
#define N_CALLS ELEMENTSOF(calls)

enum context { BARE, DOCKER, AGENT, BOTH, REPORTED, CONTEXTS };

static double now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Short batches, so that some of them run undisturbed also on a busy machine. */
static void measure(double best[N_CALLS])
{
	size_t i;
	int batch, n;

	for (batch = 0; batch < BATCHES; batch++) {
		for (i = 0; i < N_CALLS; i++) {
			double start = now_ns(), each;

			for (n = 0; n < CALLS; n++)
				(void)calls[i].call();
			each = (now_ns() - start) / CALLS;
			if (best[i] == 0 || each < best[i])
				best[i] = each;
		}
	}
}

static int docker_filter(struct filter *ret, struct error *err)
{
	const char *srcdir = getenv("srcdir");
	_cleanup_free_ char *path =
		str_printf("%s/tests/data/configs/docker20-run.json", srcdir ? srcdir : ".");
	_cleanup_spec_ struct spec *spec = NULL;
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r;

	r = file_read_all(AT_FDCWD, path, 1 << 22, &text, &len, err);
	if (r == 0)
		r = spec_parse(path, text, len, &spec, err);
	return r < 0 ? r : filter_compile(spec->linux_cfg->seccomp, false, -EBADF, ret, err);
}

struct filters {
	struct filter docker, agent, yielding, reporting;
};

static void round_in_child(const struct filters *f, enum context c, double best[N_CALLS])
{
	struct filter_pair pair = { c == REPORTED ? &f->yielding : c == DOCKER || c == BOTH ? &f->docker : NULL,
				    c == REPORTED ? &f->reporting : c == AGENT || c == BOTH ? &f->agent : NULL };
	pid_t pid = fork();

	if (pid == 0) {
		struct error err = ERROR_NULL;
		int listener;

		(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		if (filter_pair_load(&pair, &listener, &err) < 0)
			_exit(1);
		measure(best);
		_exit(0);
	}
	if (pid > 0)
		(void)waitpid(pid, NULL, 0);
}

int main(void)
{
	struct filters f = { .docker = FILTER_NULL };
	struct error err = ERROR_NULL;
	double (*best)[N_CALLS];
	int c, round, bad = 0;
	size_t i;

	if (docker_filter(&f.docker, &err) < 0 || filter_agent_builtin("agent-default", &f.agent, &err) < 0 ||
	    docker_filter(&f.yielding, &err) < 0 || filter_agent_yield("agent-default", -EBADF, &f.yielding, &err) != 0 ||
	    filter_agent_open_reporting("agent-default", -EBADF, &f.reporting, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 2;
	}
	best = mmap(NULL, CONTEXTS * sizeof(*best), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (best == MAP_FAILED)
		return 2;
	for (round = 0; round < ROUNDS; round++)
		for (c = BARE; c < CONTEXTS; c++)
			round_in_child(&f, (enum context)c, best[c]);
	printf("%-12s %8s %8s %8s %8s %8s  ours/Docker's\n", "ns per call", "bare", "Docker", "agent", "both", "reported");
	for (i = 0; i < N_CALLS; i++) {
		double ratio = best[AGENT][i] / best[DOCKER][i];

		bad |= calls[i].by_number && ratio > 1.1;
		printf("%-12s %8.1f %8.1f %8.1f %8.1f %8.1f  %.2f%s\n", calls[i].name, best[BARE][i],
		       best[DOCKER][i], best[AGENT][i], best[BOTH][i], best[REPORTED][i], ratio,
		       calls[i].by_number ? "" : "  (by argument)");
	}
	return bad;
}

/*
 * What the output relay costs: `yes | head -c N` straight, through a relay that taps every
 * byte, and through one that only moves them (past the cap). Rounds rotate, so that a busy
 * moment of the machine hits all alike; medians of the time, their ratios to the straight way, and
 * the CPU time of all processes, which other load disturbs less. Nothing passes or fails by time.
 *
 *     tests/bench/relay-cost [MEGABYTES [ROUNDS]]
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "monitor/relay.h"
#include "util/parse.h"
#include "util/str.h"

#define ROUNDS_MAX 100

enum way { STRAIGHT, TAPPED, MOVED, WAYS };
static const char *const names[WAYS] = { "straight", "tapped", "moved" };

static struct error err;
static struct relay_hub hub;
static size_t sum; /* the tap looks at every byte, as one that writes them would */

static int on_tap(void *arg, unsigned stream, const void *data, size_t len, struct error *e)
{
	const unsigned char *p = data;
	size_t i;

	if (*(enum way *)arg == MOVED)
		return RELAY_TAP_ENOUGH;
	for (i = 0; i < len; i += 64)
		sum += p[i];
	return RELAY_TAP_MORE;
}

static int on_drained(void *arg, bool whole, struct error *e)
{
	return 0;
}

static pid_t start(int in, int out, const char *const argv[])
{
	pid_t pid = fork();

	if (pid == 0) {
		(void)dup2(in, 0);
		(void)dup2(out, 1);
		(void)signal(SIGPIPE, SIG_DFL);
		(void)execvp(argv[0], (char *const *)argv);
		_exit(127);
	}
	return pid;
}

static int relay_it(struct stdio_relay *fds, enum way way)
{
	static const struct relay_ops ops = { .tap = on_tap, .drained = on_drained };
	struct evloop loop;
	struct relay relay;
	int r = evloop_init(&loop, &err);

	hub.loop = &loop;
	relay_init(&relay, &hub, &ops, &way);
	if (r == 0)
		r = relay_add(&relay, 1, &fds->inside[1], &fds->engine[1], true, &err);
	while (r == 0 && relay_is_open(&relay))
		r = evloop_step(&loop, -1, &err);
	relay_done(&relay);
	evloop_done(&loop);
	return r;
}

/* Seconds, negative on failure. */
static double round_of(enum way way, const char *bytes)
{
	const char *const yes[] = { "yes", NULL }, *const head[] = { "head", "-c", bytes, NULL };
	struct stdio_relay fds = STDIO_RELAY_NULL;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), proc = open("/proc", O_PATH | O_CLOEXEC);
	int p[2], status = -1, r = 0;
	pid_t reader, writer;
	uint64_t begin;

	if (null < 0 || proc < 0 || pipe2(p, O_CLOEXEC) < 0)
		return -1;
	begin = ev_now(CLOCK_MONOTONIC);
	reader = start(p[0], null, head);
	if (way != STRAIGHT)
		r = stdio_relay_make((const int[]){ -1, p[1], -1 }, false, proc, &fds, &err);
	writer = start(null, way == STRAIGHT ? p[1] : fds.process[1], yes);
	(void)close(p[0]);
	(void)close(p[1]);
	stdio_relay_close_process(&fds);
	if (r == 0 && way != STRAIGHT)
		r = relay_it(&fds, way);
	if (waitpid(reader, &status, 0) < 0 || status != 0 || waitpid(writer, NULL, 0) < 0 || r < 0)
		return -1;
	stdio_relay_done(&fds);
	(void)close(null);
	(void)close(proc);
	return (double)(ev_now(CLOCK_MONOTONIC) - begin) / 1e9;
}

/* CPU seconds of us and of what we waited for. */
static double cpu(void)
{
	double total = 0;
	int who;

	for (who = RUSAGE_CHILDREN; who <= RUSAGE_SELF; who++) {
		struct rusage u;

		if (getrusage(who, &u) == 0)
			total += (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
				 (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
	}
	return total;
}

static int compare(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

int main(int argc, char **argv)
{
	static double times[WAYS][ROUNDS_MAX], cpus[WAYS][ROUNDS_MAX];
	uint64_t megabytes = 1024, rounds = 9, i;
	char bytes[32];
	int w;

	if ((argc > 1 && parse_u64(argv[1], &megabytes) < 0) || (argc > 2 && parse_u64(argv[2], &rounds) < 0) ||
	    rounds == 0 || rounds > ROUNDS_MAX || argc > 3) {
		(void)fprintf(stderr, "usage: relay_cost [MEGABYTES [ROUNDS]]\n");
		return 2;
	}
	(void)signal(SIGPIPE, SIG_IGN);
	(void)snprintf(bytes, sizeof(bytes), "%llu", (unsigned long long)megabytes << 20);
	for (i = 0; i < rounds; i++)
		for (w = 0; w < WAYS; w++) {
			enum way way = (enum way)((i + (uint64_t)w) % WAYS);
			double before = cpu();

			times[way][i] = round_of(way, bytes);
			cpus[way][i] = cpu() - before;
			if (times[way][i] < 0) {
				(void)fprintf(stderr, "relay_cost: %s: failed: %s\n", names[way], err.text);
				return 1;
			}
		}
	for (w = 0; w < WAYS; w++) {
		qsort(times[w], rounds, sizeof(times[w][0]), compare);
		qsort(cpus[w], rounds, sizeof(cpus[w][0]), compare);
		printf("%-10s %8.3f s   %6.0f MiB/s   ratio %.3f   CPU of all %.3f s\n", names[w], times[w][rounds / 2],
		       (double)megabytes / times[w][rounds / 2], times[w][rounds / 2] / times[STRAIGHT][rounds / 2],
		       cpus[w][rounds / 2]);
	}
	return 0;
}

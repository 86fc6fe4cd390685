/*
 * What the exec audit costs a spawn (posix_spawn of the smallest program, and wait): without any
 * program loaded, loaded but for another cgroup, recorded with a reader that works beside it,
 * and recorded with a reader that is woken for every record. The best
 * and the median of short batches that take turns, and their ratios to none: the best is what
 * a quiet machine has. Root. Nothing passes or fails by time.
 */
#include <spawn.h>
#include <time.h>

#include "../unit/audit_trace_world.h"

#define ROUNDS 10
#define TURNS 6
#define SAMPLES (ROUNDS * TURNS)
#define BATCH 60

enum way { NONE, OTHER, RECORDED, WOKEN, WAYS };
static const char *const names[] = { "no audit", "another cgroup's", "recorded", "recorded, woken always" };

static char tiny[64];
static double taken[WAYS][SAMPLES];

static int spawn_batch(void *arg)
{
	char *argv[] = { "tiny", NULL }, *envp[] = { NULL };
	uint64_t begun = 0;
	pid_t pid;
	int i;

	for (i = 0; i < BATCH + 20; i++) {
		if (i == 20)
			begun = ev_now(CLOCK_MONOTONIC);
		if (posix_spawn(&pid, tiny, NULL, NULL, argv, envp) != 0)
			return 1;
		(void)world_wait(pid);
	}
	*(double *)arg = (double)(ev_now(CLOCK_MONOTONIC) - begun) / 1000 / BATCH;
	return 0;
}

static int ignore(void *userdata, const struct audit_event *event, const struct audit_trace_record *rec,
		  struct error *err)
{
	return 0;
}

static pid_t start_reader(const struct world_container *c)
{
	static struct audit_trace_reader reader;
	struct evloop loop = EVLOOP_NULL;
	struct error err = ERROR_NULL;
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	if (audit_trace_reader_open(&reader, c->bound.ring, c->bound.counters, ignore, NULL, &err) < 0 ||
	    evloop_init(&loop, &err) < 0 || audit_trace_reader_add(&reader, &loop, c->bound.ring, &err) < 0)
		_exit(1);
	_exit(evloop_run(&loop, &err) < 0);
}

/* The time is measured by the child, inside the cgroup. */
static bool measure(struct world *w, enum way way, double *ret)
{
	static double *shared;
	struct world_container c;
	struct audit_trace_request req = { .class = AUDIT_RING_NORMAL, .wake_ns = way == WOKEN ? 1 : 0 };
	pid_t reader = 0;
	bool good;

	if (!shared)
		shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED || !world_cgroup(w, NULL, "bench", &c))
		return false;
	if (way >= RECORDED) {
		if (world_bind(w, &c, req) < 0)
			return false;
		reader = start_reader(&c);
	}
	good = world_wait(world_spawn(&c, spawn_batch, shared)) == 0;
	if (reader > 0) {
		(void)kill(reader, SIGKILL);
		(void)world_wait(reader);
	}
	world_release(w, &c);
	*ret = *shared;
	return good;
}

static int by_size(const void *a, const void *b)
{
	double d = *(const double *)a - *(const double *)b;

	return d < 0 ? -1 : d > 0;
}

static bool measure_all(struct world *w, int round)
{
	int turn, way;

	for (turn = 0; turn < TURNS; turn++)
		if (!measure(w, NONE, &taken[NONE][round * TURNS + turn]))
			return false;
	if (audit_trace_prepare(w->bpffs, 8, &w->err) < 0 ||
	    audit_trace_open(w->bpffs, &w->set, &w->err) < 0)
		return false;
	for (turn = 0; turn < TURNS; turn++) {
		(void)audit_trace_refill(&w->set, AUDIT_RING_NORMAL, 3, NULL, &w->err);
		for (way = OTHER; way < WAYS; way++)
			if (!measure(w, (enum way)way, &taken[way][round * TURNS + turn]))
				return false;
	}
	return true;
}

int main(void)
{
	static struct world w;
	const char *why = "";
	int way, round;

	for (round = 0; round < ROUNDS; round++) {
		if (!world_begin(&w, &why)) {
			fprintf(stderr, "%s\n", why);
			return 2;
		}
		if (round == 0 && (world_tiny(tiny, sizeof(tiny)) < 0 || dup2(open("/dev/null", O_WRONLY), 9) < 0))
			return 2;
		if (!measure_all(&w, round)) {
			fprintf(stderr, "%s\n", w.err.text);
			world_end(&w);
			return 2;
		}
		world_end(&w);
	}
	(void)unlink(tiny);
	printf("%-24s %9s %7s %9s %7s\n", "us a spawn", "best", "ratio", "median", "ratio");
	for (way = NONE; way < WAYS; way++) {
		qsort(taken[way], SAMPLES, sizeof(double), by_size);
		printf("%-24s %9.1f %7.3f %9.1f %7.3f\n", names[way], taken[way][0],
		       taken[way][0] / taken[NONE][0], taken[way][SAMPLES / 2],
		       taken[way][SAMPLES / 2] / taken[NONE][SAMPLES / 2]);
	}
	return 0;
}

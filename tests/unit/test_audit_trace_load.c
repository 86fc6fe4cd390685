/*
 * The exec audit under load: many programs, a reader that stands still, programs that must not
 * run unrecorded, containers beside each other, and a reader without any privilege.
 */
#include <grp.h>
#include <linux/capability.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "audit_trace_world.h"
#include "util/evloop.h"

static struct world world;
static char tiny[64]; /* a program of a few instructions: it writes a byte to descriptor 9 and ends */
static int marks = -EBADF; /* the file that descriptor 9 is */

static long marks_taken(void)
{
	struct stat st;

	if (fstat(marks, &st) < 0 || ftruncate(marks, 0) < 0)
		return -1;
	return (long)st.st_size;
}

/* Runs the tiny program so many times, one after the other. Its result: how many were killed. */
static int spawn_many(void *arg)
{
	char *argv[] = { "tiny", NULL }, *envp[] = { NULL };
	int i, count = *(int *)arg, killed = 0;
	pid_t pid;

	if (dup2(marks, 9) < 0)
		return 125;
	for (i = 0; i < count; i++) {
		if (posix_spawn(&pid, tiny, NULL, NULL, argv, envp) != 0)
			return 126;
		killed += WIFSIGNALED(world_wait(pid));
	}
	return killed != 0;
}

static void tidy(struct world_container *c)
{
	world_release(&world, c);
}

static int read_loop(struct evloop *loop, pid_t *pids, size_t n, struct error *err)
{
	size_t left = n, i;
	int r = 0, status;

	while (left > 0 && r == 0) {
		r = evloop_step(loop, 200, err);
		for (i = 0; i < n && r == 0; i++) {
			if (pids[i] <= 0 || waitpid(pids[i], &status, WNOHANG) != pids[i])
				continue;
			pids[i] = 0;
			left--;
		}
	}
	return r;
}

/* 20,000 by two at a time, read on a loop as the monitor reads. */
static void test_many(enum audit_ring_class class, int each)
{
	struct world_container c;
	struct evloop loop = EVLOOP_NULL;
	struct error *err = &world.err;
	pid_t pids[2];
	size_t i, twice = 0, next = 0, late, latest = 0;
	static unsigned char seen[2 * WORLD_RECORDS];

	if (!ok(world_cgroup(&world, NULL, "many", &c) &&
			world_bind(&world, &c, (struct audit_trace_request){ .class = class }) == 0 &&
			evloop_init(&loop, err) == 0 &&
			audit_trace_reader_add(&c.reader, &loop, c.bound.ring, err) == 0,
		"many: bound and on a loop")) {
		printf("# %s\n", err->text);
		return;
	}
	for (i = 0; i < 2; i++)
		pids[i] = world_spawn(&c, spawn_many, &each);
	is_int(read_loop(&loop, pids, 2, err), 0, "many: read on a loop");
	if (!is_int(world_drain(&c.reader, err), 0, "received and lost are all there were"))
		printf("# %s\n", err->text);
	printf("# ring of %u KiB: %llu executed, %llu ended, %llu lost\n", audit_ring_bytes(class) / 1024,
	       (unsigned long long)c.reader.totals.execs, (unsigned long long)c.reader.totals.exits,
	       (unsigned long long)c.reader.totals.lost);
	is_int(marks_taken(), 2L * each, "all ran");
	is_int((long long)(c.reader.totals.received + c.reader.totals.lost), 4LL * each,
	       "each is recorded twice, its exec and its end, or counted as lost");
	is_int((long long)c.lost_told, (long long)c.reader.totals.lost, "and the lost ones were told");
	memset(seen, 0, sizeof(seen));
	for (i = 0; i < c.n; i++) {
		if (c.records[i].seq >= sizeof(seen) || seen[c.records[i].seq]++)
			twice++;
		if (c.records[i].seq >= next)
			next = c.records[i].seq + 1;
		/* Numbers that are taken and not yet seen. */
		late = next - (i + 1);
		if (late > latest)
			latest = late;
	}
	is_int((long long)twice, 0, "no number twice");
	/*
	 * A number is taken a moment before the place in the ring, and a virtual CPU may stand still
	 * between the two for long. But each of the two chains does one thing at a time.
	 */
	ok(latest <= 1 + c.reader.totals.lost, "in order: at most one record is behind at any time");
	audit_trace_reader_done(&c.reader, &loop);
	evloop_done(&loop);
	tidy(&c);
}

/* Nobody reads. */
static void test_stalled(bool die)
{
	struct audit_trace_request req = { .class = AUDIT_RING_SMALL, .die = die };
	int count = 1000;
	struct world_container c;
	long ran;

	if (!ok(world_cgroup(&world, NULL, "stalled", &c) && world_bind(&world, &c, req) == 0,
		"stalled: bound"))
		return;
	is_int(WEXITSTATUS(world_wait(world_spawn(&c, spawn_many, &count))), die,
	       die ? "stalled: some are killed" : "stalled: none is killed");
	ran = marks_taken();
	is_int(world_drain(&c.reader, &world.err), 0, "stalled: nothing is unaccounted for");
	printf("# %ld of %d ran, %llu recorded, %llu records lost, %llu killed\n", ran, count,
	       (unsigned long long)c.reader.totals.execs, (unsigned long long)c.reader.totals.lost,
	       (unsigned long long)c.reader.totals.killed);
	ok(c.reader.totals.lost > 100, "records were lost");
	is_int((long long)c.lost_told, (long long)c.reader.totals.lost, "and told");
	if (die) {
		is_int(ran, (long long)c.reader.totals.execs, "what ran is what is recorded");
		is_int(ran + (long)c.reader.totals.killed, count, "the rest was killed before it did anything");
		ok(strstr(c.lost_detail, "killed before") != NULL, "and the event says so");
		/* Room again: the same container goes on. */
		count = 10;
		is_int(WEXITSTATUS(world_wait(world_spawn(&c, spawn_many, &count))), 0, "with room they run");
		is_int(marks_taken(), 10, "all");
	} else {
		is_int(ran, count, "all ran");
	}
	tidy(&c);
}

static void test_two(void)
{
	struct world_container a, b, *c;
	int count = 500;
	pid_t pids[2];
	size_t i, foreign = 0;

	if (!ok(world_cgroup(&world, NULL, "a", &a) && world_cgroup(&world, NULL, "b", &b) &&
			world_bind(&world, &a, (struct audit_trace_request){ .class = AUDIT_RING_LARGE }) == 0 &&
			world_bind(&world, &b, (struct audit_trace_request){ .class = AUDIT_RING_LARGE }) == 0,
		"two containers: bound"))
		return;
	ok(a.bound.slot != b.bound.slot && a.bound.cgroup != b.bound.cgroup, "each has its own");
	pids[0] = world_spawn(&a, spawn_many, &count);
	pids[1] = world_spawn(&b, spawn_many, &count);
	(void)world_wait(pids[0]);
	(void)world_wait(pids[1]);
	is_int(world_drain(&a.reader, &world.err), 0, "drain the one");
	is_int(world_drain(&b.reader, &world.err), 0, "drain the other");
	for (c = &a; c; c = c == &a ? &b : NULL) {
		is_int((long long)c->n, 1000, "its own records and no others");
		for (i = 0; i < c->n; i++)
			if (c->records[i].type == AUDIT_REC_EXEC)
				foreign += c->records[i].host_ppid != (uint32_t)(c == &a ? pids[0] : pids[1]);
	}
	is_int((long long)foreign, 0, "all of its own processes");
	(void)marks_taken();
	tidy(&a);
	tidy(&b);
}

/* What the monitor is: another user, no capabilities, no way back. */
static int become_nobody(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 }, { 0 } };
	int i;

	for (i = 0; i <= 40; i++)
		(void)prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
	if (setgroups(0, NULL) < 0 || setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || syscall(SYS_capset, &head, none) < 0)
		return -1;
	return 0;
}

struct unprivileged {
	struct world_container *c;
	int go, done;
};

static int read_unprivileged(const struct unprivileged *u)
{
	struct evloop loop = EVLOOP_NULL;
	struct error err = ERROR_NULL;
	struct world_container *c = u->c;
	char byte = 0;
	void *page;

	if (become_nobody() < 0)
		return 10;
	/* Only the descriptors: opened, mapped and watched without any privilege. */
	if (audit_trace_reader_open(&c->reader, c->bound.ring, c->bound.counters, world_collect, c, &err) < 0)
		return 11;
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, c->bound.counters, 0);
	if (page != MAP_FAILED)
		return 12;
	if (evloop_init(&loop, &err) < 0 || audit_trace_reader_add(&c->reader, &loop, c->bound.ring, &err) < 0)
		return 13;
	if (write(u->go, &byte, 1) != 1)
		return 14;
	while (c->reader.totals.received < 200)
		if (evloop_step(&loop, 5000, &err) < 0)
			return 15;
	return world_drain(&c->reader, &err) < 0 || c->reader.totals.execs != 100 ? 16 : 0;
}

static void test_unprivileged(void)
{
	struct world_container c;
	struct unprivileged u = { .c = &c };
	int go[2], count = 100;
	char byte;
	pid_t reader;

	if (!ok(world_cgroup(&world, NULL, "u", &c) && pipe2(go, O_CLOEXEC) == 0 &&
			world_bind(&world, &c, (struct audit_trace_request){ .class = AUDIT_RING_NORMAL }) == 0,
		"unprivileged: bound"))
		return;
	audit_trace_reader_done(&c.reader, NULL);
	c.reader.fn = NULL;
	u.go = go[1];
	reader = fork();
	if (reader == 0)
		_exit(read_unprivileged(&u));
	(void)close(go[1]);
	if (ok(read(go[0], &byte, 1) == 1, "a reader without privileges is ready"))
		(void)world_wait(world_spawn(&c, spawn_many, &count));
	is_int(WEXITSTATUS(world_wait(reader)), 0, "it reads everything, and cannot change the counters");
	(void)marks_taken();
	(void)close(go[0]);
	tidy(&c);
}

/* How often the kernel wakes the reader, and that it does at all. */
static void test_wakeups(void)
{
	struct world_container c;
	struct evloop loop = EVLOOP_NULL;
	struct error *err = &world.err;
	uint64_t begun;
	int i, count = 1;

	if (!ok(world_cgroup(&world, NULL, "wake", &c) && evloop_init(&loop, err) == 0 &&
			world_bind(&world, &c, (struct audit_trace_request){ .class = AUDIT_RING_NORMAL }) == 0 &&
			audit_trace_reader_add(&c.reader, &loop, c.bound.ring, err) == 0,
		"wake-ups: bound"))
		return;
	for (i = 0; i < 3; i++) {
		(void)world_wait(world_spawn(&c, spawn_many, &count));
		begun = ev_now(CLOCK_MONOTONIC);
		while (c.reader.totals.received < 2u * (unsigned)(i + 1) &&
		       ev_now(CLOCK_MONOTONIC) - begun < 5000000000u)
			(void)evloop_step(&loop, 1000, err);
		printf("# all records %llu ms after the end\n",
		       (unsigned long long)(ev_now(CLOCK_MONOTONIC) - begun) / 1000000);
		is_int((long long)c.reader.totals.received, 2LL * (i + 1), "a single program is told soon");
		/* Until it is quiet: no timer, no event. */
		for (begun = 0; begun < 20 && c.reader.timer.armed; begun++)
			(void)evloop_step(&loop, 1000, err);
		ok(!c.reader.timer.armed, "then nothing wakes an idle reader");
	}
	(void)marks_taken();
	audit_trace_reader_done(&c.reader, &loop);
	evloop_done(&loop);
	tidy(&c);
}

int main(void)
{
	struct world_container first;
	const char *why;

	if (!world_begin(&world, &why))
		return TAP_SKIP_ALL(why);
	TAP_BEGIN();
	marks = world_tiny(tiny, sizeof(tiny));
	if (marks < 0) {
		world_end(&world);
		return TAP_SKIP_ALL("the smallest program is written for x86-64");
	}
	if (world_ready(&world, 4, &first, AUDIT_RING_NORMAL, false)) {
		tidy(&first);
		test_many(AUDIT_RING_NORMAL, 10000);
		test_stalled(false);
		test_stalled(true);
		test_two();
		test_unprivileged();
		test_wakeups();
	}
	(void)unlink(tiny);
	world_end(&world);
	return TAP_END();
}

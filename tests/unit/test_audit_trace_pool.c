/*
 * The pool of rings: its books by themselves, and on the kernel who gets which ring, what
 * the next one finds in it, and what is left of sets that nobody uses.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "audit/audit_kernel.skel.h"
#include "audit_trace_world.h"
#include "util/evloop.h"

static struct world world;

static void test_books(void)
{
	struct audit_book *b = calloc(1, sizeof(*b));
	struct audit_slot_view v;
	uint32_t slot, other, i;

	is_int(audit_pool_take_ready(b, AUDIT_RING_NORMAL, 1), AUDIT_SLOT_NONE, "books: nothing is ready at first");
	slot = audit_pool_take_for_making(b, AUDIT_RING_NORMAL, 1);
	audit_pool_view(b, slot, &v);
	is_int(v.state, AUDIT_SLOT_MAKING, "an empty slot is taken for making");
	is_int(v.generation, 1, "with a new generation");
	ok(!audit_pool_move(b, slot, 2, AUDIT_SLOT_MAKING, AUDIT_SLOT_READY, 0, 2), "not with another generation");
	ok(!audit_pool_move(b, slot, 1, AUDIT_SLOT_TAKEN, AUDIT_SLOT_READY, 0, 2), "not from another state");
	ok(audit_pool_move(b, slot, 1, AUDIT_SLOT_MAKING, AUDIT_SLOT_READY, 0, 2), "but so it is ready");
	is_int(audit_pool_count(b, AUDIT_SLOT_READY, AUDIT_RING_NORMAL), 1, "and counted");
	is_int(audit_pool_take_ready(b, AUDIT_RING_LARGE, 3), AUDIT_SLOT_NONE, "not for another class");
	is_int(audit_pool_take_ready(b, AUDIT_RING_NORMAL, 3), slot, "taken");
	is_int(audit_pool_take_ready(b, AUDIT_RING_NORMAL, 3), AUDIT_SLOT_NONE, "once");
	ok(audit_pool_move(b, slot, 1, AUDIT_SLOT_TAKEN, AUDIT_SLOT_BOUND, 77, 4), "bound");
	audit_pool_view(b, slot, &v);
	is_int((long long)v.cgroup, 77, "to a cgroup");
	is_int(audit_pool_expire(b, 4 + 2 * AUDIT_SLOT_STALE_NS), 0, "that lasts");
	other = audit_pool_take_for_making(b, AUDIT_RING_HUGE, 5);
	ok(other != slot, "another one is made meanwhile");
	is_int(audit_pool_expire(b, 5 + AUDIT_SLOT_STALE_NS - 1), 0, "which may take its time");
	is_int(audit_pool_expire(b, 5 + AUDIT_SLOT_STALE_NS), 1, "but not for ever");
	ok(!audit_pool_move(b, other, 1, AUDIT_SLOT_MAKING, AUDIT_SLOT_READY, 0, 6), "who comes late has lost it");
	ok(audit_pool_move(b, slot, 1, AUDIT_SLOT_BOUND, AUDIT_SLOT_USED, 0, 7), "used");
	is_int(audit_pool_take_ready(b, AUDIT_RING_NORMAL, 8), AUDIT_SLOT_NONE, "a used ring is not ready");
	is_int(audit_pool_take_for_making(b, AUDIT_RING_SMALL, 9), slot, "but can be made anew");
	audit_pool_view(b, slot, &v);
	is_int(v.generation, 2, "with another generation");
	is_int(v.class, AUDIT_RING_SMALL, "of another class");
	for (i = 1; audit_pool_take_for_making(b, AUDIT_RING_NORMAL, 10) != AUDIT_SLOT_NONE; i++)
		;
	is_int(i, AUDIT_SLOTS_MAX, "there is an end to them");
	free(b);
}

static struct audit_slot_view view_of(const struct world_container *c)
{
	struct audit_slot_view v;

	audit_pool_view(world.set.book, c->bound.slot, &v);
	return v;
}

static bool bound(struct world_container *c, const char *name, enum audit_ring_class class)
{
	bool good = world_cgroup(&world, NULL, name, c) &&
		    world_bind(&world, c, (struct audit_trace_request){ .class = class }) == 0;

	if (!ok(good, "%s: bound", name))
		printf("# %s\n", world.err.text);
	return good;
}

static uint32_t ready(void)
{
	return audit_pool_count(world.set.book, AUDIT_SLOT_READY, AUDIT_RING_NORMAL);
}

/* More containers than rings lie ready: it works all the same, and is counted. */
static void test_growth(void)
{
	struct world_container c[4];
	uint64_t took[4], grown = world.set.book->grown;
	char name[16];
	int i;

	is_int(ready(), 2, "as many are ready as were asked for");
	for (i = 0; i < 4; i++) {
		uint64_t begun = ev_now(CLOCK_MONOTONIC);

		(void)snprintf(name, sizeof(name), "grow%d", i);
		if (!bound(&c[i], name, AUDIT_RING_NORMAL))
			return;
		took[i] = ev_now(CLOCK_MONOTONIC) - begun;
		is_int(c[i].bound.grown, i >= 2, i < 2 ? "from the pool" : "made on the way");
	}
	printf("# bound in %llu, %llu us from the pool; in %llu, %llu us without\n",
	       (unsigned long long)took[0] / 1000, (unsigned long long)took[1] / 1000,
	       (unsigned long long)took[2] / 1000, (unsigned long long)took[3] / 1000);
	is_int((long long)(world.set.book->grown - grown), 2, "those are counted");
	is_int(ready(), 0, "none is left");
	world_run(&c[3], "exit 0");
	is_int(world_drain(&c[3].reader, &world.err), 0, "the last one works too");
	is_int((long long)c[3].n, 2, "and records");
	for (i = 0; i < 4; i++)
		world_release(&world, &c[i]);
	is_int(audit_trace_refill(&world.set, AUDIT_RING_NORMAL, 2, NULL, &world.err), 0, "refill");
	is_int(ready(), 2, "as many as before");
	for (i = 0; i < 4; i++)
		is_int(audit_pool_count(world.set.book, AUDIT_SLOT_USED, (enum audit_ring_class)i), 0,
		       "no used ring keeps memory");
}

static bool finds(const char *data, size_t size, const char *word)
{
	return memmem(data, size, word, strlen(word)) != NULL;
}

/* What the next container's reader can see, and what the reader before still sees. */
static void test_tenants(void)
{
	struct world_container a, b;
	const char *data, *next;
	uint32_t slot, generation;
	uint64_t produced;
	size_t size;

	if (!bound(&a, "tenant-a", AUDIT_RING_NORMAL))
		return;
	world_run(&a, ": secret-of-a; exit 0");
	size = a.reader.ring.size;
	data = mmap(NULL, size, PROT_READ, MAP_SHARED, a.bound.ring, 2 * (off_t)a.reader.ring.page);
	ok(finds(data, size, "secret-of-a"), "tenants: what it ran is in its ring");
	is_int(world_drain(&a.reader, &world.err), 0, "drained");
	ok(finds(data, size, "secret-of-a"), "and stays there after it was read");
	slot = a.bound.slot;
	generation = a.bound.generation;
	/* Released and refilled while the reader before still has its descriptors and mappings. */
	is_int(audit_trace_release(&world.set, a.bound.cgroup, slot, generation, NULL, &world.err), 0, "released");
	is_int(audit_trace_refill(&world.set, AUDIT_RING_NORMAL, 2, NULL, &world.err), 0, "refilled");
	if (!bound(&b, "tenant-b", AUDIT_RING_NORMAL))
		return;
	is_int(b.bound.slot, slot, "the next one has the same slot");
	ok(b.bound.generation != generation, "in another generation");
	next = mmap(NULL, size, PROT_READ, MAP_SHARED, b.bound.ring, 2 * (off_t)b.reader.ring.page);
	ok(!finds(next, size, "secret-of-a"), "and nothing of the one before");
	is_int((long long)b.reader.counters->seq, 0, "nor its counts");
	produced = *a.reader.ring.produced;
	world_run(&b, ": secret-of-b; exit 0");
	world_run(&a, ": late; exit 0");
	is_int((long long)*a.reader.ring.produced, (long long)produced, "the reader before gets nothing more");
	ok(!finds(data, size, "secret-of-b") && !finds(data, size, "late"), "of whomsoever");
	is_int(world_drain(&b.reader, &world.err), 0, "the next one's records");
	is_int((long long)b.n, 2, "are its own");
	ok(finds(next, size, "secret-of-b"), "and are in its ring");
	is_int(audit_trace_release(&world.set, a.bound.cgroup, slot, generation, NULL, &world.err), 0,
	       "releasing again");
	is_int(view_of(&b).state, AUDIT_SLOT_BOUND, "does not touch the new owner");
	world_release(&world, &a);
	world_release(&world, &b);
}

static void test_refusals(void)
{
	struct audit_trace_request req = { .class = AUDIT_RING_NORMAL };
	struct audit_trace_bound second = AUDIT_TRACE_BOUND_NULL;
	struct world_container a, below;
	struct audit_counters last;

	if (!bound(&a, "busy", AUDIT_RING_NORMAL))
		return;
	req.cgroup = a.dir;
	is_int(audit_trace_bind(&world.set, &req, &second, &world.err), -EBUSY, "busy: not twice");
	(void)world_cgroup(&world, a.path, "below", &below);
	req.cgroup = below.dir;
	is_int(audit_trace_bind(&world.set, &req, &second, &world.err), -EBUSY, "and nothing below");
	printf("# %s\n", world.err.text);
	world_release(&world, &below);
	is_int(audit_trace_prove(world.bpffs, a.bound.cgroup, a.bound.slot, a.bound.generation, &world.err), -EIO,
	       "nothing was recorded: no proof");
	world_run(&a, "exit 0");
	is_int(audit_trace_prove(world.bpffs, a.bound.cgroup, a.bound.slot, a.bound.generation, &world.err), 0,
	       "recorded: proof");
	is_int(audit_trace_prove(world.bpffs, a.bound.cgroup, a.bound.slot, a.bound.generation + 1, &world.err),
	       -EIO, "not of another generation");
	is_int(audit_trace_release(&world.set, a.bound.cgroup, a.bound.slot, a.bound.generation, &last, &world.err),
	       0, "released");
	is_int((long long)last.seq, 2, "with its last counts");
	world_release(&world, &a);
	is_int(audit_trace_refill(&world.set, AUDIT_RING_NORMAL, 2, NULL, &world.err), 0, "refill");
}

/* Who should have released it died; the cgroup is gone. */
static void test_abandoned(void)
{
	struct world_container a, b;

	if (!bound(&a, "gone", AUDIT_RING_NORMAL) || !bound(&b, "there", AUDIT_RING_NORMAL))
		return;
	is_int(rmdir(a.path), 0, "abandoned: the cgroup is removed");
	is_int(audit_trace_refill(&world.set, AUDIT_RING_NORMAL, 2, world.cgroup2, &world.err), 0, "refill");
	ok(view_of(&a).state != AUDIT_SLOT_BOUND || view_of(&a).generation != a.bound.generation,
	   "what it had is free");
	is_int(view_of(&b).state, AUDIT_SLOT_BOUND, "what exists keeps its own");
	world_release(&world, &a);
	world_release(&world, &b);
	is_int(audit_trace_refill(&world.set, AUDIT_RING_NORMAL, 2, NULL, &world.err), 0, "refill");
}

static bool exists(const char *name)
{
	char path[128];

	(void)snprintf(path, sizeof(path), "%s/%s", world.bpffs, name);
	return access(path, F_OK) == 0;
}

/* Another version's pins are what we make of ours by another name. */
static void test_versions(void)
{
	static const char old[] = "exec-0123456789abcdef";
	struct world_container c;
	char command[300];

	if (!bound(&c, "old", AUDIT_RING_NORMAL))
		return;
	(void)snprintf(command, sizeof(command), "mv %s/exec-* %s/%s && touch -d \"2 days ago\" %s/%s",
		       world.bpffs, world.bpffs, old, world.bpffs, old);
	is_int(world_run_outside(command), 0, "versions: there is another one");
	is_int(audit_trace_prepare(world.bpffs, 1, &world.err), 0, "prepare beside it");
	ok(exists(old), "it is open, and stays");
	(void)world_drain(&c.reader, &world.err);
	audit_trace_close(&world.set);
	/* Without a removal there is nothing to do for a set that is in place. */
	(void)snprintf(command, sizeof(command), "rm -r $(ls -d %s/exec-* | grep -v %s)", world.bpffs, old);
	is_int(world_run_outside(command), 0, "without ours");
	is_int(audit_trace_prepare(world.bpffs, 1, &world.err), 0, "prepare");
	ok(exists(old), "a container is bound in it, and it stays");
	world_forget(&c);
	world_run(&c, "exit 0");
	(void)world_drain(&c.reader, &world.err);
	is_int((long long)c.n, 2, "and goes on recording");
	/* End the binding through the old set. */
	(void)snprintf(command, sizeof(command), "rm -r $(ls -d %s/exec-* | grep -v %s) && mv %s/%s %s/exec-" AUDIT_KERNEL_BUILD,
		       world.bpffs, old, world.bpffs, old, world.bpffs);
	is_int(world_run_outside(command), 0, "back under its name");
	is_int(audit_trace_open(world.bpffs, &world.set, &world.err), 0, "open");
	world_release(&world, &c);
	audit_trace_close(&world.set);
	(void)snprintf(command, sizeof(command), "mv %s/exec-* %s/%s && touch -d \"2 days ago\" %s/%s",
		       world.bpffs, world.bpffs, old, world.bpffs, old);
	is_int(world_run_outside(command), 0, "another version, not in use");
	(void)snprintf(command, sizeof(command), "mkdir %s/exec-fedcba9876543210", world.bpffs);
	is_int(world_run_outside(command), 0, "and one that is young");
	is_int(audit_trace_open(world.bpffs, &world.set, &world.err), AUDIT_TRACE_E_UNPREPARED,
	       "without ours: not prepared");
	is_int(audit_trace_prepare(world.bpffs, 1, &world.err), 0, "prepare");
	ok(!exists(old), "the old one is removed");
	ok(exists("exec-fedcba9876543210"), "the young one is not");
	is_int(audit_trace_open(world.bpffs, &world.set, &world.err), 0, "ours is there");
}

/* Somebody removes the pins: what is bound goes on as long as its container. */
static void test_pins_removed(void)
{
	struct world_container c;
	char command[200];

	if (!bound(&c, "pins", AUDIT_RING_NORMAL))
		return;
	audit_trace_close(&world.set);
	(void)snprintf(command, sizeof(command), "rm -r %s/exec-*", world.bpffs);
	is_int(world_run_outside(command), 0, "pins: removed");
	world_run(&c, "exit 0");
	is_int(world_drain(&c.reader, &world.err), 0, "drain");
	is_int((long long)c.n, 2, "programs are recorded all the same");
	audit_trace_reader_done(&c.reader, NULL);
	c.reader.fn = NULL;
	c.bound.cgroup = 0;
	world_release(&world, &c);
}

/* In a process of its own, when few are left. */
static void test_aside(void)
{
	struct world_container c[6];
	char name[16];
	uint64_t begun;
	int i;

	is_int(audit_trace_refill(&world.set, AUDIT_RING_NORMAL, 0, NULL, &world.err), 0, "aside: refill by need");
	is_int(ready(), AUDIT_TRACE_POOL, "what is kept ready");
	is_int(audit_trace_refill_aside(&world.set, NULL, &world.err), 0, "nothing to do");
	for (i = 0; i < 6; i++) {
		(void)snprintf(name, sizeof(name), "aside%d", i);
		if (!bound(&c[i], name, AUDIT_RING_NORMAL))
			return;
	}
	is_int(ready(), AUDIT_TRACE_POOL - 6, "few are left");
	begun = ev_now(CLOCK_MONOTONIC);
	is_int(audit_trace_refill_aside(&world.set, NULL, &world.err), 0, "a process is at it");
	printf("# started in %llu us\n", (unsigned long long)(ev_now(CLOCK_MONOTONIC) - begun) / 1000);
	for (begun = 0; begun < 6000 && ready() < AUDIT_TRACE_POOL; begun++)
		(void)usleep(10000);
	is_int(ready(), AUDIT_TRACE_POOL, "and has done it");
	for (i = 0; i < 6; i++)
		world_release(&world, &c[i]);
	is_int(audit_trace_refill(&world.set, AUDIT_RING_NORMAL, 2, NULL, &world.err), 0, "refill");
}

/* All at the same time: one makes it, the others find it. */
static void test_prepare_together(void)
{
	struct error err = ERROR_NULL;
	int bad = 0, i;
	pid_t pids[4];

	for (i = 0; i < 4; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			_exit(audit_trace_prepare(world.bpffs, 2, &err) < 0);
	}
	for (i = 0; i < 4; i++)
		bad += world_wait(pids[i]) != 0;
	is_int(bad, 0, "prepared by four at the same time");
	is_int(audit_trace_open(world.bpffs, &world.set, &world.err), 0, "open");
}

int main(void)
{
	const char *why;

	TAP_BEGIN();
	test_books();
	if (!world_begin(&world, &why)) {
		ok(true, "on the kernel # SKIP %s", why);
		return TAP_END();
	}
	is_int(audit_trace_open(world.bpffs, &world.set, &world.err), AUDIT_TRACE_E_UNPREPARED,
	       "nothing is prepared yet");
	test_prepare_together();
	if (world.set.book) {
		test_growth();
		test_tenants();
		test_refusals();
		test_abandoned();
		test_aside();
		test_versions();
		test_pins_removed();
	}
	world_end(&world);
	return TAP_END();
}

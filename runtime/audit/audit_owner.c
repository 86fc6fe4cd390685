/*
 * Owns the inheritance of numbers from parent to child. All records are needed first, since
 * a program may be recorded before the process that it begins. What a child does whose parent
 * executed nothing itself, as a subshell, stays unknown rather than guessed.
 */
#include "audit/audit_owner.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "audit/audit_value.h"

#define ITEMS_MAX ((size_t)50 * 1000 * 1000)

struct task {
	uint64_t seq, pid, start, parent;
	int64_t owner;
};

struct tasks {
	struct task *items;
	size_t count, room;
};

struct audit_owners {
	struct tasks roots; /* processes: their tasks and numbers */
	struct tasks execs;
	struct tasks table; /* the last program of each pid while they are resolved; seq 0 = free */
};

static int add(struct tasks *t, const struct task *item)
{
	struct task *more;
	size_t room;

	if (t->count == t->room) {
		room = t->room ? 2 * t->room : 64;
		if (room > ITEMS_MAX)
			return -E2BIG;
		more = realloc(t->items, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		t->items = more;
		t->room = room;
	}
	t->items[t->count++] = *item;
	return 0;
}

struct audit_owners *audit_owners_new(void)
{
	return calloc(1, sizeof(struct audit_owners));
}

struct audit_owners *audit_owners_free(struct audit_owners *o)
{
	if (!o)
		return NULL;
	free(o->roots.items);
	free(o->execs.items);
	free(o->table.items);
	free(o);
	return NULL;
}

int audit_owners_take(struct audit_owners *o, const struct audit_record *rec)
{
	struct task t = { .seq = rec->seq, .owner = -1 };
	uint64_t number;
	bool has;

	if (!rec->seq || !rec->json)
		return 0;
	has = audit_value_u64(rec->json, "process", &number);
	if (rec->type == AUDIT_START && audit_value_u64(rec->json, "pid", &t.pid)) {
		t.owner = (int64_t)MIN(number, (uint64_t)INT32_MAX); /* init's has none, or 0 */
		return add(&o->roots, &t);
	}
	if (rec->type == AUDIT_PROCESS && has && audit_value_u64(rec->json, "hostPid", &t.pid)) {
		t.owner = (int64_t)MIN(number, (uint64_t)INT32_MAX);
		return add(&o->roots, &t);
	}
	if (rec->type != AUDIT_EXEC)
		return 0;
	(void)audit_value_u64(rec->json, "hostPid", &t.pid);
	(void)audit_value_u64(rec->json, "start", &t.start);
	(void)audit_value_u64(rec->json, "hostParent", &t.parent);
	if (has)
		t.owner = (int64_t)MIN(number, (uint64_t)INT32_MAX);
	return add(&o->execs, &t);
}

static struct task *place_of(const struct tasks *table, uint64_t pid)
{
	size_t i = (size_t)(pid * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (table->room - 1);

	while (table->items[i].seq && table->items[i].pid != pid)
		i = (i + 1) & (table->room - 1);
	return &table->items[i];
}

/* The process that this task began: of several with its pid, which is used again, the nearest. */
static int64_t root_of(const struct tasks *roots, const struct task *t)
{
	uint64_t distance, least = UINT64_MAX;
	int64_t owner = -1;
	size_t i;

	for (i = 0; i < roots->count; i++) {
		if (roots->items[i].pid != t->pid)
			continue;
		distance = roots->items[i].seq > t->seq ? roots->items[i].seq - t->seq : t->seq - roots->items[i].seq;
		if (distance < least) {
			least = distance;
			owner = roots->items[i].owner;
		}
	}
	return owner;
}

int audit_owners_resolve(struct audit_owners *o)
{
	struct task *t, *before, *parent;
	size_t i, room = 64;

	while (room < 2 * o->execs.count)
		room *= 2;
	o->table.items = calloc(room, sizeof(*o->table.items));
	if (!o->table.items)
		return -ENOMEM;
	o->table.room = room;
	for (i = 0; i < o->execs.count; i++) {
		t = &o->execs.items[i];
		before = place_of(&o->table, t->pid);
		if (t->owner < 0 && before->seq && before->start == t->start)
			t->owner = before->owner; /* the same task, another program */
		if (t->owner < 0)
			t->owner = root_of(&o->roots, t);
		if (t->owner < 0) {
			parent = place_of(&o->table, t->parent);
			t->owner = parent->seq ? parent->owner : -1;
		}
		*before = *t;
	}
	free(o->table.items);
	o->table = (struct tasks){ 0 };
	return 0;
}

int64_t audit_owners_find(const struct audit_owners *o, uint64_t seq)
{
	size_t low = 0, high = o->execs.count, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (o->execs.items[mid].seq < seq)
			low = mid + 1;
		else
			high = mid;
	}
	return low < o->execs.count && o->execs.items[low].seq == seq ? o->execs.items[low].owner : -1;
}

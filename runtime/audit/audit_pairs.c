/*
 * Owns the pairing. A program's process is known by its pid on the host and its start; its
 * exit belongs to the last program it executed. Processes of `exec` are known by their
 * numbers.
 */
#include "audit/audit_pairs.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "audit/audit_owner.h"
#include "audit/audit_value.h"

#define PAIRS_MAX ((size_t)50 * 1000 * 1000)

/* What runs: key → number of the record that began it. Open addressing; begin 0 = free. */
struct running {
	uint64_t pid, start, begin;
	bool ended;
};

struct list {
	struct audit_end *items;
	size_t count, room;
};

struct audit_pairs {
	struct running *table;
	size_t room, used; /* room is a power of two */
	struct list ends;  /* by begin, once read */
	struct list seqs;  /* the same, by seq */
	struct audit_owners *owners;
};

static int list_add(struct list *l, const struct audit_end *e)
{
	struct audit_end *more;
	size_t room;

	if (l->count == l->room) {
		room = l->room ? 2 * l->room : 256;
		if (room > PAIRS_MAX)
			return -E2BIG;
		more = realloc(l->items, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		l->items = more;
		l->room = room;
	}
	l->items[l->count++] = *e;
	return 0;
}

static size_t place_of(const struct audit_pairs *p, uint64_t pid, uint64_t start)
{
	uint64_t h = (pid * UINT64_C(0x9e3779b97f4a7c15) ^ start) * UINT64_C(0xff51afd7ed558ccd);
	size_t i = (size_t)(h >> 32) & (p->room - 1);

	while (p->table[i].begin && (p->table[i].pid != pid || p->table[i].start != start))
		i = (i + 1) & (p->room - 1);
	return i;
}

static int table_grow(struct audit_pairs *p)
{
	struct running *old = p->table;
	size_t i, n = p->room;

	if (p->used * 2 < p->room)
		return 0;
	if (2 * n > PAIRS_MAX)
		return -E2BIG;
	p->room = n ? 2 * n : 1024;
	p->table = calloc(p->room, sizeof(*p->table));
	if (!p->table) {
		p->table = old;
		p->room = n;
		return -ENOMEM;
	}
	for (i = 0; i < n; i++)
		if (old[i].begin)
			p->table[place_of(p, old[i].pid, old[i].start)] = old[i];
	free(old);
	return 0;
}

/* Something began; what the same process ran before was replaced. */
static int begin(struct audit_pairs *p, uint64_t pid, uint64_t start, uint64_t seq)
{
	struct audit_end e = { .code = -1, .replaced = true };
	int r = table_grow(p);
	size_t i;

	if (r < 0)
		return r;
	i = place_of(p, pid, start);
	e.begin = p->table[i].begin;
	if (!e.begin)
		p->used++;
	else if (!p->table[i].ended)
		r = list_add(&p->ends, &e);
	p->table[i] = (struct running){ pid, start, seq, false };
	return r;
}

static int end(struct audit_pairs *p, uint64_t pid, uint64_t start, const struct audit_record *rec)
{
	struct audit_end e = { .seq = rec->seq, .code = -1 };
	uint64_t value;
	size_t i;
	int r = table_grow(p);

	if (r < 0)
		return r;
	i = place_of(p, pid, start);
	e.begin = p->table[i].begin;
	if (!e.begin || p->table[i].ended)
		return 0;
	p->table[i].ended = true;
	if (audit_value_u64(rec->json, "code", &value))
		e.code = (int64_t)MIN(value, (uint64_t)INT32_MAX);
	if (audit_value_u64(rec->json, "signal", &value))
		e.signal = (int64_t)MIN(value, (uint64_t)INT32_MAX);
	(void)audit_value_u64(rec->json, "duration", &e.duration);
	r = list_add(&p->ends, &e);
	return r < 0 ? r : list_add(&p->seqs, &e);
}

static int take(struct audit_pairs *p, const struct audit_record *rec)
{
	uint64_t pid, start, process;

	if (!rec->seq)
		return 0;
	if (rec->type == AUDIT_EXEC || rec->type == AUDIT_EXEC_EXIT) {
		(void)audit_value_u64(rec->json, "hostPid", &pid);
		(void)audit_value_u64(rec->json, "start", &start);
		return rec->type == AUDIT_EXEC ? begin(p, pid, start, rec->seq) : end(p, pid, start, rec);
	}
	/* No task has pid 0 on the host: that key is for processes by number. */
	(void)audit_value_u64(rec->json, "process", &process);
	if (rec->type == AUDIT_PROCESS)
		return begin(p, 0, process + 1, rec->seq);
	if (rec->type == AUDIT_PROCESS_EXIT)
		return end(p, 0, process + 1, rec);
	if (rec->type == AUDIT_START && process == 0)
		return begin(p, 0, 1, rec->seq);
	return rec->type == AUDIT_EXIT ? end(p, 0, 1, rec) : 0;
}

static int by_begin(const void *a, const void *b)
{
	const struct audit_end *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static int by_seq(const void *a, const void *b)
{
	const struct audit_end *x = a, *y = b;

	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static int read_all(struct audit_pairs *p, int dirfd, const char *name, bool live, struct error *err)
{
	_cleanup_audit_reader_ struct audit_reader r = AUDIT_READER_NULL;
	struct audit_record rec;
	int k = audit_reader_open(&r, dirfd, name, live, err);

	if (k)
		return k < 0 ? k : error_text(err, -ENOENT, "audit log %s has no first part", name);
	while ((k = audit_reader_next(&r, &rec, err)) == AUDIT_READ_RECORD) {
		k = take(p, &rec);
		if (k == 0)
			k = audit_owners_take(p->owners, &rec);
		if (k < 0)
			return error_set(err, k, "read audit log %s", name);
	}
	if (k == 0)
		k = audit_owners_resolve(p->owners);
	return k < 0 && err->code == 0 ? error_set(err, k, "read audit log %s", name) : k;
}

int audit_pairs_read(int dirfd, const char *name, bool live, struct audit_pairs **ret, struct error *err)
{
	_cleanup_audit_pairs_ struct audit_pairs *p = calloc(1, sizeof(*p));
	int r;

	assert(name && ret && err);
	if (p)
		p->owners = audit_owners_new();
	if (!p || !p->owners)
		return error_oom(err);
	r = read_all(p, dirfd, name, live, err);
	if (r < 0)
		return r;
	if (p->ends.count)
		qsort(p->ends.items, p->ends.count, sizeof(*p->ends.items), by_begin);
	if (p->seqs.count)
		qsort(p->seqs.items, p->seqs.count, sizeof(*p->seqs.items), by_seq);
	*ret = take_ptr(p);
	return 0;
}

struct audit_pairs *audit_pairs_free(struct audit_pairs *p)
{
	if (!p)
		return NULL;
	(void)audit_owners_free(p->owners);
	free(p->table);
	free(p->ends.items);
	free(p->seqs.items);
	free(p);
	return NULL;
}

/* The last one below or at the key would be as good: both lists are sorted. */
const struct audit_end *audit_pairs_end(const struct audit_pairs *p, uint64_t begin_seq)
{
	size_t low = 0, high = p->ends.count, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (p->ends.items[mid].begin < begin_seq)
			low = mid + 1;
		else
			high = mid;
	}
	return low < p->ends.count && p->ends.items[low].begin == begin_seq ? &p->ends.items[low] : NULL;
}

int64_t audit_pairs_owner(const struct audit_pairs *p, uint64_t seq)
{
	return audit_owners_find(p->owners, seq);
}

bool audit_pairs_is_end(const struct audit_pairs *p, uint64_t seq)
{
	struct audit_end key = { .seq = seq };

	return p->seqs.count && bsearch(&key, p->seqs.items, p->seqs.count, sizeof(key), by_seq);
}

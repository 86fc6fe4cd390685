/*
 * Owns access to the pinned set: opening it under a shared lock, and making rings in it.
 */
#include "audit/audit_trace_set.h"

#include <assert.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <time.h>

#include "audit/audit_kernel.skel.h"
#include "os/ebpf.h"
#include "util/str.h"

/* Descriptors that are open at the same time while rings are made. */
#define MAKE_BATCH 16

char *audit_set_path(const char *bpffs, const char *suffix)
{
	return str_printf("%s/" SET_PREFIX AUDIT_KERNEL_BUILD "%s", bpffs, suffix);
}

uint64_t audit_set_now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

struct audit_book *audit_book_map(int fd)
{
	void *p = mmap(NULL, sizeof(struct audit_book), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

static int get_pin(const char *set, const char *name, int *ret, struct error *err)
{
	_cleanup_free_ char *path = str_printf("%s/%s", set, name);

	if (!path)
		return error_oom(err);
	*ret = ebpf_obj_get(path);
	return *ret < 0 ? error_set(err, *ret, "open the pinned %s", path) : 0;
}

int audit_trace_open(const char *bpffs, struct audit_trace_set *ret, struct error *err)
{
	_cleanup_audit_trace_ struct audit_trace_set set = AUDIT_TRACE_SET_NULL;
	_cleanup_free_ char *path = audit_set_path(bpffs, "");
	_cleanup_close_ int book = -EBADF;
	int r;

	if (!path)
		return error_oom(err);
	set.dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (set.dir < 0)
		return errno == ENOENT ? AUDIT_TRACE_E_UNPREPARED :
					 error_set(err, -errno, "open %s", path);
	if (flock(set.dir, LOCK_SH) < 0)
		return error_set(err, -errno, "lock %s", path);
	r = get_pin(path, PIN_BINDINGS, &set.bindings, err);
	if (r == -ENOENT) /* removed between the two calls */
		return AUDIT_TRACE_E_UNPREPARED;
	if (r == 0)
		r = get_pin(path, PIN_RINGS, &set.rings, err);
	if (r == 0)
		r = get_pin(path, PIN_COUNTERS, &set.counters, err);
	if (r == 0)
		r = get_pin(path, PIN_BOOK, &book, err);
	if (r == 0)
		r = get_pin(path, PIN_LINK_EXEC, &set.links[0], err);
	if (r == 0)
		r = get_pin(path, PIN_LINK_EXIT, &set.links[1], err);
	if (r < 0)
		return r;
	set.book = audit_book_map(book);
	if (!set.book)
		return error_set(err, -errno, "map %s/" PIN_BOOK, path);
	*ret = set;
	set = AUDIT_TRACE_SET_NULL;
	return 0;
}

void audit_trace_close(struct audit_trace_set *set)
{
	cleanup_closep(&set->dir);
	cleanup_closep(&set->bindings);
	cleanup_closep(&set->rings);
	cleanup_closep(&set->counters);
	cleanup_closep(&set->links[0]);
	cleanup_closep(&set->links[1]);
	if (set->book)
		(void)munmap(set->book, sizeof(*set->book));
	*set = AUDIT_TRACE_SET_NULL;
}

static void close_all(const int *fds, size_t count)
{
	while (count-- > 0)
		if (fds[count] >= 0)
			(void)close(fds[count]);
}

static int create_maps(struct audit_trace_set *set, const uint32_t *slots, size_t count, int *rings,
		       int *counters, struct error *err)
{
	struct audit_slot_view view;
	size_t i;

	for (i = 0; i < count; i++) {
		audit_pool_view(set->book, slots[i], &view);
		rings[i] = ebpf_map_create(BPF_MAP_TYPE_RINGBUF, "audit_ring", 0, 0,
					   audit_ring_bytes(view.class), 0);
		if (rings[i] < 0)
			return error_set(err, rings[i], "make a ring of %u bytes for the exec audit",
					 audit_ring_bytes(view.class));
		counters[i] = ebpf_map_create(BPF_MAP_TYPE_ARRAY, "audit_counters", sizeof(uint32_t),
					      sizeof(struct audit_counters), 1, BPF_F_MMAPABLE);
		if (counters[i] < 0)
			return error_set(err, counters[i], "make counters for the exec audit");
	}
	return 0;
}

static int make_batch(struct audit_trace_set *set, const uint32_t *slots, size_t count,
		      struct error *err)
{
	int rings[MAKE_BATCH], counters[MAKE_BATCH];
	size_t i;
	int r;

	for (i = 0; i < MAKE_BATCH; i++)
		rings[i] = counters[i] = -EBADF;
	r = create_maps(set, slots, count, rings, counters, err);
	if (r == 0) {
		r = ebpf_map_update_many(set->rings, slots, sizeof(*slots), rings, sizeof(*rings),
					 count);
		if (r == 0)
			r = ebpf_map_update_many(set->counters, slots, sizeof(*slots), counters,
						 sizeof(*counters), count);
		if (r < 0)
			(void)error_set(err, r, "put rings into the exec audit's pool");
	}
	/* The outer maps hold them now. */
	close_all(rings, count);
	close_all(counters, count);
	return r;
}

int audit_rings_make(struct audit_trace_set *set, const uint32_t *slots, size_t count,
		     struct error *err)
{
	size_t done, n;
	int r;

	for (done = 0; done < count; done += n) {
		n = MIN(count - done, (size_t)MAKE_BATCH);
		r = make_batch(set, slots + done, n, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/*
 * Owns the refill of the pool: what waits for the kernel, and is therefore never done on the
 * way to a start.
 */
#include <assert.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/audit_trace_set.h"
#include "os/ebpf.h"
#include "util/fd.h"

/* FILEID_KERNFS: the handle is the cgroup's id. */
#define KERNFS_HANDLE 0xfe
/* More are made by further calls: a refill ought not to hold a process for long. */
#define REFILL_MAX AUDIT_TRACE_POOL_MAX

/* Of containers whose processes of ours died before they released it. */
static int release_gone(struct audit_trace_set *set, const char *cgroup2, struct error *err)
{
	_Alignas(struct file_handle) char room[sizeof(struct file_handle) + sizeof(uint64_t)];
	struct file_handle *handle = (struct file_handle *)room;
	_cleanup_close_ int mount = open(cgroup2, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct audit_slot_view view;
	uint32_t slot;
	int fd, r = 0;

	if (mount < 0)
		return error_set(err, -errno, "open %s", cgroup2);
	for (slot = 0; slot < AUDIT_SLOTS_MAX && r == 0; slot++) {
		audit_pool_view(set->book, slot, &view);
		if (view.state != AUDIT_SLOT_BOUND)
			continue;
		handle->handle_bytes = sizeof(view.cgroup);
		handle->handle_type = KERNFS_HANDLE;
		memcpy(handle->f_handle, &view.cgroup, sizeof(view.cgroup));
		fd = open_by_handle_at(mount, handle, O_PATH | O_CLOEXEC);
		if (fd >= 0)
			(void)close(fd);
		else if (errno == ESTALE)
			r = audit_trace_release(set, view.cgroup, slot, view.generation, NULL, err);
	}
	return r;
}

/* What a used ring keeps of memory and of the last container's records. */
static void empty_used(struct audit_trace_set *set)
{
	struct audit_slot_view view;
	uint32_t slot;

	for (slot = 0; slot < AUDIT_SLOTS_MAX; slot++) {
		audit_pool_view(set->book, slot, &view);
		if (view.state != AUDIT_SLOT_USED ||
		    !audit_pool_move(set->book, slot, view.generation, AUDIT_SLOT_USED,
				     AUDIT_SLOT_MAKING, 0, audit_set_now()))
			continue;
		(void)ebpf_map_delete(set->rings, &slot);
		(void)ebpf_map_delete(set->counters, &slot);
		(void)audit_pool_move(set->book, slot, view.generation, AUDIT_SLOT_MAKING,
				      AUDIT_SLOT_EMPTY, 0, audit_set_now());
	}
}

static uint32_t kept_ready(const struct audit_trace_set *set)
{
	uint32_t class, bound = 0;

	for (class = 0; class < AUDIT_RING_CLASSES; class++)
		bound += audit_pool_count(set->book, AUDIT_SLOT_BOUND, (enum audit_ring_class)class);
	return MAX(AUDIT_TRACE_POOL, MIN(bound / 4, AUDIT_TRACE_POOL_MAX));
}

int audit_trace_refill(struct audit_trace_set *set, enum audit_ring_class class, uint32_t ready,
		       const char *cgroup2, struct error *err)
{
	uint32_t slots[REFILL_MAX], have, n = 0, i;
	struct audit_slot_view view;
	int r;

	assert(set->book && class < AUDIT_RING_CLASSES);

	if (ready == 0)
		ready = kept_ready(set);
	(void)audit_pool_expire(set->book, audit_set_now());
	if (cgroup2) {
		r = release_gone(set, cgroup2, err);
		if (r < 0)
			return r;
	}
	for (have = audit_pool_count(set->book, AUDIT_SLOT_READY, class); have < ready && n < REFILL_MAX;
	     have++) {
		uint32_t slot = audit_pool_take_for_making(set->book, class, audit_set_now());

		if (slot == AUDIT_SLOT_NONE)
			break;
		slots[n++] = slot;
	}
	r = n ? audit_rings_make(set, slots, n, err) : 0;
	if (r < 0)
		return r;
	for (i = 0; i < n; i++) {
		audit_pool_view(set->book, slots[i], &view);
		(void)audit_pool_move(set->book, slots[i], view.generation, AUDIT_SLOT_MAKING,
				      AUDIT_SLOT_READY, 0, audit_set_now());
	}
	empty_used(set);
	return 0;
}

/* Nobody waits for it, and it holds nothing of ours that others wait for the end of. */
static _noreturn_ void refill_process(struct audit_trace_set *set, const char *cgroup2)
{
	const int keep[] = { set->dir, set->rings, set->counters, set->bindings };
	struct error ignored;
	pid_t pid = fork();

	if (pid != 0)
		_exit(pid < 0);
	if (fd_close_others(0, keep, ELEMENTSOF(keep)) == 0)
		(void)audit_trace_refill(set, AUDIT_RING_NORMAL, 0, cgroup2, &ignored);
	_exit(0);
}

int audit_trace_refill_aside(struct audit_trace_set *set, const char *cgroup2, struct error *err)
{
	pid_t pid;
	int status;

	if (audit_pool_count(set->book, AUDIT_SLOT_READY, AUDIT_RING_NORMAL) >= kept_ready(set) / 2)
		return 0;
	pid = fork();
	if (pid == 0)
		refill_process(set, cgroup2);
	if (pid < 0)
		return error_set(err, -errno, "exec audit: start a process that fills the pool");
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_set(err, -errno, "exec audit: wait for a process");
	return 0;
}

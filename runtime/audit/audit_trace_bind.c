/*
 * Owns the bindings: a ring for a container, and its release. Nothing here waits for the
 * kernel, but for the ring of a container that finds none ready.
 */
#include <assert.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/stat.h>

#include "audit/audit_trace_set.h"
#include "os/ebpf.h"

/* In nested cgroup2 mounts the root has another inode, but the walk ends at the mount. */
#define CGROUP_ROOT_ID 1
#define PIDNS_FIRST    0xEFFFFFFCu /* PROC_PID_INIT_INO: the same on every kernel */

static int cgroup_id(int fd, uint64_t *ret, dev_t *ret_dev)
{
	struct stat st;

	/* On 64-bit machines the inode number is the id that the kernel's helpers return. */
	if (fstat(fd, &st) < 0)
		return -errno;
	*ret = st.st_ino;
	*ret_dev = st.st_dev;
	return 0;
}

/* A ring serves the outermost bound cgroup: one below it would never get a record. */
static int check_free(struct audit_trace_set *set, int cgroup, uint64_t *ret_id, struct error *err)
{
	_cleanup_close_ int above = -EBADF;
	struct audit_binding binding;
	dev_t dev = 0, above_dev = 0;
	uint64_t id = 0;
	unsigned level;
	int r, next;

	r = cgroup_id(cgroup, &id, &dev);
	if (r < 0)
		return error_set(err, r, "exec audit: look at the container's cgroup");
	*ret_id = id;
	above_dev = dev;
	for (level = 0; id != CGROUP_ROOT_ID && above_dev == dev; level++) {
		if (level > AUDIT_LEVELS_MAX)
			return error_text(err, -E2BIG,
					  "exec audit: the container's cgroup lies deeper than %u levels",
					  AUDIT_LEVELS_MAX);
		r = ebpf_map_lookup(set->bindings, &id, &binding);
		if (r == 0)
			return error_text(err, -EBUSY, "exec audit: %s is audited already",
					  level ? "a cgroup above the container's" :
						  "the container's cgroup");
		if (r != -ENOENT)
			return error_set(err, r, "exec audit: look for bindings");
		next = openat(level ? above : cgroup, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (next < 0)
			return error_set(err, -errno, "exec audit: open the cgroup above");
		cleanup_closep(&above);
		above = next;
		r = cgroup_id(above, &id, &above_dev);
		if (r < 0)
			return error_set(err, r, "exec audit: look at the cgroup above");
	}
	return 0;
}

static int take_slot(struct audit_trace_set *set, enum audit_ring_class class,
		     struct audit_trace_bound *b, struct error *err)
{
	struct audit_slot_view view;
	int r;

	b->slot = audit_pool_take_ready(set->book, class, audit_set_now());
	if (b->slot == AUDIT_SLOT_NONE) {
		b->grown = true;
		b->slot = audit_pool_take_for_making(set->book, class, audit_set_now());
		if (b->slot == AUDIT_SLOT_NONE)
			return error_text(err, -ENOSPC,
					  "exec audit: all %u rings are in use", AUDIT_SLOTS_MAX);
		r = audit_rings_make(set, &b->slot, 1, err);
		if (r < 0)
			return r;
		__atomic_add_fetch((uint64_t *)&set->book->grown, 1, __ATOMIC_RELAXED);
	}
	__atomic_add_fetch((uint64_t *)&set->book->bound, 1, __ATOMIC_RELAXED);
	audit_pool_view(set->book, b->slot, &view);
	b->generation = view.generation;
	return 0;
}

static int open_inner(int outer, uint32_t slot, unsigned flags, int *ret, struct error *err)
{
	uint32_t id;
	int r;

	r = ebpf_map_lookup(outer, &slot, &id);
	if (r == 0)
		r = ebpf_map_by_id(id, flags);
	if (r < 0)
		return error_set(err, r, "exec audit: open the ring of slot %u", slot);
	*ret = r;
	return 0;
}

/* Everything that is done to a ring before the programs can find it. */
static int arm(struct audit_trace_set *set, const struct audit_trace_request *req,
	       struct audit_trace_bound *b, struct error *err)
{
	struct audit_counters first = {
		.cgroup = b->cgroup,
		.generation = b->generation,
		.pid_ns = req->pid_ns ? req->pid_ns : PIDNS_FIRST,
		.wake_after_ns = req->wake_ns ? req->wake_ns : AUDIT_TRACE_WAKE_NS,
		.argv_max = req->argv_max ? MIN(req->argv_max, AUDIT_REC_ARGV_MAX) :
					    AUDIT_REC_ARGV_MAX,
	};
	uint32_t zero = 0;
	int r;

	b->links[0] = fcntl(set->links[0], F_DUPFD_CLOEXEC, 3);
	b->links[1] = fcntl(set->links[1], F_DUPFD_CLOEXEC, 3);
	if (b->links[0] < 0 || b->links[1] < 0)
		return error_set(err, -errno, "exec audit: hold the programs");
	r = open_inner(set->rings, b->slot, 0, &b->ring, err);
	if (r == 0)
		r = open_inner(set->counters, b->slot, 0, &b->counters, err);
	if (r < 0)
		return r;
	r = ebpf_map_update(b->counters, &zero, &first, BPF_ANY);
	/* A read-only descriptor could not be mapped as shared memory. */
	if (r == 0)
		r = ebpf_map_freeze(b->counters);
	return r < 0 ? error_set(err, r, "exec audit: set the counters of slot %u", b->slot) : 0;
}

int audit_trace_bind(struct audit_trace_set *set, const struct audit_trace_request *req,
		     struct audit_trace_bound *ret, struct error *err)
{
	_cleanup_audit_bound_ struct audit_trace_bound b = AUDIT_TRACE_BOUND_NULL;
	struct audit_binding binding = { 0 };
	int r;

	assert(set->book && req->cgroup >= 0 && req->class < AUDIT_RING_CLASSES);

	r = check_free(set, req->cgroup, &b.cgroup, err);
	if (r == 0)
		r = take_slot(set, req->class, &b, err);
	if (r == 0)
		r = arm(set, req, &b, err);
	if (r < 0)
		return r; /* a slot that was taken is found stale and made anew */
	if (!audit_pool_move(set->book, b.slot, b.generation,
			     b.grown ? AUDIT_SLOT_MAKING : AUDIT_SLOT_TAKEN, AUDIT_SLOT_BOUND,
			     b.cgroup, audit_set_now()))
		return error_text(err, -ESTALE, "exec audit: slot %u was taken away", b.slot);
	binding.slot = b.slot;
	binding.flags = req->die ? AUDIT_BIND_DIE : 0;
	r = ebpf_map_update(set->bindings, &b.cgroup, &binding, BPF_NOEXIST);
	if (r < 0) {
		(void)audit_pool_move(set->book, b.slot, b.generation, AUDIT_SLOT_BOUND,
				      AUDIT_SLOT_USED, 0, audit_set_now());
		return error_set(err, r, "exec audit: bind the container's cgroup to a ring");
	}
	*ret = b;
	b = AUDIT_TRACE_BOUND_NULL;
	return 0;
}

void audit_trace_bound_done(struct audit_trace_bound *bound)
{
	cleanup_closep(&bound->ring);
	cleanup_closep(&bound->counters);
	cleanup_closep(&bound->links[0]);
	cleanup_closep(&bound->links[1]);
	*bound = AUDIT_TRACE_BOUND_NULL;
}

static int read_counters(struct audit_trace_set *set, uint32_t slot, struct audit_counters *ret,
			 struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	uint32_t zero = 0;
	int r;

	r = open_inner(set->counters, slot, BPF_F_RDONLY, &fd, err);
	if (r < 0)
		return r;
	r = ebpf_map_lookup(fd, &zero, ret);
	return r < 0 ? error_set(err, r, "exec audit: read the counters of slot %u", slot) : 0;
}

int audit_trace_prove(const char *bpffs, uint64_t cgroup, uint32_t slot, uint32_t generation,
		      struct error *err)
{
	_cleanup_audit_trace_ struct audit_trace_set set = AUDIT_TRACE_SET_NULL;
	struct audit_counters now = { 0 };
	struct audit_binding binding;
	int r;

	r = audit_trace_open(bpffs, &set, err);
	if (r > 0)
		return error_text(err, -EIO, "exec audit: its programs are not loaded any more");
	if (r < 0)
		return r;
	r = ebpf_map_lookup(set.bindings, &cgroup, &binding);
	if (r < 0)
		return error_set(err, r, "exec audit: look for the container's binding");
	r = read_counters(&set, slot, &now, err);
	if (r < 0)
		return r;
	if (binding.slot != slot || now.cgroup != cgroup || now.generation != generation || now.seq == 0)
		return error_text(err, -EIO,
				  "exec audit: the start of the container's program was not recorded");
	return 0;
}

int audit_trace_release(struct audit_trace_set *set, uint64_t cgroup, uint32_t slot, uint32_t generation,
			struct audit_counters *ret, struct error *err)
{
	struct audit_slot_view view;
	int r;

	if (slot >= AUDIT_SLOTS_MAX)
		return error_text(err, -EINVAL, "exec audit: there is no slot %u", slot);
	audit_pool_view(set->book, slot, &view);
	if (view.state != AUDIT_SLOT_BOUND || view.generation != generation || view.cgroup != cgroup)
		return 0;
	r = ebpf_map_delete(set->bindings, &cgroup);
	if (r < 0 && r != -ENOENT)
		return error_set(err, r, "exec audit: end the binding of slot %u", slot);
	if (ret) {
		r = read_counters(set, slot, ret, err);
		if (r < 0)
			return r;
	}
	(void)audit_pool_move(set->book, slot, generation, AUDIT_SLOT_BOUND, AUDIT_SLOT_USED, 0,
			      audit_set_now());
	return 0;
}

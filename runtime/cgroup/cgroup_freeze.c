/*
 * Owns freezing and thawing on both versions. A freeze that does not come to rest is undone:
 * a half-frozen container is worse than a running one.
 */
#include "cgroup/cgroup.h"

#include <fcntl.h>
#include <poll.h>

#include "cgroup/cgroup_io.h"
#include "util/str.h"

#define FREEZE_TIMEOUT_US (2 * 1000 * 1000)
#define FREEZE_STEP_US	  (10 * 1000)
#define FREEZE_REPEAT	  20

static int open_freezer(const struct cgroup *cg, bool *ret_v2, const char **ret_path,
			struct error *err)
{
	const struct cgroup_dir *d = cgroup_dir_freezer(cg, ret_v2);
	int fd;

	if (!d)
		return error_text(
			err, -EOPNOTSUPP,
			"the container has no cgroup with a freezer: it cannot be paused");
	*ret_path = d->path;
	fd = cgroup_open_dir(d->path);
	if (fd < 0)
		return error_set(err, fd, "open cgroup %s", d->path);
	return fd;
}

/*
 * v1: the state stays FREEZING while a process forks or sits in the kernel; writing again
 * makes the kernel look again, and a short thaw lets a process out that waits for a frozen one.
 */
static int freeze_v1(int dir, const char *path, struct error *err)
{
	struct cgroup_pause pause = { 0 };
	char state[16] = "";
	unsigned round = 0;
	ssize_t n;
	int r;

	do {
		if (++round % FREEZE_REPEAT == 0)
			(void)cgroup_write(dir, "freezer.state", "THAWED");
		r = cgroup_write(dir, "freezer.state", "FROZEN");
		if (r < 0)
			return error_set(err, r, "freeze cgroup %s", path);
		n = cgroup_read(dir, "freezer.state", state, sizeof(state));
		if (n < 0)
			return error_set(err, (int)n, "read %s/freezer.state", path);
		if (str_eq(state, "FROZEN"))
			return 0;
	} while (cgroup_pause(&pause, FREEZE_STEP_US, FREEZE_TIMEOUT_US));
	(void)cgroup_write(dir, "freezer.state", "THAWED");
	return error_text(err, -ETIMEDOUT,
			  "freeze cgroup %s: still %s after %d s (is a process stuck in the "
			  "kernel?); thawed again",
			  path, state, FREEZE_TIMEOUT_US / 1000000);
}

static int wait_frozen_v2(int dir, bool frozen)
{
	_cleanup_close_ int events = -EBADF;
	int left_ms = FREEZE_TIMEOUT_US / 1000, r;
	char text[256];
	ssize_t n;

	events = openat(dir, "cgroup.events", O_RDONLY | O_CLOEXEC);
	if (events < 0)
		return -errno;
	for (;;) {
		struct pollfd p = { .fd = events, .events = POLLPRI };

		n = pread(events, text, sizeof(text) - 1, 0);
		if (n < 0)
			return -errno;
		text[n] = '\0';
		if (cgroup_key_value(text, "frozen", frozen) == (uint64_t)frozen)
			return 0;
		if (left_ms <= 0)
			return -ETIMEDOUT;
		/* Bounded steps, so that a lost wake-up costs little. */
		r = poll(&p, 1, 100);
		if (r < 0 && errno != EINTR)
			return -errno;
		if (r == 0)
			left_ms -= 100;
		else
			left_ms--;
	}
}

static int freeze_v2(int dir, const char *path, struct error *err)
{
	int r;

	r = cgroup_write(dir, "cgroup.freeze", "1");
	if (r < 0)
		return error_set(err, r, "freeze cgroup %s", path);
	r = wait_frozen_v2(dir, true);
	if (r < 0) {
		(void)cgroup_write(dir, "cgroup.freeze", "0");
		return error_set(err, r, "freeze cgroup %s (thawed again)", path);
	}
	return 0;
}

int cgroup_freeze(const struct cgroup *cg, struct error *err)
{
	_cleanup_close_ int dir = -EBADF;
	const char *path;
	bool v2;

	dir = open_freezer(cg, &v2, &path, err);
	if (dir < 0)
		return dir;
	return v2 ? freeze_v2(dir, path, err) : freeze_v1(dir, path, err);
}

int cgroup_thaw(const struct cgroup *cg, struct error *err)
{
	_cleanup_close_ int dir = -EBADF;
	const char *path;
	bool v2;
	int r;

	dir = open_freezer(cg, &v2, &path, err);
	if (dir < 0)
		return dir;
	r = v2 ? cgroup_write(dir, "cgroup.freeze", "0")
	       : cgroup_write(dir, "freezer.state", "THAWED");
	if (r < 0)
		return error_set(err, r, "thaw cgroup %s", path);
	return 0;
}

int cgroup_frozen(const struct cgroup *cg, bool *ret, struct error *err)
{
	_cleanup_close_ int dir = -EBADF;
	const struct cgroup_dir *d;
	char state[16];
	ssize_t n;
	bool v2;

	d = cgroup_dir_freezer(cg, &v2);
	dir = d ? cgroup_open_dir(d->path) : -ENOENT;
	if (dir < 0 && !cgroup_is_gone(dir))
		return error_set(err, dir, "open cgroup %s", d->path);
	*ret = false;
	if (dir < 0)
		return 0;
	n = cgroup_read(dir, v2 ? "cgroup.freeze" : "freezer.state", state, sizeof(state));
	if (n < 0)
		/* The top of a v2 hierarchy has no such file and is never frozen. */
		return cgroup_is_gone((int)n)
			       ? 0
			       : error_set(err, (int)n, "read the freezer of %s", d->path);
	/* FREEZING is frozen too: nobody may treat the container as running. */
	*ret = v2 ? str_eq(state, "1") : !str_eq(state, "THAWED");
	return 0;
}

int cgroup_would_freeze(const struct cgroup *cg, bool *ret)
{
	_cleanup_close_ int dir = -EBADF;
	const struct cgroup_dir *d;
	char text[256];
	ssize_t n;
	bool v2;

	*ret = false;
	d = cgroup_dir_freezer(cg, &v2);
	if (!d)
		return 0;
	dir = cgroup_open_dir(d->path);
	if (dir < 0)
		return dir;
	n = cgroup_read(dir, v2 ? "cgroup.events" : "freezer.state", text, sizeof(text));
	if (n < 0)
		return v2 && n == -ENOENT ? 0 : (int)n;
	/* Both count the ancestors in. */
	*ret = v2 ? cgroup_key_value(text, "frozen", 0) == 1 : !str_eq(text, "THAWED");
	return 0;
}

/*
 * Owns the files of a log: made exclusively, opened for appending, locked by whoever may
 * write. The lock belongs to the open file, so it moves along when the descriptor is sent
 * to another process, and ends with the last holder.
 */
#include "audit/audit_store.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/audit_name.h"
#include "audit/audit_tail.h"
#include "util/fd.h"

#define LOCK_STEP_MS 10
#define NEW_LOCK_MS  2000
#define NAME_TRIES   100

static int lock_wait(int fd, int timeout_ms)
{
	static const struct timespec step = { .tv_nsec = LOCK_STEP_MS * 1000000L };
	int waited;

	for (waited = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; waited += LOCK_STEP_MS) {
		if (errno == EINTR)
			continue;
		if (errno != EWOULDBLOCK)
			return -errno;
		if (waited >= timeout_ms)
			return AUDIT_E_BUSY;
		(void)nanosleep(&step, NULL);
	}
	return 0;
}

static int make_file(int dirfd, const char *file, bool may_exist, int *ret_fd)
{
	_cleanup_close_ int fd =
		openat(dirfd, file, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | (may_exist ? 0 : O_EXCL), 0600);
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	/* Left behind by a change of parts that did not come about; with content it is somebody's. */
	if (!S_ISREG(st.st_mode) || st.st_size > 0)
		return -EEXIST;
	/* Readers look at locks, for a moment: audit_store_busy(). */
	r = lock_wait(fd, NEW_LOCK_MS);
	if (r)
		return r < 0 ? r : -EBUSY;
	/* Before it had the lock it could be taken for one that is over, and be removed. */
	if (fstat(fd, &st) < 0 || fchmod(fd, 0600) < 0 || fsync(dirfd) < 0)
		return -errno;
	if (st.st_nlink == 0)
		return -EEXIST;
	*ret_fd = take_fd(&fd);
	return 0;
}

int audit_store_create(int dirfd, const char *id, const char *root, char ret_name[AUDIT_NAME_SIZE],
		       int *ret_fd, struct error *err)
{
	char file[AUDIT_FILE_SIZE];
	struct timespec now;
	int i, r = -EEXIST;

	assert(dirfd >= 0 && id && root && ret_name && ret_fd && err);
	for (i = 0; i < NAME_TRIES && r == -EEXIST; i++) {
		(void)clock_gettime(CLOCK_REALTIME, &now);
		audit_name_make(id, root, &now, ret_name);
		audit_name_file(ret_name, 1, file);
		r = make_file(dirfd, file, false, ret_fd);
	}
	return r < 0 ? error_set(err, r, "create audit log %s", file) : 0;
}

int audit_store_next(int dirfd, const char *name, uint32_t part, int *ret_fd, struct error *err)
{
	char file[AUDIT_FILE_SIZE];
	int r;

	assert(dirfd >= 0 && name && ret_fd && err);
	if (part < 2 || part > AUDIT_PARTS_MAX)
		return error_text(err, -EINVAL, "audit log %s cannot have part %u", name, part);
	audit_name_file(name, part, file);
	r = make_file(dirfd, file, true, ret_fd);
	return r < 0 ? error_set(err, r, "create part %u of audit log %s", part, name) : 0;
}

static int open_part(int dirfd, const char *name, uint32_t part, int flags)
{
	char file[AUDIT_FILE_SIZE];
	int fd;

	audit_name_file(name, part, file);
	fd = openat(dirfd, file, flags | O_NOFOLLOW | O_CLOEXEC); /* O_RDWR where it is written */
	return fd < 0 ? -errno : fd;
}

static bool is_locked(int fd)
{
	return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

/* A writer keeps the lock of its part until it has that of the next. */
static bool part_is_locked(int dirfd, const char *name, uint32_t part)
{
	_cleanup_close_ int fd = part ? open_part(dirfd, name, part, O_RDONLY) : -EBADF;

	return is_locked(fd);
}

/* The last part that is there, open and locked. */
static int open_last(int dirfd, const char *name, int timeout_ms, uint32_t *ret_part, int *ret_fd)
{
	uint32_t part = 1;
	int r;

	for (;;) {
		_cleanup_close_ int fd = open_part(dirfd, name, part, O_RDWR | O_APPEND), next = -EBADF;

		if (fd < 0)
			return fd;
		next = open_part(dirfd, name, part + 1, O_RDONLY);
		if (next < 0 && next != -ENOENT)
			return next;
		if (next < 0) {
			r = lock_wait(fd, timeout_ms);
			if (r)
				return r;
			/* Its writer may have gone on while we waited. */
			next = open_part(dirfd, name, part + 1, O_RDONLY);
			if (next == -ENOENT && part_is_locked(dirfd, name, part - 1))
				return AUDIT_E_BUSY;
			if (next == -ENOENT) {
				*ret_part = part;
				*ret_fd = take_fd(&fd);
				return 0;
			}
			if (next < 0)
				return next;
		}
		if (++part > AUDIT_PARTS_MAX)
			return -E2BIG;
	}
}

/* The hash that the log has before its last, empty part. */
static int head_before(int dirfd, const char *name, uint32_t part, struct audit_head *ret)
{
	bool torn;
	int r = 0;

	while (part > 1 && r == 0 && ret->records == 0) {
		_cleanup_close_ int fd = open_part(dirfd, name, --part, O_RDONLY);

		r = fd < 0 ? fd : audit_tail_read(fd, ret, &torn);
	}
	return r;
}

int audit_store_append(int dirfd, const char *name, int timeout_ms, int *ret_fd,
		       struct audit_head *ret, struct error *err)
{
	struct audit_head head = { 0 };
	_cleanup_close_ int fd = -EBADF;
	uint64_t bytes;
	uint32_t part = 1;
	bool torn = false;
	int r;

	assert(dirfd >= 0 && name && ret_fd && ret && err);
	r = open_last(dirfd, name, timeout_ms, &part, &fd);
	if (r == -ENOENT)
		return AUDIT_E_NOT_FOUND;
	if (r > 0)
		return r;
	if (r == 0)
		r = audit_tail_read(fd, &head, &torn);
	bytes = head.part_bytes;
	if (r == 0 && torn)
		r = fd_write_all(fd, "\n", 1);
	if (r == 0 && head.records == 0)
		r = head_before(dirfd, name, part, &head);
	if (r < 0)
		return error_set(err, r, "open audit log %s to append", name);
	if (head.records == 0)
		return error_text(err, -EBADMSG, "audit log %s has no whole record to go on from", name);
	head.part = part;
	head.part_bytes = bytes;
	*ret = head;
	*ret_fd = take_fd(&fd);
	return 0;
}

int audit_store_part_bytes(int dirfd, const char *name, uint32_t part, uint64_t *ret)
{
	char file[AUDIT_FILE_SIZE];
	struct stat st;

	audit_name_file(name, part, file);
	if (fstatat(dirfd, file, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	*ret = (uint64_t)st.st_size;
	return 0;
}

bool audit_store_has_part(int dirfd, const char *name, uint32_t part)
{
	uint64_t bytes;

	return audit_store_part_bytes(dirfd, name, part, &bytes) != -ENOENT;
}

bool audit_store_busy(int dirfd, const char *name)
{
	uint32_t part;

	for (part = 1; part <= AUDIT_PARTS_MAX; part++) {
		_cleanup_close_ int next = open_part(dirfd, name, part + 1, O_RDONLY);

		if (next >= 0)
			continue;
		if (part_is_locked(dirfd, name, part - 1) || part_is_locked(dirfd, name, part))
			return true;
		/* Unless its writer went on between the two looks. */
		next = open_part(dirfd, name, part + 1, O_RDONLY);
		if (next < 0)
			return false;
	}
	return false;
}

int audit_store_append_event(int dirfd, int index_dirfd, const char *name, int timeout_ms,
			     const struct audit_event *event, struct error *err)
{
	struct audit_sink_options opt = { .on_failure = AUDIT_STOP };
	struct audit_sink *s;
	struct audit_head head;
	int r;

	r = audit_store_append(dirfd, name, timeout_ms, &opt.fd, &opt.head, err);
	if (r)
		return r;
	r = audit_sink_open(&opt, &s, err);
	if (r < 0) {
		(void)close(opt.fd);
		return r;
	}
	r = audit_sink_emit(s, event, err);
	if (r == 0)
		r = audit_sink_flush(s, true, err);
	audit_sink_head(s, &head);
	audit_sink_free(s);
	if (r) /* AUDIT_E_STOP is no condition of this function */
		return err->code < 0 ? err->code : -EIO;
	return audit_index_write(dirfd, index_dirfd, name, &head, true, err);
}

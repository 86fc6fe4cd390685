/*
 * Keeps the total size: logs that nobody writes go whole, the oldest first, large ones before all others.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "audit/audit_name.h"
#include "audit/audit_scan.h"
#include "util/str.h"

#define COUNT_FILE  ".ended"
#define PRUNE_SHARE 64

static int lock_part(int dirfd, const char *name, uint32_t part)
{
	char file[AUDIT_FILE_SIZE];
	_cleanup_close_ int fd = -EBADF;

	audit_name_file(name, part, file);
	fd = openat(dirfd, file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0)
		return -errno;
	return take_fd(&fd);
}

/*
 * Locks the last part, so that nobody begins to write it; negative when somebody writes the log. A
 * writer that is about to change parts has the lock of the one before.
 */
static int lock_last(int dirfd, const struct audit_scan_log *log)
{
	_cleanup_close_ int fd = lock_part(dirfd, log->name, log->parts), before = -EBADF;
	char file[AUDIT_FILE_SIZE];

	if (fd < 0)
		return fd;
	if (log->parts > 1)
		before = lock_part(dirfd, log->name, log->parts - 1);
	if (before == -EWOULDBLOCK)
		return before;
	audit_name_file(log->name, log->parts + 1, file);
	if (faccessat(dirfd, file, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return -EBADF; /* it went on since the folder was read */
	return take_fd(&fd);
}

static int remove_log(int dirfd, int index_dirfd, const struct audit_scan_log *log)
{
	char file[AUDIT_FILE_SIZE];
	uint32_t part;

	for (part = log->parts; part > 0; part--) {
		audit_name_file(log->name, part, file);
		if (unlinkat(dirfd, file, 0) < 0 && errno != ENOENT)
			return -errno;
	}
	(void)snprintf(file, sizeof(file), "%s" AUDIT_HEAD_SUFFIX, log->name);
	if (index_dirfd >= 0)
		(void)unlinkat(index_dirfd, file, 0);
	return unlinkat(dirfd, file, 0) < 0 && errno != ENOENT ? -errno : 0;
}

/* Logs of more than so many bytes (0 = all), oldest first, while *bytes are too many. Removed ones have no parts left. */
static int prune_round(int dirfd, int index_dirfd, struct audit_scan *s, uint64_t more_than, uint64_t total, const char *keep,
		       uint64_t *bytes, size_t *removed, struct error *err)
{
	size_t i;
	int r;

	for (i = 0; i < s->count && *bytes > total; i++) {
		struct audit_scan_log *log = &s->logs[i];
		_cleanup_close_ int lock = -EBADF;

		if (log->parts == 0 || (more_than && log->bytes <= more_than) || (keep && str_eq(log->name, keep)))
			continue;
		lock = lock_last(dirfd, log);
		if (lock < 0)
			continue;
		r = remove_log(dirfd, index_dirfd, log);
		if (r < 0)
			return error_set(err, r, "remove audit log %s", log->name);
		*bytes -= log->bytes;
		log->parts = 0;
		(*removed)++;
	}
	return 0;
}

int audit_store_prune(int dirfd, int index_dirfd, uint64_t total, const char *keep,
		      size_t *ret_removed, struct error *err)
{
	_cleanup_(audit_scan_done) struct audit_scan s = AUDIT_SCAN_NULL;
	uint64_t bytes = 0;
	size_t i, removed = 0;
	int r;

	assert(dirfd >= 0 && err);
	r = audit_scan_read(dirfd, &s, err);
	if (r < 0)
		return r;
	for (i = 0; i < s.count; i++)
		bytes += s.logs[i].bytes;
	/* A container that writes as much as it can must not thereby have the logs of others removed. */
	r = prune_round(dirfd, index_dirfd, &s, total / PRUNE_SHARE, total, keep, &bytes, &removed, err);
	if (r == 0)
		r = prune_round(dirfd, index_dirfd, &s, 0, total, keep, &bytes, &removed, err);
	if (r == 0 && ret_removed)
		*ret_removed = removed;
	return r;
}

/* Its parts but for the last are full. */
static uint64_t bytes_of(int dirfd, const char *name, uint32_t parts)
{
	char file[AUDIT_FILE_SIZE];
	struct stat st = { 0 };

	audit_name_file(name, parts, file);
	(void)fstatat(dirfd, file, &st, AT_SYMLINK_NOFOLLOW);
	return (uint64_t)(parts > 0 ? parts - 1 : 0) * AUDIT_PART_BYTES + (uint64_t)st.st_size;
}

bool audit_store_prune_due(int dirfd, int index_dirfd, const char *name, uint32_t parts, uint64_t total)
{
	_cleanup_close_ int fd = -EBADF;
	struct stat st;
	uint64_t sum;
	bool due;

	if (index_dirfd < 0)
		return true;
	/* Nothing is in it: its size is the count. */
	fd = openat(index_dirfd, COUNT_FILE, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 || flock(fd, LOCK_EX) < 0 || fstat(fd, &st) < 0)
		return true;
	sum = (uint64_t)st.st_size + bytes_of(dirfd, name, parts);
	/* The first since boot looks in any case. */
	due = st.st_size == 0 || sum >= total / PRUNE_SHARE;
	return ftruncate(fd, due ? 1 : (off_t)sum) < 0 || due;
}

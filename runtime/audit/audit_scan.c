/*
 * Reads the folder once and puts files together to logs. Anything else in it is left alone.
 */
#include "audit/audit_scan.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "audit/audit_name.h"

void audit_scan_done(struct audit_scan *s)
{
	size_t i;

	for (i = 0; i < s->count; i++)
		free(s->logs[i].name);
	free(s->logs);
	*s = AUDIT_SCAN_NULL;
}

static int add(struct audit_scan *s, const char *name, uint32_t part, uint64_t bytes)
{
	struct audit_scan_log *more;
	size_t room;
	char *copy;

	if (s->count == s->room) {
		room = s->room ? 2 * s->room : 64;
		if (room > AUDIT_LOGS_MAX)
			return -E2BIG;
		more = realloc(s->logs, room * sizeof(*more));
		if (!more)
			return -ENOMEM;
		s->logs = more;
		s->room = room;
	}
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	s->logs[s->count++] = (struct audit_scan_log){ copy, bytes, part };
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct audit_scan_log *)a)->name, ((const struct audit_scan_log *)b)->name);
}

static int by_start(const void *a, const void *b)
{
	const char *x = ((const struct audit_scan_log *)a)->name, *y = ((const struct audit_scan_log *)b)->name;
	struct audit_name p = { 0 }, q = { 0 };
	int r;

	(void)audit_name_parse(x, &p);
	(void)audit_name_parse(y, &q);
	r = strcmp(p.start, q.start);
	return r ? r : strcmp(x, y);
}

/* One entry for each log out of one for each file. */
static void join_parts(struct audit_scan *s)
{
	size_t i, n = 0;

	if (s->count)
		qsort(s->logs, s->count, sizeof(*s->logs), by_name);
	for (i = 0; i < s->count; i++) {
		if (n && strcmp(s->logs[n - 1].name, s->logs[i].name) == 0) {
			s->logs[n - 1].bytes += s->logs[i].bytes;
			s->logs[n - 1].parts = MAX(s->logs[n - 1].parts, s->logs[i].parts);
			free(s->logs[i].name);
			continue;
		}
		s->logs[n++] = s->logs[i];
	}
	s->count = n;
	if (n)
		qsort(s->logs, n, sizeof(*s->logs), by_start);
}

int audit_scan_read(int dirfd, struct audit_scan *ret, struct error *err)
{
	_cleanup_(audit_scan_done) struct audit_scan s = AUDIT_SCAN_NULL;
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_closedir_ DIR *d = fd < 0 ? NULL : fdopendir(fd);
	char name[AUDIT_NAME_SIZE];
	struct dirent *e;
	struct stat st;
	uint32_t part;
	int r = 0;

	assert(ret && err);
	if (!d) {
		r = error_set(err, -errno, "read the audit folder");
		if (fd >= 0)
			(void)close(fd);
		return r;
	}
	while (r == 0 && (errno = 0, e = readdir(d))) {
		if (!audit_name_of_file(e->d_name, name, &part) ||
		    fstatat(dirfd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
			continue;
		r = add(&s, name, part, (uint64_t)st.st_size);
	}
	if (r == 0 && errno)
		r = -errno;
	if (r < 0)
		return error_set(err, r, "read the audit folder");
	join_parts(&s);
	*ret = s;
	s = AUDIT_SCAN_NULL;
	return 0;
}

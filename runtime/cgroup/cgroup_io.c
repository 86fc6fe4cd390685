/*
 * Owns the smallest operations on cgroup folders and files. Knows file names only where
 * they tell which hierarchy is meant.
 */
#include "cgroup/cgroup_io.h"

#include <fcntl.h>
#include <time.h>

#include "cgroup/cgroup_host.h"
#include "util/fd.h"
#include "util/parse.h"
#include "util/str.h"

#define PAUSE_FIRST_US 100

const struct cgroup_dir *cgroup_dir_find(const struct cgroup *cg, const char *controller)
{
	size_t i;

	for (i = 0; i < cg->n_dirs; i++) {
		const char *list = cg->dirs[i].controllers;

		if (*controller ? cgroup_list_has(list, controller) : *list == '\0')
			return &cg->dirs[i];
	}
	return NULL;
}

const struct cgroup_dir *cgroup_dir_main(const struct cgroup *cg)
{
	/* A container cannot leave these by itself more easily than others; freezer comes first
	 * because what is listed must be what is frozen. */
	static const char *const order[] = { "freezer", "devices", "pids", "memory",
					     "name=systemd" };
	const struct cgroup_dir *d;
	size_t i;

	for (i = 0; i < ELEMENTSOF(order); i++) {
		d = cgroup_dir_find(cg, order[i]);
		if (d)
			return d;
	}
	return cg->n_dirs ? &cg->dirs[0] : NULL;
}

const struct cgroup_dir *cgroup_dir_freezer(const struct cgroup *cg, bool *ret_v2)
{
	const struct cgroup_dir *d = cgroup_dir_find(cg, "freezer");

	*ret_v2 = !d;
	return d ? d : cgroup_dir_find(cg, "");
}

int cgroup_open_dir(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	return fd < 0 ? -errno : fd;
}

ssize_t cgroup_read(int dirfd, const char *file, char *buf, size_t size)
{
	_cleanup_close_ int fd = -EBADF;
	size_t len = 0;
	ssize_t n;

	fd = openat(dirfd, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return -errno;
	while (len < size - 1) {
		n = read(fd, buf + len, size - 1 - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	if (len > 0 && buf[len - 1] == '\n')
		len--;
	buf[len] = '\0';
	return (ssize_t)len;
}

int cgroup_read_u64(int dirfd, const char *file, uint64_t *ret)
{
	char text[32];
	ssize_t n = cgroup_read(dirfd, file, text, sizeof(text));

	if (n < 0)
		return (int)n;
	if (str_eq(text, "max")) {
		*ret = UINT64_MAX;
		return 0;
	}
	return parse_u64(text, ret);
}

int cgroup_write(int dirfd, const char *file, const char *value)
{
	return file_write_once(dirfd, file, value, strlen(value));
}

uint64_t cgroup_key_value(const char *text, const char *key, uint64_t def)
{
	size_t len = strlen(key), digits;
	char number[24];
	uint64_t v;

	for (; text && *text; text = strchr(text, '\n') ? strchr(text, '\n') + 1 : NULL) {
		if (strncmp(text, key, len) != 0 || text[len] != ' ')
			continue;
		digits = strcspn(text + len + 1, "\n");
		if (digits >= sizeof(number))
			return def;
		memcpy(number, text + len + 1, digits);
		number[digits] = '\0';
		return parse_u64(number, &v) == 0 ? v : def;
	}
	return def;
}

bool cgroup_pause(struct cgroup_pause *p, unsigned max_step_us, unsigned total_us)
{
	struct timespec ts;

	if (p->slept_us >= total_us)
		return false;
	p->step_us = p->step_us ? MIN(p->step_us * 2, max_step_us) : PAUSE_FIRST_US;
	ts = (struct timespec){ .tv_sec = p->step_us / 1000000,
				.tv_nsec = (long)(p->step_us % 1000000) * 1000 };
	(void)nanosleep(&ts, NULL);
	p->slept_us += p->step_us;
	return true;
}

/*
 * Namespace descriptors: opening, checking, comparing, and the time namespace.
 * Making processes in namespaces is ns_spawn.c, id maps are ns_maps.c.
 */
#include "os/ns.h"

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "os/procfs.h"
#include "os/syscalls.h"
#include "util/fd.h"
#include "util/parse.h"

#define MAP_MAX ((size_t)64 * 1024)

static const struct ns_type {
	uint64_t type;
	const char *name;
	const char *proc_name;
} ns_types[] = {
	{ CLONE_NEWUSER, "user", "user" },	 { CLONE_NEWPID, "pid", "pid" },
	{ CLONE_NEWNET, "network", "net" },	 { CLONE_NEWNS, "mount", "mnt" },
	{ CLONE_NEWIPC, "ipc", "ipc" },		 { CLONE_NEWUTS, "uts", "uts" },
	{ CLONE_NEWCGROUP, "cgroup", "cgroup" }, { CLONE_NEWTIME, "time", "time" },
};

static const struct ns_type *ns_type_find(uint64_t type)
{
	size_t i;

	for (i = 0; i < ELEMENTSOF(ns_types); i++)
		if (ns_types[i].type == type)
			return &ns_types[i];
	return NULL;
}

const char *ns_type_name(uint64_t type)
{
	const struct ns_type *t = ns_type_find(type);

	return t ? t->name : "unknown";
}

const char *ns_proc_name(uint64_t type)
{
	const struct ns_type *t = ns_type_find(type);

	return t ? t->proc_name : "unknown";
}

int ns_open(const char *path, uint64_t type, int *ret_fd, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	struct statfs fs;
	int got;

	assert(path && ret_fd);
	assert(ns_type_find(type));

	/* O_NONBLOCK: a FIFO in that place must not stop us. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return error_set(err, -errno, "open %s namespace %s", ns_type_name(type), path);
	if (fstatfs(fd, &fs) < 0)
		return error_set(err, -errno, "stat %s namespace %s", ns_type_name(type), path);
	if (fs.f_type != NSFS_MAGIC)
		return error_text(err, -EINVAL, "%s namespace path %s is not a namespace",
				  ns_type_name(type), path);
	got = ioctl(fd, NS_GET_NSTYPE);
	if (got < 0)
		return error_set(err, -errno, "type of namespace %s", path);
	if ((uint64_t)(unsigned)got != type)
		return error_text(err, -EINVAL,
				  "namespace path %s is a %s namespace, not a %s namespace", path,
				  ns_type_name((uint64_t)(unsigned)got), ns_type_name(type));
	*ret_fd = take_fd(&fd);
	return 0;
}

int ns_is_own(int proc_fd, int fd, uint64_t type, bool *ret, struct error *err)
{
	_cleanup_close_ int own = -EBADF;
	struct stat a, b;
	int r;

	assert(fd >= 0 && ret);

	r = procfs_open_ns(proc_fd, 0, ns_proc_name(type), &own, err);
	if (r < 0)
		return r;
	if (fstat(fd, &a) < 0 || fstat(own, &b) < 0)
		return error_set(err, -errno, "stat %s namespace", ns_type_name(type));
	*ret = a.st_dev == b.st_dev && a.st_ino == b.st_ino;
	return 0;
}

int ns_ids_read(int proc_fd, struct ns_ids *ret, struct error *err)
{
	_cleanup_close_ int dir = -EBADF;
	struct stat st;
	size_t i;
	int r;

	static_assert(ELEMENTSOF(ns_types) == NS_TYPES, "one number for each type");

	r = procfs_openat(proc_fd, "self/ns", O_PATH | O_DIRECTORY, &dir, err);
	if (r < 0)
		return r;
	for (i = 0; i < NS_TYPES; i++) {
		const char *name = ns_types[i].type == CLONE_NEWTIME ? "time_for_children" : ns_types[i].proc_name;

		ret->ino[i] = 0;
		if (fstatat(dir, name, &st, 0) == 0)
			ret->ino[i] = st.st_ino;
		else if (errno != ENOENT)
			return error_set(err, -errno, "stat the %s namespace of this process", ns_types[i].name);
	}
	return 0;
}

static int expected_ino(const struct ns_join *joined, size_t n, uint64_t type, uint64_t *ret, struct error *err)
{
	struct stat st;
	size_t i;

	for (i = 0; i < n; i++) {
		if (joined[i].type != type)
			continue;
		if (fstat(joined[i].fd, &st) < 0)
			return error_set(err, -errno, "stat the %s namespace to be joined", ns_type_name(type));
		*ret = st.st_ino;
	}
	return 0;
}

int ns_ids_compare(const struct ns_ids *now, const struct ns_ids *host, uint64_t created, const struct ns_join *joined,
		   size_t n_joined, struct error *err)
{
	size_t i;
	int r;

	for (i = 0; i < NS_TYPES; i++) {
		const char *name = ns_types[i].name;
		uint64_t want = host->ino[i];

		if (created & ns_types[i].type) {
			if (now->ino[i] == host->ino[i])
				return error_text(err, -EPERM,
						  "verification of namespaces failed: the process is in the %s namespace of its creator",
						  name);
			continue;
		}
		r = expected_ino(joined, n_joined, ns_types[i].type, &want, err);
		if (r < 0)
			return r;
		if (now->ino[i] != want)
			return error_text(err, -EPERM,
					  "verification of namespaces failed: the process is not in the %s namespace that was decided",
					  name);
	}
	return 0;
}

bool ns_uid_unmapped(uid_t uid)
{
	_cleanup_free_ char *map = NULL, *overflow = NULL;
	struct error ignored = ERROR_NULL;
	unsigned first, outside, count;
	uint32_t unmapped;

	if (file_read_all(AT_FDCWD, "/proc/self/uid_map", MAP_MAX, &map, NULL, &ignored) < 0 ||
	    file_read_all(AT_FDCWD, "/proc/sys/kernel/overflowuid", MAP_MAX, &overflow, NULL, &ignored) < 0)
		return false;
	overflow[strcspn(overflow, "\n")] = '\0';
	if (parse_u32(overflow, &unmapped) < 0 || uid != unmapped)
		return false;
	return sscanf(map, "%u %u %u", &first, &outside, &count) == 3 &&
	       (first != 0 || outside != 0 || count != UINT32_MAX);
}

int ns_unshare_time(int proc_fd, const struct ns_time_offset *offsets, size_t count,
		    struct error *err)
{
	char text[256];
	size_t i, len = 0;
	int r;

	assert(count == 0 || offsets);

	if (unshare(CLONE_NEWTIME) < 0)
		return error_set(err, -errno, "make a time namespace");

	for (i = 0; i < count; i++) {
		if (strcmp(offsets[i].clock, "monotonic") != 0 &&
		    strcmp(offsets[i].clock, "boottime") != 0)
			return error_text(err, -EINVAL, "time offset of unknown clock \"%s\"",
					  offsets[i].clock);
		r = snprintf(text + len, sizeof(text) - len, "%s %" PRId64 " %" PRIu32 "\n",
			     offsets[i].clock, offsets[i].secs, offsets[i].nanosecs);
		if (r < 0 || (size_t)r >= sizeof(text) - len)
			return error_text(err, -E2BIG, "more time offsets than there are clocks");
		len += (size_t)r;
	}
	if (len == 0)
		return 0;
	/* The kernel takes all clocks in one write only. */
	r = procfs_write_self(proc_fd, "timens_offsets", text, len, err);
	if (r < 0)
		return error_prefix(err, "set time offsets");
	return 0;
}

/*
 * Random trees and random edits of them, the same for the same seed and the same tree, and a
 * listing that tells all that matters of a tree.
 */
#pragma once

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "snap/snap_tree.h"
#include "util/sha256.h"
#include "util/str.h"

struct world_rng { uint64_t state; };

/* What the kernel refuses is no edit. */
static inline void world_try(int r)
{
	(void)r;
}

static inline unsigned world_below(struct world_rng *rng, unsigned n)
{
	rng->state ^= rng->state << 13;
	rng->state ^= rng->state >> 7;
	rng->state ^= rng->state << 17;
	return (unsigned)((rng->state >> 11) % n);
}

/* Paths of a tree in the order of their bytes. */
struct world_paths {
	char *items[4096];
	size_t n;
};

static inline void world_paths_done(struct world_paths *p)
{
	while (p->n > 0)
		free(p->items[--p->n]);
}

static inline void world_collect(int top_fd, const char *path, struct world_paths *p)
{
	struct snap_names names = { 0 };
	struct error err = ERROR_NULL;
	struct stat st;
	size_t i;

	if (snap_names_read(top_fd, path, &names, &err) < 0)
		return;
	for (i = 0; i < names.n && p->n < ELEMENTSOF(p->items); i++) {
		char *child = snap_tree_join(path, names.items[i]);

		p->items[p->n++] = child;
		if (snap_tree_stat(top_fd, child, &st) == 0 && S_ISDIR(st.st_mode))
			world_collect(top_fd, child, p);
	}
	snap_names_done(&names);
}

static inline void world_attrs(int fd, struct buf *b)
{
	char path[32], list[4096], value[256];
	ssize_t n, m;
	char *p;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	n = listxattr(path, list, sizeof(list));
	for (p = list; n > 0 && p < list + n; p += strlen(p) + 1) {
		if (str_after(p, "security."))
			continue;
		m = getxattr(path, p, value, sizeof(value));
		buf_addf(b, " %s=%.*s", p, (int)MAX(m, (ssize_t)0), value);
	}
}

static inline void world_content(int top_fd, const char *path, const struct stat *st, struct buf *b)
{
	char hex[SHA256_HEX_SIZE], target[PATH_MAX];
	char *data = malloc((size_t)st->st_size + 1);
	int fd = snap_tree_open(top_fd, path, S_ISLNK(st->st_mode) ? O_PATH : O_RDONLY);
	ssize_t n = S_ISLNK(st->st_mode) ? readlinkat(fd, "", target, sizeof(target)) : read(fd, data, (size_t)st->st_size + 1);

	sha256_hex_of(S_ISLNK(st->st_mode) ? target : data, (size_t)MAX(n, (ssize_t)0), hex);
	buf_addf(b, " %lld %.12s", (long long)n, hex);
	(void)close(fd);
	free(data);
}

/* times: of modification, of regular files. links: which names are one file. */
static inline char *world_list(int top_fd, bool times, bool links)
{
	struct world_paths p = { .n = 0 };
	struct buf b = BUF_NULL;
	size_t i, k;

	world_collect(top_fd, "", &p);
	for (i = 0; i < p.n; i++) {
		int fd = snap_tree_open(top_fd, p.items[i], O_PATH);
		struct stat st = { 0 }, other;

		(void)fstat(fd, &st);
		buf_addf(&b, "%s %06o %u:%u", p.items[i], st.st_mode, st.st_uid, st.st_gid);
		if (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode))
			world_content(top_fd, p.items[i], &st, &b);
		if (times && S_ISREG(st.st_mode))
			buf_addf(&b, " %lld.%09ld", (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
		for (k = 0; k < i && links && !S_ISDIR(st.st_mode) && st.st_nlink > 1; k++)
			if (snap_tree_stat(top_fd, p.items[k], &other) == 0 && other.st_ino == st.st_ino && other.st_dev == st.st_dev) {
				buf_addf(&b, " = %s", p.items[k]);
				break;
			}
		if (!S_ISLNK(st.st_mode))
			world_attrs(fd, &b);
		buf_adds(&b, "\n");
		(void)close(fd);
	}
	world_paths_done(&p);
	buf_adds(&b, "");
	return buf_take(&b);
}

static inline void world_name(struct world_rng *rng, char name[16])
{
	static const char *const odd[] = { "a b", "-x", "\xc3\xa4", "n\nl", "\xff", "q\"uote" };
	unsigned n = world_below(rng, 40);

	(void)snprintf(name, 16, "%s%u", n < ELEMENTSOF(odd) ? odd[n] : "f", world_below(rng, 12));
}

/* A folder of the tree ("" = the top), malloc'ed. */
static inline char *world_folder(int top_fd, struct world_rng *rng)
{
	struct world_paths p = { .n = 0 };
	char *found = NULL;
	unsigned tries;
	struct stat st;

	world_collect(top_fd, "", &p);
	for (tries = 0; tries < 4 && p.n > 0 && !found; tries++) {
		const char *path = p.items[world_below(rng, (unsigned)p.n)];

		if (snap_tree_stat(top_fd, path, &st) == 0 && S_ISDIR(st.st_mode))
			found = strdup(path);
	}
	world_paths_done(&p);
	return found ? found : strdup("");
}

/* Any object; NULL when there is none. */
static inline char *world_object(int top_fd, struct world_rng *rng)
{
	struct world_paths p = { .n = 0 };
	char *found = NULL;

	world_collect(top_fd, "", &p);
	if (p.n > 0)
		found = strdup(p.items[world_below(rng, (unsigned)p.n)]);
	world_paths_done(&p);
	return found;
}

static inline void world_remove(int top_fd, const char *path)
{
	struct snap_names names = { 0 };
	struct error err = ERROR_NULL;
	size_t i;

	if (unlinkat(top_fd, path, 0) == 0)
		return;
	if (snap_names_read(top_fd, path, &names, &err) < 0)
		return;
	for (i = 0; i < names.n; i++) {
		char *child = snap_tree_join(path, names.items[i]);

		world_remove(top_fd, child);
		free(child);
	}
	snap_names_done(&names);
	(void)unlinkat(top_fd, path, AT_REMOVEDIR);
}

static inline void world_write(int fd, struct world_rng *rng, size_t max)
{
	char data[6000];
	size_t len = world_below(rng, (unsigned)MIN(max, sizeof(data)) + 1), i;
	bool text = world_below(rng, 2);

	for (i = 0; i < len; i++)
		data[i] = text ? "abc\n"[world_below(rng, 4)] : (char)world_below(rng, 256);
	if (write(fd, data, len) < 0)
		return;
}

/* Something new at folder/name, over whatever is there. */
static inline void world_make(int top_fd, const char *path, struct world_rng *rng)
{
	unsigned what = world_below(rng, 20);
	int fd;

	switch (what) {
	case 0:
	case 1:
	case 2:
	case 3:
		(void)mkdirat(top_fd, path, 0700 | world_below(rng, 64));
		return;
	case 4:
	case 5:
		world_try(symlinkat(world_below(rng, 2) ? "/etc" : "../x", top_fd, path));
		return;
	case 6:
		(void)mknodat(top_fd, path, S_IFIFO | 0640, 0);
		return;
	case 7:
		(void)mknodat(top_fd, path, S_IFSOCK | 0600, 0);
		return;
	default:
		fd = openat(top_fd, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600 | world_below(rng, 64));
		if (fd < 0)
			return;
		if (what < 10)
			world_try(ftruncate(fd, 5000 + (off_t)world_below(rng, 100000)));
		world_write(fd, rng, what < 12 ? 6000 : 80);
		(void)close(fd);
	}
}

static inline void world_edit_object(int top_fd, const char *path, struct world_rng *rng, char *other)
{
	unsigned what = world_below(rng, 13);
	struct stat st;
	char proc[40];
	int fd = -1;

	if (snap_tree_stat(top_fd, path, &st) < 0)
		return;
	if (S_ISREG(st.st_mode))
		fd = openat(top_fd, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	(void)snprintf(proc, sizeof(proc), "/proc/self/fd/%d", fd);
	if (what < 3 && fd >= 0) {
		(void)lseek(fd, (off_t)world_below(rng, (unsigned)st.st_size + 10), SEEK_SET);
		world_write(fd, rng, 200);
	} else if (what == 3 && fd >= 0) {
		world_try(ftruncate(fd, (off_t)world_below(rng, (unsigned)st.st_size * 2 + 100)));
	} else if (what == 4) {
		world_remove(top_fd, path);
	} else if (what == 5) { /* swapped for something else, perhaps of another type */
		world_remove(top_fd, path);
		world_make(top_fd, path, rng);
	} else if (what == 6 && !S_ISLNK(st.st_mode)) {
		world_try(fchmodat(top_fd, path, (S_ISDIR(st.st_mode) ? 0700 : 0400) | world_below(rng, 01000), 0));
	} else if (what == 7) {
		world_try(fchownat(top_fd, path, world_below(rng, 3), world_below(rng, 3), AT_SYMLINK_NOFOLLOW));
	} else if (what == 8 && fd >= 0) {
		(void)setxattr(proc, "user.test", "value", 1 + world_below(rng, 5), 0);
	} else if (what == 9 && fd >= 0) {
		const struct timespec when[2] = { { .tv_sec = world_below(rng, 1000) }, { .tv_sec = world_below(rng, 1000000) } };

		(void)futimens(fd, when);
	} else if (what == 10 && !S_ISDIR(st.st_mode)) {
		(void)renameat(top_fd, path, top_fd, other);
	} else if (what == 11 && !S_ISDIR(st.st_mode)) {
		world_try(linkat(top_fd, path, top_fd, other, 0));
	} else if (what == 12 && fd >= 0) { /* written anew, as editors do */
		world_remove(top_fd, path);
		world_make(top_fd, path, rng);
	}
	if (fd >= 0)
		(void)close(fd);
}

static inline void world_edit(int top_fd, struct world_rng *rng)
{
	char *folder = world_folder(top_fd, rng), *object, *path;
	char name[16];

	world_name(rng, name);
	path = snap_tree_join(folder, name);
	if (world_below(rng, 3) == 0) {
		world_make(top_fd, path, rng);
	} else {
		object = world_object(top_fd, rng);
		if (object)
			world_edit_object(top_fd, object, rng, path);
		free(object);
	}
	free(path);
	free(folder);
}

/*
 * Snapshots: copies of the image, whose blocks are shared where the host's filesystem can and
 * which holds nothing but the changes. The record is written last: an image without one is unfinished.
 *
 *   snap/NAME.img, snap/NAME.json
 */
#include <assert.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "snap/snap_private.h"
#include "snap/snap_tree.h"
#include "util/fd.h"
#include "util/json_dispatch.h"
#include "util/parse.h"
#include "util/time.h"

#ifndef EXT4_IOC_CHECKPOINT
#define EXT4_IOC_CHECKPOINT _IOW('f', 43, uint32_t) /* linux/ext4.h, 5.14 */
#endif

#define TAKEN_DIR "snap"
#define FILE_SIZE (SNAP_NAME_MAX + 16)

static const struct json_field fields[] = {
	{ "name", json_get_string, offsetof(struct snap_taken, name), JSON_REQUIRED | JSON_NOT_EMPTY, NULL },
	{ "comment", json_get_string, offsetof(struct snap_taken, comment), 0, NULL },
	{ "created", json_get_string, offsetof(struct snap_taken, created), JSON_REQUIRED, NULL },
	{ "number", json_get_u64, offsetof(struct snap_taken, number), JSON_REQUIRED, NULL },
	{ 0 },
};
static const struct json_object type = { .size = sizeof(struct snap_taken), .fields = fields };

static int check_name(const char *name, struct error *err)
{
	size_t len = strlen(name);

	if (len == 0 || len > SNAP_NAME_MAX || name[0] == '.' ||
	    name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+.-")])
		return error_text(err, -EINVAL, "a snapshot's name is made of at most %d letters, digits and \"_+.-\", and does not begin "
				  "with a dot%s", SNAP_NAME_MAX, strchr(name, '/') ? " (a path is named by --path)" : "");
	return 0;
}

static int open_taken(const struct snap *s, bool create, int *ret_fd, struct error *err)
{
	int fd;

	if (create && mkdirat(s->dir_fd, TAKEN_DIR, 0700) < 0 && errno != EEXIST)
		return error_set(err, -errno, "make the folder of snapshots");
	fd = openat(s->dir_fd, TAKEN_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT && !create ? SNAP_E_NOT_FOUND : error_set(err, -errno, "open the folder of snapshots");
	*ret_fd = fd;
	return 0;
}

static int no_snapshot(const char *name, struct error *err)
{
	return error_text(err, -ENOENT, "there is no snapshot %s", name);
}

int snap_taken_image(const struct snap *s, const char *name, int *ret_fd, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	char file[FILE_SIZE];
	int r = check_name(name, err);

	if (r == 0)
		r = open_taken(s, false, &fd, err);
	if (r != 0)
		return r < 0 ? r : no_snapshot(name, err);
	(void)snprintf(file, sizeof(file), "%s.json", name);
	if (faccessat(fd, file, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return no_snapshot(name, err);
	(void)snprintf(file, sizeof(file), "%s.img", name);
	*ret_fd = openat(fd, file, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	return *ret_fd < 0 ? error_set(err, -errno, "open snapshot %s", name) : 0;
}

static int by_number(const void *a, const void *b)
{
	const struct snap_taken *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static int read_one(int fd, const char *file, struct arena *arena, struct snap_taken *ret, struct error *err)
{
	_cleanup_(arena_done) struct arena scratch = ARENA_NULL;
	struct json_ctx ctx = { .name = file, .arena = arena };
	_cleanup_free_ char *text = NULL;
	char image[FILE_SIZE];
	struct json *root;
	struct stat st;
	size_t len;
	int r = file_read_all(fd, file, JSON_BYTES_MAX, &text, &len, err);

	if (r == 0)
		r = json_parse(file, text, len, 0, &scratch, &root, err);
	if (r == 0)
		r = json_dispatch(&ctx, &type, root, ret, err);
	if (r < 0)
		return r;
	(void)snprintf(image, sizeof(image), "%.*s.img", SNAP_NAME_MAX, ret->name);
	ret->bytes = fstatat(fd, image, &st, AT_SYMLINK_NOFOLLOW) == 0 ? (uint64_t)st.st_blocks * 512 : 0;
	return 0;
}

int snap_taken_read(const struct snap *s, struct snap_taken_list *ret, struct error *err)
{
	_cleanup_snap_names_ struct snap_names names = { 0 };
	_cleanup_close_ int fd = -EBADF;
	size_t i;
	int r = open_taken(s, false, &fd, err);

	if (r != 0)
		return r < 0 ? r : 0;
	r = snap_names_read(fd, "", &names, err);
	ret->items = r == 0 ? arena_calloc(&ret->arena, names.n + 1, sizeof(*ret->items)) : NULL;
	if (r == 0 && !ret->items)
		r = error_oom(err);
	for (i = 0; i < names.n && r == 0; i++) {
		size_t len = strlen(names.items[i]);

		if (names.items[i][0] == '.' || len <= 5 || !str_eq(names.items[i] + len - 5, ".json"))
			continue;
		r = read_one(fd, names.items[i], &ret->arena, &ret->items[ret->n], err);
		ret->n += r == 0;
	}
	if (r == 0 && ret->n > 0)
		qsort(ret->items, ret->n, sizeof(*ret->items), by_number);
	return r;
}

void snap_taken_done(struct snap_taken_list *l)
{
	arena_done(&l->arena);
	*l = (struct snap_taken_list){ 0 };
}

/* All of the filesystem is in the image file, outside its journal if it has one: from here on the file does not change. */
static int settle(int image_fd, struct error *err)
{
	_cleanup_close_ int mount_fd = -EBADF, top_fd = -EBADF;
	uint32_t flags = 0;
	int r = snap_image_mount(image_fd, 0, &mount_fd, err);

	if (r < 0)
		return r;
	top_fd = openat(mount_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (top_fd < 0 || syncfs(top_fd) < 0)
		return error_set(err, -errno, "write the session to its image");
	if (ioctl(top_fd, EXT4_IOC_CHECKPOINT, &flags) < 0 && errno != ENODEV)
		return error_set(err, -errno, "settle the image of the session (Linux 5.14 can)");
	return 0;
}

static int write_record(int fd, const struct snap_taken *t, struct error *err)
{
	_cleanup_json_writer_ struct json_writer *w = json_writer_new(2);
	_cleanup_free_ char *text = NULL;
	char file[FILE_SIZE];
	int r;

	if (!w)
		return error_oom(err);
	json_object_begin(w, NULL);
	json_string(w, "name", t->name);
	if (t->comment)
		json_string(w, "comment", t->comment);
	json_string(w, "created", t->created);
	json_u64(w, "number", t->number);
	json_object_end(w);
	r = json_take(w, &text, err);
	(void)snprintf(file, sizeof(file), "%s.json", t->name);
	return r < 0 ? r : file_replace(fd, file, text, strlen(text), 0600, 1, err);
}

static int choose_name(const struct snap_taken_list *l, const char *name, struct snap_taken *t, char text[24], struct error *err)
{
	size_t i;

	t->number = l->n > 0 ? l->items[l->n - 1].number + 1 : 1;
	if (l->n >= SNAP_TAKEN_MAX)
		return error_text(err, -E2BIG, "the session has %d snapshots already: remove one", SNAP_TAKEN_MAX);
	(void)snprintf(text, 24, "%llu", (unsigned long long)t->number);
	t->name = name ? (char *)name : text;
	for (i = 0; i < l->n; i++)
		if (str_eq(l->items[i].name, t->name))
			return error_text(err, -EEXIST, "there is a snapshot %s already", t->name);
	return 0;
}

int snap_take(const struct snap *s, const char *name, const char *comment, char **ret_name, struct error *err)
{
	_cleanup_snap_taken_ struct snap_taken_list list = { 0 };
	_cleanup_close_ int fd = -EBADF, image_fd = -EBADF, copy_fd = -EBADF;
	char number[24], created[TIME_RFC3339_SIZE], file[FILE_SIZE];
	struct snap_taken t = { .comment = (char *)comment, .created = created };
	struct timespec now;
	int r = name ? check_name(name, err) : 0;

	if (r == 0 && comment && strlen(comment) > SNAP_COMMENT_MAX)
		return error_text(err, -E2BIG, "the comment has more than %d bytes", SNAP_COMMENT_MAX);
	if (r == 0)
		r = snap_taken_read(s, &list, err);
	if (r == 0)
		r = choose_name(&list, name, &t, number, err);
	if (r == 0)
		r = open_taken(s, true, &fd, err);
	if (r < 0)
		return r;
	image_fd = openat(s->dir_fd, SNAP_IMAGE_FILE, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (image_fd < 0)
		return error_set(err, -errno, "open the image of the session");
	(void)clock_gettime(CLOCK_REALTIME, &now);
	time_rfc3339(&now, false, created);
	(void)snprintf(file, sizeof(file), "%s.img", t.name);
	r = snap_tree_remove(fd, file); /* unfinished */
	if (r < 0)
		return error_set(err, r, "remove an unfinished snapshot");
	r = settle(image_fd, err);
	if (r == 0)
		r = snap_image_copy(image_fd, fd, file, err);
	if (r == 0) {
		copy_fd = openat(fd, file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		if (copy_fd < 0 || fsync(copy_fd) < 0)
			r = error_set(err, -errno, "write snapshot %s to the disk", t.name);
	}
	if (r == 0)
		r = write_record(fd, &t, err);
	if (r < 0) {
		(void)snap_tree_remove(fd, file);
		return r;
	}
	assert(t.name);
	*ret_name = strdup(t.name);
	return *ret_name ? 0 : error_oom(err);
}

int snap_take_remove(const struct snap *s, const char *name, struct error *err)
{
	_cleanup_close_ int fd = -EBADF, image_fd = -EBADF;
	char file[FILE_SIZE];
	int r = snap_taken_image(s, name, &image_fd, err);

	if (r == 0)
		r = open_taken(s, false, &fd, err);
	if (r != 0)
		return r < 0 ? r : no_snapshot(name, err);
	(void)snprintf(file, sizeof(file), "%s.json", name);
	r = snap_tree_remove(fd, file);
	(void)snprintf(file, sizeof(file), "%s.img", name);
	if (r == 0)
		r = snap_tree_remove(fd, file);
	return r < 0 ? error_set(err, r, "remove snapshot %s", name) : 0;
}

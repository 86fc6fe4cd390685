/*
 * Owns the view over all containers below a root. Must not know what a record says:
 * one broken record must not hide the others.
 */
#include "state/state.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "util/str.h"

static int compare_ids(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool has_record(int root_fd, const char *id)
{
	_cleanup_close_ int fd = -EBADF;
	struct error ignored = ERROR_NULL;
	struct stat st;

	if (state_dir_open(root_fd, id, &fd, &ignored) != 0)
		return false;
	return fstatat(fd, STATE_FILE, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

static void free_list(char ***ids)
{
	state_list_free(*ids);
}

int state_list(int root_fd, char ***ret_ids, size_t *ret_count, struct error *err)
{
	_cleanup_(free_list) char **ids = NULL;
	_cleanup_closedir_ DIR *d = NULL;
	size_t count = 0, cap = 16;
	struct dirent *e;
	char **grown, *id;
	int fd;

	fd = openat(root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return error_set(err, -errno, "open the state folder");
	d = fdopendir(fd);
	if (!d) {
		(void)close(fd);
		return error_oom(err);
	}
	ids = calloc(cap, sizeof(*ids));
	if (!ids)
		return error_oom(err);
	while ((errno = 0, e = readdir(d))) {
		/* "." and ".." are no ids either. */
		if ((e->d_type != DT_DIR && e->d_type != DT_UNKNOWN) ||
		    !has_record(root_fd, e->d_name))
			continue;
		if (count + 2 > cap) {
			grown = reallocarray(ids, cap * 2, sizeof(*ids));
			if (!grown)
				return error_oom(err);
			ids = grown;
			cap *= 2;
		}
		id = strdup(e->d_name);
		if (!id)
			return error_oom(err);
		ids[count++] = id;
		ids[count] = NULL;
	}
	if (errno != 0)
		return error_set(err, -errno, "read the state folder");
	qsort(ids, count, sizeof(*ids), compare_ids);
	*ret_ids = take_ptr(ids);
	*ret_count = count;
	return 0;
}

void state_list_free(char **ids)
{
	char **p;

	for (p = ids; p && *p; p++)
		free(*p);
	free(ids);
}

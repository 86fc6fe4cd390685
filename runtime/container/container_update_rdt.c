/*
 * `update` of Intel RDT: new schema lines for the resource control group that create
 * made for this container. A group that others made is theirs and is left alone.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "container/container.h"
#include "util/fd.h"
#include "util/str.h"

static int write_schema(int group_fd, const char *schema, struct error *err)
{
	_cleanup_free_ char *line = str_printf("%s\n", schema);
	int r;

	if (!line)
		return error_oom(err);
	r = file_write_once(group_fd, "schemata", line, strlen(line));
	return r < 0 ? error_set(err, r, "intel RDT: write \"%s\" to schemata", schema) : 0;
}

int container_update_rdt(const struct container_env *env, const char *id, const char *l3_cache,
			 const char *mem_bw, struct error *err)
{
	_cleanup_(container_view_done) struct container_view view = { 0 };
	_cleanup_close_ int group_fd = -EBADF;
	const char *path;
	int r;

	r = container_view_open(env, id, &view, err);
	if (r < 0)
		return r;
	path = view.record->intel_rdt_group;
	if (!path)
		return error_text(
			err, -EINVAL,
			"intel RDT: the container has no resource control group of its own; "
			"it gets one from linux.intelRdt in its configuration");
	group_fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (group_fd < 0)
		return error_set(err, -errno, "intel RDT: open %s", path);
	if (l3_cache)
		r = write_schema(group_fd, l3_cache, err);
	if (r == 0 && mem_bw)
		r = write_schema(group_fd, mem_bw, err);
	return r;
}

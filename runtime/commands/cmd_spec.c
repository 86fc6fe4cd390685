/*
 * `spec`: writes a default config.json into a bundle.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "commands/commands.h"
#include "util/fd.h"

#define CONFIG_FILE "config.json"

struct spec_options {
	const char *bundle;
	bool rootless;
};

static const struct command_option options[] = {
	COMMAND_OPTION("bundle", 'b', OPTION_STRING, struct spec_options, bundle, "DIR",
		       "folder to write config.json into (default: .)"),
	COMMAND_OPTION("rootless", 0, OPTION_FLAG, struct spec_options, rootless, NULL,
		       "for an unprivileged user: own user namespace, no cgroup limits"),
	{ 0 },
};

/*
 * Only there do containers get a cgroup namespace by default, as with other runtimes: configurations
 * and tests made for cgroup v1 add one themselves.
 */
static bool cgroups_unified(void)
{
	struct statfs fs;

	return statfs("/sys/fs/cgroup", &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC;
}

static int run(struct command_ctx *ctx, void *opts, const struct command_args *args,
	       struct error *err)
{
	const struct spec_options *o = opts;
	const char *bundle = o->bundle ? o->bundle : ".";
	_cleanup_close_ int dir = -EBADF, fd = -EBADF;
	_cleanup_free_ char *text = NULL;
	int r;

	r = spec_default_json(o->rootless, cgroups_unified(), geteuid(), getegid(), &text, err);
	if (r < 0)
		return r;
	dir = open(bundle, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return error_set(err, -errno, "open bundle %s", bundle);
	/* O_EXCL: a configuration that is already there is somebody's work. */
	fd = openat(dir, CONFIG_FILE, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0 && errno == EEXIST)
		return error_text(err, -EEXIST,
				  "%s/" CONFIG_FILE " exists already: remove it first", bundle);
	if (fd < 0)
		return error_set(err, -errno, "create %s/" CONFIG_FILE, bundle);
	r = fd_write_all(fd, text, strlen(text));
	if (r == 0)
		r = fd_write_all(fd, "\n", 1);
	if (r < 0) {
		(void)unlinkat(dir, CONFIG_FILE, 0);
		return error_set(err, r, "write %s/" CONFIG_FILE, bundle);
	}
	return 0;
}

const struct command cmd_spec = {
	.name = "spec",
	.summary = "write a default config.json",
	.synopsis = "[options]",
	.options = options,
	.options_size = sizeof(struct spec_options),
	.max_args = 0,
	.run = run,
};

/*
 * `restore`: the counterpart of checkpoint; its options are known to engines, but
 * this build has no CRIU support and says so.
 */
#include <errno.h>

#include "commands/commands.h"

static const struct command_option options[] = {
	COMMAND_OPTION_UNUSED("bundle", 'b', "DIR",
			      "folder with config.json and the root filesystem (default: .)"),
	COMMAND_OPTION_UNUSED("image-path", 0, "DIR", "folder of the images"),
	COMMAND_OPTION_UNUSED("work-path", 0, "DIR", "folder for logs and scratch files"),
	COMMAND_OPTION_UNUSED("parent-path", 0, "DIR", "folder of an earlier pre-dump"),
	COMMAND_OPTION_UNUSED("detach", 'd', NULL, "return as soon as the container runs"),
	COMMAND_OPTION_UNUSED("pid-file", 0, "FILE", "write the process id to this file"),
	COMMAND_OPTION_UNUSED("console-socket", 0, "SOCKET",
			      "send the terminal's master to this socket"),
	COMMAND_OPTION_UNUSED("no-pivot", 0, NULL,
			      "move the root instead of pivot_root; for roots on a ramdisk"),
	COMMAND_OPTION_UNUSED("no-subreaper", 0, NULL, "do not adopt the container's orphans"),
	COMMAND_OPTION_UNUSED("tcp-established", 0, NULL, "restore open TCP connections"),
	COMMAND_OPTION_UNUSED("tcp-close", 0, NULL, "restore TCP connections as closed"),
	COMMAND_OPTION_UNUSED("link-remap", 0, NULL, "allow links to deleted files"),
	COMMAND_OPTION_UNUSED("ext-unix-sk", 0, NULL, "allow sockets of outside processes"),
	COMMAND_OPTION_UNUSED("shell-job", 0, NULL, "allow a terminal of an outside session"),
	COMMAND_OPTION_UNUSED("file-locks", 0, NULL, "restore file locks"),
	COMMAND_OPTION_UNUSED("manage-cgroups-mode", 0, "MODE",
			      "soft (default), full, strict or ignore"),
	COMMAND_OPTION_UNUSED("empty-ns", 0, "NAMESPACE",
			      "leave a namespace's content out; may be repeated"),
	COMMAND_OPTION_UNUSED("auto-dedup", 0, NULL, "drop pages that were restored"),
	COMMAND_OPTION_UNUSED("lazy-pages", 0, NULL, "fetch memory pages on demand"),
	COMMAND_OPTION_UNUSED("lsm-profile", 0, "PROFILE", "security label to restore with"),
	COMMAND_OPTION_UNUSED("lsm-mount-context", 0, "CONTEXT",
			      "SELinux mount context to restore with"),
	{ 0 },
};

static int run(struct command_ctx *ctx, void *opts, const struct command_args *args,
	       struct error *err)
{
	return error_text(err, -EOPNOTSUPP,
			  "restore is not available: this build has no CRIU support");
}

const struct command cmd_restore = {
	.name = "restore",
	.summary = "continue a container saved by checkpoint (not in this build)",
	.synopsis = "[options] ID",
	.options = options,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};

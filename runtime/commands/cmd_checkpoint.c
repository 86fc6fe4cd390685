/*
 * `checkpoint`: its options are known, because engines probe them with --help, but
 * this build has no CRIU support and says so.
 */
#include <errno.h>

#include "commands/commands.h"

static const struct command_option options[] = {
	COMMAND_OPTION_UNUSED("image-path", 0, "DIR", "folder for the images"),
	COMMAND_OPTION_UNUSED("work-path", 0, "DIR", "folder for logs and scratch files"),
	COMMAND_OPTION_UNUSED("parent-path", 0, "DIR", "folder of an earlier pre-dump"),
	COMMAND_OPTION_UNUSED("leave-running", 0, NULL, "let the container go on afterwards"),
	COMMAND_OPTION_UNUSED("tcp-established", 0, NULL, "allow open TCP connections"),
	COMMAND_OPTION_UNUSED("tcp-skip-in-flight", 0, NULL,
			      "skip TCP connections that are being set up"),
	COMMAND_OPTION_UNUSED("tcp-close", 0, NULL, "close TCP connections"),
	COMMAND_OPTION_UNUSED("link-remap", 0, NULL, "allow links to deleted files"),
	COMMAND_OPTION_UNUSED("ext-unix-sk", 0, NULL, "allow sockets of outside processes"),
	COMMAND_OPTION_UNUSED("shell-job", 0, NULL, "allow a terminal of an outside session"),
	COMMAND_OPTION_UNUSED("lazy-pages", 0, NULL, "serve memory pages on demand"),
	COMMAND_OPTION_UNUSED("status-fd", 0, "FD",
			      "write a byte here when lazy pages can be served"),
	COMMAND_OPTION_UNUSED("page-server", 0, "ADDRESS:PORT", "send pages to this server"),
	COMMAND_OPTION_UNUSED("file-locks", 0, NULL, "include file locks"),
	COMMAND_OPTION_UNUSED("pre-dump", 0, NULL, "dump memory only and let the container go on"),
	COMMAND_OPTION_UNUSED("manage-cgroups-mode", 0, "MODE",
			      "soft (default), full, strict or ignore"),
	COMMAND_OPTION_UNUSED("empty-ns", 0, "NAMESPACE",
			      "leave a namespace's content out; may be repeated"),
	COMMAND_OPTION_UNUSED("auto-dedup", 0, NULL, "drop pages that a later dump replaces"),
	{ 0 },
};

static int run(struct command_ctx *ctx, void *opts, const struct command_args *args,
	       struct error *err)
{
	return error_text(err, -EOPNOTSUPP,
			  "checkpoint is not available: this build has no CRIU support");
}

const struct command cmd_checkpoint = {
	.name = "checkpoint",
	.summary = "save a running container to disk (not in this build)",
	.synopsis = "[options] ID",
	.options = options,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};

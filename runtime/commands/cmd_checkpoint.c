/*
 * `checkpoint`: saves a running container to files by criu(8).
 */
#include "commands/commands.h"

struct opts {
	struct container_checkpoint_options o;
	struct command_strings empty_ns;
};

#define OPT(name, kind, member, value, help) COMMAND_OPTION(name, 0, kind, struct opts, o.member, value, help)

static const struct command_option options[] = {
	OPT("image-path", OPTION_STRING, image_path, "DIR", "folder for the images (default: checkpoint)"),
	OPT("work-path", OPTION_STRING, work_path, "DIR", "folder for logs and scratch files (default: that of the images)"),
	OPT("parent-path", OPTION_STRING, parent_path, "DIR", "folder of an earlier pre-dump, relative to the images"),
	OPT("leave-running", OPTION_FLAG, leave_running, NULL, "let the container go on afterwards"),
	OPT("tcp-established", OPTION_FLAG, tcp_established, NULL, "allow open TCP connections"),
	OPT("tcp-skip-in-flight", OPTION_FLAG, tcp_skip_in_flight, NULL, "skip TCP connections that are being set up"),
	OPT("tcp-close", OPTION_FLAG, tcp_close, NULL, "close TCP connections"),
	OPT("link-remap", OPTION_FLAG, link_remap, NULL, "allow links to deleted files"),
	OPT("ext-unix-sk", OPTION_FLAG, ext_unix_sk, NULL, "allow sockets of outside processes"),
	OPT("shell-job", OPTION_FLAG, shell_job, NULL, "allow a terminal of an outside session"),
	OPT("lazy-pages", OPTION_FLAG, lazy_pages, NULL, "serve memory pages on demand"),
	OPT("status-fd", OPTION_U32, status_fd, "FD", "write a byte here when lazy pages can be served"),
	OPT("page-server", OPTION_STRING, page_server, "ADDRESS:PORT", "send pages to this server"),
	OPT("file-locks", OPTION_FLAG, file_locks, NULL, "include file locks"),
	OPT("pre-dump", OPTION_FLAG, pre_dump, NULL, "dump memory only and let the container go on"),
	OPT("manage-cgroups-mode", OPTION_STRING, manage_cgroups, "MODE", "soft (default), full, strict or ignore"),
	COMMAND_OPTION("empty-ns", 0, OPTION_STRINGS, struct opts, empty_ns, "NAMESPACE",
		       "leave a namespace's content out; may be repeated"),
	OPT("auto-dedup", OPTION_FLAG, auto_dedup, NULL, "drop pages that a later dump replaces"),
	{ 0 },
};

static int run(struct command_ctx *ctx, void *opts, const struct command_args *args,
	       struct error *err)
{
	struct opts *o = opts;

	o->o.id = args->items[0];
	o->o.empty_ns = o->empty_ns.items;
	o->o.n_empty_ns = o->empty_ns.count;
	return container_checkpoint(ctx->env, &o->o, err);
}

const struct command cmd_checkpoint = {
	.name = "checkpoint",
	.summary = "save a running container to disk",
	.synopsis = "[options] ID",
	.options = options,
	.options_size = sizeof(struct opts),
	.min_args = 1,
	.max_args = 1,
	.run = run,
};

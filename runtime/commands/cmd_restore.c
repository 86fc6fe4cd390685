/*
 * `restore`: the counterpart of checkpoint; in the foreground the exit status is the program's.
 */
#include "commands/commands.h"

struct opts {
	struct container_restore_options o;
	struct command_strings empty_ns;
	const char *parent_path; /* the images know theirs */
};

#define OPT(name, short_name, kind, member, value, help) \
	COMMAND_OPTION(name, short_name, kind, struct opts, member, value, help)

static const struct command_option options[] = {
	OPT("bundle", 'b', OPTION_STRING, o.create.bundle, "DIR",
	    "folder with config.json and the root filesystem (default: .)"),
	OPT("image-path", 0, OPTION_STRING, o.image_path, "DIR", "folder of the images (default: checkpoint)"),
	OPT("work-path", 0, OPTION_STRING, o.work_path, "DIR",
	    "folder for logs and scratch files (default: that of the images)"),
	OPT("parent-path", 0, OPTION_STRING, parent_path, "DIR", "without effect: the images name their parent"),
	OPT("detach", 'd', OPTION_FLAG, o.create.detach, NULL, "return as soon as the container runs"),
	OPT("pid-file", 0, OPTION_STRING, o.create.pid_file, "FILE", "write the process id to this file"),
	OPT("console-socket", 0, OPTION_STRING, o.create.console_socket, "SOCKET",
	    "send the terminal's master to this socket"),
	OPT("no-pivot", 0, OPTION_FLAG, o.create.no_pivot, NULL, "without effect: criu changes the root"),
	OPT("no-subreaper", 0, OPTION_FLAG, o.create.no_subreaper, NULL, "do not adopt the container's orphans"),
	OPT("tcp-established", 0, OPTION_FLAG, o.tcp_established, NULL, "restore open TCP connections"),
	OPT("tcp-close", 0, OPTION_FLAG, o.tcp_close, NULL, "restore TCP connections as closed"),
	OPT("link-remap", 0, OPTION_FLAG, o.link_remap, NULL, "allow links to deleted files"),
	OPT("ext-unix-sk", 0, OPTION_FLAG, o.ext_unix_sk, NULL, "allow sockets of outside processes"),
	OPT("shell-job", 0, OPTION_FLAG, o.shell_job, NULL, "allow a terminal of an outside session"),
	OPT("file-locks", 0, OPTION_FLAG, o.file_locks, NULL, "restore file locks"),
	OPT("manage-cgroups-mode", 0, OPTION_STRING, o.manage_cgroups, "MODE", "soft (default), full, strict or ignore"),
	OPT("empty-ns", 0, OPTION_STRINGS, empty_ns, "NAMESPACE", "leave a namespace's content out; may be repeated"),
	OPT("auto-dedup", 0, OPTION_FLAG, o.auto_dedup, NULL, "drop pages that were restored"),
	OPT("lazy-pages", 0, OPTION_FLAG, o.lazy_pages, NULL, "fetch memory pages on demand"),
	OPT("lsm-profile", 0, OPTION_STRING, o.lsm_profile, "PROFILE", "security label to restore with"),
	OPT("lsm-mount-context", 0, OPTION_STRING, o.lsm_mount_context, "CONTEXT", "SELinux mount context to restore with"),
	{ 0 },
};

static int run(struct command_ctx *ctx, void *opts, const struct command_args *args,
	       struct error *err)
{
	struct opts *o = opts;

	o->o.create.id = args->items[0];
	o->o.empty_ns = o->empty_ns.items;
	o->o.n_empty_ns = o->empty_ns.count;
	return container_restore(ctx->env, &o->o, &ctx->exit_status, err);
}

const struct command cmd_restore = {
	.name = "restore",
	.summary = "continue a container saved by checkpoint",
	.synopsis = "[options] ID",
	.options = options,
	.options_size = sizeof(struct opts),
	.min_args = 1,
	.max_args = 1,
	.protect = container_self_protect,
	.run = run,
};

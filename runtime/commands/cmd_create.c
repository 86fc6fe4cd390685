/*
 * `create`: prepares a container up to the start gate.
 */
#include "commands/commands.h"

#define OPT(name, short_name, kind, member, value, help) \
	COMMAND_OPTION(name, short_name, kind, struct container_create_options, member, value, help)

static const struct command_option options[] = {
	OPT("bundle", 'b', OPTION_STRING, bundle, "DIR",
	    "folder with config.json and the root filesystem (default: .)"),
	OPT("config", 'f', OPTION_STRING, config, "FILE",
	    "configuration to use instead of the bundle's config.json"),
	OPT("console-socket", 0, OPTION_STRING, console_socket, "SOCKET",
	    "send the terminal's master to this socket"),
	OPT("pidfd-socket", 0, OPTION_STRING, pidfd_socket, "SOCKET",
	    "send a pidfd of the process to this socket"),
	OPT("pid-file", 0, OPTION_STRING, pid_file, "FILE", "write the process id to this file"),
	OPT("no-pivot", 0, OPTION_FLAG, no_pivot, NULL,
	    "move the root instead of pivot_root; for roots on a ramdisk"),
	OPT("no-new-keyring", 0, OPTION_FLAG, no_new_keyring, NULL,
	    "keep the caller's session keyring"),
	OPT("no-subreaper", 0, OPTION_FLAG, no_subreaper, NULL,
	    "accepted; create never is a subreaper"),
	OPT("preserve-fds", 0, OPTION_U32, preserve_fds, "N",
	    "pass descriptors 3 to 3+N-1 on to the container"),
	{ 0 },
};

static int run(struct command_ctx *ctx, void *opts, const struct command_args *args,
	       struct error *err)
{
	struct container_create_options *o = opts;

	o->id = args->items[0];
	return container_create(ctx->env, o, err);
}

const struct command cmd_create = {
	.name = "create",
	.summary = "prepare a container; start runs its program",
	.synopsis = "[options] ID",
	.options = options,
	.options_size = sizeof(struct container_create_options),
	.min_args = 1,
	.max_args = 1,
	.protect = container_self_protect,
	.run = run,
};

/*
 * `exec`: one more process in a container, described by a process document or on
 * the command line.
 */
#include <errno.h>

#include "commands/commands.h"

struct exec_options {
	struct container_exec_options o;
	struct command_strings env, caps, cgroups;
	struct command_u32s gids;
};

#define OPT(name, short_name, kind, member, value, help) \
	COMMAND_OPTION(name, short_name, kind, struct exec_options, member, value, help)

static const struct command_option options[] = {
	OPT("process", 'p', OPTION_STRING, o.process_file, "FILE",
	    "JSON document that describes the process"),
	OPT("detach", 'd', OPTION_FLAG, o.detach, NULL, "return as soon as the program runs"),
	OPT("tty", 't', OPTION_FLAG, o.tty, NULL, "give the process a terminal"),
	OPT("cwd", 0, OPTION_STRING, o.cwd, "DIR", "working directory in the container"),
	OPT("env", 'e', OPTION_STRINGS, env, "KEY=VALUE", "set a variable; may be repeated"),
	OPT("user", 'u', OPTION_STRING, o.user, "UID[:GID]", "user and group to run as"),
	OPT("additional-gids", 'g', OPTION_U32S, gids, "GID",
	    "supplementary group; may be repeated"),
	OPT("cap", 'c', OPTION_STRINGS, caps, "CAP", "add a capability; may be repeated"),
	OPT("no-new-privs", 0, OPTION_FLAG, o.no_new_privs, NULL,
	    "deny the process any gain of privilege"),
	OPT("apparmor", 0, OPTION_STRING, o.apparmor, "PROFILE", "AppArmor profile of the process"),
	OPT("process-label", 0, OPTION_STRING, o.label, "LABEL", "SELinux label of the process"),
	OPT("cgroup", 0, OPTION_STRINGS, cgroups, "[CTRL:]PATH",
	    "sub-cgroup to run in; may be repeated"),
	OPT("ignore-paused", 0, OPTION_FLAG, o.ignore_paused, NULL,
	    "allow it in a paused container"),
	OPT("console-socket", 0, OPTION_STRING, o.console_socket, "SOCKET",
	    "send the terminal's master to this socket"),
	OPT("pidfd-socket", 0, OPTION_STRING, o.pidfd_socket, "SOCKET",
	    "send a pidfd of the process to this socket"),
	OPT("pid-file", 0, OPTION_STRING, o.pid_file, "FILE", "write the process id to this file"),
	OPT("preserve-fds", 0, OPTION_U32, o.preserve_fds, "N",
	    "pass descriptors 3 to 3+N-1 on to the process"),
	{ 0 },
};

static int run(struct command_ctx *ctx, void *opts, const struct command_args *args,
	       struct error *err)
{
	struct exec_options *x = opts;
	struct container_exec_options *o = &x->o;

	if (!o->process_file && args->count < 2)
		return error_text(err, -EINVAL,
				  "no program given: name it after the id, or use --process");
	o->id = args->items[0];
	o->args = o->process_file ? NULL : args->items + 1;
	o->env = x->env.items;
	o->n_env = x->env.count;
	o->caps = x->caps.items;
	o->n_caps = x->caps.count;
	o->cgroups = x->cgroups.items;
	o->n_cgroups = x->cgroups.count;
	o->additional_gids = x->gids.items;
	o->n_gids = x->gids.count;
	return container_exec(ctx->env, o, &ctx->exit_status, err);
}

const struct command cmd_exec = {
	.name = "exec",
	.summary = "run a further process in a container",
	.synopsis = "[options] ID [COMMAND [ARG...]]",
	.options = options,
	.options_size = sizeof(struct exec_options),
	.options_first = true,
	.min_args = 1,
	.max_args = COMMAND_ARGS_ANY,
	.error_prefix = "exec failed",
	.error_status = 255,
	.protect = container_self_protect,
	.run = run,
};

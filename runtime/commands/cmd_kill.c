/*
 * `kill`: a signal to the container's first process, or to all of them.
 */
#include <errno.h>
#include <signal.h>

#include "commands/commands.h"
#include "util/parse.h"

struct kill_options {
	bool all, regex;
};

struct kill_job {
	int sig;
	bool all;
};

static const struct command_option options[] = {
	COMMAND_OPTION("all", 'a', OPTION_FLAG, struct kill_options, all, NULL,
		       "signal every process of the container"),
	COMMAND_OPTION("regex", 'r', OPTION_FLAG, struct kill_options, regex, NULL,
		       "ID is a regular expression: signal every container whose id matches"),
	{ 0 },
};

static int kill_one(struct command_ctx *ctx, const char *id, const void *arg, struct error *err)
{
	const struct kill_job *job = arg;

	return container_kill(ctx->env, id, job->sig, job->all, err);
}

static int run(struct command_ctx *ctx, void *opts, const struct command_args *args,
	       struct error *err)
{
	const struct kill_options *o = opts;
	struct kill_job job = { .sig = SIGTERM, .all = o->all };

	/* kill(2)'s 0: nothing is sent, only looked whether it could be. */
	if (args->count > 1 && str_eq(args->items[1], "0"))
		job.sig = 0;
	else if (args->count > 1 && parse_signal(args->items[1], &job.sig) < 0)
		return error_text(err, -EINVAL, "unknown signal \"%s\"", args->items[1]);
	return command_for_each(ctx, args->items[0], o->regex, kill_one, &job, err);
}

const struct command cmd_kill = {
	.name = "kill",
	.summary = "send a signal to a container",
	.synopsis = "[options] ID [SIGNAL]",
	.details = "SIGNAL is a number or a name with or without SIG; the default is TERM. 0 only\n"
		   "checks that there is something to signal.",
	.options = options,
	.options_size = sizeof(struct kill_options),
	.options_first = true,
	.min_args = 1,
	.max_args = 2,
	.run = run,
};

/*
 * `pause` and `resume`: the freezer.
 */
#include "commands/commands.h"

static int run_pause(struct command_ctx *ctx, void *opts, const struct command_args *args,
		     struct error *err)
{
	return container_pause(ctx->env, args->items[0], err);
}

static int run_resume(struct command_ctx *ctx, void *opts, const struct command_args *args,
		      struct error *err)
{
	return container_resume(ctx->env, args->items[0], err);
}

const struct command cmd_pause = {
	.name = "pause",
	.summary = "freeze all processes of a container",
	.synopsis = "ID",
	.min_args = 1,
	.max_args = 1,
	.run = run_pause,
};

const struct command cmd_resume = {
	.name = "resume",
	.summary = "let a paused container go on",
	.synopsis = "ID",
	.min_args = 1,
	.max_args = 1,
	.run = run_resume,
};

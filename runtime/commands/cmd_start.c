/*
 * `start`: lets a created container run its program.
 */
#include "commands/commands.h"

static int run(struct command_ctx *ctx, void *opts, const struct command_args *args,
	       struct error *err)
{
	return container_start(ctx->env, args->items[0], err);
}

const struct command cmd_start = {
	.name = "start",
	.summary = "run the program of a created container",
	.synopsis = "ID",
	.min_args = 1,
	.max_args = 1,
	.run = run,
};

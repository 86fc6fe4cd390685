/*
 * `state`: the OCI state document of one container.
 */
#include "commands/commands.h"

static int run(struct command_ctx *ctx, void *opts, const struct command_args *args,
	       struct error *err)
{
	_cleanup_(container_view_done) struct container_view view = { 0 };
	_cleanup_free_ char *json = NULL;
	int r;

	r = container_view_open(ctx->env, args->items[0], &view, err);
	if (r < 0)
		return r;
	r = container_state_json(&view, 2, false, &json, err);
	if (r < 0)
		return r;
	return command_write(ctx, json, true, err);
}

const struct command cmd_state = {
	.name = "state",
	.summary = "print the state of a container as JSON",
	.synopsis = "ID",
	.min_args = 1,
	.max_args = 1,
	.run = run,
};

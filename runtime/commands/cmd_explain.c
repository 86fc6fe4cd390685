/*
 * `explain`: what the policy made of a container's request, and what is in force.
 */
#include "commands/commands.h"

struct explain_options {
	bool json;
};

static const struct command_option options[] = {
	COMMAND_OPTION("json", 0, OPTION_FLAG, struct explain_options, json, NULL, "print JSON"),
	{ 0 },
};

static int run(struct command_ctx *ctx, void *opts, const struct command_args *args, struct error *err)
{
	const struct explain_options *o = opts;
	_cleanup_free_ char *text = NULL;
	int r = container_explain(ctx->env, args->items[0], o->json, &text, err);

	return r < 0 ? r : o->json ? command_write(ctx, text, true, err) : command_print(ctx, text, err);
}

const struct command cmd_explain = {
	.name = "explain",
	.summary = "say what is in force on a container, and why",
	.synopsis = "[options] ID",
	.options = options,
	.options_size = sizeof(struct explain_options),
	.min_args = 1,
	.max_args = 1,
	.run = run,
};

/*
 * `delete`: removes a stopped container and everything that create made for it.
 */
#include "commands/commands.h"

struct delete_options {
	bool force, regex;
};

static const struct command_option options[] = {
	COMMAND_OPTION("force", 'f', OPTION_FLAG, struct delete_options, force, NULL,
		       "kill a running container first; an unknown id is no error"),
	COMMAND_OPTION("regex", 'r', OPTION_FLAG, struct delete_options, regex, NULL,
		       "ID is a regular expression: delete every container whose id matches"),
	{ 0 },
};

static int delete_one(struct command_ctx *ctx, const char *id, const void *arg, struct error *err)
{
	const struct delete_options *o = arg;

	return container_delete(ctx->env, id, o->force, err);
}

static int run(struct command_ctx *ctx, void *opts, const struct command_args *args,
	       struct error *err)
{
	const struct delete_options *o = opts;

	return command_for_each(ctx, args->items[0], o->regex, delete_one, o, err);
}

const struct command cmd_delete = {
	.name = "delete",
	.summary = "remove a container",
	.synopsis = "[options] ID",
	.options = options,
	.options_size = sizeof(struct delete_options),
	.min_args = 1,
	.max_args = 1,
	.run = run,
};

/*
 * `ps`: the processes of a container, as host process ids or through ps(1).
 */
#include "commands/commands.h"

struct ps_options {
	const char *format;
};

static const struct command_option options[] = {
	COMMAND_OPTION("format", 'f', OPTION_STRING, struct ps_options, format, "FORMAT",
		       "table (default) or json: an array of host process ids"),
	{ 0 },
};

static int print_json(struct command_ctx *ctx, const char *id, struct error *err)
{
	_cleanup_buf_ struct buf b = BUF_NULL;
	_cleanup_free_ pid_t *pids = NULL;
	size_t count = 0;
	int r = container_pids(ctx->env, id, &pids, &count, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++)
		buf_addf(&b, "%c%d", i ? ',' : '[', (int)pids[i]);
	buf_adds(&b, count ? "]\n" : "null\n");
	return command_write_buf(ctx, &b, err);
}

static int run(struct command_ctx *ctx, void *opts, const struct command_args *args,
	       struct error *err)
{
	const struct ps_options *o = opts;
	_cleanup_free_ char *table = NULL;
	bool json;
	int r = command_parse_format(o->format, &json, err);

	if (r < 0)
		return r;
	if (json)
		return print_json(ctx, args->items[0], err);
	r = container_ps_table(ctx->env, args->items[0], args->items + 1, args->count - 1, &table,
			       err);
	if (r < 0)
		return r;
	return command_print(ctx, table, err);
}

const struct command cmd_ps = {
	.name = "ps",
	.summary = "list the processes of a container",
	.synopsis = "[options] ID [PS-OPTION...]",
	.details =
		"What follows ID goes to ps(1) in place of -ef; its output must have a PID column.",
	.options = options,
	.options_size = sizeof(struct ps_options),
	.options_first = true,
	.min_args = 1,
	.max_args = COMMAND_ARGS_ANY,
	.run = run,
};

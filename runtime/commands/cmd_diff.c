/*
 * `diff`: what a session changed.
 */
#include "commands/commands.h"
#include "container/session.h"

struct diff_options {
	bool json, patch;
};

static const struct command_option options[] = {
	COMMAND_OPTION("json", 0, OPTION_FLAG, struct diff_options, json, NULL, "print JSON"),
	COMMAND_OPTION("patch", 'p', OPTION_FLAG, struct diff_options, patch, NULL, "print a unified diff of text files"),
	{ 0 },
};

static int run(struct command_ctx *ctx, void *opts, const struct command_args *args, struct error *err)
{
	const struct diff_options *o = opts;
	const struct snap_out out = { ctx->write, ctx->write_arg };
	_cleanup_session_ struct session s = SESSION_NULL;
	enum snap_diff_form form = o->json ? SNAP_DIFF_JSON : o->patch ? SNAP_DIFF_PATCH : SNAP_DIFF_TEXT;
	int r;

	if (o->json && o->patch)
		return error_text(err, -EINVAL, "--json and --patch exclude each other");
	r = session_open(ctx->env, args->items[0], &s, err);
	return r < 0 ? r : snap_diff(&s.snap, args->count > 1 ? args->items[1] : NULL, form, &out, err);
}

const struct command cmd_diff = {
	.name = "diff",
	.summary = "show what a session changed",
	.synopsis = "[options] ID [PATH]",
	.details = "Compares the layers of the session with their originals: all, or what is at PATH\n"
		   "(as the container sees it) and below.",
	.options = options,
	.options_size = sizeof(struct diff_options),
	.min_args = 1,
	.max_args = 2,
	.run = run,
};

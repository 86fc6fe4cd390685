/*
 * `diff`: what a session changed.
 */
#include <inttypes.h>
#include <unistd.h>

#include "commands/commands.h"
#include "container/session.h"
#include "snap/snap_render.h"
#include "util/time.h"

struct diff_options {
	bool json, patch, list;
};

static const struct command_option options[] = {
	COMMAND_OPTION("json", 0, OPTION_FLAG, struct diff_options, json, NULL, "print JSON"),
	COMMAND_OPTION("patch", 'p', OPTION_FLAG, struct diff_options, patch, NULL, "print a unified diff of text files"),
	COMMAND_OPTION("list", 'l', OPTION_FLAG, struct diff_options, list, NULL, "list all sessions of this host; takes no ID"),
	{ 0 },
};

static int list(struct command_ctx *ctx, struct error *err)
{
	_cleanup_(snap_list_done) struct snap_list l = { 0 };
	_cleanup_buf_ struct buf b = BUF_NULL;
	int r = snap_list(&l, err);

	for (size_t i = 0; i < l.n && r == 0; i++) {
		const struct snap_record *rec = l.items[i].record;
		char since[TIME_RFC3339_SIZE];

		time_rfc3339(&rec->since, false, since);
		buf_addf(&b, "%s %s %" PRIu64 "/%" PRIu64 " KiB%s", l.items[i].id, since, l.items[i].bytes / 1024, rec->size / 1024,
			 rec->outlived ? (rec->keep ? " kept" : " committed") : "");
		for (size_t k = 0; k < rec->n_layers; k++) {
			snap_quote(&b, " ", rec->layers[k].source);
			snap_quote(&b, ":", rec->layers[k].destination);
		}
		buf_addf(&b, " (root %s)\n", rec->root);
	}
	return r < 0 ? r : command_write_buf(ctx, &b, err);
}

static int run(struct command_ctx *ctx, void *opts, const struct command_args *args, struct error *err)
{
	const struct diff_options *o = opts;
	const struct snap_out out = { ctx->write, ctx->write_arg, isatty(STDOUT_FILENO) };
	_cleanup_session_ struct session s = SESSION_NULL;
	enum snap_diff_form form = o->json ? SNAP_DIFF_JSON : o->patch ? SNAP_DIFF_PATCH : SNAP_DIFF_TEXT;
	int r;

	if (o->list)
		return list(ctx, err);
	if (args->count == 0)
		return error_text(err, -EINVAL, "which container? --list names those that have a session");
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
		   "(as the container sees it) and below. Without --root, the beginning of an id\n"
		   "will do if it is the only one, and containers of engines are found, too.",
	.options = options,
	.options_size = sizeof(struct diff_options),
	.min_args = 0,
	.max_args = 2,
	.run = run,
};

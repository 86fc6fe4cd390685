/*
 * `snapshot`: names the present state of a session; lists and removes names.
 */
#include <inttypes.h>

#include "commands/commands.h"
#include "container/session.h"
#include "util/log.h"

struct snapshot_options {
	const char *comment;
	bool list, json, remove;
};

static const struct command_option options[] = {
	COMMAND_OPTION("comment", 'm', OPTION_STRING, struct snapshot_options, comment, "TEXT", "say what it is"),
	COMMAND_OPTION("list", 'l', OPTION_FLAG, struct snapshot_options, list, NULL, "list the snapshots"),
	COMMAND_OPTION("json", 0, OPTION_FLAG, struct snapshot_options, json, NULL, "list them as JSON"),
	COMMAND_OPTION("remove", 0, OPTION_FLAG, struct snapshot_options, remove, NULL, "remove snapshot NAME"),
	{ 0 },
};

static int render_json(struct command_ctx *ctx, const struct snap_taken_list *list, struct error *err)
{
	_cleanup_json_writer_ struct json_writer *w = json_writer_new(2);
	_cleanup_free_ char *text = NULL;
	int r;

	if (!w)
		return error_oom(err);
	json_array_begin(w, NULL);
	for (size_t i = 0; i < list->n; i++) {
		json_object_begin(w, NULL);
		json_string(w, "name", list->items[i].name);
		json_string(w, "created", list->items[i].created);
		json_u64(w, "bytes", list->items[i].bytes);
		json_string(w, "comment", list->items[i].comment);
		json_object_end(w);
	}
	json_array_end(w);
	r = json_take(w, &text, err);
	return r < 0 ? r : command_write(ctx, text, true, err);
}

static int list(struct command_ctx *ctx, const char *id, bool json, struct error *err)
{
	_cleanup_snap_taken_ struct snap_taken_list list = { 0 };
	_cleanup_session_ struct session s = SESSION_NULL;
	_cleanup_buf_ struct buf b = BUF_NULL;
	int r = session_open(ctx->env, id, &s, err);

	if (r == 0)
		r = snap_taken_read(&s.snap, &list, err);
	if (r < 0 || json)
		return r < 0 ? r : render_json(ctx, &list, err);
	for (size_t i = 0; i < list.n; i++)
		buf_addf(&b, "%-20s %s %8" PRIu64 " KiB  %s\n", list.items[i].name, list.items[i].created, list.items[i].bytes / 1024,
			 list.items[i].comment ? list.items[i].comment : "");
	return command_write_buf(ctx, &b, err);
}

static int run(struct command_ctx *ctx, void *opts, const struct command_args *args, struct error *err)
{
	const char *id = args->items[0], *name = args->count > 1 ? args->items[1] : NULL;
	const struct snapshot_options *o = opts;
	struct error log = ERROR_NULL, thaw = ERROR_NULL;
	_cleanup_free_ char *made = NULL;
	struct session_change *c;
	int r, end;

	if (o->list || o->json)
		return list(ctx, id, o->json, err);
	if (o->remove && !name)
		return error_text(err, -EINVAL, "--remove needs the name of a snapshot");
	r = session_begin(ctx->env, id, &(struct session_how){ .recover = true }, &c, err);
	if (r < 0)
		return r;
	r = o->remove ? snap_take_remove(session_snap(c), name, err) : snap_take(session_snap(c), name, o->comment, &made, err);
	if (r == 0 && session_log(c, o->remove ? "remove snapshot" : "snapshot", made ? made : name, NULL, 0, 0, &log) < 0)
		log_warningf("%s", log.text);
	end = session_end(c, &thaw);
	if (r == 0 && end < 0)
		*err = thaw;
	if (r < 0 || end < 0 || !made)
		return r < 0 ? r : end;
	return command_write(ctx, made, true, err);
}

const struct command cmd_snapshot = {
	.name = "snapshot",
	.summary = "name the present state of a session",
	.synopsis = "[options] ID [NAME]",
	.details = "Keeps what the session changed so far, to go back to it with rollback. A running\n"
		   "container is frozen meanwhile. Without NAME it gets a number, which is printed.",
	.options = options,
	.options_size = sizeof(struct snapshot_options),
	.min_args = 1,
	.max_args = 2,
	.run = run,
};

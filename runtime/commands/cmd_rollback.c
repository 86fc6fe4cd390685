/*
 * `rollback`: a session as it was at a snapshot or at its start.
 */
#include <inttypes.h>

#include "commands/commands.h"
#include "container/session.h"
#include "util/log.h"

struct rollback_options {
	const char *path;
	bool discard;
};

static const struct command_option options[] = {
	COMMAND_OPTION("path", 'p', OPTION_STRING, struct rollback_options, path, "PATH", "only what is at PATH in the container, and below"),
	COMMAND_OPTION("discard", 0, OPTION_FLAG, struct rollback_options, discard, NULL, "remove a kept session whose container is gone"),
	{ 0 },
};

static int discard(struct session_change *c, const char *id, struct error *err)
{
	_cleanup_free_ char *path = NULL;

	if (!session_kept(c))
		return error_text(err, -EBUSY, "container %s is there: delete removes its session, or keeps it to be discarded then", id);
	path = strdup(session_snap(c)->path);
	return path ? snap_remove(path, err) : error_oom(err);
}

static int run(struct command_ctx *ctx, void *opts, const struct command_args *args, struct error *err)
{
	const char *id = args->items[0], *name = args->count > 1 ? args->items[1] : NULL;
	_cleanup_snap_report_ struct snap_report report = { 0 };
	struct error log = ERROR_NULL, thaw = ERROR_NULL;
	const struct rollback_options *o = opts;
	struct session_change *c;
	int r, end;

	if (o->discard && (o->path || name))
		return error_text(err, -EINVAL, "--discard removes all: it takes no --path and no NAME");
	r = session_begin(ctx->env, id, &(struct session_how){ .recover = true }, &c, err);
	if (r < 0)
		return r;
	r = o->discard ? discard(c, id, err) : snap_rollback(session_snap(c), name, o->path, session_merged(c), &report, err);
	if (r == 0 && session_log(c, o->discard ? "discard" : "rollback", name, o->path, report.files, report.bytes, &log) < 0)
		log_warningf("%s", log.text);
	end = session_end(c, &thaw);
	if (r == 0 && report.skipped > 0)
		log_warningf("%" PRIu64 " places in use, or with something else mounted, were left as they are", report.skipped);
	if (r == 0 && end < 0)
		*err = thaw;
	return r < 0 ? r : end;
}

const struct command cmd_rollback = {
	.name = "rollback",
	.summary = "take a session back to a snapshot or its start",
	.synopsis = "[options] ID [NAME]",
	.details = "Goes back to snapshot NAME, without it to the start of the session. What was changed\n"
		   "since is lost, unless it was named by snapshot. A running container is frozen\n"
		   "meanwhile; its programs may keep in memory what they have read.",
	.options = options,
	.options_size = sizeof(struct rollback_options),
	.min_args = 1,
	.max_args = 2,
	.run = run,
};

/*
 * `commit`: the changes of a session reach the originals, or are taken back from there.
 */
#include <inttypes.h>

#include "commands/commands.h"
#include "container/session.h"

struct commit_options {
	const char *path, *output;
	bool dry_run, force, undo;
};

static const struct command_option options[] = {
	COMMAND_OPTION("path", 'p', OPTION_STRING, struct commit_options, path, "PATH", "only what is at PATH in the container, and below"),
	COMMAND_OPTION("dry-run", 'n', OPTION_FLAG, struct commit_options, dry_run, NULL, "say what would be done, and what speaks against it"),
	COMMAND_OPTION("force", 'f', OPTION_FLAG, struct commit_options, force, NULL, "also over what others have changed, and what is dangerous"),
	COMMAND_OPTION("undo", 0, OPTION_FLAG, struct commit_options, undo, NULL, "take the last commit back"),
	COMMAND_OPTION("output", 'o', OPTION_STRING, struct commit_options, output, "FILE", "write a layer of an OCI image instead; FILE must be new"),
	{ 0 },
};

struct logging {
	struct session_change *c;
	const char *path;
};

/* What cannot be recorded is not done. */
static int log_commit(void *arg, uint64_t files, struct error *err)
{
	const struct logging *l = arg;

	return session_log(l->c, "commit", NULL, l->path, files, 0, err);
}

static int act(struct session_change *c, const struct commit_options *o, struct snap_report *report, struct error *err)
{
	struct logging logging = { .c = c, .path = o->path };
	struct snap_commit_options opt = { .path = o->path, .dry_run = o->dry_run, .force = o->force, .log = log_commit, .log_arg = &logging,
					   .stage = session_stage(c) };
	int r;

	if (o->output)
		return snap_export(session_snap(c), o->path, o->output, report, err);
	if (o->undo) {
		r = session_log(c, "undo", NULL, NULL, 0, 0, err);
		return r < 0 ? r : snap_undo(session_snap(c), o->force, report, err);
	}
	r = snap_commit(session_snap(c), &opt, report, err);
	/* It was kept until this. */
	if (r == 0 && session_kept(c) && !o->path && !o->dry_run)
		r = snap_finish(session_snap(c), err);
	return r;
}

static int run(struct command_ctx *ctx, void *opts, const struct command_args *args, struct error *err)
{
	_cleanup_snap_report_ struct snap_report report = { 0 };
	const struct commit_options *o = opts;
	struct error thaw = ERROR_NULL;
	struct session_change *c;
	struct session_how how;
	int r, end;

	if (o->undo && (o->path || o->dry_run || o->output))
		return error_text(err, -EINVAL, "--undo takes the whole of the last commit back: no --path, --dry-run or --output");
	how = (struct session_how){ .recover = !o->undo, .force = o->force, .path = o->path,
				    .stage = !o->undo && !o->dry_run && !o->output };
	r = session_begin(ctx->env, args->items[0], &how, &c, err);
	if (r < 0)
		return r;
	r = act(c, o, &report, err);
	end = session_end(c, &thaw);
	if (r >= 0 && end < 0) {
		*err = thaw;
		return end;
	}
	if (r < 0)
		return r;
	if (r == 0 && !o->dry_run && !o->output)
		buf_addf(&report.text, "%" PRIu64 " object%s changed in the original\n", report.files, report.files == 1 ? "" : "s");
	end = command_write_buf(ctx, &report.text, err);
	if (end < 0 || r == 0)
		return end;
	return error_text(err, -EBUSY, "%zu conflict%s: nothing was committed; see --dry-run, --path and --force", report.conflicts,
			  report.conflicts == 1 ? "" : "s");
}

const struct command cmd_commit = {
	.name = "commit",
	.summary = "let the changes of a session reach the original",
	.synopsis = "[options] ID",
	.details = "Nothing is done when somebody else has changed the same in the original since the\n"
		   "session began, or a change is a device node, a set-id program or one with\n"
		   "capabilities. Each file takes its place at once; a commit that was interrupted is\n"
		   "finished by the next call. A running container is frozen for it, once most of it\n"
		   "has been copied.",
	.options = options,
	.options_size = sizeof(struct commit_options),
	.min_args = 1,
	.max_args = 1,
	.run = run,
};

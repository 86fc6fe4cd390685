/*
 * `audit`: what containers did, from the logs that outlive them.
 */
#include <errno.h>

#include "audit/audit_query.h"
#include "audit/audit_store.h"
#include "commands/commands.h"
#include "util/parse.h"

struct audit_options {
	const char *dir, *since, *until, *stream, *speed;
	struct command_strings types;
	struct opt_u32 process;
	struct opt_u64 max_wait;
	bool json, raw;
};

#define OPT(name, kind, member, value, help) \
	COMMAND_OPTION(name, 0, kind, struct audit_options, member, value, help)

static const struct command_option options[] = {
	OPT("dir", OPTION_STRING, dir, "DIR", "folder with logs (default: /var/log/agentrun)"),
	OPT("json", OPTION_FLAG, json, NULL, "print JSON; records as they stand in the log"),
	OPT("type", OPTION_STRINGS, types, "TYPE[,TYPE]", "log, follow: records of these types only (repeatable)"),
	OPT("process", OPTION_OPT_U32, process, "N", "log, follow: records of this process only"),
	OPT("since", OPTION_STRING, since, "TIME", "log, follow: not before (2026-11-30T20:56 in UTC, or 10m)"),
	OPT("until", OPTION_STRING, until, "TIME", "log, follow: not after"),
	OPT("stream", OPTION_STRING, stream, "NAME", "show: only stdin, stdout, stderr or terminal"),
	OPT("raw", OPTION_FLAG, raw, NULL, "show: the bytes of the output and nothing else, unchanged"),
	OPT("speed", OPTION_STRING, speed, "X", "replay: so many times as fast (default: 1)"),
	OPT("max-wait", OPTION_OPT_DURATION, max_wait, "DURATION", "replay: longest pause"),
	{ 0 },
};

static int parse_filter(const struct audit_options *o, struct audit_filter *f, struct error *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < o->types.count; i++)
		r = audit_filter_type(f, o->types.items[i], err);
	if (r == 0 && o->since)
		r = audit_filter_time(o->since, f->since, err);
	if (r == 0 && o->until)
		r = audit_filter_time(o->until, f->until, err);
	f->by_process = o->process.set;
	f->process = o->process.value;
	return r;
}

static int run_on(struct command_ctx *ctx, const struct audit_query *q, const struct audit_options *o,
		  const struct command_args *args, struct error *err)
{
	const char *what = args->items[0], *id = args->items[1];
	struct audit_filter f = { 0 };
	uint32_t number = 0;
	uint64_t speed = 0;
	bool whole = true;
	int r = parse_filter(o, &f, err);

	if (r == 0)
		r = audit_speed_parse(o->speed, &speed, err);
	if (r < 0)
		return r;
	if (str_eq(what, "list") && args->count == 1)
		return audit_query_list(q, err);
	if (str_eq(what, "log") && args->count == 2)
		return audit_query_log(q, id, &f, err);
	if (str_eq(what, "follow") && args->count == 2)
		return audit_query_follow(q, id, &f, err);
	if (str_eq(what, "verify") && args->count == 2) {
		r = audit_query_verify(q, id, &whole, err);
		ctx->exit_status = whole ? 0 : 1;
		return r;
	}
	if (args->count != 3 || (!str_eq(what, "show") && !str_eq(what, "replay")))
		return error_text(err, -EINVAL, "say audit list, log ID, follow ID, show ID N, replay ID N, or verify ID|FILE");
	if (parse_u32(args->items[2], &number) < 0)
		return error_text(err, -EINVAL, "\"%s\" is no number of a process", args->items[2]);
	if (str_eq(what, "show"))
		return audit_query_show(q, id, number, o->stream, o->raw, err);
	return audit_query_replay(q, id, number, speed, o->max_wait.value, err);
}

static int run(struct command_ctx *ctx, void *opts, const struct command_args *args, struct error *err)
{
	const struct audit_options *o = opts;
	_cleanup_close_ int dir = -EBADF, index = -EBADF;
	struct audit_query q = { .root = ctx->env->root, .write = ctx->write, .arg = ctx->write_arg, .json = o->json };
	struct error ignored = ERROR_NULL;
	int r = audit_store_open(o->dir, ctx->env->rootless, false, &dir, err);

	if (r > 0 && !str_eq(args->items[0], "verify"))
		return error_text(err, -ENOENT, "there is no audit log: %s is not there",
				  o->dir ? o->dir : ctx->env->rootless ? "the user's folder for it" : AUDIT_DIR);
	if (r < 0)
		return r;
	/* Another folder is somebody else's, or a copy: our index knows nothing of it. */
	if (!o->dir)
		(void)audit_index_open(ctx->env->rootless, false, &index, &ignored);
	q.dirfd = dir;
	q.index_dirfd = index;
	return run_on(ctx, &q, o, args, err);
}

const struct command cmd_audit = {
	.name = "audit",
	.summary = "show what containers did, and check that the record is whole",
	.synopsis = "[options] list|log|follow|show|replay|verify [ID [N]]",
	.details = "ID is a container's, also of a deleted one, or an unambiguous beginning of it;\n"
		   "verify takes a file as well. N is the number of a process: 0 for the container's\n"
		   "own, then each `exec`. verify exits 0 when the log is as it was written, else 1.",
	.options = options,
	.options_size = sizeof(struct audit_options),
	.min_args = 1,
	.max_args = 3,
	.run = run,
};

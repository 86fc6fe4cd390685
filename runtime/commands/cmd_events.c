/*
 * `events`: statistics and out-of-memory kills as JSON lines.
 */
#include <errno.h>

#include "commands/commands.h"

struct events_options {
	bool stats;
	struct opt_u64 interval; /* ns */
};

/* Where events go, and why that stopped. */
struct events_sink {
	struct command_ctx *ctx;
	struct error err;
};

#define NS_PER_MS	    UINT64_C(1000000)
#define INTERVAL_DEFAULT_MS UINT64_C(5000)

static const struct command_option options[] = {
	COMMAND_OPTION("stats", 0, OPTION_FLAG, struct events_options, stats, NULL,
		       "print the statistics once and end"),
	COMMAND_OPTION("interval", 0, OPTION_OPT_DURATION, struct events_options, interval, "TIME",
		       "time between two statistics records (default: 5s)"),
	{ 0 },
};

static int print_event(void *arg, const char *json)
{
	struct events_sink *sink = arg;

	return command_write(sink->ctx, json, true, &sink->err);
}

static int follow(struct command_ctx *ctx, const char *id, const struct opt_u64 *interval,
		  struct error *err)
{
	struct events_sink sink = { .ctx = ctx };
	uint64_t ms = interval->set ? interval->value / NS_PER_MS : INTERVAL_DEFAULT_MS;
	int r;

	if (ms == 0)
		return error_text(err, -EINVAL, "--interval must be at least 1ms");
	r = container_events(ctx->env, id, ms, print_event, &sink, err);
	if (sink.err.code) {
		*err = sink.err;
		return sink.err.code;
	}
	return r;
}

static int run(struct command_ctx *ctx, void *opts, const struct command_args *args,
	       struct error *err)
{
	const struct events_options *o = opts;
	_cleanup_free_ char *json = NULL;
	int r;

	if (!o->stats)
		return follow(ctx, args->items[0], &o->interval, err);
	r = container_stats(ctx->env, args->items[0], &json, err);
	if (r < 0)
		return r;
	return command_write(ctx, json, true, err);
}

const struct command cmd_events = {
	.name = "events",
	.summary = "print statistics and events of a container as JSON lines",
	.synopsis = "[options] ID",
	.options = options,
	.options_size = sizeof(struct events_options),
	.min_args = 1,
	.max_args = 1,
	.run = run,
};

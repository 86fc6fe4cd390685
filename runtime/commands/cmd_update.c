/*
 * `update`: new resource limits, from a document and from options, and less of what the policy
 * gave. Options are laid over the document, and what neither names stays as it is.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "commands/commands.h"
#include "util/fd.h"
#include "util/json_read.h"
#include "util/parse.h"

struct update_options {
	const char *resources;
	const char *l3_cache, *mem_bw, *time_limit, *egress_allow;
	struct command_limits limits;
};

#define OPT(name, kind, member, value, help) \
	COMMAND_OPTION(name, 0, kind, struct update_options, member, value, help)

static const struct command_option options[] = {
	COMMAND_OPTION("resources", 'r', OPTION_STRING, struct update_options, resources, "FILE",
		       "read a linux.resources document from FILE, or from stdin with -"),
	OPT("blkio-weight", OPTION_OPT_U32, limits.block_io.weight, "N",
	    "relative block I/O weight, 10 to 1000"),
	OPT("cpu-period", OPTION_OPT_U64, limits.cpu.period, "USEC", "CPU period"),
	OPT("cpu-quota", OPTION_OPT_I64, limits.cpu.quota, "USEC",
	    "CPU time per period; -1 = unlimited"),
	OPT("cpu-burst", OPTION_OPT_U64, limits.cpu.burst, "USEC",
	    "unused CPU time that may be saved up"),
	OPT("cpu-share", OPTION_OPT_U64, limits.cpu.shares, "N",
	    "relative CPU weight; 1024 is usual"),
	OPT("cpu-rt-period", OPTION_OPT_U64, limits.cpu.realtime_period, "USEC",
	    "real-time CPU period"),
	OPT("cpu-rt-runtime", OPTION_OPT_I64, limits.cpu.realtime_runtime, "USEC",
	    "real-time CPU time per period"),
	OPT("cpuset-cpus", OPTION_STRING, limits.cpu.cpus, "LIST", "CPUs to run on, as 0-3,7"),
	OPT("cpuset-mems", OPTION_STRING, limits.cpu.mems, "LIST", "memory nodes to use"),
	OPT("cpu-idle", OPTION_OPT_I64, limits.cpu.idle, "0|1",
	    "1 = run only when the CPUs are idle"),
	OPT("memory", OPTION_OPT_BYTES, limits.memory.limit, "BYTES",
	    "memory limit, as 512m; -1 = unlimited"),
	OPT("memory-reservation", OPTION_OPT_BYTES, limits.memory.reservation, "BYTES",
	    "memory soft limit"),
	OPT("memory-swap", OPTION_OPT_BYTES, limits.memory.swap, "BYTES",
	    "memory and swap together; -1 = unlimited"),
	OPT("pids-limit", OPTION_OPT_I64, limits.pids_limit, "N",
	    "number of processes; -1 = unlimited"),
	OPT("time-limit", OPTION_STRING, time_limit, "DURATION",
	    "end the container so long from now, as 10m; never later than before"),
	OPT("egress-allow", OPTION_STRING, egress_allow, "RULES",
	    "leave the container only these of its egress rules, as pypi.org:443,10.2.0.0/16; empty = none"),
	COMMAND_OPTION_UNUSED("kernel-memory", 0, "BYTES",
			      "accepted; the kernel has no such limit any more"),
	COMMAND_OPTION_UNUSED("kernel-memory-tcp", 0, "BYTES",
			      "accepted; the kernel has no such limit any more"),
	OPT("l3-cache-schema", OPTION_STRING, l3_cache, "SCHEMA", "Intel RDT L3 cache schema"),
	OPT("mem-bw-schema", OPTION_STRING, mem_bw, "SCHEMA", "Intel RDT memory bandwidth schema"),
	{ 0 },
};

static int read_document(const char *path, char **ret_text, size_t *ret_len, struct error *err)
{
	int r;

	if (!str_eq(path, "-"))
		return file_read_all(AT_FDCWD, path, JSON_BYTES_MAX, ret_text, ret_len, err);
	r = fd_read_all(STDIN_FILENO, JSON_BYTES_MAX, ret_text, ret_len);
	return r < 0 ? error_set(err, r, "read resources from standard input") : 0;
}

static int update(struct command_ctx *ctx, const char *id, const struct update_options *o,
		  struct arena *arena, struct error *err)
{
	struct spec_resources none = { 0 }, *res = &none;
	_cleanup_free_ char *text = NULL;
	struct container_update_options more = { .egress_allow = o->egress_allow };
	size_t len = 0;
	int r;

	if (o->resources) {
		r = read_document(o->resources, &text, &len, err);
		if (r == 0)
			r = spec_parse_resources(o->resources, text, len, arena, &res, err);
		if (r < 0)
			return r;
	}
	if (command_limits_merge(&o->limits, arena, res) < 0)
		return error_oom(err);
	if (o->time_limit && (parse_duration(o->time_limit, &more.time_limit) < 0 || more.time_limit == 0))
		return error_text(err, -EINVAL, "--time-limit %s: no duration; write it as 90s, 10m or 1h30m",
				  o->time_limit);
	r = container_update(ctx->env, id, res, &more, err);
	if (r < 0 || (!o->l3_cache && !o->mem_bw))
		return r;
	return container_update_rdt(ctx->env, id, o->l3_cache, o->mem_bw, err);
}

static int run(struct command_ctx *ctx, void *opts, const struct command_args *args,
	       struct error *err)
{
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;

	return update(ctx, args->items[0], opts, &arena, err);
}

const struct command cmd_update = {
	.name = "update",
	.summary = "change the resource limits of a container",
	.synopsis = "[options] ID",
	.options = options,
	.options_size = sizeof(struct update_options),
	.min_args = 1,
	.max_args = 1,
	.run = run,
};

/*
 * Limits given as options, laid over a resources document.
 */
#include <errno.h>

#include "commands/commands.h"

#define OVERLAY(to, from)              \
	do {                           \
		if ((from).set)        \
			(to) = (from); \
	} while (0)

static void merge_cpu(struct spec_cpu *to, const struct spec_cpu *from)
{
	OVERLAY(to->shares, from->shares);
	OVERLAY(to->quota, from->quota);
	OVERLAY(to->burst, from->burst);
	OVERLAY(to->period, from->period);
	OVERLAY(to->realtime_runtime, from->realtime_runtime);
	OVERLAY(to->realtime_period, from->realtime_period);
	OVERLAY(to->idle, from->idle);
	if (from->cpus)
		to->cpus = from->cpus;
	if (from->mems)
		to->mems = from->mems;
}

int command_limits_merge(const struct command_limits *limits, struct arena *arena,
			 struct spec_resources *res)
{
	if (!res->memory)
		res->memory = arena_alloc(arena, sizeof(*res->memory));
	if (!res->cpu)
		res->cpu = arena_alloc(arena, sizeof(*res->cpu));
	if (!res->block_io)
		res->block_io = arena_alloc(arena, sizeof(*res->block_io));
	if (!res->memory || !res->cpu || !res->block_io)
		return -ENOMEM;
	OVERLAY(res->memory->limit, limits->memory.limit);
	OVERLAY(res->memory->reservation, limits->memory.reservation);
	OVERLAY(res->memory->swap, limits->memory.swap);
	merge_cpu(res->cpu, &limits->cpu);
	OVERLAY(res->block_io->weight, limits->block_io.weight);
	OVERLAY(res->pids_limit, limits->pids_limit);
	/* In a document 0 may mean "as it is" (Docker); as an option somebody has typed it. */
	if (limits->pids_limit.set && limits->pids_limit.value == 0)
		res->pids_limit.value = 1;
	return 0;
}

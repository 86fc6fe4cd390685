/*
 * The loop that runs a phase array, and the list of all of them. Knows no phase.
 */
#include "container/phase.h"

#include "container/checkpoint.h"
#include "container/create.h"
#include "container/exec.h"
#include "util/log.h"

int phases_run(const struct phase *phases, size_t count, void *ctx, struct error *err)
{
	size_t i;
	int r;

	for (i = 0; i < count; i++) {
		log_debugf("phase %s", phases[i].name);
		r = phases[i].run(ctx, err);
		if (r < 0)
			return r;
	}
	return 0;
}

const struct phase_list *phase_list_get(size_t i)
{
	static const struct phase_list *const lists[] = {
		&create_parent_phases,
		&create_child_phases,
		&exec_child_phases,
		&restore_phases,
		&process_phases_nnp,
		&process_phases_no_nnp,
	};

	return i < ELEMENTSOF(lists) ? lists[i] : NULL;
}

/*
 * What the policy decided after create, for `explain`: about the processes of exec and the
 * limits of update. Private to runtime/container.
 */
#pragma once

#include "container/guard.h"

/*
 * Remembers the verdict of operation ("exec", "update") in the state folder, unless nothing was
 * changed or the same was remembered before, and tells the audit log. Bounded: the oldest go. Not worth failing for.
 */
void later_note(const struct guard *g, int dir_fd, const char *operation);
/* All of them as one document {"later": [{"operation": …, "decisions": […]}, …]}; malloc'ed. */
int later_read(int dir_fd, char **ret, size_t *ret_len, struct error *err);

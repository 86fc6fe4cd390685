/*
 * What `exec` was asked to run: the --process document, or the container's own
 * process changed by the command line. Private to runtime/container.
 */
#pragma once

#include "container/container.h"

/* Merged into *ret; strings live in arena, in base and in opt. base: the container's process. */
int exec_request_build(const struct container_exec_options *opt, const struct spec_process *base, struct arena *arena,
		       struct spec_process *ret, struct error *err);

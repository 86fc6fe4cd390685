/*
 * Proof, before the container's program runs, that limits, namespaces and mounts are in
 * force as decided. Capabilities and filters, final only after execve, are verify.c's.
 * Private to runtime/container.
 */
#pragma once

#include "container/create.h"
#include "container/exec.h"

/*
 * Parent of create, while the child mounts: the cgroup. With hooks that run after this, it is
 * left to the next one.
 */
int readback_limits(void *ctx, struct error *err);
/* When the child is ready: the rest; notes in the record what was compared. */
int readback_create(void *ctx, struct error *err);
/* Child of create, after everything that mounts: namespaces and mounts. */
int readback_create_child(void *ctx, struct error *err);
/* The same two for exec. */
int readback_exec(struct exec *e, struct error *err);
int readback_exec_child(void *ctx, struct error *err);

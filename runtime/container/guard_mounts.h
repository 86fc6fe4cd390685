/*
 * The judgement of bind sources. Private to runtime/container.
 */
#pragma once

#include "container/guard.h"

/* Opens every bind source, judges it, and refuses or changes the mount; keeps the descriptors in g->sources. */
int guard_narrow_mounts(struct guard *g, struct spec *spec, const struct guard_host *host, struct error *err);

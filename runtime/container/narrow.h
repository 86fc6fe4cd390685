/*
 * Less egress for a container that runs. Private to runtime/container.
 */
#pragma once

#include "container/guard.h"
#include "container/lifecycle.h"

/*
 * Leaves the container the rules in text (as the annotation org.agentrun.egress.allow), each of which it must have by
 * now. Connections that they do not allow are over when this returns. The decision is in guard->verdict. Needs the
 * host's root.
 */
int narrow_egress(const struct container_handle *h, struct guard *guard, const char *text, struct error *err);

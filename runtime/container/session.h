/*
 * Sessions in the life of a container: which of its mounts get a layer, and what becomes of
 * the layers when it is deleted. snap/ makes and reads them. Private to runtime/container.
 */
#pragma once

#include "util/error.h"

/* At delete: the session goes, unless it is kept until it is committed or discarded. */
int session_release(const char *path, struct error *err);

/*
 * What loading needs to know of the kernel, for both tiers. Private to this folder.
 */
#pragma once

#include <stdbool.h>

#include "util/error.h"

/*
 * Whether packet programs can ask for their network namespace (Linux 6.15). Found by trying:
 * kernels of distributions have what their version does not say.
 */
int egress_probe_netns_cookie(bool *ret, struct error *err);

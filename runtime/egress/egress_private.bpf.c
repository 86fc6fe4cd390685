/*
 * The private set: as the shared one, and what a container's own rules and names allow. All
 * its maps belong to that container alone.
 */
#include "egress/egress_kernel_packet.h"

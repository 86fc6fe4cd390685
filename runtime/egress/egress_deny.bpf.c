/*
 * The shared set: nothing leaves but loopback, replies to what came in, and questions to
 * the container's resolver. One for all containers that have no rules; what differs
 * between them is in the state that the kernel keeps for each cgroup.
 */
#define EGRESS_SHARED
#include "egress/egress_kernel_packet.h"

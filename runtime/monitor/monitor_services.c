/*
 * The controls that live in the monitor, in the order in which they are told of things.
 */
#include "monitor/monitor.h"

const struct monitor_service *const monitor_services[] = {
	NULL,
};
const size_t monitor_n_services = sizeof(monitor_services) / sizeof(monitor_services[0]) - 1;

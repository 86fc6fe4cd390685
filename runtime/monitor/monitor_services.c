/*
 * The controls that live in the monitor, in the order in which they are told of things. The
 * log comes up first, since the others write to it, and hears of an end last.
 */
#include "monitor/monitor.h"
#include "monitor/monitor_audit.h"
#include "monitor/monitor_egress.h"

const struct monitor_service *const monitor_services[] = {
	&monitor_audit,
	&monitor_trace,
	&monitor_calls,
	&monitor_relay,
	&monitor_egress,
	&monitor_terminal,
};
const size_t monitor_n_services = sizeof(monitor_services) / sizeof(monitor_services[0]);

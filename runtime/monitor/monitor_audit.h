/*
 * The log as the monitor's other services use it. Private to the monitor's files.
 */
#pragma once

#include "audit/audit.h"
#include "monitor/monitor.h"

/* Records one event. Nothing when no log is kept; a log that fails ends the container where the policy says so. */
int monitor_log(struct monitor *m, const struct audit_event *event, struct error *err);
/* The sink, for output; NULL when no log is kept. */
struct audit_sink *monitor_log_sink(struct monitor *m);

/* What follows a call of the sink: r is its result. */
int monitor_log_done(struct monitor *m, int r, struct error *err);

extern const struct monitor_service monitor_audit;
extern const struct monitor_service monitor_trace;
extern const struct monitor_service monitor_relay;
extern const struct monitor_service monitor_terminal;
extern const struct monitor_service monitor_calls;

/*
 * Egress in the monitor. Private to the monitor's files.
 */
#pragma once

#include "egress/egress.h"
#include "egress/egress_names_kernel.h"
#include "monitor/monitor.h"

extern const struct monitor_service monitor_egress;

/* The policy's rules as the two sides want them; everything lives in the arena. */
struct egress_lists {
	const struct egress_rule *ranges;
	size_t n_ranges;
	const struct egress_name_rule *names;
	size_t n_names;
};
int monitor_egress_lists(const struct monitor_config *c, struct arena *arena, struct egress_lists *ret, struct error *err);

/* monitor_egress_log.c: what happened, in the log's words. */
/* learned: name that the address was learned from, or NULL. suppressed: others since the last one. */
void monitor_egress_log_denial(struct monitor *m, const struct egress_event *e, const char *learned, uint64_t suppressed);
void monitor_egress_log_name(struct monitor *m, const struct egress_name_event *e);
/* The rules from now on. */
void monitor_egress_log_rules(struct monitor *m, const struct monitor_config *c);
void monitor_egress_log_sni(struct monitor *m, const struct egress_sni_event *e, const char *learned);

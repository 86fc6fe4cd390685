/*
 * The unprivileged half of the two resident programs: one loop for everything that reads
 * what comes from inside the container. Each control is a service with the same stations
 * of life; none knows another. Private to the monitor's files.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "monitor/monitor_config.h"
#include "monitor/protocol.h"
#include "util/evloop.h"

struct monitor;

struct monitor_service {
	const char *name;
	/* With privilege; the cgroup is there and empty. Called in reverse order; nothing can be logged yet. */
	int (*open)(struct monitor *m, struct error *err);
	/* With privilege; init waits at its gate, m->netns_fd is its network. */
	int (*adopt)(struct monitor *m, struct error *err);
	/* Without any privilege, from here on. */
	int (*run)(struct monitor *m, struct error *err);
	/* STREAMS, LISTENER (takes what it keeps of fds), DRAIN (returns MONITOR_E_LATER to answer it itself), EXITED, NOTE. */
	int (*message)(struct monitor *m, const struct link_msg *msg, int fds[LINK_FDS_MAX], struct error *err);
	/* The container is over. Told in the reverse order. */
	int (*end)(struct monitor *m, struct error *err);
	/* Still busy after that with something that does not concern the container: monitor_over() follows. */
	bool (*lingers)(const struct monitor *m);
};
enum { MONITOR_E_LATER = 1 };

struct monitor {
	struct evloop loop;
	struct link link;
	struct ev_source source;
	int dir_fd; /* state folder, until privileges are gone */
	int netns_fd; /* the same */
	int kill_fd; /* cgroup.kill, for the supervisor's death; -EBADF on pure v1 */
	pid_t pid; /* of init */
	struct monitor_config *config;
	int cgroup_fd; /* the container's folder of the v2 hierarchy, until privileges are gone; -EBADF = none */
	/* of the services */
	struct log_service *log;
	struct trace_service *trace;
	struct relay_service *relay;
	struct terminal_service *terminal;
	bool ended; /* END was obeyed: nobody listens any more */
	struct egress_service *egress;
	struct calls_service *calls;
};

extern const struct monitor_service *const monitor_services[];
extern const size_t monitor_n_services;

/* Answers a DRAIN that was put off. */
int monitor_drained(struct monitor *m, uint32_t number, struct error *err);
/* A service that lingered has done. */
void monitor_over(struct monitor *m);
/* A control cannot be kept up: the container ends. */
void monitor_fail(struct monitor *m, const struct error *why);

/* monitor_trace.c: after DRAIN of that number: LINK_F_OOM, LINK_F_SPARED or, not known, 0. */
unsigned monitor_trace_mark(const struct monitor *m, uint32_t number);
/* Programs that were killed because they could not be recorded. */
uint64_t monitor_trace_unrecorded(const struct monitor *m);
/*
 * The program that a process of that number on the host runs, as the exec audit saw it up to now; "" = unknown: another
 * thread than the first, a child that executed nothing itself, no exec audit.
 */
int monitor_trace_program(struct monitor *m, int32_t pid, char *ret, size_t size, struct error *err);

/* monitor_lockdown.c: own uid, no capabilities, no new privileges, only the system calls of the loop. */
int monitor_lockdown(struct monitor *m, struct error *err);

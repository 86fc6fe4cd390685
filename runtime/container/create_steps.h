/*
 * The parent's phases up to the clone, and helpers that `exec` shares. Private to
 * runtime/container.
 */
#pragma once

#include "container/create.h"

/* create.c: the opposite of all phases, and the last word on a process that is there. */
void create_undo(struct create *c);
int create_record(void *ctx, struct error *err);
/* prestart and createRuntime, for a first process pid, of a container that has some. */
int create_run_hooks(struct create *c, pid_t pid, struct error *err);

int create_open(void *ctx, struct error *err);
int create_load(void *ctx, struct error *err);
int create_plan(void *ctx, struct error *err);
int create_facts(void *ctx, struct error *err);
int create_filter(void *ctx, struct error *err);
int create_reserve(void *ctx, struct error *err);
int create_session(void *ctx, struct error *err);
/* Whether the policy wants the resident programs beside this container. */
bool create_is_supervised(const struct create *c);
int create_helpers(void *ctx, struct error *err);
int create_supervise(void *ctx, struct error *err);
int create_streams(void *ctx, struct error *err);
int create_terminal(void *ctx, struct error *err);
int create_hand_over(void *ctx, struct error *err);
int create_supervised(void *ctx, struct error *err);
int create_cgroup(void *ctx, struct error *err);
/* create_record.c: c->record from the plan and the options. */
int create_fill_record(struct create *c, struct error *err);
int create_place(void *ctx, struct error *err);
/* create_settings.c, in the child: what only the host's root may set, while it still is that; then the others. */
int create_settings_early(void *ctx, struct error *err);
int create_settings(const struct create *c, struct error *err);
/* Reads those of the policy back; what a specification sets may be a setting that only takes and never shows. */
int create_settings_compare(const struct create *c, struct error *err);
int create_rdt_attach(struct create *c, struct error *err);

/* PROC/PID/oom_score_adj of a child; EPERM is ignored when rootless, as lowering needs privilege on the host. */
int process_oom_score_adj(int proc_fd, pid_t pid, int64_t value, bool rootless, struct error *err);
/*
 * The configuration's filter and the policy's, compiled through the cache of
 * /run/agentrun/filters where there is one, in the order in which they can be loaded. creds: whose
 * they are. reports: a monitor is there to be told of denied calls.
 */
int process_filters_open(const struct spec *spec, const struct policy_profile *policy, const struct creds *creds, bool rootless,
			 bool reports, struct process_filters *ret, struct error *err);
/* Over which a process hands the listener of its filter to the monitor. */
int reports_pair(int *ret_process, int *ret_monitor, struct error *err);
void process_filters_done(struct process_filters *f);
/*
 * Foreground: proxies the terminal (master_fd >= 0) or forwards signals until the process has exited,
 * and notifications of the container where there are any (notify may be NULL).
 */
int process_wait_foreground(struct pidref *ref, int master_fd, struct notify *notify, int *ret_status,
			    struct error *err);
/* poststart hooks; a failure kills nothing here. */
int container_poststart(const struct state_record *rec, const struct spec *spec, struct error *err);
/* On the own end of a console pair: receives the pty's master and replaces *fd by it. */
int process_receive_master(int *fd, struct error *err);

/*
 * Denied system calls between the service that answers them and what is said of them.
 * Private to the monitor's files.
 */
#pragma once

#include <linux/seccomp.h>

#include "filter/filter_denial.h"
#include "monitor/monitor.h"

/* Different denials that are told apart at a time; others are only counted. */
#define CALLS_KEPT 64u
/* After the first, equal ones are recorded at most this often: the span doubles up to the second. */
#define CALLS_SPAN_NS	  UINT64_C(1000000000)
#define CALLS_SPAN_MAX_NS (60 * CALLS_SPAN_NS)
/* Records of denials that were not there before: at once, and in a second. */
#define CALLS_BURST 64u
#define CALLS_RATE  8u

/* What makes two denials equal: the addresses in arguments do not. */
struct call_key {
	uint32_t number; /* of the process that it came from */
	int32_t nr;
	uint64_t args[6];
};

struct call_entry {
	struct call_key key;
	struct seccomp_data last;
	int32_t pid;
	uint64_t pending; /* not in a record yet */
	uint64_t due_ns, span_ns; /* when the next record may be written; 0 = the entry is free */
};

struct calls_log {
	struct monitor *monitor;
	const char *profile;
	char *text; /* of an operator's profile; NULL = shipped */
	size_t len;
	struct filter plain; /* what decides; made at the first denial, as the next */
	struct filter_denials *denials;
	struct call_entry entries[CALLS_KEPT];
	uint64_t lost; /* had no entry */
	uint64_t tokens, filled_ns;
	struct ev_timer timer;
};

/* The errno of a call that the profile denies; EPERM where it cannot be found. Never 0. */
int calls_errno(struct calls_log *log, const struct seccomp_data *data);
/* Records it, or counts it. */
int calls_note(struct calls_log *log, uint32_t number, int32_t pid, const struct seccomp_data *data, struct error *err);
int calls_run(struct calls_log *log, struct error *err);
/* What is counted and not recorded of a process, or CALLS_ALL. */
#define CALLS_ALL UINT32_MAX
int calls_flush(struct calls_log *log, uint32_t number, struct error *err);

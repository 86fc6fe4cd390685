/*
 * One benign call per kernel exploit primitive and per argument rule of the agent profiles. Each
 * uses arguments that can do nothing: closed descriptors, null pointers, paths that do not exist,
 * objects of its own. What matters is only whether the call reaches the kernel.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

enum probe_profile { PROBE_DEFAULT, PROBE_STRICT, PROBE_BUILD, PROBE_NESTED, PROBE_PROFILES };

/* What a profile's filter answers: an errno, or one of these. */
#define PROBE_REACHES 0 /* the kernel, whatever that says */
#define PROBE_KILLED 1000 /* SIGSYS */

struct probe {
	const char *name;
	long (*call)(void); /* as a system call: negative with errno */
	int want[PROBE_PROFILES];
};

#define PROBE_ALL(v) { v, v, v, v }
#define PROBE_NOT_NESTED(v) { v, v, v, PROBE_REACHES }
#define PROBE_NOT_BUILD(v) { v, v, PROBE_REACHES, v }
/* agent-strict knows no network sockets. */
#define PROBE_NET(v) { v, EAFNOSUPPORT, v, v }

/* Ended by a NULL name. */
extern const struct probe probe_calls[], probe_sockets[], probe_entries[];
extern const struct probe *const probe_lists[];
#define PROBE_LISTS 3

extern const char *const probe_profile_names[PROBE_PROFILES];

/*
 * Runs one in a child of its own, three seconds at most: errno, 0 when the call succeeded, 1000
 * when it ended in SIGSYS, or -1 when the child ended otherwise.
 */
int probe_run(const struct probe *p);

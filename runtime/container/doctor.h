/*
 * The list of findings of `doctor`. Private to runtime/container: doctor.c prints,
 * doctor_add.c keeps it, doctor_host.c looks at the host, doctor_engines.c at the engines' configuration.
 */
#pragma once

#include "container/container.h"
#include "util/arena.h"
#include "util/cleanup.h"

enum doctor_state {
	DOCTOR_OK,
	DOCTOR_NOTE,	/* works, and somebody should know */
	DOCTOR_LACKING, /* containers under the policy in force do not start */
};

struct doctor_finding {
	const char *subject, *found, *remedy; /* remedy: "" when there is nothing to do */
	enum doctor_state state;
};

#define DOCTOR_FINDINGS_MAX 64

/* Texts live in the arena. What does not fit is counted by failed. */
struct doctor {
	const struct container_env *env;
	struct arena arena;
	struct doctor_finding findings[DOCTOR_FINDINGS_MAX];
	size_t n;
	bool failed;
};

void doctor_add(struct doctor *d, enum doctor_state state, const char *subject, const char *remedy,
		const char *found_fmt, ...) _printf_(5, 6);

/* Reads only: nothing is made, attached or changed. */
void doctor_host(struct doctor *d);
/* etc: the folder of the host's configuration, "/etc". */
void doctor_engines(struct doctor *d, const char *etc);

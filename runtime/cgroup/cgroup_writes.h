/*
 * Limits as a list of files and values: built purely from the resources, then applied.
 * Tests read the list; only the application touches the host.
 */
#pragma once

#include <stdbool.h>

#include "cgroup/cgroup.h"
#include "util/arena.h"

enum cgroup_write_flags {
	CGROUP_WRITE_OPTIONAL = 1u
				<< 0, /* where the file is missing, the value is in force already */
	/*
	 * The kernel judges a value by its neighbours (memory by memory+swap, quota by period and
	 * burst). Which of the two must be written first depends on the direction, so: refused
	 * with EINVAL, it is tried again after the controller's other files.
	 */
	CGROUP_WRITE_DEFER = 1u << 1,
	CGROUP_WRITE_V2 = 1u << 2, /* in the v2 hierarchy, whatever the layout */
};

struct cgroup_write {
	const char *controller;
	unsigned flags;
	const char *file, *value;
	const char *alt_file, *alt_value; /* tried when file is missing; NULL = none */
};

/* Writes of one controller that depend on each other are neighbours in the list. */
struct cgroup_writes {
	struct arena arena;
	struct cgroup_write *items;
	size_t n, cap;
	bool failed; /* out of memory: checked once, at application */
};

#define CGROUP_WRITES_NULL ((struct cgroup_writes){ 0 })

void cgroup_writes_add(struct cgroup_writes *w, const char *controller, unsigned flags,
		       const char *file, const char *fmt, ...) _printf_(5, 6);
/* Gives the last write a second choice. */
void cgroup_writes_alt(struct cgroup_writes *w, const char *file, const char *fmt, ...)
	_printf_(3, 4);
void cgroup_writes_done(struct cgroup_writes *w);
#define _cleanup_cgroup_writes_ _cleanup_(cgroup_writes_done)

/* Every write's controller has a folder in cg; else an error that names file and controller. */
int cgroup_writes_check(const struct cgroup *cg, const struct cgroup_writes *w, struct error *err);
/* In order, one controller after the other. */
int cgroup_writes_apply(const struct cgroup *cg, const struct cgroup_writes *w, struct error *err);

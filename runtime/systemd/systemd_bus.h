/*
 * systemd's manager over D-Bus: the few calls that a container's scope needs. Each returns
 * with its job done, or says what became of it.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "cgroup/cgroup_scope.h"

struct systemd;

/* The system's manager, or the one of the user. */
int systemd_open(bool user, struct systemd **ret, struct error *err);
struct systemd *systemd_close(struct systemd *s);

/* The manager's own cgroup: "" for the top of the hierarchy. */
int systemd_manager_cgroup(struct systemd *s, char ret[PATH_MAX], struct error *err);
/* A scope with this process in it. A unit of that name that has ended or failed gives way. */
int systemd_start_scope(struct systemd *s, const char *unit, const char *slice,
			const struct cgroup_props *props, struct error *err);
/* Returns when systemd has written the new values into the cgroup. */
int systemd_set_properties(struct systemd *s, const char *unit, const struct cgroup_props *props,
			   struct error *err);
/* Also forgets a failure. No such unit is done. */
int systemd_stop(struct systemd *s, const char *unit, struct error *err);

/*
 * Shared by the files of this folder.
 */
#pragma once

#include <systemd/sd-bus.h>

#include "systemd/systemd_bus.h"

#define SYSTEMD_NAME	  "org.freedesktop.systemd1"
#define SYSTEMD_PATH	  "/org/freedesktop/systemd1"
#define SYSTEMD_MANAGER	  SYSTEMD_NAME ".Manager"
#define SYSTEMD_NO_UNIT	  SYSTEMD_NAME ".NoSuchUnit"
#define SYSTEMD_EXISTS	  SYSTEMD_NAME ".UnitExists"
#define SYSTEMD_JOB_SECONDS 30

struct systemd {
	sd_bus *bus;
	unsigned version; /* 0 = not asked yet */
	/* the job that is waited for */
	char *job;
	char result[32]; /* "" = not ended */
};

/* Puts systemd's own words behind ours; returns the errno that they mean. */
int systemd_failed(const sd_bus_error *e, int r, struct error *err, const char *fmt, ...)
	_printf_(4, 5);
/* Takes *e's content. */
void systemd_error_free(sd_bus_error *e);
#define _cleanup_sd_error_ _cleanup_(systemd_error_free)
static inline void systemd_message_unref(sd_bus_message **m)
{
	*m = sd_bus_message_unref(*m);
}
#define _cleanup_message_ _cleanup_(systemd_message_unref)

/* systemd_props.c: the a(sv) of a call, without those that this systemd does not know. */
int systemd_props_append(struct systemd *s, sd_bus_message *m, const struct cgroup_props *props,
			 struct error *err);
/* One (sv) with a string or boolean. */
int systemd_prop_append(sd_bus_message *m, const char *name, const char *signature,
			const char *const *values, size_t n);
/* systemd_scope.c: the whole call that starts a scope with its sender in it. */
int systemd_scope_message(struct systemd *s, const char *unit, const char *slice,
			  const struct cgroup_props *props, sd_bus_message **ret, struct error *err);
/* systemd_bus.c */
int systemd_version(struct systemd *s, unsigned *ret, struct error *err);

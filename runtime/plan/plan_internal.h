/*
 * What the files of plan/ share. Each plan_make_*() fills one part of the plan and
 * allocates in its arena; plan_check() judges the whole.
 */
#pragma once

#include "plan/plan.h"

int plan_copy_id_maps(struct plan *p, const struct spec_id_maps *from, struct id_maps *to,
		      struct error *err);
int plan_make_namespaces(struct plan *p, const struct plan_request *req, struct error *err);
/* Needs the namespaces: idmap mounts refer to the container's own maps. */
int plan_make_mounts(struct plan *p, const struct plan_request *req, struct error *err);
/* Needs the mounts: a bind over /dev leaves no device to us. */
int plan_make_devices(struct plan *p, const struct plan_request *req, struct error *err);
/* Needs mounts and process, and adds to both. */
int plan_make_notify(struct plan *p, const struct plan_request *req, struct error *err);
int plan_check(const struct plan *p, const struct plan_request *req, struct error *err);

/* plan_path.c: paths as text. They decide comparisons only; nothing is opened by them. */

/* Without empty, "." and ".." parts, absolute; NULL when out of memory. */
char *plan_path_clean(struct arena *a, const char *path);
/* Whether the clean path is the clean folder or lies below it. */
bool plan_path_within(const char *path, const char *folder);
/* The items whose clean forms differ, in order, as given. */
int plan_paths_unique(struct arena *a, const struct strv *list, char ***ret, size_t *ret_count,
		      struct error *err);

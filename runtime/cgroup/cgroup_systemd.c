/*
 * The place of the systemd cgroup manager, which asks systemd for a scope over D-Bus. This
 * build has none: it says so instead of falling back to folders that systemd would take
 * for its own.
 */
#include "cgroup/cgroup_driver.h"

#include <errno.h>

static int unavailable(struct error *err)
{
	return error_text(err, -EOPNOTSUPP,
			  "systemd cgroup manager: not available in this build: use the cgroupfs "
			  "manager (no --systemd-cgroup; the engine's cgroup driver \"cgroupfs\")");
}

static int systemd_plan(const struct cgroup_request *req, const struct cgroup_host *host,
			struct cgroup *ret, struct error *err)
{
	return unavailable(err);
}

static int systemd_create(struct cgroup *cg, const struct cgroup_request *req, struct error *err)
{
	return unavailable(err);
}

static int systemd_remove(const struct cgroup *cg, struct error *err)
{
	return unavailable(err);
}

const struct cgroup_driver cgroup_driver_systemd = {
	.name = "systemd",
	.plan = systemd_plan,
	.create = systemd_create,
	.remove = systemd_remove,
};

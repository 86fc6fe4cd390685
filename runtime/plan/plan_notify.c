/*
 * What a container under NOTIFY_SOCKET (sd_notify(3)) gets beyond its configuration: the
 * folder in which the starter will listen, and the variable that names the socket.
 */
#include <linux/sched.h>
#include <sys/mount.h>

#include "plan/plan_internal.h"
#include "util/str.h"

#define NOTIFY_TARGET	"/run/notify"
#define NOTIFY_VARIABLE "NOTIFY_SOCKET="

static int add_mount(struct plan *p, const struct plan_request *req, struct error *err)
{
	struct mount_op *mounts, *op;
	size_t i;

	mounts = arena_calloc(&p->arena, p->n_mounts + 1, sizeof(*mounts));
	if (!mounts)
		return error_oom(err);
	for (i = 0; i < p->n_mounts; i++)
		mounts[i] = p->mounts[i];
	op = &mounts[p->n_mounts];
	*op = MOUNT_OP_NULL;
	op->kind = MOUNT_BIND;
	op->source = arena_strdup(&p->arena, req->notify_dir);
	op->destination = NOTIFY_TARGET;
	/* A read-only mount lets nobody change the folder, and its socket be written to all the same. */
	op->attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
	op->label = p->spec->linux_cfg->mount_label;
	if (!op->source)
		return error_oom(err);
	p->mounts = mounts;
	p->n_mounts++;
	return 0;
}

static int add_variable(struct plan *p, struct error *err)
{
	struct plan_process *pp = &p->process;
	char **env = arena_calloc(&p->arena, pp->n_env + 2, sizeof(*env));
	size_t i, n = 0;

	if (!env)
		return error_oom(err);
	for (i = 0; i < pp->n_env; i++)
		if (!str_after(pp->env[i], NOTIFY_VARIABLE))
			env[n++] = pp->env[i];
	env[n++] = arena_strdup(&p->arena, NOTIFY_VARIABLE NOTIFY_TARGET "/" PLAN_NOTIFY_SOCKET);
	if (!env[n - 1])
		return error_oom(err);
	pp->env = env;
	pp->n_env = n;
	return 0;
}

int plan_make_notify(struct plan *p, const struct plan_request *req, struct error *err)
{
	int r;

	/* A mount in somebody else's namespace would stay there. */
	if (!req->notify_dir || !p->has_process || !(p->ns_create & CLONE_NEWNS))
		return 0;
	r = add_mount(p, req, err);
	if (r == 0)
		r = add_variable(p, err);
	p->notify = r == 0;
	return r;
}

/*
 * Specification and request into one plan. Pure: no file is looked at and no
 * system call is made, so that the same input gives the same plan anywhere.
 */
#include <linux/sched.h>
#include <sys/mount.h>

#include "plan/plan_internal.h"
#include "util/str.h"

static const char *text_or_null(const char *s)
{
	return s && *s ? s : NULL;
}

static int make_root(struct plan *p, const struct plan_request *req, struct error *err)
{
	const struct spec_root *root = p->spec->root;
	const char *word = p->spec->linux_cfg->rootfs_propagation;
	uint64_t flags;

	if (!root)
		return error_text(err, -EINVAL, "root must be given");
	p->rootfs = root->path[0] == '/'
			    ? root->path
			    : arena_printf(&p->arena, "%s/%s", req->bundle, root->path);
	if (!p->rootfs)
		return error_oom(err);
	p->rootfs_readonly = root->readonly;
	p->no_pivot = req->no_pivot;

	p->host_propagation = MS_SLAVE | MS_REC;
	if (!word || enum_from_name(&spec_propagation_table, word, &flags) < 0)
		return 0;
	p->host_propagation = (unsigned long)flags;
	/* Private and slave are inherited by the bind of the rootfs; the others are set at the end.
	 */
	if (!(flags & (MS_PRIVATE | MS_SLAVE)))
		p->root_propagation = (unsigned long)flags;
	/* MS_MOVE leaves the host's mounts reachable, which then must keep following the host. */
	if (req->no_pivot && (flags & MS_PRIVATE))
		return error_text(err, -EINVAL,
				  "linux.rootfsPropagation: \"%s\" is not safe without pivot_root",
				  word);
	return 0;
}

static int make_paths(struct plan *p, struct error *err)
{
	const struct spec_linux *l = p->spec->linux_cfg;
	int r;

	r = plan_paths_unique(&p->arena, &l->masked_paths, &p->masked_paths, &p->n_masked_paths,
			      err);
	if (r < 0)
		return r;
	return plan_paths_unique(&p->arena, &l->readonly_paths, &p->readonly_paths,
				 &p->n_readonly_paths, err);
}

static int make_process(struct plan *p, const struct plan_request *req, struct error *err)
{
	if (!p->spec->process)
		return 0;
	p->has_process = true;
	return plan_build_process(p->spec->process, p->spec, req->rootless, &p->arena, &p->process,
				  err);
}

static int make_parts(struct plan *p, const struct plan_request *req, struct error *err)
{
	int r;

	r = make_root(p, req, err);
	if (r < 0)
		return r;
	r = plan_make_namespaces(p, req, err);
	if (r < 0)
		return r;
	r = plan_make_mounts(p, req, err);
	if (r < 0)
		return r;
	r = plan_make_devices(p, req, err);
	if (r < 0)
		return r;
	r = make_paths(p, err);
	if (r < 0)
		return r;
	r = make_process(p, req, err);
	if (r < 0)
		return r;
	r = plan_make_notify(p, req, err);
	if (r < 0)
		return r;
	return plan_check(p, req, err);
}

int plan_build(const struct spec *spec, const struct plan_request *req, struct plan **ret,
	       struct error *err)
{
	_cleanup_plan_ struct plan *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return error_oom(err);
	p->spec = spec;
	p->id = arena_strdup(&p->arena, req->id);
	p->bundle = arena_strdup(&p->arena, req->bundle);
	if (!p->id || !p->bundle)
		return error_oom(err);
	p->new_keyring = !req->no_new_keyring;
	p->preserve_fds = req->preserve_fds;
	p->hostname = text_or_null(spec->hostname);
	p->domainname = text_or_null(spec->domainname);
	p->sysctl = spec->linux_cfg->sysctl;
	r = make_parts(p, req, err);
	if (r < 0)
		return r;
	*ret = take_ptr(p);
	return 0;
}

struct plan *plan_free(struct plan *p)
{
	if (p) {
		arena_done(&p->arena);
		free(p);
	}
	return NULL;
}

/*
 * Mounts and devices of the plan. The meaning of option words belongs to
 * os/mount_options.c; here each mount gets its kind and its id mapping.
 */
#include <linux/sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include "plan/plan_internal.h"
#include "util/str.h"

#define DEVICE_MODE_DEFAULT 0666

static int mount_id_maps(struct plan *p, const struct spec_mount *m, size_t i, struct mount_op *op,
			 struct error *err)
{
	int r;

	/* Maps alone ask for a mapped mount, too. */
	if (m->uid_mappings.count > 0)
		op->idmap = true;
	if (!op->idmap)
		return 0;
	if (op->kind != MOUNT_BIND)
		return error_text(err, -EINVAL,
				  "mounts[%zu] (%s): only bind mounts can have an id mapping", i,
				  m->destination);
	if (m->uid_mappings.count > 0) {
		r = plan_copy_id_maps(p, &m->uid_mappings, &op->uid_maps, err);
		return r < 0 ? r : plan_copy_id_maps(p, &m->gid_mappings, &op->gid_maps, err);
	}
	if (op->uid_maps.count > 0)
		return 0; /* written in the option */
	/* The container's own mapping. Without a user namespace that is the identity. */
	if (!spec_namespace_find(p->spec, CLONE_NEWUSER)) {
		op->idmap = false;
		op->idmap_recursive = false;
		return 0;
	}
	/* A joined namespace is handed over as a descriptor: no maps here. */
	if (p->ns_create & CLONE_NEWUSER) {
		op->uid_maps = p->uid_maps;
		op->gid_maps = p->gid_maps;
	}
	return 0;
}

/* What the option words left open. */
static void mount_kind(const struct spec_mount *m, struct mount_op *op)
{
	if (op->kind != MOUNT_FS || !m->type)
		return;
	if (str_eq(m->type, "bind"))
		op->kind = MOUNT_BIND;
	else if (str_eq(m->type, "cgroup") || str_eq(m->type, "cgroup2"))
		op->kind = MOUNT_CGROUP;
}

static int mount_check(const struct spec_mount *m, size_t i, const char *clean,
		       const struct mount_op *op, struct error *err)
{
	if (op->kind != MOUNT_REMOUNT && str_eq(clean, "/"))
		return error_text(err, -EINVAL,
				  "mounts[%zu]: a mount on / would hide the root filesystem; set "
				  "root.path instead",
				  i);
	if (op->kind == MOUNT_BIND && (!m->source || !*m->source))
		return error_text(err, -EINVAL, "mounts[%zu] (%s): a bind mount needs a source", i,
				  m->destination);
	/* The kernel would drop them without a word. */
	if (op->kind == MOUNT_BIND && op->data)
		return error_text(err, -EINVAL,
				  "mounts[%zu] (%s): unknown option \"%s\" for a bind mount", i,
				  m->destination, op->data);
	if (op->kind == MOUNT_FS && (!op->fstype || !*op->fstype))
		return error_text(err, -EINVAL, "mounts[%zu] (%s): type is missing", i,
				  m->destination);
	return 0;
}

static int make_mount(struct plan *p, size_t i, struct error *err)
{
	const struct spec_mount *m = &p->spec->mounts.items[i];
	struct mount_op *op = &p->mounts[i];
	const char *clean;
	int r;

	*op = MOUNT_OP_NULL;
	op->kind = MOUNT_FS;
	op->source = m->source;
	op->fstype = m->type;
	op->label = p->spec->linux_cfg->mount_label;
	/* A relative destination is old but accepted: it is taken below the root. */
	op->destination = m->destination[0] == '/' ? m->destination
						   : arena_printf(&p->arena, "/%s", m->destination);
	clean = plan_path_clean(&p->arena, m->destination);
	if (!op->destination || !clean)
		return error_oom(err);

	r = mount_options_parse(&p->arena, m->options.items, m->options.count, op, err);
	if (r < 0)
		return error_prefix(err, "mounts[%zu] (%s)", i, m->destination);
	mount_kind(m, op);
	if (op->kind == MOUNT_BIND || op->kind == MOUNT_REMOUNT)
		op->fstype = NULL;
	r = mount_check(m, i, clean, op, err);
	if (r < 0)
		return r;
	if (op->kind == MOUNT_BIND && str_eq(clean, "/dev"))
		p->dev_setup = false;
	if (op->kind == MOUNT_CGROUP && (p->ns_create & CLONE_NEWCGROUP) &&
	    str_eq(clean, "/sys/fs/cgroup") &&
	    !((op->attr_set | op->rec_set) & MOUNT_ATTR_RDONLY) && !(op->sb_flags & MS_RDONLY))
		p->cgroup_writable_mount = true;
	return mount_id_maps(p, m, i, op, err);
}

int plan_make_mounts(struct plan *p, const struct plan_request *req _unused_, struct error *err)
{
	size_t i, n = p->spec->mounts.count;
	int r;

	p->dev_setup = true;
	p->mounts = arena_calloc(&p->arena, n, sizeof(*p->mounts));
	if (!p->mounts)
		return error_oom(err);
	for (i = 0; i < n; i++) {
		r = make_mount(p, i, err);
		if (r < 0)
			return r;
	}
	p->n_mounts = n;
	return 0;
}

/* Replaces the node of the same path, else appends. */
static int add_device(struct plan *p, const struct devnode *node, char **clean, struct error *err)
{
	size_t i;

	clean[p->n_devices] = plan_path_clean(&p->arena, node->path);
	if (!clean[p->n_devices])
		return error_oom(err);
	/* A link to pts/ptmx whatever the configuration says: the host's would be another instance.
	 */
	if (str_eq(clean[p->n_devices], "/dev/ptmx"))
		return 0;
	for (i = 0; i < p->n_devices; i++)
		if (str_eq(clean[i], clean[p->n_devices]))
			break;
	p->devices[i] = *node;
	/* A slash at the end is no name of a file; the rest of the path may lead through links. */
	if (*node->path && node->path[strlen(node->path) - 1] == '/')
		p->devices[i].path = clean[p->n_devices];
	if (i == p->n_devices)
		p->n_devices++;
	return 0;
}

int plan_make_devices(struct plan *p, const struct plan_request *req, struct error *err)
{
	const struct spec_devices *own = &p->spec->linux_cfg->devices;
	size_t i, max = devnodes_default_count + own->count;
	struct devnode node;
	char **clean;
	int r;

	p->bind_devices = p->in_userns || req->rootless;
	if (!p->dev_setup)
		return 0;
	p->devices = arena_calloc(&p->arena, max, sizeof(*p->devices));
	clean = arena_calloc(&p->arena, max, sizeof(*clean));
	if (!p->devices || !clean)
		return error_oom(err);
	for (i = 0; i < devnodes_default_count; i++) {
		r = add_device(p, &devnodes_default[i], clean, err);
		if (r < 0)
			return r;
	}
	for (i = 0; i < own->count; i++) {
		const struct spec_device *d = &own->items[i];

		node = (struct devnode){
			.path = d->path,
			.type = d->type,
			.major = (unsigned)d->major,
			.minor = (unsigned)d->minor,
			/* Engines copy st_mode with its type bits. */
			.mode = (d->file_mode.set ? d->file_mode.value : DEVICE_MODE_DEFAULT) &
				~(mode_t)S_IFMT,
			.uid = d->uid.set ? d->uid.value : 0,
			.gid = d->gid.set ? d->gid.value : 0,
		};
		r = add_device(p, &node, clean, err);
		if (r < 0)
			return r;
	}
	return 0;
}

/*
 * The plan as JSON with a fixed order of members: what golden tests compare and a
 * dry run shows. Descriptors and addresses are left out; flags are written as the
 * kernel's names, what has no name as a number.
 */
#include <sys/mount.h>

#include "plan/plan_internal.h"
#include "util/str.h"

/* clang-format off */
static const struct enum_entry attr_entries[] = {
	{ "RDONLY", MOUNT_ATTR_RDONLY, NULL },
	{ "NOSUID", MOUNT_ATTR_NOSUID, NULL },
	{ "NODEV", MOUNT_ATTR_NODEV, NULL },
	{ "NOEXEC", MOUNT_ATTR_NOEXEC, NULL },
	{ "ATIME", MOUNT_ATTR__ATIME, NULL }, /* the whole field: a mode was chosen */
	{ "NOATIME", MOUNT_ATTR_NOATIME, NULL },
	{ "STRICTATIME", MOUNT_ATTR_STRICTATIME, NULL },
	{ "NODIRATIME", MOUNT_ATTR_NODIRATIME, NULL },
	{ "NOSYMFOLLOW", MOUNT_ATTR_NOSYMFOLLOW, NULL },
};
static const struct enum_entry sb_entries[] = {
	{ "RDONLY", MS_RDONLY, NULL },
	{ "SYNCHRONOUS", MS_SYNCHRONOUS, NULL },
	{ "MANDLOCK", MS_MANDLOCK, NULL },
	{ "DIRSYNC", MS_DIRSYNC, NULL },
	{ "SILENT", MS_SILENT, NULL },
	{ "I_VERSION", MS_I_VERSION, NULL },
	{ "LAZYTIME", MS_LAZYTIME, NULL },
};
static const struct enum_entry kind_entries[] = {
	{ "fs", MOUNT_FS, NULL },
	{ "bind", MOUNT_BIND, NULL },
	{ "remount", MOUNT_REMOUNT, NULL },
	{ "cgroup", MOUNT_CGROUP, NULL },
};
/* clang-format on */
static const struct enum_table attr_table = ENUM_TABLE("mount attribute", attr_entries);
static const struct enum_table sb_table = ENUM_TABLE("superblock flag", sb_entries);
static const struct enum_table kind_table = ENUM_TABLE("mount kind", kind_entries);

/* Members that say nothing are left out, so that the interesting ones stand out. */
static void put_text(struct json_writer *w, const char *key, const char *value)
{
	if (value)
		json_string(w, key, value);
}

static void put_true(struct json_writer *w, const char *key, bool value)
{
	if (value)
		json_bool(w, key, true);
}

static void put_texts(struct json_writer *w, const char *key, char *const *items, size_t n)
{
	size_t i;

	json_array_begin(w, key);
	for (i = 0; i < n; i++)
		json_string(w, NULL, items[i]);
	json_array_end(w);
}

/* Names of the set bits; entries of several bits stand before their parts. */
static void put_flags(struct json_writer *w, const char *key, const struct enum_table *t,
		      uint64_t flags)
{
	size_t i;

	if (!flags)
		return;
	json_array_begin(w, key);
	for (i = 0; i < t->count; i++) {
		uint64_t bits = t->entries[i].value;

		if (bits && (flags & bits) == bits) {
			json_string(w, NULL, t->entries[i].name);
			flags &= ~bits;
		}
	}
	if (flags)
		json_u64(w, NULL, flags);
	json_array_end(w);
}

static void put_caps(struct json_writer *w, const char *key, uint64_t mask)
{
	size_t i;

	json_array_begin(w, key);
	for (i = 0; i < spec_capability_table.count; i++)
		if (mask & (UINT64_C(1) << spec_capability_table.entries[i].value))
			json_string(w, NULL, spec_capability_table.entries[i].name);
	json_array_end(w);
}

static void put_id_maps(struct json_writer *w, const char *key, const struct id_maps *maps)
{
	size_t i;

	if (maps->count == 0)
		return;
	json_array_begin(w, key);
	for (i = 0; i < maps->count; i++) {
		json_object_begin(w, NULL);
		json_u64(w, "container", maps->items[i].container_id);
		json_u64(w, "host", maps->items[i].host_id);
		json_u64(w, "size", maps->items[i].size);
		json_object_end(w);
	}
	json_array_end(w);
}

static void put_root(struct json_writer *w, const struct plan *p)
{
	json_object_begin(w, "root");
	json_string(w, "path", p->rootfs);
	json_bool(w, "readonly", p->rootfs_readonly);
	json_bool(w, "pivot", !p->no_pivot);
	json_string(w, "hostPropagation",
		    enum_to_name(&spec_propagation_table, p->host_propagation));
	if (p->root_propagation)
		json_string(w, "rootPropagation",
			    enum_to_name(&spec_propagation_table, p->root_propagation));
	json_object_end(w);
}

static void put_namespaces(struct json_writer *w, const struct plan *p)
{
	size_t i;

	json_object_begin(w, "namespaces");
	json_array_begin(w, "create");
	for (i = 0; i < spec_namespace_table.count; i++)
		if (p->ns_create & spec_namespace_table.entries[i].value)
			json_string(w, NULL, spec_namespace_table.entries[i].name);
	json_array_end(w);
	json_array_begin(w, "join");
	for (i = 0; i < p->n_ns_join; i++) {
		json_object_begin(w, NULL);
		json_string(w, "type", enum_to_name(&spec_namespace_table, p->ns_join[i].type));
		json_string(w, "path", p->ns_join[i].path);
		json_object_end(w);
	}
	json_array_end(w);
	json_bool(w, "inUserNamespace", p->in_userns);
	put_id_maps(w, "uidMaps", &p->uid_maps);
	put_id_maps(w, "gidMaps", &p->gid_maps);
	for (i = 0; i < p->n_time_offsets; i++) {
		json_object_begin(w, p->time_offsets[i].clock);
		json_i64(w, "secs", p->time_offsets[i].secs);
		json_u64(w, "nanosecs", p->time_offsets[i].nanosecs);
		json_object_end(w);
	}
	json_object_end(w);
}

static void put_mount(struct json_writer *w, const struct mount_op *op)
{
	size_t i;

	json_object_begin(w, NULL);
	json_string(w, "destination", op->destination);
	json_string(w, "kind", enum_to_name(&kind_table, op->kind));
	put_text(w, "source", op->source);
	put_text(w, "fstype", op->fstype);
	put_text(w, "data", op->data);
	put_true(w, "recursive", op->recursive);
	put_flags(w, "superblock", &sb_table, op->sb_flags);
	put_flags(w, "set", &attr_table, op->attr_set);
	put_flags(w, "clear", &attr_table, op->attr_clr);
	put_flags(w, "setRecursive", &attr_table, op->rec_set);
	put_flags(w, "clearRecursive", &attr_table, op->rec_clr);
	if (op->propagation[0]) {
		json_array_begin(w, "propagation");
		for (i = 0; i < ELEMENTSOF(op->propagation) && op->propagation[i]; i++)
			json_string(w, NULL,
				    enum_to_name(&spec_propagation_table, op->propagation[i]));
		json_array_end(w);
	}
	put_true(w, "tmpcopyup", op->tmpcopyup);
	put_true(w, "copySymlink", op->copy_symlink);
	put_true(w, "sourceNoFollow", op->src_nofollow);
	put_true(w, "destinationNoFollow", op->dest_nofollow);
	put_true(w, "idmap", op->idmap);
	put_true(w, "idmapRecursive", op->idmap_recursive);
	put_id_maps(w, "uidMaps", &op->uid_maps);
	put_id_maps(w, "gidMaps", &op->gid_maps);
	put_text(w, "label", op->label);
	json_object_end(w);
}

static void put_devices(struct json_writer *w, const struct plan *p)
{
	char type[2] = { 0 }, mode[8];
	size_t i;

	json_bool(w, "bindDevices", p->bind_devices);
	json_bool(w, "devSetup", p->dev_setup);
	json_array_begin(w, "devices");
	for (i = 0; i < p->n_devices; i++) {
		const struct devnode *d = &p->devices[i];

		type[0] = d->type;
		(void)snprintf(mode, sizeof(mode), "%04o", (unsigned)d->mode & 07777u);
		json_object_begin(w, NULL);
		json_string(w, "path", d->path);
		json_string(w, "type", type);
		json_u64(w, "major", d->major);
		json_u64(w, "minor", d->minor);
		json_string(w, "mode", mode);
		json_u64(w, "uid", d->uid);
		json_u64(w, "gid", d->gid);
		json_object_end(w);
	}
	json_array_end(w);
}

static void put_surroundings(struct json_writer *w, const struct plan *p)
{
	size_t i;

	put_text(w, "hostname", p->hostname);
	put_text(w, "domainname", p->domainname);
	json_object_begin(w, "sysctl");
	for (i = 0; i < p->sysctl.count; i++)
		json_string(w, p->sysctl.items[i].key, p->sysctl.items[i].value);
	json_object_end(w);
	put_texts(w, "maskedPaths", p->masked_paths, p->n_masked_paths);
	put_texts(w, "readonlyPaths", p->readonly_paths, p->n_readonly_paths);
	if (p->n_net_devices == 0)
		return;
	json_array_begin(w, "netDevices");
	for (i = 0; i < p->n_net_devices; i++) {
		json_object_begin(w, NULL);
		json_string(w, "host", p->net_devices[i].host_name);
		put_text(w, "name", p->net_devices[i].name);
		json_object_end(w);
	}
	json_array_end(w);
}

static void put_creds(struct json_writer *w, const struct creds *c)
{
	size_t i;

	json_u64(w, "uid", c->uid);
	json_u64(w, "gid", c->gid);
	json_array_begin(w, "groups");
	for (i = 0; i < c->n_groups; i++)
		json_u64(w, NULL, c->groups[i]);
	json_array_end(w);
	put_true(w, "keepGroups", c->keep_groups);
	if (c->set_caps) {
		json_object_begin(w, "capabilities");
		put_caps(w, "bounding", c->caps.bounding);
		put_caps(w, "effective", c->caps.effective);
		put_caps(w, "inheritable", c->caps.inheritable);
		put_caps(w, "permitted", c->caps.permitted);
		put_caps(w, "ambient", c->caps.ambient);
		json_object_end(w);
	}
	json_bool(w, "noNewPrivileges", c->no_new_privs);
}

static void put_scheduler(struct json_writer *w, const struct sched_op *s)
{
	if (!s)
		return;
	json_object_begin(w, "scheduler");
	json_string(w, "policy", enum_to_name(&spec_scheduler_policy_table, s->policy));
	json_i64(w, "nice", s->nice);
	json_i64(w, "priority", s->priority);
	put_flags(w, "flags", &spec_scheduler_flag_table, s->flags);
	json_u64(w, "runtime", s->runtime);
	json_u64(w, "deadline", s->deadline);
	json_u64(w, "period", s->period);
	json_object_end(w);
}

static void put_memory_policy(struct json_writer *w, const struct spec_memory_policy *m)
{
	if (!m)
		return;
	json_object_begin(w, "memoryPolicy");
	json_string(w, "mode", enum_to_name(&spec_memory_policy_mode_table, m->mode));
	put_text(w, "nodes", m->nodes);
	put_flags(w, "flags", &spec_memory_policy_flag_table, m->flags);
	json_object_end(w);
}

static void put_attributes(struct json_writer *w, const struct plan_process *pp)
{
	if (pp->has_oom_score_adj)
		json_i64(w, "oomScoreAdj", pp->oom_score_adj);
	put_text(w, "apparmorProfile", pp->apparmor_profile);
	put_text(w, "selinuxLabel", pp->selinux_label);
	put_scheduler(w, pp->scheduler);
	if (pp->ioprio_class) {
		json_object_begin(w, "ioPriority");
		json_string(w, "class",
			    enum_to_name(&spec_ioprio_class_table, (uint64_t)pp->ioprio_class));
		json_i64(w, "priority", pp->ioprio_priority);
		json_object_end(w);
	}
	put_text(w, "affinityInitial", pp->affinity_initial);
	put_text(w, "affinityFinal", pp->affinity_final);
	if (pp->has_personality)
		json_string(w, "personality",
			    enum_to_name(&spec_personality_table, pp->personality));
	put_memory_policy(w, pp->memory_policy);
}

static void put_process(struct json_writer *w, const struct plan_process *pp)
{
	char mask[8];
	size_t i;

	json_object_begin(w, "process");
	json_bool(w, "terminal", pp->terminal);
	if (pp->terminal) {
		json_u64(w, "rows", pp->rows);
		json_u64(w, "cols", pp->cols);
	}
	json_array_begin(w, "argv");
	for (i = 0; pp->argv[i]; i++)
		json_string(w, NULL, pp->argv[i]);
	json_array_end(w);
	put_texts(w, "env", pp->env, pp->n_env);
	json_string(w, "cwd", pp->cwd);
	put_creds(w, &pp->creds);
	(void)snprintf(mask, sizeof(mask), "%04o", (unsigned)pp->umask & 07777u);
	json_string(w, "umask", mask);
	json_array_begin(w, "rlimits");
	for (i = 0; i < pp->n_rlimits; i++) {
		const struct rlimit_op *r = &pp->rlimits[i];

		json_object_begin(w, NULL);
		json_string(w, "type", enum_to_name(&spec_rlimit_table, (uint64_t)r->resource));
		json_u64(w, "soft", r->soft);
		json_u64(w, "hard", r->hard);
		json_object_end(w);
	}
	json_array_end(w);
	put_attributes(w, pp);
	json_object_end(w);
}

int plan_print(const struct plan *p, char **ret_text, struct error *err)
{
	_cleanup_json_writer_ struct json_writer *w = json_writer_new(2);
	size_t i;

	if (!w)
		return error_oom(err);
	json_object_begin(w, NULL);
	json_string(w, "id", p->id);
	json_string(w, "bundle", p->bundle);
	put_root(w, p);
	put_namespaces(w, p);
	json_array_begin(w, "mounts");
	for (i = 0; i < p->n_mounts; i++)
		put_mount(w, &p->mounts[i]);
	json_array_end(w);
	json_bool(w, "cgroupNamespace", p->cgroupns);
	json_bool(w, "cgroupWritableMount", p->cgroup_writable_mount);
	put_devices(w, p);
	put_surroundings(w, p);
	if (p->has_process)
		put_process(w, &p->process);
	json_bool(w, "newKeyring", p->new_keyring);
	json_u64(w, "preserveFds", p->preserve_fds);
	json_object_end(w);
	return json_take(w, ret_text, err);
}

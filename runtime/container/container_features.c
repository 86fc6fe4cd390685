/*
 * What this build recognises, for `features`: every list is printed from the table
 * that the reader itself uses, so that the document cannot promise anything else.
 */
#include <stddef.h>

#include "cgroup/cgroup.h"
#include "container/container.h"
#include "filter/filter.h"
#include "os/mount.h"
#include "util/json_write.h"

static const struct enum_entry manager_entries[] = {
	{ "cgroupfs", CGROUP_MANAGER_CGROUPFS, NULL },
	{ "systemd", CGROUP_MANAGER_SYSTEMD, NULL },
	{ "disabled", CGROUP_MANAGER_DISABLED, NULL },
};
const struct enum_table container_cgroup_manager_table =
	ENUM_TABLE("cgroup manager", manager_entries);

static void write_names(struct json_writer *w, const char *key, const struct enum_table *t)
{
	json_array_begin(w, key);
	for (size_t i = 0; i < t->count; i++)
		json_string(w, NULL, t->entries[i].name);
	json_array_end(w);
}

static void write_enabled(struct json_writer *w, const char *key, bool enabled)
{
	json_object_begin(w, key);
	json_bool(w, "enabled", enabled);
	json_object_end(w);
}

static void write_mount_options(struct json_writer *w)
{
	const char *name;

	json_array_begin(w, "mountOptions");
	for (size_t i = 0; (name = mount_option_name(i)); i++)
		json_string(w, NULL, name);
	json_array_end(w);
}

static void write_cgroup(struct json_writer *w)
{
	json_object_begin(w, "cgroup");
	json_bool(w, "v1", true);
	json_bool(w, "v2", true);
	json_bool(w, "systemd", cgroup_systemd_built());
	json_bool(w, "systemdUser", cgroup_systemd_built());
	json_bool(w, "rdma", true);
	json_object_end(w);
}

static void write_seccomp(struct json_writer *w)
{
	const struct enum_table *flags = &spec_seccomp_flag_table;

	json_object_begin(w, "seccomp");
	json_bool(w, "enabled", true);
	write_names(w, "actions", &spec_seccomp_action_table);
	write_names(w, "operators", &spec_seccomp_op_table);
	write_names(w, "archs", &spec_seccomp_arch_table);
	write_names(w, "knownFlags", flags);
	json_array_begin(w, "supportedFlags");
	for (size_t i = 0; i < flags->count; i++)
		if (filter_flag_supported(flags->entries[i].name))
			json_string(w, NULL, flags->entries[i].name);
	json_array_end(w);
	json_object_end(w);
}

static void write_linux(struct json_writer *w)
{
	json_object_begin(w, "linux");
	write_names(w, "namespaces", &spec_namespace_table);
	write_names(w, "capabilities", &spec_capability_table);
	write_cgroup(w);
	write_seccomp(w);
	write_enabled(w, "apparmor", true);
	write_enabled(w, "selinux", true);
	json_object_begin(w, "intelRdt");
	json_bool(w, "enabled", true);
	json_bool(w, "schemata", true);
	json_bool(w, "monitoring", true);
	json_object_end(w);
	json_object_begin(w, "memoryPolicy");
	write_names(w, "modes", &spec_memory_policy_mode_table);
	write_names(w, "flags", &spec_memory_policy_flag_table);
	json_object_end(w);
	json_object_begin(w, "mountExtensions");
	write_enabled(w, "idmap", true);
	json_object_end(w);
	write_enabled(w, "netDevices", true);
	json_object_end(w);
}

int container_features_write(struct json_writer *w, struct error *err)
{
	write_mount_options(w);
	write_linux(w);
	return 0;
}

const char *container_seccomp_version(void)
{
	return filter_library_version();
}

/*
 * The configuration that `agentrun spec` prints: a starting point for people and
 * test suites, the same content as other runtimes print.
 */
#include "spec/spec.h"
#include "util/json_write.h"
#include "util/str.h"

#define OPTIONS_MAX 8

struct default_mount {
	const char *destination, *type, *source;
	const char *options[OPTIONS_MAX];
};

static const struct default_mount default_mounts[] = {
	{ "/proc", "proc", "proc", { NULL } },
	{ "/dev", "tmpfs", "tmpfs", { "nosuid", "strictatime", "mode=755", "size=65536k" } },
	{ "/dev/pts",
	  "devpts",
	  "devpts",
	  { "nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620", "gid=5" } },
	{ "/dev/shm", "tmpfs", "shm", { "nosuid", "noexec", "nodev", "mode=1777", "size=65536k" } },
	{ "/dev/mqueue", "mqueue", "mqueue", { "nosuid", "noexec", "nodev" } },
	{ "/sys", "sysfs", "sysfs", { "nosuid", "noexec", "nodev", "ro" } },
	{ "/sys/fs/cgroup", "cgroup", "cgroup", { "nosuid", "noexec", "nodev", "relatime", "ro" } },
};

static const char *const default_caps[] = { "CAP_AUDIT_WRITE", "CAP_KILL", "CAP_NET_BIND_SERVICE" };

static const char *const default_masked[] = {
	"/proc/acpi",	       "/proc/asound",	   "/proc/kcore",	"/proc/keys",
	"/proc/latency_stats", "/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug",
	"/sys/firmware",       "/proc/scsi",
};

static const char *const default_readonly[] = {
	"/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger",
};

static void write_list(struct json_writer *w, const char *key, const char *const *items, size_t n)
{
	size_t i;

	json_array_begin(w, key);
	for (i = 0; i < n; i++)
		json_string(w, NULL, items[i]);
	json_array_end(w);
}

static void write_process(struct json_writer *w)
{
	static const char *const args[] = { "sh" };
	static const char *const env[] = {
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "TERM=xterm"
	};
	static const char *const sets[] = { "bounding", "effective", "permitted", "ambient" };
	size_t i;

	json_object_begin(w, "process");
	json_bool(w, "terminal", true);
	json_object_begin(w, "user");
	json_u64(w, "uid", 0);
	json_u64(w, "gid", 0);
	json_object_end(w);
	write_list(w, "args", args, ELEMENTSOF(args));
	write_list(w, "env", env, ELEMENTSOF(env));
	json_string(w, "cwd", "/");
	json_object_begin(w, "capabilities");
	for (i = 0; i < ELEMENTSOF(sets); i++)
		write_list(w, sets[i], default_caps, ELEMENTSOF(default_caps));
	json_object_end(w);
	json_array_begin(w, "rlimits");
	json_object_begin(w, NULL);
	json_string(w, "type", "RLIMIT_NOFILE");
	json_u64(w, "hard", 1024);
	json_u64(w, "soft", 1024);
	json_object_end(w);
	json_array_end(w);
	json_bool(w, "noNewPrivileges", true);
	json_object_end(w);
}

static void write_mount(struct json_writer *w, const struct default_mount *m, bool rootless)
{
	size_t i;

	json_object_begin(w, NULL);
	json_string(w, "destination", m->destination);
	json_string(w, "type", m->type);
	json_string(w, "source", m->source);
	if (m->options[0]) {
		json_array_begin(w, "options");
		/* Group 5 has no mapping in a namespace of one id. */
		for (i = 0; i < OPTIONS_MAX && m->options[i]; i++)
			if (!rootless || !str_after(m->options[i], "gid="))
				json_string(w, NULL, m->options[i]);
		json_array_end(w);
	}
	json_object_end(w);
}

static void write_mounts(struct json_writer *w, bool rootless)
{
	size_t i;

	json_array_begin(w, "mounts");
	for (i = 0; i < ELEMENTSOF(default_mounts); i++)
		write_mount(w, &default_mounts[i], rootless);
	json_array_end(w);
}

static void write_id_map(struct json_writer *w, const char *key, uint32_t host_id)
{
	json_array_begin(w, key);
	json_object_begin(w, NULL);
	json_u64(w, "containerID", 0);
	json_u64(w, "hostID", host_id);
	json_u64(w, "size", 1);
	json_object_end(w);
	json_array_end(w);
}

static void write_namespaces(struct json_writer *w, bool rootless, bool cgroup_ns)
{
	/*
	 * Rootless with a network namespace, too: with the host's, /sys would have to be the
	 * host's, and no policy allows either by default.
	 */
	const struct { const char *type; bool wanted; } types[] = {
		{ "pid", true },   { "network", true }, { "ipc", true },	 { "uts", true },
		{ "mount", true }, { "user", rootless }, { "cgroup", cgroup_ns },
	};
	size_t i;

	json_array_begin(w, "namespaces");
	for (i = 0; i < ELEMENTSOF(types); i++) {
		if (!types[i].wanted)
			continue;
		json_object_begin(w, NULL);
		json_string(w, "type", types[i].type);
		json_object_end(w);
	}
	json_array_end(w);
}

static void write_linux(struct json_writer *w, bool rootless, bool cgroup_ns, uint32_t uid,
			uint32_t gid)
{
	json_object_begin(w, "linux");
	if (rootless) {
		write_id_map(w, "uidMappings", uid);
		write_id_map(w, "gidMappings", gid);
	} else {
		json_object_begin(w, "resources");
		json_array_begin(w, "devices");
		json_object_begin(w, NULL);
		json_bool(w, "allow", false);
		json_string(w, "access", "rwm");
		json_object_end(w);
		json_array_end(w);
		json_object_end(w);
	}
	write_namespaces(w, rootless, cgroup_ns);
	write_list(w, "maskedPaths", default_masked, ELEMENTSOF(default_masked));
	write_list(w, "readonlyPaths", default_readonly, ELEMENTSOF(default_readonly));
	json_object_end(w);
}

int spec_default_json(bool rootless, bool cgroup_ns, uint32_t uid, uint32_t gid, char **ret_text,
		      struct error *err)
{
	_cleanup_json_writer_ struct json_writer *w = json_writer_new(8);

	if (!w)
		return error_oom(err);
	json_object_begin(w, NULL);
	json_string(w, "ociVersion", SPEC_VERSION_MAX);
	write_process(w);
	json_object_begin(w, "root");
	json_string(w, "path", "rootfs");
	json_bool(w, "readonly", true);
	json_object_end(w);
	json_string(w, "hostname", "agentrun");
	write_mounts(w, rootless);
	write_linux(w, rootless, cgroup_ns, uid, gid);
	json_object_end(w);
	return json_take(w, ret_text, err);
}

/*
 * Owns the form of state.json: written whole, versioned, checked when read, since
 * what it says is killed and removed later. Must not know what the numbers of
 * other layers (cgroup layout and manager) mean.
 */
#include "state/state.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>

#include "state/state_proof.h"
#include "state/state_version.h"
#include "util/fd.h"
#include "util/json_dispatch.h"
#include "util/str.h"

/* The document as it stands; struct state_record is what others see. */
struct state_doc {
	struct opt_u64 version;
	char *id, *oci_version, *bundle, *rootfs, *owner, *created;
	int64_t pid, supervisor_pid, monitor_pid;
	uint64_t pid_start, supervisor_start, time_limit, time_exec, time_grace;
	bool pid_ns_private, systemd_cgroup, rootless, no_new_keyring, terminal, cgroup_user_scope, egress, captured, input;
	bool reports, withheld;
	uint32_t cgroup_layout, cgroup_manager;
	struct json_list cgroup_dirs;
	char *cgroup_scope, *session, *intel_rdt_group, *affinity, *verified, *profile, *audit_log, *unreported;
	struct state_expect *expect;
	struct json_list limits;
	struct state_readback *readback;
	struct str_map annotations;
};

static const struct json_field cgroup_dir_fields[] = {
	{ "controllers", json_get_string, offsetof(struct state_cgroup_dir, controllers), 0, NULL },
	{ "path", json_get_string, offsetof(struct state_cgroup_dir, path), JSON_REQUIRED, NULL },
	{ "created", json_get_bool, offsetof(struct state_cgroup_dir, created), 0, NULL },
	{ 0 },
};

static const struct json_object cgroup_dir_type = {
	.size = sizeof(struct state_cgroup_dir),
	.fields = cgroup_dir_fields,
};

static const struct json_field expect_fields[] = {
	{ "uid", json_get_u32, offsetof(struct state_expect, uid), 0, NULL },
	{ "gid", json_get_u32, offsetof(struct state_expect, gid), 0, NULL },
	{ "bounding", json_get_u64, offsetof(struct state_expect, bounding), JSON_REQUIRED, NULL },
	{ "inheritable", json_get_u64, offsetof(struct state_expect, inheritable), JSON_REQUIRED, NULL },
	{ "ambient", json_get_u64, offsetof(struct state_expect, ambient), JSON_REQUIRED, NULL },
	{ "noNewPrivileges", json_get_bool, offsetof(struct state_expect, no_new_privs), JSON_REQUIRED, NULL },
	{ "filters", json_get_u64, offsetof(struct state_expect, filters), JSON_REQUIRED, NULL },
	{ 0 },
};

static const struct json_object expect_type = {
	.size = sizeof(struct state_expect),
	.fields = expect_fields,
};

#define FIELD(name_, member_, fn_, flags_, arg_)                              \
	{                                                                     \
		name_, fn_, offsetof(struct state_doc, member_), flags_, arg_ \
	}

static const struct json_field doc_fields[] = {
	FIELD("version", version, json_get_opt_u64, JSON_REQUIRED, NULL),
	FIELD("id", id, json_get_string, JSON_REQUIRED, NULL),
	FIELD("ociVersion", oci_version, json_get_string, JSON_REQUIRED, NULL),
	FIELD("bundle", bundle, json_get_string, JSON_REQUIRED, NULL),
	FIELD("rootfs", rootfs, json_get_string, JSON_REQUIRED, NULL),
	FIELD("owner", owner, json_get_string, JSON_REQUIRED, NULL),
	FIELD("created", created, json_get_string, JSON_REQUIRED | JSON_NOT_EMPTY, NULL),
	FIELD("pid", pid, json_get_i64, JSON_REQUIRED, NULL),
	FIELD("pidStart", pid_start, json_get_u64, JSON_REQUIRED, NULL),
	FIELD("pidNamespacePrivate", pid_ns_private, json_get_bool, 0, NULL),
	FIELD("systemdCgroup", systemd_cgroup, json_get_bool, 0, NULL),
	FIELD("rootless", rootless, json_get_bool, 0, NULL),
	FIELD("noNewKeyring", no_new_keyring, json_get_bool, 0, NULL),
	FIELD("terminal", terminal, json_get_bool, 0, NULL),
	FIELD("cgroupLayout", cgroup_layout, json_get_u32, 0, NULL),
	FIELD("cgroupManager", cgroup_manager, json_get_u32, 0, NULL),
	FIELD("cgroupDirs", cgroup_dirs, json_get_list, 0, &cgroup_dir_type),
	FIELD("cgroupScope", cgroup_scope, json_get_string, 0, NULL),
	FIELD("cgroupUserScope", cgroup_user_scope, json_get_bool, 0, NULL),
	FIELD("session", session, json_get_string, 0, NULL),
	FIELD("intelRdtGroup", intel_rdt_group, json_get_string, 0, NULL),
	FIELD("affinity", affinity, json_get_string, 0, NULL),
	FIELD("expect", expect, json_get_object_ptr, 0, &expect_type),
	FIELD("limits", limits, json_get_list, 0, &state_limit_type),
	FIELD("readBack", readback, json_get_object_ptr, 0, &state_readback_type),
	FIELD("profile", profile, json_get_string, 0, NULL),
	FIELD("supervisorPid", supervisor_pid, json_get_i64, 0, NULL),
	FIELD("monitorPid", monitor_pid, json_get_i64, 0, NULL),
	FIELD("supervisorStart", supervisor_start, json_get_u64, 0, NULL),
	FIELD("egress", egress, json_get_bool, 0, NULL),
	FIELD("outputCaptured", captured, json_get_bool, 0, NULL),
	FIELD("inputCaptured", input, json_get_bool, 0, NULL),
	FIELD("outputWithheld", withheld, json_get_bool, 0, NULL),
	FIELD("callsReported", reports, json_get_bool, 0, NULL),
	FIELD("callsUnreported", unreported, json_get_string, 0, NULL),
	FIELD("auditLog", audit_log, json_get_string, 0, NULL),
	FIELD("timeLimit", time_limit, json_get_u64, 0, NULL),
	FIELD("timeExec", time_exec, json_get_u64, 0, NULL),
	FIELD("timeGrace", time_grace, json_get_u64, 0, NULL),
	FIELD("verified", verified, json_get_string, 0, NULL),
	FIELD("annotations", annotations, json_get_str_map, 0, NULL),
	{ 0 },
};

static const struct json_object doc_type = {
	.size = sizeof(struct state_doc),
	.fields = doc_fields,
};

/* Absolute and without "..": these paths are given to rmdir(2) as root. */
static bool is_plain_path(const char *path)
{
	const char *p = path, *rest;

	if (*p != '/')
		return false;
	while ((p = strstr(p, "/.."))) {
		rest = p + strlen("/..");
		if (*rest == '/' || !*rest)
			return false;
		p = rest;
	}
	return true;
}

static int check_doc(const struct state_doc *doc, struct error *err)
{
	const struct state_cgroup_dir *dirs = doc->cgroup_dirs.items;
	size_t i;
	int r;

	r = state_id_check(doc->id, err);
	if (r < 0)
		return error_prefix(err, "%s: id", STATE_FILE);
	if (doc->pid < 0 || doc->pid > INT_MAX)
		return error_text(err, -EINVAL, "%s: pid: %lld is no process id", STATE_FILE, (long long)doc->pid);
	if (doc->supervisor_pid < 0 || doc->supervisor_pid > INT_MAX)
		return error_text(err, -EINVAL, "%s: supervisorPid: %lld is no process id", STATE_FILE,
				  (long long)doc->supervisor_pid);
	if (doc->cgroup_layout > INT_MAX || doc->cgroup_manager > INT_MAX)
		return error_text(err, -EINVAL, "%s: cgroupLayout, cgroupManager: out of range",
				  STATE_FILE);
	if (!is_plain_path(doc->bundle) || !is_plain_path(doc->rootfs))
		return error_text(err, -EINVAL,
				  "%s: bundle, rootfs: must be absolute paths without \"..\"",
				  STATE_FILE);
	if (doc->session && !is_plain_path(doc->session))
		return error_text(err, -EINVAL, "%s: session: must be an absolute path without \"..\"", STATE_FILE);
	for (i = 0; i < doc->cgroup_dirs.count; i++)
		if (!is_plain_path(dirs[i].path))
			return error_text(
				err, -EINVAL,
				"%s: cgroupDirs[%zu].path: must be an absolute path without \"..\"",
				STATE_FILE, i);
	return 0;
}

/*
 * The version first, so that a file of another agentrun is not called broken
 * because of members that have changed.
 */
static int check_version(const struct json *root, struct error *err)
{
	const struct json *v = root->type == JSON_OBJECT ? json_member(root, "version") : NULL;
	uint64_t version;

	if (!v || v->type != JSON_NUMBER || json_to_u64(v, &version) < 0 || version == 0)
		return error_text(err, -EINVAL,
				  "%s: has no version: not written by agentrun, or changed by hand",
				  STATE_FILE);
	if (version > STATE_VERSION)
		return error_text(
			err, -EPROTONOSUPPORT,
			"%s: has version %.20s, this agentrun reads up to %d: use the newer "
			"agentrun that made this container",
			STATE_FILE, v->text, STATE_VERSION);
	return 0;
}

static int take_annotations(struct state_record *rec, const struct str_map *map, struct error *err)
{
	size_t i;

	rec->annotations.keys = arena_calloc(&rec->arena, map->count, sizeof(char *));
	rec->annotations.values = arena_calloc(&rec->arena, map->count, sizeof(char *));
	if (!rec->annotations.keys || !rec->annotations.values)
		return error_oom(err);
	for (i = 0; i < map->count; i++) {
		rec->annotations.keys[i] = map->items[i].key;
		rec->annotations.values[i] = map->items[i].value;
	}
	rec->annotations.count = map->count;
	return 0;
}

int state_parse(const char *data, size_t len, struct state_record **ret, struct error *err)
{
	_cleanup_state_record_ struct state_record *rec = NULL;
	_cleanup_(arena_done) struct arena scratch = ARENA_NULL;
	struct json_ctx ctx = { .name = STATE_FILE };
	struct state_doc doc = { 0 };
	struct json *root;
	int r;

	rec = calloc(1, sizeof(*rec));
	if (!rec)
		return error_oom(err);
	r = json_parse(STATE_FILE, data, len, 0, &scratch, &root, err);
	if (r < 0)
		return r;
	r = check_version(root, err);
	if (r < 0)
		return r;
	ctx.arena = &rec->arena;
	r = json_dispatch(&ctx, &doc_type, root, &doc, err);
	if (r < 0)
		return r;
	r = check_doc(&doc, err);
	if (r < 0)
		return r;
	r = take_annotations(rec, &doc.annotations, err);
	if (r < 0)
		return r;

	rec->id = doc.id;
	rec->oci_version = doc.oci_version;
	rec->bundle = doc.bundle;
	rec->rootfs = doc.rootfs;
	rec->owner = doc.owner;
	rec->created = doc.created;
	rec->pid = (pid_t)doc.pid;
	rec->pid_start = doc.pid_start;
	rec->pid_ns_private = doc.pid_ns_private;
	rec->systemd_cgroup = doc.systemd_cgroup;
	rec->rootless = doc.rootless;
	rec->no_new_keyring = doc.no_new_keyring;
	rec->egress = doc.egress;
	rec->captured = doc.captured;
	rec->withheld = doc.withheld;
	rec->input = doc.input;
	rec->reports = doc.reports;
	rec->unreported = doc.unreported;
	rec->terminal = doc.terminal;
	rec->cgroup_layout = (int)doc.cgroup_layout;
	rec->cgroup_manager = (int)doc.cgroup_manager;
	rec->cgroup_dirs = doc.cgroup_dirs.items;
	rec->n_cgroup_dirs = doc.cgroup_dirs.count;
	rec->cgroup_scope = doc.cgroup_scope;
	rec->cgroup_user_scope = doc.cgroup_user_scope;
	rec->session = doc.session;
	rec->intel_rdt_group = doc.intel_rdt_group;
	rec->affinity = doc.affinity;
	rec->verified = doc.verified;
	rec->supervisor_pid = (pid_t)doc.supervisor_pid;
	rec->monitor_pid = (pid_t)doc.monitor_pid;
	rec->supervisor_start = doc.supervisor_start;
	rec->audit_log = doc.audit_log;
	rec->time_limit = doc.time_limit;
	rec->time_exec = doc.time_exec;
	rec->time_grace = doc.time_grace;
	rec->profile = doc.profile;
	if (doc.expect) {
		rec->expect = *doc.expect;
		rec->expect.set = true;
	}
	if (doc.readback) {
		rec->readback = *doc.readback;
		rec->readback.set = true;
	}
	rec->limits = (struct state_limits){ .items = doc.limits.items, .count = doc.limits.count };
	*ret = take_ptr(rec);
	return 0;
}

/* "state.json" alone would not say whose: add the folder, where /proc knows it. */
static int name_folder(int dir_fd, struct error *err)
{
	char link[64], folder[PATH_MAX];
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", dir_fd);
	n = readlink(link, folder, sizeof(folder) - 1);
	if (n <= 0)
		return err->code;
	folder[n] = '\0';
	return error_prefix(err, "container folder %s", folder);
}

int state_read(int dir_fd, struct state_record **ret, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	_cleanup_free_ char *data = NULL;
	size_t len;
	int r;

	assert(dir_fd >= 0 && ret && err);

	/* O_NONBLOCK: a FIFO in its place must not hold us. */
	fd = openat(dir_fd, STATE_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return STATE_E_NOT_FOUND;
	if (fd < 0) {
		(void)error_set(err, -errno, "open %s", STATE_FILE);
		return name_folder(dir_fd, err);
	}
	r = fd_read_all(fd, JSON_BYTES_MAX, &data, &len);
	if (r < 0)
		(void)error_set(err, r, "read %s", STATE_FILE);
	else
		r = state_parse(data, len, ret, err);
	return r < 0 ? name_folder(dir_fd, err) : 0;
}

int state_write(int dir_fd, const struct state_record *rec, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	int r;

	assert(dir_fd >= 0 && rec && err);

	r = state_format(rec, &text, err);
	if (r < 0)
		return r;
	/*
	 * Not synced: the rename makes it whole against the death of any process, and no container
	 * outlives the power failure that a sync would be for.
	 */
	return file_replace(dir_fd, STATE_FILE, text, strlen(text), 0600, 0, err);
}

struct state_record *state_record_free(struct state_record *rec)
{
	struct arena arena;

	if (!rec)
		return NULL;
	arena = rec->arena;
	arena_done(&arena);
	free(rec);
	return NULL;
}

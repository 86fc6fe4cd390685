/*
 * Owns the writing of state.json's text; state_file.c reads it back.
 */
#include "state/state.h"

#include <assert.h>

#include "state/state_proof.h"
#include "state/state_version.h"
#include "util/json_write.h"

static void write_lists(struct json_writer *w, const struct state_record *rec)
{
	size_t i;

	json_array_begin(w, "cgroupDirs");
	for (i = 0; i < rec->n_cgroup_dirs; i++) {
		json_object_begin(w, NULL);
		json_string(w, "controllers", rec->cgroup_dirs[i].controllers);
		json_string(w, "path", rec->cgroup_dirs[i].path);
		json_bool(w, "created", rec->cgroup_dirs[i].created);
		json_object_end(w);
	}
	json_array_end(w);
	json_object_begin(w, "annotations");
	for (i = 0; i < rec->annotations.count; i++)
		json_string(w, rec->annotations.keys[i], rec->annotations.values[i]);
	json_object_end(w);
}

static void write_expect(struct json_writer *w, const struct state_expect *e)
{
	json_object_begin(w, "expect");
	json_u64(w, "uid", e->uid);
	json_u64(w, "gid", e->gid);
	json_u64(w, "bounding", e->bounding);
	json_u64(w, "inheritable", e->inheritable);
	json_u64(w, "ambient", e->ambient);
	json_bool(w, "noNewPrivileges", e->no_new_privs);
	json_u64(w, "filters", e->filters);
	json_object_end(w);
}

int state_format(const struct state_record *rec, char **ret_text, struct error *err)
{
	_cleanup_json_writer_ struct json_writer *w = json_writer_new(0);

	assert(rec->id && rec->bundle && rec->rootfs && rec->owner && rec->created &&
	       rec->oci_version);

	if (!w)
		return error_oom(err);
	json_object_begin(w, NULL);
	json_i64(w, "version", STATE_VERSION);
	json_string(w, "id", rec->id);
	json_string(w, "ociVersion", rec->oci_version);
	json_string(w, "bundle", rec->bundle);
	json_string(w, "rootfs", rec->rootfs);
	json_string(w, "owner", rec->owner);
	json_string(w, "created", rec->created);
	json_i64(w, "pid", rec->pid);
	json_u64(w, "pidStart", rec->pid_start);
	json_bool(w, "pidNamespacePrivate", rec->pid_ns_private);
	json_bool(w, "systemdCgroup", rec->systemd_cgroup);
	json_bool(w, "rootless", rec->rootless);
	json_bool(w, "noNewKeyring", rec->no_new_keyring);
	json_bool(w, "terminal", rec->terminal);
	json_i64(w, "cgroupLayout", rec->cgroup_layout);
	json_i64(w, "cgroupManager", rec->cgroup_manager);
	json_string(w, "cgroupScope", rec->cgroup_scope);
	json_bool(w, "cgroupUserScope", rec->cgroup_user_scope);
	if (rec->session)
		json_string(w, "session", rec->session);
	json_string(w, "intelRdtGroup", rec->intel_rdt_group);
	json_string(w, "affinity", rec->affinity);
	json_string(w, "profile", rec->profile);
	json_string(w, "verified", rec->verified);
	if (rec->egress)
		json_bool(w, "egress", true);
	if (rec->captured)
		json_bool(w, "outputCaptured", true);
	if (rec->input)
		json_bool(w, "inputCaptured", true);
	if (rec->withheld)
		json_bool(w, "outputWithheld", true);
	if (rec->reports)
		json_bool(w, "callsReported", true);
	if (rec->unreported)
		json_string(w, "callsUnreported", rec->unreported);
	if (rec->supervisor_pid > 0) {
		json_i64(w, "supervisorPid", rec->supervisor_pid);
		json_i64(w, "monitorPid", rec->monitor_pid);
		json_u64(w, "supervisorStart", rec->supervisor_start);
	}
	if (rec->audit_log)
		json_string(w, "auditLog", rec->audit_log);
	if (rec->time_limit > 0) {
		json_u64(w, "timeLimit", rec->time_limit);
		json_u64(w, "timeExec", rec->time_exec);
		json_u64(w, "timeGrace", rec->time_grace);
	}
	if (rec->expect.set)
		write_expect(w, &rec->expect);
	state_write_proof(w, rec);
	write_lists(w, rec);
	json_object_end(w);
	return json_take(w, ret_text, err);
}

/*
 * The OCI state document in its forms: what `state` prints, what hooks read, what a
 * seccomp listener receives. Key order as runc's, because people and tests compare text.
 */
#include "container/create.h"
#include "container/life.h"

#include "util/json_write.h"

static void annotations_write(struct json_writer *w, const struct state_record *rec)
{
	size_t i;

	if (rec->annotations.count == 0)
		return;
	json_object_begin(w, "annotations");
	for (i = 0; i < rec->annotations.count; i++)
		json_string(w, rec->annotations.keys[i], rec->annotations.values[i]);
	json_object_end(w);
}

static void hook_state_write(struct json_writer *w, const char *key, const struct state_record *rec, const char *status,
			     pid_t pid)
{
	json_object_begin(w, key);
	json_string(w, "ociVersion", rec->oci_version);
	json_string(w, "id", rec->id);
	json_string(w, "status", status);
	if (pid > 0)
		json_i64(w, "pid", pid);
	json_string(w, "bundle", rec->bundle);
	annotations_write(w, rec);
	json_object_end(w);
}

int hook_state_json(const struct state_record *rec, const char *status, pid_t pid, char **ret, struct error *err)
{
	_cleanup_json_writer_ struct json_writer *w = json_writer_new(0);

	if (!w)
		return error_oom(err);
	hook_state_write(w, NULL, rec, status, pid);
	return json_take(w, ret, err);
}

int seccomp_state_json(const struct state_record *rec, const char *metadata, pid_t pid, char **ret, struct error *err)
{
	_cleanup_json_writer_ struct json_writer *w = json_writer_new(0);

	if (!w)
		return error_oom(err);
	json_object_begin(w, NULL);
	json_string(w, "ociVersion", rec->oci_version);
	json_array_begin(w, "fds");
	json_string(w, NULL, "seccompFd");
	json_array_end(w);
	json_i64(w, "pid", pid);
	if (metadata)
		json_string(w, "metadata", metadata);
	hook_state_write(w, "state", rec, "creating", pid);
	json_object_end(w);
	return json_take(w, ret, err);
}

int container_state_json(const struct container_view *v, int indent, bool for_hook, char **ret, struct error *err)
{
	_cleanup_json_writer_ struct json_writer *w = NULL;
	const struct state_record *rec = v->record;

	if (for_hook)
		return hook_state_json(rec, container_status_name(v->status), v->pid, ret, err);
	w = json_writer_new(indent);
	if (!w)
		return error_oom(err);
	json_object_begin(w, NULL);
	json_string(w, "ociVersion", rec->oci_version);
	json_string(w, "id", rec->id);
	json_i64(w, "pid", v->pid);
	json_string(w, "status", container_status_name(v->status));
	json_string(w, "bundle", rec->bundle);
	json_string(w, "rootfs", rec->rootfs);
	json_string(w, "created", rec->created);
	annotations_write(w, rec);
	json_string(w, "owner", rec->owner);
	if (v->exit)
		life_exit_write(w, "exit", v->exit);
	json_object_end(w);
	return json_take(w, ret, err);
}

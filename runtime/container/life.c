/*
 * The supervisor's account of a container: while it lives its clock, then its exit record.
 */
#include "container/life.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "audit/audit_store.h"
#include "monitor/supervise.h"
#include "util/log.h"

#define LOG_TIMEOUT_MS 2000

int life_exit_read(int dir_fd, struct container_view *v, struct error *err)
{
	int r;

	v->exit = calloc(1, sizeof(*v->exit));
	if (!v->exit)
		return error_oom(err);
	r = exit_record_read(dir_fd, &v->exit_doc, v->exit, err);
	if (r != 0)
		life_exit_done(v);
	return r < 0 ? r : 0;
}

void life_exit_done(struct container_view *v)
{
	v->exit_doc = exit_record_free(v->exit_doc);
	free(v->exit);
	v->exit = NULL;
}

void life_exit_write(struct json_writer *w, const char *key, const struct exit_record *rec)
{
	json_object_begin(w, key);
	json_string(w, "reason", enum_to_name(&exit_reason_table, rec->reason));
	if (rec->detail)
		json_string(w, "detail", rec->detail);
	if (rec->status >= 0 && WIFEXITED(rec->status))
		json_i64(w, "code", WEXITSTATUS(rec->status));
	if (rec->status >= 0 && WIFSIGNALED(rec->status))
		json_i64(w, "signal", WTERMSIG(rec->status));
	json_string(w, "finished", rec->finished);
	json_u64(w, "oomKills", rec->oom_kills);
	json_u64(w, "pidsRefused", rec->pids_refused);
	json_u64(w, "memoryPeak", rec->memory_peak);
	json_u64(w, "pidsPeak", rec->pids_peak);
	json_u64(w, "cpuTime", rec->cpu_ns);
	json_u64(w, "wallTime", rec->wall_ns);
	json_object_end(w);
}

void life_log_delete(const struct state_record *rec, bool forced)
{
	const struct audit_event event = { .type = AUDIT_DELETE, .process = -1, .delete = { .forced = forced } };
	_cleanup_close_ int dir = -EBADF, index = -EBADF;
	struct error err = ERROR_NULL;
	int r;

	if (!rec->audit_log)
		return;
	r = audit_store_open(NULL, rec->rootless, false, &dir, &err);
	if (r == 0)
		r = audit_index_open(rec->rootless, true, &index, &err);
	if (r == 0)
		r = audit_store_append_event(dir, index, rec->audit_log, LOG_TIMEOUT_MS, &event, &err);
	if (r < 0)
		log_warningf("record the deletion in the audit log: %s", err.text);
}

static void exit_text(const struct exit_record *rec, struct buf *b)
{
	buf_addf(b, "ended:     %s", enum_to_name(&exit_reason_table, rec->reason));
	if (rec->status >= 0 && WIFEXITED(rec->status))
		buf_addf(b, ", exit code %d", WEXITSTATUS(rec->status));
	if (rec->status >= 0 && WIFSIGNALED(rec->status))
		buf_addf(b, ", signal %d", WTERMSIG(rec->status));
	if (rec->detail)
		buf_addf(b, ": %s", rec->detail);
	buf_addf(b, " (memory peak %" PRIu64 " bytes, %" PRIu64 " processes, %" PRIu64 " ms CPU, %" PRIu64
		    " ms, OOM kills %" PRIu64 ", forks refused %" PRIu64 ")\n",
		 rec->memory_peak, rec->pids_peak, rec->cpu_ns / 1000000, rec->wall_ns / 1000000, rec->oom_kills,
		 rec->pids_refused);
}

static void clock_text(const struct link_msg *status, struct buf *b)
{
	if (status->left_ns == UINT64_MAX)
		buf_adds(b, "time left: no limit\n");
	else
		buf_addf(b, "time left: %" PRIu64 " s%s\n", status->left_ns / 1000000000,
			 status->flags & LINK_F_PAUSED ? " (paused)" : "");
	if (status->flags & LINK_F_UNTRACED)
		buf_adds(b, "note:      tracing is forbidden here: the supervisor watches without it\n");
}

static void clock_json(const struct link_msg *status, struct json_writer *w)
{
	json_object_begin(w, "supervisor");
	if (status->left_ns != UINT64_MAX)
		json_u64(w, "timeLeft", status->left_ns);
	json_bool(w, "paused", status->flags & LINK_F_PAUSED);
	json_bool(w, "traces", !(status->flags & LINK_F_UNTRACED));
	json_object_end(w);
}

int life_explain(const struct container_handle *h, struct buf *text, struct json_writer *json, struct error *err)
{
	struct container_view v = { .record = NULL };
	struct link_msg msg = { .type = LINK_STATUS }, status;
	int r;

	if (h->view.record->supervisor_pid == 0)
		return 0;
	if (h->view.status != CONTAINER_STOPPED) {
		r = supervise_tell(h->dir_fd, &msg, &status, err);
		if (r == 0 && text)
			clock_text(&status, text);
		if (r == 0 && json)
			clock_json(&status, json);
		return r;
	}
	r = life_exit_read(h->dir_fd, &v, err);
	if (r == 0 && v.exit && text)
		exit_text(v.exit, text);
	if (r == 0 && v.exit && json)
		life_exit_write(json, "exit", v.exit);
	life_exit_done(&v);
	return r;
}

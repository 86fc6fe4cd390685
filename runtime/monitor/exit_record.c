/*
 * Owns the form of exit.json.
 */
#include "monitor/exit_record.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "state/state.h"
#include "util/fd.h"
#include "util/json_dispatch.h"
#include "util/json_write.h"

#define EXIT_BYTES_MAX 65536

static const struct enum_entry reason_entries[] = {
	{ "unknown", EXIT_REASON_UNKNOWN, "nobody saw it" },
	{ "exited", EXIT_REASON_EXITED, "it ended by itself" },
	{ "signal", EXIT_REASON_SIGNAL, "a signal ended it" },
	{ "oom", EXIT_REASON_OOM, "the kernel killed it for want of memory" },
	{ "deadline", EXIT_REASON_DEADLINE, "the container's time was over" },
	{ "exec-deadline", EXIT_REASON_EXEC_DEADLINE, "the command's time was over" },
	{ "client-gone", EXIT_REASON_CLIENT, "the client of the command went away" },
	{ "policy", EXIT_REASON_POLICY, "a control of the policy could not be kept up" },
	{ "container-ended", EXIT_REASON_CONTAINER, "it ended with its container" },
	{ "oom-child", EXIT_REASON_OOM_CHILD, "it failed after the kernel killed processes of it for want of memory" },
	{ "pids", EXIT_REASON_PIDS, "it failed after it was refused further processes" },
	{ "disk", EXIT_REASON_DISK, "it failed, and a file system of it was full" },
};
const struct enum_table exit_reason_table = ENUM_TABLE("reason of an end", reason_entries);

struct exit_record_doc {
	struct arena arena;
	int64_t status;
	char *reason, *detail, *finished;
	uint64_t oom_kills, pids_refused, memory_peak, pids_peak, cpu_ns, wall_ns;
};

#define FIELD(name_, member_, fn_, flags_) { name_, fn_, offsetof(struct exit_record_doc, member_), flags_, NULL }

static const struct json_field fields[] = {
	FIELD("status", status, json_get_i64, JSON_REQUIRED),
	FIELD("reason", reason, json_get_string, JSON_REQUIRED),
	FIELD("detail", detail, json_get_string, 0),
	FIELD("finished", finished, json_get_string, 0),
	FIELD("oomKills", oom_kills, json_get_u64, 0),
	FIELD("pidsRefused", pids_refused, json_get_u64, 0),
	FIELD("memoryPeak", memory_peak, json_get_u64, 0),
	FIELD("pidsPeak", pids_peak, json_get_u64, 0),
	FIELD("cpuTime", cpu_ns, json_get_u64, 0),
	FIELD("wallTime", wall_ns, json_get_u64, 0),
	{ 0 },
};

static const struct json_object type = { .size = sizeof(struct exit_record_doc), .fields = fields };

int exit_record_write(int dir_fd, const struct exit_record *rec, struct error *err)
{
	_cleanup_json_writer_ struct json_writer *w = json_writer_new(0);
	_cleanup_free_ char *text = NULL;
	int r;

	if (!w)
		return error_oom(err);
	json_object_begin(w, NULL);
	json_i64(w, "status", rec->status);
	json_string(w, "reason", enum_to_name(&exit_reason_table, rec->reason));
	json_string(w, "detail", rec->detail);
	json_string(w, "finished", rec->finished);
	json_u64(w, "oomKills", rec->oom_kills);
	json_u64(w, "pidsRefused", rec->pids_refused);
	json_u64(w, "memoryPeak", rec->memory_peak);
	json_u64(w, "pidsPeak", rec->pids_peak);
	json_u64(w, "cpuTime", rec->cpu_ns);
	json_u64(w, "wallTime", rec->wall_ns);
	json_object_end(w);
	r = json_take(w, &text, err);
	return r < 0 ? r : file_replace(dir_fd, STATE_EXIT_FILE, text, strlen(text), 0600, 0, err);
}

int exit_record_read(int dir_fd, struct exit_record_doc **ret, struct exit_record *ret_rec, struct error *err)
{
	struct exit_record_doc *doc;
	struct json_ctx ctx = { .name = STATE_EXIT_FILE };
	_cleanup_(arena_done) struct arena scratch = ARENA_NULL;
	_cleanup_free_ char *data = NULL;
	struct json *root = NULL;
	uint64_t reason = EXIT_REASON_UNKNOWN;
	size_t len;
	int r;

	r = file_read_all(dir_fd, STATE_EXIT_FILE, EXIT_BYTES_MAX, &data, &len, err);
	if (r == -ENOENT)
		return EXIT_RECORD_E_NONE;
	if (r == 0)
		r = json_parse(STATE_EXIT_FILE, data, len, 0, &scratch, &root, err);
	if (r < 0)
		return r;
	doc = calloc(1, sizeof(*doc));
	if (!doc)
		return error_oom(err);
	ctx.arena = &doc->arena;
	r = json_dispatch(&ctx, &type, root, doc, err);
	if (r < 0) {
		(void)exit_record_free(doc);
		return r;
	}
	/* A newer agentrun may know more reasons. */
	(void)enum_from_name(&exit_reason_table, doc->reason, &reason);
	*ret_rec = (struct exit_record){
		.status = (int)doc->status,
		.reason = (enum exit_reason)reason,
		.detail = doc->detail,
		.finished = doc->finished,
		.oom_kills = doc->oom_kills,
		.pids_refused = doc->pids_refused,
		.memory_peak = doc->memory_peak,
		.pids_peak = doc->pids_peak,
		.cpu_ns = doc->cpu_ns,
		.wall_ns = doc->wall_ns,
	};
	*ret = doc;
	return 0;
}

struct exit_record_doc *exit_record_free(struct exit_record_doc *doc)
{
	if (doc)
		arena_done(&doc->arena);
	free(doc);
	return NULL;
}

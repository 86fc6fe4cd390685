/*
 * Owns the account of the audit log: what is recorded of a container, as its monitor was told.
 */
#include "container/explain_audit.h"

#include <inttypes.h>

#include "monitor/monitor_config.h"

static void config_freep(struct monitor_config **c)
{
	*c = monitor_config_free(*c);
}

static void stream_to_text(struct buf *b, const char *what, uint64_t max)
{
	if (max)
		buf_addf(b, ", %" PRIu64 " bytes of each command's %s", max, what);
	else
		buf_addf(b, ", no %s", what);
}

static void to_text(const struct state_record *rec, const struct monitor_config *c, struct buf *b)
{
	buf_addf(b, "audit:     %s\n", rec->audit_log ? rec->audit_log : "no log yet");
	buf_addf(b, "audit:     %s", c->audit.exec ? "executed programs (bpf, proved at the start)" : "NOT the executed programs");
	if (rec->withheld) {
		buf_adds(b, ", NOT the output: tracing is forbidden here");
	} else {
		stream_to_text(b, "output", c->audit.output_max);
		stream_to_text(b, "input", c->audit.input_max);
	}
	buf_addf(b, "; what cannot be recorded %s\n", c->audit.stop ? "ends the container" : "is counted");
}

static void to_json(const struct state_record *rec, const struct monitor_config *c, struct json_writer *w)
{
	json_object_begin(w, "audit");
	json_string(w, "log", rec->audit_log);
	json_bool(w, "exec", c->audit.exec);
	json_u64(w, "outputMaxBytes", c->audit.output_max);
	json_u64(w, "inputMaxBytes", c->audit.input_max);
	if (rec->withheld)
		json_bool(w, "withheld", true);
	json_string(w, "onFailure", c->audit.stop ? "stop" : "continue");
	json_object_end(w);
}

int explain_audit(const struct container_handle *h, struct buf *text, struct json_writer *json, struct error *err)
{
	_cleanup_(config_freep) struct monitor_config *config = NULL;
	int r;

	/* A pod's sandbox and what has no policy have nobody beside them. */
	if (h->view.record->supervisor_pid == 0)
		return 0;
	r = monitor_config_read(h->dir_fd, &config, err);
	if (r < 0)
		return r;
	if (text)
		to_text(h->view.record, config, text);
	if (json)
		to_json(h->view.record, config, json);
	return 0;
}

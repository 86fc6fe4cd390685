/*
 * Which system calls were denied, how often, and which member of the policy would have allowed them, from
 * the container's audit log.
 */
#include "container/explain_denied.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "audit/audit_denied.h"
#include "audit/audit_store.h"

/* Of what follows: whether calls are told of at all. */
static void reports_to_text(const struct state_record *rec, struct buf *b)
{
	if (rec->reports)
		buf_addf(b, "calls:     denied ones are reported%s%s\n", rec->unreported ? ", but " : "",
			 rec->unreported ? rec->unreported : "");
	else if (rec->unreported)
		buf_addf(b, "calls:     denied ones are NOT reported: %s\n", rec->unreported);
}

static void item_to_text(const struct state_record *rec, const struct audit_denied *d, struct buf *b)
{
	buf_addf(b, "denied:    %s: %s, %" PRIu64 " time%s", d->what, d->error, d->count, d->count == 1 ? "" : "s");
	if (d->rule)
		buf_addf(b, "  [%s]", d->rule);
	if (d->allowed_by)
		buf_addf(b, "; profiles.%s.seccomp.profile would allow it as %s", rec->profile, d->allowed_by);
	else
		buf_addf(b, "; no shipped profile allows it: profiles.%s.seccomp.profile can name a file of yours", rec->profile);
	buf_adds(b, "\n");
}

static void to_text(const struct state_record *rec, const struct audit_denied_list *l, struct buf *b)
{
	size_t i;

	reports_to_text(rec, b);
	/* Egress is explain_egress()'s. */
	for (i = 0; i < l->count; i++)
		item_to_text(rec, &l->items[i], b);
	if (l->others > 0)
		buf_addf(b, "denied:    %" PRIu64 " calls of other kinds\n", l->others);
	if (l->cut)
		buf_addf(b, "denied:    in the first %d records of the log; it has more\n", AUDIT_DENIED_RECORDS);
}

static void to_json(const struct state_record *rec, const struct audit_denied_list *l, struct json_writer *w)
{
	size_t i;

	json_bool(w, "callsReported", rec->reports);
	if (rec->unreported)
		json_string(w, "callsUnreported", rec->unreported);
	json_array_begin(w, "deniedCalls");
	for (i = 0; i < l->count; i++) {
		const struct audit_denied *d = &l->items[i];

		json_object_begin(w, NULL);
		json_string(w, "what", d->what);
		json_string(w, "error", d->error);
		if (d->rule)
			json_string(w, "rule", d->rule);
		if (d->allowed_by)
			json_string(w, "allowedBy", d->allowed_by);
		json_u64(w, "count", d->count);
		json_object_end(w);
	}
	json_array_end(w);
	json_u64(w, "deniedCallsOthers", l->others);
}

int explain_denied(const struct state_record *rec, struct buf *text, struct json_writer *json, struct error *err)
{
	struct audit_denied_list *l;
	_cleanup_close_ int dir = -EBADF;
	struct error unreadable = ERROR_NULL;
	int r;

	if (!rec->audit_log)
		return 0;
	l = calloc(1, sizeof(*l));
	if (!l)
		return error_oom(err);
	/* Old logs go when there are too many; that is no reason to say nothing of the rest. */
	r = audit_store_open(NULL, rec->rootless, false, &dir, &unreadable);
	if (r == 0)
		r = audit_denied_read(dir, rec->audit_log, l, &unreadable);
	if (text)
		to_text(rec, l, text);
	if (json)
		to_json(rec, l, json);
	if (r != 0 && text)
		buf_addf(text, "denied:    unknown: %s\n", r < 0 ? unreadable.text : "the log is gone");
	audit_denied_done(l);
	free(l);
	return 0;
}

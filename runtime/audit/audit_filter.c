/*
 * Owns which records are asked for.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "audit/audit_table.h"
#include "audit/audit_value.h"
#include "util/parse.h"
#include "util/time.h"

static int unknown_type(const char *name, size_t len, struct error *err)
{
	_cleanup_buf_ struct buf b = BUF_NULL;
	size_t i;

	for (i = 0; i < audit_type_table.count; i++)
		buf_addf(&b, "%s%s", i ? ", " : "", audit_type_table.entries[i].name);
	return error_text(err, -EINVAL, "unknown type \"%.*s\": it must be one of %s", (int)MIN(len, (size_t)64),
			  name, buf_ok(&b) ? b.data : "");
}

int audit_filter_type(struct audit_filter *f, const char *list, struct error *err)
{
	char name[32];
	uint64_t value;
	size_t n;

	assert(f && list && err);
	f->by_type = true;
	for (;; list += n + 1) {
		n = strcspn(list, ",");
		if (n >= sizeof(name))
			return unknown_type(list, n, err);
		memcpy(name, list, n);
		name[n] = '\0';
		if (enum_from_name(&audit_type_table, name, &value) < 0)
			return unknown_type(list, n, err);
		f->types[value] = true;
		if (!list[n])
			return 0;
	}
}

/* Whether text begins a time as RFC 3339 writes it, down to the day at least. */
static bool is_time(const char *text)
{
	static const char form[] = "dddd-dd-ddTdd:dd:dd.ddddddddd";
	size_t n = strlen(text), i;

	if (n && text[n - 1] == 'Z')
		n--;
	if (n < 10 || n > strlen(form) || text[n - 1] < '0' || text[n - 1] > '9')
		return false;
	for (i = 0; i < n; i++)
		if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' :
				     text[i] != form[i] && !(form[i] == 'T' && text[i] == ' '))
			return false;
	return true;
}

int audit_filter_time(const char *text, char ret[AUDIT_TIME_TEXT], struct error *err)
{
	char full[TIME_RFC3339_SIZE];
	struct timespec now;
	uint64_t ago;
	size_t n;

	assert(text && ret && err);
	if (parse_duration(text, &ago) == 0) {
		(void)clock_gettime(CLOCK_REALTIME, &now);
		now.tv_sec -= (time_t)MIN(ago / 1000000000, (uint64_t)now.tv_sec);
		time_rfc3339(&now, true, full);
		(void)snprintf(ret, AUDIT_TIME_TEXT, "%s", full);
		return 0;
	}
	if (!is_time(text))
		return error_text(err, -EINVAL,
				  "\"%s\" is no time: it must be like 2026-11-30T20:56:43 (UTC) or a beginning "
				  "of that, or how long ago, like 10m",
				  text);
	(void)snprintf(ret, AUDIT_TIME_TEXT, "%s", text);
	n = strlen(ret);
	if (ret[n - 1] == 'Z')
		ret[n - 1] = '\0';
	if (ret[10] == ' ')
		ret[10] = 'T';
	return 0;
}

bool audit_filter_takes(const struct audit_filter *f, const struct audit_record *rec, int64_t owner)
{
	const char *time = audit_value_string(rec->json, "time");
	uint64_t process;

	/* What is not as it was written is always shown. */
	if (rec->bad)
		return true;
	if (f->by_type && (rec->type >= AUDIT_TYPES || !f->types[rec->type]))
		return false;
	if (f->by_process && owner >= 0 && (uint64_t)owner != f->process)
		return false;
	if (f->by_process && owner < 0 && (!audit_value_u64(rec->json, "process", &process) || process != f->process))
		return false;
	if (!time)
		return true;
	/* Texts of one form compare like the times they stand for; a beginning means all of it. */
	if (*f->since && strcmp(time, f->since) < 0)
		return false;
	return !*f->until || strncmp(time, f->until, strlen(f->until)) <= 0;
}

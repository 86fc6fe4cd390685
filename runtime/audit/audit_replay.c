/*
 * `replay`: the output of a terminal once more, with the pauses it had.
 */
#include "audit/audit_replay.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <time.h>

#include "audit/audit_find.h"
#include "audit/audit_table.h"
#include "audit/audit_value.h"
#include "util/parse.h"

#define UNIT_NS	    UINT64_C(1000000) /* a thousandth of a second stands for one of the speed */
#define SPEED_MOST  1000000
#define WAIT_MAX_NS UINT64_C(86400000000000)

struct replay {
	struct audit_out out;
	uint32_t process;
	uint64_t speed, max_wait, last;
	bool any;
	struct audit_screen screen;
};

/* Waits for as long as it took then. */
static int wait_for(struct replay *p, const struct json *json, struct error *err)
{
	uint64_t mono, ns;
	struct timespec ts;

	if (!audit_value_u64(json, "mono", &mono))
		return 0;
	ns = p->last && mono > p->last ? MIN(mono - p->last, WAIT_MAX_NS) : 0;
	p->last = mono;
	if (p->max_wait)
		ns = MIN(ns, p->max_wait);
	ns = ns / p->speed * 1000 + ns % p->speed * 1000 / p->speed;
	if (ns == 0)
		return 0;
	/* What was shown before stands there while we wait. */
	if (audit_out_flush(&p->out, true, err) < 0)
		return err->code;
	ts = (struct timespec){ .tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000) };
	while (nanosleep(&ts, &ts) < 0 && errno == EINTR)
		;
	return 0;
}

static int play(struct replay *p, const struct audit_record *rec, struct error *err)
{
	const char *stream = audit_value_string(rec->json, "stream");
	_cleanup_buf_ struct buf data = BUF_NULL;
	uint64_t rows, columns;
	int r;

	if (rec->type == AUDIT_WINDOW && !p->any && audit_value_u64(rec->json, "rows", &rows) &&
	    audit_value_u64(rec->json, "columns", &columns)) {
		buf_addf(&p->out.text, "(recorded on %" PRIu64 " columns and %" PRIu64 " rows)\r\n", columns, rows);
		return 0;
	}
	if (rec->type != AUDIT_OUTPUT || !stream || !str_eq(stream, "terminal") ||
	    !audit_value_bytes(json_member(rec->json, "data"), &data))
		return 0;
	p->any = true;
	r = wait_for(p, rec->json, err);
	if (r < 0)
		return r;
	if (audit_value_true(rec->json, "tail"))
		p->screen = (struct audit_screen){ 0 };
	if (data.len)
		audit_screen_filter(&p->screen, data.data, data.len, &p->out.text);
	return audit_out_flush(&p->out, false, err);
}

int audit_speed_parse(const char *text, uint64_t *ret, struct error *err)
{
	_cleanup_free_ char *seconds = str_printf("%ss", text ? text : "1");
	uint64_t ns;

	assert(ret && err);
	if (!seconds)
		return error_oom(err);
	if (parse_duration(seconds, &ns) < 0 || ns < UNIT_NS || ns / UNIT_NS > SPEED_MOST)
		return error_text(err, -EINVAL, "speed \"%s\": it must be a number from 0.001 to 1000", text);
	*ret = ns / UNIT_NS;
	return 0;
}

int audit_query_replay(const struct audit_query *q, const char *id, uint32_t process, uint64_t speed,
		       uint64_t max_wait_ns, struct error *err)
{
	_cleanup_audit_reader_ struct audit_reader r = AUDIT_READER_NULL;
	struct replay p = { .out = { .query = q }, .process = process, .speed = speed, .max_wait = max_wait_ns };
	char name[AUDIT_NAME_SIZE];
	struct audit_record rec;
	uint64_t number;
	int k;

	assert(q && id && speed > 0 && err);
	k = audit_find(q->dirfd, id, q->root, name, err);
	if (k == 0)
		k = audit_reader_open(&r, q->dirfd, name, audit_store_busy(q->dirfd, name), err);
	if (k > 0)
		k = error_text(err, -ENOENT, "the first part of audit log %s is missing", name);
	while (k == 0 && (k = audit_reader_next(&r, &rec, err)) == AUDIT_READ_RECORD) {
		k = 0;
		if (audit_value_u64(rec.json, "process", &number) && number == process)
			k = play(&p, &rec, err);
	}
	if (k == 0 && !p.any)
		k = error_text(err, -ENOENT, "process %u of %s had no terminal: \"agentrun audit show\" prints other output",
			       process, name);
	if (k == 0) {
		buf_adds(&p.out.text, "\x1b[0m\r\n"); /* colours end with it */
		k = audit_out_flush(&p.out, true, err);
	}
	audit_out_done(&p.out);
	return k;
}

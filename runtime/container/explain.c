/*
 * `explain`: the verdict kept at create, how it was verified at the start, and what the
 * kernel says now.
 */
#include <string.h>

#include "container/explain_audit.h"
#include "container/explain_denied.h"
#include "container/explain_egress.h"
#include "container/guard.h"
#include "container/life.h"
#include "container/later.h"
#include "container/lifecycle.h"
#include "container/verify.h"
#include "snap/snap.h"
#include "util/fd.h"
#include "util/json_read.h"
#include "util/json_write.h"
#include "util/str.h"

#define VERDICT_BYTES_MAX ((size_t)4 * 1024 * 1024)

struct explain {
	struct container_handle h;
	struct guard guard; /* the profile as it was */
	struct arena arena;
	struct json *verdict, *later;
	const char *verified; /* a sentence */
	char now[ERROR_TEXT_MAX];
};

static const char *verified_words(const struct state_record *rec)
{
	if (!rec->expect.set)
		return "nothing to verify: this profile enforces nothing beyond the specification";
	if (!rec->verified)
		return "not yet: the container was not started";
	if (str_eq(rec->verified, "exec-stop"))
		return "capabilities, no_new_privs and filters read back before the first instruction";
	return "capabilities, no_new_privs and filters read back right after execve (tracing is not allowed here)";
}

static int load(struct explain *x, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_free_ char *later = NULL;
	struct error now = ERROR_NULL;
	size_t len;
	int r;

	r = guard_reopen(x->h.dir_fd, x->h.view.record->profile, &x->guard, err);
	if (r == 0)
		r = file_read_all(x->h.dir_fd, STATE_VERDICT_FILE, VERDICT_BYTES_MAX, &text, &len, err);
	if (r == 0)
		r = json_parse(STATE_VERDICT_FILE, text, len, 0, &x->arena, &x->verdict, err);
	if (r == 0)
		r = later_read(x->h.dir_fd, &later, &len, err);
	if (r == 0)
		r = json_parse(STATE_LATER_FILE, later, len, 0, &x->arena, &x->later, err);
	if (r < 0)
		return r;
	x->verified = verified_words(x->h.view.record);
	if (x->h.init.pid == 0 || x->h.view.status == CONTAINER_CREATED)
		(void)snprintf(x->now, sizeof(x->now), "no process of it runs");
	else if (cgroup_verify(&x->h.cgroup, &x->h.view.record->limits, &now) < 0 ||
		 verify_compare(x->h.proc_fd, x->h.init.pid, &x->h.view.record->expect, &now) < 0)
		(void)snprintf(x->now, sizeof(x->now), "DIFFERS: %.900s", now.text);
	else
		(void)snprintf(x->now, sizeof(x->now), "as decided");
	return 0;
}

static const char *text_of(const struct json *object, const char *key)
{
	const struct json *j = json_member(object, key);

	return j && j->type == JSON_STRING ? j->text : "";
}

static const struct json *first_of(const struct json *object, const char *key)
{
	const struct json *list = json_member(object, key);

	return list && list->type == JSON_ARRAY ? list->kids.first : NULL;
}

/* A list of devices has a line for each. */
static void limits_to_text(const struct state_record *rec, struct buf *b)
{
	size_t i;

	if (rec->readback.set)
		buf_addf(b,
			 "read back: %llu limits, %llu namespaces, %llu mounts, %llu masked and read-only paths\n",
			 (unsigned long long)rec->readback.limits, (unsigned long long)rec->readback.namespaces,
			 (unsigned long long)rec->readback.mounts, (unsigned long long)rec->readback.paths);
	for (i = 0; i < rec->limits.count; i++) {
		const struct state_limit *l = &rec->limits.items[i];
		const char *p;

		buf_addf(b, "limit:     %s = ", l->file);
		for (p = l->value; *p; p++)
			buf_adds(b, *p != '\n' ? (char[]){ *p, '\0' } : p[1] ? ", " : "");
		buf_adds(b, "\n");
	}
}

static void limits_to_json(const struct state_record *rec, struct json_writer *w)
{
	size_t i;

	if (rec->readback.set) {
		json_object_begin(w, "readBack");
		json_u64(w, "limits", rec->readback.limits);
		json_u64(w, "namespaces", rec->readback.namespaces);
		json_u64(w, "mounts", rec->readback.mounts);
		json_u64(w, "paths", rec->readback.paths);
		json_object_end(w);
	}
	json_array_begin(w, "limits");
	for (i = 0; i < rec->limits.count; i++) {
		json_object_begin(w, NULL);
		json_string(w, "controller", rec->limits.items[i].controller);
		json_string(w, "file", rec->limits.items[i].file);
		json_string(w, "value", rec->limits.items[i].value);
		json_object_end(w);
	}
	json_array_end(w);
}

/* operation: "" = create. */
static void decisions_to_text(const struct json *verdict, const char *operation, struct buf *b)
{
	const struct json *d;

	for (d = first_of(verdict, "decisions"); d; d = d->next)
		buf_addf(b, "%s%s%-20s %-8s %s -> %s  [%s in %s]\n", operation, *operation ? ": " : "",
			 text_of(d, "control"), text_of(d, "action"), text_of(d, "asked"), text_of(d, "given"),
			 text_of(d, "rule"), text_of(d, "file"));
}

static void decisions_to_json(const struct json *verdict, struct json_writer *w)
{
	static const char *const keys[] = { "control", "action", "asked", "given", "rule", "file" };
	const struct json *d;
	size_t i;

	json_array_begin(w, "decisions");
	for (d = first_of(verdict, "decisions"); d; d = d->next) {
		json_object_begin(w, NULL);
		for (i = 0; i < ELEMENTSOF(keys); i++)
			json_string(w, keys[i], text_of(d, keys[i]));
		json_object_end(w);
	}
	json_array_end(w);
}

/* Layers say what of the container's changes does not reach the host. */
static void sessions_explain(const struct explain *x, struct buf *text, struct json_writer *json)
{
	_cleanup_snap_ struct snap s = SNAP_NULL;
	struct error unreadable = ERROR_NULL;
	size_t i;

	if (!x->h.view.record->session || snap_open(x->h.view.record->session, false, &s, &unreadable) != 0)
		return;
	if (json)
		json_array_begin(json, "session");
	for (i = 0; i < s.record->n_layers; i++) {
		const struct snap_layer *l = &s.record->layers[i];

		if (text)
			buf_addf(text, "session:   %s over %s%s\n", l->destination, l->source, s.record->keep ? ", kept after delete" : "");
		if (!json)
			continue;
		json_object_begin(json, NULL);
		json_string(json, "destination", l->destination);
		json_string(json, "source", l->source);
		json_u64(json, "size", s.record->size);
		json_u64(json, "inodes", s.record->inodes);
		json_bool(json, "keep", s.record->keep);
		json_object_end(json);
	}
	if (json)
		json_array_end(json);
}

static int to_text(const struct explain *x, char **ret, struct error *err)
{
	_cleanup_buf_ struct buf b = BUF_NULL;
	const struct json *d;
	int r;

	buf_addf(&b, "container %s: %s\n", x->h.view.record->id, container_status_name(x->h.view.status));
	buf_addf(&b, "profile:   %s\n", text_of(x->verdict, "profile"));
	buf_addf(&b, "verified:  %s\n", x->verified);
	limits_to_text(x->h.view.record, &b);
	sessions_explain(x, &b, NULL);
	buf_addf(&b, "now:       %s\n", x->now);
	r = life_explain(&x->h, &b, NULL, err);
	if (r == 0)
		r = explain_audit(&x->h, &b, NULL, err);
	if (r == 0)
		r = explain_denied(x->h.view.record, &b, NULL, err);
	if (r == 0)
		r = explain_egress(&x->h, &x->guard.profile, &b, NULL, err);
	if (r < 0)
		return r;
	decisions_to_text(x->verdict, "", &b);
	for (d = first_of(x->later, "later"); d; d = d->next)
		decisions_to_text(d, text_of(d, "operation"), &b);
	if (!buf_ok(&b))
		return error_oom(err);
	*ret = buf_take(&b);
	return 0;
}

static int to_json(const struct explain *x, char **ret, struct error *err)
{
	_cleanup_json_writer_ struct json_writer *w = json_writer_new(2);
	const struct json *d;
	int r;

	if (!w)
		return error_oom(err);
	json_object_begin(w, NULL);
	json_string(w, "id", x->h.view.record->id);
	json_string(w, "status", container_status_name(x->h.view.status));
	json_string(w, "profile", text_of(x->verdict, "profile"));
	json_string(w, "verified", x->h.view.record->verified);
	limits_to_json(x->h.view.record, w);
	sessions_explain(x, NULL, w);
	json_string(w, "now", x->now);
	r = life_explain(&x->h, NULL, w, err);
	if (r == 0)
		r = explain_audit(&x->h, NULL, w, err);
	if (r == 0)
		r = explain_denied(x->h.view.record, NULL, w, err);
	if (r == 0)
		r = explain_egress(&x->h, &x->guard.profile, NULL, w, err);
	if (r < 0)
		return r;
	decisions_to_json(x->verdict, w);
	json_array_begin(w, "later");
	for (d = first_of(x->later, "later"); d; d = d->next) {
		json_object_begin(w, NULL);
		json_string(w, "operation", text_of(d, "operation"));
		decisions_to_json(d, w);
		json_object_end(w);
	}
	json_array_end(w);
	json_object_end(w);
	return json_take(w, ret, err);
}

int container_explain(const struct container_env *env, const char *id, bool json, char **ret_text, struct error *err)
{
	struct explain x = { .h = HANDLE_NULL, .guard = GUARD_NULL };
	int r;

	r = handle_open(env, id, &x.h, err);
	if (r == 0)
		r = load(&x, err);
	if (r == 0)
		r = json ? to_json(&x, ret_text, err) : to_text(&x, ret_text, err);
	guard_done(&x.guard);
	handle_done(&x.h);
	arena_done(&x.arena);
	return r;
}

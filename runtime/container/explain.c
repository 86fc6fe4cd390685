/*
 * `explain`: the verdict kept at create, how it was verified at the start, and what the
 * kernel says now.
 */
#include <string.h>

#include "container/guard.h"
#include "container/lifecycle.h"
#include "container/verify.h"
#include "util/fd.h"
#include "util/json_read.h"
#include "util/json_write.h"
#include "util/str.h"

#define VERDICT_BYTES_MAX ((size_t)4 * 1024 * 1024)

struct explain {
	struct container_handle h;
	struct guard guard; /* the profile as it was */
	struct arena arena;
	struct json *verdict;
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
	struct error now = ERROR_NULL;
	size_t len;
	int r;

	r = guard_reopen(x->h.dir_fd, x->h.view.record->profile, &x->guard, err);
	if (r == 0)
		r = file_read_all(x->h.dir_fd, STATE_VERDICT_FILE, VERDICT_BYTES_MAX, &text, &len, err);
	if (r == 0)
		r = json_parse(STATE_VERDICT_FILE, text, len, 0, &x->arena, &x->verdict, err);
	if (r < 0)
		return r;
	x->verified = verified_words(x->h.view.record);
	if (x->h.init.pid == 0 || x->h.view.status == CONTAINER_CREATED)
		(void)snprintf(x->now, sizeof(x->now), "no process of it runs");
	else if (verify_compare(x->h.proc_fd, x->h.init.pid, &x->h.view.record->expect, &now) < 0)
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

static const struct json *decisions_of(const struct explain *x)
{
	const struct json *list = json_member(x->verdict, "decisions");

	return list && list->type == JSON_ARRAY ? list->kids.first : NULL;
}

static int to_text(const struct explain *x, char **ret, struct error *err)
{
	_cleanup_buf_ struct buf b = BUF_NULL;
	const struct json *d;
	const char *missing;
	size_t i;

	buf_addf(&b, "container %s: %s\n", x->h.view.record->id, container_status_name(x->h.view.status));
	buf_addf(&b, "profile:   %s\n", text_of(x->verdict, "profile"));
	buf_addf(&b, "verified:  %s\n", x->verified);
	buf_addf(&b, "now:       %s\n", x->now);
	for (d = decisions_of(x); d; d = d->next)
		buf_addf(&b, "%-20s %-8s %s -> %s  [%s in %s]\n", text_of(d, "control"), text_of(d, "action"),
			 text_of(d, "asked"), text_of(d, "given"), text_of(d, "rule"), text_of(d, "file"));
	for (i = 0; (missing = policy_not_enforced(&x->guard.profile, i)); i++)
		buf_addf(&b, "not enforced by this version: %s\n", missing);
	if (!buf_ok(&b))
		return error_oom(err);
	*ret = buf_take(&b);
	return 0;
}

static int to_json(const struct explain *x, char **ret, struct error *err)
{
	static const char *const keys[] = { "control", "action", "asked", "given", "rule", "file" };
	_cleanup_json_writer_ struct json_writer *w = json_writer_new(2);
	const struct json *d;
	const char *missing;
	size_t i;

	if (!w)
		return error_oom(err);
	json_object_begin(w, NULL);
	json_string(w, "id", x->h.view.record->id);
	json_string(w, "status", container_status_name(x->h.view.status));
	json_string(w, "profile", text_of(x->verdict, "profile"));
	json_string(w, "verified", x->h.view.record->verified);
	json_string(w, "now", x->now);
	json_array_begin(w, "decisions");
	for (d = decisions_of(x); d; d = d->next) {
		json_object_begin(w, NULL);
		for (i = 0; i < ELEMENTSOF(keys); i++)
			json_string(w, keys[i], text_of(d, keys[i]));
		json_object_end(w);
	}
	json_array_end(w);
	json_array_begin(w, "notEnforced");
	for (i = 0; (missing = policy_not_enforced(&x->guard.profile, i)); i++)
		json_string(w, NULL, missing);
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

/*
 * Owns how suggestions are shown: by `policy suggest`, as lines that can be put into a policy file
 * as they are (such files have comments), and by `explain`.
 */
#include "container/suggest.h"

#include <inttypes.h>
#include <string.h>

#include "audit/audit_find.h"
#include "audit/audit_store.h"
#include "container/guard.h"
#include "container/lifecycle.h"

static bool has_rule(const struct suggestion *s)
{
	return s->host || s->cidr;
}

void suggest_rule_text(const struct suggestion *s, struct buf *b)
{
	size_t i;

	buf_addf(b, "{\"%s\": \"%s\"", s->host ? "host" : "cidr", s->host ? s->host : s->cidr);
	for (i = 0; i < s->n_ports; i++)
		buf_addf(b, "%s%u", i ? ", " : ", \"ports\": [", s->ports[i]);
	buf_adds(b, s->n_ports ? "]" : "");
	if (s->protocol)
		buf_addf(b, ", \"protocol\": \"%s\"", s->protocol);
	buf_adds(b, s->by_address ? ", \"verify\": \"address\"}" : "}");
}

static void rule_json(const struct suggestion *s, const char *key, struct json_writer *w)
{
	size_t i;

	json_object_begin(w, key);
	json_string(w, s->host ? "host" : "cidr", s->host ? s->host : s->cidr);
	if (s->n_ports) {
		json_array_begin(w, "ports");
		for (i = 0; i < s->n_ports; i++)
			json_u64(w, NULL, s->ports[i]);
		json_array_end(w);
	}
	if (s->protocol)
		json_string(w, "protocol", s->protocol);
	if (s->by_address)
		json_string(w, "verify", "address");
	json_object_end(w);
}

static const char *times(uint64_t count, char buf[32])
{
	(void)snprintf(buf, 32, count == 1 ? "once" : "%" PRIu64 " times", count);
	return buf;
}

static uint64_t sum(const struct suggestions *s, bool with_rule)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < s->n; i++)
		if (has_rule(&s->items[i]) == with_rule)
			n += s->items[i].count;
	return n;
}

static void lines_text(const struct suggestions *s, struct buf *b)
{
	char count[32];
	size_t i;

	if (sum(s, true) == 0)
		return;
	buf_addf(b, "%s of them a line of profiles.%s.egress.allow in %s would have allowed; each gives something up:\n",
		 times(sum(s, true), count), s->profile, s->file);
	for (i = 0; i < s->n; i++) {
		if (!has_rule(&s->items[i]))
			continue;
		buf_addf(b, "\t// %s: %s\n\t// gives up: %s\n\t", times(s->items[i].count, count), s->items[i].what,
			 s->items[i].why);
		suggest_rule_text(&s->items[i], b);
		buf_adds(b, ",\n");
	}
}

static void rest_text(const struct suggestions *s, struct buf *b)
{
	char count[32];
	size_t i;

	if (sum(s, false) > 0)
		buf_adds(b, "no line for:\n");
	for (i = 0; i < s->n; i++)
		if (!has_rule(&s->items[i]))
			buf_addf(b, "\t%s: %s: %s\n", times(s->items[i].count, count), s->items[i].what, s->items[i].why);
	if (s->others)
		buf_addf(b, "and %" PRIu64 " others, too different to be shown\n", s->others);
	if (s->uncounted)
		buf_addf(b, "and %" PRIu64 " that came too fast to be recorded one by one\n", s->uncounted);
}

static int to_text(const char *log, const struct suggestions *s, char **ret, struct error *err)
{
	_cleanup_buf_ struct buf b = BUF_NULL;

	if (s->denials == 0)
		buf_addf(&b, "%s: nothing was denied\n", log);
	else
		buf_addf(&b, "%s: %" PRIu64 " denials\n", log, s->denials);
	lines_text(s, &b);
	rest_text(s, &b);
	if (!buf_ok(&b))
		return error_oom(err);
	*ret = buf_take(&b);
	return 0;
}

static void items_json(const struct suggestions *s, const char *key, bool with_rule, struct json_writer *w)
{
	size_t i;

	json_array_begin(w, key);
	for (i = 0; i < s->n; i++) {
		if (has_rule(&s->items[i]) != with_rule)
			continue;
		json_object_begin(w, NULL);
		json_string(w, "what", s->items[i].what);
		json_u64(w, "count", s->items[i].count);
		if (with_rule)
			rule_json(&s->items[i], "rule", w);
		json_string(w, with_rule ? "givesUp" : "why", s->items[i].why);
		json_object_end(w);
	}
	json_array_end(w);
}

static int to_json(const char *log, const struct suggestions *s, char **ret, struct error *err)
{
	_cleanup_json_writer_ struct json_writer *w = json_writer_new(2);

	if (!w)
		return error_oom(err);
	json_object_begin(w, NULL);
	json_string(w, "log", log);
	json_string(w, "profile", s->profile);
	json_string(w, "file", s->file);
	json_u64(w, "denials", s->denials);
	json_u64(w, "unrecorded", s->uncounted);
	json_u64(w, "others", s->others);
	items_json(s, "allow", true, w);
	items_json(s, "none", false, w);
	json_object_end(w);
	return json_take(w, ret, err);
}

void suggest_explain(const struct suggestions *s, struct buf *text, struct json_writer *json)
{
	char count[32];
	size_t i;

	if (json) {
		json_object_begin(json, "suggest");
		items_json(s, "allow", true, json);
		items_json(s, "none", false, json);
		json_object_end(json);
	}
	for (i = 0; text && i < s->n; i++) {
		if (s->items[i].is_call)
			continue;
		buf_addf(text, "denied:    %s: %s: ", times(s->items[i].count, count), s->items[i].what);
		if (has_rule(&s->items[i])) {
			suggest_rule_text(&s->items[i], text);
			buf_addf(text, " in profiles.%s.egress.allow (%s) would allow it\n", s->profile, s->file);
		} else {
			buf_addf(text, "%s\n", s->items[i].why);
		}
	}
	if (text && s->others + s->uncounted > 0)
		buf_addf(text, "denied:    %" PRIu64 " more\n", s->others + s->uncounted);
}

/* Of a container that is still there: what its policy allows needs no line. */
static const struct policy_profile *profile_of(const struct container_env *env, const char *id, struct container_handle *h,
					       struct guard *g)
{
	struct error gone;

	if (handle_open(env, id, h, &gone) < 0 || guard_reopen(h->dir_fd, h->view.record->profile, g, &gone) < 0)
		return NULL;
	return &g->profile;
}

int container_policy_suggest(const struct container_env *env, const char *id, bool json, char **ret_text, struct error *err)
{
	_cleanup_handle_ struct container_handle h = HANDLE_NULL;
	_cleanup_guard_ struct guard g = GUARD_NULL;
	_cleanup_suggestions_ struct suggestions s = SUGGESTIONS_NULL;
	_cleanup_close_ int dir = -EBADF;
	char log[AUDIT_NAME_SIZE];
	int r;

	r = audit_store_open(NULL, env->rootless, false, &dir, err);
	if (r > 0)
		return error_text(err, -ENOENT, "there is no audit log: %s is not there", AUDIT_DIR);
	if (r == 0)
		r = audit_find(dir, id, env->root, log, err);
	if (r == 0)
		r = suggest_read(dir, log, profile_of(env, id, &h, &g), 0, &s, err);
	if (r < 0)
		return r;
	return json ? to_json(log, &s, ret_text, err) : to_text(log, &s, ret_text, err);
}

/*
 * Owns the list of decisions: recording, and its forms for people and programs.
 */
#include <assert.h>
#include <stdarg.h>

#include "policy/policy_internal.h"
#include "util/json_write.h"
#include "util/str.h"

static const struct enum_entry action_entries[] = {
	{ "kept", POLICY_KEPT, "as asked" },
	{ "clamped", POLICY_CLAMPED, "less than asked" },
	{ "dropped", POLICY_DROPPED, "asked and not given" },
	{ "added", POLICY_ADDED, "not asked" },
	{ "refused", POLICY_REFUSED, "the container does not start" },
};
const struct enum_table policy_action_table = ENUM_TABLE("action", action_entries);

void policy_verdict_done(struct policy_verdict *v)
{
	arena_done(&v->arena);
	*v = POLICY_VERDICT_NULL;
}

static struct policy_decision *add(struct policy_verdict *v)
{
	size_t room = v->room ? v->room * 2 : 32;
	struct policy_decision *items;

	if (v->count == v->room) {
		items = arena_calloc(&v->arena, room, sizeof(*items));
		if (!items)
			return NULL;
		if (v->count)
			memcpy(items, v->items, v->count * sizeof(*items));
		v->items = items;
		v->room = room;
	}
	return &v->items[v->count++];
}

void policy_note(struct policy_verdict *v, const char *control, enum policy_action action,
		 const struct policy_value *rule, const char *asked, const char *given)
{
	struct policy_decision *d = add(v);

	assert(control && asked && given);

	if (!d) {
		v->failed = true;
		return;
	}
	*d = (struct policy_decision){
		.control = control,
		.action = action,
		.asked = arena_strdup(&v->arena, asked),
		.given = arena_strdup(&v->arena, given),
		.rule = rule && rule->from.path ? rule->from.path : "",
		.file = rule && rule->from.path ? rule->from.file : POLICY_BUILTIN_NAME,
		.offset = rule && rule->from.path ? rule->from.offset : 0,
	};
	if (!d->asked || !d->given) {
		v->failed = true;
		v->count--;
	} else if (action == POLICY_REFUSED) {
		v->refused++;
	}
}

void policy_refuse(struct policy_verdict *v, const char *control, const struct policy_value *rule,
		   const char *asked, const char *remedy_fmt, ...)
{
	size_t before = v->count;
	char remedy[512];
	va_list ap;

	policy_note(v, control, POLICY_REFUSED, rule, asked, "nothing");
	if (v->count == before)
		return;
	va_start(ap, remedy_fmt);
	(void)vsnprintf(remedy, sizeof(remedy), remedy_fmt, ap);
	va_end(ap);
	v->items[before].remedy = arena_strdup(&v->arena, remedy);
	if (!v->items[before].remedy)
		v->failed = true;
}

const char *policy_place(struct policy_verdict *v, const struct policy_value *rule)
{
	const char *path = rule && rule->from.path ? str_after(rule->from.path, "profiles.") : NULL;
	const char *member = path ? strchr(path, '.') : NULL;
	const char *place;

	/* The rule may stand in a profile that this one inherits; the remedy belongs into this one.
	 */
	place = arena_printf(&v->arena, "profiles.%s%s in %s", v->profile ? v->profile : "default",
			     member ? member : "", v->policy_file ? v->policy_file : POLICY_FILE);
	if (!place)
		v->failed = true;
	return place ? place : "";
}

/* "; refused as well: cpu, egress": every control once, so that one change of the policy is enough. */
static void others_refused(const struct policy_verdict *v, size_t first, char *buf, size_t size)
{
	size_t i, k, len = 0;

	buf[0] = '\0';
	for (i = first + 1; i < v->count && len < size; i++) {
		if (v->items[i].action != POLICY_REFUSED)
			continue;
		for (k = first; k < i; k++)
			if (v->items[k].action == POLICY_REFUSED &&
			    str_eq(v->items[k].control, v->items[i].control))
				break;
		if (k == i)
			len += (size_t)snprintf(buf + len, size - len, "%s%s",
						len ? ", " : "; refused as well: ", v->items[i].control);
	}
}

int policy_verdict_result(const struct policy_verdict *v, struct error *err)
{
	const struct policy_decision *d;
	char others[200];
	size_t i;

	if (v->failed)
		return error_oom(err);
	for (i = 0; i < v->count; i++) {
		d = &v->items[i];
		if (d->action != POLICY_REFUSED)
			continue;
		others_refused(v, i, others, sizeof(others));
		return error_text(
			err, -EPERM,
			"policy: %s: %s is refused by %s (%s, offset %zu); to allow it, %s%s",
			d->control, d->asked, d->rule, d->file, d->offset,
			d->remedy ? d->remedy : "change the policy", others);
	}
	return 0;
}

bool policy_verdict_changed(const struct policy_verdict *v)
{
	size_t i;

	for (i = 0; i < v->count; i++)
		if (v->items[i].action != POLICY_KEPT)
			return true;
	return false;
}

int policy_verdict_text(const struct policy_verdict *v, char **ret, struct error *err)
{
	_cleanup_buf_ struct buf b = BUF_NULL;
	size_t i;

	buf_addf(&b, "profile %s\n", v->profile ? v->profile : "?");
	for (i = 0; i < v->count; i++) {
		const struct policy_decision *d = &v->items[i];

		buf_addf(&b, "%s %s: asked %s, given %s", d->control,
			 enum_to_name(&policy_action_table, d->action), d->asked, d->given);
		if (*d->rule)
			buf_addf(&b, " (%s: %s, offset %zu)", d->file, d->rule, d->offset);
		if (d->remedy)
			buf_addf(&b, "; to allow it, %s", d->remedy);
		buf_adds(&b, "\n");
	}
	if (!buf_ok(&b) || v->failed)
		return error_oom(err);
	*ret = buf_take(&b);
	return *ret ? 0 : error_oom(err);
}

int policy_verdict_json(const struct policy_verdict *v, char **ret, struct error *err)
{
	_cleanup_json_writer_ struct json_writer *w = json_writer_new(2);
	size_t i;

	if (!w || v->failed)
		return error_oom(err);
	json_object_begin(w, NULL);
	json_string(w, "profile", v->profile);
	json_string(w, "result",
		    v->refused			? "refused"
		    : policy_verdict_changed(v) ? "changed"
						: "unchanged");
	json_array_begin(w, "decisions");
	for (i = 0; i < v->count; i++) {
		const struct policy_decision *d = &v->items[i];

		json_object_begin(w, NULL);
		json_string(w, "control", d->control);
		json_string(w, "action", enum_to_name(&policy_action_table, d->action));
		json_string(w, "asked", d->asked);
		json_string(w, "given", d->given);
		if (*d->rule) {
			json_string(w, "rule", d->rule);
			json_string(w, "file", d->file);
			json_u64(w, "offset", d->offset);
		}
		if (d->remedy)
			json_string(w, "remedy", d->remedy);
		json_object_end(w);
	}
	json_array_end(w);
	json_object_end(w);
	return json_take(w, ret, err);
}

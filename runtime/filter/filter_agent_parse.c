/*
 * The profile's JSON into structs: Docker's members, which people know, and ours beside them.
 * Unknown members are errors, since a misspelt one would weaken the filter. Decides nothing
 * about what the rules mean together.
 */
#include "filter/filter_agent_private.h"

#include <assert.h>

#include "spec/spec.h"
#include "util/str.h"

#define FIELD(name_, fn_, type_, member_, flags_, arg_)                                            \
	{                                                                                          \
		.name = (name_), .fn = (fn_), .offset = offsetof(type_, member_),                  \
		.flags = (flags_), .arg = (arg_)                                                   \
	}
#define IGNORED(name_) { .name = (name_), .fn = json_ignore, .flags = JSON_NULL_OK }
#define FIELD_END { .name = NULL }

static int word_read(struct json_ctx *ctx, const struct json *value, uint64_t *ret,
		     struct error *err)
{
	if (value->type == JSON_NUMBER) {
		if (json_to_u64(value, ret) < 0)
			return json_error(ctx, value, err, -EINVAL,
					  "must be a whole number of 0 to 18446744073709551615");
		return 0;
	}
	if (value->type != JSON_STRING)
		return json_error(ctx, value, err, -EINVAL,
				  "must be a number or the name of a constant, is %s",
				  json_type_phrase(value->type));
	if (agent_word_value(value->text, ret) < 0)
		return json_error(ctx, value, err, -EINVAL,
				  "unknown constant \"%s\": write its number", value->text);
	return 0;
}

static JSON_HANDLER(get_word)
{
	struct opt_u64 *o = target;
	int r = word_read(ctx, value, &o->value, err);

	(void)field;
	o->set = r == 0;
	return r;
}

static JSON_HANDLER(get_words)
{
	struct agent_words *w = target;
	size_t len = ctx->path_len;
	const struct json *j;
	int r;

	(void)field;
	if (value->type != JSON_ARRAY || value->kids.count == 0)
		return json_error(ctx, value, err, -EINVAL, "must be a list of values, not empty");
	w->items = arena_calloc(ctx->arena, value->kids.count, sizeof(*w->items));
	if (!w->items)
		return error_oom(err);
	for (j = value->kids.first; j; j = j->next) {
		json_path_push(ctx, "[%zu]", w->count);
		r = word_read(ctx, j, &w->items[w->count++], err);
		if (r < 0)
			return r;
		json_path_pop(ctx, len);
	}
	w->set = true;
	return 0;
}

static const struct json_field arg_fields[] = {
	FIELD("index", json_get_u32, struct agent_doc_arg, index, JSON_REQUIRED, NULL),
	FIELD("op", json_get_enum, struct agent_doc_arg, op, JSON_REQUIRED, &spec_seccomp_op_table),
	FIELD("value", get_word, struct agent_doc_arg, value, 0, NULL),
	FIELD("valueTwo", get_word, struct agent_doc_arg, value_two, 0, NULL),
	FIELD("values", get_words, struct agent_doc_arg, values, 0, NULL),
	FIELD_END,
};
static const struct json_object arg_type = { .size = sizeof(struct agent_doc_arg),
					     .fields = arg_fields };

static const struct json_field when_fields[] = {
	FIELD("caps", json_get_strv, struct agent_doc_when, caps, JSON_NULL_OK, NULL),
	FIELD("arches", json_get_strv, struct agent_doc_when, arches, JSON_NULL_OK, NULL),
	FIELD("minKernel", json_get_string, struct agent_doc_when, min_kernel, JSON_NULL_OK, NULL),
	FIELD_END,
};
static const struct json_object when_type = { .size = sizeof(struct agent_doc_when),
					      .fields = when_fields };

static int rule_check(struct json_ctx *ctx, void *target, struct error *err)
{
	struct agent_doc_rule *r = target;

	if (!r->name == (r->names.count == 0))
		return error_text(err, -EINVAL, "%s: %s: needs \"names\", not empty%s", ctx->name,
				  ctx->path, r->name ? ", or \"name\", not both" : "");
	if (r->name) {
		r->names.items = arena_calloc(ctx->arena, 2, sizeof(*r->names.items));
		if (!r->names.items)
			return error_oom(err);
		r->names.items[0] = r->name;
		r->names.count = 1;
	}
	return 0;
}

static const struct json_field rule_fields[] = {
	FIELD("name", json_get_string, struct agent_doc_rule, name, JSON_NULL_OK | JSON_NOT_EMPTY,
	      NULL),
	FIELD("names", json_get_strv, struct agent_doc_rule, names, JSON_NULL_OK, NULL),
	FIELD("action", json_get_enum, struct agent_doc_rule, action, JSON_REQUIRED,
	      &spec_seccomp_action_table),
	FIELD("errnoRet", json_get_opt_u32, struct agent_doc_rule, errno_ret, JSON_NULL_OK, NULL),
	FIELD("errno", json_get_string, struct agent_doc_rule, errno_name, JSON_NULL_OK, NULL),
	FIELD("args", json_get_list, struct agent_doc_rule, args, JSON_NULL_OK, &arg_type),
	FIELD("includes", json_get_object, struct agent_doc_rule, includes, JSON_NULL_OK,
	      &when_type),
	FIELD("excludes", json_get_object, struct agent_doc_rule, excludes, JSON_NULL_OK,
	      &when_type),
	FIELD("report", json_get_bool, struct agent_doc_rule, report, JSON_NULL_OK, NULL),
	FIELD("comment", json_get_string, struct agent_doc_rule, comment, JSON_NULL_OK, NULL),
	FIELD_END,
};
static const struct json_object rule_type = { .size = sizeof(struct agent_doc_rule),
					      .fields = rule_fields,
					      .check = rule_check };

static const struct enum_entry match_entries[] = {
	{ "strictest", AGENT_MATCH_STRICTEST, "rules have no order; the strictest that holds" },
	{ "first", AGENT_MATCH_FIRST, "the first that holds" },
};
static const struct enum_table match_table = ENUM_TABLE("match", match_entries);

static const struct json_field doc_fields[] = {
	FIELD("extends", json_get_string, struct agent_doc, extends, JSON_NOT_EMPTY, NULL),
	FIELD("match", json_get_enum, struct agent_doc, match, 0, &match_table),
	FIELD("defaultAction", json_get_enum, struct agent_doc, default_action, 0,
	      &spec_seccomp_action_table),
	FIELD("defaultErrnoRet", json_get_opt_u32, struct agent_doc, default_errno_ret,
	      JSON_NULL_OK, NULL),
	FIELD("defaultErrno", json_get_string, struct agent_doc, default_errno, JSON_NULL_OK, NULL),
	FIELD("flags", json_get_strv, struct agent_doc, flags, JSON_NULL_OK, NULL),
	FIELD("silent", json_get_bool, struct agent_doc, silent, JSON_NULL_OK, NULL),
	FIELD("syscalls", json_get_list, struct agent_doc, rules, JSON_NULL_OK, &rule_type),
	/* Which entry points are open is not the profile's to say: only the native one is. */
	IGNORED("architectures"),
	IGNORED("archMap"),
	/* Without a rule that notifies, which is refused, they mean nothing. */
	IGNORED("listenerPath"),
	IGNORED("listenerMetadata"),
	IGNORED("comment"),
	FIELD_END,
};
static const struct json_object doc_type = { .size = sizeof(struct agent_doc),
					     .fields = doc_fields };

int agent_doc_parse(const struct agent_source *src, struct arena *arena, struct agent_doc *ret,
		    struct error *err)
{
	struct json_ctx ctx = { .name = src->name, .arena = arena, .strict = true };
	struct agent_doc doc = { .default_action = AGENT_UNSET };
	struct json *root;
	int r;

	assert(src->text);

	if (src->len > FILTER_AGENT_BYTES_MAX)
		return error_text(err, -E2BIG, "%s: a seccomp profile of more than %zu bytes",
				  src->name, FILTER_AGENT_BYTES_MAX);
	r = json_parse(src->name, src->text, src->len, 0, arena, &root, err);
	if (r < 0)
		return r;
	r = json_dispatch(&ctx, &doc_type, root, &doc, err);
	if (r < 0)
		return r;
	*ret = doc;
	return 0;
}

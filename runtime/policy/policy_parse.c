/*
 * Owns the document as a whole: the file's own members, the map of profiles and the
 * rules between them. That the file is root's is checked by who opens it.
 */
#include <assert.h>

#include "policy/policy_internal.h"
#include "util/str.h"

#define FIELD(name_, fn_, member_)                                                       \
	{                                                                                \
		.name = (name_), .fn = (fn_), .offset = offsetof(struct policy, member_) \
	}

bool policy_profile_fixed(const char *name)
{
	return str_eq(name, "sandbox") || str_eq(name, "passthrough");
}

static int check_profile_name(struct json_ctx *ctx, const struct json *j, bool builtin,
			      struct error *err)
{
	if (!policy_list_names.valid(j->key))
		return json_error(ctx, j, err, -EINVAL, "\"%.100s\" is not %s", j->key,
				  policy_list_names.what);
	/* What they promise does not depend on a file. */
	if (!builtin && policy_profile_fixed(j->key))
		return json_error(ctx, j, err, -EINVAL,
				  "the profile %s is fixed; give yours another name and let it "
				  "inherit \"builtin:%s\"",
				  j->key, j->key);
	return 0;
}

static JSON_HANDLER(get_profiles)
{
	struct policy *p = (struct policy *)((char *)target - offsetof(struct policy, profiles));
	const struct json *j;
	size_t len = ctx->path_len;
	int r;

	if (value->type != JSON_OBJECT)
		return json_error(ctx, value, err, -EINVAL, "must be an object, is %s",
				  json_type_phrase(value->type));
	if (value->kids.count > POLICY_PROFILES_MAX)
		return json_error(ctx, value, err, -E2BIG, "more than %d profiles",
				  POLICY_PROFILES_MAX);
	p->profiles = arena_calloc(ctx->arena, value->kids.count, sizeof(*p->profiles));
	if (!p->profiles)
		return error_oom(err);
	for (j = value->kids.first; j; j = j->next) {
		struct policy_profile *raw = &p->profiles[p->n_profiles++];

		r = check_profile_name(ctx, j, !p->builtin, err);
		if (r < 0)
			return r;
		raw->name = arena_strdup(ctx->arena, j->key);
		if (!raw->name)
			return error_oom(err);
		json_path_push(ctx, "%s", j->key);
		r = json_dispatch(ctx, &policy_profile_type, j, raw, err);
		if (r < 0)
			return r;
		json_path_pop(ctx, len);
	}
	return 0;
}

static JSON_HANDLER(get_version)
{
	struct policy_value *v = target;
	int r = policy_get_count(ctx, field, value, target, err);

	if (r < 0)
		return r;
	if (v->n != 1)
		return json_error(ctx, value, err, -EINVAL,
				  "version %llu of the policy is not known here (known: 1)",
				  (unsigned long long)v->n);
	return 0;
}

static const struct json_field file_fields[] = {
	{ .name = "$schema", .fn = json_ignore },
	{ .name = "version",
	  .fn = get_version,
	  .offset = offsetof(struct policy, version),
	  .flags = JSON_REQUIRED },
	FIELD("profile", policy_get_text, profile),
	{ .name = "requestable",
	  .fn = policy_get_list,
	  .arg = &policy_list_names,
	  .offset = offsetof(struct policy, requestable) },
	FIELD("sealed", policy_get_flag, sealed),
	FIELD("profiles", get_profiles, profiles),
	{ .name = NULL },
};
const struct json_object policy_file_type = { .size = sizeof(struct policy),
					      .fields = file_fields };

static int parse(const char *name, const char *data, size_t len, struct policy *p,
		 struct error *err)
{
	_cleanup_(arena_done) struct arena tree = ARENA_NULL;
	struct json_ctx ctx = { .arena = &p->arena, .strict = true };
	struct json *root;
	int r;

	if (len > POLICY_BYTES_MAX)
		return error_text(err, -E2BIG,
				  "%s: %zu bytes are more than a policy may have (%zu)", name, len,
				  POLICY_BYTES_MAX);
	p->name = arena_strdup(&p->arena, name);
	if (!p->name)
		return error_oom(err);
	ctx.name = p->name;
	r = json_parse(p->name, data, len, JSON_COMMENTS, &tree, &root, err);
	if (r < 0)
		return r;
	return json_dispatch(&ctx, &policy_file_type, root, p, err);
}

int policy_builtin(struct policy **ret, struct error *err)
{
	_cleanup_policy_ struct policy *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return error_oom(err);
	/* What it says about itself is checked by the tests, not at every start. */
	r = parse(POLICY_BUILTIN_NAME, policy_builtin_text, strlen(policy_builtin_text), p, err);
	if (r < 0)
		return r;
	*ret = take_ptr(p);
	return 0;
}

int policy_parse(const char *name, const char *data, size_t len, struct policy **ret,
		 struct error *err)
{
	_cleanup_policy_ struct policy *p = calloc(1, sizeof(*p));
	int r;

	assert(name && data && ret && err);

	if (!p)
		return error_oom(err);
	r = policy_builtin(&p->builtin, err);
	if (r < 0)
		return r;
	r = parse(name, data, len, p, err);
	if (r < 0)
		return r;
	if (!p->profile.from.path)
		p->profile = p->builtin->profile;
	if (!p->requestable.from.path)
		p->requestable = p->builtin->requestable;
	r = policy_check_profiles(p, err);
	if (r < 0)
		return r;
	*ret = take_ptr(p);
	return 0;
}

struct policy *policy_free(struct policy *p)
{
	if (!p)
		return NULL;
	p->builtin = policy_free(p->builtin);
	arena_done(&p->arena);
	free(p);
	return NULL;
}

bool policy_sealed(const struct policy *p)
{
	return p->sealed.n != 0;
}

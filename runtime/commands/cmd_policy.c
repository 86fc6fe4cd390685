/*
 * `policy`: the verdict on a bundle before it is made, the effective policy, the schema of the
 * file, and what it would take to allow what was denied.
 */
#include "commands/commands.h"

/* Exit statuses of `policy check`; its own errors are 1. */
#define EXIT_CHANGED 3
#define EXIT_REFUSED 4

struct policy_options {
	struct container_create_options create;
	const char *profile;
	bool json, origins;
};

#define OPT(name, short_name, kind, member, value, help) \
	COMMAND_OPTION(name, short_name, kind, struct policy_options, member, value, help)

static const struct command_option options[] = {
	OPT("bundle", 'b', OPTION_STRING, create.bundle, "DIR", "check: folder with config.json (default: .)"),
	OPT("profile", 'p', OPTION_STRING, profile, "NAME", "profile to use instead of the policy's choice"),
	OPT("json", 0, OPTION_FLAG, json, NULL, "check, suggest: print JSON"),
	OPT("origins", 0, OPTION_FLAG, origins, NULL, "show: print where each value was set"),
	{ 0 },
};

/* The schema file as C string literals, made by the build. */
static const char schema[] =
#include "commands/policy_schema.h"
	;

static int check(struct command_ctx *ctx, const struct container_env *env, struct policy_options *o, struct error *err)
{
	static const int status[] = {
		[CONTAINER_POLICY_AS_ASKED] = 0,
		[CONTAINER_POLICY_CHANGED] = EXIT_CHANGED,
		[CONTAINER_POLICY_REFUSED] = EXIT_REFUSED,
	};
	enum container_policy_result result;
	_cleanup_free_ char *text = NULL;
	int r;

	o->create.id = "policy-check";
	r = container_policy_check(env, &o->create, o->json, &result, &text, err);
	if (r < 0)
		return r;
	ctx->exit_status = status[result];
	return o->json ? command_write(ctx, text, true, err) : command_print(ctx, text, err);
}

static int show(struct command_ctx *ctx, const struct container_env *env, const struct policy_options *o,
		struct error *err)
{
	_cleanup_free_ char *text = NULL;
	int r = container_policy_show(env, o->origins, &text, err);

	return r < 0 ? r : command_write(ctx, text, text[0] && text[strlen(text) - 1] != '\n', err);
}

static int suggest(struct command_ctx *ctx, const char *id, const struct policy_options *o, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	int r = container_policy_suggest(ctx->env, id, o->json, &text, err);

	return r < 0 ? r : o->json ? command_write(ctx, text, true, err) : command_print(ctx, text, err);
}

static int run(struct command_ctx *ctx, void *opts, const struct command_args *args, struct error *err)
{
	struct policy_options *o = opts;
	struct container_env env = *ctx->env;
	const char *what = args->items[0];

	if (str_eq(what, "suggest") && args->count == 2)
		return suggest(ctx, args->items[1], o, err);
	if (args->count != 1)
		return error_text(err, -EINVAL, "say policy check, policy show, policy schema, or policy suggest ID");
	if (o->profile)
		env.profile = o->profile;
	if (str_eq(what, "check"))
		return check(ctx, &env, o, err);
	if (str_eq(what, "show"))
		return show(ctx, &env, o, err);
	if (str_eq(what, "schema"))
		return command_write(ctx, schema, false, err);
	return error_text(err, -EINVAL, "unknown subject \"%s\": policy check, policy show, policy schema or policy suggest ID",
			  what);
}

const struct command cmd_policy = {
	.name = "policy",
	.summary = "check a bundle against the policy, show the policy, or suggest lines for it",
	.synopsis = "[options] check|show|schema|suggest [ID]",
	.details = "check exits 0 when the container would start as asked, 3 when it would start changed,\n"
		   "4 when it would be refused. Nothing is made. suggest reads the log of container ID, also of a\n"
		   "deleted one, and shows the narrowest lines that would have allowed what was denied.",
	.options = options,
	.options_size = sizeof(struct policy_options),
	.min_args = 1,
	.max_args = 2,
	.run = run,
};

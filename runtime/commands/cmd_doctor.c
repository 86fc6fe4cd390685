/*
 * `doctor`: what this host offers and lacks, and what to do about it.
 */
#include "commands/commands.h"

/* Containers under the policy do not start here; the command's own errors are 1. */
#define EXIT_LACKING 3

struct doctor_options {
	const char *profile;
	bool json;
};

#define OPT(name, short_name, kind, member, value, help) \
	COMMAND_OPTION(name, short_name, kind, struct doctor_options, member, value, help)

static const struct command_option options[] = {
	OPT("profile", 'p', OPTION_STRING, profile, "NAME", "profile to ask for instead of the policy's choice"),
	OPT("json", 0, OPTION_FLAG, json, NULL, "print JSON"),
	{ 0 },
};

static int run(struct command_ctx *ctx, void *opts, const struct command_args *args, struct error *err)
{
	const struct doctor_options *o = opts;
	struct container_env env = *ctx->env;
	_cleanup_free_ char *text = NULL;
	bool ready;
	int r;

	(void)args;
	if (o->profile)
		env.profile = o->profile;
	r = container_doctor(&env, o->json, &ready, &text, err);
	if (r < 0)
		return r;
	ctx->exit_status = ready ? 0 : EXIT_LACKING;
	return o->json ? command_write(ctx, text, true, err) : command_print(ctx, text, err);
}

const struct command cmd_doctor = {
	.name = "doctor",
	.summary = "say what this host offers and lacks for the policy",
	.synopsis = "[options]",
	.details = "Nothing is made or changed. Exits 0 when containers can start here under the policy, 3 when\n"
		   "something that it demands is lacking.",
	.options = options,
	.options_size = sizeof(struct doctor_options),
	.run = run,
};

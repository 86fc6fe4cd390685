/*
 * Which containers a command acts on: the one named, or all whose id matches a
 * regular expression (crun's --regex).
 */
#include <errno.h>
#include <regex.h>

#include "commands/commands.h"

static void regex_done(regex_t **re)
{
	if (*re)
		regfree(*re);
}

static int each_match(struct command_ctx *ctx, const regex_t *re, command_each_fn fn,
		      const void *arg, struct error *err)
{
	char **ids = NULL;
	size_t count = 0;
	int ret = 0;
	int r = container_list(ctx->env, &ids, &count, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++) {
		struct error e = ERROR_NULL;

		if (regexec(re, ids[i], 0, NULL, 0) != 0)
			continue;
		r = fn(ctx, ids[i], arg, &e);
		if (r < 0 && ret == 0) {
			(void)error_prefix(&e, "%s", ids[i]);
			*err = e;
			ret = r;
		}
	}
	state_list_free(ids);
	return ret;
}

int command_for_each(struct command_ctx *ctx, const char *id, bool regex, command_each_fn fn,
		     const void *arg, struct error *err)
{
	_cleanup_(regex_done) regex_t *guard = NULL;
	regex_t re;
	char why[128];
	int r;

	if (!regex)
		return fn(ctx, id, arg, err);
	r = regcomp(&re, id, REG_EXTENDED | REG_NOSUB);
	if (r != 0) {
		(void)regerror(r, &re, why, sizeof(why));
		return error_text(err, -EINVAL, "bad regular expression \"%s\": %s", id, why);
	}
	guard = &re;
	return each_match(ctx, &re, fn, arg, err);
}

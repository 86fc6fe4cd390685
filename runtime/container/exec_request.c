/*
 * Command line and --process document into one struct spec_process. Pure but for
 * reading the document.
 */
#include "container/exec_request.h"

#include <assert.h>
#include <fcntl.h>
#include <string.h>

#include "util/fd.h"
#include "util/log.h"
#include "util/parse.h"
#include "util/str.h"

/* UID[:GID], numbers only: names are the engine's business (an image's passwd is not trusted). */
static int parse_user(const char *text, struct arena *arena, struct spec_user *ret, struct error *err)
{
	const char *colon = strchr(text, ':');
	char *uid = colon ? arena_strndup(arena, text, (size_t)(colon - text)) : arena_strdup(arena, text);

	if (!uid)
		return error_oom(err);
	if (parse_u32(uid, &ret->uid) < 0 || (colon && parse_u32(colon + 1, &ret->gid) < 0))
		return error_text(err, -EINVAL, "--user \"%s\": must be UID[:GID] in decimal", text);
	return 0;
}

static int add_env(const struct container_exec_options *opt, struct arena *arena, struct spec_process *p,
		   struct error *err)
{
	char **items;
	size_t i;

	if (opt->n_env == 0)
		return 0;
	items = arena_calloc(arena, p->env.count + opt->n_env + 1, sizeof(char *));
	if (!items)
		return error_oom(err);
	for (i = 0; i < p->env.count; i++)
		items[i] = p->env.items[i];
	for (i = 0; i < opt->n_env; i++) {
		if (!strchr(opt->env[i], '=') || opt->env[i][0] == '=')
			return error_text(err, -EINVAL, "--env \"%s\": must be NAME=VALUE", opt->env[i]);
		items[p->env.count + i] = opt->env[i];
	}
	p->env.items = items;
	p->env.count += opt->n_env;
	p->env.set = true;
	return 0;
}

static int add_gids(const struct container_exec_options *opt, struct arena *arena, struct spec_user *user,
		    struct error *err)
{
	size_t old = user->additional_gids.count;
	uint32_t *gids;

	if (opt->n_gids == 0)
		return 0;
	gids = arena_calloc(arena, old + opt->n_gids, sizeof(*gids));
	if (!gids)
		return error_oom(err);
	if (old > 0)
		memcpy(gids, user->additional_gids.items, old * sizeof(*gids));
	memcpy(gids + old, opt->additional_gids, opt->n_gids * sizeof(*gids));
	user->additional_gids.items = gids;
	user->additional_gids.count = old + opt->n_gids;
	return 0;
}

static int add_caps(const struct container_exec_options *opt, struct arena *arena, struct spec_process *p,
		    struct error *err)
{
	struct spec_capabilities *caps;
	size_t i;

	if (opt->n_caps == 0)
		return 0;
	caps = arena_alloc(arena, sizeof(*caps));
	if (!caps)
		return error_oom(err);
	if (p->capabilities)
		*caps = *p->capabilities;
	for (i = 0; i < opt->n_caps; i++) {
		uint64_t bit;

		/* As in a configuration: a name that means nothing here grants nothing. */
		if (enum_from_name(&spec_capability_table, opt->caps[i], &bit) < 0) {
			log_warningf("--cap \"%s\": not a capability known here; left out", opt->caps[i]);
			continue;
		}
		caps->bounding |= 1ull << bit;
		caps->effective |= 1ull << bit;
		caps->permitted |= 1ull << bit;
		/* Takes effect for a bit that the configuration made inheritable (runc 1.1.2). */
		caps->ambient |= 1ull << bit;
	}
	p->capabilities = caps;
	return 0;
}

static int from_file(const char *path, struct arena *arena, struct spec_process *ret, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	struct spec_process *p;
	size_t len;
	int r;

	r = file_read_all(AT_FDCWD, path, JSON_BYTES_MAX, &text, &len, err);
	if (r < 0)
		return r;
	r = spec_parse_process(path, text, len, arena, &p, err);
	if (r < 0)
		return r;
	*ret = *p;
	return 0;
}

int exec_request_build(const struct container_exec_options *opt, const struct spec_process *base, struct arena *arena,
		       struct spec_process *ret, struct error *err)
{
	struct spec_process p;
	size_t n = 0;
	int r;

	if (opt->process_file)
		return from_file(opt->process_file, arena, ret, err);
	if (!base)
		return error_text(err, -EINVAL, "the container has no process to take defaults from: use --process");

	p = *base;
	while (opt->args && opt->args[n])
		n++;
	if (n == 0)
		return error_text(err, -EINVAL, "process args cannot be empty");
	p.args = (struct strv){ .items = (char **)opt->args, .count = n, .set = true };
	p.terminal = opt->tty;
	p.console_size = (struct spec_console_size){ 0 };
	if (opt->cwd)
		p.cwd = (char *)opt->cwd;
	if (opt->apparmor)
		p.apparmor_profile = (char *)opt->apparmor;
	if (opt->label)
		p.selinux_label = (char *)opt->label;
	if (opt->no_new_privs)
		p.no_new_privileges = true;
	if (opt->user) {
		r = parse_user(opt->user, arena, &p.user, err);
		if (r < 0)
			return r;
	}
	r = add_gids(opt, arena, &p.user, err);
	if (r == 0)
		r = add_env(opt, arena, &p, err);
	if (r == 0)
		r = add_caps(opt, arena, &p, err);
	if (r < 0)
		return r;
	*ret = p;
	return 0;
}

/*
 * `policy check` and `policy show`: the decision of create, without its consequences.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "container/create_steps.h"
#include "container/guard.h"
#include "os/procfs.h"
#include "util/str.h"

static int report_text(const struct guard *g, enum container_policy_result result, char **ret, struct error *err)
{
	static const char *const words[] = {
		[CONTAINER_POLICY_AS_ASKED] = "would start as asked",
		[CONTAINER_POLICY_CHANGED] = "would start changed",
		[CONTAINER_POLICY_REFUSED] = "would be refused",
	};
	_cleanup_free_ char *decisions = NULL;
	_cleanup_buf_ struct buf b = BUF_NULL;
	int r;

	r = policy_verdict_text(&g->verdict, &decisions, err);
	if (r < 0)
		return r;
	buf_addf(&b, "profile %s: %s\n%s", g->profile.name, words[result], decisions);
	if (!buf_ok(&b))
		return error_oom(err);
	*ret = buf_take(&b);
	return 0;
}

static int check_open(struct create *c, struct error *err)
{
	int r = procfs_open(&c->proc_fd, err);

	if (r == 0)
		r = in_user_namespace(c->proc_fd, &c->in_userns, err);
	c->rootless = c->env->rootless || geteuid() != 0;
	return r;
}

int container_policy_check(const struct container_env *env, const struct container_create_options *opt, bool json,
			   enum container_policy_result *ret_result, char **ret_text, struct error *err)
{
	enum container_policy_result result = CONTAINER_POLICY_AS_ASKED;
	struct create c;
	int r;

	create_init(&c, env, opt, true);
	r = check_open(&c, err);
	if (r == 0)
		r = create_load(&c, err);
	if (r == 0)
		r = create_plan(&c, err);
	if (r < 0 && c.guard.verdict.refused > 0) {
		result = CONTAINER_POLICY_REFUSED;
		r = 0;
	} else if (r == 0 && policy_verdict_changed(&c.guard.verdict)) {
		result = CONTAINER_POLICY_CHANGED;
	}
	if (r == 0)
		r = json ? policy_verdict_json(&c.guard.verdict, ret_text, err) :
			   report_text(&c.guard, result, ret_text, err);
	create_done(&c);
	if (r == 0)
		*ret_result = result;
	return r;
}

int container_policy_show(const struct container_env *env, bool origins, char **ret_text, struct error *err)
{
	_cleanup_guard_ struct guard g = GUARD_NULL;
	const struct str_map none = { 0 };
	int r = guard_open(env, &none, &g, err);

	if (r < 0)
		return r;
	return origins ? policy_show_origins(&g.profile, ret_text, err) : policy_show(&g.profile, ret_text, err);
}

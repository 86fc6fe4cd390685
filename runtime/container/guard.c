/*
 * Loads and selects the policy, and narrows what was asked for to it. The decision
 * itself is policy/'s; a refusal leaves no trace, because nothing was made yet.
 */
#include "container/guard.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "container/guard_mounts.h"
#include "plan/plan.h"
#include "policy/policy_env.h"
#include "state/state.h"
#include "util/fd.h"
#include "util/str.h"

static int parse_file(const char *path, struct policy **ret, char ret_hash[SHA256_HEX_SIZE], struct error *err)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r = guard_file_read(path, &text, &len, err);

	if (r < 0)
		return r;
	sha256_hex_of(text, len, ret_hash);
	return policy_parse(path, text, len, ret, err);
}

/* The host's own policy; the built-in one where the file (or its folder) is missing. */
static int load_host_policy(struct policy **ret, char ret_hash[SHA256_HEX_SIZE], struct error *err)
{
	if (access(POLICY_FILE, F_OK) < 0 && errno == ENOENT) {
		struct stat st;

		/* A dangling link is there, and broken. */
		if (lstat(POLICY_FILE, &st) < 0)
			return policy_builtin(ret, err);
	}
	return parse_file(POLICY_FILE, ret, ret_hash, err);
}

int guard_open(const struct container_env *env, const struct str_map *annotations, struct guard *ret, struct error *err)
{
	int r;

	r = load_host_policy(&ret->policy, ret->policy_hash, err);
	if (r < 0)
		return r;
	if ((env->policy || env->profile) && policy_sealed(ret->policy))
		return error_text(err, -EPERM, "policy: --policy and --profile are not allowed: %s is sealed", POLICY_FILE);
	if (env->policy) {
		ret->policy = policy_free(ret->policy);
		r = parse_file(env->policy, &ret->policy, ret->policy_hash, err);
		if (r < 0)
			return r;
	}
	r = policy_select(ret->policy, env->profile, annotations, &ret->profile, err);
	if (r == 0)
		r = policy_request_read(annotations, &ret->arena, &ret->request, err);
	return r;
}

int guard_reopen(int dir_fd, const char *profile, struct guard *ret, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	size_t len;
	int r;

	if (!profile)
		return error_text(err, -EINVAL, "the container's record names no policy profile: it was made by an older "
				  "agentrun; only kill and delete work on it");
	if (policy_profile_fixed(profile)) {
		r = policy_builtin(&ret->policy, err);
	} else {
		r = file_read_all(dir_fd, STATE_POLICY_FILE, POLICY_BYTES_MAX, &text, &len, err);
		if (r == 0)
			r = policy_parse(STATE_POLICY_FILE, text, len, &ret->policy, err);
	}
	if (r == 0)
		r = policy_profile_get(ret->policy, profile, &ret->profile, err);
	return r < 0 ? error_prefix(err, "policy of the container as it was at create") : 0;
}

void guard_done(struct guard *g)
{
	size_t i;

	for (i = 0; i < g->n_sources; i++)
		hostpath_done(&g->sources[i].path);
	policy_verdict_done(&g->verdict);
	g->policy = policy_free(g->policy);
	arena_done(&g->arena);
	*g = GUARD_NULL;
}

/* Names and rules are reported, values never. */
static int note_env_changes(struct guard *g, const struct policy_env_report *report, struct error *err)
{
	size_t i;

	for (i = 0; i < report->count; i++) {
		const struct policy_env_change *c = &report->items[i];
		const char *sentence = policy_env_sentence(c, &g->arena);

		if (!sentence)
			return error_oom(err);
		policy_note(&g->verdict, "environment", c->verdict == POLICY_ENV_REWRITE ? POLICY_CLAMPED : POLICY_DROPPED,
			    c->reason == POLICY_ENV_BY_DENY ? &g->profile.env.deny : &g->profile.env.mode, c->name, sentence);
	}
	return 0;
}

static int narrow_env(struct guard *g, struct spec_process *proc, struct arena *arena, struct error *err)
{
	struct policy_env_rules rules = {
		.only_listed = g->profile.env.mode.n == POLICY_ENV_ALLOWLIST,
		.allow = g->profile.env.allow.list,
		.deny = g->profile.env.deny.list,
	};
	struct policy_env_report report = { 0 };
	char **env;
	size_t n;
	int r;

	if (g->profile.passthrough || g->profile.env.mode.n == POLICY_ENV_OFF)
		return 0;
	r = policy_env_apply(&rules, proc->env.items, proc->env.count, arena, &env, &n, &report, err);
	if (r < 0)
		return r;
	proc->env.items = env;
	proc->env.count = n;
	return note_env_changes(g, &report, err);
}

/* Found here, an oversized list names its variable; the kernel would only say "argument list too long". */
static int check_sizes(const struct spec_process *proc, struct error *err)
{
	struct rlimit stack = { .rlim_cur = RLIM_INFINITY };
	uint64_t limit;
	size_t i;

	if (proc->args.count == 0)
		return 0;
	(void)getrlimit(RLIMIT_STACK, &stack);
	limit = stack.rlim_cur;
	for (i = 0; i < proc->rlimits.count; i++)
		if (proc->rlimits.items[i].type == RLIMIT_STACK)
			limit = proc->rlimits.items[i].soft;
	return policy_env_size_check(NULL, proc->args.items, proc->env.items, limit, err);
}

int guard_narrow(struct guard *g, struct spec *spec, const struct guard_host *host, struct error *err)
{
	struct policy_facts facts;
	int r;

	r = guard_facts(g, spec, host, &g->arena, &facts, err);
	if (r == 0 && !g->profile.passthrough)
		r = guard_narrow_mounts(g, spec, host, err);
	if (r == 0 && spec->process)
		r = narrow_env(g, spec->process, &spec->arena, err);
	if (r == 0)
		r = policy_apply(spec, &g->profile, &g->request, &facts, &g->verdict, err);
	if (r == 0 && spec->process)
		r = check_sizes(spec->process, err);
	return r;
}

int guard_narrow_process(struct guard *g, struct spec_process *proc, struct spec *spec, struct arena *arena,
			 const struct guard_host *host, struct error *err)
{
	struct spec_process *base = spec->process;
	struct policy_facts facts;
	int r;

	r = guard_facts(g, NULL, host, &g->arena, &facts, err);
	if (r == 0)
		r = policy_apply_filter(spec, &g->profile, &facts, &g->verdict, err);
	if (r == 0 && base)
		r = policy_apply_process(base, NULL, arena, &g->profile, &facts, &g->verdict, err);
	if (r == 0)
		r = policy_apply_process(proc, base, arena, &g->profile, &facts, &g->verdict, err);
	if (r == 0)
		r = narrow_env(g, proc, arena, err);
	if (r == 0)
		r = check_sizes(proc, err);
	return r;
}

int guard_narrow_resources(struct guard *g, struct spec_resources *res, struct arena *arena,
			   const struct guard_host *host, struct error *err)
{
	struct policy_facts facts;
	int r = guard_facts(g, NULL, host, &g->arena, &facts, err);

	return r < 0 ? r : policy_apply_resources(res, arena, &g->profile, &facts, &g->verdict, err);
}

int guard_give_sources(struct guard *g, struct plan *plan, struct error *err)
{
	/* The last mount of a plan with notify is our own folder. */
	size_t i, j, n = plan->n_mounts - (plan->notify ? 1 : 0);

	for (i = 0; i < n; i++) {
		struct mount_op *op = &plan->mounts[i];

		if (op->kind != MOUNT_BIND)
			continue;
		for (j = 0; j < g->n_sources && op->source_fd < 0; j++)
			if (op->source == g->sources[j].source)
				op->source_fd = take_fd(&g->sources[j].path.fd);
		if (op->source_fd < 0 && !g->profile.passthrough && !mount_source_in_rootfs(op, plan->rootfs))
			return error_text(err, -EPERM, "policy: mount source %s was not judged, so it is not mounted",
					  op->source);
	}
	return 0;
}

int guard_store(const struct guard *g, int dir_fd, struct error *err)
{
	_cleanup_free_ char *policy = NULL;
	_cleanup_free_ char *verdict = NULL;
	int r;

	r = policy_show(&g->profile, &policy, err);
	if (r == 0)
		r = policy_verdict_json(&g->verdict, &verdict, err);
	if (r == 0)
		r = file_replace(dir_fd, STATE_POLICY_FILE, policy, strlen(policy), 0600, 0, err);
	if (r == 0)
		r = file_replace(dir_fd, STATE_VERDICT_FILE, verdict, strlen(verdict), 0600, 0, err);
	return r;
}

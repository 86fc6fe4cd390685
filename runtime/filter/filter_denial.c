/*
 * Reads a profile directly, rule by rule, to find the one that decided; the compiled program
 * no longer knows. Makes no system call.
 */
#include "filter/filter_denial.h"

#include <assert.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <string.h>

#include "filter/filter_agent_private.h"
#include "util/str.h"

struct filter_denials {
	struct arena arena;
	struct agent_profile *profile;
};

static int find_shipped(const char *name, struct agent_source *ret)
{
	const struct filter_agent_shipped *s;

	for (s = filter_agent_shipped; s->name; s++) {
		if (!str_eq(s->name, name))
			continue;
		*ret = (struct agent_source){ .name = s->name, .text = s->text, .len = s->len };
		return 0;
	}
	return -ENOENT;
}

int filter_denials_new(const char *name, const char *json, size_t len, struct filter_denials **ret, struct error *err)
{
	_cleanup_filter_denials_ struct filter_denials *d = calloc(1, sizeof(*d));
	struct agent_source src = { .name = name, .text = json, .len = len };
	int r;

	assert(name && ret && err);

	if (!d)
		return error_oom(err);
	if (!json && find_shipped(name, &src) < 0)
		return error_text(err, -ENOENT, "there is no seccomp profile \"%s\"", name);
	r = agent_profile_read(&src, find_shipped, FILTER_AGENT_NATIVE, &d->arena, &d->profile, err);
	if (r < 0)
		return r;
	*ret = take_ptr(d);
	return 0;
}

struct filter_denials *filter_denials_free(struct filter_denials *d)
{
	if (d)
		arena_done(&d->arena);
	free(d);
	return NULL;
}

static bool cond_holds(const struct agent_cond *c, uint64_t width, const struct seccomp_data *data)
{
	uint64_t v = data->args[c->index] & width;
	bool holds = false;
	size_t i;

	switch (c->test) {
	case AGENT_ONE_OF:
		for (i = 0; i < c->count && !holds; i++)
			holds = (v & c->mask) == (c->values[i] & c->mask & width);
		break;
	case AGENT_AT_LEAST:
		holds = v >= (c->values[0] & width);
		break;
	case AGENT_MORE_THAN:
		holds = v > (c->values[0] & width);
		break;
	}
	return holds != c->negate;
}

static const struct agent_rule *rule_find(const struct agent_profile *p, const struct filter_syscall *call,
					  const struct seccomp_data *data)
{
	const struct agent_use *u;
	size_t i;

	for (u = p->calls[call - filter_syscalls].uses; u; u = u->next) {
		for (i = 0; i < u->rule->count; i++) {
			const struct agent_cond *c = &u->rule->conds[i];

			if (!cond_holds(c, filter_syscall_arg_mask(call, c->index), data))
				break;
		}
		if (i == u->rule->count)
			return u->rule;
	}
	return NULL;
}

static bool lets(uint32_t action)
{
	action &= SECCOMP_RET_ACTION_FULL;
	return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG;
}

/* As the compiler has it: a call that the profile does not name and is too old to know. */
static uint32_t default_of(const struct agent_profile *p, const struct filter_syscall *call, int nr)
{
	bool named = call && p->calls[call - filter_syscalls].uses;

	if (!call || (!named && !lets(p->default_action) && nr > p->last))
		return SECCOMP_RET_ERRNO | ENOSYS;
	return p->default_action;
}

static void find_allowing(const struct seccomp_data *data, struct filter_denial *ret)
{
	const struct filter_agent_shipped *s;
	size_t len = 0;

	ret->allowed_by[0] = '\0';
	for (s = filter_agent_shipped; s->name; s++) {
		const struct filter f = { .insns = (struct sock_filter *)(uintptr_t)s->insns, .count = s->count };

		if (!lets(filter_verdict(&f, data)) || len + strlen(s->name) + 3 > sizeof(ret->allowed_by))
			continue;
		len += (size_t)snprintf(ret->allowed_by + len, sizeof(ret->allowed_by) - len, "%s%s", len ? ", " : "",
					s->name);
	}
}

int filter_denials_describe(const struct filter_denials *d, const struct seccomp_data *data, struct filter_denial *ret)
{
	const struct agent_profile *p = d->profile;
	const struct filter_syscall *call = data->arch == p->arch ? filter_syscall_by_nr(p->arch, data->nr) : NULL;
	const struct agent_rule *rule = call ? rule_find(p, call, data) : NULL;
	uint32_t action = rule ? rule->action : default_of(p, call, data->nr);

	if (data->arch != p->arch)
		action = SECCOMP_RET_KILL_PROCESS;
	else if (data->nr == -1)
		action = SECCOMP_RET_ALLOW;
	if (lets(action))
		return FILTER_E_ALLOWED;
	*ret = (struct filter_denial){
		.error = (action & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO ? action & SECCOMP_RET_DATA : 0,
		.report = rule && rule->report && !p->silent,
		.profile = rule ? rule->file : "",
		.rule = rule ? (int)rule->place : -1,
		.reason = rule && rule->comment ? rule->comment : "",
	};
	if (call) {
		(void)snprintf(ret->call, sizeof(ret->call), "%s", call->name);
		filter_denial_args(call, data, ret->args, sizeof(ret->args));
	} else {
		(void)snprintf(ret->call, sizeof(ret->call), "%s %d",
			       data->arch != p->arch ? "foreign call" : "call", data->nr);
	}
	find_allowing(data, ret);
	return 0;
}

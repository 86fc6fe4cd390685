/*
 * Applies the rules for the environment in their order and writes the report. Knows no
 * rule itself; makes sure that the report holds names and rules only.
 */
#include <assert.h>
#include <string.h>

#include "policy/policy_env.h"
#include "util/secrets.h"
#include "util/str.h"

#define NAME_SHOWN	128
#define SECRET_NAME_MIN 16 /* shorter ones match no row for tokens */

static const struct enum_entry reason_entries[] = {
	{ "value", POLICY_ENV_BY_VALUE, "its value has the shape of a secret" },
	{ "pointer", POLICY_ENV_BY_POINTER,
	  "it gives access to something outside, or hooks into programs" },
	{ "name", POLICY_ENV_BY_NAME, "its name says that it is a secret" },
	{ "deny", POLICY_ENV_BY_DENY, "the policy denies it" },
	{ "unlisted", POLICY_ENV_BY_LIST, "the policy lets only listed variables pass" },
};
const struct enum_table policy_env_reasons = ENUM_TABLE("reason", reason_entries);

/* One entry on its way. */
struct judged {
	struct secret_text name, value;
	struct secret_name known; /* the name, read */
	enum policy_env_verdict verdict;
	enum policy_env_reason reason;
	const char *rule;
	char *rewritten;
};

/* Always 0, so that it can be the last word. */
static int withhold(struct judged *j, enum policy_env_reason reason, const char *rule)
{
	j->verdict = POLICY_ENV_DROP;
	j->reason = reason;
	j->rule = rule;
	return 0;
}

static const char *listed(const struct strv *list, struct secret_text name, bool wide, bool fold)
{
	size_t i;

	for (i = 0; i < list->count; i++)
		if ((strchr(list->items[i], '*') != NULL) == wide &&
		    secret_match(list->items[i], name, fold))
			return list->items[i];
	return NULL;
}

/* Takes the credentials out of a proxy's URL; 0 or -ENOMEM. */
static int proxy_rewrite(struct judged *j, struct arena *arena)
{
	char *s;

	if (!secret_name_proxy(&j->known) || !memchr(j->value.s, '@', j->value.len))
		return 0;
	s = arena_alloc(arena, j->name.len + 1 + j->value.len + 1);
	if (!s)
		return -ENOMEM;
	memcpy(s, j->name.s, j->name.len);
	s[j->name.len] = '=';
	if (!secret_proxy_strip(j->value, s + j->name.len + 1))
		return 0;
	/* What is left is judged like any value. */
	j->value = (struct secret_text){ s + j->name.len + 1, strlen(s + j->name.len + 1) };
	j->rewritten = s;
	j->verdict = POLICY_ENV_REWRITE;
	j->reason = POLICY_ENV_BY_VALUE;
	j->rule = "proxy-credentials";
	return 0;
}

/* What the lists of the policy say; true: they decide. */
static bool judge_lists(const struct policy_env_rules *rules, struct judged *j, bool *ret_wide)
{
	const char *deny = listed(&rules->deny, j->name, false, true);
	bool allowed = listed(&rules->allow, j->name, false, false);

	*ret_wide = listed(&rules->allow, j->name, true, false);
	if (!deny && !allowed)
		deny = listed(&rules->deny, j->name, true, true);
	if (deny)
		withhold(j, POLICY_ENV_BY_DENY, deny);
	return deny || allowed;
}

static int judge(const struct policy_env_rules *rules, const struct secret_index *ix,
		 struct arena *arena, struct judged *j)
{
	enum secret_standing standing;
	const char *rule, *list;
	bool wide;

	if (judge_lists(rules, j, &wide))
		return 0;
	secret_name_init(ix, &j->known, j->name);
	standing = secret_name_standing(ix, &j->known, &list);
	if (rules->only_listed && !wide && standing != SECRET_BASIC)
		return withhold(j, POLICY_ENV_BY_LIST, "");
	/* A secret in the place of a name, or an entry without a name. */
	rule = j->name.len >= SECRET_NAME_MIN ? secret_value_rule(ix, j->name) : NULL;
	if (rule)
		return withhold(j, POLICY_ENV_BY_VALUE, rule);
	if (proxy_rewrite(j, arena) < 0)
		return -ENOMEM;
	rule = secret_value_rule(ix, j->value);
	if (rule)
		return withhold(j, POLICY_ENV_BY_VALUE, rule);
	/* What points nowhere gives nothing. */
	if (standing == SECRET_POINTER && j->value.len && !secret_is(j->value, "/DEV/NULL"))
		return withhold(j, POLICY_ENV_BY_POINTER, list);
	if (wide || standing == SECRET_BASIC || standing == SECRET_STAYS)
		return 0;
	rule = secret_name_rule(&j->known, j->value);
	return rule ? withhold(j, POLICY_ENV_BY_NAME, rule) : 0;
}

/* The name as it may be shown; a secret in its place must not reach the log. */
static char *name_shown(const struct secret_index *ix, struct secret_text name, size_t index,
			struct arena *arena)
{
	char shown[NAME_SHOWN + 4];
	size_t i, n = 0, len;

	if (!name.len || secret_value_rule(ix, name))
		return arena_printf(arena, "variable %zu", index);
	for (i = 0; i < name.len; i += len) {
		len = str_utf8_len(name.s + i, name.len - i);
		if (n + MAX(len, (size_t)1) > NAME_SHOWN)
			break;
		if (len == 0 || (unsigned char)name.s[i] < 0x20 || name.s[i] == 0x7f) {
			len = 1;
			shown[n++] = '?';
			continue;
		}
		memcpy(shown + n, name.s + i, len);
		n += len;
	}
	return arena_printf(arena, "%.*s%s", (int)n, shown, i < name.len ? "..." : "");
}

int policy_env_apply(const struct policy_env_rules *rules, char *const *env, size_t n,
		     struct arena *arena, char ***ret_env, size_t *ret_n,
		     struct policy_env_report *ret, struct error *err)
{
	struct policy_env_report report = { 0 };
	struct secret_index ix;
	size_t i, kept = 0;
	char **out;

	assert(rules && arena && ret_env && ret_n && ret && (env || n == 0));
	secret_index_init(&ix);
	out = arena_calloc(arena, n + 1, sizeof(*out));
	report.items = arena_calloc(arena, n + 1, sizeof(*report.items));
	if (!out || !report.items)
		return error_oom(err);
	for (i = 0; i < n; i++) {
		const char *equals = strchr(env[i], '=');
		size_t name_len = equals ? (size_t)(equals - env[i]) : strlen(env[i]);
		struct judged j;
		struct policy_env_change *c = &report.items[report.count];

		/* Not cleared whole: it is large, and only what is written is read. */
		j.name = (struct secret_text){ env[i], name_len };
		j.verdict = POLICY_ENV_KEEP;
		j.rewritten = NULL;
		j.value = equals ? (struct secret_text){ equals + 1, strlen(equals + 1) }
				 : (struct secret_text){ env[i] + name_len, 0 };
		if (judge(rules, &ix, arena, &j) < 0)
			return error_oom(err);
		if (j.verdict != POLICY_ENV_DROP)
			out[kept++] = j.rewritten ? j.rewritten : env[i];
		if (j.verdict == POLICY_ENV_KEEP)
			continue;
		*c = (struct policy_env_change){ name_shown(&ix, j.name, i, arena), i, j.verdict,
						 j.reason, j.rule };
		if (!c->name)
			return error_oom(err);
		report.count++;
	}
	*ret_env = out;
	*ret_n = kept;
	*ret = report;
	return 0;
}

const char *policy_env_sentence(const struct policy_env_change *c, struct arena *arena)
{
	const char *why = reason_entries[c->reason].help;

	if (c->verdict == POLICY_ENV_REWRITE)
		return arena_printf(arena,
				    "the credentials in %s were taken out, the rest of it stays",
				    c->name);
	if (c->reason == POLICY_ENV_BY_DENY)
		return arena_printf(arena, "%s was withheld: env.deny holds \"%s\"", c->name,
				    c->rule);
	return arena_printf(
		arena, "%s was withheld: %s%s%s%s; to let it pass, list \"%s\" in env.allow",
		c->name, why, *c->rule ? " (" : "", c->rule, *c->rule ? ")" : "", c->name);
}

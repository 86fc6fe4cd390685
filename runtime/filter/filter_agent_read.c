/*
 * A profile document into rules per call: what it extends, includes and excludes, names into
 * the tables' places, and no two rules that say different things of one call without an
 * order. Owns the meaning of a profile; the code that comes of it is the compiler's.
 */
#include "filter/filter_agent_private.h"

#include <assert.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stdarg.h>

#include "spec/spec.h"
#include "util/log.h"
#include "util/parse.h"
#include "util/str.h"

#define EXTENDS_MAX	   4
#define RULES_MAX	   4096
#define RULES_PER_CALL_MAX 256
/* What every kernel that agentrun runs on has at least. */
#define KERNEL_MAJOR 5
#define KERNEL_MINOR 12

struct reader {
	struct agent_profile *profile;
	struct arena *arena;
	agent_find_fn find;
	const char *name; /* of the file at hand */
	unsigned level;
	bool ordered; /* "match": "first" */
};

static int rule_error(const struct reader *rd, size_t place, struct error *err, const char *fmt,
		      ...) _printf_(4, 5);
static int rule_error(const struct reader *rd, size_t place, struct error *err, const char *fmt,
		      ...)
{
	char text[ERROR_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return error_text(err, -EINVAL, "%s: syscalls[%zu]: %s", rd->name, place, text);
}

static int kernel_at_least(const char *text, bool *ret)
{
	uint32_t major, minor = 0;
	char head[16];
	size_t n = strcspn(text, ".");

	if (n >= sizeof(head))
		return -EINVAL;
	memcpy(head, text, n);
	head[n] = '\0';
	if (parse_u32(head, &major) < 0 || (text[n] && parse_u32(text + n + 1, &minor) < 0))
		return -EINVAL;
	*ret = major < KERNEL_MAJOR || (major == KERNEL_MAJOR && minor <= KERNEL_MINOR);
	return 0;
}

static bool arches_name(const struct strv *arches, uint32_t arch)
{
	/* Docker's files use Go's names. */
	const char *ours = arch == AUDIT_ARCH_X86_64 ? "amd64" : "arm64";
	size_t i;

	for (i = 0; i < arches->count; i++)
		if (str_eq(arches->items[i], ours))
			return true;
	return false;
}

/*
 * Docker's conditions on a rule. No capability is ever taken as present: the agent's filter
 * is the same for every process of a container, and most have none.
 */
static int rule_applies(const struct reader *rd, const struct agent_doc_rule *r, size_t place,
			bool *ret, struct error *err)
{
	const struct agent_doc_when *in = &r->includes, *ex = &r->excludes;
	bool in_kernel = true, ex_kernel = false;

	if ((in->min_kernel && kernel_at_least(in->min_kernel, &in_kernel) < 0) ||
	    (ex->min_kernel && kernel_at_least(ex->min_kernel, &ex_kernel) < 0))
		return rule_error(rd, place, err, "minKernel must be like \"5.4\"");
	if (!in_kernel || (ex->min_kernel && !ex_kernel))
		return rule_error(
			rd, place, err,
			"minKernel later than %d.%d, which would make the filter depend on "
			"the machine: decide, and remove it",
			KERNEL_MAJOR, KERNEL_MINOR);
	*ret = in->caps.count == 0 &&
	       (in->arches.count == 0 || arches_name(&in->arches, rd->profile->arch)) &&
	       !arches_name(&ex->arches, rd->profile->arch) && !ex->min_kernel;
	return 0;
}

/* Smaller is stricter, as in the kernel. */
static int32_t strictness(const struct agent_rule *r)
{
	return (int32_t)(r->action & SECCOMP_RET_ACTION_FULL);
}

static int use_add(struct reader *rd, struct agent_call *call, const struct agent_rule *rule,
		   struct error *err)
{
	struct agent_use **at = &call->uses, *u = arena_alloc(rd->arena, sizeof(*u));
	size_t n = 0;

	if (!u)
		return error_oom(err);
	if (call->level != rd->level) {
		/* A profile's rules for a call take the place of all those it extends. */
		call->level = rd->level;
		call->uses = NULL;
	}
	for (; *at && (rd->ordered || strictness((*at)->rule) <= strictness(rule)); n++)
		at = &(*at)->next;
	if (n >= RULES_PER_CALL_MAX)
		return rule_error(rd, rule->place, err, "more than %d rules for one call",
				  RULES_PER_CALL_MAX);
	u->rule = rule;
	u->next = *at;
	*at = u;
	return 0;
}

static int rule_name(struct reader *rd, const struct agent_rule *rule, const char *name,
		     struct error *err)
{
	const struct filter_syscall *s = filter_syscall_by_name(name);
	bool lets = rule->action == SECCOMP_RET_ALLOW || rule->action == SECCOMP_RET_LOG;
	struct agent_profile *p = rd->profile;
	char why[200];
	int nr;

	if (!s) {
		if (filter_syscall_foreign(name))
			return 0;
		/* Not known means not let through, so there is nothing to lose. */
		if (lets) {
			log_debugf("%s: syscalls[%zu]: unknown syscall \"%s\" stays closed",
				   rd->name, rule->place, name);
			return 0;
		}
		return rule_error(rd, rule->place, err,
				  "unknown syscall \"%s\" in a rule that denies: correct the name "
				  "(calls that agentrun does not know are denied anyway)",
				  name);
	}
	if (!agent_conds_fit(rule, s, why, sizeof(why)))
		return rule_error(rd, rule->place, err, "%s", why);
	nr = filter_syscall_nr(s, p->arch);
	if (nr < 0)
		return 0;
	p->last = MAX(p->last, nr);
	return use_add(rd, &p->calls[s - filter_syscalls], rule, err);
}

/* " (\"EWRONG\")" where the word is what is wrong. */
static const char *unknown_errno(const char *word, char buf[64])
{
	uint32_t value;

	if (!word || agent_errno_value(word, &value) == 0)
		return "";
	(void)snprintf(buf, 64, " (\"%.40s\")", word);
	return buf;
}

static int rule_read(struct reader *rd, const struct agent_doc_rule *r, size_t place,
		     struct error *err)
{
	struct agent_rule *rule = arena_alloc(rd->arena, sizeof(*rule));
	bool applies = false;
	const char *wrong;
	char why[200], text[64];
	size_t i;
	int code;

	if (!rule)
		return error_oom(err);
	rule->place = place;
	rule->file = rd->name;
	rule->comment = r->comment;
	rule->report = r->report;
	wrong = agent_action_value(r->action, &r->errno_ret, r->errno_name, &rule->action);
	if (!wrong && r->report && r->action != SPEC_SECCOMP_ERRNO)
		wrong = "report is for SCMP_ACT_ERRNO only";
	if (wrong)
		return rule_error(rd, place, err, "%s%s", wrong, unknown_errno(r->errno_name, text));
	code = agent_conds_make(r, rd->arena, rule, why, sizeof(why));
	if (code == -ENOMEM)
		return error_oom(err);
	if (code < 0)
		return rule_error(rd, place, err, "args: %s", why);
	code = rule_applies(rd, r, place, &applies, err);
	for (i = 0; code == 0 && applies && i < r->names.count; i++)
		code = rule_name(rd, rule, r->names.items[i], err);
	return code;
}

static bool conds_equal(const struct agent_rule *a, const struct agent_rule *b)
{
	size_t i;

	if (a->count != b->count)
		return false;
	for (i = 0; i < a->count; i++) {
		const struct agent_cond *x = &a->conds[i], *y = &b->conds[i];

		if (x->index != y->index || x->test != y->test || x->negate != y->negate ||
		    x->mask != y->mask || x->count != y->count ||
		    memcmp(x->values, y->values, x->count * sizeof(*x->values)) != 0)
			return false;
	}
	return true;
}

/* Two rules of one call, a before b in the order in which they are tried. */
static int pair_check(const struct reader *rd, const char *call, const struct agent_rule *a,
		      const struct agent_rule *b, struct error *err)
{
	size_t later = MAX(a->place, b->place), earlier = MIN(a->place, b->place);

	if (a->action == b->action)
		return 0;
	if (conds_equal(a, b))
		return rule_error(rd, later, err,
				  "\"%s\" has the same conditions as in syscalls[%zu] but another "
				  "action",
				  call, earlier);
	if (rd->ordered ? a->count == 0 : a->count == 0 || b->count == 0)
		return rule_error(
			rd, later, err, "\"%s\" contradicts syscalls[%zu], which decides it %s%s",
			call, earlier, rd->ordered ? "already" : "otherwise",
			rd->ordered ? "" : ": say \"match\": \"first\" if the order decides");
	return 0;
}

static int calls_check(struct reader *rd, struct error *err)
{
	const struct agent_use *a, *b;
	size_t i;
	int r;

	for (i = 0; i < FILTER_SYSCALLS; i++) {
		struct agent_call *call = &rd->profile->calls[i];

		if (call->level != rd->level)
			continue;
		for (a = call->uses; a; a = a->next) {
			for (b = a->next; b; b = b->next) {
				r = pair_check(rd, filter_syscalls[i].name, a->rule, b->rule, err);
				if (r < 0)
					return r;
			}
		}
	}
	return 0;
}

static int flags_read(const struct reader *rd, const struct strv *names, unsigned *ret,
		      struct error *err)
{
	unsigned flags = 0;
	uint64_t bits;
	size_t i;

	for (i = 0; i < names->count; i++) {
		if (enum_from_name(&spec_seccomp_flag_table, names->items[i], &bits) < 0 ||
		    (bits & ~(uint64_t)(SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_LOG |
					SECCOMP_FILTER_FLAG_SPEC_ALLOW)))
			return error_text(err, -EINVAL,
					  "%s: flags[%zu]: %s is not for agent profiles", rd->name,
					  i, names->items[i]);
		/* One thread loads, and execve ends all others. */
		flags |= (unsigned)bits & ~(unsigned)SECCOMP_FILTER_FLAG_TSYNC;
	}
	*ret = flags;
	return 0;
}

static int profile_read(struct reader *rd, const struct agent_source *src, unsigned left,
			struct error *err);

static int base_read(struct reader *rd, const char *base, unsigned left, struct error *err)
{
	struct agent_source src;

	if (left == 0)
		return error_text(err, -EINVAL, "%s: extends: more than %d profiles deep", rd->name,
				  EXTENDS_MAX);
	if (!rd->find || rd->find(base, &src) < 0)
		return error_text(err, -EINVAL, "%s: extends: there is no shipped profile \"%s\"",
				  rd->name, base);
	return profile_read(rd, &src, left - 1, err);
}

static int head_read(struct reader *rd, const struct agent_doc *doc, struct error *err)
{
	struct agent_profile *p = rd->profile;
	const char *wrong;
	char text[64];

	if (doc->rules.count > RULES_MAX)
		return error_text(err, -E2BIG, "%s: more than %d rules", rd->name, RULES_MAX);
	p->silent = doc->silent;
	/* As for the specification's filter: nothing said, no speculation barriers. */
	if (doc->flags.set || !doc->extends) {
		p->flags = SECCOMP_FILTER_FLAG_SPEC_ALLOW;
		if (doc->flags.set && flags_read(rd, &doc->flags, &p->flags, err) < 0)
			return err->code;
	}
	if (doc->default_action == AGENT_UNSET) {
		if (!doc->extends)
			return error_text(err, -EINVAL, "%s: defaultAction is required", rd->name);
		if (doc->default_errno_ret.set || doc->default_errno)
			return error_text(err, -EINVAL, "%s: a default errno needs a defaultAction",
					  rd->name);
		return 0;
	}
	wrong = agent_action_value(doc->default_action, &doc->default_errno_ret, doc->default_errno,
			     &p->default_action);
	return wrong ? error_text(err, -EINVAL, "%s: defaultAction: %s%s", rd->name, wrong,
				  unknown_errno(doc->default_errno, text)) :
		       0;
}

static int profile_read(struct reader *rd, const struct agent_source *src, unsigned left,
			struct error *err)
{
	const struct agent_doc_rule *rules;
	struct agent_doc doc;
	size_t i;
	int r;

	r = agent_doc_parse(src, rd->arena, &doc, err);
	if (r < 0)
		return r;
	rd->name = src->name;
	if (doc.extends) {
		r = base_read(rd, doc.extends, left, err);
		if (r < 0)
			return r;
	}
	rd->name = src->name;
	rd->level++;
	rd->ordered = doc.match == AGENT_MATCH_FIRST;
	r = head_read(rd, &doc, err);
	rules = doc.rules.items;
	for (i = 0; r == 0 && i < doc.rules.count; i++)
		r = rule_read(rd, &rules[i], i, err);
	return r < 0 ? r : calls_check(rd, err);
}

int agent_profile_read(const struct agent_source *src, agent_find_fn find, uint32_t arch,
		       struct arena *arena, struct agent_profile **ret, struct error *err)
{
	struct reader rd = { .arena = arena, .find = find };
	int r;

	assert(src && arena && ret && err);

	if (!filter_syscall_arch_known(arch))
		return error_text(err, -EINVAL, "%s: no agent profiles for this architecture (%#x)",
				  src->name, arch);
	rd.profile = arena_alloc(arena, sizeof(*rd.profile));
	if (!rd.profile)
		return error_oom(err);
	rd.profile->arch = arch;
	rd.profile->last = -1;
	r = profile_read(&rd, src, EXTENDS_MAX, err);
	if (r < 0)
		return r;
	*ret = rd.profile;
	return 0;
}

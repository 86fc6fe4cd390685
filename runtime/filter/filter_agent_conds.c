/*
 * Conditions of one rule: the document's comparisons into "one of", "at least", "more than"
 * and their opposites, and whether a call's arguments are wide enough for them. What is
 * doubtful is refused: a rule that people read differently from the kernel is worse than none.
 */
#include "filter/filter_agent_private.h"

#include <inttypes.h>
#include <linux/seccomp.h>
#include <stdarg.h>

#include "spec/spec.h"
#include "util/str.h"

static int doubt(char *why, size_t size, const char *fmt, ...) _printf_(3, 4);
static int doubt(char *why, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(why, size, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

/* The values that the masked argument is compared with. */
static int wanted(const struct agent_doc_arg *a, bool masked, const struct opt_u64 *single,
		  struct agent_cond *c, struct arena *arena, char *why, size_t size)
{
	uint64_t *one;
	size_t i;

	if (a->values.set == single->set && !(masked && !single->set && !a->values.set))
		return doubt(why, size, "takes %s or \"values\", one of them",
			     masked ? "\"valueTwo\"" : "\"value\"");
	if (a->values.set) {
		c->values = a->values.items;
		c->count = a->values.count;
	} else {
		one = arena_alloc(arena, sizeof(*one));
		if (!one)
			return -ENOMEM;
		/* runtime-spec: valueTwo is 0 when it is not there. */
		*one = single->set ? single->value : 0;
		c->values = one;
		c->count = 1;
	}
	for (i = 0; masked && i < c->count; i++)
		if (c->values[i] & ~c->mask)
			return doubt(why, size,
				     "never holds: %#" PRIx64 " has bits outside of the mask "
				     "%#" PRIx64,
				     c->values[i], c->mask);
	return 0;
}

static int cond_make(const struct agent_doc_arg *a, struct agent_cond *c, struct arena *arena,
		     char *why, size_t size)
{
	*c = (struct agent_cond){ .index = a->index, .mask = UINT64_MAX };
	if (a->index >= FILTER_SYSCALL_ARGS)
		return doubt(why, size, "index %" PRIu32 " is not 0..5", a->index);
	if (a->op == SPEC_SECCOMP_MASKED_EQ) {
		if (!a->value.set || a->value.value == 0)
			return doubt(why, size, "\"value\" must be the mask, not 0");
		c->mask = a->value.value;
		return wanted(a, true, &a->value_two, c, arena, why, size);
	}
	if (a->value_two.set && a->value_two.value != 0)
		return doubt(why, size, "\"valueTwo\" is for SCMP_CMP_MASKED_EQ only");
	if (a->values.set && a->op != SPEC_SECCOMP_EQ && a->op != SPEC_SECCOMP_NE)
		return doubt(why, size, "\"values\" are for SCMP_CMP_EQ, _NE and _MASKED_EQ only");
	switch (a->op) {
	case SPEC_SECCOMP_NE:
	case SPEC_SECCOMP_EQ:
		c->negate = a->op == SPEC_SECCOMP_NE;
		break;
	case SPEC_SECCOMP_LT:
	case SPEC_SECCOMP_GE:
		c->test = AGENT_AT_LEAST;
		c->negate = a->op == SPEC_SECCOMP_LT;
		break;
	default:
		c->test = AGENT_MORE_THAN;
		c->negate = a->op == SPEC_SECCOMP_LE;
	}
	return wanted(a, false, &a->value, c, arena, why, size);
}

int agent_conds_make(const struct agent_doc_rule *r, struct arena *arena, struct agent_rule *ret,
		     char *why, size_t why_size)
{
	const struct agent_doc_arg *args = r->args.items;
	struct agent_cond *conds;
	unsigned seen = 0;
	size_t i;
	int code;

	conds = arena_calloc(arena, r->args.count + 1, sizeof(*conds));
	if (!conds)
		return -ENOMEM;
	for (i = 0; i < r->args.count; i++) {
		code = cond_make(&args[i], &conds[i], arena, why, why_size);
		if (code < 0)
			return code;
		/* Engines read two conditions on one argument as "either", people as "both". */
		if (seen & 1u << args[i].index)
			return doubt(why, why_size,
				     "argument %" PRIu32 " has two conditions: use \"values\" or a "
				     "rule for each",
				     args[i].index);
		seen |= 1u << args[i].index;
	}
	ret->conds = conds;
	ret->count = r->args.count;
	return 0;
}

/* Negative numbers are written with their sign extended to 64 bits. */
static bool fits(uint64_t value, uint64_t mask)
{
	return (value & ~mask) == 0 ||
	       ((value | mask) == UINT64_MAX && (value & (mask ^ mask >> 1)));
}

bool agent_conds_fit(const struct agent_rule *r, const struct filter_syscall *s, char *why,
		     size_t why_size)
{
	size_t i, j;

	for (i = 0; i < r->count; i++) {
		const struct agent_cond *c = &r->conds[i];
		uint64_t mask;

		if (c->index >= strlen(s->args)) {
			(void)doubt(why, why_size,
				    "%s takes %zu arguments: there is no number %" PRIu32, s->name,
				    strlen(s->args), c->index);
			return false;
		}
		mask = filter_syscall_arg_mask(s, c->index);
		if (c->mask != UINT64_MAX && (c->mask & mask) == 0) {
			(void)doubt(why, why_size,
				    "the kernel takes argument %" PRIu32 " of %s as %s "
				    "bits: the mask has none of them",
				    c->index, s->name, mask == UINT16_MAX ? "16" : "32");
			return false;
		}
		for (j = 0; j < c->count; j++) {
			if (fits(c->values[j], mask))
				continue;
			(void)doubt(why, why_size,
				    "the kernel takes argument %" PRIu32 " of %s as %s "
				    "bits: %#" PRIx64 " does not fit",
				    c->index, s->name, mask == UINT16_MAX ? "16" : "32",
				    c->values[j]);
			return false;
		}
	}
	return true;
}

const char *agent_action_value(uint64_t action, const struct opt_u32 *number, const char *word, uint32_t *ret)
{
	static const uint32_t plain[] = {
		[SPEC_SECCOMP_KILL_THREAD] = SECCOMP_RET_KILL_THREAD,
		[SPEC_SECCOMP_KILL_PROCESS] = SECCOMP_RET_KILL_PROCESS,
		[SPEC_SECCOMP_TRAP] = SECCOMP_RET_TRAP,
		[SPEC_SECCOMP_ALLOW] = SECCOMP_RET_ALLOW,
		[SPEC_SECCOMP_LOG] = SECCOMP_RET_LOG,
	};
	uint32_t value = EPERM, named;

	if (action == SPEC_SECCOMP_NOTIFY || action == SPEC_SECCOMP_TRACE)
		return "an agent profile cannot hand decisions to another process: use "
		       "SCMP_ACT_ERRNO";
	if (action != SPEC_SECCOMP_ERRNO) {
		if (number->set || word)
			return "an errno is for SCMP_ACT_ERRNO only";
		*ret = plain[action];
		return NULL;
	}
	if (number->set)
		value = number->value;
	if (word) {
		if (agent_errno_value(word, &named) < 0)
			return "unknown errno name: write its number as errnoRet";
		if (number->set && named != value)
			return "the errno's name and number are different ones";
		value = named;
	}
	/* MAX_ERRNO: the kernel cuts larger ones. */
	if (value > 4095)
		return "the errno must be at most 4095";
	*ret = SECCOMP_RET_ERRNO | value;
	return NULL;
}

/*
 * Translates the specification's seccomp words into numbers of libseccomp and the
 * kernel. Owns no state and makes no decision about rules.
 */
#include "filter/filter_private.h"

#include <assert.h>
#include <ctype.h>

#include "util/str.h"

/*
 * libseccomp refuses 4095 although the kernel would take it; the trace value is a
 * cookie of 16 bits for the tracer.
 */
#define ERRNO_VALUE_MAX 4094u
#define TRACE_VALUE_MAX 0xffffu

static const char *action_name(uint64_t action)
{
	const char *name = enum_to_name(&spec_seccomp_action_table, action);

	return name ? name : "unknown";
}

static int action_with_value(uint64_t action, const struct opt_u32 *errno_ret, uint32_t *ret,
			     struct error *err)
{
	uint32_t max = action == SPEC_SECCOMP_ERRNO ? ERRNO_VALUE_MAX : TRACE_VALUE_MAX;
	/* runtime-spec: EPERM when none is given. */
	uint32_t value = errno_ret->set ? errno_ret->value : EPERM;

	if (value > max)
		return error_text(err, -EINVAL, "errnoRet %u is too large for %s (at most %u)",
				  value, action_name(action), max);
	*ret = action == SPEC_SECCOMP_ERRNO ? SCMP_ACT_ERRNO(value) : SCMP_ACT_TRACE(value);
	return 0;
}

static const uint32_t plain_actions[] = {
	[SPEC_SECCOMP_KILL_THREAD] = SCMP_ACT_KILL_THREAD,
	[SPEC_SECCOMP_KILL_PROCESS] = SCMP_ACT_KILL_PROCESS,
	[SPEC_SECCOMP_TRAP] = SCMP_ACT_TRAP,
	[SPEC_SECCOMP_ALLOW] = SCMP_ACT_ALLOW,
	[SPEC_SECCOMP_LOG] = SCMP_ACT_LOG,
	[SPEC_SECCOMP_NOTIFY] = SCMP_ACT_NOTIFY,
};

int filter_action(uint64_t action, const struct opt_u32 *errno_ret, uint32_t *ret,
		  struct error *err)
{
	if (action == SPEC_SECCOMP_ERRNO || action == SPEC_SECCOMP_TRACE)
		return action_with_value(action, errno_ret, ret, err);
	if (action >= ELEMENTSOF(plain_actions))
		return error_text(err, -EINVAL, "unknown action %llu", (unsigned long long)action);
	if (errno_ret->set)
		return error_text(err, -EINVAL, "errnoRet has no meaning with %s: remove it",
				  action_name(action));
	*ret = plain_actions[action];
	return 0;
}

int filter_op(uint64_t op, enum scmp_compare *ret)
{
	static const enum scmp_compare ops[] = {
		[SPEC_SECCOMP_NE] = SCMP_CMP_NE,
		[SPEC_SECCOMP_LT] = SCMP_CMP_LT,
		[SPEC_SECCOMP_LE] = SCMP_CMP_LE,
		[SPEC_SECCOMP_EQ] = SCMP_CMP_EQ,
		[SPEC_SECCOMP_GE] = SCMP_CMP_GE,
		[SPEC_SECCOMP_GT] = SCMP_CMP_GT,
		[SPEC_SECCOMP_MASKED_EQ] = SCMP_CMP_MASKED_EQ,
	};

	if (op >= ELEMENTSOF(ops))
		return -EINVAL;
	*ret = ops[op];
	return 0;
}

/*
 * Asking the library instead of keeping a table makes every architecture that a newer
 * libseccomp brings usable without a change here. Its names are the constants' in lower case.
 */
int filter_arch(const char *name, uint32_t *ret_token)
{
	const char *tail = str_after(name, "SCMP_ARCH_");
	char lower[32];
	uint32_t token;
	size_t i;

	if (!tail || strlen(tail) >= sizeof(lower))
		return -ENOENT;
	for (i = 0; tail[i]; i++)
		lower[i] = (char)tolower((unsigned char)tail[i]);
	lower[i] = '\0';

	token = seccomp_arch_resolve_name(lower);
	if (token == 0)
		return -ENOENT;
	*ret_token = token;
	return 0;
}

int filter_flag(const char *name, unsigned *ret_bits)
{
	uint64_t bits;
	int r;

	assert(name);
	r = enum_from_name(&spec_seccomp_flag_table, name, &bits);
	if (r < 0)
		return r;
	/* TSYNC: one thread loads, and execve ends all others; there is nothing to synchronise. */
	*ret_bits = (unsigned)bits & ~(unsigned)SECCOMP_FILTER_FLAG_TSYNC;
	return 0;
}

const char *filter_library_version(void)
{
	/* "65535.65535.65535" fits; written with the same bytes on every call. */
	static char text[24];
	const struct scmp_version *v = seccomp_version();

	(void)snprintf(text, sizeof(text), "%u.%u.%u", v->major, v->minor, v->micro);
	return text;
}

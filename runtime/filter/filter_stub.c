/*
 * The ENOSYS prologue. C libraries try a new call first and fall back to an old one
 * only on ENOSYS; a filter that answers EPERM to calls which did not exist when it was
 * written breaks them. So calls above the largest one that the profile names get
 * ENOSYS before the program proper is asked. Pure: knows instructions, not profiles.
 */
#include "filter/filter_private.h"

#include <assert.h>
#include <linux/audit.h>
#include <stddef.h>
#include <string.h>

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define JUMP(op, value, jt, jf) BPF_JUMP(BPF_JMP | (op) | BPF_K, (value), (jt), (jf))
#define RETURN_ENOSYS BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS)
/* Out of the prologue; the distance is filled in when its length is known. */
#define JUMP_OUT BPF_STMT(BPF_JMP | BPF_JA, 0)

static bool is_jump_out(const struct sock_filter *i)
{
	return i->code == (BPF_JMP | BPF_JA);
}

/* No number is larger than this one, so the comparison never holds. */
static uint32_t limit_or_never(int64_t nr)
{
	return nr < 0 ? UINT32_MAX : (uint32_t)nr;
}

/* Entered with the call's architecture in the accumulator; left untouched when it is another. */
static size_t section_plain(const struct filter_last *l, struct sock_filter *out)
{
	const struct sock_filter code[] = {
		JUMP(BPF_JEQ, l->audit_arch, 0, 4),
		LOAD(nr),
		JUMP(BPF_JGT, limit_or_never(l->nr), 0, 1),
		RETURN_ENOSYS,
		JUMP_OUT,
	};

	memcpy(out, code, sizeof(code));
	return ELEMENTSOF(code);
}

/* Two call tables share AUDIT_ARCH_X86_64; a bit in the number tells them apart. */
static size_t section_x86_64(const struct filter_last *l, struct sock_filter *out)
{
	const struct sock_filter code[] = {
		JUMP(BPF_JEQ, l->audit_arch, 0, 6),
		LOAD(nr),
		JUMP(BPF_JGE, FILTER_X32_BIT, 1, 0),
		JUMP(BPF_JGT, limit_or_never(l->nr), 1, 2),
		JUMP(BPF_JGT, limit_or_never(l->x32_nr), 0, 1),
		RETURN_ENOSYS,
		JUMP_OUT,
	};

	memcpy(out, code, sizeof(code));
	return ELEMENTSOF(code);
}

/*
 * s390 passes large call numbers in a register: for a number that the kernel does not know
 * the filter sees 0, which is otherwise setup(2), gone for decades.
 */
static size_t section_s390(const struct filter_last *l, struct sock_filter *out)
{
	const struct sock_filter code[] = {
		JUMP(BPF_JEQ, l->audit_arch, 0, 5),
		LOAD(nr),
		JUMP(BPF_JEQ, 0, 1, 0),
		JUMP(BPF_JGT, limit_or_never(l->nr), 0, 1),
		RETURN_ENOSYS,
		JUMP_OUT,
	};

	memcpy(out, code, sizeof(code));
	return ELEMENTSOF(code);
}

size_t filter_stub_build(const struct filter_last *archs, size_t count,
			 struct sock_filter out[FILTER_STUB_MAX])
{
	size_t i, n = 0;

	assert(count <= FILTER_ARCHS_MAX);

	out[n++] = (struct sock_filter)LOAD(arch);
	for (i = 0; i < count; i++) {
		const struct filter_last *l = &archs[i];

		if (l->nr < 0 && l->x32_nr < 0)
			continue;
		if (l->audit_arch == AUDIT_ARCH_X86_64)
			n += section_x86_64(l, out + n);
		else if (l->audit_arch == AUDIT_ARCH_S390 || l->audit_arch == AUDIT_ARCH_S390X)
			n += section_s390(l, out + n);
		else
			n += section_plain(l, out + n);
	}
	if (n == 1)
		return 0;
	for (i = 0; i < n; i++)
		if (is_jump_out(&out[i]))
			out[i].k = (uint32_t)(n - i - 1);
	return n;
}

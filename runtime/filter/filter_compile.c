/*
 * The specification's profile into instructions: rules through libseccomp, the ENOSYS
 * prologue before them. Owns the meaning of a profile; loading and storing are
 * elsewhere. Never asks the running kernel, so that a compiled program is a function of
 * the profile and the library alone and can be kept.
 */
#include "filter/filter_private.h"

#include <assert.h>
#include <linux/audit.h>
#include <string.h>
#include <sys/mman.h>

#include "util/fd.h"
#include "util/log.h"
#include "util/str.h"

/*
 * From this many rules on libseccomp builds a binary tree instead of a chain. With no
 * rules at all its trees are wrong (up to 2.5.4), hence a count of rules really added.
 */
#define OPTIMIZE_FROM 32
#define SYSCALL_ARGS 6
/* seccomp_api_set(): actions NOTIFY, LOG and KILL_PROCESS; all of them older than Linux 5.12. */
#define API_LEVEL 6

struct build {
	const struct spec_seccomp *profile;
	bool fail_unknown;
	scmp_filter_ctx ctx;
	uint32_t default_action;
	size_t rules;
	uint32_t archs[FILTER_ARCHS_MAX]; /* libseccomp's tokens */
	size_t n_archs;
};

static void build_done(struct build *b)
{
	if (b->ctx)
		seccomp_release(b->ctx);
}
#define _cleanup_build_ _cleanup_(build_done)

static int name_check(const struct build *b, size_t rule, const char *name, struct error *err)
{
	if (!b->fail_unknown) {
		log_debugf("seccomp: unknown syscall \"%s\" skipped", name);
		return 0;
	}
	return error_text(err, -EINVAL, "seccomp: syscalls[%zu]: unknown syscall \"%s\"", rule,
			  name);
}

static int rule_conditions(const struct spec_seccomp_args *args, size_t rule,
			   struct scmp_arg_cmp **ret, bool *ret_split, struct error *err)
{
	_cleanup_free_ struct scmp_arg_cmp *cmp = NULL;
	unsigned seen[SYSCALL_ARGS] = { 0 };
	bool split = false;
	size_t i;

	cmp = calloc(args->count + 1, sizeof(*cmp));
	if (!cmp)
		return error_oom(err);
	for (i = 0; i < args->count; i++) {
		const struct spec_seccomp_arg *a = &args->items[i];

		if (a->index >= SYSCALL_ARGS)
			return error_text(err, -EINVAL,
					  "seccomp: syscalls[%zu].args[%zu]: index %u is not 0..5",
					  rule, i, a->index);
		if (filter_op(a->op, &cmp[i].op) < 0)
			return error_text(err, -EINVAL,
					  "seccomp: syscalls[%zu].args[%zu]: unknown operator",
					  rule, i);
		cmp[i].arg = a->index;
		/* For MASKED_EQ the mask comes first, in both conventions. */
		cmp[i].datum_a = a->value;
		cmp[i].datum_b = a->value_two;
		if (seen[a->index]++ > 0)
			split = true;
	}
	*ret = take_ptr(cmp);
	*ret_split = split;
	return 0;
}

static int rule_failed(struct error *err, int code, size_t rule, const char *name)
{
	if (code == -EEXIST)
		return error_text(err, -EINVAL,
				  "seccomp: syscalls[%zu]: \"%s\" has the same conditions as an "
				  "earlier rule but another action",
				  rule, name);
	return error_set(err, code, "seccomp: syscalls[%zu]: adding a rule for \"%s\"", rule, name);
}

/*
 * Conditions on different arguments must all hold. libseccomp takes only one condition per
 * argument; for more of them runc and crun make each condition a rule of its own (any may
 * hold), which profiles have come to rely on.
 */
static int rule_add_name(struct build *b, size_t rule, const char *name, uint32_t action,
			 const struct scmp_arg_cmp *cmp, bool split, struct error *err)
{
	const struct spec_seccomp_args *args = &b->profile->syscalls.items[rule].args;
	size_t i, each = split ? 1 : args->count;
	int nr, r;

	nr = seccomp_syscall_resolve_name(name);
	if (nr == __NR_SCMP_ERROR)
		return name_check(b, rule, name, err);
	i = 0;
	do {
		r = seccomp_rule_add_array(b->ctx, action, nr, (unsigned)each, cmp + i);
		if (r < 0)
			return rule_failed(err, r, rule, name);
		b->rules++;
		i += each;
	} while (i < args->count);
	return 0;
}

static int rule_add(struct build *b, size_t rule, struct error *err)
{
	const struct spec_seccomp_rule *s = &b->profile->syscalls.items[rule];
	_cleanup_free_ struct scmp_arg_cmp *cmp = NULL;
	uint32_t action;
	bool split = false;
	size_t i;
	int r;

	r = filter_action(s->action, &s->errno_ret, &action, err);
	if (r < 0)
		return error_prefix(err, "seccomp: syscalls[%zu]", rule);
	r = rule_conditions(&s->args, rule, &cmp, &split, err);
	if (r < 0)
		return r;
	for (i = 0; i < s->names.count; i++) {
		const char *name = s->names.items[i];

		if (action == SCMP_ACT_NOTIFY && str_eq(name, "write"))
			return error_text(err, -EINVAL,
					  "seccomp: SCMP_ACT_NOTIFY cannot be used for the write "
					  "syscall");
		/* It says what happens anyway; libseccomp would refuse it. */
		if (action == b->default_action)
			continue;
		r = rule_add_name(b, rule, name, action, cmp, split, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static void arch_remember(struct build *b, uint32_t token)
{
	if (b->n_archs < FILTER_ARCHS_MAX)
		b->archs[b->n_archs++] = token;
}

/* An architecture left out is not let through: its calls kill the caller. */
static int archs_add(struct build *b, struct error *err)
{
	const struct strv *names = &b->profile->architectures;
	uint32_t token;
	size_t i;
	int r;

	arch_remember(b, seccomp_arch_native());
	for (i = 0; i < names->count; i++) {
		if (filter_arch(names->items[i], &token) < 0) {
			log_debugf("seccomp: architecture %s is not known to libseccomp %s",
				   names->items[i], filter_library_version());
			continue;
		}
		r = seccomp_arch_add(b->ctx, token);
		if (r == -EEXIST)
			continue;
		/* Another byte order: no program of this kernel can be of that architecture. */
		if (r == -EDOM) {
			log_debugf("seccomp: architecture %s cannot occur here", names->items[i]);
			continue;
		}
		if (r < 0)
			return error_set(err, r, "seccomp: adding architecture %s",
					 names->items[i]);
		arch_remember(b, token);
	}
	return 0;
}

static int64_t last_named(const struct spec_seccomp *p, uint32_t arch)
{
	int64_t last = -1;
	size_t i, j;
	int nr;

	for (i = 0; i < p->syscalls.count; i++) {
		for (j = 0; j < p->syscalls.items[i].names.count; j++) {
			nr = seccomp_syscall_resolve_name_arch(
				arch, p->syscalls.items[i].names.items[j]);
			/* Negative: not in that table, or only under a multiplexer. */
			if (nr >= 0 && nr > last)
				last = nr;
		}
	}
	return last;
}

static struct filter_last *last_slot(struct filter_last *items, size_t *count, uint32_t audit_arch)
{
	size_t i;

	for (i = 0; i < *count; i++)
		if (items[i].audit_arch == audit_arch)
			return &items[i];
	items[*count] = (struct filter_last){ .audit_arch = audit_arch, .nr = -1, .x32_nr = -1 };
	return &items[(*count)++];
}

/* ALLOW and LOG let new calls through, a tracer answers them itself, ENOSYS needs no help. */
static bool stub_wanted(uint32_t default_action)
{
	return default_action != SCMP_ACT_ALLOW && default_action != SCMP_ACT_LOG &&
	       (default_action & 0xffff0000u) != SCMP_ACT_TRACE(0) &&
	       default_action != SCMP_ACT_ERRNO(ENOSYS);
}

static size_t stub_make(const struct build *b, struct sock_filter *out)
{
	struct filter_last last[FILTER_ARCHS_MAX];
	size_t i, n = 0;

	if (!stub_wanted(b->default_action))
		return 0;
	for (i = 0; i < b->n_archs; i++) {
		uint32_t arch = b->archs[i];

		if (arch == SCMP_ARCH_X32)
			last_slot(last, &n, AUDIT_ARCH_X86_64)->x32_nr =
				last_named(b->profile, arch);
		else
			last_slot(last, &n, arch)->nr = last_named(b->profile, arch);
	}
	return filter_stub_build(last, n, out);
}

static int program_export(scmp_filter_ctx ctx, char **ret, size_t *ret_len, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	int r;

	fd = memfd_create("seccomp", MFD_CLOEXEC);
	if (fd < 0)
		return error_set(err, -errno, "seccomp: memfd_create");
	r = seccomp_export_bpf(ctx, fd);
	if (r < 0)
		return error_set(err, r, "seccomp: libseccomp could not produce the program");
	if (lseek(fd, 0, SEEK_SET) < 0)
		return error_set(err, -errno, "seccomp: seek in the program");
	r = fd_read_all(fd, BPF_MAXINSNS * sizeof(struct sock_filter), ret, ret_len);
	if (r == -EFBIG)
		return error_text(err, -E2BIG,
				  "seccomp: the program has more than %d instructions: use fewer "
				  "rules or architectures",
				  BPF_MAXINSNS);
	if (r < 0)
		return error_set(err, r, "seccomp: read the program");
	return 0;
}

static int program_join(const struct build *b, struct sock_filter **ret, size_t *ret_count,
			struct error *err)
{
	struct sock_filter stub[FILTER_STUB_MAX];
	_cleanup_free_ struct sock_filter *insns = NULL;
	_cleanup_free_ char *body = NULL;
	size_t n_stub, n_body, len;
	int r;

	r = program_export(b->ctx, &body, &len, err);
	if (r < 0)
		return r;
	n_stub = stub_make(b, stub);
	n_body = len / sizeof(*insns);
	if (n_stub + n_body > BPF_MAXINSNS)
		return error_text(err, -E2BIG,
				  "seccomp: the program has %zu instructions, the kernel takes %d: "
				  "use fewer rules or architectures",
				  n_stub + n_body, BPF_MAXINSNS);
	insns = malloc((n_stub + n_body) * sizeof(*insns));
	if (!insns)
		return error_oom(err);
	memcpy(insns, stub, n_stub * sizeof(*insns));
	memcpy(insns + n_stub, body, n_body * sizeof(*insns));
	*ret = take_ptr(insns);
	*ret_count = n_stub + n_body;
	return 0;
}

static int profile_build(const struct spec_seccomp *p, bool fail_unknown, struct sock_filter **ret,
			 size_t *ret_count, struct error *err)
{
	_cleanup_build_ struct build b = { .profile = p, .fail_unknown = fail_unknown };
	size_t i;
	int r;

	/* Without this libseccomp probes the kernel with some ten calls. */
	(void)seccomp_api_set(API_LEVEL);

	r = filter_action(p->default_action, &p->default_errno_ret, &b.default_action, err);
	if (r < 0)
		return error_prefix(err, "seccomp: default action");
	if (b.default_action == SCMP_ACT_NOTIFY)
		return error_text(err, -EINVAL,
				  "seccomp: SCMP_ACT_NOTIFY cannot be used as default action");
	b.ctx = seccomp_init(b.default_action);
	if (!b.ctx)
		return error_text(err, -EINVAL, "seccomp: libseccomp refuses the default action");
	r = archs_add(&b, err);
	if (r < 0)
		return r;
	for (i = 0; i < p->syscalls.count; i++) {
		r = rule_add(&b, i, err);
		if (r < 0)
			return r;
	}
	if (b.rules >= OPTIMIZE_FROM)
		(void)seccomp_attr_set(b.ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2);
	return program_join(&b, ret, ret_count, err);
}

static int profile_flags(const struct spec_seccomp *p, struct filter *f, struct error *err)
{
	unsigned bits;
	size_t i;

	for (i = 0; i < p->syscalls.count; i++)
		if (p->syscalls.items[i].action == SPEC_SECCOMP_NOTIFY)
			f->notify = true;
	if (f->notify)
		f->flags |= SECCOMP_FILTER_FLAG_NEW_LISTENER;
	/* As runc: a profile that says nothing does not pay for the speculation barriers. */
	if (!p->flags.set)
		f->flags |= SECCOMP_FILTER_FLAG_SPEC_ALLOW;
	for (i = 0; i < p->flags.count; i++) {
		if (filter_flag(p->flags.items[i], &bits) < 0)
			return error_text(err, -EINVAL, "seccomp: unknown flag %s",
					  p->flags.items[i]);
		/* The kernel refuses it without a listener; there is nobody to wait for. */
		if (bits == SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV && !f->notify) {
			log_debugf("seccomp: %s skipped: no rule notifies", p->flags.items[i]);
			continue;
		}
		f->flags |= bits;
	}
	log_debugf("seccomp filter flags: %u", f->flags);
	return 0;
}

int filter_compile(const struct spec_seccomp *profile, bool fail_unknown, int cache_dir_fd,
		   struct filter *ret, struct error *err)
{
	struct filter f = FILTER_NULL;
	struct filter_key key;
	bool cached = false;
	int r;

	assert(profile);
	assert(ret);
	assert(err);

	r = profile_flags(profile, &f, err);
	if (r < 0)
		return r;
	if (cache_dir_fd >= 0 && filter_cache_key(profile, fail_unknown, &key) == 0) {
		cached = true;
		if (filter_cache_get(cache_dir_fd, &key, &f.insns, &f.count) == 0) {
			*ret = f;
			return 0;
		}
	}
	r = profile_build(profile, fail_unknown, &f.insns, &f.count, err);
	if (r < 0)
		return r;
	if (cached)
		filter_cache_put(cache_dir_fd, &key, f.insns, f.count);
	*ret = f;
	return 0;
}

void filter_done(struct filter *f)
{
	free(f->insns);
	*f = FILTER_NULL;
}

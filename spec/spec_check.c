/*
 * Rules of the specification that involve more than one member of an object, and
 * the version. Rules about what can be combined in one container are plan/'s.
 */
#include <stdarg.h>
#include <linux/sched.h>
#include <sys/mount.h>

#include "spec/spec_internal.h"
#include "util/parse.h"
#include "util/str.h"

/* mknod(2) keeps 12 bits of the major and 20 of the minor number. */
#define DEVICE_MAJOR_MAX 0xfff
#define DEVICE_MINOR_MAX 0xfffff
#define ERRNO_RET_MAX	 4095 /* MAX_ERRNO: what a seccomp filter can return */
#define NICE_MIN	 (-20)
#define NICE_MAX	 19

int spec_check_error(const struct json_ctx *ctx, struct error *err, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (ctx->path_len == 0)
		return error_text(err, -EINVAL, "%s: %s", ctx->name, text);
	return error_text(err, -EINVAL, "%s: %s: %s", ctx->name, ctx->path, text);
}

/* MAJOR.MINOR.PATCH with an optional -PRERELEASE or +BUILD behind; only the major counts. */
static bool version_supported(const char *version)
{
	char number[3][8] = { 0 };
	uint32_t n[3];
	const char *p = version;
	size_t i, len;

	for (i = 0; i < 3; i++) {
		len = strspn(p, "0123456789");
		if (len == 0 || len >= sizeof(number[i]))
			return false;
		memcpy(number[i], p, len);
		if (parse_u32(number[i], &n[i]) < 0)
			return false;
		p += len;
		if (i < 2 && *p++ != '.')
			return false;
	}
	if (*p != '\0' && *p != '-' && *p != '+')
		return false;
	return n[0] == 1;
}

int spec_check_version(struct json_ctx *ctx, const struct json *at, const char *version,
		       struct error *err)
{
	if (version_supported(version))
		return 0;
	return json_error(ctx, at, err, -EINVAL,
			  "version \"%s\" of the specification is not supported (supported: %s to "
			  "%s and other 1.x)",
			  version, SPEC_VERSION_MIN, SPEC_VERSION_MAX);
}

int spec_check_process(struct json_ctx *ctx, void *target, struct error *err)
{
	const struct spec_process *p = target;

	if (p->args.count == 0 || p->args.items[0][0] == '\0')
		return spec_check_error(ctx, err, "args must name the program to run");
	if (p->terminal &&
	    (p->console_size.height > UINT16_MAX || p->console_size.width > UINT16_MAX))
		return spec_check_error(ctx, err,
					"consoleSize %ux%u is larger than a terminal can be",
					p->console_size.width, p->console_size.height);
	return 0;
}

int spec_check_scheduler(struct json_ctx *ctx, void *target, struct error *err)
{
	const struct spec_scheduler *s = target;
	const char *policy = enum_to_name(&spec_scheduler_policy_table, s->policy);

	if ((s->policy == SCHED_NORMAL || s->policy == SCHED_BATCH) &&
	    (s->nice < NICE_MIN || s->nice > NICE_MAX))
		return spec_check_error(ctx, err, "nice %d is not between %d and %d", s->nice,
					NICE_MIN, NICE_MAX);
	if (s->priority != 0 && s->policy != SCHED_FIFO && s->policy != SCHED_RR)
		return spec_check_error(ctx, err,
					"priority is only for SCHED_FIFO and SCHED_RR, not for %s",
					policy);
	if ((s->runtime || s->deadline || s->period) && s->policy != SCHED_DEADLINE)
		return spec_check_error(
			ctx, err,
			"runtime, deadline and period are only for SCHED_DEADLINE, not for %s",
			policy);
	return 0;
}

int spec_check_mount(struct json_ctx *ctx, void *target, struct error *err)
{
	const struct spec_mount *m = target;

	if ((m->uid_mappings.count == 0) != (m->gid_mappings.count == 0))
		return spec_check_error(ctx, err,
					"uidMappings and gidMappings must be given together");
	return 0;
}

int spec_check_device(struct json_ctx *ctx, void *target, struct error *err)
{
	const struct spec_device *d = target;

	if (d->type == 'p')
		return 0;
	if (d->major < 0 || d->major > DEVICE_MAJOR_MAX || d->minor < 0 ||
	    d->minor > DEVICE_MINOR_MAX)
		return spec_check_error(ctx, err, "%lld:%lld is not a device number",
					(long long)d->major, (long long)d->minor);
	return 0;
}

static int check_errno_ret(struct json_ctx *ctx, const char *member, uint64_t action,
			   const struct opt_u32 *ret, struct error *err)
{
	if (!ret->set)
		return 0;
	if (action != SPEC_SECCOMP_ERRNO && action != SPEC_SECCOMP_TRACE)
		return spec_check_error(
			ctx, err, "%s is only for SCMP_ACT_ERRNO and SCMP_ACT_TRACE, not for %s",
			member, enum_to_name(&spec_seccomp_action_table, action));
	if (action == SPEC_SECCOMP_ERRNO && ret->value > ERRNO_RET_MAX)
		return spec_check_error(ctx, err, "%s %u is not an error number", member,
					ret->value);
	return 0;
}

int spec_check_seccomp_rule(struct json_ctx *ctx, void *target, struct error *err)
{
	const struct spec_seccomp_rule *rule = target;

	return check_errno_ret(ctx, "errnoRet", rule->action, &rule->errno_ret, err);
}

int spec_check_seccomp(struct json_ctx *ctx, void *target, struct error *err)
{
	const struct spec_seccomp *s = target;
	bool listener = s->listener_path && *s->listener_path;
	size_t i;
	int r;

	r = check_errno_ret(ctx, "defaultErrnoRet", s->default_action, &s->default_errno_ret, err);
	if (r < 0)
		return r;
	/* The calls that hand the listener over would wait for the listener. */
	if (s->default_action == SPEC_SECCOMP_NOTIFY)
		return spec_check_error(ctx, err, "SCMP_ACT_NOTIFY cannot be the default action");
	for (i = 0; i < s->syscalls.count; i++)
		if (s->syscalls.items[i].action == SPEC_SECCOMP_NOTIFY && !listener)
			return spec_check_error(
				ctx, err,
				"syscalls[%zu] has the action SCMP_ACT_NOTIFY, but there is no "
				"listenerPath",
				i);
	if (s->listener_metadata && *s->listener_metadata && !listener)
		return spec_check_error(ctx, err, "listenerMetadata needs a listenerPath");
	return 0;
}

int spec_check_intel_rdt(struct json_ctx *ctx, void *target, struct error *err)
{
	const struct spec_intel_rdt *rdt = target;
	const char *id = rdt->clos_id;

	/* A folder below /sys/fs/resctrl; "/" alone is the default group. */
	if (id && (str_eq(id, ".") || str_eq(id, "..") || (strlen(id) > 1 && strchr(id, '/'))))
		return spec_check_error(ctx, err, "closID \"%s\" is not the name of a group", id);
	if (rdt->mem_bw_schema && *rdt->mem_bw_schema &&
	    (!str_after(rdt->mem_bw_schema, "MB:") || strchr(rdt->mem_bw_schema, '\n')))
		return spec_check_error(ctx, err, "memBwSchema must be one line starting with MB:");
	return 0;
}

int spec_check_memory_policy(struct json_ctx *ctx, void *target, struct error *err)
{
	const struct spec_memory_policy *m = target;
	const char *mode = enum_to_name(&spec_memory_policy_mode_table, m->mode);
	bool nodes = m->nodes && *m->nodes;

	if (str_eq(mode, "MPOL_DEFAULT") || str_eq(mode, "MPOL_LOCAL")) {
		if (nodes)
			return spec_check_error(ctx, err, "%s takes no nodes", mode);
	} else if (!str_eq(mode, "MPOL_PREFERRED") && !nodes) {
		return spec_check_error(ctx, err, "%s needs nodes", mode);
	}
	return 0;
}

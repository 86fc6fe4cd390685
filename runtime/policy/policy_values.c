/*
 * Owns the reading of single values of a policy: numbers with units, words, lists of
 * names. Each keeps the place where it was written. Knows no member by name.
 */
#include <assert.h>
#include <stdarg.h>
#include <sys/mount.h>

#include "policy/policy_internal.h"
#include "util/parse.h"
#include "util/str.h"

#define CPUS_MAX 100000 /* more than any machine has; keeps quota arithmetic far from overflow */

int policy_error_at(struct error *err, const struct policy_origin *at, const char *fmt, ...)
{
	char text[ERROR_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return error_text(err, -EINVAL, "%s: %s (offset %zu): %s", at->file, at->path, at->offset,
			  text);
}

int policy_value_begin(struct json_ctx *ctx, const struct json *at, struct policy_value *v,
		       struct error *err)
{
	v->from.file = ctx->name;
	v->from.offset = at->offset;
	v->from.path = arena_strdup(ctx->arena, ctx->path);
	return v->from.path ? 0 : error_oom(err);
}

JSON_HANDLER(policy_get_flag)
{
	struct policy_value *v = target;
	bool b;
	int r = json_get_bool(ctx, field, value, &b, err);

	if (r < 0)
		return r;
	v->n = b;
	return policy_value_begin(ctx, value, v, err);
}

static int bytes_of(const struct json *value, uint64_t *ret)
{
	int64_t n;
	int r;

	if (value->type == JSON_NUMBER)
		r = json_to_i64(value, &n);
	else if (value->type == JSON_STRING)
		r = parse_bytes(value->text, &n);
	else
		r = -EINVAL;
	if (r < 0)
		return r;
	if (n < 0)
		return -ERANGE;
	*ret = (uint64_t)n;
	return 0;
}

JSON_HANDLER(policy_get_bytes)
{
	struct policy_value *v = target;
	int r = bytes_of(value, &v->n);

	if (r < 0)
		return json_error(ctx, value, err, r,
				  "must be a number of bytes, as 2147483648 or \"2GiB\"");
	return policy_value_begin(ctx, value, v, err);
}

JSON_HANDLER(policy_get_size)
{
	struct policy_value *v = target;

	if (value->type != JSON_STRING || !str_eq(value->text, "auto")) {
		int r = bytes_of(value, &v->n);

		if (r < 0 || v->n == 0)
			return json_error(ctx, value, err, r < 0 ? r : -ERANGE,
					  "must be a number of bytes above 0, as \"1GiB\", or "
					  "\"auto\"");
	} else {
		v->n = POLICY_AUTO;
	}
	return policy_value_begin(ctx, value, v, err);
}

JSON_HANDLER(policy_get_count)
{
	struct policy_value *v = target;
	int r = value->type == JSON_NUMBER ? json_to_u64(value, &v->n) : -EINVAL;

	if (r < 0 || v->n > INT64_MAX)
		return json_error(ctx, value, err, r < 0 ? r : -ERANGE,
				  "must be a whole number from 0 on");
	return policy_value_begin(ctx, value, v, err);
}

JSON_HANDLER(policy_get_rlimit)
{
	struct policy_value *v = target;

	if (value->type == JSON_STRING && str_eq(value->text, "unlimited")) {
		v->n = POLICY_UNLIMITED;
	} else if (value->type != JSON_NUMBER || json_to_u64(value, &v->n) < 0 ||
		   v->n > INT64_MAX) {
		return json_error(ctx, value, err, -EINVAL,
				  "must be a whole number from 0 on or \"unlimited\"");
	}
	return policy_value_begin(ctx, value, v, err);
}

/* Decimal with at most three digits behind the point that count. */
static int thousandths(const char *s, uint64_t *ret)
{
	uint64_t n = 0, digits;

	if (*s < '0' || *s > '9')
		return -EINVAL;
	for (; *s >= '0' && *s <= '9'; s++) {
		n = n * 10 + (uint64_t)(*s - '0');
		if (n > CPUS_MAX)
			return -ERANGE;
	}
	if (*s == '.' && s[1])
		s++;
	for (digits = 0; *s >= '0' && *s <= '9'; s++, digits++)
		if (digits < 3)
			n = n * 10 + (uint64_t)(*s - '0');
	for (; digits < 3; digits++)
		n *= 10;
	*ret = n;
	return *s ? -EINVAL : 0;
}

JSON_HANDLER(policy_get_cpus)
{
	struct policy_value *v = target;
	bool text = value->type == JSON_NUMBER || value->type == JSON_STRING;
	int r = text ? thousandths(value->text, &v->n) : -EINVAL;

	if (r < 0 || v->n < 10 || v->n > CPUS_MAX * 1000ull)
		return json_error(ctx, value, err, r < 0 ? r : -ERANGE,
				  "must be a number of CPUs from 0.01 to %d, as 2 or 1.5",
				  CPUS_MAX);
	return policy_value_begin(ctx, value, v, err);
}

JSON_HANDLER(policy_get_time)
{
	struct policy_value *v = target;

	if (value->type != JSON_STRING || parse_duration(value->text, &v->n) < 0)
		return json_error(ctx, value, err, -EINVAL,
				  "must be a duration with units, as \"90s\" or \"1h30m\"");
	return policy_value_begin(ctx, value, v, err);
}

JSON_HANDLER(policy_get_deadline)
{
	struct policy_value *v = target;

	if (value->type == JSON_STRING && str_eq(value->text, "off"))
		v->n = POLICY_UNLIMITED;
	else if (value->type != JSON_STRING || parse_duration(value->text, &v->n) < 0 || v->n == 0)
		return json_error(ctx, value, err, -EINVAL,
				  "must be a duration with units, as \"90s\" or \"1h30m\", or "
				  "\"off\"");
	return policy_value_begin(ctx, value, v, err);
}

JSON_HANDLER(policy_get_text)
{
	static const struct json_field not_empty = { .flags = JSON_NOT_EMPTY };
	struct policy_value *v = target;
	char *text = NULL;
	int r = json_get_string(ctx, &not_empty, value, &text, err);

	if (r < 0)
		return r;
	v->text = text;
	return policy_value_begin(ctx, value, v, err);
}

JSON_HANDLER(policy_get_word)
{
	struct policy_value *v = target;
	int r = json_get_enum(ctx, field, value, &v->n, err);

	return r < 0 ? r : policy_value_begin(ctx, value, v, err);
}

JSON_HANDLER(policy_get_mask)
{
	struct policy_value *v = target;
	int r = json_get_enum_mask(ctx, field, value, &v->n, err);

	return r < 0 ? r : policy_value_begin(ctx, value, v, err);
}

JSON_HANDLER(policy_get_bits)
{
	struct policy_value *v = target;
	const struct json *j;
	size_t len = ctx->path_len, i = 0;
	uint64_t bit, mask = 0;
	int r;

	if (value->type != JSON_ARRAY)
		return json_error(ctx, value, err, -EINVAL, "must be an array, is %s",
				  json_type_phrase(value->type));
	for (j = value->kids.first; j; j = j->next, i++) {
		json_path_push(ctx, "[%zu]", i);
		r = json_get_enum(ctx, field, j, &bit, err);
		if (r < 0)
			return r;
		json_path_pop(ctx, len);
		mask |= 1ull << bit;
	}
	v->n = mask;
	return policy_value_begin(ctx, value, v, err);
}

JSON_HANDLER(policy_get_list)
{
	const struct policy_list_kind *kind = field->arg;
	struct policy_value *v = target;
	const struct json *j;
	size_t len = ctx->path_len, i = 0;
	int r;

	r = json_get_strv(ctx, field, value, &v->list, err);
	if (r < 0)
		return r;
	for (j = value->kids.first; j; j = j->next, i++) {
		if (kind->valid(v->list.items[i]))
			continue;
		json_path_push(ctx, "[%zu]", i);
		r = json_error(ctx, j, err, -EINVAL, "\"%.100s\" is not %s", v->list.items[i],
			       kind->what);
		json_path_pop(ctx, len);
		return r;
	}
	return policy_value_begin(ctx, value, v, err);
}

bool policy_path_valid(const char *s)
{
	size_t n;

	if (*s != '/')
		return false;
	if (!s[1])
		return true;
	for (; *s == '/'; s += n) {
		s++;
		n = strcspn(s, "/");
		if (n == 0 || (n == 1 && s[0] == '.') || (n == 2 && s[0] == '.' && s[1] == '.'))
			return false;
	}
	return true;
}

static bool tmpfs_valid(const char *s)
{
	return str_eq(s, "~") || (policy_path_valid(s) && s[1]);
}

static bool number_take(const char **s, int64_t *ret)
{
	uint32_t n;
	char digits[11] = "";
	size_t len = strspn(*s, "0123456789");

	if (**s == '*') {
		(*s)++;
		*ret = -1;
		return true;
	}
	if (len == 0 || len >= sizeof(digits))
		return false;
	memcpy(digits, *s, len);
	if (parse_u32(digits, &n) < 0)
		return false;
	*s += len;
	*ret = n;
	return true;
}

bool policy_device_parse(const char *s, struct policy_device *ret)
{
	struct policy_device d = { .type = s[0] };

	if ((s[0] != 'c' && s[0] != 'b') || s[1] != ' ')
		return false;
	s += 2;
	if (!number_take(&s, &d.major) || *s++ != ':' || !number_take(&s, &d.minor) || *s)
		return false;
	/* "c *:5" names nothing that belongs together. */
	if (d.major < 0)
		return false;
	*ret = d;
	return true;
}

static bool device_valid(const char *s)
{
	struct policy_device d;

	return (str_after(s, "/dev/") && policy_path_valid(s) && !strchr(s, '*')) ||
	       policy_device_parse(s, &d);
}

static bool net_name_valid(const char *s)
{
	size_t n = strlen(s);

	return n > 0 && n < 16 && !strpbrk(s, "/: \t\n*") && !str_eq(s, ".") && !str_eq(s, "..");
}

static bool type_valid(const char *s)
{
	return *s && !s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789._-")];
}

static bool sysctl_valid(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");

	/* A pattern must name at least the subsystem: "*" would be the whole kernel. */
	return strchr(s, '.') && *s != '.' && !strstr(s, "..") &&
	       (!s[n] || (s[n] == '*' && !s[n + 1]));
}

static bool env_valid(const char *s)
{
	return *s && !strpbrk(s, "= \t\n");
}

static bool name_valid(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_-");

	return n > 0 && n < 64 && !s[n];
}

static bool pattern_valid(const char *s)
{
	return *s != '\0';
}

const struct policy_list_kind policy_list_paths = { "an absolute path without \".\" and \"..\"",
						    policy_path_valid };
const struct policy_list_kind policy_list_tmpfs = { "an absolute path below / or \"~\"",
						    tmpfs_valid };
const struct policy_list_kind policy_list_devices = {
	"a device: a path below /dev, or numbers as \"c 10:232\" or \"c 195:*\"", device_valid
};
const struct policy_list_kind policy_list_net_names = { "the name of a network device",
							net_name_valid };
const struct policy_list_kind policy_list_types = { "the name of a filesystem type", type_valid };
const struct policy_list_kind policy_list_sysctls = {
	"a sysctl, as \"kernel.sem\", or the beginning of some, as \"net.*\"", sysctl_valid
};
const struct policy_list_kind policy_list_settings = {
	"a sysctl of a namespace and its value, as \"vm.memfd_noexec=2\"", policy_setting_valid
};
const struct policy_list_kind policy_list_env = { "the name of a variable, or a pattern with *",
						  env_valid };
const struct policy_list_kind policy_list_names = {
	"the name of a profile (lower case letters, digits, - and _)", name_valid
};
const struct policy_list_kind policy_list_patterns = { "a pattern", pattern_valid };

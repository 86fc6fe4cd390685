/*
 * Owns the names of units: what an engine's slice:prefix:name means, and where systemd puts
 * a slice. Pure.
 */
#include "cgroup/cgroup_scope.h"

#include <assert.h>

#include "util/str.h"

#define SCOPE_SUFFIX ".scope"
#define SLICE_SUFFIX ".slice"

static bool ends_in(const char *s, const char *suffix)
{
	size_t n = strlen(s), k = strlen(suffix);

	return n > k && str_eq(s + n - k, suffix);
}

static bool unit_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       strchr(":-_.\\@", c);
}

/* Ids may hold '+', which a unit's name may not: written as systemd-escape(1) does. */
static void name_escape(struct buf *out, const char *s)
{
	for (; *s; s++)
		if (unit_char(*s))
			buf_add(out, s, 1);
		else
			buf_addf(out, "\\x%02x", (unsigned char)*s);
}

static int slice_bad(const char *slice, struct error *err)
{
	return error_text(err, -EINVAL,
			  "invalid slice name \"%s\": a-b.slice is the form, without slashes, "
			  "empty parts or more than %d parts",
			  slice, CGROUP_SLICES_MAX);
}

int cgroup_scope_slices(const char *slice, struct arena *arena, char *ret[CGROUP_SLICES_MAX],
			size_t *ret_count, struct error *err)
{
	const char *p, *end;
	size_t n = 0;

	*ret_count = 0;
	if (str_eq(slice, "-" SLICE_SUFFIX))
		return 0;
	if (!ends_in(slice, SLICE_SUFFIX) || strlen(slice) > CGROUP_UNIT_MAX)
		return slice_bad(slice, err);
	end = slice + strlen(slice) - strlen(SLICE_SUFFIX);
	for (p = slice; p < end; p++)
		if (!unit_char(*p))
			return slice_bad(slice, err);
	for (p = slice;; p++) {
		size_t len = strcspn(p, "-");

		if (len > (size_t)(end - p))
			len = (size_t)(end - p);
		if (len == 0 || n == CGROUP_SLICES_MAX)
			return slice_bad(slice, err);
		p += len;
		ret[n] = arena_printf(arena, "%.*s" SLICE_SUFFIX, (int)(p - slice), slice);
		if (!ret[n++])
			return error_oom(err);
		if (p == end)
			break;
	}
	*ret_count = n;
	return 0;
}

static int fields_split(const char *path, struct arena *arena, char *field[3], struct error *err)
{
	char *copy, *colon;
	size_t i;

	copy = arena_strdup(arena, path);
	if (!copy)
		return error_oom(err);
	for (i = 0; i < 3; i++) {
		field[i] = copy;
		colon = strchr(copy, ':');
		if (!colon != (i == 2) || strchr(copy, '/'))
			return error_text(err, -EINVAL,
					  "cgroup path \"%s\": the systemd cgroup manager expects "
					  "slice:prefix:name; for a folder use the cgroupfs manager",
					  path);
		if (colon) {
			*colon = '\0';
			copy = colon + 1;
		}
	}
	return 0;
}

static int unit_name(const char *const field[3], struct arena *arena, struct cgroup_scope_name *ret,
		     struct error *err)
{
	_cleanup_buf_ struct buf unit = BUF_NULL;

	ret->is_slice = ends_in(field[2], SLICE_SUFFIX);
	if (!ret->is_slice && *field[1]) {
		name_escape(&unit, field[1]);
		buf_adds(&unit, "-");
	}
	name_escape(&unit, field[2]);
	if (!ret->is_slice)
		buf_adds(&unit, SCOPE_SUFFIX);
	if (!buf_ok(&unit))
		return error_oom(err);
	if (unit.len > CGROUP_UNIT_MAX)
		return error_text(err, -ENAMETOOLONG, "unit name \"%s\" is longer than %d characters",
				  unit.data, CGROUP_UNIT_MAX);
	ret->unit = arena_strdup(arena, unit.data);
	return ret->unit ? 0 : error_oom(err);
}

int cgroup_scope_name(const char *path, const char *id, bool user, struct arena *arena,
		      struct cgroup_scope_name *ret, struct error *err)
{
	char *slices[CGROUP_SLICES_MAX], *asked[3] = { NULL };
	const char *field[3] = { "", "agentrun", id };
	_cleanup_buf_ struct buf folder = BUF_NULL;
	size_t i, n;
	int r;

	assert(id && ret);

	if (path && *path) {
		r = fields_split(path, arena, asked, err);
		if (r < 0)
			return r;
		memcpy(field, asked, sizeof(asked));
	}
	if (!*field[2])
		return error_text(err, -EINVAL, "cgroup path \"%s\" has an empty name", path);
	if (!*field[0])
		field[0] = user ? "user.slice" : "system.slice";
	r = unit_name(field, arena, ret, err);
	if (r < 0)
		return r;
	/* A slice is where its own name says. */
	r = cgroup_scope_slices(ret->is_slice ? ret->unit : field[0], arena, slices, &n, err);
	if (r < 0)
		return r;
	buf_adds(&folder, "");
	for (i = 0; i < n; i++)
		buf_addf(&folder, "/%s", slices[i]);
	if (!ret->is_slice)
		buf_addf(&folder, "/%s", ret->unit);
	if (!buf_ok(&folder))
		return error_oom(err);
	ret->slice = arena_strdup(arena, field[0]);
	ret->folder = arena_strdup(arena, folder.data);
	return ret->slice && ret->folder ? 0 : error_oom(err);
}

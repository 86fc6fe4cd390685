/*
 * What annotations ask for. They may come out of an image, so the reading is strict and
 * the values are bounded; whether they are granted is decided in policy_grant.c.
 */
#include <assert.h>

#include "policy/policy_internal.h"
#include "util/parse.h"
#include "util/str.h"

#define PREFIX	    "org.agentrun."
#define ENTRIES_MAX 1024

typedef int (*read_fn)(const char *key, const char *text, struct arena *arena,
		       struct policy_request *req, struct error *err);

/* Options name themselves. */
static const char *kind_of(const char *key)
{
	return str_after(key, PREFIX) ? "annotation " : "";
}

static int bad(const char *key, const char *text, const char *what, struct error *err)
{
	return error_text(err, -EINVAL, "policy: %s%s: \"%.100s\" %s", kind_of(key), key, text, what);
}

static int read_bytes(const char *key, const char *text, struct opt_u64 *ret, struct error *err)
{
	int64_t n;

	if (parse_bytes(text, &n) < 0 || n <= 0)
		return bad(key, text, "is not a number of bytes, as 512MiB", err);
	*ret = (struct opt_u64){ true, (uint64_t)n };
	return 0;
}

static int read_time(const char *key, const char *text, struct opt_u64 *ret, struct error *err)
{
	uint64_t ns;

	if (parse_duration(text, &ns) < 0 || ns == 0)
		return bad(key, text, "is not a duration, as 90s or 1h30m", err);
	*ret = (struct opt_u64){ true, ns };
	return 0;
}

static int read_memory(const char *key, const char *text, struct arena *arena _unused_,
		       struct policy_request *req, struct error *err)
{
	return read_bytes(key, text, &req->memory, err);
}

static int read_audit_output(const char *key, const char *text, struct arena *arena _unused_,
			     struct policy_request *req, struct error *err)
{
	return read_bytes(key, text, &req->audit_output, err);
}

static int read_time_container(const char *key, const char *text, struct arena *arena _unused_,
			       struct policy_request *req, struct error *err)
{
	return read_time(key, text, &req->time_container, err);
}

static int read_time_exec(const char *key, const char *text, struct arena *arena _unused_,
			  struct policy_request *req, struct error *err)
{
	return read_time(key, text, &req->time_exec, err);
}

/* The entries between commas and blanks. *ret is NULL-terminated. */
static int split(const char *key, const char *text, struct arena *arena, struct strv *ret,
		 struct error *err)
{
	static const char between[] = ", \t\n";
	const char *s;
	size_t n = 0, len;

	for (s = text; *(s += strspn(s, between)); s += strcspn(s, between))
		n++;
	if (n > ENTRIES_MAX)
		return error_text(err, -E2BIG, "policy: %s%s: more than %d entries",
				  kind_of(key), key, ENTRIES_MAX);
	ret->items = arena_calloc(arena, n + 1, sizeof(*ret->items));
	if (!ret->items)
		return error_oom(err);
	ret->set = true;
	for (s = text; *(s += strspn(s, between)); s += len) {
		len = strcspn(s, between);
		ret->items[ret->count] = arena_strndup(arena, s, len);
		if (!ret->items[ret->count++])
			return error_oom(err);
	}
	return 0;
}

static int read_session(const char *key, const char *text, struct arena *arena,
			struct policy_request *req, struct error *err)
{
	size_t i;
	int r;

	req->session.set = true;
	if (parse_bool(text, &req->session.value) == 0)
		return 0;
	req->session.value = true;
	r = split(key, text, arena, &req->session_paths, err);
	if (r < 0)
		return r;
	for (i = 0; i < req->session_paths.count; i++)
		if (!policy_path_valid(req->session_paths.items[i]))
			break;
	if (i < req->session_paths.count || i == 0)
		return bad(key, text, "is neither true, false nor a list of absolute paths", err);
	req->session.set = false;
	return 0;
}

static int read_session_keep(const char *key, const char *text, struct arena *arena _unused_, struct policy_request *req,
			     struct error *err)
{
	req->session_keep.set = true;
	return parse_bool(text, &req->session_keep.value) == 0 ? 0 : bad(key, text, "is neither true nor false", err);
}

int policy_request_egress(const char *key, const char *text, struct arena *arena,
			  struct policy_request *req, struct error *err)
{
	struct strv entries = { 0 };
	const char *why;
	size_t i;
	int r;

	r = split(key, text, arena, &entries, err);
	if (r < 0)
		return r;
	req->egress = arena_calloc(arena, entries.count, sizeof(*req->egress));
	if (!req->egress)
		return error_oom(err);
	for (i = 0; i < entries.count; i++) {
		r = policy_rule_from_text(entries.items[i], arena, &req->egress[i], &why);
		if (r == -ENOMEM)
			return error_oom(err);
		if (r < 0)
			return bad(key, entries.items[i], why, err);
		req->egress[i].from.path = key;
		req->egress[i].from.file = entries.items[i];
	}
	req->n_egress = entries.count;
	req->has_egress = true;
	return 0;
}

static const struct {
	const char *key;
	read_fn fn; /* NULL: read by policy_select() */
} keys[] = {
	{ PREFIX "profile", NULL },
	{ PREFIX "egress.allow", policy_request_egress },
	{ PREFIX "time.container", read_time_container },
	{ PREFIX "time.exec", read_time_exec },
	{ PREFIX "memory", read_memory },
	{ PREFIX "session", read_session },
	{ PREFIX "session.keep", read_session_keep },
	{ PREFIX "audit.output", read_audit_output },
};

const char *policy_request_key(size_t i)
{
	return i < ELEMENTSOF(keys) ? keys[i].key : NULL;
}

static int unknown_key(const char *key, struct error *err)
{
	_cleanup_buf_ struct buf known = BUF_NULL;
	size_t i;

	for (i = 0; i < ELEMENTSOF(keys); i++)
		policy_list_add(&known, "%s", keys[i].key);
	return error_text(err, -EINVAL, "policy: annotation %.100s is unknown (known: %s)", key,
			  known.data ? known.data : "");
}

int policy_request_read(const struct str_map *annotations, struct arena *arena,
			struct policy_request *ret, struct error *err)
{
	struct policy_request req = { .has_egress = false };
	size_t i, k;
	int r;

	assert(annotations && arena && ret && err);

	for (i = 0; i < annotations->count; i++) {
		const struct str_pair *a = &annotations->items[i];

		if (!str_after(a->key, PREFIX))
			continue;
		for (k = 0; k < ELEMENTSOF(keys); k++)
			if (str_eq(keys[k].key, a->key))
				break;
		if (k == ELEMENTSOF(keys))
			return unknown_key(a->key, err);
		if (!keys[k].fn)
			continue;
		r = keys[k].fn(a->key, a->value, arena, &req, err);
		if (r < 0)
			return r;
	}
	*ret = req;
	return 0;
}

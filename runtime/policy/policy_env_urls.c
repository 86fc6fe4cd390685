/*
 * Credentials in URLs and connection strings that are built like one, and how to take
 * them out of a proxy's URL.
 */
#include <string.h>

#include "policy/policy_env_internal.h"
#include "util/cleanup.h"

/* What stands between "://" and the path. */
static struct env_text authority_of(struct env_text rest)
{
	size_t i;

	for (i = 0;
	     i < rest.len && env_in_set(ENV_ANY, rest.s[i]) && !strchr("/?#\\<>`", rest.s[i]); i++)
		;
	return (struct env_text){ rest.s, i };
}

static size_t last_at(struct env_text t)
{
	const char *p = t.s ? memrchr(t.s, '@', t.len) : NULL;

	return p ? (size_t)(p - t.s) : t.len;
}

/*
 * "user:pass@", ":pass@"; alone, a user name is no secret, but what servers take as a
 * token in its place is long and has digits.
 */
static bool is_userinfo_secret(struct env_text info, bool http)
{
	const char *colon = info.len ? memchr(info.s, ':', info.len) : NULL;

	if (colon)
		return colon + 1 < info.s + info.len;
	return http && info.len >= 20 && env_has_digit(info);
}

/* "user:pa/ss@host": a password that should have been encoded; a port would be digits only. */
static bool is_slashed_password(struct env_text rest, struct env_text authority)
{
	const char *colon = authority.len ? memchr(authority.s, ':', authority.len) : NULL;
	struct env_text tail;
	size_t end;

	if (!colon || authority.s[0] == '[' || authority.len == rest.len ||
	    rest.s[authority.len] != '/')
		return false;
	tail = env_from(authority, (size_t)(colon + 1 - authority.s));
	if (tail.len == 0 || env_run(ENV_DIGIT, tail) == tail.len || memchr(tail.s, ',', tail.len))
		return false;
	tail = env_from(rest, authority.len);
	for (end = 0;
	     end < tail.len && env_in_set(ENV_ANY, tail.s[end]) && !strchr("?,;", tail.s[end]);
	     end++)
		if (tail.s[end] == '@')
			return true;
	return false;
}

static bool is_url_secret(struct env_text t, size_t place)
{
	struct env_text rest = env_from(t, place + 3), authority = authority_of(rest);
	bool http = (place >= 4 && memcmp(t.s + place - 4, "http", 4) == 0) ||
		    (place >= 5 && memcmp(t.s + place - 5, "https", 5) == 0);
	size_t at = last_at(authority);

	if (at < authority.len)
		return is_userinfo_secret((struct env_text){ authority.s, at }, http);
	return is_slashed_password(rest, authority);
}

/* "user:password@tcp(host:3306)/db", as Go's MySQL driver has it */
static bool is_go_dsn(struct env_text t, size_t at)
{
	struct env_text rest = env_from(t, at);
	const char *colon = memchr(t.s, ':', at);

	return (env_begins(rest, "@tcp(") || env_begins(rest, "@unix(")) && colon &&
	       colon + 1 < t.s + at;
}

/* "jdbc:oracle:thin:user/password@..." */
static bool is_oracle(struct env_text t)
{
	struct env_text rest = env_from(t, env_find(t, ":oracle:thin:") + strlen(":oracle:thin:"));
	const char *slash = rest.len ? memchr(rest.s, '/', rest.len) : NULL;
	const char *at = rest.len ? memchr(rest.s, '@', rest.len) : NULL;

	return slash && at && slash > rest.s && slash + 1 < at;
}

const char *env_url_rule(struct env_text t)
{
	size_t i;

	if (!t.len || !memchr(t.s, '@', t.len))
		return NULL;
	for (i = 0; i < t.len; i++) {
		if (t.s[i] == ':' && env_begins(env_from(t, i), "://") && is_url_secret(t, i))
			return "url-credentials";
		if (t.s[i] == '@' && is_go_dsn(t, i))
			return "database-credentials";
	}
	return is_oracle(t) ? "database-credentials" : NULL;
}

bool env_proxy_strip(struct env_text t, char *ret)
{
	struct env_text rest, authority;
	size_t i = 0, n = 0, at;
	bool stripped = false;

	/* A list of proxies is parted by commas or bars (GOPROXY). */
	while (i < t.len) {
		rest = env_from(t, i);
		rest.len = MIN(rest.len, MIN(env_find(rest, ","), env_find(rest, "|")));
		at = env_find(rest, "://");
		if (at < rest.len) {
			memcpy(ret + n, rest.s, at + 3);
			n += at + 3;
			i += at + 3;
			rest = env_from(rest, at + 3);
		}
		authority = authority_of(rest);
		at = last_at(authority);
		if (at < authority.len) {
			stripped = true;
			i += at + 1;
			rest = env_from(rest, at + 1);
		}
		rest.len = MIN(rest.len + 1, t.len - i); /* with the separator */
		memcpy(ret + n, t.s + i, rest.len);
		n += rest.len;
		i += rest.len;
	}
	ret[n] = '\0';
	return stripped;
}

/*
 * Credentials in URLs and connection strings that are built like one, and how to take
 * them out of a proxy's URL.
 */
#include <string.h>

#include "util/secrets.h"
#include "util/cleanup.h"

/* What stands between "://" and the path. */
static struct secret_text authority_of(struct secret_text rest)
{
	size_t i;

	for (i = 0;
	     i < rest.len && secret_in_set(SECRET_ANY, rest.s[i]) && !strchr("/?#\\<>`", rest.s[i]); i++)
		;
	return (struct secret_text){ rest.s, i };
}

static size_t last_at(struct secret_text t)
{
	const char *p = t.s ? memrchr(t.s, '@', t.len) : NULL;

	return p ? (size_t)(p - t.s) : t.len;
}

/*
 * "user:pass@", ":pass@"; alone, a user name is no secret, but what servers take as a
 * token in its place is long and has digits. The secret part of it, empty when there is none.
 */
static struct secret_text userinfo_secret(struct secret_text info, bool http)
{
	const char *colon = info.len ? memchr(info.s, ':', info.len) : NULL;

	if (colon)
		return secret_from(info, (size_t)(colon + 1 - info.s));
	return http && info.len >= 20 && secret_has_digit(info) ? info : secret_from(info, info.len);
}

/*
 * "user:pa/ss@host": a password that should have been encoded; a port would be digits only.
 * Empty when it is none.
 */
static struct secret_text slashed_password(struct secret_text rest, struct secret_text authority)
{
	const struct secret_text none = { rest.s, 0 };
	const char *colon = authority.len ? memchr(authority.s, ':', authority.len) : NULL;
	struct secret_text tail;
	size_t end, start;

	if (!colon || authority.s[0] == '[' || authority.len == rest.len ||
	    rest.s[authority.len] != '/')
		return none;
	start = (size_t)(colon + 1 - authority.s);
	tail = secret_from(authority, start);
	if (tail.len == 0 || secret_run(SECRET_DIGIT, tail) == tail.len || memchr(tail.s, ',', tail.len))
		return none;
	tail = secret_from(rest, authority.len);
	for (end = 0;
	     end < tail.len && secret_in_set(SECRET_ANY, tail.s[end]) && !strchr("?,;", tail.s[end]);
	     end++)
		if (tail.s[end] == '@')
			return (struct secret_text){ rest.s + start, authority.len + end - start };
	return none;
}

static struct secret_text url_secret(struct secret_text t, size_t place)
{
	struct secret_text rest = secret_from(t, place + 3), authority = authority_of(rest);
	bool http = (place >= 4 && memcmp(t.s + place - 4, "http", 4) == 0) ||
		    (place >= 5 && memcmp(t.s + place - 5, "https", 5) == 0);
	size_t at = last_at(authority);

	if (at < authority.len)
		return userinfo_secret((struct secret_text){ authority.s, at }, http);
	return slashed_password(rest, authority);
}

/*
 * "user:password@tcp(host:3306)/db", as Go's MySQL driver has it. The user stands in the
 * word before, unless a password with blanks hides where that begins.
 */
static struct secret_text go_dsn(struct secret_text t, size_t at)
{
	struct secret_text rest = secret_from(t, at);
	const char *colon = NULL;
	size_t start = at;

	if (!secret_begins(rest, "@tcp(") && !secret_begins(rest, "@unix("))
		return (struct secret_text){ t.s, 0 };
	while (start && secret_in_set(SECRET_ANY, t.s[start - 1]))
		start--;
	if (start < at)
		colon = memchr(t.s + start, ':', at - start);
	if (!colon)
		colon = memchr(t.s, ':', at);
	return colon ? (struct secret_text){ colon + 1, (size_t)(t.s + at - colon - 1) } :
		       (struct secret_text){ t.s, 0 };
}

/* "jdbc:oracle:thin:user/password@..." at place */
static struct secret_text oracle(struct secret_text t, size_t place)
{
	struct secret_text rest = secret_from(t, place + strlen(":oracle:thin:"));
	const char *slash, *at;

	rest.len = secret_run(SECRET_ANY, rest);
	slash = rest.len ? memchr(rest.s, '/', rest.len) : NULL;
	at = rest.len ? memchr(rest.s, '@', rest.len) : NULL;
	if (!slash || !at || slash == rest.s || slash + 1 >= at)
		return (struct secret_text){ t.s, 0 };
	return (struct secret_text){ slash + 1, (size_t)(at - slash - 1) };
}

bool secret_url_next(struct secret_text t, size_t from, struct secret_span *ret)
{
	struct secret_text rest = secret_from(t, from), found = { NULL, 0 };
	size_t i;

	if (!rest.len || !memchr(rest.s, '@', rest.len))
		return false;
	for (i = from; i < t.len; i++) {
		rest = secret_from(t, i);
		ret->rule = "database-credentials";
		if (t.s[i] == ':' && secret_begins(rest, "://")) {
			ret->rule = "url-credentials";
			found = url_secret(t, i);
		} else if (t.s[i] == ':' && secret_begins(rest, ":oracle:thin:")) {
			found = oracle(t, i);
		} else if (t.s[i] == '@') {
			found = go_dsn(t, i);
		}
		if (!found.len)
			continue;
		ret->start = (size_t)(found.s - t.s);
		ret->end = ret->start + found.len;
		ret->until = NULL;
		return true;
	}
	return false;
}

bool secret_proxy_strip(struct secret_text t, char *ret)
{
	struct secret_text rest, authority;
	size_t i = 0, n = 0, at;
	bool stripped = false;

	/* A list of proxies is parted by commas or bars (GOPROXY). */
	while (i < t.len) {
		rest = secret_from(t, i);
		rest.len = MIN(rest.len, MIN(secret_find(rest, ","), secret_find(rest, "|")));
		at = secret_find(rest, "://");
		if (at < rest.len) {
			memcpy(ret + n, rest.s, at + 3);
			n += at + 3;
			i += at + 3;
			rest = secret_from(rest, at + 3);
		}
		authority = authority_of(rest);
		at = last_at(authority);
		if (at < authority.len) {
			stripped = true;
			i += at + 1;
			rest = secret_from(rest, at + 1);
		}
		rest.len = MIN(rest.len + 1, t.len - i); /* with the separator */
		memcpy(ret + n, t.s + i, rest.len);
		n += rest.len;
		i += rest.len;
	}
	ret[n] = '\0';
	return stripped;
}

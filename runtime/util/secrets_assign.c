/*
 * Secrets that a name inside of the value gives away: "password=" in a connection string
 * or a command line, "client_secret" in JSON, "token:" in YAML, a signature in a query.
 */
#include <string.h>

#include "util/secrets.h"
#include "util/cleanup.h"

struct secret_key {
	const char *name; /* upper case, without _ and - */
	uint8_t min;	  /* length of a value that counts */
	bool ending;	  /* also as the end of a longer name */
};

static const struct secret_key keys[] = {
	{ "PASSWORD", 1, true },
	{ "PASSWD", 1, true },
	{ "PASSPHRASE", 1, true },
	{ "PWD", 3, false },
	{ "PASS", 3, false },
	{ "SECRET", 8, false },
	{ "CLIENTSECRET", 8, true },
	{ "CONSUMERSECRET", 8, false },
	{ "APPSECRET", 8, false },
	{ "APISECRET", 8, false },
	{ "SECRETKEY", 8, true },
	{ "ACCESSKEY", 12, true }, /* also AWS's secret one, and Azure's shared one */
	{ "ACCOUNTKEY", 12, false },
	{ "PRIVATEKEY", 16, true },
	{ "CLIENTKEYDATA", 16, false },
	{ "APIKEY", 12, true },
	{ "TOKEN", 16, false },
	{ "IDENTITYTOKEN", 8, false }, /* Docker's and Podman's files of credentials */
	{ "REGISTRYTOKEN", 8, false },
	{ "AUTHTOKEN", 8, true },
	{ "ACCESSTOKEN", 8, true },
	{ "REFRESHTOKEN", 8, true },
	{ "SESSIONTOKEN", 8, true },
	{ "BEARERTOKEN", 8, true },
	{ "IDTOKEN", 8, false },
	{ "PRIVATETOKEN", 8, false }, /* GitLab's header */
	{ "SIG", 20, false },
	{ "SIGNATURE", 20, true }, /* X-Amz-Signature, X-Goog-Signature */
};

#define KEY_MAX 40

/* The name that ends before place, squeezed; its length, 0 when there is none. */
static size_t key_before(struct secret_text t, size_t place, bool *ret_quoted,
			 char name[static KEY_MAX])
{
	size_t end = place, start, i, n = 0;

	while (end && t.s[end - 1] == ' ')
		end--;
	*ret_quoted = end && (t.s[end - 1] == '"' || t.s[end - 1] == '\'');
	if (*ret_quoted)
		end--;
	if (*ret_quoted && end && t.s[end - 1] == '\\') /* JSON within JSON */
		end--;
	for (start = end; start && end - start < KEY_MAX && secret_in_set(SECRET_URL, t.s[start - 1]);
	     start--)
		;
	for (i = start; i < end; i++)
		if (t.s[i] != '_' && t.s[i] != '-')
			name[n++] = secret_upper(t.s[i]);
	return n;
}

static const struct secret_key *key_find(struct secret_text name)
{
	size_t i, n;

	/* It guards certificates that everybody may read. */
	if (secret_is(name, "TRUSTSTOREPASSWORD"))
		return NULL;
	for (i = 0; i < ELEMENTSOF(keys); i++) {
		n = strlen(keys[i].name);
		if (name.len < n || (name.len > n && !keys[i].ending))
			continue;
		if (memcmp(name.s + name.len - n, keys[i].name, n) == 0)
			return &keys[i];
	}
	return NULL;
}

/* The value behind a separator, without quotes; its end when a quote was before it. */
static struct secret_text value_behind(struct secret_text rest, size_t *ret_quoted)
{
	const char *close, *line;
	char quote = 0;
	size_t i = 0;

	while (rest.len && memchr(" \t\"'\\", rest.s[0], 5)) {
		if (rest.s[0] == '"' || rest.s[0] == '\'')
			quote = rest.s[0];
		rest = secret_from(rest, 1);
	}
	close = quote && rest.len ? memchr(rest.s, quote, rest.len) : NULL;
	line = rest.len ? memchr(rest.s, '\n', rest.len) : NULL;
	*ret_quoted = close && (!line || close < line) ? (size_t)(close - rest.s) : 0;
	while (i < rest.len && secret_in_set(SECRET_ANY, rest.s[i]) && !strchr(";,&}\\", rest.s[i]))
		i++;
	rest.len = i;
	return rest;
}

bool secret_is_placeholder(struct secret_text v)
{
	static const char *const marks[] = { "${", "$(", "{{", "%(", "<", "***" };
	size_t i;

	for (i = 0; i < ELEMENTSOF(marks); i++)
		if (secret_begins(v, marks[i]))
			return true;
	/* $DB_PASSWORD; in capitals, since a password may begin with the sign. */
	for (i = 1; i < v.len && (secret_in_set(SECRET_UPPER, v.s[i]) || v.s[i] == '_'); i++)
		;
	return v.len > 1 && v.s[0] == '$' && i == v.len && v.s[1] > '9';
}

static void value_span(struct secret_text t, struct secret_text v, size_t quoted, const char *rule,
		       struct secret_span *ret)
{
	size_t start = (size_t)(v.s - t.s);

	*ret = (struct secret_span){ start, start + MAX(v.len, quoted), rule, NULL };
}

/* "Authorization: Token ...": the rest of the line, whatever the scheme is called. */
static bool header_span(struct secret_text t, struct secret_text rest, struct secret_span *ret)
{
	size_t start, end;

	while (rest.len && rest.s[0] == ' ')
		rest = secret_from(rest, 1);
	start = secret_run(SECRET_WORD, rest);
	if (start + 8 >= rest.len || rest.s[start] != ' ' || start == 0)
		return false;
	while (start < rest.len && rest.s[start] == ' ')
		start++;
	for (end = start; end < rest.len && !memchr("\r\n\"'", rest.s[end], 4); end++)
		;
	rest = (struct secret_text){ rest.s + start, end - start };
	if (rest.len < 8 || secret_is_placeholder(rest))
		return false;
	value_span(t, rest, 0, "http-authorization", ret);
	return true;
}

static bool assignment_span(struct secret_text t, size_t place, struct secret_span *ret)
{
	struct secret_text rest = secret_from(t, place + 1), v;
	const struct secret_key *key;
	char name[KEY_MAX];
	bool quoted;
	size_t end, n = key_before(t, place, &quoted, name);

	if (n < 3)
		return false;
	if (t.s[place] == ':' && n >= 13 && memcmp(name + n - 13, "AUTHORIZATION", 13) == 0)
		return header_span(t, rest, ret);
	/* "ls:pwd:exit" is a list: JSON quotes its names, YAML puts a blank behind the colon. */
	if (t.s[place] == ':' && !quoted && (!rest.len || rest.s[0] != ' '))
		return false;
	key = key_find((struct secret_text){ name, n });
	if (!key)
		return false;
	v = value_behind(rest, &end);
	if (v.len < key->min || secret_is_placeholder(v) || secret_is_truth_value(v) || secret_is_path(v))
		return false;
	value_span(t, v, end, "assigned-secret", ret);
	return true;
}

/* Docker's and npm's "auth" holds user and password in base64. */
static bool auth_member_span(struct secret_text t, size_t place, struct secret_span *ret)
{
	struct secret_text v;
	char name[KEY_MAX];
	bool quoted;
	size_t end, n = key_before(t, place, &quoted, name);

	if (!quoted || !secret_is((struct secret_text){ name, n }, "AUTH"))
		return false;
	v = value_behind(secret_from(t, place + 1), &end);
	if (v.len < 16 || secret_run(SECRET_BASE64, v) < v.len)
		return false;
	value_span(t, v, 0, "docker-credentials", ret);
	return true;
}

bool secret_assignment_next(struct secret_text t, size_t from, struct secret_span *ret)
{
	size_t i;

	for (i = MAX(from, (size_t)1); i + 1 < t.len; i++) {
		if (t.s[i] != '=' && t.s[i] != ':')
			continue;
		if (assignment_span(t, i, ret) ||
		    (t.s[i] == ':' && auth_member_span(t, i, ret)))
			return true;
	}
	return false;
}

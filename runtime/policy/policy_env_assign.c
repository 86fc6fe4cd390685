/*
 * Secrets that a name inside of the value gives away: "password=" in a connection string
 * or a command line, "client_secret" in JSON, "token:" in YAML, a signature in a query.
 */
#include <string.h>

#include "policy/policy_env_internal.h"
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
	{ "AUTHTOKEN", 8, true },
	{ "ACCESSTOKEN", 8, true },
	{ "REFRESHTOKEN", 8, true },
	{ "SESSIONTOKEN", 8, true },
	{ "BEARERTOKEN", 8, true },
	{ "IDTOKEN", 8, false },
	{ "SIG", 20, false },
	{ "SIGNATURE", 20, true }, /* X-Amz-Signature, X-Goog-Signature */
};

#define KEY_MAX 40

/* The name that ends before place, squeezed; its length, 0 when there is none. */
static size_t key_before(struct env_text t, size_t place, bool *ret_quoted,
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
	for (start = end; start && end - start < KEY_MAX && env_in_set(ENV_URL, t.s[start - 1]);
	     start--)
		;
	for (i = start; i < end; i++)
		if (t.s[i] != '_' && t.s[i] != '-')
			name[n++] = env_upper(t.s[i]);
	return n;
}

static const struct secret_key *key_find(struct env_text name)
{
	size_t i, n;

	/* It guards certificates that everybody may read. */
	if (env_is(name, "TRUSTSTOREPASSWORD"))
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

/* The value behind a separator, without quotes. */
static struct env_text value_behind(struct env_text rest)
{
	size_t i = 0;

	while (rest.len && memchr(" \t\"'\\", rest.s[0], 5))
		rest = env_from(rest, 1);
	while (i < rest.len && env_in_set(ENV_ANY, rest.s[i]) && !strchr(";,&}\\", rest.s[i]))
		i++;
	rest.len = i;
	return rest;
}

/* "${DB_PASSWORD}", "<password>": the place of a secret, not the secret */
static bool is_placeholder(struct env_text v)
{
	static const char *const marks[] = { "${", "$(", "{{", "%(", "<", "***" };
	size_t i;

	for (i = 0; i < ELEMENTSOF(marks); i++)
		if (env_begins(v, marks[i]))
			return true;
	return false;
}

static bool is_assignment_secret(struct env_text t, size_t place)
{
	struct env_text rest = env_from(t, place + 1), v;
	const struct secret_key *key;
	char name[KEY_MAX];
	bool quoted;
	size_t n = key_before(t, place, &quoted, name);

	if (n < 3)
		return false;
	/* "ls:pwd:exit" is a list: JSON quotes its names, YAML puts a blank behind the colon. */
	if (t.s[place] == ':' && !quoted && (!rest.len || rest.s[0] != ' '))
		return false;
	key = key_find((struct env_text){ name, n });
	if (!key)
		return false;
	v = value_behind(rest);
	return v.len >= key->min && !is_placeholder(v) && !env_is_truth_value(v) && !env_is_path(v);
}

/* Docker's and npm's "auth" holds user and password in base64. */
static bool is_auth_member(struct env_text t, size_t place)
{
	struct env_text v;
	char name[KEY_MAX];
	bool quoted;
	size_t n = key_before(t, place, &quoted, name);

	if (!quoted || !env_is((struct env_text){ name, n }, "AUTH"))
		return false;
	v = value_behind(env_from(t, place + 1));
	return v.len >= 16 && env_run(ENV_BASE64, v) == v.len;
}

const char *env_assignment_rule(struct env_text t)
{
	size_t i;

	for (i = 1; i + 1 < t.len; i++) {
		if (t.s[i] != '=' && t.s[i] != ':')
			continue;
		if (is_assignment_secret(t, i))
			return "assigned-secret";
		if (t.s[i] == ':' && is_auth_member(t, i))
			return "docker-credentials";
	}
	return NULL;
}

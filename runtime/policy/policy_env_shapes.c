/*
 * Secrets that are known by their structure: keys in PEM, tokens whose mark stands in the
 * middle, and files of credentials put into one variable. One pass that stops at the
 * characters such a mark begins with.
 */
#include <string.h>

#include "policy/policy_env_internal.h"
#include "util/cleanup.h"

/* How many bytes before place are in the set, at most max. */
static size_t run_before(enum env_set set, struct env_text t, size_t place, size_t max)
{
	size_t n = 0;

	while (n < max && n < place && env_in_set(set, t.s[place - 1 - n]))
		n++;
	return n;
}

/* "-----BEGIN RSA PRIVATE KEY-----", "-----BEGIN PGP PRIVATE KEY BLOCK-----" at place */
static bool is_pem_key(struct env_text t, size_t place)
{
	struct env_text label = env_from(t, place + strlen("-----BEGIN "));
	size_t end;

	if (!env_begins(env_from(t, place), "-----BEGIN "))
		return false;
	label.len = MIN(label.len, (size_t)64);
	end = env_find(label, "-----");
	label.len = end;
	return env_find(label, "PRIVATE KEY") < label.len;
}

/* Mailchimp: 32 hexadecimal digits, then the data centre: "-us12" */
static bool is_mailchimp(struct env_text t, size_t place)
{
	struct env_text rest = env_from(t, place);

	return env_begins(rest, "-us") && env_run(ENV_DIGIT, env_from(rest, 3)) > 0 &&
	       run_before(ENV_HEX, t, place, 33) == 32;
}

/* Microsoft Entra client secrets: three characters, a digit, "Q~", 31 to 34 more */
static bool is_entra(struct env_text t, size_t tilde)
{
	size_t after = env_run(ENV_BEARER, env_from(t, tilde + 1));

	return tilde >= 5 && t.s[tilde - 1] == 'Q' && env_in_set(ENV_DIGIT, t.s[tilde - 2]) &&
	       run_before(ENV_BEARER, t, tilde - 2, 3) == 3 && after >= 31 && after <= 40;
}

static bool is_terraform(struct env_text t, size_t dot)
{
	struct env_text rest = env_from(t, dot);

	return env_begins(rest, ".atlasv1.") && run_before(ENV_ALNUM, t, dot, 14) >= 14 &&
	       env_run(ENV_URL, env_from(rest, strlen(".atlasv1."))) >= 40;
}

/* Telegram: the bot's number, then ":AA" and 33 more */
static bool is_telegram(struct env_text t, size_t colon)
{
	size_t digits = run_before(ENV_DIGIT, t, colon, 12);

	return env_begins(env_from(t, colon), ":AA") && digits >= 8 && digits <= 10 &&
	       env_run(ENV_URL, env_from(t, colon + 1)) == 35;
}

/* Azure service keys: 42 characters, "+ACR" (or another service's mark), six more */
static bool is_azure_service(struct env_text t, size_t plus)
{
	static const char *const marks[] = { "+ACR", "+ASt", "+AMC", "+ARm", "+AEh" };
	size_t i;

	for (i = 0; i < ELEMENTSOF(marks); i++)
		if (env_begins(env_from(t, plus), marks[i]))
			return run_before(ENV_BASE64, t, plus, 30) == 30 &&
			       env_run(ENV_BASE64, env_from(t, plus + 4)) >= 5;
	return false;
}

/* .netrc: machine NAME login NAME password WORD */
static bool is_netrc(struct env_text t, size_t place)
{
	struct env_text rest = env_from(t, place);
	size_t at;

	if (!env_begins(rest, "machine ") || (place && env_in_set(ENV_WORD, t.s[place - 1])))
		return false;
	at = env_find(rest, "password ");
	return at + strlen("password ") < rest.len;
}

const char *env_shape_rule(struct env_text t)
{
	size_t i;

	for (i = 0; i < t.len; i++) {
		switch (t.s[i]) {
		case '-':
			if (is_pem_key(t, i))
				return "private-key";
			if (is_mailchimp(t, i))
				return "mailchimp-key";
			break;
		case '~':
			if (is_entra(t, i))
				return "azure-client-secret";
			break;
		case '.':
			if (is_terraform(t, i))
				return "terraform-token";
			break;
		case ':':
			if (is_telegram(t, i))
				return "telegram-token";
			break;
		case '+':
			if (is_azure_service(t, i))
				return "azure-service-key";
			break;
		case '"':
			if (env_begins(env_from(t, i), "\"auths\""))
				return "docker-credentials";
			break;
		case 'm':
			if (is_netrc(t, i))
				return "netrc";
			break;
		}
	}
	return NULL;
}

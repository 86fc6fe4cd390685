/*
 * Secrets that are known by their structure: keys in PEM, tokens whose mark stands in the
 * middle, and files of credentials put into one variable. One pass that stops at the
 * characters such a mark begins with.
 */
#include <string.h>

#include "util/secrets.h"
#include "util/cleanup.h"

/* How many bytes before place are in the set, at most max. */
static size_t run_before(enum secret_set set, struct secret_text t, size_t place, size_t max)
{
	size_t n = 0;

	while (n < max && n < place && secret_in_set(set, t.s[place - 1 - n]))
		n++;
	return n;
}

/* "-----BEGIN RSA PRIVATE KEY-----", "-----BEGIN PGP PRIVATE KEY BLOCK-----" at place */
static bool is_pem_key(struct secret_text t, size_t place)
{
	struct secret_text label = secret_from(t, place + strlen("-----BEGIN "));
	size_t end;

	if (!secret_begins(secret_from(t, place), "-----BEGIN "))
		return false;
	label.len = MIN(label.len, (size_t)64);
	end = secret_find(label, "-----");
	label.len = end;
	return secret_find(label, "PRIVATE KEY") < label.len;
}

/* To the end of the line that ends the key, or as far as the text goes. */
static void pem_span(struct secret_text t, size_t place, struct secret_span *ret)
{
	struct secret_text rest = secret_from(t, place + strlen("-----BEGIN "));
	size_t end = secret_find(rest, "-----END ");

	*ret = (struct secret_span){ place, t.len, "private-key", "-----END " };
	if (end == rest.len)
		return;
	rest = secret_from(rest, end + strlen("-----END "));
	end = secret_find(rest, "-----");
	ret->until = NULL;
	ret->end = MIN(t.len, (size_t)(rest.s - t.s) + end + strlen("-----"));
}

/* Mailchimp: 32 hexadecimal digits, then the data centre: "-us12" */
static bool is_mailchimp(struct secret_text t, size_t place)
{
	struct secret_text rest = secret_from(t, place);

	return secret_begins(rest, "-us") && secret_run(SECRET_DIGIT, secret_from(rest, 3)) > 0 &&
	       run_before(SECRET_HEX, t, place, 33) == 32;
}

/* Microsoft Entra client secrets: three characters, a digit, "Q~", 31 to 34 more */
static bool is_entra(struct secret_text t, size_t tilde)
{
	size_t after = secret_run(SECRET_BEARER, secret_from(t, tilde + 1));

	return tilde >= 5 && t.s[tilde - 1] == 'Q' && secret_in_set(SECRET_DIGIT, t.s[tilde - 2]) &&
	       run_before(SECRET_BEARER, t, tilde - 2, 3) == 3 && after >= 31 && after <= 40;
}

static bool is_terraform(struct secret_text t, size_t dot)
{
	struct secret_text rest = secret_from(t, dot);

	return secret_begins(rest, ".atlasv1.") && run_before(SECRET_ALNUM, t, dot, 14) >= 14 &&
	       secret_run(SECRET_URL, secret_from(rest, strlen(".atlasv1."))) >= 40;
}

/* Telegram: the bot's number, then ":AA" and 33 more */
static bool is_telegram(struct secret_text t, size_t colon)
{
	size_t digits = run_before(SECRET_DIGIT, t, colon, 12);

	return secret_begins(secret_from(t, colon), ":AA") && digits >= 8 && digits <= 10 &&
	       secret_run(SECRET_URL, secret_from(t, colon + 1)) == 35;
}

/* Azure service keys: 42 characters, "+ACR" (or another service's mark), six more */
static bool is_azure_service(struct secret_text t, size_t plus)
{
	static const char *const marks[] = { "+ACR", "+ASt", "+AMC", "+ARm", "+AEh" };
	size_t i;

	for (i = 0; i < ELEMENTSOF(marks); i++)
		if (secret_begins(secret_from(t, plus), marks[i]))
			return run_before(SECRET_BASE64, t, plus, 30) == 30 &&
			       secret_run(SECRET_BASE64, secret_from(t, plus + 4)) >= 5;
	return false;
}

/* .netrc: machine NAME login NAME password WORD */
static bool is_netrc(struct secret_text t, size_t place)
{
	struct secret_text rest = secret_from(t, place);
	size_t at;

	if (!secret_begins(rest, "machine ") || (place && secret_in_set(SECRET_WORD, t.s[place - 1])))
		return false;
	at = secret_find(rest, "password ");
	return at + strlen("password ") < rest.len;
}

/* What is known by the character at place; its set says how far it reaches to both sides. */
static const char *shape_at(struct secret_text t, size_t place, enum secret_set *ret_set)
{
	*ret_set = SECRET_BEARER;
	switch (t.s[place]) {
	case '-':
		return is_mailchimp(t, place) ? "mailchimp-key" : NULL;
	case '~':
		return is_entra(t, place) ? "azure-client-secret" : NULL;
	case '.':
		return is_terraform(t, place) ? "terraform-token" : NULL;
	case ':':
		*ret_set = SECRET_URL;
		return is_telegram(t, place) ? "telegram-token" : NULL;
	case '+':
		return is_azure_service(t, place) ? "azure-service-key" : NULL;
	default:
		return NULL;
	}
}

/* The word behind "password " of a line of .netrc */
static void netrc_span(struct secret_text t, size_t place, struct secret_span *ret)
{
	struct secret_text rest = secret_from(t, place);
	size_t start = place + secret_find(rest, "password ") + strlen("password ");

	while (start < t.len && t.s[start] == ' ')
		start++;
	*ret = (struct secret_span){ start, start + secret_run(SECRET_ANY, secret_from(t, start)),
				     "netrc", NULL };
}

/* Fills ret when one begins at or around place. */
static bool shape_span(struct secret_text t, size_t place, struct secret_span *ret)
{
	const char *rule;
	enum secret_set set;

	if (t.s[place] == '-' && is_pem_key(t, place)) {
		pem_span(t, place, ret);
		return true;
	}
	if (t.s[place] == 'm' && is_netrc(t, place)) {
		netrc_span(t, place, ret);
		return true;
	}
	/* The member inside that holds the credentials is found as an assignment. */
	if (t.s[place] == '"' && secret_begins(secret_from(t, place), "\"auths\"")) {
		*ret = (struct secret_span){ place, place + 1, "docker-credentials", NULL };
		return true;
	}
	rule = shape_at(t, place, &set);
	if (!rule)
		return false;
	*ret = (struct secret_span){ place - run_before(set, t, place, place),
				     place + 1 + secret_run(set, secret_from(t, place + 1)), rule,
				     NULL };
	return true;
}

bool secret_shape_next(struct secret_text t, size_t from, struct secret_span *ret)
{
	size_t i;

	for (i = from; i < t.len; i++)
		switch (t.s[i]) {
		case '-':
		case '~':
		case '.':
		case ':':
		case '+':
		case '"':
		case 'm':
			if (shape_span(t, i, ret) && ret->end > from)
				return true;
		}
	return false;
}

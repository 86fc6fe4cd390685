/*
 * The environment scrubber: a score on two lists that were written without its tables, the
 * order of its rules, and what its report may hold.
 */
#include <time.h>

#include "tap.h"
#include "policy/policy_env.h"
#include "util/secrets.h"
#include "util/secrets_words.h"

#define LIST_MAX 2048

static const struct policy_env_rules scrub;

/* One entry through the rules; what became of it, or NULL when it was withheld. */
static const char *pass_one(const struct policy_env_rules *rules, const char *entry,
			    struct arena *a, struct policy_env_report *report)
{
	char *env[] = { arena_strdup(a, entry), NULL }, **out = NULL;
	struct error err = ERROR_NULL;
	size_t n = 0;

	if (policy_env_apply(rules, env, 1, a, &out, &n, report, &err) < 0)
		return "failed";
	return n ? out[0] : NULL;
}

/* "REASON RULE" for one entry, "kept" or "rewritten" */
static const char *verdict(const struct policy_env_rules *rules, const char *entry)
{
	static char text[256];
	_cleanup_(arena_done) struct arena a = ARENA_NULL;
	struct policy_env_report report = { 0 };

	pass_one(rules, entry, &a, &report);
	if (!report.count)
		return "kept";
	if (report.items[0].verdict == POLICY_ENV_REWRITE)
		return "rewritten";
	snprintf(text, sizeof(text), "%s %s",
		 enum_to_name(&policy_env_reasons, report.items[0].reason), report.items[0].rule);
	return text;
}

/* "\n" and "\\" of the lists, and "^^", which is nothing. */
static void decode_line(char *s)
{
	char *to = s;

	for (; *s && *s != '\n'; s++) {
		if (s[0] == '^' && s[1] == '^') {
			s++;
		} else if (s[0] == '\\' && s[1] == 'n') {
			*to++ = '\n';
			s++;
		} else if (s[0] == '\\' && s[1] == '\\') {
			*to++ = '\\';
			s++;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

static size_t read_list(const char *name, struct arena *a, char **entries)
{
	_cleanup_fclose_ FILE *f = NULL;
	const char *srcdir = getenv("srcdir");
	char path[512], line[8192];
	size_t n = 0;

	snprintf(path, sizeof(path), "%s/tests/data/env/%s", srcdir ? srcdir : ".", name);
	f = fopen(path, "re");
	while (f && n < LIST_MAX && fgets(line, sizeof(line), f)) {
		if (line[0] == '#' || line[0] == '\n')
			continue;
		decode_line(line);
		entries[n++] = arena_strdup(a, line);
	}
	return n;
}

/* How many entries of the list were treated otherwise; names them. */
static size_t score(const char *list, bool want_kept, size_t at_least)
{
	_cleanup_(arena_done) struct arena a = ARENA_NULL;
	struct policy_env_report report;
	char *entries[LIST_MAX];
	size_t i, wrong = 0, n = read_list(list, &a, entries);

	ok(n >= at_least, "%s has %zu entries", list, n);
	for (i = 0; i < n; i++) {
		const char *out = pass_one(&scrub, entries[i], &a, &report);
		bool kept = out && strcmp(out, entries[i]) == 0;

		if (kept == want_kept)
			continue;
		wrong++;
		printf("#   %.*s: %s\n", (int)strcspn(entries[i], "="), entries[i],
		       verdict(&scrub, entries[i]));
	}
	return wrong;
}

static void test_lists(void)
{
	size_t false_positives = score("keep.list", true, 250);
	size_t misses = score("secrets.list", false, 200);

	printf("# %zu false positives, %zu misses\n", false_positives, misses);
	is_int((long long)false_positives, 0, "nothing that images need is withheld");
	is_int((long long)misses, 0, "no secret passes");
}

/* The parts keep scanners of this repository quiet. */
/* clang-format off */
#define GITHUB "ghp_" "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
#define OPENAI "sk-proj-" "Ab12Cd34Ef56Gh78Ij90Kl12Mn34Op56Qr78St90"
/* clang-format on */

static void test_order(void)
{
	is_str(verdict(&scrub, "FOO=" GITHUB), "value github-token",
	       "a value counts whatever the name");
	is_str(verdict(&scrub, "HOME=" GITHUB), "value github-token",
	       "...also of a name that stays");
	is_str(verdict(&scrub, "FOO_PASSWORD=" GITHUB), "value github-token", "...before the name");
	is_str(verdict(&scrub, "SSH_AUTH_SOCK=/tmp/x"), "pointer SSH_AUTH_SOCK", "a pointer");
	is_str(verdict(&scrub, "ssh_auth_sock=/tmp/x"), "pointer SSH_AUTH_SOCK",
	       "...in lower case");
	is_str(verdict(&scrub, "LD_PRELOAD=/usr/lib/x.so"), "pointer LD_PRELOAD", "a loader hook");
	is_str(verdict(&scrub, "AWS_SHARED_CREDENTIALS_FILE=/root/.aws/credentials"),
	       "pointer AWS_*CREDENTIALS*", "a pointer beats what is said about _FILE");
	is_str(verdict(&scrub, "FOO_PASSWORD=x"), "name PASSWORD", "a name");
	is_str(verdict(&scrub, "FOO_PASSWORD_FILE=/run/secrets/x"), "kept", "a name of a file");
	is_str(verdict(&scrub, "FOO_PASSWORD=/run/secrets/x"), "kept", "a path is no secret");
	is_str(verdict(&scrub, "FOO_PASSWORD=/AbCd1/"), "name PASSWORD",
	       "...unless it only begins like one");
	is_str(verdict(&scrub, "FOO_PASSWORD="), "kept", "nothing is no secret");
	is_str(verdict(&scrub, "REQUIRE_TOKEN=true"), "kept", "nor is a truth value");
	is_str(verdict(&scrub, "XDG_SESSION_TOKEN=x1"), "kept",
	       "a name that stays beats one that sounds");
	is_str(verdict(&scrub, "DBUS_SESSION_BUS_ADDRESS=/dev/null"), "kept",
	       "what points nowhere stays");
	is_str(verdict(&scrub, "HF_HOME=/models"), "kept", "HF_HOME is no token");
	is_str(verdict(&scrub, "HF_TOKEN=x1"), "name TOKEN", "HF_TOKEN is");
}

static void test_policy_lists(void)
{
	char *allow[] = { "OPENAI_API_KEY", "ACME_*", "SSH_AUTH_SOCK", "KEEP_ME", NULL };
	char *deny[] = { "KEEP_*", "FOO", "*_internal", NULL };
	struct policy_env_rules r = { .allow = { allow, 4, true }, .deny = { deny, 3, true } };

	is_str(verdict(&r, "OPENAI_API_KEY=" OPENAI), "kept",
	       "an exact allow passes name and value");
	is_str(verdict(&r, "openai_api_key=" OPENAI), "value openai-key",
	       "...in its own case only");
	is_str(verdict(&r, "SSH_AUTH_SOCK=/tmp/x"), "kept", "...and pointers");
	is_str(verdict(&r, "ACME_TOKEN=x1"), "kept", "a pattern passes the name");
	is_str(verdict(&r, "ACME_TOKEN=" GITHUB), "value github-token",
	       "...but not a known secret");
	is_str(verdict(&r, "FOO=1"), "deny FOO", "deny");
	is_str(verdict(&r, "foo=1"), "deny FOO", "deny in any case");
	is_str(verdict(&r, "FOO="), "deny FOO", "deny of an empty value");
	is_str(verdict(&r, "FOOD=1"), "kept", "deny is the whole name");
	is_str(verdict(&r, "A_INTERNAL=1"), "deny *_internal", "deny by pattern");
	is_str(verdict(&r, "KEEP_OUT=1"), "deny KEEP_*", "deny by pattern at the end");
	is_str(verdict(&r, "KEEP_ME=1"), "kept", "an exact allow beats a deny by pattern");
	allow[3] = "FOO";
	is_str(verdict(&r, "FOO=1"), "deny FOO", "an exact deny beats an exact allow");
}

static void test_only_listed(void)
{
	char *allow[] = { "FOO", "ACME_*", NULL };
	struct policy_env_rules none = { .only_listed = true };
	struct policy_env_rules some = { .only_listed = true, .allow = { allow, 2, true } };

	is_str(verdict(&none, "PATH=/bin"), "kept", "PATH is basic");
	is_str(verdict(&none, "LC_TIME=C"), "kept", "LC_* is basic");
	is_str(verdict(&none, "NODE_VERSION=22"), "unlisted ", "an empty list means nothing else");
	is_str(verdict(&none, "FOO=1"), "unlisted ", "...at all");
	is_str(verdict(&none, "HOME=" GITHUB), "value github-token", "values count in basic names");
	is_str(verdict(&some, "FOO=" GITHUB), "kept", "a listed name passes as it is");
	is_str(verdict(&some, "ACME_X=1"), "kept", "a listed pattern passes");
	is_str(verdict(&some, "ACME_X=" GITHUB), "value github-token", "...without secrets in it");
	is_str(verdict(&some, "BAR=1"), "unlisted ", "others do not");
}

static const char *proxy(const char *entry)
{
	static char text[512];
	_cleanup_(arena_done) struct arena a = ARENA_NULL;
	struct policy_env_report report;
	const char *out = pass_one(&scrub, entry, &a, &report);

	snprintf(text, sizeof(text), "%s%s", out ? out : "withheld",
		 report.count && out ? " (reported)" : "");
	return text;
}

static void test_proxy(void)
{
	is_str(proxy("HTTP_PROXY=http://u:pw@p:3128"), "HTTP_PROXY=http://p:3128 (reported)",
	       "user and password");
	is_str(proxy("https_proxy=http://u@p:3128/"), "https_proxy=http://p:3128/ (reported)",
	       "user");
	is_str(proxy("ALL_PROXY=u:p@ss@p:1080"), "ALL_PROXY=p:1080 (reported)",
	       "without a scheme, an @ in it");
	is_str(proxy("GOPROXY=https://a:b@x/m,https://y,direct"),
	       "GOPROXY=https://x/m,https://y,direct (reported)", "a list");
	is_str(proxy("GOPROXY=https://y|https://a:b@x/m|off"),
	       "GOPROXY=https://y|https://x/m|off (reported)", "a list with bars");
	is_str(proxy("HTTP_PROXY=http://p:3128"), "HTTP_PROXY=http://p:3128",
	       "nothing to take out");
	is_str(proxy("no_proxy=localhost,.corp"), "no_proxy=localhost,.corp", "no_proxy");
	is_str(proxy("HTTP_PROXY=http://u:pw@p/?token=abcdefgh12345678"), "withheld",
	       "more than user information");
	is_str(proxy("HTTP_PROXY=http://u:p/w@p:3128"), "withheld", "a password with a slash");
	is_str(proxy("MAIN_DB=http://u:pw@p:3128"), "withheld",
	       "other variables are not rewritten");
}

static void test_shapes(void)
{
	is_str(verdict(&scrub, "A=1 -----BEGIN RSA PRIVATE KEY-----"), "value private-key",
	       "a key in PEM");
	is_str(verdict(&scrub, "A=-----BEGIN CERTIFICATE-----x-----BEGIN PUBLIC KEY-----"), "kept",
	       "public parts");
	is_str(verdict(&scrub, "A="
			       "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKjMzE"
			       "fYyjiWA4R4"),
	       "value private-key", "a private key in DER");
	is_str(verdict(&scrub, "A="
			       "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAu1SU1LfVLPHCozMxH2Mo4lg"
			       "OEePzNm0t"),
	       "kept", "a public key in DER");
	is_str(verdict(&scrub, "A=postgres://u:pw@h/d"), "value url-credentials", "user:password@");
	is_str(verdict(&scrub, "A=postgres://u@h/d"), "kept", "user@");
	is_str(verdict(&scrub, "A=postgres://u:@h/d"), "kept", "user:@");
	is_str(verdict(&scrub, "A=redis://:pw@h"), "value url-credentials", ":password@");
	is_str(verdict(&scrub, "A=http://h:80/a@b"), "kept", "an @ behind a port");
	is_str(verdict(&scrub, "A=http://[::1]:80/a@b"), "kept", "an @ behind an address");
	is_str(verdict(&scrub, "A=http://h/x:y@z"), "kept", "an @ in a path");
	is_str(verdict(&scrub, "A=host=h password=pw"), "value assigned-secret", "password=");
	is_str(verdict(&scrub, "A=host=h password="), "kept", "password= and nothing");
	is_str(verdict(&scrub, "A=--password=${X}"), "kept", "a placeholder");
	is_str(verdict(&scrub, "A={\"password\":\"pw\"}"), "value assigned-secret", "JSON");
	is_str(verdict(&scrub, "A={\\\"password\\\":\\\"pw\\\"}"), "value assigned-secret",
	       "JSON in JSON");
	is_str(verdict(&scrub, "A=a:pwd:b"), "kept", "a list with a word");
	is_str(verdict(&scrub, "A=Basic dXNlcjpwYXNz"), "value http-basic", "Basic with user:pass");
	is_str(verdict(&scrub, "A=Basic authentication"), "kept", "Basic and a word");
	is_str(verdict(&scrub, "A=x" GITHUB), "kept", "a prefix in the middle of a word");
	is_str(verdict(&scrub, "A=x\\n" GITHUB), "value github-token",
	       "a prefix behind a written newline");
	is_str(verdict(&scrub, "A=ghp_short"), "kept", "a prefix without its length");
	is_str(verdict(&scrub, "A=Z2hwX2ExQjJjM0Q0ZTVGNmc3SDhpOUowazFMMm0zTjRvNVA2cTdSOAo="),
	       "value github-token", "one layer of base64");
}

static void test_report(void)
{
	_cleanup_(arena_done) struct arena a = ARENA_NULL;
	char *env[] = {
		"PATH=/bin",   "FOO=" GITHUB, GITHUB "=1", GITHUB, "=" GITHUB, "A\nB_TOKEN=x1",
		"X_TOKEN=abc", "X_TOKEN=def", "NOVALUE",   "",	   NULL
	};
	static const char *const names[] = { "FOO",	  "variable 2", "variable 3", "variable 4",
					     "A?B_TOKEN", "X_TOKEN",	"X_TOKEN" };
	struct policy_env_report r = { 0 };
	struct error err = ERROR_NULL;
	bool leak = false, same = true;
	char **out = NULL, name[512] = { 0 };
	size_t i, n = 0;

	is_int(policy_env_apply(&scrub, env, 10, &a, &out, &n, &r, &err), 0, "apply");
	is_int((long long)n, 3, "three pass");
	is_str(out[0], "PATH=/bin", "in their order");
	is_str(out[1], "NOVALUE", "a name without a value passes");
	is_str(out[2], "", "so does nothing at all");
	ok(out[3] == NULL, "the list ends");
	is_int((long long)r.count, 7, "seven are reported, duplicates as well");
	for (i = 0; i < r.count; i++) {
		const char *s = policy_env_sentence(&r.items[i], &a);

		leak = leak || strstr(s, "ghp_") || strstr(s, "abc") ||
		       strstr(r.items[i].rule, "ghp_");
		same = same && i < ELEMENTSOF(names) && strcmp(r.items[i].name, names[i]) == 0;
	}
	ok(!leak, "no value or part of one is in the report");
	ok(same, "a secret in the place of a name is numbered, control characters are gone");
	is_int((long long)r.items[6].index, 7, "index");
	is_str(policy_env_sentence(&r.items[6], &a),
	       "X_TOKEN was withheld: its name says that it is a secret (TOKEN); "
	       "to let it pass, list \"X_TOKEN\" in env.allow",
	       "the sentence has the remedy");
	memset(name, 'N', 300);
	memcpy(name + 300, "_TOKEN=x1", sizeof("_TOKEN=x1"));
	pass_one(&scrub, name, &a, &r);
	ok(r.count == 1 && strlen(r.items[0].name) == 131,
	   "a long name is judged by its end and shown cut");
	is_int(policy_env_apply(&scrub, NULL, 0, &a, &out, &n, &r, &err), 0, "no environment");
	ok(n == 0 && out[0] == NULL && r.count == 0, "gives none");
}

/* The tables of words are searched by their first letter. */
static void test_sorted(void)
{
	size_t i;
	bool sorted = true;

	for (i = 1; i < secret_words_count; i++)
		sorted = sorted && strcmp(secret_words[i - 1].word, secret_words[i].word) < 0;
	ok(sorted, "the words are sorted");
	for (sorted = true, i = 1; i < secret_names_count; i++)
		sorted = sorted && strcmp(secret_names[i - 1].name, secret_names[i].name) < 0;
	ok(sorted, "the names are sorted");
}

/* Every row of the table is found, so that none hides behind another or a wrong set. */
static void test_tokens(void)
{
	static const char *const runs[] = { "0",     "a1",    "A1",  "aB1",   "aB_1",
					    "a-B_1", "a-B_1", "aB1", "a-B_1", "aB1" };
	struct secret_index ix;
	size_t i, k, len, missed = 0;
	char text[512];

	secret_index_init(&ix);
	for (i = 0; i < secret_tokens_count; i++) {
		const struct secret_token *t = &secret_tokens[i];
		const char *run = runs[t->set];

		if (strcmp(t->prefix, "eyJ") == 0 || strlen(t->prefix) == 1 ||
		    strcmp(t->prefix, "MI") == 0 || strcasestr(t->prefix, "basic"))
			continue; /* they ask for more than a run */
		len = strlen(t->prefix);
		memcpy(text, t->prefix, len);
		for (k = 0; k < t->min; k++)
			text[len++] = run[k % strlen(run)];
		if (!secret_value_rule(&ix, (struct secret_text){ text, len })) {
			missed++;
			printf("#   %s\n", t->prefix);
		}
		/* One short of it is no secret by this row; the run must not be longer either. */
		if (t->max && t->max == t->min) {
			text[len++] = run[0];
			ok(!secret_value_rule(&ix, (struct secret_text){ text, len }), "%s: one too many",
			   t->prefix);
		}
	}
	is_int((long long)missed, 0, "each row of the table is found at its shortest");
}

/* A bound that only a wrong kind of algorithm breaks; the measured time is in the output. */
static void test_speed(void)
{
	char *env[LIST_MAX], **out;
	struct policy_env_report report;
	struct error err = ERROR_NULL;
	struct timespec a, b;
	_cleanup_(arena_done) struct arena list = ARENA_NULL;
	size_t i, n, got, total = read_list("keep.list", &list, env);
	double best = 1e9, us;

	/* Every seventh: a hundred of all kinds. */
	for (n = 0; n < 100 && n * 6 < total; n++)
		env[n] = env[n * 6];
	for (i = 0; i < 200; i++) {
		_cleanup_(arena_done) struct arena arena = ARENA_NULL;

		clock_gettime(CLOCK_MONOTONIC, &a);
		policy_env_apply(&scrub, env, n, &arena, &out, &got, &report, &err);
		clock_gettime(CLOCK_MONOTONIC, &b);
		us = (double)(b.tv_sec - a.tv_sec) * 1e6 + (double)(b.tv_nsec - a.tv_nsec) / 1e3;
		best = us < best ? us : best;
	}
	printf("# %zu variables in %.1f us\n", n, best);
	ok(n == 100 && best < 2000, "a hundred variables are judged quickly");
}

int main(void)
{
	TAP_BEGIN();
	test_lists();
	test_order();
	test_policy_lists();
	test_only_listed();
	test_proxy();
	test_shapes();
	test_report();
	test_sorted();
	test_tokens();
	test_speed();
	return TAP_END();
}

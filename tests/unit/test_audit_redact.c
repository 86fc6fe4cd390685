/*
 * Secrets in argv, against a list that was written without the rules; in texts that come in
 * pieces of any size; and the patterns of the policy.
 */
#include "tap.h"
#include "audit/audit_redact.h"

#include <ctype.h>

static struct error err;

/* One line of the list: the arguments, what must go, and how many secrets it has. */
struct row {
	char argv[4096];
	size_t len;
	char secrets[4][256];
	size_t n;
};

static void read_row(const char *line, struct row *r)
{
	bool inside = false;
	size_t at = 0;

	memset(r, 0, sizeof(*r));
	for (; *line && *line != '\n'; line++) {
		if (strncmp(line, "<<", 2) == 0 || strncmp(line, ">>", 2) == 0) {
			if (inside)
				r->n++;
			inside = *line == '<';
			at = 0;
			line++;
		} else if (strncmp(line, "^^", 2) == 0) {
			line++;
		} else {
			if (inside)
				r->secrets[r->n][at++] = *line;
			r->argv[r->len++] = *line == '|' ? '\0' : *line;
		}
	}
	r->len++;
}

static bool holds(const struct buf *b, const char *what)
{
	return b->len && memmem(b->data, b->len, what, strlen(what));
}

static void test_list(const struct audit_redactor *r)
{
	const char *srcdir = getenv("srcdir");
	_cleanup_fclose_ FILE *f = NULL;
	size_t rows = 0, missed = 0, wrong = 0, i;
	char path[512], line[4096];
	struct row row;

	snprintf(path, sizeof(path), "%s/tests/data/audit/argv.list", srcdir ? srcdir : ".");
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		_cleanup_buf_ struct buf out = BUF_NULL;
		bool found;

		if (line[0] == '#' || line[0] == '\n')
			continue;
		read_row(line, &row);
		found = audit_redact_argv(r, (struct audit_bytes){ row.argv, row.len }, &out);
		rows++;
		for (i = 0; i < row.n; i++)
			if (!found || holds(&out, row.secrets[i])) {
				missed++;
				printf("#   stays: %s", line);
			}
		if (found && row.n == 0) {
			wrong++;
			printf("#   taken: %s", line);
		}
		/* What is no argument with a secret stays as it is. */
		for (i = 0; found && row.n && i < row.len; i += strlen(row.argv + i) + 1) {
			size_t k;

			for (k = 0; k < row.n && !strstr(row.argv + i, row.secrets[k]); k++)
				;
			if (k == row.n && *(row.argv + i) && !holds(&out, row.argv + i)) {
				wrong++;
				printf("#   taken: \"%s\" of %s", row.argv + i, line);
			}
		}
	}
	ok(rows >= 70, "%zu commands", rows);
	is_int((long long)missed, 0, "no secret stays");
	is_int((long long)wrong, 0, "nothing else goes");
}

/* The text in pieces of the given size, as the output of a process comes. */
static void in_pieces(const struct audit_redactor *r, const char *text, size_t window, size_t cut,
		      struct buf *out)
{
	struct audit_redact_state st = { 0 };
	size_t at = 0, len = strlen(text), n;

	while (at < len) {
		n = MIN(window, len - at);
		at += audit_redact_text(r, &st, (struct audit_bytes){ text + at, n }, MIN(cut, n), out);
	}
}

/* The parts keep scanners of this repository quiet. */
#define TOKEN "ghp_" "0Aa1Bb2Cc3Dd4Ee5Ff6Gg7Hh8Ii9Jj0Kk1Ll"
#define PEM                                                                                  \
	"-----BEGIN OPENSSH " "PRIVATE KEY-----\n"                                           \
	"b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtzc2gtZW\n"           \
	"QyNTUxOQAAACDc4Jb1Zt0mUQ0qfXlqWnJ2b0p5d2x0a2V5c3RyaW5nAAAAAAECAwQFBgcI\n"           \
	"-----END OPENSSH " "PRIVATE KEY-----\n"

static void test_pieces(const struct audit_redactor *r)
{
	static const char text[] = "Cloning with " TOKEN " now\nnext line\n" PEM
				   "done\nDATABASE_URL=postgres://a:hunter22@db/x\n";
	size_t window, bad = 0;

	for (window = 100; window < 400; window++) {
		_cleanup_buf_ struct buf out = BUF_NULL;

		in_pieces(r, text, window, window / 2, &out);
		if (holds(&out, "Aa1Bb2") || holds(&out, "b3Blbn") || holds(&out, "UxOQAAA") ||
		    holds(&out, "hunter22") || !holds(&out, "Cloning with [redacted:github-token]") ||
		    !holds(&out, " now\nnext line\n") || !holds(&out, "[redacted:private-key]\ndone\nDATABASE_URL=")) {
			if (!bad++)
				printf("# window %zu: %.*s\n", window, (int)out.len, out.data);
		}
	}
	is_int((long long)bad, 0, "secrets across any border, and a key of several lines");
}

static const char *clean(const struct audit_redactor *r, const char *text)
{
	static char result[4096];
	struct audit_redact_state st = { 0 };
	_cleanup_buf_ struct buf out = BUF_NULL;

	audit_redact_text(r, &st, AUDIT_BYTES(text), strlen(text), &out);
	snprintf(result, sizeof(result), "%.*s", (int)out.len, out.len ? out.data : "");
	return result;
}

static void test_text(const struct audit_redactor *r)
{
	is_str(clean(r, "{\"auth\": \"dXNlcjpwYXNzd29yZDEy\"}"), "{\"auth\": \"[redacted:docker-credentials]\"}",
	       "docker's credentials");
	is_str(clean(r, "machine x login y password z0rk\n"), "machine x login y password [redacted:netrc]\n",
	       ".netrc");
	is_str(clean(r, "password: \"two words\"\n"), "password: \"[redacted:assigned-secret]\"\n",
	       "a quoted value to its end");
	is_str(clean(r, "STRIPE_KEY=abcdef0123\nPATH=/bin\n"), "STRIPE_KEY=[redacted:KEY]\nPATH=/bin\n",
	       "a variable whose name says it");
	is_str(clean(r, "token_count=5000\nif (password == NULL)\n"),
	       "token_count=5000\nif (password == NULL)\n", "source code stays");
	is_str(clean(r, "jdbc:oracle:thin:scott/tiger9@host"), "jdbc:oracle:thin:scott/[redacted:database-credentials]@host",
	       "Oracle");
	is_str(clean(r, "see scott:tiger9@tcp(db:3306)/x ok"), "see scott:[redacted:database-credentials]@tcp(db:3306)/x ok",
	       "Go's MySQL");
	is_str(clean(r, "aGVsbG8gd29ybGQsIHRoaXMgaXMgbm90aGluZw=="), "aGVsbG8gd29ybGQsIHRoaXMgaXMgbm90aGluZw==",
	       "base64 of nothing");
	is_str(clean(r, "cGFzc3dvcmQ9aHVudGVyMiBhbmQgc28gb24="), "[redacted:assigned-secret]",
	       "base64 of an assignment");
}

static void test_patterns(void)
{
	const char *patterns[] = { "ACME-*", "order *#", "*.corp.example", "x" };
	struct audit_redactor *r = NULL;
	char longest[400];
	const char *too_long[] = { longest };

	is_int(audit_redactor_new(patterns, 3, &r, &err), 0, "patterns");
	is_str(clean(r, "id ACME-12-34 and ACME- end"), "id [redacted:policy] and [redacted:policy] end",
	       "a star at the end, also for nothing");
	is_str(clean(r, "order 77# and order 7 8#"), "[redacted:policy] and order 7 8#",
	       "a star stays within a word");
	is_str(clean(r, "host db1.corp.example:80"), "host [redacted:policy]:80", "a star in front");
	is_str(clean(r, "nothing"), "nothing", "nothing");
	audit_redactor_free(r);
	memset(longest, 'a', sizeof(longest));
	longest[399] = '\0';
	is_int(audit_redactor_new(too_long, 1, &r, &err), -E2BIG, "too long a pattern is refused");
}

/* Many matches in one text, and texts that are made to take long. */
static void test_bounds(const struct audit_redactor *r)
{
	_cleanup_buf_ struct buf text = BUF_NULL, out = BUF_NULL;
	struct audit_redact_state st = { 0 };
	size_t i;

	for (i = 0; i < 200; i++)
		buf_addf(&text, "password=secret%zu ", i);
	audit_redact_text(r, &st, (struct audit_bytes){ text.data, text.len }, text.len, &out);
	ok(!holds(&out, "secret1"), "200 secrets in one piece");
	buf_done(&text);
	for (i = 0; i < 8192; i++)
		buf_add(&text, "=:@/\"M."+ i % 7, 1);
	buf_done(&out);
	for (i = 0; i < 20; i++)
		audit_redact_text(r, &st, (struct audit_bytes){ text.data, text.len }, text.len, &out);
	ok(true, "no text takes long");
}

int main(void)
{
	struct audit_redactor *r = NULL;

	TAP_BEGIN();
	if (audit_redactor_new(NULL, 0, &r, &err) < 0)
		return 1;
	test_list(r);
	test_text(r);
	test_pieces(r);
	test_patterns();
	test_bounds(r);
	audit_redactor_free(r);
	return TAP_END();
}

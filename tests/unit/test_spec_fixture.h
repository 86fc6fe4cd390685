/*
 * Small configurations for the tests of spec/ and plan/: a valid frame with members
 * put in. An '@' in a member marks the place whose byte offset an error must name;
 * it is taken out before parsing.
 */
#pragma once

#include <stdlib.h>

#include "spec/spec.h"
#include "tests/unit/tap.h"
#include "util/fd.h"
#include "util/str.h"

#define FIXTURE_FILE "config.json"
#define FIXTURE_TEXT_MAX 8192

struct fixture {
	char text[FIXTURE_TEXT_MAX];
	size_t len;
	size_t mark; /* offset of the marked place */
};

static inline void fixture_unmark(struct fixture *f)
{
	char *at = strchr(f->text, '@');

	f->mark = at ? (size_t)(at - f->text) : 0;
	if (at)
		memmove(at, at + 1, strlen(at));
	f->len = strlen(f->text);
}

/* Each part is a list of members without the comma in front, or NULL. */
static inline void fixture_config(struct fixture *f, const char *top, const char *process,
				  const char *linux_members)
{
	(void)snprintf(f->text, sizeof(f->text),
		       "{\"ociVersion\":\"1.0.2\",\"root\":{\"path\":\"rootfs\"},"
		       "\"process\":{\"args\":[\"sh\"],\"cwd\":\"/\"%s%s},"
		       "\"linux\":{%s}%s%s}",
		       process ? "," : "", process ? process : "",
		       linux_members ? linux_members : "", top ? "," : "", top ? top : "");
	fixture_unmark(f);
}

static inline void fixture_text(struct fixture *f, const char *text)
{
	(void)snprintf(f->text, sizeof(f->text), "%s", text);
	fixture_unmark(f);
}

/* The parsed configuration, or NULL after a "not ok". */
static inline struct spec *fixture_spec(const char *top, const char *process,
					const char *linux_members)
{
	struct error err = ERROR_NULL;
	struct spec *s = NULL;
	struct fixture f;

	fixture_config(&f, top, process, linux_members);
	if (spec_parse(FIXTURE_FILE, f.text, f.len, &s, &err) < 0) {
		ok(false, "fixture parses: %s", err.text);
		printf("#   %s\n", f.text);
		return NULL;
	}
	return s;
}

/*
 * Parses f and compares the whole message with "config.json: PATH (offset MARK): TEXT".
 * path NULL: the message has no path and offset.
 */
static inline void fixture_refused(const struct fixture *f, const char *path, const char *text,
				   const char *name)
{
	char want[ERROR_TEXT_MAX];
	struct error err = ERROR_NULL;
	struct spec *s = NULL;
	int r = spec_parse(FIXTURE_FILE, f->text, f->len, &s, &err);

	if (path)
		(void)snprintf(want, sizeof(want), "%s: %s (offset %zu): %s", FIXTURE_FILE, path,
			       f->mark, text);
	else
		(void)snprintf(want, sizeof(want), "%s: %s", FIXTURE_FILE, text);
	is_str(r < 0 ? err.text : "(accepted)", want, name);
	spec_free(s);
}

static inline const char *fixture_srcdir(void)
{
	const char *dir = getenv("srcdir");

	return dir && *dir ? dir : ".";
}

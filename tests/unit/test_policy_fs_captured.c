/*
 * The mount sources of configurations that engines really wrote: what ordinary containers
 * need must pass.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>

#include "policy/policy_fs.h"
#include "policy_fs_verdict.h"
#include "spec/spec.h"
#include "tap.h"
#include "util/cleanup.h"
#include "util/fd.h"
#include "util/str.h"

static bool has_option(const struct spec_mount *m, const char *word)
{
	size_t i;

	for (i = 0; i < m->options.count; i++)
		if (str_eq(m->options.items[i], word))
			return true;
	return false;
}

/* What a source with that name would be on the host where the config was written. */
static enum policy_fs_type guess_type(const struct spec_mount *m)
{
	static const char *const files[] = { "/resolv.conf",   "/hostname", "/hosts",
					     "/.containerenv", "/passwd",   "/group",
					     "docker-init",    "catatonit" };
	size_t i;

	for (i = 0; i < ELEMENTSOF(files); i++)
		if (strstr(m->source, files[i]))
			return POLICY_FS_FILE;
	return strstr(m->source, "/hosts.") ? POLICY_FS_FILE : POLICY_FS_DIR;
}

/* Sources that are meant to be refused: host folders of the tests that wrote the configs. */
static bool is_extraordinary(const char *source)
{
	return str_eq(source, "/etc") || str_eq(source, "/dev/shm") ||
	       str_after(source, "/sys/fs/cgroup");
}

/* An id as the recording left it, the runtime's own. */
static const char *id_in(const char *source, char id[65])
{
	const char *p = source;

	for (; *p; p++)
		if (strspn(p, "0123456789abcdef") == 64) {
			memcpy(id, p, 64);
			id[64] = '\0';
			return id;
		}
	return NULL;
}

static size_t check_config(const char *name)
{
	_cleanup_free_ char *text = NULL;
	struct error err = ERROR_NULL;
	struct spec *spec = NULL;
	size_t len = 0, i, n = 0;

	if (file_read_all(AT_FDCWD, name, 1u << 24, &text, &len, &err) < 0)
		return 0;
	if (spec_parse(name, text, len, &spec, &err) < 0)
		return 0;
	for (i = 0; i < spec->mounts.count; i++) {
		const struct spec_mount *m = &spec->mounts.items[i];
		struct policy_fs_fact f;
		const char *got;
		char id[65];

		if (!m->source || *m->source != '/' ||
		    !(has_option(m, "bind") || has_option(m, "rbind")))
			continue;
		f = fact_of(m->source, m->destination, guess_type(m));
		f.id = id_in(m->source, id);
		f.writable = !has_option(m, "ro");
		got = verdict_of(&no_rules, &f);
		n++;
		if (is_extraordinary(m->source))
			ok(str_after(got, "refuse ") != NULL, "%s: %s: %s", name, m->source, got);
		else
			ok(str_eq(got, "allow"), "%s: %s: %s", name, m->source, got);
	}
	spec_free(spec);
	return n;
}

static void test_captured(void)
{
	const char *srcdir = getenv("srcdir");
	_cleanup_closedir_ DIR *d = NULL;
	char folder[4096], path[8192];
	const struct dirent *e;
	size_t n = 0;

	snprintf(folder, sizeof(folder), "%s/tests/data/configs", srcdir ? srcdir : ".");
	d = opendir(folder);
	while (d && (e = readdir(d)) != NULL) {
		if (str_after(e->d_name, "process-") || str_after(e->d_name, "update-") ||
		    !strstr(e->d_name, ".json"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		n += check_config(path);
	}
	ok(n > 250, "%zu sources of captured configurations", n);
}

int main(void)
{
	TAP_BEGIN();
	test_captured();
	return TAP_END();
}

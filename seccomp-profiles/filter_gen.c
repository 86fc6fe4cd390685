/*
 * Runs during the build: compiles the shipped profiles, so that `run` neither parses nor
 * compiles them, and writes a C file with their texts and programs. The file holds the
 * programs of both architectures, hence one written on another machine serves a cross build.
 */
#include "filter/filter_agent_private.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <stdio.h>
#include <string.h>

#include "util/fd.h"
#include "util/str.h"

#define PROFILES_MAX 16

static struct agent_source sources[PROFILES_MAX];
static size_t n_sources;

static int find_source(const char *name, struct agent_source *ret)
{
	size_t i;

	for (i = 0; i < n_sources; i++) {
		if (str_eq(sources[i].name, name)) {
			*ret = sources[i];
			return 0;
		}
	}
	return -ENOENT;
}

static void text_write(FILE *out, size_t number, const struct agent_source *s)
{
	size_t i;

	fprintf(out, "static const char text_%zu[] = {", number);
	for (i = 0; i <= s->len; i++)
		fprintf(out, "%s%d,", i % 24 ? "" : "\n\t", s->text[i]);
	fprintf(out, "\n};\n");
}

static const char *const variant_names[] = {
	[AGENT_PLAIN] = "insns", [AGENT_REPORT] = "report", [AGENT_YIELD] = "yield"
};

static int program_write(FILE *out, size_t number, const struct agent_source *s, uint32_t arch,
			 enum agent_variant v, struct error *err)
{
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	struct filter f = FILTER_NULL;
	struct agent_profile *profile;
	size_t i;
	int r;

	r = agent_profile_read(s, find_source, arch, &arena, &profile, err);
	if (r == 0)
		r = agent_profile_vary(profile, v, &arena, err);
	if (r == 0)
		r = agent_profile_compile(profile, s->name, &f, err);
	if (r < 0)
		return r;
	fprintf(out, "static const struct sock_filter %s_%zu[] = {", variant_names[v], number);
	for (i = 0; i < f.count; i++)
		fprintf(out, "%s{ %u, %u, %u, 0x%x },", i % 4 ? " " : "\n\t", f.insns[i].code,
			f.insns[i].jt, f.insns[i].jf, f.insns[i].k);
	fprintf(out, "\n};\n");
	if (v == AGENT_PLAIN)
		fprintf(out, "#define FLAGS_%zu %uu\n", number, f.flags);
	free(f.insns);
	return 0;
}

static int file_write(FILE *out, struct error *err)
{
	static const struct {
		const char *macro;
		uint32_t arch;
	} archs[] = {
		{ "__x86_64__", AUDIT_ARCH_X86_64 },
		{ "__aarch64__", AUDIT_ARCH_AARCH64 },
	};
	size_t i, j, v;
	int r;

	fprintf(out, "/* Written by filter-gen from seccomp-profiles: change those. */\n"
		     "#include \"filter/filter_agent.h\"\n\n");
	for (j = 0; j < n_sources; j++)
		text_write(out, j, &sources[j]);
	for (i = 0; i < ELEMENTSOF(archs); i++) {
		fprintf(out, "#if defined(%s)\n", archs[i].macro);
		for (j = 0; j < n_sources; j++) {
			for (v = 0; v < ELEMENTSOF(variant_names); v++) {
				r = program_write(out, j, &sources[j], archs[i].arch, (enum agent_variant)v, err);
				if (r < 0)
					return r;
			}
		}
		fprintf(out, "#endif\n");
	}
	fprintf(out, "const struct filter_agent_shipped filter_agent_shipped[] = {\n");
	for (j = 0; j < n_sources; j++) {
		fprintf(out, "\t{ \"%s\", text_%zu, sizeof(text_%zu) - 1,\n\t ", sources[j].name, j, j);
		for (v = 0; v < ELEMENTSOF(variant_names); v++)
			fprintf(out, " %s_%zu, sizeof(%s_%zu) / sizeof(%s_%zu[0]),", variant_names[v], j,
				variant_names[v], j, variant_names[v], j);
		fprintf(out, " FLAGS_%zu },\n", j);
	}
	fprintf(out, "\t{ 0 },\n};\n");
	return 0;
}

/* argv: the output, then profiles; one that is extended before those that extend it. */
int main(int argc, char **argv)
{
	struct error err = ERROR_NULL;
	FILE *out;
	int i, r;

	if (argc < 3 || argc - 2 > PROFILES_MAX) {
		fprintf(stderr, "usage: %s OUTPUT.c PROFILE.json ...\n", argv[0]);
		return 2;
	}
	for (i = 2; i < argc; i++) {
		struct agent_source *s = &sources[n_sources++];
		const char *slash = strrchr(argv[i], '/');
		char *text, *name = strdup(slash ? slash + 1 : argv[i]);

		if (!name || file_read_all(AT_FDCWD, argv[i], FILTER_AGENT_BYTES_MAX, &text,
					   &s->len, &err) < 0) {
			fprintf(stderr, "%s: %s\n", argv[i], err.text);
			return 1;
		}
		name[strcspn(name, ".")] = '\0';
		s->name = name;
		s->text = text;
	}
	out = fopen(argv[1], "we");
	if (!out) {
		perror(argv[1]);
		return 1;
	}
	r = file_write(out, &err);
	if (fclose(out) != 0 || r < 0) {
		fprintf(stderr, "%s\n", r < 0 ? err.text : argv[1]);
		(void)unlink(argv[1]);
		return 1;
	}
	return 0;
}

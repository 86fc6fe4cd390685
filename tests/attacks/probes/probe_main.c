/*
 * The probes as one static program, to be run inside a container (run, exec, another runtime's):
 *
 *	probe			a line per probe: name, errno
 *	probe PROFILE		TAP: does each get what that shipped profile answers?
 */
#include "probe.h"

#include <stdio.h>
#include <string.h>

static const char *text(int result)
{
	if (result == PROBE_KILLED)
		return "killed";
	return result < 0 ? "failed" : result == 0 ? "done" : strerror(result);
}

/* What the score needs beside the calls. */
static void list_rights(void)
{
	static const char *const wanted[] = { "CapEff:", "NoNewPrivs:" };
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];
	size_t i;

	while (f && fgets(line, sizeof(line), f))
		for (i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
			if (strncmp(line, wanted[i], strlen(wanted[i])) == 0)
				printf("%.*s\t%s", (int)strlen(wanted[i]) - 1, line,
				       line + strlen(wanted[i]) + strspn(line + strlen(wanted[i]), "\t "));
	if (f)
		(void)fclose(f);
}

static void list(void)
{
	const struct probe *p;
	size_t i;

	list_rights();

	for (i = 0; i < PROBE_LISTS; i++)
		for (p = probe_lists[i]; p->name; p++)
			printf("%s\t%s\n", p->name, text(probe_run(p)));
}

/*
 * A call that reaches the kernel may get any answer but a kill; whether ENOSYS there is the
 * filter's or the kernel's own, the program inside cannot tell.
 */
static int check(int profile)
{
	const struct probe *p;
	int n = 0, bad = 0, got;
	size_t i;

	for (i = 0; i < PROBE_LISTS; i++) {
		for (p = probe_lists[i]; p->name; p++) {
			int want = p->want[profile];
			bool good;

			got = probe_run(p);
			good = want == PROBE_REACHES ? got != PROBE_KILLED && got != -1 : got == want;
			bad += !good;
			printf("%sok %d - %s: %s\n", good ? "" : "not ", ++n, p->name, text(got));
		}
	}
	printf("1..%d\n", n);
	return bad != 0;
}

int main(int argc, char **argv)
{
	int i;

	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc == 1) {
		list();
		return 0;
	}
	for (i = 0; i < PROBE_PROFILES; i++)
		if (strcmp(argv[1], probe_profile_names[i]) == 0)
			return check(i);
	fprintf(stderr, "usage: %s [agent-default|agent-strict|agent-build|agent-nested]\n", argv[0]);
	return 2;
}

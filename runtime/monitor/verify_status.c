/*
 * Reads back from /proc/PID/status what execve made of capabilities, no_new_privs and
 * filters. They are final only then: the executed file can raise or drop some of them.
 */
#include "monitor/verify_status.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "os/procfs.h"

/* The text behind "\nNAME:" and its blanks; NULL when there is no such line. */
static const char *field(const char *status, const char *name)
{
	char key[40];
	const char *s;

	(void)snprintf(key, sizeof(key), "\n%s:", name);
	s = strstr(status, key);
	return s ? s + strlen(key) + strspn(s + strlen(key), "\t ") : NULL;
}

static int read_number(const char *status, const char *name, int base, uint64_t *ret, struct error *err)
{
	const char *s = field(status, name);
	unsigned long long n;

	if (!s || sscanf(s, base == 16 ? "%llx" : "%llu", &n) != 1)
		return error_text(err, -EPROTO, "the kernel does not report %s of the container's process", name);
	*ret = n;
	return 0;
}

static int differs(const char *control, uint64_t got, uint64_t want, struct error *err)
{
	return error_text(err, -EPERM,
			  "verification of %s failed: the kernel reports %" PRIx64 ", the policy grants %" PRIx64
			  "; the process was not let run",
			  control, got, want);
}

static int compare_caps(const char *status, const struct state_expect *want, struct error *err)
{
	/* As uid 0 execve fills permitted and effective up to the bounding set; nothing may go beyond. */
	const struct { const char *name; uint64_t most; } sets[] = {
		{ "CapBnd", want->bounding },	   { "CapPrm", want->bounding },    { "CapEff", want->bounding },
		{ "CapInh", want->inheritable }, { "CapAmb", want->ambient },
	};
	uint64_t n;
	size_t i;
	int r;

	for (i = 0; i < ELEMENTSOF(sets); i++) {
		r = read_number(status, sets[i].name, 16, &n, err);
		if (r < 0)
			return r;
		if (n & ~sets[i].most)
			return differs(sets[i].name, n, sets[i].most, err);
	}
	return 0;
}

int verify_compare(int proc_fd, pid_t pid, const struct state_expect *want, struct error *err)
{
	_cleanup_free_ char *status = NULL;
	char path[32];
	uint64_t n = 0;
	int r;

	if (!want->set)
		return 0;
	(void)snprintf(path, sizeof(path), "%d/status", pid);
	r = procfs_read(proc_fd, path, &status, err);
	if (r == 0)
		r = compare_caps(status, want, err);
	if (r == 0)
		r = read_number(status, "NoNewPrivs", 10, &n, err);
	if (r < 0)
		return r;
	if (want->no_new_privs && n != 1)
		return differs("no_new_privs", n, 1, err);
	r = read_number(status, "Seccomp", 10, &n, err);
	if (r < 0)
		return r;
	if (want->filters > 0 && n != 2)
		return differs("seccomp mode", n, 2, err);
	/* Linux 5.9. One may be inherited, so more is no fault. */
	r = read_number(status, "Seccomp_filters", 10, &n, err);
	if (r == 0 && n < want->filters)
		return differs("number of seccomp filters", n, want->filters, err);
	return r;
}

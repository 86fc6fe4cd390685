/*
 * The call tables against what this machine's headers and libseccomp know, each other's order
 * and each other's names.
 */
#include <linux/audit.h>
#include <seccomp.h>
#include <stdlib.h>

#include "filter/filter_syscalls.h"
#include "tap.h"
#include "util/str.h"

#define HEADER "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"

static void against_libseccomp(const char *what, uint32_t token, uint32_t arch)
{
	size_t i, known = 0, wrong = 0;

	for (i = 0; i < FILTER_SYSCALLS; i++) {
		const struct filter_syscall *s = &filter_syscalls[i];
		int theirs = seccomp_syscall_resolve_name_arch(token, s->name);

		/* Negative: unknown to it, or not there. */
		if (theirs < 0)
			continue;
		known++;
		if (theirs != filter_syscall_nr(s, arch)) {
			printf("# %s: %d, libseccomp %d\n", s->name, filter_syscall_nr(s, arch),
			       theirs);
			wrong++;
		}
	}
	ok(wrong == 0 && known > 280, "%s: %zu numbers as libseccomp has them", what, known);
}

/* Every call that libseccomp knows must be in the table. */
static void complete(const char *what, uint32_t token, uint32_t arch)
{
	int nr, missing = 0;

	for (nr = 0; nr < 600; nr++) {
		char *name = seccomp_syscall_resolve_num_arch(token, nr);

		if (name && !filter_syscall_by_nr(arch, nr)) {
			printf("# %d %s is missing\n", nr, name);
			missing++;
		}
		free(name);
	}
	is_int(missing, 0, what);
}

static void against_header(void)
{
	char line[256], name[64];
	int nr, seen = 0, wrong = 0;
	FILE *f = fopen(HEADER, "re");

	while (f && fgets(line, sizeof(line), f)) {
		const struct filter_syscall *s;

		if (sscanf(line, "#define __NR_%63s %d", name, &nr) != 2)
			continue;
		seen++;
		s = filter_syscall_by_name(name);
		if (!s || s->x86_64 != nr) {
			printf("# %s %d\n", name, nr);
			wrong++;
		}
	}
	if (f)
		(void)fclose(f);
	ok(wrong == 0, "%d numbers of %s", seen, f ? HEADER : "no header: skipped");
}

static void order(void)
{
	size_t i, bad = 0, twice = 0, widths = 0;

	for (i = 0; i < FILTER_SYSCALLS; i++) {
		const struct filter_syscall *s = &filter_syscalls[i];

		bad += i > 0 && strcmp(filter_syscalls[i - 1].name, s->name) >= 0;
		bad += filter_syscall_by_name(s->name) != s;
		twice += s->x86_64 >= 0 && filter_syscall_by_nr(AUDIT_ARCH_X86_64, s->x86_64) != s;
		twice += s->aarch64 >= 0 &&
			 filter_syscall_by_nr(AUDIT_ARCH_AARCH64, s->aarch64) != s;
		twice += filter_syscall_foreign(s->name);
		widths += s->args[strspn(s->args, "lis")] != '\0';
	}
	is_int(bad, 0, "names are sorted and found");
	is_int(twice, 0, "no number twice, no name of ours among the foreign ones");
	is_int(widths, 0, "widths are l, i or s");
	ok(!filter_syscall_by_name("") && !filter_syscall_by_name("nosuchcall"), "unknown names");
	ok(!filter_syscall_by_nr(AUDIT_ARCH_X86_64, -1) &&
		   !filter_syscall_by_nr(AUDIT_ARCH_X86_64, 470),
	   "unknown numbers");
	ok(filter_syscall_foreign("socketcall") && filter_syscall_foreign("_llseek") &&
		   filter_syscall_foreign("writev_time64") == false,
	   "names of other architectures");
}

static void widths(void)
{
	is_str(filter_syscall_by_name("socket")->args, "iii", "socket(int, int, int)");
	is_str(filter_syscall_by_name("ioctl")->args, "iil", "ioctl(unsigned, unsigned, long)");
	is_str(filter_syscall_by_name("mknodat")->args, "ilsi",
	       "mknodat(int, path, umode_t, unsigned)");
	ok(filter_syscall_by_name("clone")->args[0] == 'i', "clone cuts its flags to 32 bits");
	ok(filter_syscall_arg_mask(filter_syscall_by_name("lseek"), 1) == UINT64_MAX, "off_t");
	ok(filter_syscall_arg_mask(filter_syscall_by_name("mknod"), 1) == 0xffff, "umode_t");
}

int main(void)
{
	TAP_BEGIN();
	order();
	widths();
	against_libseccomp("x86_64", SCMP_ARCH_X86_64, AUDIT_ARCH_X86_64);
	against_libseccomp("aarch64", SCMP_ARCH_AARCH64, AUDIT_ARCH_AARCH64);
	complete("x86_64: nothing is missing", SCMP_ARCH_X86_64, AUDIT_ARCH_X86_64);
	complete("aarch64: nothing is missing", SCMP_ARCH_AARCH64, AUDIT_ARCH_AARCH64);
	against_header();
	return TAP_END();
}

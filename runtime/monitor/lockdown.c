/*
 * Giving up rights for good: user, capabilities, and every system call but a few. Then it is
 * proved.
 */
#include <assert.h>
#include <errno.h>
#include <grp.h>
#include <elf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "monitor/lockdown.h"
#include "os/creds.h"

/*
 * One user for each process, so that none can signal or trace another: above every range
 * that user databases and id maps hand out. pid_max is 2^22.
 */
#define LOCKDOWN_UID_BASE 0x70000000u

/* As <linux/audit.h> composes them, whose names are also those of our log. */
#define ARCH_64BIT  0x80000000u
#define ARCH_LITTLE 0x40000000u
#if defined(__x86_64__)
#define LOCKDOWN_ARCH (EM_X86_64 | ARCH_64BIT | ARCH_LITTLE)
#elif defined(__aarch64__)
#define LOCKDOWN_ARCH (EM_AARCH64 | ARCH_64BIT | ARCH_LITTLE)
#else
#error "the filter knows x86_64 and aarch64"
#endif

/* The low half: both architectures are little-endian. */
#define ARGUMENT(n) ((unsigned)(offsetof(struct seccomp_data, args) + (unsigned)(n) * sizeof(uint64_t)))
#define FORM_LENGTH 5

static void put_form(struct sock_filter *code, const struct lockdown_form *f, bool last)
{
	code[0] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)f->call, 0, FORM_LENGTH - 1);
	code[1] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, ARGUMENT(f->index));
	code[2] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, f->argument, 0, 1);
	code[3] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[4] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	if (last)
		code[4] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)f->otherwise);
}

static int load_filter(const int *calls, size_t n_calls, const struct lockdown_form *forms, size_t n_forms,
		       struct error *err)
{
	struct sock_filter code[LOCKDOWN_CALLS_MAX + LOCKDOWN_FORMS_MAX * FORM_LENGTH + 8];
	struct sock_fprog prog = { .filter = code };
	size_t n = 0, i;

	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, LOCKDOWN_ARCH, 1, 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (i = 0; i < n_forms; i++, n += FORM_LENGTH)
		put_form(code + n, &forms[i], i + 1 == n_forms || forms[i + 1].call != forms[i].call);
	for (i = 0; i < n_calls; i++)
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i],
							 (uint8_t)(n_calls - i), 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	prog.len = (unsigned short)n;
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) < 0)
		return error_set(err, -errno, "load the system call filter of a resident program");
	return 0;
}

static int drop_ids(uid_t id, struct error *err)
{
	if (setgroups(0, NULL) < 0 || setresgid(id, id, id) < 0 || setresuid(id, id, id) < 0)
		return error_set(err, -errno, "become user %u", id);
	if (setresuid(0, 0, 0) == 0)
		return error_text(err, -EPERM, "a resident program can still become root: refusing to run it");
	return 0;
}

int lockdown_rights(bool keep_user, struct error *err)
{
	const struct caps_sets none = { 0 };
	int r = 0;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return error_set(err, -errno, "give up new privileges");
	/* In a user namespace there is no spare user: there the capabilities go, and the user stays. */
	if (geteuid() == 0 && !keep_user)
		r = drop_ids(LOCKDOWN_UID_BASE + (uid_t)getpid(), err);
	if (r == 0)
		r = caps_set(&none) < 0 ? error_set(err, -errno, "give up capabilities") : 0;
	if (r < 0)
		return r;
	/* A change of ids makes a process undumpable; said again where there was none. */
	return prctl(PR_SET_DUMPABLE, 0) < 0 ? error_set(err, -errno, "make a resident program undumpable") : 0;
}

int lockdown_calls(const int *calls, size_t n, const struct lockdown_form *forms, size_t n_forms, struct error *err)
{
	assert(n <= LOCKDOWN_CALLS_MAX && n_forms <= LOCKDOWN_FORMS_MAX);
	return load_filter(calls, n, forms, n_forms, err);
}

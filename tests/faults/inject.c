/*
 * Runs a command and makes one of its system calls fail, or kills the process that makes it. The
 * kernel asks us by seccomp's user notification, so nobody is traced and a runtime may trace its
 * own children. The command's descendants are served until the last one has ended.
 *
 *	inject [--trace FILE] [--fault ROLE:SYSCALL:N:ERRNO] [--status FD] COMMAND [ARGUMENT...]
 *
 * ROLE: parent (the command itself), child (what it forks), supervisor, monitor, helper (other
 * programs of the runtime), any. SYSCALL may be followed by @TEXT: only calls with that in a string, or
 * with that first argument (0x7), count. N: the Nth call of that name in that role; 0 = every one. ERRNO: a
 * name such as EIO, or kill. Without --fault nothing fails and --trace lists every call. Programs of
 * the container are left alone. --plain: a filter without a listener, for a runtime that needs the one listener of a
 * process itself; the call, of role "any" and N 0 alone, then fails for the container's programs, too. FD gets a line when the fault strikes and one when the command ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/parse.h"
#include "util/str.h"

#define CALLS_MAX 512
#define PIDS_MAX  256

enum role { PARENT, CHILD, SUPERVISOR, MONITOR, HELPER, OUTSIDE, ROLES };

static const char *const role_names[] = { "parent", "child", "supervisor", "monitor", "helper", "outside" };

static const struct {
	const char *name;
	int code;
} errnos[] = {
	{ "EPERM", EPERM }, { "ENOSYS", ENOSYS }, { "ENOMEM", ENOMEM }, { "EIO", EIO },	      { "EINTR", EINTR },
	{ "ENOSPC", ENOSPC }, { "EAGAIN", EAGAIN }, { "EMFILE", EMFILE }, { "kill", 0 },
};

struct known {
	pid_t pid;
	enum role role;
};

struct inject {
	FILE *trace;
	int status_fd;
	int role; /* -1 = any */
	int nr; /* -1 = no fault */
	const char *with; /* NULL = whatever the arguments */
	uint32_t matches; /* calls that had it */
	uint32_t n;
	int code; /* 0 = kill */
	bool struck;
	bool plain;
	pid_t command;
	int listener;
	uint32_t counts[ROLES][CALLS_MAX];
	struct known known[PIDS_MAX];
	size_t next_known;
};

/* Shared with the child until it executes: no system call of its own is needed to use it. */
struct shared {
	volatile int listener; /* -1 = not there yet */
	volatile int taken;
};

static void fail(const char *what)
{
	perror(what);
	exit(2);
}

static void tell(const struct inject *in, const char *format, ...)
{
	va_list ap;

	if (in->status_fd < 0)
		return;
	va_start(ap, format);
	(void)vdprintf(in->status_fd, format, ap);
	va_end(ap);
}

static enum role look_up(const struct inject *in, pid_t pid)
{
	char path[40], name[32] = "";
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	f = fopen(path, "re");
	if (!f)
		return OUTSIDE;
	if (!fgets(name, sizeof(name), f))
		name[0] = '\0';
	(void)fclose(f);
	name[strcspn(name, "\n")] = '\0';
	if (pid == in->command)
		return PARENT;
	if (str_eq(name, "agentrun") || str_eq(name, "inject"))
		return CHILD;
	if (str_eq(name, "agentrun-superv"))
		return SUPERVISOR;
	if (str_eq(name, "agentrun-monito"))
		return MONITOR;
	return str_after(name, "agentrun-") ? HELPER : OUTSIDE;
}

static enum role role_of(struct inject *in, pid_t pid)
{
	size_t i;

	for (i = 0; i < PIDS_MAX; i++)
		if (in->known[i].pid == pid)
			return in->known[i].role;
	i = in->next_known++ % PIDS_MAX;
	in->known[i] = (struct known){ pid, look_up(in, pid) };
	return in->known[i].role;
}

static void forget(struct inject *in, pid_t pid)
{
	size_t i;

	for (i = 0; i < PIDS_MAX; i++)
		if (in->known[i].pid == pid)
			in->known[i].pid = 0;
}

/* A string where the call has one; only to read the trace by. */
static void read_text(pid_t pid, uint64_t address, char *buf, size_t size)
{
	struct iovec here = { buf, size - 1 }, there = { (void *)(uintptr_t)address, size - 1 };
	ssize_t n = address < 4096 ? -1 : process_vm_readv(pid, &here, 1, &there, 1, 0);
	char *p;

	buf[n > 0 ? n : 0] = '\0';
	for (p = buf; *p; p++)
		if (*p < 32 || *p > 126)
			*p = '\0';
}

static void describe(const struct seccomp_notif *n, enum role role, uint32_t count, char *buf, size_t size)
{
	char *name = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, n->data.nr);
	char first[64], second[64];

	read_text((pid_t)n->pid, n->data.args[0], first, sizeof(first));
	read_text((pid_t)n->pid, n->data.args[1], second, sizeof(second));
	(void)snprintf(buf, size, "%s:%s:%u pid %u %#llx %#llx %#llx \"%s\" \"%s\"", role_names[role], name ? name : "?",
		       count, n->pid, (unsigned long long)n->data.args[0], (unsigned long long)n->data.args[1],
		       (unsigned long long)n->data.args[2], first, second);
	free(name);
}

static bool has_text(const struct inject *in, const struct seccomp_notif *n)
{
	char text[256], number[24];
	int i;

	(void)snprintf(number, sizeof(number), "%#llx", (unsigned long long)n->data.args[0]);
	if (str_eq(number, in->with))
		return true;
	for (i = 0; i < 2; i++) {
		read_text((pid_t)n->pid, n->data.args[i], text, sizeof(text));
		if (strstr(text, in->with))
			return true;
	}
	return false;
}

static bool strikes(struct inject *in, enum role role, const struct seccomp_notif *n, uint32_t count)
{
	if (in->nr != n->data.nr || role == OUTSIDE || (in->role >= 0 && in->role != (int)role))
		return false;
	if (in->with) {
		if (!has_text(in, n))
			return false;
		count = ++in->matches;
	}
	return in->n == 0 || (!in->struck && count == in->n);
}

static void answer(struct inject *in, const struct seccomp_notif *n)
{
	struct seccomp_notif_resp resp = { .id = n->id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };
	enum role role = role_of(in, (pid_t)n->pid);
	int nr = n->data.nr;
	uint32_t count = 0;
	char text[300];
	bool strike;

	if (nr >= 0 && nr < CALLS_MAX)
		count = ++in->counts[role][nr];
	strike = strikes(in, role, n, count);
	if (in->trace || (strike && !in->struck))
		describe(n, role, count, text, sizeof(text));
	if (in->trace)
		(void)fprintf(in->trace, "%s\n", text);
	if (strike) {
		if (!in->struck)
			tell(in, "struck %s\n", text);
		in->struck = true;
		resp.flags = 0;
		resp.error = -in->code;
		if (in->code == 0) {
			(void)kill((pid_t)n->pid, SIGKILL);
			return;
		}
	} else if (nr == SYS_execve || nr == SYS_execveat) {
		forget(in, (pid_t)n->pid);
	}
	(void)ioctl(in->listener, SECCOMP_IOCTL_NOTIF_SEND, &resp);
}

static int install(const struct inject *in)
{
	struct sock_filter one[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)in->nr, 2, 0),
		/* a name changes at execve, and with it the role */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execveat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_filter all[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF) };
	struct sock_fprog prog = { ELEMENTSOF(one), one };

	if (in->plain) {
		one[1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)in->nr, 2, 3);
		one[4].k = SECCOMP_RET_ERRNO | (uint32_t)in->code;
		return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog);
	}
	if (in->nr < 0)
		prog = (struct sock_fprog){ ELEMENTSOF(all), all };
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			    SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &prog);
}

static void start(struct inject *in, char **argv)
{
	struct shared *sh = mmap(NULL, sizeof(*sh), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int pidfd;

	if (sh == MAP_FAILED)
		fail("mmap");
	sh->listener = -1;
	in->command = fork();
	if (in->command < 0)
		fail("fork");
	if (in->command == 0) {
		if (in->status_fd >= 0)
			(void)close(in->status_fd);
		sh->listener = install(in);
		while (!sh->taken)
			;
		(void)execv(argv[0], argv);
		_exit(127);
	}
	while (sh->listener == -1) {
		if (waitpid(in->command, NULL, WNOHANG) != 0)
			fail("install the filter");
		(void)usleep(200);
	}
	if (in->plain) {
		tell(in, "struck all\n");
		sh->taken = 1;
		return;
	}
	pidfd = (int)syscall(SYS_pidfd_open, in->command, 0);
	in->listener = (int)syscall(SYS_pidfd_getfd, pidfd, sh->listener, 0);
	if (in->listener < 0)
		fail("take the listener");
	(void)close(pidfd);
	sh->taken = 1;
}

static void command_ended(struct inject *in)
{
	int status;

	if (waitpid(in->command, &status, 0) == in->command)
		tell(in, "ended %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	/* what a later process with this number is, is asked anew */
	forget(in, in->command);
	in->command = 0;
}

static void serve(struct inject *in)
{
	struct seccomp_notif n;
	struct pollfd fds[2] = {
		{ .fd = in->listener, .events = POLLIN },
		{ .fd = (int)syscall(SYS_pidfd_open, in->command, 0), .events = POLLIN },
	};

	for (;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			fail("poll");
		if (fds[0].revents & POLLIN) {
			memset(&n, 0, sizeof(n));
			if (ioctl(in->listener, SECCOMP_IOCTL_NOTIF_RECV, &n) == 0)
				answer(in, &n);
		}
		if (fds[1].revents & POLLIN) {
			command_ended(in);
			(void)close(fds[1].fd);
			fds[1].fd = -1;
			fds[1].revents = 0;
		}
		if (fds[0].revents & (POLLHUP | POLLERR))
			break;
	}
	/* nobody under the filter is left, be it that the last one has not been reaped */
	if (in->command > 0)
		command_ended(in);
}

static int parse_fault(struct inject *in, char *text)
{
	char *role = strsep(&text, ":"), *call = strsep(&text, ":"), *n = strsep(&text, ":");
	size_t i;

	if (!call || !n || !text || parse_u32(n, &in->n) < 0)
		return -1;
	in->role = -1;
	for (i = 0; i < OUTSIDE; i++)
		if (str_eq(role, role_names[i]))
			in->role = (int)i;
	in->with = call;
	(void)strsep((char **)&in->with, "@");
	in->nr = seccomp_syscall_resolve_name(call);
	in->code = -1;
	for (i = 0; i < ELEMENTSOF(errnos); i++)
		if (str_eq(text, errnos[i].name))
			in->code = errnos[i].code;
	return (in->role < 0 && !str_eq(role, "any")) || in->nr < 0 || in->code < 0 ? -1 : 0;
}

int main(int argc, char **argv)
{
	struct inject in = { .status_fd = -1, .nr = -1, .role = -1 };
	uint32_t fd;
	int i;

	for (i = 1; i + 1 < argc && argv[i][0] == '-'; i += 2) {
		if (str_eq(argv[i], "--plain"))
			in.plain = i-- >= 0;
		else if (str_eq(argv[i], "--trace"))
			in.trace = fopen(argv[i + 1], "we");
		else if (str_eq(argv[i], "--status") && parse_u32(argv[i + 1], &fd) == 0)
			in.status_fd = (int)fd;
		else if (!str_eq(argv[i], "--fault") || parse_fault(&in, argv[i + 1]) < 0)
			break;
	}
	if (i >= argc || argv[i][0] != '/') {
		(void)fprintf(stderr, "usage: inject [--trace FILE] [--fault ROLE:SYSCALL:N:ERRNO] [--status FD] /COMMAND...\n");
		return 2;
	}
	if (in.plain && (in.role >= 0 || in.n != 0 || in.with || in.code <= 0)) {
		(void)fprintf(stderr, "inject: --plain goes with a fault any:SYSCALL:0:ERRNO alone\n");
		return 2;
	}
	start(&in, argv + i);
	if (in.plain)
		command_ended(&in);
	else
		serve(&in);
	if (in.trace)
		(void)fclose(in.trace);
	return 0;
}

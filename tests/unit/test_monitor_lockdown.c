/*
 * What the monitor can still do once it reads from inside a container, tried in a process
 * under its very filter: above all, nothing to the log but append.
 */
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "audit/audit.h"
#include "monitor/monitor.h"
#include "tap.h"

#ifndef RWF_NOAPPEND
#define RWF_NOAPPEND 0x20 /* Linux 6.9 */
#endif

struct tried {
	int locked, append, getfl, setfl, pwritev, pwritev_nowait, noappend, unix_socket, inet_socket, done;
	int ask, answer, add, valid, map, link, load;
	struct rlimit file;
};

static int result(long r)
{
	return r < 0 ? -errno : 0;
}

static void try_all(struct tried *t, int log)
{
	struct monitor_config config = { .rootless = true };
	struct monitor m = { .config = &config };
	struct error err = ERROR_NULL;
	struct iovec v = { .iov_base = (char[]){ "x" }, .iov_len = 1 };
	struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	const struct sock_fprog prog = { .len = 1, .filter = &all };
	struct seccomp_notif_resp answer = { .id = 1, .error = -EPERM };
	struct seccomp_notif_addfd add = { .id = 1 };
	union bpf_attr no_map = { .map_fd = UINT32_MAX }, no_link = { .link_detach.link_fd = UINT32_MAX };
	char question[256] = "x";
	int p[2], listener;

	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &prog);
	if (pipe(p) < 0 || listener < 0)
		return;
	t->locked = monitor_lockdown(&m, &err);
	t->append = result(write(log, "more\n", 5));
	t->getfl = result(fcntl(log, F_GETFL));
	t->setfl = result(fcntl(log, F_SETFL, 0));
	t->pwritev = result(pwritev2(log, &v, 1, -1, 0));
	t->noappend = result(pwritev2(log, &v, 1, 0, RWF_NOAPPEND));
	t->pwritev_nowait = result(pwritev2(p[1], &v, 1, -1, RWF_NOWAIT));
	t->unix_socket = result(socket(AF_UNIX, SOCK_STREAM, 0));
	t->inet_socket = result(socket(AF_INET, SOCK_DGRAM, 0));
	/* Allowed ones get as far as the listener, which finds something else to refuse. */
	t->ask = result(ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, question));
	t->answer = result(ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer));
	t->add = result(ioctl(listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add));
	t->valid = result(ioctl(listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &add.id));
	t->map = result(syscall(SYS_bpf, BPF_MAP_UPDATE_ELEM, &no_map, sizeof(no_map)));
	t->link = result(syscall(SYS_bpf, BPF_LINK_DETACH, &no_link, sizeof(no_link)));
	t->load = result(syscall(SYS_bpf, BPF_BTF_GET_FD_BY_ID, &no_map, sizeof(no_map)));
	t->done = 1;
}

/* The filter kills: what is tried last must be in a process of its own. */
static int killed_by(void (*fn)(int log), int log)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		struct monitor_config config = { .rootless = true };
		struct monitor m = { .config = &config };
		struct error err = ERROR_NULL;

		if (monitor_lockdown(&m, &err) < 0)
			_exit(1);
		fn(log);
		_exit(2);
	}
	(void)waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

static void write_over(int log)
{
	(void)!pwrite(log, "X", 1, 0);
}

static void cut(int log)
{
	(void)!ftruncate(log, 0);
}

static void open_it(int log)
{
	char path[40];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", log);
	(void)!open(path, O_WRONLY);
}

int main(void)
{
	char name[] = "/tmp/test-lockdown-XXXXXX", text[64] = "";
	int fd = mkstemp(name), log = open(name, O_WRONLY | O_APPEND), status = -1;
	struct tried *t = mmap(NULL, sizeof(*t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	TAP_BEGIN();
	(void)unlink(name);
	if (!ok(fd >= 0 && log >= 0 && t != MAP_FAILED && write(log, "first\n", 6) == 6, "a log"))
		return TAP_END();
	pid = fork();
	if (pid == 0) {
		try_all(t, log);
		_exit(0);
	}
	(void)waitpid(pid, &status, 0);
	ok(t->done && status == 0, "lives on (status %x)", (unsigned)status);
	is_int(t->locked, 0, "locked down");
	is_int(t->append, 0, "it can append");
	is_int(t->getfl, 0, "and look at the flags");
	is_int(t->setfl, -EPERM, "it cannot take O_APPEND off");
	is_int(t->pwritev, 0, "appending with pwritev2");
	is_int(t->noappend, -EPERM, "not elsewhere than at the end");
	is_int(t->pwritev_nowait, 0, "the relay's way of writing");
	is_int(t->unix_socket, -EPERM, "no unix socket");
	is_int(t->inet_socket, 0, "a socket of the container's network");
	is_int(t->ask, -EINVAL, "it may ask a listener");
	is_int(t->answer, -ENOENT, "and answer it");
	is_int(t->map, -EBADF, "it may change a map that it holds");
	is_int(t->link, -EPERM, "it cannot take a program off its place");
	is_int(t->load, -EPERM, "nor use any other part of bpf(2)");
	is_int(t->add, -ENOTTY, "it cannot put a descriptor into the container");
	is_int(t->valid, -ENOTTY, "nor anything else");
	is_int(killed_by(write_over, log), SIGSYS, "pwrite kills it");
	is_int(killed_by(cut, log), SIGSYS, "so does ftruncate");
	is_int(killed_by(open_it, log), SIGSYS, "and opening the file anew");
	ok(pread(fd, text, sizeof(text) - 1, 0) > 0 && strncmp(text, "first\nmore\n", 11) == 0, "the log only grew: %s", text);
	return TAP_END();
}

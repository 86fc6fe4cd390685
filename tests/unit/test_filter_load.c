/*
 * Programs in the running kernel: real verdicts in a child, and the hand-over of a
 * listener to an agent under profiles that notify about, deny or kill for the very calls
 * that a hand-over would need.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "filter/filter_private.h"
#include "filter_profile.h"
#include "tap.h"
#include "util/fd.h"
#include "util/str.h"

#define STATE "{\"ociVersion\":\"1.3.0\",\"fds\":[\"seccompFd\"],\"pid\":42}"

#ifdef __SANITIZE_ADDRESS__
#define UNDER_SANITIZER true
#else
#define UNDER_SANITIZER false
#endif

/* Filled by the child without a system call; the parent looks after its end. */
struct report {
	int load, send, listener;
	int values[8];
	struct error err;
};

static struct report *report;

static int errno_of(long r)
{
	return r < 0 ? errno : 0;
}

static bool compile(const struct profile *p, struct filter *f)
{
	struct error err = ERROR_NULL;

	if (filter_compile(&p->s, false, -EBADF, f, &err) == 0)
		return true;
	printf("# %s\n", err.text);
	return false;
}

static void load(const struct filter *f)
{
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	report->load = filter_load(f, &report->listener, &report->err);
}

static pid_t child_start(void)
{
	pid_t pid;

	memset(report, 0, sizeof(*report));
	(void)fflush(stdout);
	pid = fork();
	return pid;
}

static int child_end(pid_t pid)
{
	int status = -1;

	(void)waitpid(pid, &status, 0);
	return status;
}

static void test_docker(void)
{
	struct filter f = FILTER_NULL;
	static struct profile p;
	pid_t pid;

	profile_from_raw(&p, &docker_profile);
	ok(compile(&p, &f), "docker's profile");
	pid = child_start();
	if (pid == 0) {
		load(&f);
		report->values[0] = errno_of(syscall(SYS_getppid));
		report->values[1] = errno_of(unshare(CLONE_NEWUSER));
		report->values[2] = errno_of(mount("none", "/nowhere", "tmpfs", 0, NULL));
		report->values[3] = errno_of(syscall(SYS_personality, 0xffffffff));
		report->values[4] = errno_of(syscall(SYS_personality, 1));
		/* cachestat(2), Linux 6.5: newer than all that the profile and the library know. */
		report->values[5] = errno_of(syscall(451, -1, NULL, NULL, 0));
		report->values[6] = errno_of(syscall(SYS_clone3, NULL, 0));
		report->values[7] = prctl(PR_GET_SECCOMP, 0, 0, 0, 0);
		_exit(0);
	}
	is_int(child_end(pid), 0, "the child survives");
	is_int(report->load, 0, "it was loaded");
	is_str(report->err.text, "", "without a message");
	is_int(report->listener, -EBADF, "no listener");
	is_int(report->values[0], 0, "getppid works");
	is_int(report->values[1], EPERM, "unshare is denied");
	is_int(report->values[2], EPERM, "mount is denied");
	is_int(report->values[3], 0, "personality's query is allowed");
	is_int(report->values[4], EPERM, "another personality is denied");
	is_int(report->values[5], ENOSYS, "a newer call does not exist");
	is_int(report->values[6], ENOSYS, "clone3 does not exist: the profile's own errno");
	is_int(report->values[7], 2, "filter mode");
	filter_done(&f);
}

static void test_kill(void)
{
	struct filter f = FILTER_NULL;
	struct profile p;
	int status;
	pid_t pid;

	profile_init(&p, SPEC_SECCOMP_ALLOW, -1);
	profile_call(&p, "mkdir", SPEC_SECCOMP_KILL_PROCESS, -1);
	ok(compile(&p, &f), "a profile that kills");
	pid = child_start();
	if (pid == 0) {
		load(&f);
		(void)syscall(SYS_mkdir, "/nowhere/x", 0700);
		_exit(0);
	}
	status = child_end(pid);
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS, "mkdir kills with SIGSYS");
	filter_done(&f);
}

static void test_refused(void)
{
	struct filter f = FILTER_NULL;
	struct profile p;
	pid_t pid;

	profile_init(&p, SPEC_SECCOMP_ALLOW, -1);
	profile_call(&p, "mkdir", SPEC_SECCOMP_NOTIFY, -1);
	ok(compile(&p, &f), "a profile that notifies");
	if (geteuid() == 0) {
		pid = child_start();
		if (pid == 0) {
			if (setresuid(65534, 65534, 65534) == 0)
				report->load = filter_load(&f, &report->listener, &report->err);
			_exit(0);
		}
		is_int(child_end(pid), 0, "an ordinary user without no_new_privs");
		is_int(report->load, -EACCES, "may not load");
		is_str(report->err.text,
		       "load the seccomp filter: permission denied: needs "
		       "noNewPrivileges or CAP_SYS_ADMIN",
		       "and is told why");
	}
	pid = child_start();
	if (pid == 0) {
		load(&f);
		load(&f);
		_exit(0);
	}
	is_int(child_end(pid), 0, "two listeners in one process");
	is_int(report->load, -EBUSY, "are refused by the kernel");
	ok(strstr(report->err.text, "has a listener") != NULL, "%s", report->err.text);
	filter_done(&f);
}

/* Answers until the child is gone: mkdir fails with EDOM, all else goes on. */
static unsigned agent_serve(int listener)
{
	struct seccomp_notif req;
	struct seccomp_notif_resp resp;
	unsigned n = 0;

	for (;;) {
		memset(&req, 0, sizeof(req));
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &req) < 0) {
			if (errno == EINTR)
				continue;
			return n;
		}
		n++;
		resp = (struct seccomp_notif_resp){ .id = req.id };
		if (req.data.nr == SYS_mkdir)
			resp.error = -EDOM;
		else
			resp.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		(void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &resp);
	}
}

static _noreturn_ void notified_child(const struct filter *f, int sock, const char *state)
{
	struct filter_courier *c;

	report->send = filter_courier_start(sock, state, strlen(state), &c, &report->err);
	if (report->send == 0) {
		load(f);
		report->send = filter_courier_send(c, report->listener, &report->err);
	}
	report->values[1]++; /* got here without waiting for the agent */
	report->values[0] = errno_of(syscall(SYS_mkdir, "/nowhere/x", 0700));
	_exit(0);
}

static void hand_over(struct profile *p, const char *what, const char *state)
{
	_cleanup_free_ char *text = malloc(strlen(state) + 1);
	_cleanup_close_ int listener = -EBADF;
	struct filter f = FILTER_NULL;
	int sv[2], status, r;
	size_t n = 0, got;
	unsigned served;
	pid_t pid;

	ok(text && compile(p, &f), "%s", what);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv) < 0)
		return;
	pid = child_start();
	if (pid == 0) {
		(void)close(sv[0]);
		notified_child(&f, sv[1], state);
	}
	(void)close(sv[1]);
	r = fd_recv(sv[0], text, strlen(state), &got, &listener, 1);
	is_int(r, 0, "the agent receives");
	for (n = got; r == 0 && n < strlen(state); n += got) {
		ssize_t more = read(sv[0], text + n, strlen(state) - n);

		if (more <= 0)
			break;
		got = (size_t)more;
	}
	text[n] = '\0';
	ok(strcmp(text, state) == 0, "the state text, whole (%zu bytes)", n);
	ok(listener >= 0, "and a listener");
	served = agent_serve(listener);
	status = child_end(pid);
	is_int(status, 0, "the child ran to its end");
	is_int(report->send, 0, "the hand-over succeeded");
	is_str(report->err.text, "", "without a message");
	is_int(report->values[0], EDOM, "mkdir got the agent's answer");
	ok(served >= 1, "the agent served %u calls", served);
	(void)close(sv[0]);
	filter_done(&f);
}

static void test_hand_over(void)
{
	static const char *const busy[] = { "sendmsg", "sendto",       "futex",	   "close",
					    "munmap",  "madvise",      "brk",	   "mmap",
					    "exit",    "rt_sigaction", "wait4",	   "mkdir",
					    "read",    "exit_group",   "mprotect", "writev" };
	static const char *const lethal[] = {
		"sendmsg",	  "sendto",    "futex",		 "close", "munmap",
		"madvise",	  "brk",       "mmap",		 "write", "wait4",
		"rt_sigprocmask", "nanosleep", "clock_nanosleep"
	};
	static const char *const needed[] = { "exit_group", "mkdir" };
	_cleanup_free_ char *large = malloc(1000001);
	struct profile p;

	profile_init(&p, SPEC_SECCOMP_ALLOW, -1);
	profile_rule(&p, busy, ELEMENTSOF(busy), SPEC_SECCOMP_NOTIFY, -1);
	hand_over(&p, "notifies about sendmsg, futex, close, munmap", STATE);

	profile_init(&p, SPEC_SECCOMP_ALLOW, -1);
	profile_call(&p, "mkdir", SPEC_SECCOMP_NOTIFY, -1);
	profile_rule(&p, lethal, ELEMENTSOF(lethal), SPEC_SECCOMP_KILL_PROCESS, -1);
	hand_over(&p, "kills for sendmsg, futex, close, munmap", STATE);

	/* A sanitizer's run-time makes calls of its own when a thread is joined. */
	profile_init(&p, UNDER_SANITIZER ? SPEC_SECCOMP_ALLOW : SPEC_SECCOMP_KILL_PROCESS, -1);
	if (!UNDER_SANITIZER)
		profile_rule(&p, needed, 1, SPEC_SECCOMP_ALLOW, -1);
	profile_rule(&p, needed + 1, 1, SPEC_SECCOMP_NOTIFY, -1);
	hand_over(&p, "allows only exit_group", STATE);

	if (large) {
		memset(large, 'x', 1000000);
		large[1000000] = '\0';
		hand_over(&p, "a state larger than the socket's buffer", large);
	}
}

static void test_courier_ends(void)
{
	struct filter_courier *c = NULL;
	struct error err = ERROR_NULL;
	int sv[2], fd;
	char byte;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv) < 0)
		return;
	is_int(filter_courier_start(sv[1], STATE, strlen(STATE), &c, &err), 0, "started");
	is_int(filter_courier_send(c, -EBADF, &err), 0, "nothing to send is no failure");
	(void)close(sv[1]);
	is_int(recv(sv[0], &byte, 1, MSG_DONTWAIT), 0, "nothing was sent");
	(void)close(sv[0]);

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sv) < 0)
		return;
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	(void)close(sv[0]);
	is_int(filter_courier_start(sv[1], STATE, strlen(STATE), &c, &err), 0, "started");
	is_int(filter_courier_send(c, fd, &err), -EPIPE, "an agent that has gone is an error");
	is_str(err.text, "seccomp listener: send it to the agent at listenerPath: broken pipe",
	       "that says so");
	free(c); /* left to execve otherwise */
	ok(fcntl(fd, F_GETFD) >= 0 && fcntl(sv[1], F_GETFD) >= 0,
	   "both descriptors stay the caller's");
	(void)close(fd);
	(void)close(sv[1]);
}

int main(void)
{
	if (seccomp_arch_native() != SCMP_ARCH_X86_64)
		return TAP_SKIP_ALL("the profiles are those of an x86_64 machine");
	report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (report == MAP_FAILED)
		return TAP_SKIP_ALL("no shared memory");
	TAP_BEGIN();
	test_docker();
	test_kill();
	test_refused();
	test_hand_over();
	test_courier_ends();
	return TAP_END();
}

/*
 * What the kernel offers to listeners: which flags it knows, whether a process of ours can
 * have one, and which programs ask for one.
 */
#include "filter/filter_agent_private.h"
#include "filter/filter_private.h"

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The kernel looks at the flags before it reads the program: EFAULT says that it knows them. */
static bool kernel_knows_flags(unsigned flags)
{
	long r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, NULL);

	return r < 0 && errno == EFAULT;
}

unsigned filter_listener_flags(void)
{
	return kernel_knows_flags(SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV) ?
		       SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV :
		       0;
}

void filter_agent_listen(struct filter *f)
{
	size_t i;

	for (i = 0; i < f->count && !f->notify; i++)
		f->notify = f->insns[i].code == (BPF_RET | BPF_K) && f->insns[i].k == SECCOMP_RET_USER_NOTIF;
	/* A process that waits for the answer may be killed, but no signal makes it ask again. */
	if (f->notify)
		f->flags |= SECCOMP_FILTER_FLAG_NEW_LISTENER | filter_listener_flags();
}

/* In a process of its own, because what is loaded stays: whether another listener is there already. */
static int listener_try(void)
{
	static const struct sock_filter allow[] = { BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW) };
	const struct sock_fprog prog = { .len = 1, .filter = (struct sock_filter *)(uintptr_t)allow };
	int status;
	pid_t pid;

	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
			_exit(2);
		_exit(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &prog) < 0);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EBUSY;
}

int filter_listener_possible(void)
{
	if (!kernel_knows_flags(SECCOMP_FILTER_FLAG_NEW_LISTENER))
		return -ENOSYS;
	return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_FILTER ? listener_try() : 0;
}

bool filter_flag_supported(const char *flag_name)
{
	unsigned bits;

	if (filter_flag(flag_name, &bits) < 0)
		return false;
	if (bits == SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)
		bits |= SECCOMP_FILTER_FLAG_NEW_LISTENER;
	return kernel_knows_flags(bits);
}

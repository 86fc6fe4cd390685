/*
 * The signal state that a program expects to be born with.
 */
#include "os/procattr.h"

#include <errno.h>
#include <signal.h>

#include "os/syscalls.h"

#define SIGNALS_MAX  64
#define SIGSET_BYTES 8

int signals_reset(void)
{
	/*
	 * The kernel's own call, because the C library keeps 32 and 33 to itself, and
	 * an ignored one of those would be inherited too. All zero is SIG_DFL in every
	 * architecture's layout, which has at most four words.
	 */
	static const unsigned long dfl[4];
	unsigned long none = 0;
	int sig;

	for (sig = 1; sig <= SIGNALS_MAX; sig++)
		if (syscall(SYS_rt_sigaction, sig, dfl, NULL, SIGSET_BYTES) < 0 && sig != SIGKILL && sig != SIGSTOP)
			return -errno;
	return syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, SIGSET_BYTES) < 0 ? -errno : 0;
}

/*
 * The ways in which the first thread of a process is not its end, for tests of who watches it.
 *
 *   thread-tricks leader-exits        the first thread ends alone, another one lives on
 *   thread-tricks thread-execs        another thread than the first executes sleep(1)
 *   thread-tricks late-exec           the first thread ends, and a second later another one executes sleep(1)
 *   thread-tricks group-exit N        N threads, then the process ends as a whole with code 7
 *   thread-tricks fault KIND          says "alive" and faults: segv, ill, fpe, trap, abort, or caught: ends with code 5
 *   thread-tricks flood               a child floods its parent with signals that it ignores
 *
 * What goes on prints "alive" every 100 ms.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void say(void)
{
	(void)!write(1, "alive\n", 6);
}

static void *live(void *arg)
{
	for (;;) {
		say();
		usleep(100000);
	}
	return arg;
}

static void *execute(void *arg)
{
	usleep(*(useconds_t *)arg);
	execl("/bin/sleep", "sleep", "300", (char *)NULL);
	_exit(127);
}

static void *wait_for_ever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void start(void *(*fn)(void *), void *arg)
{
	pthread_t t;

	if (pthread_create(&t, NULL, fn, arg) != 0)
		_exit(126);
}

static void caught(int sig)
{
	_exit(sig == SIGSEGV ? 5 : 6);
}

static void fault(const char *kind)
{
	volatile int zero = 0, seven = 7;

	say();
	if (strcmp(kind, "caught") == 0)
		signal(SIGSEGV, caught);
	else if (strcmp(kind, "segv") == 0)
		signal(SIGSEGV, SIG_IGN); /* no help */
	if (strcmp(kind, "segv") == 0 || strcmp(kind, "caught") == 0)
		*(volatile int *)(uintptr_t)zero = 1;
	else if (strcmp(kind, "fpe") == 0)
		zero = seven / zero;
	else if (strcmp(kind, "abort") == 0)
		abort();
#if defined(__x86_64__)
	else if (strcmp(kind, "ill") == 0)
		__asm__ volatile("ud2");
	else if (strcmp(kind, "trap") == 0)
		__asm__ volatile("int3");
#endif
}

int main(int argc, char **argv)
{
	static useconds_t soon = 200000, late = 1200000;
	const char *what = argc > 1 ? argv[1] : "";
	int i;

	if (strcmp(what, "leader-exits") == 0) {
		start(live, NULL);
		syscall(SYS_exit, 0);
	} else if (strcmp(what, "thread-execs") == 0) {
		start(execute, &soon);
		wait_for_ever(NULL);
	} else if (strcmp(what, "late-exec") == 0) {
		start(execute, &late);
		syscall(SYS_exit, 0);
	} else if (strcmp(what, "group-exit") == 0 && argc > 2) {
		for (i = atoi(argv[2]); i > 0; i--)
			start(wait_for_ever, NULL);
		exit(7);
	} else if (strcmp(what, "fault") == 0 && argc > 2) {
		fault(argv[2]);
	} else if (strcmp(what, "flood") == 0) {
		signal(SIGUSR1, SIG_IGN);
		if (fork() == 0)
			for (;;)
				kill(getppid(), SIGUSR1);
		live(NULL);
	}
	return 2;
}

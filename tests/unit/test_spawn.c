/* Helper programs: streams, status, limits, deadline, clean environment, exec errors. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "os/spawn.h"
#include "tests/unit/tap.h"

static struct error err;
static int status;
static char *out, *said;

static int run_full(struct spawn *s)
{
	free(out);
	free(said);
	out = said = NULL;
	status = -1;
	if (s->output_max == 0)
		s->output_max = 65536;
	return spawn_run(s, &status, &out, &said, &err);
}

static int run_sh(const char *script, struct spawn s)
{
	char *argv[] = { "sh", "-c", (char *)script, NULL };

	s.path = "/bin/sh";
	s.argv = argv;
	return run_full(&s);
}

static long long ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

static bool no_children(void)
{
	return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD;
}

static void test_streams(void)
{
	struct spawn in = { .input = "state", .input_len = 5 };

	is_int(run_sh("echo to-out; echo to-err >&2; exit 3", (struct spawn){ 0 }), 0, "run");
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 3, "exit status");
	is_str(out, "to-out\n", "stdout");
	is_str(said, "to-err\n", "stderr");
	is_int(run_sh("cat", in), 0, "with input");
	is_str(out, "state", "it arrives");
	is_str(said, "", "nothing on stderr");
	is_int(run_sh("cat", (struct spawn){ 0 }), 0, "without input stdin is at its end");
	is_str(out, "", "nothing read");
	is_int(run_sh("kill -9 $$", (struct spawn){ 0 }), 0, "killed");
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "status of a signal");
	ok(no_children(), "reaped");
}

static void test_environment(void)
{
	char *envp[] = { "A=b", NULL };
	char *argv[] = { "env", NULL };
	struct spawn s = { .path = "/usr/bin/env", .argv = argv, .envp = envp };
	struct spawn cwd = { .cwd = "/usr" };
	sigset_t set;
	int fd;

	setenv("LEAK", "yes", 1);
	is_int(run_full(&s), 0, "env");
	is_str(out, "A=b\n", "the given environment");
	s.envp = NULL;
	is_int(run_full(&s), 0, "env without one");
	is_str(out, "", "an empty environment");
	is_int(run_sh("pwd", cwd), 0, "with a folder");
	is_str(out, "/usr\n", "it runs there");

	/* A descriptor without close-on-exec, a blocked and an ignored signal. */
	fd = open("/etc/passwd", O_RDONLY);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGUSR2, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	is_int(run_sh("ls /proc/self/fd | wc -l; grep -E '^Sig(Blk|Ign)' /proc/self/status",
		      (struct spawn){ 0 }), 0, "look around");
	is_str(out, "4\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n",
	       "0-2 and the folder itself, no signal blocked or ignored");
	close(fd);
	signal(SIGPIPE, SIG_DFL);
}

static void test_limits(void)
{
	struct spawn s = { .output_max = 10 };
	size_t len = 4 * 1024 * 1024;
	char *big = calloc(1, len);
	struct spawn in = { .input = big, .input_len = len };
	sigset_t pend;

	is_int(run_sh("head -c 1000000 /dev/zero | tr '\\0' x; echo e >&2", s), 0, "much output");
	is_str(out, "xxxxxxxxxx", "cut at the limit");
	is_str(said, "e\n", "the other stream has its own");
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the writer was not stopped by it");

	is_int(run_sh("exec <&-; sleep 0.1; exit 4", in), 0, "input that nobody reads");
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 4, "is no error");
	sigpending(&pend);
	ok(!sigismember(&pend, SIGPIPE), "no SIGPIPE is left pending");
	memset(big, 'a', len);
	is_int(run_sh("wc -c", in), 0, "much input");
	is_str(out, "4194304\n", "arrives whole");
	free(big);
}

static void test_time(void)
{
	struct spawn s = { .timeout_ms = 200 };
	long long t = ms();

	is_int(run_sh("echo before; exec sleep 30", s), SPAWN_E_TIMEOUT, "deadline");
	t = ms() - t;
	ok(t >= 199 && t < 5000, "after its time (%lld ms)", t);
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "killed");
	is_str(out, "before\n", "what it said before");
	ok(no_children(), "reaped");

	t = ms();
	is_int(run_sh("sleep 5 & echo done", (struct spawn){ 0 }), 0, "a descendant keeps the streams");
	ok(ms() - t < 3000, "it is not waited for");
	is_str(out, "done\n", "output of the program");
}

static void test_failures(void)
{
	char *argv[] = { "x", NULL };
	struct spawn s = { .path = "/no/such/program", .argv = argv };
	struct spawn cwd = { .cwd = "/no/such" };
	char name[] = "/tmp/test_spawn.XXXXXX", text[16] = "";
	struct spawn to_file = { 0 };
	int fd;

	is_int(run_full(&s), -ENOENT, "missing program");
	is_str(err.text, "exec /no/such/program: no such file or directory", "its message");
	s.path = "/etc/passwd";
	is_int(run_full(&s), -EACCES, "not executable");
	is_str(err.text, "exec /etc/passwd: permission denied", "its message");
	s.path = "/usr";
	is_int(run_full(&s), -EACCES, "a folder");
	is_int(run_sh("true", cwd), -ENOENT, "missing folder");
	is_str(err.text, "chdir /no/such: no such file or directory", "its message");
	ok(no_children(), "all reaped");

	fd = mkstemp(name);
	to_file.out_fd = fd;
	is_int(run_sh("echo there; echo here >&2", to_file), 0, "stdout into a file");
	ok(pread(fd, text, 15, 0) == 6, "the file has it");
	is_str(text, "there\n", "whole");
	is_str(out, "", "nothing captured");
	is_str(said, "here\n", "stderr captured");
	close(fd);
	unlink(name);
}

int main(void)
{
	TAP_BEGIN();
	test_streams();
	test_environment();
	test_limits();
	test_time();
	test_failures();
	free(out);
	free(said);
	return TAP_END();
}

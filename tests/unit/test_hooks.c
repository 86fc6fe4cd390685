/*
 * Hook lists: what a hook gets, what its failure says, and that a failure stops the list.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "hooks/hooks.h"
#include "tap.h"
#include "util/fd.h"

#define STATE "{\"ociVersion\":\"1.3.0\",\"id\":\"c1\",\"status\":\"creating\",\"bundle\":\"/b\"}"

static char dir[] = "/tmp/agentrun-hooks-XXXXXX";
static char out_path[64], log_path[64];
static char *default_env[] = { "STAGE=default", "OUT=set-below", NULL };
static char out_var[80];

static struct hook_env base_env(void)
{
	return (struct hook_env){ .kind = "prestart",
				  .state_json = STATE,
				  .default_env = default_env };
}

/* A hook that is a shell script; argv[0] is "hook-name". */
static struct spec_hook script(char *text, char **args)
{
	args[0] = (char *)"hook-name";
	args[1] = (char *)"-c";
	args[2] = text;
	args[3] = NULL;
	return (struct spec_hook){ .path = (char *)"/bin/sh",
				   .args = { .items = args, .count = 3, .set = true } };
}

static int run_one(const char *text, struct spec_hook *h, struct hook_env *env, struct error *err)
{
	char *args[4];
	struct spec_hook hook = script((char *)(uintptr_t)text, args);

	if (h) {
		hook.env = h->env;
		hook.timeout = h->timeout;
	}
	*err = ERROR_NULL;
	return hooks_run(&hook, 1, env, err);
}

static char *file_text(const char *path)
{
	struct error err = ERROR_NULL;
	char *text = NULL;
	size_t len;

	if (file_read_all(AT_FDCWD, path, 65536, &text, &len, &err) < 0)
		return NULL;
	return text;
}

static void test_given(void)
{
	static char *own[] = { "STAGE=own", out_var, NULL };
	struct hook_env env = base_env();
	struct spec_hook h = { 0 };
	struct error err;
	char *text;

	is_int(run_one("cat > $OUT; echo \"|$0|$STAGE|$PWD|$(pwd)\" >> $OUT", NULL, &env, &err), 0,
	       "a hook runs");
	text = file_text(out_path);
	ok(text && strncmp(text, STATE "|hook-name|default|", sizeof(STATE) + 18) == 0,
	   "state on stdin, argv[0], the stage's environment");
	printf("# %s\n", text ? text : "");
	free(text);

	env.cwd = dir;
	h.env = (struct strv){ .items = own, .count = 2, .set = true };
	is_int(run_one("pwd > $OUT; echo $STAGE >> $OUT", &h, &env, &err), 0, "own environment");
	text = file_text(out_path);
	ok(text && strncmp(text, dir, strlen(dir)) == 0 && strstr(text, "\nown\n"),
	   "working directory and own environment");
	free(text);

	h.env = (struct strv){ .items = NULL, .count = 0, .set = true };
	is_int(run_one("test -z \"$STAGE$OUT\"", &h, &env, &err), 0,
	       "an empty list is an empty environment");
	is_int(run_one("exec <&-; exit 0", NULL, &env, &err), 0, "not reading stdin is fine");
	is_int(run_one("ls /proc/self/fd | wc -l > $OUT", NULL, &env, &err), 0, "descriptors");
	text = file_text(out_path);
	is_str(text, "4\n", "only 0 to 2, and the one that lists them");
	free(text);
}

static void test_argv_default(void)
{
	struct hook_env env = base_env();
	struct spec_hook h = { .path = (char *)"/bin/true" };
	struct error err = ERROR_NULL;

	is_int(hooks_run(&h, 1, &env, &err), 0, "without args the path is argv[0]");
	is_int(hooks_run(NULL, 0, &env, &err), 0, "no hooks");
}

static void test_failure(void)
{
	struct hook_env env = base_env();
	struct spec_hook h = { .path = (char *)"/nowhere/hook" };
	struct error err;

	ok(run_one("echo to-out; echo to-err >&2; exit 3", NULL, &env, &err) < 0, "exit 3");
	is_str(err.text,
	       "error running prestart hook #0: exit status 3, stdout: to-out, stderr: "
	       "to-err",
	       "both streams in the message");
	ok(run_one("exit 1", NULL, &env, &err) < 0, "silent");
	is_str(err.text, "error running prestart hook #0: exit status 1, stdout: , stderr: ",
	       "empty streams");
	ok(run_one("kill -9 $$", NULL, &env, &err) < 0, "killed");
	is_str(err.text,
	       "error running prestart hook #0: signal: killed, stdout: , stderr: ", "by a signal");
	err = ERROR_NULL;
	ok(hooks_run(&h, 1, &env, &err) < 0, "no such program");
	is_str(err.text,
	       "error running prestart hook #0: exec /nowhere/hook: no such file or "
	       "directory",
	       "is said");
	ok(run_one("head -c 100000 /dev/zero | tr '\\0' x; echo y >&2; exit 9", NULL, &env, &err) <
		   0,
	   "much output");
	ok(strstr(err.text, "exit status 9, stdout: xxx") && strstr(err.text, ", stderr: y"),
	   "is cut so that stderr is still there");
}

static void test_timeout(void)
{
	struct hook_env env = base_env();
	struct spec_hook h = { .timeout = { true, 1 } };
	struct timespec a, b;
	struct error err;

	(void)clock_gettime(CLOCK_MONOTONIC, &a);
	is_int(run_one("exec sleep 30", &h, &env, &err), -ETIMEDOUT, "a hook that hangs");
	(void)clock_gettime(CLOCK_MONOTONIC, &b);
	is_str(err.text, "error running prestart hook #0: hook ran past specified timeout of 1.0s",
	       "its message");
	ok(b.tv_sec - a.tv_sec <= 3, "in about a second");
	is_int(run_one("exit 0", &h, &env, &err), 0, "one that is quick enough");
}

static void test_order(void)
{
	struct hook_env env = base_env();
	char *args[4][4];
	struct spec_hook h[4] = {
		script((char *)"echo zero > $OUT", args[0]),
		script((char *)"echo one >> $OUT", args[1]),
		script((char *)"echo two >> $OUT; exit 7", args[2]),
		script((char *)"echo three >> $OUT", args[3]),
	};
	struct error err = ERROR_NULL;
	char *text;

	env.kind = "createRuntime";
	ok(hooks_run(h, 4, &env, &err) < 0, "the third of four fails");
	is_str(err.text, "error running createRuntime hook #2: exit status 7, stdout: , stderr: ",
	       "is named");
	text = file_text(out_path);
	is_str(text, "zero\none\ntwo\n", "in order, and the rest did not run");
	free(text);
}

static void test_files(void)
{
	struct hook_env env = base_env();
	struct error err;
	struct stat st;
	char *text;

	env.stdout_file = log_path;
	env.stderr_file = log_path;
	is_int(run_one("echo a; echo b >&2", NULL, &env, &err), 0, "streams into a file");
	ok(run_one("echo c; exit 2", NULL, &env, &err) < 0, "and a failing one");
	is_str(err.text, "error running prestart hook #0: exit status 2, stdout: , stderr: ",
	       "has nothing to show");
	text = file_text(log_path);
	is_str(text, "a\nb\nc\n", "all was appended");
	ok(stat(log_path, &st) == 0 && (st.st_mode & 07777) == 0600, "the file is private");
	free(text);
	env.stdout_file = "/nowhere/log";
	ok(run_one("true", NULL, &env, &err) < 0, "a file that cannot be");
	is_str(err.text,
	       "error running prestart hook #0: open hook output file /nowhere/log: no "
	       "such file or directory",
	       "is an error");
}

int main(void)
{
	if (!mkdtemp(dir))
		return TAP_SKIP_ALL("no temporary folder");
	(void)snprintf(out_path, sizeof(out_path), "%s/out", dir);
	(void)snprintf(log_path, sizeof(log_path), "%s/log", dir);
	(void)snprintf(out_var, sizeof(out_var), "OUT=%s", out_path);
	default_env[1] = out_var;
	TAP_BEGIN();
	test_given();
	test_argv_default();
	test_failure();
	test_timeout();
	test_order();
	test_files();
	(void)unlink(out_path);
	(void)unlink(log_path);
	(void)rmdir(dir);
	return TAP_END();
}

/*
 * The records that engines read, byte for byte, and what goes to stderr. Each case
 * runs in a child, because the log's settings belong to the process.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tap.h"
#include "util/fd.h"
#include "util/log.h"
#include "util/str.h"

static char folder[] = "/tmp/agentrun-test-log-XXXXXX";
static char *log_text, *stderr_text;
static struct error child_err;

static char *slurp(const char *name)
{
	struct error err = ERROR_NULL;
	char path[128], *text = NULL;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (file_read_all(AT_FDCWD, path, 1 << 20, &text, NULL, &err) < 0)
		return NULL;
	(void)unlink(path);
	return text;
}

/* Runs body with stderr in a file; the results are in log_text, stderr_text and child_err. */
static int run(void (*body)(const char *path))
{
	char path[128], err_path[128], report[128];
	int status = -1, fd;
	pid_t pid;

	(void)snprintf(path, sizeof(path), "%s/log", folder);
	(void)snprintf(err_path, sizeof(err_path), "%s/stderr", folder);
	(void)snprintf(report, sizeof(report), "%s/report", folder);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		fd = open(err_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (fd < 0 || dup2(fd, STDERR_FILENO) < 0)
			_exit(9);
		body(path);
		fd = open(report, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		(void)fd_write_all(fd, &child_err, sizeof(child_err));
		_exit(0);
	}
	(void)waitpid(pid, &status, 0);
	free(log_text);
	free(stderr_text);
	log_text = slurp("log");
	stderr_text = slurp("stderr");
	fd = open(report, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		if (read(fd, &child_err, sizeof(child_err)) != sizeof(child_err))
			status = -1;
		(void)close(fd);
		(void)unlink(report);
	}
	return status;
}

/* Puts T in place of the digits of the time, so that records compare. */
static const char *masked(void)
{
	static const char form[] = "dddd-dd-ddTdd:dd:ddZ";
	char *p = log_text;
	size_t i;

	for (; p && *p; p++) {
		for (i = 0; form[i] && p[i]; i++)
			if (form[i] == 'd' ? p[i] < '0' || p[i] > '9' : p[i] != form[i])
				break;
		if (!form[i])
			for (i = 0; form[i]; i++)
				if (form[i] == 'd')
					p[i] = 'd';
	}
	return log_text;
}

static void json_error_body(const char *path)
{
	(void)log_open(path, LOG_FORMAT_JSON, LOG_LEVEL_ERROR, &child_err);
	log_warningf("a warning");
	log_infof("an info");
	log_debugf("a debug");
	log_errorf("exec: \"%s\": not \\ found\nsecond \x01\xff", "/x");
}

static void text_debug_body(const char *path)
{
	_cleanup_free_ char *target = str_printf("file:%s", path);

	(void)log_open(target, LOG_FORMAT_TEXT, LOG_LEVEL_DEBUG, &child_err);
	log_debugf("one \"quoted\"\t\\");
	log_errorf("two\nthree\x1b[0m");
}

static void no_target_body(const char *path)
{
	(void)log_open(NULL, LOG_FORMAT_TEXT, LOG_LEVEL_WARNING, &child_err);
	log_infof("not this");
	log_warningf("this");
	log_errorf("and this");
}

static void json_stderr_body(const char *path)
{
	(void)log_open("", LOG_FORMAT_JSON, LOG_LEVEL_ERROR, &child_err);
	log_errorf("only here");
}

static void debug_stderr_body(const char *path)
{
	(void)log_open("", LOG_FORMAT_TEXT, LOG_LEVEL_DEBUG, &child_err);
	log_debugf("a step");
}

static void default_body(const char *path)
{
	log_warningf("not yet");
	log_errorf("before the options are read");
}

static void silent_body(const char *path)
{
	(void)umask(0);
	(void)log_open(path, LOG_FORMAT_JSON, LOG_LEVEL_ERROR, &child_err);
}

static void append_body(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	(void)fd_write_all(fd, "old\n", 4);
	(void)log_open(path, LOG_FORMAT_JSON, LOG_LEVEL_ERROR, &child_err);
	(void)fd_write_all(fd, "other\n", 6);
	log_errorf("new");
}

static void forget_body(const char *path)
{
	(void)log_open(path, LOG_FORMAT_JSON, LOG_LEVEL_DEBUG, &child_err);
	log_errorf("kept");
	log_forget();
	log_errorf("dropped");
}

static void errno_body(const char *path)
{
	(void)log_open(path, LOG_FORMAT_JSON, LOG_LEVEL_DEBUG, &child_err);
	errno = EXDEV;
	log_debugf("x");
	if (errno != EXDEV)
		_exit(5);
}

static void low_fd_body(const char *path)
{
	(void)close(STDIN_FILENO);
	(void)log_open(path, LOG_FORMAT_JSON, LOG_LEVEL_ERROR, &child_err);
	if (fcntl(STDIN_FILENO, F_GETFD) >= 0)
		_exit(6);
	log_errorf("high");
}

static void long_body(const char *path)
{
	char text[20000];

	memset(text, 'l', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	(void)log_open(path, LOG_FORMAT_JSON, LOG_LEVEL_ERROR, &child_err);
	log_errorf("%s", text);
}

static void bad_folder_body(const char *path)
{
	(void)log_open("/no/such/folder/log", LOG_FORMAT_JSON, LOG_LEVEL_ERROR, &child_err);
	log_errorf("still on stderr");
}

static void bad_id_body(const char *path)
{
	(void)log_open("journald:a\nMESSAGE=b", LOG_FORMAT_JSON, LOG_LEVEL_ERROR, &child_err);
}

static void journal_body(const char *path)
{
	if (access("/run/systemd/journal/socket", F_OK) == 0)
		(void)error_text(&child_err, -ENOENT,
				 "open the journal's socket /run/systemd/journal/socket: "
				 "no such file or directory");
	else
		(void)log_open("journald:x", LOG_FORMAT_JSON, LOG_LEVEL_ERROR, &child_err);
}

static void test_records(void)
{
	is_int(run(json_error_body), 0, "JSON at the default level");
	is_str(masked(),
	       "{\"level\":\"error\",\"msg\":\"exec: \\\"/x\\\": not \\\\ found\\nsecond "
	       "\\u0001\xef\xbf\xbd\",\"time\":\"dddd-dd-ddTdd:dd:ddZ\"}\n",
	       "one record, valid UTF-8, nothing else");
	is_str(stderr_text, "exec: \"/x\": not \\ found\nsecond \\x01\\xff\n",
	       "stderr has the bare text");

	is_int(run(text_debug_body), 0, "text with debug");
	is_str(masked(),
	       "time=\"dddd-dd-ddTdd:dd:ddZ\" level=debug msg=\"one \\\"quoted\\\"\\t\\\\\"\n"
	       "time=\"dddd-dd-ddTdd:dd:ddZ\" level=error msg=\"two\\nthree\\x1b[0m\"\n",
	       "one line a record");
	is_str(stderr_text, "one \"quoted\"\t\\\ntwo\nthree\\x1b[0m\n", "both on stderr");

	is_int(run(no_target_body), 0, "no target");
	is_str(stderr_text, "this\nand this\n", "stderr alone, from its level on");

	is_int(run(debug_stderr_body), 0, "debug without a target");
	ok(stderr_text && str_after(stderr_text, "time=\"") &&
		   strstr(stderr_text, "Z\" level=debug msg=\"a step\"\n"),
	   "gives whole records on stderr");
	is_int(run(json_stderr_body), 0, "JSON without a target");
	ok(stderr_text &&
		   str_after(stderr_text, "{\"level\":\"error\",\"msg\":\"only here\",\"time\":\""),
	   "gives JSON on stderr");

	is_int(run(default_body), 0, "before log_open");
	is_str(stderr_text, "before the options are read\n", "errors are not lost");
	free(log_text);
	log_text = NULL;
}

static void test_file(void)
{
	struct stat st;
	char path[128];
	pid_t pid;

	is_int(run(silent_body), 0, "nothing to say");
	is_str(log_text, "", "still makes the file");
	is_str(stderr_text, "", "and says nothing");
	(void)snprintf(path, sizeof(path), "%s/mode", folder);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		silent_body(path);
		_exit(0);
	}
	(void)waitpid(pid, NULL, 0);
	ok(stat(path, &st) == 0 && (st.st_mode & 07777) == 0644, "with mode 0644");
	(void)unlink(path);

	is_int(run(append_body), 0, "a log with other writers");
	ok(log_text && str_after(log_text, "old\nother\n{\"level\""), "is appended to");
	is_int(run(forget_body), 0, "a log that is forgotten");
	ok(log_text && strstr(log_text, "kept") && !strstr(log_text, "dropped"),
	   "gets nothing more");
	is_str(stderr_text, "kept\n", "neither does stderr");
	is_int(run(errno_body), 0, "errno survives a record");
	is_int(run(low_fd_body), 0, "the log is never descriptor 0");
	ok(log_text && strstr(log_text, "high"), "and works");
	is_int(run(long_body), 0, "a long text");
	ok(log_text && strstr(log_text, "lll...\",\"time\"") && strlen(log_text) < 9000,
	   "is cut and said so");
}

static void test_refusals(void)
{
	is_int(run(bad_folder_body), 0, "a log in a missing folder");
	is_str(child_err.text, "open log file /no/such/folder/log: no such file or directory",
	       "is named");
	is_str(stderr_text, "still on stderr\n", "and stderr goes on");
	is_int(run(bad_id_body), 0, "an identifier that would forge a field");
	is_str(child_err.text, "log target: \"a\nMESSAGE=b\" is no usable identifier",
	       "is refused");
	is_int(run(journal_body), 0, "no journal");
	is_str(child_err.text,
	       "open the journal's socket /run/systemd/journal/socket: no such file or directory",
	       "is an error");
}

int main(void)
{
	if (!mkdtemp(folder))
		return TAP_SKIP_ALL("no temporary folder");
	TAP_BEGIN();
	test_records();
	test_file();
	test_refusals();
	free(log_text);
	free(stderr_text);
	ok(rmdir(folder) == 0, "nothing is left");
	return TAP_END();
}

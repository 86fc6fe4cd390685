/*
 * Runs hook lists. Owns the words of a hook's failure, which engines show and tests
 * compare; the running itself is os/spawn.
 */
#include "hooks/hooks.h"

#include <assert.h>
#include <ctype.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "os/spawn.h"
#include "util/log.h"
#include "util/str.h"

/* Of each stream: both must fit into one error text. */
#define HOOK_OUTPUT_MAX 400
#define HOOK_TIMEOUT_MAX_S (UINT64_MAX / 1000)

/* What one run needs; released as a whole. */
struct hook_io {
	int out_fd, err_fd;
	char *out, *err;
};
#define HOOK_IO_NULL ((struct hook_io){ .out_fd = -EBADF, .err_fd = -EBADF })

static void hook_io_done(struct hook_io *io)
{
	cleanup_closep(&io->out_fd);
	cleanup_closep(&io->err_fd);
	free(io->out);
	free(io->err);
}

static int stream_open(const char *path, int *ret_fd, struct error *err)
{
	int fd;

	if (!path)
		return 0;
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
	if (fd < 0)
		return error_set(err, -errno, "open hook output file %s", path);
	*ret_fd = fd;
	return 0;
}

/* Trailing line ends would break the message, which is one record of the log. */
static const char *text_trimmed(char *s)
{
	size_t n;

	if (!s)
		return "";
	n = strlen(s);
	while (n > 0 && isspace((unsigned char)s[n - 1]))
		n--;
	s[n] = '\0';
	return s;
}

/* Signal names in Go's spelling, as runc prints them; glibc's texts are those with a capital. */
static void signal_text(int sig, char *buf, size_t size)
{
	const char *s = sigdescr_np(sig);

	if (!s) {
		(void)snprintf(buf, size, "signal %d", sig);
		return;
	}
	(void)snprintf(buf, size, "%s", s);
	buf[0] = (char)tolower((unsigned char)buf[0]);
}

static int hook_failed(int status, struct hook_io *io, struct error *err)
{
	const char *out = text_trimmed(io->out);
	const char *said = text_trimmed(io->err);
	char sig[64];

	if (WIFSIGNALED(status)) {
		signal_text(WTERMSIG(status), sig, sizeof(sig));
		return error_text(err, -ECANCELED, "signal: %s, stdout: %s, stderr: %s", sig, out,
				  said);
	}
	return error_text(err, -ECANCELED, "exit status %d, stdout: %s, stderr: %s",
			  WEXITSTATUS(status), out, said);
}

static int hook_run(const struct spec_hook *h, const struct hook_env *env, struct error *err)
{
	_cleanup_(hook_io_done) struct hook_io io = HOOK_IO_NULL;
	char *const only_path[] = { h->path, NULL };
	struct spawn s = {
		.path = h->path,
		.argv = h->args.count > 0 ? h->args.items : only_path,
		.cwd = env->cwd,
		.input = env->state_json,
		.input_len = strlen(env->state_json),
		.output_max = HOOK_OUTPUT_MAX,
		.swept = env->swept,
	};
	int status = 0, r;

	/* Given but empty means an empty environment; spawn takes NULL as that. */
	if (h->env.set)
		s.envp = h->env.count > 0 ? h->env.items : NULL;
	else
		s.envp = env->default_env;
	if (h->timeout.set && h->timeout.value > 0)
		s.timeout_ms = MIN((uint64_t)h->timeout.value, HOOK_TIMEOUT_MAX_S) * 1000;

	r = stream_open(env->stdout_file, &io.out_fd, err);
	if (r == 0)
		r = stream_open(env->stderr_file, &io.err_fd, err);
	if (r < 0)
		return r;
	s.out_fd = io.out_fd;
	s.err_fd = io.err_fd;

	r = spawn_run(&s, &status, &io.out, &io.err, err);
	if (r == SPAWN_E_TIMEOUT)
		return error_text(err, -ETIMEDOUT, "hook ran past specified timeout of %lld.0s",
				  (long long)h->timeout.value);
	if (r < 0)
		return r;
	return status == 0 ? 0 : hook_failed(status, &io, err);
}

int hooks_run(const struct spec_hook *items, size_t count, const struct hook_env *env,
	      struct error *err)
{
	size_t i;

	assert(env && env->kind && env->state_json);
	assert(count == 0 || items);

	for (i = 0; i < count; i++) {
		log_debugf("running %s hook #%zu: %s", env->kind, i, items[i].path);
		if (hook_run(&items[i], env, err) < 0)
			return error_prefix(err, "error running %s hook #%zu", env->kind, i);
	}
	return 0;
}

/*
 * The table of `ps`: the host's ps(1) prints, this keeps the rows of the container.
 * Knows nothing of ps's formats but that the header names a PID column.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "container/container.h"
#include "os/spawn.h"
#include "util/arena.h"
#include "util/parse.h"
#include "util/str.h"

#define PS_OUTPUT_MAX ((size_t)8 * 1024 * 1024)
#define PS_TIMEOUT_MS 30000

/* The index-th blank-separated field of the line; *ret_len 0 when there are fewer. */
static const char *field(const char *line, size_t len, size_t index, size_t *ret_len)
{
	const char *p = line, *end = line + len;

	for (;; index--) {
		const char *start;

		while (p < end && isblank((unsigned char)*p))
			p++;
		start = p;
		while (p < end && !isblank((unsigned char)*p))
			p++;
		if (index == 0 || p == start) {
			*ret_len = (size_t)(p - start);
			return start;
		}
	}
}

static int pid_column(const char *header, size_t len, size_t *ret_index)
{
	for (size_t i = 0;; i++) {
		size_t n;
		const char *f = field(header, len, i, &n);

		if (n == 0)
			return -ENOENT;
		if (n == 3 && memcmp(f, "PID", 3) == 0) {
			*ret_index = i;
			return 0;
		}
	}
}

static bool row_wanted(const char *line, size_t len, size_t column, const pid_t *pids, size_t count)
{
	char text[24];
	uint32_t pid;
	size_t n;
	const char *f = field(line, len, column, &n);

	if (n == 0 || n >= sizeof(text))
		return false;
	memcpy(text, f, n);
	text[n] = '\0';
	if (parse_u32(text, &pid) < 0)
		return false;
	for (size_t i = 0; i < count; i++)
		if ((uint32_t)pids[i] == pid)
			return true;
	return false;
}

static int filter_rows(const char *output, const pid_t *pids, size_t count, char **ret,
		       struct error *err)
{
	_cleanup_buf_ struct buf b = BUF_NULL;
	size_t column = 0;
	bool first = true;

	for (const char *line = output; *line;) {
		size_t len = strcspn(line, "\n");

		if (first && pid_column(line, len, &column) < 0)
			return error_text(err, -EINVAL, "the output of ps has no PID column");
		if (first || row_wanted(line, len, column, pids, count)) {
			buf_add(&b, line, len);
			buf_adds(&b, "\n");
		}
		first = false;
		line += len + (line[len] == '\n');
	}
	if (first)
		return error_text(err, -EINVAL, "ps printed nothing");
	*ret = buf_take(&b);
	return *ret ? 0 : error_oom(err);
}

static int run_ps(char *const *args, size_t n_args, char **ret_output, struct error *err)
{
	/* No PATH look-up: engines start us with any environment or none. */
	const char *path = access("/usr/bin/ps", X_OK) == 0 ? "/usr/bin/ps" : "/bin/ps";
	char *const env[] = { (char[]){ "PATH=/usr/bin:/bin" }, (char[]){ "LC_ALL=C.UTF-8" },
			      NULL };
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	_cleanup_free_ char *output = NULL, *complaint = NULL;
	char **argv = arena_calloc(&arena, n_args + 3, sizeof(*argv));
	int status = 0, r;

	if (!argv)
		return error_oom(err);
	argv[0] = (char[]){ "ps" };
	argv[1] = (char[]){ "-ef" };
	for (size_t i = 0; i < n_args; i++)
		argv[i + 1] = args[i];
	r = spawn_run(&(struct spawn){ .path = path,
				       .argv = argv,
				       .envp = env,
				       .timeout_ms = PS_TIMEOUT_MS,
				       .output_max = PS_OUTPUT_MAX },
		      &status, &output, &complaint, err);
	if (r == SPAWN_E_TIMEOUT)
		return error_text(err, -ETIMEDOUT, "%s took longer than %d s", path,
				  PS_TIMEOUT_MS / 1000);
	if (r < 0)
		return r;
	if (status != 0)
		return error_text(err, -EIO, "%s failed: %.*s", path, (int)strcspn(complaint, "\n"),
				  complaint);
	*ret_output = take_ptr(output);
	return 0;
}

int container_ps_table(const struct container_env *env, const char *id, char *const *args,
		       size_t n_args, char **ret_text, struct error *err)
{
	_cleanup_free_ char *output = NULL;
	_cleanup_free_ pid_t *pids = NULL;
	size_t count = 0;
	int r;

	/* First the container's pids: a process that starts afterwards is missed, but none is shown
	 * that is not its own. */
	r = container_pids(env, id, &pids, &count, err);
	if (r < 0)
		return r;
	r = run_ps(args, n_args, &output, err);
	if (r < 0)
		return r;
	return filter_rows(output, pids, count, ret_text, err);
}

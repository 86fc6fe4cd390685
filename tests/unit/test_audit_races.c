/*
 * Writers that rotate, end and remove old logs of each other, while readers list, print and verify
 * them: no reader may fail, see half a record, or call a log bad that was only removed.
 */
#include "audit_world.h"

#include <sys/wait.h>
#include <time.h>

#include "audit/audit_query.h"
#include "audit/audit_scan.h"
#include "audit/audit_verify.h"

#define WRITERS	    4
#define READERS	    2
#define SECONDS	    3
#define RECORDS	    120
#define PART_BYTES  4096
#define TOTAL_BYTES ((uint64_t)96 << 10)

static int index_fd = -EBADF;

static bool time_is_up(void)
{
	static time_t end;
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	if (!end)
		end = now.tv_sec + SECONDS;
	return now.tv_sec >= end;
}

static bool failed(const char *what, const char *name, const char *why)
{
	fprintf(stderr, "# %s %s: %s\n", what, name, why);
	return false;
}

static bool write_log(unsigned writer, bool *ret_rotated, size_t *removed)
{
	struct audit_event e = { .type = AUDIT_EXEC, .process = 0, .exec.argv = { "ls\0-l", 6 } };
	struct audit_sink_options opt = { .part_bytes = PART_BYTES, .root = "/run/agentrun" };
	char id[16], name[AUDIT_NAME_SIZE];
	struct error err = ERROR_NULL;
	struct audit_sink *s = NULL;
	struct audit_head head;
	uint32_t part = 1;
	size_t n = 0;
	int i, fd;

	(void)snprintf(id, sizeof(id), "box%u", writer);
	opt.id = id;
	if (audit_store_create(world_fd, id, opt.root, name, &opt.fd, &err) < 0 || audit_sink_open(&opt, &s, &err) < 0)
		return failed("begin", id, err.text);
	for (i = 0; i < RECORDS; i++) {
		e.exec.pid = i + 1;
		if (audit_sink_emit(s, &e, &err) < 0 || audit_sink_flush(s, false, &err) < 0)
			return failed("write", name, err.text);
		if (!audit_sink_wants_part(s))
			continue;
		if (audit_store_next(world_fd, name, ++part, &fd, &err) < 0 || audit_sink_part(s, fd, &err) < 0)
			return failed("rotate", name, err.text);
		*ret_rotated = true;
		audit_sink_head(s, &head);
		if (audit_index_write(world_fd, index_fd, name, &head, false, &err) < 0)
			return failed("index", name, err.text);
	}
	if (audit_sink_close(s, &head, &err) < 0 || audit_index_write(world_fd, index_fd, name, &head, true, &err) < 0)
		return failed("close", name, err.text);
	if (audit_store_prune(world_fd, index_fd, TOTAL_BYTES, name, &n, &err) < 0)
		return failed("prune", name, err.text);
	*removed += n;
	return true;
}

static bool writer(unsigned number)
{
	bool rotated = false;
	size_t removed = 0;

	while (!time_is_up())
		if (!write_log(number, &rotated, &removed))
			return false;
	return rotated && removed > 0;
}

static int swallow(void *arg, const char *text, size_t len)
{
	*(uint64_t *)arg += len;
	return 0;
}

static bool verify_all(uint64_t *ret_whole)
{
	_cleanup_(audit_scan_done) struct audit_scan scan = AUDIT_SCAN_NULL;
	struct error err = ERROR_NULL;
	struct audit_verdict v;
	size_t i;
	int r;

	if (audit_scan_read(world_fd, &scan, &err) < 0)
		return failed("read", "the folder", err.text);
	for (i = 0; i < scan.count; i++) {
		r = audit_verify_log(world_fd, index_fd, scan.logs[i].name, &v, &err);
		if (r == -ENOENT)
			continue;
		if (r < 0)
			return failed("verify", scan.logs[i].name, err.text);
		if (!v.whole)
			return failed("verify: not whole", v.file, v.why);
		(*ret_whole)++;
	}
	return true;
}

static bool reader(unsigned number)
{
	uint64_t bytes = 0, whole = 0;
	struct audit_query q = { .dirfd = world_fd, .index_dirfd = index_fd, .write = swallow, .arg = &bytes };
	struct audit_filter f = { 0 };
	struct error err = ERROR_NULL;
	char id[16];
	unsigned i;
	int r;

	while (!time_is_up()) {
		if (audit_query_list(&q, &err) < 0)
			return failed("list", "all", err.text);
		for (i = 0; i < WRITERS; i++) {
			(void)snprintf(id, sizeof(id), "box%u", i);
			r = audit_query_log(&q, id, &f, &err);
			if (r < 0 && r != -ENOENT)
				return failed("log", id, err.text);
		}
		if (!verify_all(&whole))
			return false;
	}
	return bytes > 0 && whole > 0;
}

static pid_t begin(bool (*work)(unsigned), unsigned number)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(work(number) ? 0 : 1);
	return pid;
}

int main(void)
{
	pid_t pids[WRITERS + READERS];
	char index_path[sizeof(world_path)];
	int status;
	unsigned i;

	TAP_BEGIN();
	/* Two such folders: of the index, and of the logs. */
	world_make();
	index_fd = world_fd;
	(void)snprintf(index_path, sizeof(index_path), "%s", world_path);
	world_make();
	for (i = 0; i < WRITERS + READERS; i++)
		pids[i] = i < WRITERS ? begin(writer, i) : begin(reader, i);
	for (i = 0; i < WRITERS + READERS; i++)
		ok(waitpid(pids[i], &status, 0) == pids[i] && status == 0, "%s %u", i < WRITERS ? "writer" : "reader", i);
	world_remove();
	world_fd = index_fd;
	(void)snprintf(world_path, sizeof(world_path), "%s", index_path);
	world_remove();
	return TAP_END();
}

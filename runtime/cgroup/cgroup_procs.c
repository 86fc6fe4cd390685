/*
 * Owns the public list of members and the signalling of all of them. A process is only
 * signalled through a descriptor taken while it was seen to be a member.
 */
#include "cgroup/cgroup.h"

#include <signal.h>
#include <string.h>

#include "cgroup/cgroup_io.h"
#include "cgroup/cgroup_members.h"
#include "os/syscalls.h"

#define KILL_TIMEOUT_US	 (10 * 1000 * 1000)
#define KILL_STEP_US	 (10 * 1000)
#define KILL_REPEAT	 8
#define SIGNAL_CHUNK_MAX 256

int cgroup_pids(const struct cgroup *cg, pid_t **ret, size_t *ret_count, struct error *err)
{
	_cleanup_cgroup_pids_ struct cgroup_pid_list list = CGROUP_PID_LIST_NULL;
	const struct cgroup_dir *d = cgroup_dir_main(cg);
	int r;

	if (d) {
		r = cgroup_members(d->path, &list);
		if (r < 0)
			return error_set(err, r, "list the processes of cgroup %s", d->path);
		cgroup_pid_list_sort(&list);
	}
	*ret_count = list.n;
	*ret = take_ptr(list.items);
	return 0;
}

static bool list_has(const struct cgroup_pid_list *list, pid_t pid)
{
	size_t lo = 0, hi = list->n, mid;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (list->items[mid] == pid)
			return true;
		if (list->items[mid] < pid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return false;
}

/*
 * Between the listing and the signal a process may end and its number go to a stranger.
 * So: take descriptors, list again, and signal those that are members still. A number
 * that was reused before the descriptor was taken is not in the second list.
 */
static int signal_chunk(const char *path, const pid_t *pids, size_t n, int sig)
{
	_cleanup_cgroup_pids_ struct cgroup_pid_list now = CGROUP_PID_LIST_NULL;
	int fds[SIGNAL_CHUNK_MAX];
	size_t i;
	int r;

	for (i = 0; i < n; i++)
		fds[i] = sys_pidfd_open(pids[i], 0);
	r = cgroup_members(path, &now);
	cgroup_pid_list_sort(&now);
	for (i = 0; i < n; i++) {
		if (fds[i] < 0)
			continue;
		if (r == 0 && list_has(&now, pids[i]) && sys_pidfd_send_signal(fds[i], sig) < 0 &&
		    errno != ESRCH)
			r = -errno;
		(void)close(fds[i]);
	}
	return r;
}

/* *ret_seen: how many there were. */
static int signal_members(const char *path, int sig, size_t *ret_seen, struct error *err)
{
	_cleanup_cgroup_pids_ struct cgroup_pid_list list = CGROUP_PID_LIST_NULL;
	size_t i, n;
	int r;

	r = cgroup_members(path, &list);
	if (r < 0)
		return error_set(err, r, "list the processes of cgroup %s", path);
	cgroup_pid_list_sort(&list);
	for (i = 0; i < list.n; i += n) {
		n = MIN(list.n - i, (size_t)SIGNAL_CHUNK_MAX);
		r = signal_chunk(path, list.items + i, n, sig);
		if (r < 0)
			return error_set(err, r, "signal the processes of cgroup %s", path);
	}
	*ret_seen = list.n;
	return 0;
}

/* All members at once, also those being forked (Linux 5.14). False: do it one by one. */
static bool kill_by_file(const struct cgroup *cg)
{
	const struct cgroup_dir *d = cgroup_dir_find(cg, "");
	_cleanup_close_ int dir = -EBADF;

	if (!d)
		return false;
	dir = cgroup_open_dir(d->path);
	return dir >= 0 && cgroup_write(dir, "cgroup.kill", "1") == 0;
}

/* Frozen by the v1 freezer a process does not act on SIGKILL before the thaw; v2 lets it die. */
static void thaw_v1(const struct cgroup *cg)
{
	struct error ignored = ERROR_NULL;
	bool v2;

	if (cgroup_dir_freezer(cg, &v2) && !v2)
		(void)cgroup_thaw(cg, &ignored);
}

static int kill_round(const struct cgroup *cg, const char *path, struct error *err)
{
	struct error ignored = ERROR_NULL;
	size_t seen = 0;
	bool v2, frozen;
	int r;

	/* Frozen, nothing can fork away between listing and signal; unable to freeze, go on. */
	frozen = cgroup_dir_freezer(cg, &v2) && cgroup_freeze(cg, &ignored) == 0;
	r = signal_members(path, SIGKILL, &seen, err);
	if (frozen)
		(void)cgroup_thaw(cg, &ignored);
	return r;
}

static int kill_all(const struct cgroup *cg, const char *path, struct error *err)
{
	struct cgroup_pause pause = { 0 };
	bool at_once = kill_by_file(cg);
	unsigned round = 0;
	int r;

	thaw_v1(cg);
	do {
		struct cgroup_pid_list left = CGROUP_PID_LIST_NULL;
		size_t n;

		/* With the file all members of the v2 folder are dying: only later look for others.
		 */
		if ((!at_once && round == 0) || (round && round % KILL_REPEAT == 0)) {
			r = kill_round(cg, path, err);
			if (r < 0)
				return r;
		}
		round++;
		r = cgroup_members(path, &left);
		n = left.n;
		cgroup_pid_list_done(&left);
		if (r < 0)
			return error_set(err, r, "list the processes of cgroup %s", path);
		if (n == 0)
			return 0;
	} while (cgroup_pause(&pause, KILL_STEP_US, KILL_TIMEOUT_US));
	return error_text(err, -ETIMEDOUT,
			  "kill the processes of cgroup %s: some are still there after %d s "
			  "(stuck in the kernel?)",
			  path, KILL_TIMEOUT_US / 1000000);
}

int cgroup_kill(const struct cgroup *cg, struct error *err)
{
	const struct cgroup_dir *d = cgroup_dir_main(cg);
	int r = 0;

	if (d && !kill_by_file(cg))
		r = kill_round(cg, d->path, err);
	thaw_v1(cg);
	return r;
}

int cgroup_signal(const struct cgroup *cg, int sig, struct error *err)
{
	const struct cgroup_dir *d = cgroup_dir_main(cg);
	size_t seen;

	if (!d)
		return 0;
	if (sig == SIGKILL)
		return kill_all(cg, d->path, err);
	return signal_members(d->path, sig, &seen, err);
}

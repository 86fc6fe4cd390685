/*
 * The v2 ways of freezing, killing, entering, delegating and enabling on a real v2 hierarchy,
 * as root. On a hybrid host it has few controllers, but the core files are all there.
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "cgroup/cgroup.h"
#include "cgroup/cgroup_driver.h"
#include "cgroup/cgroup_io.h"
#include "cgroup/cgroup_stats.h"
#include "os/syscalls.h"
#include "tap.h"
#include "util/str.h"

static char folder[256];

static struct cgroup v2_at(char *path)
{
	struct cgroup cg = { .layout = CGROUP_LAYOUT_UNIFIED, .n_dirs = 1 };

	cg.dirs[0] = (struct cgroup_dir){ .controllers = "", .path = path, .created = true };
	return cg;
}

/* Born in the cgroup; ends at a signal only. */
static pid_t child_in(const struct cgroup *cg)
{
	struct clone_args args = { .exit_signal = SIGCHLD };
	struct error err = ERROR_NULL;
	int fd = -EBADF;
	pid_t pid;

	if (cg) {
		if (cgroup_clone_fd(cg, &fd, &err) < 0)
			return -1;
		args.flags = CLONE_INTO_CGROUP;
		args.cgroup = (uint64_t)fd;
	}
	pid = sys_clone3(&args);
	if (pid == 0)
		for (;;)
			(void)pause();
	if (fd >= 0)
		(void)close(fd);
	return pid;
}

static int end_of(pid_t pid)
{
	int status = 0;

	(void)waitpid(pid, &status, 0);
	return status;
}

static size_t members(const struct cgroup *cg)
{
	_cleanup_free_ pid_t *pids = NULL;
	struct error err = ERROR_NULL;
	size_t n = 0;

	if (cgroup_pids(cg, &pids, &n, &err) < 0)
		printf("# %s\n", err.text);
	return n;
}

static bool in_cgroup(pid_t pid, const char *end)
{
	char file[64], text[4096], *line;

	(void)snprintf(file, sizeof(file), "/proc/%d/cgroup", (int)pid);
	if (cgroup_read(AT_FDCWD, file, text, sizeof(text)) < 0)
		return false;
	line = strstr(text, "0::");
	return line && strlen(line) >= strlen(end) &&
	       str_eq(line + strlen(line) - strlen(end), end);
}

static void test_freeze_and_kill(void)
{
	char path[300];
	struct cgroup cg = v2_at(path);
	struct error err = ERROR_NULL;
	bool frozen = false, blocked = true;
	pid_t a, b;
	int fd = 0;

	/* Once killed, the kernel may kill whoever is cloned into it: each test has its own. */
	(void)snprintf(path, sizeof(path), "%s/kill", folder);
	(void)mkdir(path, 0755);
	a = child_in(&cg);
	b = child_in(&cg);
	is_int(members(&cg), 2, "two members, born inside");
	is_int(cgroup_would_freeze(&cg, &blocked), 0, "ask");
	ok(!blocked, "a process can run there");
	is_int(cgroup_freeze(&cg, &err), 0, "freeze");
	(void)cgroup_frozen(&cg, &frozen, &err);
	ok(frozen, "frozen");
	(void)cgroup_would_freeze(&cg, &blocked);
	ok(blocked, "a process would stop there");
	is_int(cgroup_thaw(&cg, &err), 0, "thaw");
	(void)cgroup_frozen(&cg, &frozen, &err);
	ok(!frozen, "running");
	(void)cgroup_freeze(&cg, &err);
	is_int(cgroup_signal(&cg, SIGKILL, &err), 0, "kill while frozen");
	is_int(WTERMSIG(end_of(a)), SIGKILL, "first is dead");
	is_int(WTERMSIG(end_of(b)), SIGKILL, "second is dead");
	is_int(members(&cg), 0, "nobody left");
	is_int(cgroup_thaw(&cg, &err), 0, "thaw the empty folder");
	cg.dirs[0].created = false;
	is_int(cgroup_clone_fd(&cg, &fd, &err), 0, "clone descriptor of a folder that is not ours");
	is_int(fd, -EBADF, "is not given out");
}

static void test_enter(void)
{
	struct cgroup cg = v2_at(folder);
	struct cgroup_join join = CGROUP_JOIN_NULL;
	struct error err = ERROR_NULL;
	char sub[300], end[64];
	pid_t init, other;

	(void)snprintf(sub, sizeof(sub), "%s/init.scope", folder);
	(void)mkdir(sub, 0755);
	(void)snprintf(end, sizeof(end), "%s/init.scope", strrchr(folder, '/'));
	init = child_in(&cg);
	other = child_in(NULL);
	is_int(cgroup_attach(&cg, "init.scope", init, &err), 0, "init moves into a sub-cgroup");
	ok(in_cgroup(init, end), "and is there");
	is_int(cgroup_attach_unified(&cg, other, &err), 0, "another enters");
	ok(in_cgroup(other, strrchr(folder, '/')), "and is in the container's own folder");
	is_int(cgroup_attach_peer(&cg, init, other, &err), 0, "and follows init");
	ok(in_cgroup(other, end), "to the same place");
	is_int(cgroup_attach_peer(&cg, getpid(), other, &err), -EXDEV,
	       "but not to a process outside");
	is_int(cgroup_attach_controller(&cg, "pids", "x", other, &err), -EINVAL,
	       "no controller by name on v2");
	is_int(cgroup_join_open(&cg, NULL, &join, &err), 0, "nothing to join by tasks");
	is_int(join.n, 0, "no file is opened");
	is_int(members(&cg), 2, "members of sub-folders count");
	is_int(cgroup_signal(&cg, SIGKILL, &err), 0, "killed with the sub-folders");
	(void)end_of(init);
	(void)end_of(other);
}

static void test_enable(void)
{
	struct error err = ERROR_NULL;
	char sub[300], type[300], top[512] = "?";

	cgroup_top_controllers(folder, top, sizeof(top));
	ok(!str_eq(top, "?"), "controllers of the host: \"%s\"", top);
	is_int(cgroup_enable(folder, "nonsense", "", &err), 0, "what nobody needs may be missing");
	is_int(cgroup_enable(folder, "nonsense", "nonsense", &err), -ENOENT, "else it is an error");
	ok(strstr(err.text, "the nonsense cgroup controller is not available"), "%s", err.text);

	(void)snprintf(sub, sizeof(sub), "%s/threaded", folder);
	(void)mkdir(sub, 0755);
	(void)snprintf(type, sizeof(type), "%s/threaded/below", folder);
	(void)mkdir(type, 0755);
	if (cgroup_write(AT_FDCWD, strcat(sub, "/cgroup.type"), "threaded") == 0) {
		is_int(cgroup_enable(type, "", "", &err), -EOPNOTSUPP, "below a threaded cgroup");
		ok(strstr(err.text, "below a threaded cgroup"), "%s", err.text);
	}
}

static void test_chown(void)
{
	struct cgroup cg = v2_at(folder);
	struct error err = ERROR_NULL;
	char file[300];
	struct stat st = { 0 };

	is_int(cgroup_chown(&cg, 12345, &err), 0, "delegate");
	(void)stat(folder, &st);
	is_int(st.st_uid, 12345, "the folder");
	(void)snprintf(file, sizeof(file), "%s/cgroup.procs", folder);
	(void)stat(file, &st);
	is_int(st.st_uid, 12345, "cgroup.procs");
	(void)snprintf(file, sizeof(file), "%s/cgroup.freeze", folder);
	(void)stat(file, &st);
	is_int(st.st_uid, 0, "but not what limits it");
}

static void test_stats(void)
{
	_cleanup_json_writer_ struct json_writer *w = json_writer_new(0);
	struct cgroup cg = v2_at(folder);
	_cleanup_free_ char *text = NULL;
	struct error err = ERROR_NULL;

	json_object_begin(w, NULL);
	is_int(cgroup_stats_write(&cg, w, &err), 0, "statistics");
	json_object_end(w);
	is_int(json_take(w, &text, &err), 0, "are JSON");
	ok(text && strstr(text, "\"psi\":{\"some\":{\"avg10\":0"), "with pressure");
	ok(text && strstr(text, "\"cpuset\":{"), "and the usual members");
}

int main(void)
{
	struct cgroup cg = CGROUP_NULL;
	struct error err = ERROR_NULL;
	const struct cgroup_dir *d;
	struct cgroup_request req = { .id = "x" };
	char id[64];

	TAP_BEGIN();
	if (geteuid() != 0)
		return TAP_SKIP_ALL("needs root");
	(void)snprintf(id, sizeof(id), "/agentrun-test-v2-%d", (int)getpid());
	req.path = id;
	if (cgroup_plan(&req, &cg, &err) < 0)
		return TAP_SKIP_ALL(err.text);
	d = cgroup_dir_find(&cg, "");
	if (!d || mkdir(d->path, 0755) < 0) {
		cgroup_done(&cg);
		return TAP_SKIP_ALL("needs a v2 hierarchy that can be written");
	}
	(void)snprintf(folder, sizeof(folder), "%s", d->path);
	cgroup_done(&cg);

	test_freeze_and_kill();
	test_enter();
	test_enable();
	test_chown();
	test_stats();
	cg = v2_at(folder);
	is_int(cgroup_remove(&cg, &err), 0, "removed with its sub-folders");
	is_int(access(folder, F_OK), -1, "nothing is left");
	return TAP_END();
}

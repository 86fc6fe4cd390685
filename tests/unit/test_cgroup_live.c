/*
 * A real cgroup on this host, as root: made, limited, entered, frozen, killed, counted and
 * removed. The folder is named after this process and always cleaned up.
 */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include "cgroup/cgroup.h"
#include "cgroup/cgroup_devices.h"
#include "cgroup/cgroup_host.h"
#include "cgroup/cgroup_io.h"
#include "cgroup/cgroup_stats.h"
#include "os/syscalls.h"
#include "tap.h"
#include "util/str.h"

#define SET(v)                            \
	{                                 \
		.set = true, .value = (v) \
	}

static char base[64]; /* /agentrun-test-PID */

/* A child that waits until the pipe's other end is closed. */
struct child {
	pid_t pid;
	int hold;
};

static struct child child_start(const struct cgroup *join, int clone_fd)
{
	struct clone_args args = { .exit_signal = SIGCHLD };
	struct cgroup_join j = CGROUP_JOIN_NULL;
	struct error err = ERROR_NULL;
	struct child c = { -1, -1 };
	int hold[2], ready[2];
	char x;

	if (pipe2(hold, O_CLOEXEC) < 0 || pipe2(ready, O_CLOEXEC) < 0)
		return c;
	if (join && cgroup_join_open(join, NULL, &j, &err) < 0)
		printf("# %s\n", err.text);
	if (clone_fd >= 0) {
		args.flags = CLONE_INTO_CGROUP;
		args.cgroup = (uint64_t)clone_fd;
	}
	c.pid = sys_clone3(&args);
	if (c.pid == 0) {
		(void)close(hold[1]);
		x = cgroup_join_self(&j, &err) == 0;
		(void)!write(ready[1], &x, 1);
		(void)!read(hold[0], &x, 1);
		_exit(0);
	}
	cgroup_join_done(&j);
	(void)close(hold[0]);
	(void)close(ready[1]);
	if (read(ready[0], &x, 1) != 1 || !x)
		printf("# the child could not join\n");
	(void)close(ready[0]);
	c.hold = hold[1];
	return c;
}

static int child_end(struct child *c)
{
	int status = -1;

	(void)close(c->hold);
	(void)waitpid(c->pid, &status, 0);
	return status;
}

static struct cgroup_request request(const char *sub, const struct spec_resources *res)
{
	static char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s", base, sub);
	return (struct cgroup_request){ .id = "x", .path = path, .resources = res };
}

static bool make(const struct cgroup_request *req, struct cgroup *cg)
{
	struct error err = ERROR_NULL;

	if (cgroup_plan(req, cg, &err) < 0)
		return ok(false, "plan: %s", err.text);
	if (cgroup_create(cg, req, &err) < 0) {
		cgroup_done(cg);
		return ok(false, "create: %s", err.text);
	}
	return ok(true, "made");
}

static void unmake(struct cgroup *cg)
{
	struct error err = ERROR_NULL;
	size_t i, left = 0;

	if (!ok(cgroup_remove(cg, &err) == 0, "removed"))
		printf("# %s\n", err.text);
	for (i = 0; i < cg->n_dirs; i++)
		left += access(cg->dirs[i].path, F_OK) == 0;
	is_int(left, 0, "no folder is left");
	is_int(cgroup_remove(cg, &err), 0, "removing again is done");
	cgroup_done(cg);
}

/* The parents made on the way, which a container leaves behind as it is not alone there. */
static void bases_remove(void)
{
	struct cgroup_request req = { .id = "x", .path = base };
	struct error err = ERROR_NULL;
	struct cgroup cg;
	size_t i;

	if (cgroup_plan(&req, &cg, &err) < 0)
		return;
	for (i = 0; i < cg.n_dirs; i++)
		cg.dirs[i].created = true;
	(void)cgroup_remove(&cg, &err);
	cgroup_done(&cg);
}

static void is_file(const struct cgroup *cg, const char *controller, const char *file,
		    const char *want)
{
	const struct cgroup_dir *d = cgroup_dir_find(cg, controller);
	_cleanup_close_ int dir = d ? cgroup_open_dir(d->path) : -EBADF;
	char text[4096] = "";

	if (cgroup_read(dir, file, text, sizeof(text)) < 0)
		(void)snprintf(text, sizeof(text), "(unreadable)");
	is_str(text, want, file);
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

/* How many of the process's /proc/PID/cgroup lines end in the path. */
static size_t lines_with(pid_t pid, const char *path)
{
	char file[64], text[4096], *line, *save = NULL;
	size_t n = 0, len = strlen(path), got;

	(void)snprintf(file, sizeof(file), "/proc/%d/cgroup", (int)pid);
	if (cgroup_read(AT_FDCWD, file, text, sizeof(text)) < 0)
		return 0;
	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		got = strlen(line);
		n += got >= len && str_eq(line + got - len, path);
	}
	return n;
}

static void test_limits(void)
{
	struct spec_memory m = { .limit = SET(64 << 20),
				 .swap = SET(128 << 20),
				 .swappiness = SET(10) };
	struct spec_cpu cpu = {
		.shares = SET(512), .quota = SET(20000), .period = SET(50000), .cpus = "0"
	};
	struct spec_device_rule deny = { .allow = false, .type = 'a' };
	struct spec_resources res = {
		.memory = &m, .cpu = &cpu, .pids_limit = SET(0), .devices = { &deny, 1 }
	};
	struct cgroup_request req = request("limits/deep", &res);
	struct error err = ERROR_NULL;
	struct cgroup cg;

	if (!make(&req, &cg))
		return;
	is_file(&cg, "memory", "memory.limit_in_bytes", "67108864");
	is_file(&cg, "memory", "memory.memsw.limit_in_bytes", "134217728");
	is_file(&cg, "memory", "memory.swappiness", "10");
	is_file(&cg, "cpu", "cpu.shares", "512");
	is_file(&cg, "cpu", "cpu.cfs_quota_us", "20000");
	is_file(&cg, "cpu", "cpu.cfs_period_us", "50000");
	is_file(&cg, "cpuset", "cpuset.cpus", "0");
	is_file(&cg, "cpuset", "cpuset.mems", "0");
	is_file(&cg, "pids", "pids.max", "1");
	is_file(&cg, "devices", "devices.list",
		"c *:* m\nb *:* m\nc 1:3 rwm\nc 1:5 rwm\nc 1:7 rwm\nc 1:8 rwm\nc 1:9 rwm\nc 5:0 "
		"rwm\n"
		"c 5:2 rwm\nc 136:* rwm\nc 10:200 rwm");

	/* Update: up, down, quota alone, unlimited, zeros. */
	m = (struct spec_memory){ .limit = SET(256 << 20), .swap = SET(512 << 20) };
	cpu = (struct spec_cpu){ .quota = SET(10000), .shares = SET(0), .cpus = "" };
	res = (struct spec_resources){ .memory = &m, .cpu = &cpu, .pids_limit = SET(0) };
	is_int(cgroup_update(&cg, &res, NULL, &err), 0, "update upwards");
	is_file(&cg, "memory", "memory.limit_in_bytes", "268435456");
	is_file(&cg, "memory", "memory.memsw.limit_in_bytes", "536870912");
	is_file(&cg, "cpu", "cpu.cfs_quota_us", "10000");
	is_file(&cg, "cpu", "cpu.cfs_period_us", "50000");
	is_file(&cg, "cpu", "cpu.shares", "512");
	is_file(&cg, "pids", "pids.max", "1");
	m = (struct spec_memory){ .limit = SET(32 << 20), .swap = SET(48 << 20) };
	res = (struct spec_resources){ .memory = &m };
	is_int(cgroup_update(&cg, &res, NULL, &err), 0, "update downwards");
	is_file(&cg, "memory", "memory.limit_in_bytes", "33554432");
	is_file(&cg, "memory", "memory.memsw.limit_in_bytes", "50331648");
	m = (struct spec_memory){ .limit = SET(-1) };
	is_int(cgroup_update(&cg, &res, NULL, &err), 0, "update to unlimited");
	is_file(&cg, "memory", "memory.limit_in_bytes", "9223372036854771712");
	m = (struct spec_memory){ .limit = SET(1 << 20), .swap = SET(1000) };
	is_int(cgroup_update(&cg, &res, NULL, &err), -EINVAL, "swap below limit is refused");
	unmake(&cg);
}

static void test_enter(void)
{
	struct spec_resources res = { .pids_limit = SET(5) };
	struct cgroup_request req = request("enter", &res);
	struct cgroup cg, again;
	struct error err = ERROR_NULL;
	struct child a, b;
	char path[128];
	bool frozen = false;
	int fd = -EBADF, n_v2;

	if (!make(&req, &cg))
		return;
	(void)snprintf(path, sizeof(path), "%s/enter", base);
	is_int(cgroup_clone_fd(&cg, &fd, &err), 0, "descriptor for clone3");
	n_v2 = fd >= 0 ? 1 : 0;
	a = child_start(&cg, fd);
	is_int(lines_with(a.pid, path), cg.n_dirs, "clone and join: in all hierarchies");
	(void)close(fd);
	b = child_start(NULL, -1);
	is_int(cgroup_attach_unified(&cg, b.pid, &err), 0, "into the v2 hierarchy alone");
	is_int(lines_with(b.pid, path), n_v2, "is in no other");
	is_int(cgroup_attach(&cg, NULL, b.pid, &err), 0, "attach by number");
	is_int(lines_with(b.pid, path), cg.n_dirs, "and that one too");
	is_int(members(&cg), 2, "two members");

	(void)cgroup_plan(&req, &again, &err);
	is_int(cgroup_create(&again, &req, &err), -EBUSY, "a folder in use is refused");
	ok(str_after(err.text, "container's cgroup is not empty: 2 process(es) found"), "%s",
	   err.text);
	is_int(lines_with(a.pid, path), cg.n_dirs, "and nothing happened to it");
	cgroup_done(&again);

	is_int(cgroup_freeze(&cg, &err), 0, "freeze");
	is_int(cgroup_frozen(&cg, &frozen, &err), 0, "ask");
	ok(frozen, "frozen");
	is_int(cgroup_thaw(&cg, &err), 0, "thaw");
	is_int(cgroup_frozen(&cg, &frozen, &err), 0, "ask");
	ok(!frozen, "running");

	is_int(cgroup_signal(&cg, SIGTERM, &err), 0, "signal all");
	is_int(WTERMSIG(child_end(&a)), SIGTERM, "first child got it");
	is_int(WTERMSIG(child_end(&b)), SIGTERM, "second child got it");
	is_int(members(&cg), 0, "nobody is left");
	unmake(&cg);
}

static void test_sub(void)
{
	struct cgroup_request req = request("sub", NULL);
	struct error err = ERROR_NULL;
	struct child a;
	struct cgroup cg;
	char path[300];
	size_t i;

	if (!make(&req, &cg))
		return;
	for (i = 0; i < cg.n_dirs; i++) {
		(void)snprintf(path, sizeof(path), "%s/one", cg.dirs[i].path);
		(void)mkdir(path, 0755);
		(void)snprintf(path, sizeof(path), "%s/one/two", cg.dirs[i].path);
		(void)mkdir(path, 0755);
	}
	a = child_start(&cg, -1);
	is_int(cgroup_attach_controller(&cg, "pids,memory", "one", a.pid, &err), 0,
	       "two controllers");
	(void)snprintf(path, sizeof(path), "%s/sub/one", base);
	is_int(lines_with(a.pid, path), 2, "only those moved");
	is_int(cgroup_attach_controller(&cg, "nonsense", "one", a.pid, &err), -EINVAL,
	       "unknown controller");
	is_int(cgroup_attach(&cg, "../../x", a.pid, &err), -EINVAL, "no way up");
	/* Empty cpusets take nobody. */
	(void)cgroup_attach_controller(&cg, "freezer", "one/two", a.pid, &err);
	is_int(members(&cg), 1, "members of sub-folders are found");
	(void)child_end(&a);
	unmake(&cg);
}

static void test_kill(void)
{
	struct cgroup_request req = request("kill", NULL);
	struct error err = ERROR_NULL;
	struct cgroup cg;
	struct child first;
	char x = 0;
	size_t i, reaped = 0;
	int status, go[2];

	if (!make(&req, &cg) || pipe2(go, O_CLOEXEC) < 0)
		return;
	first = child_start(&cg, -1);
	/* The others are forked by a member, as in a container. */
	(void)child_end(&first);
	first.pid = fork();
	if (first.pid == 0) {
		struct cgroup_join j;

		if (cgroup_join_open(&cg, NULL, &j, &err) < 0 || cgroup_join_self(&j, &err) < 0)
			_exit(1);
		for (i = 0; i < 199; i++)
			if (fork() == 0)
				break;
		if (i == 199)
			(void)!write(go[1], &x, 1);
		for (;;)
			(void)pause();
	}
	(void)!read(go[0], &x, 1);
	is_int(cgroup_attach(&cg, NULL, first.pid, &err), 0, "into the v2 hierarchy as well");
	is_int(members(&cg), 200, "200 processes");
	is_int(cgroup_freeze(&cg, &err), 0, "frozen");
	is_int(cgroup_signal(&cg, SIGKILL, &err), 0, "killed while frozen");
	is_int(members(&cg), 0, "none is left");
	while (waitpid(first.pid, &status, 0) > 0)
		reaped += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	is_int(reaped, 1, "by SIGKILL");
	(void)close(go[0]);
	(void)close(go[1]);
	unmake(&cg);
}

static void test_reuse(void)
{
	struct cgroup_request req = request("reuse", NULL);
	struct error err = ERROR_NULL;
	struct cgroup cg, again;
	size_t i, created = 0;

	if (!make(&req, &cg))
		return;
	(void)cgroup_plan(&req, &again, &err);
	is_int(cgroup_create(&again, &req, &err), 0, "an empty folder is reused");
	for (i = 0; i < again.n_dirs; i++)
		created += again.dirs[i].created;
	is_int(created, 0, "but is not ours");
	is_int(cgroup_remove(&again, &err), 0, "so removing does nothing");
	is_int(access(cg.dirs[0].path, F_OK), 0, "it is still there");
	cgroup_done(&again);

	is_int(cgroup_freeze(&cg, &err), 0, "freeze the empty folder");
	(void)cgroup_plan(&req, &again, &err);
	is_int(cgroup_create(&again, &req, &err), -EBUSY, "a frozen folder is refused");
	ok(strstr(err.text, "unexpectedly frozen"), "%s", err.text);
	cgroup_done(&again);
	req = request("reuse/below", NULL);
	(void)cgroup_plan(&req, &again, &err);
	is_int(cgroup_create(&again, &req, &err), -EBUSY, "and so is one below it");
	is_int(access(again.dirs[0].path, F_OK), -1, "which is removed again");
	cgroup_done(&again);
	is_int(cgroup_thaw(&cg, &err), 0, "thaw");
	unmake(&cg);
}

/* On hybrid the controller is handed down from the top for it: put that back afterwards. */
static void test_huge(const struct cgroup_request *req)
{
	_cleanup_cgroup_host_ struct cgroup_host host = CGROUP_HOST_NULL;
	_cleanup_close_ int top = -EBADF;
	struct error err = ERROR_NULL;
	char before[512] = "";
	struct cgroup cg;

	if (cgroup_host_read(&host, &err) < 0)
		return;
	top = cgroup_open_dir(host.hierarchies[host.n - 1].mount);
	(void)cgroup_read(top, "cgroup.subtree_control", before, sizeof(before));
	if (!make(req, &cg))
		return;
	if (!cgroup_dir_find(&cg, "hugetlb"))
		is_file(&cg, "", "hugetlb.2MB.max", "0");
	unmake(&cg);
	bases_remove();
	if (!strstr(before, "hugetlb"))
		(void)cgroup_write(top, "cgroup.subtree_control", "-hugetlb");
}

static bool usable(const char *controller)
{
	const struct cgroup_request req = request("usable", NULL);
	_cleanup_free_ char *list = NULL;
	struct error err = ERROR_NULL;

	return cgroup_usable(&req, &list, &err) == 0 && cgroup_list_has(list, controller);
}

/* What nobody could make there, nobody could limit. */
static void test_usable(void)
{
	struct cgroup_request req = request("usable", NULL);
	_cleanup_free_ char *all = NULL, *none = NULL, *user = NULL;
	struct error err = ERROR_NULL;

	ok(cgroup_usable(&req, &all, &err) == 0, "usable %s", err.text);
	ok(cgroup_list_has(all, "pids") && cgroup_list_has(all, "memory"), "root: %s", all);
	req.manager = CGROUP_MANAGER_DISABLED;
	ok(cgroup_usable(&req, &none, &err) == 0, "disabled %s", err.text);
	is_str(none, "", "without cgroups nothing can be limited");
	req.manager = CGROUP_MANAGER_CGROUPFS;
	req.rootless = true;
	if (ok(seteuid(65534) == 0, "become an ordinary user")) {
		ok(cgroup_usable(&req, &user, &err) == 0, "user %s", err.text);
		ok(user && !cgroup_list_has(user, "pids") && !cgroup_list_has(user, "memory"),
		   "a user without a delegated cgroup: \"%s\"", user ? user : "?");
		ok(seteuid(0) == 0, "be root again");
	}
}

static void test_refused(void)
{
	struct spec_hugepage_limit huge = { "2MB", 0 };
	struct spec_network net = { .class_id = SET(5) };
	struct spec_resources res = { .network = &net };
	struct cgroup_request req = request("refused", &res);
	struct error err = ERROR_NULL;
	struct cgroup cg;

	(void)cgroup_plan(&req, &cg, &err);
	if (!usable("net_cls")) {
		is_int(cgroup_create(&cg, &req, &err), -EOPNOTSUPP, "limit without controller");
		ok(strstr(err.text, "net_cls.classid") &&
			   strstr(err.text, "net_cls cgroup controller"),
		   "%s", err.text);
		is_int(access(cg.dirs[0].path, F_OK), -1, "nothing was made");
	}
	cgroup_done(&cg);

	res = (struct spec_resources){ .hugepage_limits = { &huge, 1 } };
	req = request("huge", &res);
	if (usable("hugetlb"))
		test_huge(&req);
	req = (struct cgroup_request){ .id = "x", .path = "/agentrun-test/../x" };
	is_int(cgroup_plan(&req, &cg, &err), -EINVAL, "no .. in paths");
	req = (struct cgroup_request){ .id = "x", .manager = CGROUP_MANAGER_SYSTEMD };
	if (access("/run/systemd/system", F_OK) < 0)
		is_int(cgroup_plan(&req, &cg, &err), -EOPNOTSUPP, "no systemd manager without systemd");
	req = (struct cgroup_request){ .id = "x", .manager = CGROUP_MANAGER_DISABLED };
	is_int(cgroup_plan(&req, &cg, &err), 0, "disabled plans");
	is_int(cgroup_create(&cg, &req, &err), 0, "and makes");
	is_int(cg.n_dirs, 0, "nothing");
	is_int(members(&cg), 0, "without members");
	is_int(cgroup_signal(&cg, SIGKILL, &err), 0, "nobody to kill");
	is_int(cgroup_remove(&cg, &err), 0, "nothing to remove");
	cgroup_done(&cg);
}

static void test_stats(void)
{
	_cleanup_json_writer_ struct json_writer *w = json_writer_new(0);
	struct spec_resources res = { .pids_limit = SET(7) };
	struct cgroup_request req = request("stats", &res);
	_cleanup_free_ char *text = NULL;
	struct error err = ERROR_NULL;
	struct cgroup cg;
	struct child a;

	if (!make(&req, &cg))
		return;
	a = child_start(&cg, -1);
	json_object_begin(w, NULL);
	is_int(cgroup_stats_write(&cg, w, &err), 0, "statistics");
	json_object_end(w);
	is_int(json_take(w, &text, &err), 0, "are JSON");
	ok(text && strstr(text, "\"pids\":{\"current\":1,\"limit\":7}"), "pids");
	ok(text && strstr(text, "\"throttling\":{}"), "no throttling");
	ok(text && strstr(text, "\"memory\":{"), "memory");
	ok(text && strstr(text, "\"sched_relax_domain_level\":-1}"), "cpuset");
	(void)child_end(&a);
	unmake(&cg);
}

static void test_oom(void)
{
	struct spec_memory m = { .limit = SET(8 << 20), .swap = SET(8 << 20) };
	struct spec_resources res = { .memory = &m };
	struct cgroup_request req = request("oom", &res);
	struct cgroup_oom_watch watch = CGROUP_OOM_WATCH_NULL;
	struct error err = ERROR_NULL;
	struct cgroup cg;
	struct pollfd p;
	uint64_t seen = 0;
	int status = 0;
	pid_t pid;

	if (!make(&req, &cg))
		return;
	is_int(cgroup_oom_watch_open(&cg, &watch, &err), 0, "watch");
	is_int(watch.kills, 0, "no kill yet");
	pid = fork();
	if (pid == 0) {
		struct cgroup_join j;
		size_t i, size = 64 << 20;
		char *area;

		if (cgroup_join_open(&cg, NULL, &j, &err) < 0 || cgroup_join_self(&j, &err) < 0)
			_exit(1);
		area = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		for (i = 0; i < size; i += 4096)
			area[i] = 1;
		_exit(0);
	}
	(void)waitpid(pid, &status, 0);
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "too much memory is deadly");
	p = (struct pollfd){ .fd = watch.fd, .events = POLLIN };
	is_int(poll(&p, 1, 2000), 1, "the watch wakes up");
	is_int(cgroup_oom_watch_read(&watch, &seen, &err), 0, "read");
	ok(seen >= 1, "an OOM event was seen");
	ok(watch.kills >= 1, "and the kill is counted");
	cgroup_oom_watch_done(&watch);
	unmake(&cg);
}

/* The v2 device filter works in the v2 hierarchy of a hybrid host as well. */
static void test_device_filter(void)
{
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	struct cgroup_request req = request("filter", NULL);
	const struct cgroup_dir *d;
	struct cgroup_device_list rules;
	struct error err = ERROR_NULL;
	int dir, fd, status = 0;
	uint32_t program = 0;
	bool there;
	struct cgroup cg;
	pid_t pid;

	if (!make(&req, &cg))
		return;
	d = cgroup_dir_find(&cg, "");
	dir = d ? cgroup_open_dir(d->path) : -ENOENT;
	if (dir >= 0) {
		(void)cgroup_devices_rules(NULL, false, &arena, &rules, &err);
		if (!ok(cgroup_devices_apply_v2(dir, d->path, &rules, &program, &err) == 0,
			"filter attached"))
			printf("# %s\n", err.text);
		pid = fork();
		if (pid == 0) {
			int r = 0;

			if (cgroup_write(dir, "cgroup.procs", "0") < 0)
				_exit(100);
			fd = open("/dev/null", O_RDWR);
			r |= fd < 0 ? 1 : 0;
			fd = open("/dev/kmsg", O_RDONLY);
			r |= fd >= 0 || errno != EPERM ? 2 : 0;
			_exit(r);
		}
		(void)waitpid(pid, &status, 0);
		is_int(WEXITSTATUS(status), 0, "/dev/null opens, /dev/kmsg does not");
		ok(cgroup_devices_attached(dir, program, &there) == 0 && there, "and is found attached");
		ok(cgroup_devices_attached(dir, program + 1, &there) == 0 && !there, "another one is not");
		(void)close(dir);
	}
	unmake(&cg);
}

int main(void)
{
	enum cgroup_layout layout = CGROUP_LAYOUT_NONE;
	struct error err = ERROR_NULL;

	TAP_BEGIN();
	if (geteuid() != 0)
		return TAP_SKIP_ALL("needs root");
	if (cgroup_layout_detect(&layout, &err) < 0)
		return TAP_SKIP_ALL(err.text);
	if (layout != CGROUP_LAYOUT_HYBRID && layout != CGROUP_LAYOUT_LEGACY)
		return TAP_SKIP_ALL("reads v1 files back: needs v1 hierarchies");

	(void)snprintf(base, sizeof(base), "/agentrun-test-%d", (int)getpid());
	test_limits();
	test_enter();
	test_sub();
	test_kill();
	test_reuse();
	test_usable();
	test_refused();
	test_stats();
	test_oom();
	test_device_filter();

	bases_remove();
	return TAP_END();
}

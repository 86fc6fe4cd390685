/*
 * The exec audit on the real kernel: what a record says of one program and its end.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "audit_trace_world.h"

static struct world world;
static struct world_container box;

static void describe(const struct world_record *r)
{
	if (!r)
		printf("# no record\n");
	else
		printf("# pid %u (%u) ppid %u (%u) uid %u flags %#x file %s argv [%s] cwd %s comm %s "
		       "code %d signal %d\n",
		       r->pid, r->host_pid, r->ppid, r->host_ppid, r->uid, r->flags, r->file, r->argv,
		       r->cwd, r->comm, r->status.code, r->status.signal);
}

/* Starts anew with an empty list; false when something is left of the test before. */
static bool begin(void)
{
	bool clean = world_drain(&box.reader, &world.err) == 0;

	world_forget(&box);
	return clean;
}

static void drained(const char *name)
{
	if (!is_int(world_drain(&box.reader, &world.err), 0, name))
		printf("# %s\n", world.err.text);
}

static void test_plain(void)
{
	struct world_record *sh, *ls, *end;
	uint64_t before, after;

	begin();
	before = ev_now(CLOCK_MONOTONIC);
	world_run(&box, "cd /usr/share; ls -d 'a b' . >/dev/null 2>&1; (exit 3); exit 7");
	after = ev_now(CLOCK_MONOTONIC);
	drained("plain: drain");
	sh = world_find(&box, AUDIT_REC_EXEC, "/bin/sh", 0);
	ls = world_find(&box, AUDIT_REC_EXEC, "/ls", 0);
	is_int(box.n, 4, "two programs, two ends, and nothing of a child without a program");
	if (!ok(sh && ls, "both are there"))
		return;
	is_str(ls->argv, "ls -d a b .", "argv");
	is_int(ls->argv_bytes, sizeof("ls -d a b ."), "its length");
	is_int(ls->argv_len, sizeof("ls -d a b ."), "is what is kept");
	is_str(ls->cwd, "/usr/share", "working directory");
	is_str(ls->comm, "ls", "comm");
	is_int(ls->uid, 0, "uid");
	is_int(ls->flags, 0, "no flags");
	is_int(ls->ppid, sh->pid, "the parent, as the process sees it");
	is_int(ls->host_ppid, sh->host_pid, "the parent, as the host sees it");
	ok(ls->inode != 0 && ls->nlink > 0, "the program's inode");
	ok(ls->mono_ns > before && ls->mono_ns < after, "the time");
	end = world_end_of(&box, ls);
	if (!ok(end != NULL, "the end names the record of its beginning"))
		return;
	is_int(end->host_pid, ls->host_pid, "of the same process");
	is_int((long long)end->start_ns, (long long)ls->start_ns, "by its start");
	is_int((long long)end->duration_ns, (long long)(end->mono_ns - ls->mono_ns), "duration");
	is_int(end->status.code, 2, "exit code");
	end = world_end_of(&box, sh);
	is_int(end ? end->status.code : -9, 7, "exit code of the shell");
}

static void test_signals(void)
{
	struct world_record *end;

	begin();
	world_run(&box, "sh -c 'kill -TERM $$' x");
	drained("signal: drain");
	end = world_end_of(&box, world_find(&box, AUDIT_REC_EXEC, "/sh", 1));
	if (ok(end != NULL, "signal: the end")) {
		is_int(end->status.signal, SIGTERM, "which signal");
		is_int(end->status.code, -1, "then no code");
	}
}

/* One process, several programs: each exec ends the one before without an end of its own. */
static void test_replaced(void)
{
	struct world_record *first, *second;

	begin();
	world_run(&box, "exec sh -c 'exec true'");
	drained("exec in place: drain");
	is_int(box.n, 4, "three programs, one end");
	first = world_find(&box, AUDIT_REC_EXEC, "/sh", 0);
	second = world_find(&box, AUDIT_REC_EXEC, "/true", 0);
	if (ok(first && second, "first and last program")) {
		is_int(first->host_pid, second->host_pid, "of one process");
		is_int((long long)first->start_ns, (long long)second->start_ns, "by its start");
		ok(world_end_of(&box, second) && !world_end_of(&box, first), "the end is the last one's");
	}
}

static int write_file(const char *path, const char *text)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) ? 0 : -1;
}

static void test_script(void)
{
	struct world_record *r;
	char path[128], command[200];

	begin();
	(void)snprintf(path, sizeof(path), "/tmp/agentrun-trace-%d.sh", (int)getpid());
	(void)write_file(path, "#!/bin/sh -e\nexit 4\n");
	(void)snprintf(command, sizeof(command), "%s one; exit 0", path);
	world_run(&box, command);
	(void)unlink(path);
	drained("script: drain");
	r = world_find(&box, AUDIT_REC_EXEC, ".sh", 0);
	if (!ok(r != NULL, "script: the file is the script"))
		return;
	ok(r->flags & AUDIT_REC_SCRIPT, "and marked");
	(void)snprintf(command, sizeof(command), "/bin/sh -e %s one", path);
	is_str(r->argv, command, "argv is what the interpreter got");
}

static int exec_memfd(void *arg)
{
	_cleanup_close_ int in = open("/bin/true", O_RDONLY | O_CLOEXEC);
	int fd = memfd_create("payload", MFD_CLOEXEC);
	char *argv[] = { "innocent", NULL }, *envp[] = { NULL };
	char block[65536];
	ssize_t n;

	while ((n = read(in, block, sizeof(block))) > 0)
		if (write(fd, block, (size_t)n) != n)
			return 126;
	(void)fexecve(fd, argv, envp);
	return 127;
}

static void test_memfd(void)
{
	struct world_record *r;
	char command[300];

	begin();
	world_wait(world_spawn(&box, exec_memfd, NULL));
	drained("memfd: drain");
	r = world_find(&box, AUDIT_REC_EXEC, NULL, 0);
	if (ok(r != NULL, "memfd: a record")) {
		ok(r->flags & AUDIT_REC_MEMFD && r->flags & AUDIT_REC_UNLINKED, "marked");
		is_str(r->argv, "innocent", "argv as given");
		is_int(r->nlink, 0, "no name");
	}
	begin();
	(void)snprintf(command, sizeof(command),
		       "cp /bin/sleep /tmp/agentrun-trace-%d && exec 3</tmp/agentrun-trace-%d && "
		       "rm /tmp/agentrun-trace-%d && /proc/self/fd/3 0",
		       (int)getpid(), (int)getpid(), (int)getpid());
	world_run(&box, command);
	drained("deleted: drain");
	r = world_find(&box, AUDIT_REC_EXEC, "/fd/3", 0);
	if (ok(r != NULL, "deleted program: a record"))
		is_int(r->flags, AUDIT_REC_UNLINKED, "unlinked, but no memfd");
}

static int exec_long(void *arg)
{
	size_t len = *(size_t *)arg, n = 0, each = 100000;
	char *argv[64] = { "true" }, *text;

	for (; len > 0; len -= MIN(len, each)) {
		text = calloc(1, MIN(len, each) + 1);
		memset(text, 'a' + (int)n, MIN(len, each));
		argv[++n] = text;
	}
	(void)execv("/bin/true", argv);
	return 127;
}

static void test_long(size_t len)
{
	struct world_record *r;
	size_t want = 5 + len + (len + 99999) / 100000;

	begin();
	world_wait(world_spawn(&box, exec_long, &len));
	drained("long: drain");
	r = world_find(&box, AUDIT_REC_EXEC, "/true", 0);
	if (!ok(r != NULL, "argv of %zu bytes: a record", len))
		return;
	is_int((long long)r->argv_bytes, (long long)want, "full length");
	is_int((long long)r->argv_len, (long long)MIN(want, AUDIT_REC_ARGV_MAX), "kept");
	is_int(r->flags, want > AUDIT_REC_ARGV_MAX ? AUDIT_REC_ARGV_CUT : 0, "flag");
	is_int(r->argv[r->argv_len - 2], 'a', "the bytes");
}

/* A thread calls execve: it takes the first thread's place, its pid and its start. */
static void *thread_execs(void *arg)
{
	*(pid_t *)arg = (pid_t)syscall(SYS_gettid);
	(void)execl("/bin/true", "true", (char *)NULL);
	return NULL;
}

static int exec_from_thread(void *arg)
{
	pthread_t t;

	(void)pthread_create(&t, NULL, thread_execs, arg);
	(void)pthread_join(t, NULL);
	return 127;
}

static void test_thread(void)
{
	pid_t *tid = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), pid;
	struct world_record *r;

	begin();
	pid = world_spawn(&box, exec_from_thread, tid);
	world_wait(pid);
	drained("thread: drain");
	r = world_find(&box, AUDIT_REC_EXEC, "/true", 0);
	is_int(box.n, 2, "exec from a thread: one exec, one end");
	if (ok(r != NULL, "a record")) {
		ok(r->flags & AUDIT_REC_THREAD, "marked");
		is_int(r->host_pid, pid, "of the process");
		is_int(r->old_tid, *tid, "by the thread");
		ok(world_end_of(&box, r) != NULL, "and its end");
	}
	(void)munmap(tid, 4096);
}

static void *thread_sleeps(void *arg)
{
	(void)usleep(20000);
	/* Not exit_group: each thread ends by itself, and the last ones nearly at the same time. */
	(void)syscall(SYS_exit, 7);
	return NULL;
}

/* This program, executed by its own test. */
static int threads_main(void)
{
	pthread_t t;
	int i;

	for (i = 0; i < 20; i++)
		(void)pthread_create(&t, NULL, thread_sleeps, NULL);
	(void)syscall(SYS_exit, 5);
	return 127;
}

static int exec_threads(void *arg)
{
	(void)execl("/proc/self/exe", "test", "threads", (char *)NULL);
	return 127;
}

static void test_threads_end(void)
{
	struct world_record *end;
	int status, i;

	for (i = 0; i < 20; i++) {
		begin();
		status = world_wait(world_spawn(&box, exec_threads, NULL));
		(void)world_drain(&box.reader, &world.err);
		end = world_end_of(&box, world_find(&box, AUDIT_REC_EXEC, NULL, 0));
		if (box.n != 2 || !end || !WIFEXITED(status) || end->status.code != WEXITSTATUS(status))
			break;
	}
	if (!is_int(i, 20, "threads that end one by one: one end, with the status that the parent sees"))
		describe(end);
}

static int in_pid_namespace(void *arg)
{
	pid_t pid;

	if (unshare(CLONE_NEWPID) < 0)
		return 126;
	pid = fork();
	if (pid == 0) {
		/* The caller is outside: the parent of the namespace's first process is not to be seen. */
		if (setresgid(99, 99, 99) < 0 || setresuid(1234, 1234, 1234) < 0)
			_exit(126);
		_exit(world_sh("/bin/true; exit 6"));
	}
	(void)world_wait(pid);
	return 0;
}

static void test_namespace(void)
{
	struct world_record *sh, *inner;

	begin();
	world_wait(world_spawn(&box, in_pid_namespace, NULL));
	drained("namespace: drain");
	sh = world_find(&box, AUDIT_REC_EXEC, "/bin/sh", 0);
	inner = world_find(&box, AUDIT_REC_EXEC, "/bin/true", 0);
	if (!ok(sh && inner, "pid namespace: records"))
		return;
	is_int(sh->pid, 1, "pid inside");
	ok(sh->host_pid > 1 && sh->host_ppid > 1, "pids outside");
	is_int(sh->ppid, 0, "a parent that is not to be seen");
	is_int(inner->ppid, 1, "a parent inside");
	is_int(inner->uid, 1234, "uid");
	is_int(inner->gid, 99, "gid");
}

/* A shell, and before it, below one in a further namespace. */
static int in_middle_namespace(void *arg)
{
	pid_t pid;

	pid = fork();
	if (pid == 0) {
		pid = fork();
		if (pid == 0)
			_exit(in_pid_namespace(NULL));
		(void)world_wait(pid);
		_exit(world_sh("/bin/echo; exit 6"));
	}
	(void)world_wait(pid);
	return 0;
}

/* A binder that is itself in a pid namespace: the numbers are those that it knows. */
static void test_seen_from_within(void)
{
	struct world_container other;
	struct world_record *outer, *inner, *child;
	struct audit_trace_request req = { .class = AUDIT_RING_NORMAL };
	int ns = -1, wait[2];
	char path[64], byte;
	struct stat st;
	pid_t holder;

	if (pipe2(wait, O_CLOEXEC) < 0 || unshare(CLONE_NEWPID) < 0)
		return;
	holder = fork();
	if (holder == 0) {
		(void)close(wait[1]);
		_exit(read(wait[0], &byte, 1) == 0 ? 0 : 1);
	}
	(void)snprintf(path, sizeof(path), "/proc/%d/ns/pid", (int)holder);
	ns = open(path, O_RDONLY | O_CLOEXEC);
	if (!ok(ns >= 0 && fstat(ns, &st) == 0, "from within: a pid namespace"))
		return;
	req.pid_ns = (uint32_t)st.st_ino;
	(void)world_cgroup(&world, NULL, "within", &other);
	is_int(world_bind(&world, &other, req), 0, "from within: bound");
	/* Children of ours are born there from here on; this one is outside for its own part. */
	world_wait(world_spawn(&other, in_middle_namespace, NULL));
	is_int(world_drain(&other.reader, &world.err), 0, "from within: drain");
	inner = world_find(&other, AUDIT_REC_EXEC, "/bin/sh", 0);
	outer = world_find(&other, AUDIT_REC_EXEC, "/bin/sh", 1);
	child = world_find(&other, AUDIT_REC_EXEC, "/bin/echo", 0);
	if (ok(inner && outer && child, "from within: records")) {
		is_int(inner->pid, 1, "pid in the innermost");
		ok(inner->host_pid > outer->host_pid, "and in between");
		is_int(outer->pid, outer->host_pid, "of a process in between");
		is_int(child->host_ppid, outer->host_pid, "its child's parent");
		is_int(world_end_of(&other, child)->host_pid, child->host_pid, "the same at the end");
	}
	world_forget(&other);
	(void)close(wait[1]);
	(void)world_wait(holder);
	(void)close(ns);
	(void)close(wait[0]);
	ns = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
	if (setns(ns, CLONE_NEWPID) < 0)
		printf("# cannot return to the pid namespace\n");
	(void)close(ns);
	world_run(&other, "exit 9");
	is_int(world_drain(&other.reader, &world.err), 0, "from outside: drain");
	ok(other.n == 2 && other.records[0].pid > 1 && other.records[0].host_pid == 0,
	   "a process that the binder cannot see has no number");
	world_release(&world, &other);
}

/* Under another root, and below more folders than are written down. */
static int deep_folder(void *arg)
{
	char name[201];
	int i;

	memset(name, 'd', 200);
	name[200] = '\0';
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/mnt", "tmpfs", 0, NULL) < 0 || chdir("/mnt") < 0)
		return 126;
	if (arg)
		(void)snprintf(name, sizeof(name), "short");
	for (i = 0; i < (arg ? 3 : 30); i++)
		if (mkdir(name, 0755) < 0 || chdir(name) < 0)
			return 125;
	if (arg && (mkdir("/mnt/root", 0755) < 0 || mount("/", "/mnt/root", NULL, MS_BIND | MS_REC, NULL) < 0 ||
		    chroot("/mnt/root") < 0 || (strcmp(arg, "inside") == 0 && chdir("/usr/bin") < 0)))
		return 124;
	(void)execl("/bin/true", "true", (char *)NULL);
	return 127;
}

static void test_cwd(void)
{
	struct world_record *r;

	begin();
	world_wait(world_spawn(&box, deep_folder, "inside"));
	world_wait(world_spawn(&box, deep_folder, "outside"));
	world_wait(world_spawn(&box, deep_folder, NULL));
	drained("cwd: drain");
	r = world_find(&box, AUDIT_REC_EXEC, "/true", 0);
	is_str(r ? r->cwd : NULL, "/usr/bin", "below a root of its own");
	r = world_find(&box, AUDIT_REC_EXEC, "/true", 1);
	is_str(r ? r->cwd : NULL, "/mnt/short/short/short", "outside its root");
	ok(r && r->flags == AUDIT_REC_CWD_OUTSIDE, "and marked");
	r = world_find(&box, AUDIT_REC_EXEC, "/true", 2);
	if (ok(r && r->flags == AUDIT_REC_CWD_CUT, "too deep: marked")) {
		is_int(strncmp(r->cwd, ".../ddd", 7), 0, "begins where names are missing");
		ok(strlen(r->cwd) > 3600, "and ends in many names");
	}
}

static void put(const char *folder, const char *file, const char *text)
{
	char path[512];
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		printf("# %s: %s\n", path, strerror(errno));
	cleanup_closep(&fd);
}

static int exec_hog(void *arg)
{
	put(arg, "cgroup.procs", "0");
	(void)execl("/proc/self/exe", "test", "hog", (char *)NULL);
	return 127;
}

/* This program, executed by its own test: more memory than it may have. */
static int hog_main(void)
{
	char *p = mmap(NULL, 256 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p != MAP_FAILED)
		memset(p, 1, 256 << 20);
	return 3;
}

static void test_oom(void)
{
	char folder[128];
	struct world_record *end;
	int status;

	/* Where memory is limited on v1; elsewhere the engines' suites are the test. */
	(void)snprintf(folder, sizeof(folder), "/sys/fs/cgroup/memory/agentrun-trace-%d", (int)getpid());
	if (mkdir(folder, 0755) < 0) {
		ok(true, "oom # SKIP no memory controller on cgroup v1");
		return;
	}
	put(folder, "memory.limit_in_bytes", "16777216");
	put(folder, "memory.swappiness", "0");
	begin();
	status = world_wait(world_spawn(&box, exec_hog, folder));
	drained("oom: drain");
	end = world_find(&box, AUDIT_REC_EXIT, NULL, 0);
	if (ok(end && WIFSIGNALED(status) && end->status.signal == SIGKILL, "oom: killed"))
		is_int(end->flags, AUDIT_REC_OOM, "and marked as chosen by the kernel");
	begin();
	world_run(&box, "kill -9 $$");
	drained("no oom: drain");
	end = world_find(&box, AUDIT_REC_EXIT, NULL, 0);
	is_int(end ? (int)end->flags : -1, 0, "killed by somebody: no mark");
	(void)rmdir(folder);
}

static int exec_missing(void *arg)
{
	char *none[] = { NULL };

	(void)execl("/nonexistent", "x", (char *)NULL);
	(void)execl("/etc/passwd", "x", (char *)NULL);
	(void)execv("/bin/true", none);
	return 127;
}

static void test_rest(void)
{
	struct world_container other;
	char text[256];
	pid_t pid;

	begin();
	pid = world_spawn(&box, exec_missing, NULL);
	world_wait(pid);
	drained("failed exec: drain");
	is_int(box.n, 2, "only what was executed; also without arguments");

	begin();
	(void)world_cgroup(&world, box.path, "exec-1", &other);
	world_run(&other, "exit 9");
	drained("below: drain");
	is_int(box.n, 2, "a cgroup below belongs to it");
	world_release(&world, &other);

	begin();
	(void)world_cgroup(&world, NULL, "elsewhere", &other);
	world_run(&other, "exit 9");
	if (world_run_outside("/bin/true") != 0)
		printf("# cannot run true\n");
	drained("elsewhere: drain");
	is_int(box.n, 0, "nothing of other cgroups");
	world_release(&world, &other);

	/* Records of a process that can be read by pid of /proc/PID/stat's start. */
	begin();
	world_run(&box, "cat /proc/self/stat >/tmp/agentrun-trace-stat");
	drained("start: drain");
	{
		struct world_record *r = world_find(&box, AUDIT_REC_EXEC, "/cat", 0);
		FILE *f = fopen("/tmp/agentrun-trace-stat", "re");
		unsigned long long ticks = 0;

		if (f && fgets(text, sizeof(text), f))
			(void)sscanf(strrchr(text, ')') + 2,
				     "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d "
				     "%*d %*d %*d %llu", &ticks);
		if (f)
			(void)fclose(f);
		(void)unlink("/tmp/agentrun-trace-stat");
		is_int(r ? (long long)(r->start_ns / 10000000) : -1, (long long)ticks,
		       "the start is that of /proc/PID/stat");
	}
}

int main(int argc, char **argv)
{
	const char *why;

	if (argc > 1)
		return str_eq(argv[1], "hog") ? hog_main() : threads_main();
	if (!world_begin(&world, &why))
		return TAP_SKIP_ALL(why);
	TAP_BEGIN();
	if (world_ready(&world, 1, &box, AUDIT_RING_NORMAL, false)) {
		test_plain();
		test_signals();
		test_replaced();
		test_script();
		test_memfd();
		test_long(10);
		test_long(AUDIT_REC_ARGV_MAX - 6);
		test_long(AUDIT_REC_ARGV_MAX - 5);
		test_long(150000);
		test_long(1500000);
		test_thread();
		test_threads_end();
		test_namespace();
		test_seen_from_within();
		test_cwd();
		test_oom();
		test_rest();
		is_int(box.reader.totals.lost, 0, "nothing was lost");
		is_int(box.reader.totals.strays, 0, "and nothing was not ours");
	}
	world_release(&world, &box);
	world_end(&world);
	return TAP_END();
}

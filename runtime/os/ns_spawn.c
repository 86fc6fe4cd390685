/*
 * The clone that makes a container's process in its namespaces.
 *
 * One stage, whenever nothing forces two:
 *
 *   caller: setns(pid)  clone3(create) ──► child: setns(rest)  fn()
 *
 * Two stages when the caller's privilege is needed for joins that come before a
 * user namespace, or the user namespace's for namespaces made after joining it:
 *
 *   caller: clone3() ──► helper: setns(all)  clone3(create|CLONE_PARENT) ──► fn()
 *
 * CLONE_PARENT makes the final process the caller's child; an orphan would go to
 * the first process of the pid namespace and the engine would never see its exit.
 */
#include "os/ns.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "os/procfs.h"
#include "os/syscalls.h"
#include "util/fd.h"

/* Made by the child itself, later: clone3 would make them before the right moment. */
#define NS_LATE ((uint64_t)CLONE_NEWCGROUP | CLONE_NEWTIME)

struct spawn_job {
	struct ns_join join[NS_JOIN_MAX]; /* without our own namespaces */
	size_t n_join;
	uint64_t create;
	int cgroup_fd;
	ns_child_fn fn;
	void *arg;
};

/* What a child says about itself, once. Plain data over a socket of our own. */
struct spawn_report {
	pid_t pid;
	struct error error;
};

static bool job_has(const struct spawn_job *job, uint64_t type)
{
	size_t i;

	for (i = 0; i < job->n_join; i++)
		if (job->join[i].type == type)
			return true;
	return false;
}

static int job_init(struct spawn_job *job, const struct ns_spec *spec, int proc_fd,
		    struct error *err)
{
	size_t i;
	bool own;
	int r;

	job->create = spec->create & ~NS_LATE;
	for (i = 0; i < spec->n_join; i++) {
		if (spec->create & spec->join[i].type)
			return error_text(err, -EINVAL, "%s namespace both new and joined",
					  ns_type_name(spec->join[i].type));
		/* setns into one's own user namespace is EINVAL; for the others only wasted. */
		r = ns_is_own(proc_fd, spec->join[i].fd, spec->join[i].type, &own, err);
		if (r < 0)
			return r;
		if (!own)
			job->join[job->n_join++] = spec->join[i];
	}
	return 0;
}

static int join_one(const struct ns_join *j, struct error *err)
{
	if (setns(j->fd, (int)j->type) < 0)
		return error_set(err, -errno, "join %s namespace", ns_type_name(j->type));
	return 0;
}

/*
 * The user namespace last, because the others may belong to the one we come from;
 * those that belong to the joined one refuse with EPERM first and are tried again.
 */
static int join_all(const struct spawn_job *job, bool with_pid, struct error *err)
{
	bool later[NS_JOIN_MAX] = { false };
	const struct ns_join *user = NULL;
	size_t i;
	int r;

	for (i = 0; i < job->n_join; i++) {
		const struct ns_join *j = &job->join[i];

		if (j->type == CLONE_NEWUSER) {
			user = j;
			continue;
		}
		if (j->type == CLONE_NEWPID && !with_pid)
			continue;
		r = join_one(j, err);
		if (r == -EPERM && job_has(job, CLONE_NEWUSER)) {
			/* Callers judge by the error's code: a put-off join is none. */
			*err = ERROR_NULL;
			later[i] = true;
		} else if (r < 0) {
			return r;
		}
	}
	if (!user)
		return 0;
	r = join_one(user, err);
	for (i = 0; i < job->n_join && r == 0; i++)
		if (later[i])
			r = join_one(&job->join[i], err);
	return r;
}

static int clone_error(const struct spawn_job *job, int code, struct error *err)
{
	const char *what = "clone process";

	if (code == -ENOMEM && job_has(job, CLONE_NEWPID))
		what = "make a process in the joined pid namespace (has its first process ended?)";
	else if (code == -ENOSPC)
		what = "make namespaces (a limit in /proc/sys/user is reached)";
	else if (code == -EPERM && (job->create & CLONE_NEWUSER))
		what = "make a user namespace (are they disabled on this host?)";
	else if (code == -EBUSY || code == -EOPNOTSUPP || code == -EACCES)
		what = "clone process into its cgroup";
	return error_set(err, code, "%s", what);
}

static pid_t job_clone(const struct spawn_job *job, uint64_t flags, int *pidfd)
{
	struct clone_args args = {
		.flags = flags,
		.pidfd = (uint64_t)(uintptr_t)pidfd,
		/* A sibling gets the helper's, SIGCHLD too; the kernel refuses to be told. */
		.exit_signal = flags & CLONE_PARENT ? 0 : SIGCHLD,
	};
	pid_t pid;

	if (pidfd)
		args.flags |= CLONE_PIDFD;
	if (job->cgroup_fd >= 0) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (uint64_t)job->cgroup_fd;
	}
	pid = sys_clone3(&args);
	return pid < 0 ? -errno : pid;
}

static int report_socket(int *ret_ours, int *ret_theirs, struct error *err)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return error_set(err, -errno, "make socket pair");
	*ret_ours = pair[0];
	*ret_theirs = pair[1];
	return 0;
}

/* The child's word, or its error. End of file without a message: 0, *ret_pidfd = -EBADF. */
static int report_read(int sock, struct spawn_report *ret, int *ret_pidfd, struct error *err)
{
	int fd = -EBADF;
	size_t n;
	int r;

	r = fd_recv(sock, ret, sizeof(*ret), &n, &fd, 1);
	if (r < 0)
		return error_set(err, r, "receive from namespace helper");
	if (n != 0 && n != sizeof(*ret)) {
		cleanup_closep(&fd);
		return error_text(err, -EPROTO, "namespace helper sent %zu bytes", n);
	}
	if (n != 0 && ret->error.code < 0) {
		cleanup_closep(&fd);
		ret->error.text[sizeof(ret->error.text) - 1] = '\0';
		*err = ret->error;
		return err->code;
	}
	*ret_pidfd = fd;
	return 0;
}

static void reap_quietly(pid_t pid)
{
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Child of a single stage: joins what is left and tells only failures; closing the socket is the
 * success. */
static _noreturn_ void child_single(const struct spawn_job *job, int sock)
{
	struct spawn_report report = { 0 };

	if (sock >= 0) {
		if (join_all(job, false, &report.error) < 0) {
			(void)fd_send(sock, &report, sizeof(report), NULL, 0);
			_exit(1);
		}
		(void)close(sock);
	}
	job->fn(job->arg);
}

static int spawn_single(const struct spawn_job *job, struct pidref *ret, struct error *err)
{
	bool joins = job->n_join > (job_has(job, CLONE_NEWPID) ? 1u : 0u);
	_cleanup_close_ int pidfd = -EBADF;
	_cleanup_close_ int ours = -EBADF;
	_cleanup_close_ int theirs = -EBADF;
	struct spawn_report report;
	int unused, r;
	pid_t pid;

	if (joins) {
		r = report_socket(&ours, &theirs, err);
		if (r < 0)
			return r;
	}
	pid = job_clone(job, job->create, &pidfd);
	if (pid < 0)
		return clone_error(job, pid, err);
	if (pid == 0) {
		if (ours >= 0)
			(void)close(ours);
		child_single(job, theirs);
	}
	if (joins) {
		cleanup_closep(&theirs);
		theirs = -EBADF;
		r = report_read(ours, &report, &unused, err);
		if (r < 0) {
			(void)sys_pidfd_send_signal(pidfd, SIGKILL);
			reap_quietly(pid);
			return r;
		}
	}
	*ret = (struct pidref){ .pid = pid, .fd = take_fd(&pidfd) };
	return 0;
}

/* The helper between caller and final process: joins, makes the sibling, reports, ends. */
static _noreturn_ void helper_run(const struct spawn_job *job, int sock)
{
	struct spawn_report report = { 0 };
	int pidfd = -EBADF;
	pid_t pid;

	if (join_all(job, true, &report.error) == 0) {
		pid = job_clone(job, job->create | CLONE_PARENT, &pidfd);
		if (pid == 0) {
			(void)close(sock);
			job->fn(job->arg);
		}
		if (pid < 0)
			(void)clone_error(job, pid, &report.error);
		else
			report.pid = pid;
	}
	if (fd_send(sock, &report, sizeof(report), &pidfd, pidfd >= 0 ? 1 : 0) < 0 && pidfd >= 0)
		(void)sys_pidfd_send_signal(pidfd, SIGKILL);
	_exit(report.error.code < 0 ? 1 : 0);
}

static int spawn_double(struct spawn_job *job, struct pidref *ret, struct error *err)
{
	_cleanup_close_ int pidfd = -EBADF;
	_cleanup_close_ int ours = -EBADF;
	_cleanup_close_ int theirs = -EBADF;
	struct spawn_job helper = { .cgroup_fd = -EBADF };
	struct spawn_report report;
	pid_t pid;
	int r;

	r = report_socket(&ours, &theirs, err);
	if (r < 0)
		return r;
	/*
	 * From inside a joined cgroup namespace a clone into the cgroup is refused where cgroup2 is
	 * mounted with nsdelegate (the helper's own cgroup is outside): then the helper goes there
	 * and it is inherited.
	 */
	if (job_has(job, CLONE_NEWCGROUP)) {
		helper.cgroup_fd = job->cgroup_fd;
		job->cgroup_fd = -EBADF;
	}
	pid = job_clone(&helper, 0, NULL);
	if (pid < 0)
		return error_set(err, pid, "clone namespace helper");
	if (pid == 0) {
		(void)close(ours);
		helper_run(job, theirs);
	}
	cleanup_closep(&theirs);
	theirs = -EBADF;
	r = report_read(ours, &report, &pidfd, err);
	reap_quietly(pid);
	if (r < 0)
		return r;
	if (pidfd < 0)
		return error_text(err, -ECHILD, "the namespace helper was killed");
	*ret = (struct pidref){ .pid = report.pid, .fd = take_fd(&pidfd) };
	return 0;
}

/* *ret_refused: the pid namespace belongs to the user namespace that is still to be joined. */
static int spawn_in_pidns(const struct spawn_job *job, int proc_fd, struct pidref *ret,
			  bool *ret_refused, struct error *err)
{
	_cleanup_close_ int own = -EBADF;
	struct error restore_err = ERROR_NULL;
	struct ns_join back = { .type = CLONE_NEWPID };
	size_t i;
	int r;

	*ret_refused = false;
	r = procfs_open_ns(proc_fd, 0, "pid", &own, err);
	if (r < 0)
		return r;
	back.fd = own;
	/* Rootless: who may not return to the namespace he came from lets a helper go there instead. */
	r = join_one(&back, err);
	if (r < 0) {
		*ret_refused = r == -EPERM;
		return r;
	}
	for (i = 0; i < job->n_join; i++) {
		if (job->join[i].type != CLONE_NEWPID)
			continue;
		r = join_one(&job->join[i], err);
		if (r < 0) {
			*ret_refused = r == -EPERM;
			return r;
		}
	}
	r = spawn_single(job, ret, err);
	if (join_one(&back, &restore_err) < 0) {
		/* Our next child would be born in the container. */
		if (r == 0) {
			(void)sys_pidfd_send_signal(ret->fd, SIGKILL);
			reap_quietly(ret->pid);
			pidref_done(ret);
		}
		*err = restore_err;
		return error_prefix(err, "return to the own pid namespace");
	}
	return r;
}

static int spawn_job_run(struct spawn_job *job, int proc_fd, struct pidref *ret, struct error *err)
{
	bool user = job_has(job, CLONE_NEWUSER), refused;
	int r;

	if (((job->create & CLONE_NEWUSER) && job->n_join > 0) || (user && job->create))
		return spawn_double(job, ret, err);
	if (!job_has(job, CLONE_NEWPID))
		return spawn_single(job, ret, err);
	r = spawn_in_pidns(job, proc_fd, ret, &refused, err);
	if (r < 0 && refused)
		return spawn_double(job, ret, err);
	return r;
}

int ns_spawn(const struct ns_spec *spec, int cgroup_fd, int proc_fd, ns_child_fn fn, void *arg,
	     struct pidref *ret, struct error *err)
{
	struct spawn_job job = { .cgroup_fd = cgroup_fd, .fn = fn, .arg = arg };
	int r, dumpable = -1;

	assert(spec && spec->n_join <= NS_JOIN_MAX);
	assert(fn && ret);

	r = job_init(&job, spec, proc_fd, err);
	if (r < 0)
		return r;
	if (job_has(&job, CLONE_NEWPID) || job_has(&job, CLONE_NEWUSER)) {
		dumpable = prctl(PR_GET_DUMPABLE);
		if (prctl(PR_SET_DUMPABLE, 0) < 0)
			return error_set(err, -errno, "make the runtime not dumpable");
	}
	r = spawn_job_run(&job, proc_fd, ret, err);
	if (dumpable == 1)
		(void)prctl(PR_SET_DUMPABLE, 1);
	return r;
}

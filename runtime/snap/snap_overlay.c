/*
 * The overlays of a session. redirect_dir and metacopy stay off: each file in an upper
 * folder is then whole and at its own path, which diff and commit rely on, and an agent can
 * gain nothing by the attributes that would say otherwise.
 */
#include <assert.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/syscalls.h"
#include "snap/snap_ids.h"
#include "snap/snap_private.h"
#include "util/fd.h"
#include "util/str.h"

#define LOWER_DIR  "lower" /* beside upper and work: where an original is mounted if it must be */
#define MAPPED_DIR "mapped" /* and the folder of all those with ids mapped */

struct job {
	int mount_fd; /* the image */
	struct snap_over *overs;
	size_t n;
	bool attached; /* in a namespace where the layers are mounted */
	char why[256]; /* what the kernel said */
	size_t failed; /* index of the one that did not work */
};

/* top_fd: the folder with upper and work. */
static int set_all(int fs_fd, const struct snap_over *o, int top_fd)
{
	static const char *const words[][2] = {
		{ "redirect_dir", "nofollow" }, { "metacopy", "off" }, { "index", "off" }, { "nfs_export", "off" }, { "xino", "off" },
	};
	char lower[160], upper[64], work[64];
	size_t i;

	/* By descriptor: nothing is looked up by a path that could have changed. */
	(void)snprintf(lower, sizeof(lower), "/proc/self/fd/%d", o->lower_fd);
	(void)snprintf(upper, sizeof(upper), "/proc/self/fd/%d/upper", top_fd);
	(void)snprintf(work, sizeof(work), "/proc/self/fd/%d/work", top_fd);
	if (o->view)
		(void)snprintf(lower, sizeof(lower), "%s:/proc/self/fd/%d", upper, o->lower_fd);
	for (i = 0; i < ELEMENTSOF(words); i++)
		if (fsconfig(fs_fd, FSCONFIG_SET_STRING, words[i][0], words[i][1], 0) < 0)
			return -errno;
	if (fsconfig(fs_fd, FSCONFIG_SET_STRING, "source", "agentrun-session", 0) < 0 ||
	    fsconfig(fs_fd, FSCONFIG_SET_STRING, "lowerdir", lower, 0) < 0 ||
	    (!o->view && fsconfig(fs_fd, FSCONFIG_SET_STRING, "upperdir", upper, 0) < 0) ||
	    (!o->view && fsconfig(fs_fd, FSCONFIG_SET_STRING, "workdir", work, 0) < 0) ||
	    (o->label && *o->label && fsconfig(fs_fd, FSCONFIG_SET_STRING, "context", o->label, 0) < 0) ||
	    fsconfig(fs_fd, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return -errno;
	return 0;
}

/* What the host says about its folder holds for the layer, but for read-only. */
static unsigned attrs_of(int lower_fd)
{
	struct statvfs st;

	if (fstatvfs(lower_fd, &st) < 0)
		return MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
	return (st.f_flag & ST_NOSUID ? (unsigned)MOUNT_ATTR_NOSUID : 0) | (st.f_flag & ST_NODEV ? (unsigned)MOUNT_ATTR_NODEV : 0) |
	       (st.f_flag & ST_NOEXEC ? (unsigned)MOUNT_ATTR_NOEXEC : 0);
}

/* The layer's folder in the image, with its ids mapped as those of the original are. */
static int open_top(struct job *job, const struct snap_over *o, int *ret_fd)
{
	_cleanup_close_ int fd = -EBADF;
	char name[24], mapped[48];
	int r;

	(void)snprintf(name, sizeof(name), "%zu", o->layer);
	(void)snprintf(mapped, sizeof(mapped), "%s/" MAPPED_DIR, name);
	fd = o->userns_fd < 0 ? openat(job->mount_fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) :
				open_tree(job->mount_fd, name, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW);
	if (fd < 0)
		return -errno;
	r = o->userns_fd < 0 ? 0 : mount_tree_map(fd, o->userns_fd);
	if (r == 0 && o->userns_fd >= 0 && job->attached &&
	    ((mkdirat(job->mount_fd, mapped, 0700) < 0 && errno != EEXIST) ||
	     move_mount(fd, "", job->mount_fd, mapped, MOVE_MOUNT_F_EMPTY_PATH) < 0))
		r = -errno;
	if (r < 0)
		return r;
	*ret_fd = take_fd(&fd);
	return 0;
}

static int mount_plain(struct job *job, const struct snap_over *o, int top_fd, int *ret_fd)
{
	_cleanup_close_ int fs_fd = fsopen("overlay", FSOPEN_CLOEXEC);
	unsigned attrs = attrs_of(o->lower_fd);
	int fd, r;

	if (fs_fd < 0)
		return -errno;
	r = set_all(fs_fd, o, top_fd);
	if (r < 0) {
		ssize_t n = read(fs_fd, job->why, sizeof(job->why) - 1);

		job->why[MAX(n, (ssize_t)0)] = '\0';
		job->why[strcspn(job->why, "\n")] = '\0';
		return r;
	}
	fd = fsmount(fs_fd, FSMOUNT_CLOEXEC, attrs);
	if (fd < 0)
		return -errno;
	*ret_fd = fd;
	return 0;
}

/* An overlay remembers who made it and does its own work, as whiteouts, in that name. */
static int mount_one(struct job *job, size_t i, int *ret_fd)
{
	const struct snap_over *o = &job->overs[i];
	struct error ignored = ERROR_NULL;
	_cleanup_close_ int top_fd = -EBADF;
	struct snap_ids saved;
	int r, back;

	job->failed = i;
	job->why[0] = '\0';
	r = open_top(job, o, &top_fd);
	if (r < 0 || o->userns_fd < 0)
		return r < 0 ? r : mount_plain(job, o, top_fd, ret_fd);
	r = snap_ids_assume(o->uid, o->gid, &saved, &ignored);
	if (r < 0)
		return r;
	r = mount_plain(job, o, top_fd, ret_fd);
	back = snap_ids_restore(&saved, &ignored);
	return r < 0 ? r : back;
}

static int mount_all(struct job *job)
{
	size_t i;
	int r = 0;

	for (i = 0; i < job->n && r == 0; i++)
		r = mount_one(job, i, &job->overs[i].mount_fd);
	for (; r < 0 && i-- > 0;) {
		cleanup_closep(&job->overs[i].mount_fd);
		job->overs[i].mount_fd = -EBADF;
	}
	return r;
}

/* In a mount namespace of its own, which ends with the process; the overlays keep copies of what they need. */
static int attach_all(struct job *job)
{
	struct mount_attr private = { .propagation = MS_PRIVATE };
	char path[64];
	size_t i;

	job->attached = true;
	if (unshare(CLONE_NEWNS) < 0 || mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &private, sizeof(private)) < 0 ||
	    move_mount(job->mount_fd, "", AT_FDCWD, SNAP_DIR, MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return -errno;
	for (i = 0; i < job->n; i++) {
		(void)snprintf(path, sizeof(path), "%zu/" LOWER_DIR, job->overs[i].layer);
		if (mkdirat(job->mount_fd, path, 0700) < 0 && errno != EEXIST)
			return -errno;
		if (move_mount(job->overs[i].lower_fd, "", job->mount_fd, path, MOVE_MOUNT_F_EMPTY_PATH) < 0)
			return -errno;
	}
	return 0;
}

struct report { int code; size_t failed; char why[256]; };

_noreturn_ static void helper(struct job *job, int sock)
{
	struct report report = { 0 };
	size_t i;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	report.code = attach_all(job);
	if (report.code == 0)
		report.code = mount_all(job);
	report.failed = job->failed;
	memcpy(report.why, job->why, sizeof(report.why));
	if (fd_send(sock, &report, sizeof(report), NULL, 0) == 0 && report.code == 0)
		for (i = 0; i < job->n; i++)
			(void)fd_send(sock, "m", 1, &job->overs[i].mount_fd, 1);
	_exit(0);
}

static int receive(struct job *job, int sock)
{
	struct report report = { 0 };
	size_t i, n = 0;
	int r = fd_recv(sock, &report, sizeof(report), &n, NULL, 0);
	char c;

	if (r < 0 || n != sizeof(report))
		return r < 0 ? r : -EPIPE;
	job->failed = report.failed;
	memcpy(job->why, report.why, sizeof(job->why));
	for (i = 0; i < job->n && report.code == 0; i++) {
		r = fd_recv(sock, &c, 1, &n, &job->overs[i].mount_fd, 1);
		if (r < 0 || n != 1 || job->overs[i].mount_fd < 0)
			return r < 0 ? r : -EPIPE;
	}
	return report.code;
}

/* Before Linux 6.15 a layer of an overlay must be mounted somewhere: there it is, where nobody sees it. */
static int mount_attached(struct job *job)
{
	int socks[2] = { -EBADF, -EBADF }, r;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) < 0)
		return -errno;
	pid = fork();
	if (pid == 0)
		helper(job, socks[1]);
	r = pid < 0 ? -errno : 0;
	(void)close(socks[1]);
	if (r == 0) {
		r = receive(job, socks[0]);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	(void)close(socks[0]);
	return r;
}

int snap_overlays(int mount_fd, struct snap_over *overs, size_t n, bool attach, struct error *err)
{
	struct job job = { .mount_fd = mount_fd, .overs = overs, .n = n };
	const struct snap_over *bad;
	int r;

	assert(mount_fd >= 0 && n <= SNAP_LAYERS_MAX);

	r = attach ? -EINVAL : mount_all(&job);
	if (r == -EINVAL)
		r = mount_attached(&job);
	if (r == 0)
		return 0;
	bad = &overs[job.failed];
	return error_set(err, r, "session over %s: the kernel refuses an overlay there%s%s%s (a filesystem that is itself an overlay "
			 "over an overlay, or has no plain files, cannot have one: leave the path out of the session)", bad->source,
			 job.why[0] ? ": \"" : "", str_after(job.why, "e ") ? job.why + 2 : job.why, job.why[0] ? "\"" : "");
}

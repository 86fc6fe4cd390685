/*
 * What can be decided about a container process before the start gate, so that
 * `create` and `exec` can refuse: HOME, the working directory and the executable.
 * Runs in the container's namespaces with the container's root as "/".
 */
#include "container/process_exec.h"

#include <assert.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/creds.h"
#include "os/rootfs.h"
#include "util/fd.h"
#include "util/log.h"
#include "util/parse.h"
#include "util/str.h"

#define PASSWD_BYTES_MAX ((size_t)1024 * 1024)
/* The capabilities that decide file access: DAC_OVERRIDE, DAC_READ_SEARCH, FOWNER. */
#define CAPS_FILE_ACCESS ((1ull << 1) | (1ull << 2) | (1ull << 3))
#define PATH_DEFAULT "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static const char *env_get(char *const *env, const char *name)
{
	size_t n = strlen(name);
	const char *found = NULL;

	for (; env && *env; env++)
		if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
			found = *env + n + 1;
	return found;
}

/* The sixth field of the passwd line whose third is uid; malloc'ed or NULL. */
static char *passwd_home(char *text, uid_t uid)
{
	char *line, *save = NULL;

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char *field[7] = { NULL };
		char *rest = line;
		uint32_t n;
		size_t i;

		for (i = 0; i < ELEMENTSOF(field) && rest; i++)
			field[i] = strsep(&rest, ":");
		if (field[5] && field[5][0] && parse_u32(field[2], &n) == 0 && n == uid)
			return strdup(field[5]);
	}
	return NULL;
}

/*
 * An image's passwd is hostile input: it is opened below the root (no link leads out),
 * read with a cap, and a file that is no regular one is ignored.
 */
static char *home_of(int rootfs_fd, uid_t uid)
{
	_cleanup_close_ int fd = -EBADF;
	_cleanup_free_ char *text = NULL;
	struct stat st;
	size_t len;
	char *home = NULL;

	if (rootfs_openat(rootfs_fd, "etc/passwd", O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, &fd) == 0 &&
	    fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    fd_read_all(fd, PASSWD_BYTES_MAX, &text, &len) == 0)
		home = passwd_home(text, uid);
	return home ? home : strdup("/");
}

static int prepare_env(struct process *p, struct error *err)
{
	const struct plan_process *plan = p->plan;
	const char *home = env_get(plan->env, "HOME");
	_cleanup_free_ char *found = NULL;
	size_t i, n = 0;
	char *entry;

	p->env = calloc(plan->n_env + 4, sizeof(char *));
	if (!p->env)
		return error_oom(err);
	for (i = 0; i < plan->n_env; i++) {
		/* An empty HOME means: look it up (runc does so too). */
		if (strncmp(plan->env[i], "HOME=", 5) == 0 && plan->env[i][5] == '\0')
			continue;
		if (p->listen_fds > 0 && (strncmp(plan->env[i], "LISTEN_FDS=", 11) == 0 ||
					  strncmp(plan->env[i], "LISTEN_PID=", 11) == 0))
			continue;
		p->env[n++] = plan->env[i];
	}
	if (p->listen_fds > 0) {
		p->env[n] = str_printf("LISTEN_FDS=%u", p->listen_fds);
		p->env[n + 1] = str_printf("LISTEN_PID=%d", getpid());
		if (!p->env[n] || !p->env[n + 1])
			return error_oom(err);
		n += 2;
	}
	if (home && *home)
		return 0;

	found = home_of(p->rootfs_fd, plan->creds.uid);
	entry = found ? str_printf("HOME=%s", found) : NULL;
	if (!entry)
		return error_oom(err);
	p->env[n] = entry;
	return 0;
}

/* The rights that decide file access, saved while another identity's are tried on. */
struct fs_identity {
	uid_t uid;
	gid_t gid;
	gid_t groups[NGROUPS_MAX];
	int n_groups;
	struct caps_sets caps;
};

static int identity_assume(const struct creds *c, struct fs_identity *saved, struct error *err)
{
	struct caps_sets caps;
	int r;

	saved->n_groups = getgroups(NGROUPS_MAX, saved->groups);
	if (saved->n_groups < 0)
		return error_set(err, -errno, "read supplementary groups");
	r = caps_held(&saved->caps, err);
	if (r < 0)
		return r;

	if (!c->keep_groups && setgroups(c->n_groups, c->groups) < 0 && errno != EPERM)
		return error_set(err, -errno, "set supplementary groups for the look-up of the command");
	saved->gid = (gid_t)setfsgid(c->gid);
	saved->uid = (uid_t)setfsuid(c->uid);
	if (!c->set_caps)
		return 0;
	/*
	 * Those that the process will have when it calls execve: a change of fsuid away from 0 has
	 * dropped all of them, and for root they must go by hand.
	 */
	caps = saved->caps;
	caps.effective &= c->caps.effective | ~CAPS_FILE_ACCESS;
	r = caps_set(&caps);
	return r < 0 ? error_set(err, r, "lower capabilities for the look-up of the command") : 0;
}

static int identity_restore(const struct creds *c, const struct fs_identity *saved, struct error *err)
{
	int r;

	(void)setfsuid(saved->uid);
	(void)setfsgid(saved->gid);
	r = caps_set(&saved->caps);
	if (r < 0)
		return error_set(err, r, "restore capabilities after the look-up of the command");
	if (!c->keep_groups && setgroups((size_t)saved->n_groups, saved->groups) < 0 && errno != EPERM)
		return error_set(err, -errno, "restore supplementary groups");
	return 0;
}

/*
 * After chdir the kernel says where we are: a folder outside the root (an inherited
 * descriptor, CVE-2024-21626) shows as "(unreachable)".
 */
static int cwd_verify(const char *cwd, struct error *err)
{
	char buf[PATH_MAX];

	if (!getcwd(buf, sizeof(buf)))
		return error_set(err, -errno, "current working directory (\"%s\") is not inside the container's root", cwd);
	if (buf[0] != '/')
		return error_text(err, -EPERM,
				  "current working directory (\"%s\") is outside the container's root", cwd);
	return 0;
}

static int cwd_make(int rootfs_fd, const char *cwd, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;
	struct error ignored;

	return rootfs_make_target(rootfs_fd, cwd, true, &fd, &ignored) < 0 ?
		       error_set(err, ignored.code, "mkdir cwd (\"%s\") set in config.json failed", cwd) :
		       0;
}

/* As the user first (NFS root_squash, user's own 0700 folder), then as root. */
static int prepare_cwd(struct process *p, struct error *err)
{
	const char *cwd = p->plan->cwd;
	int r;

	if (chdir(cwd) == 0)
		return cwd_verify(cwd, err);
	if (errno == ENOENT && !p->is_exec) {
		r = cwd_make(p->rootfs_fd, cwd, err);
		if (r < 0)
			return r;
		if (chdir(cwd) == 0)
			return cwd_verify(cwd, err);
	}
	return error_set(err, -errno, "chdir to cwd (\"%s\") set in config.json failed", cwd);
}

static int exec_check(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) < 0 ? -errno : 0;
}

/* Looks a bare name up in PATH. -ENOENT: nowhere; -EACCES: found, but not executable. */
static int search_path(const char *name, const char *path, char **ret)
{
	_cleanup_free_ char *copy = strdup(path);
	char *rest = copy, *dir;
	int worst = -ENOENT;

	if (!copy)
		return -ENOMEM;
	while ((dir = strsep(&rest, ":"))) {
		_cleanup_free_ char *try = str_printf("%s/%s", *dir ? dir : ".", name);
		int r;

		if (!try)
			return -ENOMEM;
		r = exec_check(try);
		if (r == 0) {
			*ret = take_ptr(try);
			return 0;
		}
		if (r == -EACCES || r == -EISDIR)
			worst = -EACCES;
	}
	return worst;
}

static int find_executable(struct process *p, struct error *err)
{
	const char *name = p->plan->argv[0];
	const char *path = env_get(p->env, "PATH");
	int r;

	if (!*name)
		return error_text(err, -ENOENT, "exec: \"\": executable file not found in $PATH");
	if (!strchr(name, '/')) {
		r = search_path(name, path && *path ? path : PATH_DEFAULT, &p->path);
		if (r == -EACCES)
			return error_text(err, r, "exec: \"%s\": permission denied", name);
		if (r == -ENOMEM)
			return error_oom(err);
		return r < 0 ? error_text(err, r, "exec: \"%s\": executable file not found in $PATH", name) : 0;
	}

	r = exec_check(name);
	/* Engines before docker 24 do not know "is a directory", so it is called what they know. */
	if (r == -EISDIR || r == -EACCES)
		return error_text(err, -EACCES, "exec: \"%s\": permission denied", name);
	if (r < 0)
		return error_set(err, r, "exec: \"%s\": stat %s", name, name);
	p->path = strdup(name);
	return p->path ? 0 : error_oom(err);
}

/*
 * The user may open /dev/stdout and its like again by name, which needs a pipe of its own. Only
 * what its caller made for it: a file or a terminal of the host keeps its owner. Best effort: in a user
 * namespace the pipe may belong to an id that is not mapped.
 */
static void own_stdio(const struct creds *c)
{
	struct stat st;
	int fd;

	for (fd = 0; fd <= 2; fd++)
		if (fstat(fd, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode)) &&
		    (st.st_uid != c->uid || st.st_gid != c->gid) && fchown(fd, c->uid, c->gid) < 0)
			log_debugf("give descriptor %d to uid %u: %s", fd, c->uid, strerrordesc_np(errno));
}

/*
 * What was opened on the host must not be within reach of the image's paths, nor stay open in a
 * process that may wait for days at the gate (CVE-2024-21626).
 */
static int leave_host(struct process *p, struct error *err)
{
	const int keep[] = { p->proc_fd, p->rootfs_fd, p->listener_sock, p->gate_fds[0], p->gate_fds[1] };
	int r;

	log_forget();
	r = fd_close_others(3 + p->keep_fds, keep, ELEMENTSOF(keep));
	return r < 0 ? error_set(err, r, "close the host's descriptors") : 0;
}

int process_prepare(struct process *p, struct error *err)
{
	struct fs_identity *saved;
	struct error undo = ERROR_NULL;
	int r, k;

	assert(p->plan);
	assert(p->rootfs_fd >= 0);

	r = leave_host(p, err);
	if (r < 0)
		return r;
	r = prepare_env(p, err);
	if (r < 0)
		return r;
	own_stdio(&p->plan->creds);

	saved = calloc(1, sizeof(*saved));
	if (!saved)
		return error_oom(err);
	r = identity_assume(&p->plan->creds, saved, err);
	if (r == 0) {
		r = prepare_cwd(p, err);
		if (r == -EACCES || r == -EPERM) {
			k = identity_restore(&p->plan->creds, saved, err);
			if (k == 0)
				r = prepare_cwd(p, err);
			if (k == 0 && r == 0)
				r = identity_assume(&p->plan->creds, saved, err);
		}
		if (r == 0)
			r = find_executable(p, err);
	}
	k = identity_restore(&p->plan->creds, saved, &undo);
	free(saved);
	if (r < 0)
		return r;
	if (k < 0) {
		*err = undo;
		return k;
	}
	/* Set again right before the execve; tried here, because an unknown one is an error of create. */
	return process_labels(p, err);
}

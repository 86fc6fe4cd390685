/*
 * Owns the helper process that speaks D-Bus for us: its start, its requests, its end. A
 * program of its own, because libsystemd comes as a shared library only and few calls need it.
 */
#include "cgroup/cgroup_scope.h"

#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "os/libexec.h"
#include "os/pidref.h"
#include "os/procattr.h"
#include "os/syscalls.h"
#include "util/fd.h"
#include "util/str.h"

/* The helper waits 30 s for a job of systemd and answers then, whatever came of it. */
#define REPLY_TIMEOUT_S 60
#define END_TIMEOUT_MS	5000

struct cgroup_peer {
	int sock;
	struct pidref child;
};

bool cgroup_systemd_built(void)
{
	_cleanup_close_ int fd = -EBADF;
	struct error ignored = ERROR_NULL;

	return libexec_open(CGROUP_SCOPE_HELPER, &fd, &ignored) == 0;
}

static int no_systemd(struct error *err)
{
	return error_text(err, -EOPNOTSUPP,
			  "systemd cgroup manager: this host was not started by systemd (there is no "
			  "/run/systemd/system): use the cgroupfs manager (no --systemd-cgroup; the "
			  "engine's cgroup driver \"cgroupfs\")");
}

static _noreturn_ void child_run(int program, int sock, bool user)
{
	static const char *const kept[] = { "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS" };
	char *argv[] = { (char *)CGROUP_SCOPE_HELPER, (char *)(user ? "user" : "system"), NULL };
	char *env[ELEMENTSOF(kept) + 1] = { NULL };
	size_t i, n = 0;
	int null;

	for (i = 0; user && i < ELEMENTSOF(kept); i++) {
		const char *value = getenv(kept[i]);

		env[n] = value ? str_printf("%s=%s", kept[i], value) : NULL;
		n += env[n] != NULL;
	}
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (signals_reset() == 0 && null >= 0 && dup2(sock, STDIN_FILENO) == 0 && dup2(null, STDOUT_FILENO) >= 0 &&
	    dup2(null, STDERR_FILENO) >= 0 && fd_cloexec_from(3) == 0)
		(void)syscall(SYS_execveat, program, "", argv, env, AT_EMPTY_PATH);
	_exit(127);
}

int cgroup_peer_start(bool user, struct cgroup_peer **ret, struct error *err)
{
	const struct timeval timeout = { .tv_sec = REPLY_TIMEOUT_S };
	_cleanup_cgroup_peer_ struct cgroup_peer *p = NULL;
	_cleanup_close_ int program = -EBADF, theirs = -EBADF;
	struct stat st;
	int socks[2], r;

	if (stat("/run/systemd/system", &st) < 0 || !S_ISDIR(st.st_mode))
		return no_systemd(err);
	r = libexec_open(CGROUP_SCOPE_HELPER, &program, err);
	if (r == -ENOENT)
		return error_prefix(err, "systemd cgroup manager (needs a build with libsystemd)");
	if (r < 0)
		return error_prefix(err, "systemd cgroup manager");
	p = calloc(1, sizeof(*p));
	if (!p)
		return error_oom(err);
	p->sock = -EBADF;
	p->child = PIDREF_NULL;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) < 0)
		return error_set(err, -errno, "make a socket pair");
	p->sock = socks[0];
	theirs = socks[1];
	if (setsockopt(p->sock, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) < 0)
		return error_set(err, -errno, "limit the wait for " CGROUP_SCOPE_HELPER);
	p->child.pid = sys_clone_pidfd(&p->child.fd);
	if (p->child.pid < 0)
		return error_set(err, -errno, "start " CGROUP_SCOPE_HELPER);
	if (p->child.pid == 0)
		child_run(program, theirs, user);
	*ret = take_ptr(p);
	return 0;
}

int cgroup_peer_call(struct cgroup_peer *p, enum cgroup_scope_verb verb, const char *unit,
		     const char *slice, const struct cgroup_props *props, char ret_text[PATH_MAX],
		     struct error *err)
{
	struct cgroup_scope_reply reply;
	_cleanup_free_ char *msg = NULL;
	size_t len;
	ssize_t n;
	int r;

	r = cgroup_scope_encode(verb, unit, slice, props, &msg, &len, err);
	if (r < 0)
		return r;
	if (send(p->sock, msg, len, MSG_NOSIGNAL) < 0)
		return error_set(err, -errno, "ask " CGROUP_SCOPE_HELPER);
	if (verb == CGROUP_SCOPE_LEAVE)
		return 0;
	do
		n = recv(p->sock, &reply, sizeof(reply), 0);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return error_text(err, -ETIMEDOUT, CGROUP_SCOPE_HELPER " did not answer within %d s",
				  REPLY_TIMEOUT_S);
	if (n < 0)
		return error_set(err, -errno, "hear " CGROUP_SCOPE_HELPER);
	if (n != sizeof(reply))
		return error_text(err, -EPIPE,
				  CGROUP_SCOPE_HELPER " ended without an answer (is libsystemd "
				  "installed? its --help tells)");
	reply.err.text[sizeof(reply.err.text) - 1] = '\0';
	reply.text[sizeof(reply.text) - 1] = '\0';
	if (reply.err.code < 0) {
		*err = reply.err;
		return error_prefix(err, "systemd cgroup manager");
	}
	if (ret_text)
		memcpy(ret_text, reply.text, sizeof(reply.text));
	return 0;
}

struct cgroup_peer *cgroup_peer_free(struct cgroup_peer *p)
{
	struct error ignored = ERROR_NULL;
	int status;

	if (!p)
		return NULL;
	/* Said, because a forked init may hold a copy of our end. */
	if (p->sock >= 0) {
		(void)cgroup_peer_call(p, CGROUP_SCOPE_LEAVE, NULL, NULL, NULL, NULL, &ignored);
		(void)close(p->sock);
	}
	if (p->child.pid > 0) {
		if (pidref_wait_exit(&p->child, END_TIMEOUT_MS) < 0)
			(void)pidref_signal(&p->child, SIGKILL);
		(void)pidref_reap(&p->child, &status, &ignored);
	}
	pidref_done(&p->child);
	free(p);
	return NULL;
}

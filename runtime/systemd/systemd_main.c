/*
 * agentrun-systemd: asks systemd for scopes on behalf of agentrun, which runs it with a
 * socket as standard input and says whose manager is meant. One request, one answer; ends
 * when told to, or when the other end closes. Says nothing by itself.
 */
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "systemd/systemd_bus.h"
#include "util/str.h"

#define SOCK STDIN_FILENO

static int request_run(struct systemd **s, bool user, const struct cgroup_scope_request *q,
		       struct cgroup_scope_reply *reply)
{
	struct error *err = &reply->err;
	int r;

	if (!*s) {
		r = systemd_open(user, s, err);
		if (r < 0)
			return r;
	}
	switch (q->verb) {
	case CGROUP_SCOPE_MANAGER:
		return systemd_manager_cgroup(*s, reply->text, err);
	case CGROUP_SCOPE_START:
		return systemd_start_scope(*s, q->unit, q->slice, &q->props, err);
	case CGROUP_SCOPE_SET:
		return systemd_set_properties(*s, q->unit, &q->props, err);
	case CGROUP_SCOPE_STOP:
		return systemd_stop(*s, q->unit, err);
	default:
		return error_text(err, -EBADMSG, "a request that has no answer");
	}
}

/* 0: one more; 1: told to end; negative: the socket is of no use. */
static int serve(struct systemd **s, bool user, char *buf)
{
	struct cgroup_scope_request q;
	struct cgroup_scope_reply reply;
	ssize_t n;

	do
		n = recv(SOCK, buf, CGROUP_SCOPE_MSG_MAX, 0);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n < 0 ? -errno : 1;
	memset(&reply, 0, sizeof(reply));
	if (cgroup_scope_decode(buf, (size_t)n, &q, &reply.err) == 0) {
		if (q.verb == CGROUP_SCOPE_LEAVE) {
			cgroup_props_done(&q.props);
			return 1;
		}
		(void)request_run(s, user, &q, &reply);
		cgroup_props_done(&q.props);
	}
	return send(SOCK, &reply, sizeof(reply), MSG_NOSIGNAL) == sizeof(reply) ? 0 : -EPIPE;
}

int main(int argc, char **argv)
{
	_cleanup_free_ char *buf = malloc(CGROUP_SCOPE_MSG_MAX);
	struct systemd *s = NULL;
	bool user = argc == 2 && str_eq(argv[1], "user");
	int r = 0, type = 0;
	socklen_t len = sizeof(type);

	if (argc == 2 && str_eq(argv[1], "--help")) {
		static const char text[] = "agentrun-systemd is run by agentrun for the systemd cgroup "
					   "manager; it has no use by hand.\n";

		return write(STDOUT_FILENO, text, sizeof(text) - 1) < 0;
	}
	if (argc != 2 || (!user && !str_eq(argv[1], "system")) || !buf ||
	    getsockopt(SOCK, SOL_SOCKET, SO_TYPE, &type, &len) < 0 || type != SOCK_SEQPACKET)
		return 125;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0)
		return 125;
	while (r == 0)
		r = serve(&s, user, buf);
	systemd_close(s);
	return r < 0;
}

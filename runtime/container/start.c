/*
 * START and what follows it.
 */
#include "container/start.h"

#include <errno.h>

#include "container/proto.h"
#include "monitor/supervise.h"

int start_verified(int sock, pid_t pid, int proc_fd, const struct state_expect *want, const char **ret_how,
		   struct error *err)
{
	struct verify v = { .proc_fd = -EBADF };
	int r;

	*ret_how = NULL;
	if (want->set) {
		r = verify_begin(pid, proc_fd, &v, err);
		if (r < 0)
			return r;
	}
	r = proto_send(sock, PROTO_START, 0, err);
	if (r == 0)
		r = proto_expect(sock, PROTO_STARTED, "the container's first process", NULL, err);
	if (r < 0)
		return r;
	if (want->set && v.traced) {
		r = verify_exec(&v, want, ret_how, err);
		if (r < 0)
			return r;
		if (r == VERIFY_E_ENDED)
			*ret_how = NULL;
		return proto_await_end(sock, NULL, err);
	}
	/* Without a trace the end of the connection tells of the execve. */
	r = proto_await_end(sock, NULL, err);
	if (r == 0 && want->set)
		r = verify_exec(&v, want, ret_how, err);
	return r;
}

int start_supervised(int sock, struct link *l, struct link_msg *msg, const int *passed, size_t n_passed, int proc_fd,
		     const struct state_expect *want, const char **ret_how, struct error *err)
{
	struct error failed = ERROR_NULL;
	struct link_msg answer;
	int fds[LINK_FDS_MAX];
	pid_t pid = msg->pid;
	int r;

	r = supervise_ask(l, msg, passed, n_passed, &answer, fds, err);
	if (r < 0)
		return r;
	link_close_fds(fds);
	/* Tracing is forbidden here, to both of us. */
	if (answer.flags & LINK_F_UNTRACED)
		return start_verified(sock, pid, proc_fd, want, ret_how, err);
	r = proto_send(sock, PROTO_START, 0, err);
	if (r == 0)
		r = proto_expect(sock, PROTO_STARTED, "the container's first process", NULL, err);
	/* A step that fails tells its reason here; the end of the connection is the execve. */
	if (r == 0)
		r = proto_await_end(sock, &failed, err);
	if (r == 0)
		r = link_expect(l, LINK_OK, "the container's supervisor", &answer, fds, err);
	*ret_how = NULL;
	/*
	 * Both say so: there was no execve to see, and the process has told why and ended with 255, as under any other
	 * runtime. Whatever else the supervisor says is a failure, since then nobody has looked at the process.
	 */
	if (r == -ESRCH && failed.code < 0)
		return 0;
	if (r < 0)
		return r;
	link_close_fds(fds);
	*ret_how = "exec-stop";
	return 0;
}

int start_container(int sock, int dir_fd, int proc_fd, const struct state_record *rec, const char **ret_how,
		    struct error *err)
{
	struct link_msg msg = { .type = LINK_START, .pid = rec->pid };
	struct link l = LINK_NULL;
	int r;

	if (rec->supervisor_pid == 0)
		return start_verified(sock, rec->pid, proc_fd, &rec->expect, ret_how, err);
	r = supervise_open(dir_fd, &l, err);
	if (r == 0)
		r = start_supervised(sock, &l, &msg, NULL, 0, proc_fd, &rec->expect, ret_how, err);
	supervise_close(&l);
	return r;
}

/*
 * START and what follows it.
 */
#include "container/start.h"

#include "container/proto.h"

int start_verified(int sock, pid_t pid, int proc_fd, const struct state_expect *want, const char **ret_how,
		   struct error *err)
{
	struct verify v;
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
		return proto_await_end(sock, err);
	}
	/* Without a trace the end of the connection tells of the execve. */
	r = proto_await_end(sock, err);
	if (r == 0 && want->set)
		r = verify_exec(&v, want, ret_how, err);
	return r;
}

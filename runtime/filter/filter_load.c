/*
 * Puts a compiled program into the calling thread. Runs in the container's process as
 * one of its last steps, where every call may be the one that is filtered next.
 */
#include "filter/filter_private.h"

#include <assert.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/str.h"

static int load_failed(const struct filter *f, int code, struct error *err)
{
	switch (code) {
	case -EACCES:
		return error_text(err, code,
				  "load the seccomp filter: permission denied: needs "
				  "noNewPrivileges or CAP_SYS_ADMIN");
	case -EBUSY:
		return error_text(err, code,
				  "load the seccomp filter: another filter of this process already "
				  "has a listener, and only one can notify");
	case -EINVAL:
		return error_text(err, code,
				  "load the seccomp filter: invalid argument: %zu instructions, "
				  "flags %#x; this kernel may not know one of the flags",
				  f->count, f->flags);
	default:
		return error_set(err, code, "load the seccomp filter");
	}
}

int filter_load(const struct filter *f, int *ret_listener, struct error *err)
{
	struct sock_fprog prog;
	long r;

	assert(f->count <= BPF_MAXINSNS);

	if (f->count == 0) {
		*ret_listener = -EBADF;
		return 0;
	}
	prog.len = (unsigned short)f->count;
	prog.filter = f->insns;
	r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, f->flags, &prog);
	if (r < 0)
		return load_failed(f, -errno, err);
	*ret_listener = f->flags & SECCOMP_FILTER_FLAG_NEW_LISTENER ? (int)r : -EBADF;
	return 0;
}

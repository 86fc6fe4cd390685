/*
 * Runs a command under a profile without a container, for trying workloads: no_new_privs, no
 * capabilities, the filter, execve.
 *
 *	under-filter PROFILE|/FILE UID COMMAND [ARGUMENT...]
 */
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "filter/filter_agent.h"
#include "util/parse.h"

static int drop(uint32_t uid)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 } };
	int cap;

	for (cap = 0; cap < 64; cap++)
		(void)prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	if (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0)
		return -1;
	if (syscall(SYS_capset, &h, none) < 0)
		return -1;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

int main(int argc, char **argv)
{
	struct filter f = FILTER_NULL;
	struct error err = ERROR_NULL;
	int listener;
	uint32_t uid;

	if (argc < 4 || parse_u32(argv[2], &uid) < 0) {
		fprintf(stderr, "usage: %s PROFILE|/FILE UID COMMAND [ARGUMENT...]\n", argv[0]);
		return 2;
	}
	if (filter_agent_open(argv[1], -EBADF, &f, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 2;
	}
	if (drop(uid) < 0) {
		perror("drop privileges");
		return 2;
	}
	if (filter_load(&f, &listener, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 2;
	}
	(void)execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 127;
}

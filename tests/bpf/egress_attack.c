/*
 * Tries to take the egress programs off its own cgroup, with whatever rights it was given,
 * and prints what each try came to.
 *
 *   egress-attack CGROUP PROGRAM-ID
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TYPE BPF_CGROUP_INET4_CONNECT

static int call(int cmd, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static void tell(const char *what, int r)
{
	printf("%s=%s ", what, r < 0 ? strerrorname_np(errno) : "ok");
}

static int attach(int cgroup, int prog, unsigned flags)
{
	union bpf_attr attr = { .target_fd = (uint32_t)cgroup,
				.attach_bpf_fd = (uint32_t)prog,
				.attach_type = TYPE,
				.attach_flags = flags };

	return call(BPF_PROG_ATTACH, &attr);
}

static int detach(int cgroup, int prog)
{
	union bpf_attr attr = { .target_fd = (uint32_t)cgroup, .attach_bpf_fd = (uint32_t)prog, .attach_type = TYPE };

	return call(BPF_PROG_DETACH, &attr);
}

static int load(void)
{
	static const struct bpf_insn allow[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 1 },
						 { .code = BPF_JMP | BPF_EXIT } };
	union bpf_attr attr = { .prog_type = BPF_PROG_TYPE_CGROUP_SOCK_ADDR,
				.expected_attach_type = TYPE,
				.insns = (uintptr_t)allow,
				.insn_cnt = 2,
				.license = (uintptr_t)"GPL" };

	return call(BPF_PROG_LOAD, &attr);
}

int main(int argc, char **argv)
{
	union bpf_attr attr;
	uint32_t ids[8];
	char child[4096];
	int cgroup, prog, own, dir;

	if (argc != 3)
		return 2;
	cgroup = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	memset(&attr, 0, sizeof(attr));
	attr.query.target_fd = (uint32_t)cgroup;
	attr.query.attach_type = TYPE;
	attr.query.prog_ids = (uintptr_t)ids;
	attr.query.prog_cnt = 8;
	tell("query", call(BPF_PROG_QUERY, &attr));
	tell("detach-any", detach(cgroup, 0));
	memset(&attr, 0, sizeof(attr));
	attr.prog_id = (uint32_t)atoi(argv[2]);
	prog = call(BPF_PROG_GET_FD_BY_ID, &attr);
	tell("open", prog);
	if (prog >= 0)
		tell("detach", detach(cgroup, prog));
	own = load();
	tell("load", own);
	if (own >= 0) {
		tell("exclusive", attach(cgroup, own, 0));
		tell("override", attach(cgroup, own, BPF_F_ALLOW_OVERRIDE));
		snprintf(child, sizeof(child), "%s/attack", argv[1]);
		(void)mkdir(child, 0755);
		dir = open(child, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		tell("child-override", attach(dir, own, BPF_F_ALLOW_OVERRIDE));
		(void)rmdir(child);
		tell("multi", attach(cgroup, own, BPF_F_ALLOW_MULTI));
	}
	printf("\n");
	return 0;
}

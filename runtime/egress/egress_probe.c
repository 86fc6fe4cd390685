/*
 * Owns questions to the kernel about what it can do, asked with programs of three
 * instructions.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "egress/egress_load.h"
#include "util/cleanup.h"

static int load(const struct bpf_insn *insns, size_t n)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_CGROUP_SKB;
	attr.expected_attach_type = BPF_CGROUP_INET_EGRESS;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = (uint32_t)n;
	attr.license = (uintptr_t)"GPL";
	memcpy(attr.prog_name, "agentrun_probe", sizeof("agentrun_probe"));
	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

int egress_probe_netns_cookie(bool *ret, struct error *err)
{
	static const struct bpf_insn with[] = {
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_netns_cookie },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 1 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	_cleanup_close_ int prog = load(with, ELEMENTSOF(with));

	if (prog >= 0) {
		*ret = true;
		return 0;
	}
	/* Without the call it must load: or it is not the call that is missing. */
	prog = load(with + 1, ELEMENTSOF(with) - 1);
	if (prog < 0)
		return error_set(err, -errno, "load a BPF program for a cgroup (egress needs root and Linux 6.1)");
	*ret = false;
	return 0;
}

/*
 * Owns the v2 form of device rules: a small BPF program that the kernel runs at every
 * open and mknod of a device. Generated here, loaded with plain bpf(2).
 */
#include "cgroup/cgroup_devices.h"

#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/ebpf.h"
#include "util/str.h"

#define PROGRAM_NAME "agentrun_dev"

/* Longest rule: three tests, then the five instructions of a partial deny. */
#define INSNS_PER_RULE 8
#define INSNS_FIXED    8

struct program {
	struct bpf_insn *insns;
	size_t n;
};

static void emit(struct program *p, uint8_t code, uint8_t dst, uint8_t src, int16_t off,
		 int32_t imm)
{
	p->insns[p->n++] = (struct bpf_insn){
		.code = code, .dst_reg = dst, .src_reg = src, .off = off, .imm = imm
	};
}

static void emit_load(struct program *p, uint8_t dst, size_t offset)
{
	emit(p, BPF_LDX | BPF_MEM | BPF_W, dst, BPF_REG_1, (int16_t)offset, 0);
}

static void emit_return(struct program *p, int value)
{
	emit(p, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, value);
	emit(p, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

static int32_t kernel_access(unsigned access)
{
	return (access & CGROUP_DEVICE_MKNOD ? BPF_DEVCG_ACC_MKNOD : 0) |
	       (access & CGROUP_DEVICE_READ ? BPF_DEVCG_ACC_READ : 0) |
	       (access & CGROUP_DEVICE_WRITE ? BPF_DEVCG_ACC_WRITE : 0);
}

/* The jump's distance is filled in when the rule's end is known. */
static void emit_test(struct program *p, uint8_t reg, int64_t value)
{
	if (value != CGROUP_DEVICE_ANY)
		emit(p, BPF_JMP32 | BPF_JNE | BPF_K, reg, 0, 0, (int32_t)(uint32_t)value);
}

/*
 * R2 type, R3 the kinds of access that no rule has decided yet, R4 major, R5 minor. Rules
 * are asked from the last to the first, because later ones win.
 */
static void emit_rule(struct program *p, const struct cgroup_device_rule *r)
{
	size_t start = p->n, i;
	int32_t access = kernel_access(r->access);
	bool all = r->access == CGROUP_DEVICE_ALL;

	emit_test(p, BPF_REG_2, r->type == 'b' ? BPF_DEVCG_DEV_BLOCK : BPF_DEVCG_DEV_CHAR);
	emit_test(p, BPF_REG_4, r->major);
	emit_test(p, BPF_REG_5, r->minor);
	if (all) {
		emit_return(p, r->allow);
	} else if (r->allow) {
		/* What it allows is decided; is anything left to ask? */
		emit(p, BPF_ALU | BPF_AND | BPF_K, BPF_REG_3, 0, 0, ~access);
		emit(p, BPF_JMP32 | BPF_JNE | BPF_K, BPF_REG_3, 0, 0, 0);
		emit_return(p, 1);
	} else {
		emit(p, BPF_JMP32 | BPF_JSET | BPF_K, BPF_REG_3, 0, 1, access);
		emit(p, BPF_JMP | BPF_JA, 0, 0, 2, 0);
		emit_return(p, 0);
	}
	for (i = start; i < p->n; i++)
		if (p->insns[i].code == (BPF_JMP32 | BPF_JNE | BPF_K))
			p->insns[i].off = (int16_t)(p->n - i - 1);
}

int cgroup_devices_program(const struct cgroup_device_list *rules, struct arena *arena,
			   struct bpf_insn **ret, size_t *ret_count, struct error *err)
{
	struct program p = { 0 };
	size_t i;

	p.insns = arena_calloc(arena, rules->n * INSNS_PER_RULE + INSNS_FIXED, sizeof(*p.insns));
	if (!p.insns)
		return error_oom(err);

	/* access_type = kinds of access << 16 | type of device */
	emit_load(&p, BPF_REG_2, offsetof(struct bpf_cgroup_dev_ctx, access_type));
	emit(&p, BPF_ALU | BPF_MOV | BPF_X, BPF_REG_3, BPF_REG_2, 0, 0);
	emit(&p, BPF_ALU | BPF_RSH | BPF_K, BPF_REG_3, 0, 0, 16);
	emit(&p, BPF_ALU | BPF_AND | BPF_K, BPF_REG_2, 0, 0, 0xffff);
	emit_load(&p, BPF_REG_4, offsetof(struct bpf_cgroup_dev_ctx, major));
	emit_load(&p, BPF_REG_5, offsetof(struct bpf_cgroup_dev_ctx, minor));
	for (i = rules->n; i > 0; i--)
		emit_rule(&p, &rules->items[i - 1]);
	emit_return(&p, rules->default_allow);

	*ret = p.insns;
	*ret_count = p.n;
	return 0;
}

static int sys_bpf(int cmd, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

/* More programs than this are attached to no cgroup (the kernel's limit). */
#define ATTACHED_MAX 64

int cgroup_devices_attached(int dir, uint32_t id, bool *ret)
{
	uint32_t ids[ATTACHED_MAX];
	union bpf_attr attr;
	uint32_t i;

	memset(&attr, 0, sizeof(attr));
	attr.query.target_fd = (uint32_t)dir;
	attr.query.attach_type = BPF_CGROUP_DEVICE;
	attr.query.prog_ids = (uint64_t)(uintptr_t)ids;
	attr.query.prog_cnt = ATTACHED_MAX;
	if (sys_bpf(BPF_PROG_QUERY, &attr) < 0)
		return -errno;
	*ret = false;
	for (i = 0; i < attr.query.prog_cnt; i++)
		*ret |= ids[i] == id;
	return 0;
}

static int program_id(int prog, uint32_t *ret)
{
	struct bpf_prog_info info = { 0 };
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (uint32_t)prog;
	attr.info.info_len = sizeof(info);
	attr.info.info = (uint64_t)(uintptr_t)&info;
	if (sys_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) < 0)
		return -errno;
	*ret = info.id;
	return 0;
}

int cgroup_devices_remove_v2(int dir)
{
	char name[BPF_OBJ_NAME_LEN];
	uint32_t ids[ATTACHED_MAX];
	size_t n, i;
	int r = ebpf_prog_query(dir, BPF_CGROUP_DEVICE, ids, ELEMENTSOF(ids), &n);

	for (i = 0; r == 0 && i < n; i++) {
		_cleanup_close_ int prog = ebpf_prog_by_id(ids[i]);

		/* it may have gone meanwhile */
		if (prog < 0)
			continue;
		r = ebpf_prog_info(prog, name, NULL, NULL);
		if (r == 0 && str_eq(name, PROGRAM_NAME))
			r = ebpf_prog_detach(dir, prog, BPF_CGROUP_DEVICE);
	}
	return r;
}

int cgroup_devices_apply_v2(int dir, const char *path, const struct cgroup_device_list *rules, uint32_t *ret_id,
			    struct error *err)
{
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	_cleanup_close_ int prog = -EBADF;
	struct bpf_insn *insns;
	union bpf_attr attr;
	size_t count;
	int r;

	r = cgroup_devices_program(rules, &arena, &insns, &count, err);
	if (r < 0)
		return r;
	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
	attr.insns = (uint64_t)(uintptr_t)insns;
	attr.insn_cnt = (uint32_t)count;
	attr.license = (uint64_t)(uintptr_t) "GPL";
	memcpy(attr.prog_name, PROGRAM_NAME, sizeof(PROGRAM_NAME));
	prog = sys_bpf(BPF_PROG_LOAD, &attr); /* close-on-exec since ever */
	if (prog < 0)
		return error_set(err, -errno, "load the device filter (BPF) for cgroup %s", path);
	r = cgroup_devices_remove_v2(dir);
	if (r < 0)
		return error_set(err, r, "take an earlier device filter off cgroup %s", path);

	memset(&attr, 0, sizeof(attr));
	attr.target_fd = (uint32_t)dir;
	attr.attach_bpf_fd = (uint32_t)prog;
	attr.attach_type = BPF_CGROUP_DEVICE;
	attr.attach_flags = BPF_F_ALLOW_MULTI;
	if (sys_bpf(BPF_PROG_ATTACH, &attr) < 0)
		return error_set(err, -errno, "attach the device filter (BPF) to cgroup %s", path);
	r = program_id(prog, ret_id);
	return r < 0 ? error_set(err, r, "ask for the id of the device filter of cgroup %s", path) : 0;
}

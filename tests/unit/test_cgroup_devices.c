/*
 * Device rules: order and defaults, the v1 writes, and the v2 program, which is run by a
 * small interpreter against a direct reading of the rules.
 */
#include "cgroup/cgroup_devices.h"
#include "tap.h"
#include "util/str.h"

#define ANY CGROUP_DEVICE_ANY
#define SET(v)                            \
	{                                 \
		.set = true, .value = (v) \
	}

/* Runs the instructions that the generator uses; -1 for anything else. */
static int bpf_run(const struct bpf_insn *insns, size_t n, const struct bpf_cgroup_dev_ctx *ctx)
{
	uint64_t reg[11] = { 0 };
	size_t pc = 0, steps = 0;

	reg[BPF_REG_1] = (uintptr_t)ctx;
	while (pc < n && steps++ < 10000) {
		const struct bpf_insn *i = &insns[pc++];
		uint32_t d32 = (uint32_t)reg[i->dst_reg], k = (uint32_t)i->imm, loaded;

		switch (i->code) {
		case BPF_LDX | BPF_MEM | BPF_W:
			memcpy(&loaded, (const char *)(uintptr_t)reg[i->src_reg] + i->off, 4);
			reg[i->dst_reg] = loaded;
			break;
		case BPF_ALU | BPF_MOV | BPF_X:
			reg[i->dst_reg] = (uint32_t)reg[i->src_reg];
			break;
		case BPF_ALU64 | BPF_MOV | BPF_K:
			reg[i->dst_reg] = (uint64_t)(int64_t)i->imm;
			break;
		case BPF_ALU | BPF_RSH | BPF_K:
			reg[i->dst_reg] = d32 >> k;
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			reg[i->dst_reg] = d32 & k;
			break;
		case BPF_JMP32 | BPF_JNE | BPF_K:
			pc += d32 != k ? (size_t)i->off : 0;
			break;
		case BPF_JMP32 | BPF_JSET | BPF_K:
			pc += d32 & k ? (size_t)i->off : 0;
			break;
		case BPF_JMP | BPF_JA:
			pc += (size_t)i->off;
			break;
		case BPF_JMP | BPF_EXIT:
			return (int)reg[BPF_REG_0];
		default:
			return -1;
		}
	}
	return -1;
}

static int ask(const struct bpf_insn *insns, size_t n, char type, uint32_t major, uint32_t minor,
	       unsigned access)
{
	struct bpf_cgroup_dev_ctx ctx = { .major = major, .minor = minor };

	ctx.access_type = type == 'b' ? BPF_DEVCG_DEV_BLOCK : BPF_DEVCG_DEV_CHAR;
	ctx.access_type |= (access & CGROUP_DEVICE_MKNOD ? BPF_DEVCG_ACC_MKNOD : 0u) << 16;
	ctx.access_type |= (access & CGROUP_DEVICE_READ ? BPF_DEVCG_ACC_READ : 0u) << 16;
	ctx.access_type |= (access & CGROUP_DEVICE_WRITE ? BPF_DEVCG_ACC_WRITE : 0u) << 16;
	return bpf_run(insns, n, &ctx);
}

/* The rules read directly: for every kind of access the last rule that names it. */
static int expect(const struct cgroup_device_list *l, char type, uint32_t major, uint32_t minor,
		  unsigned access)
{
	unsigned bit;
	size_t i;
	int verdict;

	for (bit = 1; bit <= CGROUP_DEVICE_MKNOD; bit <<= 1) {
		if (!(access & bit))
			continue;
		verdict = l->default_allow;
		for (i = 0; i < l->n; i++) {
			const struct cgroup_device_rule *r = &l->items[i];

			if (r->type == type && (r->major == ANY || r->major == major) &&
			    (r->minor == ANY || r->minor == minor) && (r->access & bit))
				verdict = r->allow;
		}
		if (!verdict)
			return 0;
	}
	return 1;
}

static void check_program(const struct cgroup_device_list *l, const char *name)
{
	static const uint32_t numbers[] = { 0, 1, 3, 5, 8, 10, 136, 200, 229, UINT32_MAX };
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	struct error err = ERROR_NULL;
	struct bpf_insn *insns;
	size_t n, a, b, wrong = 0, asked = 0;
	unsigned access;
	const char *t;

	if (!ok(cgroup_devices_program(l, &arena, &insns, &n, &err) == 0, "%s: program", name))
		return;
	for (t = "bc"; *t; t++)
		for (a = 0; a < ELEMENTSOF(numbers); a++)
			for (b = 0; b < ELEMENTSOF(numbers); b++)
				for (access = 1; access <= CGROUP_DEVICE_ALL; access++, asked++)
					wrong +=
						ask(insns, n, *t, numbers[a], numbers[b], access) !=
						expect(l, *t, numbers[a], numbers[b], access);
	is_int(wrong, 0, name);
	is_int(asked, 2 * 100 * 7, "and every question was asked");
}

static struct cgroup_device_list rules_of(struct arena *arena, struct spec_device_rule *items,
					  size_t n)
{
	struct spec_resources res = { .devices = { items, n } };
	struct cgroup_device_list l = { 0 };
	struct error err = ERROR_NULL;

	if (cgroup_devices_rules(&res, false, arena, &l, &err) < 0)
		ok(false, "rules: %s", err.text);
	return l;
}

/* The v1 writes from the state in "from" to the rules, as text. */
static void check_v1(const struct cgroup_device_list *rules, const char *from, const char *want,
		     const char *name)
{
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	_cleanup_buf_ struct buf text = BUF_NULL;
	struct cgroup_device_list old = { 0 }, to = { 0 };
	struct cgroup_device_writes w = { 0 };
	struct error err = ERROR_NULL;
	size_t i;
	int r;

	r = cgroup_devices_exceptions(rules, &arena, &to, &err);
	if (r == 0)
		r = cgroup_devices_list_parse(from, &arena, &old, &err);
	if (r == 0)
		r = cgroup_devices_transition(&old, &to, &arena, &w, &err);
	buf_adds(&text, "");
	for (i = 0; r == 0 && i < w.n; i++)
		buf_addf(&text, "%c%s;", w.items[i].allow ? '+' : '-', w.items[i].text);
	is_str(r < 0 ? err.text : text.data, want, name);
}

#define IMPLIED                                                                                \
	"+c *:* m;+b *:* m;+c 1:3 rwm;+c 1:5 rwm;+c 1:7 rwm;+c 1:8 rwm;+c 1:9 rwm;+c 5:0 rwm;" \
	"+c 5:2 rwm;+c 136:* rwm;+c 10:200 rwm;"

static void test_defaults(void)
{
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	struct spec_device_rule deny_all[] = { { .allow = false, .type = 'a', .access = "rwm" } };
	struct cgroup_device_list l = rules_of(&arena, deny_all, 1), none;
	struct error err = ERROR_NULL;

	ok(!l.default_allow, "deny all denies by default");
	is_int(l.n, 11, "and the usual devices follow");
	check_v1(&l, "a *:* rwm\n", "-a;" IMPLIED, "v1: from everything to the usual devices");
	check_v1(&l, "c *:* m\nb *:* m\nc 1:3 rwm\nc 7:7 rw\n",
		 "+c 1:5 rwm;+c 1:7 rwm;+c 1:8 rwm;+c 1:9 rwm;+c 5:0 rwm;+c 5:2 rwm;+c 136:* rwm;"
		 "+c 10:200 rwm;-c 7:7 rw;",
		 "v1: only the difference from a restricted parent, without a reset");
	check_program(&l, "usual devices");
	is_int(cgroup_devices_rules(NULL, false, &arena, &none, &err), 0, "no resources");
	is_int(none.n, 11, "give the usual devices as well");
	ok(!none.default_allow, "and nothing else");
}

static void test_rules(void)
{
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	struct spec_device_rule docker[] = {
		{ .allow = false, .access = "rwm" },
		{ .allow = true, .type = 'c', .major = SET(1), .minor = SET(5), .access = "rwm" },
		{ .allow = false,
		  .type = 'c',
		  .major = SET(10),
		  .minor = SET(229),
		  .access = "rwm" },
		{ .allow = true, .type = 'b', .major = SET(8), .minor = SET(-1), .access = "r" },
	};
	struct spec_device_rule privileged[] = { { .allow = false },
						 { .allow = true, .access = "rwm" } };
	struct spec_device_rule blocked[] = {
		{ .allow = true },
		{ .allow = false, .type = 'b', .major = SET(8), .access = "rw" },
		{ .allow = false, .type = 'c', .major = SET(10), .access = "rwm" },
	};
	struct cgroup_device_list l = rules_of(&arena, docker, 4);

	check_v1(&l, "a *:* rwm\n",
		 "-a;+c 1:5 rwm;+b 8:* r;+c *:* m;+b *:* m;+c 1:3 rwm;+c 1:7 rwm;+c 1:8 rwm;"
		 "+c 1:9 rwm;+c 5:0 rwm;+c 5:2 rwm;+c 136:* rwm;+c 10:200 rwm;",
		 "v1: Docker's rules");
	check_program(&l, "Docker's rules");
	l = rules_of(&arena, privileged, 2);
	ok(l.default_allow, "privileged allows all");
	check_v1(&l, "a *:* rwm\n", "",
		 "v1: privileged below an unrestricted parent writes nothing");
	check_v1(&l, "c 1:3 rwm\n", "+a;", "v1: privileged below a restricted one asks for all");
	check_program(&l, "privileged");
	l = rules_of(&arena, blocked, 3);
	check_v1(&l, "a *:* rwm\n", "-b 8:* rw;-c 10:* rw;",
		 "v1: exceptions from everything; only making nodes is always allowed");
	check_program(&l, "all but some");
}

static void test_partial(void)
{
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	struct spec_device_rule items[] = {
		{ .allow = true, .type = 'c', .major = SET(10), .access = "rw" },
		{ .allow = false, .type = 'c', .major = SET(10), .minor = SET(229), .access = "w" },
		{ .allow = true, .type = 'a', .major = SET(8), .access = "m" },
		{ .allow = false, .type = 'b', .access = "m" },
	};
	struct cgroup_device_list l = rules_of(&arena, items, 4);

	check_v1(&l, "a *:* rwm\n",
		 "device rule deny c 10:229 takes a part out of the rule c 10:-1 (-1 = any), which "
		 "cgroup v1 cannot express",
		 "v1: what the files would ignore is an error");
	check_program(&l, "parts of wider rules, v2 only");
}

static void test_invalid(void)
{
	_cleanup_(arena_done) struct arena arena = ARENA_NULL;
	struct spec_device_rule item = { .allow = true, .type = 'c', .access = "rx" };
	struct spec_resources res = { .devices = { &item, 1 } };
	struct cgroup_device_list l;
	struct error err = ERROR_NULL;

	is_int(cgroup_devices_rules(&res, false, &arena, &l, &err), -EINVAL, "unknown access letter");
	is_str(err.text, "linux.resources.devices[0]: invalid access \"rx\"", "is named");
	item = (struct spec_device_rule){ .type = 'p' };
	is_int(cgroup_devices_rules(&res, false, &arena, &l, &err), -EINVAL, "a fifo is no device rule");
	item = (struct spec_device_rule){ .type = 'c', .major = SET(-2) };
	is_int(cgroup_devices_rules(&res, false, &arena, &l, &err), -EINVAL, "number below -1");
	is_int(cgroup_devices_list_parse("c 1:x rwm\n", &arena, &l, &err), -EBADMSG,
	       "devices.list with a wrong number");
}

int main(void)
{
	TAP_BEGIN();
	test_defaults();
	test_rules();
	test_partial();
	test_invalid();
	return TAP_END();
}

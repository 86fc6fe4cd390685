/*
 * Runs a seccomp program as the kernel would: classic BPF with the accumulator, the
 * index register and the scratch memory, on a struct seccomp_data. Checks on the way
 * what the kernel's verifier checks, so that a wrong jump is found even when no input
 * takes it: bpf_sim_check().
 */
#pragma once

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Not a value that a seccomp program may return on purpose here. */
#define BPF_SIM_BAD 0xdeadbeefu

static inline bool bpf_sim_code_known(uint16_t code)
{
	switch (code) {
	case BPF_LD | BPF_W | BPF_ABS:
	case BPF_LD | BPF_W | BPF_LEN:
	case BPF_LD | BPF_IMM:
	case BPF_LD | BPF_MEM:
	case BPF_LDX | BPF_W | BPF_LEN:
	case BPF_LDX | BPF_IMM:
	case BPF_LDX | BPF_MEM:
	case BPF_ST:
	case BPF_STX:
	case BPF_MISC | BPF_TAX:
	case BPF_MISC | BPF_TXA:
	case BPF_RET | BPF_K:
	case BPF_RET | BPF_A:
	case BPF_ALU | BPF_NEG:
	case BPF_JMP | BPF_JA:
		return true;
	}
	switch (BPF_CLASS(code)) {
	case BPF_ALU:
		return BPF_OP(code) <= BPF_XOR && BPF_OP(code) != BPF_NEG;
	case BPF_JMP:
		return BPF_OP(code) >= BPF_JEQ && BPF_OP(code) <= BPF_JSET;
	}
	return false;
}

/* Whether the kernel would take the program. */
static inline bool bpf_sim_check(const struct sock_filter *p, size_t n)
{
	size_t i;

	if (n == 0 || n > BPF_MAXINSNS || BPF_CLASS(p[n - 1].code) != BPF_RET)
		return false;
	for (i = 0; i < n; i++) {
		if (!bpf_sim_code_known(p[i].code))
			return false;
		if (p[i].code == (BPF_LD | BPF_W | BPF_ABS) &&
		    (p[i].k >= sizeof(struct seccomp_data) || (p[i].k & 3)))
			return false;
		if (BPF_CLASS(p[i].code) != BPF_JMP)
			continue;
		if (p[i].code == (BPF_JMP | BPF_JA)) {
			if (p[i].k >= n - i - 1)
				return false;
		} else if (i + 1 + p[i].jt >= n || i + 1 + p[i].jf >= n) {
			return false;
		}
	}
	return true;
}

static inline uint32_t bpf_sim_alu(uint16_t code, uint32_t a, uint32_t v)
{
	switch (BPF_OP(code)) {
	case BPF_ADD:
		return a + v;
	case BPF_SUB:
		return a - v;
	case BPF_MUL:
		return a * v;
	case BPF_DIV:
		return v ? a / v : 0;
	case BPF_AND:
		return a & v;
	case BPF_OR:
		return a | v;
	case BPF_XOR:
		return a ^ v;
	case BPF_LSH:
		return v < 32 ? a << v : 0;
	case BPF_RSH:
		return v < 32 ? a >> v : 0;
	case BPF_NEG:
		return -a;
	}
	return BPF_SIM_BAD;
}

static inline bool bpf_sim_holds(uint16_t code, uint32_t a, uint32_t v)
{
	switch (BPF_OP(code)) {
	case BPF_JEQ:
		return a == v;
	case BPF_JGT:
		return a > v;
	case BPF_JGE:
		return a >= v;
	default:
		return (a & v) != 0;
	}
}

/* The program's verdict, or BPF_SIM_BAD. */
static inline uint32_t bpf_sim_run(const struct sock_filter *p, size_t n,
				   const struct seccomp_data *data)
{
	uint32_t a = 0, x = 0, mem[BPF_MEMWORDS] = { 0 };
	size_t pc;

	for (pc = 0; pc < n; pc++) {
		const struct sock_filter *f = &p[pc];
		uint32_t v = BPF_SRC(f->code) == BPF_X ? x : f->k;

		switch (f->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			if (f->k + 4 > sizeof(*data))
				return BPF_SIM_BAD;
			memcpy(&a, (const char *)data + f->k, 4);
			continue;
		case BPF_LD | BPF_W | BPF_LEN:
			a = sizeof(*data);
			continue;
		case BPF_LDX | BPF_W | BPF_LEN:
			x = sizeof(*data);
			continue;
		case BPF_LD | BPF_IMM:
			a = f->k;
			continue;
		case BPF_LDX | BPF_IMM:
			x = f->k;
			continue;
		case BPF_LD | BPF_MEM:
			a = mem[f->k & (BPF_MEMWORDS - 1)];
			continue;
		case BPF_LDX | BPF_MEM:
			x = mem[f->k & (BPF_MEMWORDS - 1)];
			continue;
		case BPF_ST:
			mem[f->k & (BPF_MEMWORDS - 1)] = a;
			continue;
		case BPF_STX:
			mem[f->k & (BPF_MEMWORDS - 1)] = x;
			continue;
		case BPF_MISC | BPF_TAX:
			x = a;
			continue;
		case BPF_MISC | BPF_TXA:
			a = x;
			continue;
		case BPF_RET | BPF_K:
			return f->k;
		case BPF_RET | BPF_A:
			return a;
		case BPF_JMP | BPF_JA:
			pc += f->k;
			continue;
		}
		if (BPF_CLASS(f->code) == BPF_ALU)
			a = bpf_sim_alu(f->code, a, v);
		else if (BPF_CLASS(f->code) == BPF_JMP)
			pc += bpf_sim_holds(f->code, a, v) ? f->jt : f->jf;
		else
			return BPF_SIM_BAD;
	}
	return BPF_SIM_BAD;
}

/*
 * System call names, numbers and argument widths of x86_64 and aarch64.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct filter_syscall {
	const char *name;
	int16_t x86_64, aarch64; /* -1 = not there */
	char args[7]; /* one letter per argument */
};

#define FILTER_SYSCALLS 383
#define FILTER_SYSCALL_ARGS 6

/* Sorted by name. */
extern const struct filter_syscall filter_syscalls[FILTER_SYSCALLS];

/* arch is an AUDIT_ARCH_* value; the functions below that take one need a known one. */
bool filter_syscall_arch_known(uint32_t arch);
/* NULL when there is none. */
const struct filter_syscall *filter_syscall_by_name(const char *name);
const struct filter_syscall *filter_syscall_by_nr(uint32_t arch, int nr);
/* -1 when the architecture does not have it. */
int filter_syscall_nr(const struct filter_syscall *s, uint32_t arch);
/* The bits of the argument that the kernel looks at; index below strlen(s->args). */
uint64_t filter_syscall_arg_mask(const struct filter_syscall *s, uint32_t index);
/* Whether this is a call of some other architecture (socketcall, mmap2, …). */
bool filter_syscall_foreign(const char *name);

/*
 * What the files of this folder share: the tables that turn the spec's words into
 * libseccomp's and the kernel's numbers, the ENOSYS prologue, the cache.
 */
#pragma once

#include <linux/seccomp.h>
#include <seccomp.h>

#include "filter/filter.h"

/* Linux 5.19; Debian 12's headers have it, older ones do not. */
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

/* libseccomp marks an x32 call number with this bit, as the kernel does. */
#define FILTER_X32_BIT 0x40000000u

/* filter_listener.c */
/*
 * SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV where the kernel knows it. Without it a signal makes a waiting call ask again:
 * it is denied all the same, and reported twice.
 */
unsigned filter_listener_flags(void);

/* filter_tables.c */
/* libseccomp's value; -EINVAL when errno_ret is given for an action without one, or too large. */
int filter_action(uint64_t action, const struct opt_u32 *errno_ret, uint32_t *ret,
		  struct error *err);
int filter_op(uint64_t op, enum scmp_compare *ret);
/* SCMP_ARCH_NAME → libseccomp's token; -ENOENT when this libseccomp does not know it. */
int filter_arch(const char *name, uint32_t *ret_token);
/* 0 and the bits (0 for flags that are accepted without effect), or -ENOENT. */
int filter_flag(const char *name, unsigned *ret_bits);

/* filter_stub.c */
/* The largest call number that a profile names, for one AUDIT_ARCH_* value. */
struct filter_last {
	uint32_t audit_arch;
	int64_t nr; /* -1 = none named */
	int64_t x32_nr; /* x86_64 only, with FILTER_X32_BIT; -1 = none, or x32 not wanted */
};

#define FILTER_ARCHS_MAX 24
#define FILTER_STUB_MAX (FILTER_ARCHS_MAX * 7 + 1)

/*
 * Writes instructions that return ENOSYS for calls above the largest named one and otherwise
 * fall out at their end, where the program proper must follow. Returns how many (0 = no need).
 */
size_t filter_stub_build(const struct filter_last *archs, size_t count,
			 struct sock_filter out[FILTER_STUB_MAX]);

/* filter_cache.c */
struct filter_key {
	char name[65]; /* file name: the content hash as text */
};

int filter_cache_key(const struct spec_seccomp *profile, bool fail_unknown, struct filter_key *ret);
/* 0 and the instructions (malloc'ed), or -ENOENT when there is no usable entry. */
int filter_cache_get(int dir_fd, const struct filter_key *key, struct sock_filter **ret,
		     size_t *ret_count);
/* Failures are only debug lines. */
void filter_cache_put(int dir_fd, const struct filter_key *key, const struct sock_filter *insns,
		      size_t count);
/* The parser of a cache file, for tests and fuzzing: 0 or -EBADMSG. */
int filter_cache_decode(const void *data, size_t len, struct sock_filter **ret, size_t *ret_count);

#define FILTER_CACHE_ENTRIES_MAX 64

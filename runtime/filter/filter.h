/*
 * Seccomp: the spec's profile into a BPF program (libseccomp), a cache of compiled
 * programs, loading, and the listener hand-over. Knows nothing of containers.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <linux/filter.h>

#include "spec/spec.h"
#include "util/error.h"

struct filter {
	struct sock_filter *insns; /* malloc'ed */
	size_t count; /* 0 = no filter */
	unsigned flags; /* SECCOMP_FILTER_FLAG_* to load with, NEW_LISTENER included */
	bool notify; /* has SCMP_ACT_NOTIFY rules: loading returns a listener */
};

#define FILTER_NULL ((struct filter){ 0 })

/*
 * Compiles the profile: unknown call names are skipped (with a debug line; error when
 * fail_unknown), calls newer than all named ones get ENOSYS, no flags member = SPEC_ALLOW.
 * With cache_dir_fd >= 0 looks up and stores programs there by content (SHA-256 of the profile and
 * of libseccomp's version), accepting only files owned by us and not writable by others; the cache
 * is bounded. A cache that cannot be used is only slower. -EINVAL names the bad rule.
 */
int filter_compile(const struct spec_seccomp *profile, bool fail_unknown, int cache_dir_fd,
		   struct filter *ret, struct error *err);
/*
 * Loads into this thread; needs no_new_privs or CAP_SYS_ADMIN. *ret_listener: descriptor
 * (close-on-exec) or -EBADF. Allocates nothing and makes no call after the filter is in.
 */
int filter_load(const struct filter *f, int *ret_listener, struct error *err);
void filter_done(struct filter *f);

/*
 * The listener's hand-over must not need a call that the filter itself may notify about
 * (sendmsg): a helper thread that shares the descriptor table, started before filter_load(),
 * does it. Between start and send the process has two threads, so nothing that needs a
 * single-threaded process (joining a user namespace) may happen in between.
 */
struct filter_courier;
/* sock: connected to listenerPath, stays the caller's. state: the container process state JSON. */
int filter_courier_start(int sock, const char *state, size_t state_len,
			 struct filter_courier **ret, struct error *err);
/*
 * Gives the helper the listener number and waits for the outcome. Between filter_load() and the
 * return no system call is made. listener < 0: nothing was loaded, the helper ends without
 * sending, the courier is freed and 0 is returned; otherwise its memory is left to execve. The
 * listener stays the caller's; it is close-on-exec (let the socket be so too), so that leaving
 * both to execve needs no call that may be filtered.
 */
int filter_courier_send(struct filter_courier *c, int listener, struct error *err);

/* The same without a helper, where the filters let sendmsg through: one call. */
int filter_listener_send(int sock, int listener, const char *text, struct error *err);

/* For `features`: flag names that are recognised here and that this kernel supports. */
bool filter_flag_supported(const char *flag_name);
const char *filter_library_version(void); /* "2.5.4" */

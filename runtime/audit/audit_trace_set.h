/*
 * Shared by the files of the exec audit's privileged half: names of the pins, and rings.
 */
#pragma once

#include "audit/audit_trace.h"

#define SET_PREFIX "exec-"
#define SET_BUILD_LEN 16

#define PIN_BINDINGS "bindings"
#define PIN_RINGS "rings"
#define PIN_COUNTERS "counters"
#define PIN_BOOK "book"
#define PIN_LINK_EXEC "link-exec"
#define PIN_LINK_EXIT "link-exit"

/* bpffs/exec-BUILD[suffix], malloc'ed, NULL when out of memory. */
char *audit_set_path(const char *bpffs, const char *suffix);
/* CLOCK_BOOTTIME in ns: the time of the book. */
uint64_t audit_set_now(void);
/* Maps the book of a descriptor; NULL with errno. */
struct audit_book *audit_book_map(int fd);
/*
 * Makes rings for slots that were taken with audit_pool_take_for_making() and puts them in
 * their place: waits for the kernel's readers. On failure none is moved on, and all will
 * be found stale.
 */
int audit_rings_make(struct audit_trace_set *set, const uint32_t *slots, size_t count,
		     struct error *err);

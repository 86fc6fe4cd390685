/*
 * What `agentrun audit` answers. Text goes to the caller's function piece by piece, so
 * that a log of any size can be printed. Everything is safe for a terminal, but what
 * --raw and --json print unchanged (JSON is safe by itself) and a replay, which is
 * filtered.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "audit/audit.h"
#include "util/str.h"

struct audit_query {
	/* index_dirfd may be -EBADF; so may dirfd, to verify the path of a file. */
	int dirfd, index_dirfd;
	const char *root;	/* only containers below it; NULL = any */
	int (*write)(void *arg, const char *text, size_t len); /* 0 or negative errno */
	void *arg;
	bool json;
};

#define AUDIT_TIME_TEXT 40

struct audit_filter {
	bool by_type;
	bool types[AUDIT_TYPES];
	bool by_process;
	uint32_t process;
	char since[AUDIT_TIME_TEXT], until[AUDIT_TIME_TEXT]; /* empty = no bound */
};

/* Adds the types of a list "exec,exit". */
int audit_filter_type(struct audit_filter *f, const char *list, struct error *err);
/*
 * A bound: "2026-11-30T20:56:43Z" or a beginning of it (a blank for the T is fine), UTC; or
 * how long before now: "10m", "1h30m".
 */
int audit_filter_time(const char *text, char ret[AUDIT_TIME_TEXT], struct error *err);

int audit_query_list(const struct audit_query *q, struct error *err);
int audit_query_log(const struct audit_query *q, const char *id, const struct audit_filter *f,
		    struct error *err);
/* Until the log is closed, or its writer is gone. */
int audit_query_follow(const struct audit_query *q, const char *id, const struct audit_filter *f,
		       struct error *err);
/* One process with its programs and its output. raw: only the bytes of the output; stream: NULL = all. */
int audit_query_show(const struct audit_query *q, const char *id, uint32_t process, const char *stream,
		     bool raw, struct error *err);
/* "2", "0.5"; NULL = 1. In thousandths. */
int audit_speed_parse(const char *text, uint64_t *ret, struct error *err);
/* max_wait_ns 0 = as long as it took. */
int audit_query_replay(const struct audit_query *q, const char *id, uint32_t process, uint64_t speed,
		       uint64_t max_wait_ns, struct error *err);
/* what: as for audit_find(), or the path of a file. *ret_whole: nothing speaks against it. */
int audit_query_verify(const struct audit_query *q, const char *what, bool *ret_whole, struct error *err);

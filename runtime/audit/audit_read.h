/*
 * Reads a log record by record over all its parts and judges the chain on the way. What it
 * reads may have been written by anybody: no line is trusted to be one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "audit/audit.h"
#include "audit/audit_store.h"
#include "util/arena.h"
#include "util/json_read.h"
#include "util/str.h"

struct audit_record {
	const char *line; /* without its end; not NUL-terminated */
	size_t len;
	uint32_t part;
	uint64_t number; /* of the line in its part, from 1 */
	uint64_t seq;	 /* 0 = unreadable */
	uint8_t hash[SHA256_BYTES];
	enum audit_type type;	 /* AUDIT_TYPES = unknown */
	const struct json *json; /* NULL = the line is no document */
	const char *bad;	 /* why it cannot be what was written; NULL = nothing against it */
};

struct audit_reader {
	int dirfd; /* -EBADF: a single file */
	char name[AUDIT_NAME_SIZE];
	bool live; /* a line without its end may still get it */
	int fd;
	uint32_t part;
	uint64_t number, seq;
	uint8_t hash[SHA256_BYTES];
	bool begun; /* a record was read */
	bool last;  /* nothing more can come in this part */
	struct buf in;
	size_t at; /* of the next line in `in` */
	struct arena arena;
	char why[192];
};
#define AUDIT_READER_NULL ((struct audit_reader){ .dirfd = -EBADF, .fd = -EBADF })

enum { AUDIT_READ_END = 0, AUDIT_READ_RECORD = 1 };

/* AUDIT_E_NOT_FOUND, or a negative errno. */
int audit_reader_open(struct audit_reader *r, int dirfd, const char *name, bool live, struct error *err);
/* One file on its own; fd is taken over. Where it begins in the middle of a log, that is believed. */
void audit_reader_open_fd(struct audit_reader *r, int fd);
/*
 * AUDIT_READ_RECORD, AUDIT_READ_END (with live: for now) or a negative errno. The record is
 * valid until the next call.
 */
int audit_reader_next(struct audit_reader *r, struct audit_record *ret, struct error *err);
void audit_reader_done(struct audit_reader *r);
#define _cleanup_audit_reader_ _cleanup_(audit_reader_done)

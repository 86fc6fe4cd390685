/*
 * Owner, mode, times and extended attributes of any object by an O_PATH descriptor: copied
 * and compared. What overlay keeps for itself (trusted.overlay.*) is never seen here.
 */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "util/error.h"

enum snap_attr {
	SNAP_ATTR_MODE = 1u << 0,
	SNAP_ATTR_OWNER = 1u << 1,
	SNAP_ATTR_XATTR = 1u << 2,
	SNAP_ATTR_TIME = 1u << 3, /* of modification */
};

/*
 * Makes the object of to_fd have the attributes of from_fd; both of the same type. Owner first, since
 * it clears set-id bits; times last. -ENOTSUP when the target's filesystem has no place for an attribute.
 */
int snap_attrs_copy(int from_fd, const struct stat *from, int to_fd, struct error *err);
/* *ret: those that differ. */
int snap_attrs_compare(int a_fd, const struct stat *a, int b_fd, const struct stat *b, unsigned *ret, struct error *err);
/* Whether it has that attribute (a name overlay keeps for itself is fine); value may be NULL, room bytes. */
int snap_attr_get(int fd, const char *name, void *value, size_t room);
/* Whether it has one whose name begins so. */
bool snap_attr_any(int fd, const char *prefix);
int snap_attr_set(int fd, const char *name, const void *value, size_t len);

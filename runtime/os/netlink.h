/*
 * The few netlink exchanges that network devices and sockets need: one request with its
 * acknowledgement, one dump.
 */
#pragma once

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stddef.h>
#include <stdint.h>

#include "util/error.h"

#define NETLINK_REQUEST_MAX 512

struct netlink_request {
	union {
		struct nlmsghdr header;
		char bytes[NETLINK_REQUEST_MAX];
	};
};

/* protocol: NETLINK_ROUTE, NETLINK_SOCK_DIAG; in the current network namespace. */
int netlink_open(int protocol, int *ret_sock, struct error *err);
/* The same in another namespace. Of a single-threaded process with the rights to enter it; it is back afterwards. */
int netlink_open_in(int netns_fd, int protocol, int *ret_sock, struct error *err);
/* Starts a request with its fixed part. */
void netlink_init(struct netlink_request *req, uint16_t type, uint16_t flags, const void *body,
		  size_t len);
/* Appends an attribute; the caller's data is small by construction. */
void netlink_attr(struct netlink_request *req, uint16_t type, const void *data, size_t len);
/* An attribute of a message, or NULL. first: behind the fixed part; len: bytes from there. */
const struct rtattr *netlink_find(const struct rtattr *first, size_t len, uint16_t type);

/* Called with each message of an answer; a negative return ends and is passed on. */
typedef int (*netlink_fn)(void *arg, const struct nlmsghdr *msg);
/*
 * Sends, calls fn (may be NULL) with each answer, waits for the acknowledgement or the end of
 * the dump. 0 or negative errno (the kernel's, or fn's).
 */
int netlink_talk(int sock, struct netlink_request *req, netlink_fn fn, void *arg);

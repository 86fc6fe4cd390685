/*
 * Where the container's network meets the monitor: entering its namespace, and listeners on
 * loopback in there.
 */
#pragma once

#include <stdint.h>

#include "util/error.h"

/*
 * The calling process enters the network namespace for good. CAP_SYS_ADMIN in the namespace's user
 * namespace and in its own.
 */
int egress_netns_enter(int netns_fd, struct error *err);

/* There is no IPv6 in this namespace. */
#define EGRESS_E_NO_FAMILY 1

/*
 * Binds to a free port of 127.0.0.1 (AF_INET) or ::1 (AF_INET6) in the present network namespace, non-blocking,
 * also while the loopback device is down; type SOCK_STREAM also listens. No privilege. The port is in host order.
 */
int egress_listen_loopback(int family, int type, int backlog, int *ret_fd, uint16_t *ret_port, struct error *err);

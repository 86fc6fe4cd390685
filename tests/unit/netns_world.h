/*
 * A network namespace of a test's own with a loopback device, and sockets in it that never
 * block: the test is the client, the servers and the one who turns the event loop.
 */
#pragma once

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/evloop.h"

static struct evloop loop;

static inline bool netns_enter(void)
{
	return unshare(CLONE_NEWNET) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0;
}

static inline bool loopback_up(void)
{
	struct ifreq req = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), r;

	r = ioctl(fd, SIOCSIFFLAGS, &req);
	(void)close(fd);
	return r == 0;
}

static inline socklen_t address(const char *text, unsigned port, struct sockaddr_storage *ret)
{
	struct sockaddr_in *four = (struct sockaddr_in *)ret;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)ret;

	memset(ret, 0, sizeof(*ret));
	ret->ss_family = strchr(text, ':') ? AF_INET6 : AF_INET;
	four->sin_port = htons((uint16_t)port); /* at the same place in both */
	(void)inet_pton(ret->ss_family, text,
			ret->ss_family == AF_INET ? (void *)&four->sin_addr : (void *)&six->sin6_addr);
	return ret->ss_family == AF_INET ? sizeof(*four) : sizeof(*six);
}

static inline int bound(const char *text, unsigned port, int type)
{
	struct sockaddr_storage a;
	socklen_t len = address(text, port, &a);
	int fd = socket(a.ss_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1;

	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&a, len) < 0 || (type == SOCK_STREAM && listen(fd, 512) < 0)) {
		(void)close(fd);
		return -EBADF;
	}
	return fd;
}

static inline int joined(const char *text, unsigned port, int type)
{
	struct sockaddr_storage a;
	socklen_t len = address(text, port, &a);
	int fd = socket(a.ss_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (connect(fd, (struct sockaddr *)&a, len) < 0 && errno != EINPROGRESS) {
		(void)close(fd);
		return -EBADF;
	}
	return fd;
}

/*
 * Turns the loop until fd can be read, at most ms times with a pause of 1 ms: turns and not
 * time, so that a machine that is busy elsewhere changes nothing.
 */
static inline bool wait_for(int fd, int ms)
{
	struct error err = ERROR_NULL;
	struct pollfd p = { .fd = fd, .events = POLLIN };

	for (; ms > 0; ms--) {
		if (evloop_step(&loop, 0, &err) < 0) {
			printf("# the loop ended: %s\n", err.text);
			return false;
		}
		if (poll(&p, 1, 1) > 0)
			return true;
	}
	return false;
}

static inline void settle(void)
{
	(void)wait_for(-1, 20);
}

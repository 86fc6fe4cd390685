/*
 * Owns the making of listeners inside the container's network.
 */
#include "egress/egress_resolver_listen.h"

#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

int egress_netns_enter(int netns_fd, struct error *err)
{
	if (setns(netns_fd, CLONE_NEWNET) < 0)
		return error_set(err, -errno, "enter the container's network namespace");
	return 0;
}

/* To a port that the kernel chooses, which is then in *a. */
static int bind_loopback(int fd, int family, struct sockaddr_storage *a)
{
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)a;
	struct sockaddr_in *four = (struct sockaddr_in *)a;
	socklen_t len = family == AF_INET ? sizeof(*four) : sizeof(*six);
	int one = 1;

	/* FREEBIND: nobody may have brought the loopback device up yet. */
	if (family == AF_INET) {
		*four = (struct sockaddr_in){ .sin_family = AF_INET,
					      .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
		if (setsockopt(fd, IPPROTO_IP, IP_FREEBIND, &one, sizeof(one)) < 0)
			return -errno;
	} else {
		*six = (struct sockaddr_in6){ .sin6_family = AF_INET6,
					      .sin6_addr = IN6ADDR_LOOPBACK_INIT };
		if (setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one)) < 0 ||
		    setsockopt(fd, IPPROTO_IPV6, IPV6_FREEBIND, &one, sizeof(one)) < 0)
			return -errno;
	}
	if (bind(fd, (struct sockaddr *)a, len) < 0 ||
	    getsockname(fd, (struct sockaddr *)a, &len) < 0)
		return -errno;
	return 0;
}

int egress_listen_loopback(int family, int type, int backlog, int *ret_fd, uint16_t *ret_port,
			   struct error *err)
{
	const char *name = family == AF_INET ? "127.0.0.1" : "::1";
	struct sockaddr_storage a = { .ss_family = (sa_family_t)family };
	_cleanup_close_ int fd = -EBADF;
	int e;

	fd = socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 && errno == EAFNOSUPPORT && family == AF_INET6)
		return EGRESS_E_NO_FAMILY;
	if (fd < 0)
		return error_set(err, -errno, "open a socket for %s", name);
	e = bind_loopback(fd, family, &a);
	if (e < 0)
		return error_set(err, e, "bind to %s", name);
	if (type == SOCK_STREAM && listen(fd, backlog) < 0)
		return error_set(err, -errno, "listen at %s", name);
	*ret_port = ntohs(family == AF_INET ? ((struct sockaddr_in *)&a)->sin_port
					    : ((struct sockaddr_in6 *)&a)->sin6_port);
	*ret_fd = take_fd(&fd);
	return 0;
}

/*
 * rtnetlink messages: building, sending, reading answers. Knows no devices.
 */
#include "os/netlink.h"

#include <assert.h>
#include <linux/sockios.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#define NETLINK_ANSWER_MAX 32768

int netlink_open(int protocol, int *ret_sock, struct error *err)
{
	const struct sockaddr_nl addr = { .nl_family = AF_NETLINK };
	_cleanup_close_ int sock = -EBADF;
	int one = 1;

	sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);
	if (sock < 0)
		return error_set(err, -errno, "open netlink socket");
	if (bind(sock, (const struct sockaddr *)&addr, sizeof(addr)) < 0)
		return error_set(err, -errno, "bind netlink socket");
	/* Dumps honour the filter in the request only with this (Linux 4.20). */
	(void)setsockopt(sock, SOL_NETLINK, NETLINK_GET_STRICT_CHK, &one, sizeof(one));
	/* The answer to a failed request need not carry the request. */
	(void)setsockopt(sock, SOL_NETLINK, NETLINK_CAP_ACK, &one, sizeof(one));
	*ret_sock = take_fd(&sock);
	return 0;
}

int netlink_open_in(int netns_fd, int protocol, int *ret_sock, struct error *err)
{
	_cleanup_close_ int home = -EBADF, own = -EBADF, sock = -EBADF;
	int r;

	r = netlink_open(protocol, &home, err);
	if (r < 0)
		return r;
	own = ioctl(home, SIOCGSKNS);
	if (own < 0)
		return error_set(err, -errno, "open the own network namespace");
	if (setns(netns_fd, CLONE_NEWNET) < 0)
		return error_set(err, -errno, "enter the container's network namespace");
	r = netlink_open(protocol, &sock, err);
	if (setns(own, CLONE_NEWNET) < 0)
		return error_set(err, -errno, "return to the own network namespace");
	if (r < 0)
		return r;
	*ret_sock = take_fd(&sock);
	return 0;
}

void netlink_init(struct netlink_request *req, uint16_t type, uint16_t flags, const void *body,
		  size_t len)
{
	assert(NLMSG_SPACE(len) <= sizeof(req->bytes));

	memset(req, 0, sizeof(*req));
	req->header.nlmsg_type = type;
	req->header.nlmsg_flags = (uint16_t)(NLM_F_REQUEST | flags);
	req->header.nlmsg_len = (uint32_t)NLMSG_LENGTH(len);
	memcpy(NLMSG_DATA(&req->header), body, len);
}

void netlink_attr(struct netlink_request *req, uint16_t type, const void *data, size_t len)
{
	size_t at = NLMSG_ALIGN(req->header.nlmsg_len);
	const struct rtattr head = { .rta_type = type, .rta_len = (uint16_t)RTA_LENGTH(len) };

	assert(at + RTA_SPACE(len) <= sizeof(req->bytes));

	memcpy(req->bytes + at, &head, sizeof(head));
	memcpy(req->bytes + at + RTA_LENGTH(0), data, len);
	req->header.nlmsg_len = (uint32_t)(at + RTA_LENGTH(len));
}

const struct rtattr *netlink_find(const struct rtattr *first, size_t len, uint16_t type)
{
	const struct rtattr *a = first;
	int left = (int)len;

	for (; RTA_OK(a, left); a = RTA_NEXT(a, left))
		if ((a->rta_type & NLA_TYPE_MASK) == type)
			return a;
	return NULL;
}

/* One datagram of the answer: 1 when it was the last, 0 for more, negative errno. */
static int answer_handle(const char *data, size_t len, netlink_fn fn, void *arg, bool dump)
{
	const struct nlmsghdr *m = (const struct nlmsghdr *)(const void *)data;
	const struct nlmsgerr *e;
	int left = (int)len, r;

	for (; NLMSG_OK(m, (unsigned)left); m = NLMSG_NEXT(m, left)) {
		if (m->nlmsg_type == NLMSG_ERROR || m->nlmsg_type == NLMSG_DONE) {
			if (m->nlmsg_len < NLMSG_LENGTH(sizeof(int)))
				return m->nlmsg_type == NLMSG_DONE ? 1 : -EBADMSG;
			e = NLMSG_DATA(m);
			return e->error < 0 ? e->error : 1;
		}
		if (fn) {
			r = fn(arg, m);
			if (r < 0)
				return r;
		}
	}
	return dump && len == 0 ? -EBADMSG : 0;
}

int netlink_talk(int sock, struct netlink_request *req, netlink_fn fn, void *arg)
{
	const struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	/* Both bits: one of them alone means something else in requests that change things. */
	bool dump = (req->header.nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
	_cleanup_free_ char *answer = NULL;
	ssize_t n;
	int r = 0;

	assert(sock >= 0);

	answer = malloc(NETLINK_ANSWER_MAX);
	if (!answer)
		return -ENOMEM;
	if (!dump)
		req->header.nlmsg_flags |= NLM_F_ACK;
	if (sendto(sock, req->bytes, req->header.nlmsg_len, MSG_NOSIGNAL,
		   (const struct sockaddr *)&kernel, sizeof(kernel)) < 0)
		return -errno;
	while (r == 0) {
		n = recv(sock, answer, NETLINK_ANSWER_MAX, MSG_TRUNC);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n > NETLINK_ANSWER_MAX)
			return -EMSGSIZE;
		r = answer_handle(answer, (size_t)n, fn, arg, dump);
	}
	return r < 0 ? r : 0;
}

/*
 * Owns the end of connections that rules do not allow any more. Their packets are refused by
 * the kernel's programs; here their sockets are closed as well, so that who waits at one hears of
 * it at once. Which sockets are the container's, and what allowed them, the programs have
 * written to the sockets themselves, and the kernel tells that with its list of sockets.
 */
#include <assert.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

#include "egress/egress_ctx.h"
#include "egress/egress_sets.h"
#include "os/netlink.h"
#include "util/cleanup.h"

#define CUT_MAX 65536u /* sockets in one network namespace */
/* All that can still send. */
#define STATES (~(1u << TCP_LISTEN | 1u << TCP_CLOSE | 1u << TCP_TIME_WAIT) & 0xfffu)

struct cut {
	int nets, net_ports, names, name_ports, sockets;
	uint32_t generation;
	struct inet_diag_req_v2 *found;
	size_t n, room;
};
#define CUT_NULL ((struct cut){ .nets = -EBADF, .net_ports = -EBADF, .names = -EBADF, .name_ports = -EBADF, .sockets = -EBADF })

static void cut_done(struct cut *c)
{
	cleanup_closep(&c->nets);
	cleanup_closep(&c->net_ports);
	cleanup_closep(&c->names);
	cleanup_closep(&c->name_ports);
	cleanup_closep(&c->sockets);
	free(c->found);
}

static int maps_open(int cgroup_fd, struct cut *c, struct error *err)
{
	_cleanup_close_ int prog = -EBADF;
	struct egress_status status;
	int r;

	r = egress_private_find(cgroup_fd, &prog, err);
	if (r < 0)
		return r;
	r = egress_map_of(prog, "nets", &c->nets, err);
	if (r == 0)
		r = egress_map_of(prog, "net_ports", &c->net_ports, err);
	if (r == 0)
		r = egress_map_of(prog, "names", &c->names, err);
	if (r == 0)
		r = egress_map_of(prog, "name_ports", &c->name_ports, err);
	if (r == 0)
		r = egress_map_of(prog, "sockets", &c->sockets, err);
	if (r == 0)
		r = egress_status(cgroup_fd, &status, err);
	c->generation = r == 0 ? status.generation : 0;
	return r;
}

/* As the kernel's programs judge a TCP packet (egress_kernel_rules.h). */
static bool is_allowed(const struct cut *c, const uint8_t address[16], uint16_t port)
{
	struct egress_net_key net = { .bits = 128 };
	struct egress_port_key key = { .bits = 8 * (sizeof(key) - sizeof(key.bits) - sizeof(key.zero)),
				       .protocol = IPPROTO_TCP,
				       .port_be = { (uint8_t)(port >> 8), (uint8_t)port } };
	struct egress_port found;
	struct egress_name name;
	struct egress_net range;

	memcpy(net.address, address, 16);
	if (ebpf_map_lookup(c->nets, &net, &range) == 0) {
		if (range.set == EGRESS_SET_CLOSED || range.set == EGRESS_SET_ALL)
			return range.set == EGRESS_SET_ALL;
		key.set = range.set;
		if (ebpf_map_lookup(c->net_ports, &key, &found) == 0)
			return true;
	}
	if (ebpf_map_lookup(c->names, address, &name) < 0)
		return false;
	key.set = name.set;
	/* One that goes to the proxy is no connection to that address. */
	return ebpf_map_lookup(c->name_ports, &key, &found) == 0 && found.verdict == EGRESS_ALLOW;
}

/* What the programs remember of the socket; false: it is none of theirs. */
static bool read_socket(const struct nlmsghdr *msg, struct egress_socket *ret)
{
	const struct inet_diag_msg *m = NLMSG_DATA(msg);
	const struct rtattr *a = (const struct rtattr *)(const void *)(m + 1);

	a = netlink_find(a, msg->nlmsg_len - NLMSG_LENGTH(sizeof(*m)), INET_DIAG_SK_BPF_STORAGES);
	if (a)
		a = netlink_find(RTA_DATA(a), RTA_PAYLOAD(a), SK_DIAG_BPF_STORAGE);
	if (a)
		a = netlink_find(RTA_DATA(a), RTA_PAYLOAD(a), SK_DIAG_BPF_STORAGE_MAP_VALUE);
	if (!a || RTA_PAYLOAD(a) < sizeof(*ret))
		return false;
	memcpy(ret, RTA_DATA(a), sizeof(*ret));
	return true;
}

static int on_socket(void *arg, const struct nlmsghdr *msg)
{
	const struct inet_diag_msg *m = NLMSG_DATA(msg);
	struct cut *c = arg;
	struct egress_socket s;
	uint8_t address[16];
	void *grown;

	if (msg->nlmsg_type != SOCK_DIAG_BY_FAMILY || msg->nlmsg_len < NLMSG_LENGTH(sizeof(*m)) || !read_socket(msg, &s))
		return 0;
	/* What came from outside stays, and what goes to our own listeners is theirs. */
	if ((s.mark != EGRESS_MARK_ACTIVE && s.mark != EGRESS_MARK_APPROVED) || s.redirect != EGRESS_REDIRECT_NONE ||
	    s.generation == c->generation)
		return 0;
	egress_rules_map(m->idiag_family, m->id.idiag_dst, address);
	if (is_allowed(c, address, ntohs(m->id.idiag_dport)))
		return 0;
	if (c->n >= CUT_MAX)
		return -E2BIG;
	if (c->n == c->room) {
		c->room = c->room ? 2 * c->room : 64;
		grown = realloc(c->found, c->room * sizeof(*c->found));
		if (!grown)
			return -ENOMEM;
		c->found = grown;
	}
	c->found[c->n++] = (struct inet_diag_req_v2){
		.sdiag_family = m->idiag_family, .sdiag_protocol = IPPROTO_TCP, .idiag_states = STATES, .id = m->id
	};
	return 0;
}

static int list(int sock, uint8_t family, struct cut *c)
{
	const struct inet_diag_req_v2 all = { .sdiag_family = family, .sdiag_protocol = IPPROTO_TCP, .idiag_states = STATES };
	struct netlink_request req;
	uint32_t fd = (uint32_t)c->sockets;
	/* an attribute that holds one attribute */
	struct {
		struct rtattr head;
		uint32_t map;
	} inner = { { .rta_len = RTA_LENGTH(sizeof(fd)), .rta_type = SK_DIAG_BPF_STORAGE_REQ_MAP_FD }, fd };

	netlink_init(&req, SOCK_DIAG_BY_FAMILY, NLM_F_DUMP, &all, sizeof(all));
	netlink_attr(&req, INET_DIAG_REQ_SK_BPF_STORAGES, &inner, sizeof(inner));
	return netlink_talk(sock, &req, on_socket, c);
}

/* Gone by itself meanwhile is as good. */
static int destroy(int sock, const struct inet_diag_req_v2 *which)
{
	struct netlink_request req;
	int r;

	netlink_init(&req, SOCK_DESTROY, 0, which, sizeof(*which));
	r = netlink_talk(sock, &req, NULL, NULL);
	return r == -ENOENT ? 0 : r;
}

int egress_cut(int cgroup_fd, int netns_fd, size_t *ret_cut, struct error *err)
{
	_cleanup_(cut_done) struct cut c = CUT_NULL;
	_cleanup_close_ int sock = -EBADF;
	size_t i;
	int r;

	*ret_cut = 0;
	r = maps_open(cgroup_fd, &c, err);
	if (r < 0)
		return r;
	r = netlink_open_in(netns_fd, NETLINK_SOCK_DIAG, &sock, err);
	if (r < 0)
		return r;
	r = list(sock, AF_INET, &c);
	if (r == 0)
		r = list(sock, AF_INET6, &c);
	if (r < 0 && r != -EAFNOSUPPORT)
		return error_set(err, r, "list the connections of the container");
	for (i = 0; i < c.n; i++) {
		r = destroy(sock, &c.found[i]);
		if (r == -EOPNOTSUPP)
			return 0;
		if (r < 0)
			return error_set(err, r, "close a connection that is not allowed any more");
		(*ret_cut)++;
	}
	return 0;
}

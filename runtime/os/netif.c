/*
 * Network devices of a container: its loopback, and host devices given to it.
 */
#include "os/procattr.h"

#include <assert.h>
#include <linux/if_addr.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "os/netlink.h"
#include "os/syscalls.h"

#define NET_ADDRESSES_MAX 256
/* Flags of an address that mean something to set; the rest is state. */
#define NET_ADDRESS_FLAGS                                                               \
	(IFA_F_NODAD | IFA_F_HOMEADDRESS | IFA_F_MANAGETEMPADDR | IFA_F_NOPREFIXROUTE | \
	 IFA_F_MCAUTOJOIN)

struct net_address {
	struct ifaddrmsg head;
	uint32_t flags;
	unsigned char address[16], local[16], broadcast[16];
	size_t address_len, local_len, broadcast_len; /* 0 = none */
};

struct net_addresses {
	int ifindex;
	struct net_address *items;
	size_t count;
};

static void addresses_done(struct net_addresses *a)
{
	free(a->items);
}

int net_loopback_up(struct error *err)
{
	_cleanup_close_ int sock = -EBADF;
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP };

	/* Any socket will do; this family is always there. */
	sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (sock < 0)
		return error_set(err, -errno, "open socket for the loopback device");
	if (ioctl(sock, SIOCSIFFLAGS, &ifr) < 0)
		return error_set(err, -errno, "set the loopback device up");
	return 0;
}

static int link_index_fn(void *arg, const struct nlmsghdr *msg)
{
	const struct ifinfomsg *info = NLMSG_DATA(msg);

	if (msg->nlmsg_type == RTM_NEWLINK && msg->nlmsg_len >= NLMSG_LENGTH(sizeof(*info)))
		*(int *)arg = info->ifi_index;
	return 0;
}

/* -ENODEV when there is none of that name. */
static int link_index(int sock, const char *name, int *ret)
{
	const struct ifinfomsg info = { .ifi_family = AF_UNSPEC };
	struct netlink_request req;
	int index = 0, r;

	netlink_init(&req, RTM_GETLINK, 0, &info, sizeof(info));
	netlink_attr(&req, IFLA_IFNAME, name, strlen(name) + 1);
	r = netlink_talk(sock, &req, link_index_fn, &index);
	if (r < 0)
		return r;
	if (index <= 0)
		return -ENODEV;
	*ret = index;
	return 0;
}

static size_t copy_address(const struct rtattr *a, unsigned char to[16])
{
	size_t len = a ? RTA_PAYLOAD(a) : 0;

	if (len == 0 || len > 16)
		return 0;
	memcpy(to, RTA_DATA(a), len);
	return len;
}

static int address_fn(void *arg, const struct nlmsghdr *msg)
{
	struct net_addresses *all = arg;
	const struct ifaddrmsg *head = NLMSG_DATA(msg);
	struct net_address one = { 0 };
	const struct rtattr *first, *a;
	struct net_address *p;
	size_t len;

	if (msg->nlmsg_type != RTM_NEWADDR || msg->nlmsg_len < NLMSG_LENGTH(sizeof(*head)))
		return 0;
	/* Without strict checking the kernel dumps every device's. */
	if ((int)head->ifa_index != all->ifindex || head->ifa_scope != RT_SCOPE_UNIVERSE)
		return 0;
	first = IFA_RTA(head);
	len = msg->nlmsg_len - NLMSG_LENGTH(sizeof(*head));
	one.flags = head->ifa_flags;
	a = netlink_find(first, len, IFA_FLAGS);
	if (a && RTA_PAYLOAD(a) == sizeof(one.flags))
		memcpy(&one.flags, RTA_DATA(a), sizeof(one.flags));
	if (!(one.flags & IFA_F_PERMANENT))
		return 0;
	one.head = *head;
	one.address_len = copy_address(netlink_find(first, len, IFA_ADDRESS), one.address);
	one.local_len = copy_address(netlink_find(first, len, IFA_LOCAL), one.local);
	one.broadcast_len = copy_address(netlink_find(first, len, IFA_BROADCAST), one.broadcast);
	if (all->count >= NET_ADDRESSES_MAX)
		return -E2BIG;
	p = reallocarray(all->items, all->count + 1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	all->items = p;
	all->items[all->count++] = one;
	return 0;
}

static int addresses_read(int sock, int ifindex, struct net_addresses *ret)
{
	const struct ifaddrmsg head = { .ifa_family = AF_UNSPEC, .ifa_index = (unsigned)ifindex };
	struct netlink_request req;

	ret->ifindex = ifindex;
	netlink_init(&req, RTM_GETADDR, NLM_F_DUMP, &head, sizeof(head));
	return netlink_talk(sock, &req, address_fn, ret);
}

static int address_add(int sock, int ifindex, const struct net_address *a)
{
	struct ifaddrmsg head = a->head;
	uint32_t flags = a->flags & NET_ADDRESS_FLAGS;
	struct netlink_request req;

	head.ifa_index = (unsigned)ifindex;
	head.ifa_flags = (unsigned char)flags;
	netlink_init(&req, RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE, &head, sizeof(head));
	if (a->address_len)
		netlink_attr(&req, IFA_ADDRESS, a->address, a->address_len);
	if (a->local_len)
		netlink_attr(&req, IFA_LOCAL, a->local, a->local_len);
	if (a->broadcast_len)
		netlink_attr(&req, IFA_BROADCAST, a->broadcast, a->broadcast_len);
	netlink_attr(&req, IFA_FLAGS, &flags, sizeof(flags));
	return netlink_talk(sock, &req, NULL, NULL);
}

static int link_up(int sock, int ifindex)
{
	const struct ifinfomsg info = { .ifi_index = ifindex,
					.ifi_flags = IFF_UP,
					.ifi_change = IFF_UP };
	struct netlink_request req;

	netlink_init(&req, RTM_NEWLINK, 0, &info, sizeof(info));
	return netlink_talk(sock, &req, NULL, NULL);
}

static int link_move(int sock, int ifindex, int netns_fd, const char *name)
{
	const struct ifinfomsg info = { .ifi_index = ifindex };
	const uint32_t fd = (uint32_t)netns_fd;
	struct netlink_request req;

	netlink_init(&req, RTM_NEWLINK, 0, &info, sizeof(info));
	netlink_attr(&req, IFLA_NET_NS_FD, &fd, sizeof(fd));
	netlink_attr(&req, IFLA_IFNAME, name, strlen(name) + 1);
	return netlink_talk(sock, &req, NULL, NULL);
}

static int name_check(const char *name, struct error *err)
{
	const char *percent = strchr(name, '%');

	if (name[0] == '\0' || strlen(name) >= IFNAMSIZ || strchr(name, '/') || strchr(name, ':') ||
	    strpbrk(name, " \t\n") || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return error_text(err, -EINVAL, "\"%.64s\" is not a valid network device name",
				  name);
	if (percent && (percent[1] != 'd' || strchr(percent + 1, '%')))
		return error_text(err, -EINVAL,
				  "network device name \"%s\": only one %%d may stand for a number",
				  name);
	return 0;
}

/*
 * The name to use in the container: as given, or with the lowest free number for %d. It must be
 * free: the kernel would move a device first and fail to rename it afterwards.
 */
static int name_choose(int sock, const char *name, char ret[IFNAMSIZ], struct error *err)
{
	const char *percent = strchr(name, '%');
	int i, unused, r, n;

	for (i = 0; i < (percent ? 1000 : 1); i++) {
		if (percent)
			n = snprintf(ret, IFNAMSIZ, "%.*s%d%s", (int)(percent - name), name, i,
				     percent + 2);
		else
			n = snprintf(ret, IFNAMSIZ, "%s", name);
		if (n < 0 || n >= IFNAMSIZ)
			break;
		r = link_index(sock, ret, &unused);
		if (r == -ENODEV)
			return 0;
		if (r < 0)
			return error_set(err, r, "look for network device %s in the container",
					 ret);
	}
	return error_text(err, -EEXIST,
			  "network device %s already exists in the container's network namespace",
			  name);
}

static int device_settle(int sock, const char *name, const struct net_addresses *all,
			 struct error *err)
{
	size_t i;
	int index, r;

	r = link_index(sock, name, &index);
	if (r < 0)
		return error_set(err, r, "find network device %s in the container", name);
	for (i = 0; i < all->count; i++) {
		r = address_add(sock, index, &all->items[i]);
		if (r < 0)
			return error_set(err, r, "give network device %s its address %zu", name,
					 i + 1);
	}
	r = link_up(sock, index);
	if (r < 0)
		return error_set(err, r, "set network device %s up", name);
	return 0;
}

int net_device_move(const char *host_name, const char *name, int netns_fd, struct error *err)
{
	_cleanup_(addresses_done) struct net_addresses all = { 0 };
	_cleanup_close_ int host = -EBADF;
	_cleanup_close_ int inside = -EBADF;
	char final[IFNAMSIZ];
	int index, r;

	assert(host_name && netns_fd >= 0);

	if (!name)
		name = host_name;
	if (strlen(host_name) >= IFNAMSIZ)
		return error_text(err, -EINVAL, "\"%.64s\" is not a valid network device name",
				  host_name);
	r = name_check(name, err);
	if (r < 0)
		return r;
	r = netlink_open(NETLINK_ROUTE, &host, err);
	if (r < 0)
		return r;
	r = link_index(host, host_name, &index);
	if (r < 0)
		return error_set(err, r, "network device %s", host_name);
	r = addresses_read(host, index, &all);
	if (r < 0)
		return error_set(err, r, "read the addresses of network device %s", host_name);
	r = netlink_open_in(netns_fd, NETLINK_ROUTE, &inside, err);
	if (r < 0)
		return r;
	r = name_choose(inside, name, final, err);
	if (r < 0)
		return r;
	r = link_move(host, index, netns_fd, final);
	if (r < 0)
		return error_set(err, r, "move network device %s into the container as %s",
				 host_name, final);
	return device_settle(inside, final, &all, err);
}

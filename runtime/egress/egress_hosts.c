/*
 * Owns the list of the host's own addresses: what listens there was never meant for a
 * container, and a rule for "everywhere" does not mean it.
 */
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <string.h>

#include "egress/egress_ctx.h"
#include "util/cleanup.h"

#define HOSTS_MAX 4096

static void ifaddrs_freep(struct ifaddrs **list)
{
	if (*list)
		freeifaddrs(*list);
}

/* Of the network namespace that the caller is in: the host's. */
int egress_host_addresses(uint8_t (**ret)[16], size_t *ret_n, struct error *err)
{
	_cleanup_(ifaddrs_freep) struct ifaddrs *list = NULL;
	_cleanup_free_ uint8_t(*addresses)[16] = NULL;
	const struct ifaddrs *i;
	size_t n = 0;

	if (getifaddrs(&list) < 0)
		return error_set(err, -errno, "list the host's addresses");
	for (i = list; i; i = i->ifa_next)
		n += i->ifa_addr && (i->ifa_addr->sa_family == AF_INET || i->ifa_addr->sa_family == AF_INET6);
	if (n > HOSTS_MAX)
		return error_text(err, -E2BIG, "the host has more than %d addresses", HOSTS_MAX);
	addresses = calloc(n + 1, sizeof(*addresses));
	if (!addresses)
		return error_oom(err);
	n = 0;
	for (i = list; i; i = i->ifa_next) {
		if (!i->ifa_addr)
			continue;
		if (i->ifa_addr->sa_family == AF_INET)
			egress_rules_map(AF_INET, &((const struct sockaddr_in *)(const void *)i->ifa_addr)->sin_addr,
					   addresses[n++]);
		else if (i->ifa_addr->sa_family == AF_INET6)
			egress_rules_map(AF_INET6,
					   &((const struct sockaddr_in6 *)(const void *)i->ifa_addr)->sin6_addr,
					   addresses[n++]);
	}
	*ret = take_ptr(addresses);
	*ret_n = n;
	return 0;
}

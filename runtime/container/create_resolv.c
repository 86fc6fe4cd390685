/*
 * Which name servers a container's monitor asks: those of the file that a mount puts at
 * /etc/resolv.conf, else the host's. Never those of the image's own file: its maker would
 * choose who answers for the names that the policy allows.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "container/create_egress.h"
#include "egress/egress_resolver.h"
#include "os/procfs.h"
#include "util/fd.h"
#include "util/str.h"

#define RESOLV_CONF "/etc/resolv.conf"
/* What stands behind a stub on the host's loopback. */
#define RESOLVED_CONF "/run/systemd/resolve/resolv.conf"

/* The path without what makes no difference, part by part. */
static bool is_resolv_conf(const char *path)
{
	static const char *const parts[] = { "etc", "resolv.conf" };
	size_t i = 0, n;

	for (; *path; path += n) {
		n = strspn(path, "/");
		if (n > 0)
			continue;
		n = strcspn(path, "/");
		if (n == 1 && *path == '.')
			continue;
		if (i == ELEMENTSOF(parts) || strlen(parts[i]) != n || strncmp(path, parts[i], n) != 0)
			return false;
		i++;
	}
	return i == ELEMENTSOF(parts);
}

/* By the descriptor that was judged and is mounted; opening a device or a pipe could do more than read. */
static int read_regular(int proc_fd, int path_fd, char **ret)
{
	struct error ignored = ERROR_NULL;
	_cleanup_close_ int fd = -EBADF;
	struct stat st;
	int r;

	if (fstat(path_fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	r = procfs_reopen(proc_fd, path_fd, O_RDONLY | O_NOCTTY | O_NONBLOCK, &fd, &ignored);
	return r < 0 ? r : fd_read_all(fd, EGRESS_RESOLV_CONF_MAX, ret, NULL);
}

/* The bind that the container will see there; NULL: none, or of a file of the image. */
static const struct mount_op *find_mount(const struct plan *plan)
{
	const struct mount_op *found = NULL;
	size_t i;

	for (i = 0; i < plan->n_mounts; i++)
		if (plan->mounts[i].kind == MOUNT_BIND && is_resolv_conf(plan->mounts[i].destination))
			found = &plan->mounts[i];
	return found && (found->source_fd >= 0 || found->tree_fd >= 0) ? found : NULL;
}

/* Another loopback and other interfaces are the container's, where its processes could answer. */
static bool leads_out(const struct egress_server *s)
{
	if (!s->v6)
		return s->address[0] != 127 && s->address[0] != 0;
	return !s->scope[0] && !IN6_IS_ADDR_V4MAPPED(s->address) &&
	       memcmp(s->address, &in6addr_loopback, sizeof(s->address)) != 0 &&
	       memcmp(s->address, &in6addr_any, sizeof(s->address)) != 0;
}

static void name_servers(const char *text, bool host_network, struct buf *ret)
{
	struct egress_servers servers;
	char address[INET6_ADDRSTRLEN];
	size_t i;

	egress_servers_from_resolv_conf(text, strlen(text), &servers);
	for (i = 0; i < servers.n; i++) {
		const struct egress_server *s = &servers.server[i];

		if (!host_network && !leads_out(s))
			continue;
		(void)inet_ntop(s->v6 ? AF_INET6 : AF_INET, s->address, address, sizeof(address));
		buf_addf(ret, "nameserver %s%s%s\n", address, s->scope[0] ? "%" : "", s->scope);
	}
}

static int read_host(int proc_fd, bool host_network, char **ret, struct error *err)
{
	static const char *const files[] = { RESOLV_CONF, RESOLVED_CONF };
	_cleanup_buf_ struct buf b = BUF_NULL;
	size_t i;

	for (i = 0; i < ELEMENTSOF(files) && b.len == 0; i++) {
		_cleanup_close_ int fd = open(files[i], O_PATH | O_CLOEXEC);
		_cleanup_free_ char *text = NULL;

		if (fd < 0 || read_regular(proc_fd, fd, &text) < 0 || !text)
			break;
		name_servers(text, host_network, &b);
	}
	if (!buf_ok(&b))
		return error_oom(err);
	*ret = b.len > 0 ? buf_take(&b) : NULL;
	return 0;
}

char *create_resolv_read(const struct create *c)
{
	char *text = NULL;

	/* Without a file that can be read there is no name server; questions are answered with that. */
	return read_regular(c->proc_fd, c->resolv_fd, &text) < 0 ? NULL : text;
}

int create_resolv_conf(struct create *c, bool host_network, char **ret, struct error *err)
{
	const struct mount_op *m = find_mount(c->plan);

	*ret = NULL;
	if (!m)
		return read_host(c->proc_fd, host_network, ret, err);
	c->resolv_fd = fcntl(m->source_fd >= 0 ? m->source_fd : m->tree_fd, F_DUPFD_CLOEXEC, 3);
	if (c->resolv_fd < 0)
		return error_set(err, -errno, "duplicate a descriptor");
	*ret = create_resolv_read(c);
	return 0;
}

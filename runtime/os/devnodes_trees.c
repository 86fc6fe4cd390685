/*
 * Device nodes for a user namespace that the host has no node of. The kernel lets nobody
 * make nodes in there; so a short-lived process makes them on a tmpfs, in a mount
 * namespace of its own, and hands them over as detached mounts.
 */
#include "os/devnodes.h"

#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "os/mount_impl.h"
#include "os/ns.h"
#include "util/fd.h"

struct maker {
	const struct devnode *nodes;
	size_t count;
	const struct id_maps *uids, *gids;
	int sock, parent_sock;
};

static bool host_has(const struct devnode *n)
{
	struct stat st;

	return stat(n->path, &st) == 0 &&
	       (st.st_mode & S_IFMT) == (n->type == 'b' ? S_IFBLK : S_IFCHR) &&
	       st.st_rdev == makedev(n->major, n->minor);
}

static bool wanted(const struct devnode *n)
{
	return n->type != 'p' && !host_has(n);
}

/* (uint32_t)-1, which chown(2) takes for "leave", when the id is not mapped. */
static uint32_t host_id(const struct id_maps *maps, uint32_t id)
{
	size_t i;

	for (i = 0; i < maps->count; i++)
		if (id >= maps->items[i].container_id &&
		    id - maps->items[i].container_id < maps->items[i].size)
			return maps->items[i].host_id + (id - maps->items[i].container_id);
	return UINT32_MAX;
}

/* A tmpfs over the root of this mount namespace; nothing looks a path up in it. */
static int place_open(int *ret_fd, struct error *err)
{
	const struct mount_fs fs = { .fstype = "tmpfs", .source = "tmpfs", .data = "mode=0700" };
	_cleanup_close_ int root = -EBADF;
	int r;

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return error_set(err, -errno, "make the mounts private");
	root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return error_set(err, -errno, "open /");
	r = mount_fs_create(&fs, ret_fd, err);
	if (r < 0)
		return r;
	r = mount_attach(*ret_fd, root);
	return r < 0 ? error_set(err, r, "mount a tmpfs") : 0;
}

static int node_make(const struct maker *m, int place, size_t i, int *ret_fd)
{
	const struct devnode *n = &m->nodes[i];
	char name[24];

	(void)snprintf(name, sizeof(name), "%zu", i);
	if (mknodat(place, name, (n->type == 'b' ? S_IFBLK : S_IFCHR) | (n->mode & 07777),
		    makedev(n->major, n->minor)) < 0 ||
	    fchownat(place, name, host_id(m->uids, n->uid), host_id(m->gids, n->gid), AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return mount_clone(place, name, 0, ret_fd);
}

/* One message a node: 0 with its mount, or what went wrong. */
static _noreturn_ void maker_main(void *arg)
{
	const struct maker *m = arg;
	struct error err = ERROR_NULL;
	int place = -EBADF, r;
	size_t i;

	(void)close(m->parent_sock);
	(void)umask(0);
	r = place_open(&place, &err);
	for (i = 0; i < m->count; i++) {
		int fd = -EBADF;

		if (!wanted(&m->nodes[i]))
			continue;
		if (r == 0)
			r = node_make(m, place, i, &fd);
		if (fd_send(m->sock, &r, sizeof(r), &fd, r == 0 ? 1 : 0) < 0)
			break;
	}
	_exit(0);
}

static int node_receive(struct devnode *n, int sock, struct error *err)
{
	int code = 0, fd = -EBADF, r;
	size_t len;

	r = fd_recv(sock, &code, sizeof(code), &len, &fd, 1);
	if (r == 0 && len != sizeof(code))
		r = -EPIPE;
	if (r == 0)
		r = code;
	/* Not ours to make in this place; binding will say what is missing. */
	if (r == -EPERM)
		return 0;
	if (r < 0)
		return error_set(err, r, "make device %s", n->path);
	n->tree_fd = fd;
	return 0;
}

int devnodes_trees(struct devnode *nodes, size_t count, const struct id_maps *uids, const struct id_maps *gids,
		   int proc_fd, struct error *err)
{
	const struct ns_spec spec = { .create = CLONE_NEWNS };
	_cleanup_(pidref_done) struct pidref child = PIDREF_NULL;
	struct maker m = { .nodes = nodes, .count = count, .uids = uids, .gids = gids };
	struct error ignored;
	int socks[2], status, r = 0;
	size_t i;

	assert(uids && gids);

	for (i = 0; i < count && !wanted(&nodes[i]); i++)
		;
	if (i == count)
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) < 0)
		return error_set(err, -errno, "create the socket pair for devices");
	m.parent_sock = socks[0];
	m.sock = socks[1];
	r = ns_spawn(&spec, -EBADF, proc_fd, maker_main, &m, &child, err);
	(void)close(socks[1]);
	for (; r == 0 && i < count; i++)
		if (wanted(&nodes[i]))
			r = node_receive(&nodes[i], socks[0], err);
	(void)close(socks[0]);
	if (child.pid > 0) {
		(void)pidref_signal(&child, SIGKILL);
		(void)pidref_reap(&child, &status, &ignored);
	}
	return r;
}

void devnodes_trees_done(struct devnode *nodes, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++) {
		if (nodes[i].tree_fd > 2)
			(void)close(nodes[i].tree_fd);
		nodes[i].tree_fd = 0;
	}
}

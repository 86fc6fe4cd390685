/*
 * Facts about the host paths that a container wants mounted, gathered before anything is
 * made and without changing anything. The descriptor that the facts were read from is the
 * one to be mounted later, so what was judged is what is used.
 *
 * Two depths: hostpath_open() costs a few system calls; hostpath_look() also finds the
 * other names of the object (bind mounts, overlay layers) and what lies below it (mounts,
 * sockets), for which the tables of the mount and network namespace are read once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/arena.h"
#include "util/error.h"

struct hostpath_mounts;
struct hostpath_sockets;

/* The host as seen by one command. Strings of all facts live in the arena given at open. */
struct hostpath_host {
	struct arena *arena;
	int proc_fd;			/* borrowed */
	int self_fd_dir;		/* PROC/self/fd */
	struct hostpath_mounts *mounts; /* read by the first hostpath_look() */
	struct hostpath_sockets *sockets;
};
#define HOSTPATH_HOST_NULL ((struct hostpath_host){ .proc_fd = -EBADF, .self_fd_dir = -EBADF })

enum hostpath_part_kind {
	HOSTPATH_PART_NAME,	   /* at is also reachable as what */
	HOSTPATH_PART_MOUNT,	   /* a mount of filesystem type what */
	HOSTPATH_PART_SOCKET_LIVE, /* bound in this network namespace */
	HOSTPATH_PART_SOCKET,	   /* a socket file; found only near the top */
};

struct hostpath_part {
	enum hostpath_part_kind kind;
	const char *at, *what;
};

struct hostpath {
	const char *source; /* as asked */
	int fd;		    /* O_PATH, owned */
	const char *path;   /* canonical; for pipes and the like the kernel's text */
	bool reachable;	    /* path leads to the same object here */
	mode_t mode;
	dev_t dev, rdev;
	ino_t ino;
	uint32_t nlink;
	uint64_t mount_id;
	const char *fstype; /* of kernel interfaces, else NULL; after hostpath_look() of all */
	/* hostpath_look(): */
	const char **aliases; /* other canonical paths of the same object */
	size_t n_aliases;
	struct hostpath_part *parts; /* things below */
	size_t n_parts;
};
#define HOSTPATH_NULL ((struct hostpath){ .fd = -EBADF })

/* proc_fd: procfs_open(). Both must outlive the host. */
int hostpath_host_open(int proc_fd, struct arena *arena, struct hostpath_host *ret,
		       struct error *err);
void hostpath_host_done(struct hostpath_host *host);
#define _cleanup_hostpath_host_ _cleanup_(hostpath_host_done)

/*
 * Opens source (relative: below dirfd). follow false: a link at the end stays one. Every
 * other link, ".." and /proc magic is followed: the canonical path shows where to. Negative
 * errno when it cannot be opened.
 */
int hostpath_open(struct hostpath_host *host, int dirfd, const char *source, bool follow,
		  struct hostpath *ret, struct error *err);
/*
 * Completes the facts. recursive: mounts below would come along. -EXDEV never: a source of
 * another mount namespace becomes unreachable instead.
 */
int hostpath_look(struct hostpath_host *host, struct hostpath *hp, bool recursive,
		  struct error *err);
void hostpath_done(struct hostpath *hp);
#define _cleanup_hostpath_ _cleanup_(hostpath_done)

/*
 * The kind of kernel interface (proc, cgroup2, mqueue, ...) that an open object lies on, or NULL: an ordinary
 * filesystem. 0 or negative errno.
 */
int hostpath_kernel_type(int fd, const char **ret);
/* Bit i is set when names[i] (relative, at most 64) exists below the folder, or nobody can tell. */
uint64_t hostpath_probe(const struct hostpath *hp, const char *(*name)(size_t i));
/*
 * The first of paths that is the same file by inode, or that cannot be looked at; or NULL. A folder
 * among them stands for its entries. For what can have several names at all: files with links, sockets.
 */
const char *hostpath_same_file(const struct hostpath *hp, const char *const *paths, size_t n);
/*
 * Home folders of root and of ordinary accounts in /etc/passwd, without /root and the
 * folders of /home; in the arena.
 */
int hostpath_homes(struct arena *arena, const char *const **ret, size_t *ret_n, struct error *err);
/* Canonical name of a path of the host, in the arena; NULL when it does not exist. */
int hostpath_canonical(struct hostpath_host *host, const char *path, const char **ret, struct error *err);
/* Whether a failed look-up says that the object does not exist for us; anything else says nothing. */
bool hostpath_is_absent(int code);

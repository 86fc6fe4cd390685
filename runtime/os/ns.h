/*
 * Namespaces: which are new, which are joined, and the clone that makes the first
 * process in them. Knows no OCI.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "os/mount.h"
#include "os/pidref.h"

#define NS_JOIN_MAX 8

struct ns_join {
	uint64_t type; /* CLONE_NEW* */
	int fd; /* namespace descriptor, type checked with NS_GET_NSTYPE */
};

struct ns_spec {
	uint64_t create; /* CLONE_NEW* to make; some (cgroup, time) are left to the child, later */
	struct ns_join join[NS_JOIN_MAX];
	size_t n_join;
};

/* Opens path and checks that it is a namespace of that type. */
int ns_open(const char *path, uint64_t type, int *ret_fd, struct error *err);
/* Whether two namespaces (descriptor, and our own of that type) are the same inode. */
int ns_is_own(int proc_fd, int fd, uint64_t type, bool *ret, struct error *err);
/* Numbers of a process's namespaces: enough to tell whose they are. */
#define NS_TYPES 8
struct ns_ids {
	uint64_t ino[NS_TYPES]; /* in the order of the types' table; 0 = the kernel has no such type */
};
/* Of this process; of time the one that its children get. */
int ns_ids_read(int proc_fd, struct ns_ids *ret, struct error *err);
/*
 * now against what was decided: types in created must differ from host, joined ones be the descriptor's,
 * all others stay host's. -EPERM names the type.
 */
int ns_ids_compare(const struct ns_ids *now, const struct ns_ids *host, uint64_t created, const struct ns_join *joined,
		   size_t n_joined, struct error *err);
/*
 * Whether that owner of a file has no id in this user namespace: the host's root, mostly. There
 * we have no more rights than the user who made it. False in the initial one, where
 * the id belongs to somebody.
 */
bool ns_uid_unmapped(uid_t uid);
const char *ns_type_name(uint64_t type); /* "pid", "network", … as in the OCI table */
const char *ns_proc_name(uint64_t type); /* "pid", "net", "mnt", … as below /proc/PID/ns */

typedef _noreturn_ void (*ns_child_fn)(void *arg);

/*
 * Makes the first process. It runs fn(arg), already in all namespaces of the spec
 * except those named at create, and is a child of the caller whatever steps were
 * needed between. cgroup_fd: v2 folder for CLONE_INTO_CGROUP, or -EBADF.
 * With a new user namespace fn must wait until the parent wrote the maps.
 * Joining a namespace that is the caller's own is done by leaving it out.
 *
 * When this returns 0 all joins have succeeded. A failed join or clone is this
 * function's error and leaves no process behind. The caller must be single-threaded.
 *
 * ret->pid is in the caller's pid namespace, ret->start is not filled.
 *
 * With a joined pid or user namespace the child is not dumpable, so that a process already
 * in there can neither trace it nor open its descriptors (CVE-2016-9962): its own files
 * below /proc/self are then writable through procfs_write_self() only.
 */
int ns_spawn(const struct ns_spec *spec, int cgroup_fd, int proc_fd, ns_child_fn fn, void *arg,
	     struct pidref *ret, struct error *err);

/*
 * Parent side: writes uid_map and gid_map of a child, through newuidmap/newgidmap
 * (absolute path, clean environment) when unprivileged and the map is more than one's own id.
 */
int ns_write_maps(int proc_fd, pid_t pid, const struct id_maps *uids, const struct id_maps *gids, struct error *err);
/*
 * Of the user namespace that a process is in, from outside of it: -EINVAL unless its maps are the given ones
 * (in any order, split anyhow). Ids outside are as this process's user namespace counts them.
 */
int ns_check_maps(int proc_fd, pid_t pid, const struct id_maps *uids, const struct id_maps *gids, struct error *err);
/* What a user id of that namespace is outside of it. NS_E_UNMAPPED: nothing. */
enum { NS_E_UNMAPPED = 1 };
int ns_map_uid(int proc_fd, pid_t pid, uint32_t uid, uint32_t *ret, struct error *err);
int ns_map_gid(int proc_fd, pid_t pid, uint32_t gid, uint32_t *ret, struct error *err);
/*
 * Child side, after the maps: become root of the namespace (setresgid, setresuid 0, groups
 * emptied where allowed). Clears the parent-death signal, as every change of ids does.
 */
int ns_become_root(struct error *err);
/* A user namespace with these maps, for idmapped mounts: descriptor of it. */
int ns_userns_for_maps(int proc_fd, const struct id_maps *uids, const struct id_maps *gids, int *ret_fd, struct error *err);
/* unshare(CLONE_NEWTIME) and the offsets, before the exec that enters it (Linux 6.1). */
struct ns_time_offset { const char *clock; int64_t secs; uint32_t nanosecs; };
int ns_unshare_time(int proc_fd, const struct ns_time_offset *offsets, size_t count, struct error *err);

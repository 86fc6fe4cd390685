/*
 * The container's cgroup on v1, hybrid and v2: create, enter, limit, freeze, kill,
 * count, remove. Receives the spec's resources; knows nothing of containers.
 *
 * A driver decides where the cgroup lives and who makes it (cgroup_driver.h); the
 * layout decides which files carry a limit.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "spec/spec.h"
#include "state/state.h"
#include "util/error.h"

enum cgroup_layout {
	CGROUP_LAYOUT_NONE,
	CGROUP_LAYOUT_LEGACY,
	CGROUP_LAYOUT_HYBRID,
	CGROUP_LAYOUT_UNIFIED,
};
enum cgroup_manager { CGROUP_MANAGER_CGROUPFS, CGROUP_MANAGER_SYSTEMD, CGROUP_MANAGER_DISABLED };

#define CGROUP_DIRS_MAX 20

/* One hierarchy the container has a folder in. */
struct cgroup_dir {
	char *controllers; /* "cpu,cpuacct", "name=systemd", "" for the v2 hierarchy */
	char *path; /* absolute folder on the host */
	bool created; /* made by us: remove it; an existing empty one was reused */
};

struct cgroup_peer;

/* Where a container's processes live: made by cgroup_create(), kept in the state record. */
struct cgroup {
	enum cgroup_layout layout;
	enum cgroup_manager manager;
	struct cgroup_dir dirs[CGROUP_DIRS_MAX];
	size_t n_dirs;
	char *scope; /* systemd unit name or NULL */
	bool user_scope; /* of the user's manager, not of the system's */
	/* Only between plan and cgroup_entered(), not in the record: */
	char *slice;
	struct cgroup_peer *peer; /* helper that talks to systemd and keeps the empty scope */
};

#define CGROUP_NULL ((struct cgroup){ 0 })

/* Where limits are remembered as they were written. */
struct cgroup_kept {
	struct arena *arena;
	struct state_limits *limits;
};

struct cgroup_request {
	const char *id;
	const char *path; /* linux.cgroupsPath or NULL */
	enum cgroup_manager manager;
	bool rootless; /* a folder that cannot be made is left out, unless path or a limit asks for it */
	const struct spec_resources *resources; /* may be NULL */
	bool strict_devices; /* only the listed and the usual devices: no making of other nodes, no net/tun */
	const struct cgroup_kept *kept; /* filled by cgroup_create(); may be NULL */
	const struct str_map *annotations; /* org.systemd.property.* for the systemd manager */
	bool any_property; /* those annotations may set every property */
};

/* The host's layout from the mounts below /sys/fs/cgroup. */
int cgroup_layout_detect(enum cgroup_layout *ret, struct error *err);

/*
 * Step 1, no side effect: where it will be. Refuses "..", and paths outside the hierarchy.
 * ret->dirs are filled, created = false.
 */
int cgroup_plan(const struct cgroup_request *req, struct cgroup *ret, struct error *err);
/*
 * Step 2: makes the folders, enables controllers (v2), refuses a folder that has processes
 * ("container's cgroup is not empty") or is frozen, writes limits and device rules while it is
 * still empty. On failure what was made is removed.
 */
int cgroup_create(struct cgroup *cg, const struct cgroup_request *req, struct error *err);
/* Step 3: the first process of the container is in; nothing else has to keep the cgroup. */
void cgroup_entered(struct cgroup *cg);
/*
 * Folder descriptor of the v2 hierarchy (unified and hybrid layouts) for CLONE_INTO_CGROUP;
 * *ret_fd = -EBADF and 0 where there is none or the folder is not ours. Caller closes.
 *
 * Kernels since 6.14 (and stable ones with "fix race between fork and cgroup.kill") compare
 * how often cgroup.kill was used on the cgroup of the parent and on that of the child: when
 * the numbers differ, the child of CLONE_INTO_CGROUP is born killed. A fresh folder has 0, the
 * caller's own cgroup nearly always; so a child that ends by SIGKILL before its first word
 * should be started once more without the descriptor and put there by cgroup_attach().
 */
int cgroup_clone_fd(const struct cgroup *cg, int *ret_fd, struct error *err);

/*
 * The fast way into the v1 hierarchies. Moving another process (cgroup.procs) makes the
 * kernel wait for an RCU grace period, 10 to 20 ms; a single-threaded process that writes
 * itself into "tasks" does not wait. So the parent opens the files before clone3 (with the
 * descriptor of cgroup_clone_fd for the v2 hierarchy) and the child calls
 * cgroup_join_self() first of all, in whatever user namespace it is: the kernel checks
 * the credentials of the opener.
 */
struct cgroup_join {
	int fds[CGROUP_DIRS_MAX];
	size_t n;
};

#define CGROUP_JOIN_NULL ((struct cgroup_join){ 0 })

/* sub: sub-path below the container's folder, or NULL. No v1 hierarchy: n = 0. */
int cgroup_join_open(const struct cgroup *cg, const char *sub, struct cgroup_join *ret,
		     struct error *err);
/* Only in a process with one thread; allocates nothing. */
int cgroup_join_self(const struct cgroup_join *join, struct error *err);
void cgroup_join_done(struct cgroup_join *join);

/*
 * Moves any process into all hierarchies; sub as above. Slow (see cgroup_join_open()) unless it
 * is there already, which is looked up first.
 * -EBUSY on v2 when the container made sub-cgroups with controllers: use cgroup_attach_peer().
 */
int cgroup_attach(const struct cgroup *cg, const char *sub, pid_t pid, struct error *err);
/*
 * The v2 hierarchy alone, for a process that has joined the others by itself; without one there is
 * nothing to do. -EBUSY as above.
 */
int cgroup_attach_unified(const struct cgroup *cg, pid_t pid, struct error *err);
/* v2: into the cgroup where peer (the container's init) is now: the container's or below it. */
int cgroup_attach_peer(const struct cgroup *cg, pid_t peer, pid_t pid, struct error *err);
/*
 * `exec --cgroup [controllers:]PATH`: into PATH below the container's folder, in the named
 * hierarchies ("cpu,memory"; the others are left alone) or in all of them (NULL). On v2
 * controllers must be NULL.
 */
int cgroup_attach_controller(const struct cgroup *cg, const char *controllers, const char *sub,
			     pid_t pid, struct error *err);
/*
 * Delegation to the container's root: owner of the folder and of the files that the kernel
 * lists for it. For containers with a cgroup namespace and a writable cgroup mount; v2 only.
 */
int cgroup_chown(const struct cgroup *cg, uid_t uid, struct error *err);

/*
 * `update`: writes only what is set and not "unchanged" (0 means leave, -1 unlimited), in an
 * order the kernel accepts (swap before limit when raising on v1). kept may be NULL. Device rules are ignored.
 * checkBeforeUpdate: -EBUSY "rejecting memory limit N < usage M".
 */
int cgroup_update(const struct cgroup *cg, const struct spec_resources *res, const struct cgroup_kept *kept,
		  struct error *err);

/*
 * Limits and device rules as the kernel has them against what was kept: -EPERM, naming control, file
 * and both values, where it lets through more.
 */
int cgroup_verify(const struct cgroup *cg, const struct state_limits *limits, struct error *err);
/* Whether the process is in all folders of cg, or below them. -EPERM names the hierarchy. */
int cgroup_verify_member(const struct cgroup *cg, int proc_fd, pid_t pid, struct error *err);

/* What is in force. */
struct cgroup_present {
	uint64_t memory; /* bytes, 0 = no limit, or none can be read */
	int64_t cpu_quota; /* µs; -1 = no limit, 0 = unknown */
	uint64_t cpu_period; /* 0 = unknown */
};
int cgroup_present_read(const struct cgroup *cg, struct cgroup_present *ret, struct error *err);

int cgroup_freeze(const struct cgroup *cg, struct error *err); /* waits until frozen, 2 s at most */
int cgroup_thaw(const struct cgroup *cg, struct error *err);
int cgroup_frozen(const struct cgroup *cg, bool *ret, struct error *err);

/* All pids in the cgroup and below it (malloc'ed, sorted). A missing folder gives an empty list. */
int cgroup_pids(const struct cgroup *cg, pid_t **ret, size_t *ret_count, struct error *err);
/*
 * Signals everything in it. SIGKILL also ends frozen processes (cgroup.kill where there is,
 * else freeze, kill, thaw) and waits until none is left, 10 s at most.
 */
int cgroup_signal(const struct cgroup *cg, int sig, struct error *err);
/* The same SIGKILL without the wait: for the tracer of a member, without which it does not go. */
int cgroup_kill(const struct cgroup *cg, struct error *err);
/* Removes the folders made by us with all sub-folders; retries EBUSY for 10 s; missing is done. */
int cgroup_remove(const struct cgroup *cg, struct error *err);
void cgroup_done(struct cgroup *cg);

/*
 * A cgroup for one command inside the container's, without controllers, so that this command and
 * all its descendants can be counted and killed alone: in the v2 hierarchy, else the v1 freezer. Made
 * here; ended by cgroup_signal(), cgroup_remove() and cgroup_done(). CGROUP_E_NO_PLACE: neither
 * hierarchy is there, or the container's own use of its cgroup forbids sub-cgroups.
 */
enum { CGROUP_E_NO_PLACE = 1 };
int cgroup_exec_create(const struct cgroup *cg, unsigned number, struct cgroup *ret, struct error *err);
/*
 * The folder of that name at the top of the v2 hierarchy, made where it is missing: what is cloned into it does not
 * have to move there, for which the kernel makes the whole host's cgroups wait for an RCU grace period. Caller
 * closes; *ret_fd = -EBADF without such a hierarchy.
 */
int cgroup_apart_open(const char *name, int *ret_fd, struct error *err);
/* The same at the top of every hierarchy, out of reach of an engine's unit; moves this process there. */
int cgroup_enter_apart(const char *name, struct error *err);

/* NULL-terminated "controllers:path" list for struct mount_ctx ("" = v2), in the arena. */
int cgroup_mount_paths(const struct cgroup *cg, struct arena *arena, const char *const **ret,
		       struct error *err);

/* Whether the helper program of the systemd manager is there; the host may still have no systemd. */
bool cgroup_systemd_built(void);
/*
 * cgroup_usable.c: the controllers by which this process could limit a container of that request
 * (id, path, manager and rootless are looked at), comma-separated and malloc'ed: those of
 * hierarchies where it may make the folder. No side effect, no privilege.
 */
int cgroup_usable(const struct cgroup_request *req, char **ret, struct error *err);
/* The same of a container that exists. */
int cgroup_usable_now(const struct cgroup *cg, char **ret, struct error *err);
/* Whether a comma-separated list has the word. */
bool cgroup_list_has(const char *list, const char *word);

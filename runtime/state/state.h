/*
 * What is remembered of a container between commands: one folder per container
 * below the root folder, holding state.json (atomic, versioned), config.json (the
 * bundle's configuration as it was at create), start.sock (the start gate, there
 * until started) and for some the folder notify. Knows no spec and no policy.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "os/pidref.h"
#include "util/arena.h"
#include "util/error.h"

#define STATE_ID_MAX 1024

enum state_conditions {
	STATE_E_NOT_FOUND = 1, /* "container does not exist" */
	STATE_E_EXISTS = 2, /* "container with given ID already exists" */
	STATE_E_BUSY = 3, /* another command holds the lock */
};

struct state_cgroup_dir { char *controllers, *path; bool created; };

/* A limit as it was written to a file of the container's cgroup. */
struct state_limit {
	char *controller; /* "" = the v2 hierarchy */
	char *file, *value;
};
struct state_limits {
	struct state_limit *items;
	size_t count;
};

/* What was read back from the kernel before the first instruction; numbers of things compared. */
struct state_readback {
	bool set;
	uint64_t limits, namespaces, mounts, paths;
};

/* What its first process must be after execve; set false: nothing is demanded. */
struct state_expect {
	bool set;
	uid_t uid;
	gid_t gid;
	uint64_t bounding, inheritable, ambient; /* bit n = CAP_n */
	bool no_new_privs;
	uint64_t filters; /* seccomp filters at least */
};

/* The record. All pointers live in the arena. */
struct state_record {
	struct arena arena;
	char *id;
	char *oci_version;
	char *bundle; /* absolute */
	char *rootfs; /* absolute */
	char *owner; /* user name or number of the creator */
	char *created; /* RFC 3339 with fraction, UTC */
	pid_t pid; /* 0 while being created */
	unsigned long long pid_start;
	bool pid_ns_private; /* own pid namespace: killing init ends all */
	bool systemd_cgroup, rootless, no_new_keyring, terminal;
	int cgroup_layout, cgroup_manager;
	struct state_cgroup_dir *cgroup_dirs;
	size_t n_cgroup_dirs;
	char *cgroup_scope;
	bool cgroup_user_scope; /* of the user's systemd */
	char *profile; /* of the policy */
	struct state_expect expect;
	struct state_limits limits; /* in force since create or the last update */
	struct state_readback readback;
	char *verified; /* how expect was checked: "exec-stop", "after-exec"; NULL = not yet */
	pid_t supervisor_pid; /* 0 = none stands beside it */
	pid_t monitor_pid; /* for people: the supervisor knows it by its connection */
	unsigned long long supervisor_start;
	char *audit_log; /* its name; NULL = none */
	uint64_t time_limit, time_exec, time_grace; /* ns; of the container, of each exec; UINT64_MAX = none, all 0 = not set */
	bool egress; /* in force on its cgroup */
	bool captured; /* the output of its processes goes through the monitor */
	bool input; /* and their standard input */
	bool withheld; /* neither does, though the policy wants it: tracing is forbidden */
	bool reports; /* system calls that the filter denies on principle are told of */
	char *unreported; /* why not, or which are not; NULL = nothing to say */
	char *affinity; /* CPU list that all its processes get; NULL = leave */
	char *session; /* folder of its session; NULL = none */
	char *intel_rdt_group; /* group made by us, to be removed; NULL = none */
	struct { char **keys; char **values; size_t count; } annotations;
};

/*
 * Id rules: [A-Za-z0-9_+.-]+, not "." or "..", and no longer than a file name (255).
 * Message: invalid container ID format / container id cannot be empty.
 */
int state_id_check(const char *id, struct error *err);

/*
 * The root folder without --root: /run/agentrun, or when rootless
 * $XDG_RUNTIME_DIR/agentrun (empty = unset: then /run/user/UID, for uid 0 of a user
 * namespace /run/agentrun). malloc'ed.
 */
int state_root_default(bool rootless, char **ret, struct error *err);
/*
 * Opens it, making it and its parents 0700 when create. Returns STATE_E_NOT_FOUND when
 * missing and !create; -EPERM when others than root and the caller may change it.
 */
int state_root_open(const char *root, bool create, int *ret_fd, struct error *err);

/* Makes ROOT/ID 0711, exclusively. STATE_E_EXISTS when there (also without a record). */
int state_dir_create(int root_fd, const char *id, int *ret_fd, struct error *err);
/* Opens ROOT/ID. STATE_E_NOT_FOUND. */
int state_dir_open(int root_fd, const char *id, int *ret_fd, struct error *err);
/*
 * Removes the folder and the files we know; other content is an error. Missing is done. What is
 * in the folder that a container sees goes whatever it is, but for folders that are not empty.
 */
int state_dir_remove(int root_fd, const char *id, struct error *err);
/*
 * Exclusive advisory lock on the folder, held until the descriptor is closed; waits
 * timeout_ms (negative = for ever). STATE_E_BUSY, or STATE_E_NOT_FOUND when the folder
 * was removed meanwhile.
 */
int state_dir_lock(int dir_fd, int timeout_ms, int *ret_lock_fd, struct error *err);

/*
 * The record as text (malloc'ed) and back, for tests and fuzzing; the strings up to
 * created must be set. -EPROTONOSUPPORT for a file of a newer agentrun.
 */
int state_format(const struct state_record *rec, char **ret_text, struct error *err);
int state_parse(const char *data, size_t len, struct state_record **ret, struct error *err);
/* Atomic write and read of state.json. STATE_E_NOT_FOUND when there is no record. */
int state_write(int dir_fd, const struct state_record *rec, struct error *err);
int state_read(int dir_fd, struct state_record **ret, struct error *err);
struct state_record *state_record_free(struct state_record *rec);
static inline void state_record_freep(struct state_record **r)
{
	*r = state_record_free(*r);
}
#define _cleanup_state_record_ _cleanup_(state_record_freep)

/* Ids below the root that have a record, sorted, NULL-terminated; for state_list_free(). */
int state_list(int root_fd, char ***ret_ids, size_t *ret_count, struct error *err);
void state_list_free(char **ids);

/* Names inside the folder. */
#define STATE_FILE "state.json"
#define STATE_CONFIG_FILE "config.json"
#define STATE_GATE_FILE "start.sock"
#define STATE_POLICY_FILE "policy.json" /* the profile as it was at create, nothing inherited */
#define STATE_VERDICT_FILE "verdict.json" /* what the policy decided */
#define STATE_LATER_FILE "later.json" /* what it decided about exec and update, a document on each line */
#define STATE_CONTROL_FILE "control.sock" /* of its supervisor, while that lives */
#define STATE_MONITOR_FILE "monitor.json" /* what the monitor is told */
#define STATE_EXIT_FILE "exit.json" /* how it ended */
#define STATE_NOTIFY_DIR "notify" /* seen by the container: its socket for sd_notify(3) */

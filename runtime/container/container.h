/*
 * Life of a container: what each command does, without parsing options and
 * without printing. Every function names in *err the text that engines match.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "spec/spec.h"
#include "state/state.h"
#include "util/enum_table.h"
#include "util/error.h"

enum container_status { CONTAINER_CREATING, CONTAINER_CREATED, CONTAINER_RUNNING, CONTAINER_PAUSED, CONTAINER_STOPPED };
const char *container_status_name(enum container_status s);

/* Global settings of a command, filled by cli. */
struct container_env {
	const char *root; /* state root or NULL = default */
	int cgroup_manager; /* enum cgroup_manager */
	bool rootless;
	bool debug;
	const char *policy; /* --policy FILE, NULL = the host's */
	const char *profile; /* --profile NAME, NULL = as the policy says */
	const char *criu; /* --criu PATH, NULL = criu in the usual folders */
};

struct container_create_options {
	const char *id;
	const char *bundle; /* NULL = "." */
	const char *config; /* file name, default config.json in the bundle */
	const char *pid_file, *console_socket, *pidfd_socket; /* NULL = none; relative to the caller's folder */
	bool no_pivot, no_new_keyring;
	uint32_t preserve_fds;
	/* run only */
	bool detach, keep, no_subreaper;
};

int container_create(const struct container_env *env, const struct container_create_options *opt, struct error *err);
int container_start(const struct container_env *env, const char *id, struct error *err);
/* Foreground: *ret_status is the process's exit status (128+n). Detached: 0. */
int container_run(const struct container_env *env, const struct container_create_options *opt, int *ret_status,
		  struct error *err);

struct container_exec_options {
	const char *id;
	const char *process_file; /* --process, "-" not special */
	char *const *args; /* command line form: argv, else NULL */
	const char *cwd, *user; /* UID[:GID] */
	char *const *env; size_t n_env; /* -e KEY=VALUE */
	const uint32_t *additional_gids; size_t n_gids;
	char *const *caps; size_t n_caps;
	char *const *cgroups; size_t n_cgroups; /* [controllers:]PATH */
	const char *apparmor, *label; /* --apparmor, --process-label */
	bool tty, detach, no_new_privs, ignore_paused;
	const char *pid_file, *console_socket, *pidfd_socket;
	uint32_t preserve_fds;
};
int container_exec(const struct container_env *env, const struct container_exec_options *opt, int *ret_status,
		   struct error *err);

int container_kill(const struct container_env *env, const char *id, int sig, bool all, struct error *err);
int container_delete(const struct container_env *env, const char *id, bool force, struct error *err);
int container_pause(const struct container_env *env, const char *id, struct error *err);
int container_resume(const struct container_env *env, const char *id, struct error *err);
/* What only becomes less. */
struct container_update_options {
	uint64_t time_limit; /* ns from now on, 0 = leave */
	const char *egress_allow; /* the rules that are left, as in the annotation; "" = none, NULL = leave */
};
int container_update(const struct container_env *env, const char *id, struct spec_resources *res,
		     const struct container_update_options *opt, struct error *err);

/* Folders are relative to the caller's; image_path NULL = "checkpoint". */
struct container_checkpoint_options {
	const char *id, *image_path, *work_path, *parent_path, *page_server, *manage_cgroups;
	bool leave_running, tcp_established, tcp_skip_in_flight, tcp_close, link_remap, ext_unix_sk, shell_job, lazy_pages,
		file_locks, pre_dump, auto_dedup;
	uint32_t status_fd;
	char *const *empty_ns;
	size_t n_empty_ns;
};
/*
 * Saves a container's processes by criu(8), and deletes it unless it shall go on. Only of the profile passthrough: criu
 * can save neither a trace nor the listener of a filter. CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE.
 */
int container_checkpoint(const struct container_env *env, const struct container_checkpoint_options *opt,
			 struct error *err);
struct container_restore_options {
	struct container_create_options create; /* id, bundle, pid_file, console_socket, no_pivot, detach */
	const char *image_path, *work_path, *manage_cgroups, *lsm_profile, *lsm_mount_context;
	bool tcp_established, tcp_close, link_remap, ext_unix_sk, shell_job, file_locks, auto_dedup, lazy_pages;
	char *const *empty_ns;
	size_t n_empty_ns;
};
/*
 * A container from such images; its cgroup and limits are those of the bundle's configuration. *ret_status as
 * container_run().
 */
int container_restore(const struct container_env *env, const struct container_restore_options *opt, int *ret_status,
		      struct error *err);

/* A container as it is now. */
struct container_view {
	struct state_record *record;
	enum container_status status;
	pid_t pid; /* 0 when stopped */
	struct exit_record *exit; /* how it ended; NULL: it has not, or nobody stood by */
	struct exit_record_doc *exit_doc; /* owns what that points to */
};
int container_view_open(const struct container_env *env, const char *id, struct container_view *ret, struct error *err);
void container_view_done(struct container_view *v);
/* Ids with records, sorted; as state_list(). A missing root is an error naming it when it was given explicitly. */
int container_list(const struct container_env *env, char ***ret_ids, size_t *ret_count, struct error *err);
/* All host pids of the container. */
int container_pids(const struct container_env *env, const char *id, pid_t **ret, size_t *ret_count, struct error *err);

/* `events --stats`: the whole record as one line of JSON (malloc'ed). */
int container_stats(const struct container_env *env, const char *id, char **ret_json, struct error *err);
/*
 * `events`: calls fn with one line of JSON per event until the container ends (fn returning non-zero ends too):
 * a stats record every interval_ms, oom records at once.
 */
typedef int (*container_event_fn)(void *arg, const char *json);
int container_events(const struct container_env *env, const char *id, uint64_t interval_ms, container_event_fn fn,
		     void *arg, struct error *err);

/* Facts for `features` that only lower layers know; written into the present object of w. */
struct json_writer;
int container_features_write(struct json_writer *w, struct error *err);

/* The OCI state document of a container (hooks' stdin, `state`); one line or indented. */
int container_state_json(const struct container_view *v, int indent, bool for_hook, char **ret, struct error *err);

/* Names for --cgroup-manager → enum cgroup_manager. */
extern const struct enum_table container_cgroup_manager_table;
/* --rootless=auto: not euid 0, or euid 0 in a user namespace that is not the initial one. */
int container_rootless_detect(bool *ret, struct error *err);

/* What `ps` prints: host ps(1) with args (none: -ef), its rows reduced to the container's processes (malloc'ed). */
int container_ps_table(const struct container_env *env, const char *id, char *const *args, size_t n_args,
		       char **ret_text, struct error *err);

/* `update`: new schemata for the resctrl group made at create; either may be NULL. */
int container_update_rdt(const struct container_env *env, const char *id, const char *l3_cache, const char *mem_bw,
			 struct error *err);

/* The libseccomp in use, as "2.5.4". */
const char *container_seccomp_version(void);

/*
 * Re-executes this program from a read-only mount or a sealed copy of itself, with the
 * same arguments; returns 0 when it already runs from one. For create, run and exec, before
 * anything else: CVE-2019-5736.
 */
int container_self_protect(struct error *err);

/*
 * `doctor`: what this host offers and lacks for the policy that env chooses. *ret_text (malloc'ed): for people
 * or as JSON; *ret_ready: containers under it can start. Reads only; what it may not see is a finding.
 */
int container_doctor(const struct container_env *env, bool json, bool *ret_ready, char **ret_text, struct error *err);

/* `policy check`: what the policy would make of a bundle, without making anything. */
enum container_policy_result { CONTAINER_POLICY_AS_ASKED, CONTAINER_POLICY_CHANGED, CONTAINER_POLICY_REFUSED };
/* *ret_text: malloc'ed, for people or as JSON; also filled for a refusal, which is a result and no error. */
int container_policy_check(const struct container_env *env, const struct container_create_options *opt, bool json,
			   enum container_policy_result *ret_result, char **ret_text, struct error *err);
/* The effective profile (env->profile, else the policy's) as a document, or with where each value comes from. */
int container_policy_show(const struct container_env *env, bool origins, char **ret_text, struct error *err);
/* The policy lines that would have allowed what a container was denied, from its log; it may be deleted by now. */
int container_policy_suggest(const struct container_env *env, const char *id, bool json, char **ret_text, struct error *err);
/* What is in force on a container, how it was verified, and what was changed in the request. */
int container_explain(const struct container_env *env, const char *id, bool json, char **ret_text, struct error *err);

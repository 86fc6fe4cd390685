/*
 * criu(8), which saves processes to files and brings them back: its requests in its own binary
 * form (protobuf, the field numbers of its rpc.proto) and the conversation with `criu swrk`. Knows no container.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/error.h"
#include "util/str.h"

enum criu_request { CRIU_DUMP = 1, CRIU_RESTORE = 2, CRIU_PRE_DUMP = 4, CRIU_NOTIFY = 6 };

/* How cgroups are saved and restored; criu_cg_mode. */
enum criu_cgroups { CRIU_CG_IGNORE = 0, CRIU_CG_SOFT = 3, CRIU_CG_FULL = 4, CRIU_CG_STRICT = 5 };

/* A descriptor of the caller that takes the place of what the images name. */
struct criu_inherit {
	const char *key;
	int fd;
};
struct criu_cgroup_root {
	const char *controllers; /* "" = the v2 hierarchy */
	const char *path;
};

/* Pointers are borrowed; what is 0 or NULL is left out. */
struct criu_options {
	int images_fd, work_fd; /* folders, which the program opens as ours, through /proc */
	pid_t pid;		/* to be saved */
	const char *log_file;	/* in work_fd */
	const char *config_file; /* further options, which win */
	const char *root, *parent_images, *freeze_cgroup, *lsm_profile, *lsm_mount_context;
	bool leave_running, external_sockets, tcp_established, tcp_skip_in_flight, tcp_close, shell_job, file_locks, link_remap,
		auto_dedup, lazy_pages;
	bool track_memory;	  /* so that a later dump can be a difference */
	bool sibling;		  /* restored processes are the caller's children */
	uint32_t empty_namespaces; /* CLONE_NEW* whose content is left to the caller */
	enum criu_cgroups cgroups;
	const char *page_server_address;
	uint16_t page_server_port;
	int status_fd; /* 0 = none */
	const char *const *external;
	size_t n_external;
	const struct criu_inherit *inherit;
	size_t n_inherit;
	const struct criu_cgroup_root *cgroup_roots;
	size_t n_cgroup_roots;
};

struct criu_answer {
	uint64_t type;
	bool success;
	char script[32]; /* of a notification, as "post-restore" */
	pid_t pid;	 /* of a notification or of what was restored; 0 = none */
	int code;	 /* errno of a failure, positive; 0 = not told */
	char message[256];
};

/* Pure. */
void criu_request_write(enum criu_request type, const struct criu_options *o, struct buf *ret);
void criu_notified_write(struct buf *ret);
/* -EBADMSG for what is no answer. */
int criu_answer_read(const void *data, size_t len, struct criu_answer *ret);

/*
 * A step of the program; what it holds waits until this returns. fd: a descriptor that came with it, taken by setting it to
 * -EBADF, else closed. Negative: the request fails.
 */
typedef int (*criu_step_fn)(void *arg, const char *script, pid_t pid, int *fd, struct error *err);
struct criu_run {
	const char *program; /* path, or a name that is looked up in the folders for programs, whatever PATH says */
	const struct criu_options *options;
	/* When the program's process is there, before it is executed: may still change the options. NULL = nothing to do. */
	int (*born)(void *arg, pid_t pid, struct error *err);
	criu_step_fn step;
	void *arg;
};

/*
 * One request; needs CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE. *ret_pid: what was restored, a child of the caller with
 * options->sibling; may be NULL. The error quotes the end of the log.
 */
int criu_run(enum criu_request type, const struct criu_run *run, pid_t *ret_pid, struct error *err);

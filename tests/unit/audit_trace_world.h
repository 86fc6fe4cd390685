/*
 * For the tests of the exec audit: a bpffs in a mount namespace of their own (so that pins
 * and programs vanish with the test), cgroups, children in them, and a collector of records.
 */
#pragma once

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>

#include "audit/audit_trace.h"
#include "audit/audit_trace_reader.h"
#include "tap.h"
#include "util/str.h"

#define WORLD_RECORDS 65536
#define WORLD_CGROUP2_MAGIC 0x63677270

struct world_record {
	enum audit_rec_type type;
	unsigned flags;
	uint64_t seq, mono_ns, start_ns, exec_seq, duration_ns;
	uint32_t host_pid, pid, ppid, host_ppid, uid, gid, nlink, old_tid;
	uint64_t argv_bytes, inode;
	struct audit_status status;
	char *file, *argv, *cwd; /* argv with blanks for NULs */
	size_t argv_len;
	char comm[AUDIT_REC_COMM + 1];
};

/* One bound cgroup. */
struct world_container {
	char path[256];
	int dir;
	struct audit_trace_bound bound;
	struct audit_trace_reader reader;
	struct world_record *records;
	size_t n;
	uint64_t lost_told;
	char lost_detail[128];
};

struct world {
	char bpffs[64];
	char cgroup2[64];
	struct audit_trace_set set;
	struct error err;
};

static inline bool is_cgroup2(const char *path)
{
	struct statfs fs;

	return statfs(path, &fs) == 0 && fs.f_type == WORLD_CGROUP2_MAGIC;
}

/* False (with the reason) where it cannot run at all. */
static inline bool world_begin(struct world *w, const char **ret_why)
{
	const char *mounts[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	size_t i;

	*w = (struct world){ .set = AUDIT_TRACE_SET_NULL };
	if (geteuid() != 0) {
		*ret_why = "needs root";
		return false;
	}
	for (i = 0; i < ELEMENTSOF(mounts); i++)
		if (is_cgroup2(mounts[i]))
			(void)snprintf(w->cgroup2, sizeof(w->cgroup2), "%s", mounts[i]);
	(void)snprintf(w->bpffs, sizeof(w->bpffs), "/tmp/agentrun-trace.XXXXXX");
	if (!w->cgroup2[0] || !mkdtemp(w->bpffs) || unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("bpf", w->bpffs, "bpf", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700") < 0) {
		*ret_why = "needs cgroup v2, a mount namespace and a bpffs";
		(void)rmdir(w->bpffs);
		return false;
	}
	return true;
}

static inline void world_end(struct world *w)
{
	audit_trace_close(&w->set);
	(void)umount2(w->bpffs, MNT_DETACH);
	(void)rmdir(w->bpffs);
}

static inline char *world_copy(struct audit_bytes b)
{
	char *s = calloc(1, b.len + 1);
	size_t i;

	if (!s)
		abort();
	if (b.len)
		memcpy(s, b.data, b.len);
	for (i = 0; i + 1 < b.len; i++)
		if (s[i] == '\0')
			s[i] = ' ';
	return s;
}

static inline int world_collect(void *userdata, const struct audit_event *event,
				const struct audit_trace_record *rec, struct error *err)
{
	struct world_container *c = userdata;
	struct world_record *r;

	if (!rec) {
		c->lost_told += event->lost.count;
		if (event->lost.detail)
			(void)snprintf(c->lost_detail, sizeof(c->lost_detail), "%s",
				       event->lost.detail);
		return 0;
	}
	if (c->n == WORLD_RECORDS)
		return error_text(err, -ENOSPC, "more records than the test expects");
	r = &c->records[c->n++];
	*r = (struct world_record){
		.type = rec->type, .flags = rec->flags, .seq = rec->seq, .mono_ns = rec->mono_ns,
		.start_ns = rec->start_ns, .exec_seq = rec->exec_seq, .duration_ns = rec->duration_ns,
		.host_pid = rec->host_pid, .pid = rec->pid, .ppid = rec->ppid,
		.host_ppid = rec->host_ppid, .uid = rec->uid, .gid = rec->gid, .nlink = rec->exe_nlink,
		.old_tid = rec->old_tid, .argv_bytes = rec->argv_bytes, .inode = rec->exe_inode,
		.status = rec->status, .argv_len = rec->argv.len,
		.file = world_copy(rec->file), .argv = world_copy(rec->argv), .cwd = world_copy(rec->cwd),
	};
	(void)snprintf(r->comm, sizeof(r->comm), "%s", rec->comm_text);
	return 0;
}

/* A cgroup below the mount of the v2 hierarchy, or below another one of ours. */
static inline bool world_cgroup(struct world *w, const char *parent, const char *name,
				struct world_container *ret)
{
	*ret = (struct world_container){ .dir = -EBADF, .bound = AUDIT_TRACE_BOUND_NULL };
	if (parent)
		(void)snprintf(ret->path, sizeof(ret->path), "%s/%s", parent, name);
	else
		(void)snprintf(ret->path, sizeof(ret->path), "%s/agentrun-trace-%d-%s", w->cgroup2,
			       (int)getpid(), name);
	ret->records = calloc(WORLD_RECORDS, sizeof(*ret->records));
	if (!ret->records || mkdir(ret->path, 0755) < 0)
		return false;
	ret->dir = open(ret->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return ret->dir >= 0;
}

static inline int world_bind(struct world *w, struct world_container *c, struct audit_trace_request req)
{
	int r;

	req.cgroup = c->dir;
	r = audit_trace_bind(&w->set, &req, &c->bound, &w->err);
	if (r == 0)
		r = audit_trace_reader_open(&c->reader, c->bound.ring, c->bound.counters,
					    world_collect, c, &w->err);
	return r;
}

/* Also removes the cgroup. */
static inline void world_release(struct world *w, struct world_container *c)
{
	struct error err = ERROR_NULL;

	if (c->reader.fn)
		audit_trace_reader_done(&c->reader, NULL);
	(void)audit_trace_release(&w->set, c->bound.cgroup, c->bound.slot, c->bound.generation, NULL,
				  &err);
	audit_trace_bound_done(&c->bound);
	while (c->n > 0) {
		struct world_record *r = &c->records[--c->n];

		free(r->file);
		free(r->argv);
		free(r->cwd);
	}
	free(c->records);
	cleanup_closep(&c->dir);
	(void)rmdir(c->path);
}

/* Forks a child that enters the cgroup and calls fn; its exit status is fn's result. */
static inline pid_t world_spawn(const struct world_container *c, int (*fn)(void *), void *arg)
{
	pid_t pid = fork();
	int procs;

	if (pid != 0)
		return pid;
	procs = openat(c->dir, "cgroup.procs", O_WRONLY | O_CLOEXEC);
	if (procs < 0 || write(procs, "0", 1) != 1)
		_exit(125);
	(void)close(procs);
	_exit(fn(arg));
}

static inline int world_wait(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

static inline int world_sh(void *script)
{
	(void)execl("/bin/sh", "sh", "-c", (const char *)script, (char *)NULL);
	return 127;
}

/* Runs a shell script in the cgroup and waits for it. */
static inline int world_run(const struct world_container *c, const char *script)
{
	return world_wait(world_spawn(c, world_sh, (void *)(uintptr_t)script));
}

/* The i-th record of that type whose file ends so; NULL = none. */
static inline struct world_record *world_find(const struct world_container *c, enum audit_rec_type type,
					      const char *file, size_t i)
{
	size_t n;

	for (n = 0; n < c->n; n++) {
		struct world_record *r = &c->records[n];
		size_t have = strlen(r->file), want = file ? strlen(file) : 0;

		if (r->type == type && have >= want &&
		    (!file || str_eq(r->file + have - want, file)) && i-- == 0)
			return r;
	}
	return NULL;
}

/* The end of the program that an exec record began. */
static inline struct world_record *world_end_of(const struct world_container *c,
						const struct world_record *exec)
{
	size_t n;

	for (n = 0; n < c->n; n++)
		if (c->records[n].type == AUDIT_REC_EXIT && exec && c->records[n].exec_seq == exec->seq)
			return &c->records[n];
	return NULL;
}

/*
 * For the tests of the exec audit: a bpffs in a mount namespace of their own (so that pins
 * and programs vanish with the test), cgroups, children in them, and a collector of records.
 */
#pragma once

#include <elf.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
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
	char *argv_raw;
	size_t argv_len;
	char comm[AUDIT_REC_COMM + 1];
};

/* One bound cgroup. */
struct world_container {
	char path[384];
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

	if (!s)
		abort();
	if (b.len)
		memcpy(s, b.data, b.len);
	return s;
}

static inline char *world_join(struct audit_bytes b)
{
	char *s = world_copy(b);
	size_t i;

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
		.file = world_copy(rec->file), .argv = world_join(rec->argv), .cwd = world_copy(rec->cwd),
		.argv_raw = world_copy(rec->argv),
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
		(void)snprintf(ret->path, sizeof(ret->path), "%.255s/%.64s", parent, name);
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

static inline void world_forget(struct world_container *c)
{
	while (c->n > 0) {
		struct world_record *r = &c->records[--c->n];

		free(r->file);
		free(r->argv);
		free(r->argv_raw);
		free(r->cwd);
	}
}

/* Prepared, opened, and one container bound; false with the reason printed. */
static inline bool world_ready(struct world *w, uint32_t ready, struct world_container *c,
			       enum audit_ring_class class, bool die)
{
	struct audit_trace_request req = { .class = class, .die = die };
	bool good = audit_trace_prepare(w->bpffs, ready, &w->err) == 0 &&
		    audit_trace_open(w->bpffs, &w->set, &w->err) == 0 &&
		    world_cgroup(w, NULL, "box", c) && world_bind(w, c, req) == 0;

	if (!ok(good, "programs are loaded and a cgroup is bound"))
		printf("# %s\n", w->err.text);
	return good;
}

/* Also removes the cgroup. */
static inline void world_release(struct world *w, struct world_container *c)
{
	struct error err = ERROR_NULL;

	if (c->reader.fn)
		audit_trace_reader_done(&c->reader, NULL);
	if (c->bound.cgroup)
		(void)audit_trace_release(&w->set, c->bound.cgroup, c->bound.slot,
					  c->bound.generation, NULL, &err);
	audit_trace_bound_done(&c->bound);
	if (c->records)
		world_forget(c);
	free(c->records);
	cleanup_closep(&c->dir);
	(void)rmdir(c->path);
}

/* Everything, once no process is left; and then nothing may be unaccounted for. */
static inline int world_drain(struct audit_trace_reader *r, struct error *err)
{
	int code = audit_trace_drain(r, err);

	if (code == 0 && r->totals.received + r->totals.lost != r->counters->seq)
		return error_text(err, -EBADMSG, "%llu records, %llu received and %llu lost",
				  (unsigned long long)r->counters->seq, (unsigned long long)r->totals.received,
				  (unsigned long long)r->totals.lost);
	return code;
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

/* Outside of all our cgroups. */
static inline int world_run_outside(const char *script)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(world_sh((void *)(uintptr_t)script));
	return world_wait(pid);
}

/*
 * Writes the smallest program there is to path: it writes a byte to descriptor 9, first of
 * all, and ends. Returns a file for that descriptor, or -1 where its code is not known.
 */
static inline int world_tiny(char *path, size_t size)
{
#ifdef __x86_64__
	static const unsigned char code[] = {
		0xb8, 1, 0, 0, 0,	   /* write */
		0xbf, 9, 0, 0, 0,	   /* to 9 */
		0x48, 0x89, 0xe6,	   /* from the stack */
		0xba, 1, 0, 0, 0, 0x0f, 5, /* one byte */
		0xb8, 60, 0, 0, 0,	   /* exit */
		0x31, 0xff, 0x0f, 5,	   /* with 0 */
	};
	struct {
		Elf64_Ehdr head;
		Elf64_Phdr segment;
		unsigned char code[sizeof(code)];
	} elf;
	int fd, marks;

	memset(&elf, 0, sizeof(elf));
	memcpy(elf.head.e_ident, ELFMAG, SELFMAG);
	elf.head.e_ident[EI_CLASS] = ELFCLASS64;
	elf.head.e_ident[EI_DATA] = ELFDATA2LSB;
	elf.head.e_ident[EI_VERSION] = EV_CURRENT;
	elf.head.e_type = ET_EXEC;
	elf.head.e_machine = EM_X86_64;
	elf.head.e_version = EV_CURRENT;
	elf.head.e_entry = 0x400000 + sizeof(elf.head) + sizeof(elf.segment);
	elf.head.e_phoff = sizeof(elf.head);
	elf.head.e_ehsize = sizeof(elf.head);
	elf.head.e_phentsize = sizeof(elf.segment);
	elf.head.e_phnum = 1;
	elf.segment = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = 0x400000,
				    .p_filesz = sizeof(elf), .p_memsz = sizeof(elf), .p_align = 4096 };
	memcpy(elf.code, code, sizeof(code));
	(void)snprintf(path, size, "/tmp/agentrun-trace-tiny-%d", (int)getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	if (fd < 0 || write(fd, &elf, sizeof(elf)) != (ssize_t)sizeof(elf))
		return -1;
	(void)close(fd);
	marks = memfd_create("marks", MFD_CLOEXEC);
	/* Appending: the writers do not share a position that they could overwrite. */
	return marks >= 0 && fcntl(marks, F_SETFL, O_APPEND) == 0 ? marks : -1;
#else
	return -1;
#endif
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

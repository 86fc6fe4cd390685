/*
 * Owns the reading of records. The kernel wrote them, but their texts are the container's:
 * any bytes, and nothing here trusts a length that it has not compared.
 */
#include "audit/audit_trace_decode.h"

#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>

#define STATUS_SIGNAL(status) ((int32_t)((status) & 0x7f))
#define STATUS_CODE(status) ((int32_t)((status) >> 8 & 0xff))
#define CWD_MISSING "..."

static void decode_head(const struct audit_rec *head, struct audit_trace_record *r)
{
	r->type = (enum audit_rec_type)head->type;
	r->flags = head->flags;
	r->seq = head->seq;
	r->mono_ns = head->mono_ns;
	r->start_ns = head->start_ns;
	r->cgroup = head->cgroup;
	r->generation = head->generation;
	r->host_pid = head->host_pid;
	r->pid = head->pid;
	r->uid = head->uid;
	r->gid = head->gid;
	memcpy(r->comm_text, head->comm, sizeof(head->comm));
	r->comm_text[sizeof(head->comm)] = '\0';
	r->comm = AUDIT_BYTES(r->comm_text);
}

/* "c\0b\0a\0" becomes "/a/b/c". The names come innermost first and each ends in NUL. */
static void decode_cwd(const char *names, size_t len, unsigned flags, struct audit_trace_record *r)
{
	size_t end = len, begin, at = 0, n;

	if (flags & AUDIT_REC_CWD_CUT) {
		memcpy(r->cwd_text, CWD_MISSING, strlen(CWD_MISSING));
		at = strlen(CWD_MISSING);
	}
	while (end > 0) {
		for (begin = end - 1; begin > 0 && names[begin - 1] != '\0'; begin--)
			;
		n = strnlen(names + begin, end - begin);
		r->cwd_text[at++] = '/';
		memcpy(r->cwd_text + at, names + begin, n);
		at += n;
		end = begin;
	}
	if (at == 0)
		r->cwd_text[at++] = '/';
	r->cwd_text[at] = '\0';
	r->cwd = (struct audit_bytes){ r->cwd_text, at };
}

static int decode_exec(const struct audit_rec_exec *e, size_t len, struct audit_trace_record *r)
{
	const char *text = (const char *)(e + 1);

	if (len < sizeof(*e) || e->file_len >= AUDIT_REC_PATH_MAX || e->names_len > AUDIT_REC_PATH_MAX ||
	    e->argv_len > AUDIT_REC_ARGV_MAX ||
	    len != sizeof(*e) + (size_t)e->file_len + e->names_len + e->argv_len)
		return -EBADMSG;
	r->file = (struct audit_bytes){ text, e->file_len };
	decode_cwd(text + e->file_len, e->names_len, e->head.flags, r);
	r->argv = (struct audit_bytes){ text + e->file_len + e->names_len, e->argv_len };
	r->argv_bytes = e->argv_bytes;
	r->env_bytes = e->env_bytes;
	r->exe_inode = e->exe_inode;
	r->exe_dev = makedev(e->exe_dev >> 20, e->exe_dev & 0xfffff);
	r->exe_nlink = e->exe_nlink;
	r->host_ppid = e->host_ppid;
	r->ppid = e->ppid;
	r->old_tid = e->old_tid;
	r->euid = e->euid;
	r->egid = e->egid;
	return 0;
}

static int decode_exit(const struct audit_rec_exit *e, size_t len, struct audit_trace_record *r)
{
	if (len != sizeof(*e))
		return -EBADMSG;
	r->exec_seq = e->exec_seq;
	r->duration_ns = e->duration_ns;
	r->status.signal = STATUS_SIGNAL(e->status);
	r->status.code = r->status.signal ? -1 : STATUS_CODE(e->status);
	return 0;
}

int audit_trace_decode(const void *data, size_t len, struct audit_trace_record *ret)
{
	const struct audit_rec *head = data;

	if (len < sizeof(*head))
		return -EBADMSG;
	/* Not the whole of it: most of its texts are short, and this runs for every exec. */
	memset(ret, 0, offsetof(struct audit_trace_record, comm_text));
	decode_head(head, ret);
	switch (head->type) {
	case AUDIT_REC_EXEC:
		return decode_exec(data, len, ret);
	case AUDIT_REC_EXIT:
		return decode_exit(data, len, ret);
	default:
		return -EBADMSG;
	}
}

static unsigned exec_flags(unsigned flags)
{
	unsigned result = 0;

	if (flags & AUDIT_REC_SCRIPT)
		result |= AUDIT_EXEC_SCRIPT;
	if (flags & (AUDIT_REC_UNLINKED | AUDIT_REC_MEMFD))
		result |= AUDIT_EXEC_UNLINKED;
	if (flags & AUDIT_REC_ARGV_CUT)
		result |= AUDIT_EXEC_TRUNCATED;
	if (flags & AUDIT_REC_ARGV_UNREAD)
		result |= AUDIT_EXEC_UNREADABLE;
	return result;
}

void audit_trace_event(const struct audit_trace_record *rec, struct audit_event *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->process = -1;
	ret->mono_ns = rec->mono_ns;
	if (rec->type == AUDIT_REC_EXIT) {
		ret->type = AUDIT_EXEC_EXIT;
		ret->exec_exit = (struct audit_exec_exit){
			.pid = rec->pid,
			.host_pid = rec->host_pid,
			.start_ns = rec->start_ns,
			.status = rec->status,
			.duration_ns = rec->duration_ns,
		};
		return;
	}
	ret->type = AUDIT_EXEC;
	ret->exec = (struct audit_exec){
		.file = rec->file,
		.argv = rec->argv,
		.cwd = rec->cwd,
		.comm = rec->comm,
		.argv_bytes = rec->argv_bytes,
		.env_bytes = rec->env_bytes,
		.pid = rec->pid,
		.host_pid = rec->host_pid,
		.host_ppid = rec->host_ppid,
		.start_ns = rec->start_ns,
		.uid = rec->uid,
		.gid = rec->gid,
		.exe_dev = rec->exe_dev,
		.exe_inode = rec->exe_inode,
		.flags = exec_flags(rec->flags),
	};
}

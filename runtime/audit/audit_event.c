/*
 * Owns the members of each type of record: a table of fields for each, and one walker.
 * A member that is absent, zero where zero says nothing, or false is left out.
 */
#include "audit/audit_event.h"

#include <assert.h>
#include <string.h>

#include "audit/audit_line.h"

#define DECISION_TEXT_MAX 1024

static const struct enum_entry type_entries[] = {
	{ "create", AUDIT_CREATE, "a container was made, with the decisions of the policy" },
	{ "start", AUDIT_START, "a process was let go" },
	{ "operation", AUDIT_OPERATION, "pause, resume, kill, update and others" },
	{ "exit", AUDIT_EXIT, "its first process ended" },
	{ "delete", AUDIT_DELETE, "the container was removed" },
	{ "process", AUDIT_PROCESS, "exec added a process" },
	{ "process-exit", AUDIT_PROCESS_EXIT, "such a process ended" },
	{ "exec", AUDIT_EXEC, "a program was executed" },
	{ "exec-exit", AUDIT_EXEC_EXIT, "the process of such a program ended" },
	{ "output", AUDIT_OUTPUT, "what a process wrote" },
	{ "output-end", AUDIT_OUTPUT_END, "the end of a stream, with its totals" },
	{ "window", AUDIT_WINDOW, "a terminal got another size" },
	{ "name", AUDIT_EGRESS_NAME, "a name was resolved" },
	{ "egress-denied", AUDIT_EGRESS_DENIED, "something was kept from the network" },
	{ "call-denied", AUDIT_CALL_DENIED, "a system call was denied" },
	{ "limit", AUDIT_LIMIT, "a limit was hit" },
	{ "deadline", AUDIT_DEADLINE, "the time was over" },
	{ "monitor-lost", AUDIT_MONITOR_LOST, "the monitor ended before the container" },
	{ "warning", AUDIT_WARNING, "a program beside the container could not do something" },
	{ "lost", AUDIT_LOST, "a source lost events" },
	{ "session", AUDIT_SESSION, "snapshot, rollback, commit" },
	{ "open", AUDIT_OPEN, "the log begins" },
	{ "gap", AUDIT_GAP, "records that could not be written" },
	{ "part-end", AUDIT_PART_END, "the log goes on in another file" },
	{ "part", AUDIT_PART, "the log goes on in this file" },
	{ "close", AUDIT_CLOSE, "the log ends" },
};
const struct enum_table audit_type_table = ENUM_TABLE("type", type_entries);
_Static_assert(ELEMENTSOF(type_entries) == AUDIT_TYPES, "every type has a name");

static const struct enum_entry stream_entries[] = {
	{ "stdin", AUDIT_STDIN, NULL },
	{ "stdout", AUDIT_STDOUT, NULL },
	{ "stderr", AUDIT_STDERR, NULL },
	{ "terminal", AUDIT_TERMINAL, NULL },
};
const struct enum_table audit_stream_table = ENUM_TABLE("stream", stream_entries);

enum field_kind {
	FIELD_STRING, /* [const char *] */
	FIELD_BYTES,  /* [struct audit_bytes] */
	FIELD_ARGV,   /* [struct audit_bytes] */
	FIELD_U16,
	FIELD_U32,
	FIELD_U64, /* left out when 0 */
	FIELD_I32,
	FIELD_I64,
	FIELD_ID, /* [uint32_t], 0 says something */
	FIELD_BOOL,
	FIELD_STATUS, /* [struct audit_status] */
	FIELD_FLAGS,  /* [unsigned], enum audit_exec_flags */
};

struct field {
	const char *name;
	enum field_kind kind;
	size_t offset; /* in struct audit_event */
};

#define F(name_, kind_, member_) { name_, FIELD_##kind_, offsetof(struct audit_event, member_) }
#define END	{ NULL, FIELD_STRING, 0 }

static const struct field create_fields[] = {
	F("version", STRING, create.version), F("owner", STRING, create.owner),
	F("bundle", STRING, create.bundle), F("rootfs", STRING, create.rootfs),
	F("profile", STRING, create.profile), F("policyFile", STRING, create.policy_file),
	F("policyHash", STRING, create.policy_hash), F("argv", ARGV, create.argv),
	F("uid", ID, create.uid), F("gid", ID, create.gid), END,
};
static const struct field start_fields[] = { F("pid", I64, start.pid), END };
static const struct field operation_fields[] = {
	F("name", STRING, operation.name), F("signal", I32, operation.signal),
	F("detail", STRING, operation.detail), END,
};
static const struct field exit_fields[] = {
	F("status", STATUS, exit.status), F("reason", STRING, exit.reason),
	F("duration", U64, exit.duration_ns), F("memoryPeak", U64, exit.memory_peak),
	F("pidsPeak", U64, exit.pids_peak), F("cpu", U64, exit.cpu_ns), END,
};
static const struct field delete_fields[] = { F("forced", BOOL, delete.forced), END };
static const struct field process_fields[] = {
	F("argv", ARGV, added.argv), F("cwd", BYTES, added.cwd), F("uid", ID, added.uid),
	F("gid", ID, added.gid), F("hostPid", I64, added.host_pid),
	F("terminal", BOOL, added.terminal), F("detached", BOOL, added.detached), END,
};
static const struct field process_exit_fields[] = {
	F("status", STATUS, process_exit.status), F("reason", STRING, process_exit.reason),
	F("duration", U64, process_exit.duration_ns), END,
};
static const struct field exec_fields[] = {
	F("pid", I64, exec.pid), F("hostPid", I64, exec.host_pid),
	F("hostParent", I64, exec.host_ppid), F("start", U64, exec.start_ns),
	F("uid", ID, exec.uid), F("gid", ID, exec.gid), F("file", BYTES, exec.file),
	F("argv", ARGV, exec.argv), F("cwd", BYTES, exec.cwd), F("comm", BYTES, exec.comm),
	F("exeDevice", U64, exec.exe_dev), F("exeInode", U64, exec.exe_inode),
	F("envBytes", U64, exec.env_bytes), F("argvBytes", U64, exec.argv_bytes),
	F("flags", FLAGS, exec.flags), END,
};
static const struct field exec_exit_fields[] = {
	F("pid", I64, exec_exit.pid), F("hostPid", I64, exec_exit.host_pid),
	F("start", U64, exec_exit.start_ns), F("status", STATUS, exec_exit.status),
	F("duration", U64, exec_exit.duration_ns), END,
};
static const struct field window_fields[] = {
	F("rows", U16, window.rows), F("columns", U16, window.columns), END,
};
static const struct field name_fields[] = {
	F("name", BYTES, egress_name.name), F("rule", STRING, egress_name.rule),
	F("addresses", STRING, egress_name.addresses), F("ttl", U32, egress_name.ttl), END,
};
static const struct field egress_denied_fields[] = {
	F("what", STRING, egress_denied.what), F("name", BYTES, egress_denied.name),
	F("comm", BYTES, egress_denied.comm),
	F("address", STRING, egress_denied.address), F("port", U16, egress_denied.port),
	F("protocol", STRING, egress_denied.protocol), F("reason", STRING, egress_denied.reason),
	F("suppressed", U64, egress_denied.suppressed), END,
};
static const struct field call_denied_fields[] = {
	F("call", STRING, call_denied.call), F("detail", STRING, call_denied.detail),
	F("error", STRING, call_denied.error), F("rule", STRING, call_denied.rule),
	F("reason", STRING, call_denied.reason), F("allowedBy", STRING, call_denied.allowed_by),
	F("hostPid", I64, call_denied.host_pid), F("comm", BYTES, call_denied.comm),
	F("suppressed", U64, call_denied.suppressed), END,
};
static const struct field limit_fields[] = {
	F("what", STRING, limit.what), F("limit", U64, limit.limit), F("count", U64, limit.count),
	F("detail", STRING, limit.detail), END,
};
static const struct field deadline_fields[] = {
	F("what", STRING, deadline.what), F("limit", U64, deadline.limit_ns),
	F("step", STRING, deadline.step), END,
};
static const struct field detail_fields[] = { F("detail", STRING, detail), END };
static const struct field lost_fields[] = {
	F("source", STRING, lost.source), F("count", U64, lost.count),
	F("detail", STRING, lost.detail), END,
};
static const struct field session_fields[] = {
	F("name", STRING, session.name), F("snapshot", STRING, session.snapshot),
	F("path", STRING, session.path), F("files", U64, session.files),
	F("bytes", U64, session.bytes), END,
};

static const struct field *const fields_of[AUDIT_TYPES] = {
	[AUDIT_CREATE] = create_fields,
	[AUDIT_START] = start_fields,
	[AUDIT_OPERATION] = operation_fields,
	[AUDIT_EXIT] = exit_fields,
	[AUDIT_DELETE] = delete_fields,
	[AUDIT_PROCESS] = process_fields,
	[AUDIT_PROCESS_EXIT] = process_exit_fields,
	[AUDIT_EXEC] = exec_fields,
	[AUDIT_EXEC_EXIT] = exec_exit_fields,
	[AUDIT_WINDOW] = window_fields,
	[AUDIT_EGRESS_NAME] = name_fields,
	[AUDIT_EGRESS_DENIED] = egress_denied_fields,
	[AUDIT_CALL_DENIED] = call_denied_fields,
	[AUDIT_LIMIT] = limit_fields,
	[AUDIT_DEADLINE] = deadline_fields,
	[AUDIT_MONITOR_LOST] = detail_fields,
	[AUDIT_WARNING] = detail_fields,
	[AUDIT_LOST] = lost_fields,
	[AUDIT_SESSION] = session_fields,
};

static void put_number(struct buf *b, const struct field *f, const void *v)
{
	uint64_t u = f->kind == FIELD_U16 ? *(const uint16_t *)v :
		     f->kind == FIELD_U32 ? *(const uint32_t *)v :
					    *(const uint64_t *)v;

	if (u)
		audit_line_u64(b, f->name, u);
}

static void put_signed(struct buf *b, const struct field *f, const void *v)
{
	int64_t i = f->kind == FIELD_I32 ? *(const int32_t *)v : *(const int64_t *)v;

	if (i)
		audit_line_i64(b, f->name, i);
}

static void put_argv(struct buf *b, const struct field *f, const struct audit_bytes *v)
{
	if (v->data && !audit_line_packed(b, f->name, *v, AUDIT_ARGV_MAX))
		audit_line_true(b, "argvCut");
}

static void put_status(struct buf *b, const struct audit_status *v)
{
	if (v->signal)
		audit_line_i64(b, "signal", v->signal);
	else if (v->code >= 0)
		audit_line_i64(b, "code", v->code);
}

static void put_flags(struct buf *b, unsigned flags)
{
	if (flags & AUDIT_EXEC_SCRIPT)
		audit_line_true(b, "script");
	if (flags & AUDIT_EXEC_UNLINKED)
		audit_line_true(b, "unlinked");
	if (flags & AUDIT_EXEC_TRUNCATED)
		audit_line_true(b, "truncated");
	if (flags & AUDIT_EXEC_UNREADABLE)
		audit_line_true(b, "unreadable");
}

static void put_text(struct buf *b, const struct field *f, const void *v)
{
	struct audit_bytes t = f->kind == FIELD_STRING ? AUDIT_BYTES(*(const char *const *)v) :
							 *(const struct audit_bytes *)v;

	if (t.data)
		audit_line_bytes(b, f->name, t, AUDIT_TEXT_MAX);
}

static void put_field(struct buf *b, const struct field *f, const void *v)
{
	switch (f->kind) {
	case FIELD_STRING:
	case FIELD_BYTES:
		put_text(b, f, v);
		break;
	case FIELD_ARGV:
		put_argv(b, f, v);
		break;
	case FIELD_U16:
	case FIELD_U32:
	case FIELD_U64:
		put_number(b, f, v);
		break;
	case FIELD_I32:
	case FIELD_I64:
		put_signed(b, f, v);
		break;
	case FIELD_ID:
		audit_line_u64(b, f->name, *(const uint32_t *)v);
		break;
	case FIELD_BOOL:
		if (*(const bool *)v)
			audit_line_true(b, f->name);
		break;
	case FIELD_STATUS:
		put_status(b, v);
		break;
	case FIELD_FLAGS:
		put_flags(b, *(const unsigned *)v);
		break;
	}
}

static void put_decision(struct buf *b, const struct audit_decision *d)
{
	const struct { const char *key, *value; } members[] = {
		{ "control", d->control }, { "action", d->action }, { "asked", d->asked },
		{ "given", d->given },	   { "rule", d->rule },
	};
	size_t i;

	audit_line_open(b, NULL, '{');
	for (i = 0; i < ELEMENTSOF(members); i++)
		if (members[i].value)
			audit_line_bytes(b, members[i].key, AUDIT_BYTES(members[i].value),
					 DECISION_TEXT_MAX);
	audit_line_shut(b, '}');
}

/* The lists of create: as many as leave the record below its limit. */
static void put_lists(struct buf *b, size_t start, const struct audit_create *c)
{
	size_t room = AUDIT_RECORD_MAX - 8 * AUDIT_TEXT_MAX, i;

	audit_line_open(b, "decisions", '[');
	for (i = 0; i < c->n_decisions && b->len - start < room; i++)
		put_decision(b, &c->decisions[i]);
	audit_line_shut(b, ']');
	if (i < c->n_decisions)
		audit_line_u64(b, "decisionsLeftOut", c->n_decisions - i);
	if (!c->n_scrubbed)
		return;
	audit_line_open(b, "scrubbed", '[');
	for (i = 0; i < c->n_scrubbed && b->len - start < room; i++)
		audit_line_bytes(b, NULL, AUDIT_BYTES(c->scrubbed[i]), 256);
	audit_line_shut(b, ']');
	if (i < c->n_scrubbed)
		audit_line_u64(b, "scrubbedLeftOut", c->n_scrubbed - i);
}

void audit_event_members(struct buf *b, const struct audit_event *e)
{
	const struct field *f;
	size_t start = b->len;

	assert(e->type < AUDIT_TYPES && fields_of[e->type]);
	for (f = fields_of[e->type]; f->name; f++)
		put_field(b, f, (const char *)e + f->offset);
	if (e->type == AUDIT_CREATE)
		put_lists(b, start, &e->create);
}

struct audit_bytes *audit_event_argv(struct audit_event *e)
{
	switch (e->type) {
	case AUDIT_CREATE:
		return &e->create.argv;
	case AUDIT_PROCESS:
		return &e->added.argv;
	case AUDIT_EXEC:
		return &e->exec.argv;
	default:
		return NULL;
	}
}

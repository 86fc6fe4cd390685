/*
 * Records as bytes: what is taken, what is refused, and how it reads in the log.
 */
#include <errno.h>
#include <sys/sysmacros.h>

#include "audit/audit_trace_decode.h"
#include "tap.h"
#include "util/cleanup.h"
#include "util/str.h"

static struct {
	struct audit_rec_exec head;
	char text[AUDIT_REC_MAX];
} bytes;
static struct audit_trace_record rec;

static size_t exec_bytes(const char *file, const char *names, size_t names_len, const char *argv, size_t argv_len)
{
	char *at = bytes.text;

	memset(&bytes, 0, sizeof(bytes));
	bytes.head.head.type = AUDIT_REC_EXEC;
	bytes.head.file_len = (uint32_t)strlen(file);
	bytes.head.names_len = (uint32_t)names_len;
	bytes.head.argv_len = (uint32_t)argv_len;
	memcpy(at, file, strlen(file));
	at += strlen(file);
	memcpy(at, names, names_len);
	at += names_len;
	memcpy(at, argv, argv_len);
	return (size_t)(at + argv_len - (char *)&bytes);
}

static const char *cwd_of(const char *names, size_t len, unsigned flags)
{
	size_t n = exec_bytes("f", names, len, "", 0);

	bytes.head.head.flags = flags;
	return audit_trace_decode(&bytes, n, &rec) == 0 ? rec.cwd_text : NULL;
}

static void test_exec(void)
{
	static const char names[] = "src\0work", argv[] = "make\0-j\0all";
	struct audit_event e;
	size_t n = exec_bytes("/usr/bin/make", names, sizeof(names), argv, sizeof(argv));

	bytes.head.head.flags = AUDIT_REC_SCRIPT | AUDIT_REC_MEMFD | AUDIT_REC_ARGV_CUT;
	bytes.head.head.mono_ns = 11;
	bytes.head.head.start_ns = 12;
	bytes.head.head.host_pid = 13;
	bytes.head.head.pid = 14;
	bytes.head.head.uid = 15;
	bytes.head.head.gid = 16;
	memset(bytes.head.head.comm, 'c', AUDIT_REC_COMM);
	bytes.head.host_ppid = 17;
	bytes.head.argv_bytes = 18;
	bytes.head.env_bytes = 19;
	bytes.head.exe_inode = 20;
	bytes.head.exe_dev = 8u << 20 | 3;
	is_int(audit_trace_decode(&bytes, n, &rec), 0, "an exec");
	audit_trace_event(&rec, &e);
	is_int(e.type, AUDIT_EXEC, "its event");
	is_int((long long)e.mono_ns, 11, "time");
	is_int((long long)e.exec.start_ns, 12, "start");
	is_int(e.exec.host_pid, 13, "host pid");
	is_int(e.exec.pid, 14, "pid");
	is_int(e.exec.uid, 15, "uid");
	is_int(e.exec.gid, 16, "gid");
	is_int(e.exec.host_ppid, 17, "parent");
	is_int((long long)e.exec.argv_bytes, 18, "argv's length");
	is_int((long long)e.exec.env_bytes, 19, "environment's length");
	is_int((long long)e.exec.exe_inode, 20, "inode");
	is_int((long long)e.exec.exe_dev, (long long)makedev(8, 3), "device as stat(2) has it");
	is_int(e.exec.flags, AUDIT_EXEC_SCRIPT | AUDIT_EXEC_UNLINKED | AUDIT_EXEC_TRUNCATED, "flags");
	is_int((long long)e.exec.file.len, 13, "file");
	is_int(memcmp(e.exec.file.data, "/usr/bin/make", 13), 0, "its text");
	is_int((long long)e.exec.argv.len, sizeof(argv), "argv");
	is_int(memcmp(e.exec.argv.data, argv, sizeof(argv)), 0, "its bytes");
	is_str(e.exec.cwd.data, "/work/src", "working directory");
	is_str(e.exec.comm.data, "cccccccccccccccc", "a comm of full length");
}

static void test_cwd(void)
{
	char names[AUDIT_REC_PATH_MAX];
	size_t i;

	is_str(cwd_of("", 0, 0), "/", "the root");
	is_str(cwd_of("a", 2, 0), "/a", "one name");
	is_str(cwd_of("c\0b\0a", 6, 0), "/a/b/c", "three, innermost first");
	is_str(cwd_of("c\0b", 4, AUDIT_REC_CWD_CUT), ".../b/c", "without the first ones");
	is_str(cwd_of("", 0, AUDIT_REC_CWD_CUT), "...", "without any");
	is_str(cwd_of("c\0b", 3, 0), "/b/c", "no NUL at the end");
	is_str(cwd_of("\0\0a", 4, 0), "/a//", "empty names");
	for (i = 0; i < sizeof(names); i++)
		names[i] = i % 2 ? '\0' : 'x';
	is_int((long long)strlen(cwd_of(names, sizeof(names), AUDIT_REC_CWD_CUT)), AUDIT_REC_PATH_MAX + 3,
	       "as many as there can be");
	memset(names, 'y', sizeof(names));
	is_int((long long)strlen(cwd_of(names, sizeof(names), AUDIT_REC_CWD_CUT)), AUDIT_REC_PATH_MAX + 4,
	       "one that is as long as all");
}

static void test_exit(void)
{
	struct audit_rec_exit x = { .head = { .type = AUDIT_REC_EXIT, .host_pid = 5, .pid = 6 },
				    .exec_seq = 7, .duration_ns = 8, .status = 42 << 8 };
	struct audit_event e;

	is_int(audit_trace_decode(&x, sizeof(x), &rec), 0, "an end");
	audit_trace_event(&rec, &e);
	is_int(e.type, AUDIT_EXEC_EXIT, "its event");
	is_int(e.exec_exit.host_pid, 5, "host pid");
	is_int(e.exec_exit.pid, 6, "pid");
	is_int((long long)e.exec_exit.duration_ns, 8, "duration");
	is_int(e.exec_exit.status.code, 42, "code");
	is_int(e.exec_exit.status.signal, 0, "no signal");
	x.status = 11 | 0x80;
	(void)audit_trace_decode(&x, sizeof(x), &rec);
	is_int(rec.status.signal, 11, "a signal that dumped core");
	is_int(rec.status.code, -1, "and no code");
	is_int(audit_trace_decode(&x, sizeof(x) - 1, &rec), -EBADMSG, "too short");
	is_int(audit_trace_decode(&x, sizeof(x) + 1, &rec), -EBADMSG, "too long");
	x.head.type = 3;
	is_int(audit_trace_decode(&x, sizeof(x), &rec), -EBADMSG, "of no known type");
}

static void test_refused(void)
{
	size_t n = exec_bytes("/f", "a", 2, "x", 2), i, bad = 0;

	is_int(audit_trace_decode(&bytes, n, &rec), 0, "a small one");
	for (i = 0; i < n; i++)
		bad += audit_trace_decode(&bytes, i, &rec) != -EBADMSG;
	is_int((long long)bad, 0, "none of its beginnings");
	is_int(audit_trace_decode(&bytes, n + 1, &rec), -EBADMSG, "nor more");
	bytes.head.file_len++;
	is_int(audit_trace_decode(&bytes, n, &rec), -EBADMSG, "lengths that add up to more");
	bytes.head.names_len--;
	is_int(audit_trace_decode(&bytes, n, &rec), 0, "and to as much");
	bytes.head.file_len = UINT32_MAX;
	bytes.head.names_len = 6;
	is_int(audit_trace_decode(&bytes, n, &rec), -EBADMSG, "that overflow");
}

int main(void)
{
	TAP_BEGIN();
	test_exec();
	test_cwd();
	test_exit();
	test_refused();
	return TAP_END();
}

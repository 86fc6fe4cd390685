/*
 * Writes a log with the real sink, for the tests of `agentrun audit`: audit_writer DIR SCENE.
 * Prints the name of the log. Scenes are below; "hold" keeps the log open until its input
 * ends.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "audit/audit.h"
#include "audit/audit_store.h"

static struct error err;
static struct audit_sink *sink;
static char name[AUDIT_NAME_SIZE];
static int dirfd_of_logs;
static uint32_t part = 1;

static void check(int r, const char *what)
{
	if (r == 0)
		return;
	fprintf(stderr, "%s: %d: %s\n", what, r, err.text);
	exit(3);
}

static void emit(const struct audit_event *e)
{
	int fd;

	check(audit_sink_emit(sink, e, &err), "emit");
	check(audit_sink_flush(sink, false, &err), "flush");
	if (!audit_sink_wants_part(sink))
		return;
	check(audit_store_next(dirfd_of_logs, name, ++part, &fd, &err), "next part");
	check(audit_sink_part(sink, fd, &err), "part");
}

static void say(int32_t process, enum audit_stream stream, const char *text, size_t len, uint64_t cap)
{
	struct audit_output *o;

	check(audit_output_open(sink, process, stream, cap, &o, &err), "output");
	check(audit_output_add(o, text, len, &err), "add");
	check(audit_output_close(o, "eof", &err), "close output");
}

static void exec(int32_t process, int64_t pid, const char *argv, size_t len, int code, int signal)
{
	struct audit_event e = { .type = AUDIT_EXEC, .process = process };

	e.exec = (struct audit_exec){ .file = AUDIT_BYTES("/bin/x"), .argv = { argv, len },
				      .cwd = AUDIT_BYTES("/work"), .comm = AUDIT_BYTES("x"), .pid = pid,
				      .host_pid = 1000 + pid, .start_ns = 5000u + (uint64_t)pid, .uid = 1000, .gid = 1000 };
	emit(&e);
	if (code < 0 && !signal)
		return;
	e.type = AUDIT_EXEC_EXIT;
	e.exec_exit = (struct audit_exec_exit){ .pid = pid, .host_pid = 1000 + pid, .start_ns = 5000u + (uint64_t)pid,
						.status = { code, signal }, .duration_ns = 1204000000 };
	emit(&e);
}

#define ARGV(s_) s_, sizeof(s_)

static void begin(void)
{
	struct audit_decision decision = { "memory", "clamped", "8GiB", "2GiB", "resources.memory" };
	struct audit_event e = { .type = AUDIT_CREATE, .process = -1 };

	e.create = (struct audit_create){ .bundle = "/bundle", .profile = "default", .argv = { ARGV("sh") },
					  .policy_file = "/etc/agentrun/policy.json", .uid = 1000, .gid = 1000,
					  .decisions = &decision, .n_decisions = 1 };
	emit(&e);
	e = (struct audit_event){ .type = AUDIT_START, .process = -1, .start = { 1001 } };
	emit(&e);
}

static void finish(int code)
{
	struct audit_event e = { .type = AUDIT_EXIT, .process = 0 };
	struct audit_head head;
	int index = open(getenv("INDEX_DIR") ? getenv("INDEX_DIR") : "/nowhere", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	e.exit = (struct audit_exit){ { code, 0 }, "exited", 61000000000, 1 << 20, 7, 1500000 };
	emit(&e);
	check(audit_sink_close(sink, &head, &err), "close");
	check(audit_index_write(dirfd_of_logs, index, name, &head, true, &err), "index");
}

static void scene_session(void)
{
	static const char text[] = "one\ntwo\n", hostile[] = "a\x1b]0;title\x07" "b\x1b[31mred\x1b[0m\r\nc\x9b" "6n\n";
	struct audit_event e = { .type = AUDIT_PROCESS, .process = 1 };

	begin();
	exec(0, 1, ARGV("sh"), -1, 0);
	exec(0, 2, ARGV("make\0-j2\0all the\0it's"), 0, 0);
	exec(0, 3, ARGV("false"), 1, 0);
	exec(0, 4, ARGV("sleep\0" "100"), -1, 9);
	exec(0, 5, ARGV("curl\0--token\0hunter2secret"), 0, 0);
	exec(0, 6, ARGV("evil\0\x1b]0;owned\x07\0\xff\xfe\0line\nbreak"), 0, 0);
	say(0, AUDIT_STDOUT, text, strlen(text), 1000);
	say(0, AUDIT_STDERR, hostile, sizeof(hostile) - 1, 1000);
	e.added = (struct audit_process){ .argv = { ARGV("pytest\0-q") }, .cwd = AUDIT_BYTES("/src"), .host_pid = 1107 };
	emit(&e);
	exec(1, 107, ARGV("pytest\0-q"), 1, 0);
	say(1, AUDIT_STDOUT, "1 failed\n", 9, 1000);
	e = (struct audit_event){ .type = AUDIT_PROCESS_EXIT, .process = 1 };
	e.process_exit = (struct audit_process_exit){ { 1, 0 }, 2500000000, "exited" };
	emit(&e);
	e = (struct audit_event){ .type = AUDIT_EGRESS_DENIED, .process = -1 };
	e.egress_denied = (struct audit_egress_denied){ .what = "connect", .address = "10.0.0.1", .port = 5432,
							.protocol = "tcp", .reason = "unlisted", .suppressed = 41 };
	emit(&e);
	e = (struct audit_event){ .type = AUDIT_CALL_DENIED, .process = -1 };
	e.call_denied = (struct audit_call_denied){ .call = "mount", .comm = AUDIT_BYTES("x\x1b[2J") };
	emit(&e);
	finish(0);
}

static void scene_terminal(void)
{
	static const char *const pieces[] = { "$ ls\r\n", "\x1b[1mdir\x1b[0m\r\n", "\x1b]52;c;ZXZpbA==\x07$ ", "\x1b[6nexit\r\n" };
	struct timespec step = { .tv_nsec = 150000000 };
	struct audit_event e = { .type = AUDIT_WINDOW, .process = 0, .window = { 24, 80 } };
	struct audit_output *o;
	size_t i;

	begin();
	emit(&e);
	check(audit_output_open(sink, 0, AUDIT_TERMINAL, 4096, &o, &err), "output");
	for (i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
		check(audit_output_add(o, pieces[i], strlen(pieces[i]), &err), "add");
		check(audit_output_flush(o, &err), "flush");
		(void)nanosleep(&step, NULL);
	}
	check(audit_output_close(o, "eof", &err), "close output");
	finish(0);
}

/* Many programs, over many parts when AUDIT_PART is small. */
static void scene_many(void)
{
	char argv[64];
	int i;

	begin();
	for (i = 1; i <= 300; i++) {
		snprintf(argv, sizeof(argv), "command-%d", i);
		exec(0, i, argv, strlen(argv) + 1, i % 3, 0);
	}
	finish(7);
}

/* Until the disk is full, and on to the end all the same. */
static void scene_fill(void)
{
	struct audit_event e = { .type = AUDIT_EXEC, .process = 0 };
	int i, r = 0;

	e.exec.argv = (struct audit_bytes){ ARGV("a-command-of-some-length\0with\0arguments") };
	for (i = 0; i < 20000 && r == 0; i++) {
		r = audit_sink_emit(sink, &e, &err);
		if (r == 0 && i % 50 == 0)
			r = audit_sink_flush(sink, false, &err);
	}
	printf("%d %d %llu\n", r, i, (unsigned long long)audit_sink_missing(sink));
	if (r)
		fprintf(stderr, "%s\n", err.text);
	fflush(stdout);
	(void)!read(STDIN_FILENO, &(char){ 0 }, 1); /* the caller makes room */
	r = audit_sink_close(sink, NULL, &err);
	printf("%d\n", r);
}

static void scene_hold(void)
{
	char line[256];

	begin();
	exec(0, 1, ARGV("first"), 0, 0);
	printf("%s\n", name);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		exec(0, 2, line, strlen(line) + 1, 0, 0);
	}
	finish(0);
}

static const struct { const char *name; void (*play)(void); } scenes[] = {
	{ "session", scene_session }, { "terminal", scene_terminal }, { "many", scene_many },
	{ "fill", scene_fill },	      { "hold", scene_hold },
};

int main(int argc, char **argv)
{
	struct audit_sink_options opt = { .id = "box", .root = "/run/agentrun", .on_failure = AUDIT_STOP };
	size_t i;

	if (argc != 3)
		return 2;
	if (getenv("AUDIT_ID"))
		opt.id = getenv("AUDIT_ID");
	if (getenv("AUDIT_ROOT"))
		opt.root = getenv("AUDIT_ROOT");
	if (getenv("AUDIT_PART"))
		opt.part_bytes = strtoull(getenv("AUDIT_PART"), NULL, 10);
	if (getenv("AUDIT_CONTINUE"))
		opt.on_failure = AUDIT_CONTINUE;
	check(audit_store_open(argv[1], false, false, &dirfd_of_logs, &err), "folder");
	check(audit_store_create(dirfd_of_logs, opt.id, opt.root, name, &opt.fd, &err), "create");
	check(audit_sink_open(&opt, &sink, &err), "sink");
	for (i = 0; i < sizeof(scenes) / sizeof(*scenes); i++)
		if (strcmp(scenes[i].name, argv[2]) == 0) {
			scenes[i].play();
			if (strcmp(argv[2], "hold") != 0)
				printf("%s\n", name);
			return 0;
		}
	return 2;
}

/*
 * Owns the log settings, the one mutable file-scope state of the program, and the
 * record formats. Failures to write a record are ignored: there is nowhere left
 * to report them, and no command may fail because its log is full.
 * Must not know who logs or why.
 */
#include "util/log.h"

#include <assert.h>
#include <endian.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>

#include "util/fd.h"
#include "util/json_write.h"
#include "util/str.h"
#include "util/text.h"
#include "util/time.h"

#define JOURNAL_SOCKET "/run/systemd/journal/socket"
#define SYSLOG_SOCKET  "/dev/log"
/* One record; longer texts end in "...". Journal datagrams must fit the socket buffer. */
#define LOG_TEXT_MAX 8192

enum log_kind { TO_NOTHING, TO_FILE, TO_SYSLOG, TO_JOURNAL };

static struct {
	enum log_kind kind;
	int fd; /* file or journal socket */
	enum log_format format;
	enum log_level level;
	bool forgotten;
	char id[64];
} settings = { .fd = -EBADF, .level = LOG_LEVEL_ERROR };

static const struct {
	const char *name;
	int priority;
} levels[] = {
	[LOG_LEVEL_ERROR] = { "error", LOG_ERR },
	[LOG_LEVEL_WARNING] = { "warning", LOG_WARNING },
	[LOG_LEVEL_INFO] = { "info", LOG_INFO },
	[LOG_LEVEL_DEBUG] = { "debug", LOG_DEBUG },
};

/* {"level":"error","msg":"…","time":"…"}; containerd hides msg when time does not parse. */
static char *json_record(enum log_level level, const char *msg, const char *when)
{
	_cleanup_json_writer_ struct json_writer *w = json_writer_new(0);
	struct error ignored = ERROR_NULL;
	char *line;

	if (!w)
		return NULL;
	json_object_begin(w, NULL);
	json_string(w, "level", levels[level].name);
	json_string(w, "msg", msg);
	json_string(w, "time", when);
	json_object_end(w);
	return json_take(w, &line, &ignored) < 0 ? NULL : line;
}

/* time="…" level=error msg="…", on one line whatever the message holds. */
static char *text_record(enum log_level level, const char *msg, const char *when)
{
	_cleanup_buf_ struct buf b = BUF_NULL;

	buf_addf(&b, "time=\"%s\" level=%s msg=\"", when, levels[level].name);
	for (; *msg; msg++) {
		unsigned char c = (unsigned char)*msg;

		if (c == '"' || c == '\\')
			buf_addf(&b, "\\%c", c);
		else if (c == '\n')
			buf_adds(&b, "\\n");
		else if (c == '\t')
			buf_adds(&b, "\\t");
		else if (c < 0x20 || c == 0x7f)
			buf_addf(&b, "\\x%02x", c);
		else
			buf_add(&b, msg, 1);
	}
	buf_adds(&b, "\"");
	return buf_take(&b);
}

static char *make_record(enum log_level level, const char *msg)
{
	char when[TIME_RFC3339_SIZE];
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	time_rfc3339(&now, false, when);
	return settings.format == LOG_FORMAT_JSON ? json_record(level, msg, when)
						  : text_record(level, msg, when);
}

/* One write(2): lines of several processes appending to one file do not mix. */
static void write_line(int fd, const char *line)
{
	_cleanup_buf_ struct buf b = BUF_NULL;

	buf_adds(&b, line);
	buf_adds(&b, "\n");
	if (buf_ok(&b))
		(void)fd_write_all(fd, b.data, b.len);
}

/* The journal's native form with explicit lengths, so that a newline in msg adds no field. */
static void send_journal(enum log_level level, const char *msg)
{
	_cleanup_buf_ struct buf b = BUF_NULL;
	uint64_t len = htole64(strlen(msg));

	buf_addf(&b, "PRIORITY=%d\nSYSLOG_IDENTIFIER=%s\nSYSLOG_PID=%d\nMESSAGE\n",
		 levels[level].priority, settings.id, (int)getpid());
	buf_add(&b, &len, sizeof(len));
	buf_adds(&b, msg);
	buf_adds(&b, "\n");
	if (buf_ok(&b))
		(void)send(settings.fd, b.data, b.len, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/*
 * Messages name files and quote what programs said: for a terminal their control characters must be no
 * more than text.
 */
static void write_plain(const char *msg)
{
	_cleanup_buf_ struct buf b = BUF_NULL;

	text_print(&b, msg, strlen(msg), true);
	buf_adds(&b, "\n");
	if (buf_ok(&b))
		(void)fd_write_all(STDERR_FILENO, b.data, b.len);
}

static void write_stderr(enum log_level level, const char *msg)
{
	_cleanup_free_ char *record = NULL;

	/*
	 * Without a log file stderr is the log; with one it is for people. Who asks for debug
	 * records wants their times.
	 */
	if (settings.kind == TO_NOTHING &&
	    (settings.format == LOG_FORMAT_JSON || settings.level == LOG_LEVEL_DEBUG))
		record = make_record(level, msg);
	if (record)
		write_line(STDERR_FILENO, record);
	else
		write_plain(msg);
}

static void write_target(enum log_level level, const char *msg)
{
	_cleanup_free_ char *record = NULL;

	switch (settings.kind) {
	case TO_FILE:
		record = make_record(level, msg);
		if (record)
			write_line(settings.fd, record);
		break;
	case TO_SYSLOG:
		syslog(levels[level].priority, "%s", msg);
		break;
	case TO_JOURNAL:
		send_journal(level, msg);
		break;
	case TO_NOTHING:
		break;
	}
}

static void log_vf(enum log_level level, const char *fmt, va_list ap)
{
	char msg[LOG_TEXT_MAX];
	int saved = errno, n;

	if (level > settings.level || settings.forgotten)
		return;
	n = vsnprintf(msg, sizeof(msg), fmt, ap);
	if (n < 0)
		return;
	if ((size_t)n >= sizeof(msg))
		memcpy(msg + sizeof(msg) - 4, "...", 4);
	write_target(level, msg);
	write_stderr(level, msg);
	errno = saved;
}

static int open_file(const char *path, struct error *err)
{
	_cleanup_close_ int fd = -EBADF;

	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0644);
	/* A caller without stdio must not get the log as its stdout. */
	if (fd >= 0 && fd <= STDERR_FILENO) {
		int high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

		(void)close(fd);
		fd = high;
	}
	if (fd < 0)
		return error_set(err, -errno, "open log file %s", path);
	settings.fd = take_fd(&fd);
	settings.kind = TO_FILE;
	return 0;
}

static int set_id(const char *id, struct error *err)
{
	/* The journal's fields are lines; syslog puts the id before a colon. */
	if (!*id || strlen(id) >= sizeof(settings.id) || strpbrk(id, "\n\r:[ "))
		return error_text(err, -EINVAL, "log target: \"%s\" is no usable identifier", id);
	memcpy(settings.id, id, strlen(id) + 1);
	return 0;
}

static int open_journal(const char *id, struct error *err)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX, .sun_path = JOURNAL_SOCKET };
	_cleanup_close_ int fd = -EBADF;
	int r = set_id(id, err);

	if (r < 0)
		return r;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		return error_set(err, -errno, "open the journal's socket %s", JOURNAL_SOCKET);
	settings.fd = take_fd(&fd);
	settings.kind = TO_JOURNAL;
	return 0;
}

static int open_syslog(const char *id, struct error *err)
{
	int r = set_id(id, err);

	if (r < 0)
		return r;
	/* openlog() reports nothing, and records would vanish. */
	if (access(SYSLOG_SOCKET, W_OK) < 0)
		return error_set(err, -errno, "open the syslog socket %s", SYSLOG_SOCKET);
	openlog(settings.id, LOG_PID | LOG_NDELAY, LOG_DAEMON);
	settings.kind = TO_SYSLOG;
	return 0;
}

static void close_target(void)
{
	if (settings.kind == TO_SYSLOG)
		closelog();
	if (settings.fd >= 0)
		(void)close(settings.fd);
	settings.fd = -EBADF;
	settings.kind = TO_NOTHING;
}

static int open_target(const char *target, struct error *err)
{
	const char *rest;

	if ((rest = str_after(target, "journald:")))
		return open_journal(rest, err);
	if ((rest = str_after(target, "syslog:")))
		return open_syslog(rest, err);
	if ((rest = str_after(target, "file:")))
		return open_file(rest, err);
	return open_file(target, err);
}

int log_open(const char *target, enum log_format format, enum log_level level, struct error *err)
{
	int r = 0;

	assert(level <= LOG_LEVEL_DEBUG);

	close_target();
	settings.level = level;
	settings.forgotten = false;
	if (target && *target)
		r = open_target(target, err);
	/* JSON was wanted for the file: the report that it failed to open is for people. */
	settings.format = r < 0 ? LOG_FORMAT_TEXT : format;
	return r;
}

enum log_level log_level_get(void)
{
	return settings.level;
}

#define LOG_FUNCTION(name_, level_)      \
	void name_(const char *fmt, ...) \
	{                                \
		va_list ap;              \
                                         \
		va_start(ap, fmt);       \
		log_vf(level_, fmt, ap); \
		va_end(ap);              \
	}

LOG_FUNCTION(log_errorf, LOG_LEVEL_ERROR)
LOG_FUNCTION(log_warningf, LOG_LEVEL_WARNING)
LOG_FUNCTION(log_infof, LOG_LEVEL_INFO)
LOG_FUNCTION(log_debugf, LOG_LEVEL_DEBUG)

void log_forget(void)
{
	close_target();
	settings.forgotten = true;
}

/*
 * A line of JSON for each distinct verdict. Execs run side by side and engines repeat them for
 * ever (health checks): a lock on the file, and a line that is there is not written again.
 */
#include "container/later.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "monitor/supervise.h"
#include "state/state.h"
#include "util/fd.h"
#include "util/json_write.h"
#include "util/log.h"
#include "util/str.h"

#define LATER_BYTES_MAX ((size_t)128 * 1024)
#define NOTE_ROOM	((size_t)(ERROR_TEXT_MAX - 16))

static int line_make(const struct guard *g, const char *operation, char **ret, struct error *err)
{
	_cleanup_json_writer_ struct json_writer *w = json_writer_new(0);
	size_t i;

	if (!w)
		return error_oom(err);
	json_object_begin(w, NULL);
	json_string(w, "operation", operation);
	json_array_begin(w, "decisions");
	for (i = 0; i < g->verdict.count; i++) {
		const struct policy_decision *d = &g->verdict.items[i];

		if (d->action == POLICY_KEPT)
			continue;
		json_object_begin(w, NULL);
		json_string(w, "control", d->control);
		json_string(w, "action", enum_to_name(&policy_action_table, d->action));
		json_string(w, "asked", d->asked);
		json_string(w, "given", d->given);
		json_string(w, "rule", d->rule);
		json_string(w, "file", d->file);
		json_object_end(w);
	}
	json_array_end(w);
	json_object_end(w);
	return json_take(w, ret, err);
}

/* Whether text has the line. */
static bool has_line(const char *text, const char *line)
{
	size_t len = strcspn(line, "\n");

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
		if (strncmp(text, line, len) == 0 && (text[len] == '\n' || !text[len]))
			return true;
	return false;
}

/* What is left of text so that add bytes fit behind it: whole lines, the newest. */
static const char *newest(const char *text, size_t len, size_t add)
{
	const char *at = text;

	while (*at && len - (size_t)(at - text) + add > LATER_BYTES_MAX) {
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	return at;
}

/* 1: it is new; 0: it was there. */
static int append(int fd, const char *line, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_buf_ struct buf b = BUF_NULL;
	size_t len, line_len = strcspn(line, "\n");
	int r;

	if (flock(fd, LOCK_EX) < 0)
		return error_set(err, -errno, "lock %s", STATE_LATER_FILE);
	r = fd_read_all(fd, 2 * LATER_BYTES_MAX, &text, &len);
	if (r < 0)
		return error_set(err, r, "read %s", STATE_LATER_FILE);
	if (has_line(text, line) || line_len >= LATER_BYTES_MAX)
		return 0;
	buf_adds(&b, newest(text, len, line_len + 1));
	buf_add(&b, line, line_len);
	buf_adds(&b, "\n");
	if (!buf_ok(&b))
		return error_oom(err);
	/* Only a crash of the kernel between the two could be seen, and no container outlives it. */
	if (lseek(fd, 0, SEEK_SET) < 0 || ftruncate(fd, 0) < 0)
		return error_set(err, -errno, "rewrite %s", STATE_LATER_FILE);
	r = fd_write_all(fd, b.data, b.len);
	return r < 0 ? error_set(err, r, "write %s", STATE_LATER_FILE) : 1;
}

static bool is_told(const struct policy_verdict *v, size_t at)
{
	const struct policy_decision *d = &v->items[at];
	size_t i;

	if (d->action == POLICY_KEPT)
		return true;
	/* What the configuration and the request both ask for is decided twice. */
	for (i = 0; i < at; i++)
		if (v->items[i].action == d->action && str_eq(v->items[i].control, d->control) &&
		    str_eq(v->items[i].asked, d->asked) && str_eq(v->items[i].given, d->given))
			return true;
	return false;
}

/* What was taken away is named first, since one message has room for so much. */
static void add_decisions(struct buf *b, const struct policy_verdict *v, bool taken)
{
	size_t i;

	for (i = 0; i < v->count && b->len < NOTE_ROOM; i++) {
		const struct policy_decision *d = &v->items[i];
		bool gone = d->action == POLICY_DROPPED || d->action == POLICY_REFUSED;

		if (gone != taken || is_told(v, i))
			continue;
		buf_addf(b, "%s%s %s: %s", b->len ? "; " : "policy: ", d->control, enum_to_name(&policy_action_table, d->action),
			 d->asked);
		if (!gone)
			buf_addf(b, " -> %s", d->given);
	}
}

/* For the audit log, by way of the supervisor: what create decided stands there, too. */
static void tell(const struct guard *g, int dir_fd, const char *operation)
{
	struct link_msg msg = { .type = LINK_NOTE };
	_cleanup_buf_ struct buf b = BUF_NULL;
	struct error ignored;
	size_t name = strlen(operation) + 1;

	add_decisions(&b, &g->verdict, true);
	add_decisions(&b, &g->verdict, false);
	if (!buf_ok(&b))
		return;
	memcpy(msg.text, operation, name);
	(void)snprintf(msg.text + name, sizeof(msg.text) - name, "%s", b.data);
	(void)supervise_tell(dir_fd, &msg, NULL, &ignored);
}

void later_note(const struct guard *g, int dir_fd, const char *operation)
{
	_cleanup_close_ int fd = -EBADF;
	_cleanup_free_ char *line = NULL;
	struct error err = ERROR_NULL;
	int r;

	if (!policy_verdict_changed(&g->verdict))
		return;
	r = line_make(g, operation, &line, &err);
	if (r == 0) {
		fd = openat(dir_fd, STATE_LATER_FILE, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
		r = fd < 0 ? error_set(&err, -errno, "open %s", STATE_LATER_FILE) : append(fd, line, &err);
	}
	if (r > 0)
		tell(g, dir_fd, operation);
	if (r < 0)
		log_debugf("the verdict of this %s is not kept: %s", operation, err.text);
}

int later_read(int dir_fd, char **ret, size_t *ret_len, struct error *err)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_buf_ struct buf b = BUF_NULL;
	size_t len;
	char *p;
	int r;

	r = file_read_all(dir_fd, STATE_LATER_FILE, 2 * LATER_BYTES_MAX, &text, &len, err);
	if (r < 0 && r != -ENOENT)
		return r;
	if (r == -ENOENT)
		*err = ERROR_NULL;
	/* A line end inside a line would stand as \n in its JSON. */
	for (p = text; p && *p; p++)
		if (*p == '\n')
			*p = p[1] ? ',' : ' ';
	buf_addf(&b, "{\"later\":[%s]}", text ? text : "");
	if (!buf_ok(&b))
		return error_oom(err);
	*ret_len = b.len;
	*ret = buf_take(&b);
	return 0;
}

/*
 * Owns the permit table: both ends of every conversation check each message against it,
 * so that a program that was taken over can say nothing but what its part allows.
 */
#include "monitor/protocol.h"

#include <assert.h>
#include <string.h>
#include <sys/socket.h>

#include "util/fd.h"

struct permit {
	const char *name;
	uint8_t from, to; /* enum link_peer */
	uint8_t fds_min, fds_max;
	uint32_t most; /* in one conversation; 0 = any number */
};

static const struct permit permits[_LINK_TYPE_MAX] = {
	[LINK_SETUP] = { "SETUP", LINK_CREATOR, LINK_SUPERVISOR, 3, 3, 1 },
	[LINK_BEGIN] = { "BEGIN", LINK_SUPERVISOR, LINK_MONITOR, 1, 1, 1 },
	[LINK_CONTAINER] = { "CONTAINER", LINK_CREATOR, LINK_SUPERVISOR, 2, 3, 1 },
	[LINK_COMMIT] = { "COMMIT", LINK_CREATOR, LINK_SUPERVISOR, 0, 0, 1 },
	[LINK_START] = { "START", LINK_CREATOR | LINK_COMMAND, LINK_SUPERVISOR, 0, 0, 1 },
	[LINK_EXEC] = { "EXEC", LINK_COMMAND, LINK_SUPERVISOR, 0, 0, 1 },
	[LINK_PROCESS] = { "PROCESS", LINK_COMMAND, LINK_SUPERVISOR, 1, 2, 1 },
	[LINK_PAUSE] = { "PAUSE", LINK_COMMAND, LINK_SUPERVISOR, 0, 0, 1 },
	[LINK_RESUME] = { "RESUME", LINK_COMMAND, LINK_SUPERVISOR, 0, 0, 1 },
	[LINK_UPDATE] = { "UPDATE", LINK_COMMAND, LINK_SUPERVISOR, 0, 0, 1 },
	[LINK_EGRESS] = { "EGRESS", LINK_COMMAND | LINK_SUPERVISOR, LINK_SUPERVISOR | LINK_MONITOR, 2, 2, 0 },
	[LINK_STATUS] = { "STATUS", LINK_COMMAND | LINK_SUPERVISOR, LINK_SUPERVISOR | LINK_COMMAND, 0, 0, 1 },
	[LINK_STREAMS] = { "STREAMS", LINK_CREATOR | LINK_COMMAND | LINK_SUPERVISOR, LINK_SUPERVISOR | LINK_MONITOR, 0,
			   LINK_FDS_MAX, 0 },
	[LINK_ADOPT] = { "ADOPT", LINK_SUPERVISOR, LINK_MONITOR, 1, 1, 1 },
	[LINK_LISTENER] = { "LISTENER", LINK_SUPERVISOR, LINK_MONITOR, 1, 1, 0 },
	[LINK_DRAIN] = { "DRAIN", LINK_SUPERVISOR, LINK_MONITOR, 0, 0, 0 },
	[LINK_DRAINED] = { "DRAINED", LINK_MONITOR, LINK_SUPERVISOR, 0, 0, 0 },
	[LINK_EXITED] = { "EXITED", LINK_SUPERVISOR, LINK_MONITOR, 0, 0, 0 },
	[LINK_BORN] = { "BORN", LINK_SUPERVISOR, LINK_MONITOR, 0, 0, 0 },
	[LINK_NOTE] = { "NOTE", LINK_COMMAND | LINK_SUPERVISOR, LINK_SUPERVISOR | LINK_MONITOR, 0, 0, 0 },
	[LINK_DESCRIBE] = { "DESCRIBE", LINK_COMMAND | LINK_SUPERVISOR, LINK_SUPERVISOR | LINK_MONITOR, 0, 0, 0 },
	[LINK_EXPIRED] = { "EXPIRED", LINK_SUPERVISOR, LINK_MONITOR, 0, 0, 0 },
	[LINK_WARNING] = { "WARNING", LINK_SUPERVISOR, LINK_MONITOR, 0, 0, 0 },
	[LINK_LOG] = { "LOG", LINK_SUPERVISOR, LINK_MONITOR, 1, 1, 0 },
	[LINK_PART] = { "PART", LINK_MONITOR, LINK_SUPERVISOR, 0, 0, 0 },
	[LINK_HEAD] = { "HEAD", LINK_MONITOR, LINK_SUPERVISOR, 0, 0, 0 },
	[LINK_BOUND] = { "BOUND", LINK_MONITOR, LINK_SUPERVISOR, 0, 0, 1 },
	[LINK_END] = { "END", LINK_SUPERVISOR, LINK_MONITOR, 0, 0, 1 },
	[LINK_FAILED] = { "FAILED", LINK_MONITOR, LINK_SUPERVISOR, 0, 0, 1 },
	[LINK_READY] = { "READY", LINK_MONITOR | LINK_SUPERVISOR, LINK_SUPERVISOR | LINK_CREATOR, 0, 0, 1 },
	/* An EXEC's answer may bring the cgroup. */
	[LINK_OK] = { "OK", LINK_SUPERVISOR | LINK_MONITOR, LINK_CREATOR | LINK_COMMAND, 0, 1, 0 },
	[LINK_ERROR] = { "ERROR", LINK_SUPERVISOR | LINK_MONITOR, LINK_CREATOR | LINK_COMMAND, 0, 0, 1 },
};

const char *link_type_name(unsigned type)
{
	return type < _LINK_TYPE_MAX && permits[type].name ? permits[type].name : "an unknown message";
}

int link_pair(int ret_socks[2], struct error *err)
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret_socks) < 0)
		return error_set(err, -errno, "create a socket pair for the supervisor");
	return 0;
}

int link_send(const struct link *l, struct link_msg *msg, const int *fds, size_t n_fds, struct error *err)
{
	const struct permit *p = &permits[msg->type];
	int r;

	assert(msg->type < _LINK_TYPE_MAX && (p->from & l->self) && (p->to & l->peer));
	assert(n_fds >= p->fds_min && n_fds <= p->fds_max);
	msg->version = LINK_VERSION;
	r = fd_send(l->fd, msg, sizeof(*msg), fds, n_fds);
	return r < 0 ? error_set(err, r, "send %s", p->name) : 0;
}

int link_send_type(const struct link *l, enum link_type type, uint32_t number, struct error *err)
{
	struct link_msg msg = { .type = type, .number = number };

	return link_send(l, &msg, NULL, 0, err);
}

void link_send_error(const struct link *l, enum link_type type, uint32_t number, const struct error *e)
{
	struct link_msg msg = { .type = type, .number = number, .error = *e };
	struct error ignored;

	(void)link_send(l, &msg, NULL, 0, &ignored);
}

void link_close_fds(int fds[LINK_FDS_MAX])
{
	size_t i;

	for (i = 0; i < LINK_FDS_MAX; i++)
		if (fds[i] >= 0)
			(void)close(take_fd(&fds[i]));
}

/* Whether the table allows it; counts it. */
static bool permitted(struct link *l, const struct link_msg *msg, size_t n_fds)
{
	const struct permit *p;

	if (msg->version != LINK_VERSION || msg->type >= _LINK_TYPE_MAX)
		return false;
	p = &permits[msg->type];
	if (!(p->from & l->peer) || !(p->to & l->self) || n_fds < p->fds_min || n_fds > p->fds_max)
		return false;
	return p->most == 0 || l->seen[msg->type]++ < p->most;
}

int link_recv(struct link *l, struct link_msg *ret, int fds[LINK_FDS_MAX], struct error *err)
{
	size_t n = 0, n_fds = 0;
	int r;

	r = fd_recv(l->fd, ret, sizeof(*ret), &n, fds, LINK_FDS_MAX);
	/* A peer that closed with our message unread resets the connection; what it had said comes after that. */
	if (r == -ECONNRESET)
		r = fd_recv(l->fd, ret, sizeof(*ret), &n, fds, LINK_FDS_MAX);
	if (r == -ECONNRESET || (r == 0 && n == 0))
		return LINK_E_CLOSED;
	if (r < 0)
		return error_set(err, r, "receive a message");
	while (n_fds < LINK_FDS_MAX && fds[n_fds] >= 0)
		n_fds++;
	if (n != sizeof(*ret) || !permitted(l, ret, n_fds)) {
		link_close_fds(fds);
		return error_text(err, -EPROTO, "%s is not allowed here (are agentrun and its helper programs of one version?)",
				  n == sizeof(*ret) ? link_type_name(ret->type) : "a message of the wrong size");
	}
	if (ret->type == LINK_ERROR || ret->type == LINK_FAILED)
		ret->error.text[ERROR_TEXT_MAX - 1] = '\0';
	if (ret->type == LINK_NOTE || ret->type == LINK_WARNING || ret->type == LINK_READY)
		ret->text[ERROR_TEXT_MAX - 1] = '\0';
	return 0;
}

int link_expect(struct link *l, enum link_type type, const char *who, struct link_msg *ret, int fds[LINK_FDS_MAX],
		struct error *err)
{
	int r = link_recv(l, ret, fds, err);

	if (r == LINK_E_CLOSED)
		return error_text(err, -EPIPE, "%s ended before it answered", who);
	if (r < 0)
		return error_prefix(err, "%s", who);
	if (ret->type == type)
		return 0;
	link_close_fds(fds);
	if (ret->type != LINK_ERROR)
		return error_text(err, -EPROTO, "%s sent %s instead of %s", who, link_type_name(ret->type),
				  link_type_name(type));
	*err = ret->error;
	return err->code < 0 ? err->code : (err->code = -EPROTO);
}

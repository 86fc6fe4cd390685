/*
 * Owns the messages between parent and child. Knows no container.
 */
#include "container/proto.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

static const char *const type_names[] = {
	[PROTO_JOINED] = "JOINED",
	[PROTO_GO] = "GO",
	[PROTO_MOUNTED] = "MOUNTED",
	[PROTO_HOOKED] = "HOOKED",
	[PROTO_READY] = "READY",
	[PROTO_COMMIT] = "COMMIT",
	[PROTO_START] = "START",
	[PROTO_STARTED] = "STARTED",
	[PROTO_ERROR] = "ERROR",
	[PROTO_EXEC_FAILED] = "EXEC_FAILED",
};

const char *proto_type_name(unsigned type)
{
	return type < ELEMENTSOF(type_names) && type_names[type] ? type_names[type] : "unknown";
}

int proto_pair(int ret_socks[2], struct error *err)
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret_socks) < 0)
		return error_set(err, -errno, "create the socket pair to the container process");
	return 0;
}

/* Only an error message carries the text; the others are a few bytes. */
static size_t msg_size(enum proto_type type)
{
	return type == PROTO_ERROR || type == PROTO_EXEC_FAILED ? sizeof(struct proto_msg) : offsetof(struct proto_msg, error);
}

static int msg_send(int sock, const struct proto_msg *msg)
{
	ssize_t n;

	do
		n = send(sock, msg, msg_size(msg->type), MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

int proto_send(int sock, enum proto_type type, pid_t host_pid, struct error *err)
{
	struct proto_msg msg = { .type = type, .host_pid = host_pid };
	int r;

	assert(type != PROTO_ERROR && type != PROTO_EXEC_FAILED);

	r = msg_send(sock, &msg);
	if (r < 0)
		return error_set(err, r, "send %s to the other side of the container's start",
				 proto_type_name(type));
	return 0;
}

void proto_send_error(int sock, const struct error *err)
{
	struct proto_msg msg = { .type = PROTO_ERROR, .error = *err };

	(void)msg_send(sock, &msg);
}

void proto_send_exec_failed(int sock, const struct error *err)
{
	struct proto_msg msg = { .type = PROTO_EXEC_FAILED, .error = *err };

	(void)msg_send(sock, &msg);
}

int proto_recv(int sock, struct proto_msg *ret, struct error *err)
{
	struct proto_msg msg;
	ssize_t n;

	do
		n = recv(sock, &msg, sizeof(msg), 0);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == ECONNRESET)
		return PROTO_E_CLOSED;
	if (n < 0)
		return error_set(err, -errno, "receive from the other side of the container's start");
	if (n == 0)
		return PROTO_E_CLOSED;
	if ((size_t)n < offsetof(struct proto_msg, error) || (size_t)n != msg_size(msg.type))
		return error_text(err, -EPROTO, "message of %zd bytes in the container's start is malformed", n);

	if (msg.type == PROTO_ERROR || msg.type == PROTO_EXEC_FAILED) {
		msg.error.text[ERROR_TEXT_MAX - 1] = '\0';
		if (msg.error.code >= 0)
			msg.error.code = -EPROTO;
	}
	if (msg.type == PROTO_ERROR) {
		*err = msg.error;
		return err->code;
	}
	*ret = msg;
	return 0;
}

int proto_expect(int sock, enum proto_type type, const char *peer, struct proto_msg *ret, struct error *err)
{
	struct proto_msg msg;
	int r;

	r = proto_recv(sock, &msg, err);
	if (r < 0)
		return r;
	if (r == PROTO_E_CLOSED)
		return error_text(err, -EPIPE, "%s ended while %s was expected from it", peer,
				  proto_type_name(type));
	if (msg.type != (unsigned)type)
		return error_text(err, -EPROTO, "%s sent %s while %s was expected", peer,
				  proto_type_name(msg.type), proto_type_name(type));
	if (ret)
		*ret = msg;
	return 0;
}

int proto_await_end(int sock, struct error *ret_failed, struct error *err)
{
	struct proto_msg msg = { 0 };
	int r;

	r = proto_recv(sock, &msg, err);
	if (r < 0)
		return r;
	if (r == PROTO_E_CLOSED)
		return 0;
	if (msg.type == PROTO_EXEC_FAILED) {
		if (ret_failed)
			*ret_failed = msg.error;
		return 0;
	}
	return error_text(err, -EPROTO, "the container's first process sent %s after it was started",
			  proto_type_name(msg.type));
}

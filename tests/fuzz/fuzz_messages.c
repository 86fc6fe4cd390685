/*
 * Both conversations of a container's processes with a hostile other end: the input is cut into
 * messages, the first byte of each says how long it is and how many descriptors come along. None
 * crashes, none leaves a descriptor open, and what is taken is allowed by the table.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "container/proto.h"
#include "monitor/protocol.h"
#include "util/fd.h"
#include "util/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Lowest free descriptor: the same before and after. */
static int next_fd(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)close(fd);
	return fd;
}

static void send_all(int sock, const uint8_t *data, size_t size, size_t unit)
{
	static char whole[sizeof(struct link_msg) > sizeof(struct proto_msg) ? sizeof(struct link_msg) : sizeof(struct proto_msg)];
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int i, fds[3] = { null, null, null };

	for (i = 0; i < 16 && size > 2; i++) {
		size_t len = data[0] & 1 ? unit : data[0] / 2, take = size - 1 < len ? size - 1 : len;

		memset(whole, 0, sizeof(whole));
		memcpy(whole, data + 1, take < sizeof(whole) ? take : sizeof(whole));
		(void)fd_send(sock, whole, len ? len : 1, fds, (data[0] >> 4) % 4);
		data += take + 1;
		size -= take + 1;
	}
	(void)close(null);
}

static void hear_link(const uint8_t *data, size_t size)
{
	struct link l = { .self = LINK_SUPERVISOR, .peer = LINK_MONITOR };
	int socks[2], fds[LINK_FDS_MAX];
	struct error err = ERROR_NULL;
	struct link_msg msg;

	if (link_pair(socks, &err) < 0)
		return;
	l.fd = socks[0];
	send_all(socks[1], data, size, sizeof(struct link_msg));
	(void)close(socks[1]);
	while (link_recv(&l, &msg, fds, &err) == 0) {
		if (str_eq(link_type_name(msg.type), "an unknown message") || msg.type == LINK_COMMIT || msg.type == LINK_START)
			abort();
		link_close_fds(fds);
	}
	(void)close(socks[0]);
}

static void hear_proto(const uint8_t *data, size_t size)
{
	struct error err = ERROR_NULL;
	struct proto_msg msg;
	int socks[2];

	if (proto_pair(socks, &err) < 0)
		return;
	send_all(socks[1], data, size, sizeof(struct proto_msg));
	(void)close(socks[1]);
	while (proto_recv(socks[0], &msg, &err) == 0)
		if (!*proto_type_name(msg.type))
			abort();
	(void)close(socks[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int before = next_fd();

	hear_link(data, size);
	hear_proto(data, size);
	if (next_fd() != before)
		abort();
	return 0;
}

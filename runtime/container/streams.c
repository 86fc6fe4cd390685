/*
 * Between os/stdio_relay.h, which makes the pipes, and the monitor, which relays them.
 */
#include "container/streams.h"

#include <assert.h>
#include <fcntl.h>
#include <sys/socket.h>

#include "os/ns.h"
#include "os/tty.h"
#include "os/tty_relay.h"
#include "util/fd.h"

#define NAME_BOTH 3

void streams_withhold(struct streams *s)
{
	int i;

	for (i = 0; i < 3; i++)
		s->relay.choice[i] = (struct stdio_choice){ .kind = STDIO_UNTRACED, .like = -1 };
	s->on = true;
}

int streams_make(struct streams *s, bool with_stdin, int proc_fd, struct error *err)
{
	static const int ours[3] = { 0, 1, 2 };
	int r;

	r = stdio_relay_make(ours, with_stdin, proc_fd, &s->relay, err);
	/* Also with nothing to relay: that it is so belongs in the log. */
	s->on = r == 0;
	return r;
}

int streams_make_terminal(struct streams *s, int *console_sock, int *own_sock, unsigned short rows,
			  unsigned short cols, struct error *err)
{
	int socks[2], r;

	r = tty_outer_open(&s->outer_master, &s->outer_slave, err);
	if (r == 0 && (rows > 0 || cols > 0))
		r = tty_set_size(s->outer_master, rows, cols, err);
	if (r < 0)
		return r;
	s->on = s->terminal = true;
	if (*own_sock >= 0) {
		s->inner = take_fd(own_sock);
		return 0;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks) < 0)
		return error_set(err, -errno, "create the socket pair for the terminal");
	s->engine_sock = *console_sock;
	*console_sock = socks[1];
	s->inner = socks[0];
	return 0;
}

static int not_blocking(int fd, struct error *err)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return error_set(err, -errno, "make a terminal non-blocking");
	return 0;
}

int streams_connect_terminal(struct streams *s, int *ret_master, struct error *err)
{
	_cleanup_close_ int inner = -EBADF;
	char text[64];
	size_t n;
	int r;

	r = fd_recv(s->inner, text, sizeof(text), &n, &inner, 1);
	if (r < 0)
		return error_set(err, r, "receive the terminal from the container's process");
	if (inner < 0)
		return error_text(err, -EPROTO, "the container's process sent no terminal");
	r = not_blocking(inner, err);
	if (r == 0)
		r = not_blocking(s->outer_slave, err);
	if (r < 0)
		return r;
	(void)close(s->inner);
	s->inner = take_fd(&inner);
	if (s->engine_sock >= 0)
		return tty_send_master(s->engine_sock, s->outer_master, err);
	tty_size_from_user(s->inner);
	tty_size_from_user(s->outer_master);
	*ret_master = take_fd(&s->outer_master);
	return tty_plain_newlines(s->inner, err);
}

int streams_install(const struct streams *s, struct error *err)
{
	return s->on && !s->terminal ? stdio_relay_install(&s->relay, err) : 0;
}

int streams_born(struct streams *s, int proc_fd, pid_t pid, bool in_userns, const struct creds *creds,
		 struct error *err)
{
	uint32_t uid = creds->uid, gid = creds->gid;
	int r = 0;

	if (s->terminal)
		return 0;
	stdio_relay_close_process(&s->relay);
	if (s->on && in_userns) {
		r = ns_map_uid(proc_fd, pid, uid, &uid, err);
		if (r == 0)
			r = ns_map_gid(proc_fd, pid, gid, &gid, err);
	}
	if (s->on && r == 0)
		stdio_relay_give(&s->relay, uid, gid);
	return r < 0 ? r : 0;
}

void streams_message(const struct streams *s, uint32_t number, struct link_msg *ret, int fds[LINK_FDS_MAX], size_t *ret_n)
{
	const struct stdio_relay *relay = &s->relay;
	size_t n = 0;
	int i;

	assert(s->on);

	*ret = (struct link_msg){ .type = LINK_STREAMS, .number = number };
	if (s->terminal) {
		ret->flags = LINK_F_TERMINAL;
		fds[0] = s->inner;
		fds[1] = s->outer_slave;
		*ret_n = 2;
		return;
	}
	for (i = 0; i < 3; i++) {
		struct link_stream *stream = &ret->streams[ret->n_streams];

		stream->kind = (uint8_t)relay->choice[i].kind;
		if (!relay->choice[i].relayed) {
			stream->from = stream->to = LINK_NO_FD;
			stream->name = (uint8_t)i;
			ret->n_streams++;
		}
		if (relay->inside[i].fd < 0)
			continue;
		fds[n] = i == 0 ? relay->engine[i].fd : relay->inside[i].fd;
		fds[n + 1] = i == 0 ? relay->inside[i].fd : relay->engine[i].fd;
		stream->from = (uint8_t)n;
		stream->to = (uint8_t)(n + 1);
		stream->name = (uint8_t)i;
		if (i == 1 && relay->choice[2].relayed && relay->choice[2].like == 1)
			stream->name = NAME_BOTH;
		ret->n_streams++;
		n += 2;
	}
	*ret_n = n;
}

void streams_done(struct streams *s)
{
	int *fds[] = { &s->outer_master, &s->outer_slave, &s->inner, &s->engine_sock };
	size_t i;

	for (i = 0; i < ELEMENTSOF(fds); i++)
		if (*fds[i] >= 0)
			(void)close(take_fd(fds[i]));
	stdio_relay_done(&s->relay);
	s->on = false;
}

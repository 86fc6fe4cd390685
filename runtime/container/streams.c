/*
 * Between os/stdio_relay.h, which makes the pipes, and the monitor, which relays them.
 */
#include "container/streams.h"

#include <assert.h>

#include "os/ns.h"

#define NAME_BOTH 3

int streams_make(struct streams *s, int proc_fd, struct error *err)
{
	static const int ours[3] = { 0, 1, 2 };
	int r;

	r = stdio_relay_make(ours, false, proc_fd, &s->relay, err);
	if (r == 0)
		s->on = stdio_relay_any(&s->relay);
	return r;
}

int streams_install(const struct streams *s, struct error *err)
{
	return s->on ? stdio_relay_install(&s->relay, err) : 0;
}

int streams_born(struct streams *s, int proc_fd, pid_t pid, bool in_userns, const struct creds *creds,
		 struct error *err)
{
	uint32_t uid = creds->uid, gid = creds->gid;
	int r = 0;

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
	for (i = 0; i < 3; i++) {
		struct link_stream *stream = &ret->streams[ret->n_streams];

		if (relay->inside[i].fd < 0)
			continue;
		fds[n] = i == 0 ? relay->engine[i].fd : relay->inside[i].fd;
		fds[n + 1] = i == 0 ? relay->inside[i].fd : relay->engine[i].fd;
		*stream = (struct link_stream){ .from = (uint8_t)n, .to = (uint8_t)(n + 1), .name = (uint8_t)i };
		if (i == 1 && relay->choice[2].relayed && relay->choice[2].like == 1)
			stream->name = NAME_BOTH;
		ret->n_streams++;
		n += 2;
	}
	*ret_n = n;
}

void streams_done(struct streams *s)
{
	stdio_relay_done(&s->relay);
	s->on = false;
}

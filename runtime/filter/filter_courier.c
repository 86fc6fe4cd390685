/*
 * Hands the listener of a notifying filter to its agent although the process that has it
 * may not be able to call sendmsg any more: such a call would wait for an agent that does
 * not have the listener yet. A second thread, started before the filter is loaded and thus
 * not under it, does the sending.
 *
 * Between loading and the end of the hand-over the filtered thread makes no system call at
 * all, not even futex(2): a profile may notify about that one, deny it (the C library
 * aborts then) or kill for it. So the helper polls and the filtered thread spins; both
 * last some microseconds, because the text fits into the socket's buffer.
 *
 * A thread and not a process with a shared descriptor table: nobody has to wait for it, so
 * it cannot stay behind as a zombie child of the container's first process.
 */
#include "filter/filter_private.h"

#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define COURIER_STACK ((size_t)64 * 1024)
#define LISTENER_PENDING INT_MIN
#define POLL_SHORT_NS (20 * 1000L)
#define POLL_LONG_NS (1000 * 1000L)
#define POLLS_SHORT 500

struct filter_courier {
	pthread_t thread;
	int sock;
	atomic_int listener; /* LISTENER_PENDING until the filtered thread has stored it */
	int result; /* read after the thread has ended */
	size_t state_len;
	char state[];
};

static int send_rest(int sock, const char *data, size_t len)
{
	while (len > 0) {
		ssize_t n = send(sock, data, len, MSG_NOSIGNAL);

		if (n < 0) {
			if (errno == EINTR)
				continue;
			return -errno;
		}
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

/* runtime-spec: the descriptor goes with the first message; the text may need several. */
static int deliver(int sock, const char *text, size_t len, int listener)
{
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct iovec iov = { .iov_base = (void *)(uintptr_t)text, .iov_len = len };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.space,
		.msg_controllen = sizeof(control.space),
	};
	struct cmsghdr *h = CMSG_FIRSTHDR(&msg);
	ssize_t n;

	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(h), &listener, sizeof(int));
	do
		n = sendmsg(sock, &msg, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return send_rest(sock, text + n, len - (size_t)n);
}

static void *courier_main(void *arg)
{
	struct timespec pause = { .tv_nsec = POLL_SHORT_NS };
	struct filter_courier *c = arg;
	unsigned polls = 0;
	int listener;

	while ((listener = atomic_load(&c->listener)) == LISTENER_PENDING) {
		if (++polls == POLLS_SHORT)
			pause.tv_nsec = POLL_LONG_NS;
		(void)nanosleep(&pause, NULL);
	}
	if (listener >= 0)
		c->result = deliver(c->sock, c->state, c->state_len, listener);
	return NULL;
}

static int thread_start(struct filter_courier *c)
{
	pthread_attr_t attr;
	sigset_t all;
	int r;

	r = pthread_attr_init(&attr);
	if (r != 0)
		return -r;
	/* No signal of the container may be handled by a thread that outlives its purpose. */
	(void)sigfillset(&all);
	r = pthread_attr_setsigmask_np(&attr, &all);
	if (r == 0)
		r = pthread_attr_setstacksize(&attr, COURIER_STACK);
	if (r == 0)
		r = pthread_create(&c->thread, &attr, courier_main, c);
	(void)pthread_attr_destroy(&attr);
	return -r;
}

int filter_courier_start(int sock, const char *state, size_t state_len, struct filter_courier **ret,
			 struct error *err)
{
	_cleanup_free_ struct filter_courier *c = NULL;
	int r;

	assert(sock >= 0);
	assert(state && state_len > 0);

	c = calloc(1, sizeof(*c) + state_len);
	if (!c)
		return error_oom(err);
	c->sock = sock;
	atomic_init(&c->listener, LISTENER_PENDING);
	c->state_len = state_len;
	memcpy(c->state, state, state_len);
	r = thread_start(c);
	if (r < 0)
		return error_set(err, r, "seccomp listener: start the hand-over thread");
	*ret = take_ptr(c);
	return 0;
}

int filter_courier_send(struct filter_courier *c, int listener, struct error *err)
{
	int r;

	assert(c);

	atomic_store(&c->listener, listener >= 0 ? listener : -EBADF);
	/* Looks at a word that the kernel clears when the thread has ended; no system call. */
	while ((r = pthread_tryjoin_np(c->thread, NULL)) == EBUSY)
		;
	if (r != 0)
		return error_set(err, -r, "seccomp listener: wait for the hand-over");
	r = c->result;
	/* After a load it is left to execve: releasing a large block is a munmap(2). */
	if (listener < 0)
		free(c);
	if (r < 0)
		return error_set(err, r, "seccomp listener: send it to the agent at listenerPath");
	return 0;
}

int filter_listener_send(int sock, int listener, const char *text, struct error *err)
{
	int r = deliver(sock, text, strlen(text), listener);

	return r < 0 ? error_set(err, r, "seccomp listener: hand it over") : 0;
}

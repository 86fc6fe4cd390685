/*
 * The relay between a writer and a reader: byte for byte the same at the engine and at
 * the tap, and to both sides as if it were not there.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "monitor/relay.h"
#include "tests/unit/tap.h"
#include "util/cleanup.h"

#define MS	   1000000ull
#define LOG_MAX	   ((size_t)8 << 20)
#define DATA_BYTES ((size_t)3000017)

static struct error err;
static struct evloop loop = EVLOOP_NULL;
static struct relay_hub hub;
static int proc = -1;
static unsigned long seed = 1;

/* What the ops heard. */
struct heard {
	char *log;
	size_t len[3];
	size_t enough; /* of stream 1; 0 = never */
	int ended[3];  /* 1 + enum relay_end */
	uint64_t bytes[3];
	uint64_t skipped; /* of stream 1 */
	int delivered;
	int drained; /* 1 = whole, 2 = timed out */
};

struct world {
	struct relay relay;
	struct heard heard;
	struct stdio_relay fds;
	int engine[3]; /* the engine's reading ends */
};

static size_t rnd(size_t n)
{
	seed = seed * 6364136223846793005ul + 1442695040888963407ul;
	return (size_t)(seed >> 33) % n;
}

static int on_tap(void *arg, unsigned stream, const void *data, size_t len, struct error *e)
{
	struct heard *h = arg;

	if (stream == 1 && h->len[1] + len <= LOG_MAX)
		memcpy(h->log + h->len[1], data, len);
	h->len[stream] += len;
	return h->enough && h->len[stream] >= h->enough ? RELAY_TAP_ENOUGH : RELAY_TAP_MORE;
}

static int on_skip(void *arg, unsigned stream, uint64_t bytes, struct error *e)
{
	struct heard *h = arg;

	h->skipped += bytes;
	return 0;
}

static int on_ended(void *arg, unsigned stream, enum relay_end how, uint64_t bytes, struct error *e)
{
	struct heard *h = arg;

	h->ended[stream] = 1 + (int)how;
	h->bytes[stream] = bytes;
	return 0;
}

static int on_drained(void *arg, bool whole, struct error *e)
{
	struct heard *h = arg;

	h->drained = whole ? 1 : 2;
	return 0;
}

static int on_delivered(void *arg, struct error *e)
{
	((struct heard *)arg)->delivered++;
	return 0;
}

static const struct relay_ops ops = { .tap = on_tap,
				      .skip = on_skip,
				      .ended = on_ended,
				      .drained = on_drained,
				      .delivered = on_delivered };

/* Streams 1 and 2 between fds.process[] and engine[]; write1, write2: the engine's ends, taken. */
static void world_up(struct world *w, int write1, int write2, int proc_fd)
{
	const int fds[3] = { -1, write1, write2 };
	int i;

	w->heard = (struct heard){ .log = malloc(LOG_MAX) };
	is_int(stdio_relay_make(fds, false, proc_fd, &w->fds, &err), 0, "make");
	relay_init(&w->relay, &hub, &ops, &w->heard);
	for (i = 1; i < 3; i++)
		if (w->fds.inside[i].fd >= 0 &&
		    relay_add(&w->relay, (unsigned)i, &w->fds.inside[i], &w->fds.engine[i], true, &err) < 0)
			ok(false, "add stream %d: %s", i, err.text);
	close(write1);
	if (write2 >= 0 && write2 != write1)
		close(write2);
}

static void world_pipes(struct world *w)
{
	int p[2], q[2];

	if (pipe2(p, O_CLOEXEC) < 0 || pipe2(q, O_CLOEXEC) < 0)
		_exit(9);
	w->engine[1] = p[0];
	w->engine[2] = q[0];
	world_up(w, p[1], q[1], proc);
}

static void world_down(struct world *w)
{
	int i;

	relay_done(&w->relay);
	stdio_relay_done(&w->fds);
	for (i = 1; i < 3; i++)
		if (w->engine[i] >= 0)
			close(w->engine[i]);
	free(w->heard.log);
}

/* Steps until nothing has happened for quiet_ms. */
static void settle(int quiet_ms)
{
	struct pollfd p = { .fd = loop.fd, .events = POLLIN };

	while (poll(&p, 1, quiet_ms) == 1)
		if (evloop_step(&loop, 0, &err) < 0) {
			ok(false, "loop: %s", err.text);
			return;
		}
}

static char *make_data(size_t len)
{
	char *data = malloc(len);
	size_t i;

	for (i = 0; i < len; i++)
		data[i] = (char)rnd(256);
	return data;
}

static pid_t start_writer(struct world *w, int stream, const char *data, size_t len)
{
	pid_t pid = fork();

	if (pid == 0) {
		size_t done = 0;
		int fd = w->fds.process[stream];

		signal(SIGPIPE, SIG_DFL);
		while (done < len) {
			size_t n = 1 + rnd(rnd(4) ? 700 : 150000);
			ssize_t k = write(fd, data + done, MIN(n, len - done));

			if (k < 0)
				_exit(1);
			done += (size_t)k;
		}
		_exit(0);
	}
	return pid;
}

/* Reads like a moody engine, between steps of the loop, to the end of file. */
static size_t read_all(struct world *w, int stream, char *into, size_t max)
{
	size_t len = 0;

	for (;;) {
		struct pollfd p = { .fd = w->engine[stream], .events = POLLIN };
		size_t mood = 1 + rnd(100000);
		ssize_t n;

		if (evloop_step(&loop, 1, &err) < 0)
			return 0;
		if (rnd(5) == 0 || poll(&p, 1, 0) == 0)
			continue;
		n = read(w->engine[stream], into + len, MIN(mood, max - len));
		if (n <= 0)
			return len;
		len += (size_t)n;
	}
}

static void transfer(struct world *w, const char *name, size_t enough)
{
	char *data = make_data(DATA_BYTES), *got = malloc(DATA_BYTES + 1);
	int status = -1;
	size_t n;
	pid_t pid;

	w->heard.enough = enough;
	pid = start_writer(w, 1, data, DATA_BYTES);
	stdio_relay_close_process(&w->fds);
	n = read_all(w, 1, got, DATA_BYTES + 1);
	waitpid(pid, &status, 0);
	is_int(status, 0, "writer");
	ok(n == DATA_BYTES && memcmp(data, got, n) == 0, "%s: the engine got %zu bytes, all right", name, n);
	is_int(w->heard.bytes[1], DATA_BYTES, "counted");
	is_int(w->heard.ended[1], 1 + RELAY_END_PROCESS, "ended by the process");
	if (!enough)
		ok(w->heard.len[1] == DATA_BYTES && memcmp(data, w->heard.log, DATA_BYTES) == 0, "%s: the tap too", name);
	else
		ok(memcmp(data, w->heard.log, enough) == 0 && w->heard.len[1] > 4096 &&
			   memcmp(data + DATA_BYTES - 4096, w->heard.log + w->heard.len[1] - 4096, 4096) == 0,
		   "%s: the tap got head and tail, %zu bytes", name, w->heard.len[1]);
	if (enough)
		is_int(w->heard.len[1] + w->heard.skipped, DATA_BYTES, "and was told of the rest");
	settle(0);
	ok(!relay_is_open(&w->relay), "all closed");
	free(data);
	free(got);
}

static void test_identity(void)
{
	int nowhere = open("/", O_PATH | O_CLOEXEC);
	struct world w;
	int s[2], p[2];

	world_pipes(&w);
	transfer(&w, "pipe", 0);
	world_down(&w);

	world_pipes(&w);
	is_int(fcntl(w.engine[1], F_GETPIPE_SZ), 65536, "a pipe has its usual size");
	transfer(&w, "pipe, spliced past the cap", 200000);
	ok(fcntl(w.engine[1], F_GETPIPE_SZ) > 65536 || w.heard.skipped < 1 << 20, "for bulk it is given more room");
	world_down(&w);

	ok(pipe2(p, O_CLOEXEC) == 0 && fcntl(p[1], F_SETPIPE_SZ, 131072) == 131072, "a pipe");
	w.engine[1] = p[0], w.engine[2] = -1;
	world_up(&w, p[1], -1, proc);
	transfer(&w, "pipe of a size that was chosen", 200000);
	is_int(fcntl(w.engine[1], F_GETPIPE_SZ), 131072, "it keeps it");
	world_down(&w);

	ok(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s) == 0, "sockets");
	w.engine[1] = s[0], w.engine[2] = -1;
	world_up(&w, s[1], -1, proc);
	transfer(&w, "socket", 0);
	world_down(&w);

	ok(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, s) == 0, "sockets");
	w.engine[1] = s[0], w.engine[2] = -1;
	world_up(&w, s[1], -1, proc);
	transfer(&w, "socket past the cap", 100000);
	world_down(&w);

	ok(pipe2(p, O_CLOEXEC) == 0, "pipe");
	w.engine[1] = p[0], w.engine[2] = -1;
	world_up(&w, p[1], -1, nowhere);
	transfer(&w, "a pipe that cannot be opened again", 0);
	world_down(&w);
	close(nowhere);
}

/* Non-blocking until nothing more goes in; the number of bytes. */
static size_t stuff(int fd)
{
	static const char block[4096];
	size_t total = 0;
	int i;

	for (i = 0; i < 4; i++) {
		ssize_t n;

		fcntl(fd, F_SETFL, O_NONBLOCK);
		while ((n = write(fd, block, sizeof(block))) > 0)
			total += (size_t)n;
		fcntl(fd, F_SETFL, 0);
		settle(5);
	}
	return total;
}

static unsigned long long cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (unsigned long long)t.tv_sec * 1000000000ull + (unsigned long long)t.tv_nsec;
}

static void idle_check(const char *what)
{
	unsigned long long start = cpu_ns();
	uint64_t end = ev_now(CLOCK_MONOTONIC) + 100 * MS;
	unsigned steps = 0;

	while (ev_now(CLOCK_MONOTONIC) < end) {
		(void)evloop_step(&loop, 20, &err);
		steps++;
	}
	ok(steps <= 8 && cpu_ns() - start < 50 * MS, "%s: no work while nothing moves (%u steps)", what, steps);
}

static void test_backpressure(void)
{
	struct world w;
	char *got = malloc(1 << 20);
	size_t total, n;
	int status = -1;
	pid_t pid;

	world_pipes(&w);
	total = stuff(w.fds.process[1]);
	ok(total > 2 * 65536 && total <= 2 * 65536 + RELAY_CHUNK, "%zu bytes, then the process waits", total);
	idle_check("engine does not read");
	pid = start_writer(&w, 1, "end", 3);
	stdio_relay_close_process(&w.fds);
	(void)evloop_step(&loop, 20, &err);
	is_int(waitpid(pid, &status, WNOHANG), 0, "a writer is blocked");
	n = read_all(&w, 1, got, 1 << 20);
	ok(n == total + 3 && memcmp(got + total, "end", 3) == 0, "nothing is lost");
	waitpid(pid, &status, 0);
	is_int(status, 0, "and it goes on");
	world_down(&w);

	/* The writer is gone, its last words still wait: a hang-up that must not spin. */
	world_pipes(&w);
	total = stuff(w.fds.process[1]);
	stdio_relay_close_process(&w.fds);
	settle(5);
	idle_check("writer gone, engine does not read");
	n = read_all(&w, 1, got, 1 << 20);
	is_int(n, total, "its output survives it");
	world_down(&w);

	/* The same where bytes are only moved. */
	world_pipes(&w);
	w.heard.enough = 1;
	ok(write(w.fds.process[1], "x", 1) == 1, "one tapped byte");
	settle(5);
	total = stuff(w.fds.process[1]);
	stdio_relay_close_process(&w.fds);
	settle(5);
	idle_check("moved, writer gone, engine does not read");
	n = read_all(&w, 1, got, 1 << 20);
	is_int(n, total + 1, "all arrives");
	ok(w.heard.skipped > 0 && w.heard.skipped + w.heard.len[1] == n, "%llu bytes were moved",
	   (unsigned long long)w.heard.skipped);
	world_down(&w);
	free(got);
}

static void test_broken(void)
{
	struct world w;
	char text[8];

	world_pipes(&w);
	close(w.engine[1]);
	w.engine[1] = -1;
	settle(5);
	ok(write(w.fds.process[1], "x", 1) < 0 && errno == EPIPE, "the engine's reader is gone: EPIPE at the first write");
	is_int(w.heard.ended[1], 1 + RELAY_END_ENGINE, "so the stream has ended");
	ok(write(w.fds.process[2], "y", 1) == 1, "the other goes on");
	settle(5);
	is_int(read(w.engine[2], text, sizeof(text)), 1, "and arrives");
	stdio_relay_close_process(&w.fds);
	settle(5);
	is_int(read(w.engine[2], text, sizeof(text)), 0, "end of file");
	is_int(w.heard.ended[2], 1 + RELAY_END_PROCESS, "by the process");
	world_down(&w);

	/* While a chunk waits for the reader that goes. */
	world_pipes(&w);
	(void)stuff(w.fds.process[1]);
	close(w.engine[1]);
	w.engine[1] = -1;
	settle(5);
	ok(write(w.fds.process[1], "x", 1) < 0 && errno == EPIPE, "EPIPE with bytes under way");
	ok(w.heard.len[1] > w.heard.bytes[1], "what did not arrive was tapped all the same");
	world_down(&w);
}

static void test_half_close(void)
{
	struct world w;
	char text[8];

	world_pipes(&w);
	close(w.fds.process[1]);
	w.fds.process[1] = -1;
	settle(5);
	is_int(read(w.engine[1], text, sizeof(text)), 0, "stdout closed alone");
	ok(write(w.fds.process[2], "z", 1) == 1, "stderr stays");
	settle(5);
	is_int(read(w.engine[2], text, sizeof(text)), 1, "open");
	ok(relay_is_open(&w.relay), "relay open");
	world_down(&w);
}

static void test_shared(void)
{
	struct world w;
	char text[64] = "";
	int p[2];

	ok(pipe2(p, O_CLOEXEC) == 0, "pipe");
	w.engine[1] = p[0], w.engine[2] = -1;
	world_up(&w, p[1], p[1], proc);
	ok(w.fds.process[2] < 0 && w.fds.choice[2].like == 1, "2>&1 is one stream");
	ok(write(w.fds.process[1], "out err out", 11) == 11, "write");
	settle(5);
	is_int(read(w.engine[1], text, sizeof(text)), 11, "read");
	world_down(&w);
}

static void test_drain(void)
{
	struct world w;
	char *got = malloc(1 << 20);
	size_t total;

	world_pipes(&w);
	is_int(relay_drain(&w.relay, ev_now(CLOCK_BOOTTIME) + 60000 * MS, &err), 0, "drain");
	is_int(w.heard.drained, 1, "nothing was written: at once, with the pipe held open");
	world_down(&w);

	world_pipes(&w);
	ok(write(w.fds.process[1], "last", 4) == 4, "last words");
	is_int(relay_drain(&w.relay, ev_now(CLOCK_BOOTTIME) + 60000 * MS, &err), 0, "drain");
	is_int(w.heard.drained, 0, "not yet");
	settle(5);
	is_int(w.heard.drained, 1, "delivered, while a grandchild may still hold the pipe");
	is_int(read(w.engine[1], got, 10), 4, "to the engine");
	ok(write(w.fds.process[1], "later", 5) == 5, "the grandchild writes");
	settle(5);
	is_int(read(w.engine[1], got, 10), 5, "and is still relayed");
	world_down(&w);

	/* More than fits: drained when the reader has taken it. */
	world_pipes(&w);
	total = stuff(w.fds.process[1]);
	is_int(relay_drain(&w.relay, ev_now(CLOCK_BOOTTIME) + 60000 * MS, &err), 0, "drain");
	stdio_relay_close_process(&w.fds);
	settle(5);
	is_int(w.heard.drained, 0, "the engine is slow");
	is_int(read_all(&w, 1, got, 1 << 20), total, "it reads");
	settle(5);
	is_int(w.heard.drained, 1, "then it is whole");
	world_down(&w);

	/* An engine that does not read must not hold the exit for ever. */
	world_pipes(&w);
	(void)stuff(w.fds.process[1]);
	is_int(relay_drain(&w.relay, ev_now(CLOCK_BOOTTIME) + 30 * MS, &err), 0, "drain");
	settle(5);
	is_int(w.heard.drained, 0, "waits");
	settle(60);
	is_int(w.heard.drained, 2, "the time limit passed");
	ok(relay_is_open(&w.relay), "the streams go on");
	is_int(relay_close(&w.relay, &err), 0, "close");
	is_int(w.heard.ended[1], 1 + RELAY_END_CUT, "cut");
	ok(!relay_is_open(&w.relay), "both");
	world_down(&w);

	/* The engine's end counts as drained. */
	world_pipes(&w);
	(void)stuff(w.fds.process[1]);
	is_int(relay_drain(&w.relay, ev_now(CLOCK_BOOTTIME) + 60000 * MS, &err), 0, "drain");
	close(w.engine[1]);
	w.engine[1] = -1;
	settle(5);
	is_int(w.heard.drained, 1, "nobody to deliver to");
	world_down(&w);
	free(got);
}

/* The container is over while its engine is slow. */
static void test_finish(void)
{
	struct world w;
	char *got = malloc(1 << 20);
	size_t total, n;

	world_pipes(&w);
	total = stuff(w.fds.process[1]);
	ok(write(w.fds.process[2], "x", 1) == 1, "and one byte on the other");
	is_int(relay_finish(&w.relay, &err), 0, "finish");
	ok(w.heard.ended[1] == 1 + RELAY_END_PROCESS && w.heard.bytes[1] == total, "the last word, with all bytes");
	is_int(w.heard.len[1], total, "all tapped");
	ok(write(w.fds.process[1], "x", 1) < 0 && errno == EPIPE, "nobody can add to it");
	ok(relay_is_open(&w.relay), "still delivering");
	idle_check("engine does not read");
	n = read_all(&w, 1, got, 1 << 20);
	is_int(n, total, "until the engine has it");
	is_int(read_all(&w, 2, got, 16), 1, "both");
	ok(!relay_is_open(&w.relay), "then it is over");
	is_int(w.heard.delivered, 1, "which is told once");
	world_down(&w);

	world_pipes(&w);
	(void)stuff(w.fds.process[1]);
	is_int(relay_finish(&w.relay, &err), 0, "finish");
	w.heard.ended[1] = 0;
	close(w.engine[1]);
	w.engine[1] = -1;
	settle(5);
	ok(!relay_is_open(&w.relay) && w.heard.delivered == 1, "or has gone");
	is_int(w.heard.ended[1], 0, "of which nobody is told twice");
	world_down(&w);
	free(got);
}

static void test_hold(void)
{
	struct world w;
	char text[8];

	world_pipes(&w);
	is_int(relay_hold(&w.relay, true, &err), 0, "hold");
	ok(write(w.fds.process[1], "abc", 3) == 3, "write");
	settle(10);
	is_int(w.heard.len[1], 0, "not read");
	is_int(relay_hold(&w.relay, false, &err), 0, "let go");
	settle(5);
	is_int(w.heard.len[1], 3, "read");
	is_int(read(w.engine[1], text, sizeof(text)), 3, "delivered");
	world_down(&w);
}

/* Pages given to the pipe and changed afterwards. */
static void test_changed_page(void)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct iovec v = { .iov_base = page, .iov_len = 4096 };
	char got[4096];
	struct world w;
	int i, same = 0;

	world_pipes(&w);
	for (i = 0; i < 50; i++) {
		memset(page, 'a', 4096);
		if (vmsplice(w.fds.process[1], &v, 1, SPLICE_F_GIFT) != 4096)
			break;
		if (i % 2)
			memset(page, 'b', 4096);
		w.heard.len[1] = 0;
		settle(0);
		memset(page, 'c', 4096); /* after the relay read, before the engine does */
		if (read(w.engine[1], got, 4096) == 4096 && w.heard.len[1] == 4096 &&
		    memcmp(got, w.heard.log, 4096) == 0 && got[0] == (i % 2 ? 'b' : 'a'))
			same++;
	}
	is_int(same, 50, "log and engine got the same bytes");
	world_down(&w);
	munmap(page, 4096);
}

/* An engine's end that fails otherwise than by going: what a process wrote may not be lost without a word. */
static void test_failed_write(void)
{
	struct world w = { .engine = { -1, -1, -1 } };
	int p[2], q[2], r = 0, i;

	if (pipe2(p, O_CLOEXEC) < 0 || pipe2(q, O_CLOEXEC) < 0)
		_exit(9);
	w.engine[1] = p[0];
	w.heard = (struct heard){ .log = malloc(LOG_MAX) };
	is_int(stdio_relay_make((const int[]){ -1, p[1], -1 }, false, proc, &w.fds, &err), 0, "failed write: make");
	ok(dup2(q[0], w.fds.engine[1].fd) >= 0, "an end that cannot be written");
	w.fds.engine[1].how = STDIO_OWN;
	relay_init(&w.relay, &hub, &ops, &w.heard);
	is_int(relay_add(&w.relay, 1, &w.fds.inside[1], &w.fds.engine[1], true, &err), 0, "failed write: add");
	ok(write(w.fds.process[1], "words", 5) == 5, "a process writes");
	for (i = 0; i < 50 && r == 0; i++)
		r = evloop_step(&loop, 20, &err);
	is_int(r, -EBADF, "is an error");
	ok(strstr(err.text, "write to the engine what a process wrote") != NULL, "that says what was lost: %s", err.text);
	is_int(w.heard.ended[1], 0, "and no end of the stream");
	close(p[1]);
	close(q[0]);
	close(q[1]);
	world_down(&w);
}

int main(void)
{
	TAP_BEGIN();
	signal(SIGPIPE, SIG_IGN);
	alarm(120);
	proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
	is_int(evloop_init(&loop, &err), 0, "loop");
	hub.loop = &loop;
	test_identity();
	test_backpressure();
	test_broken();
	test_half_close();
	test_shared();
	test_drain();
	test_finish();
	test_hold();
	test_changed_page();
	test_failed_write();
	evloop_done(&loop);
	close(proc);
	return TAP_END();
}

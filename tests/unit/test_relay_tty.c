/*
 * A terminal in two halves: bytes, modes, hang-ups and sizes between a process's pty and an
 * engine's, and the helper that learns of sizes.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "monitor/relay_tty.h"
#include "os/tty.h"
#include "tests/unit/tap.h"
#include "util/cleanup.h"

static struct error err;
static struct evloop loop = EVLOOP_NULL;

struct world {
	struct relay_tty relay;
	int slave, engine, helper; /* the process's side, the engine's, the helper's end of its socket */
	char log[1 << 20];
	size_t len;
	int ended; /* 1 + enum relay_end */
	int drained, delivered;
	struct relay_window window;
};

static int on_tap(void *arg, const void *data, size_t len, struct error *e)
{
	struct world *w = arg;

	if (w->len + len <= sizeof(w->log))
		memcpy(w->log + w->len, data, len);
	w->len += len;
	return 0;
}

static int on_window(void *arg, const struct relay_window *win, struct error *e)
{
	((struct world *)arg)->window = *win;
	return 0;
}

static int on_ended(void *arg, enum relay_end how, uint64_t bytes, struct error *e)
{
	struct world *w = arg;

	w->ended = 1 + (int)how;
	return bytes == w->len ? 0 : -EBADMSG;
}

static int on_drained(void *arg, struct error *e)
{
	((struct world *)arg)->drained++;
	return 0;
}

static int on_delivered(void *arg, struct error *e)
{
	((struct world *)arg)->delivered++;
	return 0;
}

static const struct relay_tty_ops ops = { .tap = on_tap,
					  .window = on_window,
					  .ended = on_ended,
					  .drained = on_drained,
					  .delivered = on_delivered };

static void world_up(struct world *w)
{
	int root = open("/", O_PATH | O_CLOEXEC), fds[3], socks[2], outer = -1;

	memset(w, 0, sizeof(*w));
	is_int(tty_open_pty(root, &fds[0], &w->slave, &err), 0, "the process's terminal");
	is_int(tty_outer_open(&w->engine, &outer, &err), 0, "the engine's");
	fds[1] = outer;
	ok(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) == 0, "the helper's socket");
	fds[2] = socks[0];
	w->helper = socks[1];
	fcntl(fds[0], F_SETFL, O_RDWR | O_NONBLOCK);
	fcntl(fds[1], F_SETFL, O_RDWR | O_NONBLOCK);
	fcntl(w->engine, F_SETFL, O_RDWR | O_NONBLOCK);
	is_int(relay_tty_start(&w->relay, &loop, &ops, w, fds, &err), 0, "start");
	close(root);
}

static void world_down(struct world *w)
{
	relay_tty_done(&w->relay);
	if (w->slave >= 0)
		close(w->slave);
	if (w->engine >= 0)
		close(w->engine);
	close(w->helper);
}

static void settle(int quiet_ms)
{
	struct pollfd p = { .fd = loop.fd, .events = POLLIN };

	while (poll(&p, 1, quiet_ms) == 1)
		if (evloop_step(&loop, 0, &err) < 0) {
			ok(false, "loop: %s", err.text);
			return;
		}
}

/* What the engine can read by now. */
static const char *engine_reads(struct world *w)
{
	static char text[8192];
	size_t len = 0;
	ssize_t n;

	settle(10);
	while (len < sizeof(text) - 1 && (n = read(w->engine, text + len, sizeof(text) - 1 - len)) > 0) {
		len += (size_t)n;
		settle(5);
	}
	text[len] = '\0';
	return text;
}

static void test_bytes(struct world *w)
{
	char text[64] = "";
	struct termios t;

	world_up(w);
	ok(write(w->slave, "a\n\033[1mb", 7) == 7, "the process writes");
	is_str(engine_reads(w), "a\r\n\033[1mb", "the engine reads it");
	ok(w->len == 8 && memcmp(w->log, "a\r\n\033[1mb", 8) == 0, "and so does the tap");
	ok(write(w->engine, "typed\n", 6) == 6, "the engine writes");
	is_str(engine_reads(w), "typed\r\n", "the echo is the process's terminal's");
	is_int(read(w->slave, text, sizeof(text)), 6, "a line is read");
	ok(tcgetattr(w->slave, &t) == 0, "modes");
	t.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	ok(tcsetattr(w->slave, TCSANOW, &t) == 0, "the process wants single keys");
	ok(write(w->engine, "\003q", 2) == 2, "keys");
	settle(10);
	is_int(read(w->slave, text, sizeof(text)), 1, "an interrupt key is none of its bytes");
	is_str(engine_reads(w), "", "no echo any more");
	world_down(w);
}

static void test_modes(struct world *w)
{
	struct termios t;

	world_up(w);
	ok(tcgetattr(w->slave, &t) == 0 && (t.c_oflag & ONLCR) && (t.c_lflag & ICANON), "as it was made");
	ok(tcgetattr(w->engine, &t) == 0 && (t.c_oflag & ONLCR), "the engine reads modes");
	t.c_oflag &= ~(tcflag_t)ONLCR;
	ok(tcsetattr(w->engine, TCSANOW, &t) == 0, "and takes one away");
	ok(write(w->engine, "x\n", 2) == 2, "something passes");
	settle(10);
	ok(tcgetattr(w->slave, &t) == 0 && !(t.c_oflag & ONLCR), "the process's terminal has it not");
	/* As conmon does, on the master it got. */
	ok(tcgetattr(w->engine, &t) == 0, "the engine reads modes");
	t.c_oflag |= ONLCR | OLCUC;
	ok(tcsetattr(w->engine, TCSANOW, &t) == 0, "and sets others");
	ok(write(w->engine, "x\n", 2) == 2, "something passes");
	settle(10);
	ok(tcgetattr(w->slave, &t) == 0 && (t.c_oflag & OLCUC), "they are carried over");
	t.c_oflag = (t.c_oflag & ~(tcflag_t)OLCUC) | ONLCR;
	ok(tcsetattr(w->slave, TCSANOW, &t) == 0, "the process chooses others");
	ok(tcgetattr(w->slave, &t) == 0 && (t.c_oflag & ONLCR) && (t.c_oflag & OPOST), "the process's terminal has it");
	ok((t.c_lflag & ICANON) && (t.c_lflag & ISIG), "and nothing else has changed");
	ok(tcgetattr(w->engine, &t) == 0 && !(t.c_oflag & OPOST), "the engine's is transparent");
	(void)engine_reads(w);
	ok(write(w->slave, "1\n", 2) == 2, "a line");
	is_str(engine_reads(w), "1\r\n", "converted once");
	ok(tcgetattr(w->slave, &t) == 0, "modes");
	t.c_oflag &= ~(tcflag_t)OPOST;
	ok(tcsetattr(w->slave, TCSANOW, &t) == 0, "the process takes it raw");
	ok(write(w->slave, "2\n", 2) == 2, "a line");
	is_str(engine_reads(w), "2\n", "not converted");
	world_down(w);
}

static void test_ends(struct world *w)
{
	char name[64], text[64];
	int again;

	/* All processes closed it, and one opens it again: init, and /dev/console. */
	world_up(w);
	ok(ttyname_r(w->slave, name, sizeof(name)) == 0, "name");
	ok(write(w->slave, "bye", 3) == 3, "last words");
	close(w->slave);
	w->slave = -1;
	is_str(engine_reads(w), "bye", "arrive");
	is_int(w->ended, 0, "a hang-up need not be the end");
	again = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	ok(again >= 0 && write(again, "back", 4) == 4, "opened again");
	settle(150);
	is_str(engine_reads(w), "back", "goes on");
	ok(write(again, "end", 3) == 3, "the leader's last words");
	close(again);
	is_int(relay_tty_drain(&w->relay, &err), 0, "it has ended");
	settle(10);
	is_int(w->drained, 1, "all is out");
	is_int(w->ended, 1 + RELAY_END_PROCESS, "and over");
	close(w->helper);
	w->helper = -1;
	is_int(read(w->engine, text, sizeof(text)), 3, "the engine still reads it");
	ok(read(w->engine, text, sizeof(text)) < 0 && errno == EIO, "and then the end");
	world_down(w);

	/* The engine goes: the process gets a hang-up. */
	world_up(w);
	close(w->engine);
	w->engine = -1;
	settle(10);
	is_int(w->ended, 1 + RELAY_END_ENGINE, "the engine has gone");
	is_int(read(w->slave, text, sizeof(text)), 0, "end of file for the process");
	world_down(w);

	/* Its helper is lost: a hang-up for the process, too. */
	world_up(w);
	close(w->helper);
	w->helper = -1;
	settle(10);
	is_int(w->ended, 1 + RELAY_END_CUT, "the helper is lost");
	is_int(read(w->slave, text, sizeof(text)), 0, "end of file for the process");
	ok(read(w->engine, text, sizeof(text)) < 0 && errno == EIO, "and for the engine");
	world_down(w);

	/* Its leader has ended, others still have it: what was written by then is waited for, no more. */
	world_up(w);
	ok(write(w->slave, "x", 1) == 1, "write");
	is_int(relay_tty_drain(&w->relay, &err), 0, "drain");
	settle(10);
	is_int(w->drained, 1, "drained");
	is_int(w->ended, 0, "still open");
	is_str(engine_reads(w), "x", "delivered");
	world_down(w);
}

static void test_slow(struct world *w)
{
	static const char block[4096];
	size_t total = 0, got = 0;
	char text[4096];
	ssize_t n;
	int i;

	world_up(w);
	fcntl(w->slave, F_SETFL, O_RDWR | O_NONBLOCK);
	for (i = 0; i < 8; i++) {
		while ((n = write(w->slave, block, sizeof(block))) > 0)
			total += (size_t)n;
		settle(10);
	}
	ok(total > 4096 && total < 256 * 1024, "%zu bytes, then the process waits", total);
	is_int(relay_tty_drain(&w->relay, &err), 0, "it ends");
	settle(20);
	is_int(w->drained, 0, "an engine that does not read is waited for");
	is_int(relay_tty_finish(&w->relay, &err), 0, "the container is over");
	ok(w->ended && w->len == total && w->delivered == 0, "all tapped, not delivered");
	for (i = 0; i < 1000 && got < total; i++) {
		while ((n = read(w->engine, text, sizeof(text))) > 0)
			got += (size_t)n;
		settle(5);
	}
	is_int(got, total, "the engine gets it all in the end");
	is_int(w->delivered, 1, "which is told");
	world_down(w);
}

static void test_helper(struct world *w)
{
	struct winsize ws = { .ws_row = 33, .ws_col = 99 };
	int root = open("/", O_PATH | O_CLOEXEC), inner, slave, engine, outer, socks[2], status = -1;
	struct relay_window win = { 0 };
	char text[8];
	pid_t pid;

	if (access("./agentrun-tty", X_OK) < 0) {
		ok(true, "helper # SKIP not built here");
		return;
	}
	is_int(tty_open_pty(root, &inner, &slave, &err), 0, "inner");
	is_int(tty_outer_open(&engine, &outer, &err), 0, "outer");
	ok(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) == 0, "socket");
	ok(ioctl(engine, TIOCSWINSZ, &ws) == 0, "a size before it starts");
	pid = fork();
	if (pid == 0) {
		int a = fcntl(outer, F_DUPFD, 20), b = fcntl(inner, F_DUPFD, 20), c = fcntl(socks[1], F_DUPFD, 20);

		dup2(a, 3), dup2(b, 4), dup2(c, 5);
		for (a = 6; a < 64; a++)
			close(a);
		execl("./agentrun-tty", "agentrun-tty", (char *)NULL);
		_exit(127);
	}
	close(socks[1]);
	is_int(recv(socks[0], &win, sizeof(win), 0), sizeof(win), "it reports");
	ok(win.rows == 33 && win.cols == 99, "that size");
	ws.ws_row = 50;
	ok(ioctl(engine, TIOCSWINSZ, &ws) == 0, "the engine's window changes");
	is_int(recv(socks[0], &win, sizeof(win), 0), sizeof(win), "it reports");
	ok(ioctl(slave, TIOCGWINSZ, &ws) == 0 && ws.ws_row == 50 && ws.ws_col == 99, "the process's terminal has it");
	ok(write(outer, "last", 4) == 4, "last words of the session");
	close(outer);
	close(socks[0]);
	waitpid(pid, &status, 0);
	is_int(status, 0, "it ends with the session");
	is_int(read(engine, text, sizeof(text)), 4, "and takes nothing with it");
	ok(read(engine, text, sizeof(text)) < 0 && errno == EIO, "then the engine sees the end");
	close(inner), close(slave), close(engine), close(root);
}

int main(void)
{
	static struct world w;

	TAP_BEGIN();
	signal(SIGPIPE, SIG_IGN);
	alarm(60);
	is_int(evloop_init(&loop, &err), 0, "loop");
	test_bytes(&w);
	test_modes(&w);
	test_ends(&w);
	test_slow(&w);
	test_helper(&w);
	evloop_done(&loop);
	return TAP_END();
}

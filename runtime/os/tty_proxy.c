/*
 * The loops of a foreground `run` or `exec`: waiting for the child, handing on
 * signals, and with a terminal copying bytes. One thread, one poll, and every
 * signal comes through a signalfd, so that the user's terminal is always
 * restored.
 */
#include "os/tty.h"

#include <assert.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <termios.h>

#include "util/fd.h"

#define PROXY_CHUNK 4096
/* How often to look whether a terminal that all processes closed was opened again. */
#define PROXY_HANGUP_MS	   100
#define PROXY_DRAIN_CHUNKS 256

struct chunk {
	char data[PROXY_CHUNK];
	size_t pos, len;
};

struct proxy {
	int master; /* -EBADF: none */
	const struct pidref *child;
	const struct wait_also *also; /* or NULL */
	int signal_fd;
	sigset_t old_mask;
	bool masked;
	int size_fd; /* the terminal whose size is followed, -EBADF = none */
	bool raw;
	struct termios cooked; /* of stdin, when raw */
	bool in_open;	       /* stdin may have more */
	bool out_open;	       /* stdout takes more */
	bool hung;	       /* nobody has the slave open at the moment */
	bool dead;	       /* the child is, but its tracer still holds its end back */
	struct chunk to_child, to_user;
};

static void proxy_done(struct proxy *p)
{
	if (p->raw)
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &p->cooked);
	cleanup_closep(&p->signal_fd);
	if (p->masked)
		(void)sigprocmask(SIG_SETMASK, &p->old_mask, NULL);
}

static int signals_open(struct proxy *p, struct error *err)
{
	/* Faults of our own must end us, blocked or not. */
	static const int own[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS };
	sigset_t set;
	size_t i;

	(void)sigfillset(&set);
	for (i = 0; i < ELEMENTSOF(own); i++)
		(void)sigdelset(&set, own[i]);
	if (sigprocmask(SIG_BLOCK, &set, &p->old_mask) < 0)
		return error_set(err, -errno, "block signals");
	p->masked = true;
	p->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (p->signal_fd < 0)
		return error_set(err, -errno, "open signalfd");
	return 0;
}

/* Orphans that came to us as subreaper; the child itself is left for pidref_reap(). */
static void reap_others(const struct pidref *child)
{
	for (;;) {
		siginfo_t si = { 0 };

		if (waitid(P_ALL, 0, &si, WEXITED | WNOHANG | WNOWAIT) < 0 || si.si_pid == 0 ||
		    si.si_pid == child->pid)
			return;
		(void)waitpid(si.si_pid, NULL, WNOHANG);
	}
}

static int also_fd(const struct proxy *p)
{
	return p->also ? p->also->fd : -1;
}

static void size_follow(const struct proxy *p)
{
	struct winsize ws;

	if (p->size_fd >= 0 && ioctl(p->size_fd, TIOCGWINSZ, &ws) == 0)
		(void)ioctl(p->master, TIOCSWINSZ, &ws);
}

static void signal_handle(const struct proxy *p, int sig)
{
	switch (sig) {
	case SIGCHLD:
		reap_others(p->child);
		return;
	case SIGPIPE:
	case SIGURG:
	case SIGTTIN: /* about our own place in the user's session, not the child's */
	case SIGTTOU:
		return;
	case SIGWINCH:
		if (p->master >= 0) {
			size_follow(p);
			return;
		}
		break;
	default:
		break;
	}
	(void)pidref_signal(p->child, sig);
}

static void signals_read(const struct proxy *p)
{
	struct signalfd_siginfo si;

	while (read(p->signal_fd, &si, sizeof(si)) == (ssize_t)sizeof(si))
		signal_handle(p, (int)si.ssi_signo);
}

/* Raw, but with the output processing as it was: the container's pty does not make CR LF of LF, so
 * this one must. */
static int terminal_raw(struct proxy *p, struct error *err)
{
	struct termios t;

	if (!isatty(STDIN_FILENO))
		return 0;
	if (tcgetattr(STDIN_FILENO, &p->cooked) < 0)
		return error_set(err, -errno, "read the modes of the terminal");
	t = p->cooked;
	cfmakeraw(&t);
	t.c_oflag = p->cooked.c_oflag;
	if (tcsetattr(STDIN_FILENO, TCSANOW, &t) < 0)
		return error_set(err, -errno, "set the modes of the terminal");
	p->raw = true;
	return 0;
}

static int size_source(void)
{
	int fd;

	for (fd = 0; fd <= 2; fd++)
		if (isatty(fd))
			return fd;
	return -EBADF;
}

static void from_user(struct proxy *p)
{
	ssize_t n = read(STDIN_FILENO, p->to_child.data, sizeof(p->to_child.data));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		p->in_open = false;
		return;
	}
	p->to_child.pos = 0;
	p->to_child.len = (size_t)n;
}

static void into_master(struct proxy *p)
{
	struct chunk *c = &p->to_child;
	ssize_t n = write(p->master, c->data + c->pos, c->len - c->pos);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n < 0) /* a terminal that nobody has open takes nothing */
		c->pos = c->len;
	else
		c->pos += (size_t)n;
}

static void from_master(struct proxy *p)
{
	ssize_t n = read(p->master, p->to_user.data, sizeof(p->to_user.data));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		p->hung = true; /* EIO: no slave is open */
		return;
	}
	p->hung = false;
	/* The container must not be stopped by a reader that went away. */
	p->to_user.pos = p->out_open ? 0 : (size_t)n;
	p->to_user.len = (size_t)n;
}

static void into_user(struct proxy *p)
{
	struct chunk *c = &p->to_user;
	ssize_t n = write(STDOUT_FILENO, c->data + c->pos, c->len - c->pos);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n < 0) {
		p->out_open = false;
		c->pos = c->len;
		return;
	}
	c->pos += (size_t)n;
}

/* Whether the user asks to end while stdout takes nothing: all signals are blocked, so this is the
 * only way out. */
static bool user_gives_up(const struct proxy *p)
{
	struct signalfd_siginfo si;

	while (read(p->signal_fd, &si, sizeof(si)) == (ssize_t)sizeof(si))
		if (si.ssi_signo == SIGTERM || si.ssi_signo == SIGINT || si.ssi_signo == SIGHUP ||
		    si.ssi_signo == SIGQUIT)
			return true;
	return false;
}

static void flush_to_user(struct proxy *p)
{
	while (p->to_user.pos < p->to_user.len) {
		struct pollfd fds[] = {
			{ .fd = STDOUT_FILENO, .events = POLLOUT },
			{ .fd = p->signal_fd, .events = POLLIN },
		};

		if (poll(fds, ELEMENTSOF(fds), -1) < 0 && errno != EINTR)
			return;
		if (fds[1].revents && user_gives_up(p)) {
			p->out_open = false;
			return;
		}
		if (fds[0].revents)
			into_user(p);
	}
}

/*
 * What was written before the child's end. Reading a pty flushes the kernel's queue first, so empty
 * means empty; a survivor that goes on writing is cut off.
 */
static void drain(struct proxy *p)
{
	int i;

	for (i = 0; i < PROXY_DRAIN_CHUNKS; i++) {
		flush_to_user(p);
		p->to_user.len = p->to_user.pos = 0;
		from_master(p);
		if (p->to_user.len == 0)
			return;
	}
}

/*
 * A tracer shows its end when the last output is out, which goes through us: so that is waited for
 * here and not in wait(2). SIGCHLD wakes us.
 */
static bool may_reap(const struct pidref *child)
{
	siginfo_t si = { 0 };

	return waitid(P_PIDFD, (id_t)child->fd, &si, WEXITED | WNOHANG | WNOWAIT) < 0 || si.si_pid > 0;
}

static int proxy_poll(struct proxy *p, bool *ret_ended, struct error *err)
{
	bool child_pending = p->to_child.pos < p->to_child.len;
	bool user_pending = p->to_user.pos < p->to_user.len;
	struct pollfd fds[] = {
		{ .fd = p->signal_fd, .events = POLLIN },
		{ .fd = p->dead ? -1 : p->child->fd, .events = POLLIN },
		{ .fd = p->in_open && !child_pending ? STDIN_FILENO : -1, .events = POLLIN },
		{ .fd = user_pending ? STDOUT_FILENO : -1, .events = POLLOUT },
		{ .fd = p->hung ? -1 : p->master },
		{ .fd = also_fd(p), .events = POLLIN },
	};
	struct pollfd *master = &fds[4];

	master->events = (short)((user_pending ? 0 : POLLIN) | (child_pending ? POLLOUT : 0));
	if (master->events == 0)
		master->fd = -1; /* POLLHUP cannot be masked */
	*ret_ended = false;
	if (poll(fds, ELEMENTSOF(fds), p->hung ? PROXY_HANGUP_MS : -1) < 0) {
		if (errno == EINTR)
			return 0;
		return error_set(err, -errno, "wait for terminal and process");
	}
	if (fds[0].revents)
		signals_read(p);
	if (fds[2].revents)
		from_user(p);
	if (fds[3].revents)
		into_user(p);
	if (child_pending && (p->hung || (master->revents & (POLLOUT | POLLHUP | POLLERR))))
		into_master(p);
	if (!user_pending && (p->hung || (master->revents & (POLLIN | POLLHUP | POLLERR))))
		from_master(p);
	if (fds[5].revents)
		p->also->fn(p->also->arg);
	p->dead |= fds[1].revents != 0;
	*ret_ended = p->dead && may_reap(p->child);
	return 0;
}

void tty_size_from_user(int master)
{
	int fd = size_source();
	struct winsize ws;

	if (fd >= 0 && ioctl(fd, TIOCGWINSZ, &ws) == 0)
		(void)ioctl(master, TIOCSWINSZ, &ws);
}

int tty_proxy_run(int master, const struct pidref *child, const struct wait_also *also, int *ret_status,
		  struct error *err)
{
	_cleanup_(proxy_done) struct proxy p = {
		.master = master,
		.child = child,
		.also = also,
		.signal_fd = -EBADF,
		.size_fd = size_source(),
		.in_open = true,
		.out_open = true,
	};
	bool ended = false;
	int flags, r;

	assert(master >= 0 && child && child->fd >= 0);
	assert(ret_status);

	flags = fcntl(master, F_GETFL);
	if (flags < 0 || fcntl(master, F_SETFL, flags | O_NONBLOCK) < 0)
		return error_set(err, -errno, "make the terminal non-blocking");
	r = signals_open(&p, err);
	if (r < 0)
		return r;
	r = terminal_raw(&p, err);
	if (r < 0)
		return r;
	size_follow(&p);
	while (!ended) {
		r = proxy_poll(&p, &ended, err);
		if (r < 0)
			return r;
	}
	drain(&p);
	return pidref_reap(child, ret_status, err);
}

int wait_forwarding(const struct pidref *child, const struct wait_also *also, int *ret_status, struct error *err)
{
	_cleanup_(proxy_done) struct proxy p = {
		.master = -EBADF,
		.child = child,
		.also = also,
		.signal_fd = -EBADF,
		.size_fd = -EBADF,
	};
	int r;

	assert(child && child->fd >= 0);
	assert(ret_status);

	r = signals_open(&p, err);
	if (r < 0)
		return r;
	for (;;) {
		struct pollfd fds[] = {
			{ .fd = p.signal_fd, .events = POLLIN },
			{ .fd = child->fd, .events = POLLIN },
			{ .fd = also_fd(&p), .events = POLLIN },
		};

		if (poll(fds, ELEMENTSOF(fds), -1) < 0 && errno != EINTR)
			return error_set(err, -errno, "wait for process %d", child->pid);
		if (fds[0].revents)
			signals_read(&p);
		if (fds[2].revents)
			also->fn(also->arg);
		if (fds[1].revents)
			return pidref_reap(child, ret_status, err);
	}
}

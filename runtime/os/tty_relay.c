/*
 * The outer terminal of a relayed one, and its modes.
 */
#include "os/tty_relay.h"

#include <fcntl.h>

#include "os/tty.h"
#include "util/cleanup.h"

int tty_outer_open(int *ret_master, int *ret_slave, struct error *err)
{
	_cleanup_close_ int root = -EBADF;
	_cleanup_close_ int master = -EBADF;
	_cleanup_close_ int slave = -EBADF;
	struct termios t;
	int r;

	root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return error_set(err, -errno, "open /");
	r = tty_open_pty(root, &master, &slave, err);
	if (r < 0)
		return error_prefix(err, "the engine's side of the terminal");
	if (tcgetattr(slave, &t) < 0)
		return error_set(err, -errno, "read the modes of the engine's terminal");
	cfmakeraw(&t);
	if (tcsetattr(slave, TCSANOW, &t) < 0)
		return error_set(err, -errno, "set the modes of the engine's terminal");
	*ret_master = take_fd(&master);
	*ret_slave = take_fd(&slave);
	return 0;
}

int tty_mirror_init(struct tty_mirror *m, int outer, struct error *err)
{
	if (tcgetattr(outer, &m->plain) < 0)
		return error_set(err, -errno, "read the modes of the engine's terminal");
	/* What came in between must not pass for the plain state: an engine may have been quick. */
	cfmakeraw(&m->plain);
	/* Without OPOST it does nothing; it stands as inside, so that an engine can turn it off. */
	m->plain.c_oflag |= ONLCR;
	return 0;
}

static tcflag_t carried(tcflag_t inner, tcflag_t before, tcflag_t after)
{
	tcflag_t changed = before ^ after;

	return (inner & ~changed) | (after & changed);
}

void tty_mirror_modes(const struct tty_mirror *m, int outer, int inner)
{
	const struct termios *p = &m->plain;
	struct termios now, t;

	if (tcgetattr(outer, &now) < 0 || (now.c_iflag == p->c_iflag && now.c_oflag == p->c_oflag &&
					   now.c_lflag == p->c_lflag))
		return;
	if (tcgetattr(inner, &t) == 0) {
		t.c_iflag = carried(t.c_iflag, p->c_iflag, now.c_iflag);
		t.c_oflag = carried(t.c_oflag, p->c_oflag, now.c_oflag);
		t.c_lflag = carried(t.c_lflag, p->c_lflag, now.c_lflag);
		(void)tcsetattr(inner, TCSANOW, &t);
	}
	(void)tcsetattr(outer, TCSANOW, p);
}

bool tty_hides_lines(int inner)
{
	struct termios t;

	return tcgetattr(inner, &t) == 0 && (t.c_lflag & ICANON) && !(t.c_lflag & ECHO);
}

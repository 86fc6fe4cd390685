/*
 * Terminals: a pty from the container's devpts, its hand-over, size and modes;
 * the AF_UNIX sockets that descriptors are handed over with; and the loops of a
 * foreground command that stands between the user's terminal and the container.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "os/pidref.h"
#include "util/error.h"

/*
 * Opens DEV/pts/ptmx below rootfs_fd (verified devpts), unlocks, and gets the slave
 * with TIOCGPTPEER, never by path (CVE-2025-52565). Its modes are the kernel's: engines count on
 * CR LF at the end of lines.
 */
int tty_open_pty(int rootfs_fd, int *ret_master, int *ret_slave, struct error *err);
/* For a terminal behind the user's own, which makes CR LF of LF already. */
int tty_plain_newlines(int fd, struct error *err);
int tty_set_size(int fd, unsigned short rows, unsigned short cols, struct error *err);
/* Makes slave the controlling terminal and descriptors 0-2. setsid() is done by the caller. slave stays open. */
int tty_attach(int slave, struct error *err);
/* Connects to an AF_UNIX stream socket at path (any length); what names it in messages: "console socket". */
int tty_socket_connect(const char *path, const char *what, int *ret_fd, struct error *err);
/* Listening SOCK_SEQPACKET socket at dirfd/name, mode 0600. */
int unix_listen_at(int dirfd, const char *name, int *ret_fd, struct error *err);
/* Connects to such a socket; a symlink is refused. -ETIMEDOUT: whoever listens accepts nobody. */
int unix_connect_at(int dirfd, const char *name, int *ret_fd, struct error *err);
/* Datagram socket connected to an absolute path or an abstract "@NAME". */
int unix_connect_datagram(const char *address, int *ret_fd, struct error *err);
/* Datagram socket at dirfd/name with exactly that mode; replaces an old one. */
int unix_bind_datagram_at(int dirfd, const char *name, mode_t mode, int *ret_fd, struct error *err);
/* Sends the master as the console protocol asks: one message "/dev/ptmx", one descriptor. */
int tty_send_master(int sock, int master, struct error *err);

/* One more thing to look after while waiting: fn(arg) whenever fd can be read. */
struct wait_also {
	int fd;
	void (*fn)(void *arg);
	void *arg;
};

/*
 * Gives the pty the size of the user's terminal (descriptors 0 to 2), where there is one:
 * before the program starts, which may ask for it at once.
 */
void tty_size_from_user(int master);
/*
 * Foreground with a terminal: puts the user's terminal (stdin, when it is one) in raw mode and restores it, copies
 * both ways, follows its size, forwards signals to the child, and reaps it. *ret_status as
 * pidref_reap(). master becomes non-blocking. also: may be NULL.
 */
int tty_proxy_run(int master, const struct pidref *child, const struct wait_also *also, int *ret_status,
		  struct error *err);
/*
 * Foreground without a terminal: forwards every signal that can be caught (but SIGCHLD, SIGPIPE,
 * SIGURG and the terminal's stop signals) to the child until it ends, and reaps it. Other
 * children (a subreaper's orphans) are reaped on the way. also: may be NULL.
 */
int wait_forwarding(const struct pidref *child, const struct wait_also *also, int *ret_status, struct error *err);

/*
 * Two terminals that are to look like one: the container's (inner) and the one whose
 * master the engine holds (outer), with a relay between inner master and outer slave. The
 * outer one is transparent; what an engine sets on it is meant for the inner one.
 */
#pragma once

#include <stdbool.h>
#include <termios.h>

#include "util/error.h"

/* A pty of this mount namespace's devpts, transparent in both directions. */
int tty_outer_open(int *ret_master, int *ret_slave, struct error *err);

struct tty_mirror {
	struct termios plain; /* of the outer terminal when nobody has touched it */
};

/* outer: the slave, transparent. */
int tty_mirror_init(struct tty_mirror *m, int outer, struct error *err);
/*
 * Modes that an engine has changed on the outer terminal since the last call are changed on
 * the inner one (its master), and taken back outside. One system call when there are none.
 */
void tty_mirror_modes(const struct tty_mirror *m, int outer, int inner);
/*
 * Whether what is typed now is a line that the terminal does not show, as a password is. Programs
 * that read keys one by one show them by themselves and are not meant.
 */
bool tty_hides_lines(int inner);

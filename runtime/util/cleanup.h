/*
 * Scope-bound ownership: attributes that release a resource when its variable
 * goes out of scope, and the verbs that move ownership out of one.
 *
 * A file descriptor variable starts at -EBADF, so that a use before assignment
 * reports a telling errno instead of touching descriptor 0.
 */
#pragma once

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _cleanup_(f) __attribute__((cleanup(f)))

static inline void cleanup_freep(void *p)
{
	free(*(void **)p);
}

/* Never changes errno: it runs between a failing call and the report of it. */
static inline void cleanup_closep(const int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		(void)close(*fd);
	errno = saved;
}

static inline void cleanup_fclosep(FILE **f)
{
	if (*f)
		(void)fclose(*f);
}

static inline void cleanup_closedirp(DIR **d)
{
	if (*d)
		(void)closedir(*d);
}

#define _cleanup_free_ _cleanup_(cleanup_freep)
#define _cleanup_close_ _cleanup_(cleanup_closep)
#define _cleanup_fclose_ _cleanup_(cleanup_fclosep)
#define _cleanup_closedir_ _cleanup_(cleanup_closedirp)

/* Moves the value out and leaves NULL behind. */
#define take_ptr(p)                      \
	__extension__({                  \
		__typeof__(p) _v = (p);  \
		(p) = NULL;              \
		_v;                      \
	})

/* Moves the descriptor out and leaves -EBADF behind. */
static inline int take_fd(int *fd)
{
	int v = *fd;

	*fd = -EBADF;
	return v;
}

#define ELEMENTSOF(x) (sizeof(x) / sizeof((x)[0]))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define _printf_(a, b) __attribute__((format(printf, a, b)))
#define _unused_ __attribute__((unused))
#define _noreturn_ __attribute__((noreturn))

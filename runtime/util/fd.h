/*
 * Descriptor helpers: whole reads and writes, atomic replacement, close-on-exec
 * sweeps. Everything opens with O_CLOEXEC.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "util/error.h"

/* Temporary files of file_replace() start with this; a killed writer may leave one behind. */
#define FILE_TEMP_PREFIX ".tmp-"
#define FD_SEND_MAX 8

/*
 * Reads to end of file; at most max bytes, else -EFBIG. *ret_data is malloc'ed and
 * NUL-terminated; ret_len may be NULL.
 */
int fd_read_all(int fd, size_t max, char **ret_data, size_t *ret_len);
/* Opens dirfd/path read-only and reads it whole; messages name path. */
int file_read_all(int dirfd, const char *path, size_t max, char **ret_data, size_t *ret_len,
		  struct error *err);
/* Writes everything, retrying on EINTR and short writes; 0 or negative errno. */
int fd_write_all(int fd, const void *data, size_t len);
/*
 * Opens an existing dirfd/path for writing (no O_CREAT, O_NOFOLLOW) and writes with
 * ONE write(2): for kernel files.
 */
int file_write_once(int dirfd, const char *path, const char *data, size_t len);
/*
 * Replaces dirfd/name (a path is fine) atomically: temporary file in the same folder,
 * exact mode, write, fsync when durable, rename. On failure the old file is untouched
 * and nothing is left behind.
 */
int file_replace(int dirfd, const char *name, const void *data, size_t len, mode_t mode,
		 int durable, struct error *err);
/* Marks every descriptor >= first close-on-exec (close_range(2), Linux 5.11). */
int fd_cloexec_from(unsigned first);
/* Closes every descriptor >= first. */
int fd_close_from(unsigned first);
/* Closes every descriptor >= first but those of keep (unordered, negative ones are no descriptors). */
int fd_close_others(unsigned first, const int *keep, size_t n);
int fd_set_cloexec(int fd, int on);
/* Sends one message of len >= 1 bytes with nfds descriptors (<= FD_SEND_MAX). No SIGPIPE. */
int fd_send(int sock, const void *data, size_t len, const int *fds, size_t nfds);
/*
 * Receives one message; *ret_n is its length (0 = the peer is gone), unused slots of
 * fds are set to -EBADF. Descriptors arrive close-on-exec. When there are more than
 * max_fds (<= FD_SEND_MAX), or the message is longer than len, all are closed and
 * -EPROTO is returned.
 */
int fd_recv(int sock, void *data, size_t len, size_t *ret_n, int *fds, size_t max_fds);

/*
 * The relay between a container's sd_notify(3) and the socket that the starter's own
 * NOTIFY_SOCKET names. The container's side is hostile: one datagram at a time is read
 * into a fixed buffer, descriptors are never taken, and only lines that speak about the
 * container alone go on, each checked by its own rule. Private to runtime/container.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "os/mount.h"
#include "os/pidref.h"
#include "util/error.h"

/* Larger datagrams are dropped whole. */
#define NOTIFY_MESSAGE_MAX 4096
#define NOTIFY_STATUS_MAX  256

/*
 * Pure: what of a datagram may go to the host, as lines that end in a newline, NUL-terminated. READY=1,
 * RELOADING=1, STOPPING=1, WATCHDOG=1, ERRNO=n, MONOTONIC_USEC=n and STATUS= with printable
 * text of NOTIFY_STATUS_MAX bytes at most; the first of each. What names processes, changes time limits or
 * access, or goes with descriptors (MAINPID, WATCHDOG_USEC, EXTEND_TIMEOUT_USEC, NOTIFYACCESS, FDSTORE,
 * BARRIER …) and what is unknown is left out. A datagram with a NUL byte gives nothing.
 * Returns the length; *ret_state tells of READY, RELOADING and STOPPING.
 */
enum { NOTIFY_READY = 1u << 0, NOTIFY_RELOADING = 1u << 1, NOTIFY_STOPPING = 1u << 2 };
size_t notify_filter(const char *data, size_t len, char ret[NOTIFY_MESSAGE_MAX + 2], unsigned *ret_state);

struct notify {
	int sock; /* bound where the container finds it */
	int host; /* connected to the host's socket */
	pid_t main_pid; /* told with READY; 0 = the starter stays and is the main process itself */
	bool ready; /* READY was handed on */
	uint64_t budget, budget_time; /* messages that may still be sent, when it was counted (ms) */
};

#define NOTIFY_NULL ((struct notify){ .sock = -EBADF, .host = -EBADF })

/* The socket of NOTIFY_SOCKET in the environment, or NULL. */
const char *notify_host_socket(void);
/* Where the folder for the container's socket will be (malloc'ed), or NULL without NOTIFY_SOCKET. */
int notify_dir_path(const char *root, const char *id, char **ret, struct error *err);
/*
 * Makes that folder in the container's state folder, and, with privilege, the mount of it (op, its source
 * is the path): what lies below the state's root is no place that a user namespace can reach.
 */
int notify_dir_make(int dir_fd, struct mount_op *op, int proc_fd, struct error *err);
/*
 * Before the program runs: connects to the host's socket and listens. Without NOTIFY_SOCKET, or for a
 * container that was created without, nothing is opened and the other functions do nothing.
 */
int notify_open(int dir_fd, struct notify *ret, struct error *err);
/*
 * Reads one datagram and hands it on; false: there was none. What cannot be handed on is lost, as with
 * sd_notify(3).
 */
bool notify_relay(struct notify *n);
/* What was said before the container ended. */
void notify_drain(struct notify *n);
/*
 * Until READY was handed on, or init ended. main_pid: whom the service manager shall watch from then on.
 * Returns when the manager has seen the message, as the sender may end now.
 */
int notify_wait(struct notify *n, const struct pidref *init, pid_t main_pid, struct error *err);
void notify_done(struct notify *n);
#define _cleanup_notify_ _cleanup_(notify_done)

/*
 * The conversation between the command that makes a container and the process
 * that becomes it, over a SOCK_SEQPACKET pair (create, run, exec), and between
 * `start` and a waiting init over the gate socket.
 *
 *   parent                                child
 *        ◄──────────────   PROTO_JOINED     in its cgroup
 *     PROTO_GO      ──────────────►   ids are mapped: build
 *        ◄──────────────   PROTO_MOUNTED    namespaces and mounts exist (only when hooks wait for it)
 *     PROTO_HOOKED  ──────────────►   runtime hooks ran: go on to the pivot
 *        ◄──────────────   PROTO_READY      everything but the last steps is done
 *     PROTO_COMMIT  ──────────────►   the record is written: survive the parent's exit
 *     PROTO_START   ──────────────►   go (by run and exec on this socket, by start on the gate)
 *        ◄──────────────   PROTO_STARTED    START was taken
 *        ◄──────────────   end of file      execve happened (the socket is close-on-exec)
 *        ◄──────────────   PROTO_EXEC_FAILED  instead: struct error, then the child exits with 255
 *        ◄──────────────   PROTO_ERROR      instead of any answer: struct error, then the child exits
 *
 * The other side's death is an end of file where a message is due: an abort.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "util/error.h"

enum proto_type {
	PROTO_JOINED = 1,
	PROTO_GO,
	PROTO_MOUNTED,
	PROTO_HOOKED,
	PROTO_READY,
	PROTO_COMMIT,
	PROTO_START,
	PROTO_STARTED,
	PROTO_ERROR,
	PROTO_EXEC_FAILED,
};

struct proto_msg {
	unsigned type; /* enum proto_type */
	pid_t host_pid; /* PROTO_GO: the child's pid as the host sees it */
	struct error error; /* PROTO_ERROR, PROTO_EXEC_FAILED */
};

enum { PROTO_E_CLOSED = 1 }; /* the other side is gone */

const char *proto_type_name(unsigned type);
int proto_pair(int ret_socks[2], struct error *err);
/* host_pid only for PROTO_GO. */
int proto_send(int sock, enum proto_type type, pid_t host_pid, struct error *err);
/* Sends err to the other side; failures are ignored, because this is the failure path. */
void proto_send_error(int sock, const struct error *err);
/* The same for an execve that failed after all steps before it were done. */
void proto_send_exec_failed(int sock, const struct error *err);
/*
 * Receives one message. A PROTO_ERROR becomes this function's own failure. Returns
 * PROTO_E_CLOSED at end of file.
 */
int proto_recv(int sock, struct proto_msg *ret, struct error *err);
/* proto_recv() that accepts only the given type; end of file is an error that says who is gone. */
int proto_expect(int sock, enum proto_type type, const char *peer, struct proto_msg *ret, struct error *err);
/*
 * The tail of a start: end of file, because execve closed the other end; or execve failed, which is no error here
 * (the container counts as started and ends with 255) but in *ret_failed, where that is not NULL.
 */
int proto_await_end(int sock, struct error *ret_failed, struct error *err);

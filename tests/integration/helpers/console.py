#!/usr/bin/python3
"""Receives a terminal on a console socket, as an engine does.

console.py SOCKET [TEXT]: listens, accepts one connection, takes the descriptor, writes TEXT
followed by a newline to the terminal, and copies what the terminal shows to stdout until it
hangs up. "fds N bytes M" goes to stderr first."""
import array
import os
import socket
import sys

listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
listener.bind(sys.argv[1])
listener.listen(1)
listener.settimeout(20)
connection, _ = listener.accept()
connection.settimeout(20)
data, ancillary, _, _ = connection.recvmsg(4096, socket.CMSG_SPACE(16 * 4))
fds = array.array("i")
for level, kind, content in ancillary:
    if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
        fds.frombytes(content[: len(content) - len(content) % fds.itemsize])
rest = connection.recv(4096)
print("fds", len(fds), "bytes", min(len(data), 1), "rest", len(rest), file=sys.stderr, flush=True)
if len(sys.argv) > 2:
    os.write(fds[0], sys.argv[2].encode() + b"\n")
while True:
    try:
        block = os.read(fds[0], 4096)
    except OSError:
        break
    if not block:
        break
    sys.stdout.buffer.write(block)
    sys.stdout.flush()

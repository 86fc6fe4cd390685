#!/usr/bin/python3
"""pidfd.py SOCKET: receives a pidfd and prints the process number it refers to."""
import array
import socket
import sys

listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
listener.bind(sys.argv[1])
listener.listen(1)
listener.settimeout(20)
connection, _ = listener.accept()
_, ancillary, _, _ = connection.recvmsg(4096, socket.CMSG_SPACE(4))
fds = array.array("i")
fds.frombytes(ancillary[0][2][:4])
with open("/proc/self/fdinfo/%d" % fds[0], encoding="ascii") as info:
    for line in info:
        if line.startswith("Pid:"):
            print(line.split()[1])

"""Visits the start gate of a container: gate.py SOCKET [nonsense | silent]."""
import os
import socket
import struct
import sys
import time

path, what = sys.argv[1], (sys.argv + ["connect"])[2]


def visit():
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    # the path may be longer than an address
    fd = os.open(path, os.O_PATH)
    s.connect("/proc/self/fd/%d" % fd)
    os.close(fd)
    return s


if what == "nonsense":
    for text in (b"", b"x", b"START", b"\xff" * 4096, struct.pack("II", 8, 0), struct.pack("I", 7),
                 struct.pack("II", 0xffffffff, 7), b"\0" * 65536):
        s = visit()
        try:
            s.send(text)
        except OSError:
            pass
        s.close()
    for i in range(100):
        visit().close()
else:
    s = visit()
    print("connected", flush=True)
    if what == "silent":
        time.sleep(60)

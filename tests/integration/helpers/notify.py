#!/usr/bin/python3
"""Plays the service manager of sd_notify(3).

notify.py ADDRESS COMMAND...: listens on ADDRESS (a path or @NAME), runs COMMAND with NOTIFY_SOCKET
naming it, and writes into the file that NOTIFY_OUT names:
    one line per datagram, "|" for its newlines; "BARRIER=1 with a descriptor" for a barrier,
    "from another process: " before it when the command itself did not send it
    exit CODE        when the command has ended
The command's output is left alone."""
import os
import select
import socket
import struct
import subprocess
import sys

address = sys.argv[1]
listener = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
listener.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
listener.bind("\0" + address[1:] if address[0] == "@" else address)
out = open(os.environ["NOTIFY_OUT"], "w", buffering=1, encoding="utf-8")
process = subprocess.Popen(sys.argv[2:], env=dict(os.environ, NOTIFY_SOCKET=address))


def receive():
    data, ancillary, _, _ = listener.recvmsg(65536, 1024)
    line = data.decode("utf-8", "backslashreplace").rstrip("\n").replace("\n", "|")
    for level, kind, content in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            line += " with a descriptor"
            for fd in struct.unpack(f"{len(content) // 4}i", content):
                os.close(fd)
        elif level == socket.SOL_SOCKET and kind == socket.SCM_CREDENTIALS:
            if struct.unpack("3i", content)[0] != process.pid:
                line = "from another process: " + line
    print(line, file=out)


while True:
    code = process.poll()
    ready, _, _ = select.select([listener], [], [], 0.02)
    if ready:
        receive()
    elif code is not None:
        break
print("exit", code if code >= 0 else 128 - code, file=out)
sys.exit(code if code >= 0 else 128 - code)

#!/usr/bin/python3
"""A name lookup by hand: ask.py SERVER udp|tcp NAME TYPE [edns] -> "RCODE ms=N ede=N address..."."""
import os
import socket
import struct
import sys
import time

server, how, name, kind = sys.argv[1:5]
edns = len(sys.argv) > 5
# what all limits are multiplied by where everything is slow
patience = int(os.environ.get("PATIENCE", "1"))
family = socket.AF_INET6 if ":" in server else socket.AF_INET
types = {"A": 1, "AAAA": 28, "HTTPS": 65, "SVCB": 64, "TXT": 16, "ANY": 255, "SRV": 33, "NULL": 10}
ident = os.urandom(2)
msg = ident + struct.pack(">5H", 0x0100, 1, 0, 0, 1 if edns else 0)
msg += b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"
msg += struct.pack(">HH", types[kind], 1)
if edns:
    msg += b"\0" + struct.pack(">HHIH", 41, 1232, 0, 0)


def skip(data, at):
    while data[at] and data[at] < 192:
        at += 1 + data[at]
    return at + (2 if data[at] >= 192 else 1)


begin = time.monotonic()
try:
    if how == "udp":
        sock = socket.socket(family, socket.SOCK_DGRAM)
        sock.settimeout(8 * patience)
        sock.sendto(msg, (server, 53))
        data, peer = sock.recvfrom(65535)
        if peer[0] != server or peer[1] != 53:
            sys.exit("answer from %s port %d" % peer[:2])
    else:
        sock = socket.create_connection((server, 53), 8 * patience)
        sock.sendall(struct.pack(">H", len(msg)) + msg)
        size = struct.unpack(">H", sock.recv(2, socket.MSG_WAITALL))[0]
        data = sock.recv(size, socket.MSG_WAITALL)
except OSError as e:
    print("error", e)
    sys.exit(0)
ms = (time.monotonic() - begin) * 1000
if data[:2] != ident:
    sys.exit("another id")
flags, _, answers, authorities, extras = struct.unpack(">5H", data[2:12])
at = skip(data, 12) + 4
out, ede = [], "none"
for _ in range(answers + authorities + extras):
    at = skip(data, at)
    rtype, _, _, size = struct.unpack(">HHIH", data[at:at + 10])
    rdata = data[at + 10:at + 10 + size]
    at += 10 + size
    if rtype == 1:
        out.append(socket.inet_ntoa(rdata))
    elif rtype == 28:
        out.append(socket.inet_ntop(socket.AF_INET6, rdata))
    elif rtype == 41 and len(rdata) >= 6 and rdata[:2] == b"\0\x0f":
        ede = struct.unpack(">H", rdata[4:6])[0]
    elif rtype not in (5, 41):
        out.append("type%d" % rtype)
names = {0: "NOERROR", 1: "FORMERR", 2: "SERVFAIL", 3: "NXDOMAIN", 4: "NOTIMP", 5: "REFUSED"}
print(names.get(flags & 15, flags & 15), "truncated" if flags & 0x200 else "whole", "ede=%s" % ede,
      "fast" if ms < 50 * patience else "slow", *out)

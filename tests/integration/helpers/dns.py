"""A tiny name server for tests: dns.py ADDRESS NAME=IP... (IPv4 or IPv6); logs each question to stderr."""
import socket
import struct
import sys


def parse(data):
    labels, i = [], 12
    while data[i]:
        labels.append(data[i + 1:i + 1 + data[i]].decode("latin-1").lower())
        i += data[i] + 1
    return ".".join(labels), struct.unpack(">H", data[i + 1:i + 3])[0], data[12:i + 5]


def answer(data, names):
    name, qtype, question = parse(data)
    print(name, qtype, file=sys.stderr, flush=True)
    address = names.get(name)
    records = b""
    if address and qtype == (28 if ":" in address else 1):
        data_of = socket.inet_pton(socket.AF_INET6 if ":" in address else socket.AF_INET, address)
        records = b"\xc0\x0c" + struct.pack(">HHIH", qtype, 1, 60, len(data_of)) + data_of
    flags = 0x8180 if address else 0x8183
    return data[:2] + struct.pack(">HHHHH", flags, 1, 1 if records else 0, 0, 0) + question + records


def main():
    names = dict(pair.split("=") for pair in sys.argv[2:])
    sock = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind((sys.argv[1], 53))
    print("ready", flush=True)
    while True:
        data, peer = sock.recvfrom(4096)
        sock.sendto(answer(data, names), peer)


main()

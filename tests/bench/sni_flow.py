"""Both ends of tests/bench/sni-throughput.

    sni_flow.py serve ADDRESS...                 after a ClientHello: a ServerHello, then zeros for as long as one reads
    sni_flow.py measure MIB ROUNDS NAME NAME     the second name's connection is not relayed; both in turn
"""
import socket
import ssl
import statistics
import sys
import threading
import time

ANSWER = b"\x16\x03\x03\x00\x2a\x02\x00\x00\x26\x03\x03" + bytes(range(32)) + b"\x00\x13\x01\x00"
CHUNK = bytes(1 << 20)


def send(conn):
    with conn:
        try:
            conn.recv(16384)
            conn.sendall(ANSWER)
            count = int.from_bytes(conn.recv(4, socket.MSG_WAITALL), "big")
            for _ in range(count):
                conn.sendall(CHUNK)
        except OSError:
            pass


def serve(address):
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((address, 443))
    sock.listen(16)
    while True:
        threading.Thread(target=send, args=(sock.accept()[0],), daemon=True).start()


def hello(name):
    outgoing = ssl.MemoryBIO()
    tls = ssl._create_unverified_context().wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname=name)
    try:
        tls.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


def once(name, mib):
    """Seconds to the first byte, and bytes per second from then on."""
    begin = time.monotonic()
    with socket.create_connection((ADDRESS[name], 443), 60) as sock:
        sock.sendall(HELLO[name])
        sock.recv(len(ANSWER), socket.MSG_WAITALL)
        first = time.monotonic() - begin
        sock.sendall(mib.to_bytes(4, "big"))
        begin, left, room = time.monotonic(), mib << 20, bytearray(1 << 20)
        while left:
            n = sock.recv_into(room)
            if not n:
                sys.exit("the connection ended early")
            left -= n
    return first, (mib << 20) / (time.monotonic() - begin) if mib else 0


if sys.argv[1] == "serve":
    for place in sys.argv[2:]:
        threading.Thread(target=serve, args=(place,), daemon=True).start()
    print("ready", flush=True)
    threading.Event().wait()
size, rounds, names = int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:6]
ADDRESS = {name: socket.gethostbyname(name) for name in names}
HELLO = {name: hello(name) for name in names}
speed, first = {name: [] for name in names}, {name: [] for name in names}
for _ in range(rounds):
    for name in names:
        speed[name].append(once(name, size)[1])
for _ in range(100):
    for name in names:
        first[name].append(once(name, 0)[0])
through, past = (statistics.median(speed[name]) for name in names)
late, early = (statistics.median(first[name]) for name in names)
print("bulk: by name %.2f GB/s, by address %.2f GB/s, ratio %.2f" % (through / 1e9, past / 1e9, through / past))
print("first byte of the answer: by name %.3f ms, by address %.3f ms, %.3f ms more" %
      (late * 1e3, early * 1e3, (late - early) * 1e3))

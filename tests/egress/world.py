#!/usr/bin/python3
"""The outside world of the egress tests: name servers, web servers and a packet counter.

    world.py FOLDER      serve, in the network namespace that the outside is; FOLDER has the
                         certificates, and gets "queries" (one line each) and "packets" (one
                         line for each packet that came from inside, ARP and ICMPv6 left out)
    world.py large       print the SHA-256 of what /large is
"""
import hashlib
import os
import random
import socket
import ssl
import struct
import sys
import threading
import time

FOLDER = sys.argv[1]
DNS4, DNS6 = "198.51.100.53", "2001:db8::53"
A, CNAME, AAAA, SRV, HTTPS, TXT = 1, 5, 28, 33, 65, 16
started = time.monotonic()
rotation = 0
LARGE_BLOCKS = 200  # of 1 MiB, each another
log_lock = threading.Lock()


def log(name, text):
    with log_lock, open(os.path.join(FOLDER, name), "a") as f:
        f.write(text + "\n")


def wire(name):
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".") if label) + b"\0"


def rr(owner, kind, ttl, data):
    return wire(owner) + struct.pack(">HHIH", kind, 1, ttl, len(data)) + data


def a(owner, address, ttl=5):
    if ":" in address:
        return rr(owner, AAAA, ttl, socket.inet_pton(socket.AF_INET6, address))
    return rr(owner, A, ttl, socket.inet_aton(address))


def records(name, kind):
    """(rcode, records) of the zone; None: say nothing; bytes: say that."""
    global rotation
    six = kind == AAAA
    plain = {
        "good.test": ("198.51.100.80", "2001:db8::80"),
        "other.test": ("198.51.100.82", None),
        "evil.test": ("198.51.100.80", None),
        "web.test": ("198.51.100.80", None),
        "x.wild.test": ("198.51.100.81", None),
        "six.test": (None, "2001:db8::80"),
        "twin.test": ("198.51.100.80", None),
        "meta.test": ("169.254.169.254", "fd00:ec2::254"),
        "loop.test": ("127.0.0.1", "::1"),
        "private.test": ("10.1.1.1", "fd00::1"),
        "mapped.test": (None, "::ffff:198.51.100.80"),
        "nat64.test": (None, "64:ff9b::7f00:1"),
        "dead.test": ("198.51.100.199", None),
        "near.test": ("10.2.0.1", None),
    }
    if name in plain:
        address = plain[name][six] if kind in (A, AAAA) else None
        return 0, [a(name, address)] if address else []
    if name == "mixed.test" and kind == A:
        return 0, [a(name, "198.51.100.81"), a(name, "169.254.169.254")]
    if name == "alias.test" and kind in (A, AAAA):
        return 0, [rr(name, CNAME, 60, wire("b.cdn.example")), rr("b.cdn.example", CNAME, 60, wire("c.cdn.example")),
                   a("c.cdn.example", "2001:db8::80" if six else "198.51.100.80")]
    if name == "aside.test" and kind == A:
        return 0, [rr(name, CNAME, 60, wire("b.cdn.example")), a("evil.example", "198.51.100.81"),
                   a("b.cdn.example", "198.51.100.80")]
    if name == "circle.test" and kind == A:
        return 0, [rr(name, CNAME, 60, wire("b.example")), rr("b.example", CNAME, 60, wire(name))]
    if name == "rotate.test" and kind == A:
        rotation += 1
        return 0, [a(name, "198.51.100.%d" % (100 + rotation % 100), 1)]
    if name == "big.test" and kind == A:
        return 0, [a(name, "203.0.113.%d" % i) for i in range(1, 200)]
    if name == "rebind.test" and kind == A:
        # good first, then the metadata service
        rotation += 1
        return 0, [a(name, "198.51.100.80" if rotation % 2 else "169.254.169.254", 0)]
    if name == "_web._tcp.srv.test" and kind == SRV:
        return 0, [rr(name, SRV, 60, struct.pack(">HHH", 1, 1, 80) + wire("good.test"))]
    if name == "silent.test":
        return None
    if name == "garbage.test":
        return os.urandom(random.randrange(1, 500))
    return 3, []


def question(msg):
    labels, at = [], 12
    while msg[at]:
        labels.append(msg[at + 1:at + 1 + msg[at]].decode("latin-1"))
        at += 1 + msg[at]
    return ".".join(labels).lower(), struct.unpack(">H", msg[at + 1:at + 3])[0], msg[12:at + 5]


def answer(msg, limit):
    name, kind, asked = question(msg)
    log("queries", "%s %d" % (name, kind))
    found = records(name, kind)
    if found is None or isinstance(found, bytes):
        return found
    rcode, answers = found
    body = asked + b"".join(answers)
    flags, count = 0x8180 | rcode, len(answers)
    if len(body) + 12 > limit:
        flags, body, count = flags | 0x200, asked, 0
    return msg[:2] + struct.pack(">5H", flags, 1, count, 0, 0) + body


def spoof(sock, msg, peer):
    """Answers that are false in one way each, before the true one."""
    name, _, asked = question(msg)
    if name != "spoof.test":
        return
    true = msg[:2] + struct.pack(">5H", 0x8180, 1, 1, 0, 0) + asked
    false = true + a(name, "198.51.100.66")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.sendto(false, peer)  # from another port
    sock.sendto(bytes([msg[0] ^ 1]) + false[1:], peer)  # another id
    sock.sendto(false[:13] + b"q" + false[14:], peer)  # another question
    for port in random.sample(range(1024, 65535), 20):
        sock.sendto(false, (peer[0], port))  # to another port
    sock.sendto(true + a(name, "198.51.100.80"), peer)


def dns_udp(address, family):
    sock = socket.socket(family, socket.SOCK_DGRAM)
    sock.bind((address, 53))
    while True:
        msg, peer = sock.recvfrom(4096)
        spoof(sock, msg, peer)
        reply = answer(msg, 1232)
        if reply is not None:
            sock.sendto(reply, peer)


def dns_tcp(address, family):
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((address, 53))
    sock.listen(16)
    while True:
        conn, _ = sock.accept()
        with conn:
            conn.settimeout(2)
            try:
                size = struct.unpack(">H", conn.recv(2))[0]
                reply = answer(conn.recv(size), 65535)
                if reply is not None:
                    conn.sendall(struct.pack(">H", len(reply)) + reply)
            except (OSError, struct.error):
                pass


def large():
    block = random.Random(1).randbytes(1 << 20)
    for i in range(LARGE_BLOCKS):
        yield struct.pack(">Q", i) + block[8:]


def speak(conn, context):
    """One request: says who it is; /bulk gives 100 MB of zeros, /large 200 MB of what has a known hash."""
    conn.settimeout(30)
    try:
        name = ["plain"]
        if context:
            def remember(sock, server_name, ctx):
                name[0] = server_name or "no name"
            context.sni_callback = remember
            conn = context.wrap_socket(conn, server_side=True)
        request = conn.recv(4096)
        if not request:
            return
        body = b"this is %s\n" % name[0].encode()
        if b"/bulk" in request.split(b"\r\n")[0]:
            conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % (100 << 20))
            chunk = bytes(1 << 20)
            for _ in range(100):
                conn.sendall(chunk)
        elif b"/large" in request.split(b"\r\n")[0]:
            conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % (LARGE_BLOCKS << 20))
            for block in large():
                conn.sendall(block)
        else:
            conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (len(body), body))
        if context:
            conn.unwrap()
    except OSError:
        pass
    finally:
        conn.close()


def web(address, family, port, tls):
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((address, port))
    sock.listen(64)
    while True:
        conn, _ = sock.accept()
        context = None
        if tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(os.path.join(FOLDER, "cert.pem"), os.path.join(FOLDER, "key.pem"))
        threading.Thread(target=speak, args=(conn, context), daemon=True).start()


def count():
    """Every IP packet from inside, seen on the wire."""
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(3))
    while True:
        data, (_, protocol, kind, _, _) = sock.recvfrom(2048)
        if kind == socket.PACKET_OUTGOING:
            continue
        if protocol == 0x0800:
            size = (data[0] & 15) * 4
            port = struct.unpack(">H", data[size + 2:size + 4])[0]
            log("packets", "%s %d %d" % (socket.inet_ntoa(data[16:20]), data[9], port))
        elif protocol == 0x86DD and data[6] in (6, 17):
            port = struct.unpack(">H", data[42:44])[0]
            log("packets", "%s %d %d" % (socket.inet_ntop(socket.AF_INET6, data[24:40]), data[6], port))


def main():
    jobs = [(count, ())]
    for address, family in ((DNS4, socket.AF_INET), (DNS6, socket.AF_INET6), ("127.0.0.1", socket.AF_INET)):
        jobs += [(dns_udp, (address, family)), (dns_tcp, (address, family))]
    for address in ("198.51.100.80", "198.51.100.81", "198.51.100.82", "169.254.169.254", "10.1.1.1", "10.2.0.1"):
        jobs += [(web, (address, socket.AF_INET, 80, False)), (web, (address, socket.AF_INET, 443, True))]
    for i in range(100, 200):
        jobs += [(web, ("198.51.100.%d" % i, socket.AF_INET, 80, False))]
    jobs += [(web, ("2001:db8::80", socket.AF_INET6, 80, False)), (web, ("2001:db8::80", socket.AF_INET6, 443, True))]
    for job, args in jobs:
        threading.Thread(target=job, args=args, daemon=True).start()
    time.sleep(0.3)
    log("ready", "%.1f" % (time.monotonic() - started))
    sys.stdin.read()


if FOLDER == "large":
    print(hashlib.sha256(b"".join(large())).hexdigest())
else:
    main()

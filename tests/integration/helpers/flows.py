"""Connections that last: flows.py NAME=KIND:ADDRESS:PORT...

KIND is tcp, udp or tls (with a name in the place of ADDRESS, asked for as server name), or serve: then ADDRESS is
listened at and the first client's bytes are sent back, or visit: tcp that waits for its server, and keeps this process. Prints "open" when every flow has carried a byte there and back,
"NAME ERROR" when one ends, and, when standard input ends, "NAME alive" for those that still carry bytes.
    flows.py --echo ADDRESS:PORT... [--tls ADDRESS:PORT CERT KEY]: the other end, TCP and UDP.
"""
import errno
import os
import socket
import ssl
import sys
import threading
import time

PATIENCE = 60


def pump(conn):
    with conn:
        try:
            while data := conn.recv(4096):
                conn.sendall(data)
        except OSError:
            pass


def listen(address, port):
    sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind((address, port))
    sock.listen(16)
    return sock


def echo_tcp(sock, context):
    while True:
        conn, _ = sock.accept()
        threading.Thread(target=pump_tls if context else pump, args=(conn, context)[:1 + bool(context)], daemon=True).start()


def pump_tls(conn, context):
    try:
        pump(context.wrap_socket(conn, server_side=True))
    except OSError:
        pass


def echo_udp(address, port):
    sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind((address, port))
    while True:
        data, peer = sock.recvfrom(4096)
        sock.sendto(data, peer)


def place(text):
    address, _, port = text.rpartition(":")
    return address.strip("[]"), int(port)


def serve_world(words):
    jobs = []
    while words and words[0] != "--tls":
        at = place(words.pop(0))
        jobs += [(echo_tcp, (listen(*at), None)), (echo_udp, at)]
    while words:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(words[2], words[3])
        jobs.append((echo_tcp, (listen(*place(words[1])), context)))
        words = words[4:]
    for job, args in jobs:
        threading.Thread(target=job, args=args, daemon=True).start()
    print("ready", flush=True)
    threading.Event().wait()


def reach(address, port, wait):
    limit = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection((address, port), PATIENCE)
        except ConnectionRefusedError:
            if not wait or time.monotonic() > limit:
                raise
            time.sleep(0.05)


def connect(kind, address, port):
    if kind == "serve":
        sock = listen(address, port).accept()[0]
    elif kind == "udp":
        sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
        sock.connect((address, port))
    else:
        sock = reach(address, port, kind == "visit")
    sock.settimeout(PATIENCE)
    if kind == "tls":
        context = ssl._create_unverified_context()
        sock = context.wrap_socket(sock, server_hostname=address)
    return sock


class Flow(threading.Thread):
    def __init__(self, text):
        super().__init__(daemon=True)
        self.name, rest = text.split("=", 1)
        self.kind, _, at = rest.partition(":")
        self.at = place(at)
        self.count = 0
        self.over = False

    def run(self):
        try:
            sock = connect(self.kind, *self.at)
            while True:
                if self.kind == "serve":
                    data = sock.recv(4096)
                    if not data:
                        raise OSError(errno.ESHUTDOWN, "end")
                    sock.sendall(data)
                else:
                    sock.sendall(b"x")
                    if not sock.recv(1):
                        raise OSError(errno.ESHUTDOWN, "end")
                self.count += 1
                time.sleep(0.02)
        except OSError as e:
            self.over = True
            print(self.name, "TLS" if isinstance(e, ssl.SSLError) else errno.errorcode.get(e.errno, e), flush=True)


def main():
    if sys.argv[1] == "--echo":
        serve_world(sys.argv[2:])
    flows = [Flow(text) for text in sys.argv[1:]]
    for flow in flows:
        flow.start()
    limit = time.monotonic() + PATIENCE
    while not all(flow.count or flow.over for flow in flows) and time.monotonic() < limit:
        time.sleep(0.02)
    print("open", flush=True)
    for flow in flows:
        if flow.kind == "visit":
            flow.join()
    sys.stdin.read()
    limit = time.monotonic() + PATIENCE
    for flow in flows:
        before = flow.count
        while not flow.over and flow.count < before + 2 and time.monotonic() < limit:
            time.sleep(0.02)
        if not flow.over and flow.count >= before + 2:
            print(flow.name, "alive", flush=True)
    os._exit(0)


main()

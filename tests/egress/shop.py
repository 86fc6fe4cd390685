#!/usr/bin/python3
"""A site for real clients: shop.py ADDRESS FOLDER CERT KEY: its files over HTTPS on port 443 and HTTP on port 80.
A folder is answered with its index.json or index.html."""
import functools
import http.server
import os
import ssl
import sys
import threading

address, folder, cert, key = sys.argv[1:5]


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def translate_path(self, path):
        found = super().translate_path(path)
        index = os.path.join(found, "index.json")
        return index if os.path.exists(index) else found


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    if ":" in address:
        address_family = 10

    def handle_error(self, request, client_address):
        pass


def serve(port, context):
    server = Server((address, port), functools.partial(Handler, directory=folder))
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()


tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
tls.load_cert_chain(cert, key)
serve(443, tls)
serve(80, None)
print("ready", flush=True)
threading.Event().wait()

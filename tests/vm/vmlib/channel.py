"""The host's end of the command channel; the frames are described in image/agent.c."""
import os
import secrets
import socket
import struct
import time

FRAME = struct.Struct("<c3xI")

# A restored guest learns of its new host while the first bytes arrive, and may miss them.
TRY_SECONDS = 10


class ChannelLost(Exception):
    """The guest no longer answers: a failure of the machine, not of what ran in it."""


class Channel:
    def __init__(self, path, seconds):
        """Connects and waits until the agent answers, at most that long."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                self._connect(path, min(deadline, time.monotonic() + TRY_SECONDS))
                return
            except ChannelLost:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def _connect(self, path, deadline):
        self._bytes = b""
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.connect(path)
            token = secrets.token_bytes(16)
            self._send(b"p", token)
            while token not in self._bytes:
                self._receive(deadline)
            self._bytes = self._bytes.split(token, 1)[1]
        except OSError as error:  # the file exists a moment before qemu listens on it
            self._socket.close()
            raise ChannelLost(f"{path}: {error}") from error
        except ChannelLost:
            self._socket.close()
            raise

    def close(self):
        self._socket.close()

    def _send(self, kind, payload=b""):
        try:
            self._socket.settimeout(60)
            self._socket.sendall(FRAME.pack(kind, len(payload)) + payload)
        except OSError as error:
            raise ChannelLost(str(error)) from error

    def _receive(self, deadline):
        self._socket.settimeout(max(0.01, deadline - time.monotonic()))
        try:
            data = self._socket.recv(1 << 16)
        except TimeoutError as error:
            raise ChannelLost("no answer in time") from error
        except OSError as error:
            raise ChannelLost(str(error)) from error
        if not data:
            raise ChannelLost("qemu has ended")
        self._bytes += data

    def _frame(self, deadline):
        while len(self._bytes) < FRAME.size:
            self._receive(deadline)
        kind, length = FRAME.unpack_from(self._bytes)
        while len(self._bytes) < FRAME.size + length:
            self._receive(deadline)
        payload = self._bytes[FRAME.size:FRAME.size + length]
        self._bytes = self._bytes[FRAME.size + length:]
        return kind, payload

    def run(self, script, seconds, out, err, grace=60):
        """Runs a bash script as root; its output goes to the two functions as it comes.

        Returns the exit code (128 + N for signal N), or 124 when it was killed for taking
        longer than that. It has a grace of so many seconds to go, and is heard no more."""
        code = None
        self._send(b"r", script.encode())
        deadline = time.monotonic() + seconds
        while True:
            try:
                kind, payload = self._frame(deadline)
            except ChannelLost as error:
                if code is not None or not isinstance(error.__cause__, TimeoutError):
                    raise
                code = 124
                self._send(b"k")
                deadline = time.monotonic() + grace
                continue
            if kind == b"o" and code is None:
                out(payload)
            elif kind == b"e" and code is None:
                err(payload)
            elif kind == b"x":
                (status,) = struct.unpack("<i", payload)
                if code is not None:
                    return code
                if os.WIFSIGNALED(status):
                    return 128 + os.WTERMSIG(status)
                return os.WEXITSTATUS(status)

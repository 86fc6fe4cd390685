#!/usr/bin/python3
"""Plays the monitor of an engine: a child subreaper with pipes for the output.

reaper.py PIDFILE COMMAND...: runs COMMAND and prints
    runtime CODE SECONDS-UNTIL-END-OF-FILE-ON-STDERR-PIPE (0 = at once, 1 = later)
and, when PIDFILE names a child of ours, waits for it and prints
    child CODE     (128 + signal for a signal)
or "not a child". With REAPER_DETACHED=1 it prints the first line and leaves."""
import ctypes
import os
import select
import subprocess
import sys
import time

PR_SET_CHILD_SUBREAPER = 36
ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def code(status):
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


reader, writer = os.pipe()
process = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, stderr=writer,
                           stdout=writer if os.environ.get("REAPER_STDOUT") else None,
                           pass_fds=[int(f) for f in os.environ.get("REAPER_FDS", "").split()])
os.close(writer)
_, status = os.waitpid(process.pid, 0)
ended = time.monotonic()
late = 0
while True:
    ready, _, _ = select.select([reader], [], [], 0.5)
    if not ready:
        late = 1
        break
    block = os.read(reader, 65536)
    if not block:
        break
    sys.stderr.buffer.write(block)
    sys.stderr.flush()
print("runtime", code(status), late, flush=True)
if os.environ.get("REAPER_DETACHED"):
    sys.exit(0)
try:
    with open(sys.argv[1], encoding="ascii") as f:
        pid = int(f.read())
except OSError:
    print("no pid file")
    sys.exit(0)
if os.environ.get("REAPER_THEN"):
    subprocess.run(os.environ["REAPER_THEN"], shell=True, check=False, stdin=subprocess.DEVNULL)
try:
    _, status = os.waitpid(pid, 0)
    print("child", code(status))
except ChildProcessError:
    print("not a child")

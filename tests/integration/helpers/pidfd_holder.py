"""An engine that holds a pidfd of its container, as conmon-rs does, and does nothing else.

pidfd_holder.py PID_FILE COMMAND...: creates and starts a container by COMMAND create|start ID with the
bundle of $BUNDLE, prints its pid, and waits for the end of standard input."""
import ctypes
import os
import subprocess
import sys

PR_SET_CHILD_SUBREAPER = 36


def main():
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    options, container = sys.argv[2:-1], sys.argv[-1]
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(options + ["create", "--bundle", os.environ["BUNDLE"], "--pid-file", sys.argv[1], container],
                   check=True, **quiet)
    pid = int(open(sys.argv[1], encoding="ascii").read())
    os.pidfd_open(pid)
    subprocess.run(options + ["start", container], check=True, **quiet)
    print(pid, flush=True)
    sys.stdin.read()


main()

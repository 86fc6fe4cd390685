"""An engine that learns of an exit the modern way: it polls a pidfd and asks once for the status.

pidfd_engine.py ROUNDS CODE BYTES COMMAND...: creates and starts a container in every round by
COMMAND create|start|delete, and counts the rounds whose status was not there when the pidfd said
so, whose exit code was not CODE, or whose output had not BYTES bytes when the exit was seen."""
import ctypes
import os
import select
import subprocess
import sys

PR_SET_CHILD_SUBREAPER = 36


def one(command, pid_file, code, size):
    container = command[-1]
    options = command[:-1]
    reader, writer = os.pipe2(os.O_CLOEXEC)
    os.set_blocking(reader, False)
    subprocess.run(options + ["create", "--bundle", os.environ["BUNDLE"], "--pid-file", pid_file, container],
                   stdin=subprocess.DEVNULL, stdout=writer, stderr=subprocess.DEVNULL, check=True)
    os.close(writer)
    pid = int(open(pid_file, encoding="ascii").read())
    pidfd = os.pidfd_open(pid)
    subprocess.run(options + ["start", container], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True)
    poll = select.poll()
    poll.register(pidfd, select.POLLIN)
    poll.register(reader, select.POLLIN)
    text = b""
    ended = False
    while not ended:
        for fd, _ in poll.poll():
            if fd == pidfd:
                ended = True
            elif chunk := os.read(reader, 65536):
                text += chunk
            else:
                poll.unregister(reader)
    waited, status = os.waitpid(pid, os.WNOHANG)
    try:
        while chunk := os.read(reader, 65536):
            text += chunk
    except BlockingIOError:
        pass
    os.close(reader)
    os.close(pidfd)
    if waited == 0:
        os.waitpid(pid, 0)
    subprocess.run(options + ["delete", "--force", container], stdin=subprocess.DEVNULL, check=True)
    good = waited == pid and os.waitstatus_to_exitcode(status) == code and len(text) == size
    if not good:
        print(f"waited {waited} of {pid}, status {status}, {len(text)} bytes", file=sys.stderr)
    return good


def main():
    rounds, code, size = (int(word) for word in sys.argv[1:4])
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    bad = sum(not one(sys.argv[4:], os.environ["PID_FILE"], code, size) for _ in range(rounds))
    print(f"{bad} of {rounds} rounds went wrong")
    return bad > 0


sys.exit(main())

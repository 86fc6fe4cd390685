"""Runs the suites of a lane in its machine."""
import collections
import glob
import os
import shlex
import shutil
import subprocess
import time

from . import controls, images, tap
from .channel import ChannelLost

# Under emulation on a busy host; a test that hangs is ended by the suite itself long before.
FILE_SECONDS = 3600

# A shell's answer for a program that is there and cannot be executed. No suite ends with it by itself: the guest's share or
# disk no longer gives what is on it.
NOT_EXECUTED = 126

TIME_IS_UP = "the time for this run is up"

# How long a file that is stopped because the time is up has to end; then the machine goes anyway.
GRACE_SECONDS = 5

Kind = collections.namedtuple("Kind", "name user lanes sample files command")

# The runtime and its helper programs, which it looks for beside itself, as the suites do for theirs.
INSTALL = """
set -e
find /vm/build -maxdepth 1 -type f -perm /111 -name 'agentrun*' -exec install -m 755 -t /usr/local/bin {} +
ln -sfn /vm/build/tests /usr/local/bin/tests
"""

RUN = """
export AGENTRUN=/usr/local/bin/agentrun srcdir=/vm/source builddir=/vm/build PATIENCE=10 TMPDIR=/var/tmp
cd /vm/{top}
{user}{command}
"""


def kinds():
    with open(f"{images.HERE}/suites", encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                name, user, lanes, sample, files, command = line.split(None, 5)
                yield Kind(name, user, lanes.split(","), sample, files, command.strip())


def programs(kind, folders):
    """The files of a kind, relative to the source or build folder."""
    top, pattern = kind.files.split(":")
    for path in sorted(glob.glob(os.path.join(folders[top], pattern))):
        if os.path.isfile(path) and (top == "source" or os.access(path, os.X_OK)):
            yield top, os.path.relpath(path, folders[top])


def title(kind, file):
    return f"{kind.name}/{os.path.basename(file)}"


def only(kind, option):
    """The same with fewer tests: an option for bats."""
    return kind._replace(command=kind.command.replace("bats ", f"bats {option} "))


def selected(lane, folders, options):
    for kind in kinds():
        if lane not in kind.lanes and "*" not in kind.lanes:
            continue
        if options.sample and kind.sample == "no":
            continue
        if options.sample and kind.sample == "tagged":
            kind = only(kind, "--filter-tags sample")
        for top, file in programs(kind, folders):
            if options.words and not any(word in f"{kind.name}/{file}" for word in options.words):
                continue
            regex = controls.wanted(kind.user, title(kind, file)) if options.controls else options.filter
            if regex:
                yield only(kind, f"--filter {shlex.quote(regex)}"), top, file
            elif not options.controls:
                yield kind, top, file


def compiled(folders):
    """What suites compile for themselves elsewhere, where the guest finds it: it has no compilers."""
    helpers = os.path.join(folders["source"], "tests/engines/helpers")
    if shutil.which("protoc"):
        subprocess.run(["protoc", "-I", helpers, f"--descriptor_set_out={folders['logs']}/cri.desc", "cri.proto"],
                       check=True)
    subprocess.run([f"{folders['source']}/tests/attacks/helpers/build", f"{folders['logs']}/attacks"], check=True)


class Lane:
    """Runs one file after the other; a fresh machine after each failure of the machine."""

    def __init__(self, lane, folders, writer):
        self.lane, self.folders, self.writer = lane, folders, writer
        compiled(folders)
        self._context = self._vm = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._stop()

    def _start(self):
        self._context = images.restored(self.lane, self.folders)
        self._vm = self._context.__enter__()
        if self._vm.run(INSTALL, 300):
            raise ChannelLost("the runtime cannot be copied into the guest")

    def _stop(self):
        if self._context:
            self._context.__exit__(None, None, None)
        self._context = self._vm = None

    def _log(self, name):
        folder = os.path.join(self.folders["logs"], self.lane)
        os.makedirs(folder, exist_ok=True)
        return os.path.join(folder, name)

    def _keep_console(self, name):
        if self._vm:
            with open(self._vm.console, "rb") as console, open(self._log(name), "wb") as log:
                log.write(console.read())

    def _attempt(self, kind, top, file, name, end):
        if not self._vm:
            self._start()
        stream = tap.Stream()
        user = "as-alice " if kind.user == "alice" else ""
        script = RUN.format(top=top, user=user, command=kind.command.replace("{}", f"/vm/{top}/{file}"))
        with open(self._log(name + ".log"), "wb", buffering=0) as log:
            def out(data):
                log.write(data)
                stream.feed(data)
            seconds = max(0, min(FILE_SECONDS, end - time.monotonic()))
            code = self._vm.run(script, seconds, out, log.write, GRACE_SECONDS)
        if self._vm.trouble():
            raise ChannelLost(f"the guest's kernel: {self._vm.trouble()}")
        if code == NOT_EXECUTED:
            raise ChannelLost(f"the command cannot be executed: exit code {code}")
        if code == 124 and time.monotonic() >= end:
            stream.cut(TIME_IS_UP)
            self._stop()
        else:
            stream.end(code)
        return stream

    def run(self, kind, top, file, end):
        """One file, until the monotonic clock shows "end": what is then left of it is skipped."""
        name = f"{kind.name}.{kind.user}.{os.path.basename(file)}"
        prefix = f"{self.lane} {kind.user} {title(kind, file)}"
        print(f"# {prefix}", flush=True)
        failures = 0
        while time.monotonic() < end:
            try:
                self.writer.stream(prefix, self._attempt(kind, top, file, name, end))
                return
            except ChannelLost as error:
                failures += 1
                self._keep_console(f"{name}.console.{failures}")
                self._stop()
                print(f"# {prefix}: the machine failed ({error})", flush=True)
                if failures == 2 and time.monotonic() < end:
                    self.writer.result(False, f"{prefix}: the machine failed twice: {error}")
                    return
        self.writer.result(True, f"{prefix} # skip {TIME_IS_UP}")

"""What the machines start from, in three cached stages, each in a folder named by the hash of
all that went into it:

  base-SUITE-KEY      the packages of a Debian suite, and its kernel     (image/build-base)
  image-SUITE-KEY     a disk, with our configuration and test images     (image/build-root, provision)
  snapshot-LANE-KEY   a booted machine, stopped, with warm daemons       (image/warm)
"""
import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time

from . import machine
from .channel import ChannelLost

HERE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
IMAGE = os.path.join(HERE, "image")
KEPT_DAYS = 7

# Lane: the Debian suite, and words for the kernel's command line.
LANES = {
    "trixie": ("trixie", ""),
    "bookworm": ("bookworm", ""),
    "bookworm-hybrid": ("bookworm", "systemd.unified_cgroup_hierarchy=0"),
    "bookworm-v1": ("bookworm", "systemd.unified_cgroup_hierarchy=0"
                                " systemd.legacy_systemd_cgroup_controller=1"),
}

PROGRAMS = {
    machine.QEMU: "qemu-system-x86", "qemu-img": "qemu-utils", "mmdebstrap": "mmdebstrap",
    "mkfs.ext4": "e2fsprogs", "cpio": "cpio", "zstd": "zstd", "xz": "xz-utils", "gcc": "gcc",
    "strip": "binutils", "dpkg-deb": "dpkg",
}


class NotPossible(Exception):
    """Said to the person at the keyboard."""


def cache():
    return os.environ.get("AGENTRUN_VM_CACHE") or "/var/cache/agentrun-vm"


def say(text):
    print("vm:", text, file=sys.stderr, flush=True)


def check_host():
    missing = sorted({package for program, package in PROGRAMS.items()
                      if not shutil.which(program, path=os.environ["PATH"] + ":/sbin:/usr/sbin")})
    if missing:
        raise NotPossible("missing on this host: apt-get install " + " ".join(missing))
    if os.geteuid() != 0:
        raise NotPossible("building a guest needs root (device files, owners)")


def _key(*parts):
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()[:16]


def _content(*paths):
    """Names, modes and bytes of files, or of all files below a folder."""
    digest = hashlib.sha256()
    for path in paths:
        files = [path]
        if os.path.isdir(path):
            files = sorted(os.path.join(folder, name)
                           for folder, _, names in os.walk(path) for name in names)
        for file in files:
            executable = os.access(file, os.X_OK)
            with open(file, "rb") as stream:
                data = stream.read()
            digest.update(f"{os.path.relpath(file, HERE)} {executable} {len(data)}:".encode())
            digest.update(data)
    return digest.hexdigest()


def names(lane):
    """The folders of a lane's three stages."""
    suite, kernel = LANES[lane]
    base = _key(suite, _content(f"{IMAGE}/packages", f"{IMAGE}/build-base"))
    image = _key(base, _content(IMAGE))
    snapshot = _key(image, machine.Machine.signature(kernel))
    return (f"{cache()}/base-{suite}-{base}", f"{cache()}/image-{suite}-{image}",
            f"{cache()}/snapshot-{lane}-{snapshot}")


def cached(lane):
    """Whether the lane's machine, as it would be built now, is there, and can run here."""
    return bool(shutil.which(machine.QEMU) and shutil.which("qemu-img")) and os.path.isdir(names(lane)[2])


@contextlib.contextmanager
def _locked(path, how):
    with open(path, "a") as file:
        fcntl.flock(file, how)
        yield


def _script(name):
    with open(os.path.join(IMAGE, name), encoding="utf-8") as file:
        return file.read()


def _overlay(path, backing, kind):
    subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-F", kind, "-b", backing, path],
                   check=True)


def _guest(vm, name):
    code = vm.run(_script(name), 1800)
    if vm.trouble():
        raise ChannelLost(f"{name}: {vm.trouble()}")
    if code:
        raise NotPossible(f"image/{name} failed in the guest: exit code {code}")


def _build_base(suite, out):
    subprocess.run([f"{IMAGE}/build-base", suite, out], check=True)


def _build_image(suite, base, out):
    subprocess.run([f"{IMAGE}/build-root", suite, base, out], check=True)
    disk = f"{out}/provision.qcow2"
    _overlay(disk, f"{out}/root.img", "raw")
    with machine.Machine(out, disk) as vm:
        _guest(vm, "provision")
        vm.power_off()
    subprocess.run(["qemu-img", "commit", "-q", disk], check=True)
    os.unlink(disk)


def _build_snapshot(kernel, image, out):
    disk = f"{out}/disk.qcow2"
    _overlay(disk, f"{image}/root.img", "raw")
    with machine.Machine(image, disk, kernel=kernel, ram=f"{out}/ram") as vm:
        _guest(vm, "warm")
        vm.save(f"{out}/state")
        vm.quit()


def _stage(folder, build):
    """Makes a folder whole or not at all; once more where the emulated kernel died."""
    if os.path.isdir(folder):
        return
    started = time.monotonic()
    partial = folder + ".partial"
    for last in (False, True):
        shutil.rmtree(partial, ignore_errors=True)
        os.makedirs(partial)
        say("building " + os.path.basename(folder))
        try:
            build(partial)
            break
        except ChannelLost as error:
            if last:
                raise
            say(f"{error}; trying once more")
        except subprocess.CalledProcessError as error:
            raise NotPossible(f"{error.cmd[0]} failed") from error
    os.rename(partial, folder)
    say(f"built in {time.monotonic() - started:.0f} s")


def _prune():
    """Removes what nobody has used for a week, and halves of builds that were ended."""
    for name in os.listdir(cache()):
        folder = os.path.join(cache(), name)
        if name.endswith(".partial"):
            shutil.rmtree(folder)
            continue
        used = os.path.join(folder, "used")
        if not name.startswith(("base-", "image-", "snapshot-")) or not os.path.exists(used):
            continue
        if os.stat(used).st_mtime > time.time() - KEPT_DAYS * 86400:
            continue
        with open(used, "a") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue
            say("removing " + name)
            shutil.rmtree(folder)


@contextlib.contextmanager
def ready(lane):
    """The lane's image and snapshot folder, built if need be and not removed meanwhile."""
    os.makedirs(cache(), exist_ok=True)
    suite, kernel = LANES[lane]
    base, image, snapshot = names(lane)
    with contextlib.ExitStack() as uses:
        with _locked(f"{cache()}/lock", fcntl.LOCK_EX):
            if not os.path.isdir(snapshot):
                check_host()
                _stage(base, lambda out: _build_base(suite, out))
                _stage(image, lambda out: _build_image(suite, base, out))
                _stage(snapshot, lambda out: _build_snapshot(kernel, image, out))
            for folder in (base, image, snapshot):
                if os.path.isdir(folder):
                    uses.enter_context(_locked(f"{folder}/used", fcntl.LOCK_SH))
                    os.utime(f"{folder}/used")
            _prune()
        yield image, snapshot


@contextlib.contextmanager
def restored(lane, shares, folder=None):
    """A running machine of the lane, on a throw-away disk."""
    with ready(lane) as (image, snapshot):
        folder = folder or tempfile.mkdtemp(prefix="agentrun-vm.")
        disk = f"{folder}/disk.qcow2"
        _overlay(disk, f"{snapshot}/disk.qcow2", "qcow2")
        with machine.Machine(image, disk, shares, kernel=LANES[lane][1], ram=f"{snapshot}/ram",
                             state=f"{snapshot}/state", folder=folder) as vm:
            vm.prepare()
            yield vm
